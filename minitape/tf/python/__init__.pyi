"""The names of `tf.python`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

from minitape.python import (
    framework as framework,
)
