"""Primitives on square matrices and their factors: det, inv, solve, cholesky, svd. Batches in the first axes.

The rules follow M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); that of cholesky I. Murray, "Differentiation of the Cholesky decomposition" (2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.invalid import invalid, shown
from . import TABLE, declare, diagonals, elimination, special  # noqa: F401 - the rules use the primitives of these modules
from .linear import adjoint_of
from .shaping import conjugate

if TYPE_CHECKING:
    from ...typed import Array


def _checked(x: Array, op: str, square: bool = True) -> Array:
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


def _diagonal_matrix(x: Array) -> Array:
    """Square matrices with these diagonals."""
    return TABLE["diag"](x, k=0, rows=x.shape[-1], columns=x.shape[-1])


# -- determinants and inverses ----------------------------------------------------------------------------------------


def _inv(x: Array, *, adjoint: bool = False) -> Array:
    try:
        out = elimination.solve(_checked(x, "MatrixInverse"), np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape))
    except np.linalg.LinAlgError:
        raise invalid("Input is not invertible.", "MatrixInverse") from None
    return adjoint_of(out) if adjoint else out


def _inv_rule(g: Array, z: Array, x: Array, *, adjoint: bool = False) -> Array:
    share = -_product(adjoint_of(z), _product(g, adjoint_of(z)))
    return adjoint_of(share) if adjoint else share


def _scaled_inverse(factor: Array, x: Array) -> Array:
    """The adjoint inverses, each times a number: the share of a determinant."""
    return _columns(factor) * TABLE["inv"](x, adjoint=True)


declare("det", lambda x: elimination.determinant(_checked(x, "MatrixDeterminant")),
        [lambda g, z, x: _scaled_inverse(g * conjugate(z), x)], op="MatrixDeterminant", keep="xz")  # fmt: skip
declare("slogdet", lambda x: elimination.log_determinant(_checked(x, "LogMatrixDeterminant")),
        [lambda g, z, x: _scaled_inverse(g[1], x)], op="LogMatrixDeterminant", keep="x")  # fmt: skip
declare("inv", _inv, [_inv_rule], op="MatrixInverse", label="x⁻¹", keep="z")


# -- linear equations -------------------------------------------------------------------------------------------------


def _solve(a: Array, b: Array, *, adjoint: bool = False) -> Array:
    op = "MatrixSolve"
    if _checked(a, op, False).ndim != b.ndim:
        raise invalid("All input tensors must have the same rank.", op)
    if a.shape[-1] != a.shape[-2]:
        raise invalid("First input (lhs) must be a square matrix.", op)
    if a.shape[-2] != b.shape[-2]:
        raise invalid("Input matrix and rhs are incompatible.", op)
    try:
        return elimination.solve(adjoint_of(a) if adjoint else a, b)
    except np.linalg.LinAlgError:
        raise invalid("Input matrix is not invertible.", op) from None


def _triangular(a: Array, b: Array, *, lower: bool = True, adjoint: bool = False) -> Array:
    op = "MatrixTriangularSolve"
    for i, x in enumerate((a, b)):
        if x.ndim < 2:
            raise invalid(f"In[{i}] ndims must be >= 2: {x.ndim}", op)
    n = a.shape[-1]
    if n != a.shape[-2]:
        raise invalid(f"In[0] matrices in the last dimensions must be square ({n} =/= {a.shape[-2]})", op)
    if n != b.shape[-2]:
        raise invalid(f"In[0] mismatch In[1] shape: {n} vs. {b.shape[-2]}: {shown(a.shape)} {shown(b.shape)} {lower:d} "
                      f"{adjoint:d}", op)  # fmt: skip
    if adjoint:
        a, lower = adjoint_of(a), not lower
    out = np.broadcast_to(b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:]).copy()
    for i in range(n) if lower else range(n - 1, -1, -1):  # substitution, one row of all systems at a time
        done = slice(0, i) if lower else slice(i + 1, n)
        out[..., i, :] -= np.einsum("...k,...kj->...j", a[..., i, done], out[..., done, :])
        out[..., i, :] /= a[..., i, i, None]
    return out


def _solve_rule(g: Array, z: Array, a: Array, b: Array, *, adjoint: bool = False) -> tuple[Array, Array]:
    return _shares(z, TABLE["solve"](a, g, adjoint=not adjoint), adjoint)


def _triangular_rule(g: Array, z: Array, a: Array, b: Array, *, lower: bool = True, adjoint: bool = False) -> tuple[Array, Array]:
    of_a, of_b = _shares(z, TABLE["triangular_solve"](a, g, lower=lower, adjoint=not adjoint), adjoint)
    return TABLE["band_part"](of_a, lower=-1 if lower else 0, upper=0 if lower else -1), of_b


def _shares(z: Array, of_b: Array, adjoint: bool) -> tuple[Array, Array]:
    """The shares of matrix and right side, given the second one."""
    return -_product(z, adjoint_of(of_b)) if adjoint else -_product(of_b, adjoint_of(z)), of_b


declare("solve", _solve, _solve_rule, op="MatrixSolve", label="a⁻¹b", keep="xyz")
declare("triangular_solve", _triangular, _triangular_rule, op="MatrixTriangularSolve", label="a⁻¹b", keep="xyz")


# -- factors ----------------------------------------------------------------------------------------------------------


def _cholesky(x: Array) -> Array:
    try:
        return np.linalg.cholesky(_checked(x, "Cholesky"))
    except np.linalg.LinAlgError:  # not positive definite
        return np.tril(np.full_like(x, np.nan))


def _cholesky_rule(g: Array, z: Array, x: Array) -> Array:
    middle = TABLE["band_part"](_product(adjoint_of(z), g), lower=-1, upper=0)
    middle = TABLE["set_diag"](middle, 0.5 * TABLE["diag_part"](middle, k=0), k=0)
    inverse = TABLE["inv"](z)
    share = _product(_product(adjoint_of(inverse), middle), inverse)
    return 0.5 * (share + adjoint_of(share))


def _inverse_gaps(x: Array) -> Array:
    """1 / (x_j - x_i), and 0 where the difference is 0."""
    *batch, n = x.shape
    gaps = TABLE["reshape"](x, shape=(*batch, 1, n)) - TABLE["reshape"](x, shape=(*batch, n, 1))
    return TABLE["div_no_nan"](TABLE["ones_like"](gaps), gaps)


def _svd(x: Array) -> tuple[Array, Array, Array]:
    u, s, vh = np.linalg.svd(_checked(x, "Svd", False), False)
    return s.astype(x.dtype), u, adjoint_of(vh)


def _svd_rule(g: Array, z: Array, x: Array) -> Array:
    (ds, du, dv), (s, u, v) = g, z
    gaps, size = _inverse_gaps(s * s), _diagonal_matrix(s)
    uu, vv = _product(adjoint_of(u), du), _product(adjoint_of(v), dv)
    inner = _product(gaps * (uu - adjoint_of(uu)), size) + _product(size, gaps * (vv - adjoint_of(vv))) + _diagonal_matrix(ds)
    over = _diagonal_matrix(TABLE["div_no_nan"](TABLE["ones_like"](s), s))
    outer_u = _product(du - _product(u, uu), over)
    outer_v = _product(over, adjoint_of(dv - _product(v, vv)))
    return _product(_product(u, inner) + outer_u, adjoint_of(v)) + _product(u, outer_v)


declare("cholesky", _cholesky, [_cholesky_rule], op="Cholesky", keep="z")
declare("svd", _svd, [_svd_rule], op="Svd", keep="z")
