"""Special functions in NumPy: float64 inside, one function each, with the source of its formula.

The functions take arrays of any real dtype and return the same dtype. They are accurate to a few units in the last
place of a float64 unless the docstring says otherwise. Error functions follow W. J. Cody, "Rational Chebyshev
approximations for the error function", Math. Comp. 23 (1969); the other sources are named where they are used, mostly
the NIST Digital Library of Mathematical Functions (DLMF, https://dlmf.nist.gov).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast

if TYPE_CHECKING:
    from ..typed import Array, Function

LONG = 4096  # elements of arrays in single precision from which on a shorter formula serves
PIECE = 8192  # elements of large arrays that are computed at once: what a function makes on the way stays in the cache


def in_double(function: Function) -> Function:
    """Lets an elementwise function on float64 arrays take and return any float dtype."""

    @functools.wraps(function)
    def wide(*args: Array) -> Array:
        arrays = np.broadcast_arrays(*args)
        dtype, shape = np.asarray(args[0]).dtype, arrays[0].shape
        with np.errstate(all="ignore"):
            if arrays[0].size > PIECE:
                return fast.in_blocks(widened, arrays, shape, dtype, {}, PIECE)
            return np.asarray(widened(*arrays)).astype(dtype)[()]

    def widened(*arrays: Array) -> Array:
        return function(*[a.astype(np.float64) for a in arrays])

    return wide


def _polynomial(x: Array, *coefficients: float) -> Array:
    """Horner's scheme, highest power first."""
    total = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        total *= x
        total += c
    return total


def _erf_small(x: Array) -> Array:
    """erf for |x| <= 0.46875."""
    t = x * x
    above = _polynomial(t, 1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2,
                        3.20937758913846947e3)  # fmt: skip
    below = _polynomial(t, 1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
                        2.84423683343917062e3)  # fmt: skip
    return x * above / below


def _exp_minus_square(x: Array) -> Array:
    """exp(-x²) without the rounding error of x²."""
    coarse = np.trunc(x * 16) / 16
    return np.exp(-coarse * coarse) * np.exp(-(x - coarse) * (x + coarse))


def _erfc_middle(x: Array) -> Array:
    """erfc for 0.46875 <= x <= 4."""
    above = _polynomial(x, 2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
                        2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
                        1.23033935479799725e3)  # fmt: skip
    below = _polynomial(x, 1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
                        1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
                        1.23033935480374942e3)  # fmt: skip
    return _exp_minus_square(x) * above / below


def _erfc_large(x: Array) -> Array:
    """erfc for x > 4."""
    t = 1 / (x * x)
    above = _polynomial(t, 1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
                        1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4)  # fmt: skip
    below = _polynomial(t, 1.0, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1,
                        6.05183413124413191e-2, 2.33520497626869185e-3)  # fmt: skip
    tail = (1 / math.sqrt(math.pi) - t * above / below) / x
    return np.where(x > 27, 0.0, _exp_minus_square(np.minimum(x, 27.0)) * tail)


def _by_size(a: Array, small: Array, middle: Array, large: Array) -> Array:
    """A function made of three pieces for a <= 0.46875, a <= 4 and above; each is computed only where it holds."""
    out = np.full(a.shape, np.nan)
    pieces = (a <= 0.46875, (a > 0.46875) & (a <= 4), a > 4)
    for where, piece in zip(pieces, (small, middle, large), strict=True):
        if where.any():
            out[where] = piece(a[where])
    return out


@in_double
def _erf_double(x: Array) -> Array:
    a = np.abs(x)
    return np.copysign(_by_size(a, _erf_small, lambda v: 1 - _erfc_middle(v), lambda v: 1 - _erfc_large(v)), x)


@fast.by_blocks
def erf(x: Array) -> Array:
    """The error function: Cody (1969), or a single rational function of x² where that does for float32."""
    if np.size(x) > LONG and np.asarray(x).dtype == np.float32:
        return _erf_single(x)
    return _erf_double(x)


def _erf_single(x: Array) -> Array:
    """erf on float32 arrays, to about 2 units of the last place."""
    x = np.clip(x, np.float32(-3.8), np.float32(3.8))
    t = x * x
    above = _polynomial(t, 0.00022905065861350646, 0.0034082910107109506, 0.050955695062380861, 0.18520832239976145,
                        1.128379143519084)  # fmt: skip
    below = _polynomial(t, -1.1791602954361697e-7, 0.000023547966471313185, 0.0010179625278914885, 0.014070470171167667,
                        0.11098505178285362, 0.49746925110067538, 1.0)  # fmt: skip
    return np.clip(x * above / below, np.float32(-1), np.float32(1))


@in_double
def erfc(x: Array) -> Array:
    """The complementary error function, 1 - erf(x), accurate where erf is near 1 (Cody 1969)."""
    a = np.abs(x)
    far = _by_size(a, lambda v: 1 - _erf_small(v), _erfc_middle, _erfc_large)
    return np.where(x < 0, 2 - far, far)


