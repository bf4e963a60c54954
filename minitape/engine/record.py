"""The recording: one append-only table of rows, shared by all tapes that are open at the same time.

Each operation that runs under a tape appends one row; the row's number is the name of its value. The columns are

    op    0 a leaf (watched tensor, variable's state, constant), 1 a call, else the code of an elementwise operation
    a, b  the rows of an elementwise operation's inputs (a == b for one input); of a call its number and which output
    site  the bytecode offset of the user's statement, turned into a line only when somebody asks
    value a number, an array, or the :class:`Outline` of an array that no rule reads

An operation with more inputs, attributes or outputs is a *call*: a :class:`Call` holds its primitive, the rows of its
inputs and its attributes. Rows are collected in one flat list, and packed into 32-bit integers when they are many.

Which rows belong to which tape is not written down: a tape knows what it watches and when it was recording, and finds
its rows from that when a gradient is asked for (:mod:`minitape.engine.reach`).
"""

from __future__ import annotations

import struct
import sys
import weakref
from _thread import get_ident
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .frames import _OWN, place_of, user_frame
from .primitives.elementwise import FIRST_CODE
from .rows import (
    ARRAY_ROW,
    CALL,
    FLOATS,
    FULL,
    LEAF,
    REALS,
    WIDTH,
    Call,
    Event,
    Leaf,
    Outline,
    Subject,
    number_leaf,
    outline,
)
from .state import more, state

if TYPE_CHECKING:
    from .evidence import Origin
    from .primitives import Primitive
    from .sweep import Sweep
    from .tape import GradientTape
    from .tensor import Tensor
    from .typed import Array, Attributes, Columns
    from .variable import ResourceVariable

EVENTS = 10_000  # events kept by one recording
SMALL = 1024  # arrays up to this size are kept for the picture even where no rule reads them
_first = itemgetter(0)

Span = TypeVar("Span", bound=tuple[Any, ...])  # it begins with its first row

ORIGINS: list[Callable[[Tensor, Record], Origin]] = []  # what minitape.engine.evidence notes of a tensor that leaves a released recording; it needs this module first


