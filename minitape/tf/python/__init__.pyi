"""The names of `tf.tf.python`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.python import (
    framework as framework,
)
