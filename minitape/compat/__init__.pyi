"""The names of `tf.compat`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.compat import (
    v1 as v1,
)
