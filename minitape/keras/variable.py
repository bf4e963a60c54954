"""Keras' own variable: what layers hold. It wraps a ``tf.Variable`` (``value``) and is not one itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import tf
from ..engine.shape import TensorShape
from ..engine.state import state
from ..engine.tensor import EagerTensor, bare
from ..engine.typed import Operators
from ..engine.variable import ResourceVariable
from .base import auto_name, convert, current_path, result_type, rounded, standardize_dtype, standardize_shape
from .serial import asked


class Variable(Operators):
    """A named array that training may change; ``value`` is the ``tf.Variable`` behind it.

    A tape takes gradients with respect to it, but ``tape.watch`` refuses it, as with Keras 3: watch ``value`` instead.
    ``initializer`` is an array, a tensor, or a function of (shape, dtype). ``aggregation`` and ``synchronization`` are
    kept, and mean nothing on one machine; ``autocast`` means nothing without mixed precision. Raises ValueError for
    another word, a name with a slash, a function without a shape, or a shape with unknown sizes.

    >>> import minitape as tf
    >>> v = tf.keras.Variable([1.0, 2.0], name="v")
    >>> v
    <Variable path=v, shape=(2,), dtype=float32, value=[1. 2.]>
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(v * v)
    >>> tape.gradient(y, v).numpy()
    array([2., 4.], dtype=float32)
    """

    _tracked_as = "variables"

    __array_priority__ = 100

    def __init__(
        self,
        initializer: Any,
        shape: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        aggregation: str = "none",
        synchronization: str = "auto",
        name: str | None = None,
    ) -> None:
        name = name or auto_name("Variable")
        if not isinstance(name, str) or "/" in name:
            raise ValueError(
                f"Argument `name` must be a string and cannot contain character `/`. Received: name={name}"
            )
        for what, word, words in (
            ("aggregation", aggregation, ("none", "mean", "sum", "only_first_replica")),
            ("synchronization", synchronization, ("none", "on_read", "on_write", "auto")),
        ):
            if word not in (None, *words):
                expected = ", ".join(f"`{w!r}`" for w in words)
                raise ValueError(
                    f"Invalid value for argument `{what}`. Expected one of `None`, {expected}. Received: {what}={word}"
                )
        path = current_path()
        self._name, self._path = name, f"{path}/{name}" if path else name
        self._trainable, self._autocast = bool(trainable), bool(autocast)
        self.aggregation, self.synchronization = aggregation, synchronization
        self._regularizer: Any = None
        self._constraint: Any = None
        start = self._start(initializer, shape, dtype)
        self._dtype = start.dtype.name
        self._value = (
            start if isinstance(start, ResourceVariable) else ResourceVariable(start, trainable=trainable, name=name)
        )

    def _start(self, initializer: Any, shape: Any, dtype: Any) -> Any:
        """The first value as a tensor, or the ``tf.Variable`` that is to be wrapped."""
        if isinstance(initializer, ResourceVariable):
            return initializer
        if isinstance(initializer, str):
            from . import initializers

            initializer = initializers.get(initializer)
        if not callable(initializer):
            return convert(initializer, dtype)
        if shape is None:
            raise ValueError(
                "When creating a Variable from an initializer, the `shape` argument should be "
                f"specified. Received: initializer={initializer} and shape={shape}"
            )
        if state.trying:
            raise RuntimeError("A weight takes its shape from values, not from what stands in their place.")
        kind = standardize_dtype(dtype)
        sizes = self._full_shape(shape)
        asked("weights", math.prod(sizes))
        with tf.init_scope():  # eagerly, also where a function is being traced
            return convert(initializer(sizes, dtype=kind), kind)

    def _full_shape(self, shape: Any) -> tuple[int, ...]:
        sizes = standardize_shape(shape)
        if None in sizes:
            raise ValueError(
                "Shapes used to initialize variables must be fully-defined (no `None` dimensions). "
                f"Received: shape={sizes} for variable path='{self._path}'"
            )
        return sizes  # type: ignore[return-value]

    # -- what it is ---------------------------------------------------------------------------------------------------

    name = property(lambda self: self._name, doc="The last part of the path.")
    path = property(lambda self: self._path, doc="The names of the layers around it and its own.")
    dtype = property(lambda self: self._dtype, doc="The name of the element type, a string.")
    value = property(lambda self: self._value, doc="The tf.Variable that holds the state.")
    ndim = property(lambda self: len(self._value.shape), doc="The number of axes.")

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return self._value.shape

    @property
    def trainable(self) -> bool:
        """Whether an optimizer may change it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: Any) -> None:
        self._trainable = bool(value)

    @property
    def regularizer(self) -> Any:
        """A function of the value whose result is added to the loss, or None."""
        return self._regularizer

    @regularizer.setter
    def regularizer(self, value: Any) -> None:
        if value is not None and not callable(value):
            raise ValueError(
                "Invalid value for attribute `regularizer`. Expected a callable (such as a "
                "`keras.regularizers.Regularizer` instance) or `None`. Received: "
                f"regularizer={value}"
            )
        self._regularizer = value

    @property
    def constraint(self) -> Any:
        """A function that mends the value after each step of an optimizer, or None."""
        return self._constraint

    @constraint.setter
    def constraint(self, value: Any) -> None:
        if value is not None and not callable(value):
            raise ValueError(
                "Invalid value for attribute `constraint`. Expected a callable (such as a "
                f"`keras.constraints.Constraint` instance) or `None`. Received: constraint={value}"
            )
        self._constraint = value

    # -- value --------------------------------------------------------------------------------------------------------

    def numpy(self) -> Any:
        """The value as a NumPy array or scalar."""
        return self._value.numpy()

    def assign(self, value: Any) -> Any:
        """Sets a new value and returns it as a tensor. Raises ValueError when its shape does not fit.

        >>> import minitape as tf
        >>> v = tf.keras.Variable([1.0, 2.0])
        >>> _ = v.assign([3.0, 4.0])
        >>> v.numpy()
        array([3., 4.], dtype=float32)
        """
        value = convert(value, self._dtype)
        if tuple(value.shape) != tuple(self.shape):
            raise ValueError(
                "The shape of the target variable and the shape of the target value in `variable.assign(value)` must "
                f"match. variable.shape={self.shape}, Received: value.shape={value.shape}. Target variable: {self}"
            )
        self._value.assign(value)
        return value

    def assign_add(self, value: Any) -> Any:
        """Adds ``value``; returns the new value.

        >>> import minitape as tf
        >>> v = tf.keras.Variable([1.0, 2.0])
        >>> _ = v.assign_add([10.0, 20.0])
        >>> v.numpy()
        array([11., 22.], dtype=float32)
        """
        made = self._in_place("assign_add", value)
        return self.assign(self + value) if made is None else made

    def assign_sub(self, value: Any) -> Any:
        """Subtracts ``value``; returns the new value.

        >>> import minitape as tf
        >>> v = tf.keras.Variable([1.0, 2.0])
        >>> _ = v.assign_sub([10.0, 20.0])
        >>> v.numpy()
        array([ -9., -18.], dtype=float32)
        """
        made = self._in_place("assign_sub", value)
        return self.assign(self - value) if made is None else made

    def _in_place(self, how: str, value: Any) -> Any:
        """The new value, where nothing has to be converted and nobody records how it comes about; else None."""
        held = self._value._state
        if state.record is not None or state.graph is not None or state.scratch or type(value) is not EagerTensor:
            return None
        if value.dtype is not held.dtype or value._dims != held._dims:
            return None
        getattr(self._value, how)(value, read_value=False)
        made = bare(self._value._state.array)  # a tensor of its own: gradients tell it from the variable
        made._origin = self._value._state._origin
        return made

    def _read(self) -> Any:
        return self._value._read()

    def _to_tensor(self, dtype: Any = None) -> Any:
        return self._value._to_tensor(dtype)

    def _gradient_leaf(self) -> Any:
        return self._value

    def _like_gradient(self, gradient: Any) -> Any:
        return gradient

    # -- Python's protocols -------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, "
            f"value={np.array(self._value.numpy())}>"
        )

    __str__ = __repr__

    def __getitem__(self, key: Any) -> Any:
        return self._value[key]

    def __int__(self) -> int:
        return int(self._only_scalar())

    def __float__(self) -> float:
        return float(self._only_scalar())

    def _only_scalar(self) -> Any:
        if self.ndim > 0:
            raise TypeError(f"Only scalar arrays can be converted to Python scalars. Got: shape={self.shape}")
        return self._value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._value.numpy(), dtype)

    def __bool__(self) -> bool:
        raise TypeError("A Keras Variable cannot be used as a boolean.")

    __hash__ = None  # it compares element by element

    def __pos__(self) -> Any:
        return self._value

    def __round__(self, ndigits: int | None = None) -> Any:
        return rounded(self._value, ndigits or 0)


