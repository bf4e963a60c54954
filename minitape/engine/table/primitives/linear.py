"""Declare matrix products, sums of products, and sums of tensors."""

import numpy as np
from numpy import ndarray

from ...types import Array, Function
from ...values.argument_errors import build_argument_error
from ..accelerator import fast
from . import TABLE, declare
from .numerics import wrap_to_compute_half_in_float32
from .shaping import conjugate

# For vectors and batches, products with at most this many scalar multiplications add their terms in order.
MAX_ORDERED_PRODUCTS = 512
_sum_axes: Function = np.add.reduce


def transpose_and_conjugate(x: Array) -> Array:
    """Swap the last two axes, and conjugate complex numbers.

    Args:
        x: An array or a tensor with at least two axes.

    Returns:
        An array or a tensor, like ``x``. The elements of an array are copied only if they are complex.
    """
    if type(x) is ndarray:
        return x.mT if x.dtype.kind != "c" else x.mT.conj()
    rank = x.ndim or len(x.shape)  # len() raises an error if the rank is unknown.
    return conjugate(TABLE["transpose"](x, perm=(*range(rank - 2), rank - 1, rank - 2)))


def _compute_matmul(x: Array, y: Array, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    if transpose_a or transpose_b:
        x = x.mT if transpose_a else x
        y = y.mT if transpose_b else y
    is_pair_of_matrices = x.ndim == y.ndim == 2
    (m, k), (rows, n) = (x.shape, y.shape) if is_pair_of_matrices else (x.shape[-2:], y.shape[-2:])
    if k != rows or x.dtype.char not in "fd":
        return _matmul_any_dtype(x, y)
    if m == 1 or n == 1 or not is_pair_of_matrices:
        if 0 < m * k * n <= MAX_ORDERED_PRODUCTS:
            return _multiply_in_order(x, y)
        if not is_pair_of_matrices or k == 1:
            return np.matmul(x, y)
    # Calling dot has less overhead than calling matmul.
    return x.dot(y) if m * n < fast.large_size else multiply_into_buffer(x, y)


_matmul_any_dtype = wrap_to_compute_half_in_float32(np.matmul)


def multiply_into_buffer(x: Array, y: Array) -> Array:
    """Compute the product of two matrices in a buffer from the accelerator.

    Args:
        x: An array of shape (m, k).
        y: An array of shape (k, n) with the same dtype.

    Returns:
        An array of shape (m, n).
    """
    return np.matmul(x, y, out=fast.create_uninitialized_array((x.shape[0], y.shape[1]), x.dtype))


def _multiply_in_order(x: Array, y: Array) -> Array:
    """Return the product of small matrices by adding the terms of each element in order.

    TensorFlow uses this order for vectors and small batches. NumPy uses a different order, so its last digit may
    differ.
    """
    terms = x.mT[..., :, :, None] * y[..., :, None, :]
    if terms.shape[-1] * terms.shape[-2] == 1:  # NumPy's reduce would add these terms pairwise.
        return np.add.accumulate(terms, axis=-3)[..., -1, :, :]
    return _sum_axes(terms, -3)


def multiply_matrices(x: Array, y: Array, transpose_a: bool, transpose_b: bool) -> Array:
    """Multiply matrices or batches of matrices, transposing them first if requested.

    The product occupies one row of a recording.

    Args:
        x: The first matrices.
        y: The second matrices.
        transpose_a: Whether to transpose `x`.
        transpose_b: Whether to transpose `y`.

    Returns:
        The product, as a tensor if an argument is a tensor.
    """
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return TABLE["matmul"](x, y, **{name: True for name, is_set in flags.items() if is_set})


def _apply_matmul_left_rule(
    g: Array, z: Array, x: Array, y: Array, transpose_a: bool = False, transpose_b: bool = False
) -> Array:
    multiply: Function = _compute_matmul if type(g) is ndarray else multiply_matrices
    y = conjugate(y)
    return multiply(y, g, transpose_b, True) if transpose_a else multiply(g, y, False, not transpose_b)


def _apply_matmul_right_rule(
    g: Array, z: Array, x: Array, y: Array, transpose_a: bool = False, transpose_b: bool = False
) -> Array:
    multiply: Function = _compute_matmul if type(g) is ndarray else multiply_matrices
    x = conjugate(x)
    return multiply(g, x, True, transpose_a) if transpose_b else multiply(x, g, not transpose_a, False)


declare(
    "matmul", _compute_matmul, [_apply_matmul_left_rule, _apply_matmul_right_rule], op="MatMul", label="@", keep="xy"
)


# -- sums of tensors -------------------------------------------------------------------------------


def _compute_add_n(*xs: Array) -> Array:
    total = xs[0]
    for i, x in enumerate(xs[1:], 1):
        if x.shape != total.shape:
            raise build_argument_error(
                f"Only tensors of the same shape can be added, but the shapes are {total.shape} and, at position "
                f"{i}, {x.shape}.",
                "AddN",
            )
        total = total + x
    return total


declare("add_n", _compute_add_n, lambda g, z, *xs: [g] * len(xs), label="Σ", keep="")
