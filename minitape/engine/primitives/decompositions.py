"""Primitives on square matrices and their factors: det, inv, solve, cholesky, qr, svd, eigh. Batches in the first axes.

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
    return TABLE["diag_part"](x, k=(0, 0), align="RIGHT_LEFT", padding=0)


def diagonal_matrix_of(x: Array) -> Array:
    """Square matrices with these diagonals."""
    n = x.shape[-1]
    return TABLE["diag"](x, k=(0, 0), rows=n, columns=n, align="RIGHT_LEFT", padding=0)


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


def _least_squares(a: Array, b: Array, *, regularizer: float) -> Array:
    """The solution of least norm, by singular values."""
    out = np.empty((*a.shape[:-2], a.shape[-1], b.shape[-1]), a.dtype)
    for i in np.ndindex(a.shape[:-2]):
        out[i] = np.linalg.lstsq(a[i], b[i], rcond=None)[0]
    return out


declare("least_squares", _least_squares, None, op="MatrixSolveLs", missing="unregistered", keep="")


# -- factors ----------------------------------------------------------------------------------------------------------


def _cholesky(x: Array) -> Array:
    check_matrix(x, "Cholesky")
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:  # not positive definite
        return np.where(np.tri(x.shape[-1], dtype=bool), np.full_like(x, np.nan), 0).astype(x.dtype)


def _cholesky_rule(g: Array, z: Array, x: Array) -> Array:
    middle = _lower(product(adjoint_of(z), g))
    middle = TABLE["set_diag"](middle, 0.5 * diagonal_of(middle), k=(0, 0), align="RIGHT_LEFT")
    inverse = TABLE["inv"](z)
    share = product(product(adjoint_of(inverse), middle), inverse)
    return 0.5 * (share + adjoint_of(share))


def _qr(x: Array, *, full: bool = False) -> Array:
    q, r = np.linalg.qr(check_matrix(x, "Qr", False), "complete" if full else "reduced")
    return q, r


def _qr_rule(g: Array, z: Array, x: Array, *, full: bool = False) -> Array:
    (dq, dr), (q, r) = g, z
    rows, columns = x.shape[-2:]
    if rows > columns and full:
        raise NotImplementedError(
            "QrGrad not implemented when nrows > ncols and full_matrices is true. Received r.shape="
            f"{tuple(r.shape)} with nrows={rows}and ncols={columns}."
        )
    if rows >= columns:
        return _deep_qr_rule(q, r, dq, dr)
    # a = [x, y] and r = [u, v]: q and u are those of x, and v = q^H y
    of_u, of_v = _some_columns(dr, 0, rows), _some_columns(dr, rows, columns)
    of_q = dq + product(_some_columns(x, rows, columns), adjoint_of(of_v))
    return TABLE["concat"](_deep_qr_rule(q, _some_columns(r, 0, rows), of_q, of_u), product(q, of_v), axis=-1)


def _some_columns(x: Array, first: int, end: int) -> Array:
    return TABLE["slice"](x, spec=(*[slice(None)] * (len(x.shape) - 1), slice(first, end)))


def _deep_qr_rule(q: Array, r: Array, dq: Array, dr: Array) -> Array:
    """The adjoint of a matrix with at least as many rows as columns."""

    def over_r(y: Array) -> Array:  # y r^-H
        return adjoint_of(TABLE["triangular_solve"](r, adjoint_of(y), lower=False, adjoint=False))

    qdq, rdr = product(adjoint_of(q), dq), product(r, adjoint_of(dr))
    below = _lower((qdq - adjoint_of(qdq)) + (rdr - adjoint_of(rdr)))
    return product(q, dr + over_r(below)) + over_r(dq - product(q, qdq))


def inverse_gaps(x: Array) -> Array:
    """1 / (x_j - x_i), and 0 where the difference is 0."""
    n = x.shape[-1]
    row = TABLE["reshape"](x, shape=(*x.shape[:-1], 1, n))
    column = TABLE["reshape"](x, shape=(*x.shape[:-1], n, 1))
    gaps = row - column
    return TABLE["div_no_nan"](TABLE["ones_like"](gaps), gaps)


def _eigh(x: Array) -> Array:
    values, vectors = np.linalg.eigh(check_matrix(x, "SelfAdjointEigV2"))
    return values.astype(x.dtype), vectors


def _eigh_rule(g: Array, z: Array, x: Array) -> Array:
    (dw, dv), (w, v) = g, z
    inner = diagonal_matrix_of(dw) + inverse_gaps(w) * product(adjoint_of(v), dv)
    return _in_lower_triangle(product(v, product(inner, adjoint_of(v))))


def _in_lower_triangle(share: Array) -> Array:
    """Only the lower triangle of the matrix is read, so it alone gets an adjoint."""
    both = _lower(share + adjoint_of(share))
    return TABLE["set_diag"](both, 0.5 * diagonal_of(both), k=(0, 0), align="RIGHT_LEFT")


def _eigvalsh_rule(g: Array, z: Array, x: Array) -> Array:
    _, v = TABLE["eigh"](x)
    return _in_lower_triangle(product(v, product(diagonal_matrix_of(g), adjoint_of(v))))


def _svd(x: Array, *, full: bool = False) -> Array:
    u, s, vh = np.linalg.svd(check_matrix(x, "Svd", False), full)
    return s.astype(x.dtype), u, np.conj(_swap(vh))


def _svd_rule(g: Array, z: Array, x: Array, *, full: bool = False) -> Array:
    (ds, du, dv), (s, u, v) = g, z
    if full and x.shape[-1] != x.shape[-2]:
        raise NotImplementedError("The gradient of svd with full_matrices=True is not implemented for matrices that are "
                                  "not square; use full_matrices=False.")  # fmt: skip
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


def _positive(rng: np.random.Generator) -> Example:
    a = rng.normal(size=(3, 3))
    return (a @ a.T + np.eye(3),), {}


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
declare("qr", _qr, [_qr_rule], op="Qr", keep="z", example=_tall)
declare("eigh", _eigh, [_eigh_rule], op="SelfAdjointEigV2", keep="z", example=_positive)
declare("eigvalsh", lambda x: np.linalg.eigvalsh(check_matrix(x, "SelfAdjointEigV2")).astype(x.dtype), [_eigvalsh_rule],
        op="SelfAdjointEigV2", keep="x", example=_positive)  # fmt: skip
declare("svd", _svd, [_svd_rule], op="Svd", keep="z", example=_tall)
declare("singular_values", _singular_values, [_singular_values_rule], op="Svd", keep="x", example=_tall)


def _cross(x: Array, y: Array) -> Array:
    from ..errors import FailedPreconditionError

    if x.shape != y.shape:
        shapes = [shown(s.shape) for s in (x, y)]
        raise invalid(f"Both inputs must be of same shape: {shapes[0]} vs. {shapes[1]}", "Cross")
    if not x.ndim or x.shape[-1] != 3:
        raise FailedPreconditionError(
            None, None, "Cross-products are only defined for 3-element vectors. [Op:Cross] name: "
        )
    return np.cross(x, y)


declare("cross", _cross, [lambda g, z, x, y: TABLE["cross"](y, g), lambda g, z, x, y: TABLE["cross"](g, x)], op="Cross",
        label="×", keep="xy", example=lambda rng: ((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {}))  # fmt: skip
