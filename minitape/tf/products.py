"""Define products of matrices and tensors, norms, and the functions of ``tf.linalg``.

The last two axes of a tensor contain matrices, and all other axes are batch axes. The functions and their arguments
follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf/linalg).
"""

from __future__ import annotations

from math import prod
from sys import _getframe

import numpy as np

from ..engine.table.primitives import TABLE, decompositions, diagonals  # noqa: F401 - Importing them fills the table.
from ..engine.table.primitives.linear import multiply_matrices, transpose_and_conjugate
from ..engine.tensor.checked_operators import is_multipliable_matrix_pair
from ..engine.tensor.operation import run_and_record
from ..engine.tensor.tensor import Tensor
from ..engine.types import LIST_OR_TUPLE, GraphName, OptionalFlag, Sizes, Value
from ..engine.values.argument_errors import build_argument_error
from .arguments import (
    apply_primitive,
    convert_to_one_dtype,
    convert_with_dtype_hint,
    normalize_axis,
    to_integer,
    to_integers,
    to_tensor,
    to_tensor_of_dtype_kind,
)
from .elementwise import abs as absolute
from .elementwise import conj, maximum, pow
from .reductions import reduce_max, reduce_sum


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
    """Return the product of two matrices, or of two batches of matrices.

    This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/linalg/matmul.

    Args:
        a: A numeric tensor-like value with shape (..., m, k).
        b: A tensor-like value with shape (..., k, n) and the same dtype. The batch axes must broadcast.
        transpose_a: Whether to swap the last two axes of ``a`` first.
        transpose_b: Whether to swap the last two axes of ``b`` first.
        adjoint_a: Whether to conjugate ``a`` and swap its last two axes first.
        adjoint_b: Whether to conjugate ``b`` and swap its last two axes first.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with shape (..., m, n) and the same dtype.

    Raises:
        InvalidArgumentError: If the shapes do not match, the dtypes differ, or a tensor has fewer than two axes.
        ValueError: If both ``transpose`` and ``adjoint`` are set for the same argument.

    >>> import minitape as tf
    >>> print(tf.matmul([[1, 2]], [[3], [4]]).numpy())
    [[11]]
    """
    swaps_a = transpose_a or adjoint_a
    swaps_b = transpose_b or adjoint_b
    if not (swaps_a or swaps_b) and is_multipliable_matrix_pair(a, b):  # Such matrices need no checks.
        return run_and_record(TABLE["matmul"], (a, b), {}, _getframe(1))
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("Only one of transpose and adjoint can be True for each argument of tf.matmul")
    a, b = convert_with_dtype_hint(a, b)
    _check_matrices(a, b, swaps_a, swaps_b)
    result: Tensor = multiply_matrices(conj(a) if adjoint_a else a, conj(b) if adjoint_b else b, swaps_a, swaps_b)
    return result


def _check_matrices(a: Tensor, b: Tensor, swaps_a: bool, swaps_b: bool) -> None:
    """Raise InvalidArgumentError unless two batches of matrices can be multiplied.

    Args:
        a: The first batch.
        b: The second batch.
        swaps_a: Whether the last two axes of ``a`` are swapped before the multiplication.
        swaps_b: Whether the last two axes of ``b`` are swapped before the multiplication.
    """
    to_tensor_of_dtype_kind("matmul", a, "fciu")
    x = a.dims
    y = b.dims
    if a.dtype is not b.dtype:
        raise build_argument_error(
            f"tf.matmul takes two tensors of the same dtype, got {a.dtype.name} and {b.dtype.name}"
        )
    if min(len(x), len(y)) < 2:
        raise build_argument_error(
            f"tf.matmul takes tensors with at least two axes, got the shapes {a.shape} and {b.shape}"
        )
    if (x[-2] if swaps_a else x[-1]) != (y[-1] if swaps_b else y[-2]):
        raise build_argument_error(
            "The first matrix of tf.matmul must have as many columns as the second has rows, "
            f"got the shapes {a.shape} and {b.shape}"
        )
    for m, n in zip(reversed(x[:-2]), reversed(y[:-2]), strict=False):
        if m != n and 1 not in (m, n):
            raise build_argument_error(
                f"The batches of tf.matmul must broadcast, got the shapes {a.shape} and {b.shape}"
            )


