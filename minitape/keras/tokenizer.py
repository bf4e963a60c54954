"""``Tokenizer``: texts as lists of the numbers of their words, the commonest word first."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'
_MODES = ("binary", "count", "freq", "tfidf")


def text_to_word_sequence(input_text: str, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[str]:
    """The words of a text: what ``split`` and the characters of ``filters`` divide.

    >>> import minitape as tf
    >>> tf.keras.preprocessing.text.text_to_word_sequence("The cat, the dog!")
    ['the', 'cat', 'the', 'dog']
    """
    text = input_text.lower() if lower else input_text
    return [word for word in text.translate(str.maketrans(dict.fromkeys(filters, split))).split(split) if word]


class Tokenizer:
    """Numbers the words of texts: ``fit_on_texts`` counts them, and the commonest is 1. 0 is no word.

    ``word_index`` and ``index_word`` say which number is which word, ``word_counts`` and ``word_docs`` how often a word came and in how
    many of the ``document_count`` texts. Words are those of ``text_to_word_sequence``, or characters with ``char_level``, or what
    ``analyzer`` makes of a text; a text may be a list of words, too. Only numbers below ``num_words`` are used: other words
    are left out, or have the number 1 of ``oov_token``.
    See https://www.tensorflow.org/api_docs/python/tf/keras/preprocessing/text/Tokenizer.

    >>> import minitape as tf
    >>> tokenizer = tf.keras.preprocessing.text.Tokenizer(oov_token="?")
    >>> tokenizer.fit_on_texts(["the cat sat", "the dog"])
    >>> tokenizer.texts_to_sequences(["The bird sat."])
    [[2, 1, 4]]
    >>> tokenizer.sequences_to_texts([[2, 1, 4]])
    ['the ? sat']
    >>> tokenizer.texts_to_matrix(["the cat"], mode="count")
    array([[0., 0., 1., 1., 0., 0.]])
    >>> tokenizer.sequences_to_matrix([[2, 3, 3]], mode="freq").round(2)
    array([[0.  , 0.  , 0.33, 0.67, 0.  , 0.  ]])
    """

    def __init__(
        self, num_words: int | None = None, filters: str = _FILTERS, lower: bool = True, split: str = " ",
        char_level: bool = False, oov_token: str | None = None, analyzer: Callable[[str], Sequence[str]] | None = None,
    ) -> None:  # fmt: skip
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.analyzer = char_level, oov_token, analyzer
        self.word_counts: collections.OrderedDict[str, int] = collections.OrderedDict()
        self.word_docs: dict[str, int] = collections.defaultdict(int)
        self.index_docs: dict[int, int] = collections.defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}
        self.document_count = 0

    def _words(self, text: Any) -> Sequence[str]:
        if self.analyzer is not None:
            return self.analyzer(text)
        if isinstance(text, list):
            return [word.lower() for word in text] if self.lower else text
        if self.char_level:
            return text.lower() if self.lower else text
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Counts the words of texts, in addition to those before, and numbers them anew."""
        for text in texts:
            words = self._words(text)
            self.document_count += 1
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        ranked = sorted(self.word_counts, key=lambda word: -self.word_counts[word])
        names = ranked if self.oov_token is None else [self.oov_token, *ranked]
        self.word_index = {word: number for number, word in enumerate(names, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def _is_used(self, number: int | None) -> bool:
        return number is not None and not (self.num_words and number >= self.num_words)

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """The numbers of the words of each text."""
        other = None if self.oov_token is None else self.word_index.get(self.oov_token)
        rows = ([self.word_index.get(word) for word in self._words(text)] for text in texts)
        used = ([number if self._is_used(number) else other for number in row] for row in rows)
        return [[number for number in row if number is not None] for row in used]

    def sequences_to_texts(self, sequences: Iterable[Iterable[int]]) -> list[str]:
        """The words of each list of numbers, with spaces between them."""
        rows = ([self.index_word.get(number) if self._is_used(number) else None for number in row] for row in sequences)
        known = ([self.oov_token if word is None else word for word in row] for row in rows)
        return [" ".join(word for word in row if word is not None) for row in known]

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> Any:
        """A row for each text and a column for each number; see ``sequences_to_matrix``."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> Any:
        """A row for each list and a column for each number: how often it comes, in one of four ways.

        "binary" is 1 for once and more, "count" the count, "freq" that by the length of the list, "tfidf" (1 + log count) * log(1 +
        texts / (1 + texts with the word)). ValueError for another one, and where no texts were counted.
        """
        if not (self.num_words or self.word_index):
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        width = self.num_words or len(self.word_index) + 1
        out = np.zeros((len(sequences), width))
        for row, sequence in zip(out, sequences, strict=True):
            for number, count in collections.Counter(n for n in sequence if n < width).items():
                row[number] = self._weight(number, count, len(sequence), mode)
        return out

    def _weight(self, number: int, count: int, length: int, mode: str) -> float:
        if mode not in _MODES:
            raise ValueError("Unknown vectorization mode:", mode)
        if mode == "tfidf":
            return (1 + np.log(count)) * np.log(1 + self.document_count / (1 + self.index_docs.get(number, 0)))
        return {"binary": 1, "count": count, "freq": count / length}[mode]
