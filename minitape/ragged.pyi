"""The names of `tf.ragged`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.composites import (
    ragged_constant as _constant,
)
constant = _constant
