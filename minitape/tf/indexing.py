"""Elements picked out of tensors by their places, and put there: ``x[1:, ..., tf.newaxis]``, gather, masks, scatter."""

from __future__ import annotations

import numbers
from collections import namedtuple
from functools import lru_cache
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.evidence import note_exit, origin_of_new
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.operation import CHECKS, apply
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.tensor.updates import assigner, attach
from ..engine.values import dtypes
from ..engine.values.invalid import check_inside, invalid
from ..functions.calls import in_traces
from .arguments import axis_in, call, check_kind, integer, of_one_dtype, tensor_of

if TYPE_CHECKING:
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Attributes, DTypeLike, Index, Name, Object, Sizes, Value
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
        attrs = _plain_index(key, tensor._value.shape)
    if attrs is None:
        parts = key if isinstance(key, (list, tuple)) else [key]
        return _by_parts(tensor, [(e.start, e.stop, e.step) if type(e) is slice else e for e in parts], variable)
    out: Tensor = apply(TABLE["slice"], (tensor,), attrs, _getframe(1))
    if variable is not None:
        attach(out, assigner(variable, attrs["spec"]))
    return out


EagerTensor.__getitem__ = getitem  # type: ignore[method-assign]


def _select(tensor: Tensor, parts: list[Index], variable: ResourceVariable | None = None) -> Tensor:
    """The slice that the parts of an index select, where a slice is a tuple."""
    key = [slice(*e) if type(e) is tuple else e for e in parts]
    if len(key) == 1 and (isinstance(key[0], bool) or getattr(key[0], "dtype", None) == np.bool_):
        return boolean_mask(tensor, key[0])
    return getitem(tensor, key, variable, {"spec": spec_of(tensor.shape, key)})


_by_parts = in_traces("getitem", _select)  # while a function is traced, one row


def _plain_index(key: Index, sizes: Sizes) -> Attributes | None:
    """The index of integers and of slices between such, which need no more thought; None for any other key."""
    if type(key) is slice:
        try:
            return _cut(sizes, key.start, key.stop, key.step)
        except TypeError:  # an end without a hash: a tensor
            return None
    if type(key) is not tuple:
        key = (key,)
    if not 0 < len(key) <= len(sizes):
        return None
    spec = tuple(map(_plain, key, sizes))
    return None if None in spec else {"spec": spec}


@lru_cache(1024, typed=True)
def _cut(sizes: Sizes, start: Any, stop: Any, step: Any) -> Attributes | None:
    """The index of one slice: programs take few different ones, again and again."""
    entry = _plain(slice(start, stop, step), sizes[0]) if sizes else None
    return None if entry is None else {"spec": (entry,)}


def _plain(entry: Index, size: int) -> Index:
    """An integer that is there, counted from the front, or a slice between integers; None for anything else."""
    if type(entry) is int:
        return None if not -size <= entry < size else entry + size if entry < 0 else entry
    if type(entry) is not slice or not (entry.start is None or type(entry.start) is int):
        return None
    step = entry.step is None or (type(entry.step) is int and entry.step)
    return entry if step and (entry.stop is None or type(entry.stop) is int) else None


def spec_of(shape: TensorShape, key: Index) -> tuple[Index, ...]:
    """The NumPy index for what the user wrote in ``[...]``: places are checked, and an ellipsis is written out.

    Raises TypeError for what is no index, InvalidArgumentError for an index that is not there.
    """
    sizes: Object = tuple(shape)
    entries = [_entry(e) for e in (key if isinstance(key, (list, tuple)) else (key,))]
    taken = sum(e is not None and e is not Ellipsis for e in entries)
    if sum(e is Ellipsis for e in entries) > 1:
        raise invalid("An index must not have more than one ellipsis (...)")
    if taken > len(sizes):  # in TensorFlow's words, which one of the documents shows
        rank = len(sizes)
        raise invalid(
            f"Index out of range using input dim {rank}; input has only {rank} dims"
            if rank
            else "Attempting to slice scalar input.",
            "StridedSlice",
            "strided_slice/",
        )
    spec: list[Index] = []
    axis = 0
    for e in entries:
        if e is None:
            spec.append(None)
        elif e is Ellipsis:
            spec += [slice(None)] * (len(sizes) - taken)
            axis += len(sizes) - taken
        else:
            spec.append(_check_entry(e, axis, sizes[axis]))
            axis += 1
    return tuple(spec)


