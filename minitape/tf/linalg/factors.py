"""``tf.linalg`` on square matrices that need not be symmetric, and on those that have a few diagonals only.

Matrices are the last two axes; the axes before them are a batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.errors import InvalidArgumentError
from ...engine.invalid import invalid
from ...engine.operands import call, generated, strict, tensor_of, together
from ...engine.primitives import matrixfunctions  # noqa: F401 - it fills the table
from ...engine.state import state
from ...engine.tensor import Tensor, wrap
from ...ops.arrays import broadcast_to
from ...ops.picking import boolean_mask, gather
from ...ops.sorting import argsort
from .decompositions import band_part, diag, diag_part, eigh, set_diag, triangular_solve
from .products import matmul, swapped


class Lu(NamedTuple):
    """What ``lu`` returns."""

    lu: Any
    p: Any


@generated("lu")
def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The factors of square matrices as a pair ``lu, p``: L below the diagonal, U on and above it, the order of the rows.

    L has ones on its diagonal; row i of L @ U is row ``p[i]`` of the matrix. No gradient (LookupError), as in TensorFlow.
    Raises InvalidArgumentError for matrices that are not square or not invertible.

    >>> import minitape as tf
    >>> lu, p = tf.linalg.lu([[1.0, 2.0], [2.0, 2.0]])
    >>> print(lu.numpy().tolist(), p.numpy())
    [[2.0, 2.0], [0.5, 1.0]] [1 0]
    """
    kind = dtypes.as_dtype(output_idx_type).as_numpy_dtype
    return Lu(*call("lu", tensor_of(input), dtype=np.dtype(kind)))


def _factors(lower_upper: Any, perm: Any) -> tuple[Any, Any]:
    """The arguments as tensors, after the checks that all functions of LU factors make."""
    factors, order = convert_to_tensor(lower_upper, dtype_hint=dtypes.float32), tensor_of(perm)
    if factors.shape.rank < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if factors.shape.rank != order.shape.rank + 1:
        raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
    if factors.shape[-1] != factors.shape[-2]:
        raise ValueError("`lower_upper` must be square.")
    return factors, order


def _lower(factors: Any) -> Any:
    return set_diag(band_part(factors, -1, 0), call("ones_like", diag_part(factors)))


def _rows(x: Any, order: Any) -> Any:
    """The rows of matrices in another order."""
    return swapped(gather(swapped(x), order, axis=-1, batch_dims=x.shape.rank - 2))


@strict
def lu_reconstruct(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The matrices whose factors ``tf.linalg.lu`` found. Differentiable in ``lower_upper``.

    Raises ValueError when the shapes are not those of factors, with ``validate_args`` or without.

    >>> import minitape as tf
    >>> print(tf.linalg.lu_reconstruct(*tf.linalg.lu([[1.0, 2.0], [3.0, 4.0]])).numpy().round(5).tolist())
    [[1.0, 2.0], [3.0, 4.0]]
    """
    factors, order = _factors(lower_upper, perm)
    return _rows(matmul(_lower(factors), band_part(factors, 0, -1)), argsort(order))


@strict
def lu_solve(lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The x with ``matrix @ x = rhs``, given the matrix as factors of ``tf.linalg.lu``. Differentiable in both.

    Raises ValueError when the shapes do not fit, with ``validate_args`` or without.

    >>> import minitape as tf
    >>> print(tf.linalg.lu_solve(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]]), [[2.0], [2.0]]).numpy().tolist())
    [[1.0], [0.5]]
    """
    factors, order = _factors(lower_upper, perm)
    b = convert_to_tensor(rhs, dtype_hint=factors.dtype)
    if b.shape.rank < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    if factors.shape[-1] != b.shape[-2]:
        raise ValueError("`lower_upper.shape[-1]` must equal `rhs.shape[-1]`.")
    batch = np.broadcast_shapes(tuple(b.shape[:-2]), tuple(order.shape[:-1]))
    if batch:
        b, order = broadcast_to(b, (*batch, *b.shape[-2:])), broadcast_to(order, (*batch, order.shape[-1]))
    return triangular_solve(factors, triangular_solve(_lower(factors), _rows(b, order)), lower=False)


@strict
def lu_matrix_inverse(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The inverses of the matrices whose factors are given. Differentiable in ``lower_upper``.

    Raises ValueError when the shapes are not those of factors, with ``validate_args`` or without.

    >>> import minitape as tf
    >>> print(tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]])).numpy().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    factors, order = _factors(lower_upper, perm)
    unit = np.broadcast_to(np.eye(factors.shape[-1]), tuple(factors.shape)).astype(factors.dtype.as_numpy_dtype)
    return lu_solve(factors, order, wrap(unit))


