"""Datasets, as training loops use them: tensors that are sliced, mapped, shuffled and batched.

A dataset is a recipe: each ``for`` over it begins anew. Functions given to ``map`` and ``filter`` run on each element
as it comes, with its value, and may print or look at it.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import dtypes, nest
from ..convert import convert_to_tensor
from ..invalid import invalid
from ..state import state
from ..tensor import wrap
from . import arguments
from .arguments import datasets, following, function, number, parallel_calls, truth
from .batches import check_padding, groups, padded, ragged_rows, row, rows_of, stacked
from .choosing import Choices
from .elements import (
    apart,
    call,
    check_shape,
    handed,
    is_structure,
    leaves,
    map_leaves,
    packed,
    signature,
    source,
    spec_of,
    tensor_spec,
    typed,
    with_rows,
)
from .options import Options
from .pipelines import Pipelines
from .recipe import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Recipe
from .shuffling import Rounds, drawn, seed_pair, words


class Dataset(Choices, Pipelines, Recipe):
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
        if tensors is None:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        parts = map_leaves(handed, tensors)
        flat = leaves(parts)
        if not flat:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        if any(not len(t.shape) for t in flat):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        count = rows_of(flat[0])
        for part in flat[1:]:
            if rows_of(part) != count:
                raise ValueError(f"Dimensions {count} and {rows_of(part)} are not compatible")
        return Dataset(
            lambda: (map_leaves(lambda t, i=i: row(t, i), parts) for i in range(count)),
            count,
            "_TensorSliceDataset",
            map_leaves(lambda t: spec_of(t, 1), parts),
        )

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: the tensors themselves."""
        if tensors is None:
            raise ValueError("Invalid `element`. `element` should not be empty.")
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
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if not isinstance(args, (tuple, list)):
            raise TypeError("values must be a sequence.")
        if output_signature is None:
            output_signature = signature(output_types, output_shapes)
        elif output_types is not None or output_shapes is not None:
            word = "types" if output_types is not None else "shapes"
            raise TypeError(
                f"The `output_{word}` argument can not be used together with the `output_signature` argument."
            )
        for spec in nest.flatten(output_signature):
            if not (hasattr(spec, "dtype") and hasattr(spec, "shape")):
                raise TypeError("`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found "
                                f"{type(spec)} which is not.")  # fmt: skip
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
        """The numbers of Python's range, int64. ValueError unless 1 to 3 are given, InvalidArgumentError for steps of 0."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        words = ("start", "stop", "step") if len(args) > 1 else ("stop",)
        bounds = [number(a, w, "RangeDataset") for a, w in zip(args, words, strict=False)]
        if bounds[2:] == [0]:
            raise invalid("step must be a non-zero integer.", "RangeDataset")
        numbers = range(*bounds)
        kind = dtypes.as_dtype(output_type).as_numpy_dtype
        return Dataset(
            lambda: (wrap(kind(i)) for i in numbers), len(numbers), "_RangeDataset", tensor_spec((), output_type)
        )

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, until the shortest ends."""
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        parts = leaves(given)
        if not parts:
            raise TypeError("Must pass at least one dataset to `zip`.")
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
                yield packed(given, items)

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
        """A function of each element; one that is a tuple gives several arguments. A list that it returns counts as a tuple.

        Elements are made one after the other, in their order: ``deterministic``, ``synchronous`` and
        ``use_unbounded_threadpool`` say how TensorFlow makes several at a time, and have no effect.
        ValueError for what is no function, InvalidArgumentError for ``num_parallel_calls`` below 1.
        """
        function(map_func)
        parallel_calls(num_parallel_calls, "ParallelMapDatasetV2")

        def start() -> Iterator[Any]:
            for element in self:
                made = call(map_func, element)
                yield map_leaves(source, tuple(made) if isinstance(made, list) else made)

        return self._derived(start, self._length, "_MapDataset")

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which the function is true; ValueError when it gives anything but a scalar of bool."""
        function(predicate)
        refusal = "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
        return self._derived(
            lambda: (e for e in self if truth(predicate, e, refusal)), UNKNOWN_CARDINALITY, "_FilterDataset", self._spec
        )

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """A function gives a dataset for each element (else TypeError); their elements one after the other."""
        function(map_func)
        return self._derived(
            lambda: itertools.chain.from_iterable(datasets(map_func, self)), UNKNOWN_CARDINALITY, "_FlatMapDataset"
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
        """Several elements of different lengths as one ragged tensor, whose row splits are int64 or int32."""
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
        """The rows of each element; ValueError for scalars, and for parts with different numbers of rows."""

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

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool = True, name: str | None = None
    ) -> Dataset:
        """Elements drawn by chance from the next ``buffer_size`` ones; in another order at each iteration.

        From all of them for ``tf.data.UNKNOWN_CARDINALITY``; InvalidArgumentError for another size below 1.
        """
        size = number(buffer_size, "buffer_size", "ShuffleDatasetV3")
        if size <= 0 and size != UNKNOWN_CARDINALITY:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY", "ShuffleDatasetV3")
        size = size if size > 0 else sys.maxsize
        seeds = seed_pair(seed)
        rounds = Rounds(seeds)  # each iteration takes two seeds from here

        def start() -> Iterator[Any]:
            mine = (next(rounds), next(rounds)) if reshuffle_each_iteration else seeds
            return drawn(iter(self), size, words(mine))

        made = self._derived(start, self._length, "_ShuffleDataset", self._spec)
        made._rounds = rounds if reshuffle_each_iteration else None
        return made

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """All elements ``count`` times over; without end for None or -1."""
        times = -1 if count is None else number(count, "count", "RepeatDataset")

        def start() -> Iterator[Any]:
            rounds = itertools.count() if times < 0 else range(times)
            return itertools.chain.from_iterable(iter(self) for _ in rounds)

        length = self._length
        if times < 0:
            length = INFINITE_CARDINALITY if length else 0
        elif length >= 0:
            length *= times
        return self._derived(start, length, "_RepeatDataset", self._spec)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first ``count`` elements; all for -1."""
        n = number(count, "count", "TakeDataset")
        if n < 0:
            return self._derived(lambda: iter(self), self._length, "_TakeDataset", self._spec)
        length = (
            n if self._length == INFINITE_CARDINALITY else min(n, self._length) if self._length >= 0 else self._length
        )
        return self._derived(lambda: itertools.islice(iter(self), n), length, "_TakeDataset", self._spec)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first ``count`` elements; none for -1."""
        n = number(count, "count", "SkipDataset")
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
        count, first = number(num_shards, "num_shards", "ShardDataset"), number(index, "index", "ShardDataset")
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
        """The elements before the first for which the function is false; ValueError unless it gives scalars of bool."""
        function(predicate)
        refusal = "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor but its return type is"
        return self._derived(
            lambda: itertools.takewhile(lambda e: truth(predicate, e, refusal), self),
            UNKNOWN_CARDINALITY,
            "_TakeWhileDataset",
            self._spec,
        )

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this and then of the other; TypeError when they are known to be of other types."""
        if not isinstance(dataset, Dataset):
            raise AttributeError(f"{type(dataset).__name__!r} object has no attribute 'element_spec'")
        ours, theirs = self._known_specs(), dataset._known_specs()
        if ours and theirs and [s.dtype for s in ours] != [s.dtype for s in theirs]:
            raise TypeError(f"Incompatible dataset elements:\n  {self.element_spec} vs.   {dataset.element_spec}")
        lengths = (self._length, dataset._length)
        length = sum(lengths) if min(lengths) >= 0 else min(lengths)
        return self._derived(
            lambda: itertools.chain(iter(self), iter(dataset)), length, "_ConcatenateDataset", self._spec
        )

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number (int64) and an element."""
        first = number(start, "start", "RangeDataset")
        return self._derived(
            lambda: ((wrap(np.int64(i)), e) for i, e in enumerate(self, first)),
            self._length,
            "_ZipDataset",
            lambda: (tensor_spec((), dtypes.int64), self.element_spec),
        )

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements: there is nothing to prepare ahead of time here.

        InvalidArgumentError for a ``buffer_size`` below 0 that is not AUTOTUNE.
        """
        size = AUTOTUNE if buffer_size is None else number(buffer_size, "buffer_size", "PrefetchDataset")
        if size < 0 and size != AUTOTUNE:
            raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning", "PrefetchDataset")
        return self._derived(lambda: iter(self), self._length, "_PrefetchDataset", self._spec)

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """The same elements, made once and kept in memory. ValueError for a file name."""
        if filename:
            raise ValueError("minitape caches datasets in memory only: leave `filename` out.")
        walks: list[list[Any]] = []  # the elements of each walk that came to its end

        def start() -> Iterator[Any]:
            if walks:
                yield from walks[0]
                return
            mine = []
            for element in self:
                mine.append(element)
                yield element
            walks.append(mine)

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
            return given
        return Options() if self._source is None else self._source.options()

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """``state = reduce_func(state, element)`` over all elements; the last state.

        TypeError when a state has another type than the one before.
        """
        function(reduce_func)
        first = map_leaves(source if state.graph is not None else handed, initial_state)

        def fold(before: Any, element: Any) -> Any:
            return following(before, map_leaves(source, reduce_func(before, element)))

        return apart(lambda: functools.reduce(fold, self, first))

    def _derived(self, start: Callable[[], Iterator[Any]], length: int, kind: str, spec: Any = None) -> Dataset:
        made = Dataset(start, length, kind, spec)
        made._source = self
        return made
