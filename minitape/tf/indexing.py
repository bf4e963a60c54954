"""Define functions that select or replace elements by their positions, such as ``x[...]`` and gather.

The functions and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf).
"""

from __future__ import annotations

from collections import namedtuple
from numbers import Integral
from sys import _getframe

import numpy as np

from ..engine.record.provenance import build_origin, log_escape
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.operation import OPERAND_CHECKS, run_and_record
from ..engine.tensor.partial_updates import attach_assign_to_slice, build_slice_assign
from ..engine.tensor.tensor import EagerTensor, Tensor, wrap_array_with_origin
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import LIST_OR_TUPLE, DTypeLike, GraphName, Index, Object, OptionalFlag, Sizes, Value
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error, check_indices
from ..engine.values.dtypes import as_dtype
from ..engine.values.shape import TensorShape
from ..functions.traced_calls import wrap_for_first_runs
from .arguments import (
    apply_primitive,
    convert_to_one_dtype,
    normalize_axis,
    to_integer,
    to_tensor,
    to_tensor_of_dtype_kind,
)

# -- slices ----------------------------------------------------------------------------------------


def getitem(tensor: Tensor, key: Index, variable: ResourceVariable | None = None) -> Tensor:
    """Return the part of a tensor that an index selects, ``tensor[key]``.

    A boolean tensor or array selects the elements where it is true. This function is differentiable with respect to
    ``tensor``.

    Args:
        tensor: The tensor.
        key: The index inside the brackets of ``tensor[...]``.
        variable: The variable that ``tensor`` was read from, if any. The result then has an ``assign`` method that
            changes this part of the variable.

    Returns:
        The selected tensor.

    Raises:
        TypeError: If the key is not a valid index.
        InvalidArgumentError: If the index is out of range.

    >>> import minitape as tf
    >>> x = tf.constant([[1, 2, 3], [4, 5, 6]])
    >>> getitem(x, (slice(None), 1)).numpy(), getitem(x, x > 4).numpy()
    (array([2, 5], dtype=int32), array([5, 6], dtype=int32))
    """
    spec = _find_plain_index(key, tensor._value.shape) if type(tensor) is EagerTensor else None
    if spec is not None:
        return _slice(tensor, spec, variable)
    parts = key if isinstance(key, LIST_OR_TUPLE) else [key]
    if parts is key and key and isinstance(key[0], bool):
        build_error = build_argument_error if {*map(type, key)} == {bool} else TypeError
        raise build_error("Bools are not an index. To select by a mask, use tf.boolean_mask")
    return _slice_by_parts_or_write_row(
        tensor, [(part.start, part.stop, part.step) if type(part) is slice else part for part in parts], variable
    )


EagerTensor.__getitem__ = getitem  # type: ignore[method-assign]


def _slice(tensor: Tensor, spec: tuple[Index, ...], variable: ResourceVariable | None) -> Tensor:
    """Run the "slice" primitive. If the tensor is a variable's value, the result has an ``assign`` method."""
    selected: Tensor = run_and_record(TABLE["slice"], (tensor,), {"spec": spec}, _getframe(2))
    if variable is not None:
        attach_assign_to_slice(selected, build_slice_assign(variable, spec))
    return selected


def _slice_by_parts(tensor: Tensor, parts: list[Index], variable: ResourceVariable | None = None) -> Tensor:
    """Return the slice that the parts of an index select. A tuple among the parts stands for a slice."""
    key = [slice(*part) if type(part) is tuple else part for part in parts]
    if len(key) == 1 and (isinstance(key[0], bool) or getattr(key[0], "dtype", None) == np.bool_):
        return boolean_mask(tensor, key[0])
    return _slice(tensor, to_numpy_index(tensor.shape, key), variable)


# A traced function records each slice as a single row.
_slice_by_parts_or_write_row = wrap_for_first_runs("getitem", _slice_by_parts)


def _find_plain_index(key: Index, sizes: Sizes) -> tuple[Index, ...] | None:
    """Return the NumPy index for a key of integers and integer slices, or None for other keys."""
    entries = key if type(key) is tuple else (key,)
    if not 0 < len(entries) <= len(sizes):
        return None
    spec = tuple(map(_find_plain_index_entry, entries, sizes))
    return None if None in spec else spec