def _operands(variable: Variable, other: Any) -> tuple[Any, Any]:
    """Both operands as tensors of the type in which Keras combines them."""
    mine = variable._value._read()
    if isinstance(other, (bool, int)) or (isinstance(other, float) and "float" in variable.dtype):
        return mine, convert(other, variable.dtype)
    other = convert(other)
    if other.dtype is mine.dtype:
        return mine, other
    wide = result_type(variable.dtype, other.dtype.name)
    return convert(mine, wide), convert(other, wide)


def _combined(name: str, x: Any, y: Any) -> Any:
    """An operator as Keras applies it: integers are divided as float32, vectors may be multiplied."""
    if name == "__truediv__" and x.dtype.is_integer:
        x, y = convert(x, "float32"), convert(y, "float32")
    if name == "__matmul__" and (x.ndim == 1 or y.ndim == 1):
        return tf.tensordot(x, y, 1)
    return getattr(x, name)(y)


def _install_operators() -> None:
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):

        def forward(self: Variable, other: Any, name: str = f"__{name}__") -> Any:
            mine, other = _operands(self, other)
            return _combined(name, mine, other)

        def reflected(self: Variable, other: Any, name: str = f"__{name}__") -> Any:
            mine, other = _operands(self, other)
            return _combined(name, other, mine)

        setattr(Variable, f"__{name}__", forward)
        setattr(Variable, f"__r{name}__", reflected)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):

        def compare(self: Variable, other: Any, name: str = f"__{name}__") -> Any:
            mine, other = _operands(self, other)
            return getattr(mine, name)(other)

        setattr(Variable, f"__{name}__", compare)
    for name in ("neg", "abs", "invert"):
        setattr(Variable, f"__{name}__", lambda self, name=f"__{name}__": getattr(self._value._read(), name)())


_install_operators()
