"""``tf.Variable``: state. Each assignment makes a new state with its own row; the old ones stay what they were."""

from __future__ import annotations

import itertools
import operator
import weakref
from collections.abc import Iterator
from sys import _getframe
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy import ndarray

from ..hooks import hooks
from ..record.interrupt_safe import suspend_recording
from ..record.log_warnings import warn_not_watchable
from ..record.provenance import ASSIGNMENT_GENERATIONS, build_origin, find_place
from ..record.row_parts import REALS
from ..record.thread_state import get_current_first_run, state
from ..table.float_warnings import ignore_fp_errors
from ..table.primitives import TABLE
from ..types import TensorOperators
from ..values.argument_errors import build_argument_error
from ..values.shape import TensorShape
from .conversion import convert_to_tensor
from .operation import apply
from .tensor import EagerTensor, Reference, from_array
from .variable_operators import VariableOperators

if TYPE_CHECKING:
    from ..backward.tape import GradientTape
    from ..record.provenance import Note
    from ..record.record import Record
    from ..types import Array, DTypeLike, Function, Index, NumPyType, ShapeLike, Value, VariableOrNone, VariableSlice
    from ..values.dtypes import DType
    from .tensor import Tensor

_creation_numbers = itertools.count()
_IDENTITY = TABLE["identity"]


