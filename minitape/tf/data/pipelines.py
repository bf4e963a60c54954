"""What else a ``tf.data.Dataset`` can do: datasets made of its elements read in turns, states carried along, windows,
distinct elements."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from ...engine.convert import convert_to_tensor
from ...engine.dtypes import int64
from ...engine.invalid import invalid
from ...engine.shown import methods_of
from .arguments import datasets, following, function, number, parallel_calls
from .batches import merged, window_count, windows
from .elements import map_leaves, source
from .recipe import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY


@methods_of("DatasetV2")
class Pipelines:
    """Methods of datasets that need several elements, or nothing but the elements."""

    _derived: Any
    _spec: Any
    _length: int
    __iter__: Any

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Any:
        """A function gives a dataset for each element; ``cycle_length`` of them are read in turns of ``block_length``.

        By default as many as the machine has processors, one element each. ``num_parallel_calls`` and ``deterministic``
        have no effect: elements are made one after the other. Raises InvalidArgumentError for lengths that are not
        positive.

        >>> import minitape as tf
        >>> data = tf.data.Dataset.range(2).interleave(lambda n: tf.data.Dataset.from_tensors(n).repeat(3), 2, 1)
        >>> [int(n) for n in data]
        [0, 1, 0, 1, 0, 1]
        """
        function(map_func)
        parallel_calls(num_parallel_calls, "ParallelInterleaveDatasetV4")
        cycle = AUTOTUNE if cycle_length is None else number(cycle_length, "cycle_length", "InterleaveDataset")
        cycle = (os.cpu_count() or 1) if cycle == AUTOTUNE else cycle
        block = 1 if block_length is None else number(block_length, "block_length", "InterleaveDataset")
        for value, word in ((cycle, "cycle_length"), (block, "block_length")):
            if value <= 0:
                raise invalid(f"{word} must be greater than zero.", "InterleaveDataset")
        return self._derived(
            lambda: _in_turns(datasets(map_func, self), cycle, block), UNKNOWN_CARDINALITY, "_InterleaveDataset"
        )

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Any:
        """``state, output = scan_func(state, element)`` for each element: the outputs.

        >>> import minitape as tf
        >>> data = tf.data.Dataset.range(4).scan(tf.constant(0, tf.int64), lambda s, n: (s + n, s + n))
        >>> [int(n) for n in data]
        [0, 1, 3, 6]
        """
        function(scan_func)

        def start() -> Iterator[Any]:
            state = map_leaves(source, initial_state)
            for element in self:
                pair = scan_func(state, element)
                if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                    raise TypeError("Invalid `scan_func`. `scan_func` should return a pair consisting of new state and "
                                    f"the output value but its return type is {type(pair)}.")  # fmt: skip
                state = following(state, map_leaves(source, pair[0]))
                yield map_leaves(source, pair[1])

        return self._derived(start, self._length, "_ScanDataset")

    def window(
        self, size: Any, shift: Any = None, stride: int = 1, drop_remainder: bool = False, name: str | None = None
    ) -> Any:
        """Datasets of ``size`` neighbours, ``stride`` apart, each ``shift`` (by default ``size``) further on.

        There is one dataset for each part of an element; the last ones may be smaller, unless ``drop_remainder``.
        InvalidArgumentError for a number below 1.

        >>> import minitape as tf
        >>> [[int(n) for n in window] for window in tf.data.Dataset.range(5).window(3, shift=2)]
        [[0, 1, 2], [2, 3, 4], [4]]
        """
        steps = {"size": size, "shift": size if shift is None else shift, "stride": stride}
        found = [number(value, word, "WindowDataset") for word, value in steps.items()]
        for word, value in zip(steps, found, strict=True):
            if value <= 0:
                raise invalid(f"Window {word} must be greater than zero.", "WindowDataset")
        from .dataset import Dataset

        def dataset_of(elements: list[Any]) -> Any:
            return Dataset(lambda: iter(elements), len(elements), "_VariantDataset")

        return self._derived(
            lambda: (merged(w, dataset_of) for w in windows(self, found, drop_remainder)),
            self._length if self._length < 0 else window_count(self._length, found, drop_remainder),
            "_WindowDataset",
        )

    def unique(self, name: str | None = None) -> Any:
        """Each element once, in the order of their first occurrence; InvalidArgumentError unless each is one tensor.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.from_tensor_slices([1, 7, 1, 7, 3]).unique()]
        [1, 7, 3]
        """

        def start() -> Iterator[Any]:
            seen = set()
            for element in self:
                if not hasattr(element, "array"):
                    raise invalid(
                        "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component.",
                        "UniqueDataset",
                    )
                key = (element.array.shape, element.array.tobytes() if element.array.dtype != object
                       else tuple(element.array.ravel().tolist()))  # fmt: skip
                if key not in seen:
                    seen.add(key)
                    yield element

        return self._derived(start, UNKNOWN_CARDINALITY, "_UniqueDataset", self._spec)

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None) -> Any:
        """Whole numbers without end, from ``start`` on, ``step`` further each time.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.counter(2, 5).take(3)]
        [2, 7, 12]
        """
        from .dataset import Dataset

        tensors = convert_to_tensor(start, dtype), convert_to_tensor(step, dtype)

        def run() -> Iterator[Any]:
            now, by = tensors
            while True:
                yield now
                now = now + by

        return Dataset(run, INFINITE_CARDINALITY, "_CounterDataset")


def _in_turns(outer: Iterator[Any], cycle: int, block: int) -> Iterator[Any]:
    """The elements of datasets, ``block`` of each of ``cycle`` at a time."""
    ended = False
    slots: list[Any] = [None] * cycle
    at = taken = 0
    while not ended or any(s is not None for s in slots):
        slot = slots[at]
        if slot is None and not ended:
            try:
                slots[at] = iter(next(outer))
            except StopIteration:
                ended = True
            continue
        found = next(slot, slots) if slot is not None else slots
        if found is slots:  # nothing left here
            slots[at] = None
        else:
            taken += 1
            yield found
        if found is slots or taken == block:
            at, taken = (at + 1) % cycle, 0