def matvec(a: Value, b: Value, transpose_a: bool = False, adjoint_a: bool = False, *, name: GraphName = None) -> Tensor:
    """Return the product of a matrix and a vector, or of a batch of each.

    This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/linalg/matvec.

    Args:
        a: A numeric tensor-like value with shape (..., m, k).
        b: A tensor-like value with shape (..., k) and the same dtype.
        transpose_a: Whether to swap the last two axes of ``a`` first.
        adjoint_a: Whether to conjugate ``a`` and swap its last two axes first.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with shape (..., m) and the same dtype.

    Raises:
        InvalidArgumentError: If the shapes do not match, or the dtypes differ.
        ValueError: If both ``transpose_a`` and ``adjoint_a`` are set.

    >>> import minitape as tf
    >>> print(tf.linalg.matvec([[1, 2], [3, 4]], [1, 10]).numpy())
    [21 43]
    """
    b = to_tensor(b)
    column = matmul(a, apply_primitive("reshape", b, shape=(*b.shape, 1)), transpose_a=transpose_a, adjoint_a=adjoint_a)
    return apply_primitive("reshape", column, shape=column.dims[:-1])


def tensordot(a: Value, b: Value, axes: Value, name: GraphName = None) -> Tensor:
    """Multiply two tensors and sum over pairs of axes.

    This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/tensordot.

    Args:
        a: A numeric tensor-like value.
        b: A tensor-like value with the same dtype.
        axes: A number n or a pair of lists. A number pairs the last n axes of ``a`` with the first n axes of ``b``, so
            0 computes the outer product. The lists contain the paired axes of ``a`` and ``b``.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same dtype. Its shape consists of the unpaired axes of ``a``, followed by the unpaired axes of
        ``b``.

    Raises:
        ValueError: If the lists have different lengths, or the number exceeds the number of axes.
        InvalidArgumentError: If the sizes of paired axes differ, or an axis does not exist.

    >>> import minitape as tf
    >>> print(tf.tensordot([1.0, 2.0], [3.0, 4.0], axes=1).numpy())
    11.0
    """
    a = to_tensor(a)
    b = to_tensor(b)
    if np.ndim(axes) == 0:
        count = to_integer(axes, "axes")
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise ValueError(
                f"axes must be between 0 and the number of axes, got {count} for the shapes {a.shape} and {b.shape}"
            )
        axes_a = tuple(range(a.ndim - count, a.ndim))
        axes_b = tuple(range(count))
    else:
        if len(axes) != 2:
            raise ValueError(f"axes must be a number or a pair of lists, got {axes!r}")
        axes_a, axes_b = (
            tuple(normalize_axis(n, t.ndim, "axes") for n in to_integers(axis_list, "axes"))
            for axis_list, t in zip(axes, (a, b), strict=True)
        )
        if len(axes_a) != len(axes_b):
            raise ValueError(f"axes must name the same number of axes of a and of b, got {axes_a} and {axes_b}")
    left_matrix, left_sizes = _flatten_contracted_axes(a, axes_a, True)
    right_matrix, right_sizes = _flatten_contracted_axes(b, axes_b, False)
    return apply_primitive("reshape", matmul(left_matrix, right_matrix), shape=left_sizes + right_sizes)


