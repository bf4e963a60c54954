"""The names of `tf.tf.python.framework`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.python.framework import (
    ops as ops,
)
