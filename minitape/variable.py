"""``tf.Variable``: state. Each assignment makes a new state with its own row on the tape; the old ones stay what they were."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np

from . import dtypes
from .convert import convert_to_tensor, to_array
from .errors import invalid
from .evidence import born
from .primitives import TABLE
from .record import Leaf, state
from .shape import TensorShape
from .tensor import EagerTensor, Reference, Tensor, apply, bare

_numbers = itertools.count()


class ResourceVariable:
    """A tensor-like value that can be changed with ``assign``, ``assign_add`` and ``assign_sub``.

    Trainable variables are watched automatically by the tapes under which they are read. The shape is fixed by the
    initial value unless ``shape`` says otherwise. See https://www.tensorflow.org/api_docs/python/tf/Variable.

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
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError("Argument `initial_value` must be specified.")
        if callable(initial_value):
            initial_value = initial_value()
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        if isinstance(initial_value, Tensor) or hasattr(initial_value, "_to_tensor"):
            tensor = convert_to_tensor(initial_value, wanted)
            array = np.array(tensor.array)
        else:
            tensor = convert_to_tensor(initial_value, wanted)
            array = np.asarray(tensor.array)
        self._shape = TensorShape(array.shape) if shape is None else TensorShape(shape)
        if not self._shape.is_compatible_with(array.shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({TensorShape(array.shape)}) is not "
                f"compatible with the explicitly supplied `shape` argument ({self._shape})."
            )
        self._trainable = True if trainable is None else trainable
        self._name = _scoped("Variable" if name is None else name)
        self._number = next(_numbers)
        self._version = 0
        self.constraint = constraint
        self._set(array)
        self._born = self._state._made = born("variable", (tensor,), weakref.ref(self))

    # -- state --------------------------------------------------------------------------------------------------------

    def _set(self, array: Any) -> None:
        self._state: EagerTensor = bare(array)
        self._seen: Any = None

    def _read(self) -> Any:
        """The current state as a tensor; under a tape this is where the variable is watched."""
        if state.readers and self._trainable:
            for found in state.readers:
                found[id(self)] = self
        if state.graph is not None:
            return state.graph.read(self)
        record = state.record
        if record is not None:
            token = state.token
            if self._seen is not token:
                self._enter(record)
                self._seen = token
        return self._state

    def _enter(self, record: Any) -> int:
        """The row of the current state in a recording, watched by the tapes that watch what is read."""
        row = self._row_in(record)
        if self._trainable:
            for tape in state.tapes:
                if tape._watch_accessed_variables and tape._record is record:
                    tape._watch_variable(self)
        for tape in state.tapes:
            if id(self) in tape.variables:
                tape._watch_row(row)
        return row

    def _row_in(self, record: Any) -> int:
        row = record.enter(self._state)
        known = record.variables.setdefault(id(self), (self, []))
        if row not in known[1]:
            known[1].append(row)
            record.leaves[row] = Leaf(self._state, self, self._version)
        return row

    def _watch_on(self, tape: Any) -> None:
        """``tape.watch(variable)``: this state and all later ones."""
        if not self.dtype.differentiable:
            from .tape import warn_not_watchable

            warn_not_watchable(self.dtype)
            return
        tape._watch_variable(self)
        if tape._recording:
            tape._watch_row(self._row_in(tape._record))

    def _tape_rows(self, tape: Any) -> list[int]:
        known = None if tape._record is None else tape._record.variables.get(id(self))
        return [] if known is None or known[0] is not self else known[1]

    def _to_tensor(self, dtype: Any = None) -> Any:
        tensor = self.value()
        if dtype is not None and tensor.dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {tensor.dtype.name}: {self!r}"
            )
        return tensor

    def value(self) -> Any:
        """The current state as a tensor."""
        return apply(TABLE["identity"], (self._read(),), {})

    def read_value(self) -> Any:
        """The same as ``value``."""
        return self.value()

    def numpy(self) -> Any:
        """The current state as a NumPy array or scalar."""
        return self._state.numpy()

    # -- assignment ---------------------------------------------------------------------------------------------------

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Sets a new value. Raises ValueError when its shape does not fit."""
        tensor = convert_to_tensor(value, self.dtype)
        if not self._shape.is_compatible_with(tensor.shape):
            label = "" if self._name is None else " " + self.name
            raise ValueError(
                f"Cannot assign value to variable '{label}': Shape mismatch.The variable shape {self._shape}, and the "
                f"assigned value shape {tensor.shape} are incompatible."
            )
        return self._assigned(tensor, "assign", read_value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Adds ``delta``. Raises InvalidArgumentError when its shape does not fit."""
        return self._assign_sum(delta, "assign_add", read_value)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Subtracts ``delta``. Raises InvalidArgumentError when its shape does not fit."""
        return self._assign_sum(delta, "assign_sub", read_value)

    def _assign_sum(self, delta: Any, how: str, read_value: bool) -> Any:
        delta = convert_to_tensor(delta, self.dtype)
        old = self._state.array
        change = delta.array
        if np.shape(change) != np.shape(old):
            op = "AssignAddVariableOp" if how == "assign_add" else "AssignSubVariableOp"
            show = [",".join(map(str, np.shape(v))) for v in (old, change)]
            raise invalid(f"Cannot update variable with shape [{show[0]}] using a Tensor with shape [{show[1]}], "
                          "shapes must be equal.", op)  # fmt: skip
        with np.errstate(all="ignore"):
            new = old + change if how == "assign_add" else old - change
        return self._assigned(bare(new), how, read_value, delta)

    def _assigned(self, tensor: Any, how: str, read_value: bool, delta: Any = None) -> Any:
        if state.graph is not None:
            return state.graph.assign(self, tensor, how, delta)
        record = state.record
        if record is not None:
            record.note(how, (self, self._version, None))
        self._version += 1
        old = self._state
        self._set(tensor.array)
        self._state._made = born(how, (tensor,) if delta is None else (delta, old), weakref.ref(self), 4)
        if not read_value:
            return None
        self._read()  # TensorFlow counts this as an access
        return UnreadVariable(self)

    # -- what it looks like -------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, with TensorFlow's suffix ":0"."""
        return self._name + ":0"

    @property
    def dtype(self) -> Any:
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

    def get_shape(self) -> TensorShape:
        """The same as ``shape``."""
        return self._shape

    def ref(self) -> Reference:
        """A hashable reference to this very variable."""
        return Reference(self)

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}, "
            f"numpy={self._state._text(repr)}>"
        )

    def __iter__(self) -> Any:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __getitem__(self, key: Any) -> Any:
        return self._read()[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._state.__array__(dtype, copy)

    def __hash__(self) -> int:
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key. (Variable: " + repr(self) + ")")

    def __bool__(self) -> bool:
        return bool(self._state)

    def __int__(self) -> int:
        return int(self._state)

    def __float__(self) -> float:
        return float(self._state)

    def __index__(self) -> int:
        return self._state.__index__()

    def __deepcopy__(self, memo: Any) -> ResourceVariable:
        return type(self)(to_array(self._state.array), trainable=self._trainable, name=self._name, shape=self._shape)


class UnreadVariable(ResourceVariable):
    """What ``assign`` and its kin return: the same state under another object, which no tape watches by itself.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> v.assign_add(2.0)
    <tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=3.0>
    """

    def __init__(self, variable: ResourceVariable) -> None:
        self._base = base = getattr(variable, "_base", variable)
        self._shape, self._trainable, self._number, self.constraint = base._shape, base._trainable, base._number, None

    name = property(lambda self: "UnreadVariable", doc="Always the same.")
    _state = property(lambda self: self._base._state)  # type: ignore[assignment]

    def _read(self) -> Any:
        record = state.record
        if state.graph is not None or record is None:
            return self._base._read() if state.graph is not None else self._state
        row = self._row_in(record)
        for tape in state.tapes:
            if id(self._base) in tape.variables:
                tape._watch_row(row)
        return self._state

    def _row_in(self, record: Any) -> int:
        return self._base._row_in(record)

    def _tape_rows(self, tape: Any) -> list[int]:
        return self._base._tape_rows(tape)

    def _watch_on(self, tape: Any) -> None:
        self._base._watch_on(tape)

    def _assigned(self, tensor: Any, how: str, read_value: bool, delta: Any = None) -> Any:
        return self._base._assigned(tensor, how, read_value, delta)


def _in_place(name: str) -> Any:
    def refuse(self: Any, other: Any) -> Any:
        raise RuntimeError(
            f"Variable {name} value not supported. Use `variable.assign{'_add' if '+' in name else '_sub'}(value)` to "
            "modify the variable value or `variable = variable {0} value` to get a new Tensor object.".format(name[0])
        )

    return refuse


for _symbol, _method in (("+=", "__iadd__"), ("-=", "__isub__"), ("*=", "__imul__"), ("/=", "__itruediv__"), ("**=", "__ipow__")):
    setattr(ResourceVariable, _method, _in_place(_symbol))


def _forward_operator(name: str) -> None:
    """Operators of a variable are those of its current state."""

    def operator(self: Any, *others: Any) -> Any:
        return getattr(self._read(), name)(*others)

    setattr(ResourceVariable, name, operator)


for _name in ("add", "sub", "mul", "truediv", "pow", "floordiv", "mod", "matmul", "and", "or", "xor"):
    _forward_operator(f"__{_name}__")
    _forward_operator(f"__r{_name}__")
for _name in ("neg", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne", "pos"):
    _forward_operator(f"__{_name}__")

Variable = ResourceVariable


def _scoped(name: str) -> str:
    return "/".join((*state.scope, name))
