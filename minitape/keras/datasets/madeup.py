"""Data that are made up: images with a pattern for each class, texts with words of their class, rows with a linear law."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.logs import log_first_n

Part = tuple[Any, Any]  # inputs and labels


def told(name: str) -> None:
    """Says once of a data set that it is not the real one."""
    text = f"tf.keras.datasets.{name} gives made-up data in the shapes and types of the real ones: minitape loads nothing from the network."
    log_first_n(f"datasets {name}", text, 1)


def images(name: str, shape: tuple[int, ...], classes: int, counts: tuple[int, int]) -> tuple[Part, Part]:
    """Bytes: the pattern of the class and noise; labels are whole numbers."""
    told(name)
    rng = np.random.default_rng(sum(map(ord, name)))
    patterns = rng.integers(0, 192, (classes, *shape), dtype=np.uint8)

    def part(count: int) -> Part:
        labels = rng.integers(0, classes, count)
        pixels = np.frombuffer(rng.bytes(count * patterns[0].size), np.uint8).reshape(count, *shape) & 63
        pixels += patterns[labels]
        return pixels, labels

    return part(counts[0]), part(counts[1])


def rows(name: str, columns: int, counts: int, test_split: float, seed: int, dtype: str) -> tuple[Part, Part]:
    """Rows of numbers, and what a linear law with noise makes of each; ``seed`` shuffles them."""
    if not 0 <= test_split < 1:
        raise ValueError(f"`test_split` must be at least 0 and less than 1. Received: test_split={test_split}")
    told(name)
    rng = np.random.default_rng(sum(map(ord, name)))
    x = rng.normal(size=(counts, columns)) * rng.uniform(1.0, 9.0, columns) + rng.uniform(0.0, 20.0, columns)
    law = (x - x.mean(axis=0)) / x.std(axis=0) @ rng.normal(size=columns)
    y = 22.0 + 2.0 * law + rng.normal(size=counts)
    order = np.random.default_rng(seed).permutation(counts)
    x, y, cut = x[order].astype(dtype), y[order].astype(dtype), int(counts * (1 - test_split))
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


def texts(name: str, classes: int, words: int, counts: tuple[int, int], num_words: int | None, skip_top: int, maxlen: int | None,
          seed: int, start_char: int | None, oov_char: int | None, index_from: int) -> tuple[Part, Part]:  # fmt: skip
    """Lists of the numbers of words: frequent words have small ones, and each class has words that it likes.

    A text begins with ``start_char``, words are numbered from ``index_from`` on, and ``oov_char`` stands for those below
    ``skip_top`` and from ``num_words`` on (None: they are left out). Texts of ``maxlen`` words and more are left out.
    """
    told(name)
    rng = np.random.default_rng(sum(map(ord, name)))
    liked = rng.integers(1, 1000, (classes, 40))
    most = words + index_from + 1 if num_words is None else num_words

    def known(numbers: Any) -> Any:
        return (numbers >= skip_top) & (numbers < most)

    def shown(numbers: Any) -> list[int]:
        kept = numbers[known(numbers)] if oov_char is None else np.where(known(numbers), numbers, oov_char)
        return kept.tolist()

    start = [] if start_char is None else shown(np.array([start_char]))

    def part(count: int) -> Part:
        labels, lengths = rng.integers(0, classes, count), rng.integers(20, 240, count)
        drawn = np.minimum(rng.zipf(1.3, lengths.sum()), words)
        label_of = np.repeat(labels, lengths)[::4]
        drawn[::4] = liked[label_of, rng.integers(0, 40, len(label_of))]
        made = [[*start, *shown(each)] for each in np.split(drawn + index_from, np.cumsum(lengths)[:-1])]
        order = [i for i in np.random.default_rng(seed).permutation(count) if maxlen is None or len(made[i]) < maxlen]
        inputs = np.empty(len(order), object)
        inputs[:] = [made[i] for i in order]
        return inputs, labels[order]

    return part(counts[0]), part(counts[1])


def word_index(words: int) -> dict[str, int]:
    """Made-up words, each with its number; the most frequent one has 1."""
    return {f"word{number}": number for number in range(1, words + 1)}
