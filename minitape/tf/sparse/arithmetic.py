"""Sums, products and functions of the values of sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from ...engine.dtypes import int64
from ...engine.invalid import at_run, invalid, shown
from ...engine.opdefs import accept
from ...engine.operands import placed, spelled
from ...engine.operation import apply
from ...engine.primitives import TABLE
from ...engine.tensor import Tensor, wrap
from .primitives import pick, places, put, sparse
from .tensor import SparseTensor, SparseTensorValue, sparse_input


@spelled("sparse_add_v2", placed)
def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two sparse tensors, or of a sparse and a dense one (dense). Differentiable.

    Sums whose size lies below ``threshold`` are left out. TypeError when neither is sparse.

    >>> import minitape as tf
    >>> a = tf.sparse.from_dense([1, 0, 2])
    >>> tf.sparse.to_dense(tf.sparse.add(a, a)).numpy()
    array([2, 0, 4], dtype=int32)
    """
    a, b = (sparse_input(x) if isinstance(x, SparseTensorValue) else x for x in (a, b))
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (isinstance(a, SparseTensor) and isinstance(b, SparseTensor)):
        return _add_dense(*((a, b) if isinstance(a, SparseTensor) else (b, a)))
    _match(a, b, "SparseAdd")
    keys, ways = np.unique(np.concatenate([places(a), places(b)]), return_inverse=True)
    count = a.values.shape[0]
    total = TABLE["add"](put(a.values, ways[:count], len(keys)), put(b.values, ways[count:], len(keys)))
    limit = np.asarray(threshold.array if isinstance(threshold, Tensor) else threshold)
    if limit != 0:
        kept = np.flatnonzero(np.abs(total.array) >= limit)
        keys, total = keys[kept], pick(total, kept)
    return sparse(np.stack(np.unravel_index(keys, a.sizes()), 1), total, a.sizes())


def _match(a: Any, b: Any, op: str) -> None:
    if a.dtype != b.dtype:
        raise invalid(
            f"cannot compute {op} as input #4(zero-based) was expected to be a {a.dtype.kernel_name} tensor but is a "
            f"{b.dtype.kernel_name} tensor",
            op,
        )
    if len(a.sizes()) != len(b.sizes()):
        raise invalid(f"Input indices must have the same dimension, got {len(a.sizes())} and {len(b.sizes())}", op)
    for i, (m, n) in enumerate(zip(a.sizes(), b.sizes(), strict=True)):
        if m != n:
            raise invalid(f"Operands' shapes do not match: got {m} and {n} for dimension {i}", op)


def _add_dense(st: Any, dense: Any) -> Any:
    dense = convert_to_tensor(dense, dtype_hint=st.dtype)
    if dense.ndim != len(st.sizes()):
        raise invalid(
            f"Two operands have different ranks; received: {len(st.sizes())} and {dense.ndim}", "SparseTensorDenseAdd"
        )
    for i, (m, n) in enumerate(zip(st.sizes(), dense.shape, strict=True)):
        if m != n:
            raise invalid(
                f"Dimension {i} does not equal (no broadcasting is supported): sparse side {m} vs dense side {n}",
                "SparseTensorDenseAdd",
            )
    flat = put(st.values, places(st), int(np.prod(st.sizes())))
    return TABLE["reshape"](flat, shape=st.sizes()) + dense


@spelled("sparse_tensor_dense_matmul", placed)
def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """The product of a sparse and a dense matrix, in either order. Differentiable in both.

    InvalidArgumentError when they are no matrices or do not fit.

    >>> import minitape as tf
    >>> st = tf.sparse.SparseTensor([[0, 1]], [2.0], [2, 2])
    >>> tf.sparse.sparse_dense_matmul(st, tf.constant([[1.0], [3.0]])).numpy()
    array([[6.],
           [0.]], dtype=float32)
    """
    op = "SparseTensorDenseMatMul"
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        return _flip(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a), b.dtype)
    st, dense = sparse_input(sp_a), convert_to_tensor(b)
    if dense.dtype != st.dtype:
        raise invalid(
            f"cannot compute {op} as input #3(zero-based) was expected to be a {st.dtype.kernel_name} tensor but is a "
            f"{dense.dtype.kernel_name} tensor",
            op,
        )
    if dense.ndim != 2:
        raise invalid("Tensor 'b' is not a matrix", op)
    if len(st.sizes()) != 2:
        raise invalid("Tensor 'a_shape' must have 2 elements", op)
    rows, columns = st.indices.array.T if st.indices.array.size else np.zeros((2, 0), np.int64)
    n, k = st.sizes()
    inner = int(dense.shape[1 if adjoint_b else 0])
    if (n if adjoint_a else k) != inner:
        raise invalid(
            f"Cannot multiply A and B because inner dimension does not match: {n if adjoint_a else k} vs. {inner}.  "
            f"Did you forget a transpose?  Dimensions of A: [{n}, {k}).  Dimensions of B: "
            f"{shown(dense.shape)}",
            op,
        )
    for i, (r, c) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        if not 0 <= c < k:
            raise at_run(f"k ({c}) from index[{i},1] out of bounds (>={k})", op)
        if not 0 <= r < n:
            raise at_run(f"m ({r}) from index[{i},0] out of bounds (>={n})", op)
    values = st.values
    if adjoint_a:
        rows, columns, n = columns, rows, k
        values = TABLE["conj"](values) if st.dtype.is_complex else values
    if adjoint_b:
        dense = _flip(dense, dense.dtype)
    return apply(TABLE["sparse_matmul"], (values, dense), {"rows": rows, "columns": columns, "size": n})