def _entry(entry: Index) -> Index:
    """An entry of an index with numbers in the place of tensors."""
    if isinstance(entry, slice):
        return slice(*(None if e is None else _number(e) for e in (entry.start, entry.stop, entry.step)))
    return entry if entry is Ellipsis or entry is None else _number(entry)


def _number(index: Index) -> int:
    """An integer that is given as such, or as a tensor; TypeError for what is no whole number."""
    if isinstance(index, numbers.Integral):
        return int(index)
    dtype, shape = getattr(index, "dtype", None), getattr(index, "shape", ())
    if dtype is None or dtypes.as_dtype(dtype).name not in ("int16", "int32", "int64") or len(shape) == 1:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {index!r}"
        )
    if len(shape):
        raise invalid(f"An index must be one number, got a tensor of shape {shape}: use tf.gather for several")
    index = tensor_of(index)
    note_exit(index, "index")
    return int(index.array)


def _check_entry(entry: Object, axis: int, size: int) -> Index:
    """An integer that is there, counted from the front; a slice as it is."""
    if isinstance(entry, slice):
        if entry.step == 0:
            raise invalid(f"The step of a slice must not be 0 (axis {axis})")
        return entry
    if not -size <= entry < size:
        raise invalid(f"slice index {entry} of dimension {axis} out of bounds: its size is {size}")
    return entry % size


# -- elements at listed places ---------------------------------------------------------------------


def gather(
    params: Value,
    indices: Value,
    validate_indices: bool | None = None,
    axis: Value = None,
    batch_dims: Value = 0,
    name: Name = None,
) -> Tensor:
    """The slices of ``params`` at ``indices`` along an axis; with ``batch_dims``, separately for each batch element.

    ``indices`` is an int32 or int64 tensor of any shape. Differentiable in ``params``. Raises InvalidArgumentError for
    an index out of range, whatever ``validate_indices`` says.

    >>> import minitape as tf
    >>> tf.gather([10, 20, 30], [2, 0]).numpy()
    array([30, 10], dtype=int32)
    """
    x, places = tensor_of(params), check_kind("gather", tensor_of(indices), "i")
    batch = 0 if batch_dims is None else integer(batch_dims, "batch_dims")
    if not x.ndim:
        raise invalid("tf.gather takes a tensor with at least one axis, got a scalar")
    at = axis_in(batch if axis is None else axis, x.ndim)
    if batch:
        if at != batch or not 0 < batch <= places.ndim or x._dims[:batch] != places._dims[:batch]:
            raise invalid(
                f"With batch_dims={batch} the first {batch} axes of params and indices must be equal, and the axis "
                f"must be {batch}: got the shapes {x.shape} and {places.shape}, and the axis {at}"
            )
        return gather_nd(x, _with_batch(call("reshape", places, shape=(*places._dims, 1)), batch))
    _check_gather(TABLE["gather"], x, places, at)
    return apply(TABLE["gather"], (x, places), {"axis": at})


def _with_batch(places: Tensor, batch: int) -> Tensor:
    """Rows of indices with the places of their first axes before them."""
    axes = np.moveaxis(np.indices(places._dims[:-1], places._value.dtype)[:batch], 0, -1)
    return call("concat", new_tensor(axes), places, axis=-1)


def _check_gather(primitive: Primitive, x: Tensor, places: Tensor, axis: int = 0) -> None:
    check_inside(np.asarray(places._value)[..., None], (x._dims[axis],), "GatherV2")


