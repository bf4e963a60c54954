"""Datasets that are made of several others by chance or by numbers, of random numbers, and of names of files."""

from __future__ import annotations

import glob as globbing
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import tf
from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.shown import methods_of
from ...engine.tensor import wrap
from ...engine.updates import deprecated
from .elements import tensor_spec
from .recipe import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .shuffling import Rounds, seed_pair, words


@methods_of("DatasetV2")
class Choices:
    """Datasets that choose among others, as static methods."""

    @staticmethod
    def random(seed: Any = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> Any:
        """Random numbers without end: int64, from 0 to 2³²-1, the same in each iteration unless it is rerandomized.

        >>> import minitape as tf
        >>> tf.random.set_seed(7)
        >>> [int(n) for n in tf.data.Dataset.random(seed=3).take(2)]
        [2545112793, 531643458]
        """
        from .dataset import Dataset

        seeds = seed_pair(seed)
        rounds = Rounds(seeds)

        def start() -> Iterator[Any]:
            mine = (next(rounds), next(rounds)) if rerandomize_each_iteration else seeds
            return (wrap(np.int64(word)) for word in words(mine))

        made = Dataset(start, INFINITE_CARDINALITY, "_RandomDataset", tensor_spec((), dtypes.int64))
        made._rounds = rounds if rerandomize_each_iteration else None
        return made

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: Any = None,
    ) -> Any:
        """Elements of datasets that are drawn by ``weights``, a list or a dataset of such lists; by default alike.

        The draws are those of TensorFlow for the same seed. Ends where one dataset ends, or else where all have.
        ValueError for no datasets and for weights of another number, TypeError for elements of different types.

        >>> import minitape as tf
        >>> tf.random.set_seed(7)
        >>> one, two = (tf.data.Dataset.from_tensors(n).repeat() for n in (1, 2))
        >>> [int(n) for n in tf.data.Dataset.sample_from_datasets([one, two], seed=1).take(6)]
        [1, 2, 1, 2, 1, 2]
        """
        from .dataset import Dataset

        _check(datasets)
        if isinstance(weights, Dataset):
            raise ValueError("minitape's sample_from_datasets takes weights as a list, not as a dataset.")
        if weights is not None and len(weights) != len(datasets):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"`len(weights)={len(weights)}` vs. `len(datasets)={len(datasets)}`."
            )
        if weights is not None:
            drawn = [(dataset, weight) for dataset, weight in zip(datasets, np.asarray(weights), strict=True) if weight > 0]
            datasets, weights = [d for d, _ in drawn], [w for _, w in drawn]
        if len(datasets) == 1:
            return datasets[0]
        logits = tf.math.log([list(map(float, weights or [1.0] * len(datasets)))])

        def choice(pair: Any) -> Any:
            return tf.random.stateless_categorical(logits, 1, pair)[0, 0]

        selector = Choices.random(seed, rerandomize_each_iteration).batch(2).map(choice)
        return _directed(datasets, selector, stop_on_empty_dataset)

    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Any:
        """Elements of the datasets whose numbers ``choice_dataset`` gives, int64 scalars.

        Ends where the chosen dataset has ended, unless ``stop_on_empty_dataset`` is False. ValueError for no datasets,
        TypeError for other choices and for elements of different types, InvalidArgumentError for a number too large.

        >>> import minitape as tf
        >>> parts = [tf.data.Dataset.from_tensors(word).repeat() for word in ("a", "b")]
        >>> chosen = tf.data.Dataset.choose_from_datasets(parts, tf.data.Dataset.range(2).repeat(2))
        >>> list(chosen.as_numpy_iterator())
        [b'a', b'b', b'a', b'b']
        """
        _check(datasets)
        spec = choice_dataset.element_spec
        if getattr(spec, "dtype", None) is not dtypes.int64 or spec.shape.rank != 0:
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
                f"{spec}."
            )
        return _directed(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None) -> Any:
        """The names of the files that match one pattern or several, in another order in each iteration or sorted.

        InvalidArgumentError when there are none.

        >>> import minitape as tf, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("b.txt", "a.txt", "c.csv"):
        ...         pathlib.Path(folder, name).touch()
        ...     found = tf.data.Dataset.list_files(folder + "/*.txt", shuffle=False)
        >>> [name.numpy()[-5:] for name in found]
        [b'a.txt', b'b.txt']
        """
        from .dataset import Dataset

        patterns = [p.decode() for p in np.asarray(convert_to_tensor(file_pattern).numpy(), object).reshape(-1)]
        found = sorted(_named(pattern, file) for pattern in patterns for file in globbing.glob(pattern))
        if not found:
            what = f"No files matched pattern: {', '.join(patterns)}".encode()
            raise invalid(f"Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: {what!r}", "")
        files = Dataset.from_tensor_slices(found)
        return files if shuffle is False else files.shuffle(len(found), seed)


