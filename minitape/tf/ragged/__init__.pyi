"""The names of `tf.tf.ragged`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.ragged.tensor import (
    constant as constant,
)
