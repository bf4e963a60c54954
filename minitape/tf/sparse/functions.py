"""Making, converting, reshaping and combining sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.evidence import decided
from ...engine.invalid import invalid, shown
from ...engine.operands import mismatch, placed, spelled, static, worded
from ...engine.operation import apply
from ...engine.primitives import TABLE
from ...engine.slices import IndexedSlices
from ...engine.tensor import Tensor, wrap
from .primitives import checked, pick, places, sparse
from .tensor import SparseTensor, sparse_input

_slice = slice


# -- dense and back ---------------------------------------------------------------------------------------------------


@spelled("sparse_tensor_to_dense", placed)
def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None) -> Tensor:
    """The dense tensor, with ``default_value`` (zero) where nothing is given. Differentiable.

    InvalidArgumentError, unless ``validate_indices`` is False, when places are out of order, repeated or outside.

    >>> import minitape as tf
    >>> tf.sparse.to_dense(tf.sparse.SparseTensor([[0, 1]], [5], [1, 2])).numpy()
    array([[0, 5]], dtype=int32)
    """
    st = sparse_input(sp_input)
    if validate_indices:
        checked(st, "SparseToDense")
    kind = st.dtype
    if default_value is None:
        default = wrap(np.array(b"", object)) if kind.kind == "s" else wrap(np.zeros((), kind.as_numpy_dtype))
    else:
        default = convert_to_tensor(default_value, kind)
    sizes = st.sizes()
    flat = apply(TABLE["sparse_fill"], (st.values, default), {"index": places(st), "size": int(np.prod(sizes))})
    return TABLE["reshape"](flat, shape=sizes)


@placed
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not zero (or not the empty string). Differentiable.

    ``tensor`` has any dtype and at least one axis (else InvalidArgumentError).

    >>> import minitape as tf
    >>> tf.sparse.from_dense([[0, 3]]).indices.numpy()
    array([[0, 1]])
    """
    tensor = convert_to_tensor(tensor)
    if not tensor.ndim:
        raise invalid("WhereOp : Unhandled input dimensions: 0", "Where")
    array = np.asarray(tensor.array)
    there = array != (b"" if tensor.dtype.kind == "s" else 0)
    index = np.argwhere(there)
    flat = TABLE["reshape"](tensor, shape=(array.size,))
    found = sparse(index, pick(flat, np.flatnonzero(there.reshape(-1))), array.shape)
    decided(found.indices, (tensor,), "Where")
    return found


@spelled("sparse_eye", placed)
def eye(
    num_rows: int, num_columns: int | None = None, dtype: Any = dtypes.float32, name: str | None = None
) -> SparseTensor:
    """A matrix with ones of ``dtype`` on the diagonal; square unless ``num_columns`` says otherwise.

    InvalidArgumentError for a negative number of rows or columns, TypeError for one that is no whole number.

    >>> import minitape as tf
    >>> print(tf.sparse.to_dense(tf.sparse.eye(2)).numpy().tolist())
    [[1.0, 0.0], [0.0, 1.0]]
    """
    rows, columns = (static(n) for n in (num_rows, num_rows if num_columns is None else num_columns))
    for word, n in (("rows", rows), ("columns", columns)):
        if not isinstance(n, int):
            raise TypeError(f"num_{word} must be an integer value")
    count = min(rows, columns)
    if count < 0:
        raise invalid(f"Requires start <= limit when delta > 0: 0/{count}", "Range")
    ones = np.ones(count, dtypes.as_dtype(dtype).as_numpy_dtype)
    return sparse(np.stack([np.arange(count)] * 2, 1), wrap(ones), (rows, columns))


@spelled("sparse_to_indicator", placed)
def to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Tensor:
    """A dense boolean tensor that is true at the places that the values name along the last axis.

    The last axis has the size ``vocab_size`` instead of its own. No gradient passes. InvalidArgumentError for a value
    below 0 or not below ``vocab_size``.

    >>> import minitape as tf
    >>> s = tf.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1])
    >>> print(tf.sparse.to_indicator(s, 3).numpy().tolist())
    [[False, False, True], [True, False, False]]
    """
    st = sparse_input(sp_input)
    index = st.indices.array.copy()
    index[:, -1] = st.values.array.astype(np.int64)
    if int(vocab_size) < 0:
        raise invalid(f"Dimension {int(vocab_size)} must be >= 0", "SparseToDense")
    out = np.zeros((*st.sizes()[:-1], int(vocab_size)), bool)
    if ((index[:, -1] < 0) | (index[:, -1] >= int(vocab_size))).any():
        shown = ",".join(map(str, out.shape))
        raise invalid(f"Indices are not valid (out of bounds).  Shape: [{shown}]", "SparseToDense")
    out[tuple(index.T)] = True
    return wrap(out)


