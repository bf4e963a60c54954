"""The names of `tf.python`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.python import (
    framework as framework,
)
