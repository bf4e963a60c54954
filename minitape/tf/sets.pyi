"""The names of `tf.tf.sets`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.sparse.sets import (
    difference as difference,
    intersection as intersection,
    size as size,
    union as union,
)
