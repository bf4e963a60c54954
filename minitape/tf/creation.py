"""Tensors made of nothing but a shape: zeros, ones, fill, eye, range, linspace, one_hot."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..engine.record.provenance import note_inputs_of_unrecorded_result
from ..engine.tensor.conversion import convert_to_tensor, is_numpy_value
from ..engine.tensor.tensor import Tensor, create_tensor
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from .arguments import apply_primitive, check_dtype_kind, normalize_axis, to_integer, to_sizes, to_tensor
from .array_functions import concat, expand_dims
from .elementwise import cast

if TYPE_CHECKING:
    from ..engine.types import Array, DTypeLike, GraphName, ShapeLike, Value


def zeros(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: GraphName = None) -> Tensor:
    """A tensor of zeros (False, empty strings) of the given shape.

    Raises TypeError for a shape that is not made of integers, InvalidArgumentError for a negative size.

    >>> import minitape as tf
    >>> tf.zeros([2]).numpy(), tf.zeros([1], tf.int32).numpy()
    (array([0., 0.], dtype=float32), array([0], dtype=int32))
    """
    return create_tensor(_create_filled_array(to_sizes(shape), dtypes.as_dtype(dtype), 0))


def ones(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: GraphName = None) -> Tensor:
    """A tensor of ones (True) of the given shape.

    Raises TypeError for a shape that is not made of integers and for strings, InvalidArgumentError for a negative size.

    >>> import minitape as tf
    >>> tf.ones([2], tf.int32).numpy()
    array([1, 1], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype.kind == "s":
        raise TypeError("tf.ones makes numbers or bools, no strings")
    return create_tensor(_create_filled_array(to_sizes(shape), dtype, 1))


def _create_filled_array(sizes: tuple[int, ...], dtype: dtypes.DType, fill_value: int) -> Array:
    if dtype.kind == "s":
        return np.full(sizes, b"", object)
    return (np.ones if fill_value else np.zeros)(sizes, dtype.as_numpy_dtype)


def zeros_like(input: Value, dtype: DTypeLike = None, name: GraphName = None) -> Tensor:
    """Zeros in the shape of another tensor, in its dtype or the given one. No gradient passes.

    >>> import minitape as tf
    >>> tf.zeros_like([1.5, 2.5]).numpy()
    array([0., 0.], dtype=float32)
    """
    return _create_filled_like(zeros, input, dtype)


def ones_like(input: Value, dtype: DTypeLike = None, name: GraphName = None) -> Tensor:
    """Ones in the shape of another tensor, in its dtype or the given one. No gradient passes.

    >>> import minitape as tf
    >>> tf.ones_like([1.5, 2.5]).numpy()
    array([1., 1.], dtype=float32)
    """
    return _create_filled_like(ones, input, dtype)


def _create_filled_like(create: Callable[..., Tensor], input: Value, dtype: DTypeLike) -> Tensor:
    x = to_tensor(input)
    if x.dtype.kind == "s":
        return create(x.shape, dtype or x.dtype)
    return cast(apply_primitive(f"{create.__name__}_like", x), dtype or x.dtype)


def fill(dims: ShapeLike, value: Value, name: GraphName = None) -> Tensor:
    """A tensor of shape ``dims`` in which every element is ``value``, a scalar. Differentiable in ``value``.

    InvalidArgumentError for a value with axes and for a negative size.

    >>> import minitape as tf
    >>> tf.fill([2, 2], 9).numpy()
    array([[9, 9],
           [9, 9]], dtype=int32)
    """
    x = to_tensor(value)
    if x.shape.num_elements() != 1 or x.ndim > 1:
        raise build_argument_error(f"tf.fill takes a scalar as value, got a tensor of shape {x.shape}")
    return apply_primitive("broadcast_to", x, shape=to_sizes(dims))


def eye(
    num_rows: Value,
    num_columns: Value = None,
    batch_shape: ShapeLike = None,
    dtype: DTypeLike = dtypes.float32,
    name: GraphName = None,
) -> Tensor:
    """The identity matrix, or a batch of them of shape ``batch_shape``; ``num_columns`` is ``num_rows`` by default.

    >>> import minitape as tf
    >>> tf.eye(2).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    rows, columns = to_sizes([num_rows, num_rows if num_columns is None else num_columns])
    matrix = np.eye(rows, columns, dtype=dtypes.as_dtype(dtype).as_numpy_dtype)
    return create_tensor(matrix if batch_shape is None else np.tile(matrix, (*to_sizes(batch_shape), 1, 1)))


_DTYPE_ORDER = ["int32", "int64", "float16", "float32", "float64"]


def range(start: Value, limit: Value = None, delta: Value = 1, dtype: DTypeLike = None, name: str = "range") -> Tensor:
    """The numbers from ``start`` (0 when only one is given) up to, not including, ``limit`` in steps of ``delta``.

    The dtype is the widest of the three, unless given. No gradient passes. Raises InvalidArgumentError when the limit
    cannot be reached.

    >>> import minitape as tf
    >>> tf.range(3).numpy(), tf.range(5, 0, -2).numpy(), tf.range(1, 2.5).numpy()
    (array([0, 1, 2], dtype=int32), array([5, 3, 1], dtype=int32), array([1., 2.], dtype=float32))
    """
    if limit is None:
        start, limit = 0, start
    bounds = [to_tensor(bound, dtype) for bound in (start, limit, delta)]
    result_dtype = (
        max(bounds, key=lambda scalar: _DTYPE_ORDER.index(scalar.dtype.name)).dtype
        if dtype is None
        else dtypes.as_dtype(dtype)
    )
    if any(scalar.ndim for scalar in bounds):
        raise build_argument_error(
            f"tf.range takes scalars, got the shapes {', '.join(str(scalar.shape) for scalar in bounds)}"
        )
    start_number, limit_number, step = (result_dtype.as_numpy_dtype(scalar.array) for scalar in bounds)
    if step == 0 or ((step > 0) != (limit_number >= start_number) and start_number != limit_number):
        raise build_argument_error(f"tf.range cannot reach {limit_number} from {start_number} in steps of {step}")
    if result_dtype.is_integer:
        numbers = np.arange(int(start_number), int(limit_number), int(step)).astype(result_dtype.as_numpy_dtype)
    else:
        step_numbers = np.arange(np.ceil(abs((float(limit_number) - float(start_number)) / float(step))))
        numbers = np.asarray(
            start_number + step_numbers.astype(result_dtype.as_numpy_dtype) * step, result_dtype.as_numpy_dtype
        )
    return note_inputs_of_unrecorded_result(create_tensor(numbers), bounds, "Range")


def linspace(start: Value, stop: Value, num: Value, name: GraphName = None, axis: Value = 0) -> Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, both included, along a new axis.

    ``start`` and ``stop`` broadcast; integers give float64. Differentiable in both. Raises TypeError for a ``num`` that
    is no integer.

    >>> import minitape as tf
    >>> tf.linspace(0.0, 1.0, 3).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    start_tensor = to_tensor(start)
    stop_tensor = convert_to_tensor(stop, start_tensor.dtype)
    count = to_integer(num, "num")
    if start_tensor.dtype.is_integer:
        wide_dtype = dtypes.float32 if start_tensor.dtype.size <= 2 else dtypes.float64
        start_tensor, stop_tensor = cast(start_tensor, wide_dtype), cast(stop_tensor, wide_dtype)
    shape = np.broadcast_shapes(start_tensor._dims, stop_tensor._dims)
    axis_index = normalize_axis(axis, len(shape) + 1)
    start_tensor, stop_tensor = (
        expand_dims(apply_primitive("broadcast_to", endpoint, shape=shape), axis_index)
        for endpoint in (start_tensor, stop_tensor)
    )
    if count < 0:
        raise build_argument_error(f"num must not be negative, got {count}")
    if not count:
        return start_tensor[tuple([slice(None)] * axis_index + [slice(0, 0)])]
    if count == 1:
        return start_tensor
    step = (stop_tensor - start_tensor) / float(count - 1)
    sizes = [-1 if i == axis_index else 1 for i in builtins.range(start_tensor.ndim)]
    inner_steps = np.arange(1, count - 1).astype(start_tensor.dtype.as_numpy_dtype).reshape(sizes)
    return concat([start_tensor, start_tensor + step * create_tensor(inner_steps), stop_tensor], axis_index)


def one_hot(
    indices: Value,
    depth: Value,
    on_value: Value = None,
    off_value: Value = None,
    axis: Value = None,
    dtype: DTypeLike = None,
    name: GraphName = None,
) -> Tensor:
    """A new axis of size ``depth`` with ``on_value`` (1) at each index and ``off_value`` (0) elsewhere.

    The dtype is ``dtype``, that of the values, or float32. An index out of range gives a row of ``off_value``. No
    gradient passes. Raises TypeError when the dtypes differ.

    >>> import minitape as tf
    >>> tf.one_hot([0, 2], 3).numpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if is_numpy_value(indices) and indices.dtype.kind in "fb":
        indices = indices.astype(np.int64)
    index_tensor = check_dtype_kind("one_hot", to_tensor(indices), "iu")
    depth_size = to_integer(depth, "depth")
    axis_index = -1 if axis is None else to_integer(axis, "axis")
    if depth_size < 0 or not -1 <= axis_index <= index_tensor.ndim:
        raise build_argument_error(
            f"depth must not be negative and axis from -1 to {index_tensor.ndim}, got depth={depth_size} and "
            f"axis={axis_index}"
        )
    chosen_dtype = None if dtype is None else dtypes.as_dtype(dtype)
    value_dtypes = {
        to_tensor(cell_value, chosen_dtype).dtype for cell_value in (on_value, off_value) if cell_value is not None
    }
    value_dtypes |= set() if chosen_dtype is None else {chosen_dtype}
    if len(value_dtypes) > 1:
        raise TypeError(
            f"on_value, off_value and dtype must agree, got {sorted(value_type.name for value_type in value_dtypes)}"
        )
    value_dtype = next(iter(value_dtypes), dtypes.float32)
    on_array, off_array = (
        convert_to_tensor(default if cell_value is None else cell_value, value_dtype).array
        for cell_value, default in ((on_value, 1), (off_value, 0))
    )
    return apply_primitive("one_hot", index_tensor, depth=depth_size, on=on_array, off=off_array, axis=axis_index)
