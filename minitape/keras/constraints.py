"""``tf.keras.constraints``: what an optimizer's step leaves of a weight."""

from __future__ import annotations

from typing import Any

from .. import tf
from ..engine.namespace import public
from .base import convert, epsilon
from .serial import Configured, lookup, plain


class Constraint(Configured):
    """The base class: subclasses define ``__call__(w)``, the nearest allowed weight, of the shape and type of ``w``.

    An optimizer calls it after each step on the weights that have one.

    >>> import minitape as tf
    >>> class Whole(tf.keras.constraints.Constraint):
    ...     def __call__(self, w):
    ...         return tf.round(w)
    >>> layer = tf.keras.layers.Dense(1, kernel_initializer="ones", kernel_constraint=Whole())
    >>> layer.build((None, 1))
    >>> _ = tf.keras.optimizers.SGD(1.0).apply_gradients([(tf.constant([[1.7]]), layer.kernel)])
    >>> layer.kernel.numpy()
    array([[-1.]], dtype=float32)
    """

    def __call__(self, w: Any) -> Any:
        """The nearest allowed weight."""
        return w


def _lengths(w: Any, axis: Any) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.square(w), axis, keepdims=True))


class MaxNorm(Constraint):
    """Vectors along ``axis`` (one, or a list) are at most ``max_value`` long.

    >>> import minitape as tf
    >>> tf.keras.constraints.MaxNorm(1.0)(tf.constant([[3.0, 0.3], [4.0, 0.4]])).numpy().round(3)
    array([[0.6, 0.3],
           [0.8, 0.4]], dtype=float32)
    """

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        """The shortened vectors."""
        w = convert(w)
        lengths = _lengths(w, self.axis)
        return w * (tf.clip_by_value(lengths, 0, self.max_value) / (epsilon() + lengths))


class NonNeg(Constraint):
    """No element is negative.

    >>> import minitape as tf
    >>> tf.keras.constraints.NonNeg()(tf.constant([-1.0, 2.0])).numpy()
    array([0., 2.], dtype=float32)
    """

    def __call__(self, w: Any) -> Any:
        """Negative elements become 0."""
        return tf.maximum(convert(w), 0)


class UnitNorm(Constraint):
    """Vectors along ``axis`` (one, or a list) have length 1.

    >>> import minitape as tf
    >>> tf.keras.constraints.UnitNorm()(tf.constant([[3.0, 0.3], [4.0, 0.4]])).numpy().round(3)
    array([[0.6, 0.6],
           [0.8, 0.8]], dtype=float32)
    """

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """The vectors divided by their lengths."""
        w = convert(w)
        return w / (epsilon() + _lengths(w, self.axis))


class MinMaxNorm(Constraint):
    """Vectors along ``axis`` are drawn towards lengths between two bounds, all the way at ``rate`` 1.

    >>> import minitape as tf
    >>> shorten = tf.keras.constraints.MinMaxNorm(0.0, 1.0, rate=0.5)
    >>> shorten(tf.constant([[3.0], [4.0]])).numpy().round(3)  # from length 5 half the way to 1
    array([[1.8],
           [2.4]], dtype=float32)
    """

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        """The stretched or shortened vectors."""
        w = convert(w)
        lengths = _lengths(w, self.axis)
        wanted = self.rate * tf.clip_by_value(lengths, self.min_value, self.max_value) + (1 - self.rate) * lengths
        return w * (wanted / (epsilon() + lengths))


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm
TABLE = {
    "MaxNorm": MaxNorm, "NonNeg": NonNeg, "UnitNorm": UnitNorm, "MinMaxNorm": MinMaxNorm, "max_norm": MaxNorm,
    "non_neg": NonNeg, "unit_norm": UnitNorm, "min_max_norm": MinMaxNorm,
}  # fmt: skip


def get(identifier: Any) -> Any:
    """The constraint of a name, a class name or a dictionary; ``identifier`` itself when it is callable.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.constraints.get("max_norm").get_config()
    {'max_value': 2, 'axis': 0}
    """
    return lookup("constraint", identifier, TABLE)


def serialize(constraint: Any) -> Any:
    """The class and the arguments of a constraint as a dictionary that JSON can hold; a function's name.

    >>> import minitape as tf
    >>> tf.keras.constraints.serialize(tf.keras.constraints.NonNeg())["class_name"]
    'NonNeg'
    """
    return plain(constraint)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The constraint that ``serialize`` wrote down; classes of one's own are looked for in ``custom_objects``.

    Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> config = tf.keras.constraints.serialize(tf.keras.constraints.NonNeg())
    >>> type(tf.keras.constraints.deserialize(config)).__name__
    'NonNeg'
    """
    return lookup("constraint", config, {**TABLE, **(custom_objects or {})})


__all__ = ["Constraint", *TABLE, "deserialize", "get", "serialize"]
__getattr__, __dir__ = public("tf.keras.constraints", __all__)
