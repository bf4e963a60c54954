"""Define variables (``tf.Variable``), whose values can be changed by assignments.

Each assignment creates a new state with its own row. Earlier states do not change.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Iterator
from functools import partial
from itertools import count
from sys import _getframe
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy import ndarray

from ..hooks import hooks
from ..record.interrupt_safe import suspend_recording
from ..record.log_warnings import warn_not_watchable
from ..record.provenance import ASSIGNMENT_GENERATIONS, Origin, build_origin, find_user_place
from ..record.row_parts import FLOAT_TYPES
from ..record.thread_state import get_current_first_run, state
from ..table.float_warnings import ignore_fp_errors
from ..table.primitives import TABLE
from ..types import OptionalFlag, OptionalText, RowNumbers, TensorOperators
from ..values.argument_errors import build_argument_error
from ..values.shape import TensorShape
from .conversion import convert_to_tensor
from .operation import run_and_record
from .tensor import EagerTensor, Reference, Tensor, wrap_array
from .variable_operators import VariableOperators

if TYPE_CHECKING:
    from ..backward.tape import GradientTape
    from ..record.record import Record
    from ..types import (
        DTypeLike,
        Function,
        Index,
        NumPyType,
        PickleParts,
        ShapeLike,
        Value,
        VariableOrNone,
        VariableSlice,
    )
    from ..values.dtypes import DType

_creation_numbers = count()
_IDENTITY = TABLE["identity"]


class ResourceVariable(VariableOperators, TensorOperators):
    """A tensor-like value that ``assign``, ``assign_add`` and ``assign_sub`` can change.

    A tape automatically watches the trainable variables that are read in its block. All values have the shape of the
    initial value, unless ``shape`` allows others. See https://www.tensorflow.org/api_docs/python/tf/Variable.

    Attributes:
        _state: The current state, a tensor.
        _tape_set: The recording's ``tape_set`` when this state was last read. As long as the recording has the same
            tape set, all tapes already follow the state.
        _version: The number of assignments so far.
        _shape: The static shape, with which all values must be compatible.
        _trainable: Whether tapes watch the variable automatically.
        _name: The name with its scopes, without ":0".
        _creation_number: The variable's position among all variables, in order of creation.
        _creation_origin: The origin of the first state, for ``explain``.

    >>> import minitape as tf
    >>> v = tf.Variable([1.0, 2.0], name="v")
    >>> v.assign_add([1.0, 1.0]).numpy()
    array([2., 3.], dtype=float32)
    >>> v.name, v.trainable
    ('v:0', True)
    """

    __array_priority__ = 100

    def __init__(
        self,
        initial_value: Value = None,
        trainable: OptionalFlag = None,
        *,
        name: OptionalText = None,
        dtype: DTypeLike = None,
        shape: ShapeLike = None,
    ):
        """Create a variable.

        Args:
            initial_value: The first value, or a function without arguments that returns it.
            trainable: Whether tapes watch the variable automatically. None means True.
            name: The name, by default "Variable".
            dtype: The dtype. If None, the value determines it.
            shape: The shape with which all values must be compatible. A size of None allows any size. The default is
                the shape of the initial value.

        Raises:
            ValueError: If the initial value is missing, or does not match ``dtype`` or ``shape``.
        """
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified. Pass a value.")
        first_run = get_current_first_run()
        creation_arguments = (initial_value, trainable is None or trainable, name, dtype, shape)
        if first_run is None:
            self._initialize(*creation_arguments)
        else:
            first_run.initialize_variable(self, *creation_arguments)

    def _initialize(
        self,
        initial_value: Value,
        trainable: bool,
        name: OptionalText,
        dtype: DTypeLike,
        shape: ShapeLike,
    ) -> None:
        """Set the first state, without recording it.

        Args:
            initial_value: The first value, or a function without arguments that returns it.
            trainable: Whether tapes watch the variable automatically.
            name: The name. None means "Variable".
            dtype: The dtype. If None, the value determines it.
            shape: The shape with which all values must be compatible. None means the shape of the initial value.

        Raises:
            ValueError: If the value does not match ``dtype`` or ``shape``.
        """
        if callable(initial_value):
            with suspend_recording():
                initial_value = initial_value()
        elif isinstance(initial_value, ResourceVariable):
            initial_value = initial_value._state
        tensor = convert_to_tensor(initial_value, dtype, name="initial_value")
        array = tensor.array
        self._shape = TensorShape(array.shape) if shape is None else TensorShape(shape)
        if not self._shape.is_compatible_with(array.shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({TensorShape(array.shape)}) is not "
                f"compatible with the explicitly supplied `shape` argument ({shape})."
            )
        self._trainable = trainable
        self._name = "/".join((*state.scope, "Variable" if name is None else name))
        self._creation_number = next(_creation_numbers)
        self._version = 0
        self._state: Tensor = wrap_array(array)
        self._tape_set: object = None
        self._creation_origin = self._state._origin = build_origin("variable", (tensor,), weakref.ref(self))

    # -- state -------------------------------------------------------------------------------------

    def _read_and_watch(self) -> Tensor:
        """Return the current state as a tensor. Open tapes start to watch the variable."""
        record = state.record
        # If the tape set has not changed since the last access, no tape has started or stopped recording.
        # No first run, and no block that collects variables, has begun or ended either.
        if record is not None and self._tape_set is record.tape_set:
            return self._state
        if self._trainable:
            for read_variables in state.read_variables:
                read_variables[id(self)] = self
        return self._state if record is None else self._enter_state_in_record(record)

    def _enter_state_in_record(self, record: Record, is_access: bool = True) -> Tensor:
        """Return the current state, and make sure that it has a row in a recording.

        All tapes that watch the variable also watch this row. If the program accesses a trainable variable, all open
        tapes start to watch the variable, except tapes with ``watch_accessed_variables=False``.

        Args:
            record: The open recording.
            is_access: Whether the program itself reads the variable. False if only minitape needs the row.

        Returns:
            The tensor of the state. In the first run of a function, this is the variable's feed or its last assigned
            state.
        """
        variable_id = id(self)
        starts_watching = is_access and self._trainable
        if record.first_run is not None:
            tensor = record.first_run.find_or_add_state(self)
            row = tensor._row
        else:
            tensor = self._state
            offset = None if tensor._record is record else record.find_current_offset(_getframe(2))
            row = record.find_or_add_row(tensor, self, offset)
            _, state_rows = record.variables.setdefault(variable_id, (self, []))
            if row not in state_rows:
                state_rows.append(row)
            if is_access:
                self._tape_set = record.tape_set
        for tape in state.tapes:
            if starts_watching and tape._watch_accessed_variables:
                tape.variables[variable_id] = self
            if variable_id in tape.variables:
                tape._watch_row(row)
        return tensor

    def _watch_on(self, tape: GradientTape) -> None:
        """Make a tape watch the current state and all later states, for ``tape.watch(variable)``.

        Args:
            tape: The tape.
        """
        if not self.dtype.differentiable:
            warn_not_watchable(self.dtype)
        # As in TensorFlow, the call has no effect while the tape does not record.
        if not tape._can_watch_or_raise():
            return
        record = tape.record
        assert record is not None
        if id(self) not in tape.variables and self.dtype.differentiable:
            self._add_equal_state_if_read(tape, record)
        tape.variables[id(self)] = self
        if not self.dtype.differentiable:
            return
        row = record.find_row(self._enter_state_in_record(record, is_access=False))
        assert row is not None
        tape._watch_row(row)

    def _add_equal_state_if_read(self, tape: GradientTape, record: Record) -> None:
        """If ``tape`` has already read the state, replace it with an equal state that has a new row.

        As in TensorFlow, no gradient flows through the earlier reads.
        """
        state_tensor = self._enter_state_in_record(record, is_access=False)
        row = record.find_row(state_tensor)
        assert row is not None
        if not tape._has_operation_read_state(row):
            return
        if record.first_run is not None:
            record.first_run.add_equal_state(self)
            return
        new_state = wrap_array(state_tensor._value)
        new_state._origin = state_tensor._origin
        if self._state is state_tensor:  # Another thread may have assigned a new state.
            self._state = new_state
            self._tape_set = None

    def _find_rows_in_recording(self, tape: GradientTape) -> RowNumbers:
        """Find the rows of the variable's states in a tape's recording.

        Args:
            tape: The tape.

        Returns:
            The row numbers, oldest state first, except that watched rows come after all others. If the variable is a
            target, the sweep starts at the last row. There are no rows if the variable is not in the tape's recording.
        """
        if tape._record is None:
            return ()
        variable, state_rows = tape._record.variables.get(id(self), (None, ()))
        if variable is not self:
            return ()
        return tuple(sorted(state_rows, key=tape.watched.__contains__))

    def _to_tensor_requiring_dtype(self, dtype: DType | None = None) -> Tensor:
        """Return the current state as a tensor, for ``convert_to_tensor``.

        Args:
            dtype: The dtype that the variable must have. None allows any dtype.

        Returns:
            The tensor.

        Raises:
            ValueError: If the variable has a different dtype.
        """
        tensor = self.value()
        if dtype is not None and tensor.dtype != dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name} for `tf.Variable of type "
                f"{tensor.dtype.name}. (Variable: {self!r})"
            )
        return tensor

    def value(self) -> Tensor:
        """Return the current state as a tensor. Later assignments do not change the tensor.

        >>> import minitape as tf
        >>> v = tf.Variable(1.0)
        >>> before = v.value()
        >>> float(v.assign_add(2.0)), float(before)
        (3.0, 1.0)
        """
        return run_and_record(_IDENTITY, (self._read_and_watch(),), {})

    def read_value(self) -> Tensor:
        """Return the current state as a tensor, like ``value``.

        >>> import minitape as tf
        >>> tf.Variable(1.0).read_value().numpy()
        np.float32(1.0)
        """
        return self.value()

    def numpy(self) -> ndarray:
        """Return a copy of the current state as a NumPy array, or as a NumPy scalar.

        Raises:
            TypeError: If a traced function calls it.

        >>> import minitape as tf
        >>> tf.Variable([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        # This must call `_read_and_watch`, because tapes count `numpy` as an access.
        return self._read_and_watch().numpy()

    # -- assignment --------------------------------------------------------------------------------

    def assign(self, value: Value, name: OptionalText = None, read_value: bool = True) -> VariableOrNone:
        """Set a new value.

        No gradient passes from the new state to ``value``.

        Args:
            value: The new value, in the variable's dtype.
            name: Ignored. TensorFlow accepts it.
            read_value: Whether to return the variable.

        Returns:
            The variable, or None if ``read_value`` is false.

        Raises:
            ValueError: If the shape of ``value`` does not match.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign([3.0, 4.0]).numpy()
        array([3., 4.], dtype=float32)
        """
        tensor = convert_to_tensor(value, self.dtype)
        if not self._shape.is_compatible_with(tensor.shape):
            label = "" if self._name is None else " " + self.name
            raise ValueError(
                f"Cannot assign value to variable '{label}': Shape mismatch.The variable shape {self._shape}, and the "
                f"assigned value shape {tensor.shape} are incompatible."
            )
        return self._assign(tensor, "assign", read_value)

    def assign_add(self, delta: Value, name: OptionalText = None, read_value: bool = True) -> VariableOrNone:
        """Add ``delta`` to the value.

        No gradient passes from the new state to ``delta``.

        Args:
            delta: The change, of the variable's shape and dtype.
            name: Ignored. TensorFlow accepts it.
            read_value: Whether to return the variable.

        Returns:
            The variable, or None if ``read_value`` is false.

        Raises:
            InvalidArgumentError: If the shape of ``delta`` does not match, or the variable contains bools or strings.

        >>> import minitape as tf
        >>> tf.Variable([1.0, 2.0]).assign_add([1.0, 1.0]).numpy()
        array([2., 3.], dtype=float32)
        """
        return self._assign(self._convert_delta(delta, "AssignAddVariableOp"), "assign_add", read_value)

    def assign_sub(self, delta: Value, name: OptionalText = None, read_value: bool = True) -> VariableOrNone:
        """Subtract ``delta`` from the value.

        No gradient passes from the new state to ``delta``.

        Args:
            delta: The change, of the variable's shape and dtype.
            name: Ignored. TensorFlow accepts it.
            read_value: Whether to return the variable.

        Returns:
            The variable, or None if ``read_value`` is false.

        Raises:
            InvalidArgumentError: If the shape of ``delta`` does not match, or the variable contains bools or strings.

        >>> import minitape as tf
        >>> w, step = tf.Variable(1.0), 0.1
        >>> with tf.GradientTape() as tape:
        ...     loss = (w - 3.0) ** 2
        >>> round(float(w.assign_sub(step * tape.gradient(loss, w))), 4)
        1.4
        """
        return self._assign(self._convert_delta(delta, "AssignSubVariableOp"), "assign_sub", read_value)

    def _convert_delta(self, delta: Value, op: str) -> Tensor:
        """Convert a delta to a tensor.

        Raises:
            InvalidArgumentError: If the variable's dtype does not allow sums.
        """
        old_state = self._state
        if type(delta) is EagerTensor is type(old_state):
            x = old_state._value
            y = delta._value
            # In this usual case, neither conversions nor checks are needed.
            if x.shape == y.shape and x.dtype is y.dtype and x.dtype.type in FLOAT_TYPES:
                return delta
        dtype = self.dtype
        if dtype.kind in "bs":
            raise build_argument_error(
                f"A variable of dtype {dtype.name} does not support addition. Use assign instead.", op
            )
        return convert_to_tensor(delta, dtype)

    def _assign(self, change: Tensor, method: str, read_value: bool = True) -> UnreadVariable | None:
        """Assign a new state, or record the assignment if a function is being traced.

        Args:
            change: The value or the delta, a tensor with the variable's dtype.
            method: "assign", "assign_add" or "assign_sub".
            read_value: Whether to return the variable.

        Returns:
            An object that shares the state of the variable, or None if ``read_value`` is false.
        """
        record = state.record
        if record is not None and record.first_run is not None:
            record.first_run.assign_variable(self, change, method)
        else:
            self._apply_assignment(change, method)
            if read_value and (record is not None or state.read_variables):
                # TensorFlow counts returning the value as an access.
                self._read_and_watch()
        return UnreadVariable(self) if read_value else None

    def _apply_assignment(self, value_or_delta: Tensor, method: str) -> None:
        """Compute the new state from a value or a delta, and make it the current state.

        For "assign", the new state has the array of the value. For "assign_add" and "assign_sub", it is the sum or the
        difference of the old state and the delta, computed without NumPy's warnings. An open recording stores the
        event, but the new state has no row until it is read.

        Args:
            value_or_delta: The value or the delta, a tensor with the variable's dtype. ``assign`` has already checked
                the shape of a value.
            method: "assign", "assign_add" or "assign_sub".

        Raises:
            InvalidArgumentError: If a delta does not have the shape of the variable.
        """
        if method == "assign":
            self._replace_state(wrap_array(value_or_delta._value), method, (value_or_delta,))
            return
        old_state = self._state
        is_addition = method == "assign_add"
        old_value = old_state._value
        value = value_or_delta._value
        if old_value.shape != value.shape:
            raise build_argument_error(
                f"A variable of shape {old_value.shape} can change only by a tensor of the same shape, but got the "
                f"shape {value.shape}."
            )
        new_value = ignore_fp_errors().run(operator.add if is_addition else operator.sub, old_value, value)
        self._replace_state(wrap_array(new_value), method, (value_or_delta, old_state))

    def _update_state_with_part(self, update: Function, part: Tensor) -> UnreadVariable:
        """Set the state that a function computes from the current state and a new part.

        Args:
            update: A function that takes the arrays of the state and the part, and returns the new array.
            part: The new part, a tensor.

        Returns:
            The variable.
        """
        old_state = self._state
        new_state = wrap_array(ignore_fp_errors().run(update, old_state._value, part._value))
        self._replace_state(new_state, "assign", (part, old_state))
        return UnreadVariable(self)

    def _replace_state(self, tensor: Tensor, method: str, inputs: tuple[Tensor, ...]) -> None:
        record = state.record
        if record is not None:
            record.append_event(method, (self, self._version, record.find_row(inputs[0])))
        self._store_state(
            tensor,
            build_origin(method, inputs, weakref.ref(self), find_user_place(_getframe(3)), ASSIGNMENT_GENERATIONS),
        )

    def _set_state_from_first_run(self, tensor: Tensor, origin: Origin) -> None:
        """Set the state that a traced function has computed.

        Args:
            tensor: The new state.
            origin: Where the state came from, for ``explain``.
        """
        if state.record is not None:
            state.record.append_event("assign", (self, self._version, None))
        self._store_state(tensor, origin)

    def _store_state(self, tensor: Tensor, origin: Origin) -> None:
        """Make a tensor the current state, without recording an event.

        Args:
            tensor: The new state.
            origin: Where the state came from, for ``explain``.
        """
        self._version += 1
        self._state = tensor
        self._tape_set = None
        tensor._origin = origin

    # -- properties and protocols ------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, with TensorFlow's suffix ":0"."""
        return self._name + ":0"

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._state.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape. A size is None if it was left open at creation."""
        return self._shape

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable automatically."""
        return self._trainable

    device = property(lambda self: self._state.device, doc="The device that stores the value. It is always the CPU.")

    # A variable has a value from the start, so it needs no initializer operation.
    initializer = None

    @property
    def initial_value(self) -> NoReturn:
        """The initial value, which only TensorFlow 1 variables have. Reading it raises RuntimeError."""
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def ref(self) -> Reference:
        """Return a hashable reference to this variable."""
        return Reference(self)

    def __repr__(self) -> str:
        """Return the name, shape, dtype and value in TensorFlow's format."""
        try:
            value = f", numpy={self._read_and_watch()._format_value(repr)}"
        except TypeError:
            # A traced function cannot show a value that may differ in later calls.
            value = ""
        return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}{value}>"

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the slices of the current state along the first axis."""
        return iter(self._read_and_watch())

    def __getitem__(self, key: Index) -> VariableSlice:
        """Return a slice of the current state. The slice has an ``assign`` method."""
        return hooks.getitem(self._read_and_watch(), key, self)

    def __array__(self, dtype: NumPyType | None = None, copy: OptionalFlag = None) -> ndarray:
        """Return the current state as a NumPy array, for NumPy functions."""
        array = self._read_and_watch().__array__(dtype, copy)
        return np.asarray(array.item()) if array.dtype == object and not array.ndim and dtype is None else array

    def __hash__(self) -> int:
        """Raise TypeError, because ``==`` compares variables element by element."""
        raise TypeError(
            "Variable is unhashable. Instead, use variable.ref() as the key. (Variable: " + repr(self) + ")"
        )

    def __copy__(self) -> ResourceVariable:
        """Return the variable itself, because a copy would share its state."""
        return self

    def __reduce__(self) -> PickleParts:
        """Return the function that pickle and copy use to rebuild the variable from its current value."""
        value = self.numpy()
        dtype = self.dtype
        return partial(ResourceVariable, value, trainable=self._trainable, name=self._name, dtype=dtype), ()


class UnreadVariable(ResourceVariable):
    """The variable that ``assign`` and similar methods return.

    It shares the state of the assigned variable, but tapes do not watch it automatically.

    Attributes:
        _base: The variable that was assigned.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> v.assign_add(2.0)
    <tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=3.0>
    """

    def __init__(self, variable: ResourceVariable):
        """Create an object that shares the state of a variable.

        Args:
            variable: The variable that was assigned.
        """
        self._base = variable

    name = property(lambda self: "UnreadVariable", doc="The name, which is the same for all objects of this class.")
    _shape = property(lambda self: self._base._shape)
    _trainable = property(lambda self: self._base._trainable)
    _creation_number = property(lambda self: self._base._creation_number)
    _state = property(lambda self: self._base._state)

    def _read_and_watch(self) -> Tensor:
        record = state.record
        return self._state if record is None else self._base._enter_state_in_record(record, is_access=False)

    def _find_rows_in_recording(self, tape: GradientTape) -> RowNumbers:
        return self._base._find_rows_in_recording(tape)

    def _watch_on(self, tape: GradientTape) -> None:
        self._base._watch_on(tape)

    def _assign(self, change: Tensor, method: str, read_value: bool = True) -> UnreadVariable | None:
        return self._base._assign(change, method, read_value)

    def __reduce__(self) -> PickleParts:
        """Raise ValueError, because TensorFlow does not allow copies either."""
        raise ValueError("The result of an assignment cannot be pickled or deep-copied. Use its variable instead.")

    def _update_state_with_part(self, update: Function, part: Tensor) -> UnreadVariable:
        return self._base._update_state_with_part(update, part)
