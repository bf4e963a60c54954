"""The names of `tf.tf.types`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
experimental: _Any
