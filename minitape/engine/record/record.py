"""Define the recording, an append-only table of rows that all open tapes of a thread share.

Each operation that runs under a tape appends one row per output. The row number identifies the output. No cell stores
which tape a row belongs to. Instead, each tape stores what it watches and when it was recording.
:mod:`minitape.engine.backward.reachability` derives the rows of a tape from this information. The rows are stored one
after another in a flat list. Each row has six cells:

* ``code``: 0 for a leaf (a watched tensor, a variable's state, a constant or a Python number), 1 for a call, and from 2
  on the code of an elementwise operation (``Primitive.code``).
* ``a``, ``b``: The input rows of an elementwise operation. If the operation has one input, both cells contain its row.
* ``call``: The :class:`~minitape.engine.record.row_parts.Call` with the primitive, inputs and attributes of a call, or
  None for all other rows.
* ``offset``: The bytecode offset of the user's statement. It is converted to a line number only on request.
* ``value``: A scalar, an array, or an :class:`~minitape.engine.record.array_spec.ArraySpec` in place of an array that
  no rule reads.

For example, this program records two rows. Row 0 is the leaf ``side``, and row 1 is the product. The
code for ``multiply`` is 6.

>>> import minitape as tf
>>> side = tf.constant(3.0)
>>> with tf.GradientTape() as tape:
...     tape.watch(side)
...     area = side * side
>>> for row in range(len(tape.record)):
...     code, a, b, call, offset, value = tape.record.read_all_cells(row)
...     print(f"row {row}: {code=} {a=} {b=} {call=} value={value}")
row 0: code=0 a=0 b=0 call=None value=3.0
row 1: code=6 a=0 b=0 call=None value=9.0

``Record.write_rows`` appended row 1, and ``Record.find_or_add_row`` appended row 0. The classes for calls, leaves and
events are in :mod:`minitape.engine.record.row_parts`.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Sequence
from sys import _getframe
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from numpy import ndarray

from ..table.accelerator import fast
from ..table.primitives.elementwise import STOP_CODE
from ..types import OptionalFrame, OptionalNumber, RowByRow, RowList, RowSet
from .array_spec import get_array_spec
from .interrupt_safe import leave_ended_tapes
from .kept_arrays import (
    MAX_SMALL_SIZE,
    convert_array_to_spec,
    keep_large_inputs_read_by_rules,
    release_large_arrays,
)
from .provenance import build_origin_in_released_record
from .row_parts import (
    CALL,
    CALL_COLUMN,
    CHUNK,
    FLOAT_DTYPES,
    LEAF,
    VALUE_COLUMN,
    WIDTH,
    Call,
    Calls,
    Event,
    Leaf,
    Subject,
    new_call,
    new_tuple,
)
from .row_table import RowTable
from .thread_state import append_to_list_or_tuple, state
from .user_frames import OWN_FILES, find_user_frame

if TYPE_CHECKING:
    from ..backward.tape import GradientTape
    from ..table.primitives import Primitive
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import Action, Array, Attributes, FirstRunInterface, NumberPair, RowNumbers, RowSequence, Scope, Spans

MAX_RETAINED_RECORDS = 4  # A thread keeps this many released recordings for `explain`.
MAX_SKELETON_ROWS = 4096  # A longer recording is not kept after its release.
MAX_ROWS_WITH_ARRAYS = 256  # A longer recording is kept without its small arrays.
DIFFERENTIABLE_KINDS = "fc"  # Gradients flow only through dtypes of these NumPy kinds.
MAX_EVENTS = 10_000  # A recording drops later events, so a long loop cannot fill the memory.

# These immutable objects replace the containers of a released recording, to which nothing may be added.
_NO_DICT: Any = MappingProxyType({})
_NO_LIST: Any = ()  # The type is Any, because the object stands in for a list.
_NO_ROWS: Any = frozenset()  # The type is Any, because the object stands in for a set.


class SweepBoundary(NamedTuple):
    """The place in a recording at which a recorded sweep begins to write rows, or at which the program continues.

    Attributes:
        first_row: The first row after the boundary. The last such row precedes the `first_row` of the next boundary.
        entry_index: The position in `Record.tape_entries` of the tape that computed the gradient, or None if that tape
            belongs to another recording.
        targets: The rows of the gradient's targets. Empty where the sweep has ended and the program continues.
        sources: The rows of the gradient's sources.
        spans: The spans of the tape at that time.
    """

    first_row: int
    entry_index: OptionalNumber
    targets: RowSequence
    sources: RowSequence
    spans: Sequence[NumberPair]


@fast.replace_by_fast_form
class Record(RowTable):
    """The table of rows. Operations append rows, and a sweep reads them in reverse order.

    Attributes:
        first_run: The first run of a function, if this is its recording (:mod:`minitape.functions.first_run`).
            Otherwise None.
        is_opened_by_tape: Whether a tape has opened this recording and no tape has closed it yet. A tape opens the
            recording as it creates it, so the attribute begins as True. Only while it is True is the frame of the last
            row cached in `frame`, and only then does a recorded sweep set `fixed_offset`. The attribute is always False
            for the recording of a first run, because no tape would clear the cached frame at the end of the run.
        blocks: The packed rows (:mod:`minitape.speed.packed_rows`).
        tape_count: The number of tapes that still exist, including tapes that are used up.
        pause_count: The number of open ``stop_recording()`` blocks.
        mandatory_calls: The calls whose primitive is mandatory (:class:`~minitape.engine.table.primitives.Primitive`).
        events: Assignments, escapes and pauses, in the order in which they happened.
        sweep_boundaries: The rows at which recorded sweeps begin and end, in ascending order. The picture reads them
            (``minitape/picture/nested_gradient_layout`` and ``reader``).
        scopes: (first row, open name scopes) for each entry into and exit from a ``tf.name_scope`` block.
        listeners: Functions that refresh live pictures.
        pack_limit: The row number at which `pack_rows` is called next.
        max_small_size: Arrays with up to this many elements are kept even if no rule reads them.
        kinds: The types of all values in the recording. Some sweeps accept only scalars.
        fixed_offset: The bytecode offset in ``state.fixed_site`` once its code is in `segments`, otherwise None.
        frame: The user frame that wrote the last row, or None if the next row must search for its frame.
        has_large_arrays: Whether a value has been larger than `max_small_size`.
        thread: The id of the thread that created the recording.
        tape_set: An object that is replaced whenever the set of recording tapes changes. A variable compares this
            object by identity to find out whether the current tapes already follow its state. A counter would not be
            enough, because two recordings can have the same count.
        leaf_rows: The row of each leaf tensor, keyed by the tensor's id. A leaf tensor may itself refer to a row of
            another recording.
        numbers: The tensors of Python numbers that have been operands. The key (number, type) leads to the tensor of
            that type, and the number alone leads to the first tensor that was created for it, whatever its type. Only
            :mod:`minitape.speed.operators` looks up a number without its type, and then checks the type.
        variables: A dict that maps the id of each variable to the variable and the rows of its states.
        untracked: The rows that cannot be on any tape: unwatched leaves, rows computed only from unwatched leaves, and
            the results of ``stop_gradient``. A row that was written during a pause may be missing here although no tape
            has it. A tape with a pause is irregular, so its gradients do not rely on this set. In the recording of a
            first run, the feeds are unwatched leaves, so all rows are untracked unless the function opens a tape.
            Gradients of such a recording do not read this set (``FirstRun.build_tape_of_rows_so_far``).
        untracked_end: All untracked rows precede this row. :mod:`minitape.speed.operators` compares a row with this
            number before it searches the set.
        tape_entries: (weak reference to the tape, spans, watched rows) for each tape that has ever used this recording.
            Resetting a tape does not clear its entry.
    """

    first_run: FirstRunInterface | None = None
    is_opened_by_tape = True
    # The type is Any, because the types of the blocks are in minitape.speed, and that package may be deleted.
    blocks: Sequence[Any] = ()
    tape_count = 0
    pause_count = 0
    # Few recordings need these lists, so each remains () until append_to_list_or_tuple() replaces it with a list.
    mandatory_calls: Calls = ()
    events: Sequence[Event] = ()
    sweep_boundaries: Sequence[SweepBoundary] = ()
    scopes: Sequence[tuple[int, Scope]] = ()
    listeners: Sequence[Action] = ()

    def __init__(self) -> None:
        """Create an empty recording that belongs to the current thread."""
        self.rows, self.base, self.next, self.segments, self.leaves = [], 0, 0, [], {}
        self.pack_limit = CHUNK
        self.max_small_size = MAX_SMALL_SIZE
        self.kinds: set[type] = set()
        self.fixed_offset: OptionalNumber = None
        self.frame: OptionalFrame = None
        self.has_large_arrays = self.has_calls = False
        self.thread = get_ident()
        self.tape_set = object()
        self.leaf_rows: RowByRow = {}
        self.numbers: dict[float | tuple[float, type], Tensor] = {}
        self.variables: dict[int, tuple[ResourceVariable, RowList]] = {}
        self.untracked: RowSet = set()
        self.untracked_end = 0
        # Named tuples would make one operation and its gradient 1.5 % slower.
        self.tape_entries: list[tuple[ref[GradientTape], Spans, RowByRow]] = []
        if state._scope:
            self.scopes = ((0, state._scope),)

    # -- rows --------------------------------------------------------------------------------------

    def append_leaf(self, leaf: Leaf, code_offset: int, value: Array) -> int:
        """Append the row of a leaf that no tape watches yet.

        Args:
            leaf: The owner of the row.
            code_offset: The bytecode offset of the user's statement, as `find_current_offset` returns it.
            value: The scalar or array of the leaf.

        Returns:
            The row number.
        """
        if self.next >= self.pack_limit:
            self.pack_rows()
        self.kinds.add(type(value))
        row = self.next
        self.rows += (LEAF, 0, 0, None, code_offset, value)
        self.next = self.untracked_end = row + 1
        self.leaves[row] = leaf
        self.untracked.add(row)
        return row

    def pack_rows(self) -> bool:
        """Pack the rows and empty the list, if the recording supports packing (:mod:`minitape.speed.packed_rows`).

        This plain form does not pack anything. A recording may be this long because a tape's block ended without a call
        to ``__exit__``, so such tapes are closed now.

        Returns:
            Whether rows were packed. The plain form returns False.
        """
        if (self.next - self.base) % CHUNK == 0:
            leave_ended_tapes()
        return False

    # -- leaves ------------------------------------------------------------------------------------

    def find_or_add_row(
        self, tensor: Tensor, variable: ResourceVariable | None = None, offset: OptionalNumber = None
    ) -> int:
        """Return a tensor's row in this recording. A tensor without a row becomes an unwatched leaf.

        Such a tensor also moves to this recording, so its ``_record`` and ``_row`` then refer to the new leaf. It stays
        in its old recording if a tape there may still need it. A leaf whose tensor refers to another recording is found
        in `leaf_rows`.

        In the recording of a first run, the tensor becomes a feed instead (``add_feed_for_outside_tensor``).

        Args:
            tensor: The tensor.
            variable: The variable, if the tensor is its state, otherwise None.
            offset: The bytecode offset of the user's statement. None means the current statement.

        Returns:
            The row number.
        """
        old_record = tensor._record
        if (old_record is self or id(tensor) in self.leaf_rows) and (row := self.find_row(tensor)) is not None:
            return row
        if self.first_run is not None:
            return self.first_run.add_feed_for_outside_tensor(tensor, offset)
        # A tensor may move if its old recording has no tapes left. A leaf of this thread may always move, because its
        # old recording still finds it in `leaf_rows`.
        may_move = (
            old_record is None
            or old_record.tape_count <= 0
            or (old_record.thread == self.thread and tensor._row in old_record.leaves)
        )
        if old_record is not None and may_move and tensor._origin is None:
            tensor._origin = build_origin_in_released_record(tensor, old_record)
        if offset is None:
            offset = self.find_current_offset()
        variable_ref, version = (None, 0) if variable is None else (ref(variable), variable._version)
        leaf = new_tuple(Leaf, (ref(tensor), variable_ref, version, None, tensor._origin))
        # These lines are `append_leaf`, inlined to save the call. They do not check `pack_limit`, because the next
        # operation does.
        value = tensor._value
        row = self.next
        self.kinds.add(type(value))
        self.rows += (LEAF, 0, 0, None, offset, value)
        self.next = self.untracked_end = row + 1
        self.leaves[row] = leaf
        self.leaf_rows[id(tensor)] = row
        self.untracked.add(row)
        # Python switches threads only at calls, so at most one of two threads can move the tensor here.
        if tensor._record is old_record and may_move:
            tensor._record, tensor._row = self, row
        return row

    def find_row(self, tensor: Tensor) -> OptionalNumber:
        """Return a tensor's row, or None if it has no row in this recording.

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
        frame: OptionalFrame = None,
    ) -> None:
        """Append a row for each output of an operation.

        1. Find the bytecode offset of the user's statement, which is the same for all new rows.
        2. Find the rows of the inputs. An input without a row becomes a leaf. If no input is both tracked and
           differentiable, the rows of the outputs are untracked. In a first run, this is the usual case. The result
           of ``stop_gradient`` is always untracked.
        3. Choose what the cells contain. Rows of elementwise operations on floats contain the code of the operation and
           its input rows. All other operations need a ``Call``.
        4. Append a row for each output, and store the row number in the output. A large array becomes a spec unless a
           rule will read it.

        The steps are not separate functions, because calling them would slow down every operation.

        Args:
            primitive: The operation.
            inputs: The input tensors.
            attrs: The keyword arguments of the primitive.
            outputs: The results. Each of them stores this recording and its row number.
            frame: The frame of the user's statement, or a frame called from that statement. None means the caller.
        """
        # Step 1: the user's statement.
        offset = self.fixed_offset
        if offset is None:
            offset = frame.f_lasti if frame and frame is self.frame else self.find_current_offset(frame)

        # Step 2: the rows of the inputs.
        cells = self.rows
        code = primitive.code
        untracked = self.untracked
        input_rows: RowNumbers = ()
        is_untracked = True  # This remains True if no input is tracked and differentiable, and for stop_gradient.
        for t in inputs:
            row = t._row if t._record is self else self.find_or_add_row(t, None, offset)
            input_rows += (row,)
            if row not in untracked and t._value.dtype.kind in DIFFERENTIABLE_KINDS:
                is_untracked = code == STOP_CODE

        # Step 3: the cells. Operations on other dtypes become calls, so that sweeps do not have to check dtypes.
        call = None
        row = self.next
        if code and outputs[0]._value.dtype in FLOAT_DTYPES:
            a, b = input_rows[0], input_rows[-1]
        else:
            code = CALL
            a = 0
            b = 0
            self.has_calls = True
            call = new_call(Call)  # Bypassing the constructor saves time.
            call.row = row
            call.primitive = primitive
            call.inputs = input_rows
            call.attrs, call.outputs = attrs, len(outputs)
            if primitive.mandatory:
                self.mandatory_calls = append_to_list_or_tuple(self.mandatory_calls, call)

        # Step 4: a row for each output.
        may_be_swept = not is_untracked and bool(state.tapes)
        if self.has_large_arrays and may_be_swept and primitive.kept_inputs != ():
            keep_large_inputs_read_by_rules(self, primitive, input_rows, inputs)
        for tensor in outputs:
            value = tensor._value
            if value.size > self.max_small_size:
                # A large array is kept only if a rule will read it. Otherwise, its spec replaces it.
                self.has_large_arrays = True
                if not (may_be_swept and primitive.keeps_output) and not self.listeners:
                    value = get_array_spec(value.shape, value.dtype)
            if self.next >= self.pack_limit:  # pack_rows() empties the list in place, so `cells` remains valid.
                self.pack_rows()
            self.kinds.add(type(value))
            cells += (code, a, b, call, offset, value)
            tensor._record, tensor._row = self, row
            self.next = row + 1
            if is_untracked:
                untracked.add(row)
                self.untracked_end = self.next
            row += 1
        if self.first_run is not None:
            self.first_run.tensor_refs += map(ref, outputs)

    # -- user statements and events ----------------------------------------------------------------

    def find_current_offset(self, frame: OptionalFrame = None) -> int:
        """Return the bytecode offset of the user's current statement, for the next row.

        A row contains only the offset. Consecutive rows from the same code share a segment, which contains the code. If
        the code is new, this method opens a segment. If the user frame is the frame of the last row (`frame`), the last
        segment also applies to the next row.

        During a recorded sweep or a replay of a function, all rows have the site of the statement that started the
        sweep or the replay (``state.fixed_site``).

        Args:
            frame: The frame of the statement, or a frame called from it. None means the caller.

        Returns:
            The offset, or 0 if no frame belongs to the user's program.
        """
        if self.fixed_offset is not None:
            return self.fixed_offset
        fixed_offset = None
        if state.fixed_site is not None:
            code, offset = state.fixed_site
            fixed_offset = offset
            self.frame = None
        else:
            last_frame = self.frame  # The last segment applies to this frame, because it wrote the last row.
            candidate = frame or _getframe(1)
            while candidate is not last_frame and OWN_FILES[(code := candidate.f_code).co_filename]:
                if candidate.f_back is None:
                    return 0
                candidate = candidate.f_back
            if candidate is last_frame:
                return candidate.f_lasti
            offset = candidate.f_lasti
            if self.is_opened_by_tape and get_ident() == self.thread:
                self.frame = candidate
        segments = self.segments
        if not segments or segments[-1][1] is not code or segments[-1][2] != fixed_offset:
            segments.append((self.next, code, fixed_offset))
        return offset

    def append_event(self, kind: str, subject: Subject) -> None:
        """Record an event with its position and the user's statement.

        Args:
            kind: The kind of event, such as "assign", "numpy" or "pause".
            subject: What the event concerns (:class:`~minitape.engine.record.row_parts.Event`).
        """
        if len(self.events) < MAX_EVENTS:
            frame = find_user_frame(_getframe(1))
            site = None if frame is None else (frame.f_code, frame.f_lasti)
            self.events = append_to_list_or_tuple(self.events, Event(kind, self.next, subject, site))

    # -- tapes and listeners -----------------------------------------------------------------------

    def list_tapes_or_none_if_gone(self) -> list[GradientTape | None]:
        """Return the tapes in the order of `tape_entries`, with None for tapes that no longer exist."""
        return [tape() for tape, _, _ in self.tape_entries]

    def add_and_notify_listeners(self, *listeners: Action) -> None:
        """Add functions that refresh live pictures, and call all listeners.

        Args:
            *listeners: Functions without arguments. The functions are called now, and whenever a block or a gradient
                call ends.
        """
        self.listeners = [*dict.fromkeys((*self.listeners, *listeners))]
        self.notify_listeners()

    def notify_listeners(self) -> None:
        """Call all listeners."""
        for listener in self.listeners:
            listener()

    def release(self) -> None:
        """Free the values that no tape can use any longer, because the last tape of the recording is gone.

        The last few short recordings keep their rows, so that `explain` can find the operation that computed a tensor
        even if the tensor outlives its tape. Long or old recordings lose their rows as well.
        """
        self.numbers = self.variables = self.leaf_rows = _NO_DICT
        self.events = ()
        self.frame = None
        released_records = []
        if self.next > MAX_SKELETON_ROWS:
            released_records.append(self)
        else:
            if self.next > MAX_ROWS_WITH_ARRAYS and ndarray in self.kinds:
                self.rows[VALUE_COLUMN::WIDTH] = map(convert_array_to_spec, self.rows[VALUE_COLUMN::WIDTH])
            elif self.has_large_arrays:
                release_large_arrays(self)
            # `record.calls` would visit each call only once, but it made twenty steps of a regression 2 % slower.
            for call in filter(None, self.rows[CALL_COLUMN::WIDTH]) if self.has_calls else ():
                call.attrs = _NO_DICT
            memory = state.memory
            memory.retained_records.append(self)
            while len(memory.retained_records) > MAX_RETAINED_RECORDS and not memory.is_explaining:
                released_records.append(memory.retained_records.popleft())
        for released in released_records:
            released.rows = []
            released.blocks = ()
            released.base = 0
            released.next = 0
            released.mandatory_calls = released.segments = _NO_LIST
            released.leaves = _NO_DICT
            released.untracked = _NO_ROWS
