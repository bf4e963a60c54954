"""Philox 4x32-10, the counter-based generator behind ``tf.random``, and the distributions that are made of its blocks.

See J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). A block is four
32-bit numbers, a function of a 64-bit key and a 128-bit counter. How blocks become floats is TensorFlow's choice, and
is the same here: float32 and float64 streams agree with TensorFlow's (for normal numbers up to the last digit of the
mathematical library).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
MASK = (1 << 64) - 1
FEW = 16  # blocks
CHUNK = 16_384  # blocks that are made together: what they need stays in the cache
SKIP = 256  # blocks that TensorFlow sets aside for each number asked for


def blocks(key: int, counter: int, count: int, steps: Any = None) -> Any:
    """``count`` blocks from a counter on (or those ``steps`` further on), as uint32 numbers of shape (count, 4).

    >>> blocks(0, 0, 1).tolist()
    [[1713891541, 3781805453, 3159862348, 2600524760]]
    """
    if steps is None and count <= FEW:
        return np.array([_block(key, counter + i) for i in range(count)], np.uint32).reshape(count, 4)
    out = np.empty((count, 4), np.uint32)
    for start in range(0, count, CHUNK):
        part = slice(start, min(start + CHUNK, count))
        on = np.arange(part.start, part.stop) if steps is None else steps[part]
        for column, words in enumerate(_rounds(key, counter, on.astype(np.uint64))):
            out[part, column] = words
    return out


def _rounds(key: int, counter: int, steps: Any) -> list:
    """The four words (in 64 bits each) of the blocks that are so many ``steps`` from a counter on."""
    low = steps + np.uint64(counter & MASK)
    high = np.full(steps.size, counter >> 64 & MASK, np.uint64) + (low < steps).astype(np.uint64)
    c = [low & _LOW, low >> _HALF, high & _LOW, high >> _HALF]
    k0, k1 = key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF
    first, second = np.empty_like(low), np.empty_like(low)
    for _ in range(10):
        np.multiply(c[0], np.uint64(0xD2511F53), out=first)
        np.multiply(c[2], np.uint64(0xCD9E8D57), out=second)
        for upper, lower, part, product in ((c[0], c[1], k0, second), (c[2], c[3], k1, first)):
            np.right_shift(product, _HALF, out=upper)
            upper ^= lower
            upper ^= np.uint64(part)
            np.bitwise_and(product, _LOW, out=lower)
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def _block(key: int, counter: int) -> tuple[int, int, int, int]:
    """One block, in plain Python: faster than arrays for a few."""
    c0, c1, c2, c3 = (counter >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96))
    k0, k1 = key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF
    for _ in range(10):
        first, second = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = second >> 32 ^ c1 ^ k0, second & 0xFFFFFFFF, first >> 32 ^ c3 ^ k1, first & 0xFFFFFFFF
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c0, c1, c2, c3


def scramble(seed: tuple[int, int]) -> tuple[int, int]:
    """Key and counter of the stateless functions for a seed of two integers."""
    counter = (seed[0] & MASK) | (seed[1] & MASK) << 64
    a, b, c, d = (int(v) for v in blocks(0x02461E293EC8F720, counter, 1)[0])
    return a | b << 32, (c | d << 32) << 64


# -- from blocks to numbers ------------------------------------------------------------------------


def _double_words(words: Any) -> Any:
    """Pairs of 32-bit numbers as 64-bit ones."""
    pairs = words.reshape(-1, 2).astype(np.uint64)
    return pairs[:, 0] | pairs[:, 1] << _HALF


def _unit32(words: Any) -> Any:
    """32 random bits as a float32 in [0, 1): the low 23 of them."""
    return (words & np.uint32(0x7FFFFF) | np.uint32(127 << 23)).view(np.float32) - np.float32(1)


def _unit64(words: Any) -> Any:
    """Pairs of words as float64 in [0, 1): 20 bits of the first, 32 of the second."""
    pairs = words.reshape(-1, 2).astype(np.uint64)
    bits = (pairs[:, 0] & np.uint64(0xFFFFF)) << _HALF | pairs[:, 1] | np.uint64(1023 << 52)
    return bits.view(np.float64) - 1.0


def _unit16(words: Any) -> Any:
    return ((words & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)).view(np.float16) - np.float16(1)


def _normal32(words: Any) -> Any:
    """Box and Muller's pairs of normal numbers in float32."""
    pairs = words.reshape(-1, 2)
    u = np.maximum(_unit32(pairs[:, 0]), np.float32(1e-7))
    angle = (2 * np.pi * _unit32(pairs[:, 1]).astype(np.float64)).astype(np.float32).astype(np.float64)
    size = np.sqrt(np.float32(-2) * np.log(u.astype(np.float64)).astype(np.float32))
    parts = [function(angle).astype(np.float32) * size for function in (np.sin, np.cos)]
    return np.stack(parts, axis=1).reshape(-1)


def _normal64(words: Any) -> Any:
    units = _unit64(words).reshape(-1, 2)
    size = np.sqrt(-2 * np.log(np.maximum(units[:, 0], 1e-7)))
    angle = 2 * np.pi * units[:, 1]
    return np.stack([np.sin(angle) * size, np.cos(angle) * size], axis=1).reshape(-1)


