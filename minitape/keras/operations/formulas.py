"""``tf.keras.ops``: functions that are one formula over others.

A function is three lines of a table: ``name(arguments) = formula``, what it computes, and the arguments of an example
``-> `` what that gives. Each table begins by saying how its functions take their arguments.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ... import tf
from ...engine import nest
from ...engine.code import define
from ..base import as_float, convert, floatx
from . import elementwise, making, pieces, reductions
from .common import alike

TABLES = """
# x = as_float(x)
angle(x) = tf.math.angle(x)
    The angle of complex numbers, of others 0 or pi. Differentiable; of real numbers the gradient is None.
    ([1.0, -1.0]) -> array([0.    , 3.1416], dtype=float32)
cbrt(x) = tf.sign(x) * tf.abs(x) ** (1 / 3)
    The cube root, negative of negative numbers. Differentiable.
    ([8.0, -27.0]) -> array([ 2., -3.], dtype=float32)
deg2rad(x) = x * (np.pi / 180)
    An angle of degrees in radians. Differentiable.
    ([180.0, 90.0]) -> array([3.1416, 1.5708], dtype=float32)
exp2(x) = 2.0 ** x
    2 to the power ``x``. Differentiable.
    ([3.0, -1.0]) -> array([8. , 0.5], dtype=float32)
fabs(x) = tf.abs(x)
    The distance from 0, as floats. Differentiable.
    ([-2, 3]) -> array([2., 3.], dtype=float32)
i0(x) = tf.math.bessel_i0(x)
    The modified Bessel function of the first kind of order 0. Differentiable.
    ([0.0, 1.0]) -> array([1.    , 1.2661], dtype=float32)
log10(x) = tf.math.log(x) / tf.math.log(convert(10, x.dtype.name))
    The logarithm to base 10; NaN below 0. Differentiable.
    ([1.0, 100.0]) -> array([0., 2.], dtype=float32)
log2(x) = tf.math.log(x) / tf.math.log(convert(2, x.dtype.name))
    The logarithm to base 2; NaN below 0. Differentiable.
    ([1.0, 8.0]) -> array([0., 3.], dtype=float32)
rad2deg(x) = x * (180 / np.pi)
    An angle of radians in degrees. Differentiable.
    ([3.0, 0.0]) -> array([171.8874,   0.    ], dtype=float32)
sinc(x) = tf.where(x == 0, tf.ones_like(x), tf.sin(x * np.pi) / (x * np.pi))
    ``sin(pi x) / (pi x)``, and 1 at 0. Differentiable beside 0.
    ([0.0, 0.5]) -> array([1.    , 0.6366], dtype=float32)
nanmean(x, axis=None, keepdims=False) = pieces.nan_total(x, axis, keepdims) / pieces.nan_count(x, axis, keepdims)
    The mean of the elements that are not NaN, along an axis, several or all. Differentiable.
    ([1.0, float("nan"), 4.0]) -> np.float32(2.5)
nanstd(x, axis=None, keepdims=False) = tf.sqrt(pieces.nan_variance(x, axis, keepdims))
    The standard deviation of the elements that are not NaN. Differentiable.
    ([1.0, float("nan"), 3.0]) -> np.float32(1.0)
nanvar(x, axis=None, keepdims=False) = pieces.nan_variance(x, axis, keepdims)
    The variance of the elements that are not NaN. Differentiable.
    ([1.0, float("nan"), 4.0]) -> np.float32(2.25)
median(x, axis=None, keepdims=False) = pieces.quantile(x, 0.5, axis, "linear", keepdims)
    The element in the middle, or the mean of the two there. Differentiable.
    ([3.0, 1.0, 8.0, 4.0]) -> np.float32(3.5)
percentile(x, q, axis=None, method="linear", keepdims=False) = pieces.quantile(x, as_float(q) / 100, axis, method, keepdims)
    The number that ``q`` percent of the elements are below; see ``quantile``. Differentiable.
    ([0.0, 10.0], 25) -> np.float32(2.5)
quantile(x, q, axis=None, method="linear", keepdims=False) = pieces.quantile(x, q, axis, method, keepdims)
    The number that the share ``q`` (one or a vector) of the elements is below. ``method`` is "linear", "lower", "higher", "midpoint" or "nearest". Differentiable.
    ([0.0, 10.0, 20.0], [0.25, 0.5]) -> array([ 5., 10.], dtype=float32)
nanmedian(x, axis=None, keepdims=False) = pieces.nan_quantile(x, 0.5, axis, "linear", keepdims)
    The median of the elements that are not NaN. Not inside a graph. Not differentiable.
    ([3.0, float("nan"), 1.0, 8.0]) -> np.float32(3.0)
nanpercentile(x, q, axis=None, method="linear", keepdims=False) = pieces.nan_quantile(x, as_float(q) / 100, axis, method, keepdims)
    The percentile of the elements that are not NaN. Not inside a graph. Not differentiable.
    ([3.0, float("nan"), 1.0], 50) -> np.float32(2.0)