def _find_plain_index_entry(entry: Index, size: int) -> Index:
    """Return an integer counted from the front, or a slice with integer bounds. Return None for any other entry."""
    if type(entry) is int:
        if not -size <= entry < size:
            return None
        return entry + size if entry < 0 else entry
    if type(entry) is not slice or not (entry.start is None or type(entry.start) is int):
        return None
    step = entry.step is None or (type(entry.step) is int and entry.step)
    return entry if step and (entry.stop is None or type(entry.stop) is int) else None


def to_numpy_index(shape: TensorShape, key: Index) -> tuple[Index, ...]:
    """Convert the index inside the brackets of ``tensor[...]`` to a NumPy index.

    Negative positions are converted to positive ones, and an ellipsis is replaced with slices.

    Args:
        shape: The shape of the tensor.
        key: The index, or a list or tuple of indices for the first axes.

    Returns:
        A tuple of ints, slices and None.

    Raises:
        TypeError: If an entry is not a valid index.
        InvalidArgumentError: If an index is out of range, or there are too many indices or ellipses.
    """
    sizes: Object = tuple(shape)
    entries = [_replace_tensors_with_numbers(entry) for entry in (key if isinstance(key, LIST_OR_TUPLE) else (key,))]
    indexed_count = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise build_argument_error("An index must not have more than one ellipsis (...)")
    if indexed_count > len(sizes):  # A course document quotes this TensorFlow message.
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
    """Replace the tensors in an index entry with numbers."""
    if isinstance(entry, slice):
        return slice(
            *(None if bound is None else _to_index_number(bound) for bound in (entry.start, entry.stop, entry.step))
        )
    return entry if entry is Ellipsis or entry is None else _to_index_number(entry)


def _to_index_number(index: Index) -> int:
    """Convert a number or a scalar tensor to an integer.

    Raises:
        TypeError: If the number is not an integer.
        InvalidArgumentError: If the tensor is not a scalar.
    """
    if isinstance(index, Integral):
        return int(index)
    dtype = getattr(index, "dtype", None)
    shape = getattr(index, "shape", ())
    if dtype is None or as_dtype(dtype).name not in ("int16", "int32", "int64") or len(shape) == 1:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {index!r}"
        )
    if len(shape):
        raise build_argument_error(
            f"An index must be one number, got a tensor of shape {shape}: use tf.gather for several"
        )
    index = to_tensor(index)
    log_escape(index, "index")
    return int(index.array)


def _normalize_index_entry(entry: Object, axis: int, size: int) -> Index:
    """Check an index and convert it to its position from the front. A slice is returned unchanged."""
    normalized_entry = _find_plain_index_entry(entry, size)
    if normalized_entry is None:
        raise build_argument_error(
            f"The step of a slice must not be 0 (axis {axis})"
            if isinstance(entry, slice)
            else f"slice index {entry} of dimension {axis} out of bounds: its size is {size}"
        )
    return normalized_entry


# -- elements at given positions -------------------------------------------------------------------


def gather(
    params: Value,
    indices: Value,
    validate_indices: OptionalFlag = None,
    axis: Value = None,
    batch_dims: Value = 0,
    name: GraphName = None,
) -> Tensor:
    """Select slices along an axis by their indices.

    This function is differentiable with respect to ``params``.

    See https://www.tensorflow.org/api_docs/python/tf/gather.

    Args:
        params: A tensor-like value with at least one axis.
        indices: An int32 or int64 tensor of any shape.
        validate_indices: Ignored. Indices are always checked.
        axis: The axis of ``params`` to index. The default is ``batch_dims``.
        batch_dims: The number of leading batch axes that ``params`` and ``indices`` share. Indices apply within a batch
            element.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of shape ``params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]``.

    Raises:
        InvalidArgumentError: If an index is out of range.

    >>> import minitape as tf
    >>> tf.gather([10, 20, 30], [2, 0]).numpy()
    array([30, 10], dtype=int32)
    """
    x = to_tensor(params)
    index_tensor = to_tensor_of_dtype_kind("gather", indices, "i")
    batch_rank = 0 if batch_dims is None else to_integer(batch_dims, "batch_dims")
    if not x.ndim:
        raise build_argument_error("tf.gather takes a tensor with at least one axis, got a scalar")
    axis_index = normalize_axis(batch_rank if axis is None else axis, x.ndim)
    if batch_rank:
        if (
            axis_index != batch_rank
            or not 0 < batch_rank <= index_tensor.ndim
            or x.dims[:batch_rank] != index_tensor.dims[:batch_rank]
        ):
            raise build_argument_error(
                f"With batch_dims={batch_rank} the first {batch_rank} axes of params and indices must be equal, and "
                f"the axis must be {batch_rank}: got the shapes {x.shape} and {index_tensor.shape}, and the axis "
                f"{axis_index}"
            )
        return gather_nd(x, apply_primitive("reshape", index_tensor, shape=(*index_tensor.dims, 1)), batch_rank)
    _check_gather_indices(TABLE["gather"], x, index_tensor, axis_index)
    return run_and_record(TABLE["gather"], (x, index_tensor), {"axis": axis_index})


