"""``tf.IndexedSlices``: the adjoint of a gather, which is zero but for a few slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..hooks import hooks
from ..table.primitives import TABLE
from ..values.class_names import PrintName
from ..values.invalid import invalid
from ..values.shape import TensorShape
from .convert import convert_to_tensor

if TYPE_CHECKING:
    from ..back.tape import GradientTape
    from ..types import Adjoint, Array, DTypeLike, Object, Sizes
    from .tensor import Tensor


def check_places(indices: Array, size: int) -> None:
    """InvalidArgumentError for a place that is not among ``size`` rows."""
    places = np.ravel(indices)
    wrong = np.flatnonzero((places < 0) | (places >= size))
    if wrong.size:
        raise invalid(f"segment_ids[{wrong[0]}] = {places[wrong[0]]} is out of range [0, {size})", "UnsortedSegmentSum")


class IndexedSlices(metaclass=PrintName):
    """A tensor that is zero except for the slices ``values[i]`` at ``indices[i]`` of its first axis.

    Slices with the same index add up. ``tf.convert_to_tensor`` makes it dense.
    See https://www.tensorflow.org/api_docs/python/tf/IndexedSlices.

    >>> import minitape as tf
    >>> v = tf.Variable([1.0, 2.0, 3.0])
    >>> with tf.GradientTape() as tape:
    ...     y = tf.gather(v, [2, 2, 0])
    >>> g = tape.gradient(y, v)
    >>> type(g).__name__, tf.convert_to_tensor(g).numpy()
    ('IndexedSlices', array([1., 0., 2.], dtype=float32))
    """

    _composite = True
    _module = "tensorflow.python.framework.indexed_slices"
    __slots__ = ("_values", "_indices", "_dense_shape")

    def __init__(self, values: Adjoint, indices: Adjoint, dense_shape: Adjoint = None) -> None:
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    values = property(lambda self: self._values, doc="The slices, stacked along the first axis.")
    indices = property(lambda self: self._indices, doc="Where each slice belongs; a 1-d integer tensor.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the dense tensor, as a 1-d tensor.")
    dtype = property(lambda self: self._values.dtype, doc="The type of the elements.")
    device = property(lambda self: self._values.device, doc="Where the values live.")
    name = property(lambda self: self._values.name, doc="Not there in eager mode: AttributeError.")
    op = property(lambda self: self._values.op, doc="Not there in eager mode: AttributeError.")
    graph = property(lambda self: self._values.graph, doc="Not there in eager mode: AttributeError.")

    def _components(self) -> list[Adjoint]:
        return [self._values, self._indices, *([] if self._dense_shape is None else [self._dense_shape])]

    def _rebuild(self, parts: list[Adjoint]) -> IndexedSlices:
        return IndexedSlices(*parts)

    def with_values(self, values: Adjoint) -> IndexedSlices:
        """Other values at the same places."""
        return IndexedSlices(values, self._indices, self._dense_shape)

    @property
    def shape(self) -> Object:
        """The static shape of the dense tensor."""
        if self._dense_shape is None:
            return TensorShape(None)
        sizes = self._dense_shape
        if not hasattr(sizes, "array") and hasattr(sizes, "graph"):  # only a run of the graph knows it
            return sizes.op.inputs[0].shape if sizes.op.type == "Shape" else TensorShape([None] * sizes.shape[0])
        return TensorShape(self.sizes())

    def sizes(self) -> Sizes:
        """The shape of the dense tensor as ints."""
        sizes = self._dense_shape
        return tuple(int(s) for s in (sizes.array if hasattr(sizes, "array") else np.asarray(sizes)))

    def dense(self) -> Adjoint:
        """The dense tensor (an array when the values are one)."""
        if not hasattr(self._dense_shape, "array") and hasattr(self._dense_shape, "graph"):  # only a run knows it
            return hooks.dense(self._values, self._indices, self._dense_shape)
        return TABLE["scatter_slices"](self._values, self._indices, shape=self.sizes())

    def _to_tensor(self, dtype: DTypeLike = None) -> Tensor:
        if dtype is not None and dtype != self.dtype:
            raise ValueError(
                f"Incompatible tensor conversion requested to `dtype` {dtype.name} for IndexedSlices "
                f"({self}) with dtype {self.dtype.name}"
            )
        if self._dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: {self}"
            )

        values, indices = convert_to_tensor(self._values), convert_to_tensor(self._indices)
        if hasattr(indices, "array") and self.shape[0] is not None:  # else a run of the graph finds it
            check_places(indices.array, self.shape[0])
        return IndexedSlices(values, indices, self._dense_shape).dense()

    def _watch_on(self, tape: GradientTape) -> None:
        for part in self._components():
            tape.watch(part)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self._values)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    def __repr__(self) -> str:
        return f"<{self._module}.IndexedSlices object at {id(self):#x}>"


def dense_of(g: Adjoint) -> Adjoint:
    """An adjoint without slices: as it is, or the dense tensor or array that they stand for."""
    return g.dense() if type(g) is IndexedSlices else g


def concat_slices(parts: list[IndexedSlices]) -> IndexedSlices:
    """The sum of sparse adjoints: their slices one after the other."""
    if isinstance(parts[0]._values, np.ndarray):
        values, indices = (np.concatenate([getattr(p, k) for p in parts]) for k in ("_values", "_indices"))
    else:
        values, indices = (TABLE["concat"](*[getattr(p, k) for p in parts], axis=0) for k in ("_values", "_indices"))
    return IndexedSlices(values, indices, parts[0]._dense_shape)
