"""``skipgrams``: pairs of neighbouring words, and others, as word2vec learns from them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

_EULER = 0.577


def make_sampling_table(size: int, sampling_factor: float = 1e-05) -> Any:
    """For the word of each rank how likely it is to be taken: frequent ones are rarer taken (index 0 is no word).

    Frequencies are those of Zipf's law.

    >>> import minitape as tf
    >>> tf.keras.preprocessing.sequence.make_sampling_table(4).round(5)
    array([0.00315, 0.00315, 0.00548, 0.00742])
    """
    rank = np.arange(size)
    rank[0] = 1
    inverse = rank * (np.log(rank) + _EULER) + 0.5 - 1 / (12 * rank)  # of a word's frequency
    return np.minimum(1.0, np.sqrt(sampling_factor * inverse))


def skipgrams(
    sequence: Sequence[int],
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: Any = None,
) -> tuple[list[list[int]], list[Any]]:
    """Pairs of words that are at most ``window_size`` apart, labelled 1, and pairs with words drawn at random, labelled 0.

    There are ``negative_samples`` times as many of these. Word 0 is passed over. ``sampling_table`` says how likely a word is
    taken as the first of a pair, see ``make_sampling_table``; labels are [0, 1] and [1, 0] with ``categorical``. Numbers are
    Python's: ``random.seed`` repeats them, ``seed`` fixes the order of the result (and seeds them anew).

    >>> import minitape as tf
    >>> tf.keras.preprocessing.sequence.skipgrams([1, 2, 3], 4, window_size=1, negative_samples=0, shuffle=False)
    ([[1, 2], [2, 1], [2, 3], [3, 2]], [1, 1, 1, 1])
    """
    couples = [
        [word, other]
        for i, word in enumerate(sequence)
        if word and (sampling_table is None or sampling_table[word] >= random.random())
        for j, other in enumerate(sequence[max(0, i - window_size) : i + window_size + 1], max(0, i - window_size))
        if j != i and other
    ]
    true, false = ([0, 1], [1, 0]) if categorical else (1, 0)
    labels: list[Any] = [true] * len(couples)
    if negative_samples > 0:
        count = int(len(couples) * negative_samples)
        words = [word for word, _ in couples]
        random.shuffle(words)
        couples += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [false] * count
    if shuffle:
        seed = random.randint(0, 10**7) if seed is None else seed
        for items in (couples, labels):
            random.seed(seed)  # Python's numbers go on from here, as they do after Keras's function
            random.shuffle(items)
    return couples, labels
