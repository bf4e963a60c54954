"""The first run of a function: an ordinary eager run, written into a recording of its own.

Its tensors have values, as all have; but those that depend on the arguments do not tell them to Python, which would
decide something by them once and for all.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..engine.backward.tape import GradientTape
from ..engine.record.array_spec import ArraySpec, get_array_spec
from ..engine.record.interrupt_safe import ThreadContext, make_interrupt_safe
from ..engine.record.record import DIFFERENTIABLE_KINDS, Record
from ..engine.record.row_parts import LEAF, Leaf
from ..engine.record.thread_state import state
from ..engine.table.primitives import Primitive
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array
from ..engine.values.argument_errors import build_argument_error
from ..recording.graph_nodes import find_operation_and_inputs

if TYPE_CHECKING:
    from ..engine.tensor.variable import ResourceVariable


class GuardError(Exception):
    """A call does not take the branch that a recording has: Python runs again."""


class NotRecordableError(Exception):
    """A branch or a loop cannot be recorded without doing what it does: Python goes through it."""


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a tensor of a traced function for its value."""


class InaccessibleTensorError(TypeError, ValueError):
    """A tensor of a traced function was used after its first run."""


NO_VALUE = np.bool_(True)  # the value of what has none


class OutOfScopeValue(ArraySpec, NDArrayOperatorsMixin):
    """In place of a tensor's value when the function that made it is over: it has a shape, and refuses the rest."""

    def __init__(self, name: str = "", value: Any = NO_VALUE, is_constant: bool = False) -> None:
        super().__init__(value.shape, value.dtype)
        self.name, self.value = name, value if is_constant else None

    def raise_out_of_scope(self, *_: object, **__: object) -> NoReturn:
        raise InaccessibleTensorError(
            f"A tensor of shape {self.shape} is out of scope: it belongs to the first run of the traced function "
            f"{self.name!r}. Return it from the function."
        )

    __array__ = __array_ufunc__ = __array_function__ = raise_out_of_scope
    __getattr__ = raise_out_of_scope

    def get_value_or_zeros(self) -> Any:
        """Return the value if it never changes, else zeros of its shape: for while a gradient is recorded."""
        return get_array_spec(self.shape, self.dtype).zeros[()] if self.value is None else self.value


class Feed(NamedTuple):
    """A row that a call provides: an argument, a variable's state, or a tensor from outside, which may be gone."""

    row: int
    variable: ResourceVariable | None = None
    captured_ref: Callable[[], Any] | None = None
    is_varying: bool = True  # whether it is another value in each call; a tensor from outside all functions is not


# what an assignment makes the state of a variable; no gradient passes
ASSIGN_PRIMITIVES = {
    "assign": Primitive("assign", lambda new: new, None, op="AssignVariableOp", keep=""),
    "assign_add": Primitive("assign_add", lambda old, new: old + new, None, op="AssignAddVariableOp", keep=""),
    "assign_sub": Primitive("assign_sub", lambda old, new: old - new, None, op="AssignSubVariableOp", keep=""),
}
SHAPE_PRIMITIVES = {
    "shape",
    "size",
    "rank",
    "zeros_like",
    "ones_like",
}  # primitives that read shapes and no values; the shapes are the same in each call


def find_current_trace() -> FirstRun | None:
    """Return the first run that is recorded now; None outside of traced functions."""
    trace: Any = None if state.record is None else state.record.trace
    return trace


