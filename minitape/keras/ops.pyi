"""The names of `tf.keras.ops`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.engine.tensor import (
    Tensor as _Tensor,
)
from minitape.keras.operations.activations import (
    elu as elu,
    log_softmax as log_softmax,
    softmax as softmax,
)
from minitape.keras.operations.control import (
    cond as cond,
    custom_gradient as custom_gradient,
    fori_loop as fori_loop,
    vectorized_map as vectorized_map,
    while_loop as while_loop,
)
from minitape.keras.operations.elementwise import (
    abs as abs,
    absolute as absolute,
    clip as clip,
    logaddexp as logaddexp,
    nan_to_num as nan_to_num,
    round as round,
    sign as sign,
    stop_gradient as stop_gradient,
    where as where,
)
from minitape.keras.operations.making import (
    arange as arange,
    array as array,
    cast as cast,
    convert_to_numpy as convert_to_numpy,
    convert_to_tensor as convert_to_tensor,
    eye as eye,
    full as full,
    identity as identity,
    is_tensor as is_tensor,
    linspace as linspace,
    ndim as ndim,
    ones as ones,
    shape as shape,
    zeros as zeros,
)
from minitape.keras.operations.neural import (
    binary_crossentropy as binary_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    gelu as gelu,
    one_hot as one_hot,
    relu as relu,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
)
from minitape.keras.operations.picking import (
    argsort as argsort,
    diag as diag,
    diagonal as diagonal,
    diff as diff,
    in_top_k as in_top_k,
    nonzero as nonzero,
    scatter as scatter,
    scatter_update as scatter_update,
    slice as slice,
    sort as sort,
    take as take,
    take_along_axis as take_along_axis,
    top_k as top_k,
    tril as tril,
    triu as triu,
)
from minitape.keras.operations.products import (
    cholesky as cholesky,
    cross as cross,
    det as det,
    dot as dot,
    einsum as einsum,
    inner as inner,
    inv as inv,
    matmul as matmul,
    norm as norm,
    normalize as normalize,
    outer as outer,
    qr as qr,
    solve as solve,
    tensordot as tensordot,
    trace as trace,
    vdot as vdot,
)
from minitape.keras.operations.reductions import (
    argmax as argmax,
    argmin as argmin,
    average as average,
    bincount as bincount,
    count_nonzero as count_nonzero,
    cumprod as cumprod,
    cumsum as cumsum,
    max as max,
    min as min,
    prod as prod,
)
from minitape.keras.operations.shaping import (
    broadcast_to as broadcast_to,
    concatenate as concatenate,
    expand_dims as expand_dims,
    flip as flip,
    hstack as hstack,
    meshgrid as meshgrid,
    moveaxis as moveaxis,
    ones_like as ones_like,
    pad as pad,
    ravel as ravel,
    repeat as repeat,
    reshape as reshape,
    roll as roll,
    size as size,
    split as split,
    squeeze as squeeze,
    stack as stack,
    swapaxes as swapaxes,
    tile as tile,
    transpose as transpose,
    unstack as unstack,
    vstack as vstack,
    zeros_like as zeros_like,
)
def add(x1: _Any, x2: _Any) -> _Tensor:
    """``x1 + x2``."""

def all(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """Whether all elements are True."""

def allclose(x1: _Any, x2: _Any, rtol: _Any = 1e-05, atol: _Any = 1e-08, equal_nan: _Any = False) -> _Any:
    """Whether all elements differ by at most ``atol + rtol * abs(x2)``."""

def amax(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """The largest element, as ``max`` without ``initial``."""

def amin(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """The smallest element, as ``min`` without ``initial``."""

def angle(x: _Any) -> _Any:
    """The angle of complex numbers, of others 0 or pi."""

def any(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """Whether one of the elements is True."""

def append(x1: _Any, x2: _Any, axis: _Any = None) -> _Any:
    """One after the other along an axis, or all elements in one."""

def arccos(x: _Any) -> _Tensor:
    """The angle between 0 and pi with this cosine; NaN beyond 1."""

def arccosh(x: _Any) -> _Tensor:
    """The inverse of ``cosh`` from 1 on; NaN below."""

def arcsin(x: _Any) -> _Tensor:
    """The angle between -pi / 2 and pi / 2 with this sine; NaN beyond 1."""

def arcsinh(x: _Any) -> _Tensor:
    """The inverse of ``sinh``."""

def arctan(x: _Any) -> _Tensor:
    """The angle between -pi / 2 and pi / 2 with this tangent."""

def arctan2(x1: _Any, x2: _Any) -> _Tensor:
    """The angle of the point ``(x2, x1)``, from -pi to pi."""

def arctanh(x: _Any) -> _Tensor:
    """The inverse of ``tanh``; infinite at 1, NaN beyond."""

def array_split(x: _Any, indices_or_sections: _Any, axis: _Any = 0) -> _Any:
    """Parts along an axis, so many of nearly the same size or cut at these places: a list."""

def average_pool(inputs: _Any, pool_size: _Any, strides: _Any = None, padding: _Any = 'valid', data_format: _Any = None) -> _Any:
    """The mean of each window of (batch, ..., channels), over one to three axes."""

def bartlett(x: _Any) -> _Any:
    """A triangle of ``x`` numbers."""

def batch_normalization(x: _Any, mean: _Any, variance: _Any, axis: _Any, offset: _Any = None, scale: _Any = None, epsilon: _Any = 0.001) -> _Any:
    """``x`` minus the mean over the root of the variance, scaled and moved; all are vectors along the axis."""

def bitwise_and(x: _Any, y: _Any) -> _Any:
    """The bits that both integers have."""

def bitwise_invert(x: _Any) -> _Any:
    """Integers with all their bits turned."""

def bitwise_left_shift(x: _Any, y: _Any) -> _Any:
    """The bits moved ``y`` places up."""

def bitwise_not(x: _Any) -> _Any:
    """The same as ``bitwise_invert``."""

def bitwise_or(x: _Any, y: _Any) -> _Any:
    """The bits that one of the integers has."""

def bitwise_right_shift(x: _Any, y: _Any) -> _Any:
    """The bits moved ``y`` places down."""

def bitwise_xor(x: _Any, y: _Any) -> _Any:
    """The bits that just one of the integers has."""

def blackman(x: _Any) -> _Any:
    """Blackman's window of ``x`` numbers."""

