"""Products of matrices and tensors, norms, and ``tf.linalg`` on square matrices: the last two axes, the others are a
batch.
"""

from __future__ import annotations

import functools
import math
from sys import _getframe
from typing import TYPE_CHECKING

import numpy as np

from ..engine.table.primitives import TABLE, decompositions, diagonals  # noqa: F401 - they fill the table
from ..engine.table.primitives.linear import adjoint_of, product
from ..engine.tensor.operation import apply
from ..engine.tensor.other_operators import fit_matrices
from ..engine.tensor.tensor import Tensor
from ..engine.types import Same
from ..engine.values.invalid import invalid
from .arguments import axis_in, call, check_kind, integer, integers, of_one_dtype, tensor_of, with_dtype_hint
from .elementwise import abs as absolute
from .elementwise import conj, maximum, pow
from .reductions import reduce_max, reduce_sum

if TYPE_CHECKING:
    from ..engine.types import Name, Sizes, Value


def _at_once(general: Same) -> Same:
    """The product, of two matrices that fit without more questions."""
    primitive = TABLE["matmul"]

    @functools.wraps(general)
    def matmul_if_fit(a: Value, b: Value, *flags: bool, **options: bool) -> Tensor:
        if not flags and not options and fit_matrices(a, b):
            return apply(primitive, (a, b), {}, _getframe(1))
        return general(a, b, *flags, **options)

    return matmul_if_fit  # type: ignore[return-value]


@_at_once
def matmul(
    a: Value,
    b: Value,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    *,
    name: Name = None,
) -> Tensor:
    """The product of two matrices, or of batches of them (whose other axes broadcast).

    ``transpose_*`` swaps the last two axes of an argument first, ``adjoint_*`` conjugates as well. Both must have one
    dtype and at least two axes. Differentiable. Raises InvalidArgumentError for shapes that do not fit, ValueError for
    ``transpose_a`` together with ``adjoint_a``.

    >>> import minitape as tf
    >>> print(tf.matmul([[1, 2]], [[3], [4]]).numpy())
    [[11]]
    """
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("Only one of transpose and adjoint can be asked for of each argument of tf.matmul")
    a, b = with_dtype_hint(a, b)
    turn_a, turn_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    check_kind("matmul", a, "fciu")
    x, y = a._dims, b._dims
    if a.dtype is not b.dtype:
        raise invalid(f"tf.matmul takes two tensors of one dtype, got {a.dtype.name} and {b.dtype.name}")
    if min(len(x), len(y)) < 2:
        raise invalid(f"tf.matmul takes tensors with two axes or more, got the shapes {a.shape} and {b.shape}")
    if (x[-2] if turn_a else x[-1]) != (y[-1] if turn_b else y[-2]):
        raise invalid(
            f"The columns of the first matrix must be as many as the rows of the second: {a.shape}, {b.shape}"
        )
    for m, n in zip(reversed(x[:-2]), reversed(y[:-2]), strict=False):
        if m != n and 1 not in (m, n):
            raise invalid(f"The batches of tf.matmul must broadcast, got the shapes {a.shape} and {b.shape}")
    made: Tensor = product(conj(a) if adjoint_a else a, conj(b) if adjoint_b else b, turn_a, turn_b)
    return made


def matvec(a: Value, b: Value, transpose_a: bool = False, adjoint_a: bool = False, *, name: Name = None) -> Tensor:
    """The product of a matrix and a vector, or of batches of them. Arguments, gradient and errors as for ``matmul``.

    >>> import minitape as tf
    >>> print(tf.linalg.matvec([[1, 2], [3, 4]], [1, 10]).numpy())
    [21 43]
    """
    b = tensor_of(b)
    out = matmul(a, call("reshape", b, shape=(*b.shape, 1)), transpose_a=transpose_a, adjoint_a=adjoint_a)
    return call("reshape", out, shape=out._dims[:-1])


def tensordot(a: Value, b: Value, axes: Value, name: Name = None) -> Tensor:
    """The sum of the products of a and b over pairs of axes.

    ``axes`` is a number n (the last n axes of a with the first n of b; 0 for the outer product) or a pair of lists.
    Differentiable. Raises ValueError for lists of unlike lengths, InvalidArgumentError for sizes that do not fit.

    >>> import minitape as tf
    >>> print(tf.tensordot([1.0, 2.0], [3.0, 4.0], axes=1).numpy())
    11.0
    """
    a, b = tensor_of(a), tensor_of(b)
    if np.ndim(axes) == 0:
        count = integer(axes, "axes")
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise ValueError(f"axes must be from 0 to the number of axes, got {count} for {a.shape} and {b.shape}")
        first, second = tuple(range(a.ndim - count, a.ndim)), tuple(range(count))
    else:
        if len(axes) != 2:
            raise ValueError(f"axes must be a number or a pair of lists, got {axes!r}")
        first, second = (
            tuple(axis_in(n, t.ndim, "axes") for n in integers(part, "axes"))
            for part, t in zip(axes, (a, b), strict=True)
        )
        if len(first) != len(second):
            raise ValueError(f"axes must name as many axes of a as of b, got {first} and {second}")
    left, rows = _as_matrix(a, first, True)
    right, columns = _as_matrix(b, second, False)
    return call("reshape", matmul(left, right), shape=(*rows, *columns))