# -- order and shape --------------------------------------------------------------------------------------------------


@spelled("sparse_reorder", placed)
def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The elements in the order of their places, row by row, as most functions want them. Differentiable.

    TypeError for what is not sparse, here as in all functions of ``tf.sparse``.

    >>> import minitape as tf
    >>> s = tf.SparseTensor([[1, 0], [0, 1]], [2.0, 1.0], [2, 2])
    >>> print(tf.sparse.reorder(s).indices.numpy().tolist())
    [[0, 1], [1, 0]]
    """
    st = sparse_input(sp_input)
    order = np.lexsort(st.indices.array.T[::-1]) if st.indices.array.size else np.zeros(0, np.int64)
    return sparse(st.indices.array[order], pick(st.values, order), st.sizes())


@spelled("sparse_transpose", placed)
def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The axes in another order, reversed by default; the elements are put in order again. Differentiable.

    ValueError when ``perm`` does not name each axis.

    >>> import minitape as tf
    >>> s = tf.SparseTensor([[0, 1]], [2.0], [2, 3])
    >>> print(tf.sparse.transpose(s).shape)
    (3, 2)
    """
    st = sparse_input(sp_input)
    rank = len(st.sizes())
    axes = (
        list(range(rank))[::-1]
        if perm is None
        else [int(p) for p in np.asarray(perm.array if isinstance(perm, Tensor) else perm)]
    )
    if len(axes) != rank:
        raise ValueError(f"Dimensions {len(axes)} and {rank} are not compatible")
    return reorder(sparse(st.indices.array[:, axes], st.values, [st.sizes()[a] for a in axes]))


@worded
@placed
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same elements in another shape; one size may be -1. Differentiable.

    InvalidArgumentError when the shapes have different numbers of places, and for several sizes of -1.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print(tf.sparse.reshape(s, [4]).indices.numpy().tolist())
    [[0], [3]]
    """
    st = sparse_input(sp_input)
    wanted = [int(n) for n in np.asarray(shape.array if isinstance(shape, Tensor) else shape).reshape(-1)]
    total = int(np.prod(st.sizes()))
    mine = f"input_shape=[{','.join(map(str, st.sizes()))}]"
    if wanted.count(-1) > 1:
        first, second = [i for i, n in enumerate(wanted) if n == -1][:2]
        raise invalid(f"only one output dimension may be -1, not both {first} and {second}", "SparseReshape")
    for i, n in enumerate(wanted):
        if n < -1:
            raise invalid(f"size {i} must be non-negative, not {n}", "SparseReshape")
    if -1 in wanted:
        rest = int(np.prod([n for n in wanted if n != -1]))
        if not rest:
            raise invalid("reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are "
                          "non-zero", "SparseReshape")  # fmt: skip
        if total % max(rest, 1):
            shown = ",".join(str(total // rest if n == -1 else n) for n in wanted)
            raise invalid(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape requires a "
                f"multiple of {rest}. {mine} output_shape=[{shown}]",
                "SparseReshape",
            )
        wanted = [total // rest if n == -1 else n for n in wanted]
    if int(np.prod(wanted)) != total:
        raise invalid(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{int(np.prod(wanted))}. {mine} output_shape=[{','.join(map(str, wanted))}]",
            "SparseReshape",
        )
    index = np.stack(np.unravel_index(places(st), wanted), 1) if st.indices.array.size else np.zeros((0, len(wanted)))
    return sparse(index, st.values, wanted)


@spelled("sparse_expand_dims", placed)
def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A new axis of size 1, the last by default. Differentiable.

    InvalidArgumentError for an axis that lies outside.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print(tf.sparse.expand_dims(s, 0).shape)
    (1, 2, 2)
    """
    st = sparse_input(sp_input)
    rank = len(st.sizes())
    at = -1 if axis is None else int(axis)
    if at > rank:
        raise invalid(f"Expected size[1] in [0, {rank}], but got {at}", "Slice")
    place = at + rank + 1 if at < 0 else at
    if place < 0:
        raise invalid(f"Expected begin[1] in [0, {rank}], but got {place}", "Slice")
    sizes = list(st.sizes())
    sizes.insert(place, 1)
    return sparse(np.insert(st.indices.array, place, 0, axis=1), st.values, sizes)