class Record:
    """The table: operations append to it, a sweep reads it backwards."""

    __slots__ = (
        "rows", "put", "base", "blocks", "frame", "fixed", "calls", "asked", "leaves", "leaf_of", "numbers", "variables", "cold", "reals", "arrays", "large",
        "segments", "events", "open", "thread", "tapes", "paused", "merged", "by_marks", "scopes", "watchers", "members",
        "__weakref__",
    )  # fmt: skip

    lasting = False  # whether it outlives its tapes, as a graph does
    sweeper: type[Sweep]  # of a graph alone

    def __init__(self) -> None:
        self.rows: list[Any] = []  # op, a, b, site, value of the rows since the last block
        self.put = self.rows.extend
        self.base = 0  # number of packed rows
        self.blocks: Sequence[tuple[int, np.ndarray, Array]] = ()  # (first row, int32 rows x 4, values)
        self.frame: FrameType | None = None  # the user's frame that wrote the last row, as long as it may go on
        self.fixed: int | None = None  # the site of all rows while a sweep is recorded
        self.calls: list[Call] = []
        self.asked: list[Call] = []  # those whose gradient does more than give shares, see minitape.engine.backward
        self.leaves: dict[int, Leaf] = {}
        self.leaf_of: dict[int, int] = {}  # id of a leaf tensor -> row
        self.numbers: dict[float | tuple[float, type], Tensor] = {}  # Python numbers that were operands, alone and with a dtype -> their tensors
        self.variables: dict[int, tuple[ResourceVariable, list[int]]] = {}  # id of a variable -> it and the rows of its states
        self.cold: set[int] = set()  # leaves and rows of arrays that no tape watches
        self.reals: set[type] = set()  # the types of numbers in the column of values: operators make no other from them
        self.arrays = False  # whether anything else is there
        self.large = False  # whether arrays beyond SMALL are held
        self.segments: list[tuple[int, CodeType, int | None]] = []  # from which row on which code was running
        self.open = True
        self.thread = get_ident()
        self.tapes = 0  # tapes that may still ask for gradients
        self.paused = 0  # tapes inside stop_recording()
        self.members: list[tuple[weakref.ref[GradientTape], list[tuple[int, int]], dict[int, int]]] = []  # tapes, spans, watched
        # what few recordings have is made when the first of it comes, see more()
        self.events: Sequence[Event] = ()
        self.merged: Sequence[tuple[Record, int]] = ()  # recordings whose rows were copied here, and their shift
        self.by_marks: Sequence[tuple[int, int | None]] = ()  # (first row, which of the members wrote from there on)
        self.scopes: Sequence[tuple[int, tuple[str, ...]]] = ()  # from which row on which name scope was open
        self.watchers: Sequence[Callable[[], object]] = ()  # callables of live pictures, see tell()
        if state._scope:
            self.scopes = ((0, state._scope),)

    # -- rows -------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.base + len(self.rows) // WIDTH

    def append(self, op: int, a: int, b: int, site: int, value: Array = None) -> int:
        """Writes a row and returns its number."""
        place = len(self.rows)
        if place >= FULL:
            self.pack()
            place = 0
        if type(value) in REALS:
            self.reals.add(type(value))
        else:
            self.arrays = True
        self.put((op, a, b, site, value))
        return self.base + place // WIDTH

    def pack(self) -> bool:
        """Moves the rows since the last block into a block of 32-bit integers; numbers of one type become an array.

        False, and nothing moved, where another thread goes on recording.
        """
        if self.open and get_ident() != self.thread:
            return False
        cells = self.rows.copy()
        values: Array = self.rows[WIDTH - 1 :: WIDTH]  # a list, or an array of numbers
        if not cells:
            return True
        del cells[WIDTH - 1 :: WIDTH]
        block = np.frombuffer(bytearray(struct.pack(f"{len(cells)}i", *cells)), np.int32).reshape(-1, WIDTH - 1)
        kinds = set(map(type, values)) if self.arrays else self.reals
        if len(kinds) == 1 and kinds <= REALS:
            values = np.fromiter(values, next(iter(kinds)), len(values))
        else:
            arrays = [type(value) not in REALS for value in values]
            block[arrays & (block[:, 0] >= FIRST_CODE), 0] += ARRAY_ROW
        self.blocks = more(self.blocks, (self.base, block, values))
        self.rows.clear()  # in this order, so that a picture that reads from another thread sees no row twice
        self.base += len(block)
        return True

    @property
    def real(self) -> type[np.floating] | None:
        """The one type of the numbers in the column of values, which a compiled sweep takes; None where there are two."""
        return next(iter(self.reals)) if len(self.reals) == 1 else None

    def numbers_from(self, real: type[np.floating] | None) -> np.ndarray:
        """The packed column of values as an array; rows that are no numbers hold NaN there."""
        parts = [values if type(values) is np.ndarray else
                 np.array([value if type(value) is real else np.nan for value in values], real)
                 for _, _, values in self.blocks]  # fmt: skip
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def cell(self, row: int) -> tuple[int, int, int, int]:
        """(op, a, b, site) of a row."""
        if row >= self.base:
            at = WIDTH * (row - self.base)
            return tuple(self.rows[at : at + WIDTH - 1])
        first, block, _ = _last_from(self.blocks, row)
        op, a, b, site = block[row - first].tolist()
        return op & (ARRAY_ROW - 1), a, b, site

    def held(self, row: int) -> Array:
        """What stands in the column of values: a number, an array, or an outline."""
        if row >= self.base:
            return self.rows[WIDTH * (row - self.base) + WIDTH - 1]
        first, _, values = _last_from(self.blocks, row)
        return values[row - first]

    def value(self, row: int) -> Array:
        """The value of a row: a NumPy scalar or array; None when its array was released, or never kept."""
        found = self.held(row)
        return None if type(found) is Outline else found

    def hold(self, row: int, value: Array) -> None:
        """Puts a value into the column: an array that a rule will read, or the outline of one that none does."""
        if row >= self.base:
            self.rows[WIDTH * (row - self.base) + WIDTH - 1] = value
        else:
            first, _, values = _last_from(self.blocks, row)
            values[row - first] = value
        self.large = True

    def large_arrays(self) -> dict[int, np.ndarray]:
        """The arrays beyond ``SMALL`` that are held, by row."""
        values = self.columns()[-1] if self.large else ()
        return {row: value for row, value in enumerate(values) if type(value) is np.ndarray and value.size > SMALL}

    def shape_dtype(self, row: int) -> tuple[tuple[int, ...], np.dtype]:
        """The shape and the NumPy dtype of a row."""
        found = self.held(row)
        return found.shape, found.dtype

    def columns(self, low: int = 0, high: int | None = None) -> Columns:
        """The five columns of the rows from ``low`` to ``high``, as lists; right also while another thread appends."""
        while True:
            base, blocks = self.base, self.blocks
            rows = self.rows[WIDTH * max(low - base, 0) : None if high is None else WIDTH * max(high - base, 0)]
            if self.base == base:
                break
        stop = base if high is None else min(base, high)
        columns: Columns = [rows[0::WIDTH], rows[1::WIDTH], rows[2::WIDTH], rows[3::WIDTH], rows[4::WIDTH]]
        if low >= base:
            return columns
        packed: Columns = [[], [], [], [], []]
        for first, block, values in list(blocks):
            start, end = max(first, low), min(first + len(block), stop)
            if start < end:
                part = slice(start - first, end - first)
                packed[0] += (block[part, 0] & (ARRAY_ROW - 1)).tolist()
                for column, numbers in zip(packed[1:], block[part, 1:].T, strict=False):
                    column += numbers.tolist()
                packed[-1].extend(values[part])
        return [early + late for early, late in zip(packed, columns, strict=True)]

    # -- where the user is ------------------------------------------------------------------------------------------

    def here(self) -> int:
        """The bytecode offset of the user's statement that runs now; notes which code it is in.

        While a sweep is recorded, or a function replayed, its statement is the site of all its rows.
        """
        if self.fixed is not None:
            return self.fixed
        site = state.site
        if site is not None:
            self.segment(*site)
            self.frame = None
            return site[1]
        frame = sys._getframe(1)
        last, own = self.frame, _OWN
        while frame is not last and own[frame.f_code.co_filename]:
            outer = frame.f_back
            if outer is None:
                return 0
            frame = outer
        if frame is not last:
            code = frame.f_code
            if not self.segments or self.segments[-1][1] is not code or self.segments[-1][2] is not None:
                self.segments.append((self.base + len(self.rows) // WIDTH, code, None))
            if self.open and get_ident() == self.thread:
                self.frame = frame
        return frame.f_lasti

    def fix(self, site: tuple[CodeType, int] | None) -> int | None:
        """From now on all rows belong to this statement; None: to those that run. Returns what held before."""
        before, self.fixed = self.fixed, None if site is None else site[1]
        if site is not None:
            self.segment(*site)
            self.frame = None
        return before

    def site_of(self, frame: FrameType) -> int | None:
        """The site of a statement in a frame other than the last one; None where the caller has to look for the user's."""
        if not self.open or get_ident() != self.thread:
            return None
        if self.fixed is not None:
            return self.fixed
        if state.site is not None or _OWN[frame.f_code.co_filename]:
            return None
        self.segment(frame.f_code, None)
        self.frame = frame
        return frame.f_lasti

    def segment(self, code: CodeType, fixed: int | None) -> None:
        """From the next row on this code is running, at one statement if ``fixed`` says which."""
        last = self.segments[-1] if self.segments else None
        if last is None or last[1] is not code or last[2] != fixed:
            self.segments.append((len(self), code, fixed))

    def place(self, row: int) -> tuple[str, int, CodeType] | None:
        """(file name, line, code) of the user's statement that wrote ``row``."""
        site = self.site(row)
        return None if site is None else place_of(*site)

    def site(self, row: int) -> tuple[CodeType, int] | None:
        """(code, bytecode offset) of the user's statement that wrote ``row``."""
        if not self.segments or row < self.segments[0][0]:
            return None
        _, code, fixed = _last_from(self.segments, row)
        return code, self.cell(row)[3] if fixed is None else fixed

    def note(self, kind: str, subject: Subject = None) -> None:
        """Writes down an event, with the user's statement."""
        frame = user_frame(sys._getframe(1))
        site = None if frame is None else (frame.f_code, frame.f_lasti)
        if len(self.events) < EVENTS:
            self.events = more(self.events, Event(kind, len(self), subject, site))

    # -- leaves -----------------------------------------------------------------------------------------------------

    def enter(self, tensor: Tensor, variable: ResourceVariable | None = None, version: int = 0, site: int | None = None) -> int:
        """The row of a tensor in this recording; one that is new here becomes a leaf (of a variable, where it has one)."""
        row = self.find(tensor) if id(tensor) in self.leaf_of or tensor._record is self or self.merged else None
        if row is not None:
            if variable is not None and self.leaves[row].variable is None:
                self.leaves[row] = Leaf(tensor, variable, version)
            return row
        row = self.append(LEAF, 0, 0, self.here() if site is None else site, tensor._value)
        self.leaves[row] = Leaf(tensor, variable, version)
        self.leaf_of[id(tensor)] = row
        self.cold.add(row)
        old = tensor._record
        if old is not None:
            if old.tapes > 0 and tensor._row not in old.leaves:
                return row  # it stays a row of that recording
            if tensor._origin is None:
                tensor._origin = ORIGINS[0](tensor, old)
        tensor._record, tensor._row = self, row
        return row

    def enter_number(self, tensor: Tensor, number: float) -> None:
        """A Python number that was used as an operand becomes a leaf; the same number is met again as the same tensor."""
        row = self.append(LEAF, 0, 0, self.here(), tensor._value)
        self.leaves[row] = number_leaf(number)
        self.cold.add(row)
        tensor._record, tensor._row = self, row
        if number == number and number != 0:  # 0.0 and -0.0 are one key, nan is none
            self.numbers[number, type(tensor._value)] = tensor
            self.numbers.setdefault(number, tensor)

    def find(self, tensor: Tensor) -> int | None:
        """The row of a tensor, or None when this recording never met it."""
        if tensor._record is self:
            return tensor._row
        row = self.leaf_of.get(id(tensor))
        if row is not None and self.leaves[row].tensor is tensor:
            return row
        for old, shift in self.merged:
            if tensor._record is old:
                return tensor._row + shift
        return None

    # -- operations -------------------------------------------------------------------------------------------------

    def pair(self, primitive: Primitive, a: Tensor, b: Tensor, made: Tensor, frame: FrameType) -> None:
        """Writes the row of an elementwise operation on two tensors of floats, by a statement in ``frame`` or around it."""
        site = frame.f_lasti if frame is self.frame else self.here()
        row_a = a._row if a._record is self else self.enter(a, None, 0, site)
        row_b = b._row if b._record is self else self.enter(b, None, 0, site)
        value, cold = made._value, self.cold
        hot = row_a not in cold or row_b not in cold
        if value.size > SMALL or self.large:
            value = self._kept(primitive, (row_a, row_b), (a, b), value, hot and bool(state.tapes))
        place = len(self.rows)
        if place >= FULL:
            self.pack()
            place = 0
        if type(value) is np.ndarray:
            self.arrays = True
        row = self.base + place // WIDTH
        self.put((primitive.code, row_a, row_b, site, value))
        if not hot:
            cold.add(row)
        made._record, made._row = self, row

    def write(self, primitive: Primitive, inputs: tuple[Tensor, ...], attrs: Attributes, tensors: tuple[Tensor, ...],
              frame: FrameType | None = None) -> None:  # fmt: skip
        """Writes one row for each output of an operation that has just computed ``tensors``, by a statement in ``frame``."""
        site = frame.f_lasti if frame is not None and frame is self.frame else self.here()
        cold, rows, hot = self.cold, [], False
        for t in inputs:
            row = t._row if t._record is self else self.enter(t, None, 0, site)
            rows.append(row)
            hot = hot or row not in cold
        code, a, b = primitive.code, 0, 0
        if code and not attrs and tensors[0]._value.dtype in FLOATS:
            a, b = rows[0], rows[-1]
        else:
            code, a = CALL, len(self.calls)
            call = Call(self.base + len(self.rows) // WIDTH, primitive, tuple(rows), attrs, len(tensors))
            self.calls.append(call)
            if primitive.asked:
                self.asked.append(call)
        for tensor in tensors:
            value = tensor._value
            if value.size > SMALL or self.large:
                value = self._kept(primitive, rows, inputs, value, hot and bool(state.tapes))
            row = tensor._row = self.append(code, a, b, site, value)
            tensor._record = self
            if not hot:
                cold.add(row)
            b += 1  # the number of the output; an elementwise operation has one

    def _kept(self, primitive: Primitive, rows: Sequence[int], inputs: Sequence[Tensor], value: Array, hot: bool) -> Array:
        """What stands in the column for a result; sees to it that the arrays that its rules read are held."""
        if hot:
            self._hold_inputs(primitive, rows, inputs)
        if value.size <= SMALL:
            return value
        self.large = True
        return value if (hot and primitive.keeps_output) or self.watchers else outline(value.shape, value.dtype)

    def _hold_inputs(self, primitive: Primitive, rows: Sequence[int], inputs: Sequence[Tensor]) -> None:
        """Sees to it that the arrays that the rules of an operation read are held."""
        for i in self.read_inputs(primitive, rows):
            value = inputs[i]._value
            if value.size > SMALL and type(self.held(rows[i])) is Outline:
                self.hold(rows[i], value)

    def read_inputs(self, primitive: Primitive, rows: Sequence[int]) -> Iterable[int]:
        """Which inputs of an operation the rules will read: beside a Python number, those that the rule of the other one reads."""
        if primitive.code and len(rows) == 2:
            for i, row in enumerate(rows):
                if self.is_number(row):
                    return primitive.keeps_beside[i]
        return range(len(rows)) if primitive.keeps is None else primitive.keeps

    def is_number(self, row: int) -> bool:
        """Whether a row is a Python number, of which nobody can want a gradient."""
        leaf = self.leaves.get(row)
        return leaf is not None and leaf.number is not None

    # -- the end ----------------------------------------------------------------------------------------------------

    def close(self) -> Any:  # what a graph gives back, another one, only it knows
        """The last tape was left: operations are no longer recorded. Returns the recording that goes on: none."""
        self.open = False
        self.frame = None

    def reopen(self) -> None:
        """A tape is entered again."""
        self.open = True

    def free(self) -> None:
        """The last tape that could ask was used up: large arrays are let go of, but for those of leaves."""
        arrays = self.large_arrays()
        for row in arrays.keys() - self.leaves.keys():
            self.hold(row, outline(arrays[row].shape, arrays[row].dtype))
        self.large = not arrays.keys().isdisjoint(self.leaves)

    def member(self, tape: GradientTape) -> int | None:
        """The number of a tape among those of this recording; None when it is of another one."""
        if tape._record is self:
            return tape.number
        for k, member in enumerate(self.members):
            if member[0]() is tape:
                return k
        return None

    def tapes_now(self) -> list[GradientTape | None]:
        """The tapes of this recording that are still there, and None for those that are gone."""
        return [member[0]() for member in self.members]

    def tell(self, *watchers: Callable[[], object]) -> None:
        """These callables are told that rows are going to be added, and from now on when a block or a gradient has ended."""
        self.watchers = [*self.watchers, *(w for w in watchers if w not in self.watchers)]
        self.notify()

    def notify(self) -> None:
        """Tells live pictures to look for new rows, and to go on doing so while their tapes record."""
        for watcher in list(self.watchers):
            watcher()


def _last_from(spans: Sequence[Span], row: int) -> Span:
    """Of spans that begin with their first row, in order, the one with this row."""
    return spans[bisect_right(spans, row, key=_first) - 1]