nanquantile(x, q, axis=None, method="linear", keepdims=False) = pieces.nan_quantile(x, q, axis, method, keepdims)
    The quantile of the elements that are not NaN. Not inside a graph. Not differentiable.
    ([3.0, float("nan"), 1.0], 0.25) -> np.float32(1.5)

# x = convert(x)
bitwise_invert(x) = tf.bitwise.invert(x)
    Integers with all their bits turned. Not differentiable.
    ([0, 5]) -> array([-1, -6], dtype=int32)
bitwise_not(x) = tf.bitwise.invert(x)
    The same as ``bitwise_invert``. Not differentiable.
    ([0, 5]) -> array([-1, -6], dtype=int32)
cholesky_inverse(x, upper=False) = pieces.cholesky_inverse(x, upper)
    The inverse of the matrix whose cholesky factor, lower or ``upper``, is given. Differentiable.
    ([[2.0, 0.0], [0.0, 4.0]]) -> array([[0.25  , 0.    ],
           [0.    , 0.0625]], dtype=float32)
conjugate(x) = tf.math.conj(x)
    Complex numbers with the sign of the imaginary part turned; the same as ``conj``. Differentiable.
    ([1 + 2j]) -> array([1.-2.j])
copy(x) = tf.identity(x)
    The same values as a tensor of their own. Differentiable.
    ([1, 2]) -> array([1, 2], dtype=int32)
depth_to_space(x, block_size, data_format="channels_last") = pieces.with_channels_last(tf.nn.depth_to_space, x, data_format, block_size)
    The channels of each pixel as a block of pixels. Differentiable.
    ([[[[1.0, 2.0, 3.0, 4.0]]]], 2)[0, :, :, 0] -> array([[1., 2.],
           [3., 4.]], dtype=float32)
diagflat(x, k=0) = pieces.diagonal(tf.reshape(x, [-1]), k)
    A matrix with the elements on its ``k``-th diagonal. Differentiable.
    ([1, 2]) -> array([[1, 0],
           [0, 2]], dtype=int32)
digitize(x, bins) = tf.reshape(tf.searchsorted(pieces.wide(as_float(list(bins))), tf.reshape(pieces.wide(as_float(x)), [-1]), side="right"), x.shape)
    How many of the increasing ``bins`` are not above each element, int32. Not differentiable.
    ([0.5, 2.0, 9.0], [1.0, 2.0, 3.0]) -> array([0, 2, 3], dtype=int32)
empty_like(x, dtype=None) = tf.zeros_like(x, dtype)
    A tensor of the same shape; it holds zeros. No gradient.
    ([1.0, 2.0]) -> array([0., 0.], dtype=float32)
erfc(x) = tf.math.erfc(x)
    One minus the error function. Differentiable.
    ([0.0, 1.0]) -> array([1.    , 0.1573], dtype=float32)
extract_sequences(x, sequence_length, sequence_stride) = tf.signal.frame(x, sequence_length, sequence_stride)
    The windows of the last axis, ``sequence_stride`` apart, along a new axis. Differentiable.
    ([1, 2, 3, 4], 2, 1) -> array([[1, 2],
           [2, 3],
           [3, 4]], dtype=int32)
fliplr(x) = tf.reverse(x, [1])
    The columns from right to left. Differentiable.
    ([[1, 2], [3, 4]]) -> array([[2, 1],
           [4, 3]], dtype=int32)
flipud(x) = tf.reverse(x, [0])
    The rows from the last to the first. Differentiable.
    ([[1, 2], [3, 4]]) -> array([[3, 4],
           [1, 2]], dtype=int32)
full_like(x, fill_value, dtype=None) = tf.broadcast_to(convert(fill_value, dtype or x.dtype.name), tf.shape(x))
    A tensor of the same shape that holds ``fill_value``. No gradient to ``x``.
    ([1, 2], 7) -> array([7, 7], dtype=int32)
get_item(x, key) = x[key]
    ``x[key]``: an element, a slice, an axis more. Differentiable.
    ([1, 2, 3], 1) -> np.int32(2)
glu(x, axis=-1) = pieces.gated(x, axis)
    The first half of an axis times the sigmoid of the other. Differentiable. ValueError for an odd size.
    ([1.0, 2.0, 0.0, 0.0]) -> array([0.5, 1. ], dtype=float32)
hard_shrink(x, threshold=0.5) = tf.where(tf.abs(x) > threshold, x, tf.zeros_like(x))
    ``x`` where it is further from 0 than the threshold, else 0. Differentiable.
    ([-0.5, 1.0]) -> array([0., 1.], dtype=float32)
