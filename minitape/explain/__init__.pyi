"""The names of `tf.explain`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.explain.answer import (
    explain as explain,
    warn as warn,
)
from minitape.explain.words import (
    Explanation as Explanation,
)
