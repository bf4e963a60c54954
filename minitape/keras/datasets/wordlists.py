"""The texts of ``imdb`` and ``reuters``: all made up."""

from __future__ import annotations

from .madeup import Part, texts, word_index

IMDB_WORDS, REUTERS_WORDS = 88_584, 30_979


def imdb(path: str = "imdb.npz", num_words: int | None = None, skip_top: int = 0, maxlen: int | None = None, seed: int = 113,
              start_char: int | None = 1, oov_char: int | None = 2, index_from: int = 3) -> tuple[Part, Part]:  # fmt: skip
    """Texts as lists of the numbers of their words, with labels. They are made up; ``path`` has no effect.

    A text begins with ``start_char``; words are numbered from ``index_from`` on, the most frequent first. ``oov_char`` stands
    for words below ``skip_top`` or from ``num_words`` on (None: they are left out). Texts of ``maxlen`` words and more are
    left out. ``seed`` shuffles the texts.

    >>> import minitape as tf
    >>> (x, y), (x_test, y_test) = tf.keras.datasets.imdb.load_data(num_words=1000)
    >>> len(x), len(x_test), x.dtype.name, y.dtype.name, x[0][0], max(map(max, x)) < 1000
    (25000, 25000, 'object', 'int64', 1, True)
    """
    return texts("imdb", 2, IMDB_WORDS, (25_000, 25_000), num_words, skip_top, maxlen, seed, start_char, oov_char, index_from)


def imdb_words(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The number of each word. The words are made up; ``path`` has no effect.

    >>> import minitape as tf
    >>> tf.keras.datasets.imdb.get_word_index()["word7"]
    7
    """
    return word_index(IMDB_WORDS)


def reuters(path: str = "reuters.npz", num_words: int | None = None, skip_top: int = 0, maxlen: int | None = None, test_split: float = 0.2, seed: int = 113,
              start_char: int | None = 1, oov_char: int | None = 2, index_from: int = 3) -> tuple[Part, Part]:  # fmt: skip
    """Texts as lists of the numbers of their words, with labels. They are made up; ``path`` has no effect.

    A text begins with ``start_char``; words are numbered from ``index_from`` on, the most frequent first. ``oov_char`` stands
    for words below ``skip_top`` or from ``num_words`` on (None: they are left out). Texts of ``maxlen`` words and more are
    left out. ``seed`` shuffles the texts.

    >>> import minitape as tf
    >>> (x, y), (x_test, y_test) = tf.keras.datasets.reuters.load_data(num_words=1000)
    >>> len(x), len(x_test), x.dtype.name, y.dtype.name, x[0][0], max(map(max, x)) < 1000
    (8982, 2246, 'object', 'int64', 1, True)
    """
    if not 0 <= test_split < 1:
        raise ValueError(f"`test_split` must be at least 0 and less than 1. Received: test_split={test_split}")
    tested = 11_228 - int(11_228 * (1 - test_split))
    return texts("reuters", 46, REUTERS_WORDS, (11_228 - tested, tested), num_words, skip_top, maxlen, seed, start_char, oov_char, index_from)


def reuters_words(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The number of each word. The words are made up; ``path`` has no effect.

    >>> import minitape as tf
    >>> tf.keras.datasets.reuters.get_word_index()["word7"]
    7
    """
    return word_index(REUTERS_WORDS)


def get_label_names() -> tuple[str, ...]:
    """The 46 kinds of news of ``reuters``, in the order of its labels.

    >>> import minitape as tf
    >>> tf.keras.datasets.reuters.get_label_names()[:3]
    ('cocoa', 'grain', 'veg-oil')
    """
    return tuple(_NEWS.split())


_NEWS = (
    "cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship cotton carcass crude nat-gas cpi "
    "money-fx interest gnp meal-feed alum oilseed gold tin strategic-metal livestock retail ipi iron-steel rubber heat jobs lei bop zinc "
    "orange pet-chem dlr gas silver wpi hog lead"
)
