"""Products of tensors: matmul, matvec, tensordot, einsum; norms and clipping by them."""

from __future__ import annotations

import functools
import math
from sys import _getframe
from typing import Any

import numpy as np

from ...engine.recording.state import state
from ...engine.table.primitives import TABLE, decompositions  # noqa: F401 - it fills the table
from ...engine.table.primitives.linear import product
from ...engine.tensor.operation import apply
from ...engine.tensor.operators import fit_matrices
from ...engine.tensor.tensor import Tensor
from ...engine.types import Same
from ...engine.values.invalid import invalid, mismatch, shape_text
from ...ops.casts import conj
from ...ops.elementwise import abs as absolute
from ...ops.operands import axes_of, call, pairwise, static, tensor_of, with_dtype_hint
from ...ops.reductions import reduce_max, reduce_sum


def _at_once(general: Same) -> Same:
    """The product, of two matrices that fit without more questions."""
    primitive = TABLE["matmul"]

    @functools.wraps(general)
    def fitted(a: Any, b: Any, *flags: bool, **options: Any) -> Any:
        if not flags and not options and fit_matrices(a, b):
            return apply(primitive, (a, b), {}, _getframe(1))
        return general(a, b, *flags, **options)

    made: Any = fitted
    return made


@_at_once
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of batches of them (whose other axes broadcast).

    ``transpose_*`` swaps the last two axes of an argument first, ``adjoint_*`` conjugates as well. Both must have one
    dtype and at least two axes. Differentiable. Raises InvalidArgumentError for shapes that do not fit, ValueError for
    ``transpose_a`` together with ``adjoint_a``.

    >>> import minitape as tf
    >>> print(tf.matmul([[1, 2]], [[3], [4]]).numpy())
    [[11]]
    """
    if transpose_a and adjoint_a:
        raise ValueError(
            "Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`=True, `adjoint_a`=True."
        )
    if transpose_b and adjoint_b:
        raise ValueError(
            "Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`=True, `adjoint_b`=True."
        )
    a, b = with_dtype_hint(a, b)
    a, b = conj(a) if adjoint_a else a, conj(b) if adjoint_b else b
    return _product(a, b, transpose_a or adjoint_a, transpose_b or adjoint_b)


def _product(a: Any, b: Any, turn_a: bool, turn_b: bool) -> Any:
    if not (turn_a or turn_b) and fit_matrices(a, b):
        return call("matmul", a, b)
    ranks = [t.ndim for t in (a, b)]
    op = "MatMul" if None not in ranks and max(ranks) <= 2 else "BatchMatMulV2"
    if a.dtype is not b.dtype:
        raise mismatch(op, 1, a.dtype.kernel_name, b.dtype)
    check_product(op, a, b, turn_a, turn_b)
    return product(a, b, turn_a, turn_b)


def check_product(op: str, a: Any, b: Any, turn_a: bool, turn_b: bool) -> None:
    """Raises what TensorFlow's kernel raises for shapes that cannot be multiplied."""
    if state.graph is not None:
        for t in (a, b):
            if t.ndim is not None and t.ndim < 2:
                raise ValueError(f"Shape must be {'' if op == 'MatMul' else 'at least '}rank 2 but is rank {t.ndim}")
    x, y = list(a.shape), list(b.shape)  # of an unknown rank: the ValueError after which the run decides
    if op == "MatMul" and len(x) != len(y):
        raise invalid(f"In[0] and In[1] has different ndims: {shape_text(x)} vs. {shape_text(y)}", op)
    if op == "MatMul" and len(x) != 2:
        raise invalid(f"In[0] and In[1] ndims must be == 2: {len(x)}", op)
    for i, shape in enumerate((x, y)):
        if len(shape) < 2:
            raise invalid(f"In[{i}] ndims must be >= 2: {len(shape)}", op)
    inner = (x[-2] if turn_a else x[-1], y[-1] if turn_b else y[-2])
    if state.graph is None and inner[0] != inner[1]:  # a graph finds it when it infers the shape
        raise invalid(f"Matrix size-incompatible: In[0]: {shape_text(x)}, In[1]: {shape_text(y)}", op)
    for m, n in zip(reversed(x[:-2]), reversed(y[:-2]), strict=False):
        if None not in (m, n) and m != n and 1 not in (m, n):
            raise invalid(
                f"In[0] and In[1] must have compatible batch dimensions: {shape_text(x)} vs. {shape_text(y)}", op
            )


def matvec(a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, *, name: str | None = None) -> Tensor:
    """The product of a matrix and a vector, or of batches of them. Arguments, gradient and errors as for ``matmul``.

    >>> import minitape as tf
    >>> print(tf.linalg.matvec([[1, 2], [3, 4]], [1, 10]).numpy())
    [21 43]
    """
    b = tensor_of(b)
    column = call("reshape", b, shape=(*b.shape, 1))
    out = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return call("reshape", out, shape=tuple(out.shape)[:-1])


# -- tensordot -------------------------------------------------------------------------------------


