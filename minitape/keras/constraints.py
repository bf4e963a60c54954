"""``tf.keras.constraints``: what an optimizer's step leaves of a weight."""

from __future__ import annotations

from typing import Any

from .base import convert, epsilon
from .serial import lookup


class Constraint:
    """The base class: subclasses define ``__call__(w)``, the nearest allowed weight."""

    def __call__(self, w: Any) -> Any:
        """The nearest allowed weight."""
        return w

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return dict(vars(self))


def _lengths(w: Any, axis: Any) -> Any:
    import minitape as tf

    return tf.sqrt(tf.reduce_sum(tf.square(w), axis, keepdims=True))


class MaxNorm(Constraint):
    """Vectors along ``axis`` are at most ``max_value`` long.

    >>> MaxNorm(1.0)([[3.0], [4.0]]).numpy().round(3).tolist()
    [[0.6000000238418579], [0.800000011920929]]
    """

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Any) -> Any:
        """The shortened vectors."""
        import minitape as tf

        w = convert(w)
        lengths = _lengths(w, self.axis)
        return w * (tf.clip_by_value(lengths, 0, self.max_value) / (epsilon() + lengths))


class NonNeg(Constraint):
    """No element is negative."""

    def __call__(self, w: Any) -> Any:
        """Negative elements become 0."""
        import minitape as tf

        return tf.maximum(convert(w), 0)


class UnitNorm(Constraint):
    """Vectors along ``axis`` have length 1."""

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        """The vectors divided by their lengths."""
        w = convert(w)
        return w / (epsilon() + _lengths(w, self.axis))


class MinMaxNorm(Constraint):
    """Vectors along ``axis`` are drawn towards lengths between two bounds, all the way at ``rate`` 1."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Any) -> Any:
        """The stretched or shortened vectors."""
        import minitape as tf

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
    """The constraint of a name, or ``identifier`` itself when it is callable."""
    return lookup("constraint", identifier, TABLE)


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.constraints", name, TABLE))
