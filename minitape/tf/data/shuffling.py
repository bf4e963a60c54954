"""Elements drawn from a buffer at random, in the order of TensorFlow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ...ops import philox
from ...ops.seeds import pair_of


def drawn(source: Iterator[Any], size: int, words: Iterator[int]) -> Iterator[Any]:
    """Elements drawn from a buffer that is filled up before each draw, in the order of TensorFlow."""
    buffer: dict[int, Any] = {}
    start = end = 0
    open_end = True
    while True:
        while open_end and end - start < size:
            following = next(source, _END)
            if following is _END:
                open_end = False
            else:
                buffer[end] = following
                end += 1
        if start == end:
            return
        i = start + next(words) % (end - start)
        chosen = buffer[i]
        buffer[i] = buffer[start]
        del buffer[start]
        start += 1
        yield chosen


_END = object()


def words(seeds: tuple[int, int]) -> Iterator[int]:
    """The random 32 bits of two seeds, one after the other."""
    for first in itertools.count(step=16):
        yield from philox.blocks(seeds[0], (seeds[1] << 64) + first, 16).reshape(-1).tolist()


class Rounds:
    """The words of two seeds, of which each walk over a dataset takes some; ``taken`` counts them and can be set."""

    def __init__(self, seeds: tuple[int, int]) -> None:
        self._seeds = seeds
        self.taken = 0

    @property
    def taken(self) -> int:
        """How many words are gone."""
        return self._taken

    @taken.setter
    def taken(self, count: int) -> None:
        self._taken, self._words = count, itertools.islice(words(self._seeds), count, None)

    def __iter__(self) -> Rounds:
        return self

    def __next__(self) -> int:
        self._taken += 1
        return next(self._words)


def seed_pair(seed: Any) -> tuple[int, int]:
    """The global seed and the operation's own, as TensorFlow completes them."""
    return pair_of(None if seed is None else int(seed))