def _contracted_axes(a: Any, axes: Any) -> tuple:
    """The axes of a and of b that tensordot sums over."""
    axes = static(axes)
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if axes > a.ndim:
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor {a}.  Received "
                f"{axes}, vs tensor dimensions {a.ndim}."
            )
        return list(range(a.ndim - axes, a.ndim)), list(range(axes))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    first, second = ([static(x)] if isinstance(static(x), int) else list(static(x)) for x in axes)
    if len(first) != len(second):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}.")
    return first, second


def _as_matrix(x: Any, axes: list[int], last: bool) -> tuple[Any, list[int]]:
    """x with the contracted axes moved to one end and flattened; and its free sizes, -1 for one that is unknown."""
    shape = [-1 if n is None else int(n) for n in x.shape]
    for a in axes:
        shape[a]  # raises IndexError, as TensorFlow does
    axes = [a % len(shape) for a in axes]
    free = [i for i in range(len(shape)) if i not in axes]
    parts = ([shape[i] for i in part] for part in (free, axes))
    rows, columns = (-1 if -1 in part else math.prod(part) for part in parts)
    order = (*free, *axes) if last else (*axes, *free)
    moved = x if order == tuple(range(len(shape))) else call("transpose", x, perm=order)
    return call("reshape", moved, shape=(rows, columns) if last else (columns, rows)), [shape[i] for i in free]


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sums the products of a and b over pairs of axes.

    ``axes`` is a number n (the last n axes of a with the first n of b; 0 for the outer product) or a pair of lists.
    Differentiable. Raises ValueError for lists of unlike lengths, InvalidArgumentError for sizes that do not fit.

    >>> import minitape as tf
    >>> print(tf.tensordot([1.0, 2.0], [3.0, 4.0], axes=1).numpy())
    11.0
    """
    a, b = tensor_of(a), tensor_of(b)
    first, second = _contracted_axes(a, axes)
    left, free_left = _as_matrix(a, first, True)
    right, free_right = _as_matrix(b, second, False)
    out = matmul(left, right)
    return call("reshape", out, shape=(*free_left, *free_right))


# -- einsum ----------------------------------------------------------------------------------------


# -- norms and clipping ----------------------------------------------------------------------------


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: str | None = None
) -> Tensor:
    """The norm of vectors or matrices.

    ``axis=None`` takes all elements as one vector, an int the vectors along that axis, a pair of ints the matrices on
    those axes. ``ord`` is "euclidean", 1, 2, a positive number or infinity for vectors, and "euclidean", "fro", 1, 2 or
    infinity for matrices. Differentiable (the gradient at 0 is NaN). Floats only; ValueError for another ``ord``.

    >>> import minitape as tf
    >>> print(tf.norm([3.0, 4.0]).numpy(), tf.norm([3.0, 4.0], ord=1).numpy())
    5.0 7.0
    """
    keepdims = bool(keepdims)
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    axis = tuple(axis) if is_matrix else axis
    if not (axis is None or isinstance(axis, int) or (is_matrix and axis[0] != axis[1])):
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    _check_order(ord, is_matrix)
    x = tensor_of(tensor)
    if ord in ("fro", "euclidean", 2):
        total = call("sqrt", reduce_sum(x * conj(x), axis, True))
    elif ord == 1:
        total = reduce_sum(absolute(x), None if axis is None else axis[0] if is_matrix else axis, True)
        total = reduce_max(total, axis[-1], True) if is_matrix else total
    elif ord == np.inf:
        total = reduce_sum(absolute(x), axis[1], True) if is_matrix else absolute(x)
        total = reduce_max(total, axis[0] if is_matrix else axis, True)
    else:
        powers = pairwise(TABLE["pow"], absolute(x), ord)
        total = pairwise(TABLE["pow"], reduce_sum(powers, axis, True), 1.0 / ord)
    return total if keepdims else without_axes(total, axis)


def _check_order(ord: Any, is_matrix: bool) -> None:
    if is_matrix:
        allowed = ["euclidean", "fro", 1, 2, np.inf]
        if ord not in allowed:
            raise ValueError(f"'ord' must be a supported matrix norm in {allowed}, got {ord}")
    elif ord != "euclidean" and (isinstance(ord, str) or not ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def without_axes(x: Any, axis: Any) -> Any:
    """Drops the axes of size 1 that a reduction kept: all of that size for None."""
    rank = x.ndim
    gone = {i for i, n in enumerate(x.shape) if n == 1} if axis is None else {a % rank for a in axes_of(axis) or ()}
    return call("reshape", x, shape=tuple(n for i, n in enumerate(x.shape) if i not in gone))


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Tensor:
    """x divided by its euclidean norm along ``axis`` (at least sqrt(epsilon)). Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    x = tensor_of(x)
    if x.dtype.kind == "c":
        total = reduce_sum(call("square", call("real", x)) + call("square", call("imag", x)), axis, True)
        inverse = call("rsqrt", pairwise(TABLE["maximum"], total, epsilon))
        return call("complex", call("real", x) * inverse, call("imag", x) * inverse)
    total = reduce_sum(call("square", x), axis, True)
    return x * call("rsqrt", pairwise(TABLE["maximum"], total, epsilon))
