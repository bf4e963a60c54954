"""The recording, one append-only table of rows that all open tapes of a thread share.

Each operation that runs under a tape appends one row for each output. The row number is the name of that value. No cell
stores which tape a row belongs to. A tape stores what it watches and when it was recording, and a gradient finds its
rows from that (:mod:`minitape.engine.backward.reachability`). The rows are stored consecutively in a flat list, with
six cells each:

* ``op``: 0 for a leaf (a watched tensor, a variable's state or a constant), 1 for a call, otherwise the code of an
  elementwise operation.
* ``a``, ``b``: The rows of an elementwise operation's inputs (a == b for one input).
* ``call``: The :class:`~minitape.engine.record.row_parts.Call` of a call, with its primitive, inputs and attributes;
  None for other rows.
* ``site``: The bytecode offset of the user's statement. It is converted to a line only on request.
* ``value``: A number, an array, or the :class:`~minitape.engine.record.array_spec.ArraySpec` of an array that no rule
  reads.
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

DIFFERENTIABLE_KINDS = "fc"  # Gradients flow only through dtypes of these NumPy kinds.
MAX_EVENTS = 10_000  # A recording drops further events, so that a long loop cannot fill the memory.


class GradientRows(NamedTuple):
    """A note that the rows from `first_row` on were written by a recorded sweep, or again by the program.

    Attributes:
        first_row: The first of the rows. They end at the `first_row` of the next note.
        member: The position, in `Record.members`, of the tape whose gradient it is; None for a tape of another
            recording.
        targets: The rows of the gradient's targets. Empty if the sweep is over and the program continues.
        sources: The rows of the gradient's sources.
        spans: The spans of rows that the tape had recorded.
    """

    first_row: int
    member: int | None
    targets: Sequence[int]
    sources: Sequence[int]
    spans: Sequence[tuple[int, int]]


@fast.replace_record
class Record(RowTable):
    """The table of rows. Operations append to it, and a sweep reads it backwards.

    Attributes:
        trace: The first run of a function whose rows these are (:mod:`minitape.functions.first_run`); None for the
            recording of a program.
        is_open: Whether the thread records into this recording.
        blocks: The packed rows (:mod:`minitape.speed.packed_rows`).
        tape_count: The number of tapes that still exist, including those that have returned their only gradient.
        pause_count: The number of open ``stop_recording()`` blocks.
        mandatory_calls: The calls of mandatory primitives (:class:`~minitape.engine.table.primitives.Primitive`).
        events: What happened and is not a row.
        gradient_rows: Where recorded sweeps begin and end, in order of their rows.
        scopes: (first row, open name scopes) for each change of the ``tf.name_scope`` blocks.
        listeners: The callables that refresh live pictures.
        pack_limit: The row at which `pack_rows` is called.
        max_small_size: The largest number of elements of an array that is kept even if no rule reads it.
        kinds: The types of all values. Some sweeps accept only numbers.
        fixed_site: The offset in ``state.fixed_site``, once `segments` contains its code; otherwise None.
        frame: The user's frame that wrote the last row; None if the next row must look for its frame.
        has_large_arrays: Whether a value has been larger than `max_small_size`.
        thread: The id of the thread that created the recording.
        tape_set: An object that is replaced whenever other tapes begin to record. A variable compares it to find out
            whether the current tapes have already seen its state.
        leaf_rows: The row of each leaf tensor, by the tensor's id, even if the tensor itself refers to a row of another
            recording.
        numbers: The tensors of Python numbers that were operands, by number, or by number and dtype.
        variables: (variable, rows of its states), by the variable's id.
        untracked: The rows on no tape, which are unwatched leaves and everything computed from such leaves alone.
        untracked_end: No row from this one on is untracked.
        members: (weak reference to the tape, spans, watched rows) for each tape that ever used this recording. A
            reset of a tape does not clear them.
    """

    trace: TracedRun | None = None
    is_open = True
    blocks: Sequence[Any] = ()  # The type of a block is minitape.speed's, which may be deleted.
    tape_count = 0
    pause_count = 0
    # Few recordings have these, so each is () until append_to_list_or_tuple() makes it a list.
    mandatory_calls: Sequence[Call] = ()
    events: Sequence[Event] = ()
    gradient_rows: Sequence[GradientRows] = ()
    scopes: Sequence[tuple[int, tuple[str, ...]]] = ()
    listeners: Sequence[Callable[[], object]] = ()

    def __init__(self) -> None:
        """Begin an empty recording for the thread that runs now."""
        self.rows, self.base, self.next, self.segments, self.leaves = [], 0, 0, [], {}
        self.pack_limit = CHUNK
        self.max_small_size = MAX_SMALL_SIZE
        self.kinds: set[type] = set()
        self.fixed_site: int | None = None
        self.frame: FrameType | None = None
        self.has_large_arrays = self.has_calls = False
        self.thread = get_ident()
        self.tape_set = object()
        self.leaf_rows: dict[int, int] = {}
        self.numbers: dict[float | tuple[float, type], Tensor] = {}
        self.variables: dict[int, tuple[ResourceVariable, list[int]]] = {}
        self.untracked: set[int] = set()
        self.untracked_end = 0
        # Named tuples would make one operation and its gradient 1.5 % slower.
        self.members: list[tuple[ref[GradientTape], list[tuple[int, int]], dict[int, int]]] = []
        if state._scope:
            self.scopes = ((0, state._scope),)

    # -- rows --------------------------------------------------------------------------------------

    def append_leaf(self, leaf: Leaf, site: int, value: Array) -> int:
        """Write the row of a leaf that no tape watches yet.

        Args:
            leaf: The owner of the row.
            site: The bytecode offset of the user's statement, as `note_current_site` returns it.
            value: The leaf's number or array.

        Returns:
            The row number.
        """
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
        """Pack the rows and empty the list, if the recording can (:mod:`minitape.speed.packed_rows`).

        This plain form packs nothing. A tape may have written so many rows because its block ended without a call of
        ``__exit__``, so such tapes are closed now.

        Returns:
            Whether rows were packed. The plain form returns False.
        """
        if (self.next - self.base) % CHUNK == 0:
            leave_ended_tapes()
        return False

    # -- leaves ------------------------------------------------------------------------------------

    def find_or_add_row(self, tensor: Tensor, variable: ResourceVariable | None = None, site: int | None = None) -> int:
        """Return the row of a tensor in this recording. A tensor without a row becomes a leaf that no tape watches.

        Args:
            tensor: The tensor.
            variable: The variable whose state the tensor is; None for any other tensor.
            site: The bytecode offset of the user's statement; None to look for the statement that runs now.

        Returns:
            The row number.
        """
        old_record = tensor._record
        if (old_record is self or id(tensor) in self.leaf_rows) and (row := self.find_row(tensor)) is not None:
            return row
        if self.trace is not None:
            return self.trace.enter_outside_tensor(tensor, site)
        # While the old recording has tapes, a tensor keeps its row there if it is a result or if another thread created
        # that recording. A leaf may move, because leaf_rows still finds it there.
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
        # Python switches threads only at calls. Nothing is called here, so only one of two threads moves the tensor.
        if tensor._record is old_record and not keeps_old_record:
            tensor._record, tensor._row = self, row
        return row

    def find_row(self, tensor: Tensor) -> int | None:
        """Return the row of a tensor; None if the tensor has no row in this recording.

        Args:
            tensor: The tensor.
        """
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
        """Write a row for each output of an operation.

        Inputs without a row become leaves first. If an operation has no input that is tracked and differentiable, its
        rows are untracked.

        Args:
            primitive: The operation.
            inputs: The input tensors.
            attrs: The keyword arguments of the primitive.
            outputs: The results. Each receives this recording and the number of its row.
            frame: The frame of the user's statement, or a frame that the statement called; None for the caller.
        """
        site = self.fixed_site
        if site is None:
            site = frame.f_lasti if frame and frame is self.frame else self.note_current_site(frame)
        cells, untracked = self.rows, self.untracked
        rows: tuple[int, ...] = ()
        is_constant = True  # It stays True if no gradient can reach a tracked input.
        for t in inputs:
            row = t._row if t._record is self else self.find_or_add_row(t, None, site)
            rows += (row,)
            if is_constant and row not in untracked and t._value.dtype.kind in DIFFERENTIABLE_KINDS:
                is_constant = primitive.code == STOP_CODE
        code, call, row = primitive.code, None, self.next
        if code and outputs[0]._value.dtype in FLOATS:  # Other dtypes are calls, so sweeps need not check the dtype.
            a, b = rows[0], rows[-1]
        else:
            code, a, b, self.has_calls = CALL, 0, 0, True
            call = new_call(Call)  # This bypasses the constructor, because it runs often.
            call.row, call.primitive, call.inputs, call.attrs, call.outputs = row, primitive, rows, attrs, len(outputs)
            if primitive.mandatory:
                self.mandatory_calls = append_to_list_or_tuple(self.mandatory_calls, call)
        is_tracked = not is_constant and state.tapes
        if self.has_large_arrays and is_tracked and primitive.kept_inputs != ():
            keep_large_inputs_read_by_rules(self, primitive, rows, inputs)
        for tensor in outputs:
            value = tensor._value
            if value.size > self.max_small_size:
                # A large array is kept only if a rule will read it. Otherwise its spec is enough.
                self.has_large_arrays = True
                if not (is_tracked and primitive.keeps_output) and not self.listeners:
                    value = get_array_spec(value.shape, value.dtype)
            if self.next >= self.pack_limit:  # pack_rows() empties the list in place, so `cells` stays valid.
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
        """Return the bytecode offset of the user's statement that runs now, and record its code in `segments`.

        While a sweep is recorded or a function is replayed, all rows have the site of the statement that started it.

        Args:
            frame: The frame of the statement, or a frame that the statement called; None for the caller.

        Returns:
            The offset; 0 if no frame belongs to the user's program.
        """
        if self.fixed_site is not None:
            return self.fixed_site
        fixed_offset = None
        if state.fixed_site is not None:
            code, offset = state.fixed_site
            fixed_offset, self.frame = offset, None
        else:
            last_frame = self.frame  # If the function that wrote the last row continues, its segment is still open.
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
        """Record an event with its time and the user's statement.

        Args:
            kind: The kind of event, such as "assign", "numpy" or "pause".
            subject: What the event concerns (:class:`~minitape.engine.record.row_parts.Event`).
        """
        if len(self.events) < MAX_EVENTS:
            frame = find_user_frame(_getframe(1))
            site = None if frame is None else (frame.f_code, frame.f_lasti)
            self.events = append_to_list_or_tuple(self.events, Event(kind, self.next, subject, site))

    # -- its tapes ---------------------------------------------------------------------------------

    def list_tapes_or_none(self) -> list[GradientTape | None]:
        """Return the tapes of this recording in the order of `members`, with None for each that no longer exists."""
        return [tape() for tape, _, _ in self.members]

    def add_and_notify_listeners(self, *listeners: Callable[[], object]) -> None:
        """Add callables that refresh live pictures, and call all listeners.

        Args:
            *listeners: Functions without arguments. They are called now and whenever a block or a gradient has ended.
        """
        self.listeners = [*dict.fromkeys((*self.listeners, *listeners))]
        self.notify_listeners()

    def notify_listeners(self) -> None:
        """Call the listeners, so that live pictures look for new rows until their tapes stop recording."""
        for listener in self.listeners:
            listener()
