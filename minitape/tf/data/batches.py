"""Rows of tensors, and elements of a dataset stacked into batches and taken apart."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import tf
from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.errors import DataLossError
from ...engine.invalid import invalid, shown
from ...engine.shape import TensorShape
from ...engine.shown import methods_of
from ...engine.tensor import Tensor, wrap
from . import arguments
from .elements import is_structure, leaves, map_leaves, packed, with_rows
from .recipe import UNKNOWN_CARDINALITY

if TYPE_CHECKING:
    from .dataset import Dataset


def rows_of(t: Any) -> int:
    """The number of rows."""
    return int(t.shape[0])


def row(t: Any, i: int) -> Any:
    """One row of a tensor, ragged or sparse tensor."""
    if type(t).__name__ != "SparseTensor":
        return t[i]
    from ..sparse import reshape, slice

    sizes = t.sizes()
    one = slice(t, [i] + [0] * (len(sizes) - 1), [1, *sizes[1:]])
    return reshape(one, sizes[1:])


def groups(dataset: Any, size: int, drop: bool) -> Iterator[list[Any]]:
    """Lists of up to ``size`` elements."""
    source = iter(dataset)
    while True:
        group = list(itertools.islice(source, size))
        if not group or (drop and len(group) < size):
            return
        yield group


def windows(elements: Any, steps: list[int], drop: bool) -> Iterator[list[Any]]:
    """Lists of up to ``size`` elements, ``stride`` apart; each begins ``shift`` further on than the one before.

    ``steps`` are the size, the shift and the stride.

    >>> list(windows(range(5), [2, 1, 2], True))
    [[0, 2], [1, 3], [2, 4]]
    """
    size, shift, stride = steps
    source, ahead, span = iter(elements), [], (size - 1) * stride + 1
    while True:
        ahead += itertools.islice(source, span - len(ahead))
        if not ahead or (drop and len(ahead) < span):
            return
        yield ahead[:span:stride]
        collections.deque(itertools.islice(source, max(shift - len(ahead), 0)), maxlen=0)
        del ahead[:shift]


def window_count(length: int, steps: list[int], drop: bool) -> int:
    """How many such lists ``length`` elements give.

    >>> window_count(5, [2, 1, 2], True)
    3
    """
    size, shift, stride = steps
    starts = length - (size - 1) * stride if drop else length
    return max(0, -(-starts // shift))


def columns(group: list[Any]) -> Iterator[list[Any]]:
    """What stands at each leaf, in all elements."""
    return map(list, zip(*[leaves(e) for e in group], strict=True))


def merged(group: list[Any], function: Callable[[list[Any]], Any]) -> Any:
    """Elements of one structure as one element: ``function`` joins what stands at each leaf."""
    return packed(group[0], map(function, columns(group)))


def stacked(group: list[Any]) -> Any:
    """Elements of one shape as a batch."""
    return merged(group, stack_rows)


def stack_rows(items: list[Any]) -> Any:
    """Tensors of one shape as the rows of a tensor."""
    if type(items[0]).__name__ == "SparseTensor":
        return tf.sparse.concat(0, [tf.sparse.expand_dims(i, 0) for i in items])
    if type(items[0]).__name__ == "RaggedTensor":
        return tf.ragged.stack(items)
    first = tuple(items[0].shape)
    other = next((i for i in items if tuple(i.shape) != first), None)
    if other is not None:
        raise invalid("Cannot add tensor to the batch: number of elements does not match. Shapes are: "
                      f"[tensor]: {shown(other.shape)}, [batch]: {shown(first)}", "IteratorGetNext")  # fmt: skip
    return tf.stack(items)


def ragged_rows(group: list[Any]) -> Any:
    """Elements of different lengths as rows of ragged tensors."""
    return merged(group, lambda items: tf.ragged.stack(items) if len(items[0].shape) else tf.stack(items))


def padded(group: list[Any], shapes: Any, values: Any) -> Any:
    """Elements of different lengths as a batch, filled up at their ends to ``shapes`` with ``values``."""
    count = len(leaves(group[0]))
    wanted = [None] * count if shapes is None else _shapes_in(shapes, is_structure(group[0]))
    fill = leaves(values) if is_structure(group[0]) and is_structure(values) else [values] * count  # or one for all
    for given in (wanted, fill):
        if len(given) != count:
            raise ValueError("The two structures don't have the same sequence length. Input structure has length "
                             f"{len(given)}, while shallow structure has length {count}.")  # fmt: skip
    return packed(group[0], map(_padded_rows, columns(group), wanted, fill))


def check_padding(specs: list[Any], shapes: Any, several: bool) -> None:
    """ValueError when elements of these types are known not to fit the shapes they are to be filled up to."""
    for spec, wanted in zip(specs, _shapes_in(shapes, several), strict=False):
        if spec.shape.rank != wanted.rank or _larger(spec.shape, wanted):
            raise ValueError(f"The padded shape {wanted} is not compatible with the shape {spec.shape} of the "
                             "corresponding input component.")  # fmt: skip


def _larger(shape: Any, wanted: TensorShape) -> bool:
    return any(None not in (n, w) and n > w for n, w in zip(shape, wanted, strict=True))


def _shapes_in(shapes: Any, several: bool) -> list[TensorShape]:
    """The shapes to fill up to: TensorShapes, lists or tensors, with None or -1 for unknown sizes."""
    found = leaves(shapes if several and is_structure(shapes) else (shapes,))
    sizes = [s.as_list() if hasattr(s, "as_list") else np.atleast_1d(np.asarray(s, object)).tolist() for s in found]
    return [TensorShape([None if n in (-1, None) else int(n) for n in s]) for s in sizes]


def _padded_rows(items: list[Any], wanted: TensorShape | None, fill: Any) -> Any:
    """Tensors of one rank as the rows of a tensor."""
    sizes = [max(column) for column in zip(*[t.shape.as_list() for t in items], strict=True)]
    if wanted is not None:
        if any(_larger(t.shape, wanted) for t in items):
            raise DataLossError(None, None, "Attempted to pad to a smaller size than the input element. "
                                "[Op:IteratorGetNext] name: ")  # fmt: skip
        sizes = [n if w is None else w for w, n in zip(wanted, sizes, strict=True)]
    kind = items[0].dtype
    if isinstance(fill, (Tensor, str, bytes)) and (given := convert_to_tensor(fill).dtype) != kind:
        raise TypeError(f"Invalid `padding_values`. `padding_values` values type {given} does not match type "
                        f"{kind} of the corresponding input component.")  # fmt: skip
    value = (b"" if kind.kind == "s" else 0) if fill is None else convert_to_tensor(fill, kind).array
    out = np.full((len(items), *sizes), value, kind.as_numpy_dtype)
    for i, t in enumerate(items):
        out[(i, *[slice(0, n) for n in t.shape])] = t.array
    return wrap(out)


@methods_of("DatasetV2")
class Batches:
    """Methods of datasets that put several elements together, or take them apart."""

    _derived: Any
    _known_specs: Any
    _length: int
    _spec: Any
    element_spec: Any
    __iter__: Any

    def _batches(self, size: int, drop_remainder: bool) -> int:
        """How many batches of ``size`` there are; an infinite or unknown length stays what it is."""
        if self._length < 0:
            return self._length
        return self._length // size if drop_remainder else -(-self._length // size)

    def _has_ragged_rows(self) -> bool:
        """True when an element is known to be a row of a ragged tensor."""
        return any(hasattr(s, "ragged_rank") for s in self._known_specs() or ())

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Several elements stacked into one; the last batch may be smaller, unless ``drop_remainder``.

        ``num_parallel_calls`` and ``deterministic`` have no effect: batches are made one after the other.
        InvalidArgumentError when their shapes differ.

        >>> import minitape as tf
        >>> [b.numpy() for b in tf.data.Dataset.range(5).batch(2)]
        [array([0, 1]), array([2, 3]), array([4])]
        >>> len(tf.data.Dataset.range(5).batch(2, drop_remainder=True))
        2
        """
        size = arguments.batch_size(batch_size, "BatchDatasetV2")
        length = self._batches(size, drop_remainder)
        together = ragged_rows if self._has_ragged_rows() else stacked
        return self._derived(
            lambda: (together(g) for g in groups(self, size, drop_remainder)),
            length,
            "_BatchDataset",
            lambda: map_leaves(lambda s: with_rows(s, size if drop_remainder else None), self.element_spec),
        )

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = dtypes.int64,
        name: str | None = None,
    ) -> Dataset:
        """Several elements of different lengths as one ragged tensor, whose row splits are int64 or int32.

        >>> import minitape as tf
        >>> list(tf.data.Dataset.range(1, 4).map(tf.range).ragged_batch(3))
        [<tf.RaggedTensor [[0], [0, 1], [0, 1, 2]]>]
        """
        size, kind = arguments.batch_size(batch_size, "BatchDatasetV2"), dtypes.as_dtype(row_splits_dtype)
        length = self._batches(size, drop_remainder)

        def together(group: list[Any]) -> Any:
            return map_leaves(
                lambda t: t.with_row_splits_dtype(kind) if hasattr(t, "row_splits") else t, ragged_rows(group)
            )

        return self._derived(
            lambda: (together(g) for g in groups(self, size, drop_remainder)), length, "_RaggedBatchDataset"
        )

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Several elements of different lengths stacked into one, filled up with zeros (or ``padding_values``).

        ``padded_shapes`` are the sizes to fill up to, with None or -1 for that of the longest element. ValueError
        or DataLossError for an element that is larger, TypeError for ``padding_values`` of another type.

        >>> import minitape as tf
        >>> [b.numpy().tolist() for b in tf.data.Dataset.range(1, 4).map(tf.range).padded_batch(3)]
        [[[0, 0, 0], [0, 1, 0], [0, 1, 2]]]
        """
        size = arguments.batch_size(batch_size, "PaddedBatchDatasetV2")
        if padded_shapes is not None and (known := self._known_specs()):
            check_padding(known, padded_shapes, is_structure(self._spec))
        length = self._batches(size, drop_remainder)
        return self._derived(
            lambda: (padded(g, padded_shapes, padding_values) for g in groups(self, size, drop_remainder)),
            length,
            "_PaddedBatchDataset",
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element; ValueError for scalars, and for parts with different numbers of rows.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.from_tensors([1, 2, 3]).unbatch()]
        [1, 2, 3]
        """

        def check(parts: list[Any]) -> None:
            if any(p.shape.rank == 0 for p in parts):
                raise ValueError("Cannot unbatch an input with scalar components.")
            rows = [r for r in (p.shape[0] for p in parts) if r is not None]
            for other in rows[1:]:
                if other != rows[0]:
                    raise ValueError("`unbatch()` is only supported for datasets of elements whose components have a "
                                     f"matching leading dimension. Encountered both {rows[0]} and {other}.")  # fmt: skip

        def start() -> Iterator[Any]:
            for element in self:
                check(leaves(element))
                for i in range(rows_of(leaves(element)[0])):
                    yield map_leaves(lambda t, i=i: row(t, i), element)

        check(self._known_specs() or [])
        return self._derived(start, UNKNOWN_CARDINALITY, "_UnbatchDataset")
