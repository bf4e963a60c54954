"""Seeds of ``tf.random``: the global one, those of operations, and where the numbers of an operation begin.

The streams are TensorFlow's, see :mod:`.philox`: ``set_seed(1234)`` gives the same numbers there and here.
Without any seed the numbers differ from run to run.
"""

from __future__ import annotations

import copy
import os
import random as _python
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..engine.recording.block import block
from ..engine.recording.state import state
from ..engine.tensor.tensor import new_tensor
from ..engine.values import errors
from . import philox

_MOST = 2**31 - 1


class _Seeds:
    """The global seed, the seeds that it gives to operations, and how far operations with a seed have read."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plant(None)

    def plant(self, seed: Any) -> None:
        try:
            hash(seed)
            self.rng = None if seed is None else _python.Random(seed)
        except TypeError:  # a tensor or an array
            seed = int(np.array(seed))
            self.rng = _python.Random(seed)
        self.seed = seed
        self.read: dict[tuple, int] = {}
        self.places: weakref.WeakKeyDictionary[Draw, int] = weakref.WeakKeyDictionary()  # the same in graphs

    def start(self, op: str, op_seed: Any, dtype: str, blocks: int) -> tuple[int, int]:
        """Key and counter for the next ``blocks`` of four numbers of an operation."""
        if op_seed is None:
            if self.rng is None:
                return _unpredictable()
            pair = _pair(self.seed, self.rng.randint(0, _MOST))
            return pair[0], pair[1] << 64
        pair = _pair(self.seed, op_seed)
        place = (op, *pair, dtype)
        with self.lock:  # an operation with its own seed goes on where it stopped
            before = self.read.get(place, 0)
            self.read[place] = before + blocks
        return pair[0], (pair[1] << 64) + before

    def start_in_graph(self, draw: Draw, blocks: int) -> tuple[int, int]:
        """Like ``start``, for an operation of a graph: it has a counter of its own until the global seed is set."""
        if draw.pair is None:
            return _unpredictable()
        with self.lock:
            before = self.places.get(draw, 0)
            self.places[draw] = before + blocks
        return draw.pair[0], (draw.pair[1] << 64) + before


def _unpredictable() -> tuple[int, int]:
    return int.from_bytes(os.urandom(8), "little"), 0


def _pair(first: Any, second: Any) -> tuple[int, int]:
    """The two seeds of an operation: the global one, or TensorFlow's stand-in for it, and its own."""
    pair = (int((87654321 if first is None else first) % _MOST), int(second % _MOST))  # NumPy integers would overflow
    return (0, _MOST) if pair == (0, 0) else pair


class Draw:
    """One random operation: ``fill(start, *arrays)`` makes its numbers, ``start(blocks)`` says where they begin.

    In a graph its seeds are settled when it is made: those of the graph and the number of random operations before.
    """

    def __init__(self, fill: Callable, op: str, seed: Any, dtype: str) -> None:
        self.fill, self.op, self.seed, self.dtype = fill, op, seed, dtype
        self.graph, self.pair = state.graph, None
        if self.graph is not None and (seed is not None or self.graph.seed is not None):
            if seed is None:
                seed, self.graph.drawn = self.graph.drawn, self.graph.drawn + 1
            self.pair = _pair(self.graph.seed, seed)

    def start(self, blocks: int) -> tuple[int, int]:
        if self.graph is None:
            return _seeds.start(self.op, self.seed, self.dtype, blocks)
        return _seeds.start_in_graph(self, blocks)

    def copy_for_graph(self) -> Draw:
        """A copy for the same operation in another graph, where its counter starts at zero."""
        return copy.copy(self)

    def __call__(self, *tensors: Any) -> list:
        return [new_tensor(np.asarray(self.fill(self.start, *[t.array for t in tensors])))]


_seeds = _Seeds()


def global_seed() -> Any:
    """What ``tf.random.set_seed`` was given last, for the graph of a function."""
    return _seeds.seed


def restart(graph: Any) -> None:
    """A new session of a graph: its random operations start anew."""
    for place in [p for p in _seeds.places if p.graph is graph]:
        del _seeds.places[place]


@block
def taking(seed: Any) -> Iterator[None]:
    """Checks of the kernel: what it refuses has taken a seed of the global stream all the same."""
    try:
        yield
    except errors.OpError:
        if seed is None and state.graph is None and _seeds.rng is not None:
            _seeds.rng.randint(0, _MOST)
        raise


def pair_of(op_seed: int | None) -> tuple[int, int]:
    """The two seeds of something that keeps its own place among the numbers, as datasets do."""
    key, counter = _seeds.start("", op_seed, "", 0)
    return key, counter >> 64


@block
def keep_state() -> Iterator[None]:
    """What the block draws is not missing afterwards: the random numbers go on as if it had not been there."""
    before = None if _seeds.rng is None else _seeds.rng.getstate(), dict(_seeds.read)
    try:
        yield
    finally:
        if before[0] is not None and _seeds.rng is not None:
            _seeds.rng.setstate(before[0])
        _seeds.read = before[1]


def permutation(count: int) -> Any:
    """The order in which ``fit`` takes examples: at random, but always the same for one global seed."""
    key = _unpredictable()[0] if _seeds.seed is None else _seeds.seed % _MOST
    return philox.permutation(key, 0, count)


def set_seed(seed: Any) -> None:
    """Sets the global seed: the same random numbers follow each time. None makes them unpredictable again.

    >>> import minitape as tf
    >>> tf.random.set_seed(1234)
    >>> print(tf.random.uniform([2]).numpy())
    [0.5380393  0.36461866]
    """
    _seeds.plant(seed)
