"""Primitives on square matrices that need not be symmetric: LU factors, eigenvalues, square root and logarithm.

The rule of eig follows C. Boeddeker et al., "On the computation of complex-valued gradients" (2017), eq. 4.77.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..invalid import invalid
from . import TABLE, declare, elimination
from .decompositions import check_matrix, conjugate_of, diagonal_matrix_of, diagonal_of, inverse_gaps, product
from .linear import adjoint_of, swapped

if TYPE_CHECKING:
    from ..typed import Array, Function, NumPyType
    from . import Example

_WIDE = {"f": np.float64, "c": np.complex128}
_CROOKED = 1e5  # the condition of eigenvectors from which on functions of matrices are iterated


def _lu(x: Array, *, dtype: NumPyType) -> Array:
    if x.ndim < 2:
        raise invalid(f"Input tensor must have rank >= 2, got {x.ndim}", "Lu")
    lu, order, _ = elimination.factors(check_matrix(x, "Lu"))
    n = x.shape[-1]
    if np.any(lu[:, range(n), range(n)] == 0):
        raise invalid("Input is not invertible.", "Lu")
    return lu.reshape(x.shape), order.reshape(x.shape[:-1]).astype(dtype)


declare("lu", _lu, None, op="Lu", missing="unregistered", keep="")


# -- eigenvalues of any matrix ----------------------------------------------------------------------------------------


def _ordered(x: Array, values: Array) -> Array:
    """Where the eigenvalues stand: those of complex matrices by size, those of real ones as they are found."""
    places = np.argsort(np.abs(values), axis=-1, kind="stable")
    return places if x.dtype.kind == "c" else np.broadcast_to(np.arange(values.shape[-1]), values.shape)


def _eig(x: Array) -> Array:
    values, vectors = np.linalg.eig(check_matrix(x, "Eig"))
    order = _ordered(x, values)
    kind = np.result_type(x.dtype, np.complex64)
    values = np.take_along_axis(values, order, -1)
    return values.astype(kind), np.take_along_axis(vectors, order[..., None, :], -1).astype(kind)


def _eigvals(x: Array) -> Array:
    values = np.linalg.eigvals(check_matrix(x, "Eig"))
    return np.take_along_axis(values, _ordered(x, values), -1).astype(np.result_type(x.dtype, np.complex64))


def _as_input(share: Array, x: Array) -> Array:
    return share if conjugate_of(x) is not x else TABLE["real"](share)


def _complex_diagonal(x: Array) -> Array:
    """A diagonal matrix of the real parts of the diagonal of x."""
    parts = TABLE["real"](diagonal_of(x))
    return diagonal_matrix_of(TABLE["complex"](parts, TABLE["zeros_like"](parts)))


def _eig_rule(g: Array, z: Array, x: Array) -> Array:
    (de, dv), (e, v) = g, z
    vh = adjoint_of(v)
    inner = product(vh, dv)
    turned = inner - product(product(vh, v), _complex_diagonal(inner))
    middle = diagonal_matrix_of(de) + TABLE["conj"](inverse_gaps(e)) * turned
    return _as_input(TABLE["solve"](vh, product(middle, vh)), x)


def _eigvals_rule(g: Array, z: Array, x: Array) -> Array:
    _, v = TABLE["eig"](x)
    vh = adjoint_of(v)
    return _as_input(TABLE["solve"](vh, product(diagonal_matrix_of(g), vh)), x)


declare("eig", _eig, [_eig_rule], op="Eig", keep="xz")
declare("eigvals", _eigvals, [_eigvals_rule], op="Eig", keep="x")


# -- functions of matrices --------------------------------------------------------------------------------------------


def _root(x: Array) -> Array:
    """The square root of a matrix without eigenvalues on the negative axis: E. Denman, A. Beavers (1976)."""
    y, z = x, np.eye(len(x), dtype=x.dtype)
    for _ in range(100):
        before, (y, z) = y, ((y + np.linalg.inv(z)) / 2, (z + np.linalg.inv(y)) / 2)
        if np.abs(y - before).max() <= 1e-15 * np.abs(y).max():
            break
    return y


def _logarithm(x: Array) -> Array:
    """The logarithm by roots until the matrix is near 1, then by the series of 2 artanh((x - 1) / (x + 1))."""
    one, roots = np.eye(len(x), dtype=x.dtype), 0
    while np.abs(x - one).sum(axis=0).max() > 0.25 and roots < 60:
        x, roots = _root(x), roots + 1
    power = ratio = np.linalg.solve(x + one, x - one)
    total = ratio
    for k in range(3, 21, 2):
        power = power @ ratio @ ratio
        total = total + power / k
    return total * 2.0 ** (roots + 1)


def _function(x: Array, of_numbers: Function, iterated: Function) -> Array:
    """A function of each matrix, by eigenvectors where they are far from parallel; complex128."""
    out = np.empty(x.shape, np.complex128)
    for i in np.ndindex(x.shape[:-2]):
        values, vectors = np.linalg.eig(x[i].astype(np.complex128))
        straight = len(values) == 0 or np.linalg.cond(vectors) < _CROOKED
        try:
            out[i] = (vectors * of_numbers(values)) @ np.linalg.inv(vectors) if straight else iterated(x[i] + 0j)
        except np.linalg.LinAlgError:  # it has none
            out[i] = np.nan
    return out


def _sqrtm(x: Array) -> Array:
    with np.errstate(all="ignore"):
        found = _function(check_matrix(x, "MatrixSquareRoot").astype(_WIDE[x.dtype.kind]), np.sqrt, _root)
        if x.dtype.kind == "f":  # a real root, or none
            size = np.abs(found).max(axis=(-1, -2), keepdims=True, initial=0.0)
            found = np.where(np.abs(found.imag).max(axis=(-1, -2), keepdims=True, initial=0.0) > 1e-7 * size, np.nan, found.real)
        return found.astype(x.dtype)


def _kronecker(a: Array, b: Array) -> Array:
    n, batch = a.shape[-1], tuple(a.shape[:-2])
    pairs = TABLE["reshape"](a, shape=(*batch, n, 1, n, 1)) * TABLE["reshape"](b, shape=(*batch, 1, n, 1, n))
    return TABLE["reshape"](pairs, shape=(*batch, n * n, n * n))


def _sqrtm_rule(g: Array, z: Array, x: Array) -> Array:
    """The solution s of Sylvester's equation zᵀ s + s zᵀ = g, row after row as one vector."""
    n = z.shape[-1]
    shape = tuple(z.shape)
    one = diagonal_matrix_of(TABLE["ones_like"](diagonal_of(z)))
    both = _kronecker(swapped(z), one) + _kronecker(one, z)
    column = TABLE["reshape"](g, shape=(*shape[:-2], n * n, 1))
    return TABLE["reshape"](TABLE["solve"](both, column), shape=shape)


def _logm(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return _function(check_matrix(x, "MatrixLogarithm"), np.log, _logarithm).astype(x.dtype)


def _near_one(rng: np.random.Generator) -> Example:
    return (np.eye(3) * 3 + rng.normal(size=(2, 3, 3)) / 2,), {}


declare("sqrtm", _sqrtm, [_sqrtm_rule], op="MatrixSquareRoot", label="√", keep="z", example=_near_one)
declare("logm", _logm, None, op="MatrixLogarithm", missing="unregistered", keep="")
