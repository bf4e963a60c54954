"""``tf.keras.regularizers``: penalties on weights that are added to the loss."""

from __future__ import annotations

from typing import Any

from .base import convert
from .serial import lookup


class Regularizer:
    """The base class: subclasses define ``__call__(x)``, a scalar tensor."""

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        return 0.0

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return dict(vars(self))


class L1L2(Regularizer):
    """``l1 * sum(abs(x)) + l2 * sum(x ** 2)``.

    >>> import minitape as tf
    >>> float(tf.keras.regularizers.L1L2(l1=1.0, l2=0.5)(tf.constant([1.0, -2.0])))
    5.5
    """

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1, self.l2 = _penalty("l1", l1), _penalty("l2", l2)

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        import minitape as tf

        x = convert(x)
        total = tf.zeros((), x.dtype)
        if self.l1:
            total = total + self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            total = total + self.l2 * tf.reduce_sum(tf.square(x))
        return total


class L1(Regularizer):
    """``l1 * sum(abs(x))``."""

    def __init__(self, l1: float | None = 0.01) -> None:
        self.l1 = _penalty("l1", l1, 0.01)

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        import minitape as tf

        return self.l1 * tf.reduce_sum(tf.abs(convert(x)))


class L2(Regularizer):
    """``l2 * sum(x ** 2)``.

    >>> import minitape as tf
    >>> float(tf.keras.regularizers.L2(0.5)(tf.constant([1.0, 2.0])))
    2.5
    """

    def __init__(self, l2: float | None = 0.01) -> None:
        self.l2 = _penalty("l2", l2, 0.01)

    def __call__(self, x: Any) -> Any:
        """The penalty for ``x``."""
        import minitape as tf

        return self.l2 * tf.reduce_sum(tf.square(convert(x)))


def _penalty(name: str, value: Any, default: float = 0.0) -> float:
    value = default if value is None else value
    if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ValueError(f"Invalid value for argument {name}: expected a non-negative float.Received: {name}={value}")
    return value


l1, l2, l1_l2 = L1, L2, L1L2
TABLE = {"l1": L1, "l2": L2, "l1_l2": L1L2, "L1": L1, "L2": L2, "L1L2": L1L2}


def get(identifier: Any) -> Any:
    """The regularizer of a name, or ``identifier`` itself when it is callable."""
    return lookup("regularizer", identifier, TABLE)


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.regularizers", name, TABLE))
