"""Record the first run of a function.

A first run is an ordinary eager run whose operations become rows of a separate ``Record``. Its tensors have values, but
Python may not read values that depend on the arguments, because decisions based on them would be wrong for other
arguments. :class:`FirstRun` has the methods that the engine calls for such a ``Record``
(:class:`~minitape.engine.types.FirstRunInterface`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import RLock
from typing import Any, NamedTuple, NoReturn
from weakref import ref

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..engine.backward.row_marks import has_differentiable_dtype
from ..engine.backward.tape import GradientTape
from ..engine.record.array_spec import ArraySpec
from ..engine.record.interrupt_safe import ThreadContext, make_interrupt_safe_context_manager
from ..engine.record.record import Record
from ..engine.record.row_parts import LEAF, Leaf
from ..engine.record.thread_state import get_current_first_run, state
from ..engine.table.primitives import Primitive
from ..engine.tensor.operation import run_and_record
from ..engine.tensor.tensor import EagerTensor, Tensor, wrap_array
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import Array, Object, OptionalNumber, OptionalText, TextSequence
from ..engine.values.argument_errors import build_argument_error
from ..recording.graph_nodes import find_operation_and_inputs


class GuardError(Exception):
    """Raised when a guard finds that a concrete function does not fit the current call."""


class NotRecordableError(Exception):
    """Raised when a branch or loop cannot be recorded as a single row.

    Python then runs the branch or loop instead. This happens, for example, if its body has effects.
    """


class OperatorNotAllowedInGraphError(TypeError):
    """Raised, as in TensorFlow, when Python reads the value of a tensor in a traced function."""


class InaccessibleTensorError(TypeError, ValueError):
    """Raised, as in TensorFlow, when a tensor of a traced function is used after the first run."""


# The result of an operation that does not compute a value.
NO_VALUE = np.bool_(True)


class OutOfScopeValue(ArraySpec, NDArrayOperatorsMixin):
    """The replacement for a tensor's value once the function that computed it has returned.

    The replacement has a shape and a dtype. Any other use raises `InaccessibleTensorError`.

    Attributes:
        name: The name of the traced function.
        value: The value if it is the same in every call, otherwise None.
    """

    def __init__(self, name: str = "", value: Array = NO_VALUE, is_constant: bool = False):
        """Create the replacement for a value.

        Args:
            name: The name of the traced function.
            value: The value to replace, an array or a NumPy scalar.
            is_constant: Whether the value is the same in every call, so that it can be kept.
        """
        super().__init__(value.shape, value.dtype)
        self.name = name
        self.value = value if is_constant else None

    def raise_out_of_scope(self, *_: object, **__: object) -> NoReturn:
        """Raise the error for any use of the value.

        Args:
            *_: Ignored.
            **__: Ignored.

        Raises:
            InaccessibleTensorError: Always.
        """
        raise InaccessibleTensorError(
            f"A tensor of shape {self.shape} is out of scope, because it belongs to the first run of the traced "
            f"function {self.name!r}. Return the tensor from the function."
        )

    __array__ = __array_ufunc__ = __array_function__ = raise_out_of_scope
    __getattr__ = raise_out_of_scope

    def get_value_or_zeros(self) -> Array:
        """Return the value if it is the same in every call, otherwise zeros of the same shape.

        The recorded sweep of a gradient computes with these values.
        """
        return self.zeros[()] if self.value is None else self.value


class Feed(NamedTuple):
    """A row whose value each call provides: an argument, the state of a variable, or a captured tensor.

    The seeds of a recorded gradient are feeds as well.

    Attributes:
        row: The row number.
        variable: The variable, if the row is its state.
        captured_ref: A function that returns the captured tensor, or None if the tensor no longer exists. The attribute
            is None for arguments and variables.
        is_varying: Whether the value can differ between calls. False for tensors from outside all traced functions.
    """

    row: int
    variable: ResourceVariable | None = None
    captured_ref: Callable[[], Any] | None = None
    is_varying: bool = True

    @property
    def is_argument(self) -> bool:
        """Whether the row is an argument of the function, or a seed of its gradient."""
        return self.variable is None and self.captured_ref is None


# These operations compute the new state of an assigned variable. No gradient passes through them.
ASSIGN_PRIMITIVES = {
    "assign": Primitive("assign", lambda new: new, None, op="AssignVariableOp", keep=""),
    "assign_add": Primitive("assign_add", lambda old, new: old + new, None, op="AssignAddVariableOp", keep=""),
    "assign_sub": Primitive("assign_sub", lambda old, new: old - new, None, op="AssignSubVariableOp", keep=""),
}
# These operations read only shapes, which are the same in every call.
SHAPE_PRIMITIVES = {"shape", "size", "rank", "zeros_like", "ones_like"}


def find_current_first_run() -> FirstRun | None:
    """Return the first run that this thread is executing, or None outside traced functions.

    This is the engine's `get_current_first_run`, with the type that ``minitape/functions`` needs.
    """
    first_run: Any = get_current_first_run()  # The engine declares only an interface.
    return first_run


class FirstRun:
    """The first run of a function, or of a branch or loop body in a traced function.

    Attributes:
        name: The name of the function.
        outer_run: The first run during which this run began, or None.
        argument_names: For each argument tensor, the name of its parameter.
        write_guard: A function that writes a guard for a tensor on which Python branches, or None for a tentative run.
            A tentative run only finds out whether the function can be recorded, and must not have effects.
        record: The rows of the run.
        has_values: Whether tensors have the values of the first run. This is True until the first gradient of the run
            is recorded, and False from then on, because zeros replace the values that are no longer available.
        feeds: The feeds, keyed by row. The arguments of the function come first.
        variable_states: The current state of each variable, keyed by the variable's id.
        assigned_variables: The variables that have been assigned during the run, keyed by id.
        new_variables: The variables that were created during the run.
        tensor_refs: Weak references to the tensors of the run.
        lock: A lock that is held while the rows of a gradient are added.
    """

    def __init__(
        self, name: str, write_guard: Callable[[Tensor], None] | None = None, argument_names: TextSequence = ()
    ):
        """Create a run without rows. If another first run is current, it becomes the outer run.

        Args:
            name: The name of the function, used in messages.
            write_guard: A function that writes a guard for a tensor on which Python branches, or None for a tentative
                run.
            argument_names: For each argument tensor, the name of its parameter.
        """
        self.name = name
        self.outer_run = find_current_first_run()
        self.argument_names = argument_names
        self.write_guard = write_guard
        self.record = Record()
        self.record.first_run = self
        self.record.is_opened_by_tape = False
        self.has_values = True
        self.feeds: dict[int, Feed] = {}
        self.variable_states: dict[int, EagerTensor] = {}
        self.assigned_variables: dict[int, ResourceVariable] = {}
        self.new_variables: list[ResourceVariable] = []
        self.tensor_refs: list[ref[EagerTensor]] = []
        self.lock = RLock()
        # `is_varying` appends flags for new rows when they are needed.
        self._varying_flags = bytearray()

    @property
    def is_tentative(self) -> bool:
        """Whether the run must not have effects, because it is a trial or computes with zeros."""
        return self.write_guard is None or not self.has_values

    @make_interrupt_safe_context_manager
    def open_recording_block(self) -> Iterator[None]:
        """Open a block whose operations become rows of the first run. Tapes outside the function do not record them.

        The first block runs the function, and a later block records the sweep of its gradient. There, the tensors that
        the first block invalidated have values again: constants have their own values, and all others are zeros. After
        the block, all tensors of the run are out of scope.
        """
        outside_tensors = [
            feed.captured_ref() for feed in self.feeds.values() if feed.captured_ref is not None and feed.is_varying
        ]
        invalid_tensors = [
            (t, t._value)
            for t in (*self._list_existing_tensors_and_forget_others(), *outside_tensors)
            if type(t._value) is OutOfScopeValue
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

    @make_interrupt_safe_context_manager
    def open_block_outside_function(self) -> Iterator[None]:
        """Open a block outside the traced function, in which the function's tensors are out of scope.

        When the block ends, the tensors get their values back.
        """
        inner_values = [(tensor, tensor._value) for tensor in self._list_existing_tensors_and_forget_others()]
        self._invalidate_tensors()
        try:
            yield
        finally:
            for tensor, value in inner_values:
                tensor._value = value

    def _invalidate_tensors(self) -> None:
        """Replace the values of all tensors of the run with `OutOfScopeValue` objects."""
        for tensor in self._list_existing_tensors_and_forget_others():
            if type(tensor._value) is not OutOfScopeValue:
                tensor._value = OutOfScopeValue(self.name, tensor._value, not self.is_varying(tensor._row))

    def _list_existing_tensors_and_forget_others(self) -> list[EagerTensor]:
        """List the tensors of the run that still exist, and forget all others."""
        tensors = [tensor for tensor_ref in self.tensor_refs if (tensor := tensor_ref()) is not None]
        self.tensor_refs = [*map(ref, tensors)]
        return tensors

    def build_tape_of_rows_so_far(self) -> GradientTape:
        """Return a tape that contains all rows so far and watches all feeds and variable states.

        Integer and boolean rows are not watched, because they have no gradients. Seeds that `add_feed` has
        already added are feeds, so the tape watches them as well.

        In the first run, the feeds were written as unwatched leaves, so ``Record.untracked`` contains all rows except
        those that the function computed under its own tapes. The tape is therefore irregular. For an irregular tape,
        and for the ``Record`` of any first run, gradient calls derive the rows on the tape from its spans and watches,
        and do not read ``Record.untracked``.
        """
        tape = GradientTape(persistent=True)
        tape._record, tape.irregular, tape.spans = self.record, True, [(0, len(self.record))]
        self.record.tape_count += 1
        rows = self.feeds.keys() | {row for _, state_rows in self.record.variables.values() for row in state_rows}
        tape.watched = {row: row + 1 for row in rows if has_differentiable_dtype(self.record, row)}
        return tape

    # -- feeds -------------------------------------------------------------------------------------

    def add_feed(self, value: Array, variable: ResourceVariable | None = None) -> EagerTensor:
        """Add a feed and return its tensor.

        Args:
            value: The array or NumPy scalar that the tensor has in the first run.
            variable: The variable, if the feed is its state, or None for an argument.

        Returns:
            A new tensor of the run.
        """
        tensor = wrap_array(value)
        owner, version = (None, 0) if variable is None else (ref(variable), variable._version)
        leaf = Leaf(ref(tensor), owner, version, None, None if variable is None else variable._state._origin)
        row = self._write_leaf(tensor, leaf, self.record.find_current_offset())
        self.feeds[row] = Feed(row, variable)
        self.tensor_refs.append(ref(tensor))
        return tensor

    def _write_leaf(self, tensor: Tensor, leaf: Leaf, offset: int, old_record: Record | None = None) -> int:
        """Write the row of a leaf, and return its number.

        The tensor moves to the ``Record`` of this run only if it belongs to `old_record`.
        """
        record = self.record
        row = record.append_leaf(leaf, offset, tensor._value)
        if tensor._record is old_record:
            tensor._record = record
            tensor._row = row
        return row

    def add_feed_for_outside_tensor(self, tensor: Tensor, offset: OptionalNumber) -> int:
        """Add a feed for a tensor that no operation of the run computed.

        The tensor comes from outside, or it is a constant that the function itself created. When the run ends,
        ``run_and_trace_function`` drops the feeds whose tensors no longer exist or cannot be watched.

        Args:
            tensor: The tensor, which still belongs to its own ``Record``, if any.
            offset: The bytecode offset of the statement that uses the tensor. None means the current statement.

        Returns:
            The number of the new row.

        Raises:
            InaccessibleTensorError: If the tensor belongs to a first run that has ended.
        """
        if type(tensor._value) is OutOfScopeValue:
            tensor._value.raise_out_of_scope()
        leaf = Leaf(ref(tensor), origin=tensor._origin)
        offset = self.record.find_current_offset() if offset is None else offset
        # A tensor from outside stays in its own `Record`.
        row = self._write_leaf(tensor, leaf, offset, self.record)
        self.record.leaf_rows[id(tensor)] = row
        # A tensor of an outer first run can have a different value in each call, so its feed keeps it alive.
        is_traced = tensor._record is not None and tensor._record.first_run is not None
        captured_ref = (lambda: tensor) if is_traced else leaf.tensor_ref
        self.feeds[row] = Feed(row, None, captured_ref, is_traced)
        return row

    # -- reads by Python ---------------------------------------------------------------------------

    def refuse_or_guard_value(self, tensor: Tensor, access: str = "array") -> None:
        """Raise an error or write a guard if Python reads a value that may differ in later calls.

        If Python only branches on the value, a guard is enough. It checks in later calls whether Python would take the
        same branch. Values that are the same in every call may be read.

        Args:
            tensor: A tensor of this run.
            access: "bool" for a branch, otherwise the name of the method or conversion that reads the value.

        Raises:
            OperatorNotAllowedInGraphError: If the value can differ between calls, and no guard can be written for this
                access.
            NotRecordableError: If Python branches on the tensor while a different first run is running, or in a
                tentative run, which writes no guards.
            InaccessibleTensorError: If the first run has ended.
        """
        if type(tensor._value) is OutOfScopeValue:
            tensor._value.raise_out_of_scope()
        if not self.is_varying(tensor._row):
            return
        open_record = state.record
        if access != "bool" or not self.has_values or open_record is None:
            self.raise_value_access_error(access)
        if open_record.first_run is not self or self.write_guard is None:
            raise NotRecordableError
        self.write_guard(tensor)

    def raise_value_access_error(self, access: str) -> NoReturn:
        """Raise the error for Python code that reads a value.

        Args:
            access: The method or conversion that reads the value.

        Raises:
            OperatorNotAllowedInGraphError: Always.
        """
        raise OperatorNotAllowedInGraphError(
            f"In the traced function {self.name!r}, Python asked for the value of a tensor ({access}), but later "
            "calls do not repeat this step. Compute with tensors, print with tf.print, or read the value in a "
            "tf.py_function."
        )

    def is_varying(self, row: int) -> bool:
        """Return whether the value of a row can differ between calls.

        The value can differ if the row depends on a varying feed, or on an operation that runs again in every call,
        such as a random number. Operations that read only shapes have the same results in every call.

        Args:
            row: A row of the run.
        """
        first_row = len(self._varying_flags)
        if row >= first_row:
            codes, first_inputs, second_inputs, calls, _, _ = self.record.read_columns(first_row)
            flags = self._varying_flags
            for new_row, (code, a, b, call) in enumerate(
                zip(codes, first_inputs, second_inputs, calls, strict=True), first_row
            ):
                if code == LEAF:
                    flags.append(new_row in self.feeds and self.feeds[new_row].is_varying)
                elif call is None:
                    flags.append(flags[a] | flags[b])
                elif call.primitive.name in SHAPE_PRIMITIVES:
                    flags.append(False)
                else:
                    flags.append(call.primitive.stateful or any(flags[input_row] for input_row in call.inputs))
        return bool(self._varying_flags[row])

    def find_symbolic_name(self, row: int) -> OptionalText:
        """Return the name that replaces a tensor's value in its repr.

        Args:
            row: The row of the tensor.

        Returns:
            The name of its argument or operation, followed by ":0", or None if the value may be shown, because it is
            the same in every call.
        """
        if not self.is_varying(row):
            return None
        primitive = find_operation_and_inputs(self.record, row)[0]
        op = "read" if primitive is None else primitive.op
        return f"{self.argument_names[row] if row < len(self.argument_names) else op}:0"

    # -- variables ---------------------------------------------------------------------------------

    def initialize_variable(self, variable: ResourceVariable, *arguments: Object) -> None:
        """Initialize a variable that the function has created. The variable remains after the first run.

        Args:
            variable: The variable.
            *arguments: The arguments of `ResourceVariable._initialize`.

        Raises:
            ValueError: If the run is tentative. As in TensorFlow, only the first call may create variables.
        """
        if self.is_tentative:
            raise ValueError(
                f"{self.name!r}: tf.function only supports singleton tf.Variables created on the first call. Create "
                "the variable outside the function, or create it only once and keep it."
            )
        with ThreadContext(record=None, tapes=[]):
            variable._initialize(*arguments)
        self.new_variables.append(variable)

    def find_or_add_state(self, variable: ResourceVariable) -> EagerTensor:
        """Return the current state of a variable as a tensor of this run.

        The first read of a variable adds a feed. In a nested run, the feed starts with the variable's state in the
        outer run. After an assignment, the state is the assigned tensor.

        Args:
            variable: The variable.
        """
        key = id(variable)
        if key in self.variable_states:
            return self.variable_states[key]
        current_state = variable._state if self.outer_run is None else self.outer_run.find_or_add_state(variable)
        tensor = self.add_feed(current_state._value, variable)
        self.variable_states[key] = tensor
        self.record.variables[key] = variable, [tensor._row]
        return tensor

    def add_equal_state(self, variable: ResourceVariable) -> None:
        """Replace a variable's state with an equal state that has a new row, without assigning to the variable.

        Args:
            variable: The variable.
        """
        old_state = self.find_or_add_state(variable)
        new_state = run_and_record(ASSIGN_PRIMITIVES["assign"], (old_state,), {})
        self.variable_states[id(variable)] = new_state
        self.record.variables[id(variable)][1].append(new_state._row)

    def assign_variable(self, variable: ResourceVariable, change: Tensor, method: str) -> None:
        """Write the row of a variable's new state, and make it the current state.

        Args:
            variable: The variable.
            change: The tensor to assign, add or subtract.
            method: "assign", "assign_add" or "assign_sub".

        Raises:
            NotRecordableError: If the run is the body of a branch or loop, where assignments are not allowed.
            InvalidArgumentError: If the shape of `change` differs from the shape of the variable, and the method is not
                "assign".
        """
        if self.write_guard is None and self.outer_run is not None:
            raise NotRecordableError
        key = id(variable)
        old_state = variable._enter_state_in_record(self.record, is_access=False)
        if old_state.shape != change.shape and method != "assign":
            raise build_argument_error(
                f"A tensor of shape {change.shape} cannot change a variable of shape {old_state.shape}", method
            )
        operands = (change,) if method == "assign" else (old_state, change)
        new_state = run_and_record(ASSIGN_PRIMITIVES[method], operands, {})
        self.record.append_event(method, (variable, variable._version, new_state._row))
        self.variable_states[key] = new_state
        self.assigned_variables[key] = variable
        self.record.variables[key][1].append(new_state._row)
        for tape in state.tapes:
            if key in tape.variables:
                tape._watch_row(new_state._row)