def _flatten_contracted_axes(x: Tensor, axes: Sizes, at_end: bool) -> tuple[Tensor, Sizes]:
    """Move the contracted axes to one end and flatten the tensor into a matrix.

    Args:
        x: The tensor.
        axes: The contracted axes, counted from the front.
        at_end: Whether the contracted axes become the columns of the matrix instead of its rows.

    Returns:
        The matrix and the sizes of the free axes.
    """
    free_axes = tuple(i for i in range(x.ndim) if i not in axes)
    free_count, contracted_count = (prod(x.shape[i] for i in axis_group) for axis_group in (free_axes, axes))
    order = free_axes + axes if at_end else axes + free_axes
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
    keepdims: OptionalFlag = None,
    name: GraphName = None,
) -> Tensor:
    """Return the norm of vectors or matrices.

    This function is differentiable. The gradient at 0 is NaN.

    See https://www.tensorflow.org/api_docs/python/tf/norm.

    Args:
        tensor: A numeric tensor-like value. Integers are supported only for the norms 1 and infinity, which do not
            require roots.
        ord: "euclidean", a positive number or infinity for vectors, and "euclidean", "fro", 1 or infinity for matrices.
        axis: If None, all elements form one vector. An int selects the vectors along that axis, and a pair of ints
            selects the matrices along those axes.
        keepdims: Whether the result keeps the reduced axes, with size 1.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the remaining dimensions. For "euclidean", the result has the dtype of ``tensor``.

    Raises:
        ValueError: If ``ord`` or ``axis`` is not supported.
        InvalidArgumentError: If the norm is not supported for the dtype, or an axis does not exist.

    >>> import minitape as tf
    >>> print(tf.norm([3.0, 4.0]).numpy(), tf.norm([3.0, 4.0], ord=1).numpy())
    5.0 7.0
    """
    x = to_tensor(tensor)
    keeps_dims = bool(keepdims)
    is_matrix = isinstance(axis, LIST_OR_TUPLE) and len(axis) == 2
    _check_norm_arguments(ord, axis, is_matrix)
    if ord in ("fro", "euclidean") or ord == 2:
        squares = x * conj(x)
        return apply_primitive("sqrt", to_tensor_of_dtype_kind("norm", reduce_sum(squares, axis, keeps_dims), "fc"))
    magnitudes = absolute(x)
    if is_matrix:
        rows, columns = (normalize_axis(a, x.ndim) for a in axis)
        return reduce_max(reduce_sum(magnitudes, rows if ord == 1 else columns, True), [rows, columns], keeps_dims)
    if ord == np.inf:
        return reduce_max(magnitudes, axis, keeps_dims)
    if ord == 1:
        return reduce_sum(magnitudes, axis, keeps_dims)
    return pow(reduce_sum(pow(magnitudes, ord), axis, keeps_dims), 1.0 / float(ord))


def _check_norm_arguments(ord: str | float, axis: Value, is_matrix: bool) -> None:
    """Raise ValueError if ``tf.norm`` does not support an order or an axis.

    Args:
        ord: The order of the norm.
        axis: None, an axis, or a pair of axes.
        is_matrix: Whether ``axis`` selects matrices.
    """
    if isinstance(axis, LIST_OR_TUPLE) and not (is_matrix and axis[0] != axis[1]):
        raise ValueError(f"axis must be None, an integer, or a pair of different integers, got {axis!r}")
    if is_matrix:
        if ord not in ("euclidean", "fro", 1, np.inf):
            raise ValueError(f"ord of matrices must be 'euclidean', 'fro', 1 or infinity, got {ord!r}")
    elif ord != "euclidean" and (isinstance(ord, str) or not ord > 0):
        raise ValueError(f"ord of vectors must be 'euclidean' or a positive number, got {ord!r}")