def _giles(w: Array) -> Array:
    """erfinv(y) / y to single precision, given w = -log(1 - y²)."""
    near = _polynomial(w - 2.5, 2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                       -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
    far = _polynomial(np.sqrt(w) - 3, -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                      -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)  # fmt: skip
    return np.where(w < 5, near, far)


def erfinv(y: Array) -> Array:
    """The inverse of erf: Giles's start, then Halley's method, but for long arrays in single precision."""
    return _erfinv_single(y) if np.size(y) > LONG and y.dtype == np.float32 else _erfinv_double(y)


def _ends_of_erfinv(a: Array, x: Array, y: Array) -> Array:
    """What is x inside: infinite at the ends, NaN beyond them, 0 at 0."""
    return np.copysign(np.where(a == 1, np.inf, np.where(a > 1, np.nan, np.where(a == 0, 0.0, x))), y)


@in_double
def _erfinv_single(y: Array) -> Array:
    """The same to about 3 units of the last place of a float32."""
    a = np.abs(y)
    return _ends_of_erfinv(a, a * _giles(-np.log1p(-a * a)), y)


@in_double
def _erfinv_double(y: Array) -> Array:
    """Two steps of Halley's method on erf (or erfc near the ends)."""
    a = np.abs(y)
    x = a * _giles(-np.log1p(-a * a))
    for _ in range(2):
        off = np.where(a < 0.5, erf(x) - a, (1 - a) - erfc(x))
        step = off * 0.5 * math.sqrt(math.pi) * np.exp(x * x)
        x = x - step / (1 + x * step)
    return _ends_of_erfinv(a, x, y)


def _libm_lgamma(x: float) -> float:
    if x == -math.inf:
        return math.inf
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # the poles, and arguments whose result is too large
        return math.inf


_lgamma = np.frompyfunc(_libm_lgamma, 1, 1)


def lgamma(x: Array) -> Array:
    """log |Γ(x)|: from the C library, or for arrays in single precision from Stirling's series."""
    return _lgamma_single(x) if np.size(x) > 64 and x.dtype.itemsize < 8 else _lgamma_double(x)


@in_double
def _lgamma_double(x: Array) -> Array:
    return np.asarray(_lgamma(x)).astype(np.float64)


@in_double
def _lgamma_single(x: Array) -> Array:
    """Reflection (DLMF 5.5.3), recurrence to at least 10, asymptotic series (5.11.1); near its zeros 1 and 2 a power series.

    It recurs from values of about 15, and is as good as these are in a float64: to 1e-14.
    """
    positive = x > 0
    z = np.where(positive, x, 1 - x)
    low = z < 10
    w = np.where(low, z + 10, z)
    out = (w - 0.5) * np.log(w) - w + 0.5 * math.log(2 * math.pi)
    out += _polynomial(1 / (w * w), 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12) / w
    pairs = np.where(low, z * (z + 9), 1)  # of (z + k)(z + 9 - k)
    out -= np.where(low, np.log(math.prod(pairs + k * (9 - k) for k in range(5))), 0)
    for zero in (1, 2):
        near = np.abs(z - zero) < 1e-3
        if near.any():
            d = z[near] - zero
            out[near] = d * _polynomial(d, *_NEAR_ONE) + (np.log1p(d) if zero == 2 else 0)
    out[z == np.inf] = np.inf
    if not positive.all():
        rest = ~positive & (x != -np.inf)
        out[rest] = np.log(np.abs(np.pi / np.sin(np.pi * (x - np.round(x))[rest]))) - out[rest]
    return out


_NEAR_ONE = (-0.2073855510286740, 0.2705808084277845, -0.4006856343865314, 0.8224670334241132, -0.5772156649015329)  # 5.7.3


@in_double
def digamma(x: Array) -> Array:
    """The derivative of lgamma: reflection (DLMF 5.5.4), recurrence by 10 (5.5.2), asymptotic series (5.11.2)."""
    positive = x > 0
    z = np.where(positive, x, 1 - x)
    pairs = z * (z + 9)  # 1/(z + k) + 1/(z + 9 - k) = (2z + 9) / (z(z + 9) + k(9 - k))
    low = z < 10
    shift = np.where(low, (2 * z + 9) * sum(1 / (pairs + k * (9 - k)) for k in range(5)), 0)
    z = np.where(low, z + 10, z)
    t = 1 / (z * z)
    series = t * _polynomial(t, 1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
    out = np.log(z) - 0.5 / z - series - shift
    if positive.all():
        return out
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
    whole = q == np.floor(q)
    poles = np.where(s % 2 == 0, np.inf, np.nan)
    outside = np.where(whole, poles, np.where(s == np.floor(s), total, np.nan))
    return np.where(s == 1, np.inf, np.where(s < 1, np.nan, np.where(q > 0, total, outside)))


@in_double
def polygamma(n: Array, x: Array) -> Array:
    """The n-th derivative of digamma, (-1)^(n+1) n! ζ(n+1, x) (DLMF 25.11.12)."""
    factorial = np.exp(np.asarray(_lgamma(n + 1)).astype(np.float64))
    sign = np.where(n % 2 == 0, -1.0, 1.0)
    out = np.where(n == 0, digamma(x), sign * factorial * zeta(n + 1, x))
    return np.where((n < 0) | (n != np.floor(n)), np.nan, out)
