"""``tf.keras.regularizers``: penalties on weights that are added to the loss."""

from __future__ import annotations

from typing import Any

from .. import tf
from ..tf.namespace import public
from .base import convert, lookup


class Regularizer:
    """The base class: subclasses define ``__call__(x)``, a scalar tensor of the type of ``x``, differentiable in it.

    ``layer.losses`` holds the penalties of its weights; ``fit`` adds them to the loss.

    >>> import minitape as tf
    >>> class FarFromOne(tf.keras.regularizers.Regularizer):
    ...     def __call__(self, x):
    ...         return tf.reduce_sum((x - 1.0) ** 2)
    >>> layer = tf.keras.layers.Dense(2, kernel_initializer="zeros", kernel_regularizer=FarFromOne())
    >>> layer.build((None, 3))
    >>> [float(loss) for loss in layer.losses]
    [6.0]
    """

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        return 0.0


class L1L2(Regularizer):
    """``l1 * sum(abs(x)) + l2 * sum(x ** 2)``. Raises ValueError for a factor that is negative or no number.

    >>> import minitape as tf
    >>> float(tf.keras.regularizers.L1L2(l1=1.0, l2=0.5)(tf.constant([1.0, -2.0])))
    5.5
    """

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1, self.l2 = _penalty("l1", l1, 0.0), _penalty("l2", l2, 0.0)

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        x = convert(x)
        total = tf.zeros((), x.dtype)
        if self.l1:
            total = total + self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            total = total + self.l2 * tf.reduce_sum(tf.square(x))
        return total


class L1(L1L2):
    """``l1 * sum(abs(x))``. Raises ValueError for a factor that is negative or no number.

    >>> import minitape as tf
    >>> float(tf.keras.regularizers.L1(0.5)(tf.constant([1.0, -2.0])))
    1.5
    """

    def __init__(self, l1: float | None = 0.01) -> None:
        super().__init__(_penalty("l1", l1, 0.01))


class L2(L1L2):
    """``l2 * sum(x ** 2)``. Raises ValueError for a factor that is negative or no number.

    >>> import minitape as tf
    >>> float(tf.keras.regularizers.L2(0.5)(tf.constant([1.0, 2.0])))
    2.5
    """

    def __init__(self, l2: float | None = 0.01) -> None:
        super().__init__(l2=_penalty("l2", l2, 0.01))


def _penalty(name: str, value: Any, default: float) -> float:
    value = default if value is None else value
    if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ValueError(f"Invalid value for argument {name}: expected a non-negative float.Received: {name}={value}")
    return value


l1, l2, l1_l2 = L1, L2, L1L2
TABLE = {"l1": L1, "l2": L2, "l1_l2": L1L2, "L1": L1, "L2": L2, "L1L2": L1L2}


def get(identifier: Any) -> Any:
    """The regularizer of a name or a class name; ``identifier`` itself when it is callable.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.regularizers.get("l2").l2
    0.01
    """
    return lookup("regularizer", identifier, TABLE)


__all__ = ["Regularizer", *TABLE, "get"]
__getattr__, __dir__ = public("tf.keras.regularizers", __all__)