def l2_normalize(x: Value, axis: Value = None, epsilon: float = 1e-12, name: GraphName = None) -> Tensor:
    """Divide vectors by their Euclidean norm.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/l2_normalize.

    Args:
        x: A tensor-like value of floats.
        axis: The axis or axes of the vectors. If None, all elements form one vector.
        epsilon: A lower bound for the squared norm. The divisor is at least ``sqrt(epsilon)``.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: If the dtype is not a float dtype, or an axis does not exist.

    >>> import minitape as tf
    >>> print(tf.math.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    x = to_tensor_of_dtype_kind("math.l2_normalize", x, "f")
    total = reduce_sum(apply_primitive("square", x), axis, True)
    return x * apply_primitive("rsqrt", maximum(total, epsilon))


# -- square matrices -------------------------------------------------------------------------------


def det(input: Value, name: GraphName = None) -> Tensor:
    """Return the determinants of square matrices.

    This function is differentiable if the matrices are invertible.

    See https://www.tensorflow.org/api_docs/python/tf/linalg/det.

    Args:
        input: A tensor-like value of floats or complex numbers with shape (..., n, n).
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with shape (...) and the same dtype.

    Raises:
        InvalidArgumentError: If the matrices are not square. Computing the gradient for a singular matrix raises the
            same error.

    >>> import minitape as tf
    >>> print(tf.linalg.det([[2.0, 0.0], [0.0, 3.0]]).numpy())
    6.0
    """
    return apply_primitive("det", to_tensor_of_dtype_kind("linalg.det", input, "fc"))


def inv(input: Value, adjoint: bool = False, name: GraphName = None) -> Tensor:
    """Return the inverses of square matrices.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/linalg/inv.

    Args:
        input: A tensor-like value of floats or complex numbers with shape (..., n, n).
        adjoint: Whether to invert the adjoint (conjugate transpose) of each matrix instead.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: If the matrices are not square or not invertible.

    >>> import minitape as tf
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    x = to_tensor_of_dtype_kind("linalg.inv", input, "fc")
    return apply_primitive("inv", transpose_and_conjugate(x) if adjoint else x)


def solve(matrix: Value, rhs: Value, adjoint: bool = False, name: GraphName = None) -> Tensor:
    """Return the solution x of ``matrix @ x = rhs``.

    This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/linalg/solve.

    Args:
        matrix: A tensor-like value of floats or complex numbers with shape (..., n, n).
        rhs: The right-hand sides, a tensor-like value with shape (..., n, k) and the same dtype. Each column is a
            separate system of equations.
        adjoint: Whether to use the adjoint (conjugate transpose) of the matrix instead.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the shape and dtype of ``rhs``.

    Raises:
        InvalidArgumentError: If the matrix is not square or not invertible, or the shapes do not match.

    >>> import minitape as tf
    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist())
    [[1.0], [0.5]]
    """
    matrix, rhs = convert_to_one_dtype(matrix, rhs)
    if rhs.ndim != matrix.ndim:
        raise build_argument_error(
            f"rhs must be a matrix whose columns fit a matrix of shape {matrix.shape}, got the shape {rhs.shape}"
        )
    matrix = to_tensor_of_dtype_kind("linalg.solve", matrix, "fc")
    return apply_primitive("solve", transpose_and_conjugate(matrix) if adjoint else matrix, rhs)


def diag(diagonal: Value, name: str = "diag") -> Tensor:
    """Create square matrices with the given diagonals and zeros elsewhere.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/linalg/diag.

    Args:
        diagonal: The diagonals, a tensor-like value with shape (..., n) and any dtype.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with shape (..., n, n) and the same dtype.

    Raises:
        InvalidArgumentError: If ``diagonal`` is a scalar.

    >>> import minitape as tf
    >>> print(tf.linalg.diag([1, 2]).numpy().tolist())
    [[1, 0], [0, 2]]
    """
    x = to_tensor(diagonal)
    if not x.ndim:
        raise build_argument_error("diagonal must be at least 1-dim, got a number", "MatrixDiagV3")
    return apply_primitive("diag", x, rows=x.shape[-1], columns=x.shape[-1])


def diag_part(input: Value, name: str = "diag_part") -> Tensor:
    """Return the main diagonals of matrices.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/linalg/diag_part.

    Args:
        input: A tensor-like value with shape (..., m, n) and any dtype.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with shape (..., min(m, n)) and the same dtype.

    Raises:
        InvalidArgumentError: If ``input`` has fewer than two axes.

    >>> import minitape as tf
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    return apply_primitive("diag_part", to_tensor(input))


def trace(x: Value, name: GraphName = None) -> Tensor:
    """Return the sums of the main diagonals of matrices.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/linalg/trace.

    Args:
        x: A numeric tensor-like value with shape (..., m, n).
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with shape (...) and the same dtype.

    Raises:
        InvalidArgumentError: If ``x`` has fewer than two axes.

    >>> import minitape as tf
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    return reduce_sum(diag_part(x), -1)
