"""Candidate samplers: a few classes out of many, drawn to stand for all of them, and how often each is expected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.opdefs import accept
from ...engine.operands import strict, tensor_of
from ...engine.primitives import TABLE
from ...engine.tensor import Tensor
from ...ops import philox
from ...ops.picking import where
from ...ops.seeds import Draw
from .arguments import draw

MANY = 2**63  # classes, where nobody says how many
_LEAST = -float(np.finfo(np.float32).max)


class UniformCandidateSampler(NamedTuple):
    """What ``uniform_candidate_sampler`` returns."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class LogUniformCandidateSampler(NamedTuple):
    """What ``log_uniform_candidate_sampler`` returns."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class AllCandidateSampler(NamedTuple):
    """What ``all_candidate_sampler`` returns."""

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class AccidentalHits(NamedTuple):
    """What ``compute_accidental_hits`` returns."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


def _checked(true_classes: Any, op: str, num_true: int, num_sampled: int, range_max: int) -> Any:
    """The true classes, after the kernel's checks."""
    for name, number in (("num_true", num_true), ("num_sampled", num_sampled), ("range_max", range_max)):
        if number < 1:
            raise invalid(f"Value for attr '{name}' of {number} must be at least minimum 1", op)
    classes = tensor_of(true_classes, dtypes.int64)
    accept(op, classes.dtype)
    if classes.shape.rank not in (2, None):
        raise invalid("true_classes must be a matrix", op)
    if classes.shape.rank and classes.shape[1] not in (num_true, None):
        raise invalid(f"true_classes must have num_true columns, expected: {classes.shape[1]} was: {num_true}", op)
    beyond = [c for c in classes.array.flat if not 0 <= c < range_max] if hasattr(classes, "array") else []
    if beyond:
        raise invalid(f"`true_candidate` out of range [0, {range_max}), received {beyond[0]}", op)
    return classes


def _sampled(op: str, numbers: Any, probability: Any, classes: Any, count: int, unique: bool, range_max: int, seed: Any) -> tuple[Any, ...]:
    """``count`` classes, and how often the true ones and they are expected among so many.

    ``numbers(key, counter, n)`` are the first n classes of a stream. Where they are to be ``unique``, drawing goes on until there
    are enough, and the number of tries says how likely each was.
    """
    if unique and count > range_max:
        raise invalid("Sampler's range is too small.", op)

    def fill(start: Any) -> Any:
        key, counter = start(2 * count * philox.SKIP)
        if not unique:
            return np.append(numbers(key, counter, count), count)
        found: dict[int, int] = {}  # and at which try
        for tries, number in enumerate(_endless(numbers, key, counter, count), 1):
            found.setdefault(number, tries)
            if len(found) == count:
                break
        return np.array([*found, found[number]])

    drawn = draw(Draw(fill, op, seed, "int64"), [count + 1], dtypes.int64)
    sampled, tries = drawn[:count], TABLE["cast"](drawn[count], dtype=dtypes.float32)

    def expected(candidates: Any) -> Any:
        p = TABLE["cast"](probability(TABLE["cast"](candidates, dtype=dtypes.float64)), dtype=dtypes.float32)
        among = -TABLE["expm1"](tries * TABLE["log1p"](-p))
        return where(tries == float(count), p * float(count), among)

    return sampled, expected(classes), expected(sampled)


def _endless(numbers: Any, key: int, counter: int, count: int) -> Iterator[int]:
    done = 0
    while True:
        count *= 2
        yield from numbers(key, counter, count)[done:].tolist()
        done = count


@strict
def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None, name: str | None = None
) -> UniformCandidateSampler:
    """``num_sampled`` classes below ``range_max``, each as likely as the other, and the expected number of the true and of these.

    ``true_classes`` is int64 of shape [batch, num_true]. With ``unique`` no class comes twice. InvalidArgumentError for other
    shapes, and for more classes than there are.

    >>> import minitape as tf
    >>> found = tf.random.uniform_candidate_sampler([[1]], 1, num_sampled=3, unique=False, range_max=6)
    >>> found.sampled_candidates.shape, found.true_expected_count.numpy().tolist()
    (TensorShape([3]), [[0.5]])
    """
    op = "UniformCandidateSampler"
    classes = _checked(true_classes, op, num_true, num_sampled, range_max)

    def numbers(key: int, counter: int, n: int) -> Any:
        return philox.integers(key, counter, n, np.int64, 0, range_max)

    def probability(candidates: Any) -> Any:
        return TABLE["ones_like"](candidates) * (1 / range_max)

    return UniformCandidateSampler(*_sampled(op, numbers, probability, classes, num_sampled, unique, range_max, seed))


@strict
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None, name: str | None = None
) -> LogUniformCandidateSampler:
    """The same where small numbers are likelier: P(c) = log((c + 2) / (c + 1)) / log(range_max + 1), as of words by frequency.

    >>> import minitape as tf
    >>> found = tf.random.log_uniform_candidate_sampler([[0, 2]], 2, num_sampled=2, unique=False, range_max=3)
    >>> print(found.true_expected_count.numpy())
    [[1.        0.4150375]]
    """
    op = "LogUniformCandidateSampler"
    classes = _checked(true_classes, op, num_true, num_sampled, range_max)
    whole = np.log1p(range_max)

    def numbers(key: int, counter: int, n: int) -> Any:
        return np.exp(philox.uniform(key, counter, n, np.float64) * whole).astype(np.int64) - 1

    def probability(candidates: Any) -> Any:
        return TABLE["log"]((candidates + 2.0) / (candidates + 1.0)) / float(whole)

    return LogUniformCandidateSampler(*_sampled(op, numbers, probability, classes, num_sampled, unique, range_max, seed))


@strict
def all_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: Any = None, name: str | None = None
) -> AllCandidateSampler:
    """All the ``num_sampled`` classes there are, each once: for trying out what else draws some of them.

    ``unique`` and ``seed`` have no effect.

    >>> import minitape as tf
    >>> tf.random.all_candidate_sampler([[1]], 1, num_sampled=3, unique=True).sampled_candidates.numpy().tolist()
    [0, 1, 2]
    """
    classes = _checked(true_classes, "AllCandidateSampler", num_true, num_sampled, num_sampled)
    sampled = tensor_of(np.arange(num_sampled))
    ones = [TABLE["ones_like"](TABLE["cast"](c, dtype=dtypes.float32)) for c in (classes, sampled)]
    return AllCandidateSampler(sampled, *ones)


@strict
def compute_accidental_hits(
    true_classes: Any, sampled_candidates: Any, num_true: int, seed: Any = None, name: str | None = None
) -> AccidentalHits:
    """Where a sampled class is a true one: the example's row, the place in the sample, and the lowest float32, to be added to logits.

    ``seed`` has no effect.

    >>> import minitape as tf
    >>> hits = tf.nn.compute_accidental_hits([[1], [4]], [4, 0, 1], num_true=1)
    >>> hits.indices.numpy().tolist(), hits.ids.numpy().tolist()
    ([0, 1], [2, 0])
    """
    op = "ComputeAccidentalHits"
    classes = _checked(true_classes, op, num_true, 1, MANY).array
    places = {candidate: place for place, candidate in enumerate(tensor_of(sampled_candidates, dtypes.int64).array.tolist())}
    hits = [(row, places[c]) for row, cs in enumerate(classes.tolist()) for c in cs if c in places]
    rows, ids = np.array(hits, np.int64).reshape(-1, 2).T
    weights = np.full(len(hits), _LEAST, np.float32)
    return AccidentalHits(*map(tensor_of, (rows.astype(np.int32), ids, weights)))