@strict
def eig(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues and eigenvectors (in columns, of length 1) of square matrices: a pair of complex tensors.

    Differentiable where the eigenvalues differ. The order of the eigenvalues and the phases of the vectors are not
    settled by the problem and may differ from TensorFlow's. Raises InvalidArgumentError for matrices that are not square.

    >>> import minitape as tf
    >>> values, vectors = tf.linalg.eig([[0.0, 1.0], [-1.0, 0.0]])
    >>> print(values.numpy(), vectors.dtype)
    [0.+1.j 0.-1.j] <dtype: 'complex64'>
    """
    return call("eig", tensor_of(tensor))


@strict
def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of square matrices, as complex numbers; see ``eig``. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.eigvals([[4.0, 1.0], [2.0, 3.0]]).numpy())
    [5.+0.j 2.+0.j]
    """
    return call("eigvals", tensor_of(tensor))


@generated("matrix_square_root")
def sqrtm(input: Any, name: str | None = None) -> Tensor:
    """The principal square roots of square matrices: ``root @ root = input``. Differentiable.

    NaN for real matrices that have no real one. Raises InvalidArgumentError for matrices that are not square.

    >>> import minitape as tf
    >>> print(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy().tolist())
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return call("sqrtm", tensor_of(input))


@generated("matrix_logarithm")
def logm(input: Any, name: str | None = None) -> Tensor:
    """The principal logarithms of complex square matrices: ``expm(logm(input)) = input``.

    No gradient (LookupError) and no real matrices (InvalidArgumentError), as in TensorFlow.

    >>> import minitape as tf
    >>> print(tf.linalg.logm(tf.constant([[1.0, 0.0], [0.0, 1.0]], tf.complex64)).numpy().real.tolist())
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return call("logm", tensor_of(input))


# -- matrices of a few diagonals --------------------------------------------------------------------------------------


def _tridiagonal(diagonals: Any, form: str) -> Any:
    """The matrices of three diagonals that are given in one of TensorFlow's three forms."""
    if form == "matrix":
        x = tensor_of(diagonals)
        return band_part(x, min(1, x.shape[-1] - 1), min(1, x.shape[-1] - 1))
    if form == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = together(*diagonals)
        n = main.shape[-1]
        above, below = _first(above, n - 1), _last(below, n - 1)
    elif form == "compact":
        x = tensor_of(diagonals)
        n = x.shape[-1]
        if x.shape.rank < 2 or x.shape[-2] != 3:
            raise ValueError(f"Expected 3 diagonals got {x.shape[-2] if x.shape.rank > 1 else 1}")
        above, main, below = _first(x[..., 0, :], n - 1), x[..., 1, :], _last(x[..., 2, :], n - 1)
    else:
        raise ValueError(f"Unrecognized diagonals_format: {form}")
    return diag(main) if n == 1 else set_diag(set_diag(diag(main), above, k=1), below, k=-1)


def _first(x: Any, n: int) -> Any:
    return x if x.shape[-1] == n else x[..., :n]


def _last(x: Any, n: int) -> Any:
    return x if x.shape[-1] == n else x[..., x.shape[-1] - n :]


@strict
def tridiagonal_solve(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", transpose_rhs: bool = False,
    conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True, perturb_singular: bool = False,
) -> Tensor:  # fmt: skip
    """The x with ``matrix @ x = rhs`` for matrices of three diagonals. Differentiable in both.

    The diagonals are "compact" (shape [..., 3, n]: above, main, below, the last number above and the first below unread),
    a "sequence" of the three, or those of a "matrix". ``rhs`` has shape [..., n] or [..., n, k]. minitape solves for the
    whole matrix, with pivots whatever ``partial_pivoting`` says; for a singular one it gives NaN. Raises ValueError for
    other diagonals, NotImplementedError for ``perturb_singular``.

    >>> import minitape as tf
    >>> print(tf.linalg.tridiagonal_solve(tf.constant([[1.0, 0.0], [2.0, 2.0], [0.0, 0.0]]), [3.0, 2.0]).numpy())
    [1. 1.]
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    if perturb_singular:
        raise NotImplementedError("minitape's tridiagonal_solve does not support `perturb_singular`.")
    if diagonals_format == "compact" and tensor_of(diagonals).shape[-1] == 0:
        return tensor_of(rhs)
    matrix = _tridiagonal(diagonals, diagonals_format)
    b = tensor_of(rhs, matrix.dtype)
    b = call("conj", b) if conjugate_rhs and b.dtype.kind == "c" else b
    if b.shape.rank == matrix.shape.rank - 1:
        column = b[..., None]
        return _solved(matrix, column)[..., 0]
    return _solved(matrix, swapped(b) if transpose_rhs else b)


def _solved(matrix: Any, rhs: Any) -> Any:
    """The solution; NaN for a singular matrix, as TensorFlow's kernel has it."""
    _check_rows(matrix, rhs)
    try:
        return call("solve", matrix, rhs, adjoint=False)
    except InvalidArgumentError:
        return rhs * rhs.dtype.as_numpy_dtype(np.nan)


def _check_rows(matrix: Any, rhs: Any) -> None:
    if matrix.shape[-1] != rhs.shape[-2]:
        raise ValueError(f"Expected number of left-hand sided and right-hand sides to be equal, got {matrix.shape[-1]} and "
                         f"{rhs.shape[-2]}")  # fmt: skip


@strict
def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Tensor:
    """The product of matrices of three diagonals, given as to ``tridiagonal_solve``, and ``rhs``. Differentiable in both.

    Raises ValueError for other diagonals.

    >>> import minitape as tf
    >>> print(tf.linalg.tridiagonal_matmul(tf.constant([[1.0, 0.0], [2.0, 2.0], [0.0, 0.0]]), [[1.0], [1.0]]).numpy())
    [[3.]
     [2.]]
    """
    matrix = _tridiagonal(diagonals, diagonals_format)
    return matmul(matrix, tensor_of(rhs, matrix.dtype))


@generated("banded_triangular_solve")
def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The x with ``matrix @ x = rhs`` for triangular matrices of a few diagonals. Differentiable in both.

    ``bands`` has shape [..., k, n]: the main diagonal and those below it (or those above it and the main diagonal, if
    not ``lower``), each at the place of its columns (of its rows). Raises InvalidArgumentError when the shapes do not fit.

    >>> import minitape as tf
    >>> print(tf.linalg.banded_triangular_solve([[2.0, 4.0], [0.0, 1.0]], [[2.0], [5.0]]).numpy().tolist())
    [[1.0], [1.0]]
    """
    x, b = together(bands, rhs)
    for i, part in enumerate((x, b)):
        if part.shape.rank < 2:
            raise invalid(f"In[{i}] ndims must be >= 2: {part.shape.rank}", "BandedTriangularSolve")
    count, n = x.shape[-2:]
    if state.graph is None and np.any(x.array[..., 0 if lower else -1, :] == 0):
        raise invalid("Input matrix is not invertible.", "BandedTriangularSolve")
    k = (1 - count, 0) if lower else (0, count - 1)
    matrix = diag(x if count > 1 else x[..., 0, :], k=k, num_rows=n, num_cols=n, align="LEFT_RIGHT")
    return triangular_solve(matrix, b, lower=lower, adjoint=adjoint)


@strict
def eigh_tridiagonal(
    alpha: Any, beta: Any, eigvals_only: bool = True, select: str = "a", select_range: Any = None, tol: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The eigenvalues of one symmetric matrix with the diagonal ``alpha`` and ``beta`` beside it, smallest first.

    ``select`` is "a" for all, "i" for those with numbers in ``select_range`` (both ends included), "v" for those in the
    half open interval (low, high]. With ``eigvals_only=False`` a pair with the eigenvectors in columns. All are computed
    exactly, so ``tol`` has no effect. Differentiable. Raises ValueError for another ``select``, InvalidArgumentError for an empty range.

    >>> import minitape as tf
    >>> print(tf.linalg.eigh_tridiagonal([0.0, 0.0, 0.0], [1.0, 1.0], select="i", select_range=[2, 2]).numpy())
    [1.4142135]
    """
    main = tensor_of(alpha)
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    matrix = diag(main) if main.shape[0] == 1 else set_diag(diag(main), tensor_of(beta, main.dtype), k=-1)
    values, vectors = eigh(matrix)
    if values.dtype.kind == "c":
        values = call("real", values)
    if select != "a":
        values, vectors = _selected(values, vectors, select, select_range)
    return values if eigvals_only else (values, vectors)


def _selected(values: Any, vectors: Any, select: str, limits: Any) -> tuple[Any, Any]:
    low, high = limits[0], limits[1]
    kind = "index range" if select == "i" else "interval"
    if low > high or (select == "v" and low == high):
        text = f"Got empty {kind} in select_range.\nCondition x {'<=' if select == 'i' else '<'} y did not hold."
        raise invalid(f"{text}\nFirst 1 elements of x:\n[{low}]\nFirst 1 elements of y:\n[{high}]")
    if select == "i":
        return values[low : high + 1], vectors[:, low : high + 1]
    inside = (values > low) & (values <= high)
    return boolean_mask(values, inside), boolean_mask(vectors, inside, axis=1)
