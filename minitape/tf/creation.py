"""Define functions that create a tensor from a shape or a few numbers.

The functions and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf).
"""

from __future__ import annotations

import builtins

import numpy as np

from ..engine.record.provenance import set_origin_of_range
from ..engine.tensor.checked_operators import promote_quotient_operands
from ..engine.tensor.conversion import convert_to_tensor, is_numpy_value
from ..engine.tensor.tensor import Tensor, wrap_array_with_origin
from ..engine.types import Array, DTypeLike, GraphName, ShapeLike, Sizes, TensorFunction, Value
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from ..engine.values.dtypes import as_dtype
from .arguments import apply_primitive, normalize_axis, to_integer, to_sizes, to_tensor, to_tensor_of_dtype_kind
from .array_functions import concat, expand_dims
from .elementwise import cast


def zeros(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: GraphName = None) -> Tensor:
    """Create a tensor of zeros.

    Bool elements are False, and string elements are empty.

    See https://www.tensorflow.org/api_docs/python/tf/zeros.

    Args:
        shape: The shape, a list of integers or an integer tensor.
        dtype: The dtype of the result.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the given shape and dtype.

    Raises:
        TypeError: If ``shape`` contains anything other than integers.
        InvalidArgumentError: If a size is negative.

    >>> import minitape as tf
    >>> tf.zeros([2]).numpy(), tf.zeros([1], tf.int32).numpy()
    (array([0., 0.], dtype=float32), array([0], dtype=int32))
    """
    return wrap_array_with_origin(_create_filled_array(to_sizes(shape), as_dtype(dtype), 0))


def ones(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: GraphName = None) -> Tensor:
    """Create a tensor of ones.

    Bool elements are True.

    See https://www.tensorflow.org/api_docs/python/tf/ones.

    Args:
        shape: The shape, a list of integers or an integer tensor.
        dtype: The dtype of the result.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the given shape and dtype.

    Raises:
        TypeError: If ``shape`` contains anything other than integers, or the dtype is string.
        InvalidArgumentError: If a size is negative.

    >>> import minitape as tf
    >>> tf.ones([2], tf.int32).numpy()
    array([1, 1], dtype=int32)
    """
    dtype = as_dtype(dtype)
    if dtype.kind == "s":
        raise TypeError("tf.ones creates numbers or bools, not strings")
    return wrap_array_with_origin(_create_filled_array(to_sizes(shape), dtype, 1))


def _create_filled_array(sizes: Sizes, dtype: dtypes.DType, fill_value: int) -> Array:
    """Create an array of zeros, ones or empty strings."""
    if dtype.kind == "s":
        return np.full(sizes, b"", object)
    if fill_value:
        return np.ones(sizes, dtype.as_numpy_dtype)
    return np.zeros(sizes, dtype.as_numpy_dtype)


def zeros_like(input: Value, dtype: DTypeLike = None, name: GraphName = None) -> Tensor:
    """Create a tensor of zeros with the shape of another tensor.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/zeros_like.

    Args:
        input: A tensor-like value.
        dtype: The dtype of the result. By default, the result has the dtype of ``input``.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the shape of ``input``.

    Raises:
        ValueError: If ``input`` cannot be converted to a tensor.

    >>> import minitape as tf
    >>> tf.zeros_like([1.5, 2.5]).numpy()
    array([0., 0.], dtype=float32)
    """
    return _create_filled_like(zeros, input, dtype)


def ones_like(input: Value, dtype: DTypeLike = None, name: GraphName = None) -> Tensor:
    """Create a tensor of ones with the shape of another tensor.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/ones_like.

    Args:
        input: A tensor-like value.
        dtype: The dtype of the result. By default, the result has the dtype of ``input``.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the shape of ``input``.

    Raises:
        TypeError: If the dtype is string.

    >>> import minitape as tf
    >>> tf.ones_like([1.5, 2.5]).numpy()
    array([1., 1.], dtype=float32)
    """
    return _create_filled_like(ones, input, dtype)


def _create_filled_like(create: TensorFunction, input: Value, dtype: DTypeLike) -> Tensor:
    """Create a tensor with the shape of ``input`` by calling ``zeros`` or ``ones``."""
    x = to_tensor(input)
    if x.dtype.kind == "s":
        return create(x.shape, dtype or x.dtype)
    return cast(apply_primitive(f"{create.__name__}_like", x), dtype or x.dtype)


def fill(dims: ShapeLike, value: Value, name: GraphName = None) -> Tensor:
    """Create a tensor whose elements all have the same value.

    This function is differentiable with respect to ``value``.

    See https://www.tensorflow.org/api_docs/python/tf/fill.

    Args:
        dims: The shape, a list of integers or an integer tensor.
        value: A scalar.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of shape ``dims`` with the dtype of ``value``.

    Raises:
        InvalidArgumentError: If the value is not a scalar or a size is negative.

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
    """Create an identity matrix or a batch of identity matrices.

    See https://www.tensorflow.org/api_docs/python/tf/eye.

    Args:
        num_rows: The number of rows.
        num_columns: The number of columns. By default, the matrices are square.
        batch_shape: The shape of the batch, a list of integers.
        dtype: The dtype of the result.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of shape ``(*batch_shape, num_rows, num_columns)``.

    Raises:
        InvalidArgumentError: If a size is negative.

    >>> import minitape as tf
    >>> tf.eye(2).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    rows, columns = to_sizes([num_rows, num_rows if num_columns is None else num_columns])
    matrix = np.eye(rows, columns, dtype=as_dtype(dtype).as_numpy_dtype)
    return wrap_array_with_origin(matrix if batch_shape is None else np.tile(matrix, (*to_sizes(batch_shape), 1, 1)))


