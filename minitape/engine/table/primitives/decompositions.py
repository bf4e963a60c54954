"""Primitives on square matrices and their factors: det, inv, solve, cholesky, svd. Batches in the first axes.

The rules follow M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); that of cholesky I. Murray, "Differentiation of the Cholesky decomposition" (2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.invalid import invalid
from . import TABLE, declare, diagonals, special  # noqa: F401 - the rules use the primitives of these modules
from .formula import ARRAY
from .linear import adjoint_of

if TYPE_CHECKING:
    from ...types import Array


def _check(x: Array, op: str, square: bool = True) -> Array:
    """Checks that x is a (batch of) matrices, square ones on demand."""
    if x.ndim < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.ndim}", op)
    if square and x.shape[-1] != x.shape[-2]:
        raise invalid("Input matrix must be square.", op)
    return x


def _product(x: Array, y: Array) -> Array:
    return TABLE["matmul"](x, y)


def _columns(x: Array) -> Array:
    """Numbers of a batch as 1 x 1 matrices, to scale matrices by them."""
    return TABLE["reshape"](x, shape=(*x.shape, 1, 1))


# -- determinants and inverses ---------------------------------------------------------------------


def _inv(x: Array, *, adjoint: bool = False) -> Array:
    try:
        out = solve(_check(x, "MatrixInverse"), np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape))
    except np.linalg.LinAlgError:
        raise invalid("Input is not invertible.", "MatrixInverse") from None
    return adjoint_of(out) if adjoint else out


def _inv_rule(g: Array, z: Array, x: Array, *, adjoint: bool = False) -> Array:
    share = -_product(adjoint_of(z), _product(g, adjoint_of(z)))
    return adjoint_of(share) if adjoint else share


def _scaled_inverse(factor: Array, x: Array) -> Array:
    """The adjoint inverses, each times a number: the share of a determinant."""
    return _columns(factor) * TABLE["inv"](x, adjoint=True)


declare("det", lambda x: determinant(_check(x, "MatrixDeterminant")),
        [lambda g, z, x: _scaled_inverse(g * z, x)], op="MatrixDeterminant", keep="xz")  # fmt: skip
declare("inv", _inv, [_inv_rule], op="MatrixInverse", label="x⁻¹", keep="z")


# -- linear equations ------------------------------------------------------------------------------


def _solve(a: Array, b: Array, *, adjoint: bool = False) -> Array:
    op = "MatrixSolve"
    if _check(a, op, False).ndim != b.ndim:
        raise invalid("All input tensors must have the same rank.", op)
    if a.shape[-1] != a.shape[-2]:
        raise invalid("First input (lhs) must be a square matrix.", op)
    if a.shape[-2] != b.shape[-2]:
        raise invalid("Input matrix and rhs are incompatible.", op)
    try:
        return solve(adjoint_of(a) if adjoint else a, b)
    except np.linalg.LinAlgError:
        raise invalid("Input matrix is not invertible.", op) from None


def _shares(z: Array, of_b: Array, adjoint: bool) -> tuple[Array, Array]:
    """The shares of matrix and right side, given the second one."""
    return -_product(z, adjoint_of(of_b)) if adjoint else -_product(of_b, adjoint_of(z)), of_b


declare("solve", _solve,
        lambda g, z, a, b, *, adjoint=False: _shares(z, TABLE["solve"](a, g, adjoint=not adjoint), adjoint),
        op="MatrixSolve", label="a⁻¹b", keep="xyz")  # fmt: skip


# -- factors ---------------------------------------------------------------------------------------


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
    # a first pivot that is NaN is as zero in TensorFlow, later ones are not looked at
    if np.isnan(a[..., :1, :1]).any():
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
