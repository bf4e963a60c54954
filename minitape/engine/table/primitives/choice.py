"""Declare primitives that convert, compare and select, such as casts, comparisons and ``where``."""

from collections.abc import Sequence
from logging import getLogger

import numpy as np

from ...tensor.tensor import Tensor, wrap_array_with_origin
from ...types import Array
from ...values.dtypes import DType, as_dtype
from . import TABLE, Primitive, Rule, declare
from .elementwise import RECORDED_FUNCTIONS


def _compute_cast(x: Array, *, dtype: DType) -> Array:
    if x.dtype.kind == "c" and dtype.kind in "fiub":
        x = x.real
    return x.astype(dtype.as_numpy_dtype)


def warn_if_imaginary_discarded(from_dtype: DType, to_dtype: DType) -> None:
    """Log TensorFlow's warning if a cast discards imaginary parts.

    Args:
        from_dtype: The dtype before the cast.
        to_dtype: The dtype after the cast.
    """
    if from_dtype.is_complex and to_dtype.is_floating:
        getLogger("tensorflow").warning(
            "You are casting an input of type %s to an incompatible dtype %s.  This will discard the imaginary part "
            "and may not be what you intended.", from_dtype.name, to_dtype.name,
        )  # fmt: skip


def _apply_cast_rule(g: Array, z: Array, x: Array, *, dtype: DType) -> Array:
    if not dtype.differentiable:
        return None
    input_dtype = as_dtype(x.dtype)
    warn_if_imaginary_discarded(dtype, input_dtype)
    return TABLE["cast"](g, dtype=input_dtype)


def select_elements_in_rule(condition: Array, x: Array, y: Array) -> Array:
    """Select elements of two values in a rule. If an argument is a tensor, the operation is recorded.

    Args:
        condition: An array or tensor of booleans.
        x: The value where the condition is true: an array, a number or a tensor.
        y: The value elsewhere: an array, a number or a tensor. At least one of `x` and `y` is not a Python number.

    Returns:
        An array, or a tensor if an argument is a tensor.
    """
    if not (isinstance(condition, Tensor) or isinstance(x, Tensor) or isinstance(y, Tensor)):
        return TABLE["select"](condition, x, y)
    real = as_dtype((x if hasattr(x, "dtype") else y).dtype).as_numpy_dtype
    x, y = (branch if isinstance(branch, Tensor) else wrap_array_with_origin(real(branch)) for branch in (x, y))
    return TABLE["select"](condition if isinstance(condition, Tensor) else wrap_array_with_origin(condition), x, y)


def build_complex_rules(primitive: Primitive, rules: Sequence[Rule | None]) -> list[Rule | None]:
    """Return the rules of an elementwise primitive for complex numbers.

    The share for an analytic function f is ``g * conj(f'(x))``, so the rules receive conjugated values.

    Args:
        primitive: A line of the table of derivatives.
        rules: For each input, the rule for real numbers, or None if no gradient passes.

    Returns:
        For each input, a rule, or None if no gradient passes.
    """

    def build_conjugate_rule(rule: Rule) -> Rule:
        return lambda g, *values: rule(
            g, *[argument.conj() if hasattr(argument, "conj") else TABLE["conj"](argument) for argument in values]
        )

    if primitive.name == "pow":
        rules = (rules[0], _apply_complex_exponent_rule)
    return [rule and build_conjugate_rule(rule) for rule in rules]


def _apply_complex_exponent_rule(g: Array, z: Array, x: Array, y: Array) -> Array:
    """Return the share of a complex exponent.

    The share is 0 where the base is 0. (For real numbers, the share is also 0 where the base is negative.)
    """
    is_nonzero = TABLE["not_equal"](x, 0)
    return g * z * select_elements_in_rule(is_nonzero, TABLE["log"](select_elements_in_rule(is_nonzero, x, 1)), 0)


declare("cast", _compute_cast, [_apply_cast_rule], keep="")
declare("select", np.where,
        [None,
         lambda g, z, c, x, y: select_elements_in_rule(c, g, 0),
         lambda g, z, c, x, y: select_elements_in_rule(c, 0, g)],
        op="SelectV2", label="where", keep="x")  # fmt: skip
declare("zeros_like", np.zeros_like, [None], keep="")
declare("ones_like", np.ones_like, [None], keep="")
RECORDED_FUNCTIONS.update(select=select_elements_in_rule, zero=TABLE["zeros_like"])

# Each line contains a name, the name of TensorFlow's kernel and a label for pictures.
# NumPy's functions have the same names. None of these operations has a derivative.
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
    _function: np.ufunc = getattr(np, _name)
    declare(_name, _function, [None] * _function.nin, op=_kernel, label=_label, keep="")