def _check_gather_indices(primitive: Primitive, x: Tensor, indices: Tensor, axis: int = 0) -> None:
    """Raise InvalidArgumentError if an index is out of range. ``primitive`` is not used."""
    check_indices(np.asarray(indices._value)[..., None], (x.dims[axis],), "GatherV2")


def gather_nd(params: Value, indices: Value, batch_dims: Value = 0, name: GraphName = None) -> Tensor:
    """Select elements or slices by their positions along several axes.

    This function is differentiable with respect to ``params``.

    See https://www.tensorflow.org/api_docs/python/tf/gather_nd.

    Args:
        params: A tensor-like value with at least one axis.
        indices: An int32 or int64 tensor. Each vector along its last axis is a position in the leading axes of
            ``params``.
        batch_dims: The number of leading axes that ``params`` and ``indices`` share.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of shape ``indices.shape[:-1] + params.shape[batch_dims + indices.shape[-1]:]``.

    Raises:
        InvalidArgumentError: If a position lies outside ``params``.
        ValueError: If the first ``batch_dims`` sizes differ.

    >>> import minitape as tf
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
    array([2, 3], dtype=int32)
    """
    x = to_tensor(params)
    index_tensor = to_tensor_of_dtype_kind("gather_nd", indices, "i")
    batch_rank = to_integer(batch_dims, "batch_dims")
    if not x.ndim or not index_tensor.ndim or index_tensor.shape[-1] > x.ndim - batch_rank:
        raise build_argument_error(
            f"The last axis of indices lists positions in params, but the shapes {index_tensor.shape} and {x.shape} "
            "do not fit"
        )
    if not 0 <= batch_rank < index_tensor.ndim or x.shape[:batch_rank] != index_tensor.shape[:batch_rank]:
        raise ValueError(
            f"The first batch_dims={batch_rank} axes of params and indices must be equal, got {x.shape} and "
            f"{index_tensor.shape}"
        )
    if batch_rank:  # Prepend to each index vector its position along the batch axes.
        positions = np.indices(index_tensor.dims[:-1], index_tensor.dtype.as_numpy_dtype)[:batch_rank]
        batch_indices = wrap_array_with_origin(np.moveaxis(positions, 0, -1))
        index_tensor = apply_primitive("concat", batch_indices, index_tensor, axis=-1)
    _check_gather_nd_indices(TABLE["gather_nd"], x, index_tensor)
    return run_and_record(TABLE["gather_nd"], (x, index_tensor), {})


def _check_gather_nd_indices(primitive: Primitive, x: Tensor, indices: Tensor) -> None:
    """Raise InvalidArgumentError if a position lies outside the tensor. ``primitive`` is not used."""
    check_indices(indices._value, x.dims)


# Replayed functions repeat these checks for new indices.
OPERAND_CHECKS |= {"GatherV2": _check_gather_indices, "GatherNd": _check_gather_nd_indices}


