"""``tf.linalg`` on square matrices: determinants, inverses, linear equations, factors, diagonals.

Matrices are the last two axes; the axes before them are a batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...engine.table.primitives import TABLE, decompositions, diagonals  # noqa: F401 - they fill the table
from ...engine.tensor.tensor import Tensor
from ...ops.casts import conj
from ...ops.operands import call, of_one_dtype, postpone, tensor_of
from ...ops.reductions import reduce_sum


class LogMatrixDeterminant(NamedTuple):
    """What ``slogdet`` returns."""

    sign: Any
    log_abs_determinant: Any


@postpone
def det(input: Any, name: str | None = None) -> Tensor:
    """The determinants of square matrices. Differentiable where they are invertible.

    Raises InvalidArgumentError for matrices that are not square, and for the gradient of a singular one.

    >>> import minitape as tf
    >>> print(tf.linalg.det([[2.0, 0.0], [0.0, 3.0]]).numpy())
    6.0
    """
    return call("det", tensor_of(input))


@postpone
def slogdet(input: Any, name: str | None = None) -> Any:
    """Sign and logarithm of the absolute value of determinants, a pair ``sign, log_abs_determinant``.

    The logarithm is differentiable. Raises InvalidArgumentError for matrices that are not square.

    >>> import minitape as tf
    >>> sign, log = tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]])
    >>> print(sign.numpy(), log.numpy())
    -1.0 0.0
    """
    return LogMatrixDeterminant(*call("slogdet", tensor_of(input)))


@postpone
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of positive definite matrices, by cholesky; NaN for others. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]]).numpy())
    0.0
    """
    factor = call("cholesky", tensor_of(matrix))
    diagonal = diag_part(factor)
    diagonal = call("real", diagonal) if diagonal.dtype.kind == "c" else diagonal
    return 2.0 * reduce_sum(call("log", diagonal), axis=[-1])


@postpone
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices (or their adjoints). Differentiable.

    Raises InvalidArgumentError for matrices that are not square or not invertible.

    >>> import minitape as tf
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return call("inv", tensor_of(input), adjoint=bool(adjoint))


@postpone
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The x with ``matrix @ x = rhs`` (with the adjoint of the matrix on demand). Differentiable in both.

    ``rhs`` is a matrix whose columns are solved for. Raises InvalidArgumentError when the matrix is not square or not
    invertible, or the shapes do not fit.

    >>> import minitape as tf
    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist())
    [[1.0], [0.5]]
    """
    return call("solve", *of_one_dtype(matrix, rhs), adjoint=bool(adjoint))


@postpone
def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The x with ``matrix @ x = rhs`` for a triangular matrix; the other triangle is not read. Differentiable in both.

    Raises InvalidArgumentError when the shapes do not fit. A zero on the diagonal gives infinities.

    >>> import minitape as tf
    >>> print(tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 3.0]], [[2.0], [4.0]]).numpy().tolist())
    [[1.0], [1.0]]
    """
    return call("triangular_solve", *of_one_dtype(matrix, rhs), lower=bool(lower), adjoint=bool(adjoint))


@postpone
def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangular L with ``L @ adjoint(L) = input`` of positive definite matrices; NaN for others.

    Reads the lower triangle. Differentiable. Raises InvalidArgumentError for matrices that are not square.

    >>> import minitape as tf
    >>> print(tf.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]]).numpy().tolist())
    [[2.0, 0.0], [1.0, 1.0]]
    """
    return call("cholesky", tensor_of(input))


@postpone
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """The x with ``A @ x = rhs``, given the cholesky factor of A. Differentiable in both.

    >>> import minitape as tf
    >>> print(tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy().tolist())
    [[1.0], [3.0]]
    """
    factor, b = of_one_dtype(chol, rhs)
    y = call("triangular_solve", factor, b, lower=True, adjoint=False)
    return call("triangular_solve", factor, y, lower=True, adjoint=True)


# -- diagonals and triangles -----------------------------------------------------------------------


@postpone
def diag(diagonal: Any, name: str = "diag", k: int = 0) -> Tensor:
    """Matrices with the given diagonals and 0 elsewhere. Differentiable.

    The last axis of ``diagonal`` becomes the k-th diagonal.

    >>> import minitape as tf
    >>> print(tf.linalg.diag([1, 2]).numpy().tolist(), tf.linalg.diag([5], k=1).numpy().tolist())
    [[1, 0], [0, 2]] [[0, 5], [0, 0]]
    """
    return call("diag", tensor_of(diagonal), k=int(tensor_of(k)), rows=-1, columns=-1)


@postpone
def diag_part(input: Any, name: str = "diag_part", k: int = 0) -> Tensor:
    """The k-th diagonals of matrices. Differentiable.

    Raises InvalidArgumentError for a diagonal that is not there.

    >>> import minitape as tf
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy(), tf.linalg.diag_part([[1, 2], [3, 4]], k=1).numpy())
    [1 4] [2]
    """
    return call("diag_part", tensor_of(input), k=int(tensor_of(k)))


@postpone
def set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: int = 0) -> Tensor:
    """Matrices with their k-th diagonals replaced. Differentiable in both.

    Raises InvalidArgumentError when the diagonal has another length.

    >>> import minitape as tf
    >>> print(tf.linalg.set_diag([[1, 2], [3, 4]], [9, 9]).numpy().tolist())
    [[9, 2], [3, 9]]
    """
    return call("set_diag", *of_one_dtype(input, diagonal), k=int(tensor_of(k)))


@postpone
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Matrices with all elements set to 0 that are outside a band around the main diagonal; -1 keeps a whole triangle.

    Differentiable. Raises InvalidArgumentError for a band wider than the matrix.

    >>> import minitape as tf
    >>> print(tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy().tolist())
    [[1, 0], [3, 4]]
    """
    lower, upper = (int(tensor_of(n).array) for n in (num_lower, num_upper))
    return call("band_part", tensor_of(input), lower=lower, upper=upper)


@postpone
def trace(x: Any, name: str | None = None) -> Tensor:
    """The sums of the main diagonals of matrices. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    return reduce_sum(diag_part(x), [-1])


@postpone
def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice the rank that is zero but for ``out[i, j, i, j] = diagonal[i, j]``. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.tensor_diag([1, 2]).numpy().tolist())
    [[1, 0], [0, 2]]
    """
    x = tensor_of(diagonal)
    shape = tuple(x.shape)
    return call("reshape", diag(call("reshape", x, shape=(-1,))), shape=shape + shape)


@postpone
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The last two axes swapped, conjugated on demand. Differentiable. Raises ValueError for fewer than two axes.

    >>> import minitape as tf
    >>> print(tf.linalg.matrix_transpose([[1, 2], [3, 4]]).numpy().tolist())
    [[1, 3], [2, 4]]
    """
    x = tensor_of(a)
    if x.ndim < 2:
        raise ValueError(
            f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {x} with shape: {x.shape}"
        )
    turned = call("transpose", x, perm=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
    return conj(turned) if conjugate and x.dtype.is_complex else turned


@postpone
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The last two axes swapped and conjugated. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.adjoint([[1 + 1j]]).numpy())
    [[1.-1.j]]
    """
    return matrix_transpose(matrix, conjugate=True)
