"""``tf.TensorArray``: a list of tensors of one shape that loops can write and read (of several shapes: ``mixed``).

Its content is one tensor, the *buffer*, with the elements along the first axis. As long as nothing was written their
shape is not known; the buffer then has the shape [size, 0]. Writing makes a new buffer, so gradients flow through it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import dtypes
from ..engine.convert import convert_to_tensor
from ..engine.custom import for_batches
from ..engine.invalid import invalid
from ..engine.operation import apply
from ..engine.primitives import TABLE
from ..engine.shape import TensorShape
from ..engine.state import state
from ..engine.tensor import Tensor, wrap
from .carried import TensorArrayBase
from .primitive import GraphPrimitive
from .symbolic import is_symbolic

_ONE_SHAPE = "minitape's TensorArray holds elements of one shape, here {}: got {}. With infer_shape=False it holds any."
_KERNELS_NAME = {"object": "string", "float32": "float", "float64": "double", "float16": "half"}


def _is_empty(buffer: Any, value_shape: tuple[int, ...]) -> bool:
    return buffer.ndim == 2 and buffer.shape[1] == 0 and tuple(value_shape) != (0,)


def check_place(buffer: Any, index: Any, value: Any, dynamic: bool) -> int:
    """Where a value is to be written; InvalidArgumentError for a place that is not there and a value of another type."""
    at, size = int(index), buffer.shape[0]
    if value.dtype != buffer.dtype:
        named = [_KERNELS_NAME.get(a.dtype.name, a.dtype.name) for a in (value, buffer)]
        raise invalid("Invalid data types; op elements {} but list elements {}".format(*named))
    if not 0 <= at < size and not (dynamic and at >= 0):
        raise invalid(f"Trying to modify element {at} in a list with {size} elements.", "TensorListSetItem")
    return at


def _written(buffer: Any, index: Any, value: Any, *, dynamic: bool) -> tuple[Any, ...]:
    at, shape = check_place(buffer, index, value, dynamic), np.shape(value)
    size = buffer.shape[0]
    if _is_empty(buffer, shape):
        new = np.zeros((max(size, at + 1), *shape), np.asarray(value).dtype if buffer.dtype != object else object)
        if new.dtype == object:
            new.fill(b"")
    else:
        if shape != buffer.shape[1:]:
            raise NotImplementedError(_ONE_SHAPE.format(TensorShape(buffer.shape[1:]), TensorShape(shape)))
        new = np.zeros((max(size, at + 1), *buffer.shape[1:]), buffer.dtype)
        new[:size] = buffer
    new[at] = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
    return (new,)


def _write_eager(tensors: Any, attrs: dict[str, Any]) -> list[Any]:
    return [apply(_EAGER_WRITE, tuple(tensors), attrs)[0]]


@for_batches
def _write_rule(gs: Any, z: Any, buffer: Any, index: Any, value: Any, *, dynamic: bool) -> tuple[Any, ...]:
    return _without(gs[0], buffer, index), None, TABLE["gather"](gs[0], index, axis=0)


def _without(g: Any, buffer: Any, index: Any) -> Any:
    if isinstance(g, Tensor):
        return apply(_CLEARED, (g, index, buffer), {})[0]
    return _cleared(g, index, buffer)[0]


def _cleared(g: Any, index: Any, buffer: Any) -> tuple[Any, ...]:
    if buffer.shape != g.shape:
        if buffer.ndim != g.ndim or buffer.shape[1:] != g.shape[1:]:
            return (np.zeros(tuple(buffer.shape), g.dtype),)
        g = g[: buffer.shape[0]]
    out = np.array(g)
    if len(out) < buffer.shape[0]:  # the derivative of this, where writing had made the array larger
        out = np.concatenate([out, np.zeros((buffer.shape[0] - len(out), *out.shape[1:]), out.dtype)])
    if int(index) < len(out):
        out[int(index)] = 0
    return (out,)


@for_batches
def _cleared_rule(gs: Any, z: Any, x: Any, index: Any, buffer: Any) -> tuple[Any, ...]:
    return _without(gs[0], x, index), None, None


def _write_infer(tensors: Any, attrs: dict[str, Any]) -> list[Any]:
    buffer, _, value = tensors
    size = None if attrs["dynamic"] or buffer.shape.rank is None else buffer.shape[0]
    return [(TensorShape([size]).concatenate(value.shape), buffer.dtype)]


def _primitive(name: str, op: str, infer: Any, **options: Any) -> GraphPrimitive:
    return GraphPrimitive(name, op, infer, **options)


_EAGER_WRITE = _primitive("tensor_array_write", "TensorListSetItem", _write_infer, forward=_written, rules=_write_rule)
_EAGER_WRITE.eager = _write_eager
_CLEARED = _primitive(
    "tensor_array_clear",
    "TensorListSetItem",
    lambda t, a: [(t[2].shape, t[0].dtype)],
    forward=_cleared,
    rules=_cleared_rule,
)
_CLEARED.eager = lambda tensors, attrs: [apply(_CLEARED, tuple(tensors), attrs)[0]]


def _read(buffer: Any, index: Any) -> tuple[Any, ...]:
    at = int(index)
    if not 0 <= at < buffer.shape[0]:
        raise invalid(f"Trying to access element {at} in a list with {buffer.shape[0]} elements.", "TensorListGetItem")
    return (buffer[at],)


READ = _primitive(
    "tensor_array_read",
    "TensorListGetItem",
    lambda t, a: [(_element(t[0].shape), t[0].dtype)],
    forward=_read,
    rules=for_batches(lambda gs, z, x, i: (_placed(gs[0], x, i), None)),
)
READ.eager = lambda tensors, attrs: [apply(READ, tuple(tensors), attrs)[0]]


def _element(shape: TensorShape) -> TensorShape:
    return TensorShape(None) if shape.rank is None else TensorShape(shape.as_list()[1:])


def _placed(g: Any, x: Any, index: Any) -> Any:
    if isinstance(g, Tensor):
        return apply(PLACED, (g, x, index), {})[0]
    return _place(g, x, index)[0]


def _place(g: Any, x: Any, index: Any) -> tuple[Any, ...]:
    out = np.zeros(tuple(x.shape), g.dtype)
    out[int(index)] = g
    return (out,)


PLACED = _primitive("tensor_array_place", "TensorListSetItem", lambda t, a: [(t[1].shape, t[0].dtype)], forward=_place,
                    rules=[lambda g, z, x, like, i: TABLE["gather"](g, i, axis=0), None, None])  # fmt: skip
PLACED.eager = lambda tensors, attrs: [apply(PLACED, tuple(tensors), attrs)[0]]


def _concat(tensors: Any, attrs: dict[str, Any]) -> list[Any]:
    shape = tensors[0].shape
    return [TABLE["reshape"](tensors[0], shape=(-1, *shape[2:]))]


def _scatter(tensors: Any, attrs: dict[str, Any]) -> list[Any]:
    buffer, indices, value = tensors
    for at in range(indices.shape[0]):
        element = TABLE["slice"](value, spec=(at,))
        buffer = apply(_EAGER_WRITE, (buffer, TABLE["slice"](indices, spec=(at,)), element), attrs)[0]
    return [buffer]


def _split(tensors: Any, attrs: dict[str, Any]) -> list[Any]:
    value, lengths = tensors
    length = int(lengths.array[0]) if lengths.shape[0] else 0
    return [TABLE["reshape"](value, shape=(lengths.shape[0], length, *value.shape[1:]))]


def _stack(tensors: Any, attrs: dict[str, Any]) -> list[Any]:
    (buffer,), shape = tensors, attrs["shape"]
    if shape.is_fully_defined() and _is_empty(buffer, shape):  # nothing was written
        return [wrap(_empty_elements(buffer.shape[0], shape, buffer.dtype))]
    return [TABLE["identity"](buffer)]


def _empty_elements(size: int, shape: Any, dtype: Any) -> Any:
    array = np.zeros((size, *shape), dtype.as_numpy_dtype)
    if array.dtype == object:
        array.fill(b"")
    return array


_STACK = _primitive(
    "tensor_array_stack",
    "TensorListStack",
    lambda t, a: [(TensorShape([None if t[0].shape.rank is None else t[0].shape[0]]).concatenate(a["shape"]), t[0].dtype)],
    eager=_stack,
)
_CONCAT = _primitive(
    "tensor_array_concat",
    "TensorListConcatV2",
    lambda t, a: [(TensorShape([None]).concatenate(a["rest"]), t[0].dtype)],
    eager=_concat,
)
_SCATTER = _primitive(
    "tensor_array_scatter",
    "TensorListScatterIntoExistingList",
    lambda t, a: [(TensorShape([None]).concatenate(t[2].shape[1:]), t[2].dtype)],
    eager=_scatter,
)
_SPLIT = _primitive(
    "tensor_array_split",
    "TensorListSplit",
    lambda t, a: [(TensorShape([None, None]).concatenate(t[0].shape[1:]), t[0].dtype)],
    eager=_split,
)


PRIMITIVES = (_EAGER_WRITE, _CLEARED, READ, PLACED, _STACK, _CONCAT, _SCATTER, _SPLIT)


def _is_mixed(infer_shape: bool = True, element_shape: Any = None, **others: Any) -> bool:
    """True for an array whose elements may have several shapes."""
    shape = TensorShape(element_shape)
    return not infer_shape or (shape.rank is not None and not shape.is_fully_defined())


class TensorArray(TensorArrayBase):
    """A list of tensors of one dtype and shape; ``write`` returns the array to go on with (eagerly it is the same).

    Eagerly, reading clears an element unless ``clear_after_read`` is False. Differentiable. ``infer_shape=False`` allows
    elements of several shapes, in a graph an ``element_shape`` with open sizes, too. ValueError for an element of another
    shape (in a graph NotImplementedError where only the run sees it), InvalidArgumentError for a second read of a cleared element, OutOfRangeError (in a graph InvalidArgumentError) for an index outside.
    ``tensor_array_name`` and ``colocate_with_first_write_call`` have no effect. See https://www.tensorflow.org/api_docs/python/tf/TensorArray.

    >>> import minitape as tf
    >>> array = tf.TensorArray(tf.float32, size=2)
    >>> array.write(0, 1.0).write(1, 2.0).stack().numpy()
    array([1., 2.], dtype=float32)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is TensorArray and state.graph is None:
            from .lists import EagerTensorArray

            cls = EagerTensorArray
        elif cls is TensorArray and _is_mixed(**kwargs):
            from .mixed import MixedTensorArray

            cls = MixedTensorArray
        return object.__new__(cls)

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None or flow is not None:
            raise ValueError("minitape's TensorArray takes no `handle` or `flow`.")
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._shape = self._given = TensorShape(element_shape)
        self._infer = bool(infer_shape)
        self._buffer = self._empty(0 if size is None else size)

    def _empty(self, size: Any) -> Any:
        known = self._shape.as_list() if self._shape.is_fully_defined() else [0]
        size = convert_to_tensor(size)
        if is_symbolic(size):
            from .later import zeros_of_size

            return zeros_of_size(size, known, self._dtype, self._shape)
        return wrap(_empty_elements(int(size.array), known, self._dtype))

    def _parts(self) -> list[Any]:
        """The tensors that stand for the content."""
        return [self._buffer]

    def _with(self, buffer: Any) -> TensorArray:
        made = object.__new__(TensorArray)
        made.__dict__.update(self.__dict__)
        made._buffer = buffer
        return made

    dtype = property(lambda self: self._dtype, doc="The type of the elements.")
    dynamic_size = property(lambda self: self._dynamic, doc="Whether writing beyond the end makes it larger.")
    flow = property(lambda self: self._buffer, doc="The tensor that stands for the content.")

    @property
    def element_shape(self) -> TensorShape:
        """The shape of one element, as far as it is known."""
        return self._shape

    def size(self, name: str | None = None) -> Any:
        """The number of elements, as an int32 tensor.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.float32, size=3).size().numpy()
        np.int32(3)
        """
        from .later import size_of

        return size_of(self._buffer)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with ``value`` at ``index``."""
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        self._check(value.shape)
        index = convert_to_tensor(index)
        made = self._with(apply(_EAGER_WRITE, (self._buffer, index, value), {"dynamic": self._dynamic})[0])
        made._shape = self._shape = self._shape.merge_with(value.shape)  # the array itself learns it, too
        return made

    def _check(self, shape: TensorShape) -> None:
        """An element must have the shape of the others."""
        if self._shape.is_compatible_with(shape):
            return
        if state.graph is not None:
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self._shape} ")
        raise ValueError(f"Incompatible shape for value ({shape}), expected ({self._shape})")

    def read(self, index: Any, name: str | None = None) -> Any:
        """The element at ``index``: a tensor of the array's dtype and element shape.

        >>> import minitape as tf
        >>> array = tf.TensorArray(tf.float32, size=2, clear_after_read=False).write(0, [1.0, 2.0])
        >>> array.read(0).numpy(), array.read(1).numpy()
        (array([1., 2.], dtype=float32), array([0., 0.], dtype=float32))
        """
        if not is_symbolic(self._buffer) and not self._shape.is_fully_defined():  # nothing was written
            raise ValueError(f"Cannot convert a partially known TensorShape {self._shape} to a Tensor.")
        return self._known(apply(READ, (self._buffer, convert_to_tensor(index)), {})[0], self._shape)

    def stack(self, name: str | None = None) -> Any:
        """The elements as one tensor of shape ``[size, *element_shape]``.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.float32, size=2).write(0, [1.0, 2.0]).write(1, [3.0, 4.0]).stack().numpy()
        array([[1., 2.],
               [3., 4.]], dtype=float32)
        """
        return apply(_STACK, (self._buffer,), {"shape": self._shape})[0]

    def _known(self, out: Any, shape: TensorShape) -> Any:
        """A tensor of a graph with what is known of the elements' shape."""
        if is_symbolic(out) and self._shape.rank is not None:
            out.set_shape(shape)
        return out

    def concat(self, name: str | None = None) -> Any:
        """The elements joined along their first axis; InvalidArgumentError for scalars.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=2).unstack([[1, 2], [3, 4]]).concat().numpy()
        array([1, 2, 3, 4], dtype=int32)
        """
        if self._shape.rank == 0:
            raise invalid("Concat saw a scalar shape at index 0 but requires at least vectors.", "TensorArrayConcatV3")
        return apply(_CONCAT, (self._buffer,), {"rest": self._shape[1:] if self._shape.rank else self._shape})[0]

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Some elements as one tensor, in the order of ``indices``.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=3).unstack([10, 20, 30]).gather([2, 0]).numpy()
        array([30, 10], dtype=int32)
        """
        indices = convert_to_tensor(indices)
        return self._known(TABLE["gather"](self._buffer, indices, axis=0), indices.shape.concatenate(self._shape))

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """An array of the slices of ``value`` along its first axis.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=2).unstack([[1, 2], [3, 4]]).read(1).numpy()
        array([3, 4], dtype=int32)
        """
        value = convert_to_tensor(value, self._dtype)
        made = self._with(value)
        made._shape = TensorShape(value.shape[1:])
        return made

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the slices of ``value`` at ``indices``.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=3).scatter([2, 0], [30, 10]).stack().numpy()
        array([10,  0, 30], dtype=int32)
        """
        value = convert_to_tensor(value, self._dtype)
        made = self._with(
            apply(_SCATTER, (self._buffer, convert_to_tensor(indices), value), {"dynamic": self._dynamic})[0]
        )
        made._shape = self._shape.merge_with(value.shape[1:])
        return made

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """An array of pieces of ``value`` along its first axis.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=2).split([1, 2, 3, 4], lengths=[2, 2]).read(1).numpy()
        array([3, 4], dtype=int32)
        """
        value, lengths = convert_to_tensor(value, self._dtype), convert_to_tensor(lengths)
        known = getattr(lengths, "array", None)
        if known is None or len(set(np.reshape(known, -1).tolist())) > 1:
            from .mixed import MixedTensorArray

            return MixedTensorArray._with(self, self._buffer).split(value, lengths)
        made = self._with(apply(_SPLIT, (value, lengths), {})[0])
        size = int(np.reshape(known, -1)[0]) if np.size(known) else None
        made._shape = TensorShape([size]).concatenate(value.shape[1:])
        return made

    def identity(self) -> TensorArray:
        """The same array.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=2).unstack([1, 2]).identity().stack().numpy()
        array([1, 2], dtype=int32)
        """
        return self._with(TABLE["identity"](self._buffer))

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """NotImplementedError, as in TensorFlow's eager mode: gradients flow through ``stack`` and ``read``.

        >>> import minitape as tf
        >>> array = tf.TensorArray(tf.float32, size=1)
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = array.write(0, x * x).read(0)  # no `grad` is needed
        >>> tape.gradient(y, x).numpy()
        np.float32(6.0)
        """
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not "
            "use/need this function to compute gradients of operations that use TensorArrays."
        )

    def close(self, name: str | None = None) -> None:
        """Lets go of all elements; of an array of a graph there is nothing to let go of.

        >>> import minitape as tf
        >>> array = tf.TensorArray(tf.float32, size=2)
        >>> array.close()
        >>> array.size().numpy()
        np.int32(0)
        """

    def __len__(self) -> int:
        return int(self._buffer.shape[0])
