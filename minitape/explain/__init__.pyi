"""The names of `tf.explain`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.explain.explanation import (
    Explanation as Explanation,
)
from minitape.explain.tape_answers import (
    explain as explain,
    warn as warn,
)
