"""Decide which arrays a recording keeps, and for how long.

A recording keeps small arrays and the large arrays that a rule will read. All other large arrays are replaced by their
shape and dtype. When no tape needs a recording any longer, ``Record.release`` frees the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numpy import ndarray

from .array_spec import ArraySpec, get_array_spec
from .row_parts import VALUE_COLUMN

if TYPE_CHECKING:
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..types import Array, RowIterable, RowSequence
    from .record import Record

MAX_SMALL_SIZE = 4096  # All arrays with up to this many elements are kept, because pictures show them.


def keep_large_inputs_read_by_rules(
    record: Record, primitive: Primitive, input_rows: RowSequence, inputs: Sequence[Tensor]
) -> None:
    """Store the large inputs of an operation that its rules will read.

    Args:
        record: The recording, which so far contains only the specs of these arrays.
        primitive: The operation.
        input_rows: The rows of its inputs.
        inputs: The input tensors, in the same order.
    """
    for position, input_tensor in enumerate(inputs):
        if (
            input_tensor._value.size > record.max_small_size
            and type(record.get_value_or_spec(input_rows[position])) is ArraySpec
            and position in find_positions_read_by_rules(record, primitive, input_rows)
        ):
            record.store_value(input_rows[position], input_tensor._value)


def find_positions_read_by_rules(record: Record, primitive: Primitive, input_rows: RowSequence) -> Iterable[int]:
    """Return the positions of the inputs that the rules of an operation will read.

    If one of two inputs is a Python number, no program can request the gradient of the number. Therefore, only the rule
    of the other input counts.

    Args:
        record: The recording.
        primitive: The operation.
        input_rows: The rows of its inputs.
    """
    for row, read_positions in zip(input_rows, primitive.kept_beside_number, strict=False):
        if record.is_python_number(row):
            return read_positions
    return range(len(input_rows)) if primitive.kept_inputs is None else primitive.kept_inputs


def iter_large_arrays(record: Record) -> Iterator[tuple[int, ndarray]]:
    """Yield (row, array) for each kept array with more than `max_small_size` elements.

    Args:
        record: The recording.
    """
    for row, value in enumerate(record.read_column(VALUE_COLUMN)):
        if type(value) is ndarray and value.size > record.max_small_size:
            yield row, value


def release_large_arrays(record: Record, kept_rows: RowIterable = ()) -> None:
    """Replace the large arrays of a recording with their specs.

    Args:
        record: The recording.
        kept_rows: The rows whose arrays are kept.
    """
    for row, value in iter_large_arrays(record):
        if row not in kept_rows:
            record.store_value(row, convert_array_to_spec(value))


def convert_array_to_spec(value: Array) -> Array:
    """Return the spec of an array. Any other value is returned unchanged.

    Args:
        value: A scalar, an array or a spec.
    """
    return get_array_spec(value.shape, value.dtype) if type(value) is ndarray else value
