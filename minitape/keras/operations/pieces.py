"""What the formulas of :mod:`minitape.keras.operations.formulas` call where one line is not enough."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ... import tf
from ...engine import nest
from ..base import as_float, convert, epsilon, floatx, standardize_data_format
from . import making, neural
from .common import alike, axis_of

# -- numbers that may be NaN ------------------------------------------------------------------------------------------


def without_nan(x: Any, number: float) -> Any:
    """``x`` with a number in the place of NaN."""
    return tf.where(tf.math.is_nan(x), convert(number, x.dtype.name), x) if x.dtype.is_floating else x


def nan_total(x: Any, axis: Any, keepdims: bool) -> Any:
    """The sum of what is not NaN."""
    return tf.reduce_sum(without_nan(x, 0), axis, keepdims)


def nan_count(x: Any, axis: Any, keepdims: bool) -> Any:
    """How many are not NaN."""
    return tf.reduce_sum(tf.cast(~tf.math.is_nan(x), x.dtype), axis, keepdims)


def nan_variance(x: Any, axis: Any, keepdims: bool) -> Any:
    """The mean squared distance from the mean, without NaN."""
    centered = x - nan_total(x, axis, True) / nan_count(x, axis, True)
    centered = tf.where(tf.math.is_nan(x), tf.zeros_like(x), centered)
    return tf.reduce_sum(tf.square(centered), axis, keepdims) / nan_count(x, axis, keepdims)


def nan_extreme(reduce: Callable[..., Any], limit: float, x: Any, axis: Any, keepdims: bool) -> Any:
    """The largest or smallest without NaN."""
    if not x.dtype.is_floating:
        return (tf.reduce_any if x.dtype.name == "bool" and limit < 0 else reduce)(x, axis, keepdims)
    gone = tf.math.is_nan(x)
    found = reduce(tf.where(gone, convert(limit, x.dtype.name), x), axis, keepdims)
    return tf.where(tf.reduce_all(gone, axis, keepdims), convert(np.nan, x.dtype.name), found)


def nan_place(find: Callable[..., Any], limit: float, x: Any, axis: Any, keepdims: bool) -> Any:
    """Where the largest or smallest is, without NaN."""
    gone = tf.math.is_nan(x) if x.dtype.is_floating else tf.zeros_like(x, "bool")
    clean = tf.where(gone, convert(limit, x.dtype.name), x) if x.dtype.is_floating else x
    shape = [1] * len(x.shape)
    if axis is None:
        place = find(tf.reshape(clean, [-1]), output_type="int32")
        place = tf.reshape(place, shape) if keepdims else place
    else:
        place = find(clean, axis, output_type="int32")
        place = tf.expand_dims(place, axis) if keepdims else place
    return tf.where(tf.reduce_all(gone, axis, keepdims), convert(-1, "int32"), place)


def past_nan(choose: Callable[..., Any], x1: Any, x2: Any) -> Any:
    """One of the two, that which is not NaN."""
    if not x1.dtype.is_floating:
        return choose(x1, x2)
    return tf.where(tf.math.is_nan(x1), x2, tf.where(tf.math.is_nan(x2), x1, choose(x1, x2)))


# -- quantiles --------------------------------------------------------------------------------------------------------


def quantile(x: Any, q: Any, axis: Any, method: str, keepdims: bool) -> Any:
    """The numbers that shares of the elements are below; the axis of several shares comes first."""
    q = convert(q, x.dtype.name)
    rank = len(x.shape)
    axes = [axis_of(a, rank) for a in (range(rank) if axis is None else [axis] if isinstance(axis, int) else axis)]
    rest = [a for a in range(rank) if a not in axes]
    rows = tf.reshape(tf.transpose(x, [*rest, *axes]), [*[x.shape[a] for a in rest], math.prod(x.shape[a] for a in axes)])
    rows = tf.sort(rows, axis=-1)
    place = q * (rows.shape[-1] - 1)
    found = _between(rows, place, method)
    if keepdims:
        shape = [1 if a in axes else x.shape[a] for a in range(rank)]
        found = tf.reshape(found, [*shape, *q.shape])
    return tf.transpose(found, [len(found.shape) - 1, *range(len(found.shape) - 1)]) if len(q.shape) else found


def _between(rows: Any, place: Any, method: str) -> Any:
    """The elements of sorted rows at places between two of them."""

    def at(p: Any) -> Any:
        return tf.gather(rows, tf.cast(p, "int32"), axis=-1)

    low, high = at(tf.floor(place)), at(tf.math.ceil(place))
    if method == "linear":
        return low + (high - low) * (place - tf.floor(place))
    found = {"lower": lambda: low, "higher": lambda: high, "midpoint": lambda: (low + high) / 2,
             "nearest": lambda: at(tf.round(place))}  # fmt: skip
    if method not in found:
        raise ValueError(f"Unknown method {method!r}. Expected one of 'linear', {', '.join(map(repr, found))}.")
    return found[method]()


def nan_quantile(x: Any, q: Any, axis: Any, method: str, keepdims: bool) -> Any:
    """The same without NaN, by NumPy."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    found = np.nanquantile(x.numpy(), np.asarray(convert(q).numpy()), axis, method=method, keepdims=keepdims)
    return convert(found, x.dtype.name)


