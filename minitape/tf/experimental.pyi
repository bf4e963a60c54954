"""The names of `tf.tf.experimental`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.ragged.partition import (
    RowPartition as RowPartition,
)
from minitape.tf.ragged.shape import (
    DynamicRaggedShape as DynamicRaggedShape,
)