isneginf(x) = x == -np.inf if x.dtype.is_floating else tf.zeros_like(x, "bool")
    Where ``x`` is minus infinity. Not differentiable.
    ([1.0, -float("inf")]) -> array([False,  True])
isposinf(x) = x == np.inf if x.dtype.is_floating else tf.zeros_like(x, "bool")
    Where ``x`` is plus infinity. Not differentiable.
    ([1.0, float("inf")]) -> array([False,  True])
isreal(x) = tf.math.imag(x) == 0 if x.dtype.is_complex else tf.ones_like(x, "bool")
    Where the imaginary part is 0. Not differentiable.
    ([1 + 0j, 1j]) -> array([ True, False])
logdet(x) = tf.linalg.logdet(x)
    The logarithm of the determinant of positive definite matrices. Differentiable.
    ([[1.0, 0.0], [0.0, 1.0]]) -> np.float32(0.0)
lu_factor(x) = pieces.lu_factor(x)
    The factors of a square matrix (L below the diagonal) and the order of its rows: a pair. A gradient through it raises LookupError.
    ([[1.0, 2.0], [2.0, 2.0]])[0] -> array([[2. , 2. ],
           [0.5, 1. ]], dtype=float32)
matrix_rank(x, tol=None) = tf.linalg.matrix_rank(x, tol)
    How many singular values exceed ``tol``, int32. Not differentiable.
    ([[1.0, 2.0], [2.0, 4.0]]) -> np.int32(1)
moments(x, axes, keepdims=False, synchronized=False) = tuple(tf.nn.moments(x, axes, keepdims=keepdims))
    Mean and variance over the axes: a pair. Differentiable. There is one device, so ``synchronized`` has no effect.
    ([1.0, 3.0], [0])[1] -> np.float32(1.0)
nanargmax(x, axis=None, keepdims=False) = pieces.nan_place(tf.argmax, -np.inf, x, axis, keepdims)
    The place of the largest element that is not NaN, int32; -1 where all are. Not differentiable.
    ([1.0, float("nan"), 4.0]) -> np.int32(2)
nanargmin(x, axis=None, keepdims=False) = pieces.nan_place(tf.argmin, np.inf, x, axis, keepdims)
    The place of the smallest element that is not NaN, int32; -1 where all are. Not differentiable.
    ([float("nan"), 3.0, 2.0]) -> np.int32(2)
nancumprod(x, axis=None, dtype=None) = reductions.cumprod(pieces.without_nan(x, 1), axis=axis, dtype=dtype)
    The running products, with 1 for NaN. Differentiable.
    ([2.0, float("nan"), 3.0]) -> array([2., 2., 6.], dtype=float32)
nancumsum(x, axis=None, dtype=None) = reductions.cumsum(elementwise.nan_to_num(x), axis=axis, dtype=dtype)
    The running sums, with 0 for NaN. Differentiable.
    ([2.0, float("nan"), 3.0]) -> array([2., 2., 5.], dtype=float32)
nanmax(x, axis=None, keepdims=False) = pieces.nan_extreme(tf.reduce_max, -np.inf, x, axis, keepdims)
    The largest element that is not NaN; NaN where all are. Differentiable.
    ([1.0, float("nan"), 4.0]) -> np.float32(4.0)
nanmin(x, axis=None, keepdims=False) = pieces.nan_extreme(tf.reduce_min, np.inf, x, axis, keepdims)
    The smallest element that is not NaN; NaN where all are. Differentiable.
    ([1.0, float("nan"), 4.0]) -> np.float32(1.0)
nanprod(x, axis=None, keepdims=False) = reductions.prod(pieces.without_nan(x, 1), axis=axis, keepdims=keepdims)
    The product of the elements that are not NaN. Differentiable.
    ([2.0, float("nan"), 4.0]) -> np.float32(8.0)
nansum(x, axis=None, keepdims=False) = reductions.sum(pieces.without_nan(x, 0), axis=axis, keepdims=keepdims)
    The sum of the elements that are not NaN. Differentiable.
    ([2.0, float("nan"), 4.0]) -> np.float32(6.0)
pinv(x, rcond=None) = tf.linalg.pinv(x, rcond)
    The Moore-Penrose inverse. Differentiable.
    ([[1.0, 0.0], [0.0, 2.0]]) -> array([[1. , 0. ],
           [0. , 0.5]], dtype=float32)
ptp(x, axis=None, keepdims=False) = tf.reduce_max(x, axis, keepdims) - tf.reduce_min(x, axis, keepdims)
    The largest element minus the smallest one. Differentiable.
    ([1, 7, 3]) -> np.int32(6)
saturate_cast(x, dtype) = tf.saturate_cast(x, dtype)
    ``x`` as another dtype, limited to what that holds. Differentiable between floats.
    ([-5.0, 300.0], "uint8") -> array([  0, 255], dtype=uint8)
