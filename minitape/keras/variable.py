"""Keras' own variable: what layers hold. It wraps a ``tf.Variable`` (``value``) and is not one itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.tensor.variable import ResourceVariable


class Variable:
    """A weight; ``value`` is the ``tf.Variable`` behind it, which ``tape.watch`` wants to be given.

    >>> import minitape as tf
    >>> v = tf.keras.Variable([1.0, 2.0], name="v")
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(v * v)
    >>> tape.gradient(y, v).numpy()
    array([2., 4.], dtype=float32)
    """

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]  # it compares element by element

    def __init__(self, value: Any, trainable: bool = True, name: str = "variable", path: str | None = None) -> None:
        self.value = ResourceVariable(value, trainable=trainable, name=name)
        self.name, self.path, self.trainable = name, path or name, trainable
        self.dtype: str = self.value.dtype.name

    @property
    def shape(self) -> Any:
        """The sizes of the axes."""
        return self.value.shape

    def numpy(self) -> Any:
        """The value as a NumPy array or scalar."""
        return self.value.numpy()

    def assign(self, value: Any) -> Any:
        """Sets a new value."""
        return self.value.assign(value)

    def _read(self) -> Any:
        return self.value._read()

    def _to_tensor(self, dtype: Any = None) -> Any:
        return self.value._to_tensor(dtype)

    def _gradient_leaf(self) -> Any:
        return self.value

    def _like_gradient(self, gradient: Any) -> Any:
        return gradient

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={np.array(self.numpy())}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype)

    def __getitem__(self, key: Any) -> Any:
        return self.value[key]


def _operator(name: str) -> Any:
    return lambda variable, *other: getattr(variable._read(), name)(*other)


for _name in "add sub mul truediv pow matmul radd rsub rmul rtruediv rpow rmatmul neg eq ne lt le gt ge".split():
    setattr(Variable, f"__{_name}__", _operator(f"__{_name}__"))
