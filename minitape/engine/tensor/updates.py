"""Partial changes of variables: scatter updates, and ``v[...].assign``."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ..hooks import hooks
from ..recording.recorder import recorder
from ..table.primitives import TABLE
from ..values.class_names import methods_of
from ..values.invalid import check_inside, check_places, invalid, shape_text
from .convert import convert_to_tensor
from .opdefs import accept_attr
from .slices import IndexedSlices
from .tensor import SLICES

if TYPE_CHECKING:
    from ..types import Assigned, Function, Index, Value
    from ..values.dtypes import DType
    from .tensor import Tensor
    from .variable import ResourceVariable


def _of_slices(how: str, what: str, shown_after: str) -> Function:
    """The method that changes the slices that IndexedSlices list."""

    def scatter(
        self: ResourceVariable, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Assigned:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}")
        op = "ResourceScatter" + how.capitalize()
        values, rows = convert_to_tensor(sparse_delta.values, self.dtype), convert_to_tensor(sparse_delta.indices)

        def prepare(where: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
            accept_attr(op, "dtype", self.dtype)
            sizes, given = self._state.array.shape, tuple(values.shape)
            if how != "update" and given and given[: rows.ndim] != tuple(rows.shape):
                raise invalid(
                    f"The shape of indices ({shape_text(rows.shape)}) must be a prefix of the shape of updates "
                    f"({shape_text(given)})",
                    "ResourceScatterAdd",
                )
            if not sizes or (given and given != (*rows.shape, *sizes[1:])):
                raise invalid(
                    "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
                    f"updates.shape {shape_text(given)}, indices.shape {shape_text(rows.shape)}, params.shape "
                    f"{shape_text(sizes)}",
                    op,
                )
            check_places(rows.array, sizes[0], op)
            return where, values

        inputs = _as_places(rows), values
        return recorder().update(self, TABLE[f"tensor_scatter_{how}"], inputs, {}, f"scatter_{how}", prepare)

    scatter.__doc__ = f"""{what} slices. TypeError unless ``sparse_delta`` is IndexedSlices, InvalidArgumentError for \
an index outside.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> v.scatter_{how}(tf.IndexedSlices([10.0, 0.5], [0, 2])).numpy()
        array({shown_after}, dtype=float32)
        """
    return _with_name(scatter, f"scatter_{how}")


def _of_places(how: str, what: str, shown_after: str) -> Function:
    """The method that changes the elements, or slices, at listed places."""

    def scatter_nd(self: ResourceVariable, indices: Value, updates: Value, name: str | None = None) -> Assigned:
        op = "ResourceScatterNd" + how.capitalize()
        values, where = convert_to_tensor(updates, self.dtype), convert_to_tensor(indices)

        def prepare(where: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
            if where.ndim == 1:
                where = _as_places(where)
            sizes, given, places = self._state.array.shape, values.array.shape, where.array.shape
            outer, depth = len(places) - 1, places[-1]
            for n, have in zip(places[:-1], (*given, *[0] * outer), strict=False):
                if n != have:
                    raise invalid(
                        f"Dimensions [0,{outer}) of indices[shape={shape_text(places)}] = {n} must match dimensions "
                        f"[0,{outer}) of updates[shape={shape_text(given)}] = {have}",
                        op,
                    )
            if depth > len(sizes) or given != (*places[:-1], *sizes[depth:]):
                raise invalid(
                    f"Dimensions [{depth},{len(sizes)}) of input[shape={shape_text(sizes)}] must match dimensions "
                    f"[{depth},{len(given)}) of updates[shape={shape_text(given)}]",
                    op,
                )
            check_inside(where.array, sizes, op)
            return where, values

        return recorder().update(self, TABLE[f"tensor_scatter_{how}"], (where, values), {}, f"scatter_{how}", prepare)

    scatter_nd.__doc__ = f"""{what} the elements at the places that the last axis of ``indices`` lists.

        >>> import minitape as tf
        >>> tf.Variable([1, 2, 3]).scatter_nd_{how}([[0], [2]], [10, 0]).numpy()
        array({shown_after}, dtype=int32)
        """
    return _with_name(scatter_nd, f"scatter_nd_{how}")


def _as_places(indices: Tensor) -> Tensor:
    """Indices of slices as places of one coordinate: a last axis of size 1."""
    return TABLE["slice"](indices, spec=(*[slice(None)] * indices.ndim, None))


def _with_name(function: Function, name: str) -> Function:
    function.__name__ = name
    function.__qualname__ = f"Updates.{name}"
    return function


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

    scatter_add = _of_slices("add", "Adds", "[11. ,  2. ,  3.5]")
    scatter_sub = _of_slices("sub", "Subtracts", "[-9. ,  2. ,  2.5]")
    scatter_mul = _of_slices("mul", "Multiplies by", "[10. ,  2. ,  1.5]")
    scatter_div = _of_slices("div", "Divides by", "[0.1, 2. , 6. ]")
    scatter_min = _of_slices("min", "Keeps the smaller elements of the variable and", "[1. , 2. , 0.5]")
    scatter_max = _of_slices("max", "Keeps the larger elements of the variable and", "[10.,  2.,  3.]")
    scatter_update = _of_slices("update", "Replaces", "[10. ,  2. ,  0.5]")
    scatter_nd_add = _of_places("add", "Adds ``updates`` to", "[11,  2,  3]")
    scatter_nd_sub = _of_places("sub", "Subtracts ``updates`` from", "[-9,  2,  3]")
    scatter_nd_update = _of_places("update", "Puts ``updates`` in the place of", "[10,  2,  0]")

    def sparse_read(self, indices: Value, name: str | None = None) -> Tensor:
        """The slices at ``indices``, as ``tf.gather``; differentiable.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> with tf.GradientTape() as tape:
        ...     y = v.sparse_read([2, 2])
        >>> y.numpy(), tape.gradient(y, v).values.numpy()
        (array([3., 3.], dtype=float32), array([1., 1.], dtype=float32))
        """
        return hooks.gather(self._read(), indices)

    def gather_nd(self, indices: Value, name: str | None = None) -> Tensor:
        """The elements at the listed places, as ``tf.gather_nd``; differentiable.

        >>> import minitape as tf
        >>> tf.Variable([[1, 2], [3, 4]]).gather_nd([[0, 1], [1, 0]]).numpy()
        array([2, 3], dtype=int32)
        """
        return hooks.gather_nd(self._read(), indices)


def assigner(variable: ResourceVariable, spec: tuple[Index, ...]) -> Function:
    """What changes the part of ``variable`` that the NumPy index ``spec`` selects."""

    def assign(value: Value, name: str | None = None) -> Assigned:
        inputs = (convert_to_tensor(value, variable.dtype),)
        return recorder().update(
            variable, TABLE["slice_update"], inputs, {"spec": spec}, "assign", lambda value: (value,)
        )

    return assign


def attach(tensor: Tensor, assign: Function) -> None:
    """Makes ``tensor.assign(value)`` change the variable of which ``tensor`` is a part."""
    key = id(tensor)
    SLICES[key] = weakref.ref(tensor, lambda _: SLICES.pop(key, None)), assign