signbit(x) = (x < 0) | ((x == 0) & (1 / x < 0)) if x.dtype.is_floating else as_float(x) < 0
    Where ``x`` is negative, or -0.0. Not differentiable.
    ([-1.0, 0.0, -0.0]) -> array([ True, False,  True])
slogdet(x) = tuple(tf.linalg.slogdet(x))
    The sign and the logarithm of the absolute value of determinants: a pair. Differentiable.
    ([[-1.0, 0.0], [0.0, 1.0]])[0] -> np.float32(-1.0)
soft_shrink(x, threshold=0.5) = tf.where(x > threshold, x - threshold, tf.where(x < -threshold, x + threshold, tf.zeros_like(x)))
    ``x`` moved towards 0 by the threshold. Differentiable.
    ([-1.0, 0.2]) -> array([-0.5,  0. ], dtype=float32)
space_to_depth(x, block_size, data_format="channels_last") = pieces.with_channels_last(tf.nn.space_to_depth, x, data_format, block_size)
    The pixels of each block as the channels of one pixel. Differentiable.
    ([[[[1.0], [2.0]], [[3.0], [4.0]]]], 2)[0, 0] -> array([[1., 2., 3., 4.]], dtype=float32)
sparse_plus(x) = tf.where(x <= -1, tf.zeros_like(x), tf.where(x < 1, 0.25 * (x + 1) ** 2, x))
    0 below -1, ``x`` above 1, a parabola between. Differentiable.
    ([-2.0, 0.0, 3.0]) -> array([0.  , 0.25, 3.  ], dtype=float32)
sparse_sigmoid(x) = tf.where(x <= -1, tf.zeros_like(x), tf.where(x >= 1, tf.ones_like(x), 0.5 * (x + 1)))
    0 below -1, 1 above 1, a straight line between. Differentiable.
    ([-2.0, 0.0, 3.0]) -> array([0. , 0.5, 1. ], dtype=float32)
sparsemax(x, axis=-1) = pieces.sparsemax(x, axis)
    The probabilities nearest to ``x`` along an axis, many of them 0, see A. Martins and R. Astudillo (2016). Differentiable; of their sum the gradient is 0.
    ([1.0, 0.5, -1.0]) -> array([0.75, 0.25, 0.  ], dtype=float32)
trunc(x) = tf.where(x < 0, tf.math.ceil(x), tf.floor(x)) if x.dtype.is_floating else x
    The whole number next to ``x`` on the side of 0. Not differentiable.
    ([1.7, -1.7]) -> array([ 1., -1.], dtype=float32)
vander(x, N=None, increasing=False) = pieces.powers(x, N, increasing)
    The powers of each number of a vector, the highest first unless ``increasing``. Differentiable.
    ([1, 2, 3]) -> array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]], dtype=int32)
view_as_complex(x) = tf.complex(x[..., 0], x[..., 1])
    Complex numbers, with the parts along the last axis. Differentiable.
    ([[1.0, 2.0]]) -> array([1.+2.j], dtype=complex64)
view_as_real(x) = tf.stack([tf.math.real(x), tf.math.imag(x)], axis=-1)
    The parts of complex numbers along a new last axis. Differentiable.
    ([1 + 2j]) -> array([[1., 2.]])

# x, y = alike(x, y)
bitwise_and(x, y) = tf.bitwise.bitwise_and(x, y)
    The bits that both integers have. Not differentiable.
    ([6, 5], 3) -> array([2, 1], dtype=int32)
bitwise_or(x, y) = tf.bitwise.bitwise_or(x, y)
    The bits that one of the integers has. Not differentiable.
    ([6, 5], 3) -> array([7, 7], dtype=int32)
bitwise_xor(x, y) = tf.bitwise.bitwise_xor(x, y)
    The bits that just one of the integers has. Not differentiable.
    ([6, 5], 3) -> array([5, 6], dtype=int32)
bitwise_left_shift(x, y) = tf.bitwise.left_shift(x, y)
    The bits moved ``y`` places up. Not differentiable.
    ([1, 3], 2) -> array([ 4, 12], dtype=int32)
bitwise_right_shift(x, y) = tf.bitwise.right_shift(x, y)
    The bits moved ``y`` places down. Not differentiable.
    ([8, 3], 1) -> array([4, 1], dtype=int32)
left_shift(x, y) = tf.bitwise.left_shift(x, y)
    The same as ``bitwise_left_shift``. Not differentiable.
    ([1, 3], 2) -> array([ 4, 12], dtype=int32)
right_shift(x, y) = tf.bitwise.right_shift(x, y)
    The same as ``bitwise_right_shift``. Not differentiable.
    ([8, 3], 1) -> array([4, 1], dtype=int32)

# x1, x2 = alike(convert(x1), convert(x2))
append(x1, x2, axis=None) = tf.concat([x1, x2] if axis is not None else [tf.reshape(x, [-1]) for x in (x1, x2)], axis or 0)
    One after the other along an axis, or all elements in one. Differentiable in both.
    ([1, 2], [[3], [4]]) -> array([1, 2, 3, 4], dtype=int32)
