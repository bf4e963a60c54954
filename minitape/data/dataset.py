"""Datasets, as training loops use them: tensors that are sliced, mapped, shuffled and batched.

A dataset is a recipe: each ``for`` over it begins anew. Functions given to ``map`` and ``filter`` run on each element
as it comes, with its value, and may print or look at it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, nest
from ..convert import convert_to_tensor
from ..errors import InvalidArgumentError
from ..invalid import invalid
from ..record import state
from ..tensor import wrap
from .batches import groups, padded, ragged_rows, row, rows_of, stacked
from .elements import (
    apart,
    call,
    check_shape,
    handed,
    leaves,
    map_leaves,
    signature,
    source,
    spec_of,
    tensor_spec,
    typed,
    with_rows,
)
from .pipelines import Pipelines
from .recipe import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Recipe
from .shuffling import drawn, seed_pair, words


class Dataset(Pipelines, Recipe):
    """A sequence of elements, each a tensor or a structure (tuple, dictionary) of tensors.

    Make one with ``Dataset.from_tensor_slices`` and its siblings. See https://www.tensorflow.org/api_docs/python/tf/data/Dataset.

    >>> import minitape as tf
    >>> ds = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 10).batch(2)
    >>> [batch.numpy().tolist() for batch in ds]
    [[10, 20], [30]]
    """

    # -- sources ------------------------------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """One element for each row of the tensors; ValueError when they have different numbers of rows."""
        parts = map_leaves(handed, tensors)
        flat = leaves(parts)
        if not flat:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        if any(not len(t.shape) for t in flat):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        sizes = {rows_of(t) for t in flat}
        if len(sizes) > 1:
            raise ValueError(f"Dimensions {sorted(sizes)[0]} and {sorted(sizes)[1]} are not compatible")
        count = sizes.pop()
        return Dataset(
            lambda: (map_leaves(lambda t, i=i: row(t, i), parts) for i in range(count)),
            count,
            "_TensorSliceDataset",
            map_leaves(lambda t: spec_of(t, 1), parts),
        )

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: the tensors themselves."""
        parts = map_leaves(handed, tensors)
        return Dataset(lambda: iter([parts]), 1, "_TensorDataset", map_leaves(spec_of, parts))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = (),
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a generator function yields, as tensors of ``output_signature``.

        ``output_types`` and ``output_shapes`` are the older way to say the same. TypeError for both ways at once or
        none; InvalidArgumentError for an element of another shape.
        """
        if output_signature is None:
            output_signature = signature(output_types, output_shapes)
        elif output_types is not None or output_shapes is not None:
            word = "types" if output_types is not None else "shapes"
            raise TypeError(
                f"The `output_{word}` argument can not be used together with the `output_signature` argument."
            )
        kinds = nest.map_structure(lambda s: s.dtype, output_signature)

        def start() -> Iterator[Any]:
            for item in generator(*[convert_to_tensor(a).numpy() for a in args]):
                element = typed(item, kinds)
                for part, spec in zip(leaves(element), nest.flatten(output_signature), strict=True):
                    check_shape(part, spec)
                yield element

        return Dataset(start, UNKNOWN_CARDINALITY, "_FlatMapDataset", output_signature)

    @staticmethod
    def range(*args: Any, output_type: Any = dtypes.int64, name: str | None = None) -> Dataset:
        """The numbers of Python's range, int64."""
        numbers = range(*[int(a) for a in args])
        kind = dtypes.as_dtype(output_type).as_numpy_dtype
        return Dataset(
            lambda: (wrap(kind(i)) for i in numbers), len(numbers), "_RangeDataset", tensor_spec((), output_type)
        )

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, until the shortest ends."""
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = leaves(given)
        for part in parts:
            if not isinstance(part, Dataset):
                raise TypeError(
                    f"Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                    f"objects but encountered object of type {type(part)}."
                )
        known = [p._length for p in parts]
        length = (
            UNKNOWN_CARDINALITY
            if UNKNOWN_CARDINALITY in known
            else min((n for n in known if n >= 0), default=INFINITE_CARDINALITY)
        )

        def start() -> Iterator[Any]:
            for items in zip(*[iter(p) for p in parts], strict=False):
                left = iter(items)
                yield map_leaves(lambda _, left=left: next(left), given)

        return Dataset(start, length, "_ZipDataset", lambda: map_leaves(lambda p: p.element_spec, given))

    # -- what is done to them -----------------------------------------------------------------------------------------

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """A function of each element; one that is a tuple gives several arguments.

        Elements are made one after the other, in their order: ``deterministic``, ``synchronous`` and
        ``use_unbounded_threadpool`` say how TensorFlow makes several at a time, and have no effect.
        InvalidArgumentError for ``num_parallel_calls`` below 1.
        """
        if num_parallel_calls is not None and num_parallel_calls < 1 and num_parallel_calls != AUTOTUNE:
            raise invalid("num_parallel_calls must be greater than zero.", "ParallelMapDatasetV2")
        return self._derived(lambda: (map_leaves(source, call(map_func, e)) for e in self), self._length, "_MapDataset")

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which the function is true."""
        return self._derived(
            lambda: (e for e in self if bool(call(predicate, e))), UNKNOWN_CARDINALITY, "_FilterDataset", self._spec
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """A function gives a dataset for each element; their elements one after the other."""
        return self._derived(
            lambda: (e for outer in self for e in call(map_func, outer)), UNKNOWN_CARDINALITY, "_FlatMapDataset"
        )

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
        """
        size = int(batch_size)
        if size <= 0:
            raise InvalidArgumentError(None, None, "Batch size must be greater than zero. [Op:BatchDatasetV2] name: ")
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
        """Several elements of different lengths as one ragged tensor, whose row splits are int64 or int32."""
        size, kind = int(batch_size), dtypes.as_dtype(row_splits_dtype)
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
        """Several elements of different lengths stacked into one, filled up with zeros (or ``padding_values``)."""
        size = int(batch_size)
        length = self._batches(size, drop_remainder)
        return self._derived(
            lambda: (padded(g, padded_shapes, padding_values) for g in groups(self, size, drop_remainder)),
            length,
            "_PaddedBatchDataset",
        )

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element."""

        def start() -> Iterator[Any]:
            for element in self:
                for i in range(rows_of(leaves(element)[0])):
                    yield map_leaves(lambda t, i=i: row(t, i), element)

        return self._derived(start, UNKNOWN_CARDINALITY, "_UnbatchDataset")

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool = True, name: str | None = None
    ) -> Dataset:
        """Elements drawn by chance from the next ``buffer_size`` ones; in another order at each iteration."""
        size = int(buffer_size)
        if size <= 0:
            raise InvalidArgumentError(
                None, None, "buffer_size must be greater than zero. [Op:ShuffleDatasetV3] name: "
            )
        seeds = seed_pair(seed)
        rounds = words(seeds)  # each iteration takes two seeds from here

        def start() -> Iterator[Any]:
            mine = (next(rounds), next(rounds)) if reshuffle_each_iteration else seeds
            return drawn(iter(self), size, words(mine))

        made = self._derived(start, self._length, "_ShuffleDataset", self._spec)
        made._rounds = rounds if reshuffle_each_iteration else None
        return made

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """All elements ``count`` times over; without end for None or -1."""
        times = None if count is None or int(count) < 0 else int(count)

        def start() -> Iterator[Any]:
            rounds = itertools.count() if times is None else range(times)
            return itertools.chain.from_iterable(iter(self) for _ in rounds)

        length = (
            (INFINITE_CARDINALITY if self._length else 0)
            if times is None
            else self._length * times
            if self._length >= 0
            else self._length
        )
        return self._derived(start, length, "_RepeatDataset", self._spec)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first ``count`` elements; all for -1."""
        n = int(count)
        if n < 0:
            return self._derived(lambda: iter(self), self._length, "_TakeDataset", self._spec)
        length = (
            n if self._length == INFINITE_CARDINALITY else min(n, self._length) if self._length >= 0 else self._length
        )
        return self._derived(lambda: itertools.islice(iter(self), n), length, "_TakeDataset", self._spec)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first ``count`` elements; none for -1."""
        n = int(count)
        if n < 0:
            return self._derived(lambda: iter(()), 0, "_SkipDataset", self._spec)
        length = max(self._length - n, 0) if self._length >= 0 else self._length
        return self._derived(lambda: itertools.islice(iter(self), n, None), length, "_SkipDataset", self._spec)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every ``num_shards``-th element, from number ``index`` on: one worker's part; InvalidArgumentError for others.

        >>> import minitape as tf
        >>> [int(x) for x in tf.data.Dataset.range(5).shard(2, 1)]
        [1, 3]
        """
        count, first = int(num_shards), int(index)
        if count < 1:
            raise invalid(
                f"Number of shards must be greater than zero (currently num_shards = {count}).", "ShardDataset"
            )
        if not 0 <= first < count:
            raise invalid(f"Index must be between 0 and {count - 1} (currently index = {first}).", "ShardDataset")
        length = self._length if self._length < 0 else max(0, -(-(self._length - first) // count))
        return self._derived(
            lambda: itertools.islice(iter(self), first, None, count), length, "_ShardDataset", self._spec
        )

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which the function is false."""
        return self._derived(
            lambda: itertools.takewhile(lambda e: bool(call(predicate, e)), self),
            UNKNOWN_CARDINALITY,
            "_TakeWhileDataset",
            self._spec,
        )

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this and then of the other."""
        lengths = (self._length, dataset._length)
        length = sum(lengths) if min(lengths) >= 0 else min(lengths)
        return self._derived(
            lambda: itertools.chain(iter(self), iter(dataset)), length, "_ConcatenateDataset", self._spec
        )

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number (int64) and an element."""
        return self._derived(
            lambda: ((wrap(np.int64(i)), e) for i, e in enumerate(self, int(start))),
            self._length,
            "_ZipDataset",
            lambda: (tensor_spec((), dtypes.int64), self.element_spec),
        )

    def window(
        self, size: Any, shift: Any = None, stride: int = 1, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """Datasets of ``size`` neighbours, each ``shift`` further on; one for each part of elements with several."""

        def start() -> Iterator[Any]:
            elements = list(self)
            for begin in range(0, len(elements), int(shift or size)):
                found = elements[begin : begin + int(size) * stride : stride]
                if len(found) == size or not drop_remainder:
                    yield _columns(found)

        return self._derived(start, UNKNOWN_CARDINALITY, "_WindowDataset")

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements: there is nothing to prepare ahead of time here.

        InvalidArgumentError for a ``buffer_size`` below 0 that is not AUTOTUNE.
        """
        if buffer_size is not None and buffer_size < 0 and buffer_size != AUTOTUNE:
            raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning", "PrefetchDataset")
        return self._derived(lambda: iter(self), self._length, "_PrefetchDataset", self._spec)

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, made once and kept in memory. ValueError for a file name."""
        if filename:
            raise ValueError("minitape caches datasets in memory only: leave `filename` out.")
        kept: list[Any] = []
        done: list[bool] = []

        def start() -> Iterator[Any]:
            if done:
                yield from kept
                return
            kept.clear()
            for element in self:
                kept.append(element)
                yield element
            done.append(True)

        return self._derived(start, self._length, "CacheDataset", self._spec)

    def apply(self, transformation_func: Callable[[Dataset], Dataset], name: str | None = None) -> Dataset:
        """A function of the dataset; TypeError when it gives none."""
        out = transformation_func(self)
        if not isinstance(out, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(out)}.")
        return out

    def with_options(self, options: Any, name: str | None = None) -> Dataset:
        """The same elements: options change how TensorFlow runs a pipeline, and nothing here.

        TypeError for what is no ``tf.data.Options``.
        """
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be a tf.data.Options, got {type(options).__name__!r}.")
        made = self._derived(lambda: iter(self), self._length, "_OptionsDataset", lambda: self.element_spec)
        made._options = options
        return made

    def options(self) -> Options:
        """The options that ``with_options`` was given last, for this dataset or one that it was made of."""
        given = getattr(self, "_options", None)
        if given is not None:
            return given  # type: ignore[no-any-return]
        return Options() if self._source is None else self._source.options()  # type: ignore[no-any-return]

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """``state = reduce_func(state, element)`` over all elements; the last state."""
        first = map_leaves(source if state.graph is not None else handed, initial_state)

        def fold(before: Any, element: Any) -> Any:
            return map_leaves(source, reduce_func(before, element))

        return apart(lambda: functools.reduce(fold, self, first))

    def _derived(self, start: Callable[[], Iterator[Any]], length: int, kind: str, spec: Any = None) -> Dataset:
        made = Dataset(start, length, kind, spec)
        made._source = self
        return made


def _columns(elements: list[Any]) -> Any:
    """A dataset for each part of the elements, in the structure of an element."""
    rows, numbers = [leaves(e) for e in elements], itertools.count()

    def column(_: Any) -> Dataset:
        at = next(numbers)
        return Dataset(lambda: (row[at] for row in rows), len(rows), "_VariantDataset")

    return map_leaves(column, elements[0])


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64) -> Any:
    """A function for ``Dataset.apply``: elements of different lengths become the rows of ragged tensors.

    Each batch has up to ``batch_size`` rows (with ``drop_remainder`` never fewer); ``row_splits_dtype`` is int64 or
    int32. TensorFlow 2.21 says ``Dataset.ragged_batch`` instead.

    >>> import minitape as tf
    >>> dataset = tf.data.Dataset.range(3).map(lambda n: tf.range(n))
    >>> for batch in dataset.apply(tf.data.experimental.dense_to_ragged_batch(3)):
    ...     print(batch)
    <tf.RaggedTensor [[], [0], [0, 1]]>
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


class Options:
    """Settings for ``Dataset.with_options``: how TensorFlow runs a pipeline. Elements do not depend on them.

    >>> import minitape as tf
    >>> options = tf.data.Options()
    >>> options.deterministic = True
    >>> [int(n) for n in tf.data.Dataset.range(3).with_options(options)]
    [0, 1, 2]
    """


def cardinality(dataset: Dataset) -> Any:
    """How many elements a dataset has: an int64 scalar, INFINITE_CARDINALITY (-1) or UNKNOWN_CARDINALITY (-2).

    >>> import minitape as tf
    >>> tf.data.experimental.cardinality(tf.data.Dataset.range(5)).numpy()
    np.int64(5)
    """
    return dataset.cardinality()
