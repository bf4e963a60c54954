"""The recording: one append-only table of rows, shared by all tapes that are open at the same time.

Each operation that runs under a tape appends one row; the row's number is the name of its value. The columns are

    op   0 a leaf (watched tensor, variable's state, constant), 1 a call, else the code of a scalar operation
    a,b  the rows of a scalar operation's inputs (a == b for one input); for a call its number and which output it is
    site the bytecode offset of the user's statement, turned into a line only when somebody asks

Rows of numbers ("scalar rows": 0-d tensors of the recording's one float type) are nothing but these four integers, and
so are elementwise operations on arrays of one shape (see :mod:`minitape.lane`). Their values are not even computed until
somebody looks or a sweep needs them. Everything else is a *call*: a :class:`Call` holds its primitive, input rows and
attributes. Most calls are put off as well (:mod:`minitape.late`). ``arrays`` holds the arrays that rules will read.

Which rows belong to which tape is not written down: a tape knows what it watches and when it was recording, and finds
its rows from that when a gradient is asked for (:mod:`minitape.plan`).
"""

from __future__ import annotations

import math
import sys
import weakref
from _thread import RLock, get_ident
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import takewhile
from operator import itemgetter
from types import CodeType, FrameType
from typing import Any

import numpy as np

from . import evaluation
from .columns import ARRAY_ROW, CALL, CHUNK, LEAF, Call, Event, Leaf, more, number_leaf, packed
from .frames import _OWN, own_file, place_of, user_frame
from .lane import Lane, Wide, spec
from .primitives.elementwise import FIRST_CODE
from .state import state

REALS = frozenset((np.float32, np.float64))  # what scalar rows may hold
LONG = 512  # a scalar tape of this many rows earns the compiled kernels
EVENTS = 10_000  # events kept by one recording
FAST = 1024  # arrays up to this size are rows like scalars: see Lane
LOOKED = 16  # so many sweeps compute all rows after somebody looked at one that a sweep had left
_CHUNK = range(CHUNK)
_first = itemgetter(0)
SMALL = 64  # arrays up to this size are kept for the picture even where no rule needs them


HOOKS: dict[str, Any] = {}  # functions of minitape.evidence, which needs this module first