@placed
def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a larger shape, or in the smallest that holds them. Differentiable.

    ValueError for a smaller shape, and for one of another number of axes.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print(tf.sparse.reset_shape(s, [3, 3]).shape)
    (3, 3)
    """
    st = sparse_input(sp_input)
    if new_shape is None:
        index = st.indices.array
        sizes = index.max(0) + 1 if len(index) else np.zeros(len(st.sizes()), np.int64)
    else:
        sizes = np.asarray(new_shape.array if isinstance(new_shape, Tensor) else new_shape, np.int64)
        if len(sizes) != len(st.sizes()):
            raise ValueError(f"Dimensions {len(sizes)} and {len(st.sizes())} are not compatible")
        if (sizes < np.array(st.sizes())).any():
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                f"({np.array(st.sizes())}), sp_input.shape ({sizes})."
            )
    return SparseTensor(st.indices, st.values, wrap(sizes.astype(np.int64)))


@spelled("sparse_slice", placed)
def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The block of ``size`` that begins at ``start``, cut where the tensor ends. Differentiable.

    InvalidArgumentError unless ``start`` and ``size`` have one number for each axis.

    >>> import minitape as tf
    >>> st = tf.sparse.from_dense([[1, 0], [2, 3]])
    >>> tf.sparse.to_dense(tf.sparse.slice(st, [1, 0], [1, 2])).numpy()
    array([[2, 3]], dtype=int32)
    """
    st = sparse_input(sp_input)
    rank = len(st.sizes())
    first, count = (np.asarray(convert_to_tensor(v).array, np.int64) for v in (start, size))
    for what, given in (("start", first), ("size", count)):
        if len(given) != rank:
            raise invalid(f"Expected {what} to be a vector of length {rank} but got length {len(given)}", "SparseSlice")
    index = st.indices.array
    last = np.minimum(first + count, np.array(st.sizes()))
    keep = np.flatnonzero(((index >= first) & (index < last)).all(1))
    return sparse(index[keep] - first, pick(st.values, keep), np.maximum(last - first, 0))


@spelled("sparse_split_v2", placed)
def split(
    sp_input: Any = None, num_split: int | None = None, axis: int | None = None, name: str | None = None
) -> list[SparseTensor]:
    """A list of ``num_split`` blocks along an axis, the first ones larger where it cannot be divided. Differentiable.

    InvalidArgumentError for an axis that is not there, and for a number below 1 or above the size of the axis.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print([p.shape for p in tf.sparse.split(s, 2, 0)])
    [TensorShape([1, 2]), TensorShape([1, 2])]
    """
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("sp_input, num_split and axis are required")
    st = sparse_input(sp_input)
    sizes, rank = list(st.sizes()), len(st.sizes())
    if not -rank <= int(axis) < rank:
        raise invalid(f"Input axis should be in range [{-rank}, {rank}), got {int(axis)}", "SparseSplit")
    at = int(axis) % rank
    if not 1 <= int(num_split) <= sizes[at]:
        raise invalid(
            f"Input num_split should be between 1 and the splitting dimension size ({sizes[at]}), got {int(num_split)}",
            "SparseSplit",
        )
    each, extra = divmod(sizes[at], int(num_split))
    out, begin = [], 0
    for i in range(int(num_split)):
        start, size = [0] * len(sizes), sizes[:]
        start[at], size[at] = begin, each + (i < extra)
        begin += size[at]
        out.append(slice(st, start, size))
    return out


