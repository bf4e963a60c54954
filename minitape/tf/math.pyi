"""The names of `tf.tf.math`, for editors: see `python tests/repository/make_stubs.py`."""

from typing import Any as _Any
from minitape.engine.tensor.tensor import (
    Tensor as _Tensor,
)
from minitape.ops.casts import (
    angle as angle,
    conj as conj,
    imag as imag,
    real as real,
)
from minitape.ops.clipping import (
    add_n as add_n,
)
from minitape.ops.elementwise import (
    abs as abs,
    add as add,
    divide as divide,
    divide_no_nan as divide_no_nan,
    log_sigmoid as log_sigmoid,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    multiply_no_nan as multiply_no_nan,
    reciprocal_no_nan as reciprocal_no_nan,
    round as round,
    sign as sign,
    squared_difference as squared_difference,
    truediv as truediv,
)
from minitape.ops.reductions import (
    count_nonzero as count_nonzero,
    cumprod as cumprod,
    cumsum as cumsum,
    reduce_logsumexp as reduce_logsumexp,
    reduce_std as reduce_std,
    reduce_variance as reduce_variance,
    zero_fraction as zero_fraction,
)
from minitape.ops.sorting import (
    bincount as bincount,
    confusion_matrix as confusion_matrix,
    in_top_k as in_top_k,
    invert_permutation as invert_permutation,
    top_k as top_k,
    unsorted_segment_mean as unsorted_segment_mean,
)
from minitape.tf.linalg.products import (
    l2_normalize as l2_normalize,
)
from minitape.tf.nn.activations import (
    log_softmax as log_softmax,
    softmax as softmax,
)
def acos(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse cosine, in radians."""

def acosh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic cosine; NaN below 1."""

def argmax(input: _Any, axis: _Any = None, output_type: _Any = ..., name: _Any = None) -> _Any:
    """The position of the largest element along ``axis`` (the first axis for None); the first of equal ones."""

def argmin(input: _Any, axis: _Any = None, output_type: _Any = ..., name: _Any = None) -> _Any:
    """The position of the smallest element along ``axis`` (the first axis for None); the first of equal ones."""

def asin(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse sine, in radians."""

def asinh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic sine."""

def atan(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse tangent, in radians."""

def atan2(y: _Any, x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: angle of the point (x, y), in radians."""

def atanh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic tangent."""

def ceil(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: smallest integer not below x; no gradient."""

def cos(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: cosine of x in radians."""

def cosh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic cosine."""

def digamma(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: derivative of lgamma."""

def equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x == y (InvalidArgumentError when the shapes do not broadcast)."""

def erf(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: error function."""

def erfc(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: complementary error function, 1 - erf(x)."""

def erfinv(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse of erf on (-1, 1)."""

def exp(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: e to the power x."""

def expm1(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: exp(x) - 1, accurate near 0."""

def floor(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: largest integer not above x; no gradient."""

def floordiv(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: floor(x / y); no gradient; InvalidArgumentError for integers divided by 0."""

def floormod(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: remainder of floordiv, with the sign of y."""

def greater(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x > y."""

def greater_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x >= y."""

def is_finite(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x is neither infinite nor NaN."""

def is_inf(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x is infinite."""

def is_nan(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x is NaN."""

def less(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x < y."""

def less_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x <= y."""

def lgamma(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: log of the absolute value of the Gamma function."""

def log(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: natural logarithm; the gradient at 0 is infinite."""

def log1p(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: log(1 + x), accurate near 0."""

def maximum(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: larger one; where they are equal the gradient goes to x."""

def minimum(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: smaller one; where they are equal the gradient goes to x."""

def mod(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: remainder of floordiv, with the sign of y."""

def multiply(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * y."""

def negative(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: -x."""

def not_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x != y."""

def polygamma(a: _Any, x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: derivative of order a of digamma."""

def pow(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x to the power y; InvalidArgumentError for negative integer powers of integers."""

def reciprocal(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / x."""

def reduce_all(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """Whether all are true over the axes in ``axis`` (all of them for None)."""

def reduce_any(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """Whether any is true over the axes in ``axis`` (all of them for None)."""

def reduce_euclidean_norm(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The square root of the sum of squares over the axes in ``axis`` (all of them for None)."""

def reduce_max(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The largest element; its gradient is shared by equal ones over the axes in ``axis`` (all of them for None)."""

def reduce_mean(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The mean (of ints an int) over the axes in ``axis`` (all of them for None)."""

def reduce_min(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The smallest element; its gradient is shared by equal ones over the axes in ``axis`` (all of them for None)."""

def reduce_prod(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The product over the axes in ``axis`` (all of them for None)."""

def reduce_sum(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The sum over the axes in ``axis`` (all of them for None)."""

def rint(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: nearest integer, halves to the even one; no gradient."""

def rsqrt(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / sqrt(x)."""

def segment_max(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The maximum of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def segment_mean(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The mean of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def segment_min(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The minimum of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def segment_prod(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The product of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def segment_sum(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The sum of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def sigmoid(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / (1 + exp(-x))."""

def sin(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: sine of x in radians."""

def sinh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic sine."""

def softplus(features: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: log(1 + exp(x)), without overflow."""

def softsign(features: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / (1 + abs(x)); has no second derivative (LookupError)."""

def sqrt(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: square root; the gradient is 0 where the incoming one is 0."""

def square(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * x."""

def subtract(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x - y."""

def tan(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: tangent of x in radians."""

def tanh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic tangent."""

def unsorted_segment_max(data: _Any, segment_ids: _Any, num_segments: _Any, name: _Any = None) -> _Tensor:
    """The maximum (the lowest number if there is none) of the rows of ``data`` that share an id, for the ids below
    ``num_segments`` in any order."""

def unsorted_segment_min(data: _Any, segment_ids: _Any, num_segments: _Any, name: _Any = None) -> _Tensor:
    """The minimum (the largest number if there is none) of the rows of ``data`` that share an id, for the ids below
    ``num_segments`` in any order."""

def unsorted_segment_prod(data: _Any, segment_ids: _Any, num_segments: _Any, name: _Any = None) -> _Tensor:
    """The product of the rows of ``data`` that share an id, for the ids below ``num_segments`` in any order."""

def unsorted_segment_sum(data: _Any, segment_ids: _Any, num_segments: _Any, name: _Any = None) -> _Tensor:
    """The sum of the rows of ``data`` that share an id, for the ids below ``num_segments`` in any order."""

def xdivy(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / y, and 0 where x is 0."""

def xlog1py(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * log(1 + y), and 0 where x is 0."""

def xlogy(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * log(y), and 0 where x is 0."""

def zeta(x: _Any, q: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: Hurwitz zeta function."""