def cbrt(x: _Any) -> _Any:
    """The cube root, negative of negative numbers."""

def ceil(x: _Any) -> _Tensor:
    """The smallest whole number not below ``x``."""

def celu(x: _Any, alpha: _Any = 1.0) -> _Tensor:
    """``x`` where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere: an ``elu`` whose slope at 0 is 1."""

def cholesky_inverse(x: _Any, upper: _Any = False) -> _Any:
    """The inverse of the matrix whose cholesky factor, lower or ``upper``, is given."""

def conj(x: _Any) -> _Tensor:
    """Complex numbers with the sign of the imaginary part turned."""

def conjugate(x: _Any) -> _Any:
    """Complex numbers with the sign of the imaginary part turned; the same as ``conj``."""

def conv(inputs: _Any, kernel: _Any, strides: _Any = 1, padding: _Any = 'valid', data_format: _Any = None, dilation_rate: _Any = 1) -> _Any:
    """The convolution of (batch, ..., channels) with a kernel, over one to three axes."""

def copy(x: _Any) -> _Any:
    """The same values as a tensor of their own."""

def cos(x: _Any) -> _Tensor:
    """The cosine of an angle in radians."""

def cosh(x: _Any) -> _Tensor:
    """``(exp(x) + exp(-x)) / 2``."""

def ctc_loss(target: _Any, output: _Any, target_length: _Any, output_length: _Any, mask_index: _Any = 0) -> _Any:
    """The loss of ``tf.nn.ctc_loss`` for outputs (batch, frames, classes)."""

def deg2rad(x: _Any) -> _Any:
    """An angle of degrees in radians."""

def depth_to_space(x: _Any, block_size: _Any, data_format: _Any = 'channels_last') -> _Any:
    """The channels of each pixel as a block of pixels."""

def diagflat(x: _Any, k: _Any = 0) -> _Any:
    """A matrix with the elements on its ``k``-th diagonal."""

