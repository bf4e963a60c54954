"""Tensors made of nothing but a shape: zeros, fill, range, linspace, eye, one_hot, meshgrid."""

from __future__ import annotations

import builtins
import weakref
from typing import Any

import numpy as np

from ..engine.hooks import hooks
from ..engine.recording.evidence import with_influences
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid, shape_text
from ..engine.values.shape import TensorShape
from .arrays import expand_dims, reshape
from .casts import cast
from .joining import concat
from .operands import call, fill_sizes, integers, static, tensor_of


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros (False, empty strings) of the given shape.

    Raises TypeError for a shape that is not made of integers, InvalidArgumentError for a negative size.

    >>> import minitape as tf
    >>> tf.zeros([2]).numpy(), tf.zeros([1], tf.int32).numpy()
    (array([0., 0.], dtype=float32), array([0], dtype=int32))
    """
    dtype = dtypes.as_dtype(dtype)
    sizes = fill_sizes(shape)
    return _as_tensor(
        np.zeros(sizes, dtype.as_numpy_dtype) if dtype.kind != "s" else np.full(sizes, b"", object), name or "zeros"
    )


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of ones (True) of the given shape.

    Raises TypeError for a shape that is not made of integers and for strings, InvalidArgumentError for a negative size.

    >>> import minitape as tf
    >>> tf.ones([2], tf.int32).numpy()
    array([1, 1], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype.kind == "s":
        raise TypeError(f"Cannot convert 1 to EagerTensor of dtype {dtype.name}")
    return _as_tensor(np.ones(fill_sizes(shape), dtype.as_numpy_dtype), name or "ones")


def _as_tensor(array: Any, name: str) -> Any:
    """The array as a tensor; a constant of the graph that is being built."""
    tensor = new_tensor(array)
    return tensor if state.graph is None else state.graph.constant(tensor, name)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros in the shape of another tensor, in its dtype or the given one. No gradient passes.

    >>> import minitape as tf
    >>> tf.zeros_like([1.5, 2.5]).numpy()
    array([0., 0.], dtype=float32)
    """
    return _like("zeros_like", input, dtype)


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones in the shape of another tensor, in its dtype or the given one. No gradient passes.

    >>> import minitape as tf
    >>> tf.ones_like([1.5, 2.5]).numpy()
    array([1., 1.], dtype=float32)
    """
    return _like("ones_like", input, dtype)


def _like(primitive: str, input: Any, dtype: Any) -> Any:
    if hasattr(input, "_map_values"):  # a ragged tensor
        return input._map_values(lambda v: _like(primitive, v, dtype))
    if (
        state.graph is not None
        and isinstance(getattr(input, "shape", None), TensorShape)
        and input.shape.is_fully_defined()
    ):
        # reads no variable
        made = (zeros if primitive == "zeros_like" else ones)(input.shape, dtype or input.dtype, primitive)
        if hasattr(input, "graph") or hasattr(input, "_state"):
            state.graph.shaped[made._row] = weakref.ref(input), TABLE[primitive].op
        return made
    x = tensor_of(input)
    if dtype is None or x.dtype == dtype:
        if x.dtype.kind == "s" and primitive == "zeros_like":
            return new_tensor(np.full(tuple(x.shape), b"", object))
        return call(primitive, x)
    return cast(call(primitive, x if x.dtype.kind != "s" else cast(x != x, dtypes.int32)), dtype)


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape ``dims`` in which every element is ``value``. Differentiable in ``value``.

    It has the dtype of ``value``, a scalar. InvalidArgumentError for a value with axes, for ``dims`` that are no
    vector, and for a negative size.

    >>> import minitape as tf
    >>> tf.fill([2, 2], 9).numpy()
    array([[9, 9],
           [9, 9]], dtype=int32)
    """
    if not isinstance(dims, (list, tuple)) or not all(type(d) is int for d in dims):
        given = integers(tensor_of(dims) if isinstance(dims, TensorShape) else dims, "Fill", "index_type")
        if given.ndim > 1:
            raise invalid(f"dims must represent a vector, got shape {shape_text(given.shape)}", "Fill")
    x = tensor_of(value)
    if x.ndim and (state.graph is not None or x.shape != (1,)):
        raise invalid(f"value must represent a scalar, got shape {shape_text(x.shape)}", "Fill")
    return call("broadcast_to", x, shape=fill_sizes(dims))


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """An identity matrix, or a batch of them; ``num_columns`` makes it rectangular.

    It has the ``dtype`` and two axes after those of ``batch_shape``. TypeError for sizes that are no whole numbers,
    InvalidArgumentError for negative ones.

    >>> import minitape as tf
    >>> tf.eye(2, 3).numpy()
    array([[1., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    rows = static(num_rows)
    columns = rows if num_columns is None else static(num_columns)
    symbolic = isinstance(num_rows, Tensor) or isinstance(num_columns, Tensor)
    if not symbolic and not (isinstance(rows, int) and isinstance(columns, int)):
        raise TypeError(
            "Arguments `num_rows` and `num_columns` must be positive integer values. Received: "
            f"num_rows={num_rows}, "
            f"num_columns={num_rows if num_columns is None else num_columns}"
        )
    sizes = fill_sizes([rows, columns])
    matrix = np.eye(*sizes, dtype=dtypes.as_dtype(dtype).as_numpy_dtype)
    if batch_shape is not None:
        matrix = np.tile(matrix, (*fill_sizes(batch_shape), 1, 1))
    return _as_tensor(matrix, f"{name or 'eye'}/diag")


_LADDER = ["int32", "int64", "float16", "bfloat16", "float32", "float64"]


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """The numbers from ``start`` (0 when only one is given) up to, not including, ``limit`` in steps of ``delta``.

    The dtype is the widest of the three, unless given. No gradient passes. Raises InvalidArgumentError when the limit
    cannot be reached.

    >>> import minitape as tf
    >>> tf.range(3).numpy(), tf.range(5, 0, -2).numpy(), tf.range(1, 2.5).numpy()
    (array([0, 1, 2], dtype=int32), array([5, 3, 1], dtype=int32), array([1., 2.], dtype=float32))
    """
    if limit is None:
        start, limit = 0, start
    plain = dtype is None and type(start) is type(limit) is type(delta) is int
    if plain and max(abs(start), abs(limit), abs(delta)) < 2**31:
        return _numbers(numbers_of_range(start, limit, delta, dtypes.int32), start, limit, delta, dtypes.int32)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    ends = [tensor_of(v, wanted) for v in (start, limit, delta)]
    if wanted is None:
        if any(t.dtype.name not in _LADDER for t in ends):
            raise AssertionError  # TensorFlow asserts it, without a word
        wanted = max((t.dtype for t in ends), key=lambda d: _LADDER.index(d.name))
    if state.graph is not None:
        return hooks.range_row(*ends, wanted)
    start, limit, delta = (_scalar(t, role) for t, role in zip(ends, ("start", "limit", "delta"), strict=True))
    made = _numbers(numbers_of_range(start, limit, delta, wanted), start, limit, delta, wanted)
    return with_influences(made, ends, "Range")


def _numbers(array: Any, start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
    """The numbers of a range as a tensor; in a graph a row, of which a loop over them sees the ends."""
    if state.graph is None:
        return new_tensor(array)
    first, end, step = (new_tensor(dtype.as_numpy_dtype(v)) for v in (start, limit, delta))
    made = hooks.range_row(first, end, step, dtype)
    made.set_shape(array.shape)
    state.graph.folded[made._row] = array
    return made


def _scalar(tensor: Any, role: str) -> Any:
    return tensor.array.reshape(())[()]


def numbers_of_range(start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
    """The array of ``tf.range``; InvalidArgumentError where the limit cannot be reached."""
    start, limit, delta = (dtype.as_numpy_dtype(v) for v in (start, limit, delta))
    if delta == 0:
        raise invalid(f"Requires delta != 0: {delta}", "Range")
    if dtype.is_integer:
        return np.arange(int(start), int(limit), int(delta)).astype(dtype.as_numpy_dtype)
    size = int(np.ceil(abs((float(limit) - float(start)) / float(delta))))
    return np.asarray(start + np.arange(size).astype(dtype.as_numpy_dtype) * delta, dtype.as_numpy_dtype)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: Any = 0) -> Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, both included, along a new axis.

    ``start`` and ``stop`` broadcast; integers give float64. Differentiable in both. Raises TypeError for a ``num`` that
    is no integer.

    >>> import minitape as tf
    >>> tf.linspace(0.0, 1.0, 3).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    first: Any = tensor_of(start)
    last: Any = convert_to_tensor(stop, first.dtype, name="stop")
    count = _count(num)
    if first.dtype.is_integer:
        wide = dtypes.float32 if first.dtype.size <= 2 else dtypes.float64
        first, last = cast(first, wide), cast(last, wide)
    shape = np.broadcast_shapes(tuple(first.shape), tuple(last.shape))
    first, last = (call("broadcast_to", t, shape=shape) for t in (first, last))
    axis = int(static(axis))
    axis = axis + len(shape) + 1 if axis < 0 else axis
    first, last = expand_dims(first, axis), expand_dims(last, axis)
    if count < 0:
        raise invalid("Requires start <= limit when delta > 0: 1/-1", "Range")
    if not count:
        return first[tuple([slice(None)] * axis + [slice(0, 0)])]
    step = (last - first) / float(max(count - 1, 1))
    between = np.arange(1, max(count - 1, 1)).astype(first.dtype.as_numpy_dtype)
    inner = first + step * new_tensor(between.reshape([-1 if i == axis else 1 for i in builtins.range(len(shape) + 1)]))
    parts = [first, inner, last] if count > 1 else [first]
    return concat(parts, axis) if count > 1 else first


def _count(num: Any) -> int:
    given = tensor_of(num)
    if not given.dtype.is_integer:
        raise TypeError(
            f"Argument `tensor` (name: num) must be of type integer. Received `tensor` = {num} of dtype: {given.dtype}"
        )
    return int(given.array.reshape(())[()])


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """A new axis of size ``depth`` with ``on_value`` (1) at each index and ``off_value`` (0) elsewhere.

    An index out of range gives a row of ``off_value``. No gradient passes. Raises TypeError when the dtypes differ.

    >>> import minitape as tf
    >>> tf.one_hot([0, 2], 3).numpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if is_array(indices) and indices.dtype.kind in "fb":
        indices = indices.astype(np.int64)
    places = tensor_of(indices)
    if on_value is None and off_value is None and dtype is None:
        on, off = np.float32(1), np.float32(0)
    size = depth if type(depth) is int else static(convert_to_tensor(depth, dtypes.int32))
    if np.ndim(size):
        raise invalid(f"depth must be a scalar, but got: {shape_text(np.shape(size))}", "OneHot")
    if size < 0:
        raise invalid(f"depth must be non-negative, got: {size}", "OneHot")
    axis = -1 if axis is None else int(static(axis))
    if not -1 <= axis <= places.ndim:
        raise invalid(f"Expected axis to be -1 or between [0, {places.ndim + 1}).  But received: {axis}", "OneHot")
    return call("one_hot", places, depth=int(size), on=on, off=off, axis=axis)


def meshgrid(*args: Any, indexing: str = "xy", name: str = "meshgrid") -> list:
    """The coordinates of a grid: for n vectors, n tensors with n axes.

    ``indexing`` "xy" swaps the first two axes, "ij" keeps them. Differentiable. Raises ValueError for another indexing.

    >>> import minitape as tf
    >>> x, y = tf.meshgrid([1, 2], [3, 4, 5])
    >>> x.shape, y.numpy()[:, 0]
    (TensorShape([3, 2]), array([3, 4, 5], dtype=int32))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    vectors = [reshape(tensor_of(a), [-1]) for a in args]
    n = len(vectors)
    order = [1, 0, *builtins.range(2, n)] if indexing == "xy" and n > 1 else list(builtins.range(n))
    shape = [0] * n
    for i, v in enumerate(vectors):
        shape[order[i]] = v.shape[0]
    shaped = [reshape(v, [-1 if order[i] == k else 1 for k in builtins.range(n)]) for i, v in enumerate(vectors)]
    grids = [call("broadcast_to", v, shape=tuple(shape)) for v in shaped]
    like = vectors[0].dtype if vectors else None  # TensorFlow multiplies each by ones of the first one's dtype
    return [g if g.dtype is like else g * ones([], like) for g in grids]
