"""Gaussian elimination for small matrices, in the order of operations that TensorFlow's library uses.

LAPACK adds up in another order; for matrices of a few rows, whose numbers people read, the last digit then differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .formula import ARRAY

if TYPE_CHECKING:
    from ...typed import Array

SMALL = 8  # rows


def _is_small(x: Array) -> bool:
    """True for real float matrices of a few rows."""
    return x.dtype.kind == "f" and 0 < x.shape[-1] <= SMALL


def _factors(x: Array) -> tuple[Array, Array, Array]:
    """L below and U on and above the diagonal, the order of the rows, and the sign of that order; pivots by columns."""
    n = x.shape[-1]
    lu = np.array(x).reshape(-1, n, n)
    every = np.arange(len(lu))
    order = np.tile(np.arange(n), (len(lu), 1))
    sign = np.ones(len(lu), x.dtype)
    for k in range(n):
        best = k + np.argmax(np.abs(lu[:, k:, k]), axis=1)
        for table in (lu, order):
            table[every, k], table[every, best] = table[every, best].copy(), table[every, k].copy()
        sign[best != k] *= -1
        pivot = np.where(lu[:, k, k] == 0, 1, lu[:, k, k])
        lu[:, k + 1 :, k] /= pivot[:, None]
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, k, None, k + 1 :]
    return lu, order, sign


def solve(a: Array, b: Array) -> Array:
    """The x with a @ x = b; LinAlgError for singular matrices."""
    if np.isnan(a[..., :1, :1]).any():  # a first pivot that is NaN is as zero in TensorFlow, later ones are not looked at
        raise np.linalg.LinAlgError("Singular matrix")
    if not _is_small(a) or a.shape[:-2] != b.shape[:-2]:
        return np.linalg.solve(a, b)
    n = a.shape[-1]
    lu, order, _ = _factors(a)
    if np.any(lu[:, range(n), range(n)] == 0):
        raise np.linalg.LinAlgError("Singular matrix")
    x = np.take_along_axis(b.reshape(len(lu), n, -1), order[:, :, None], 1)
    for i in range(n):
        for j in range(i):
            x[:, i] -= lu[:, i, j, None] * x[:, j]
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i, -1):
            x[:, i] -= lu[:, i, j, None] * x[:, j]
        x[:, i] *= (1 / lu[:, i, i])[:, None]
    return x.reshape(b.shape)


def log_determinant(x: Array) -> tuple[Array, Array]:
    """The sign and the logarithm of the absolute value of the determinant, both in the dtype of x."""
    if not _is_small(x):
        sign, size = np.linalg.slogdet(x)
        return np.asarray(sign, x.dtype), np.asarray(size, x.dtype)
    n = x.shape[-1]
    lu, _, sign = _factors(x)
    pivots = lu[:, range(n), range(n)]
    size = np.cumsum(ARRAY["log"](np.abs(pivots)), 1)[:, -1]  # added up in order
    return (sign * np.prod(np.sign(pivots), axis=1)).reshape(x.shape[:-2]), size.reshape(x.shape[:-2])


def determinant(x: Array) -> Array:
    """The determinant, by its logarithm."""
    sign, size = log_determinant(x)
    return np.asarray(sign * ARRAY["exp"](size.real), x.dtype)