def digitize(x: _Any, bins: _Any) -> _Any:
    """How many of the increasing ``bins`` are not above each element, int32."""

def divide(x1: _Any, x2: _Any) -> _Tensor:
    """``x1 / x2``, of whole numbers too as floats."""

def divide_no_nan(x1: _Any, x2: _Any) -> _Any:
    """``x1 / x2``, and 0 where ``x2`` is 0."""

def dsplit(x: _Any, indices_or_sections: _Any) -> _Any:
    """Parts along the third axis: a list."""

def dstack(xs: _Any) -> _Any:
    """Tensors one behind the other along the third axis."""

def eig(x: _Any) -> _Any:
    """Eigenvalues and eigenvectors of square matrices, complex: a pair."""

def eigh(x: _Any) -> _Any:
    """Eigenvalues and eigenvectors of symmetric matrices: a pair."""

def empty(shape: _Any, dtype: _Any = None) -> _Any:
    """A tensor of this shape; it holds zeros."""

def empty_like(x: _Any, dtype: _Any = None) -> _Any:
    """A tensor of the same shape; it holds zeros."""

def equal(x1: _Any, x2: _Any) -> _Tensor:
    """Where ``x1 == x2``."""

def erf(x: _Any) -> _Tensor:
    """The error function."""

def erfc(x: _Any) -> _Any:
    """One minus the error function."""

def erfinv(x: _Any) -> _Tensor:
    """The inverse of ``erf`` on (-1, 1)."""

def exp(x: _Any) -> _Tensor:
    """e to the power ``x``."""

def exp2(x: _Any) -> _Any:
    """2 to the power ``x``."""

def expm1(x: _Any) -> _Tensor:
    """``exp(x) - 1``, exact also near 0."""

def extract_sequences(x: _Any, sequence_length: _Any, sequence_stride: _Any) -> _Any:
    """The windows of the last axis, ``sequence_stride`` apart, along a new axis."""

def fabs(x: _Any) -> _Any:
    """The distance from 0, as floats."""

def fft(x: _Any) -> _Any:
    """The Fourier transform of real and imaginary part (a pair): another pair."""

def fft2(x: _Any) -> _Any:
    """The same over the last two axes."""

def fliplr(x: _Any) -> _Any:
    """The columns from right to left."""

def flipud(x: _Any) -> _Any:
    """The rows from the last to the first."""

def floor(x: _Any) -> _Tensor:
    """The largest whole number not above ``x``."""

def floor_divide(x1: _Any, x2: _Any) -> _Tensor:
    """``x1 / x2`` rounded down."""

def fmax(x1: _Any, x2: _Any) -> _Any:
    """The larger one, or the one that is not NaN."""

def fmin(x1: _Any, x2: _Any) -> _Any:
    """The smaller one, or the one that is not NaN."""

def fmod(x1: _Any, x2: _Any) -> _Any:
    """What a division leaves that rounds towards 0; it has the sign of ``x1``."""

def full_like(x: _Any, fill_value: _Any, dtype: _Any = None) -> _Any:
    """A tensor of the same shape that holds ``fill_value``."""

def gcd(x1: _Any, x2: _Any) -> _Any:
    """The greatest common divisor of integers."""

def geomspace(start: _Any, stop: _Any, num: _Any = 50, endpoint: _Any = True, dtype: _Any = None, axis: _Any = 0) -> _Any:
    """``num`` numbers from ``start`` to ``stop``, each the same multiple of the one before."""

def get_item(x: _Any, key: _Any) -> _Any:
    """``x[key]``: an element, a slice, an axis more."""

def glu(x: _Any, axis: _Any = -1) -> _Any:
    """The first half of an axis times the sigmoid of the other."""

def greater(x1: _Any, x2: _Any) -> _Tensor:
    """Where ``x1 > x2``."""

def greater_equal(x1: _Any, x2: _Any) -> _Tensor:
    """Where ``x1 >= x2``."""

def hamming(x: _Any) -> _Any:
    """Hamming's window of ``x`` numbers."""

def hanning(x: _Any) -> _Any:
    """Hann's window of ``x`` numbers."""

