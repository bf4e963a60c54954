"""Decide which arrays a recording keeps, and for how long.

A recording keeps small arrays and the large arrays that a rule will read. It replaces all other large arrays with their
shape and dtype. When no tape needs a recording any longer, :func:`release_record` frees the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from .array_spec import ArraySpec, get_array_spec
from .row_parts import CALL_COLUMN, VALUE_COLUMN, WIDTH
from .thread_state import state

if TYPE_CHECKING:
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..types import Array
    from .record import Record

MAX_SMALL_SIZE = 4096  # Pictures show arrays with up to this many elements, so all of these are kept.
MAX_RETAINED_RECORDS = 4  # A thread keeps this many released recordings for `explain`.
MAX_SKELETON_ROWS = 4096  # A longer recording is not kept after its release.
MAX_ROWS_WITH_ARRAYS = 256  # A longer recording is kept without its small arrays.


def keep_large_inputs_read_by_rules(
    record: Record, primitive: Primitive, input_rows: Sequence[int], inputs: Sequence[Tensor]
) -> None:
    """Store those large inputs of an operation that its rules will read.

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


def find_positions_read_by_rules(record: Record, primitive: Primitive, input_rows: Sequence[int]) -> Iterable[int]:
    """Return the positions of the inputs that the rules of an operation will read.

    If one of two inputs is a Python number, nobody can ask for its gradient. Then only the rule of the other input
    counts.

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


def release_large_arrays(record: Record, kept_rows: Iterable[int] = ()) -> None:
    """Replace the large arrays of a recording with their specs.

    Args:
        record: The recording.
        kept_rows: The rows whose arrays are kept.
    """
    for row, value in iter_large_arrays(record):
        if row not in kept_rows:
            record.store_value(row, get_array_spec(value.shape, value.dtype))


def release_record(record: Record) -> None:
    """Free the values of a recording that no tape can use any longer.

    The last few short recordings keep their rows. With these rows, `explain` can find the operation that computed a
    tensor, even if the tensor outlives its tape. Long or old recordings lose their rows as well.

    Args:
        record: The recording. Its last tape no longer exists.
    """
    record.numbers = record.variables = record.leaf_rows = _NO_DICT
    record.events, record.frame = (), None
    released_records: list[Record] = []
    if record.next > MAX_SKELETON_ROWS:
        released_records.append(record)
    else:
        if record.next > MAX_ROWS_WITH_ARRAYS and ndarray in record.kinds:
            record.rows[VALUE_COLUMN::WIDTH] = map(_convert_array_to_spec, record.rows[VALUE_COLUMN::WIDTH])
        elif record.has_large_arrays:
            release_large_arrays(record)
        # `record.calls` would visit each call only once, but it made twenty steps of a regression 2 % slower.
        for call in filter(None, record.rows[CALL_COLUMN::WIDTH]) if record.has_calls else ():
            call.attrs = _NO_DICT
        memory = state.memory
        memory.retained_records.append(record)
        while len(memory.retained_records) > MAX_RETAINED_RECORDS and not memory.is_explaining:
            released_records.append(memory.retained_records.popleft())
    for released in released_records:
        released.rows, released.blocks, released.base, released.next = [], (), 0, 0
        released.mandatory_calls = released.segments = _NO_LIST
        released.leaves, released.untracked = _NO_DICT, _NO_ROWS


# These replace the containers of a released recording. They are immutable, because nothing may be added any longer.
_NO_DICT: Any = MappingProxyType({})
_NO_LIST: Any = ()  # `Any`, because it replaces a list.
_NO_ROWS: Any = frozenset()  # `Any`, because it replaces a set.


def _convert_array_to_spec(value: Array) -> Array:
    return get_array_spec(value.shape, value.dtype) if type(value) is ndarray else value
