"""The names of `tf.python.framework`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.python.framework import (
    ops as ops,
)