def _as_matrix(x: Tensor, axes: Sizes, last: bool) -> tuple[Tensor, Sizes]:
    """x with the contracted axes moved to one end and flattened; and its free sizes."""
    free = tuple(i for i in range(x.ndim) if i not in axes)
    rows, columns = (math.prod(x.shape[i] for i in part) for part in (free, axes))
    order = (*free, *axes) if last else (*axes, *free)
    moved = x if order == tuple(range(x.ndim)) else call("transpose", x, perm=order)
    flat = call("reshape", moved, shape=(rows, columns) if last else (columns, rows))
    return flat, tuple(x.shape[i] for i in free)


# -- norms -----------------------------------------------------------------------------------------


def norm(
    tensor: Value,
    ord: str | float = "euclidean",
    axis: Value = None,
    keepdims: bool | None = None,
    name: Name = None,
) -> Tensor:
    """The norm of vectors or matrices.

    ``axis=None`` takes all elements as one vector, an int the vectors along that axis, a pair of ints the matrices on
    those axes. ``ord`` is "euclidean", 1, 2, a positive number or infinity for vectors, and "euclidean", "fro", 1 or
    infinity for matrices. Differentiable (the gradient at 0 is NaN). Floats only; ValueError for another ``ord``.

    >>> import minitape as tf
    >>> print(tf.norm([3.0, 4.0]).numpy(), tf.norm([3.0, 4.0], ord=1).numpy())
    5.0 7.0
    """
    x, keep = check_kind("norm", tensor_of(tensor), "fc"), bool(keepdims)
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if isinstance(axis, (list, tuple)) and not (is_matrix and axis[0] != axis[1]):
        raise ValueError(f"axis must be None, an integer, or a pair of different integers, got {axis!r}")
    if is_matrix:
        if ord not in ("euclidean", "fro", 1, np.inf):
            raise ValueError(f"ord of matrices must be 'euclidean', 'fro', 1 or infinity, got {ord!r}")
    elif ord != "euclidean" and (isinstance(ord, str) or not ord > 0):
        raise ValueError(f"ord of vectors must be 'euclidean' or a positive number, got {ord!r}")
    if ord in ("fro", "euclidean") or ord == 2:
        return call("sqrt", reduce_sum(x * conj(x), axis, keep))
    size = absolute(x)
    if is_matrix:
        rows, columns = (axis_in(a, x.ndim) for a in axis)
        return reduce_max(reduce_sum(size, rows if ord == 1 else columns, True), [rows, columns], keep)
    if ord == np.inf:
        return reduce_max(size, axis, keep)
    return reduce_sum(size, axis, keep) if ord == 1 else pow(reduce_sum(pow(size, ord), axis, keep), 1.0 / float(ord))


def l2_normalize(x: Value, axis: Value = None, epsilon: float = 1e-12, name: Name = None) -> Tensor:
    """x divided by its euclidean norm along ``axis`` (at least sqrt(epsilon)). Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    x = check_kind("math.l2_normalize", tensor_of(x), "f")
    total = reduce_sum(call("square", x), axis, True)
    return x * call("rsqrt", maximum(total, epsilon))


# -- square matrices -------------------------------------------------------------------------------


def det(input: Value, name: Name = None) -> Tensor:
    """The determinants of square matrices. Differentiable where they are invertible.

    Raises InvalidArgumentError for matrices that are not square, and for the gradient of a singular one.

    >>> import minitape as tf
    >>> print(tf.linalg.det([[2.0, 0.0], [0.0, 3.0]]).numpy())
    6.0
    """
    return call("det", check_kind("linalg.det", tensor_of(input), "fc"))


def inv(input: Value, adjoint: bool = False, name: Name = None) -> Tensor:
    """The inverses of square matrices (or their adjoints). Differentiable.

    Raises InvalidArgumentError for matrices that are not square or not invertible.

    >>> import minitape as tf
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    x = check_kind("linalg.inv", tensor_of(input), "fc")
    return call("inv", adjoint_of(x) if adjoint else x)


def solve(matrix: Value, rhs: Value, adjoint: bool = False, name: Name = None) -> Tensor:
    """The x with ``matrix @ x = rhs`` (with the adjoint of the matrix on demand). Differentiable in both.

    ``rhs`` is a matrix whose columns are solved for. Raises InvalidArgumentError when the matrix is not square or not
    invertible, or the shapes do not fit.

    >>> import minitape as tf
    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist())
    [[1.0], [0.5]]
    """
    matrix, rhs = of_one_dtype(matrix, rhs)
    if rhs.ndim != matrix.ndim:
        raise invalid(
            f"rhs must be a matrix of columns for a matrix of shape {matrix.shape}, got the shape {rhs.shape}"
        )
    matrix = check_kind("linalg.solve", matrix, "fc")
    return call("solve", adjoint_of(matrix) if adjoint else matrix, rhs)


def diag(diagonal: Value, name: str = "diag") -> Tensor:
    """Square matrices with the given diagonals, along the last axis of ``diagonal``, and 0 elsewhere. Differentiable.

    Raises InvalidArgumentError for a single number.

    >>> import minitape as tf
    >>> print(tf.linalg.diag([1, 2]).numpy().tolist())
    [[1, 0], [0, 2]]
    """
    x = tensor_of(diagonal)
    if not x.ndim:
        raise invalid("diagonal must be at least 1-dim, got a number", "MatrixDiagV3")
    return call("diag", x, rows=x.shape[-1], columns=x.shape[-1])


def diag_part(input: Value, name: str = "diag_part") -> Tensor:
    """The main diagonals of matrices. Differentiable.

    Raises InvalidArgumentError for what is no matrix.

    >>> import minitape as tf
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    return call("diag_part", tensor_of(input))


def trace(x: Value, name: Name = None) -> Tensor:
    """The sums of the main diagonals of matrices. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    return reduce_sum(diag_part(x), -1)
