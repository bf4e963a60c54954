"""Special functions: float64 inside, one function each, with the source of its formula.

The functions take arrays of any real dtype and return the same dtype. They are accurate to a few units in the last
place of a float64 unless the docstring says otherwise. What the C library has comes from there; the other formulas
are in the NIST Digital Library of Mathematical Functions (DLMF, https://dlmf.nist.gov).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast

if TYPE_CHECKING:
    from ...types import Array, Function, NumPyType, Object

LONG = 4096  # elements of arrays in single precision from which on a shorter formula serves
PIECE = 8192  # elements of large arrays that are computed at once: what a function makes on the way stays in the cache


def in_double(function: Function) -> Function:
    """Lets an elementwise function on float64 arrays take and return any float dtype."""

    @functools.wraps(function)
    def wide(*args: Array) -> Array:
        arrays = np.broadcast_arrays(*args)
        dtype, shape = arrays[0].dtype, arrays[0].shape
        if arrays[0].size > PIECE:
            return fast.in_blocks(compute, arrays, shape, dtype, {}, PIECE)
        return np.asarray(compute(*arrays)).astype(dtype)[()]

    def compute(*arrays: Array) -> Array:
        return function(*[a.astype(np.float64) for a in arrays])

    return wide


def in_single(function: Function) -> Function:
    """Lets a function compute float16 and bfloat16 in float32, as TensorFlow does; the result has the dtype of the
    first input.
    """

    @functools.wraps(function)
    def wide(x: Array, *others: Array, **attrs: Object) -> Array:
        dtype = x.dtype
        if dtype.itemsize != 2 or dtype.kind in "iu":
            return function(x, *others, **attrs)
        return function(*[a.astype(np.float32) if a.dtype == dtype else a for a in (x, *others)], **attrs).astype(dtype)

    return wide


def lowest(dtype: NumPyType, sign: int = -1) -> Array:
    """The least number of a NumPy dtype, from which a search for the largest one begins; with sign 1 the other end."""
    if dtype.kind not in "iu":
        return dtype.type(sign * np.inf)
    return np.iinfo(dtype).min if sign < 0 else np.iinfo(dtype).max


def _from_libm(function: Callable[[float], float]) -> Function:
    """A function of the C library, applied to each element."""
    each = np.frompyfunc(function, 1, 1)
    return in_double(lambda x: np.asarray(each(x), np.float64))


def _polynomial(x: Array, *coefficients: float) -> Array:
    """Horner's scheme, highest power first."""
    total = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        total *= x
        total += c
    return total


# -- the error function ----------------------------------------------------------------------------

_erf = _from_libm(math.erf)
erfc = _from_libm(math.erfc)


@fast.by_blocks
def erf(x: Array) -> Array:
    """The error function; long arrays in single precision by one rational function of x², to 2 units of the last
    place.
    """
    if np.size(x) <= LONG or x.dtype != np.float32:
        return _erf(x)
    x = np.clip(x, np.float32(-3.8), np.float32(3.8))
    t = x * x
    above = _polynomial(t, 0.00022905065861350646, 0.0034082910107109506, 0.050955695062380861, 0.18520832239976145,
                        1.128379143519084)  # fmt: skip
    below = _polynomial(t, -1.1791602954361697e-7, 0.000023547966471313185, 0.0010179625278914885, 0.014070470171167667,
                        0.11098505178285362, 0.49746925110067538, 1.0)  # fmt: skip
    return np.clip(x * above / below, np.float32(-1), np.float32(1))


def _giles(w: Array) -> Array:
    """erfinv(y) / y to single precision, given w = -log(1 - y²)."""
    near = _polynomial(w - 2.5, 2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                       -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
    far = _polynomial(np.sqrt(w) - 3, -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                      -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)  # fmt: skip
    return np.where(w < 5, near, far)


@in_double
def erfinv(y: Array) -> Array:
    """The inverse of erf: Giles's start, then two steps of Halley's method on erf, or on erfc near the ends."""
    a = np.abs(y)
    x = a * _giles(-np.log1p(-a * a))
    for _ in range(2):
        off = np.where(a < 0.5, _erf(x) - a, (1 - a) - erfc(x))
        step = off * 0.5 * math.sqrt(math.pi) * np.exp(x * x)
        x = x - step / (1 + x * step)
    return np.copysign(np.where(a == 1, np.inf, np.where(a > 1, np.nan, np.where(a == 0, 0.0, x))), y)


# -- the Gamma function and its kin ----------------------------------------------------------------


def _lgamma(x: float) -> float:
    try:
        return math.inf if x == -math.inf else math.lgamma(x)
    except (ValueError, OverflowError):  # the poles, and arguments whose result is too large
        return math.inf


lgamma = _from_libm(_lgamma)  # log |Γ(x)|


@in_double
def digamma(x: Array) -> Array:
    """The derivative of lgamma: reflection (DLMF 5.5.4), recurrence by 10 (5.5.2), asymptotic series (5.11.2)."""
    positive = x > 0
    z = np.where(positive, x, 1 - x)
    low = z < 10
    shift = np.where(low, sum(1 / (z + k) for k in range(10)), 0)
    z = np.where(low, z + 10, z)
    t = 1 / (z * z)
    series = t * _polynomial(t, 1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
    out = np.log(z) - 0.5 / z - series - shift
    fraction = x - np.round(x)
    return np.where(positive, out, np.where(fraction == 0, np.nan, out - np.pi / np.tan(np.pi * fraction)))


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


@in_double
def zeta(s: Array, q: Array) -> Array:
    """The Hurwitz zeta function for s > 1, q > 0: twelve terms, then Euler and Maclaurin's (DLMF 25.11.5)."""
    total = np.zeros_like(s)
    for k in range(12):
        total = total + (q + k) ** -s
    w = q + 12
    total = total + w ** (1 - s) / (s - 1) + 0.5 * w**-s
    factor = s * w ** (-s - 1)
    for k, b in enumerate(_BERNOULLI, 1):
        total = total + b * factor / math.factorial(2 * k)
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (w * w)
    poles = np.where(s % 2 == 0, np.inf, np.nan)
    outside = np.where(q == np.floor(q), poles, np.where(s == np.floor(s), total, np.nan))
    return np.where(s == 1, np.inf, np.where(s < 1, np.nan, np.where(q > 0, total, outside)))


@in_double
def polygamma(n: Array, x: Array) -> Array:
    """The n-th derivative of digamma, (-1)^(n+1) n! ζ(n+1, x) (DLMF 25.11.12)."""
    factorial = np.exp(lgamma(n + 1))
    sign = np.where(n % 2 == 0, -1.0, 1.0)
    out = np.where(n == 0, digamma(x), sign * factorial * zeta(n + 1, x))
    return np.where((n < 0) | (n != np.floor(n)), np.nan, out)
