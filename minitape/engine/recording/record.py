"""The recording: one append-only table of rows, shared by all tapes that are open at the same time.

Each operation that runs under a tape appends one row; the row's number is the name of its value. Which rows belong to
which tape is not written down: a tape knows what it watches and when it was recording, and finds its rows from that
when a gradient is asked for (:mod:`minitape.engine.back.reach`).
"""

from __future__ import annotations

import sys
import weakref
from _thread import get_ident
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING
from weakref import ref

from ..table.primitives.elementwise import STOP_CODE
from .columns import CONTINUOUS
from .frames import user_frame
from .large_arrays import LargeArrays
from .recorder import Recorder
from .rows import CALL, FLOATS, LEAF, Call, Event, Leaf, Subject, number_leaf
from .state import appended, state

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import Attributes, Trace

EVENTS = 10_000  # events kept by one recording
new_call, new_tuple = object.__new__, tuple.__new__  # without a constructor's frame: at a third of the price


class Record(LargeArrays, Recorder):
    """The table: operations append to it, a sweep reads it backwards."""

    trace: Trace | None = None  # the first run of a function whose rows these are, see minitape.functions.trace
    tapes = 0  # tapes that may still ask for gradients
    paused = 0  # tapes inside stop_recording()
    # what few recordings have is made when the first of it comes, see appended()
    mandatory: Sequence[Call] = ()  # calls whose gradient does more than give shares, see minitape.engine.back.backward
    events: Sequence[Event] = ()
    merged: Sequence[tuple[Record, int]] = ()  # recordings whose rows were copied here, and their shift
    writers: Sequence[tuple[int, int | None]] = ()  # (first row, which of the members wrote from there on)
    scopes: Sequence[tuple[int, tuple[str, ...]]] = ()  # from which row on which name scope was open

    def __init__(self) -> None:
        super().__init__()
        self.fixed = self.frame = None  # read often: Python finds them sooner here than in the class
        self.large = self.called = False  # whether there are large arrays, and calls
        self.segments, self.thread = [], get_ident()
        self.leaves: dict[int, Leaf] = {}
        self.leaf_of: dict[int, int] = {}  # id of a leaf tensor -> its row here, also while it knows another one
        # Python numbers that were operands, alone and with a dtype -> their tensors
        self.numbers: dict[float | tuple[float, type], Tensor] = {}
        # id of a variable -> it and the rows of its states
        self.variables: dict[int, tuple[ResourceVariable, list[int]]] = {}
        # rows on no tape: leaves that are not watched, and what is computed from them alone
        self.untracked: set[int] = set()
        # tapes, spans, watched
        self.members: list[tuple[weakref.ref[GradientTape], list[tuple[int, int]], dict[int, int]]] = []
        if state._scope:
            self.scopes = ((0, state._scope),)

    def note(self, kind: str, subject: Subject = None) -> None:
        """Writes down an event, with the user's statement."""
        if len(self.events) < EVENTS:
            frame = user_frame(sys._getframe(1))
            site = None if frame is None else (frame.f_code, frame.f_lasti)
            self.events = appended(self.events, Event(kind, len(self), subject, site))

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
        if self.trace is not None and (row := self.find(tensor)) is None:
            return self.trace.enter_from_outside(tensor, site, tapes)
        old, keeps_old_row = tensor._record, False
        if old is not None:
            row = self.find(tensor)
            if row is not None:
                for tape in tapes:
                    tape._watch_row(row)
                return row
            if old.tapes > 0:  # they may still ask for it, and another thread may be using it there
                keeps_old_row = old.thread != self.thread or tensor._row not in old.leaves
            if not keeps_old_row and tensor._origin is None:
                from .evidence import origin_of_row  # which needs this module

                tensor._origin = origin_of_row(tensor, old)
        owner, version = (None, 0) if variable is None else (ref(variable), variable._version)
        leaf = new_tuple(Leaf, (ref(tensor), owner, version, None, tensor._origin))
        site = self.current_site() if site is None else site
        self.leaf_of[id(tensor)] = row = self.write_leaf(tensor, leaf, site, self if keeps_old_row else old, tapes)
        return row

    def write_leaf(
        self, tensor: Tensor, leaf: Leaf, site: int, old: Record | None = None, tapes: Sequence[GradientTape] = ()
    ) -> int:
        """Writes the row of a leaf, which these tapes watch. The tensor knows its row here from now on, where it
        belongs to ``old`` until then.
        """
        row = self.append(LEAF, 0, 0, None, site, tensor._value)
        self.leaves[row] = leaf
        for tape in tapes:
            tape.watched[row] = row + 1
        if not tapes:
            self.untracked.add(row)
        if tensor._record is old:  # threads change at calls, of which there is none here: only one of them takes it
            tensor._record, tensor._row = self, row
        return row

    def enter_number(self, tensor: Tensor, number: float, site: int) -> None:
        """A Python number that was an operand becomes a leaf; met again, the number is the same tensor."""
        self.write_leaf(tensor, number_leaf(number), site)
        if number == number and number != 0:  # 0.0 and -0.0 are one key, nan is none
            self.numbers[number, type(tensor._value)] = tensor
            self.numbers.setdefault(number, tensor)

    def find(self, tensor: Tensor) -> int | None:
        """The row of a tensor, or None when this recording never met it."""
        if tensor._record is self:
            return tensor._row
        row = self.leaf_of.get(id(tensor))
        known = row is not None and self.leaves[row].tensor is tensor
        for old, shift in self.merged:  # where it is a result, it may have been used here before as a leaf
            if tensor._record is old and not (known and tensor._row in old.leaves):
                return tensor._row + shift
        return row if known else None

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
        row = self.row_or_new_leaf(
            tensor, variable, None if tensor._record is self else self.current_site(sys._getframe(2)), tapes
        )
        known = self.variables.get(me)
        if known is None:
            self.variables[me] = variable, [row]
        elif row not in known[1]:
            known[1].append(row)
        if accessed:
            variable._seen = state.token
        return tensor

    def watch_variable(self, variable: ResourceVariable, tape: GradientTape) -> None:
        """A tape watches a variable from here on: what was read before stays unwatched."""
        if self.trace is not None:
            self.trace.read(variable, accessed=False)
            return
        tape._watch_row(self.row_or_new_leaf(variable._state, variable))
        self.read(variable, accessed=False)

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
        rows: tuple[int, ...] = ()
        passes = False  # whether something is watched that a gradient flows through
        for t in inputs:
            rows += (row := t._row if t._record is self else self.row_or_new_leaf(t, None, site),)
            passes = passes or (row not in self.untracked and t._value.dtype.kind in CONTINUOUS)
        code, call, a, b = primitive.code, None, 0, 0
        untracked = code == STOP_CODE or not passes
        if code and not attrs and tensors[0]._value.dtype in FLOATS:
            a, b = rows[0], rows[-1]
        else:
            code, self.called = CALL, True
            call = new_call(Call)  # without its constructor: this runs often
            call.row, call.primitive, call.inputs = len(self), primitive, rows
            call.attrs, call.outputs = attrs, len(tensors)
            if primitive.mandatory:
                self.mandatory = appended(self.mandatory, call)
        for tensor in tensors:
            value = tensor._value
            if self.large or value.size > self.small:
                value = self._column_value(primitive, rows, inputs, value, not untracked and bool(state.tapes))
            tensor._record, tensor._row = self, self.append(code, a, b, call, site, value)
            if untracked:
                self.untracked.add(tensor._row)
        if self.trace is not None:
            self.trace.made += map(ref, tensors)

    def close(self) -> Record | None:
        """The last tape was left. Returns the recording that continues: none, or this one while a function is traced."""
        if self.trace is not None:
            return self
        self.open = False
        self.frame = None
        return None

    def reopen(self) -> None:
        """A tape is entered again."""
        self.open = True

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
