"""Special functions that are computed from their integrals: Bessel functions, Ei, Fresnel's integrals, the dilogarithm.

As in :mod:`minitape.engine.primitives.numerics`: float64 inside, any float dtype outside. They are accurate to about 1e-11. An
integral over a smooth periodic or fast falling function is a sum of its values at equal steps; others are sums over
Gauss and Legendre's points. Numbers of formulas are those of the NIST Digital Library (DLMF).
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from .numerics import in_double

if TYPE_CHECKING:
    from ..typed import Array

_FAR = 25.0  # from here on Bessel functions of the first and second kind follow their asymptotic series


@functools.cache
def _gauss(count: int) -> tuple[Array, Array]:
    """Points and weights on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return (points + 1) / 2, weights / 2


def _hankel(x: Array, order: int) -> tuple[Array, Array, Array]:
    """Amplitude, P and Q of the asymptotic series (10.17.3, 10.17.4), which ends where its terms are smallest."""
    p, q, term = np.ones_like(x), np.zeros_like(x), np.ones_like(x)
    for k in range(1, 25):
        term = term * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * x)
        if k % 2:
            q = q + (term if k % 4 == 1 else -term)
        else:
            p = p + (term if k % 4 == 0 else -term)
    return np.sqrt(2 / (np.pi * x)), p, q


def _first_kind(x: Array, order: int) -> Array:
    a = np.abs(x)
    near, far = np.minimum(a, _FAR), np.maximum(a, _FAR)
    angles = np.arange(128) * (np.pi / 64)
    integral = np.mean(np.cos(order * angles - near[..., None] * np.sin(angles)), axis=-1)  # 10.9.2
    height, p, q = _hankel(far, order)
    phase = far - order * np.pi / 2 - np.pi / 4
    series = height * (p * np.cos(phase) - q * np.sin(phase))
    found = np.where(a < _FAR, integral, np.where(np.isinf(a), 0.0, series))
    return np.where(x == 0, 0.0, np.sign(x) * found) if order else found


def _second_kind(x: Array, order: int) -> Array:
    near, far = np.clip(x, 1e-300, _FAR), np.maximum(x, _FAR)
    points, weights = _gauss(160)
    angles = np.pi * points
    turning = np.sin(near[..., None] * np.sin(angles) - order * angles) @ weights  # 10.9.7
    reach = np.arcsinh(750 / near)[..., None]
    points, weights = _gauss(400)
    t = reach * points
    kernel = 2 * (np.sinh(t) if order else 1.0)
    falling = (kernel * np.exp(-near[..., None] * np.sinh(t)) * reach) @ weights / np.pi
    height, p, q = _hankel(far, order)
    phase = far - order * np.pi / 2 - np.pi / 4
    series = height * (p * np.sin(phase) + q * np.cos(phase))
    found = np.where(x < _FAR, turning - falling, np.where(np.isinf(x), 0.0, series))
    return np.where(x <= 0, np.nan if order else -np.inf, np.where(np.isnan(x), np.nan, found))


def _modified(x: Array, order: int) -> Array:
    """exp(x) times the modified function of the second kind (10.32.9), by equal steps."""
    a = np.clip(x, 1e-300, 1e300)
    reach = np.arccosh(1 + 750 / a)[..., None]
    steps = np.arange(401) / 400
    t = reach * steps
    values = np.exp(-a[..., None] * (np.cosh(t) - 1)) * np.cosh(order * t)
    values[..., 0] /= 2
    found = values.sum(-1) * reach[..., 0] / 400
    return np.where(x <= 0, np.inf, np.where(np.isnan(x), np.nan, np.where(np.isinf(x), 0.0, found)))


@in_double
def bessel_j0(x: Array) -> Array:
    """The Bessel function of the first kind of order 0."""
    return _first_kind(x, 0)


@in_double
def bessel_j1(x: Array) -> Array:
    """The Bessel function of the first kind of order 1."""
    return _first_kind(x, 1)


@in_double
def bessel_y0(x: Array) -> Array:
    """The Bessel function of the second kind of order 0."""
    return _second_kind(x, 0)


@in_double
def bessel_y1(x: Array) -> Array:
    """The Bessel function of the second kind of order 1; as TensorFlow's, -inf below 0 and NaN at 0."""
    return np.where(x < 0, -np.inf, _second_kind(x, 1))