class FirstRun:
    """The first run of a function. ``record`` has its rows, ``feeds`` says which of them a later call gives."""

    def __init__(
        self, name: str, note_branch: Callable[[Tensor], None] | None = None, argument_names: Sequence[str] = ()
    ) -> None:
        self.name, self.outer_trace, self.argument_names = name, find_current_trace(), argument_names
        # notes that Python branches on a tensor; without it the run only tries, without effects: a branch, say
        self.note_branch = note_branch
        self.record = Record()
        self.record.trace, self.record.is_open = self, False
        self.has_values = True  # whether values are those of the first run, not zeros in their place
        self.feeds: dict[int, Feed] = {}  # by row; the arguments are the first ones
        self.variable_states: dict[int, EagerTensor] = {}  # of variables, by id: their states now
        self.assigned_variables: dict[int, ResourceVariable] = {}  # by id
        self.new_variables: list[ResourceVariable] = []
        self.tensor_refs: list[weakref.ref[EagerTensor]] = []  # its tensors
        self.lock = threading.RLock()  # held while the rows of a gradient are added
        self._varying_flags = bytearray()  # by row: whether it depends on feeds that vary

    @property
    def is_tentative(self) -> bool:
        """Whether the run must have no effects: it only tries whether it can be recorded, or values are zeros."""
        return self.note_branch is None or not self.has_values

    @make_interrupt_safe
    def record_operations(self) -> Iterator[None]:
        """Open a block whose operations become rows of the trace; tapes outside do not see them."""
        outside_tensors = [
            feed.captured_ref() for feed in self.feeds.values() if feed.captured_ref is not None and feed.is_varying
        ]
        invalid_tensors = [
            (t, t._value) for t in (*self._list_live_tensors(), *outside_tensors) if type(t._value) is OutOfScopeValue
        ]
        for tensor, value in invalid_tensors:
            tensor._value = value.get_value_or_zeros()
        with ThreadContext(record=self.record, tapes=[], fixed_site=None):
            try:
                yield
            finally:
                for tensor, value in invalid_tensors:
                    tensor._value = value
                self._invalidate_tensors()

    @make_interrupt_safe
    def leave_scope(self) -> Iterator[None]:
        """Open a block outside of the traced function: the tensors of the function are out of scope there."""
        inner_values = [(tensor, tensor._value) for tensor in self._list_live_tensors()]
        self._invalidate_tensors()
        try:
            yield
        finally:
            for tensor, value in inner_values:
                tensor._value = value

    def _invalidate_tensors(self) -> None:
        for tensor in self._list_live_tensors():
            if type(tensor._value) is not OutOfScopeValue:
                tensor._value = OutOfScopeValue(self.name, tensor._value, not self.is_varying(tensor._row))

    def _list_live_tensors(self) -> list[EagerTensor]:
        tensors = [tensor for tensor_ref in self.tensor_refs if (tensor := tensor_ref()) is not None]
        self.tensor_refs = [*map(weakref.ref, tensors)]
        return tensors

    def build_tape_watching_all(self) -> GradientTape:
        """Return a tape on the rows so far that watches all feeds and all states of variables."""
        tape = GradientTape(persistent=True)
        tape._record, tape.irregular, tape.spans = self.record, True, [(0, len(self.record))]
        self.record.tape_count += 1
        rows = self.feeds.keys() | {row for _, state_rows in self.record.variables.values() for row in state_rows}
        tape.watched = {
            row: row + 1 for row in rows if self.record.get_shape_and_dtype(row)[1].kind in DIFFERENTIABLE_KINDS
        }
        return tape

    # -- what comes in -----------------------------------------------------------------------------

    def add_feed(self, value: Any, variable: ResourceVariable | None = None) -> EagerTensor:
        """Return a new tensor that each call provides; ``value`` is its value in the first run."""
        tensor = from_array(value)
        owner, version = (None, 0) if variable is None else (weakref.ref(variable), variable._version)
        leaf = Leaf(weakref.ref(tensor), owner, version, None, None if variable is None else variable._state._origin)
        row = self._write_leaf(tensor, leaf, self.record.note_current_site())
        self.feeds[row] = Feed(row, variable)
        self.tensor_refs.append(weakref.ref(tensor))
        return tensor

    def _write_leaf(self, tensor: Tensor, leaf: Leaf, site: int, old_record: Any = None) -> int:
        """Write the row of a leaf and return it. A tensor that belongs to ``old_record`` knows it from now on."""
        record = self.record
        row = record.append_leaf(leaf, site, tensor._value)
        if tensor._record is old_record:
            tensor._record, tensor._row = record, row
        return row

    def enter_outside_tensor(self, tensor: Tensor, site: int | None) -> int:
        """Write the row of a tensor that was made elsewhere, as a feed, and return it."""
        if type(tensor._value) is OutOfScopeValue:
            tensor._value.raise_out_of_scope()
        leaf = Leaf(weakref.ref(tensor), origin=tensor._origin)
        site = self.record.note_current_site() if site is None else site
        row = self._write_leaf(tensor, leaf, site, self.record)  # it stays what it is outside
        self.record.leaf_rows[id(tensor)] = row
        is_traced = tensor._record is not None and tensor._record.trace is not None
        self.feeds[row] = Feed(row, None, (lambda: tensor) if is_traced else leaf.tensor_ref, is_traced)
        return row

    # -- what does not come out --------------------------------------------------------------------

    def refuse_or_guard_value(self, tensor: Tensor, access: str = "array") -> None:
        """Raise where Python asks for a value that depends on feeds; for a branch write a guard."""
        if type(tensor._value) is OutOfScopeValue:
            tensor._value.raise_out_of_scope()
        if access == "bool" and self.is_varying(tensor._row) and self.has_values and state.record is not None:
            if state.record.trace is not self or self.note_branch is None:
                raise NotRecordableError
            self.note_branch(tensor)
        elif self.is_varying(tensor._row):
            self.raise_value_access_error(access)

    def raise_value_access_error(self, access: str) -> NoReturn:
        """Raise the error for Python that asks for the value of a tensor."""
        raise OperatorNotAllowedInGraphError(
            f"In the traced function {self.name!r} Python asked for the value of a tensor ({access}), which later "
            "calls do not repeat: compute with tensors, print with tf.print, or let tf.py_function look at the value."
        )

    def is_varying(self, row: int) -> bool:
        """Whether the value of a row depends on the feeds, or on what each run does again, such as random numbers."""
        first_row = len(self._varying_flags)
        if row >= first_row:
            ops, first_inputs, second_inputs, calls, _, _ = self.record.read_columns(first_row)
            flags = self._varying_flags
            for new_row, (op, a, b, call) in enumerate(
                zip(ops, first_inputs, second_inputs, calls, strict=True), first_row
            ):
                if op == LEAF:
                    flags.append(new_row in self.feeds and self.feeds[new_row].is_varying)
                elif call is None:
                    flags.append(flags[a] | flags[b])
                elif call.primitive.name in SHAPE_PRIMITIVES:
                    flags.append(False)
                else:
                    flags.append(call.primitive.stateful or any(flags[input_row] for input_row in call.inputs))
        return bool(self._varying_flags[row])

    def find_symbolic_name(self, row: int) -> str | None:
        """Return what a tensor shows in place of its value: the name of its argument or operation, with ``:0``.

        None where its value is the same in each call, and is shown.
        """
        if not self.is_varying(row):
            return None
        primitive = find_operation_and_inputs(self.record, row)[0]
        op = "read" if primitive is None else primitive.op
        return f"{self.argument_names[row] if row < len(self.argument_names) else op}:0"

    # -- variables ---------------------------------------------------------------------------------

    def initialize_variable(self, variable: ResourceVariable, *arguments: Any) -> None:
        """Initialize a variable, which outlives the first run; ValueError in another run for the same arguments."""
        if self.is_tentative:
            raise ValueError(
                f"{self.name!r}: tf.function only supports singleton tf.Variables created on the first call. Make the "
                "variable outside of the function, or keep it and make it only once."
            )
        with ThreadContext(record=None, tapes=[]):
            variable._initialize(*arguments)
        self.new_variables.append(variable)

    def find_or_add_state(self, variable: ResourceVariable) -> EagerTensor:
        """Return the state of a variable: at its first read a new feed, later what was assigned here."""
        key = id(variable)
        if key not in self.variable_states:
            current_state = (
                variable._state if self.outer_trace is None else self.outer_trace.find_or_add_state(variable)
            )
            self.variable_states[key] = tensor = self.add_feed(current_state._value, variable)
            self.record.variables[key] = variable, [tensor._row]
        return self.variable_states[key]

    def assign_variable(self, variable: ResourceVariable, change: Tensor, method: str) -> None:
        """Write the row of a variable's new state, which is its state from now on.

        ``method`` is assign, assign_add or assign_sub.
        """
        if self.note_branch is None and self.outer_trace is not None:
            raise NotRecordableError  # a branch or loop that assigns is Python's
        key, old_state = id(variable), variable._enter_state_in_record(self.record, is_access=False)
        if old_state.shape != change.shape and method != "assign":
            raise build_argument_error(
                f"A tensor of shape {change.shape} cannot change a variable of shape {old_state.shape}", method
            )
        new_state = apply(ASSIGN_PRIMITIVES[method], (change,) if method == "assign" else (old_state, change), {})
        self.record.note_event(method, (variable, variable._version, new_state._row))
        self.variable_states[key], self.assigned_variables[key] = new_state, variable
        self.record.variables[key][1].append(new_state._row)
        for tape in state.tapes:
            if key in tape.variables:
                tape._watch_row(new_state._row)
