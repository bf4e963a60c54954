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
from ..engine.table.primitives.linear import multiply_matrices, transpose_and_conjugate
from ..engine.tensor.checked_operators import is_multipliable_matrix_pair
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import Tensor
from ..engine.types import Decorated
from ..engine.values.argument_errors import build_argument_error
from .arguments import (
    apply_primitive,
    check_dtype_kind,
    convert_to_one_dtype,
    convert_with_dtype_hint,
    normalize_axis,
    to_integer,
    to_integers,
    to_tensor,
)
from .elementwise import abs as absolute
from .elementwise import conj, maximum, pow
from .reductions import reduce_max, reduce_sum

if TYPE_CHECKING:
    from ..engine.types import GraphName, Sizes, Value


def _skip_checks_if_matrices_fit(checked_matmul: Decorated) -> Decorated:
    """Decorate the product: for two matrices that fit it skips all checks."""
    primitive = TABLE["matmul"]

    @functools.wraps(checked_matmul)
    def multiply_if_fit(a: Value, b: Value, *flags: bool, **options: bool) -> Tensor:
        if not flags and not options and is_multipliable_matrix_pair(a, b):
            return apply(primitive, (a, b), {}, _getframe(1))
        return checked_matmul(a, b, *flags, **options)

    return multiply_if_fit  # type: ignore[return-value]


