"""Elements picked out of tensors by their places, and put there: ``x[1:, ..., tf.newaxis]``, gather, masks, scatter."""

from __future__ import annotations

import numbers
from collections import namedtuple
from functools import lru_cache
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.record.provenance import build_origin, note_escape
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.operation import OPERAND_CHECKS, apply
from ..engine.tensor.partial_updates import attach_assign_to_slice, build_slice_assign
from ..engine.tensor.tensor import EagerTensor, Tensor, create_tensor
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error, check_indices
from ..functions.traced_calls import wrap_for_traces
from .arguments import apply_primitive, check_dtype_kind, convert_to_one_dtype, normalize_axis, to_integer, to_tensor

if TYPE_CHECKING:
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Attributes, DTypeLike, GraphName, Index, Object, Sizes, Value
    from ..engine.values.shape import TensorShape

# -- slices ----------------------------------------------------------------------------------------


def getitem(
    tensor: Tensor, key: Index, variable: ResourceVariable | None = None, attrs: Attributes | None = None
) -> Tensor:
    """The slice of a tensor that an index selects; a boolean tensor or array selects elements.

    ``variable`` is the one whose state ``tensor`` is: the slice can then be assigned to. ``attrs`` have the NumPy index
    where it is known.

    >>> import minitape as tf
    >>> x = tf.constant([[1, 2, 3], [4, 5, 6]])
    >>> getitem(x, (slice(None), 1)).numpy(), getitem(x, x > 4).numpy()
    (array([2, 5], dtype=int32), array([5, 6], dtype=int32))
    """
    if attrs is None and type(tensor) is EagerTensor:
        attrs = _find_plain_slice_attrs(key, tensor._value.shape)
    if attrs is None:
        parts = key if isinstance(key, (list, tuple)) else [key]
        return _slice_by_parts_traced(
            tensor, [(part.start, part.stop, part.step) if type(part) is slice else part for part in parts], variable
        )
    selected: Tensor = apply(TABLE["slice"], (tensor,), attrs, _getframe(1))
    if variable is not None:
        attach_assign_to_slice(selected, build_slice_assign(variable, attrs["spec"]))
    return selected


EagerTensor.__getitem__ = getitem  # type: ignore[method-assign]


def _slice_by_parts(tensor: Tensor, parts: list[Index], variable: ResourceVariable | None = None) -> Tensor:
    """Return the slice that the parts of an index select, in which a tuple stands for a slice."""
    key = [slice(*part) if type(part) is tuple else part for part in parts]
    if len(key) == 1 and (isinstance(key[0], bool) or getattr(key[0], "dtype", None) == np.bool_):
        return boolean_mask(tensor, key[0])
    return getitem(tensor, key, variable, {"spec": to_numpy_index(tensor.shape, key)})


_slice_by_parts_traced = wrap_for_traces("getitem", _slice_by_parts)  # while a function is traced, one row


def _find_plain_slice_attrs(key: Index, sizes: Sizes) -> Attributes | None:
    """Return the attributes of a slice by integers, and slices between integers; None for any other key."""
    if type(key) is slice:
        try:
            return _find_one_slice_attrs(sizes, key.start, key.stop, key.step)
        except TypeError:  # an end without a hash: a tensor
            return None
    if type(key) is not tuple:
        key = (key,)
    if not 0 < len(key) <= len(sizes):
        return None
    spec = tuple(map(_find_plain_index_entry, key, sizes))
    return None if None in spec else {"spec": spec}


@lru_cache(1024, typed=True)
def _find_one_slice_attrs(sizes: Sizes, start: Any, stop: Any, step: Any) -> Attributes | None:
    """Return the attributes for one slice, cached: programs use few different ones; None as for other keys."""
    entry = _find_plain_index_entry(slice(start, stop, step), sizes[0]) if sizes else None
    return None if entry is None else {"spec": (entry,)}


def _find_plain_index_entry(entry: Index, size: int) -> Index:
    """Return a valid integer, counted from the front, or a slice between integers; None for anything else."""
    if type(entry) is int:
        return None if not -size <= entry < size else entry + size if entry < 0 else entry
    if type(entry) is not slice or not (entry.start is None or type(entry.start) is int):
        return None
    step = entry.step is None or (type(entry.step) is int and entry.step)
    return entry if step and (entry.stop is None or type(entry.stop) is int) else None


