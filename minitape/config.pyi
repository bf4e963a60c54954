"""The names of `tf.config`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.functions.settings import (
    run_functions_eagerly as run_functions_eagerly,
)
