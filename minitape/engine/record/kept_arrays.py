"""Which arrays a recording holds: those that a rule will read; of other large ones their shape and dtype. And what
stays of a recording that no tape can ask any more.
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

MAX_SMALL_SIZE = 4096  # arrays up to this size are kept for the picture even where no rule reads them
MAX_RETAINED_RECORDS = 4  # skeletons of released recordings that a thread keeps, for `explain`
MAX_SKELETON_ROWS = 4096  # rows of one at most
MAX_ROWS_WITH_ARRAYS = 256  # rows of one that keeps its small arrays


def keep_large_inputs_read_by_rules(
    record: Record, primitive: Primitive, input_rows: Sequence[int], inputs: Sequence[Tensor]
) -> None:
    """Store those large inputs of an operation that its rules will read."""
    for position, input_tensor in enumerate(inputs):
        if (
            input_tensor._value.size > record.max_small_size
            and type(record.get_value_or_spec(input_rows[position])) is ArraySpec
            and position in find_positions_read_by_rules(record, primitive, input_rows)
        ):
            record.store_value(input_rows[position], input_tensor._value)


def find_positions_read_by_rules(record: Record, primitive: Primitive, input_rows: Sequence[int]) -> Iterable[int]:
    """Return the positions of the inputs that the rules of an operation will read: beside a Python number, those that
    the rule of the other one reads.
    """
    for row, read_positions in zip(input_rows, primitive.kept_beside_number, strict=False):
        if record.is_python_number(row):
            return read_positions
    return range(len(input_rows)) if primitive.kept_inputs is None else primitive.kept_inputs


def iter_large_arrays(record: Record) -> Iterator[tuple[int, ndarray]]:
    """Iterate over (row, array) of the arrays larger than ``max_small_size`` that are held."""
    for row, value in enumerate(record.read_column(VALUE_COLUMN)):
        if type(value) is ndarray and value.size > record.max_small_size:
            yield row, value


def release_large_arrays(record: Record, kept_rows: Iterable[int] = ()) -> None:
    """Release the large arrays, but for those of the rows that are ``kept_rows``."""
    for row, value in iter_large_arrays(record):
        if row not in kept_rows:
            record.store_value(row, get_array_spec(value.shape, value.dtype))


def release_record(record: Record) -> None:
    """Release the values, as no tape is left to ask, and all else of recordings that are long or old. The skeletons of
    the last few short ones stay, for `explain`: which operation a tensor came from that outlived its tape.
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
        # not `record.calls`, each once and in order: of twenty steps of a regression that took 2 % longer
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


# in place of what a released recording held: nothing may be added
_NO_DICT: Any = MappingProxyType({})  # of dictionaries
_NO_LIST: Any = ()  # of lists
_NO_ROWS: Any = frozenset()  # of sets


def _convert_array_to_spec(value: Array) -> Array:
    return get_array_spec(value.shape, value.dtype) if type(value) is ndarray else value
