"""The names of `tf.python.framework`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

from minitape.python.framework import (
    ops as ops,
)
