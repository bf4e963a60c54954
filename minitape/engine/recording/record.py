"""The recording: one append-only table of rows, shared by all tapes that are open at the same time.

Each operation that runs under a tape appends one row; the row's number is the name of its value. Which rows belong to
which tape is not written down: a tape knows what it watches and when it was recording, and finds its rows from that
when a gradient is asked for (:mod:`minitape.engine.back.reach`). The rows are one after the other in a flat list, six
cells each:

op    0 a leaf (watched tensor, variable's state, constant), 1 a call, else the code of an elementwise operation
a, b  the rows of an elementwise operation's inputs (a == b for one input)
call  the :class:`~minitape.engine.recording.rows.Call` of a call: its primitive, inputs and attributes; None for others
site  the bytecode offset of the user's statement, turned into a line only on request
value a number, an array, or the :class:`~minitape.engine.recording.array_spec.ArraySpec` of an array that no rule reads
"""

from __future__ import annotations

from _thread import get_ident
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from sys import _getframe
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

import numpy as np

from ..table.accelerator import fast
from ..table.primitives.elementwise import STOP_CODE
from .array_spec import ArraySpec
from .arrays import SMALL, held_value, hold_inputs
from .block import leave_ended
from .frames import _OWN, user_frame
from .rows import CALL, FLOATS, FULL, LEAF, WIDTH, Call, Event, Leaf, Subject, number_leaf
from .state import appended, state

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import Array, Attributes, Columns, Trace

CONTINUOUS = "fc"  # the kinds of dtypes through which gradients flow
EVENTS = 10_000  # events kept by one recording
new_call, new_tuple = object.__new__, tuple.__new__  # without a constructor's frame: at a third of the price
_first = itemgetter(0)
Span = TypeVar("Span", bound=tuple)  # it begins with its first row


def last_from(spans: Sequence[Span], row: int) -> Span:
    """Of spans that begin with their first row, in order, the one with this row."""
    return spans[bisect_right(spans, row, key=_first) - 1]