allclose(x1, x2, rtol=1e-05, atol=1e-08, equal_nan=False) = tf.reduce_all(pieces.close(x1, x2, rtol, atol, equal_nan))
    Whether all elements differ by at most ``atol + rtol * abs(x2)``. Not differentiable.
    ([1.0, 2.0], [1.0, 2.0]) -> np.True_
isclose(x1, x2, rtol=1e-05, atol=1e-08, equal_nan=False) = pieces.close(x1, x2, rtol, atol, equal_nan)
    Where elements differ by at most ``atol + rtol * abs(x2)``, or both are NaN with ``equal_nan``. Not differentiable.
    ([1.0, 2.0], [1.0, 2.1]) -> array([ True, False])
isin(x1, x2, assume_unique=False, invert=False) = pieces.among(x1, x2, invert)
    Where the elements of ``x1`` are among those of ``x2`` (or are not, with ``invert``). ``assume_unique`` makes no difference. Not differentiable.
    ([1, 2, 3], [3, 1]) -> array([ True, False,  True])
fmax(x1, x2) = pieces.past_nan(tf.maximum, x1, x2)
    The larger one, or the one that is not NaN. Differentiable in the one that is taken.
    ([1.0, float("nan")], [2.0, 3.0]) -> array([2., 3.], dtype=float32)
fmin(x1, x2) = pieces.past_nan(tf.minimum, x1, x2)
    The smaller one, or the one that is not NaN. Differentiable in the one that is taken.
    ([1.0, float("nan")], [2.0, 3.0]) -> array([1., 3.], dtype=float32)
fmod(x1, x2) = tf.sign(x1) * tf.math.floormod(tf.abs(x1), tf.abs(x2))
    What a division leaves that rounds towards 0; it has the sign of ``x1``. Differentiable.
    ([7.0, -7.0], 3.0) -> array([ 1., -1.], dtype=float32)
gcd(x1, x2) = pieces.common_divisor(x1, x2)
    The greatest common divisor of integers. Not differentiable. TypeError for others.
    ([12, 7], [18, 21]) -> array([6, 7], dtype=int32)
lcm(x1, x2) = pieces.common_multiple(x1, x2)
    The least common multiple of integers. Not differentiable. TypeError for others.
    ([4, 0], [6, 5]) -> array([12,  0], dtype=int32)
kron(x1, x2) = pieces.kronecker(x1, x2)
    Every element of ``x1`` times the whole of ``x2``, as one tensor. Differentiable in both.
    ([[1, 2]], [[1], [3]]) -> array([[1, 2],
           [3, 6]], dtype=int32)

# x1, x2 = map(as_float, alike(convert(x1), convert(x2)))
divide_no_nan(x1, x2) = tf.math.divide_no_nan(x1, x2)
    ``x1 / x2``, and 0 where ``x2`` is 0. Differentiable in both.
    ([1.0, 2.0], [0.0, 4.0]) -> array([0. , 0.5], dtype=float32)
heaviside(x1, x2) = tf.where(x1 < 0, tf.zeros_like(x1), tf.where(x1 > 0, tf.ones_like(x1), x2))
    0 below 0, 1 above, ``x2`` at 0. Differentiable in ``x2``; to ``x1`` the gradient is None.
    ([-1.0, 0.0, 2.0], 0.5) -> array([0. , 0.5, 1. ], dtype=float32)
hypot(x1, x2) = pieces.hypotenuse(tf.abs(x1), tf.abs(x2))
    The root of the sum of squares, without overflow. Differentiable in both.
    ([3.0], [4.0]) -> array([5.], dtype=float32)
logaddexp2(x1, x2) = elementwise.logaddexp(x1 * math.log(2), x2 * math.log(2)) / math.log(2)
    The logarithm to base 2 of ``2 ** x1 + 2 ** x2``. Differentiable in both.
    ([1.0], [1.0]) -> array([2.], dtype=float32)
nextafter(x1, x2) = convert(tf.math.nextafter(convert(x1, "float64"), convert(x2, "float64")), x1.dtype.name)
    The next number of type float64 from ``x1`` on towards ``x2``, in the dtype of both. Differentiable in ``x1``.
    ([1.0], [2.0]) -> array([1.], dtype=float32)

