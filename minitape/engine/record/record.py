"""The recording: one append-only table of rows, shared by all tapes that are open at the same time.

Each operation that runs under a tape appends one row; the row's number is the name of its value. Which rows belong to
which tape is not written down: a tape knows what it watches and when it was recording, and finds its rows from that
when a gradient is asked for (:mod:`minitape.engine.backward.reachability`). The rows are one after the other in a flat
list, six cells each:

* ``op``: 0 a leaf (watched tensor, variable's state, constant), 1 a call, else the code of an elementwise operation
* ``a``, ``b``: the rows of an elementwise operation's inputs (a == b for one input)
* ``call``: the :class:`~minitape.engine.record.row_parts.Call` of a call, which has its primitive, inputs and
  attributes; None for others
* ``site``: the bytecode offset of the user's statement, turned into a line only on request
* ``value``: a number, an array, or the :class:`~minitape.engine.record.array_spec.ArraySpec` of an array that no rule
  reads
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Sequence
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from ..table.accelerator import fast
from ..table.primitives.elementwise import STOP_CODE
from .array_spec import get_array_spec
from .interrupt_safe import leave_ended_tapes
from .kept_arrays import MAX_SMALL_SIZE, keep_large_inputs_read_by_rules
from .provenance import build_origin_in_released_record
from .row_parts import CALL, CHUNK, FLOATS, LEAF, Call, Event, Leaf, Subject, new_call, new_tuple
from .row_table import RowTable
from .thread_state import append_to_list_or_tuple, state
from .user_frames import OWN_FILES, find_user_frame

if TYPE_CHECKING:
    from ..backward.tape import GradientTape
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import Array, Attributes, TracedRun

DIFFERENTIABLE_KINDS = "fc"  # the kinds of dtypes through which gradients flow
MAX_EVENTS = 10_000  # events kept by one recording


class GradientRows(NamedTuple):
    """The rows from ``first_row`` on, which a gradient wrote: of which member, from which targets to which sources.
    Those without targets are what goes on after such a gradient.
    """

    first_row: int
    member: int | None
    targets: Sequence[int]
    sources: Sequence[int]
    spans: Sequence[tuple[int, int]]  # of the member


@fast.replace_record
class Record(RowTable):
    """The table: operations append to it, a sweep reads it backwards."""

    trace: TracedRun | None = None  # the first run of a function whose rows these are, see minitape.functions.first_run
    is_open = True  # whether it is where its thread records
    blocks: Sequence[Any] = ()  # of rows that are packed, see minitape.speed.packed_rows
    tape_count = 0  # of its tapes that are alive, also those that are used up
    pause_count = 0  # blocks of stop_recording() that are open
    # few recordings have these: each is () until the first of it comes, see append_to_list_or_tuple()
    mandatory_calls: Sequence[Call] = ()  # calls of primitives that are mandatory
    events: Sequence[Event] = ()
    gradient_rows: Sequence[GradientRows] = ()
    scopes: Sequence[tuple[int, tuple[str, ...]]] = ()  # from which row on which name scope was open
    listeners: Sequence[Callable[[], object]] = ()  # live pictures, see add_and_notify_listeners()

    def __init__(self) -> None:
        self.rows, self.base, self.next, self.segments, self.leaves = [], 0, 0, [], {}  # see RowTable
        self.pack_limit = CHUNK  # the row before which rows are packed
        self.max_small_size = MAX_SMALL_SIZE  # elements up to which an array is held, whether a rule reads it or not
        self.kinds: set[type] = set()  # of values: a sweep over numbers takes no others
        self.fixed_site: int | None = None  # state.fixed_site, once its code is in segments
        self.frame: FrameType | None = None  # the user's that wrote the last row; None: it is to be looked for
        self.has_large_arrays = self.has_calls = False  # whether there are large arrays, and calls
        self.thread = get_ident()  # that made it
        # another object for each set of tapes that record: by it a variable knows that they have met its state
        self.tape_set = object()
        self.leaf_rows: dict[int, int] = {}  # id of a leaf tensor -> its row here, also while it knows another one
        # Python numbers that were operands, alone and with a dtype -> their tensors
        self.numbers: dict[float | tuple[float, type], Tensor] = {}
        # id of a variable -> it and the rows of its states
        self.variables: dict[int, tuple[ResourceVariable, list[int]]] = {}
        # rows on no tape: leaves that are not watched, and what is computed from them alone
        self.untracked: set[int] = set()
        self.untracked_end = 0  # from this row on there are none
        # its tapes, also those that are gone: (reference, spans, what it watched until it was reset); named tuples
        # would cost one operation and its gradient 1.5 %
        self.members: list[tuple[ref[GradientTape], list[tuple[int, int]], dict[int, int]]] = []
        if state._scope:
            self.scopes = ((0, state._scope),)

    # -- rows --------------------------------------------------------------------------------------

    def append_leaf(self, leaf: Leaf, site: int, value: Array) -> int:
        """Write the row of a leaf, which no tape watches yet, and return its number."""
        if self.next >= self.pack_limit:
            self.pack_rows()
        self.kinds.add(type(value))
        row = self.next
        self.rows += (LEAF, 0, 0, None, site, value)
        self.next = self.untracked_end = row + 1
        self.leaves[row] = leaf
        self.untracked.add(row)
        return row

    def pack_rows(self) -> bool:
        """Pack the rows, and empty the list, where minitape.speed does (see minitape.speed.packed_rows); return
        False, as here, where they stay. So many rows may come of a block that has ended without being left: it is left
        now.
        """
        if (self.next - self.base) % CHUNK == 0:
            leave_ended_tapes()
        return False

    # -- leaves ------------------------------------------------------------------------------------

    def find_or_add_row(self, tensor: Tensor, variable: ResourceVariable | None = None, site: int | None = None) -> int:
        """Return the row of a tensor in this recording. A tensor without one becomes a leaf, which no tape watches
        yet; with ``variable``, the state of a variable.
        """
        old_record = tensor._record
        if (old_record is self or id(tensor) in self.leaf_rows) and (row := self.find_row(tensor)) is not None:
            return row
        if self.trace is not None:
            return self.trace.enter_outside_tensor(tensor, site)
        # while tapes of the old recording live, a tensor stays there if it is a result, or if another thread made that
        # recording: a leaf is found in leaf_rows
        keeps_old_record = (
            old_record is not None
            and old_record.tape_count > 0
            and (old_record.thread != self.thread or tensor._row not in old_record.leaves)
        )
        if old_record is not None and not keeps_old_record and tensor._origin is None:
            tensor._origin = build_origin_in_released_record(tensor, old_record)
        if site is None:
            site = self.note_current_site()
        variable_ref, version = (None, 0) if variable is None else (ref(variable), variable._version)
        leaf = new_tuple(Leaf, (ref(tensor), variable_ref, version, None, tensor._origin))
        self.kinds.add(type(value := tensor._value))
        row = self.next
        self.rows += (LEAF, 0, 0, None, site, value)
        self.next = self.untracked_end = row + 1
        self.leaves[row], self.leaf_rows[id(tensor)] = leaf, row
        self.untracked.add(row)
        # threads change at calls, of which there is none here: only one of two takes the tensor
        if tensor._record is old_record and not keeps_old_record:
            tensor._record, tensor._row = self, row
        return row

    def find_row(self, tensor: Tensor) -> int | None:
        """Return the row of a tensor, or None when this recording never met it."""
        if tensor._record is self:
            return tensor._row
        row = self.leaf_rows.get(id(tensor))
        return row if row is not None and self.leaves[row].tensor is tensor else None

    # -- operations --------------------------------------------------------------------------------

    def write_rows(
        self,
        primitive: Primitive,
        inputs: tuple[Tensor, ...],
        attrs: Attributes,
        outputs: tuple[Tensor, ...],
        frame: FrameType | None = None,
    ) -> None:
        """Write a row for each output of an operation, computed by a statement in ``frame`` or around it."""
        site = self.fixed_site
        if site is None:
            site = frame.f_lasti if frame and frame is self.frame else self.note_current_site(frame)
        cells, untracked = self.rows, self.untracked
        rows: tuple[int, ...] = ()
        is_constant = True  # whether no input is watched, or depends on what is, through which a gradient flows
        for t in inputs:
            row = t._row if t._record is self else self.find_or_add_row(t, None, site)
            rows += (row,)
            if is_constant and row not in untracked and t._value.dtype.kind in DIFFERENTIABLE_KINDS:
                is_constant = primitive.code == STOP_CODE
        code, call, row = primitive.code, None, self.next
        if code and outputs[0]._value.dtype in FLOATS:  # of another dtype it is a call: sweeps ask no dtype of the rest
            a, b = rows[0], rows[-1]
        else:
            code, a, b, self.has_calls = CALL, 0, 0, True
            call = new_call(Call)  # without its constructor: this runs often
            call.row, call.primitive, call.inputs, call.attrs, call.outputs = row, primitive, rows, attrs, len(outputs)
            if primitive.mandatory:
                self.mandatory_calls = append_to_list_or_tuple(self.mandatory_calls, call)
        is_tracked = not is_constant and state.tapes
        if self.has_large_arrays and is_tracked and primitive.kept_inputs != ():
            keep_large_inputs_read_by_rules(self, primitive, rows, inputs)
        for tensor in outputs:
            value = tensor._value
            if (
                value.size > self.max_small_size
            ):  # of a large result the array is held where a rule will read it, else its spec
                self.has_large_arrays = True
                if not (is_tracked and primitive.keeps_output) and not self.listeners:
                    value = get_array_spec(value.shape, value.dtype)
            if self.next >= self.pack_limit:  # pack_rows() empties this very list
                self.pack_rows()
            self.kinds.add(type(value))
            cells += (code, a, b, call, site, value)
            tensor._record, tensor._row = self, row
            self.next = row + 1
            if is_constant:
                untracked.add(row)
                self.untracked_end = self.next
            row += 1
        if self.trace is not None:
            self.trace.tensor_refs += map(ref, outputs)

    # -- which statement wrote a row ---------------------------------------------------------------

    def note_current_site(self, frame: FrameType | None = None) -> int:
        """Return the bytecode offset of the user's statement that runs now, in ``frame`` or around it, and note which
        code it is in. While a sweep is recorded, or a function replayed, its statement is the site of all its rows.
        """
        if self.fixed_site is not None:
            return self.fixed_site
        fixed_offset = None
        if state.fixed_site is not None:
            code, offset = state.fixed_site
            fixed_offset, self.frame = offset, None
        else:
            last_frame = self.frame  # where the function that wrote the last row goes on, its segment is still open
            candidate = frame or _getframe(1)
            while candidate is not last_frame and OWN_FILES[(code := candidate.f_code).co_filename]:
                if candidate.f_back is None:
                    return 0
                candidate = candidate.f_back
            if candidate is last_frame:
                return candidate.f_lasti
            offset = candidate.f_lasti
            if self.is_open and get_ident() == self.thread:
                self.frame = candidate
        segments = self.segments
        if not segments or segments[-1][1] is not code or segments[-1][2] != fixed_offset:
            segments.append((self.next, code, fixed_offset))
        return offset

    def note_event(self, kind: str, subject: Subject = None) -> None:
        """Write down an event, with the user's statement."""
        if len(self.events) < MAX_EVENTS:
            frame = find_user_frame(_getframe(1))
            site = None if frame is None else (frame.f_code, frame.f_lasti)
            self.events = append_to_list_or_tuple(self.events, Event(kind, self.next, subject, site))

    # -- its tapes ---------------------------------------------------------------------------------

    def list_tapes_or_none(self) -> list[GradientTape | None]:
        """List the tapes of this recording that are still there, and None for each that is gone."""
        return [tape() for tape, _, _ in self.members]

    def add_and_notify_listeners(self, *listeners: Callable[[], object]) -> None:
        """Add callables, which are called now, and whenever a block or a gradient has ended."""
        self.listeners = [*dict.fromkeys((*self.listeners, *listeners))]
        self.notify_listeners()

    def notify_listeners(self) -> None:
        """Tell live pictures to look for new rows, and to go on doing so while their tapes record."""
        for listener in self.listeners:
            listener()