def boolean_mask(tensor: Value, mask: Value, axis: Value = None, name: str = "boolean_mask") -> Tensor:
    """Select the elements or slices where a mask is true, in order.

    This function is differentiable with respect to ``tensor``.

    See https://www.tensorflow.org/api_docs/python/tf/boolean_mask.

    Args:
        tensor: A tensor-like value.
        mask: A tensor-like value of bools with at least one axis.
        axis: The first axis of ``tensor`` that the mask covers. The default is 0.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor in which a single axis replaces the axes covered by the mask. Its size is the number of true elements.

    Raises:
        ValueError: If the shape of the mask does not match these axes, or the mask is a scalar.

    >>> import minitape as tf
    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    x = to_tensor(tensor)
    mask = to_tensor(mask)
    first_axis = 0 if axis is None else normalize_axis(axis, x.ndim)
    sizes = x.dims
    end_axis = first_axis + mask.ndim
    if not mask.ndim or sizes[first_axis:end_axis] != mask.dims:
        raise ValueError(
            f"A mask of shape {mask.shape} does not fit the axes {sizes[first_axis:end_axis]} of a tensor of shape "
            f"{x.shape}"
        )
    flattened = apply_primitive("reshape", x, shape=(*sizes[:first_axis], mask.array.size, *sizes[end_axis:]))
    indices = wrap_array_with_origin(np.flatnonzero(mask.array).astype(np.int64))
    indices._origin = build_origin("value", (mask,), "boolean_mask")
    return apply_primitive("gather", flattened, indices, axis=first_axis)


def tensor_scatter_nd_update(tensor: Value, indices: Value, updates: Value, name: GraphName = None) -> Tensor:
    """Return a copy of a tensor with new elements at the given positions.

    This function is differentiable with respect to ``tensor`` and ``updates``.

    See https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update.

    Args:
        tensor: A tensor-like value.
        indices: An int32 or int64 tensor. Each vector along its last axis is a position in the leading axes of
            ``tensor``.
        updates: The new elements or slices, with the dtype of ``tensor`` and the shape ``indices.shape[:-1] +
            tensor.shape[indices.shape[-1]:]``.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the shape and dtype of ``tensor``.

    Raises:
        InvalidArgumentError: If a position lies outside ``tensor``, or the shape or dtype of ``updates`` does not
            match.

    >>> import minitape as tf
    >>> tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [10, 30]).numpy()
    array([10,  2, 30], dtype=int32)
    """
    x, values = convert_to_one_dtype(tensor, updates)
    index_tensor = to_tensor_of_dtype_kind("tensor_scatter_nd_update", indices, "i")
    index_depth = index_tensor.shape[-1] if index_tensor.ndim else 0
    updates_shape = index_tensor.dims[:-1] + x.dims[index_depth:]
    if x.dtype is not values.dtype or not index_tensor.ndim or index_depth > x.ndim or values.dims != updates_shape:
        raise build_argument_error(
            f"updates must have dtype {x.dtype.name} and shape {list(updates_shape)} for indices of shape "
            f"{index_tensor.shape} into a tensor of shape {x.shape}, got dtype {values.dtype.name} and shape "
            f"{values.shape}"
        )
    return apply_primitive("tensor_scatter_update", x, index_tensor, values)


Unique = namedtuple("Unique", ["y", "idx"])


def unique(x: Value, out_idx: DTypeLike = dtypes.int32, name: GraphName = None) -> Unique:
    """Find the distinct elements of a vector.

    This function is not differentiable, and computing a gradient through its result raises LookupError.

    See https://www.tensorflow.org/api_docs/python/tf/unique.

    Args:
        x: A vector, as a tensor-like value of any dtype.
        out_idx: The dtype of the positions, int32 or int64.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A named tuple ``(y, idx)`` of two vectors. ``y`` holds the distinct elements in the order of their first
        appearance. ``idx`` holds the position in ``y`` of each element of ``x``.

    Raises:
        InvalidArgumentError: If ``x`` is not a vector.

    >>> import minitape as tf
    >>> y, idx = tf.unique([5, 3, 5])
    >>> y.numpy(), idx.numpy()
    (array([5, 3], dtype=int32), array([0, 1, 0], dtype=int32))
    """
    x = to_tensor(x)
    if x.ndim != 1:
        raise build_argument_error(f"tf.unique takes a vector, got a tensor of shape {x.shape}")
    return Unique(*apply_primitive("unique", x, out_idx=as_dtype(out_idx)))
