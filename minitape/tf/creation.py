"""Tensors made of nothing but a shape: zeros, ones, fill, eye, range, linspace, one_hot."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.evidence import with_influences
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from .arguments import axis_in, call, check_kind, integer, sizes_of, tensor_of
from .arrays import concat, expand_dims
from .elementwise import cast

if TYPE_CHECKING:
    from ..engine.types import Array, DTypeLike, Name, ShapeLike, Value


def zeros(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: Name = None) -> Tensor:
    """A tensor of zeros (False, empty strings) of the given shape.

    Raises TypeError for a shape that is not made of integers, InvalidArgumentError for a negative size.

    >>> import minitape as tf
    >>> tf.zeros([2]).numpy(), tf.zeros([1], tf.int32).numpy()
    (array([0., 0.], dtype=float32), array([0], dtype=int32))
    """
    return new_tensor(_fill(sizes_of(shape), dtypes.as_dtype(dtype), 0))


def ones(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: Name = None) -> Tensor:
    """A tensor of ones (True) of the given shape.

    Raises TypeError for a shape that is not made of integers and for strings, InvalidArgumentError for a negative size.

    >>> import minitape as tf
    >>> tf.ones([2], tf.int32).numpy()
    array([1, 1], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype.kind == "s":
        raise TypeError("tf.ones makes numbers or bools, no strings")
    return new_tensor(_fill(sizes_of(shape), dtype, 1))


def _fill(sizes: tuple[int, ...], dtype: dtypes.DType, number: int) -> Array:
    if dtype.kind == "s":
        return np.full(sizes, b"", object)
    return (np.ones if number else np.zeros)(sizes, dtype.as_numpy_dtype)


def zeros_like(input: Value, dtype: DTypeLike = None, name: Name = None) -> Tensor:
    """Zeros in the shape of another tensor, in its dtype or the given one. No gradient passes.

    >>> import minitape as tf
    >>> tf.zeros_like([1.5, 2.5]).numpy()
    array([0., 0.], dtype=float32)
    """
    return _like(zeros, input, dtype)


def ones_like(input: Value, dtype: DTypeLike = None, name: Name = None) -> Tensor:
    """Ones in the shape of another tensor, in its dtype or the given one. No gradient passes.

    >>> import minitape as tf
    >>> tf.ones_like([1.5, 2.5]).numpy()
    array([1., 1.], dtype=float32)
    """
    return _like(ones, input, dtype)


def _like(make: Callable[..., Tensor], input: Value, dtype: DTypeLike) -> Tensor:
    x = tensor_of(input)
    if x.dtype.kind == "s":
        return make(x.shape, dtype or x.dtype)
    return cast(call(f"{make.__name__}_like", x), dtype or x.dtype)


def fill(dims: ShapeLike, value: Value, name: Name = None) -> Tensor:
    """A tensor of shape ``dims`` in which every element is ``value``, a scalar. Differentiable in ``value``.

    InvalidArgumentError for a value with axes and for a negative size.

    >>> import minitape as tf
    >>> tf.fill([2, 2], 9).numpy()
    array([[9, 9],
           [9, 9]], dtype=int32)
    """
    x = tensor_of(value)
    if x.shape.num_elements() != 1 or x.ndim > 1:
        raise invalid(f"tf.fill takes a scalar as value, got a tensor of shape {x.shape}")
    return call("broadcast_to", x, shape=sizes_of(dims))


def eye(
    num_rows: Value,
    num_columns: Value = None,
    batch_shape: ShapeLike = None,
    dtype: DTypeLike = dtypes.float32,
    name: Name = None,
) -> Tensor:
    """The identity matrix, or a batch of them of shape ``batch_shape``; ``num_columns`` is ``num_rows`` by default.

    >>> import minitape as tf
    >>> tf.eye(2).numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    rows, columns = sizes_of([num_rows, num_rows if num_columns is None else num_columns])
    matrix = np.eye(rows, columns, dtype=dtypes.as_dtype(dtype).as_numpy_dtype)
    return new_tensor(matrix if batch_shape is None else np.tile(matrix, (*sizes_of(batch_shape), 1, 1)))


_LADDER = ["int32", "int64", "float16", "float32", "float64"]


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
    ends = [tensor_of(v, dtype) for v in (start, limit, delta)]
    wanted = max(ends, key=lambda t: _LADDER.index(t.dtype.name)).dtype if dtype is None else dtypes.as_dtype(dtype)
    if any(t.ndim for t in ends):
        raise invalid(f"tf.range takes scalars, got the shapes {', '.join(str(t.shape) for t in ends)}")
    first, last, step = (wanted.as_numpy_dtype(t.array) for t in ends)
    if step == 0 or ((step > 0) != (last >= first) and first != last):
        raise invalid(f"tf.range cannot reach {last} from {first} in steps of {step}")
    if wanted.is_integer:
        made = np.arange(int(first), int(last), int(step)).astype(wanted.as_numpy_dtype)
    else:
        turns = np.arange(np.ceil(abs((float(last) - float(first)) / float(step))))
        made = np.asarray(first + turns.astype(wanted.as_numpy_dtype) * step, wanted.as_numpy_dtype)
    return with_influences(new_tensor(made), ends, "Range")


def linspace(start: Value, stop: Value, num: Value, name: Name = None, axis: Value = 0) -> Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, both included, along a new axis.

    ``start`` and ``stop`` broadcast; integers give float64. Differentiable in both. Raises TypeError for a ``num`` that
    is no integer.

    >>> import minitape as tf
    >>> tf.linspace(0.0, 1.0, 3).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    first = tensor_of(start)
    last = convert_to_tensor(stop, first.dtype)
    count = integer(num, "num")
    if first.dtype.is_integer:
        wide = dtypes.float32 if first.dtype.size <= 2 else dtypes.float64
        first, last = cast(first, wide), cast(last, wide)
    shape = np.broadcast_shapes(first._dims, last._dims)
    place = axis_in(axis, len(shape) + 1)
    first, last = (expand_dims(call("broadcast_to", t, shape=shape), place) for t in (first, last))
    if count < 0:
        raise invalid(f"num must not be negative, got {count}")
    if not count:
        return first[tuple([slice(None)] * place + [slice(0, 0)])]
    if count == 1:
        return first
    step = (last - first) / float(count - 1)
    sizes = [-1 if i == place else 1 for i in builtins.range(first.ndim)]
    between = np.arange(1, count - 1).astype(first.dtype.as_numpy_dtype).reshape(sizes)
    return concat([first, first + step * new_tensor(between), last], place)


def one_hot(
    indices: Value,
    depth: Value,
    on_value: Value = None,
    off_value: Value = None,
    axis: Value = None,
    dtype: DTypeLike = None,
    name: Name = None,
) -> Tensor:
    """A new axis of size ``depth`` with ``on_value`` (1) at each index and ``off_value`` (0) elsewhere.

    The dtype is ``dtype``, that of the values, or float32. An index out of range gives a row of ``off_value``. No
    gradient passes. Raises TypeError when the dtypes differ.

    >>> import minitape as tf
    >>> tf.one_hot([0, 2], 3).numpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if is_array(indices) and indices.dtype.kind in "fb":
        indices = indices.astype(np.int64)
    places = check_kind("one_hot", tensor_of(indices), "iu")
    size = integer(depth, "depth")
    place = -1 if axis is None else integer(axis, "axis")
    if size < 0 or not -1 <= place <= places.ndim:
        raise invalid(
            f"depth must not be negative and axis from -1 to {places.ndim}, got depth={size} and axis={place}"
        )
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    found = {tensor_of(v, wanted).dtype for v in (on_value, off_value) if v is not None}
    found |= set() if wanted is None else {wanted}
    if len(found) > 1:
        raise TypeError(f"on_value, off_value and dtype must agree, got {sorted(d.name for d in found)}")
    kind = next(iter(found), dtypes.float32)
    on, off = (
        convert_to_tensor(default if v is None else v, kind).array for v, default in ((on_value, 1), (off_value, 0))
    )
    return call("one_hot", places, depth=size, on=on, off=off, axis=place)