class Record:
    """The table. Appending is all that recording does; ``value(row)`` computes scalar rows when they are needed."""

    __slots__ = (
        "real", "pending", "put", "ahead", "base", "blocks", "frame", "constants", "numbers", "values", "done", "known", "lock",
        "calls", "late", "lanes", "wide_lanes", "wide", "held", "leaves", "leaf_of", "variables", "meta", "arrays", "bulky", "lent", "laden", "cold", "segments", "events", "open",
        "thread", "tapes", "lean", "paused", "adopted", "by_marks", "scopes", "watchers", "members", "__weakref__",
    )  # fmt: skip

    def __init__(self) -> None:
        self.real: type | None = None  # the type of scalar rows: that of the first float scalar to come
        self.pending: list[int] = []  # op, a, b, site of the rows since the last block
        self.put = self.pending.extend
        self.ahead = iter(_CHUNK)  # the numbers of the rows to come
        self.base = 0  # number of packed rows
        self.frame: FrameType | None = None
        self.constants: dict[float, int] = {}  # row of each Python number used as an operand
        self.numbers: dict[tuple[float, str], Any] = {}  # the same as tensors, for operands of arrays
        self.values: Any = []  # value of each scalar row: a list while short, then an array
        self.done = 0  # rows below this have their values
        self.lock = RLock()  # values may be asked for by another thread than the one that records
        self.known: dict[int, Any] = {}  # values of scalar leaves and scalar results of calls, not yet in values
        self.calls: list[Call] = []
        self.late: dict[int, None] = {}  # rows of calls that were put off: computed when somebody looks, as scalar rows are
        self.lanes: dict[tuple[int, ...], Lane] = {}  # by shape
        self.wide_lanes: dict[tuple[int, ...], Wide] = {}
        self.wide: dict[int, Any] = {}  # rows of large arrays that are yet to be computed: weak references to their tensors
        self.held = 0  # bytes of arrays that are there only because rows that were put off will read them
        self.leaves: dict[int, Leaf] = {}
        self.leaf_of: dict[int, int] = {}  # id of a leaf tensor -> row
        self.variables: dict[int, tuple[Any, list[int]]] = {}  # id of a variable -> it and the rows of its states
        self.meta: dict[int, tuple[tuple[int, ...], Any]] = {}  # shape and NumPy dtype of rows that are no scalars, in order
        self.arrays: dict[int, Any] = {}  # values of such rows, as long as a rule may need them
        self.bulky = False  # whether arrays without a lane may be among them, other than leaves
        self.lent = 0  # bytes of the leaves without a lane, which their tensors hold as well
        self.laden = False  # whether there are calls of primitives without ``shape``, whose attributes may be large
        self.cold: set[int] = set()  # such rows, and leaves, that no tape watches
        self.segments: list[tuple[int, CodeType, int | None]] = []  # from which row on which code was running
        # what few recordings have, see more()
        self.blocks: Sequence[tuple[int, np.ndarray]] = ()  # (first row, int32 rows x 4)
        self.events: Sequence[Event] = ()
        self.adopted: Sequence[tuple[Record, int]] = ()  # recordings whose rows were copied here, and their shift
        self.by_marks: Sequence[tuple[int, int | None]] = ()  # (first row, which of the members wrote from there on)
        self.scopes: Sequence[tuple[int, tuple[str, ...]]] = ()  # from which row on which name scope was open
        if state._scope:
            self.scopes = ((0, state._scope),)
        self.watchers: Sequence[Any] = ()  # callables told that rows were added (live pictures), see notify()
        self.open = True
        self.thread = get_ident()
        self.tapes = 0  # tapes that may still ask for gradients
        self.lean: Any = None  # the program of a sweep that left rows which no rule reads, see minitape.straight
        self.paused = 0  # tapes inside stop_recording()
        self.members: list[tuple[weakref.ref[Any], list[tuple[int, int]], dict[int, int]]] = []  # tapes, spans, watched

    shape: tuple[int, ...] = ()  # of what a row holds; lanes have others
    lasting = False  # whether it outlives its tapes, as a graph does

    @property
    def home(self) -> Record:
        """The recording itself: what a lane calls its recording."""
        return self

    # -- rows -------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.base + (len(self.pending) >> 2)

    def append(self, op: int, a: int, b: int, site: int) -> int:
        """Writes a row and returns its number."""
        try:
            row = next(self.ahead)
        except StopIteration:
            self.pack()
            row = next(self.ahead)
        put = self.put  # found faster than a method is
        put((op, a, b, site))
        return row

    def pack(self) -> None:
        """Moves the pending rows into a block of 32-bit integers."""
        with self.lock:
            self._pack()

    def _pack(self) -> None:
        n = len(self.pending) >> 2
        if n:
            block = packed(self.pending)
            if self.meta:
                arrays = np.fromiter(takewhile(self.base.__le__, reversed(self.meta)), np.int64) - self.base
                arrays = arrays[arrays < n]
                block[arrays, 0] += np.where(block[arrays, 0] >= FIRST_CODE, ARRAY_ROW, 0).astype(np.int32)
            self.blocks = more(self.blocks, (self.base, block))
            self.pending.clear()  # in this order, so that a picture that reads from another thread sees no row twice
            self.base += n
        self.ahead = iter(range(self.base, self.base + CHUNK))

    def cell(self, row: int) -> tuple[int, int, int, int]:
        """(op, a, b, site) of a row."""
        if row >= self.base:
            at = (row - self.base) << 2
            return tuple(self.pending[at : at + 4])  # type: ignore[return-value]
        first, block = _last_from(self.blocks, row)
        op, a, b, site = block[row - first].tolist()
        return op & (ARRAY_ROW - 1), a, b, site

    # -- where the user is ------------------------------------------------------------------------------------------

    def move(self, frame: FrameType) -> bool:
        """Called when operations come from another frame than before; False when nothing may be recorded now."""
        if not self.open or get_ident() != self.thread:
            return False
        if state.site is not None:  # a sweep is being recorded
            self._segment(*state.site)
            return True
        self.frame = frame
        user = frame
        if own_file(frame.f_code.co_filename):
            user = user_frame(frame) or frame
        self._segment(user.f_code, None if user is frame else user.f_lasti)
        return True

    def _segment(self, code: CodeType, fixed: int | None) -> None:
        last = self.segments[-1] if self.segments else None
        if last is None or last[1] is not code or last[2] != fixed:
            self.segments.append((self.base + (len(self.pending) >> 2), code, fixed))

    def here(self, level: int = 2) -> int:
        """Notes the user's frame, searched ``level`` frames up, and returns the site of the statement that runs now.

        While a sweep is recorded, or a function replayed, its statement is the site of all its rows.
        """
        frame = sys._getframe(level)
        if frame is self.frame:  # the user's statement itself called, in the frame of the one before
            return frame.f_lasti
        site = state.site
        if site is not None:
            self._segment(*site)
            self.frame = None
            return site[1]
        while _OWN[frame.f_code.co_filename]:  # as user_frame() does
            if frame.f_back is None:
                return 0
            frame = frame.f_back
        if frame is not self.frame:
            self._segment(frame.f_code, None)
            if self.open and get_ident() == self.thread:
                self.frame = frame
        return frame.f_lasti

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

    def note(self, kind: str, subject: Any = None) -> None:
        """Writes down an event, with the user's statement."""
        frame = user_frame(sys._getframe(1))
        site = None if frame is None else (frame.f_code, frame.f_lasti)
        if len(self.events) < EVENTS:
            self.events = more(self.events, Event(kind, len(self), subject, site))

    # -- leaves -----------------------------------------------------------------------------------------------------

    def constant(self, number: float) -> int:
        """The row of a Python number that was used as an operand: of the operator two frames up."""
        tensor = self.numbers.get((number, self.real.__name__)) if self.numbers else None
        if tensor is not None and tensor._lane is self:  # a call has met it before
            self.constants[number] = tensor._row
            return tensor._row
        frame = sys._getframe(3)
        row = self.append(LEAF, 0, 0, frame.f_lasti if frame is self.frame else self.here(4))
        if number == number and number != 0:  # 0.0 and -0.0 are one key, nan is none
            self.leaves[row], self.known[row] = number_leaf(number, self.real)
            self.constants[number] = row
        else:
            self.leaves[row], self.known[row] = number_leaf.__wrapped__(number, self.real)
        return row

    def enter(self, tensor: Any, variable: Any = None, version: int = 0, level: int = 3, site: int | None = None) -> int:
        """The row of a tensor in this recording; one that is new here becomes a leaf (of a variable, where it has one).

        The user's frame is searched ``level`` frames up where the ``site`` is not given: behind the caller, minitape's own.
        """
        own, old = tensor._lane, tensor._home
        if old is None and own is not None:
            old = own if own is self else own.home
        row = tensor._row if old is self else self._leaf_of(tensor) if id(tensor) in self.leaf_of or self.adopted else None
        if row is not None:
            if variable is not None and self.leaves[row].variable is None:
                self.leaves[row] = Leaf(tensor, variable, version)
            return row
        value = tensor._value
        if value is None:
            value = tensor.array
        row = self.append(LEAF, 0, 0, self.here(level) if site is None else site)
        self.leaves[row] = Leaf(tensor, variable, version)
        self.leaf_of[id(tensor)] = row
        self.cold.add(row)
        lane = self._set(row, value)
        if old is None and tensor._made is None:
            old = released(tensor)
        if old is not None:
            if old.tapes > 0 and tensor._row not in old.leaves:
                return row  # it stays a row of that recording
            if tensor._made is None:
                tensor._made = HOOKS["moved"](tensor, old)
        tensor._row, tensor._lane, tensor._home = row, lane, None if lane is self else self
        return row

    def find(self, tensor: Any) -> int | None:
        """The row of a tensor, or None when this recording never met it."""
        return tensor._row if recording_of(tensor) is self else self._leaf_of(tensor)

    def _leaf_of(self, tensor: Any) -> int | None:
        row = self.leaf_of.get(id(tensor))
        if row is not None and self.leaves[row].tensor is tensor:
            return row
        for old, shift in self.adopted:
            if recording_of(tensor) is old:
                return tensor._row + shift
        return None

    def settled(self, kind: type) -> type | None:
        """The recording's float type, which the first value of such a type settles; None where ``kind`` is none."""
        if self.real is None and kind in REALS:
            self.real = kind
        return self.real

    def is_scalar(self, value: Any) -> bool:
        """True for a value that fits a scalar row."""
        return type(value) is (self.real or self.settled(type(value)))

    def lane_of(self, value: Any) -> Lane | None:
        """The lane of an array; None for one that is large, empty, or not of the recording's float type."""
        lane = self.lanes.get(value.shape)
        dtype = value.dtype
        if lane is not None and lane.dtype is dtype:
            return lane
        if type(value) is not np.ndarray or not 0 < value.size <= FAST:
            return None
        if dtype.type is not (self.real or self.settled(dtype.type)):
            return None
        lane = self.lanes[value.shape] = Lane(self, value.shape, self.real)
        return lane

    def lane_for(self, shape: tuple[int, ...] | None) -> Lane | None:
        """The lane of arrays of this shape, small or large; None for an unknown shape, and for one without elements."""
        lane = self.lanes.get(shape) or self.wide_lanes.get(shape)
        if lane is not None:
            return lane
        size = math.prod(shape) if shape else 0
        if not size:
            return None
        if size <= FAST:
            lane = self.lanes[shape] = Lane(self, shape, self.real)
            return lane
        lane = self.wide_lanes[shape] = Wide(self, shape, self.real)
        return lane

    def _set(self, row: int, value: Any) -> Record | Lane | None:
        """Notes the value of a row that no scalar operation wrote, and returns the lane that it belongs to."""
        kind = type(value)
        if kind is self.real or (self.real is None and kind is self.settled(kind)):
            self.known[row] = value
            return self
        self.arrays[row] = value
        lane = self.lane_of(value)
        if lane is None:
            self.lent += value.nbytes
            self.meta[row] = spec(value.shape, value.dtype)
        else:
            self.meta[row] = lane.spec
        return lane

    # -- calls ------------------------------------------------------------------------------------------------------

    def call(self, primitive: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], tensors: tuple[Any, ...],
             recording: bool) -> None:  # fmt: skip
        """Writes one row for each output of an operation that has just computed ``tensors``."""
        cold, arrays, found = self.cold, self.arrays, []
        for t in inputs:
            lane = t._lane
            held = lane is self or (t._home if lane is None else lane.home) is self
            found.append(t._row if held else self.enter(t, level=4))
        rows = tuple(found)
        hot = recording and not cold.issuperset(rows)
        if hot:
            for i in self.read_inputs(primitive, rows):
                if rows[i] not in arrays and inputs[i]._lane is not self:
                    arrays[rows[i]] = inputs[i].array
                    self.bulky = True
        first, site, number = self.base + (len(self.pending) >> 2), self.here(4), len(self.calls)
        self.calls.append(Call(first, primitive, rows, attrs, len(tensors), hot))
        self.laden = self.laden or primitive.shape is None
        real = self.real
        for output, tensor in enumerate(tensors):
            row = tensor._row = self.append(CALL, number, output, site)
            value = tensor._value
            if type(value) is real or (real is None and self.is_scalar(value)):
                tensor._lane = self
                self.known[row] = value
            else:
                tensor._home = self
                tensor._lane = lane = self.lane_of(value)
                self.meta[row] = spec(value.shape, value.dtype) if lane is None else lane.spec
                if lane is not None or value.size <= SMALL or self.watchers or (hot and primitive.keeps_output):
                    arrays[row] = value
                    self.bulky = self.bulky or lane is None
            if not hot:
                cold.add(row)

    def read_inputs(self, primitive: Any, rows: tuple[int, ...]) -> Iterable[int]:
        """Which inputs of a call the rules will read: beside a Python number, those that the rule of the other one reads."""
        if primitive.code and len(rows) == 2:
            for i, row in enumerate(rows):
                if self.is_number(row):
                    return primitive.keeps_beside[i]
        return range(len(rows)) if primitive.keeps is None else primitive.keeps

    def is_number(self, row: int) -> bool:
        """Whether a row is a Python number, of which nobody can want a gradient."""
        leaf = self.leaves.get(row)
        if leaf is None:
            return False
        return leaf.number is not None or any(leaf.tensor is number for number in self.numbers.values())

    # -- values -----------------------------------------------------------------------------------------------------

    def value(self, row: int) -> Any:
        """The value of a row: a NumPy scalar or array; None when its array was released."""
        if row in self.meta:
            if row not in self.arrays and self.holds(row):
                self.evaluate(row + 1)
            return self.arrays.get(row)
        if row >= self.done:
            if row in self.known:
                return self.known[row]
            self.evaluate(row + 1)
        return self.values[row]

    def holds(self, row: int) -> bool:
        """Whether the array of a row is there, or can be computed; else it was released, or never kept."""
        if row in self.arrays:
            return True
        return row >= self.done and (row in self.late or self.cell(row)[0] >= FIRST_CODE)

    def evaluate(self, upto: int | None = None) -> None:
        """Computes the rows up to (not including) row ``upto``: here when they are few, else in a kernel."""
        with self.lock:  # also while counting: another thread may be packing rows
            n = len(self)
            if upto is not None and upto < n and not self.wide:  # large arrays are computed with all that reads them
                n = upto
            if n > self.done:
                self._evaluate(n)

    def _evaluate(self, n: int) -> None:
        if self.lean is not None:  # somebody looks after all, and may do so again
            self.lean.looked, self.lean = LOOKED, None
        recording_elsewhere = self.open and get_ident() != self.thread  # then its pending rows are not to be moved
        if not recording_elsewhere and (n - self.done > LONG or self.done < self.base):
            self._pack()
        if self.done < self.base:
            evaluation.blocks(self, min(n, self.base))
        if self.done < n:
            evaluation.pending(self, n)
        for row in list(self.late):
            if row < n:
                del self.late[row]
        self.held = 0

    # -- the end ----------------------------------------------------------------------------------------------------

    def close(self) -> Any:
        """The last tape was left: operations are no longer recorded. Returns the recording that goes on: none."""
        self.open = False
        self.frame = None

    def reopen(self) -> None:
        """A tape is entered again."""
        self.open = True
        self.renumber()

    def renumber(self) -> None:
        """The next row gets the number of rows: also after Ctrl-C came between taking a number and writing the row."""
        self.ahead = iter(range(len(self), self.base + CHUNK))

    def mend(self) -> None:
        """Forgets what an exception (Ctrl-C, say) left noted of rows that were never written."""
        self.renumber()
        n = len(self)
        for column in (self.meta, self.late, self.wide, self.leaves, self.known, self.arrays):
            for row in [r for r in column if r >= n]:
                del column[row]
        for names in (self.constants, self.leaf_of):
            for name in [k for k, r in names.items() if r >= n]:
                del names[name]
        self.cold = {row for row in self.cold if row < n}
        while self.calls and self.calls[-1].row >= n:
            self.calls.pop()

    def free(self) -> None:
        """A tape that no other shares was used up: lets go of the large arrays."""
        if not self.bulky:
            return
        if self.done < len(self):
            self.evaluate()  # what was put off may read them
        lanes, meta, self.bulky = self.lanes, self.meta, False
        self.arrays = {r: a for r, a in self.arrays.items() if a.size <= SMALL or meta[r][0] in lanes}

    def member(self, tape: Any) -> int | None:
        """The number of a tape among those of this recording; None when it is of another one."""
        if tape._record is self:
            return tape.number
        for k, member in enumerate(self.members):
            if member[0]() is tape:
                return k
        return None

    def notify(self) -> None:
        """Tells live pictures that rows may have been added."""
        for watcher in list(self.watchers):
            watcher()


def _last_from(spans: Sequence[Any], row: int) -> Any:
    """Of spans that begin with their first row, in order, the one with this row."""
    return spans[bisect_right(spans, row, key=_first) - 1]


def recording_of(tensor: Any) -> Record | None:
    """The recording that a tensor is a row of, None for a plain value."""
    lane, home = tensor._lane, tensor._home
    return home if home is not None or lane is None else lane.home


def released(tensor: Any) -> Record | None:
    """The released recording that an array was a row of, as long as its skeleton is kept."""
    lane = tensor._lane
    return lane.was() if type(lane) is Lane and lane.was is not None else None
