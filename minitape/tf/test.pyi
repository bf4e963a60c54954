"""The names of `tf.tf.test`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.check import (
    compute_gradient as compute_gradient,
)
