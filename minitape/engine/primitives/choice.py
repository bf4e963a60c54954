"""Primitives that convert, compare and choose: casts, comparisons, logic, ``where``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..dtypes import DType
from ..elements import dtype_of_any
from ..operation import apply
from ..tensor import Tensor, wrap
from . import TABLE, Primitive, declare
from .elementwise import RECORDED
from .selecting import select

if TYPE_CHECKING:
    from ..typed import Array, Function


def _cast(x: Array, *, dtype: DType) -> Array:
    wanted = dtype.as_numpy_dtype
    if x.dtype.kind == "c" and dtype.kind in "fiub":
        x = x.real
    return x.astype(wanted)


def warn_discarded(have: DType, wanted: DType) -> None:
    """Logs that a cast drops the imaginary parts, in TensorFlow's words."""
    if have.is_complex and wanted.is_floating:
        import logging

        logging.getLogger("tensorflow").warning(
            "You are casting an input of type %s to an incompatible dtype %s.  This will discard the imaginary part and "
            "may not be what you intended.", have.name, wanted.name,
        )  # fmt: skip


def _cast_rule(g: Array, z: Array, x: Array, *, dtype: DType) -> Array:
    if not dtype.differentiable:
        return None
    wanted = dtype_of_any(x)
    warn_discarded(dtype, wanted)
    return TABLE["cast"](g, dtype=wanted)


declare("cast", _cast, [_cast_rule], op="Cast", keep="",
        example=lambda rng: ((rng.random((2, 3)),), {"dtype": dtypes.float64}))  # fmt: skip


def recorded_select(condition: Array, x: Array, y: Array) -> Array:
    """``select`` of the formulas as a recorded operation."""
    like = x if isinstance(x, Tensor) else y
    x, y = (v if isinstance(v, Tensor) else wrap(like.dtype.as_numpy_dtype(v)) for v in (x, y))
    return apply(TABLE["select"], (condition, x, y), {})


def zeros_like_tensor(x: Array) -> Array:
    """Zeros in the shape and dtype of a tensor, as a constant."""
    return apply(TABLE["zeros_like"], (x,), {})


RECORDED.update(select=recorded_select, zero=zeros_like_tensor)


declare(
    "select", select,
    [None, lambda g, z, c, x, y: selected(c, g, 0), lambda g, z, c, x, y: selected(c, 0, g)],
    op="SelectV2", label="where", keep="x",
    example=lambda rng: ((rng.random((2, 3)) > 0.5, rng.random((2, 3)), rng.random(3)), {}),
)  # fmt: skip
declare("zeros_like", lambda x: np.zeros_like(x), [None], op="ZerosLike", keep="")
declare("ones_like", lambda x: np.ones_like(x), [None], op="OnesLike", keep="")


def selected(condition: Array, x: Array, y: Array) -> Array:
    """``select`` in a rule: recorded where one of the three is a tensor."""
    if isinstance(condition, Tensor) or isinstance(x, Tensor) or isinstance(y, Tensor):
        condition = condition if isinstance(condition, Tensor) else wrap(condition)
        return recorded_select(condition, x, y)
    return TABLE["select"](condition, x, y)


def _boolean(name: str, kernel: str, label: str, forward: Function) -> Primitive:
    return declare(name, forward, [None, None], op=kernel, label=label, keep="")


_boolean("less", "Less", "<", lambda x, y: np.less(x, y))
_boolean("less_equal", "LessEqual", "<=", lambda x, y: np.less_equal(x, y))
_boolean("greater", "Greater", ">", lambda x, y: np.greater(x, y))
_boolean("greater_equal", "GreaterEqual", ">=", lambda x, y: np.greater_equal(x, y))
_boolean("equal", "Equal", "==", lambda x, y: np.equal(x, y))
_boolean("not_equal", "NotEqual", "!=", lambda x, y: np.not_equal(x, y))
_boolean("logical_and", "LogicalAnd", "and", lambda x, y: np.logical_and(x, y))
_boolean("logical_or", "LogicalOr", "or", lambda x, y: np.logical_or(x, y))
_boolean("logical_xor", "LogicalXor", "xor", lambda x, y: np.logical_xor(x, y))
declare("logical_not", lambda x: np.logical_not(x), [None], op="LogicalNot", label="not", keep="")
_boolean("bitwise_and", "BitwiseAnd", "&", lambda x, y: np.bitwise_and(x, y))
_boolean("bitwise_or", "BitwiseOr", "|", lambda x, y: np.bitwise_or(x, y))
_boolean("bitwise_xor", "BitwiseXor", "^", lambda x, y: np.bitwise_xor(x, y))
declare("bitwise_not", lambda x: np.invert(x), [None], op="Invert", label="~", keep="")
declare("string_add", lambda x, y: np.add(x, y, dtype=object), [None, None], op="Add", label="+", keep="")