def _stream(per_block: int, convert: Callable[[Any], Any]) -> Callable[[int, int, int], Any]:
    """A function (key, counter, count) that makes ``per_block`` numbers of each block."""

    def draw(key: int, counter: int, count: int) -> Any:
        return convert(blocks(key, counter, -(-count // per_block)).reshape(-1))[:count]

    return draw


_UNIFORM = {"float32": _stream(4, _unit32), "float64": _stream(2, _unit64), "float16": _stream(4, _unit16)}
_NORMAL = {"float32": _stream(4, _normal32), "float64": _stream(2, _normal64)}
_BITS = {4: _stream(4, lambda words: words), 8: _stream(2, _double_words)}


def uniform(key: int, counter: int, count: int, dtype: Any) -> Any:
    """Floats in [0, 1)."""
    return _UNIFORM[np.dtype(dtype).name](key, counter, count)


def normal(key: int, counter: int, count: int, dtype: Any) -> Any:
    """Normal numbers with mean 0 and standard deviation 1; half floats are rounded float32 ones."""
    name = np.dtype(dtype).name
    return _NORMAL.get(name, _NORMAL["float32"])(key, counter, count).astype(dtype)


def bits(key: int, counter: int, count: int, dtype: Any) -> Any:
    """Integers over the whole range of their dtype."""
    dtype = np.dtype(dtype)
    return _BITS[dtype.itemsize](key, counter, count).view(dtype)


def integers(key: int, counter: int, count: int, dtype: Any, low: Any, high: Any) -> Any:
    """Integers in [low, high)."""
    dtype = np.dtype(dtype)
    wide = np.uint32 if dtype.itemsize == 4 else np.uint64
    span = wide((int(high) - int(low)) & (MASK if wide is np.uint64 else 0xFFFFFFFF))
    return (bits(key, counter, count, wide) % span + np.asarray(low, dtype).astype(wide)).astype(wide).view(dtype)


def truncated_normal(key: int, counter: int, count: int, dtype: Any) -> Any:
    """Normal numbers within two standard deviations: each group has a stream of its own, of which it takes those."""
    double = np.dtype(dtype).name == "float64"
    group, convert = (2, _normal64) if double else (4, _normal32)
    skip = group * SKIP // 4
    out = np.empty((-(-count // group), group), np.float64 if double else np.float32)
    for begin in range(0, len(out), 8192):
        todo = np.arange(begin, min(begin + 8192, len(out)))
        length = 8  # blocks tried for a group; nearly all groups find enough numbers in so many
        while len(todo):
            steps = (todo[:, None] * skip + np.arange(length)).reshape(-1)
            found = convert(blocks(key, counter, len(steps), steps).reshape(-1)).reshape(len(todo), -1)
            good = np.abs(found) < 2
            enough = good.sum(axis=1) >= group
            first = np.argsort(~good[enough], axis=1, kind="stable")[:, :group]  # places of the first good numbers
            out[todo[enough]] = np.take_along_axis(found[enough], first, 1)
            todo, length = todo[~enough], length * 4
    return out.reshape(-1)[:count].astype(dtype)


def permutation(key: int, counter: int, count: int) -> Any:
    """A random order of ``count`` things: each place in turn is swapped with one that comes later, or itself."""
    order = list(range(count))
    words = blocks(key, counter, -(-count // 4)).reshape(-1).tolist()
    for i in range(count - 1):
        j = i + words[i] % (count - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


def categories(key: int, counter: int, logits: Any, count: int) -> Any:
    """For each row of log probabilities ``count`` samples, found in the row's cumulative distribution."""
    rows = len(logits)
    words = blocks(key, counter, -(-rows * count * 2 // 4)).reshape(-1)
    units = _unit64(words)[: rows * count].reshape(rows, count)
    out = np.empty((rows, count), np.int64)
    for i, row in enumerate(logits.astype(np.float64)):
        finite = np.isfinite(row)
        peak = row[finite].max(initial=-np.inf)
        total = np.cumsum(np.where(finite, np.exp(np.where(finite, row, 0) - peak), 0.0))
        out[i] = np.searchsorted(total, units[i] * total[-1], side="right")
    return out


def _units(key: int, counter: int) -> Iterator[float]:
    """Numbers in [0, 1), one at a time, as TensorFlow's rejection methods take them: of each pair the second one
    first.
    """
    while True:
        yield from reversed(_unit64(blocks(key, counter, 1).reshape(-1)).tolist())
        counter += 1


def poisson(key: int, counter: int, rates: Any, count: int) -> Any:
    """``count`` numbers for each of the flat ``rates``, one column per rate, each from its own part of the stream."""
    out = np.empty((count, rates.size))
    for j, rate in enumerate(rates.reshape(-1).tolist()):
        for i in range(count):
            out[i, j] = _poisson(key, counter + (j * count + i) * SKIP, rate)
    return out


def _poisson(key: int, counter: int, rate: float) -> float:
    """One number of the Poisson distribution: D. Knuth's product below 10, else W. Hörmann's PTRS (1993)."""
    units = _units(key, counter)
    if math.isnan(rate) or rate == math.inf:
        return rate
    if rate < 10:
        product, count = next(units), 0
        while product > math.exp(-rate):
            product *= next(units)
            count += 1
        return float(count)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = next(units) - 0.5, next(units)
        shifted = 0.5 - abs(u)
        k = math.floor((2 * a / shifted + b) * u + rate + 0.43) if shifted > 0 else -1
        if shifted >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return float(k)
        if k < 0 or (shifted < 0.013 and v > shifted):
            continue
        if math.log(v * inverse / (a / (shifted * shifted) + b)) <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return float(k)
