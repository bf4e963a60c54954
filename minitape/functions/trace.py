"""The first run of a function: an ordinary eager run, written into a recording of its own.

Its tensors have values, as all have; but what hangs on the arguments does not tell them to Python, which would decide
something by them once and for all.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..engine.back.tape import GradientTape
from ..engine.recording.array_spec import ArraySpec, array_spec
from ..engine.recording.block import ThreadContext, block
from ..engine.recording.record import CONTINUOUS, Record
from ..engine.recording.rows import LEAF, Leaf
from ..engine.recording.state import state
from ..engine.table.primitives import Primitive
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, from_array
from ..engine.values.invalid import invalid
from ..recording.nodes import operation_of


class OtherWay(Exception):
    """A call does not go the way that a recording knows: Python runs again."""


class Unrecorded(Exception):
    """A branch or a loop cannot be recorded without doing what it does: Python goes through it."""


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a tensor of a traced function for its value."""


class InaccessibleTensorError(TypeError, ValueError):
    """A tensor of a traced function was used after its first run."""


DONE = np.bool_(True)  # the value of what has none


class Leaked(ArraySpec, NDArrayOperatorsMixin):
    """In place of a tensor's value when the function that made it is over: it has a shape, and refuses the rest."""

    def __init__(self, name: str = "", value: Any = DONE, constant: bool = False) -> None:
        super().__init__(value.shape, value.dtype)
        self.name, self.value = name, value if constant else None

    def refuse(self, *_: object, **__: object) -> NoReturn:
        raise InaccessibleTensorError(
            f"A tensor of shape {self.shape} is out of scope: it belongs to the first run of the traced function "
            f"{self.name!r}. Return it from the function."
        )

    __array__ = __array_ufunc__ = __array_function__ = refuse
    __getattr__ = refuse

    def restore(self) -> Any:
        """A value of this shape for the time in which a gradient is recorded: zeros, or what never changes."""
        return array_spec(self.shape, self.dtype).zeros[()] if self.value is None else self.value


class Feed(NamedTuple):
    """A row that is given: by an argument, a variable, or a tensor from outside, which may be gone."""

    row: int
    variable: Any = None
    captured_ref: Callable[[], Any] | None = None
    varies: bool = True  # whether it is another value in each call; a tensor from outside all functions is not


# what an assignment makes the state of a variable; no gradient passes
CHANGES = {
    "assign": Primitive("assign", lambda new: new, None, op="AssignVariableOp", keep=""),
    "assign_add": Primitive("assign_add", lambda old, new: old + new, None, op="AssignAddVariableOp", keep=""),
    "assign_sub": Primitive("assign_sub", lambda old, new: old - new, None, op="AssignSubVariableOp", keep=""),
}
OF_SHAPES = {"shape", "size", "rank", "zeros_like", "ones_like"}  # primitives that read no value: shapes are settled


def tracing() -> FirstRun | None:
    """The function that is traced now."""
    found: Any = None if state.record is None else state.record.trace
    return found


