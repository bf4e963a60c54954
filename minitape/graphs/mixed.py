"""The ``TensorArray`` of a graph whose elements may have several shapes.

Its content are two tensors: a matrix with the values of one element in each row, filled up with zeros, and the elements'
shapes, each behind its number of axes (-1 for an element that was not written).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import dtypes
from ..engine.convert import convert_to_tensor
from ..engine.invalid import invalid
from ..engine.shape import TensorShape
from ..engine.tensor import wrap
from ..ops.arrays import reshape
from ..ops.filling import zeros
from ..ops.joining import concat, stack
from ..ops.scatter import tensor_scatter_nd_update
from .arrays import TensorArray, check_place
from .effects import later
from .postponed import Postponed
from .slicing import Place
from .symbolic import is_symbolic


class MixedTensorArray(TensorArray):
    """One that ``infer_shape=False`` or an element shape with open sizes asks for."""

    _sizes: Any

    def _empty(self, size: Any) -> Any:
        size = convert_to_tensor(size)
        known = None if is_symbolic(size) else int(size.array)
        specs = [(TensorShape([known, None]), self._dtype), (TensorShape([known, None]), dtypes.int64)]
        buffer, self._sizes = later(_waiting(_filled, 1, dtype=self._dtype), [size], specs)
        return buffer

    def _parts(self) -> list[Any]:
        return [self._buffer, self._sizes]

    def _with(self, buffer: Any, sizes: Any = None) -> TensorArray:
        made = object.__new__(MixedTensorArray)
        made.__dict__.update(self.__dict__)
        made._buffer, made._sizes = buffer, sizes
        return made

    def _made(self, function: Any, *tensors: Any, rows: int | None = None, **attrs: Any) -> TensorArray:
        """The array that a run makes with ``function``."""
        specs = [(TensorShape([rows, None]), self._dtype), (TensorShape([rows, None]), dtypes.int64)]
        return self._with(*later(_waiting(function, len(tensors), **attrs), list(tensors), specs))

    def _found(self, function: Any, shape: TensorShape, *tensors: Any) -> Any:
        """What a run reads of the content with ``function``."""
        given = [*self._parts(), *tensors]
        return later(_waiting(function, len(given), known=self._shape), given, [(shape, self._dtype)])[0]

    def _check(self, shape: TensorShape) -> None:
        if not self._infer and self._given.is_compatible_with(shape):
            return
        super()._check(shape)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with ``value`` at ``index``."""
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        self._check(value.shape)
        rows = None if self._dynamic else self._buffer.shape[0]
        made = self._made(_written, *self._parts(), convert_to_tensor(index), value, rows=rows, dynamic=self._dynamic)
        if self._infer:
            made._shape = self._shape = self._shape.merge_with(value.shape)
        return made

    def read(self, index: Any, name: str | None = None) -> Any:
        """The element at ``index``."""
        return self._found(_at, self._shape, convert_to_tensor(index))

    def stack(self, name: str | None = None) -> Any:
        """The elements as one tensor; InvalidArgumentError unless all have one shape."""
        shape = TensorShape(self._buffer.shape[:1]).concatenate(self._shape)
        return self._found(_all, shape)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Some elements as one tensor; InvalidArgumentError unless they have one shape."""
        indices = convert_to_tensor(indices)
        shape = TensorShape(indices.shape).concatenate(self._shape)
        return self._found(_some, shape, indices)

    def concat(self, name: str | None = None) -> Any:
        """The elements joined along their first axis, in which alone they may differ."""
        rest = TensorShape(None) if self._shape.rank is None else TensorShape([None]).concatenate(self._shape[1:])
        return self._found(_joined, rest)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """An array of the slices of ``value`` along its first axis."""
        value = convert_to_tensor(value, self._dtype)
        return self._made(_of_slices, value, rows=value.shape[0], dtype=self._dtype)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array with the slices of ``value`` at ``indices``."""
        return self._made(_scattered, *self._parts(), convert_to_tensor(indices), convert_to_tensor(value, self._dtype),
                          dynamic=self._dynamic)  # fmt: skip

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """An array of pieces of ``value`` along its first axis."""
        value, lengths = convert_to_tensor(value, self._dtype), convert_to_tensor(lengths)
        return self._made(_of_pieces, value, lengths, rows=lengths.shape[0], dtype=self._dtype)

    def identity(self) -> TensorArray:
        """The same array."""
        return self._with(*self._parts())


# -- what a run does --------------------------------------------------------------------------------------------------


def _waiting(function: Any, count: int, **attrs: Any) -> Postponed:
    """A function that a run calls with so many tensors, and with attributes."""
    return Postponed(function, [Place(i) for i in range(count)], attrs)


def _filled(size: Any, dtype: Any) -> tuple[Any, Any]:
    """The content of an array to which nothing was written."""
    return zeros([int(size), 0], dtype), wrap(np.full((int(size), 1), -1, np.int64))


def _of_elements(elements: list[Any], dtype: Any) -> tuple[Any, Any]:
    buffer, sizes = _filled(len(elements), dtype)
    for at, element in enumerate(elements):
        buffer, sizes = _written(buffer, sizes, wrap(np.int64(at)), element, dynamic=False)
    return buffer, sizes


def _of_slices(value: Any, dtype: Any) -> tuple[Any, Any]:
    return _of_elements(_slices(value), dtype)


def _of_pieces(value: Any, lengths: Any, dtype: Any) -> tuple[Any, Any]:
    return _of_elements(_pieces(value, lengths.array), dtype)


