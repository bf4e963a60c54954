"""Keras' own variable: what layers hold. It wraps a ``tf.Variable`` (``value``) and is not one itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tf
from ..engine.recording.state import state
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import Operators
from ..engine.values.shape import TensorShape
from .base import auto_name, convert, current_path, now, result_type, standardize_dtype, standardize_shape


class Variable(Operators):
    """A named array that training may change; ``value`` is the ``tf.Variable`` behind it.

    A tape takes gradients with respect to it, but ``tape.watch`` refuses it, as with Keras 3: watch ``value`` instead.
    ``initializer`` is an array, a tensor, or a function of (shape, dtype). A layer gives it a ``regularizer``, a
    function of the value whose result is added to the loss, and a ``constraint``, a function that fixes the value after
    each step of an optimizer. Raises ValueError for a name with a slash, a function without a shape, or a shape with
    unknown sizes.

    >>> import minitape as tf
    >>> v = tf.keras.Variable([1.5, 1.5], name="v")
    >>> v.assign_add([0.5, 0.5]).numpy(), v.assign_sub([1.0, 0.0]).numpy()
    (array([2., 2.], dtype=float32), array([1., 2.], dtype=float32))
    >>> v
    <Variable path=v, shape=(2,), dtype=float32, value=[1. 2.]>
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(v * v)
    >>> tape.gradient(y, v).numpy()
    array([2., 4.], dtype=float32)
    """

    _tracked_as = "variables"
    __array_priority__ = 100
    regularizer: Any = None
    constraint: Any = None

    def __init__(
        self, initializer: Any, shape: Any = None, dtype: Any = None, trainable: bool = True, name: str | None = None
    ) -> None:
        name = name or auto_name("Variable")
        if not isinstance(name, str) or "/" in name:
            raise ValueError(
                f"Argument `name` must be a string and cannot contain character `/`. Received: name={name}"
            )
        path = current_path()
        self.name, self.path = name, f"{path}/{name}" if path else name
        self.trainable = self._made_trainable = bool(trainable)
        self._made_at = now()
        start = self._start(initializer, shape, dtype)
        self.dtype: str = start.dtype.name
        self._value = ResourceVariable(start, trainable=trainable, name=name)

    def _start(self, initializer: Any, shape: Any, dtype: Any) -> Any:
        """The first value as a tensor."""
        if not callable(initializer):
            return convert(initializer, dtype)
        if shape is None:
            raise ValueError(
                "When creating a Variable from an initializer, the `shape` argument should be "
                f"specified. Received: initializer={initializer} and shape={shape}"
            )
        if state.trying:
            raise RuntimeError("A weight takes its shape from values, not from their placeholders.")
        sizes = standardize_shape(shape)
        if None in sizes:
            raise ValueError(
                "Shapes used to initialize variables must be fully-defined (no `None` dimensions). "
                f"Received: shape={sizes} for variable path='{self.path}'"
            )
        kind = standardize_dtype(dtype)
        with tf.init_scope():  # eagerly, also where a function is being traced
            return convert(initializer(sizes, dtype=kind), kind)

    @property
    def value(self) -> ResourceVariable:
        """The tf.Variable that holds the state."""
        return self._value

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    # -- value -------------------------------------------------------------------------------------

    def numpy(self) -> Any:
        """The value as a NumPy array or scalar."""
        return self.value.numpy()

    def assign(self, value: Any) -> Any:
        """Sets a new value and returns it as a tensor. Raises ValueError when its shape does not fit.

        >>> import minitape as tf
        >>> v = tf.keras.Variable([1.0, 2.0])
        >>> _ = v.assign([3.0, 4.0])
        >>> v.numpy()
        array([3., 4.], dtype=float32)
        """
        value = convert(value, self.dtype)
        if tuple(value.shape) != tuple(self.shape):
            raise ValueError(
                "The shape of the target variable and the shape of the target value in `variable.assign(value)` must "
                f"match. variable.shape={self.shape}, Received: value.shape={value.shape}. Target variable: {self}"
            )
        self.value.assign(value)
        return value

    def assign_add(self, value: Any) -> Any:
        """Adds ``value``; returns the new value."""
        return self.assign(self + value)

    def assign_sub(self, value: Any) -> Any:
        """Subtracts ``value``; returns the new value."""
        return self.assign(self - value)

    def _read(self) -> Any:
        return self.value._read()

    def _to_tensor(self, dtype: Any = None) -> Any:
        return self.value._to_tensor(dtype)

    def _gradient_leaf(self) -> Any:
        return self.value

    def _like_gradient(self, gradient: Any) -> Any:
        return gradient

    # -- Python's protocols ------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={np.array(self.numpy())}>"

    __str__ = __repr__

    def __getitem__(self, key: Any) -> Any:
        return self.value[key]

    def __int__(self) -> int:
        return int(self._only_scalar())

    def __float__(self) -> float:
        return float(self._only_scalar())

    def _only_scalar(self) -> Any:
        if self.ndim > 0:
            raise TypeError(f"Only scalar arrays can be converted to Python scalars. Got: shape={self.shape}")
        return self.value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype)

    def __bool__(self) -> bool:
        raise TypeError("A Keras Variable cannot be used as a boolean.")

    __hash__ = None  # type: ignore[assignment]  # it compares element by element


def _operands(variable: Variable, other: Any) -> tuple:
    """Both operands as tensors of the type in which Keras combines them."""
    mine = variable._read()
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


def _binary(name: str, reflected: bool = False) -> Callable[[Variable, Any], Any]:
    def operator(variable: Variable, other: Any) -> Any:
        mine, other = _operands(variable, other)
        return _combined(name, other, mine) if reflected else _combined(name, mine, other)

    return operator


def _unary(name: str) -> Callable[[Variable], Any]:
    return lambda variable: getattr(variable._read(), name)()


for _short in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
    setattr(Variable, f"__{_short}__", _binary(f"__{_short}__"))
    setattr(Variable, f"__r{_short}__", _binary(f"__{_short}__", reflected=True))
for _short in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Variable, f"__{_short}__", _binary(f"__{_short}__"))
for _short in ("neg", "abs", "invert"):
    setattr(Variable, f"__{_short}__", _unary(f"__{_short}__"))