@_skip_checks_if_matrices_fit
def matmul(
    a: Value,
    b: Value,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    *,
    name: GraphName = None,
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
    a, b = convert_with_dtype_hint(a, b)
    swaps_a, swaps_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    check_dtype_kind("matmul", a, "fciu")
    x, y = a._dims, b._dims
    if a.dtype is not b.dtype:
        raise build_argument_error(f"tf.matmul takes two tensors of one dtype, got {a.dtype.name} and {b.dtype.name}")
    if min(len(x), len(y)) < 2:
        raise build_argument_error(
            f"tf.matmul takes tensors with two axes or more, got the shapes {a.shape} and {b.shape}"
        )
    if (x[-2] if swaps_a else x[-1]) != (y[-1] if swaps_b else y[-2]):
        raise build_argument_error(
            f"The columns of the first matrix must be as many as the rows of the second: {a.shape}, {b.shape}"
        )
    for m, n in zip(reversed(x[:-2]), reversed(y[:-2]), strict=False):
        if m != n and 1 not in (m, n):
            raise build_argument_error(
                f"The batches of tf.matmul must broadcast, got the shapes {a.shape} and {b.shape}"
            )
    result: Tensor = multiply_matrices(conj(a) if adjoint_a else a, conj(b) if adjoint_b else b, swaps_a, swaps_b)
    return result


def matvec(a: Value, b: Value, transpose_a: bool = False, adjoint_a: bool = False, *, name: GraphName = None) -> Tensor:
    """The product of a matrix and a vector, or of batches of them. Arguments, gradient and errors as for ``matmul``.

    >>> import minitape as tf
    >>> print(tf.linalg.matvec([[1, 2], [3, 4]], [1, 10]).numpy())
    [21 43]
    """
    b = to_tensor(b)
    column = matmul(a, apply_primitive("reshape", b, shape=(*b.shape, 1)), transpose_a=transpose_a, adjoint_a=adjoint_a)
    return apply_primitive("reshape", column, shape=column._dims[:-1])


def tensordot(a: Value, b: Value, axes: Value, name: GraphName = None) -> Tensor:
    """The sum of the products of a and b over pairs of axes.

    ``axes`` is a number n (the last n axes of a with the first n of b; 0 for the outer product) or a pair of lists.
    Differentiable. Raises ValueError for lists of unlike lengths, InvalidArgumentError for sizes that do not fit.

    >>> import minitape as tf
    >>> print(tf.tensordot([1.0, 2.0], [3.0, 4.0], axes=1).numpy())
    11.0
    """
    a, b = to_tensor(a), to_tensor(b)
    if np.ndim(axes) == 0:
        count = to_integer(axes, "axes")
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise ValueError(f"axes must be from 0 to the number of axes, got {count} for {a.shape} and {b.shape}")
        axes_a, axes_b = tuple(range(a.ndim - count, a.ndim)), tuple(range(count))
    else:
        if len(axes) != 2:
            raise ValueError(f"axes must be a number or a pair of lists, got {axes!r}")
        axes_a, axes_b = (
            tuple(normalize_axis(n, t.ndim, "axes") for n in to_integers(axis_list, "axes"))
            for axis_list, t in zip(axes, (a, b), strict=True)
        )
        if len(axes_a) != len(axes_b):
            raise ValueError(f"axes must name as many axes of a as of b, got {axes_a} and {axes_b}")
    left_matrix, left_sizes = _flatten_contracted_axes(a, axes_a, True)
    right_matrix, right_sizes = _flatten_contracted_axes(b, axes_b, False)
    return apply_primitive("reshape", matmul(left_matrix, right_matrix), shape=(*left_sizes, *right_sizes))


def _flatten_contracted_axes(x: Tensor, axes: Sizes, at_end: bool) -> tuple[Tensor, Sizes]:
    """Return x as a matrix, the contracted axes moved to one end and flattened; and the sizes of its free axes."""
    free_axes = tuple(i for i in range(x.ndim) if i not in axes)
    free_count, contracted_count = (math.prod(x.shape[i] for i in axis_group) for axis_group in (free_axes, axes))
    order = (*free_axes, *axes) if at_end else (*axes, *free_axes)
    transposed = x if order == tuple(range(x.ndim)) else apply_primitive("transpose", x, perm=order)
    matrix = apply_primitive(
        "reshape", transposed, shape=(free_count, contracted_count) if at_end else (contracted_count, free_count)
    )
    return matrix, tuple(x.shape[i] for i in free_axes)


# -- norms -----------------------------------------------------------------------------------------


def norm(
    tensor: Value,
    ord: str | float = "euclidean",
    axis: Value = None,
    keepdims: bool | None = None,
    name: GraphName = None,
) -> Tensor:
    """The norm of vectors or matrices.

    ``axis=None`` takes all elements as one vector, an int the vectors along that axis, a pair of ints the matrices on
    those axes. ``ord`` is "euclidean", 1, 2, a positive number or infinity for vectors, and "euclidean", "fro", 1 or
    infinity for matrices. Differentiable (the gradient at 0 is NaN). Floats only; ValueError for another ``ord``.

    >>> import minitape as tf
    >>> print(tf.norm([3.0, 4.0]).numpy(), tf.norm([3.0, 4.0], ord=1).numpy())
    5.0 7.0
    """
    x, keeps_dims = check_dtype_kind("norm", to_tensor(tensor), "fc"), bool(keepdims)
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if isinstance(axis, (list, tuple)) and not (is_matrix and axis[0] != axis[1]):
        raise ValueError(f"axis must be None, an integer, or a pair of different integers, got {axis!r}")
    if is_matrix:
        if ord not in ("euclidean", "fro", 1, np.inf):
            raise ValueError(f"ord of matrices must be 'euclidean', 'fro', 1 or infinity, got {ord!r}")
    elif ord != "euclidean" and (isinstance(ord, str) or not ord > 0):
        raise ValueError(f"ord of vectors must be 'euclidean' or a positive number, got {ord!r}")
    if ord in ("fro", "euclidean") or ord == 2:
        return apply_primitive("sqrt", reduce_sum(x * conj(x), axis, keeps_dims))
    magnitudes = absolute(x)
    if is_matrix:
        rows, columns = (normalize_axis(a, x.ndim) for a in axis)
        return reduce_max(reduce_sum(magnitudes, rows if ord == 1 else columns, True), [rows, columns], keeps_dims)
    if ord == np.inf:
        return reduce_max(magnitudes, axis, keeps_dims)
    return (
        reduce_sum(magnitudes, axis, keeps_dims)
        if ord == 1
        else pow(reduce_sum(pow(magnitudes, ord), axis, keeps_dims), 1.0 / float(ord))
    )


def l2_normalize(x: Value, axis: Value = None, epsilon: float = 1e-12, name: GraphName = None) -> Tensor:
    """x divided by its euclidean norm along ``axis`` (at least sqrt(epsilon)). Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    x = check_dtype_kind("math.l2_normalize", to_tensor(x), "f")
    total = reduce_sum(apply_primitive("square", x), axis, True)
    return x * apply_primitive("rsqrt", maximum(total, epsilon))


# -- square matrices -------------------------------------------------------------------------------


def det(input: Value, name: GraphName = None) -> Tensor:
    """The determinants of square matrices. Differentiable where they are invertible.

    Raises InvalidArgumentError for matrices that are not square, and for the gradient of a singular one.

    >>> import minitape as tf
    >>> print(tf.linalg.det([[2.0, 0.0], [0.0, 3.0]]).numpy())
    6.0
    """
    return apply_primitive("det", check_dtype_kind("linalg.det", to_tensor(input), "fc"))


def inv(input: Value, adjoint: bool = False, name: GraphName = None) -> Tensor:
    """The inverses of square matrices (or their adjoints). Differentiable.

    Raises InvalidArgumentError for matrices that are not square or not invertible.

    >>> import minitape as tf
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    x = check_dtype_kind("linalg.inv", to_tensor(input), "fc")
    return apply_primitive("inv", transpose_and_conjugate(x) if adjoint else x)


def solve(matrix: Value, rhs: Value, adjoint: bool = False, name: GraphName = None) -> Tensor:
    """The x with ``matrix @ x = rhs`` (with the adjoint of the matrix on demand). Differentiable in both.

    ``rhs`` is a matrix whose columns are solved for. Raises InvalidArgumentError when the matrix is not square or not
    invertible, or the shapes do not fit.

    >>> import minitape as tf
    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist())
    [[1.0], [0.5]]
    """
    matrix, rhs = convert_to_one_dtype(matrix, rhs)
    if rhs.ndim != matrix.ndim:
        raise build_argument_error(
            f"rhs must be a matrix of columns for a matrix of shape {matrix.shape}, got the shape {rhs.shape}"
        )
    matrix = check_dtype_kind("linalg.solve", matrix, "fc")
    return apply_primitive("solve", transpose_and_conjugate(matrix) if adjoint else matrix, rhs)


def diag(diagonal: Value, name: str = "diag") -> Tensor:
    """Square matrices with the given diagonals, along the last axis of ``diagonal``, and 0 elsewhere. Differentiable.

    Raises InvalidArgumentError for a single number.

    >>> import minitape as tf
    >>> print(tf.linalg.diag([1, 2]).numpy().tolist())
    [[1, 0], [0, 2]]
    """
    x = to_tensor(diagonal)
    if not x.ndim:
        raise build_argument_error("diagonal must be at least 1-dim, got a number", "MatrixDiagV3")
    return apply_primitive("diag", x, rows=x.shape[-1], columns=x.shape[-1])


def diag_part(input: Value, name: str = "diag_part") -> Tensor:
    """The main diagonals of matrices. Differentiable.

    Raises InvalidArgumentError for what is no matrix.

    >>> import minitape as tf
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    return apply_primitive("diag_part", to_tensor(input))


def trace(x: Value, name: GraphName = None) -> Tensor:
    """The sums of the main diagonals of matrices. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    return reduce_sum(diag_part(x), -1)