# pass
multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False, **kwargs) = pieces.multi_hot(convert(inputs), num_classes or kwargs.get("num_tokens"), axis, dtype, sparse)
    1 at each of the places that a row of integers names, 0 elsewhere. Not differentiable. ValueError for ``sparse``.
    ([[0, 2], [1, 1]], 3) -> array([[1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
array_split(x, indices_or_sections, axis=0) = pieces.split(convert(x), indices_or_sections, axis, True)
    Parts along an axis, so many of nearly the same size or cut at these places: a list. Differentiable.
    ([1, 2, 3], 2)[0] -> array([1, 2], dtype=int32)
bartlett(x) = pieces.window(x, lambda n: 1 - abs(2 * np.arange(n) / (n - 1) - 1))
    A triangle of ``x`` numbers. No gradient.
    (5) -> array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
blackman(x) = pieces.window(x, np.blackman)
    Blackman's window of ``x`` numbers. No gradient.
    (5)[1:4] -> array([0.34, 1.  , 0.34], dtype=float32)
hamming(x) = pieces.window(x, np.hamming)
    Hamming's window of ``x`` numbers. No gradient.
    (3) -> array([0.08, 1.  , 0.08], dtype=float32)
hanning(x) = pieces.window(x, np.hanning)
    Hann's window of ``x`` numbers. No gradient.
    (5) -> array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
kaiser(x, beta) = pieces.window(x, lambda n: np.kaiser(n, float(beta)))
    Kaiser's window of ``x`` numbers. No gradient.
    (3, 0.0) -> array([1., 1., 1.], dtype=float32)
dsplit(x, indices_or_sections) = pieces.split(convert(x), indices_or_sections, 2)
    Parts along the third axis: a list. Differentiable.
    ([[[1, 2]]], 2)[1] -> array([[[2]]], dtype=int32)
hsplit(x, indices_or_sections) = pieces.split(x := convert(x), indices_or_sections, 0 if len(x.shape) == 1 else 1)
    Parts along the second axis, of a vector along the only one: a list. Differentiable.
    ([1, 2, 3, 4], 2)[1] -> array([3, 4], dtype=int32)
vsplit(x, indices_or_sections) = pieces.split(convert(x), indices_or_sections, 0)
    Parts along the first axis: a list. Differentiable.
    ([[1, 2], [3, 4]], 2)[1] -> array([[3, 4]], dtype=int32)
dstack(xs) = tf.concat([pieces.with_axes(v) for v in alike(*map(convert, xs))], axis=2)
    Tensors one behind the other along the third axis. Differentiable.
    ([[1, 2], [3, 4]]) -> array([[[1, 3],
            [2, 4]]], dtype=int32)
empty(shape, dtype=None) = tf.zeros(shape, dtype or floatx())
    A tensor of this shape; it holds zeros.
    ([2]) -> array([0., 0.], dtype=float32)
eig(x) = tuple(tf.linalg.eig(as_float(x)))
    Eigenvalues and eigenvectors of square matrices, complex: a pair. Differentiable.
    ([[1.0, 0.0], [0.0, 3.0]])[0] -> array([1.+0.j, 3.+0.j], dtype=complex64)
eigh(x) = tuple(tf.linalg.eigh(as_float(x)))
    Eigenvalues and eigenvectors of symmetric matrices: a pair. Differentiable.
    ([[1.0, 0.0], [0.0, 3.0]])[0] -> array([1., 3.], dtype=float32)
svd(x, full_matrices=True, compute_uv=True) = pieces.svd(as_float(x), full_matrices, compute_uv)
    The factors u, s and vh with ``x = u @ diag(s) @ vh``, or s alone. Differentiable.
    ([[3.0, 0.0], [0.0, 2.0]])[1] -> array([3., 2.], dtype=float32)
solve_triangular(a, b, lower=False) = pieces.solve_triangular(convert(a), convert(b), lower)
    The x with ``a @ x = b`` for a triangular matrix; ``b`` may be a vector. Differentiable in both.
    ([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]) -> array([1. , 0.5], dtype=float32)
fft(x) = pieces.parts(tf.signal.fft(tf.complex(*map(convert, x))))
    The Fourier transform of real and imaginary part (a pair): another pair. Differentiable.
    (([1.0, 0.0], [0.0, 0.0]))[0] -> array([1., 1.], dtype=float32)
fft2(x) = pieces.parts(tf.signal.fft2d(tf.complex(*map(convert, x))))
    The same over the last two axes. Differentiable.
    (([[1.0, 0.0]], [[0.0, 0.0]]))[0] -> array([[1., 1.]], dtype=float32)
ifft2(x) = pieces.parts(tf.signal.ifft2d(tf.complex(*map(convert, x))))
    The inverse of ``fft2``. Differentiable.
    (([[1.0, 1.0]], [[0.0, 0.0]]))[0] -> array([[1., 0.]], dtype=float32)
rfft(x, fft_length=None) = pieces.parts(tf.signal.rfft(convert(x), None if fft_length is None else [fft_length]))
    The Fourier transform of real numbers: real and imaginary part. Differentiable.
    ([1.0, 0.0])[0] -> array([1., 1.], dtype=float32)
irfft(x, fft_length=None) = tf.signal.irfft(tf.complex(*map(convert, x)), None if fft_length is None else [fft_length])
    The inverse of ``rfft``. Differentiable.
    (([1.0, 1.0], [0.0, 0.0])) -> array([1., 0.], dtype=float32)
geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0) = pieces.geometric(start, stop, num, endpoint, dtype, axis)
    ``num`` numbers from ``start`` to ``stop``, each the same multiple of the one before. Differentiable.
    (1.0, 100.0, 3) -> array([  1.,  10., 100.], dtype=float32)
logspace(start, stop, num=50, endpoint=True, base=10, dtype=None, axis=0) = pieces.powers_of(base, making.linspace(start, stop, num, endpoint, dtype=dtype, axis=axis))
    Powers of ``base`` whose exponents go in equal steps from ``start`` to ``stop``. Differentiable.
    (0.0, 2.0, 3) -> array([  1.,  10., 100.], dtype=float32)
ldexp(x1, x2) = pieces.times_power(as_float(x1), convert(x2))
    ``x1 * 2 ** x2`` for integers ``x2``. Differentiable in ``x1``. TypeError for others.
    ([0.5, 3.0], [2, 1]) -> array([2., 6.], dtype=float32)
polar(abs_, angle) = tf.complex(convert(abs_) * tf.cos(convert(angle)), convert(abs_) * tf.sin(convert(angle)))
    Complex numbers of this size and angle. Differentiable in both.
    ([2.0], [0.0]) -> array([2.+0.j], dtype=complex64)
psnr(x1, x2, max_val) = pieces.noise_ratio(convert(x1), convert(x2), max_val)
    The peak signal-to-noise ratio of two images in decibels. Differentiable in both.
    ([0.0, 0.0], [0.1, 0.1], 1.0) -> np.float32(20.0)
rot90(array, k=1, axes=(0, 1)) = pieces.turned(convert(array), k, axes)
    ``k`` quarter turns in the plane of two axes. Differentiable. ValueError for fewer axes.
    ([[1, 2], [3, 4]]) -> array([[2, 4],
           [1, 3]], dtype=int32)
searchsorted(sorted_sequence, values, side="left") = pieces.places(convert(sorted_sequence), convert(values), side)
    Where values would stand in a sorted vector, int32. Not differentiable. ValueError for more axes.
    ([1, 3, 5], [2, 5]) -> array([1, 2], dtype=int32)
segment_max(data, segment_ids, num_segments=None, sorted=False) = pieces.segments("max", data, segment_ids, num_segments, sorted)
    The largest of the rows with one segment number each. Differentiable. ValueError for ``num_segments`` with ``sorted``.
    ([1, 5, 3], [0, 0, 1]) -> array([5, 3], dtype=int32)
segment_min(data, segment_ids, num_segments=None, sorted=False) = pieces.segments("min", data, segment_ids, num_segments, sorted)
    The smallest of the rows with one segment number each. Differentiable. ValueError for ``num_segments`` with ``sorted``.
    ([1, 5, 3], [0, 0, 1]) -> array([1, 3], dtype=int32)
segment_sum(data, segment_ids, num_segments=None, sorted=False) = pieces.segments("sum", data, segment_ids, num_segments, sorted)
    The sum of the rows with one segment number each. Differentiable. ValueError for ``num_segments`` with ``sorted``.
    ([1, 5, 3], [0, 0, 1]) -> array([6, 3], dtype=int32)
segment_prod(data, segment_ids, num_segments=None, sorted=False) = pieces.segments("prod", data, segment_ids, num_segments, sorted)
    The product of the rows with one segment number each. Differentiable. ValueError for ``num_segments`` with ``sorted``.
    ([2, 5, 3], [0, 0, 1]) -> array([10,  3], dtype=int32)
select(condlist, choicelist, default=0) = pieces.first_true(condlist, choicelist, default)
    For each element the choice whose condition is the first that holds, else ``default``. Differentiable in the choices.
    ([[True, False, False], [True, True, False]], [[1, 2, 3], [4, 5, 6]], 9) -> array([1, 5, 9], dtype=int32)
slice_update(inputs, start_indices, updates) = pieces.updated(convert(inputs), start_indices, convert(updates))
    ``inputs`` with a block replaced by ``updates`` from these indices on. Differentiable in both.
    ([1, 2, 3, 4], [1], [8, 9]) -> array([1, 8, 9, 4], dtype=int32)
switch(index, branches, *operands) = tf.switch_case(tf.clip_by_value(convert(index, "int32"), 0, len(branches) - 1), [pieces.bound(b, operands) for b in branches])
    What the branch of this number gives for the operands; numbers too large or small take the last or first. Differentiable.
    (1, [lambda x: x, lambda x: x * 10], tf.constant(2)) -> np.int32(20)
map(f, xs) = tf.map_fn(f, xs := nest.map_structure(convert, xs), fn_output_signature=pieces.signature_of(f, xs))
    ``f`` of each element along the first axis, stacked. Differentiable.
    (lambda x: x * 2, tf.constant([1, 2])) -> array([2, 4], dtype=int32)
trapezoid(y, x=None, dx=1.0, axis=-1) = pieces.trapezoid(as_float(y), x, dx, axis)
    The integral along an axis by trapezoids, over the points ``x`` or steps of ``dx``. Differentiable.
    ([1.0, 2.0, 3.0]) -> np.float32(4.0)
tri(N, M=None, k=0, dtype=None) = convert(np.tri(N, M, k), dtype or floatx())
    Ones on and below the ``k``-th diagonal, zeros above.
    (2) -> array([[1., 0.],
           [1., 1.]], dtype=float32)
unravel_index(indices, shape) = tuple(tf.unstack(pieces.coordinates(convert(indices), shape)))
    The indices of an array of this shape for those of its elements in a row: a tuple. Not differentiable.
    ([5, 1], (2, 3))[0] -> array([1, 0], dtype=int32)
ctc_loss(target, output, target_length, output_length, mask_index=0) = pieces.ctc(convert(target, "int32"), convert(output), target_length, output_length, mask_index)
    The loss of ``tf.nn.ctc_loss`` for outputs (batch, frames, classes). Differentiable in ``output``.
    ([[1]], [[[0.0, 0.0], [0.0, 0.0]]], [1], [2]) -> array([0.2877], dtype=float32)
average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None) = pieces.pooled(tf.nn.avg_pool, convert(inputs), pool_size, strides, padding, data_format)
    The mean of each window of (batch, ..., channels), over one to three axes. Differentiable.
    ([[[1.0], [3.0]]], 2) -> array([[[2.]]], dtype=float32)
max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None) = pieces.pooled(tf.nn.max_pool, convert(inputs), pool_size, strides, padding, data_format)
    The largest element of each window of (batch, ..., channels), over one to three axes. Differentiable.
    ([[[1.0], [3.0]]], 2) -> array([[[3.]]], dtype=float32)
batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=0.001) = pieces.normalized(convert(x), [mean, variance, offset, scale], axis, epsilon)
    ``x`` minus the mean over the root of the variance, scaled and moved; all are vectors along the axis. Differentiable.
    ([[1.0, 2.0]], [1.0, 0.0], [1.0, 4.0], -1, epsilon=0.0) -> array([[0., 1.]], dtype=float32)
layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None, **kwargs) = pieces.layer_normalized(convert(x), gamma, beta, axis, epsilon, **kwargs)
    ``x`` with mean 0 and variance 1 along the axes, then scaled and moved. Differentiable. ``rms_scaling=True`` divides by the size alone.
    ([1.0, 3.0], epsilon=0.0) -> array([-1.,  1.], dtype=float32)
rms_normalization(x, scale=None, axis=-1, epsilon=None) = pieces.rms_normalized(convert(x), scale, axis, epsilon)
    ``x`` over the root of the mean of its squares along the axes, then scaled. Differentiable.
    ([3.0, 3.0], epsilon=0.0) -> array([1., 1.], dtype=float32)
conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1) = pieces.convolved(convert(inputs), convert(kernel), strides, padding, data_format, dilation_rate)
    The convolution of (batch, ..., channels) with a kernel, over one to three axes. Differentiable in both.
    ([[[1.0], [2.0], [3.0]]], [[[1.0]], [[1.0]]]) -> array([[[3.],
            [5.]]], dtype=float32)