def hard_shrink(x: _Any, threshold: _Any = 0.5) -> _Any:
    """``x`` where it is further from 0 than the threshold, else 0."""

def hard_sigmoid(x: _Any) -> _Tensor:
    """``relu6(x + 3) / 6``: a ``sigmoid`` of three straight lines."""

def hard_silu(x: _Any) -> _Tensor:
    """``x * hard_sigmoid(x)``; also called ``hard_swish``."""

def hard_swish(x: _Any) -> _Tensor:
    """``x * hard_sigmoid(x)``; also called ``hard_swish``."""

def hard_tanh(x: _Any) -> _Tensor:
    """``x`` within -1 and 1."""

def heaviside(x1: _Any, x2: _Any) -> _Any:
    """0 below 0, 1 above, ``x2`` at 0."""

def hsplit(x: _Any, indices_or_sections: _Any) -> _Any:
    """Parts along the second axis, of a vector along the only one: a list."""

def hypot(x1: _Any, x2: _Any) -> _Any:
    """The root of the sum of squares, without overflow."""

def i0(x: _Any) -> _Any:
    """The modified Bessel function of the first kind of order 0."""

def ifft2(x: _Any) -> _Any:
    """The inverse of ``fft2``."""

def imag(x: _Any) -> _Tensor:
    """The imaginary part, 0 for real numbers."""

def irfft(x: _Any, fft_length: _Any = None) -> _Any:
    """The inverse of ``rfft``."""

def isclose(x1: _Any, x2: _Any, rtol: _Any = 1e-05, atol: _Any = 1e-08, equal_nan: _Any = False) -> _Any:
    """Where elements differ by at most ``atol + rtol * abs(x2)``, or both are NaN with ``equal_nan``."""

def isfinite(x: _Any) -> _Tensor:
    """Where ``x`` is a number, neither infinite nor NaN."""

def isin(x1: _Any, x2: _Any, assume_unique: _Any = False, invert: _Any = False) -> _Any:
    """Where the elements of ``x1`` are among those of ``x2`` (or are not, with ``invert``)."""

def isinf(x: _Any) -> _Tensor:
    """Where ``x`` is infinite."""

def isnan(x: _Any) -> _Tensor:
    """Where ``x`` is NaN."""

def isneginf(x: _Any) -> _Any:
    """Where ``x`` is minus infinity."""

def isposinf(x: _Any) -> _Any:
    """Where ``x`` is plus infinity."""

def isreal(x: _Any) -> _Any:
    """Where the imaginary part is 0."""

def kaiser(x: _Any, beta: _Any) -> _Any:
    """Kaiser's window of ``x`` numbers."""

def kron(x1: _Any, x2: _Any) -> _Any:
    """Every element of ``x1`` times the whole of ``x2``, as one tensor."""

def layer_normalization(x: _Any, gamma: _Any = None, beta: _Any = None, axis: _Any = -1, epsilon: _Any = None, **kwargs: _Any) -> _Any:
    """``x`` with mean 0 and variance 1 along the axes, then scaled and moved."""

def lcm(x1: _Any, x2: _Any) -> _Any:
    """The least common multiple of integers."""

def ldexp(x1: _Any, x2: _Any) -> _Any:
    """``x1 * 2 ** x2`` for integers ``x2``."""

def leaky_relu(x: _Any, negative_slope: _Any = 0.2) -> _Tensor:
    """``x``, times ``negative_slope`` where it is negative."""

def left_shift(x: _Any, y: _Any) -> _Any:
    """The same as ``bitwise_left_shift``."""

def less(x1: _Any, x2: _Any) -> _Tensor:
    """Where ``x1 < x2``."""

def less_equal(x1: _Any, x2: _Any) -> _Tensor:
    """Where ``x1 <= x2``."""

def log(x: _Any) -> _Tensor:
    """The natural logarithm; NaN below 0."""

def log10(x: _Any) -> _Any:
    """The logarithm to base 10; NaN below 0."""

def log1p(x: _Any) -> _Tensor:
    """``log(1 + x)``, exact also near 0."""

def log2(x: _Any) -> _Any:
    """The logarithm to base 2; NaN below 0."""

