"""``tf.TensorArray`` in eager mode: a Python list of tensors, which ``write`` and its kin change in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import dtypes
from ..engine.convert import convert_to_tensor
from ..engine.errors import OpError, OutOfRangeError
from ..engine.invalid import invalid
from ..engine.shape import TensorShape
from ..engine.shown import methods_of
from ..engine.tensor import EagerTensor, wrap
from ..ops.filling import zeros
from ..ops.joining import concat, split, stack, unstack
from .arrays import TensorArray


@methods_of("TensorArray")
class EagerTensorArray(TensorArray):
    """What ``tf.TensorArray`` makes outside of graphs.

    >>> import minitape as tf
    >>> array = tf.TensorArray(tf.float32, size=2)
    >>> array.write(0, 1.0).write(1, 2.0) is array, array.stack().numpy().tolist()
    (True, [1.0, 2.0])
    """

    __qualname__ = "TensorArray"

    def __init__(
        self, dtype: Any, size: Any = None, dynamic_size: bool | None = None, clear_after_read: bool | None = None,
        tensor_array_name: str | None = None, handle: Any = None, flow: Any = None, infer_shape: bool = True,
        element_shape: Any = None, colocate_with_first_write_call: bool = True, name: str | None = None,
    ) -> None:  # fmt: skip
        if handle is not None:
            raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._clear = clear_after_read is not False
        self._shape = self._given = TensorShape(element_shape)
        self._infer = bool(infer_shape)
        self._cleared: set[int] = set()
        self._elements: list[Any] = [None] * max(int(_index(size)), 0)

    flow = property(lambda self: wrap(np.int32(0)), doc="Eagerly it has no meaning: 0.")
    handle = property(lambda self: None, doc="Eagerly there is none.")

    @property
    def _buffer(self) -> Any:
        return self.stack()

    def _with(self, buffer: Any) -> TensorArray:
        """The array of a graph with this content."""
        made = TensorArray.__new__(TensorArray)
        if isinstance(made, EagerTensorArray):  # back from the graph
            made.__dict__.update(self.__dict__)
            made._elements = unstack(buffer)
            return made
        made.__dict__.update({k: v for k, v in self.__dict__.items() if k != "_elements"})
        made._buffer = buffer
        return made

    def size(self, name: str | None = None) -> Any:
        """The number of elements, as an int32 tensor."""
        return wrap(np.int32(len(self._elements)))

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Puts ``value`` at ``index``; returns the array itself."""
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
        if value.dtype != self._dtype:
            raise invalid(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} "
            )
        if not self._shape.is_compatible_with(value.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({self._shape})")
        if self._infer:
            self._shape = self._shape.merge_with(value.shape)
        self._elements[index] = value
        return self

    def read(self, index: Any, name: str | None = None) -> Any:
        """The element at ``index``, which is then cleared unless ``clear_after_read=False``."""
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
        """An element; zeros where nothing was written."""
        if self._elements[index] is None:
            self._elements[index] = zeros(self._shape, self._dtype)
        return self._elements[index]

    def stack(self, name: str | None = None) -> Any:
        """The elements as one tensor; those that were not written are zeros."""
        if not self._elements and self._shape.is_fully_defined():
            return zeros([0, *self._shape.as_list()], self._dtype)
        return convert_to_tensor([self._element(i) for i in range(len(self._elements))], self._dtype)

    def concat(self, name: str | None = None) -> Any:
        """The elements joined along their first axis; InvalidArgumentError for scalars."""
        elements = [self._element(i) for i in range(len(self._elements))]
        try:
            return concat(elements, 0)
        except OpError:
            scalar = next((i for i, t in enumerate(elements) if not t.ndim), None)
            if scalar is None:
                raise
            raise invalid(
                f"Concat saw a scalar shape at index {scalar} but requires at least vectors.", "TensorArrayConcatV3"
            ) from None

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Some elements as one tensor."""
        return stack([self._element(i) for i in _index(indices)])

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Takes the slices of ``value`` along its first axis as its elements."""
        elements = unstack(value)
        if len(elements) > len(self._elements) and not self._dynamic:
            raise ValueError(
                f"Cannot unstack {len(elements)} tensors into a TensorArray of static size {len(self._elements)} "
            )
        self._elements = elements
        return self

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Writes the slices of ``value`` at ``indices``."""
        for index, element in zip(_index(indices), unstack(value), strict=False):
            self.write(index, element)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Takes pieces of ``value``, of these lengths, as its elements."""
        value, lengths = convert_to_tensor(value, dtype_hint=self._dtype), convert_to_tensor(lengths)
        if value.dtype != self._dtype:
            raise invalid(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} "
            )
        total, size = int(np.sum(lengths.array)), len(self._elements)
        if lengths.ndim != 1:
            raise invalid(f"Expected lengths to be a vector, received shape: {lengths.shape.as_list()} ")
        if not value.ndim:
            raise invalid(f"Expected value to be at least a vector, but received shape: {value.shape.as_list()} ")
        if total != value.shape[0]:
            raise invalid(
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {total} and value's "
                f"shape is: {value.shape.as_list()} "
            )
        if lengths.shape[0] != size and not self._dynamic:
            raise invalid(
                f"TensorArray's size is not equal to the size of lengths ({size} vs. {lengths.shape[0]}), and the "
                "TensorArray is not marked as dynamically resizeable."
            )
        self._elements = split(value, lengths)
        return self

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Lets go of all elements."""
        self._elements.clear()

    def __len__(self) -> int:
        return len(self._elements)


EagerTensorArray.__name__ = EagerTensorArray.__qualname__ = "TensorArray"


def _index(value: Any) -> Any:
    """An index, or several, as plain Python or NumPy."""
    return value.numpy() if isinstance(value, EagerTensor) else value
