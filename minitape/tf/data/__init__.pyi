"""The names of `tf.tf.data`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.tf.data.dataset import (
    Dataset as Dataset,
)
from minitape.tf.data.files import (
    TextLineDataset as TextLineDataset,
)
from minitape.tf.data.options import (
    Options as Options,
)
from minitape.tf.data.recipe import (
    AUTOTUNE as AUTOTUNE,
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    DatasetIterator as _Iterator,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)
Iterator = _Iterator
experimental: _Any