def _slices(value: Any) -> list[Any]:
    return [value[at] for at in range(value.shape[0])]


def _pieces(value: Any, lengths: Any) -> list[Any]:
    ends = np.cumsum(lengths)
    if len(ends) and ends[-1] != value.shape[0]:
        raise invalid(f"Unused values in tensor. Length of tensor: {value.shape[0]} Values used: {ends[-1]}", "TensorListSplit")
    return [value[int(end - n) : int(end)] for n, end in zip(lengths, ends, strict=True)]


def _written(buffer: Any, sizes: Any, index: Any, value: Any, *, dynamic: bool) -> tuple[Any, Any]:
    at = check_place(buffer, index, value, dynamic)
    shape = [len(value.shape), *value.shape]
    rows, width = max(buffer.shape[0], at + 1), max(buffer.shape[1], value.array.size)
    table = np.full((rows, max(sizes.shape[1], len(shape))), -1, np.int64)
    table[: sizes.shape[0], : sizes.shape[1]] = sizes.array
    table[at] = -1
    table[at, : len(shape)] = shape
    wide = _grown(_grown(buffer, width, 1), rows, 0)
    row = _grown(reshape(value, [-1]), width, 0)
    return tensor_scatter_nd_update(wide, [[at]], row[None]), wrap(table)


def _scattered(buffer: Any, sizes: Any, indices: Any, value: Any, *, dynamic: bool) -> tuple[Any, Any]:
    for at, element in zip(indices, _slices(value), strict=True):
        buffer, sizes = _written(buffer, sizes, at, element, dynamic=dynamic)
    return buffer, sizes


def _grown(tensor: Any, size: int, axis: int) -> Any:
    """With zeros behind, up to a size along an axis."""
    more = size - tensor.shape[axis]
    if not more:
        return tensor
    return concat([tensor, zeros([more if a == axis else n for a, n in enumerate(tensor.shape)], tensor.dtype)], axis)


def _place(sizes: Any, index: Any) -> int:
    at, count = int(index), sizes.shape[0]
    if not 0 <= at < count:
        raise invalid(f"Trying to access element {at} in a list with {count} elements.", "TensorListGetItem")
    return at


def _shape_of(sizes: Any, at: int) -> TensorShape:
    """The shape of an element; that of one that was not written is not known."""
    axes, *dims = sizes.array[at].tolist()
    return TensorShape(None if axes < 0 else dims[:axes])


def _merged(shapes: Any, known: TensorShape) -> TensorShape:
    """What all shapes have in common with one that is known in part; InvalidArgumentError where they differ."""
    for shape in shapes:
        if None not in (shape.rank, known.rank) and shape.rank != known.rank:
            raise invalid(f"PartialTensorShape: Incompatible ranks during merge: {known.rank} vs. {shape.rank}")
        if not known.is_compatible_with(shape):
            texts = [str(s.as_list()).replace("None", "?").replace(" ", "") for s in (known, shape)]
            raise invalid("PartialTensorShape: Incompatible shapes during merge: {} vs. {}".format(*texts))
        known = known.merge_with(shape)
    return known


def _element(buffer: Any, sizes: Any, at: int, known: TensorShape) -> Any:
    """An element; zeros where it was not written, of the shape that all others have."""
    shape = _shape_of(sizes, at)
    if shape.rank is not None:
        return reshape(buffer[at, : shape.num_elements()], shape)
    shape = _merged((_shape_of(sizes, i) for i in range(sizes.shape[0])), known)
    if not shape.is_fully_defined():
        raise invalid(f"Trying to read an uninitialized tensor but element_shape is not fully defined: {shape} and no list "
                      "element is set.", "TensorListGetItem")  # fmt: skip
    return zeros(shape, buffer.dtype)


def _at(buffer: Any, sizes: Any, index: Any, known: TensorShape) -> Any:
    return _element(buffer, sizes, _place(sizes, index), known)


def _all(buffer: Any, sizes: Any, known: TensorShape) -> Any:
    return _stacked(buffer, sizes, range(len(sizes.array)), known)


def _some(buffer: Any, sizes: Any, indices: Any, known: TensorShape) -> Any:
    return _stacked(buffer, sizes, [_place(sizes, i) for i in indices.array], known)


def _stacked(buffer: Any, sizes: Any, places: Any, known: TensorShape) -> Any:
    places = list(places)
    shape = _merged((_shape_of(sizes, at) for at in places), known)
    if not shape.is_fully_defined():
        raise invalid("Tried to stack list which only contains uninitialized tensors and has a non-fully-defined "
                      f"element_shape: {shape}", "TensorListStack")  # fmt: skip
    return stack([_element(buffer, sizes, at, shape) for at in places]) if places else zeros([0, *shape], buffer.dtype)


def _joined(buffer: Any, sizes: Any, known: TensorShape) -> Any:
    shapes = [_shape_of(sizes, at) for at in range(sizes.shape[0])]
    for at, shape in enumerate(shapes):
        if shape.rank == 0:
            raise invalid(f"Concat saw a scalar shape at index {at} but requires at least vectors.", "TensorListConcatV2")
    rest = _merged((shape[1:] for shape in shapes if shape.rank), TensorShape(None) if known.rank is None else known[1:])
    if not shapes:
        return zeros([0, *(rest if rest.is_fully_defined() else [])], buffer.dtype)
    return concat([_element(buffer, sizes, at, known) for at in range(len(shapes))], 0)


FUNCTIONS = (_filled, _written, _scattered, _of_slices, _of_pieces, _at, _all, _some, _joined)  # those that a run calls
