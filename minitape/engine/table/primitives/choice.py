"""Primitives that convert, compare and choose: casts, comparisons, logic, ``where``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from ...tensor.tensor import Tensor, new_tensor
from ...values.dtypes import DType, dtype_of_any
from . import TABLE, Primitive, declare
from .elementwise import RECORDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...types import Array
    from . import Rule


def _cast(x: Array, *, dtype: DType) -> Array:
    if x.dtype.kind == "c" and dtype.kind in "fiub":
        x = x.real
    return x.astype(dtype.as_numpy_dtype)


def warn_discarded(have: DType, wanted: DType) -> None:
    """Logs that a cast drops the imaginary parts, in TensorFlow's words."""
    if have.is_complex and wanted.is_floating:
        logging.getLogger("tensorflow").warning(
            "You are casting an input of type %s to an incompatible dtype %s.  This will discard the imaginary part "
            "and may not be what you intended.", have.name, wanted.name,
        )  # fmt: skip


def _cast_rule(g: Array, z: Array, x: Array, *, dtype: DType) -> Array:
    if not dtype.differentiable:
        return None
    wanted = dtype_of_any(x)
    warn_discarded(dtype, wanted)
    return TABLE["cast"](g, dtype=wanted)


def select_in_rule(condition: Array, x: Array, y: Array) -> Array:
    """``select`` in a rule, of arrays and numbers: recorded where one of the three is a tensor."""
    if not (isinstance(condition, Tensor) or isinstance(x, Tensor) or isinstance(y, Tensor)):
        return TABLE["select"](condition, x, y)
    number = dtype_of_any(x if hasattr(x, "dtype") else y).as_numpy_dtype
    x, y = (v if isinstance(v, Tensor) else new_tensor(number(v)) for v in (x, y))
    return TABLE["select"](condition if isinstance(condition, Tensor) else new_tensor(condition), x, y)


def complex_rules(primitive: Primitive, rules: Sequence[Rule | None]) -> list[Rule | None]:
    """The rules of a line of the textbook's table for complex numbers: g * conj(f'(z)) of an analytic function f."""

    def conjugate_values(rule: Rule) -> Rule:
        return lambda g, *values: rule(g, *[v.conj() if hasattr(v, "conj") else TABLE["conj"](v) for v in values])

    if primitive.name == "pow":
        rules = (rules[0], _complex_exponent_rule)
    return [rule and conjugate_values(rule) for rule in rules]


def _complex_exponent_rule(g: Array, z: Array, x: Array, y: Array) -> Array:
    """The share of a complex exponent: unlike that of a real one it is 0 where the base is 0, not where it is
    negative.
    """
    held = TABLE["not_equal"](x, 0)
    return g * z * select_in_rule(held, TABLE["log"](select_in_rule(held, x, 1)), 0)


declare("cast", _cast, [_cast_rule], op="Cast", keep="")
declare("select", np.where,
        [None, lambda g, z, c, x, y: select_in_rule(c, g, 0), lambda g, z, c, x, y: select_in_rule(c, 0, g)],
        op="SelectV2", label="where", keep="x")  # fmt: skip
declare("zeros_like", lambda x: np.zeros_like(x), [None], op="ZerosLike", keep="")
declare("ones_like", lambda x: np.ones_like(x), [None], op="OnesLike", keep="")
RECORDED.update(select=select_in_rule, zero=TABLE["zeros_like"])

# name, TensorFlow's kernel, label in the picture; NumPy has the functions under the same names, and none has a
# derivative
BOOLEAN = """
less           Less          <
less_equal     LessEqual     <=
greater        Greater       >
greater_equal  GreaterEqual  >=
equal          Equal         ==
not_equal      NotEqual      !=
logical_and    LogicalAnd    and
logical_or     LogicalOr     or
logical_xor    LogicalXor    xor
logical_not    LogicalNot    not
bitwise_and    BitwiseAnd    &
bitwise_or     BitwiseOr     |
bitwise_xor    BitwiseXor    ^
bitwise_not    Invert        ~
"""
for _line in BOOLEAN.strip().splitlines():
    _name, _kernel, _label = _line.split()
    _function: np.ufunc = getattr(np, _name, np.invert)  # bitwise_not is NumPy's newer name for it
    declare(_name, _function, [None] * _function.nin, op=_kernel, label=_label, keep="")
