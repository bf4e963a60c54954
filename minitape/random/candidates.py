"""Classes drawn as candidates beside the true ones, for losses that look at a sample of all classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from ..convert import convert_to_tensor
from ..invalid import invalid
from ..operands import generated
from ..tensor import wrap
from .arguments import draw
from .seeds import Draw

_FEW = 4  # how many numbers are drawn at once for each candidate that is still wanted


class LogUniformCandidateSampler(NamedTuple):
    """Candidates, and how often the true ones and these are expected among them."""

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


class UniformCandidateSampler(LogUniformCandidateSampler):
    """The same of classes that are equally frequent."""


@generated("log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None, name: str | None = None
) -> LogUniformCandidateSampler:
    """Classes drawn from a distribution that falls like Zipf's: class k with log((k + 2) / (k + 1)) / log(range_max + 1).

    ``unique`` candidates are all different, and the counts are those of as many draws as that took. ``true_classes`` is
    an int64 matrix of ``num_true`` columns. InvalidArgumentError for true classes of another shape, or outside of the range,
    and for a range too small for unique candidates. The stream of numbers is not TensorFlow's.

    >>> import minitape as tf
    >>> found = tf.random.log_uniform_candidate_sampler([[0, 3]], 2, 5, True, range_max=5)
    >>> sorted(found.sampled_candidates.numpy().tolist()), found.true_expected_count.shape
    ([0, 1, 2, 3, 4], TensorShape([1, 2]))
    """
    def likely(classes: Any) -> Any:
        return np.log((classes + 2.0) / (classes + 1.0)) / np.log1p(range_max)

    def of(numbers: Any) -> Any:
        return np.minimum(np.exp(numbers * np.log1p(range_max)).astype(np.int64) - 1, range_max - 1)

    given = (true_classes, num_true, num_sampled, unique, range_max, seed)
    return LogUniformCandidateSampler(*_drawn("LogUniformCandidateSampler", likely, of, *given))


@generated("uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None, name: str | None = None
) -> UniformCandidateSampler:
    """Classes of which each is drawn as often as any other; else like ``log_uniform_candidate_sampler``.

    >>> import minitape as tf
    >>> tf.random.uniform_candidate_sampler([[0, 3]], 2, 5, False, range_max=10).true_expected_count.numpy()
    array([[0.5, 0.5]], dtype=float32)
    """
    def likely(classes: Any) -> Any:
        return np.full(classes.shape, 1.0 / range_max)

    def of(numbers: Any) -> Any:
        return (numbers * range_max).astype(np.int64)

    given = (true_classes, num_true, num_sampled, unique, range_max, seed)
    return UniformCandidateSampler(*_drawn("UniformCandidateSampler", likely, of, *given))


def _drawn(op: str, likely: Any, of: Any, true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int,
           seed: Any) -> tuple[Any, Any, Any]:  # fmt: skip
    """(candidates, expected counts of the true classes, those of the candidates)."""
    classes = convert_to_tensor(true_classes, dtypes.int64)
    if classes.shape.rank not in (None, 2):
        raise invalid("true_classes must be a matrix", op)
    if classes.shape.rank and classes.shape[1] not in (None, num_true):
        raise invalid(f"true_classes must have num_true columns, expected: {classes.shape[1]} was: {num_true}", op)
    if unique and num_sampled > range_max:
        raise invalid("Sampler's range is too small.", op)

    def fill(start: Any) -> Any:  # the candidates, and behind them how many draws they took
        numbers = np.random.default_rng([abs(int(n)) for n in start(num_sampled)])
        found: dict[int, None] = {}
        drawn: list[int] = []
        while len(found if unique else drawn) < num_sampled:
            for candidate in of(numbers.random(_FEW * num_sampled)).tolist():
                drawn.append(candidate)
                found[candidate] = None
                if len(found if unique else drawn) == num_sampled:
                    break
        return np.array([*(found if unique else drawn), len(drawn)], np.int64)

    made = draw(Draw(fill, op, seed, "int64"), [num_sampled + 1], dtypes.int64)
    tries, candidates = made[num_sampled], made[:num_sampled]
    return candidates, _expected(op, likely, unique, classes, tries, range_max), _expected(op, likely, unique, candidates, tries, range_max)


@generated("_expected")
def _expected(op: str, likely: Any, unique: bool, classes: Any, tries: Any, range_max: int) -> Any:
    numbers = classes.array
    wrong = numbers[(numbers < 0) | (numbers >= range_max)]
    if wrong.size:
        raise invalid(f"`true_candidate` out of range [0, {range_max}), received {wrong.flat[0]}", op)
    share, count = likely(numbers), int(tries)
    return wrap(np.asarray(-np.expm1(count * np.log1p(-share)) if unique else share * count, np.float32))
