"""Which arrays a recording holds: those that a rule will read; of other large ones their shape and dtype. And what
stays of a recording that no tape can ask any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from .array_spec import ArraySpec, array_spec
from .rows import CALLS, VALUES, WIDTH
from .state import state

if TYPE_CHECKING:
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..types import Array
    from .record import Record

SMALL = 4096  # arrays up to this size are kept for the picture even where no rule reads them
RETAINED = 4  # skeletons of released recordings that a thread keeps, for `explain`
SKELETON = 4096  # rows of one at most
FEW = 256  # rows of one that keeps its small arrays


def keep_inputs(record: Record, primitive: Primitive, rows: Sequence[int], inputs: Sequence[Tensor]) -> None:
    """Stores those large inputs of an operation that its rules will read."""
    for i, t in enumerate(inputs):
        if (
            t._value.size > record.small
            and type(record.value_or_spec(rows[i])) is ArraySpec
            and i in read_inputs(record, primitive, rows)
        ):
            record.store(rows[i], t._value)


def read_inputs(record: Record, primitive: Primitive, rows: Sequence[int]) -> Iterable[int]:
    """Which inputs of an operation the rules will read: beside a Python number, those that the rule of the other one
    reads.
    """
    for row, read in zip(rows, primitive.kept_beside_number, strict=False):
        if record.is_number(row):
            return read
    return range(len(rows)) if primitive.kept_inputs is None else primitive.kept_inputs


def large_arrays(record: Record) -> Iterator[tuple[int, ndarray]]:
    """The arrays beyond ``small`` that are held, with their rows."""
    for row, value in enumerate(record.column(VALUES)):
        if type(value) is ndarray and value.size > record.small:
            yield row, value


def free_large_arrays(record: Record, kept: Iterable[int] = ()) -> None:
    """Releases the large arrays, but for those of the rows that are ``kept``."""
    for row, value in large_arrays(record):
        if row not in kept:
            record.store(row, array_spec(value.shape, value.dtype))


def release(record: Record) -> None:
    """Releases the values, as no tape is left to ask, and all else of recordings that are long or old. The skeletons of
    the last few short ones stay, for `explain`: which operation a tensor came from that outlived its tape.
    """
    record.numbers = record.variables = record.leaf_rows = _GONE
    record.events, record.frame = (), None
    gone: list[Record] = []
    if record.next > SKELETON:
        gone.append(record)
    else:
        if record.next > FEW and ndarray in record.kinds:
            record.rows[VALUES::WIDTH] = map(_spec_of, record.rows[VALUES::WIDTH])
        elif record.large:
            free_large_arrays(record)
        # not `record.calls`, each once and in order: of twenty steps of a regression that took 2 % longer
        for call in filter(None, record.rows[CALLS::WIDTH]) if record.has_calls else ():
            call.attrs = _GONE
        memory = state.memory
        memory.retained.append(record)
        while len(memory.retained) > RETAINED and not memory.explain_runs:
            gone.append(memory.retained.popleft())
    for old in gone:
        old.rows, old.blocks, old.base, old.next = [], (), 0, 0
        old.mandatory = old.segments = _NOTHING
        old.leaves, old.untracked = _GONE, _NO_ROWS


# in place of what a released recording held: nothing may be added
_GONE: Any = MappingProxyType({})  # of dictionaries
_NOTHING: Any = ()  # of lists
_NO_ROWS: Any = frozenset()  # of sets


def _spec_of(value: Array) -> Array:
    return array_spec(value.shape, value.dtype) if type(value) is ndarray else value
