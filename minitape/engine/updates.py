"""Partial changes of variables: scatter updates, and ``v[...].assign``."""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING

import numpy as np

from .above import above
from .convert import convert_to_tensor
from .frames import user_frame
from .invalid import invalid, shown
from .operands import tensor_of
from .operation import apply
from .primitives import TABLE
from .primitives.scatter import places
from .shown import methods_of
from .slices import IndexedSlices
from .state import state
from .tensor import SLICES, bare

if TYPE_CHECKING:
    from .dtypes import DType
    from .tensor import EagerTensor, Tensor
    from .typed import Assigned, Index, Value
    from .variable import ResourceVariable

_UFUNCS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}


@methods_of("BaseResourceVariable")
class Updates:
    """The methods of a variable that change some of its slices.

    ``scatter_*`` take ``tf.IndexedSlices``; ``scatter_nd_*`` a matrix of places and the new values. None of them is
    differentiable; slices that occur several times are applied one after the other. They return the variable's new
    state. ``use_locking`` has no meaning in minitape: an update is never interrupted by another.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # what the variable has that these are methods of
        _state: Tensor

        @property
        def dtype(self) -> DType: ...

        def _read(self) -> Tensor: ...

        def _assigned(self, tensor: Tensor, how: str, read_value: bool, delta: Tensor | None = None) -> Assigned: ...

        def assign(
            self, value: Value, use_locking: bool = False, name: str | None = None, read_value: bool = True
        ) -> Assigned: ...

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Adds slices. TypeError unless ``sparse_delta`` is IndexedSlices, InvalidArgumentError for an index outside.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v.scatter_add(tf.IndexedSlices([10.0, 20.0], [0, 2])).numpy()
        array([11.,  2., 23.], dtype=float32)
        """
        return self._scatter("add", sparse_delta)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Subtracts slices.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v.scatter_sub(tf.IndexedSlices([10.0, 20.0], [0, 2])).numpy()
        array([ -9.,   2., -17.], dtype=float32)
        """
        return self._scatter("sub", sparse_delta)

    def scatter_mul(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Multiplies by slices.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v.scatter_mul(tf.IndexedSlices([10.0, 20.0], [0, 2])).numpy()
        array([10.,  2., 60.], dtype=float32)
        """
        return self._scatter("mul", sparse_delta)

    def scatter_div(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Divides by slices.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v.scatter_div(tf.IndexedSlices([2.0, 2.0], [2, 2])).numpy()  # one after the other
        array([1.  , 2.  , 0.75], dtype=float32)
        """
        return self._scatter("div", sparse_delta)

    def scatter_min(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Keeps the smaller of element and update.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v.scatter_min(tf.IndexedSlices([0.0, 9.0], [0, 2])).numpy()
        array([0., 2., 3.], dtype=float32)
        """
        return self._scatter("min", sparse_delta)

    def scatter_max(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Keeps the larger of element and update.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v.scatter_max(tf.IndexedSlices([0.0, 9.0], [0, 2])).numpy()
        array([1., 2., 9.], dtype=float32)
        """
        return self._scatter("max", sparse_delta)

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Replaces slices.

        >>> import minitape as tf
        >>> v = tf.Variable([[1.0, 1.0], [2.0, 2.0]])
        >>> v.scatter_update(tf.IndexedSlices([[7.0, 8.0]], [1])).numpy()
        array([[1., 1.],
               [7., 8.]], dtype=float32)
        """
        return self._scatter("update", sparse_delta)


    def scatter_nd_add(self, indices: Value, updates: Value, name: str | None = None) -> Assigned:
        """Adds ``updates`` at the places that the last axis of ``indices`` lists.

        >>> import minitape as tf
        >>> tf.Variable([1, 2, 3]).scatter_nd_add([[0], [2]], [10, 20]).numpy()
        array([11,  2, 23], dtype=int32)
        """
        return self._scatter_nd("add", indices, updates)

    def scatter_nd_sub(self, indices: Value, updates: Value, name: str | None = None) -> Assigned:
        """Subtracts ``updates`` at the listed places.

        >>> import minitape as tf
        >>> tf.Variable([1, 2, 3]).scatter_nd_sub([[0], [2]], [10, 20]).numpy()
        array([ -9,   2, -17], dtype=int32)
        """
        return self._scatter_nd("sub", indices, updates)

    def scatter_nd_update(self, indices: Value, updates: Value, name: str | None = None) -> Assigned:
        """Puts ``updates`` at the listed places.

        >>> import minitape as tf
        >>> tf.Variable([[1, 2], [3, 4]]).scatter_nd_update([[0, 1], [1, 0]], [7, 8]).numpy()
        array([[1, 7],
               [8, 4]], dtype=int32)
        """
        return self._scatter_nd("update", indices, updates)

    def scatter_nd_min(self, indices: Value, updates: Value, name: str | None = None) -> Assigned:
        """Keeps the smaller of element and update at the listed places.

        >>> import minitape as tf
        >>> tf.Variable([1, 2, 3]).scatter_nd_min([[0], [2]], [0, 9]).numpy()
        array([0, 2, 3], dtype=int32)
        """
        return self._scatter_nd("min", indices, updates)

    def scatter_nd_max(self, indices: Value, updates: Value, name: str | None = None) -> Assigned:
        """Keeps the larger of element and update at the listed places.

        >>> import minitape as tf
        >>> tf.Variable([1, 2, 3]).scatter_nd_max([[0], [2]], [0, 9]).numpy()
        array([1, 2, 9], dtype=int32)
        """
        return self._scatter_nd("max", indices, updates)

    def sparse_read(self, indices: Value, name: str | None = None) -> Tensor:
        """The slices at ``indices``, as ``tf.gather``; differentiable.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> with tf.GradientTape() as tape:
        ...     y = v.sparse_read([2, 2])
        >>> y.numpy(), tape.gradient(y, v).values.numpy()
        (array([3., 3.], dtype=float32), array([1., 1.], dtype=float32))
        """
        return above.gather(self._read(), indices)

    def gather_nd(self, indices: Value, name: str | None = None) -> Tensor:
        """The elements at the listed places, as ``tf.gather_nd``; differentiable.

        >>> import minitape as tf
        >>> tf.Variable([[1, 2], [3, 4]]).gather_nd([[0, 1], [1, 0]]).numpy()
        array([2, 3], dtype=int32)
        """
        return above.gather_nd(self._read(), indices)


    # -- how ----------------------------------------------------------------------------------------------------------

    def _scatter(self, how: str, delta: IndexedSlices) -> Assigned:
        slices = _slices(delta)
        values = convert_to_tensor(slices.values, self.dtype)
        rows = tensor_of(slices.indices)
        if state.graph is not None:
            return self._in_graph(how, above.expand_dims(rows, -1), values)
        from .opdefs import accept_attr
        from .places import check_places

        accept_attr("ResourceScatter" + how.capitalize(), "dtype", self.dtype)
        if how != "update":
            _check_prefix(rows, values)
        wanted = (*rows.shape, *self._state.shape[1:])
        if values.ndim and tuple(values.shape) != wanted:
            raise invalid("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
                          f"updates.shape {shown(values.shape)}, indices.shape {shown(rows.shape)}, params.shape "
                          f"{shown(self._state.shape)}", "ResourceScatter" + how.capitalize())  # fmt: skip
        check_places(rows.array, (*self._state.shape, 1)[0], "ResourceScatter" + how.capitalize())
        return self._changed(how, np.asarray(rows.array), values)

    def _scatter_nd(self, how: str, indices: Value, updates: Value) -> Assigned:
        values = convert_to_tensor(updates, self.dtype)
        where = tensor_of(indices)
        if state.graph is not None:
            return self._in_graph(how, where, values)
        from .places import outside

        if where.ndim == 1:
            where = apply(TABLE["reshape"], (where,), {"shape": (-1, 1)})
        op = "ResourceScatterNd" + how.capitalize()
        sizes, depth = tuple(self._state.shape), where.shape[-1]
        for axis, n in enumerate(where.shape[:-1]):
            if axis >= values.ndim or n != values.shape[axis]:
                outer = where.ndim - 1
                have = values.shape[axis] if axis < values.ndim else 0
                raise invalid(f"Dimensions [0,{outer}) of indices[shape={shown(where.shape)}] = {n} must match dimensions "
                              f"[0,{outer}) of updates[shape={shown(values.shape)}] = {have}", op)  # fmt: skip
        if depth > len(sizes) or tuple(values.shape) != (*where.shape[:-1], *sizes[depth:]):
            raise invalid(f"Dimensions [{depth},{len(sizes)}) of input[shape={shown(sizes)}] must match dimensions "
                          f"[{depth},{values.ndim}) of updates[shape={shown(values.shape)}]", op)  # fmt: skip
        bad = outside(where.array, sizes[:depth])
        if bad is not None:
            raise invalid(f"indices{bad[0]} = {bad[1]} does not index into shape {shown(sizes)}", op)
        return self._changed(how, places(where.array), values)

    def _changed(self, how: str, index: Index, delta: Tensor) -> Assigned:
        """A new state: a copy of the old one with some slices changed."""
        values = delta.array
        whole = np.array(self._state.array)
        new = whole.reshape(whole.shape or (1,))
        with np.errstate(all="ignore"):
            if how == "update":
                new[index] = values
            elif how == "div" and new.dtype.kind in "iu":
                np.floor_divide.at(new, index, values)
            else:
                _UFUNCS[how].at(new, index, values)
        return self._assigned(bare(new.reshape(whole.shape)), f"scatter_{how}", True, delta)

    def _in_graph(self, how: str, where: Tensor, values: Tensor) -> Assigned:
        new = apply(TABLE[f"tensor_scatter_{how}"], (self._read(), where, values), {})
        return self._assigned(new, "assign", True)


def _slices(delta: object) -> IndexedSlices:
    if not isinstance(delta, IndexedSlices):
        raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {delta}")
    return delta


def _check_prefix(rows: Tensor, values: Tensor) -> None:
    if values.ndim and tuple(values.shape)[: rows.ndim] != tuple(rows.shape):
        raise invalid(f"The shape of indices ({shown(rows.shape)}) must be a prefix of the shape of updates "
                      f"({shown(values.shape)})", "ResourceScatterAdd")  # fmt: skip


_told: set[str] = set()


def deprecated(text: str) -> None:
    """Logs once that something is deprecated, with the user's file and line, in TensorFlow's words."""
    if text in _told:
        return
    _told.add(text)
    frame = user_frame(sys._getframe(1))
    where = "unknown:0" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
    import logging  # seldom needed, and milliseconds of every start

    logging.getLogger("tensorflow").warning("From %s: %s", where, text)


# -- v[...].assign ----------------------------------------------------------------------------------------------------

def attach(tensor: EagerTensor, variable: ResourceVariable, spec: tuple[Index, ...]) -> None:
    """Makes ``tensor.assign(value)`` change the part of ``variable`` that the NumPy index ``spec`` selects."""

    def assign(value: Value, name: str | None = None) -> Assigned:
        return _assign_slice(variable, spec, value)

    key = id(tensor)
    SLICES[key] = weakref.ref(tensor, lambda _: SLICES.pop(key, None)), assign


def _assign_slice(variable: ResourceVariable, spec: tuple[Index, ...], value: Value) -> Assigned:
    tensor = convert_to_tensor(value, variable.dtype)
    if state.graph is not None:
        return variable.assign(apply(TABLE["slice_update"], (variable._read(), tensor), {"spec": spec}))
    new = TABLE["slice_update"].forward(variable._state.array, tensor.array, spec=spec)
    return variable._assigned(bare(new), "assign", True, tensor)
