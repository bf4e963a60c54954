"""Ragged tensors from and to dense and sparse ones; merging axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.operation import apply
from ...engine.primitives import TABLE, declare
from ...engine.shape import TensorShape
from ...engine.slices import IndexedSlices
from ...engine.tensor import Tensor, wrap
from . import checks
from .parts import all_splits, bounds, is_ragged, nvals, rowids_of, splits_of
from .rows import as_ragged, take_rows
from .tensor import make


def coordinates(rt: Any) -> list[Any]:
    """For each flat value its place along the outermost and along each ragged axis.

    >>> import minitape as tf
    >>> coordinates(tf.ragged.constant([[1, 2], [3]]))
    [array([0, 0, 1]), array([0, 1, 0])]
    """
    found: list[Any] = []
    for splits in all_splits(rt):
        rows = rowids_of(splits)
        within = np.arange(len(rows), dtype=np.int64) - splits[:-1][rows]
        found = [c[rows] for c in found] if found else [rows]
        found.append(within)
    return found


# -- dense ------------------------------------------------------------------------------------------------------------


def _fill(values: Any, default: Any, *, places: Any, kept: Any, shape: tuple[int, ...]) -> Any:
    """The kept rows of ``values`` at their places in an array that is ``default`` elsewhere."""
    inner = values.shape[1:]
    rows = int(np.prod(shape[: len(shape) - len(inner)]))
    out = np.empty((rows, *inner), values.dtype)
    out[...] = default
    out[places] = values[kept]
    return out.reshape(shape)


def _fill_values(g: Any, z: Any, values: Any, default: Any, *, places: Any, kept: Any, shape: tuple[int, ...]) -> Any:
    tail = tuple(values.shape)[1:]
    rows = TABLE["reshape"](g, shape=(int(np.prod(shape[: len(shape) - len(tail)])), *tail))
    box = wrap if isinstance(g, Tensor) else np.asarray
    sizes = np.array([int(n) for n in values.shape], np.int32)
    return IndexedSlices(TABLE["gather"](rows, box(places), axis=0), box(kept.astype(np.int32)), box(sizes))


def _fill_default(g: Any, z: Any, values: Any, default: Any, *, places: Any, kept: Any, shape: tuple[int, ...]) -> Any:
    tail = tuple(values.shape)[1:]
    count = int(np.prod(shape[: len(shape) - len(tail)]))
    rest = np.setdiff1d(np.arange(count), places)
    rows = TABLE["reshape"](g, shape=(count, *tail))
    box = wrap if isinstance(g, Tensor) else np.asarray
    picked = TABLE["gather"](rows, box(rest), axis=0)
    return (
        TABLE["reduce_sum"](picked, axis=(0,), keepdims=False)
        if len(tuple(default.shape)) == len(tail)
        else TABLE["reduce_sum"](picked, axis=None, keepdims=False)
    )


def _example(rng: Any) -> Any:
    places = {"places": np.array([0, 2, 3]), "kept": np.array([0, 1, 2]), "shape": (2, 3)}
    return (rng.standard_normal(4), rng.standard_normal(())), places


declare(
    "ragged_to_tensor",
    _fill,
    [_fill_values, _fill_default],
    op="RaggedTensorToTensor",
    keep="",
    example=_example,
)


def to_tensor(rt: Any, default_value: Any, shape: Any) -> Any:
    """The rows as a dense tensor."""
    sizes, flat = bounds(rt), rt.flat_values
    wanted = _wanted(shape)
    if wanted.rank is not None:
        text = str(wanted.as_list()).replace("None", "?").replace(" ", "")
        what = f"rt_input.shape and shape={text} are incompatible: "
        if wanted.rank != len(sizes):
            raise invalid(f"{what}rt_input.rank = {len(sizes)} but shape.rank = {wanted.rank}", "RaggedTensorToTensor")
        for axis in range(rt.ragged_rank + 1, len(sizes)):
            if wanted[axis] not in (None, sizes[axis]):
                raise invalid(f"{what}rt_input.shape[{axis}] = {sizes[axis]} but shape[{axis}] = {wanted[axis]}",
                              "RaggedTensorToTensor")  # fmt: skip
        sizes = [n if w is None else w for n, w in zip(sizes, wanted.as_list(), strict=True)]
    if default_value is None:
        default = wrap(np.array(b"", object) if flat.dtype.kind == "s" else np.zeros((), flat.dtype.as_numpy_dtype))
    else:
        default = convert_to_tensor(default_value, flat.dtype)
    if default.ndim >= flat.ndim:
        raise invalid(
            f"default_value.shape={_brief(default)} and rt_input.flat_values.shape={_brief(flat)} are incompatible: "
            f"default_value.rank = {default.ndim}  must be less than rt_input.flat_values.rank = {flat.ndim}",
            "RaggedTensorToTensor",
        )
    for axis in range(-default.ndim, 0):
        if default.shape[axis] not in (1, flat.shape[axis]):
            raise invalid(
                f"default_value.shape={_brief(default)} and rt_input.flat_values.shape={_brief(flat)} are incompatible: "
                f"default_value.shape[{axis}] = {default.shape[axis]} but rt_input.flat_values.shape[{axis}] = "
                f"{flat.shape[axis]}",
                "RaggedTensorToTensor",
            )
    places = coordinates(rt)
    outer = sizes[: len(places)]
    kept = np.ones(len(places[0]), bool)
    for place, size in zip(places, outer, strict=True):
        kept &= place < size
    index = np.zeros(int(kept.sum()), np.int64)
    for place, size in zip(places, outer, strict=True):
        index = index * size + place[kept]
    return apply(
        TABLE["ragged_to_tensor"],
        (flat, default),
        {"places": index, "kept": np.flatnonzero(kept), "shape": tuple(sizes)},
    )


def _wanted(shape: Any) -> TensorShape:
    """The sizes that are asked for; a tensor says -1 for those that are not."""
    if shape is None:
        return TensorShape(None)
    if not any(isinstance(n, Tensor) for n in (shape if isinstance(shape, (list, tuple)) else [shape])):
        return TensorShape(shape)
    sizes = np.asarray(shape.array if isinstance(shape, Tensor) else [-1 if n is None else int(n) for n in shape])
    if not sizes.ndim:
        if sizes != -1:
            raise invalid("The only valid scalar shape tensor is the fully unknown shape specified as -1.",
                          "RaggedTensorToTensor")  # fmt: skip
        return TensorShape(None)
    return TensorShape([None if n == -1 else int(n) for n in sizes])


def _brief(t: Any) -> str:
    return f"[{','.join(str(n) for n in t.shape)}]"


def from_tensor(tensor: Any, lengths: Any, padding: Any, ragged_rank: Any, dtype: Any) -> Any:
    """A dense tensor as a ragged one."""
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    tensor = convert_to_tensor(tensor)
    rank = tensor.ndim
    if rank <= 1:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged "
            f"dimensions. Received argument `tensor` with rank {rank}."
        )
    if ragged_rank >= rank:
        raise ValueError(
            f"The rank of a RaggedTensor must be greater than its ragged_rank ({ragged_rank}). Received argument "
            f"`tensor` with rank {rank}."
        )
    if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float, np.generic)):
        return _by_nested_lengths(tensor, lengths, dtype)
    if lengths is None and padding is None:
        return as_ragged(tensor, ragged_rank, dtype)
    if ragged_rank > 1:  # the outer axes stay as they are, the innermost of the ragged ones is cut
        inner = TABLE["reshape"](tensor, shape=(-1, *tuple(tensor.shape)[ragged_rank:]))
        cut = from_tensor(inner, lengths, padding, 1, dtype)
        for size in reversed(tuple(tensor.shape)[1:ragged_rank]):
            rows = nvals(cut) // size if size else 0
            cut = make(cut, np.arange(rows + 1, dtype=dtype) * size, int(size))
        return cut
    counts = _counts(tensor, lengths, padding).astype(dtype)
    chosen = np.flatnonzero((np.arange(int(tensor.shape[1]))[None, :] < counts[:, None]).reshape(-1))
    flat = TABLE["reshape"](tensor, shape=(-1, *tuple(tensor.shape)[2:]))
    return make(take_rows(flat, chosen), splits_of(counts))


def _counts(tensor: Any, lengths: Any, padding: Any) -> np.ndarray:
    """How many elements of each row stay: the first ``lengths``, or those in front of the last padding."""
    width = int(tensor.shape[1])
    if padding is not None:
        fill = convert_to_tensor(padding, tensor.dtype)
        if tuple(fill.shape) != tuple(tensor.shape)[2:]:
            raise ValueError(f"Shapes {fill.shape} and {tensor.shape[2:]} are incompatible")
        other = tensor.array != fill.array
        other = other.reshape((*other.shape[:2], -1)).any(-1) if other.ndim > 2 else other
        return np.max(np.where(other, np.arange(1, width + 1), 0), axis=1, initial=0)
    counts = np.clip(checks.integers(lengths, "lengths"), 0, width)
    if len(counts) != int(tensor.shape[0]):
        raise ValueError(f"Shapes {tensor.shape[:2]} and ({len(counts)}, {width}) are incompatible")
    return counts


def _by_nested_lengths(tensor: Any, lengths: Any, dtype: Any) -> Any:
    if len(lengths) >= tensor.ndim:
        raise ValueError(
            f"If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): "
            f"{len(lengths)}."
        )
    first, rest = checks.partition(lengths[0], "row_lengths").astype(dtype), lengths[1:]
    rt = from_tensor(tensor, first, None, 1, dtype)
    if not rest:
        return rt
    return make(_by_nested_lengths(rt._values, rest, dtype), rt._splits)


# -- sparse -----------------------------------------------------------------------------------------------------------


def to_sparse(rt: Any) -> Any:
    """The values at the left of each row of a sparse tensor."""
    from ..sparse import SparseTensor

    flat = rt.flat_values
    places = coordinates(rt)
    inner = tuple(int(n) for n in flat.shape[1:])
    count = int(np.prod(inner))
    columns = [np.repeat(p, count) for p in places]
    grid = np.indices(inner).reshape(len(inner), -1) if inner else np.zeros((0, 1), np.int64)
    columns += [np.tile(axis, nvals(flat)) for axis in grid]
    index = np.stack(columns, 1).astype(np.int64) if columns else np.zeros((0, 0), np.int64)
    values = flat if not inner else TABLE["reshape"](flat, shape=(nvals(flat) * count,))
    return SparseTensor(wrap(index), values, wrap(np.array(bounds(rt), np.int64)))


def from_sparse(st: Any, dtype: Any) -> Any:
    """The rows of a sparse matrix."""
    from ..sparse import SparseTensor

    if not isinstance(st, SparseTensor):
        raise TypeError(f"Argument `st_input` must be of type SparseTensor, but is of type {type(st).__name__}.")
    if st.shape.rank != 2:
        raise ValueError("rank(st_input) must be 2.")
    index = st.indices.array
    rows, columns = index[:, 0], index[:, 1]
    expected = np.arange(len(rows)) - np.searchsorted(rows, rows)
    if not (np.diff(rows) >= 0).all() or not np.array_equal(columns, expected):
        raise invalid(
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'SparseTensor is not "
            "right-ragged'\nb'SparseTensor.indices ='\n"
            + ", ".join(str(v) for v in index.reshape(-1)[:3])
            + (", ..." if index.size > 3 else "")
        )
    counts = np.bincount(rows, minlength=int(st.dense_shape.array[0])).astype(dtype)
    return make(st.values, splits_of(counts))


# -- merging axes -----------------------------------------------------------------------------------------------------


def merge_dims(value: Any, outer_axis: int, inner_axis: int) -> Any:
    """The axes from ``outer_axis`` to ``inner_axis`` as one."""
    rank = len(value.shape)
    outer = checks.axis(outer_axis, rank, name="outer_axis")
    inner = checks.axis(inner_axis, rank, name="inner_axis")
    if outer > inner:
        raise ValueError(f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis}).")
    return _merged(value, outer, inner)


def _merged(value: Any, outer: int, inner: int) -> Any:
    if outer == inner:
        return value
    if not is_ragged(value):
        sizes = [int(n) for n in value.shape]
        return TABLE["reshape"](
            value, shape=(*sizes[:outer], int(np.prod(sizes[outer : inner + 1])), *sizes[inner + 1 :])
        )
    if outer > 1:
        return make(_merged(value._values, outer - 1, inner - 1), value._splits, value._uniform)
    if outer == 0:
        return _merged(value._values, 0, inner - 1)
    within = as_ragged(value._values, 1, value._splits.dtype) if not is_ragged(value._values) else value._values
    merged = make(within._values, within._splits[value._splits])
    return _merged(merged, 1, inner - 1)