def _named(pattern: str, file: str) -> str:
    return file if "/" in pattern else f"./{file}"


def _check(datasets: Any) -> None:
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    specs = [dataset.element_spec for dataset in datasets]
    for i, spec in enumerate(specs):
        if _kinds(spec) != _kinds(specs[0]):
            raise TypeError(
                "Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 "
                f"element_spec={specs[0]}.\nDataset {i} element_spec={spec}."
            )


def _kinds(spec: Any) -> Any:
    from ...engine import nest

    return nest.map_structure(lambda part: part.dtype, spec)


def _directed(datasets: Any, choices: Any, stop: bool) -> Any:
    from .dataset import Dataset

    def start() -> Iterator[Any]:
        walks: list[Any] = [iter(dataset) for dataset in datasets]
        for choice in choices:
            at = int(choice)
            if not 0 <= at < len(walks):
                raise invalid(f"Selector index out of range: {at} >= {len(walks)}", "IteratorGetNext")
            if walks[at] is None:
                continue
            element = next(walks[at], _END)
            if element is not _END:
                yield element
            elif stop:
                return
            else:
                walks[at] = None
                if not any(walks):
                    return

    endless = INFINITE_CARDINALITY if any(d._length == INFINITE_CARDINALITY for d in datasets) else UNKNOWN_CARDINALITY
    return Dataset(start, endless, "_DirectedInterleaveDataset", datasets[0]._spec)


_END = object()


# -- tf.data.experimental -----------------------------------------------------------------------------------------------

_MODULE = "tensorflow.python.data.experimental.ops"


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Any:
    """The older name of ``tf.data.Dataset.counter``.

    >>> import minitape as tf
    >>> [int(n) for n in tf.data.experimental.Counter(4, 2).take(2)]
    [4, 6]
    """
    from .dataset import Dataset

    deprecated(f"CounterV2 (from {_MODULE}.counter) is deprecated and will be removed in a future version.\nInstructions for "
               "updating:\nUse `tf.data.Dataset.counter(...)` instead.")  # fmt: skip
    return Dataset.counter(start, step, dtype)


def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False) -> Any:
    """The older name of ``tf.data.Dataset.sample_from_datasets``.

    >>> import minitape as tf
    >>> numbers = [tf.data.Dataset.range(2), tf.data.Dataset.range(5, 7)]
    >>> sorted(int(n) for n in tf.data.experimental.sample_from_datasets(numbers, seed=1))
    [0, 1, 5, 6]
    """
    deprecated(f"sample_from_datasets_v2 (from {_MODULE}.interleave_ops) is deprecated and will be removed in a future "
               "version.\nInstructions for updating:\nUse `tf.data.Dataset.sample_from_datasets(...)`.")  # fmt: skip
    return Choices.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False) -> Any:
    """The older name of ``tf.data.Dataset.choose_from_datasets``, which goes on where a dataset has ended by default.

    >>> import minitape as tf
    >>> parts = [tf.data.Dataset.range(1), tf.data.Dataset.range(5, 7)]
    >>> choices = tf.data.Dataset.from_tensor_slices(tf.constant([0, 0, 1], tf.int64))
    >>> [int(n) for n in tf.data.experimental.choose_from_datasets(parts, choices)]
    [0, 5]
    """
    deprecated(f"choose_from_datasets_v2 (from {_MODULE}.interleave_ops) is deprecated and will be removed in a future "
               "version.\nInstructions for updating:\nUse `tf.data.Dataset.choose_from_datasets(...)` instead. Note that, "
               "unlike the experimental endpoint, the non-experimental endpoint sets `stop_on_empty_dataset=True` by "
               "default. You should set this argument explicitly in case you would like to match the behavior of the "
               "experimental endpoint.")  # fmt: skip
    return Choices.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)
