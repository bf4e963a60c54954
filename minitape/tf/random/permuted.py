"""Where a shuffle puts an index, without shuffling: a small block cipher (SIMON) that is walked until it stays below a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid, shown
from ...engine.opdefs import accept
from ...engine.operands import generated, strict, tensor_of
from ...engine.tensor import Tensor, wrap

_OP = "RandomIndexShuffle"
_SEQUENCE = 0x7369F885192C0EF5  # whose lowest bits the later round keys take
_FIRST = 498247692  # TensorFlow's first key where a seed has two
_LEAST = 16  # bits of a block


@strict
def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """The new place of ``index`` when 0, 1, ..., ``max_index`` are shuffled: another one for each index.

    ``seed`` is two integers; ``index`` and ``max_index`` are integers or vectors, of which each element has a result.
    Not differentiable. InvalidArgumentError for negative numbers, for an index above ``max_index`` and for what is no integer.

    >>> import minitape as tf
    >>> [int(tf.random.experimental.index_shuffle(i, [1, 2], 9)) for i in range(10)]
    [5, 0, 1, 4, 3, 6, 9, 8, 7, 2]
    """
    from ...ops.joining import pad

    seed = convert_to_tensor(seed)
    return random_index_shuffle(index, pad(seed, [[1, 0], *[[0, 0]] * (seed.ndim - 1)], constant_values=_FIRST), max_index)


@generated("random_index_shuffle")
def random_index_shuffle(index: Any, seed: Any, max_index: Any, rounds: int = 4, name: str | None = None) -> Tensor:
    """As ``tf.random.experimental.index_shuffle``, with three integers as ``seed``, or a row of three for each index.

    ``rounds`` is an even number; more of them shuffle better.

    >>> import minitape as tf
    >>> tf.random_index_shuffle([0, 1, 2], [1, 2, 3], 2).numpy()
    array([2, 0, 1], dtype=int32)
    """
    index = tensor_of(index)
    seed, most = tensor_of(seed), tensor_of(max_index, index.dtype)
    accept(_OP, index.dtype, seed.dtype, most.dtype)
    keys = np.asarray(seed.array)
    if keys.ndim not in (1, 2) or keys.shape[-1] != 3:
        raise invalid(f"Seed must be a vector of size [3] or a matrix of size [1, 3] but got {shown(keys.shape)}.", _OP)
    words = [np.asarray(keys[..., i]).astype(np.uint32).astype(np.uint64) for i in range(3)]
    numbers = np.broadcast_arrays(np.asarray(index.array), np.asarray(most.array), *words)
    out = [_walked(*map(int, one), rounds=rounds) for one in zip(*(n.reshape(-1) for n in numbers), strict=True)]
    return wrap(np.array(out, index.dtype.as_numpy_dtype).reshape(numbers[0].shape))


def _walked(index: int, most: int, *keys: int, rounds: int) -> int:
    """Enciphers an index until it is at most ``most``: that keeps the permutation of the cipher one of 0 ... most."""
    if index < 0:
        raise invalid(f"index must be >= 0 but was {index}", _OP)
    if most < 0:
        raise invalid(f"max_index must be >= 0 but was {most}", _OP)
    if most < index:
        raise invalid(f"max_index must be >= index, but {most} < {index}", _OP)
    if most == 0:
        return 0
    bits = int(np.ceil(np.log2(most)))
    width = max(bits + bits % 2, _LEAST) // 2
    schedule = _round_keys(list(keys), width, rounds)
    index = _enciphered(index, schedule, width)
    while index > most:
        index = _enciphered(index, schedule, width)
    return index


def _turned(word: int, by: int, width: int) -> int:
    """The bits of a word turned to the left."""
    by %= width
    return ((word << by) | (word >> (width - by))) & ((1 << width) - 1)


def _round_keys(keys: list[int], width: int, rounds: int) -> list[int]:
    whole = (1 << width) - 1
    keys, bits = [k & whole for k in keys], _SEQUENCE & whole
    for i in range(3, rounds):
        turned = _turned(keys[i - 1], width - 3, width) ^ _turned(keys[i - 1], width - 4, width)
        keys.append((0xFFFFFFFC & whole) ^ (bits & 1) ^ keys[i - 3] ^ turned)
        bits >>= 1
    return keys


def _enciphered(value: int, keys: list[int], width: int) -> int:
    left, right = value >> width, value & ((1 << width) - 1)
    for key in keys:
        mixed = (_turned(right, 1, width) & _turned(right, 8, width)) ^ _turned(right, 2, width)
        left, right = right, left ^ mixed ^ key
    return (left << width) | right
