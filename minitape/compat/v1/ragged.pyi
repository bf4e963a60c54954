"""The names of `tf.compat.v1.ragged`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.compat.v1.composites import (
    constant_value as constant_value,
    ragged_placeholder as _placeholder,
)
from minitape.tf.ragged import (
    boolean_mask as boolean_mask,
    constant as constant,
    cross as cross,
    map_flat_values as map_flat_values,
    range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack as stack,
    stack_dynamic_partitions as stack_dynamic_partitions,
)
from minitape.tf.ragged.value import (
    RaggedTensorValue as RaggedTensorValue,
)
placeholder = _placeholder