class ResourceVariable(VariableOperators, TensorOperators):
    """A tensor-like value that can be changed with ``assign``, ``assign_add`` and ``assign_sub``.

    Trainable variables are watched automatically by the tapes under which they are read. The shape is fixed by the
    initial value unless ``shape`` says otherwise. See
    https://www.tensorflow.org/api_docs/python/tf/Variable.

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
        trainable: bool | None = None,
        *,
        name: str | None = None,
        dtype: DTypeLike = None,
        shape: ShapeLike = None,
    ) -> None:
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified: give it a value.")
        trace, creation_arguments = (
            get_current_first_run(),
            (initial_value, trainable is None or trainable, name, dtype, shape),
        )
        if trace is None:
            self._initialize(*creation_arguments)
        else:
            trace.initialize_variable(self, *creation_arguments)

    def _initialize(
        self,
        initial_value: Value,
        trainable: bool,
        name: str | None,
        dtype: DTypeLike,
        shape: ShapeLike,
    ) -> None:
        """Take the first state, out of sight of every tape."""
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
        self._set_first_state(array)
        self._creation_origin = self._state._origin = build_origin("variable", (tensor,), weakref.ref(self))

    # -- state -------------------------------------------------------------------------------------

    def _set_first_state(self, array: Array) -> None:
        self._state: Tensor = from_array(array)
        self._tape_set: object = None  # the tapes that have met this state

    def _read_state(self) -> Tensor:
        """The current state as a tensor; under a tape this is where the variable is watched."""
        record = state.record
        if (
            record is not None and self._tape_set is record.tape_set
        ):  # since then no tape, function or reader came or went
            return self._state
        if self._trainable:
            for read_variables in state.read_variables:
                read_variables[id(self)] = self
        return self._state if record is None else self._enter_state_in_record(record)

    def _enter_state_in_record(self, record: Record, is_access: bool = True) -> Tensor:
        """Return the current state, which gets a row in this recording: watched by the tapes that watch the variable
        or, where that is an access, what is accessed.
        """
        variable_id, starts_watching = id(self), is_access and self._trainable
        if record.trace is not None:
            tensor = record.trace.find_or_add_state(self)
            row = tensor._row
        else:
            tensor = self._state
            site = None if tensor._record is record else record.note_current_site(_getframe(2))
            row = record.find_or_add_row(tensor, self, site)
            states = record.variables.setdefault(variable_id, (self, []))[1]
            if row not in states:
                states.append(row)
            if is_access:
                self._tape_set = record.tape_set
        for tape in state.tapes:
            if starts_watching and tape._watch_accessed_variables:
                tape.variables[variable_id] = self
            if variable_id in tape.variables:
                tape._watch_row(row)
        return tensor

    def _watch_on(self, tape: GradientTape) -> None:
        """``tape.watch(variable)``: this state and all later ones."""
        if not self.dtype.differentiable:
            warn_not_watchable(self.dtype)
        if not tape._can_watch():
            return  # as in TensorFlow: where nothing records the call is lost
        tape.variables[id(self)] = self
        if not self.dtype.differentiable:
            return
        record = tape._record
        assert record is not None
        row = record.find_row(self._enter_state_in_record(record, is_access=False))
        assert row is not None
        tape._watch_row(row)

    def _find_tape_rows(self, tape: GradientTape) -> tuple[int, ...]:
        states = None if tape._record is None else tape._record.variables.get(id(self))
        return () if states is None or states[0] is not self else tuple(states[1])

    def _to_tensor(self, dtype: DType | None = None) -> Tensor:
        tensor = self.value()
        if dtype is not None and tensor.dtype != dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name} for `tf.Variable of type "
                f"{tensor.dtype.name}. (Variable: {self!r})"
            )
        return tensor

    def value(self) -> Tensor:
        """The current state as a tensor, which later assignments do not change.

        >>> import minitape as tf
        >>> v = tf.Variable(1.0)
        >>> before = v.value()
        >>> float(v.assign_add(2.0)), float(before)
        (3.0, 1.0)
        """
        return apply(_IDENTITY, (self._read_state(),), {})

    def read_value(self) -> Tensor:
        """The current state, as ``value`` gives it.

        >>> import minitape as tf
        >>> tf.Variable(1.0).read_value().numpy()
        np.float32(1.0)
        """
        return self.value()

    def numpy(self) -> ndarray:
        """The current state as a NumPy array (a copy) or scalar; TypeError in a traced function.

        >>> import minitape as tf
        >>> tf.Variable([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        return self._read_state().numpy()  # tapes count it as an access

    # -- assignment --------------------------------------------------------------------------------

    def assign(self, value: Value, name: str | None = None, read_value: bool = True) -> VariableOrNone:
        """Sets a new value and returns the variable, or None without ``read_value``.

        No gradient passes from the new state to ``value``. Raises ValueError when its shape does not fit.

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

    def assign_add(self, delta: Value, name: str | None = None, read_value: bool = True) -> VariableOrNone:
        """Adds ``delta``, as ``assign`` sets a value. Raises InvalidArgumentError when its shape does not fit.

        >>> import minitape as tf
        >>> tf.Variable([1.0, 2.0]).assign_add([1.0, 1.0]).numpy()
        array([2., 3.], dtype=float32)
        """
        return self._assign(self._convert_delta(delta, "AssignAddVariableOp"), "assign_add", read_value)

    def assign_sub(self, delta: Value, name: str | None = None, read_value: bool = True) -> VariableOrNone:
        """Subtracts ``delta``, as ``assign`` sets a value. Raises InvalidArgumentError when its shape does not fit.

        >>> import minitape as tf
        >>> w, step = tf.Variable(1.0), 0.1
        >>> with tf.GradientTape() as tape:
        ...     loss = (w - 3.0) ** 2
        >>> round(float(w.assign_sub(step * tape.gradient(loss, w))), 4)
        1.4
        """
        return self._assign(self._convert_delta(delta, "AssignSubVariableOp"), "assign_sub", read_value)

    def _convert_delta(self, delta: Value, op: str) -> Tensor:
        """Convert the change to a tensor; InvalidArgumentError where variables of this type take no sum."""
        old_state = self._state
        if type(delta) is EagerTensor is type(old_state):
            x, y = old_state._value, delta._value
            # the usual case, with nothing to ask
            if x.shape == y.shape and x.dtype is y.dtype and x.dtype.type in REALS:
                return delta
        dtype = self.dtype
        if dtype.kind in "bs":
            raise build_argument_error(f"A variable of dtype {dtype.name} takes no sum: use assign.", op)
        return convert_to_tensor(delta, dtype)

    def _assign(self, change: Tensor, method: str, read_value: bool = True) -> UnreadVariable | None:
        record = state.record
        if record is not None and record.trace is not None:
            record.trace.assign_variable(self, change, method)
        else:
            self._apply_assignment(change, method)
            if read_value and (record is not None or state.read_variables):
                self._read_state()  # TensorFlow counts this as an access
        return UnreadVariable(self) if read_value else None

    def _apply_assignment(self, value_or_delta: Tensor, method: str) -> None:
        """Take a value as the new state (method "assign"), or the state plus or minus a value."""
        if method == "assign":
            self._replace_state(from_array(value_or_delta._value), method, (value_or_delta,))
            return
        old_state, is_addition = self._state, method == "assign_add"
        old_value, value = old_state._value, value_or_delta._value
        if old_value.shape != value.shape:
            raise build_argument_error(
                f"A variable of shape {old_value.shape} changes by tensors of that shape, got {value.shape}."
            )
        new_value = ignore_fp_errors().run(operator.add if is_addition else operator.sub, old_value, value)
        self._replace_state(from_array(new_value), method, (value_or_delta, old_state))

    def _update_state_with_part(self, update: Function, part: Tensor) -> UnreadVariable:
        """Take as the new state what a function of arrays, ``update``, makes of the state and of the new part."""
        old_state = self._state
        new_state = from_array(ignore_fp_errors().run(update, old_state._value, part._value))
        self._replace_state(new_state, "assign", (part, old_state))
        return UnreadVariable(self)

    def _replace_state(self, tensor: Tensor, method: str, inputs: tuple[Tensor, ...]) -> None:
        record = state.record
        if record is not None:
            record.note_event(method, (self, self._version, record.find_row(inputs[0])))
        self._store_state(
            tensor, build_origin(method, inputs, weakref.ref(self), find_place(_getframe(3)), ASSIGNMENT_GENERATIONS)
        )

    def _take_state_from_trace(self, tensor: Tensor, origin: Note) -> None:
        """Take the state that a traced function gives."""
        if state.record is not None:
            state.record.note_event("assign", (self, self._version, None))
        self._store_state(tensor, origin)

    def _store_state(self, tensor: Tensor, origin: Note) -> None:
        self._version += 1
        self._state, self._tape_set = tensor, None
        tensor._origin = origin

    # -- what it looks like ------------------------------------------------------------------------

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
        """The static shape; its sizes are None where a variable was made with unknown ones."""
        return self._shape

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable by themselves."""
        return self._trainable

    device = property(lambda self: self._state.device, doc="Where the value lives: always the CPU.")

    initializer = None  # a variable has its value from the start

    @property
    def initial_value(self) -> NoReturn:
        """The initial value, which only a variable of TensorFlow 1 has: RuntimeError."""
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def ref(self) -> Reference:
        """A hashable reference to this very variable."""
        return Reference(self)

    def __repr__(self) -> str:
        try:
            value = f", numpy={self._read_state()._format_value(repr)}"
        except TypeError:  # a traced function knows no values
            value = ""
        return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}{value}>"

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._read_state())

    def __getitem__(self, key: Index) -> VariableSlice:
        return hooks.getitem(self._read_state(), key, self)

    def __array__(self, dtype: NumPyType | None = None, copy: bool | None = None) -> ndarray:
        array = self._read_state().__array__(dtype, copy)
        return np.asarray(array.item()) if array.dtype == object and not array.ndim and dtype is None else array

    def __hash__(self) -> int:
        raise TypeError(
            "Variable is unhashable. Instead, use variable.ref() as the key. (Variable: " + repr(self) + ")"
        )

    def __copy__(self) -> ResourceVariable:
        return self  # a copy shares the state


class UnreadVariable(ResourceVariable):
    """The result of ``assign`` and its kin: the same state under another object, which no tape watches by itself.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> v.assign_add(2.0)
    <tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=3.0>
    """

    def __init__(self, variable: ResourceVariable) -> None:
        self._base = variable

    name = property(lambda self: "UnreadVariable", doc="Always the same.")
    _shape = property(lambda self: self._base._shape)
    _trainable = property(lambda self: self._base._trainable)
    _creation_number = property(lambda self: self._base._creation_number)
    _state = property(lambda self: self._base._state)

    def _read_state(self) -> Tensor:
        record = state.record
        return self._state if record is None else self._base._enter_state_in_record(record, is_access=False)

    def _find_tape_rows(self, tape: GradientTape) -> tuple[int, ...]:
        return self._base._find_tape_rows(tape)

    def _watch_on(self, tape: GradientTape) -> None:
        self._base._watch_on(tape)

    def _assign(self, change: Tensor, method: str, read_value: bool = True) -> UnreadVariable | None:
        return self._base._assign(change, method, read_value)

    def _update_state_with_part(self, update: Function, part: Tensor) -> UnreadVariable:
        return self._base._update_state_with_part(update, part)
