"""``tf.sparse``: from and to dense tensors, sums, and products with dense matrices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.recording.evidence import with_influences
from ...engine.table.primitives import TABLE, declare
from ...engine.tensor.convert import convert_to_tensor
from ...engine.tensor.operation import apply
from ...engine.tensor.tensor import Tensor, new_tensor
from ...engine.values.invalid import invalid, mismatch, shape_text
from ...ops.picking import gather_or_default
from ...ops.sorting import unsorted_segment_sum
from .tensor import SparseTensor


def _sparse(x: Any) -> SparseTensor:
    if not isinstance(x, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return x


def _numbers(places: Any, sizes: Sequence[int]) -> Any:
    """The number of each place when a tensor of these sizes is read row by row.

    >>> _numbers(np.array([[0, 2], [1, 0]]), [2, 3])
    array([2, 3])
    """
    flat = np.zeros(len(places), np.int64)
    for axis, size in enumerate(sizes):
        flat = flat * size + places[:, axis]
    return flat


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not zero (or not the empty string). Differentiable.

    ``tensor`` has any dtype and at least one axis (else InvalidArgumentError).

    >>> import minitape as tf
    >>> tf.sparse.from_dense([[0, 3]]).indices.numpy()
    array([[0, 1]])
    """
    tensor = convert_to_tensor(tensor)
    if tensor.shape.rank == 0:
        raise invalid("WhereOp : Unhandled input dimensions: 0", "Where")
    array = getattr(tensor, "array", None)
    if array is None:
        raise ValueError(
            f"minitape finds the places of a sparse tensor while it traces a function; the elements of {tensor} "
            "are known only when the graph runs."
        )
    places = new_tensor(np.argwhere(array != (b"" if tensor.dtype.kind == "s" else 0)))
    found = SparseTensor(places, TABLE["gather_nd"](tensor, places), array.shape)
    with_influences(found.indices, (tensor,), "Where")
    return found


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The dense tensor, with ``default_value`` (zero) where nothing is given. Differentiable.

    InvalidArgumentError, unless ``validate_indices`` is False, when places are out of order, repeated or outside.

    >>> import minitape as tf
    >>> tf.sparse.to_dense(tf.sparse.SparseTensor([[0, 1]], [5], [1, 2])).numpy()
    array([[0, 5]], dtype=int32)
    """
    st = _sparse(sp_input)
    if validate_indices:
        _check_order(st)
    places, sizes = st.places(), st.sizes()
    numbers = np.full(math.prod(sizes), len(places))
    numbers[_numbers(places, sizes)] = np.arange(len(places))
    return gather_or_default(st.values, numbers.reshape(sizes), default_value)


def _check_order(st: SparseTensor) -> None:
    """InvalidArgumentError unless the places are in order, inside the shape, and each only once."""
    _check_inside(st, "SparseToDense")
    rows = st.places().tolist()
    for i, (before, row) in enumerate(itertools.pairwise(rows), 1):
        here = f"indices[{i}] = [{','.join(map(str, row))}]"
        if row == before:
            raise invalid(f"{here} is repeated", "SparseToDense")
        if row < before:
            raise invalid(
                f"{here} is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to "
                "create a correctly ordered copy.\n\n",
                "SparseToDense",
            )


def _check_inside(st: SparseTensor, op: str) -> None:
    """InvalidArgumentError unless the places are inside the shape."""
    sizes = st.sizes()
    for i, row in enumerate(st.places().tolist()):
        if not all(0 <= place < size for place, size in zip(row, sizes, strict=True)):
            here = f"indices[{i}] = [{','.join(map(str, row))}]"
            raise invalid(f"{here} is out of bounds: need 0 <= index < [{','.join(map(str, sizes))}]", op)


def reduce_sum(sp_input: Any, axis: Any = None, keepdims: bool = False, *, name: str | None = None) -> Tensor:
    """The sum over the axes (all by default), a dense tensor. Differentiable.

    With ``keepdims`` the axes stay, with size 1. InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.sparse.reduce_sum(tf.sparse.from_dense([[1, 2], [0, 3]]), axis=0).numpy()
    array([1, 5], dtype=int32)
    """
    st = _sparse(sp_input)
    sizes, rank = st.sizes(), len(st.sizes())
    axes = range(rank) if axis is None else np.atleast_1d(np.asarray(convert_to_tensor(axis).array)).tolist()
    for a in axes:
        if not -rank <= a < rank:
            raise invalid(f"Invalid reduction dimension {a}, for input with {rank} dimensions.", "SparseReduceSum")
    gone = {a % rank for a in axes}
    kept = [1 if i in gone else n for i, n in enumerate(sizes)]
    index = _numbers(st.places() * [i not in gone for i in range(rank)], kept)
    total = unsorted_segment_sum(st.values, new_tensor(index), int(np.prod(kept)))
    shape = kept if keepdims else [n for i, n in enumerate(sizes) if i not in gone]
    dense: Tensor = TABLE["reshape"](total, shape=tuple(shape))
    return dense


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
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        return _adjoint(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a))
    st, dense = _sparse(sp_a), convert_to_tensor(b)
    _check_matrices(st, dense, adjoint_a, adjoint_b)
    (rows, columns), (n, k), values = st.places().T, st.sizes(), st.values
    if adjoint_a:
        rows, columns, n = columns, rows, k
        values = TABLE["conj"](values) if st.dtype.is_complex else values
    attributes = {"rows": rows, "columns": columns, "size": n}
    product: Tensor = apply(TABLE["sparse_matmul"], (values, _adjoint(dense) if adjoint_b else dense), attributes)
    return product


def _check_matrices(st: SparseTensor, dense: Tensor, adjoint_a: bool, adjoint_b: bool) -> None:
    op = "SparseTensorDenseMatMul"
    if dense.dtype != st.dtype:
        raise mismatch(op, 3, st.dtype.kernel_name, dense.dtype)
    if dense.ndim != 2:
        raise invalid("Tensor 'b' is not a matrix", op)
    if len(st.sizes()) != 2:
        raise invalid("Tensor 'a_shape' must have 2 elements", op)
    n, k = st.sizes()
    ours, other = n if adjoint_a else k, dense.shape[1 if adjoint_b else 0]
    if other not in (None, ours):
        raise invalid(
            f"Cannot multiply A and B because inner dimension does not match: {ours} vs. {other}.  "
            f"Did you forget a transpose?  Dimensions of A: [{n}, {k}).  Dimensions of B: {shape_text(dense.shape)}",
            op,
        )
    _check_inside(st, op)


def _adjoint(matrix: Any) -> Any:
    flipped = TABLE["transpose"](matrix, perm=(1, 0))
    return TABLE["conj"](flipped) if matrix.dtype.is_complex else flipped


def _rows(x: Any, index: Any) -> Any:
    """The rows of an array, or in a recorded sweep of a tensor, with these numbers."""
    return TABLE["gather"](x, new_tensor(index) if isinstance(x, Tensor) else index, axis=0)


def _matmul(values: Any, dense: Any, *, rows: Any, columns: Any, size: int) -> Any:
    out = np.zeros((size, dense.shape[1]), np.result_type(values, dense))
    np.add.at(out, rows, values[:, None] * dense[columns])
    return out


def _matmul_rules(g: Any, z: Any, values: Any, dense: Any, *, rows: Any, columns: Any, size: int) -> Any:
    values_c, dense_c = (TABLE["conj"](v) if getattr(v.dtype, "kind", "") == "c" else v for v in (values, dense))
    share = TABLE["reduce_sum"](_rows(g, rows) * _rows(dense_c, columns), axis=(1,), keepdims=False)
    return share, TABLE["sparse_matmul"](values_c, g, rows=columns, columns=rows, size=int(dense.shape[0]))


declare("sparse_matmul", _matmul, _matmul_rules, op="SparseTensorDenseMatMul", label="@", keep="xy")
