"""The names of `tf.experimental`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

from minitape.ragged.partition import (
    RowPartition as RowPartition,
)
from minitape.ragged.shape import (
    DynamicRaggedShape as DynamicRaggedShape,
)
