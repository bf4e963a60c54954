"""``tf.keras.regularizers``: penalties on weights that are added to the loss."""

from __future__ import annotations

from typing import Any

from .. import tf
from ..engine.namespace import public
from .base import convert
from .serial import Configured, lookup, plain


class Regularizer(Configured):
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
        self.l1, self.l2 = _penalty("l1", l1), _penalty("l2", l2)

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        x = convert(x)
        total = tf.zeros((), x.dtype)
        if self.l1:
            total = total + self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            total = total + self.l2 * tf.reduce_sum(tf.square(x))
        return total


class L1(Regularizer):
    """``l1 * sum(abs(x))``. Raises ValueError for a factor that is negative or no number.

    >>> import minitape as tf
    >>> float(tf.keras.regularizers.L1(0.5)(tf.constant([1.0, -2.0])))
    1.5
    """

    def __init__(self, l1: float | None = 0.01) -> None:
        self.l1 = _penalty("l1", l1, 0.01)

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        return self.l1 * tf.reduce_sum(tf.abs(convert(x)))


class L2(Regularizer):
    """``l2 * sum(x ** 2)``. Raises ValueError for a factor that is negative or no number.

    >>> import minitape as tf
    >>> float(tf.keras.regularizers.L2(0.5)(tf.constant([1.0, 2.0])))
    2.5
    """

    def __init__(self, l2: float | None = 0.01) -> None:
        self.l2 = _penalty("l2", l2, 0.01)

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        return self.l2 * tf.reduce_sum(tf.square(convert(x)))


def _penalty(name: str, value: Any, default: float = 0.0) -> float:
    value = default if value is None else value
    if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ValueError(f"Invalid value for argument {name}: expected a non-negative float.Received: {name}={value}")
    return value


l1, l2, l1_l2 = L1, L2, L1L2
TABLE = {"l1": L1, "l2": L2, "l1_l2": L1L2, "L1": L1, "L2": L2, "L1L2": L1L2}


def get(identifier: Any) -> Any:
    """The regularizer of a name, a class name or a dictionary; ``identifier`` itself when it is callable.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.regularizers.get("l2").get_config()
    {'l2': 0.01}
    """
    return lookup("regularizer", identifier, TABLE)


def serialize(regularizer: Any) -> Any:
    """The class and the arguments of a regularizer as a dictionary that JSON can hold; a function's name.

    >>> import minitape as tf
    >>> tf.keras.regularizers.serialize(tf.keras.regularizers.L2())["class_name"]
    'L2'
    """
    return plain(regularizer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The regularizer that ``serialize`` wrote down; classes of one's own are looked for in ``custom_objects``.

    Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> config = tf.keras.regularizers.serialize(tf.keras.regularizers.L2())
    >>> type(tf.keras.regularizers.deserialize(config)).__name__
    'L2'
    """
    return lookup("regularizer", config, {**TABLE, **(custom_objects or {})})


__all__ = ["Regularizer", *TABLE, "deserialize", "get", "serialize"]
__getattr__, __dir__ = public("tf.keras.regularizers", __all__)