@spelled("sparse_concat_v2", placed)
def concat(axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None) -> SparseTensor:
    """Sparse tensors joined along an axis. No gradient passes, as in TensorFlow.

    With ``expand_nonconcat_dims`` the other sizes may differ, and the largest count. InvalidArgumentError for other
    sizes or dtypes that differ, and for an axis that is not there.

    >>> import minitape as tf
    >>> a = tf.sparse.from_dense([[1, 0]])
    >>> tf.sparse.to_dense(tf.sparse.concat(1, [a, a])).numpy()
    array([[1, 0, 1, 0]], dtype=int32)
    """
    inputs = [sparse_input(s) for s in sp_inputs]
    if not inputs:
        raise invalid("Input list 'indices' of Op 'SparseConcat' must not be empty.", "SparseConcat")
    if len(inputs) == 1:
        return inputs[0]
    rank = len(inputs[0].sizes())
    if not -rank <= axis < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {axis}", "SparseConcat")
    at = axis % rank
    for i, s in enumerate(inputs):
        if s.dtype != inputs[0].dtype:
            raise mismatch("SparseConcat", len(inputs) + i, inputs[0].dtype, s.dtype)
    sizes = np.array([s.sizes() for s in inputs])
    if not expand_nonconcat_dims:
        for i, row in enumerate(sizes):
            for d in range(rank):
                if d != at and row[d] != sizes[0][d]:
                    raise invalid(
                        f"Input shapes must match: expected {sizes[0][d]} for dimension {d} but got {row[d]} at "
                        f"position {i}",
                        "SparseConcat",
                    )
    moved, before = [], 0
    for s, row in zip(inputs, sizes, strict=True):
        index = s.indices.array.copy()
        index[:, at] += before
        before += row[at]
        moved.append(index)
    index = np.concatenate(moved)
    order = np.lexsort(index.T[::-1]) if index.size else np.zeros(0, np.int64)
    out = sizes.max(0)
    out[at] = before
    values = apply(TABLE["sparse_join"], tuple(s.values for s in inputs), {"order": order})
    return sparse(index[order], values, out)


@spelled("sparse_retain", placed)
def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The elements for which a mask of bools, one for each element, is true. Differentiable.

    ValueError for a mask of another length.

    >>> import minitape as tf
    >>> s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    >>> print(tf.sparse.retain(s, [False, True]).values.numpy())
    [2.]
    """
    st = sparse_input(sp_input)
    keep = np.asarray(convert_to_tensor(to_retain).array)
    if len(keep) != st.values.shape[0]:
        raise ValueError(f"Dimensions {st.values.shape[0]} and {len(keep)} are not compatible")
    chosen = np.flatnonzero(keep)
    return sparse(st.indices.array[chosen], apply(TABLE["gather"], (st.values, wrap(chosen)), {"axis": 0}), st.sizes())


@spelled("sparse_fill_empty_rows", placed)
def fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> tuple[SparseTensor, Any]:
    """With ``default_value`` at the first column of each empty row of a matrix; and which rows were empty.

    The second result is a vector of bools. Differentiable by the values. InvalidArgumentError unless the default is a
    scalar.

    >>> import minitape as tf
    >>> s = tf.SparseTensor([[0, 0]], [5.0], [2, 2])
    >>> filled, empty = tf.sparse.fill_empty_rows(s, -1.0)
    >>> print(filled.values.numpy(), empty.numpy())
    [ 5. -1.] [False  True]
    """
    st = sparse_input(sp_input)
    index, rows = st.indices.array, st.sizes()[0]
    empty = np.ones(rows, bool)
    empty[index[:, 0]] = False
    extra = np.zeros((int(empty.sum()), index.shape[1]), np.int64)
    extra[:, 0] = np.flatnonzero(empty)
    joined = np.concatenate([index, extra])
    default = convert_to_tensor(default_value, st.dtype)
    if default.ndim:
        raise invalid(f"default_value must be a scalar, saw: {shown(default.shape)}", "SparseFillEmptyRows")
    fill = wrap(np.full(len(extra), default.numpy(), st.dtype.as_numpy_dtype))
    order = np.argsort(joined[:, 0], kind="stable")
    values = pick(TABLE["concat"](st.values, fill, axis=0), order)
    return sparse(joined[order], values, st.sizes()), wrap(empty)


@spelled("sparse_mask", placed)
def mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """IndexedSlices without the slices at ``mask_indices``, which need not be there. Differentiable.

    >>> import minitape as tf
    >>> a = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 3]))
    >>> print(tf.sparse.mask(a, tf.constant([0])).indices.numpy())
    [3]
    """
    indices, out = np.asarray(a.indices.array), np.asarray(convert_to_tensor(mask_indices).array)
    keep = np.flatnonzero(~np.isin(indices, out))
    return IndexedSlices(pick(a.values, keep), wrap(indices[keep]), a.dense_shape)