"""

_SCOPE = {"tf": tf, "np": np, "nest": nest, "convert": convert, "floatx": floatx, "pieces": pieces, "alike": alike,
          "as_float": as_float, "math": math, "elementwise": elementwise, "making": making, "reductions": reductions}  # fmt: skip
_ROW = re.compile(r"^(\w+)\((.*?)\) = (.*)\n    (.*)\n    (.*?) -> (.*(?:\n {8,}.*)*)", re.MULTILINE)


def _define(space: dict[str, Any], take: str, rows: str) -> None:
    """Puts the functions of a table into ``space``; ``take`` is the statement with which each begins."""
    for name, arguments, formula, facts, call, result in _ROW.findall(rows):
        made = define(f"def {name}({arguments}):\n    {take}\n    return {formula}", "<tf.keras.ops>", {**_SCOPE})
        space[name] = function = made[name]
        function.__module__ = space["__name__"]
        summary, _, rest = facts.partition(". ")
        rounded = ".round(4)" if "float32" in result or "complex" in result else ""
        function.__doc__ = f"""{summary.removesuffix(".")}.

    {rest}

    >>> import minitape as tf
    >>> tf.keras.ops.{name}{call}.numpy(){rounded}
    {result}
    """


for _take, _rows in re.findall(r"^# (.*)\n((?:.+\n)+)", TABLES, re.MULTILINE):
    _define(globals(), _take, _rows)
