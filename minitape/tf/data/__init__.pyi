"""The names of `tf.tf.data`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.data.dataset import (
    AUTOTUNE as AUTOTUNE,
    Dataset as Dataset,
    DatasetIterator as _Iterator,
)
Iterator = _Iterator