@in_double
def bessel_k0e(x: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind of order 0."""
    return _modified(x, 0)


@in_double
def bessel_k1e(x: Array) -> Array:
    """exp(x) times the modified Bessel function of the second kind of order 1."""
    return _modified(x, 1)


@in_double
def bessel_k0(x: Array) -> Array:
    """The modified Bessel function of the second kind of order 0."""
    return _modified(x, 0) * np.exp(-np.maximum(x, 0.0))


@in_double
def bessel_k1(x: Array) -> Array:
    """The modified Bessel function of the second kind of order 1."""
    return _modified(x, 1) * np.exp(-np.maximum(x, 0.0))


@in_double
def expint(x: Array) -> Array:
    """The exponential integral Ei: its series (6.6.2) below 40, the asymptotic one (6.12.2) above."""
    near, far = np.clip(x, 1e-300, 40.0), np.maximum(x, 40.0)
    total, term = np.euler_gamma + np.log(near), np.ones_like(near)
    for k in range(1, 140):
        term = term * near / k
        total = total + term / k
    tail = term = np.ones_like(far)
    for k in range(1, 40):
        term = term * k / far
        tail = tail + term
    found = np.where(x < 40, total, np.exp(far) / far * tail)
    return np.where(x < 0, np.nan, np.where(x == 0, -np.inf, np.where(np.isinf(x), np.inf, found)))


def _fresnel(x: Array, sine: bool) -> Array:
    """The integral of cos(pi t² / 2) or its sine from 0 to x (7.2.7, 7.2.8); above 6 by 7.5.3, 7.5.4 and 7.12.2, 7.12.3."""
    a = np.abs(x)
    near, far = np.minimum(a, 6.0), np.maximum(a, 6.0)
    points, weights = _gauss(96)
    angles = np.pi / 2 * (near[..., None] * points) ** 2
    integral = (np.sin(angles) if sine else np.cos(angles)) @ weights * near
    t = 1 / (np.pi * far * far)
    f = (1 - 3 * t**2 + 105 * t**4 - 10395 * t**6) / (np.pi * far)
    g = (1 - 15 * t**2 + 945 * t**4 - 135135 * t**6) * t / (np.pi * far)
    angle = np.pi / 2 * np.fmod(far * far, 4.0)
    cos, sin = np.cos(angle), np.sin(angle)
    series = 0.5 - f * cos - g * sin if sine else 0.5 + f * sin - g * cos
    return np.where(a < 6, integral, np.where(np.isinf(a), 0.5, series)) * np.sign(x)


@in_double
def fresnel_cos(x: Array) -> Array:
    """Fresnel's cosine integral."""
    return _fresnel(x, False)


@in_double
def fresnel_sin(x: Array) -> Array:
    """Fresnel's sine integral."""
    return _fresnel(x, True)


def _dilogarithm(z: Array) -> Array:
    """Li2 of numbers up to 1/2 by size (25.12.1)."""
    total = power = z
    for k in range(2, 60):
        power = power * z
        total = total + power / k**2
    return total


@in_double
def spence(x: Array) -> Array:
    """Spence's function Li2(1 - x), with the identities (25.12.3, 25.12.4, 25.12.6) that lead to small arguments."""
    z = 1 - x
    small = np.clip(z, -1.0, 0.5)
    turned = small / (small - 1)  # Landen
    near = np.where(small < -0.5, -_dilogarithm(turned) - 0.5 * np.log1p(-small) ** 2, _dilogarithm(np.maximum(small, -0.5)))
    upper = np.clip(z, 0.5, 1.0)
    high = math.pi**2 / 6 - _dilogarithm(1 - upper) - np.where(upper == 1, 0.0, np.log(upper) * np.log1p(-upper))
    below = np.minimum(z, -1.0)
    inverse = 1 / below
    turned = inverse / (inverse - 1)
    part = np.where(inverse < -0.5, -_dilogarithm(turned) - 0.5 * np.log1p(-inverse) ** 2,
                    _dilogarithm(np.maximum(inverse, -0.5)))  # fmt: skip
    low = -(math.pi**2) / 6 - 0.5 * np.log(-below) ** 2 - part
    return np.where(x < 0, np.nan, np.where(z > 0.5, high, np.where(z < -1, low, near)))