# -- whole numbers ----------------------------------------------------------------------------------------------------


def common_divisor(x1: Any, x2: Any) -> Any:
    """The greatest common divisor: Euclid's algorithm, for all elements at once."""
    if not x1.dtype.is_integer:
        raise TypeError("Arguments to gcd must be integers.")

    def step(a: Any, b: Any) -> tuple[Any, Any]:
        left = b != 0
        return tf.where(left, b, a), tf.where(left, a % tf.where(left, b, tf.ones_like(b)), tf.zeros_like(b))

    shape = tf.broadcast_static_shape(x1.shape, x2.shape)
    start = [tf.broadcast_to(x if x.dtype.is_unsigned else tf.abs(x), shape) for x in (x1, x2)]
    return tf.while_loop(lambda a, b: tf.reduce_any(b != 0), step, start)[0]


def common_multiple(x1: Any, x2: Any) -> Any:
    """The least common multiple, 0 of 0 and anything."""
    if not x1.dtype.is_integer:
        raise TypeError("Arguments to lcm must be integers. "
                        f"Received: x1.dtype={x1.dtype.name}, x2.dtype={x2.dtype.name}")  # fmt: skip
    divisor = common_divisor(x1, x2)
    x1, x2 = (x if x.dtype.is_unsigned else tf.abs(x) for x in (x1, x2))
    return x1 * (x2 // tf.where(divisor == 0, tf.ones_like(divisor), divisor))


def times_power(x1: Any, x2: Any) -> Any:
    """``x1 * 2 ** x2``."""
    if not x2.dtype.is_integer:
        raise TypeError(f"ldexp exponent must be an integer type. Received: x2 dtype={x2.dtype!r}")
    return tf.where(tf.math.is_inf(x1) | (x1 == 0), x1, x1 * 2.0 ** convert(x2, x1.dtype.name))


def coordinates(places: Any, shape: Any) -> Any:
    """The indices along each axis."""
    if None in shape:
        raise ValueError(f"`shape` argument cannot contain `None`. Received: shape={shape}")
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return tf.stack([places // step % size for step, size in zip(steps, shape, strict=True)])


# -- matrices ---------------------------------------------------------------------------------------------------------


def cholesky_inverse(x: Any, upper: bool) -> Any:
    """The inverse of the matrix with this cholesky factor."""
    one = tf.eye(x.shape[-1], dtype=x.dtype)
    inverse = tf.linalg.triangular_solve(x, one, lower=not upper)
    return tf.matmul(inverse, inverse, transpose_a=not upper, transpose_b=upper)


def diagonal(x: Any, k: int) -> Any:
    """A matrix with these elements on a diagonal."""
    return tf.linalg.diag(x, k=k)


def lu_factor(x: Any) -> tuple[Any, Any]:
    """LU factors and the order of the rows."""
    factors, order = tf.linalg.lu(x)
    return factors, tf.argsort(order)


def svd(x: Any, full: bool, vectors: bool) -> Any:
    """The factors in NumPy's order."""
    if not vectors:
        return tf.linalg.svd(x, full_matrices=full, compute_uv=False)
    s, u, v = tf.linalg.svd(x, full_matrices=full)
    return u, s, tf.linalg.adjoint(v)


def solve_triangular(a: Any, b: Any, lower: bool) -> Any:
    """The solution of a triangular system, for vectors too."""
    if len(b.shape) == len(a.shape) - 1:
        return tf.squeeze(tf.linalg.triangular_solve(a, tf.expand_dims(b, -1), lower=lower), -1)
    return tf.linalg.triangular_solve(a, b, lower=lower)


def kronecker(x1: Any, x2: Any) -> Any:
    """Every element of the one times the other."""
    rank = max(len(x1.shape), len(x2.shape))
    a, b = ([1] * (rank - len(x.shape)) + list(x.shape) for x in (x1, x2))
    wide = tf.reshape(x1, [v for n in a for v in (n, 1)]) * tf.reshape(x2, [v for n in b for v in (1, n)])
    return tf.reshape(wide, [m * n for m, n in zip(a, b, strict=True)])


def powers(x: Any, count: int | None, increasing: bool) -> Any:
    """The powers of the numbers of a vector."""
    places = np.arange(x.shape[0] if count is None else count)
    exponents = convert(places if increasing else places[::-1], x.dtype.name)
    wide = as_float(x)
    return convert(tf.expand_dims(wide, -1) ** convert(exponents, wide.dtype.name), x.dtype.name)


def powers_of(base: Any, exponents: Any) -> Any:
    """``base`` to these powers."""
    return tf.pow(convert(base, exponents.dtype.name), exponents)


def geometric(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int) -> Any:
    """Numbers in a geometric row."""
    kind = dtype or floatx()
    ends = [convert(v, kind) for v in (start, stop)]
    low, high = (tf.math.log(tf.abs(v)) / tf.math.log(convert(10, kind)) for v in ends)
    exponents = making.linspace(low, high, num, endpoint, dtype=dtype, axis=axis)
    return powers_of(10, exponents) * tf.sign(ends[0])


# -- shapes and parts -------------------------------------------------------------------------------------------------


def split(x: Any, where: Any, axis: int, uneven: bool = False) -> list[Any]:
    """Parts along an axis: so many of one size (or nearly, if ``uneven``), or cut at these places."""
    size = x.shape[axis]
    if isinstance(where, int):
        if size % where and not uneven:
            raise ValueError(f"array split does not result in an equal division: {size} by {where}")
        counts = [size // where + (i < size % where) for i in range(where)]
    else:
        cuts = [0, *(min(int(c), size) for c in np.asarray(where)), size]
        counts = [b - a for a, b in pairwise(cuts)]
    return list(tf.split(x, counts, axis))


def with_axes(x: Any) -> Any:
    """A number, vector or matrix with three axes."""
    rank = len(x.shape)
    return x if rank > 2 else tf.reshape(x, [1, 1, 1] if rank == 0 else [1, -1, 1] if rank == 1 else [*x.shape, 1])


def turned(x: Any, times: int, axes: Any) -> Any:
    """Quarter turns in a plane."""
    rank = len(x.shape)
    if rank < 2:
        raise ValueError(f"Input array must have at least 2 dimensions. Received: array.ndim={rank}")
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions.")
    first, second = (axis_of(a, rank) for a in axes)
    order = list(range(rank))
    order[first], order[second] = second, first
    times %= 4
    if times == 2:
        return tf.reverse(x, [first, second])
    if times == 1:
        return tf.transpose(tf.reverse(x, [second]), order)
    return tf.reverse(tf.transpose(x, order), [second]) if times else x


def updated(x: Any, start: Any, block: Any) -> Any:
    """``x`` with a block put in; where it would reach over the edge it stands further in."""
    begin = [int(v) for v in np.asarray(convert(start, "int32").numpy())]
    begin = [max(0, min(b, n - m)) for b, n, m in zip(begin, x.shape, block.shape, strict=True)]
    around = [[b, n - b - m] for b, n, m in zip(begin, x.shape, block.shape, strict=True)]
    inside = tf.pad(tf.ones_like(block, "bool"), around)
    return tf.where(inside, tf.pad(block, around), x)


def places(row: Any, values: Any, side: str) -> Any:
    """Where values would stand in a sorted vector."""
    if len(row.shape) != 1:
        raise ValueError("`searchsorted` only supports 1-D sorted sequences. You can use `keras.ops.vectorized_map` "
                         f"to extend it to N-D sequences. Received: sorted_sequence.shape={row.shape}")  # fmt: skip
    row, values = alike(row, values)
    return tf.searchsorted(row, values, side=side)


def among(x1: Any, x2: Any, invert: bool) -> Any:
    """Where the elements of ``x1`` are among those of ``x2``."""
    found = tf.reduce_any(tf.expand_dims(x1, -1) == tf.reshape(x2, [-1]), axis=-1)
    return ~found if invert else found


def close(x1: Any, x2: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Where elements are nearly the same."""
    if not x1.dtype.is_floating:
        return x1 == x2
    found = tf.abs(x1 - x2) <= atol + rtol * tf.abs(x2)
    return found | (tf.math.is_nan(x1) & tf.math.is_nan(x2)) if equal_nan else found


def first_true(conditions: Any, choices: Any, default: Any) -> Any:
    """For each element the choice whose condition holds first."""
    *options, found = alike(*map(convert, choices), convert(default))
    for condition, option in reversed(list(zip(conditions, options, strict=True))):
        found = tf.where(convert(condition, "bool"), option, found)
    return found


def trapezoid(y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The integral by trapezoids."""
    last = [a for a in range(len(y.shape)) if a != axis % len(y.shape)] + [axis % len(y.shape)]
    y = tf.transpose(y, last)
    if x is None:
        steps = convert(dx, y.dtype.name)
    else:
        x = convert(x, y.dtype.name)
        x = tf.transpose(x, last) if len(x.shape) > 1 else x
        steps = x[..., 1:] - x[..., :-1]
    return tf.reduce_sum(0.5 * (y[..., 1:] + y[..., :-1]) * steps, axis=-1)


def hypotenuse(a: Any, b: Any) -> Any:
    """The root of the sum of squares."""
    large, small = tf.maximum(a, b), tf.minimum(a, b)
    return large * tf.sqrt(1.0 + tf.square(tf.math.divide_no_nan(small, large)))


def parts(x: Any) -> tuple[Any, Any]:
    """The real and the imaginary part."""
    return tf.math.real(x), tf.math.imag(x)


def window(count: Any, make: Callable[[int], Any]) -> Any:
    """A window of so many numbers; of one number it is 1."""
    n = int(convert(count))
    return convert(np.ones(n) if n == 1 else make(n), "float32")


def segments(kind: str, data: Any, ids: Any, count: Any, is_sorted: bool) -> Any:
    """The largest, smallest, sum or product of the rows of each segment."""
    data, ids = convert(data), convert(ids, "int32")
    if is_sorted:
        if count is not None:
            raise ValueError("Argument `num_segments` cannot be set when sorted is True when using the tensorflow backend."
                             f"Received: num_segments={count}, sorted={is_sorted}.")  # fmt: skip
        return getattr(tf.math, f"segment_{kind}")(data, ids)
    return getattr(tf.math, f"unsorted_segment_{kind}")(data, ids, tf.reduce_max(ids) + 1 if count is None else count)


def bound(branch: Callable[..., Any], operands: Any) -> Callable[[], Any]:
    """A branch that takes nothing."""
    return lambda: branch(*operands)


def signature_of(f: Callable[..., Any], xs: Any) -> Any:
    """The types of what ``f`` makes of one element."""
    first = nest.map_structure(lambda x: x[0], xs)
    return nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), nest.map_structure(convert, f(first)))


# -- networks ---------------------------------------------------------------------------------------------------------


def gated(x: Any, axis: int) -> Any:
    """One half times the sigmoid of the other."""
    if x.shape[axis] % 2:
        raise ValueError(f"axis size must be divisible by 2. Received: x.shape={x.shape} with axis={axis}")
    a, b = tf.split(x, 2, axis)
    return a * tf.sigmoid(b)


def sparsemax(x: Any, axis: int) -> Any:
    """The projection onto the probabilities."""
    high = tf.sort(x, axis=axis, direction="DESCENDING")
    shape = [1] * len(x.shape)
    shape[axis] = -1
    counts = tf.reshape(tf.range(1, x.shape[axis] + 1), shape)
    sums = tf.cumsum(high, axis=axis)
    inside = high - (sums - 1) / tf.cast(counts, x.dtype) > 0
    total = tf.reduce_sum(tf.where(inside, high, tf.zeros_like(high)), axis, keepdims=True)
    return tf.maximum(x - (total - 1) / tf.reduce_sum(tf.cast(inside, x.dtype), axis, keepdims=True), 0.0)


def multi_hot(x: Any, count: int, axis: int, dtype: Any, sparse: bool) -> Any:
    """1 at the places of each row."""
    if sparse:
        raise ValueError("minitape's keras.ops.multi_hot gives dense tensors only. Received: sparse=True")
    rows = neural.one_hot(x, count, axis, dtype)
    reduce = tf.reduce_any if rows.dtype.name == "bool" else tf.reduce_max
    return reduce(rows, 1 if len(x.shape) > 1 else 0)


def with_channels_last(function: Callable[..., Any], x: Any, data_format: str, *arguments: Any) -> Any:
    """A function of images whose channels come last, for those whose channels come first too."""
    if standardize_data_format(data_format) == "channels_last":
        return function(x, *arguments)
    rank = len(x.shape)
    out = function(tf.transpose(x, [0, *range(2, rank), 1]), *arguments)
    return tf.transpose(out, [0, rank - 1, *range(1, rank - 1)])


def pooled(pool: Callable[..., Any], x: Any, size: Any, strides: Any, padding: str, data_format: Any) -> Any:
    """Pooling with Keras's arguments."""
    steps = size if strides is None else strides
    return with_channels_last(pool, x, data_format, size, steps, padding.upper())


def convolved(x: Any, kernel: Any, strides: Any, padding: str, data_format: Any, rate: Any) -> Any:
    """A convolution with Keras's arguments; ValueError when nothing is left."""

    def convolution(x: Any) -> Any:
        return tf.nn.convolution(x, kernel, strides, padding.upper(), dilations=rate)

    x, kernel = alike(x, kernel)
    out = with_channels_last(convolution, x, data_format)
    if out.shape.is_fully_defined() and math.prod(out.shape) == 0 != math.prod(x.shape):
        raise ValueError(
            f"The convolution operation resulted in an empty output. Output shape: {out.shape}. This can happen if the "
            "input is too small for the given kernel size, strides, dilation rate, and padding mode. Please check the "
            "input shape and convolution parameters."
        )
    return out


def normalized(x: Any, given: list[Any], axis: int, eps: float) -> Any:
    """``tf.nn.batch_normalization`` along an axis."""
    shape = [1] * len(x.shape)
    shape[axis] = -1
    mean, variance, offset, scale = (None if v is None else tf.reshape(convert(v, x.dtype.name), shape) for v in given)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, eps)


def wide(x: Any) -> Any:
    """Floats of 32 bits at least."""
    return convert(x, "float32") if x.dtype.size < 4 or not x.dtype.is_floating else x


def rms_normalized(x: Any, scale: Any, axis: Any, eps: float | None) -> Any:
    """``x`` with mean square 1."""
    exact = wide(x)
    square = tf.reduce_mean(tf.square(exact), axis, keepdims=True)
    out = exact * tf.math.rsqrt(square + (epsilon() if eps is None else eps))
    return convert(out if scale is None else out * convert(scale, exact.dtype.name), x.dtype.name)


def layer_normalized(
    x: Any, gamma: Any, beta: Any, axis: Any, eps: float | None, rms_scaling: bool = False
) -> Any:
    """``x`` with mean 0 and variance 1, scaled and moved along the axes; with ``rms_scaling`` only divided and scaled."""
    exact = wide(x)
    axes = [axis_of(a, len(x.shape)) for a in ([axis] if isinstance(axis, int) else axis)]
    shape = [n if i in axes else 1 for i, n in enumerate(x.shape)]
    mean, variance = tf.nn.moments(exact, axes, keepdims=True)
    scale, offset = (None if v is None else tf.reshape(convert(v, exact.dtype.name), shape) for v in (gamma, beta))
    out = (exact if rms_scaling else exact - mean) * tf.math.rsqrt(variance + (epsilon() if eps is None else eps))
    out = out if scale is None else out * scale
    return convert(out if offset is None or rms_scaling else out + offset, x.dtype.name)


def ctc(target: Any, output: Any, target_length: Any, output_length: Any, blank: int) -> Any:
    """The loss of ``tf.nn.ctc_loss``, in 32 bits."""
    kind = "float64" if output.dtype.name == "float64" else "float32"
    lengths = [convert(v, "int32") for v in (target_length, output_length)]
    found = tf.nn.ctc_loss(target, convert(output, "float32"), *lengths, logits_time_major=False, blank_index=blank)
    return convert(found, kind)


def noise_ratio(x1: Any, x2: Any, top: Any) -> Any:
    """Decibels of the largest value over the mean squared difference."""
    if x1.shape != x2.shape:
        raise ValueError(f"Input shapes {x1.shape} and {x2.shape} must match for PSNR calculation. ")
    error = tf.reduce_mean(tf.square(x1 - x2))
    ten = functools.partial(convert, 10)
    return 20 * tf.math.log(convert(top, x1.dtype.name)) / tf.math.log(ten(x1.dtype.name)) - 10 * tf.math.log(
        error
    ) / tf.math.log(ten(error.dtype.name))
