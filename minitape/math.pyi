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
    """Return the inverse cosine, in radians, elementwise."""
def acosh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse hyperbolic cosine, elementwise."""
def add(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return x + y, elementwise for shapes that broadcast."""
def argmax(input: _Any, axis: _Any = None, output_type: _Any = ..., name: str | None = None) -> _Tensor:
    """Return the position of the largest element along an axis."""
def argmin(input: _Any, axis: _Any = None, output_type: _Any = ..., name: str | None = None) -> _Tensor:
    """Return the position of the smallest element along an axis."""
def asin(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse sine, in radians, elementwise."""
def asinh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse hyperbolic sine, elementwise."""
def atan(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse tangent, in radians, elementwise."""
def atanh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse hyperbolic tangent, elementwise."""
def ceil(x: _Any, name: str | None = None) -> _Tensor:
    """Return the smallest integer not below x, elementwise."""
def cos(x: _Any, name: str | None = None) -> _Tensor:
    """Return the cosine of x in radians, elementwise."""
def cosh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the hyperbolic cosine, elementwise."""
def equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x == y, elementwise for shapes that broadcast."""
def exp(x: _Any, name: str | None = None) -> _Tensor:
    """Return e to the power x, elementwise."""
def expm1(x: _Any, name: str | None = None) -> _Tensor:
    """Return exp(x) - 1, accurate near 0, elementwise."""
def floor(x: _Any, name: str | None = None) -> _Tensor:
    """Return the largest integer not above x, elementwise."""
def floordiv(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return floor(x / y), elementwise for shapes that broadcast."""
def floormod(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return the remainder of floordiv, with the sign of y, elementwise for shapes that broadcast."""
def greater(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x > y, elementwise for shapes that broadcast."""
def greater_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x >= y, elementwise for shapes that broadcast."""
def less(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x < y, elementwise for shapes that broadcast."""
def less_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x <= y, elementwise for shapes that broadcast."""
def log(x: _Any, name: str | None = None) -> _Tensor:
    """Return the natural logarithm, elementwise."""
def log1p(x: _Any, name: str | None = None) -> _Tensor:
    """Return log(1 + x), accurate near 0, elementwise."""
def maximum(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return the larger of x and y, elementwise for shapes that broadcast."""
def minimum(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return the smaller of x and y, elementwise for shapes that broadcast."""
def multiply(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return x * y, elementwise for shapes that broadcast."""
def negative(x: _Any, name: str | None = None) -> _Tensor:
    """Return -x, elementwise."""
def not_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x != y, elementwise for shapes that broadcast."""
def pow(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return x to the power y, elementwise for shapes that broadcast."""
def reciprocal(x: _Any, name: str | None = None) -> _Tensor:
    """Return 1 / x, elementwise."""
def reduce_all(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return whether all elements are true along the given axes."""
def reduce_any(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return whether any element is true along the given axes."""
def reduce_max(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return the largest element along the given axes."""
def reduce_mean(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return the mean along the given axes."""
def reduce_min(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return the smallest element along the given axes."""
def reduce_sum(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return the sum along the given axes."""
def rint(x: _Any, name: str | None = None) -> _Tensor:
    """Return the nearest integer, elementwise."""
def rsqrt(x: _Any, name: str | None = None) -> _Tensor:
    """Return 1 / sqrt(x), elementwise."""
def sigmoid(x: _Any, name: str | None = None) -> _Tensor:
    """Return 1 / (1 + exp(-x)), elementwise."""
def sin(x: _Any, name: str | None = None) -> _Tensor:
    """Return the sine of x in radians, elementwise."""
def sinh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the hyperbolic sine, elementwise."""
def sqrt(x: _Any, name: str | None = None) -> _Tensor:
    """Return the square root, elementwise."""
def square(x: _Any, name: str | None = None) -> _Tensor:
    """Return x * x, elementwise."""
def subtract(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return x - y, elementwise for shapes that broadcast."""
def tan(x: _Any, name: str | None = None) -> _Tensor:
    """Return the tangent of x in radians, elementwise."""
def tanh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the hyperbolic tangent, elementwise."""