class FirstRun:
    """The first run of a function. ``record`` has its rows, ``feeds`` says which of them a later call gives."""

    def __init__(
        self, name: str, note_branch: Callable[[EagerTensor], None] | None = None, names: Sequence[str] = ()
    ) -> None:
        self.name, self.outer, self.names = name, tracing(), names  # those of its arguments
        # notes that Python branches on a tensor; without it the run only tries, without effects: a branch, say
        self.note_branch = note_branch
        self.record = Record()
        self.record.trace, self.record.open = self, False
        self.has_values = True  # whether values are those of the first run, not zeros in their place
        self.feeds: dict[int, Feed] = {}  # by row; the arguments are the first ones
        self.states: dict[int, EagerTensor] = {}  # of variables, by id: their states now
        self.assigned_variables: dict[int, Any] = {}  # variables, by id
        self.new_variables: list[Any] = []  # variables
        self.tensor_refs: list[weakref.ref[EagerTensor]] = []  # its tensors
        self.lock = threading.RLock()  # of who adds rows: those of gradients
        self._marks = bytearray()  # by row: whether it hangs on feeds that vary

    @property
    def tentative(self) -> bool:
        """Whether effects are not for now: it only tries, or values are zeros."""
        return self.note_branch is None or not self.has_values

    @block
    def recording(self) -> Iterator[None]:
        """Operations in the block become rows; tapes outside do not see them."""
        outside = [feed.captured_ref() for feed in self.feeds.values() if feed.captured_ref is not None and feed.varies]
        leaked = [(t, t._value) for t in (*self._alive(), *outside) if type(t._value) is Leaked]
        for tensor, value in leaked:
            tensor._value = value.restore()
        with ThreadContext(record=self.record, tapes=[], fixed_site=None):
            try:
                yield
            finally:
                for tensor, value in leaked:
                    tensor._value = value
                self._leak()

    @block
    def hidden(self) -> Iterator[None]:
        """The block is outside of the function: its tensors are out of scope there."""
        before = [(tensor, tensor._value) for tensor in self._alive()]
        self._leak()
        try:
            yield
        finally:
            for tensor, value in before:
                tensor._value = value

    def _leak(self) -> None:
        for tensor in self._alive():
            if type(tensor._value) is not Leaked:
                tensor._value = Leaked(self.name, tensor._value, not self.varies(tensor._row))

    def _alive(self) -> list:
        found = [tensor for tensor_ref in self.tensor_refs if (tensor := tensor_ref()) is not None]
        self.tensor_refs = [*map(weakref.ref, found)]
        return found

    def tape(self) -> GradientTape:
        """A tape that watches everything."""
        tape = GradientTape(persistent=True)
        tape._record, tape.irregular, tape.spans = self.record, True, [(0, len(self.record))]
        self.record.tape_count += 1
        rows = self.feeds.keys() | {row for _, states in self.record.variables.values() for row in states}
        tape.watched = {row: row + 1 for row in rows if self.record.shape_dtype(row)[1].kind in CONTINUOUS}
        return tape

    # -- what comes in -----------------------------------------------------------------------------

    def enter(self, value: Any, variable: Any = None) -> EagerTensor:
        """A tensor that the trace is given, with its value in the first run."""
        tensor = from_array(value)
        owner, version = (None, 0) if variable is None else (weakref.ref(variable), variable._version)
        leaf = Leaf(weakref.ref(tensor), owner, version, None, None if variable is None else variable._state._origin)
        row = self._write_leaf(tensor, leaf, self.record.current_site())
        self.feeds[row] = Feed(row, variable)
        self.tensor_refs.append(weakref.ref(tensor))
        return tensor

    def _write_leaf(self, tensor: EagerTensor, leaf: Leaf, site: int, old: Any = None) -> int:
        """The new row of a leaf. The tensor knows it from now on, where it belongs to ``old`` until then."""
        record = self.record
        row = record.append_leaf(leaf, site, tensor._value)
        if tensor._record is old:
            tensor._record, tensor._row = record, row
        return row

    def enter_from_outside(self, tensor: Any, site: int | None) -> int:
        """The new row of a tensor that was made elsewhere."""
        if type(tensor._value) is Leaked:
            tensor._value.refuse()
        leaf = Leaf(weakref.ref(tensor), origin=tensor._origin)
        site = self.record.current_site() if site is None else site
        row = self._write_leaf(tensor, leaf, site, self.record)  # it stays what it is outside
        self.record.leaf_rows[id(tensor)] = row
        inner = tensor._record is not None and tensor._record.trace is not None
        self.feeds[row] = Feed(row, None, (lambda: tensor) if inner else leaf.tensor_ref, inner)
        return row

    # -- what does not come out --------------------------------------------------------------------

    def refuse(self, tensor: Any, how: str = "array") -> None:
        """Raises where Python asks for a value that hangs on what is given; what it branches on becomes a guard."""
        if type(tensor._value) is Leaked:
            tensor._value.refuse()
        if how == "bool" and self.varies(tensor._row) and self.has_values and state.record is not None:
            if state.record.trace is not self or self.note_branch is None:
                raise Unrecorded
            self.note_branch(tensor)
        elif self.varies(tensor._row):
            self.raise_refusal(how)

    def raise_refusal(self, how: str) -> NoReturn:
        """The error for Python that asks for a value."""
        raise OperatorNotAllowedInGraphError(
            f"In the traced function {self.name!r} Python asked for the value of a tensor ({how}), which later calls "
            "do not repeat: compute with tensors, print with tf.print, or let tf.py_function look at the value."
        )

    def varies(self, row: int) -> bool:
        """Whether the value of a row hangs on what is given, or on what each run does anew."""
        first = len(self._marks)
        if row >= first:
            ops, left, right, calls, _, _ = self.record.columns(first)
            marks = self._marks
            for at, (op, a, b, call) in enumerate(zip(ops, left, right, calls, strict=True), first):
                if op == LEAF:
                    marks.append(at in self.feeds and self.feeds[at].varies)
                elif call is None:
                    marks.append(marks[a] | marks[b])
                elif call.primitive.name in OF_SHAPES:
                    marks.append(False)
                else:
                    marks.append(call.primitive.stateful or any(marks[i] for i in call.inputs))
        return bool(self._marks[row])

    def name_of(self, row: int) -> str | None:
        """The text that a tensor shows in place of its value: its argument's name or that of its operation."""
        if not self.varies(row):
            return None
        primitive = operation_of(self.record, row)[0]
        made_by = "read" if primitive is None else primitive.op
        return f"{self.names[row] if row < len(self.names) else made_by}:0"

    # -- variables ---------------------------------------------------------------------------------

    def create(self, variable: Any, *given: Any) -> None:
        """Makes a variable, which outlives the first run; ValueError in another run for the same arguments."""
        if self.tentative:
            raise ValueError(
                f"{self.name!r}: tf.function only supports singleton tf.Variables created on the first call. Make the "
                "variable outside of the function, or keep it and make it only once."
            )
        with ThreadContext(record=None, tapes=[]):
            variable._begin(*given)
        self.new_variables.append(variable)

    def state_of(self, variable: Any) -> EagerTensor:
        """The state of a variable: at its first read what a call gives, later what was assigned here."""
        key = id(variable)
        if key not in self.states:
            now = variable._state if self.outer is None else self.outer.state_of(variable)
            self.states[key] = tensor = self.enter(now._value, variable)
            self.record.variables[key] = variable, [tensor._row]
        return self.states[key]

    def assign(self, variable: Any, change: Any, how: str) -> None:
        """The new state is a row, and that of the variable from now on."""
        if self.note_branch is None and self.outer is not None:
            raise Unrecorded  # a branch or loop that assigns is Python's
        key, old = id(variable), variable._enter(self.record, accessed=False)
        if old.shape != change.shape and how != "assign":
            raise invalid(f"A tensor of shape {change.shape} cannot change a variable of shape {old.shape}", how)
        new = apply(CHANGES[how], (change,) if how == "assign" else (old, change), {})
        self.record.note_event(how, (variable, variable._version, new._row))
        self.states[key], self.assigned_variables[key] = new, variable
        self.record.variables[key][1].append(new._row)
        for tape in state.tapes:
            if key in tape.variables:
                tape._watch_row(new._row)
