"""Joining, reshaping and picking from ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.operands import mismatch, placed, worded
from ...engine.primitives import TABLE
from ...engine.tensor import wrap
from . import checks, elementwise
from .convert import coordinates
from .parts import all_splits, is_ragged, nvals, rowids_of, splits_of
from .rows import as_ragged, common, cut, take_rows, take_within
from .tensor import as_ragged_or_tensor, make

# -- joining ----------------------------------------------------------------------------------------------------------


def concat(values: Any, axis: int, name: str | None = None) -> Any:
    """Tensors of which some are ragged, joined along an axis."""
    tensors = _several(values)
    if len(tensors) == 1:
        return tensors[0]
    _one_rank(tensors)
    at = checks.axis(int(axis), len(tensors[0].shape))
    if not any(is_ragged(t) for t in tensors) and at == 0:
        tensors = [as_ragged(t, 1) for t in tensors]
    return _concat(common(tensors) if any(is_ragged(t) for t in tensors) else tensors, at)


def _concat(tensors: list[Any], axis: int) -> Any:
    if not is_ragged(tensors[0]):
        return TABLE["concat"](*_one_dtype(tensors, "ConcatV2"), axis=axis)
    if axis == 0:
        parts = [t._splits for t in tensors]
        lengths = np.concatenate([np.diff(s) for s in parts])
        uniform = tensors[0]._uniform if len({t._uniform for t in tensors}) == 1 else None
        return make(_concat([t._values for t in tensors], 0), splits_of(lengths), uniform)
    rows = {nvals(t) for t in tensors}
    if len(rows) > 1:
        other = next(i for i, t in enumerate(tensors) if nvals(t) != nvals(tensors[0]))
        raise checks.unequal(
            np.array([nvals(tensors[0])]),
            np.array([nvals(tensors[other])]),
            f"Input tensors at index 0 (=x) and {other} (=y) have incompatible shapes.\n",
        )
    if axis == 1:
        joined, count, k = _concat(tensors, 0), rows.pop(), len(tensors)
        order = np.arange(count * k).reshape(k, count).T.reshape(-1)
        mixed = take_rows(joined, order)
        uniform = None if any(t._uniform is None for t in tensors) else sum(t._uniform for t in tensors)
        return make(mixed._values, mixed._splits[::k], uniform)
    first = tensors[0]
    for t in tensors[1:]:
        if not np.array_equal(t._splits, first._splits):
            raise checks.unequal(first._splits, t._splits, "Inputs must have identical ragged splits\n")
    return make(_concat([t._values for t in tensors], axis - 1), first._splits, first._uniform)


def _several(values: Any) -> list[Any]:
    """Tensors and ragged tensors; lists take the type of the first tensor among them."""
    hint = next((v.dtype for v in values if hasattr(v, "dtype") and not isinstance(v, np.generic)), None)
    return [as_ragged_or_tensor(v, hint if isinstance(hint, dtypes.DType) else None) for v in values]


def _one_rank(tensors: list[Any]) -> None:
    for t in tensors[1:]:
        if len(t.shape) != len(tensors[0].shape):
            raise ValueError(f"Shape {t.shape} must have rank {len(tensors[0].shape)}")


def _one_dtype(tensors: list[Any], op: str) -> list[Any]:
    for i, t in enumerate(tensors):
        if t.dtype != tensors[0].dtype:
            raise mismatch(op, i, tensors[0].dtype, t.dtype)
    return tensors


@placed
@worded
def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Tensors (also of different lengths) as the rows of a ragged tensor, or along another new axis.

    All must have one dtype and one number of axes. Differentiable. ValueError for an axis that is not there, other numbers
    of axes, and an empty list.

    >>> import minitape as tf
    >>> tf.ragged.stack([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    tensors = _several(values)
    if not tensors:
        raise ValueError("rt_inputs may not be empty.")
    _one_rank(tensors)
    at = checks.axis(int(axis), len(tensors[0].shape), 1)
    if not any(is_ragged(t) for t in tensors) and (at > 0 or not tensors[0].ndim):
        return elementwise.function("stack")(tensors, at)
    if at == 0:
        counts = np.array([nvals(t) for t in tensors], np.int64)
        if any(is_ragged(t) for t in tensors):
            joined = _concat(common(tensors), 0)
            counts = counts.astype(joined._splits.dtype)
        else:
            parts = _one_dtype(tensors, "ConcatV2")
            deep = parts[0].ndim > 1  # the rows may have other sizes
            joined = _concat([as_ragged(t, 1) for t in parts], 0) if deep else TABLE["concat"](*parts, axis=0)
        return make(joined, splits_of(counts))
    return concat([expand_dims(t, at) for t in tensors], at)


def tile(rt: Any, multiples: Any) -> Any:
    """The rows, and what is in them, several times."""
    counts = np.asarray(convert_to_tensor(multiples).array)
    if counts.size < len(rt.shape):
        counts[len(rt.shape) - 1]
    for axis in range(len(rt.shape) - 1, -1, -1):
        if counts[axis] != 1:
            rt = concat([rt] * int(counts[axis]), axis) if counts[axis] else cut(rt, 0, 0)
    return rt


def split(rt: Any, num_or_size_splits: Any, axis: int = 0, num: int | None = None) -> list[Any]:
    """The rows in several parts."""
    if checks.axis(int(axis), len(rt.shape)) != 0:
        raise ValueError("tf.split of a RaggedTensor: minitape splits along axis 0 only.")
    given = convert_to_tensor(num_or_size_splits)
    if not given.dtype.is_integer:
        raise TypeError("`num_or_size_splits` must be an `int` or 1-D list or `Tensor` of integers..  Expected \"x\" to be "
                        f"integer type.  Found: tensor of dtype {given.dtype}")  # fmt: skip
    rows, sizes = nvals(rt), np.asarray(given.array)
    what = "Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`.\n"
    if sizes.ndim == 0:
        parts = int(sizes)
        if parts < 1:
            raise ValueError(f"`num_or_size_splits` must be >=1 if it is an `int`.Received {parts}.")
        if rows % parts:
            raise checks.unequal(np.array([rows]), np.array([rows // parts * parts]), what)
        sizes = np.full(parts, rows // parts)
    elif num is not None and num != len(sizes):
        raise ValueError("`num` does not match the size of `num_or_size_split`. Received `num`: "
                         f"{num} and size of `num_or_size_split`: {len(sizes)}.")  # fmt: skip
    checks.not_negative(sizes, "`num_or_size_splits` must be non-negative.")
    if sizes.sum() != rows:
        raise checks.unequal(np.array([rows]), np.array([sizes.sum()]), what)
    return [cut(rt, int(end - n), int(end)) for n, end in zip(sizes, np.cumsum(sizes), strict=True)]


# -- shape ------------------------------------------------------------------------------------------------------------


def expand_dims(x: Any, axis: int) -> Any:
    """A new axis of size 1."""
    at = checks.axis(int(axis), len(x.shape), 1)
    if not is_ragged(x):
        return elementwise.function("expand_dims")(x, at)
    if at == 0:
        return make(x, np.array([0, nvals(x)], x._splits.dtype), nvals(x))
    if at == 1:
        return make(x, np.arange(nvals(x) + 1, dtype=x._splits.dtype), 1)
    return make(expand_dims(x._values, at - 1), x._splits, x._uniform)


def squeeze(rt: Any, axis: Any = None) -> Any:
    """Without axes of size 1, which must be named."""
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = sorted({checks.axis(int(a), len(rt.shape)) for a in np.atleast_1d(np.asarray(axis))}, reverse=True)
    for a in axes:
        rt = _squeezed(rt, a)
    return rt


def _squeezed(rt: Any, axis: int) -> Any:
    if not is_ragged(rt):
        return elementwise.function("squeeze")(rt, axis)
    if axis == 0:
        if nvals(rt) != 1:
            raise invalid(f"Can not squeeze dim[0], expected a dimension of 1, got {nvals(rt)}", "Squeeze")
        return rt._values
    if axis == 1:
        if (np.diff(rt._splits) != 1).any():
            raise invalid("the given axis (axis = 1) is not squeezable!")
        return rt._values
    return make(_squeezed(rt._values, axis - 1), rt._splits, rt._uniform)


def reverse(rt: Any, axis: Any) -> Any:
    """Along each axis the other way round."""
    for i, a in enumerate(np.atleast_1d(np.asarray(axis.array if hasattr(axis, "array") else axis))):
        rt = _reversed(rt, checks.axis(a, len(rt.shape), name=f"axis[{i}]"))
    return rt


def _reversed(rt: Any, axis: int) -> Any:
    if not is_ragged(rt):
        return elementwise.function("reverse")(rt, [axis])
    if axis == 0:
        return take_rows(rt, np.arange(nvals(rt))[::-1])
    if axis == 1:
        uniform, out = rt._uniform, take_within(rt, lambda n: np.arange(n)[::-1])
        out._uniform = uniform
        return out
    return make(_reversed(rt._values, axis - 1), rt._splits, rt._uniform)


def reshape(tensor: Any, shape: Any) -> Any:
    """A ragged tensor in a dense shape, or a tensor in a ragged one."""
    from .shape import DynamicRaggedShape

    flat = tensor.flat_values if is_ragged(tensor) else convert_to_tensor(tensor)
    if isinstance(shape, DynamicRaggedShape):
        return shape.fill(TABLE["reshape"](flat, shape=shape.flat_shape()))
    return elementwise.function("reshape")(flat, shape)


# -- picking ----------------------------------------------------------------------------------------------------------


def gather(params: Any, indices: Any, axis: int = 0, batch_dims: int = 0) -> Any:
    """Rows by number; ragged numbers give ragged rows."""
    params, indices = as_ragged_or_tensor(params), as_ragged_or_tensor(indices)
    at = checks.axis(int(axis if axis is not None else batch_dims), len(params.shape))
    if batch_dims or at:
        return _gather_inner(params, indices, at, batch_dims)
    if is_ragged(indices):
        return indices.with_values(gather(params, indices._values))
    numbers = np.asarray(indices.array)
    rows = nvals(params)
    wrong = np.flatnonzero((numbers.reshape(-1) < 0) | (numbers.reshape(-1) >= rows))
    if wrong.size:
        raise invalid(f"indices[{wrong[0]}] = {numbers.reshape(-1)[wrong[0]]} is not in [0, {rows})", "RaggedGather")
    if not numbers.ndim:
        return params[int(numbers)]
    out = take_rows(params, numbers.reshape(-1))
    for size in reversed(numbers.shape[1:]):
        out = (
            make(out, np.arange(nvals(out) // size + 1 if size else 1, dtype=np.int64) * size, size)
            if is_ragged(params)
            else out
        )
    if not is_ragged(params) and numbers.ndim > 1:
        out = TABLE["reshape"](out, shape=(*numbers.shape, *params.shape[1:]))
    return out


def _gather_inner(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """Along the second axis: the same numbers in each row, or (with a batch axis) each row's own."""
    if axis != 1 or batch_dims not in (0, 1) or not is_ragged(params):
        raise ValueError("tf.gather of a RaggedTensor: minitape supports axis 0 and 1, and batch_dims 0 and 1.")
    count = nvals(params)
    if batch_dims:
        rows = indices if is_ragged(indices) else as_ragged(indices, 1)
        numbers, splits, uniform = np.asarray(rows._values.array), rows._splits, rows._uniform
    else:
        each = np.atleast_1d(np.asarray(indices.array))
        numbers, uniform = np.tile(each, count), len(each)
        splits = np.arange(count + 1, dtype=np.int64) * uniform
    starts, lengths = params._splits[:-1][rowids_of(splits)], np.diff(params._splits)[rowids_of(splits)]
    wrong = np.flatnonzero((numbers < 0) | (numbers >= lengths))
    if wrong.size:
        raise invalid(f"indices[{wrong[0]}] = {numbers[wrong[0]]} is not in [0, {lengths[wrong[0]]})", "RaggedGather")
    out = take_rows(params._values, starts + numbers)
    if uniform is not None and not is_ragged(out):
        return TABLE["reshape"](out, shape=(count, uniform, *out.shape[1:]))
    return make(out, splits, uniform)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, bad_indices_policy: str = "") -> Any:
    """Elements or rows by the numbers of several axes; ragged numbers give ragged rows."""
    if not isinstance(batch_dims, int) or batch_dims:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if bad_indices_policy not in ("", "DEFAULT"):
        raise ValueError("non-default bad_indices_policy not supported for ragged gather")
    params, indices = as_ragged_or_tensor(params), as_ragged_or_tensor(indices)
    if is_ragged(indices):
        return indices.with_values(gather_nd(params, indices._values))
    if not indices.ndim:
        raise ValueError("indices.rank must be at least 1.")
    keys = np.asarray(indices.array)
    depth = keys.shape[-1]
    if not depth:  # the whole, as often as there are numbers
        return gather(expand_dims(params, 0), wrap(np.zeros(keys.shape[:-1], np.int32)))
    rows, level = keys[..., 0], 1
    while level < depth and is_ragged(params):
        starts = elementwise.function("gather")(params._splits, rows)
        rows, params, level = starts.array + keys[..., level], params._values, level + 1
    if is_ragged(params):
        return gather(params, np.atleast_1d(rows))
    if level == depth:
        return elementwise.function("gather")(params, rows)
    return elementwise.function("gather_nd")(params, np.concatenate([rows[..., None], keys[..., level:]], -1))


