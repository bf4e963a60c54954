"""What else a ``tf.data.Dataset`` can do: datasets made of its elements read in turns, states carried along, distinct
elements."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from ..dtypes import int64
from ..invalid import invalid
from .elements import call, map_leaves, source

UNKNOWN = -2  # tf.data.UNKNOWN_CARDINALITY
INFINITE = -1  # tf.data.INFINITE_CARDINALITY
AUTOTUNE = -1


class Pipelines:
    """Methods of datasets that need several elements, or nothing but the elements."""

    _derived: Any
    _spec: Any

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
        cycle = (os.cpu_count() or 1) if cycle_length in (None, AUTOTUNE) else int(cycle_length)  # type: ignore[arg-type]
        block = 1 if block_length is None else int(block_length)
        for value, word in ((cycle, "cycle_length"), (block, "block_length")):
            if value <= 0:
                raise invalid(f"`{word}` must be > 0", "InterleaveDataset")
        return self._derived(lambda: _in_turns(self, map_func, cycle, block), UNKNOWN, "_InterleaveDataset")

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Any:
        """``state, output = scan_func(state, element)`` for each element: the outputs.

        >>> import minitape as tf
        >>> data = tf.data.Dataset.range(4).scan(tf.constant(0, tf.int64), lambda s, n: (s + n, s + n))
        >>> [int(n) for n in data]
        [0, 1, 3, 6]
        """
        def start() -> Iterator[Any]:
            state = map_leaves(source, initial_state)
            for element in self:  # type: ignore[attr-defined]
                state, out = scan_func(state, element)
                yield map_leaves(source, out)

        return self._derived(start, self._length, "_ScanDataset")  # type: ignore[attr-defined]

    def unique(self, name: str | None = None) -> Any:
        """Each element once, in the order of their first occurrence.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.from_tensor_slices([1, 7, 1, 7, 3]).unique()]
        [1, 7, 3]
        """

        def start() -> Iterator[Any]:
            seen = set()
            for element in self:  # type: ignore[attr-defined]
                key = (element.array.shape, element.array.tobytes() if element.array.dtype != object
                       else tuple(element.array.ravel().tolist()))  # fmt: skip
                if key not in seen:
                    seen.add(key)
                    yield element

        return self._derived(start, UNKNOWN, "_UniqueDataset", self._spec)

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None) -> Any:
        """Whole numbers without end, from ``start`` on, ``step`` further each time.

        >>> import minitape as tf
        >>> [int(n) for n in tf.data.Dataset.counter(2, 5).take(3)]
        [2, 7, 12]
        """
        from ..convert import convert_to_tensor
        from .dataset import Dataset

        def run() -> Iterator[Any]:
            now, by = convert_to_tensor(start, dtype), convert_to_tensor(step, dtype)
            while True:
                yield now
                now = now + by

        return Dataset(run, INFINITE, "_CounterDataset")


def _in_turns(outer: Any, map_func: Callable[..., Any], cycle: int, block: int) -> Iterator[Any]:
    """The elements of the datasets that a function gives, ``block`` of each of ``cycle`` at a time."""
    rest, ended = iter(outer), False
    slots: list[Any] = [None] * cycle
    at = taken = 0
    while not ended or any(s is not None for s in slots):
        slot = slots[at]
        if slot is None and not ended:
            try:
                slots[at] = iter(call(map_func, next(rest)))
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
