"""The error of an operation that was asked for something it can not do."""

from __future__ import annotations

from .errors import InvalidArgumentError, OpError


def invalid(message: str, op: str = "", name: str = "") -> OpError:
    """The InvalidArgumentError that operation ``op`` raises, worded as in TensorFlow's eager mode.

    While a graph is being built the same mistake is a ValueError.
    """
    from .record import state

    if state.graph is not None:
        return ValueError(message)  # type: ignore[return-value]
    return InvalidArgumentError(None, None, f"{message} [Op:{op}] name: {name}" if op else message)
