"""The names of `tf.tf.ragged`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.ragged.functions import (
    boolean_mask as boolean_mask,
    stack as stack,
)
from minitape.tf.ragged.making import (
    constant as constant,
    cross as cross,
    range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
from minitape.tf.ragged.mapping import (
    map_flat_values as map_flat_values,
)
