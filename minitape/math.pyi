"""The names of `tf.math`, for editors: see `python tests/repository/make_stubs.py`."""

from builtins import (
    bool as _bool,
)
from minitape.engine.tensor.tensor import (
    Tensor as _Tensor,
)
from minitape.tf.elementwise import (
    abs as abs,
    atan2 as atan2,
    conj as conj,
    divide as divide,
    divide_no_nan as divide_no_nan,
    logical_and as logical_and,
    logical_not as logical_not,
    real as real,
    round as round,
    sign as sign,
    softplus as softplus,
)
from minitape.tf.nn import (
    log_softmax as log_softmax,
    softmax as softmax,
)
from minitape.tf.products import (
    l2_normalize as l2_normalize,
)
from minitape.tf.reductions import (
    add_n as add_n,
    count_nonzero as count_nonzero,
    reduce_std as reduce_std,
    reduce_variance as reduce_variance,
    top_k as top_k,
)
from typing import (
    Any as _Any,
)
def acos(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse cosine, in radians, elementwise. Differentiable: -g * (1 / sqrt(1 - x * x))."""
def acosh(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse hyperbolic cosine; NaN below 1, elementwise. Differentiable: g / sinh(z)."""
def add(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """x + y; joins strings, elementwise for shapes that broadcast. Differentiable: g; g."""
def argmax(input: _Any, axis: _Any = None, output_type: _Any = ..., name: str | None = None) -> _Tensor:
    """The position of the largest element along ``axis`` (the first axis for None); the first of equal ones."""
def argmin(input: _Any, axis: _Any = None, output_type: _Any = ..., name: str | None = None) -> _Tensor:
    """The position of the smallest element along ``axis`` (the first axis for None); the first of equal ones."""
def asin(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse sine, in radians, elementwise. Differentiable: g * (1 / sqrt(1 - x * x))."""
def asinh(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse hyperbolic sine, elementwise. Differentiable: g / cosh(z)."""
def atan(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse tangent, in radians, elementwise. Differentiable: g * (1 / (1 + x * x))."""
def atanh(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse hyperbolic tangent, elementwise. Differentiable: g * (1 / (1 - x * x))."""
def ceil(x: _Any, name: str | None = None) -> _Tensor:
    """The smallest integer not below x, elementwise. Not differentiable."""
def cos(x: _Any, name: str | None = None) -> _Tensor:
    """The cosine of x in radians, elementwise. Differentiable: -g * sin(x)."""
def cosh(x: _Any, name: str | None = None) -> _Tensor:
    """The hyperbolic cosine, elementwise. Differentiable: g * sinh(x)."""
def equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x == y, elementwise for shapes that broadcast. Not differentiable."""
def exp(x: _Any, name: str | None = None) -> _Tensor:
    """e to the power x, elementwise. Differentiable: g * z."""
def expm1(x: _Any, name: str | None = None) -> _Tensor:
    """exp(x) - 1, accurate near 0, elementwise. Differentiable: g * exp(x)."""
def floor(x: _Any, name: str | None = None) -> _Tensor:
    """The largest integer not above x, elementwise. Not differentiable."""
def floordiv(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """floor(x / y); integers must not be divided by 0, elementwise for shapes that broadcast. Not differentiable."""
def floormod(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """The remainder of floordiv, with the sign of y, elementwise for shapes that broadcast. Differentiable: g; -g *
    floordiv(x, y)."""
def greater(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x > y, elementwise for shapes that broadcast. Not differentiable."""
def greater_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x >= y, elementwise for shapes that broadcast. Not differentiable."""
def less(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x < y, elementwise for shapes that broadcast. Not differentiable."""
def less_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x <= y, elementwise for shapes that broadcast. Not differentiable."""
def log(x: _Any, name: str | None = None) -> _Tensor:
    """The natural logarithm; the gradient at 0 is infinite, elementwise. Differentiable: g * (1 / x)."""
def log1p(x: _Any, name: str | None = None) -> _Tensor:
    """log(1 + x), accurate near 0, elementwise. Differentiable: g * (1 / (1 + x))."""
def maximum(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """The larger one; where equal the gradient goes to x, elementwise for shapes that broadcast. Differentiable:
    select(x >= y, g, 0); select(x >= y, 0, g)."""
def minimum(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """The smaller one; where equal the gradient goes to x, elementwise for shapes that broadcast. Differentiable:
    select(x <= y, g, 0); select(x <= y, 0, g)."""
def multiply(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """x * y, elementwise for shapes that broadcast. Differentiable: g * y; g * x."""
def negative(x: _Any, name: str | None = None) -> _Tensor:
    """-x, elementwise. Differentiable: -g."""
def not_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x != y, elementwise for shapes that broadcast. Not differentiable."""
def pow(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """x to the power y; of integers y must not be negative, elementwise for shapes that broadcast. Differentiable: g *
    y * pow(x, y - 1); g * z * select(x > 0, log(select(x > 0, x, 1)), 0)."""
def reciprocal(x: _Any, name: str | None = None) -> _Tensor:
    """1 / x, elementwise. Differentiable: mul_no_nan(-z * z, g)."""
def reduce_all(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Whether all are true over the axes in ``axis`` (all of them for None). Not differentiable."""
def reduce_any(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Whether any is true over the axes in ``axis`` (all of them for None). Not differentiable."""
def reduce_max(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """The largest element; equal ones share the gradient over the axes in ``axis`` (all of them for None).
    Differentiable."""
def reduce_mean(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """The mean (of ints an int) over the axes in ``axis`` (all of them for None). Differentiable."""
def reduce_min(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """The smallest element; equal ones share the gradient over the axes in ``axis`` (all of them for None).
    Differentiable."""
def reduce_sum(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """The sum over the axes in ``axis`` (all of them for None). Differentiable."""
def rint(x: _Any, name: str | None = None) -> _Tensor:
    """The nearest integer, halves to the even one, elementwise. Not differentiable."""
def rsqrt(x: _Any, name: str | None = None) -> _Tensor:
    """1 / sqrt(x), elementwise. Differentiable: mul_no_nan(-0.5 * z * z * z, g)."""
def sigmoid(x: _Any, name: str | None = None) -> _Tensor:
    """1 / (1 + exp(-x)), elementwise. Differentiable: g * z * (1 - z)."""
def sin(x: _Any, name: str | None = None) -> _Tensor:
    """The sine of x in radians, elementwise. Differentiable: g * cos(x)."""
def sinh(x: _Any, name: str | None = None) -> _Tensor:
    """The hyperbolic sine, elementwise. Differentiable: g * cosh(x)."""
def sqrt(x: _Any, name: str | None = None) -> _Tensor:
    """The square root; the gradient is 0 where the incoming one is 0, elementwise. Differentiable: sqrt_share(z, g)."""
def square(x: _Any, name: str | None = None) -> _Tensor:
    """x * x, elementwise. Differentiable: g * (2 * x)."""
def subtract(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """x - y, elementwise for shapes that broadcast. Differentiable: g; -g."""
def tan(x: _Any, name: str | None = None) -> _Tensor:
    """The tangent of x in radians, elementwise. Differentiable: g * (1 + z * z)."""
def tanh(x: _Any, name: str | None = None) -> _Tensor:
    """The hyperbolic tangent, elementwise. Differentiable: g * (1 - z * z)."""
