"""Primitives that order elements along the last axis, and the pair of them that moves elements by their positions."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..invalid import invalid
from . import TABLE, declare

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..dtypes import DType
    from ..typed import Array, NumPyType


def _order(x: Array) -> Array:
    """Positions from the largest element to the smallest, equal ones as they come; NaN as TensorFlow has it, in rows of thousands last."""
    if x.dtype.kind in "fV" and (vague := np.isnan(x).any(-1)).any():
        found = _order(np.where(np.isnan(x), -np.inf, x))
        if x.shape[-1] <= 4096:  # this takes a while
            found[vague] = [_order_with_nan(row) for row in x[vague]]
        return found
    if x.dtype.kind == "u":
        return np.argsort(np.iinfo(x.dtype).max - x, axis=-1, kind="stable")
    if x.dtype.kind == "i":
        return np.argsort(-1 - x, axis=-1, kind="stable")
    return np.argsort(-x.astype(np.float64), axis=-1, kind="stable")


def _order_with_nan(row: Array) -> Array:
    """The steps of std::sort, by which TensorFlow sorts: to NaN nothing is above or below, so it stays or moves as they go."""
    values, size = row.tolist(), len(row)
    order = [*range(size)]

    def above(a: int, b: int) -> bool:
        return values[b] < values[a]

    def swap(i: int, j: int) -> None:
        order[i], order[j] = order[j], order[i]

    def part(first: int, last: int, deep: int) -> None:
        """Quicksort by the median of three, until parts are short; a heap where it goes too deep."""
        while last - first > 16:
            if not deep:
                piece = order[first:last]
                drop = _heap(piece, above)[1]
                for length in range(len(piece), 1, -1):
                    drop(length)
                order[first:last] = piece
                return
            deep -= 1
            places = a, b, c = first + 1, (first + last) // 2, last - 1
            ab, bc, ac = (above(order[i], order[j]) for i, j in ((a, b), (b, c), (a, c)))
            swap(first, places[(1 if bc else 2 if ac else 0) if ab else (0 if ac else 2 if bc else 1)])
            pivot, low, high = order[first], first + 1, last
            while True:
                while low < size and above(order[low], pivot):
                    low += 1
                high -= 1
                while above(pivot, order[high]):
                    high -= 1
                if low >= high:
                    break
                swap(low, high)
                low += 1
            part(low, last, deep)
            last = low

    part(0, size, 2 * size.bit_length() - 2)
    for at in range(1, size):
        to = 0 if at < 16 and above(order[at], order[0]) else at
        while to and above(order[at], order[to - 1]):
            to -= 1
        order.insert(to, order.pop(at))
    runs = np.cumsum([0, *(values[a] != values[b] for a, b in pairwise(order))])
    return np.array(order)[np.lexsort((order, runs))]  # equal ones that stand side by side come as they came


def _heap(heap: list[int], better: Callable[[int, int], bool]) -> tuple[Callable[[int, int, int], None], Callable[[int], None]]:
    """Makes a list a binary heap with the worst at its top, and gives what changes it: as std::make_heap and its kin do."""

    def rise(hole: int, top: int, value: int) -> None:
        while hole > top and better(heap[(hole - 1) // 2], value):
            heap[hole] = heap[(hole - 1) // 2]
            hole = (hole - 1) // 2
        heap[hole] = value

    def settle(hole: int, size: int, value: int) -> None:
        top = hole
        while (child := 2 * hole + 2) <= size:
            if child == size or better(heap[child], heap[child - 1]):
                child -= 1
            heap[hole] = heap[child]
            hole = child
        rise(hole, top, value)

    def drop(size: int) -> None:
        """Puts the worst of the first ``size`` behind the others."""
        value, heap[size - 1] = heap[size - 1], heap[0]
        settle(0, size - 1, value)

    for at in reversed(range(len(heap) // 2)):
        settle(at, len(heap), heap[at])
    return rise, drop


def _largest_with_nan(x: Array) -> Array:
    """The place of the largest, as TensorFlow finds it by vectors of 32 bytes.

    These pass NaN by. Of what is left behind them, what follows a NaN replaces it. Where NaN remains, it is the first place.
    """
    values, size = x.astype(np.float64), x.shape[-1]
    whole = size - size % (32 // max(x.itemsize, 4))
    most, rest = np.fmax.reduce(values[..., :whole], -1, initial=-np.inf), np.full(x.shape[:-1], -np.inf)
    for at in range(whole, size):
        rest = np.where(values[..., at] < rest, rest, values[..., at])
    return np.argmax(values == np.where(rest < most, most, rest)[..., None], -1)[..., None]


def _best_with_nan(row: Array, k: int, ordered: bool) -> Array:
    """The k positions that are left of more than k, where NaN, which is neither above nor below, counts by its position.

    As that is no order, who is left depends on how they are kept: TensorFlow has them in a binary heap with the worst at
    its top, of which these are the steps.
    """
    values, heap = row.tolist(), [*range(k + 1)]

    def better(a: int, b: int) -> bool:
        return values[b] < values[a] or (not values[b] > values[a] and a < b)

    rise, drop = _heap(heap, better)
    drop(k + 1)
    for place in range(k + 1, len(values)):
        if better(place, heap[0]):
            drop(k)
            rise(k - 1, 0, place)
    for size in range(k, 1, -1) if ordered else ():
        drop(size)
    return np.array(heap[:k])


def _first(x: Array, k: int, ordered: bool) -> Array:
    """The first k of ``_order``: of few among many, those that are no less than the least of them are sorted alone."""
    if x.dtype.kind in "fV" and 0 < k < x.shape[-1]:
        vague = np.isnan(x).any(-1)
        if k == 1 and vague.any():
            return _largest_with_nan(x)
        if vague.any():
            found = np.zeros((*x.shape[:-1], k), np.int64)
            found[vague] = [_best_with_nan(row, k, ordered) for row in x[vague]]
            found[~vague] = _first(x[~vague], k, ordered)
            return found
    found = _largest(x, k)
    return found if ordered or k == x.shape[-1] else np.sort(found, axis=-1)


def _largest(x: Array, k: int) -> Array:
    size = x.shape[-1]
    if not 0 < FEW * k <= size or x.dtype.kind not in "fiu":
        return _order(x)[..., :k]
    least = np.partition(x, size - k, axis=-1)[..., size - k, None]
    among = x >= least
    if np.count_nonzero(among) > math.prod(x.shape[:-1]) * k:  # of those that equal it, the first ones
        equal = x == least
        room = k - np.count_nonzero(x > least, axis=-1, keepdims=True)
        among &= ~equal | (np.cumsum(equal, axis=-1) <= room)
    positions = np.nonzero(among)[-1].reshape(*x.shape[:-1], k)
    return np.take_along_axis(positions, _order(np.take_along_axis(x, positions, -1)), -1)


FEW = 4  # so many times more elements than are wanted: to part them is faster than to sort them


def _top_k(x: Array, *, k: int, sorted: bool = True, index_type: DType | None = None) -> Array:
    if x.ndim < 1:
        raise invalid("input must be >= 1-D, got shape []", "TopKV2")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}", "TopKV2")
    if x.shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}", "TopKV2")
    positions = _first(x, k, sorted)
    wide = np.int32 if index_type is None else index_type.as_numpy_dtype
    return np.take_along_axis(x, positions, -1), positions.astype(wide)


def _put_along(g: Array, positions: Array, *, size: int) -> Array:
    """Adds each element of g at its position along a last axis of ``size``."""
    out = np.zeros((*g.shape[:-1], size), g.dtype)
    rows, k = math.prod(g.shape[:-1]), g.shape[-1]
    flat, places = out.reshape(rows, size), positions.reshape(rows, k)
    np.add.at(flat, (np.arange(flat.shape[0])[:, None], places), g.reshape(places.shape))
    return out


declare(
    "take_along",
    lambda x, i: np.take_along_axis(x, i, -1),
    [lambda g, z, x, i: TABLE["put_along"](g, i, size=x.shape[-1]), None],
    op="GatherAlongLast",
    label="gather",
    keep="y",
    example=lambda rng: ((rng.normal(size=(2, 3)), np.array([[2, 0], [1, 1]])), {}),
)
declare("put_along", _put_along, [lambda g, z, x, i, *, size: TABLE["take_along"](g, i), None],
        op="ScatterAlongLast", label="scatter", keep="y",
        example=lambda rng: ((rng.normal(size=(2, 2)), np.array([[2, 0], [1, 1]])), {"size": 3}))  # fmt: skip
declare("top_k", _top_k,
        [lambda g, z, x, *, k, sorted=True, index_type=None: TABLE["put_along"](g[0], z[1], size=x.shape[-1])],
        op="TopKV2", label="top k", keep="z",
        example=lambda rng: ((rng.permutation(6.0 * np.arange(6)).reshape(2, 3),), {"k": 2}))  # fmt: skip


# -- counting: TensorFlow registers no gradient for these -------------------------------------------------------------


def _bincount(x: Array, size: Array, weights: Array, *, rows: bool, binary: bool) -> Array:
    wide = weights.dtype.type
    size = int(size)
    table = x if rows else x.reshape(1, -1)
    out = np.zeros((len(table), size), wide)
    row, kept = np.broadcast_to(np.arange(len(table))[:, None], table.shape), table < size
    at = (row[kept], table[kept])
    if binary:
        out[at] = 1
    else:
        np.add.at(out, at, wide(1) if not weights.size else weights.reshape(table.shape)[kept])
    return out if rows else out[0]


def _invert(x: Array) -> Array:
    from ..invalid import invalid

    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.", "InvertPermutation")
    out = np.full(x.shape, -1, x.dtype)
    for i, place in enumerate(x.tolist()):
        if not 0 <= place < x.size:
            raise invalid(f"{place} is not between 0 and {x.size}", "InvertPermutation")
        if out[place] != -1:
            raise invalid(f"{place} is duplicated in the input.", "InvertPermutation")
        out[place] = i
    return out


declare("bincount", _bincount, None, op="DenseBincount", missing="unregistered", keep="")
declare(
    "histogram",
    lambda x, *, place, size, dtype: np.bincount(place.reshape(-1), minlength=size).astype(dtype.as_numpy_dtype),
    None,
    op="HistogramFixedWidth",
    missing="unregistered",
    keep="",
)
declare("invert_permutation", _invert, None, op="InvertPermutation", keep="")


def _searchsorted(rows: Array, wanted: Array, *, side: Literal["left", "right"], dtype: NumPyType) -> Array:
    table, keys = (x.reshape(math.prod(x.shape[:-1]), x.shape[-1]) for x in (rows, wanted))
    if len(table) != len(keys):
        from ..invalid import invalid

        raise invalid("Leading dim_size of both tensors must match.", "LowerBound" if side == "left" else "UpperBound")
    found = np.zeros(keys.shape, np.int64)
    for i, (row, key) in enumerate(zip(table, keys, strict=True)):
        found[i] = np.searchsorted(row, key, side)
    if keys.dtype.kind == "f":
        found = np.where(np.isnan(keys), 0, found)  # NaN is above nothing
    return np.reshape(found, wanted.shape).astype(dtype.as_numpy_dtype)


declare("searchsorted", _searchsorted, None, op="LowerBound", keep="")