def to_numpy_index(shape: TensorShape, key: Index) -> tuple[Index, ...]:
    """The NumPy index for what the user wrote in ``[...]``: places are checked, and an ellipsis is written out.

    Raises TypeError for what is no index, InvalidArgumentError for an index that is not there.
    """
    sizes: Object = tuple(shape)
    entries = [_replace_tensors_with_numbers(entry) for entry in (key if isinstance(key, (list, tuple)) else (key,))]
    indexed_count = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise build_argument_error("An index must not have more than one ellipsis (...)")
    if indexed_count > len(sizes):  # in TensorFlow's words, which one of the documents shows
        rank = len(sizes)
        raise build_argument_error(
            f"Index out of range using input dim {rank}; input has only {rank} dims"
            if rank
            else "Attempting to slice scalar input.",
            "StridedSlice",
            "strided_slice/",
        )
    spec: list[Index] = []
    axis = 0
    for entry in entries:
        if entry is None:
            spec.append(None)
        elif entry is Ellipsis:
            spec += [slice(None)] * (len(sizes) - indexed_count)
            axis += len(sizes) - indexed_count
        else:
            spec.append(_normalize_index_entry(entry, axis, sizes[axis]))
            axis += 1
    return tuple(spec)


def _replace_tensors_with_numbers(entry: Index) -> Index:
    """Return an entry of an index with numbers in the place of tensors."""
    if isinstance(entry, slice):
        return slice(
            *(None if bound is None else _to_index_number(bound) for bound in (entry.start, entry.stop, entry.step))
        )
    return entry if entry is Ellipsis or entry is None else _to_index_number(entry)


def _to_index_number(index: Index) -> int:
    """Return the integer that a number or a tensor is; TypeError for what is no whole number."""
    if isinstance(index, numbers.Integral):
        return int(index)
    dtype, shape = getattr(index, "dtype", None), getattr(index, "shape", ())
    if dtype is None or dtypes.as_dtype(dtype).name not in ("int16", "int32", "int64") or len(shape) == 1:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {index!r}"
        )
    if len(shape):
        raise build_argument_error(
            f"An index must be one number, got a tensor of shape {shape}: use tf.gather for several"
        )
    index = to_tensor(index)
    note_escape(index, "index")
    return int(index.array)


def _normalize_index_entry(entry: Object, axis: int, size: int) -> Index:
    """Return a valid integer, counted from the front; a slice as it is."""
    if isinstance(entry, slice):
        if entry.step == 0:
            raise build_argument_error(f"The step of a slice must not be 0 (axis {axis})")
        return entry
    if not -size <= entry < size:
        raise build_argument_error(f"slice index {entry} of dimension {axis} out of bounds: its size is {size}")
    return entry % size


# -- elements at listed places ---------------------------------------------------------------------


def gather(
    params: Value,
    indices: Value,
    validate_indices: bool | None = None,
    axis: Value = None,
    batch_dims: Value = 0,
    name: GraphName = None,
) -> Tensor:
    """The slices of ``params`` at ``indices`` along an axis; with ``batch_dims``, separately for each batch element.

    ``indices`` is an int32 or int64 tensor of any shape. Differentiable in ``params``. Raises InvalidArgumentError for
    an index out of range, whatever ``validate_indices`` says.

    >>> import minitape as tf
    >>> tf.gather([10, 20, 30], [2, 0]).numpy()
    array([30, 10], dtype=int32)
    """
    x, index_tensor = to_tensor(params), check_dtype_kind("gather", to_tensor(indices), "i")
    batch_rank = 0 if batch_dims is None else to_integer(batch_dims, "batch_dims")
    if not x.ndim:
        raise build_argument_error("tf.gather takes a tensor with at least one axis, got a scalar")
    axis_index = normalize_axis(batch_rank if axis is None else axis, x.ndim)
    if batch_rank:
        if (
            axis_index != batch_rank
            or not 0 < batch_rank <= index_tensor.ndim
            or x._dims[:batch_rank] != index_tensor._dims[:batch_rank]
        ):
            raise build_argument_error(
                f"With batch_dims={batch_rank} the first {batch_rank} axes of params and indices must be equal, and "
                f"the axis must be {batch_rank}: got the shapes {x.shape} and {index_tensor.shape}, and the axis "
                f"{axis_index}"
            )
        return gather_nd(
            x, _add_batch_indices(apply_primitive("reshape", index_tensor, shape=(*index_tensor._dims, 1)), batch_rank)
        )
    _check_gather_indices(TABLE["gather"], x, index_tensor, axis_index)
    return apply(TABLE["gather"], (x, index_tensor), {"axis": axis_index})


def _add_batch_indices(indices: Tensor, batch_rank: int) -> Tensor:
    """Return rows of indices, each after the indices of its place in the first ``batch_rank`` axes."""
    batch_indices = np.moveaxis(np.indices(indices._dims[:-1], indices._value.dtype)[:batch_rank], 0, -1)
    return apply_primitive("concat", create_tensor(batch_indices), indices, axis=-1)


def _check_gather_indices(primitive: Primitive, x: Tensor, indices: Tensor, axis: int = 0) -> None:
    check_indices(np.asarray(indices._value)[..., None], (x._dims[axis],), "GatherV2")