def log_sigmoid(x: _Any) -> _Tensor:
    """``log(sigmoid(x))``, without overflow."""

def logaddexp2(x1: _Any, x2: _Any) -> _Any:
    """The logarithm to base 2 of ``2 ** x1 + 2 ** x2``."""

def logdet(x: _Any) -> _Any:
    """The logarithm of the determinant of positive definite matrices."""

def logical_and(x1: _Any, x2: _Any) -> _Tensor:
    """Where both are True."""

def logical_not(x: _Any) -> _Tensor:
    """True where ``x`` is False or 0."""

def logical_or(x1: _Any, x2: _Any) -> _Tensor:
    """Where one or both are True."""

def logical_xor(x1: _Any, x2: _Any) -> _Tensor:
    """Where just one is True."""

def logspace(start: _Any, stop: _Any, num: _Any = 50, endpoint: _Any = True, base: _Any = 10, dtype: _Any = None, axis: _Any = 0) -> _Any:
    """Powers of ``base`` whose exponents go in equal steps from ``start`` to ``stop``."""

def logsumexp(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """``log(sum(exp(x)))``, without overflow."""

def lu_factor(x: _Any) -> _Any:
    """The factors of a square matrix (L below the diagonal) and the order of its rows: a pair."""

def map(f: _Any, xs: _Any) -> _Any:
    """``f`` of each element along the first axis, stacked."""

def matrix_rank(x: _Any, tol: _Any = None) -> _Any:
    """How many singular values exceed ``tol``, int32."""

def max_pool(inputs: _Any, pool_size: _Any, strides: _Any = None, padding: _Any = 'valid', data_format: _Any = None) -> _Any:
    """The largest element of each window of (batch, ..., channels), over one to three axes."""

def maximum(x1: _Any, x2: _Any) -> _Tensor:
    """The larger one; of equal ones ``x1``."""

def mean(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """The mean."""

def median(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The element in the middle, or the mean of the two there."""

def minimum(x1: _Any, x2: _Any) -> _Tensor:
    """The smaller one; of equal ones ``x1``."""

def mod(x1: _Any, x2: _Any) -> _Tensor:
    """What ``floor_divide`` leaves; it has the sign of ``x2``."""

def moments(x: _Any, axes: _Any, keepdims: _Any = False, synchronized: _Any = False) -> _Any:
    """Mean and variance over the axes: a pair."""

def multi_hot(inputs: _Any, num_classes: _Any = None, axis: _Any = -1, dtype: _Any = None, sparse: _Any = False, **kwargs: _Any) -> _Any:
    """1 at each of the places that a row of integers names, 0 elsewhere."""

def multiply(x1: _Any, x2: _Any) -> _Tensor:
    """``x1 * x2``."""

def nanargmax(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The place of the largest element that is not NaN, int32; -1 where all are."""

def nanargmin(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The place of the smallest element that is not NaN, int32; -1 where all are."""

def nancumprod(x: _Any, axis: _Any = None, dtype: _Any = None) -> _Any:
    """The running products, with 1 for NaN."""

def nancumsum(x: _Any, axis: _Any = None, dtype: _Any = None) -> _Any:
    """The running sums, with 0 for NaN."""

def nanmax(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The largest element that is not NaN; NaN where all are."""

def nanmean(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The mean of the elements that are not NaN, along an axis, several or all."""

def nanmedian(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The median of the elements that are not NaN."""

def nanmin(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The smallest element that is not NaN; NaN where all are."""

def nanpercentile(x: _Any, q: _Any, axis: _Any = None, method: _Any = 'linear', keepdims: _Any = False) -> _Any:
    """The percentile of the elements that are not NaN."""

def nanprod(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The product of the elements that are not NaN."""

def nanquantile(x: _Any, q: _Any, axis: _Any = None, method: _Any = 'linear', keepdims: _Any = False) -> _Any:
    """The quantile of the elements that are not NaN."""

def nanstd(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The standard deviation of the elements that are not NaN."""

def nansum(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The sum of the elements that are not NaN."""

def nanvar(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The variance of the elements that are not NaN."""

def negative(x: _Any) -> _Tensor:
    """``-x``."""

def nextafter(x1: _Any, x2: _Any) -> _Any:
    """The next number of type float64 from ``x1`` on towards ``x2``, in the dtype of both."""

def not_equal(x1: _Any, x2: _Any) -> _Tensor:
    """Where ``x1 != x2``."""

def percentile(x: _Any, q: _Any, axis: _Any = None, method: _Any = 'linear', keepdims: _Any = False) -> _Any:
    """The number that ``q`` percent of the elements are below; see ``quantile``."""

def pinv(x: _Any, rcond: _Any = None) -> _Any:
    """The Moore-Penrose inverse."""

def polar(abs_: _Any, angle: _Any) -> _Any:
    """Complex numbers of this size and angle."""

def power(x1: _Any, x2: _Any) -> _Tensor:
    """``x1`` to the power ``x2``."""

def psnr(x1: _Any, x2: _Any, max_val: _Any) -> _Any:
    """The peak signal-to-noise ratio of two images in decibels."""

def ptp(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The largest element minus the smallest one."""

def quantile(x: _Any, q: _Any, axis: _Any = None, method: _Any = 'linear', keepdims: _Any = False) -> _Any:
    """The number that the share ``q`` (one or a vector) of the elements is below."""

def rad2deg(x: _Any) -> _Any:
    """An angle of radians in degrees."""

def real(x: _Any) -> _Tensor:
    """The real part."""

def reciprocal(x: _Any) -> _Tensor:
    """``1 / x``."""

def relu6(x: _Any) -> _Tensor:
    """``min(max(x, 0), 6)``."""

def rfft(x: _Any, fft_length: _Any = None) -> _Any:
    """The Fourier transform of real numbers: real and imaginary part."""

def right_shift(x: _Any, y: _Any) -> _Any:
    """The same as ``bitwise_right_shift``."""

def rms_normalization(x: _Any, scale: _Any = None, axis: _Any = -1, epsilon: _Any = None) -> _Any:
    """``x`` over the root of the mean of its squares along the axes, then scaled."""

def rot90(array: _Any, k: _Any = 1, axes: _Any = ...) -> _Any:
    """``k`` quarter turns in the plane of two axes."""

def rsqrt(x: _Any) -> _Tensor:
    """``1 / sqrt(x)``."""

def saturate_cast(x: _Any, dtype: _Any) -> _Any:
    """``x`` as another dtype, limited to what that holds."""

def searchsorted(sorted_sequence: _Any, values: _Any, side: _Any = 'left') -> _Any:
    """Where values would stand in a sorted vector, int32."""

def segment_max(data: _Any, segment_ids: _Any, num_segments: _Any = None, sorted: _Any = False) -> _Any:
    """The largest of the rows with one segment number each."""

def segment_min(data: _Any, segment_ids: _Any, num_segments: _Any = None, sorted: _Any = False) -> _Any:
    """The smallest of the rows with one segment number each."""

def segment_prod(data: _Any, segment_ids: _Any, num_segments: _Any = None, sorted: _Any = False) -> _Any:
    """The product of the rows with one segment number each."""

def segment_sum(data: _Any, segment_ids: _Any, num_segments: _Any = None, sorted: _Any = False) -> _Any:
    """The sum of the rows with one segment number each."""

def select(condlist: _Any, choicelist: _Any, default: _Any = 0) -> _Any:
    """For each element the choice whose condition is the first that holds, else ``default``."""

def selu(x: _Any) -> _Tensor:
    """The scaled ``elu``, which keeps mean 0 and variance 1 through many layers."""

def sigmoid(x: _Any) -> _Tensor:
    """``1 / (1 + exp(-x))``, between 0 and 1."""

def signbit(x: _Any) -> _Any:
    """Where ``x`` is negative, or -0.0."""

def silu(x: _Any) -> _Tensor:
    """``x * sigmoid(x)``; also called ``swish``."""

def sin(x: _Any) -> _Tensor:
    """The sine of an angle in radians."""

def sinc(x: _Any) -> _Any:
    """``sin(pi x) / (pi x)``, and 1 at 0."""

def sinh(x: _Any) -> _Tensor:
    """``(exp(x) - exp(-x)) / 2``."""

def slice_update(inputs: _Any, start_indices: _Any, updates: _Any) -> _Any:
    """``inputs`` with a block replaced by ``updates`` from these indices on."""

def slogdet(x: _Any) -> _Any:
    """The sign and the logarithm of the absolute value of determinants: a pair."""

def soft_shrink(x: _Any, threshold: _Any = 0.5) -> _Any:
    """``x`` moved towards 0 by the threshold."""

def softplus(x: _Any) -> _Tensor:
    """``log(1 + exp(x))``: a smooth ``relu``."""

def softsign(x: _Any) -> _Tensor:
    """``x / (1 + abs(x))``, between -1 and 1."""

def solve_triangular(a: _Any, b: _Any, lower: _Any = False) -> _Any:
    """The x with ``a @ x = b`` for a triangular matrix; ``b`` may be a vector."""

def space_to_depth(x: _Any, block_size: _Any, data_format: _Any = 'channels_last') -> _Any:
    """The pixels of each block as the channels of one pixel."""

def sparse_plus(x: _Any) -> _Any:
    """0 below -1, ``x`` above 1, a parabola between."""

def sparse_sigmoid(x: _Any) -> _Any:
    """0 below -1, 1 above 1, a straight line between."""

def sparsemax(x: _Any, axis: _Any = -1) -> _Any:
    """The probabilities nearest to ``x`` along an axis, many of them 0, see A."""

def sqrt(x: _Any) -> _Tensor:
    """The square root; NaN below 0."""

def square(x: _Any) -> _Tensor:
    """``x * x``."""

def squareplus(x: _Any, b: _Any = 4) -> _Tensor:
    """``(x + sqrt(x ** 2 + b)) / 2``: a smooth ``relu``."""

def std(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """The standard deviation: the root of ``var``."""

def subtract(x1: _Any, x2: _Any) -> _Tensor:
    """``x1 - x2``."""

def sum(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """The sum."""

def svd(x: _Any, full_matrices: _Any = True, compute_uv: _Any = True) -> _Any:
    """The factors u, s and vh with ``x = u @ diag(s) @ vh``, or s alone."""

def swish(x: _Any) -> _Tensor:
    """``x * sigmoid(x)``; also called ``swish``."""

def switch(index: _Any, branches: _Any, *operands: _Any) -> _Any:
    """What the branch of this number gives for the operands; numbers too large or small take the last or first."""

def tan(x: _Any) -> _Tensor:
    """The tangent of an angle in radians."""

def tanh(x: _Any) -> _Tensor:
    """The hyperbolic tangent, between -1 and 1."""

def tanh_shrink(x: _Any) -> _Tensor:
    """``x - tanh(x)``."""

def threshold(x: _Any, threshold: _Any, default_value: _Any) -> _Tensor:
    """``x`` above the threshold, ``default_value`` elsewhere."""

def trapezoid(y: _Any, x: _Any = None, dx: _Any = 1.0, axis: _Any = -1) -> _Any:
    """The integral along an axis by trapezoids, over the points ``x`` or steps of ``dx``."""

def tri(N: _Any, M: _Any = None, k: _Any = 0, dtype: _Any = None) -> _Any:
    """Ones on and below the ``k``-th diagonal, zeros above."""

def true_divide(x1: _Any, x2: _Any) -> _Tensor:
    """``x1 / x2``; the same as ``divide``."""

def trunc(x: _Any) -> _Any:
    """The whole number next to ``x`` on the side of 0."""

def unravel_index(indices: _Any, shape: _Any) -> _Any:
    """The indices of an array of this shape for those of its elements in a row: a tuple."""

def vander(x: _Any, N: _Any = None, increasing: _Any = False) -> _Any:
    """The powers of each number of a vector, the highest first unless ``increasing``."""

def var(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Tensor:
    """The variance: the mean of the squared distances from the mean."""

def view_as_complex(x: _Any) -> _Any:
    """Complex numbers, with the parts along the last axis."""

def view_as_real(x: _Any) -> _Any:
    """The parts of complex numbers along a new last axis."""

def vsplit(x: _Any, indices_or_sections: _Any) -> _Any:
    """Parts along the first axis: a list."""