@fast.record
class Record:
    """The table: operations append to it, a sweep reads it backwards."""

    trace: Trace | None = None  # the first run of a function whose rows these are, see minitape.functions.trace
    open = True
    small = SMALL
    blocks: Sequence[Any] = ()  # of rows that are packed, see minitape.speed.packed
    tapes = 0  # tapes that may still ask for gradients
    paused = 0  # tapes inside stop_recording()
    # what few recordings have is made when the first of it comes, see appended()
    mandatory: Sequence[Call] = ()  # calls whose gradient does more than give shares, see minitape.engine.back.backward
    events: Sequence[Event] = ()
    # (first row, which of the members wrote from there on, its gradient's targets and sources)
    writers: Sequence[tuple[int, int | None, tuple[int, ...], tuple[int, ...]]] = ()
    scopes: Sequence[tuple[int, tuple[str, ...]]] = ()  # from which row on which name scope was open
    watchers: Sequence[Callable[[], object]] = ()  # callables of live pictures, see tell()

    def __init__(self) -> None:
        self.rows: list[Any] = []  # six cells of each row, but for those that are packed
        self.base = 0  # how many rows are packed
        self.kinds: set[type] = set()  # of values
        self.fixed: int | None = None  # the site of all rows while a sweep is recorded
        self.frame: FrameType | None = None  # the user's that wrote the last row; None: it is to be looked for
        self.large = self.called = False  # whether there are large arrays, and calls
        self.thread = get_ident()
        self.token = object()  # another one whenever the active tapes change: variables are to be watched anew
        # (first row, the code that was running from there on, the one statement in it or None)
        self.segments: list[tuple[int, CodeType, int | None]] = []
        self.leaves: dict[int, Leaf] = {}
        self.leaf_of: dict[int, int] = {}  # id of a leaf tensor -> its row here, also while it knows another one
        # Python numbers that were operands, alone and with a dtype -> their tensors
        self.numbers: dict[float | tuple[float, type], Tensor] = {}
        # id of a variable -> it and the rows of its states
        self.variables: dict[int, tuple[ResourceVariable, list[int]]] = {}
        # rows on no tape: leaves that are not watched, and what is computed from them alone
        self.untracked: set[int] = set()
        # tapes, spans, watched
        self.members: list[tuple[ref[GradientTape], list[tuple[int, int]], dict[int, int]]] = []
        if state._scope:
            self.scopes = ((0, state._scope),)

    # -- rows --------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.base + len(self.rows) // WIDTH

    def append(self, op: int, a: int, b: int, call: Call | None, site: int, value: Array = None) -> int:
        """Writes a row and returns its number."""
        if len(self.rows) >= FULL:
            self.pack()
        row = self.base + len(self.rows) // WIDTH
        self.kinds.add(type(value))
        self.rows += (op, a, b, call, site, value)
        return row

    def pack(self) -> bool:
        """Moves the rows into a block where minitape.speed packs them; False, as here, where they stay.

        A recording that grows so long may be one whose block has ended without being left.
        """
        if len(self.rows) % FULL == 0:
            leave_ended()
        return False

    def row(self, row: int) -> Sequence[Any]:  # six cells of five types
        """(op, a, b, call, site, value) of a row."""
        return self.rows[WIDTH * row : WIDTH * row + WIDTH]

    def stored(self, row: int) -> Array:
        """The value of a row: a number, an array, or the spec of one."""
        return self.rows[WIDTH * row + 5]

    def store(self, row: int, value: Array) -> None:
        """Stores a value for a row: an array that a rule will read, or the spec of an array that no rule reads."""
        self.rows[WIDTH * row + 5] = value

    def columns(self, low: int = 0, high: int | None = None) -> Columns:
        """The six columns of the rows from ``low`` to ``high``, as lists; right also while another thread appends."""
        rows = self.rows[WIDTH * low : None if high is None else WIDTH * high]
        return [rows[k::WIDTH] for k in range(WIDTH)]

    def column(self, which: int) -> list:  # numbers, calls, sites or values
        """One of the six columns."""
        return self.columns()[which] if self.base else self.rows[which::WIDTH]

    def cell(self, row: int) -> tuple[int, int, int, int]:
        """(op, a, b, site) of a row."""
        op, a, b, _, site, _ = self.row(row)
        return op, a, b, site

    def call_at(self, row: int) -> Any:  # not `Call | None`: readers have looked at `op`
        """The call that a row is an output of; None for a leaf and for an elementwise operation."""
        return self.row(row)[3]

    @property
    def calls(self) -> list[Call]:
        """The calls, each once, in order."""
        return [*dict.fromkeys(filter(None, self.column(3)))]

    def value(self, row: int) -> Array:
        """The value of a row: a NumPy scalar or array; None when its array was released, or never kept."""
        found = self.stored(row)
        return None if type(found) is ArraySpec else found

    def shape_dtype(self, row: int) -> tuple[tuple[int, ...], np.dtype]:
        """The shape and the NumPy dtype of a row."""
        found = self.stored(row)
        return found.shape, found.dtype

    # -- leaves ------------------------------------------------------------------------------------

    def row_or_new_leaf(
        self,
        tensor: Tensor,
        variable: ResourceVariable | None = None,
        site: int | None = None,
        tapes: Sequence[GradientTape] = (),
    ) -> int:
        """Returns the row of a tensor in this recording, which the given ``tapes``, that record, watch from now on. A
        tensor without a row here becomes a leaf; with ``variable``, the state of a variable.
        """
        if self.trace is not None:
            row = self.find(tensor)
            if row is None:
                return self.trace.enter_from_outside(tensor, site, tapes)
            for tape in tapes:
                tape._watch_row(row)
            return row
        old, takes = tensor._record, True  # whether the tensor is to know this row from now on
        if old is not None:
            row = tensor._row if old is self else self.find(tensor) if id(tensor) in self.leaf_of else None
            if row is not None:
                for tape in tapes:
                    tape._watch_row(row)
                return row
            # tapes may still ask for it there, and another thread may be using it
            if old.tapes > 0 and (old.thread != self.thread or tensor._row not in old.leaves):
                takes = False
            elif tensor._origin is None:
                from .evidence import origin_of_row  # which needs this module

                tensor._origin = origin_of_row(tensor, old)
        owner, version = (None, 0) if variable is None else (ref(variable), variable._version)
        leaf = new_tuple(Leaf, (ref(tensor), owner, version, None, tensor._origin))
        if site is None:
            site = self.current_site()
        self.kinds.add(type(value := tensor._value))
        row = self.base + len(self.rows) // WIDTH
        self.rows += (LEAF, 0, 0, None, site, value)
        self.leaves[row], self.leaf_of[id(tensor)] = leaf, row
        for tape in tapes:
            # as GradientTape._watch_row says of a row that was written just now
            tape.watched[row] = row + 1
        if not tapes:
            self.untracked.add(row)
        # threads change at calls, of which there is none here: only one of two takes the tensor
        if takes and tensor._record is old:
            tensor._record, tensor._row = self, row
        return row

    def enter_number(self, tensor: Tensor, number: float, site: int) -> None:
        """A Python number that was an operand becomes a leaf; met again, the number is the same tensor."""
        row = self.append(LEAF, 0, 0, None, site, tensor._value)
        self.leaves[row] = number_leaf(number)
        self.untracked.add(row)
        tensor._record, tensor._row = self, row
        if number == number and number != 0:  # 0.0 and -0.0 are one key, nan is none
            self.numbers[number, type(tensor._value)] = tensor
            self.numbers.setdefault(number, tensor)

    def find(self, tensor: Tensor) -> int | None:
        """The row of a tensor, or None when this recording never met it."""
        if tensor._record is self:
            return tensor._row
        row = self.leaf_of.get(id(tensor))
        return row if row is not None and self.leaves[row].tensor is tensor else None

    def read(self, variable: ResourceVariable, accessed: bool = True) -> Tensor:
        """The current state of a variable, watched by the tapes that watch the variable or what is accessed."""
        tensor, me, begins = variable._state, id(variable), accessed and variable._trainable
        tapes: tuple[GradientTape, ...] = ()
        for tape in state.tapes:
            if begins and tape._watch_accessed_variables and tape._record is self:
                tape.variables[me] = variable
            elif me not in tape.variables:
                continue
            tapes += (tape,)
        site = None if tensor._record is self else self.current_site(_getframe(2))
        row = self.row_or_new_leaf(tensor, variable, site, tapes)
        known = self.variables.get(me)
        if known is None:
            self.variables[me] = variable, [row]
        elif row not in known[1]:
            known[1].append(row)
        if accessed:
            variable._seen = self.token
        return tensor

    def watch_variable(self, variable: ResourceVariable, tape: GradientTape) -> None:
        """A tape watches a variable from here on: what was read before stays unwatched."""
        if self.trace is not None:
            self.trace.read(variable, accessed=False)
            return
        tape._watch_row(self.row_or_new_leaf(variable._state, variable))
        self.read(variable, accessed=False)

    # -- operations --------------------------------------------------------------------------------

    def write(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        attrs: Attributes,
        tensors: tuple[Tensor, ...],
        frame: FrameType | None = None,
    ) -> None:
        """Writes a row for each output of an operation, computed by a statement in ``frame`` or around it."""
        site = frame.f_lasti if frame and frame is self.frame else self.current_site(frame)
        cells, constants = self.rows, self.untracked
        rows: tuple[int, ...] = ()
        untracked = True  # whether nothing is watched that a gradient flows through
        for t in inputs:
            row = t._row if t._record is self else self.row_or_new_leaf(t, None, site)
            rows += (row,)
            if untracked and row not in constants and t._value.dtype.kind in CONTINUOUS:
                untracked = primitive.code == STOP_CODE
        code, call, a, b = primitive.code, None, 0, 0
        if code and not attrs and tensors[0]._value.dtype in FLOATS:
            a, b = rows[0], rows[-1]
        else:
            code, self.called = CALL, True
            call = new_call(Call)  # without its constructor: this runs often
            call.row, call.primitive, call.inputs = self.base + len(cells) // WIDTH, primitive, rows
            call.attrs, call.outputs = attrs, len(tensors)
            if primitive.mandatory:
                self.mandatory = appended(self.mandatory, call)
        if self.large and not untracked and state.tapes:
            hold_inputs(self, primitive, rows, inputs)
        for tensor in tensors:
            value = tensor._value
            if value.size > self.small:
                value = held_value(self, primitive, value, not untracked and bool(state.tapes))
            if len(cells) >= FULL:
                self.pack()
            row = self.base + len(cells) // WIDTH
            self.kinds.add(type(value))
            cells += (code, a, b, call, site, value)
            tensor._record, tensor._row = self, row
            if untracked:
                constants.add(row)
        if self.trace is not None:
            self.trace.made += map(ref, tensors)

    # -- which statement wrote a row ---------------------------------------------------------------

    def current_site(self, frame: FrameType | None = None) -> int:
        """The bytecode offset of the user's statement that runs now, in ``frame`` or around it; notes which code it is
        in. While a sweep is recorded, or a function replayed, its statement is the site of all its rows.
        """
        if self.fixed is not None:
            return self.fixed
        site = state.site
        if site is not None:
            self._begin_segment(*site)
            self.frame = None
            return site[1]
        if frame is None:
            frame = _getframe(1)
        writer = self.frame  # where the same function goes on, its segment is still open
        while frame is not writer:
            if not _OWN[(code := frame.f_code).co_filename]:
                segments = self.segments
                if not segments or segments[-1][1] is not code or segments[-1][2] is not None:
                    segments.append((self.base + len(self.rows) // WIDTH, code, None))
                if self.open and get_ident() == self.thread:
                    self.frame = frame
                break
            outer = frame.f_back
            if outer is None:
                return 0
            frame = outer
        return frame.f_lasti

    def pin(self, site: tuple[CodeType, int] | None) -> None:
        """From now on all rows belong to this statement; None: to those that run."""
        self.fixed = None if site is None or not self.open else site[1]
        if site is not None:
            self._begin_segment(*site)
            self.frame = None

    def _begin_segment(self, code: CodeType, fixed: int | None) -> None:
        """From the next row on this code is running, at one statement if ``fixed`` says which."""
        last = self.segments[-1] if self.segments else None
        if last is None or last[1] is not code or last[2] != fixed:
            self.segments.append((len(self), code, fixed))

    def site_of(self, row: int) -> tuple[CodeType, int] | None:
        """(code, bytecode offset) of the user's statement that wrote ``row``."""
        if not self.segments or row < self.segments[0][0]:
            return None
        _, code, fixed = last_from(self.segments, row)
        return code, self.cell(row)[3] if fixed is None else fixed

    def note(self, kind: str, subject: Subject = None) -> None:
        """Writes down an event, with the user's statement."""
        if len(self.events) < EVENTS:
            frame = user_frame(_getframe(1))
            site = None if frame is None else (frame.f_code, frame.f_lasti)
            self.events = appended(self.events, Event(kind, len(self), subject, site))

    def read_inputs(self, primitive: Primitive, rows: Sequence[int]) -> Iterable[int]:
        """Which inputs of an operation the rules will read: beside a Python number, those that the rule of the other
        one reads.
        """
        for row, read in zip(rows, primitive.kept_with_scalar, strict=False):
            if self.is_number(row):
                return read
        return range(len(rows)) if primitive.keeps is None else primitive.keeps

    def is_number(self, row: int) -> bool:
        """Whether a row is a Python number, of which no program can want a gradient."""
        leaf = self.leaves.get(row)
        return leaf is not None and leaf.number is not None

    # -- its tapes ---------------------------------------------------------------------------------

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
        """These callables are told now, and whenever a block or a gradient has ended."""
        self.watchers = [*self.watchers, *(w for w in watchers if w not in self.watchers)]
        self.notify()

    def notify(self) -> None:
        """Tells live pictures to look for new rows, and to go on doing so while their tapes record."""
        for watcher in list(self.watchers):
            watcher()