def gather_nd(params: Value, indices: Value, batch_dims: Value = 0, name: Name = None) -> Tensor:
    """The elements or slices of ``params`` at the places that the last axis of ``indices`` lists.

    Differentiable in ``params``. Raises InvalidArgumentError for a place outside of ``params``.

    >>> import minitape as tf
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
    array([2, 3], dtype=int32)
    """
    x, places = tensor_of(params), check_kind("gather_nd", tensor_of(indices), "i")
    batch = integer(batch_dims, "batch_dims")
    if not x.ndim or not places.ndim or places.shape[-1] > x.ndim - batch:
        raise invalid(
            f"The last axis of indices lists places in params: the shapes {places.shape} and {x.shape} do not fit"
        )
    if not 0 <= batch < places.ndim or x.shape[:batch] != places.shape[:batch]:
        raise ValueError(
            f"The first batch_dims={batch} axes of params and indices must be equal, got {x.shape} and {places.shape}"
        )
    if batch:
        places = _with_batch(places, batch)
    _check_gather_nd(TABLE["gather_nd"], x, places)
    return apply(TABLE["gather_nd"], (x, places), {})


def _check_gather_nd(primitive: Primitive, x: Tensor, places: Tensor) -> None:
    check_inside(places._value, x._dims)


# functions that are replayed ask them again of new places
CHECKS |= {"GatherV2": _check_gather, "GatherNd": _check_gather_nd}


def boolean_mask(tensor: Value, mask: Value, axis: Value = None, name: str = "boolean_mask") -> Tensor:
    """The elements (or slices) of ``tensor`` where ``mask`` is true, in order.

    The mask covers the axes from ``axis`` on. Differentiable in ``tensor``. Raises ValueError when shapes do not match.

    >>> import minitape as tf
    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    x, mask = tensor_of(tensor), tensor_of(mask)
    at = 0 if axis is None else axis_in(axis, x.ndim)
    sizes, end = x._dims, at + mask.ndim
    if not mask.ndim or sizes[at:end] != mask._dims:
        raise ValueError(f"A mask of shape {mask.shape} does not fit the axes {sizes[at:end]} of a tensor of {x.shape}")
    flat = call("reshape", x, shape=(*sizes[:at], mask.array.size, *sizes[end:]))
    places = new_tensor(np.flatnonzero(mask.array).astype(np.int64))
    places._origin = origin_of_new("value", (mask,), "boolean_mask")
    return call("gather", flat, places, axis=at)


def tensor_scatter_nd_update(tensor: Value, indices: Value, updates: Value, name: Name = None) -> Tensor:
    """A copy of ``tensor`` with ``updates`` at the places that the last axis of ``indices`` lists.

    Differentiable in ``tensor`` and ``updates``. Raises InvalidArgumentError for a place outside.

    >>> import minitape as tf
    >>> tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [10, 30]).numpy()
    array([10,  2, 30], dtype=int32)
    """
    x, values = of_one_dtype(tensor, updates)
    places = check_kind("tensor_scatter_nd_update", tensor_of(indices), "i")
    depth = places.shape[-1] if places.ndim else 0
    wanted = (*places._dims[:-1], *x._dims[depth:])
    if x.dtype is not values.dtype or not places.ndim or depth > x.ndim or values._dims != wanted:
        raise invalid(
            f"updates must be {x.dtype.name} of the shape {list(wanted)} for indices of shape {places.shape} into a "
            f"tensor of shape {x.shape}, got {values.dtype.name} of shape {values.shape}"
        )
    check_inside(places._value, x._dims)
    return call("tensor_scatter_update", x, places, values)


Unique = namedtuple("Unique", ["y", "idx"])


def unique(x: Value, out_idx: DTypeLike = dtypes.int32, name: Name = None) -> Unique:
    """The different elements of a vector in the order of their first appearance, and each element's place among them.

    Not differentiable: LookupError when a gradient is asked for.

    >>> import minitape as tf
    >>> y, idx = tf.unique([5, 3, 5])
    >>> y.numpy(), idx.numpy()
    (array([5, 3], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    x = tensor_of(x)
    if x.ndim != 1:
        raise invalid(f"tf.unique takes a vector, got a tensor of shape {x.shape}")
    return Unique(*call("unique", x, out_idx=dtypes.as_dtype(out_idx)))
