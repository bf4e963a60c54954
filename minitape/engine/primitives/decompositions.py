"""Primitives on square matrices and their factors: det, inv, solve, cholesky, svd. Batches in the first axes.

The rules follow M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); that of cholesky I. Murray, "Differentiation of the Cholesky decomposition" (2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..invalid import invalid, shown
from . import TABLE, declare, diagonals, elimination, special
from .linear import adjoint_of, swapped

if TYPE_CHECKING:
    from ..typed import Array
    from . import Example

__all__ = ["adjoint_of", "diagonals", "special", "swapped"]  # the rules use the primitives of the two modules


def check_matrix(x: Array, op: str, square: bool = True) -> Array:
    """Checks that x is a (batch of) matrices, square ones on demand."""
    if x.ndim < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.ndim}", op)
    if square and x.shape[-1] != x.shape[-2]:
        raise invalid("Input matrix must be square.", op)
    return x


def product(x: Array, y: Array) -> Array:
    """The product of two matrices."""
    return TABLE["matmul"](x, y)


def _columns(x: Array) -> Array:
    """Numbers of a batch as 1 x 1 matrices, to scale matrices by them."""
    return TABLE["reshape"](x, shape=(*x.shape, 1, 1))


def diagonal_of(x: Array) -> Array:
    """The main diagonals of matrices."""
    return TABLE["diag_part"](x, k=0)


def diagonal_matrix_of(x: Array) -> Array:
    """Square matrices with these diagonals."""
    n = x.shape[-1]
    return TABLE["diag"](x, k=0, rows=n, columns=n)


def _lower(x: Array) -> Array:
    return TABLE["band_part"](x, lower=-1, upper=0)


def _swap(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


# -- determinants and inverses ----------------------------------------------------------------------------------------


def _inv(x: Array, *, adjoint: bool = False) -> Array:
    check_matrix(x, "MatrixInverse")
    try:
        out = elimination.inverse(x) if elimination.is_small(x) else np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise invalid("Input is not invertible.", "MatrixInverse") from None
    return np.conj(_swap(out)) if adjoint else out


def _inv_rule(g: Array, z: Array, x: Array, *, adjoint: bool = False) -> Array:
    share = -product(adjoint_of(z), product(g, adjoint_of(z)))
    return adjoint_of(share) if adjoint else share


def _det_rule(g: Array, z: Array, x: Array) -> Array:
    return _columns(g * conjugate_of(z)) * TABLE["inv"](x, adjoint=True)


def conjugate_of(x: Array) -> Array:
    """The complex conjugates; real numbers as they are."""
    return TABLE["conj"](x) if x.dtype in (np.complex64, np.complex128, "complex64", "complex128") else x


def _slogdet(x: Array) -> Array:
    sign, size = elimination.log_determinant(check_matrix(x, "LogMatrixDeterminant"))
    return sign, np.asarray(size, x.dtype)


def _square(rng: np.random.Generator) -> Example:
    return (rng.normal(size=(2, 3, 3)) + 3 * np.eye(3),), {}


declare(
    "det",
    lambda x: elimination.determinant(check_matrix(x, "MatrixDeterminant")),
    [_det_rule],
    op="MatrixDeterminant",
    keep="xz",
    example=_square,
)
declare(
    "slogdet",
    _slogdet,
    [lambda g, z, x: _columns(g[1]) * TABLE["inv"](x, adjoint=True)],
    op="LogMatrixDeterminant",
    keep="x",
    example=_square,
)
declare("inv", _inv, [_inv_rule], op="MatrixInverse", label="x⁻¹", keep="z", example=_square)


# -- linear equations -------------------------------------------------------------------------------------------------


def _check_equations(a: Array, b: Array, op: str) -> None:
    if a.ndim < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {a.ndim}", op)
    if a.ndim != b.ndim:
        raise invalid("All input tensors must have the same rank.", op)
    if a.shape[-1] != a.shape[-2]:
        raise invalid("First input (lhs) must be a square matrix.", op)
    if a.shape[-2] != b.shape[-2]:
        raise invalid("Input matrix and rhs are incompatible.", op)


def _solve(a: Array, b: Array, *, adjoint: bool = False) -> Array:
    _check_equations(a, b, "MatrixSolve")
    try:
        a = np.conj(_swap(a)) if adjoint else a
        same = a.shape[:-2] == b.shape[:-2]
        return elimination.solve(a, b) if same and elimination.is_small(a) else np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise invalid("Input matrix is not invertible.", "MatrixSolve") from None


def _solve_rule(g: Array, z: Array, a: Array, b: Array, *, adjoint: bool = False) -> Array:
    of_b = TABLE["solve"](a, g, adjoint=not adjoint)
    of_a = -product(z, adjoint_of(of_b)) if adjoint else -product(of_b, adjoint_of(z))
    return of_a, of_b


def _triangular(a: Array, b: Array, *, lower: bool = True, adjoint: bool = False) -> Array:
    op = "MatrixTriangularSolve"
    for i, x in enumerate((a, b)):
        if x.ndim < 2:
            raise invalid(f"In[{i}] ndims must be >= 2: {x.ndim}", op)
    if a.shape[-1] != a.shape[-2]:
        raise invalid(f"In[0] matrices in the last dimensions must be square ({a.shape[-1]} =/= {a.shape[-2]})", op)
    if a.shape[-1] != b.shape[-2]:
        shapes = [shown(s.shape) for s in (a, b)]
        raise invalid(f"In[0] mismatch In[1] shape: {a.shape[-1]} vs. {b.shape[-2]}: {shapes[0]} {shapes[1]} {lower:d} "
                      f"{adjoint:d}", op)  # fmt: skip
    a = np.tril(a) if lower else np.triu(a)
    if adjoint:
        a, lower = np.conj(_swap(a)), not lower
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = np.broadcast_to(b, batch + b.shape[-2:]).copy()
    n = a.shape[-1]
    for i in range(n) if lower else range(n - 1, -1, -1):  # substitution, one row of all systems at a time
        done = slice(0, i) if lower else slice(i + 1, n)
        out[..., i, :] -= np.einsum("...k,...kj->...j", a[..., i, done], out[..., done, :])
        out[..., i, :] /= a[..., i, i, None]
    return out


def _triangular_rule(g: Array, z: Array, a: Array, b: Array, *, lower: bool = True, adjoint: bool = False) -> Array:
    of_b = TABLE["triangular_solve"](a, g, lower=lower, adjoint=not adjoint)
    of_a = -product(z, adjoint_of(of_b)) if adjoint else -product(of_b, adjoint_of(z))
    return TABLE["band_part"](of_a, lower=-1 if lower else 0, upper=0 if lower else -1), of_b


def _equations(rng: np.random.Generator) -> Example:
    return (rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=(3, 2))), {"adjoint": True}


declare("solve", _solve, _solve_rule, op="MatrixSolve", label="a⁻¹b", keep="xyz", example=_equations)
declare("triangular_solve", _triangular, _triangular_rule, op="MatrixTriangularSolve", label="a⁻¹b", keep="xyz",
        example=_equations)  # fmt: skip


# -- factors ----------------------------------------------------------------------------------------------------------


def _cholesky(x: Array) -> Array:
    check_matrix(x, "Cholesky")
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:  # not positive definite
        return np.where(np.tri(x.shape[-1], dtype=bool), np.full_like(x, np.nan), 0).astype(x.dtype)


def _cholesky_rule(g: Array, z: Array, x: Array) -> Array:
    middle = _lower(product(adjoint_of(z), g))
    middle = TABLE["set_diag"](middle, 0.5 * diagonal_of(middle), k=0)
    inverse = TABLE["inv"](z)
    share = product(product(adjoint_of(inverse), middle), inverse)
    return 0.5 * (share + adjoint_of(share))


def inverse_gaps(x: Array) -> Array:
    """1 / (x_j - x_i), and 0 where the difference is 0."""
    n = x.shape[-1]
    row = TABLE["reshape"](x, shape=(*x.shape[:-1], 1, n))
    column = TABLE["reshape"](x, shape=(*x.shape[:-1], n, 1))
    gaps = row - column
    return TABLE["div_no_nan"](TABLE["ones_like"](gaps), gaps)


def _svd(x: Array) -> Array:
    u, s, vh = np.linalg.svd(check_matrix(x, "Svd", False), False)
    return s.astype(x.dtype), u, np.conj(_swap(vh))


def _svd_rule(g: Array, z: Array, x: Array) -> Array:
    (ds, du, dv), (s, u, v) = g, z
    gaps, size = inverse_gaps(s * s), diagonal_matrix_of(s)
    ut, vt = adjoint_of(u), adjoint_of(v)
    uu, vv = product(ut, du), product(vt, dv)
    inner = product(gaps * (uu - adjoint_of(uu)), size) + product(size, gaps * (vv - adjoint_of(vv))) + diagonal_matrix_of(ds)
    over = diagonal_matrix_of(TABLE["div_no_nan"](TABLE["ones_like"](s), s))
    outer_u = product(du - product(u, uu), over)
    outer_v = product(over, adjoint_of(dv - product(v, vv)))
    return product(product(u, inner) + outer_u, vt) + product(u, outer_v)


def _singular_values(x: Array) -> Array:
    return np.linalg.svd(check_matrix(x, "Svd", False), compute_uv=False).astype(x.dtype)


def _singular_values_rule(g: Array, z: Array, x: Array) -> Array:
    _, u, v = TABLE["svd"](x)
    return product(u, product(diagonal_matrix_of(g), adjoint_of(v)))


def _tall(rng: np.random.Generator) -> Example:
    return (rng.normal(size=(4, 3)),), {}


declare(
    "cholesky",
    _cholesky,
    [_cholesky_rule],
    op="Cholesky",
    keep="z",
    example=lambda rng: (
        ((lambda a: np.tril(a @ a.T + 3 * np.eye(3)) + np.tril(a @ a.T, -1).T)(rng.normal(size=(3, 3))),),
        {},
        {"symmetric": True},
    ),
)
declare("svd", _svd, [_svd_rule], op="Svd", keep="z", example=_tall)
declare("singular_values", _singular_values, [_singular_values_rule], op="Svd", keep="x", example=_tall)
