"""The first run of a function: an ordinary eager run, recorded as under a tape that watches everything.

Its tensors have values, as all have; but what hangs on the arguments does not tell them to Python, which would decide
something by them once and for all.
"""

from __future__ import annotations

import sys
import threading
import weakref
from contextlib import contextmanager
from typing import Any, NoReturn

from ..engine.back.tape import GradientTape
from ..engine.recording.block import Elsewhere
from ..engine.recording.outlines import outline
from ..engine.recording.record import CONTINUOUS, Record
from ..engine.recording.rows import LEAF, Leaf, operation_of
from ..engine.recording.state import state
from ..engine.table.primitives import Primitive
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, from_array
from .settings import GUARDS

_HOW = {
    "bool": "a traced function cannot branch on a tensor's value; use tf.cond, tf.while_loop or tf.where",
    "iter": "a traced function cannot iterate over a tensor; use tf.while_loop",
}
_VALUE = (
    "a traced function cannot ask for a tensor's value, which later calls do not have: .numpy(), float() and the like"
)


class Again(Exception):
    """A call is not like the first one (a row that hangs on values has another shape, say): Python runs anew."""


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a tensor of a traced function for its value."""


class InaccessibleTensorError(ValueError):
    """A tensor of a traced function was used after its first run."""


class NeedsValue(AttributeError):
    """A function of minitape asked for the value of a tensor that hangs on the arguments."""


# what an assignment makes the state of a variable; no gradient passes
SET = Primitive("assign", lambda new: new, None, op="AssignVariableOp", keep="")
ADD = Primitive("assign_add", lambda old, new: old + new, None, op="AssignAddVariableOp", keep="")
SUB = Primitive("assign_sub", lambda old, new: old - new, None, op="AssignSubVariableOp", keep="")
CHANGES = {"assign": SET, "assign_add": ADD, "assign_sub": SUB}


OF_SHAPES = {"shape", "size", "rank", "zeros_like", "ones_like"}  # primitives that read no value: shapes are settled


class Trace(Record):
    """The recording of the first run of a function."""

    traces = True
    small = sys.maxsize  # all values are kept while it runs

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.calls_python = False  # whether gradients of the user's own refer to its tensors
        self.quiet = False  # whether it only tries: a branch that may not be taken
        self.first = True  # whether values are those of the first run, not zeros in their place
        self.tape = GradientTape(persistent=True)  # watches everything
        self.given: set[int] = set()  # rows whose values a later call brings along
        self.outer: dict[int, EagerTensor] = {}  # row -> a tensor of a trace around this one
        self.reads: dict[int, tuple[Any, int]] = {}  # id of a variable -> it and the row of its state at the start
        self.states: dict[int, EagerTensor] = {}  # its state now
        self.assigned: dict[int, Any] = {}  # variables, by id
        self.guards: list[tuple[int, bool]] = []  # what Python decided by
        self.lock = threading.RLock()  # of who adds rows: those of gradients
        self.marks = bytearray()  # by row: whether it hangs on what is given
        self.alive: list[EagerTensor] = []  # the arguments
        self.names: list[str] = []  # theirs

    @contextmanager
    def recording(self) -> Any:
        """Operations in the block become rows; tapes outside do not see them."""
        with Elsewhere(record=self, tapes=[], by=None, site=None), self.tape:
            yield self

    def forget(self) -> None:
        """After the first run no value of arguments and states is held: zeros have their shapes."""
        for tensor in (*self.alive, *self.states.values()):
            value = tensor._value
            if value.ndim:
                tensor._value = outline(value.shape, value.dtype).zeros

    def close(self) -> Trace:
        """The last tape inside was left: the trace goes on."""
        self.frame = None
        return self

    def notify(self) -> None:
        """No live picture follows a trace."""

    # -- what comes in -----------------------------------------------------------------------------

    def argument(self, tensor: EagerTensor) -> EagerTensor:
        """A tensor with the same value, which later calls give anew."""
        made = from_array(tensor._value)
        self.alive.append(made)
        self.given.add(self.row_or_new_leaf(made))
        return made

    def row_or_new_leaf(self, tensor: Any, variable: Any = None, site: int | None = None, tapes: Any = ()) -> int:
        """The row of a tensor. One from outside becomes a leaf, which all tapes of here watch that are to."""
        row = self.find(tensor)
        if row is None:
            owner, version = (None, 0) if variable is None else (weakref.ref(variable), variable._version)
            leaf = Leaf(weakref.ref(tensor), owner, version, None, tensor._origin)
            old = tensor._record
            if old is not None and old.traces and not old.is_open:
                raise InaccessibleTensorError(
                    f"{tensor.dtype.name} tensor of shape {tensor.shape} is out of scope: it belongs to an earlier run "
                    f"of the traced function {old.name!r}. Return it from there."
                )
            site = self.current_site() if site is None else site
            row = self.append(LEAF, 0, 0, None, site, tensor._value)
            self.leaves[row], self.leaf_of[id(tensor)] = leaf, row
            self.untracked.add(row)
            if old is None:
                tensor._record, tensor._row = self, row
            if tensor._value.dtype.kind in CONTINUOUS:
                self.tape._watch_row(row)
            if old is not None and old.traces:
                self.outer[row] = tensor
                self.given.add(row)
        for tape in tapes:
            tape._watch_row(row)
        return row

    @property
    def is_open(self) -> bool:
        """Whether the function runs now."""
        return self.tape._recording

    # -- what does not come out --------------------------------------------------------------------

    def refuse(self, tensor: EagerTensor, how: str = "array") -> None:
        """Raises where a value is asked for that hangs on the arguments."""
        if state.record is None or not state.record.traces or not self.varies(tensor._row):
            return
        if how == "iter" and GUARDS[0]:  # its length is that of a shape, which later calls have or run anew
            return
        if how == "bool" and GUARDS[0] and self.first and not self.quiet and self is state.record:
            self.guards.append((tensor._row, bool(tensor._value)))
            return
        if how == "array":
            raise NeedsValue("minitape needs the value of a tensor that hangs on the arguments of a traced function")
        self.raise_refusal(how)

    def raise_refusal(self, how: str) -> NoReturn:
        """The error for Python that asks for a value."""
        raise OperatorNotAllowedInGraphError(f"In {self.name!r}: {_HOW.get(how, _VALUE)}.")

    def varies(self, row: int) -> bool:
        """Whether the value of a row hangs on what is given, or on what each run does anew."""
        if row >= len(self.marks):
            first = len(self.marks)
            self.marks.extend(bytes(len(self) - first))
            ops, left, right, calls, _, _ = self.columns(first)
            for at, (op, a, b, call) in enumerate(zip(ops, left, right, calls, strict=True), first):
                if op == LEAF:
                    self.marks[at] = at in self.given
                elif call is None:
                    self.marks[at] = self.marks[a] | self.marks[b]
                elif call.primitive.name not in OF_SHAPES:
                    self.marks[at] = call.primitive.stateful or any(self.marks[i] for i in call.inputs)
        return bool(self.marks[row])

    # -- variables ---------------------------------------------------------------------------------

    def create(self, variable: Any, *given: Any) -> None:
        """Makes a variable, which outlives the first run."""
        with Elsewhere(record=None, tapes=[]):
            variable._begin(*given)

    def read(self, variable: Any, accessed: bool = True) -> EagerTensor:
        """The state of a variable: at its first read what a call gives, later what was assigned here."""
        key = id(variable)
        if key not in self.states:
            self.states[key] = first = from_array(variable._state._value)
            row = self.row_or_new_leaf(first, variable)
            self.given.add(row)
            self.reads[key], self.variables[key] = (variable, row), (variable, [row])
        tensor, begins = self.states[key], accessed and variable._trainable
        for tape in state.tapes:
            if begins and tape._watch_accessed_variables:
                tape.variables[key] = variable
            elif key not in tape.variables:
                continue
            tape._watch_row(tensor._row)
        return tensor

    def look_at(self, variable: Any) -> NoReturn:
        """Python asks for the value of a variable."""
        self.raise_refusal("numpy")

    def assign(self, variable: Any, change: Any, how: str, read_value: bool) -> Any:
        """The new state is a row."""
        old = self.read(variable, accessed=False)
        new = apply(CHANGES[how], (change,) if how == "assign" else (old, change), {})
        return self.set_state(variable, new, how, read_value)

    def update(self, variable: Any, primitive: Primitive, inputs: Any, attrs: Any, how: str, prepare: Any) -> Any:
        """The same for what a primitive makes of the old state."""
        made = Primitive("assign", primitive.forward, None, op=primitive.op, keep="")
        new = apply(made, (self.read(variable, accessed=False), *prepare(*inputs)), attrs)
        return self.set_state(variable, new, how, True)

    def set_state(self, variable: Any, new: EagerTensor, how: str = "assign", read_value: bool = True) -> Any:
        """A row is the state of a variable from now on."""
        key = id(variable)
        self.read(variable, accessed=False)
        self.note(how, (variable, variable._version, new._row))
        self.states[key], self.assigned[key] = new, variable
        self.variables[key][1].append(new._row)
        for tape in (self.tape, *state.tapes):
            if key in tape.variables:
                tape.watched[new._row] = new._row + 1
                self.untracked.discard(new._row)
        return variable._unread(read_value)

    # -- how its tensors look ----------------------------------------------------------------------

    def hides(self, tensor: EagerTensor) -> bool:
        """Whether a tensor does not show its value."""
        return self.varies(tensor._row)

    def name_of(self, row: int) -> str:
        """The name of a row: an argument's own, else that of its operation."""
        names = dict(zip([t._row for t in self.alive], self.names, strict=False))
        primitive = operation_of(self, row)[0]
        return f"{names.get(row) or ('read' if primitive is None else primitive.op)}:0"
