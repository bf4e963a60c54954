"""Arithmetic and comparisons of ragged tensors: done on the values, once the operands have the same rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.table.primitives import TABLE
from ...engine.tensor.tensor import Tensor
from ...engine.values.errors import InvalidArgumentError
from ...engine.values.invalid import invalid
from ...ops.convert import convert_to_tensor
from .rows import coordinates, is_ragged, take

_BINARY = "add sub mul truediv floordiv mod pow".split()
_COMPARING = "lt le gt ge".split()


def install_operators(kind: type) -> None:
    """Gives the class of ragged tensors its operators."""
    for name in (*_BINARY, *_COMPARING):
        _install(kind, name, getattr(operator, f"__{name}__"))
    for name in ("neg", "abs"):
        function = getattr(operator, f"__{name}__")
        setattr(kind, f"__{name}__", lambda self, function=function: self.with_values(function(self.values)))
    setattr(kind, "__eq__", _comparison(operator.eq, False))  # noqa: B010 - Python forgets the hash of a class with this
    setattr(kind, "__ne__", _comparison(operator.ne, True))  # noqa: B010


def _install(kind: type, name: str, function: Callable[[Any, Any], Any]) -> None:
    setattr(kind, f"__{name}__", lambda self, other: combined(function, self, other))
    if name in _BINARY:
        setattr(kind, f"__r{name}__", lambda self, other: combined(function, other, self))


def _comparison(function: Callable[[Any, Any], Any], otherwise: bool) -> Any:
    """``==`` and ``!=``: False (True) for what cannot be compared."""

    def compared(self: Any, other: Any) -> Any:
        try:
            return otherwise if other is None else combined(function, self, other)
        except InvalidArgumentError:
            return otherwise

    return compared


def combined(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """A function of two operands, of which one or both are ragged. InvalidArgumentError when their rows differ."""
    ragged = x if is_ragged(x) else y
    a, b = (_beside(v, ragged) for v in (x, y))
    return ragged.with_values(function(a, b))


def _beside(value: Any, like: Any) -> Any:
    """What stands beside the values of ``like`` in the operand ``value``."""
    if is_ragged(value):
        if not np.array_equal(like._splits, value._splits):
            raise _unlike_rows(like._splits, value._splits)
        return value.values
    known = isinstance(value, Tensor) or hasattr(value, "_read")
    dense = convert_to_tensor(value) if known else convert_to_tensor(value, dtype_hint=like.dtype)
    if len(dense.shape) < len(like.values.shape):  # it fits the dense axes inside
        return dense
    return _spread(dense, like)


def _spread(dense: Any, like: Any) -> Any:
    """The elements of a dense tensor at the places of the values; axes of size 1 count for all places."""
    rank = len(like.shape)
    if len(dense.shape) > rank or None in dense.shape.as_list():
        raise ValueError(f"minitape does not broadcast a tensor of shape {dense.shape} and a ragged one of shape {like.shape}")
    height, width, *inner = [1] * (rank - len(dense.shape)) + dense.shape.as_list()
    splits = like._splits
    equal = np.arange(height + 1) * width
    if height not in (1, len(splits) - 1) or (width != 1 and not np.array_equal(equal, splits)):
        raise _unlike_rows(equal, splits)
    rows, within = coordinates(splits)
    number = (rows if height != 1 else 0 * rows) * width + (within if width != 1 else 0)
    return take(TABLE["reshape"](dense, shape=(height * width, *inner)), number)


def _unlike_rows(a: Any, b: Any) -> Exception:
    return invalid(f"The operands have rows of different lengths: {np.diff(a).tolist()} and {np.diff(b).tolist()}.")