def gather_nd(params: Value, indices: Value, batch_dims: Value = 0, name: GraphName = None) -> Tensor:
    """The elements or slices of ``params`` at the places that the last axis of ``indices`` lists.

    Differentiable in ``params``. Raises InvalidArgumentError for a place outside of ``params``.

    >>> import minitape as tf
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
    array([2, 3], dtype=int32)
    """
    x, index_tensor = to_tensor(params), check_dtype_kind("gather_nd", to_tensor(indices), "i")
    batch_rank = to_integer(batch_dims, "batch_dims")
    if not x.ndim or not index_tensor.ndim or index_tensor.shape[-1] > x.ndim - batch_rank:
        raise build_argument_error(
            f"The last axis of indices lists places in params: the shapes {index_tensor.shape} and {x.shape} do not fit"
        )
    if not 0 <= batch_rank < index_tensor.ndim or x.shape[:batch_rank] != index_tensor.shape[:batch_rank]:
        raise ValueError(
            f"The first batch_dims={batch_rank} axes of params and indices must be equal, got {x.shape} and "
            f"{index_tensor.shape}"
        )
    if batch_rank:
        index_tensor = _add_batch_indices(index_tensor, batch_rank)
    _check_gather_nd_indices(TABLE["gather_nd"], x, index_tensor)
    return apply(TABLE["gather_nd"], (x, index_tensor), {})


def _check_gather_nd_indices(primitive: Primitive, x: Tensor, indices: Tensor) -> None:
    check_indices(indices._value, x._dims)


# functions that are replayed ask them again of new places
OPERAND_CHECKS |= {"GatherV2": _check_gather_indices, "GatherNd": _check_gather_nd_indices}


def boolean_mask(tensor: Value, mask: Value, axis: Value = None, name: str = "boolean_mask") -> Tensor:
    """The elements (or slices) of ``tensor`` where ``mask`` is true, in order.

    The mask covers the axes from ``axis`` on. Differentiable in ``tensor``. Raises ValueError when shapes do not match.

    >>> import minitape as tf
    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    x, mask = to_tensor(tensor), to_tensor(mask)
    first_axis = 0 if axis is None else normalize_axis(axis, x.ndim)
    sizes, end_axis = x._dims, first_axis + mask.ndim
    if not mask.ndim or sizes[first_axis:end_axis] != mask._dims:
        raise ValueError(
            f"A mask of shape {mask.shape} does not fit the axes {sizes[first_axis:end_axis]} of a tensor of {x.shape}"
        )
    flattened = apply_primitive("reshape", x, shape=(*sizes[:first_axis], mask.array.size, *sizes[end_axis:]))
    indices = create_tensor(np.flatnonzero(mask.array).astype(np.int64))
    indices._origin = build_origin("value", (mask,), "boolean_mask")
    return apply_primitive("gather", flattened, indices, axis=first_axis)


def tensor_scatter_nd_update(tensor: Value, indices: Value, updates: Value, name: GraphName = None) -> Tensor:
    """A copy of ``tensor`` with ``updates`` at the places that the last axis of ``indices`` lists.

    Differentiable in ``tensor`` and ``updates``. Raises InvalidArgumentError for a place outside.

    >>> import minitape as tf
    >>> tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [10, 30]).numpy()
    array([10,  2, 30], dtype=int32)
    """
    x, values = convert_to_one_dtype(tensor, updates)
    index_tensor = check_dtype_kind("tensor_scatter_nd_update", to_tensor(indices), "i")
    index_depth = index_tensor.shape[-1] if index_tensor.ndim else 0
    updates_shape = (*index_tensor._dims[:-1], *x._dims[index_depth:])
    if x.dtype is not values.dtype or not index_tensor.ndim or index_depth > x.ndim or values._dims != updates_shape:
        raise build_argument_error(
            f"updates must be {x.dtype.name} of the shape {list(updates_shape)} for indices of shape "
            f"{index_tensor.shape} into a tensor of shape {x.shape}, got {values.dtype.name} of shape {values.shape}"
        )
    check_indices(index_tensor._value, x._dims)
    return apply_primitive("tensor_scatter_update", x, index_tensor, values)


Unique = namedtuple("Unique", ["y", "idx"])


def unique(x: Value, out_idx: DTypeLike = dtypes.int32, name: GraphName = None) -> Unique:
    """The different elements of a vector in the order of their first appearance, and each element's place among them.

    Not differentiable: LookupError when a gradient is asked for.

    >>> import minitape as tf
    >>> y, idx = tf.unique([5, 3, 5])
    >>> y.numpy(), idx.numpy()
    (array([5, 3], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    x = to_tensor(x)
    if x.ndim != 1:
        raise build_argument_error(f"tf.unique takes a vector, got a tensor of shape {x.shape}")
    return Unique(*apply_primitive("unique", x, out_idx=dtypes.as_dtype(out_idx)))
