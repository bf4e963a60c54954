"""``tf.linalg`` on square matrices: determinants, inverses, linear equations, factors, diagonals.

Matrices are the last two axes; the axes before them are a batch.
"""

from __future__ import annotations

from typing import Any

from ...engine.table.primitives import TABLE, decompositions, diagonals  # noqa: F401 - they fill the table
from ...engine.tensor.tensor import Tensor
from ...ops.operands import call, of_one_dtype, tensor_of
from ...ops.reductions import reduce_sum


def det(input: Any, name: str | None = None) -> Tensor:
    """The determinants of square matrices. Differentiable where they are invertible.

    Raises InvalidArgumentError for matrices that are not square, and for the gradient of a singular one.

    >>> import minitape as tf
    >>> print(tf.linalg.det([[2.0, 0.0], [0.0, 3.0]]).numpy())
    6.0
    """
    return call("det", tensor_of(input))


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices (or their adjoints). Differentiable.

    Raises InvalidArgumentError for matrices that are not square or not invertible.

    >>> import minitape as tf
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return call("inv", tensor_of(input), adjoint=bool(adjoint))


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The x with ``matrix @ x = rhs`` (with the adjoint of the matrix on demand). Differentiable in both.

    ``rhs`` is a matrix whose columns are solved for. Raises InvalidArgumentError when the matrix is not square or not
    invertible, or the shapes do not fit.

    >>> import minitape as tf
    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist())
    [[1.0], [0.5]]
    """
    return call("solve", *of_one_dtype(matrix, rhs), adjoint=bool(adjoint))


# -- diagonals and triangles -----------------------------------------------------------------------


def diag(diagonal: Any, name: str = "diag", k: int = 0) -> Tensor:
    """Matrices with the given diagonals and 0 elsewhere. Differentiable.

    The last axis of ``diagonal`` becomes the k-th diagonal.

    >>> import minitape as tf
    >>> print(tf.linalg.diag([1, 2]).numpy().tolist(), tf.linalg.diag([5], k=1).numpy().tolist())
    [[1, 0], [0, 2]] [[0, 5], [0, 0]]
    """
    return call("diag", tensor_of(diagonal), k=int(tensor_of(k)), rows=-1, columns=-1)


def diag_part(input: Any, name: str = "diag_part", k: int = 0) -> Tensor:
    """The k-th diagonals of matrices. Differentiable.

    Raises InvalidArgumentError for a diagonal that is not there.

    >>> import minitape as tf
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy(), tf.linalg.diag_part([[1, 2], [3, 4]], k=1).numpy())
    [1 4] [2]
    """
    return call("diag_part", tensor_of(input), k=int(tensor_of(k)))


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sums of the main diagonals of matrices. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    return reduce_sum(diag_part(x), [-1])


def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice the rank that is zero but for ``out[i, j, i, j] = diagonal[i, j]``. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.tensor_diag([1, 2]).numpy().tolist())
    [[1, 0], [0, 2]]
    """
    x = tensor_of(diagonal)
    shape = tuple(x.shape)
    return call("reshape", diag(call("reshape", x, shape=(-1,))), shape=shape + shape)
