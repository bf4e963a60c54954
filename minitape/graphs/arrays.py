"""``tf.TensorArray``: a list of tensors that loops can write and read.

Outside of graphs the content is a Python list, which ``write`` and its kin change in place. In a graph it is one
tensor, the *buffer*, with the elements along the first axis: ``write`` makes a new one, so gradients flow through it.
As long as nothing was written the shape of the elements may not be known; the buffer then has the shape [size, 0].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.derivatives.custom import for_batches
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.class_names import methods_of
from ..engine.values.errors import OutOfRangeError
from ..engine.values.invalid import invalid
from ..engine.values.shape import TensorShape
from ..ops.filling import zeros
from ..ops.joining import concat, unstack
from ..ops.picking import gather
from .primitive import GraphPrimitive, as_eager
from .slicing import size_of, zeros_of_size
from .symbolic import is_symbolic

if TYPE_CHECKING:
    from ..engine.table.primitives import Primitive
    from ..engine.types import Adjoint, Attributes, DTypeLike, Index, ShapeLike, Value
    from .types import Tensors

# -- the operations of a graph ---------------------------------------------------------------------


def _is_empty(buffer: Value, element_shape: Sequence[int]) -> bool:
    """True for a buffer to which no element of this shape was written yet."""
    return buffer.ndim == 2 and buffer.shape[1] == 0 and tuple(element_shape) != (0,)


def _write(buffer: Value, index: Index, value: Value, *, dynamic: bool) -> tuple:
    """The buffer with a value at an index, or with several values at as many indices."""
    size, places, element_shape = len(buffer), index.tolist(), value.shape[index.ndim :]
    places = places if index.ndim else [places]
    wrong = next((at for at in places if at < 0 or (at >= size and not dynamic)), None)
    if wrong is not None:
        raise invalid(f"Trying to modify element {wrong} in a list with {size} elements.", "TensorListSetItem")
    empty = _is_empty(buffer, element_shape)
    if not empty and buffer.shape[1:] != element_shape:
        raise invalid(
            f"In a graph minitape's TensorArray holds elements of one shape: it has {buffer.shape[1:]}, got "
            f"{element_shape}.",
            "TensorListSetItem",
        )
    if empty or dynamic:
        made = np.zeros((max([size, *(at + 1 for at in places)]), *element_shape), buffer.dtype)
        if made.dtype == object:
            made.fill(b"")
        if not empty:
            made[:size] = buffer
    else:
        made = buffer.copy()
    made[index, ...] = value  # of a text, too, not the array around it
    return (made,)


def _read(buffer: Value, index: Index, *, shape: ShapeLike = None) -> tuple:
    """An element, or several."""
    size = len(buffer)
    wrong = next((at for at in np.reshape(index, -1).tolist() if not 0 <= at < size), None)
    if wrong is not None:
        raise invalid(f"Trying to access element {wrong} in a list with {size} elements.", "TensorListGetItem")
    return (buffer[index],)


def _run(primitive: Primitive, *values: Any, **attrs: Any) -> Any:
    """A primitive on arrays, or on tensors, so that a tape records it."""
    if any(isinstance(value, Tensor) for value in values):
        return apply(primitive, tuple(map(as_eager, values)), attrs)[0]
    return primitive.forward(*values, **attrs)[0]


def _zeros_like(value: Value) -> Any:
    return TABLE["zeros_like"](value) if isinstance(value, Tensor) else np.zeros(np.shape(value), value.dtype)


@for_batches
def _write_rule(gs: Adjoint, z: Adjoint, buffer: Value, index: Index, value: Value, *, dynamic: bool) -> tuple:
    g = gs[0]
    if tuple(buffer.shape[1:]) != tuple(g.shape[1:]):  # nothing was written before
        return _zeros_like(buffer), None, _run(READ, g, index)
    rest = _run(WRITE, g, index, _zeros_like(value), dynamic=False)
    return rest[: buffer.shape[0]] if rest.shape[0] > buffer.shape[0] else rest, None, _run(READ, g, index)


@for_batches
def _read_rule(gs: Adjoint, z: Adjoint, buffer: Value, index: Index, *, shape: ShapeLike = None) -> tuple:
    return _run(WRITE, _zeros_like(buffer), index, gs[0], dynamic=False), None


def _stack(tensors: Tensors, attrs: Attributes) -> list:
    (buffer,), element_shape = tensors, attrs["shape"]
    if element_shape.is_fully_defined() and _is_empty(buffer, element_shape):
        return [zeros([buffer.shape[0], *element_shape], buffer.dtype)]
    return [TABLE["identity"](buffer)]


def _stack_infer(tensors: Tensors, attrs: Attributes) -> list:
    buffer = tensors[0]
    return [(TensorShape([attrs["size"] or _size(buffer)]).concatenate(attrs["shape"]), buffer.dtype)]


def _write_infer(tensors: Tensors, attrs: Attributes) -> list:
    buffer, index, value = tensors
    size = None if attrs["dynamic"] else _size(buffer)
    element_shape = TensorShape(None) if index.shape.rank is None else value.shape[index.shape.rank :]
    return [(TensorShape([size]).concatenate(element_shape), buffer.dtype)]


def _read_infer(tensors: Tensors, attrs: Attributes) -> list:
    buffer, index = tensors
    return [(index.shape.concatenate(attrs.get("shape", buffer.shape[1:])), buffer.dtype)]


def _size(buffer: Value) -> int | None:
    return buffer.shape[0] if buffer.shape.rank else None


WRITE = GraphPrimitive(
    "tensor_array_write", "TensorListSetItem", _write_infer, forward=_write, rules=_write_rule, symbolic_rule=False
)
READ = GraphPrimitive(
    "tensor_array_read", "TensorListGetItem", _read_infer, forward=_read, rules=_read_rule, symbolic_rule=False
)
STACK = GraphPrimitive("tensor_array_stack", "TensorListStack", _stack_infer, eager=_stack)
WRITE.eager = lambda tensors, attrs: [_run(WRITE, *tensors, **attrs)]
READ.eager = lambda tensors, attrs: [_run(READ, *tensors, **attrs)]


# -- outside of graphs -----------------------------------------------------------------------------


class TensorArray:
    """A list of tensors of one dtype and shape; ``write`` returns the array to go on with (eagerly it is the same).

    Eagerly, reading clears an element unless ``clear_after_read`` is False. Differentiable. ``infer_shape=False``
    allows elements of several shapes (in a graph InvalidArgumentError in the run that writes them). ValueError for an
    element of another shape, InvalidArgumentError for a second read of a cleared element, OutOfRangeError (in a graph
    InvalidArgumentError) for an index outside. ``tensor_array_name`` and ``colocate_with_first_write_call`` have no
    effect. See https://www.tensorflow.org/api_docs/python/tf/TensorArray.

    >>> import minitape as tf
    >>> array = tf.TensorArray(tf.float32, size=2)
    >>> array.write(0, 1.0).write(1, 2.0) is array, array.stack().numpy()
    (True, array([1., 2.], dtype=float32))
    """

    _elements: list

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls if state.graph is None else GraphTensorArray)

    def __init__(
        self,
        dtype: DTypeLike,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None or flow is not None:
            raise ValueError("minitape's TensorArray takes no `handle` or `flow`.")
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._clear = clear_after_read is not False
        self._shape = TensorShape(element_shape)
        self._infer = bool(infer_shape)
        self._reserve(size)

    def _reserve(self, size: Any) -> None:
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
        self._cleared: set[int] = set()
        self._elements = [None] * max(int(_index(size)), 0)

    dtype = property(lambda self: self._dtype, doc="The type of the elements.")
    dynamic_size = property(lambda self: self._dynamic, doc="Whether writing beyond the end makes it larger.")
    flow = property(lambda self: new_tensor(np.int32(0)), doc="Eagerly it has no meaning: 0.")

    @property
    def element_shape(self) -> TensorShape:
        """The shape of one element, as far as it is known."""
        return self._shape

    def _components(self) -> list:
        """The tensor that stands for the content in loops and branches of a graph."""
        return [self.stack()]

    def _rebuild(self, parts: Sequence) -> GraphTensorArray:
        """The array of a graph with this content."""
        made: GraphTensorArray = object.__new__(GraphTensorArray)
        made.__dict__.update(self.__dict__)
        (made._buffer,) = parts
        return made

    def _check(self, value: Value) -> None:
        """An element must have the dtype of the array, and the shape of the other elements."""
        if value.dtype != self._dtype:
            raise invalid(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} "
            )
        if not self._shape.is_compatible_with(value.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({self._shape})")
        if self._infer:
            self._shape = self._shape.merge_with(value.shape)

    def size(self, name: str | None = None) -> Any:
        """The number of elements, as an int32 tensor.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.float32, size=3).size().numpy()
        np.int32(3)
        """
        return new_tensor(np.int32(len(self._elements)))

    def write(self, index: Index, value: Value, name: str | None = None) -> TensorArray:
        """The array with ``value`` at ``index``."""
        index = _index(index)
        if index < 0:
            raise OutOfRangeError(None, None, f"Writing to negative indices (index {index}) is not allowed.")
        size = len(self._elements)
        if index >= size and not self._dynamic:
            raise OutOfRangeError(
                None, None, f"Tried to write to index {index} but array is not resizeable and size is: {size} "
            )
        if index >= size:
            self._elements += [None] * (index + 1 - size)
        value = value if isinstance(value, EagerTensor) else convert_to_tensor(value, dtype_hint=self._dtype)
        self._check(value)
        self._elements[index] = value
        return self

    def read(self, index: Index, name: str | None = None) -> Any:
        """The element at ``index``: a tensor of the array's dtype and element shape; zeros where nothing was written.

        >>> import minitape as tf
        >>> array = tf.TensorArray(tf.float32, size=2, clear_after_read=False).write(0, [1.0, 2.0])
        >>> array.read(0).numpy(), array.read(1).numpy()
        (array([1., 2.], dtype=float32), array([0., 0.], dtype=float32))
        """
        index = _index(index)
        if index < 0:
            raise OutOfRangeError(None, None, f"Reading from negative indices (index {index}) is not allowed.")
        if index >= len(self._elements):
            raise OutOfRangeError(
                None, None, f"Tried to read from index {index} but array size is: {len(self._elements)} "
            )
        if self._elements[index] is None and index in self._cleared:
            raise invalid(
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps try "
                "setting clear_after_read = false?)"
            )
        found = self._element(index)
        if self._clear:
            self._elements[index] = None
            self._cleared.add(index)
        return found

    def _element(self, index: int) -> Any:
        if self._elements[index] is None:
            self._elements[index] = zeros(self._shape, self._dtype)
        return self._elements[index]

    def stack(self, name: str | None = None) -> Any:
        """The elements as one tensor of shape ``[size, *element_shape]``.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.float32, size=2).write(0, [1.0, 2.0]).write(1, [3.0, 4.0]).stack().numpy()
        array([[1., 2.],
               [3., 4.]], dtype=float32)
        """
        if not self._elements and self._shape.is_fully_defined():
            return zeros([0, *self._shape.as_list()], self._dtype)
        return convert_to_tensor([self._element(i) for i in range(len(self._elements))], self._dtype)

    def gather(self, indices: Value, name: str | None = None) -> Any:
        """The elements at ``indices`` as one tensor.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=3).unstack([1, 2, 3]).gather([2, 0]).numpy()
        array([3, 1], dtype=int32)
        """
        if type(self) is TensorArray:
            return convert_to_tensor([self._element(int(i)) for i in _index(indices)], self._dtype)
        return gather(self.stack(), indices)

    def concat(self, name: str | None = None) -> Any:
        """The elements one behind the other, along the first axis of each.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=2).unstack([[1, 2], [3, 4]]).concat().numpy()
        array([1, 2, 3, 4], dtype=int32)
        """
        if type(self) is TensorArray and self._elements:
            return concat([self._element(i) for i in range(len(self._elements))], 0)
        rows = self.stack()
        return TABLE["reshape"](rows, shape=(-1, *rows.shape[2:]))

    def unstack(self, value: Value, name: str | None = None) -> TensorArray:
        """An array of the slices of ``value`` along its first axis.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=2).unstack([[1, 2], [3, 4]]).read(1).numpy()
        array([3, 4], dtype=int32)
        """
        elements = unstack(value)
        if len(elements) > len(self._elements) and not self._dynamic:
            raise ValueError(
                f"Cannot unstack {len(elements)} tensors into a TensorArray of static size {len(self._elements)} "
            )
        self._elements = elements
        return self

    def scatter(self, indices: Value, value: Value, name: str | None = None) -> TensorArray:
        """The array with the slices of ``value`` at ``indices``.

        >>> import minitape as tf
        >>> tf.TensorArray(tf.int32, size=3).scatter([2, 0], [30, 10]).stack().numpy()
        array([10,  0, 30], dtype=int32)
        """
        for index, element in zip(_index(indices), unstack(value), strict=False):
            self.write(index, element)
        return self


def _index(value: Value) -> Any:
    """An index, or several, as plain Python or NumPy."""
    return value.numpy() if isinstance(value, EagerTensor) else value


# -- in a graph ------------------------------------------------------------------------------------


@methods_of("TensorArray")
class GraphTensorArray(TensorArray):
    """What ``tf.TensorArray`` makes in a graph."""

    _buffer: Any
    _count: int | None = None  # of elements, where it is known and stays
    flow = property(lambda self: self._buffer, doc="The tensor that stands for the content.")

    def _reserve(self, size: Any) -> None:
        known = [int(n or 0) for n in self._shape] if self._shape.is_fully_defined() else [0]
        size = convert_to_tensor(0 if size is None else size)
        if is_symbolic(size):
            self._buffer = zeros_of_size(size, known, self._dtype, self._shape)
        else:
            count = int(size.array)
            self._buffer, self._count = zeros([count, *known], self._dtype), None if self._dynamic else count

    def _components(self) -> list:
        return [self._buffer]

    def size(self, name: str | None = None) -> Any:
        """The number of elements, as an int32 tensor."""
        return size_of(self._buffer)

    def write(self, index: Index, value: Value, name: str | None = None) -> TensorArray:
        """The array with ``value`` at ``index``."""
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        if not self._shape.is_compatible_with(value.shape):
            raise ValueError(f"Inconsistent shapes: saw {value.shape} but expected {self._shape} ")
        self._check(value)
        return self._written(convert_to_tensor(index), value)

    def scatter(self, indices: Value, value: Value, name: str | None = None) -> TensorArray:
        """The array with the slices of ``value`` at ``indices``."""
        value = convert_to_tensor(value, self._dtype)
        made = self._written(convert_to_tensor(indices), value)
        made._shape = self._shape.merge_with(value.shape[1:])
        return made

    def _written(self, index: Index, value: Value) -> GraphTensorArray:
        return self._rebuild(apply(WRITE, (self._buffer, index, value), {"dynamic": self._dynamic}))

    def read(self, index: Index, name: str | None = None) -> Any:
        """The element at ``index``."""
        return apply(READ, (self._buffer, convert_to_tensor(index)), {"shape": self._shape})[0]

    def stack(self, name: str | None = None) -> Any:
        """The elements as one tensor."""
        return apply(STACK, (self._buffer,), {"shape": self._shape, "size": self._count})[0]

    def unstack(self, value: Value, name: str | None = None) -> TensorArray:
        """An array of the slices of ``value`` along its first axis."""
        value = convert_to_tensor(value, self._dtype)
        made = self._rebuild([value])
        made._shape, made._count = TensorShape(value.shape[1:]), None
        return made


GraphTensorArray.__name__ = GraphTensorArray.__qualname__ = "TensorArray"
