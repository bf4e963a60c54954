"""Operations on elements: done on the flat values, once the operands have the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tf
from ...engine.errors import InvalidArgumentError
from ...engine.invalid import invalid
from ...engine.operands import placed
from ...engine.primitives import TABLE
from . import checks
from .parts import is_ragged, nvals, rowids_of

_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "truediv", "floordiv": "floordiv", "mod": "mod",
    "pow": "pow", "and": "logical_and", "or": "logical_or", "xor": "logical_xor",
}  # fmt: skip


def function(name: str) -> Any:
    """The function of ``tf`` (or ``tf.math``) as it is for plain tensors."""
    from ..dispatch import plain

    return plain(getattr(tf.math, name) if hasattr(tf.math, name) else getattr(tf, name))


def unary(name: str, x: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of one ragged tensor."""
    return x.with_flat_values(function(name)(x.flat_values, *args, **kwargs))


@placed
def binary(name: str, x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of two operands, of which one or both are ragged."""
    return apply(lambda a, b: function(name)(a, b, *args, **kwargs), x, y)


def equals(name: str, x: Any, y: Any) -> Any:
    """``==`` and ``!=``: False (True) for what cannot be compared."""
    if y is None:
        return name != "equal"
    try:
        return binary(name, x, y)
    except InvalidArgumentError:
        return name != "equal"


def apply(op: Any, x: Any, y: Any) -> Any:
    """``op`` on the flat values of two operands brought to the same rows."""
    from .tensor import as_ragged_or_tensor

    x = as_ragged_or_tensor(x, y.dtype if hasattr(y, "dtype") else None)
    y = as_ragged_or_tensor(y, x.dtype)
    if not _fits_flat(x, y):
        x, y = broadcast(x, y)
    elif is_ragged(x) and is_ragged(y):
        y = _same_splits(x, y)
    result = op(*[v.flat_values if is_ragged(v) else v for v in (x, y)])
    return (x if is_ragged(x) else y).with_flat_values(result)


def _fits_flat(x: Any, y: Any) -> bool:
    """True when the flat values can be combined as they are: equal splits, or a tensor that fits their inner axes."""

    if is_ragged(x) and is_ragged(y):
        return same_rows(x, y)
    flat, dense = (x.flat_values, y) if is_ragged(x) else (y.flat_values, x)
    return len(dense.shape) < len(flat.shape)


def same_rows(x: Any, y: Any) -> bool:
    """True for two ragged tensors that are cut in the same way."""
    while is_ragged(x) and is_ragged(y):
        if x._cuts is not y._cuts and not np.array_equal(x._splits, y._splits):
            return False
        x, y = x._values, y._values
    return not is_ragged(x) and not is_ragged(y)


def _same_splits(x: Any, y: Any) -> Any:
    return y if x.row_splits.dtype == y.row_splits.dtype else y.with_row_splits_dtype(x.row_splits.dtype)


def broadcast(x: Any, y: Any) -> tuple[Any, Any]:
    """Both operands with the same ragged axes; axes of size 1 are repeated. InvalidArgumentError when rows differ."""
    from .rows import as_ragged, take_rows

    rank = max(len(x.shape), len(y.shape))
    depth = max(rank - len(v.shape) + v.ragged_rank for v in (x, y) if is_ragged(v))
    sides = [_deeper(v, rank) for v in (x, y)]
    a, b = (as_ragged(v, depth) if len(v.shape) > depth else v for v in sides)
    m, n = nvals(a), nvals(b)
    if m != n:
        if m == 1:
            a = take_rows(a, np.zeros(n, np.int64))
        elif n == 1:
            b = take_rows(b, np.zeros(m, np.int64))
        else:
            raise invalid(
                "Condition x == y did not hold.\nFirst 1 elements of x:\n[False]\nFirst 1 elements of y:\n[ True]"
            )
    return _level(a, b)


def _level(a: Any, b: Any) -> tuple[Any, Any]:
    """The same lengths in both, from this ragged axis on inwards."""
    from .rows import take_rows
    from .tensor import make

    if not is_ragged(a) or not is_ragged(b):
        return a, b
    if np.array_equal(a._splits, b._splits):
        inner = _level(a._values, b._values)
        splits, uniform = a._splits, a._uniform if b._uniform == a._uniform else None
    elif b._uniform == 1:
        inner = _level(a._values, take_rows(b._values, rowids_of(a._splits)))
        splits, uniform = a._splits, a._uniform
    elif a._uniform == 1:
        inner = _level(take_rows(a._values, rowids_of(b._splits)), b._values)
        splits, uniform = b._splits, b._uniform
    else:
        first, second = (b, a) if b._uniform is not None and a._uniform is None else (a, b)
        raise checks.unequal(first._splits, second._splits)
    return make(inner[0], splits, uniform), make(inner[1], splits, uniform)


def _deeper(v: Any, rank: int) -> Any:
    """With axes of size 1 in front, up to this rank."""
    from .tensor import make

    while len(v.shape) < rank:
        if is_ragged(v):
            v = make(v, np.array([0, nvals(v)], v._splits.dtype), nvals(v))
        else:
            v = TABLE["reshape"](v, shape=(1, *v.shape))
    return v


def install_operators(kind: Any) -> None:
    """Gives the class of ragged tensors its operators: those of ``tf``, applied to the values."""
    for short, name in _OPERATORS.items():
        setattr(kind, f"__{short}__", lambda a, b, n=name: binary(n, a, b))
        setattr(kind, f"__r{short}__", lambda a, b, n=name: binary(n, b, a))
    for short, name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
        setattr(kind, f"__{short}__", lambda a, b, n=name: binary(n, a, b))
    for short, name in {"neg": "negative", "abs": "abs", "invert": "logical_not"}.items():
        setattr(kind, f"__{short}__", lambda a, n=name: unary(n, a))
    kind.__eq__ = lambda a, b: equals("equal", a, b)
    kind.__ne__ = lambda a, b: equals("not_equal", a, b)