@placed
@worded
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements (or rows) for which the mask is true, each row of its own length.

    ``mask`` is a dense or ragged tensor of bools (else TypeError) whose axes are the first ones of ``data`` (else
    ValueError). Differentiable in ``data``.

    >>> import minitape as tf
    >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    <tf.RaggedTensor [[1], [3, 4]]>
    """
    data = as_ragged_or_tensor(data)
    mask = mask if is_ragged(mask) else convert_to_tensor(mask, dtypes.bool)
    if not len(mask.shape):
        raise ValueError("mask cannot be scalar.")
    known = data.shape[: len(mask.shape)]
    if not known.is_compatible_with(mask.shape):
        raise ValueError(f"Shapes {known} and {mask.shape} are incompatible")
    if len(mask.shape) == 1:
        return take_rows(data, np.flatnonzero(mask.array))
    mask, data = (v if is_ragged(v) else as_ragged(v, 1) for v in (mask, data))
    if not np.array_equal(mask._splits, data._splits):
        raise checks.unequal(mask._splits, data._splits, "Inputs must have identical ragged splits\n")
    if len(mask.shape) > 2:
        return make(boolean_mask(data._values, mask._values), data._splits, data._uniform)
    true = np.asarray(mask._values.array)
    before = np.append(0, np.cumsum(true))  # how many of the values in front of each are kept
    splits = before[mask._splits].astype(mask._splits.dtype)
    return make(take_rows(data._values, np.flatnonzero(true)), splits)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """One or the other element; with the condition alone, where it is true."""
    if x is None and y is None:
        if not is_ragged(condition):
            return elementwise.function("where")(condition)
        places = np.stack(coordinates(condition), 1)
        return wrap(places[np.asarray(condition.flat_values.array)].astype(np.int64))
    if x is None or y is None:
        raise ValueError("x and y must be either both None or both non-None")
    condition = as_ragged_or_tensor(condition)
    x = as_ragged_or_tensor(
        x, getattr(y, "dtype", None) if isinstance(getattr(y, "dtype", None), dtypes.DType) else None
    )
    y = as_ragged_or_tensor(y, x.dtype)
    shape = next(v for v in (condition, x, y) if is_ragged(v))
    parts = []
    for v in (condition, x, y):
        if is_ragged(v) and [s.tolist() for s in all_splits(v)] != [s.tolist() for s in all_splits(shape)]:
            lengths, sizes = np.diff(v._splits), np.diff(shape._splits)
            raise invalid(
                "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'Unable to "
                "broadcast: dimension size mismatch in dimension'\n1\nb'lengths='\n"
                + ", ".join(map(str, lengths))
                + "\nb'dim_size='\n"
                + ", ".join(map(str, sizes))
            )
        if not is_ragged(v) and v.ndim:
            v = elementwise.broadcast(v, shape)[0]
        parts.append(v.flat_values if is_ragged(v) else v)
    return shape.with_flat_values(elementwise.function("where")(*parts))
