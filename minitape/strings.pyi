"""The names of `tf.strings`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.strings import (
    length as length,
    substr as substr,
)
