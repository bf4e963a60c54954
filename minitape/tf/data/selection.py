"""Datasets of some elements of another, of its elements several times over, or numbered."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.shown import methods_of
from ...engine.tensor import wrap
from .arguments import function, number, truth
from .elements import tensor_spec
from .recipe import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Recipe


@methods_of("DatasetV2")
class Selection:
    """Methods of datasets that leave elements as they are, and choose which come and how often."""

    _derived: Any
    _known_specs: Any
    _spec: Any
    _length: int
    element_spec: Any
    __iter__: Any

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements for which the function is true; ValueError when it gives anything but a scalar of bool.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(6).filter(lambda n: n % 2 == 0)]
        [0, 2, 4]
        """
        function(predicate)
        refusal = "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
        return self._derived(
            lambda: (e for e in self if truth(predicate, e, refusal)), UNKNOWN_CARDINALITY, "_FilterDataset", self._spec
        )

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements before the first for which the function is false; ValueError unless it gives scalars of bool.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.from_tensor_slices([1, 2, 9, 3]).take_while(lambda n: n < 5)]
        [1, 2]
        """
        function(predicate)
        refusal = "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor but its return type is"
        return self._derived(
            lambda: itertools.takewhile(lambda e: truth(predicate, e, refusal), self),
            UNKNOWN_CARDINALITY,
            "_TakeWhileDataset",
            self._spec,
        )

    def take(self, count: Any, name: str | None = None) -> Any:
        """The first ``count`` elements; all for -1.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(5).take(2)]
        [0, 1]
        """
        n = number(count, "count", "TakeDataset")
        if n < 0:
            return self._derived(lambda: iter(self), self._length, "_TakeDataset", self._spec)
        length = (
            n if self._length == INFINITE_CARDINALITY else min(n, self._length) if self._length >= 0 else self._length
        )
        return self._derived(lambda: itertools.islice(iter(self), n), length, "_TakeDataset", self._spec)

    def skip(self, count: Any, name: str | None = None) -> Any:
        """All but the first ``count`` elements; none for -1.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(5).skip(2)]
        [2, 3, 4]
        """
        n = number(count, "count", "SkipDataset")
        if n < 0:
            return self._derived(lambda: iter(()), 0, "_SkipDataset", self._spec)
        length = max(self._length - n, 0) if self._length >= 0 else self._length
        return self._derived(lambda: itertools.islice(iter(self), n, None), length, "_SkipDataset", self._spec)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
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

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """All elements ``count`` times over; without end for None or -1.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(2).repeat(2)]
        [0, 1, 0, 1]
        >>> [int(n) for n in tf.data.Dataset.range(2).repeat().take(5)]
        [0, 1, 0, 1, 0]
        """
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

    def concatenate(self, dataset: Any, name: str | None = None) -> Any:
        """The elements of this and then of the other; TypeError when they are known to be of other types.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(7, 9))]
        [0, 1, 7, 8]
        """
        if not isinstance(dataset, Recipe):
            raise AttributeError(f"{type(dataset).__name__!r} object has no attribute 'element_spec'")
        ours, theirs = self._known_specs(), dataset._known_specs()
        if ours and theirs and [s.dtype for s in ours] != [s.dtype for s in theirs]:
            raise TypeError(f"Incompatible dataset elements:\n  {self.element_spec} vs.   {dataset.element_spec}")
        lengths = (self._length, dataset._length)
        length = sum(lengths) if min(lengths) >= 0 else min(lengths)
        return self._derived(
            lambda: itertools.chain(iter(self), iter(dataset)), length, "_ConcatenateDataset", self._spec
        )

    def enumerate(self, start: Any = 0, name: str | None = None) -> Any:
        """Pairs of a number (int64) and an element.

        >>> import minitape as tf
        >>> [(int(i), word.numpy()) for i, word in tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=1)]
        [(1, b'a'), (2, b'b')]
        """
        first = number(start, "start", "RangeDataset")
        return self._derived(
            lambda: ((wrap(np.int64(i)), e) for i, e in enumerate(self, first)),
            self._length,
            "_ZipDataset",
            lambda: (tensor_spec((), dtypes.int64), self.element_spec),
        )
