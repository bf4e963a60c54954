"""Elements drawn from a buffer at random, in the order of TensorFlow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ...ops import philox


def drawn(source: Iterator[Any], size: int, numbers: Iterator[int]) -> Iterator[Any]:
    """Elements drawn from a buffer of the next ``size`` ones, which is filled up before each draw.

    >>> "".join(drawn(iter("abcd"), 2, iter([1, 1, 0, 0])))
    'bcad'
    """
    buffer = list(itertools.islice(source, size))
    while buffer:
        i = next(numbers) % len(buffer)
        chosen, buffer[i] = buffer[i], buffer[0]
        del buffer[0]
        yield chosen
        buffer += itertools.islice(source, 1)


def words(seeds: tuple[int, int]) -> Iterator[int]:
    """The random 32 bits of two seeds, one after the other."""
    for first in itertools.count(step=16):
        yield from philox.blocks(seeds[0], (seeds[1] << 64) + first, 16).reshape(-1).tolist()
