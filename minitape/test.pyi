"""The names of `tf.test`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.gradient_check import (
    compute_gradient as compute_gradient,
)
