"""``tf.keras.ops``: products and norms of vectors and matrices, and linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tf
from ...engine.tensor import Tensor
from .. import base
from ..base import as_float
from .common import alike, as_summands, axis_of, convert
from .picking import diagonal


def matmul(x1: Any, x2: Any) -> Tensor:
    """The product of matrices, or of stacks of matrices.

    ``x1`` has shape (..., n, m) and ``x2`` (..., m, p), and the leading axes broadcast; a vector counts as a row or a
    column, which the result does not have. The dtype holds both. Differentiable in both. Raises
    InvalidArgumentError for inner sizes that differ.

    >>> import minitape as tf
    >>> tf.keras.ops.matmul([[1, 2], [3, 4]], [5, 6]).numpy()
    array([17, 39], dtype=int32)
    """
    x1, x2 = alike(x1, x2)
    row, column = len(x1.shape) == 1, len(x2.shape) == 1
    found = _summed(tf.matmul, x1[None] if row else x1, x2[:, None] if column else x2, grows=not (row or column))
    found = found[..., 0, :] if row else found
    return found[..., 0] if column else found


def _summed(function: Any, *tensors: Any, grows: bool = False) -> Any:
    """Sums of products of tensors of one dtype, those of bools and small integers taken with 32 bits.

    The result has their dtype, but if it ``grows`` that of int8 is int32, as Keras has it.
    """
    kind = tensors[0].dtype.name
    if kind not in ("bool", "int8", "int16", "uint8", "uint16"):
        return function(*tensors)
    found = function(*(convert(x, "int32") for x in tensors))
    return found if grows and kind == "int8" else convert(found, kind)


def dot(x1: Any, x2: Any) -> Tensor:
    """The sum of products over the last axis of ``x1`` and the last but one of ``x2`` (the only one of a vector).

    Shapes are as NumPy's ``dot`` has them; a scalar multiplies the other. The dtype holds both. Differentiable in both.
    Raises InvalidArgumentError for sizes that differ.

    >>> import minitape as tf
    >>> tf.keras.ops.dot([1, 2], [3, 4]).numpy()
    np.int32(11)
    """
    x1, x2 = alike(x1, x2)
    if not x1.shape.rank or not x2.shape.rank:
        return x1 * x2
    axes = [[-1], [max(x2.shape.rank - 2, 0)]]
    return _summed(lambda a, b: tf.tensordot(a, b, axes), x1, x2)


def vdot(x1: Any, x2: Any) -> Tensor:
    """The sum of the products of all elements, those of ``x1`` conjugated.

    ``x1`` and ``x2`` have equally many elements; the result is a scalar of the dtype that holds both. Differentiable in
    both. Raises InvalidArgumentError for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.ops.vdot([[1, 2], [3, 4]], [[1, 0], [0, 1]]).numpy()
    np.int32(5)
    """
    x1, x2 = (tf.reshape(x, [-1]) for x in alike(x1, x2))
    return _summed(lambda a, b: tf.reduce_sum(tf.math.conj(a) * b), x1, x2)


def outer(x1: Any, x2: Any) -> Tensor:
    """The products of each element of ``x1`` with each of ``x2``, as a matrix.

    The tensors have any shape and are taken as vectors; the dtype holds both. Differentiable in both.

    >>> import minitape as tf
    >>> tf.keras.ops.outer([1, 2], [3, 4, 5]).numpy()
    array([[ 3,  4,  5],
           [ 6,  8, 10]], dtype=int32)
    """
    x1, x2 = (tf.reshape(x, [-1]) for x in alike(x1, x2))
    return x1[:, None] * x2[None, :]


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Tensor:
    """The sum of products over pairs of axes.

    ``axes`` is how many of the last axes of ``x1`` meet the first ones of ``x2``, or a pair of lists of axes. The dtype
    holds both. Differentiable in both. Raises InvalidArgumentError for sizes that differ.

    >>> import minitape as tf
    >>> tf.keras.ops.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]], axes=2).numpy()
    np.int32(5)
    """
    return _summed(lambda a, b: tf.tensordot(a, b, axes), *alike(x1, x2))


def inner(x1: Any, x2: Any) -> Tensor:
    """The sums of products over the last axes; a scalar multiplies the other.

    ``x1`` and ``x2`` are tensors whose last axes have one size; the dtype holds both. Differentiable in both. Raises
    InvalidArgumentError for sizes that differ.

    >>> import minitape as tf
    >>> tf.keras.ops.inner([[1, 2], [3, 4]], [5, 6]).numpy()
    array([17, 39], dtype=int32)
    """
    x1, x2 = alike(x1, x2)
    if not x1.shape.rank or not x2.shape.rank:
        return x1 * x2
    return tensordot(x1, x2, [[-1], [-1]])


def einsum(subscripts: str, *operands: Any) -> Tensor:
    """Sums of products, written with a letter for each axis: what stands left of the arrow alone is summed.

    The operands are tensors with as many axes as they have letters; the dtype holds all of theirs. Differentiable in
    each. Raises InvalidArgumentError (ValueError for letters that do not fit the operands).

    >>> import minitape as tf
    >>> a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([10, 100])
    >>> tf.keras.ops.einsum("ij,j->i", a, b).numpy()
    array([210, 430], dtype=int32)
    """
    return _summed(lambda *tensors: tf.einsum(subscripts, *tensors), *alike(*operands), grows=True)


def cross(x1: Any, x2: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """The vector that stands at right angles to two others in space; of two in the plane its third component.

    Vectors of 2 or 3 components lie along ``axisa`` and ``axisb``, and the result along ``axisc``; ``axis`` stands for all
    three. The other axes broadcast and the dtype holds both. Differentiable in both. Raises ValueError for another
    number of components.

    >>> import minitape as tf
    >>> tf.keras.ops.cross([1, 0, 0], [0, 1, 0]).numpy()
    array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = alike(x1, x2)
    counts = x1.shape[axisa], x2.shape[axisb]
    if not {*counts} <= {2, 3}:
        raise ValueError(
            "`x1`'s dim on `axis={axisa}` and `x2`'s dim on `axis={axisb}` must be either 2 or 3. Received: "
            f"{counts[0]} and {counts[1]}".format(axisa=axisa, axisb=axisb)
        )
    a, b = tf.unstack(x1, axis=axisa), tf.unstack(x2, axis=axisb)
    third = a[0] * b[1] - a[1] * b[0]
    if counts == (2, 2):
        return third
    a, b = ([*v, tf.zeros_like(v[0])][:3] for v in (a, b))
    return tf.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], third], axis=axisc)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of the diagonal of the matrices that two axes hold.

    ``x`` is a tensor of numbers of two axes or more; ``offset`` counts diagonals upwards from the main one. Small
    integers become int32. Differentiable. Raises ValueError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.ops.trace(tf.constant([[1, 2], [3, 4]])).numpy()
    np.int32(5)
    """
    return tf.reduce_sum(as_summands(diagonal(x, offset, axis1, axis2)), -1)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The length of vectors, or the norm of matrices.

    ``x`` is a tensor of numbers (whole numbers become floats first). ``axis`` is one axis for vectors, two for
    matrices, or None for all of at most two. ``ord`` is None for the Euclidean length, a number, ``np.inf`` or
    ``-np.inf``, and for matrices also "fro" or "nuc". Differentiable. Raises ValueError for another ``ord`` or more axes.

    >>> import minitape as tf
    >>> tf.keras.ops.norm([3, 4]).numpy(), tf.keras.ops.norm([[1.0, -2.0], [3.0, 4.0]], ord=1, axis=0).numpy()
    (np.float32(5.0), array([4., 6.], dtype=float32))
    """
    x = as_float(x)
    axis = tuple(range(len(x.shape))) if axis is None else axis
    axes = [axis_of(a, len(x.shape)) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
    if not 1 <= len(axes) <= 2:
        raise ValueError(f"Invalid axis values. Received: axis={axis}")
    if ord is None:
        return tf.norm(x, "euclidean", axes if len(axes) == 2 else axes[0], keepdims)
    return _vector_norm(x, ord, axes[0], keepdims) if len(axes) == 1 else _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(x: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise ValueError(f"Invalid `ord` argument for vector norm. Received: ord={ord}")
    if ord == 0:
        return convert(tf.math.count_nonzero(x, axis, keepdims), x.dtype.name)
    if abs(ord) == np.inf:
        return (tf.reduce_max if ord > 0 else tf.reduce_min)(tf.abs(x), axis, keepdims)
    return tf.reduce_sum(tf.abs(x) ** ord, axis, keepdims) ** (1 / ord)


def _matrix_norm(x: Any, ord: Any, axes: list[int], keepdims: bool) -> Any:
    rows, columns = axes
    if ord == "fro":
        return tf.norm(x, "euclidean", axes, keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        summed, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
        choose = tf.reduce_max if ord > 0 else tf.reduce_min
        found = choose(tf.reduce_sum(tf.abs(x), summed, keepdims=True), other, keepdims=True)
        return found if keepdims else tf.squeeze(found, axes)
    if ord not in (2, -2, "nuc"):
        raise ValueError(f"Invalid `ord` argument for matrix norm. Received: ord={ord}")
    others = [a for a in range(len(x.shape)) if a not in axes]
    singular = tf.linalg.svd(tf.transpose(x, [*others, *axes]), compute_uv=False)
    found = {2: tf.reduce_max, -2: tf.reduce_min, "nuc": tf.reduce_sum}[ord](singular, -1)
    for at in sorted(axes) if keepdims else ():
        found = tf.expand_dims(found, at)
    return found


def normalize(x: Any, axis: int = -1, order: int = 2, epsilon: float | None = None) -> Tensor:
    """Vectors of length 1 along an axis, in the same direction.

    ``x`` is a tensor of floats of any shape but (); the result has its shape and dtype. ``order`` is the order of the
    norm; a length below ``epsilon`` counts as ``epsilon``. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.normalize([[3.0, 4.0], [0.0, 2.0]]).numpy().round(4)
    array([[0.6, 0.8],
           [0. , 1. ]], dtype=float32)
    """
    x = as_float(x)
    epsilon = base.epsilon() if epsilon is None else epsilon
    if order == 2:
        return tf.math.l2_normalize(x, axis, epsilon**2)
    return x / tf.maximum(tf.norm(x, order, axis, True), epsilon)


def _square(x: Any) -> Any:
    """``x`` as matrices of floats; ValueError unless they are square."""
    x = as_float(x)
    if len(x.shape) < 2:
        raise ValueError(f"Expected input to have rank >= 2. Received input with shape {tuple(x.shape)}.")
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Expected a square matrix. Received non-square input with shape {tuple(x.shape)}")
    return x


def inv(x: Any) -> Tensor:
    """The inverse of square matrices.

    ``x`` is a tensor of floats of shape (..., n, n); the result has its shape and dtype. Differentiable. Raises
    ValueError for matrices that are not square and InvalidArgumentError for one that has no inverse.

    >>> import minitape as tf
    >>> tf.keras.ops.inv([[2.0, 0.0], [0.0, 4.0]]).numpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return tf.linalg.inv(_square(x))


def det(x: Any) -> Tensor:
    """The determinant of square matrices.

    ``x`` is a tensor of floats of shape (..., n, n); the result has shape (...) and its dtype. Differentiable. Raises
    ValueError for matrices that are not square.

    >>> import minitape as tf
    >>> tf.keras.ops.det([[2.0, 1.0], [0.0, 4.0]]).numpy()
    np.float32(8.0)
    """
    return tf.linalg.det(_square(x))


def cholesky(x: Any, upper: bool = False) -> Tensor:
    """The lower triangular ``L`` with ``L @ transpose(L) = x``, or its transpose.

    ``x`` is a tensor of floats of shape (..., n, n), symmetric and positive definite; the result has its shape and
    dtype. Differentiable. Raises ValueError for matrices that are not square or not positive definite.

    >>> import minitape as tf
    >>> tf.keras.ops.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy()
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    try:
        found = tf.debugging.check_numerics(tf.linalg.cholesky(_square(x)), "Cholesky")
    except tf.errors.InvalidArgumentError as error:
        raise ValueError(f"Cholesky decomposition failed: {error}") from error
    return tf.linalg.matrix_transpose(found) if upper else found


def qr(x: Any, mode: str = "reduced") -> Any:
    """``(q, r)`` with ``q @ r = x``: orthonormal columns and an upper triangle.

    ``x`` is a tensor of floats of shape (..., n, m); ``mode`` "complete" makes ``q`` square. Differentiable. Raises
    ValueError for another mode.

    >>> import minitape as tf
    >>> q, r = tf.keras.ops.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> tf.keras.ops.abs(r).numpy().round(4)
    array([[5. , 2.2],
           [0. , 0.4]], dtype=float32)
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(
            f"`mode` argument value not supported. Expected one of {{'reduced', 'complete'}}. Received: mode={mode}"
        )
    return tf.linalg.qr(convert(x), full_matrices=mode == "complete")


def solve(a: Any, b: Any) -> Tensor:
    """``x`` with ``a @ x = b``.

    ``a`` is a tensor of floats of shape (..., n, n), ``b`` one of shape (..., n, m), or a vector; the result has the shape
    of ``b``. Differentiable in both. Raises ValueError for matrices that are not square and InvalidArgumentError for
    one that has no inverse.

    >>> import minitape as tf
    >>> tf.keras.ops.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).numpy()
    array([1. , 0.5], dtype=float32)
    """
    a, b = alike(_square(a), b)
    if len(b.shape) == len(a.shape) - 1:
        return tf.linalg.solve(a, b[..., None])[..., 0]
    return tf.linalg.solve(a, b)