def _flip(matrix: Any, dtype: Any) -> Any:
    flipped = TABLE["transpose"](matrix, perm=(1, 0))
    return TABLE["conj"](flipped) if dtype.is_complex else flipped


@placed
def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """``op`` on the values of all sparse arguments, which have elements at the same places.

    ``op`` must keep the number of values (else ValueError). Differentiable as ``op`` is. ValueError without a sparse
    argument, InvalidArgumentError for elements at different places.

    >>> import minitape as tf
    >>> tf.sparse.map_values(tf.square, tf.sparse.from_dense([0, 3])).values.numpy()
    array([9], dtype=int32)
    """
    inputs = [v for v in (*args, *kwargs.values()) if isinstance(v, SparseTensor)]
    if not inputs:
        raise ValueError("No SparseTensor in argument list of map_values")
    for other in inputs[1:]:
        if not np.array_equal(other.indices.array, inputs[0].indices.array):
            raise invalid("SparseTensor argument to tf.sparse.map_values must have the same indices.")
    values = [v.values if isinstance(v, SparseTensor) else v for v in args]
    return inputs[0].with_values(
        op(*values, **{k: v.values if isinstance(v, SparseTensor) else v for k, v in kwargs.items()})
    )


def _extreme(name: str, a: Any, b: Any) -> SparseTensor:
    _match(a, b, f"SparseSparse{name.title()}")
    keys, ways = np.unique(np.concatenate([places(a), places(b)]), return_inverse=True)
    count = a.values.shape[0]
    values = TABLE[name](put(a.values, ways[:count], len(keys)), put(b.values, ways[count:], len(keys)))
    return sparse(np.stack(np.unravel_index(keys, a.sizes()), 1), values, a.sizes())


@spelled("sparse_maximum", placed)
def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger element at each place that one of them has; what is missing counts as zero.

    InvalidArgumentError unless both have one dtype and one shape.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print(tf.sparse.to_dense(tf.sparse.maximum(s, tf.sparse.from_dense([[3.0, 0.0], [0.0, 1.0]]))).numpy().tolist())
    [[3.0, 0.0], [0.0, 2.0]]
    """
    return _extreme("maximum", sparse_input(sp_a), sparse_input(sp_b))


@spelled("sparse_minimum", placed)
def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller element at each place that one of them has; what is missing counts as zero.

    InvalidArgumentError unless both have one dtype and one shape.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print(tf.sparse.to_dense(tf.sparse.minimum(s, tf.sparse.from_dense([[3.0, 0.0], [0.0, 1.0]]))).numpy().tolist())
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _extreme("minimum", sparse_input(sp_a), sparse_input(sp_b))


@spelled("sparse_softmax", placed)
def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the elements of each row (along the last axis) that are there. Differentiable.

    InvalidArgumentError for fewer than two axes and for what is no float.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print(tf.sparse.softmax(s).values.numpy())
    [1. 1.]
    """
    st = sparse_input(sp_input)
    accept("SparseSoftmax", int64, st.dtype)
    if len(st.sizes()) < 2:
        raise invalid(f"Input should have rank >= 2, but received shape: {len(st.sizes())}", "SparseSoftmax")
    rows = places(st) // st.sizes()[-1]
    _, ways = np.unique(rows, return_inverse=True)
    count = int(ways.max()) + 1 if len(ways) else 0
    widest = np.full(count, -np.inf, st.dtype.as_numpy_dtype)
    np.maximum.at(widest, ways, st.values.array)
    powers = TABLE["exp"](st.values - wrap(widest[ways]))
    return SparseTensor(st.indices, powers / pick(put(powers, ways, count), ways), st.dense_shape)