_DTYPE_ORDER = ["int32", "int64", "float16", "float32", "float64"]


def range(start: Value, limit: Value = None, delta: Value = 1, dtype: DTypeLike = None, name: str = "range") -> Tensor:
    """Return the numbers from a start to a limit, in equal steps.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/range.

    Args:
        start: The first number. If ``start`` is the only argument, it is the limit, and the first number is 0.
        limit: The end of the range (exclusive).
        delta: The step between numbers.
        dtype: The dtype of the result. By default, the widest dtype among the three arguments is used.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A vector.

    Raises:
        InvalidArgumentError: If the limit cannot be reached with this step, or an argument is not a scalar.

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
        else as_dtype(dtype)
    )
    if any(scalar.dims not in ((), (1,)) for scalar in bounds):
        raise build_argument_error(
            f"tf.range takes single numbers, got the shapes {', '.join(str(scalar.shape) for scalar in bounds)}"
        )
    start_number, limit_number, step = (result_dtype.as_numpy_dtype(scalar.array.reshape(())) for scalar in bounds)
    if step == 0 or ((step > 0) != (limit_number >= start_number) and start_number != limit_number):
        raise build_argument_error(f"tf.range cannot reach {limit_number} from {start_number} in steps of {step}")
    if result_dtype.is_integer:
        numbers = np.arange(int(start_number), int(limit_number), int(step)).astype(result_dtype.as_numpy_dtype)
    else:
        step_numbers = np.arange(np.ceil(abs((float(limit_number) - float(start_number)) / float(step))))
        numbers = np.asarray(
            start_number + step_numbers.astype(result_dtype.as_numpy_dtype) * step, result_dtype.as_numpy_dtype
        )
    return set_origin_of_range(wrap_array_with_origin(numbers), bounds)


def linspace(start: Value, stop: Value, num: Value, name: GraphName = None, axis: Value = 0) -> Tensor:
    """Return evenly spaced numbers along a new axis, including both ends.

    This function is differentiable with respect to both ends.

    See https://www.tensorflow.org/api_docs/python/tf/linspace.

    Args:
        start: The first numbers, a tensor-like value of any shape.
        stop: The last numbers. The shapes of ``start`` and ``stop`` must broadcast.
        num: The number of values.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.
        axis: The position of the new axis in the result.

    Returns:
        A tensor with one more axis than the broadcast shape. If the ends are integers, its dtype is float32 for up to
        16 bits and float64 otherwise.

    Raises:
        TypeError: If ``num`` is not an integer.
        InvalidArgumentError: If ``num`` is negative, or the axis is out of range.

    >>> import minitape as tf
    >>> tf.linspace(0.0, 1.0, 3).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    start_tensor = to_tensor(start)
    stop_tensor = convert_to_tensor(stop, start_tensor.dtype)
    count = to_integer(num, "num")
    if start_tensor.dtype.is_integer:
        start_tensor, stop_tensor = promote_quotient_operands(start_tensor, stop_tensor)
    shape = np.broadcast_shapes(start_tensor.dims, stop_tensor.dims)
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
    return concat([start_tensor, start_tensor + step * wrap_array_with_origin(inner_steps), stop_tensor], axis_index)


def one_hot(
    indices: Value,
    depth: Value,
    on_value: Value = None,
    off_value: Value = None,
    axis: Value = None,
    dtype: DTypeLike = None,
    name: GraphName = None,
) -> Tensor:
    """Encode each index as a one-hot vector along a new axis.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/one_hot.

    Args:
        indices: A tensor-like value of integers. An index that is out of range becomes a vector of ``off_value``.
        depth: The size of the new axis.
        on_value: The value at the index. The default is 1.
        off_value: The value at all other positions. The default is 0.
        axis: The position of the new axis in the result. By default, the new axis is added last.
        dtype: The dtype of the result. By default, the result has the dtype of the two values, or float32 if neither
            value is given.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the shape of ``indices`` and a new axis of size ``depth``.

    Raises:
        TypeError: If the dtypes of ``on_value``, ``off_value`` and ``dtype`` differ.
        InvalidArgumentError: If ``depth`` is negative, or the axis is out of range.

    >>> import minitape as tf
    >>> tf.one_hot([0, 2], 3).numpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if is_numpy_value(indices) and indices.dtype.kind in "fb":
        indices = indices.astype(np.int64)
    index_tensor = to_tensor_of_dtype_kind("one_hot", indices, "iu")
    depth_size = to_integer(depth, "depth")
    axis_index = -1 if axis is None else to_integer(axis, "axis")
    if depth_size < 0 or not -1 <= axis_index <= index_tensor.ndim:
        raise build_argument_error(
            f"depth must not be negative, and axis must be from -1 to {index_tensor.ndim}, got depth={depth_size} and "
            f"axis={axis_index}"
        )
    chosen_dtype = None if dtype is None else as_dtype(dtype)
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
