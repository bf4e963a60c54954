"""``TextVectorization``: texts as numbers of their words."""

from __future__ import annotations

from typing import Any

from ... import tf
from ..serial import reading
from .lookup import OLD_MODES, OfText, StringLookup, batches, one_of

_PUNCTUATION = r"""[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']"""


class TextVectorization(OfText):
    """Texts as numbers: made uniform, split into words, and looked up in a vocabulary.

    ``standardize`` is "lower_and_strip_punctuation", "lower", "strip_punctuation", None or a function of a tensor; ``split`` is
    "whitespace", "character", None or a function; ``ngrams`` is the largest number of words of a token, or a tuple of them. Of
    ``output_mode`` "int" the rows are padded with 0 to one length, that of ``output_sequence_length`` if it is given;
    unknown words are 1. The other modes, ``adapt`` and the vocabulary are as in ``StringLookup``. ``encoding`` is "utf-8". Not differentiable.
    Raises ValueError for ``sparse``, ``ragged`` and for arguments that contradict each other.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.TextVectorization(output_sequence_length=4)
    >>> layer.adapt(["the cat sat", "the dog"])
    >>> layer(["The cat!", "a dog ran to the cat"]).numpy().tolist(), " ".join(layer.get_vocabulary()[2:])
    ([[2, 5, 0, 0], [1, 4, 1, 1]], 'the sat dog cat')
    """

    def __init__(
        self, max_tokens: int | None = None, standardize: Any = "lower_and_strip_punctuation", split: Any = "whitespace",
        ngrams: Any = None, output_mode: str = "int", output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False, vocabulary: Any = None, idf_weights: Any = None, sparse: bool = False,
        ragged: bool = False, encoding: str = "utf-8", name: str | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        one_of(self, "standardize", standardize, ("lower_and_strip_punctuation", "lower", "strip_punctuation"))
        one_of(self, "split", split, ("whitespace", "character"))
        output_mode = OLD_MODES.get(output_mode, output_mode)
        if not (ngrams is None or isinstance(ngrams, int) or (isinstance(ngrams, tuple) and all(isinstance(n, int) for n in ngrams))):
            raise ValueError(f"`ngrams` must be None, an integer, or a tuple of integers. Received: ngrams={ngrams}")
        if output_mode == "int" and not isinstance(output_sequence_length, (int, type(None))):
            raise ValueError("`output_sequence_length` must be either None or an integer when `output_mode` is 'int'. "
                             f"Received: output_sequence_length={output_sequence_length}")  # fmt: skip
        if output_mode != "int" and output_sequence_length is not None:
            raise ValueError("`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                             f"output_sequence_length={output_sequence_length}.")  # fmt: skip
        if ragged:
            raise ValueError(f"minitape's TextVectorization pads its rows. Received: ragged={ragged}")
        super().__init__(name=name, **kwargs)
        self._dtype = "string"
        self._lookup = StringLookup(
            max_tokens, mask_token="", vocabulary=vocabulary, idf_weights=idf_weights, output_mode=output_mode,
            pad_to_max_tokens=pad_to_max_tokens, sparse=sparse, encoding=encoding,
        )  # fmt: skip
        self.standardize, self.split, self.ngrams, self.ragged = standardize, split, ngrams, ragged
        self.output_mode, self.output_sequence_length, self.encoding = output_mode, output_sequence_length, encoding
        self.built = True

    def _preprocess(self, x: Any) -> Any:
        """The words of each text, as a ragged tensor (without splitting as they are)."""
        x = tf.convert_to_tensor(x)
        if callable(self.standardize):
            x = self.standardize(x)
        elif self.standardize is not None:
            x = tf.strings.lower(x, encoding="utf-8") if "lower" in self.standardize else x
            x = tf.strings.regex_replace(x, _PUNCTUATION, "") if "strip" in self.standardize else x
        if self.split is not None:
            if len(x.shape) > 1:
                if x.shape[-1] != 1:
                    raise ValueError("When using `TextVectorization` to tokenize strings, the input rank must be 1 or the "
                                     f"last shape dimension must be 1. Received: inputs.shape={x.shape} with "
                                     f"rank={len(x.shape)}")  # fmt: skip
                x = tf.squeeze(x, -1)
            if callable(self.split):
                x = self.split(x)
            else:
                x = tf.strings.split(x) if self.split == "whitespace" else tf.strings.unicode_split(x, "UTF-8")
        if self.ngrams is not None:
            widths = tuple(range(1, self.ngrams + 1)) if isinstance(self.ngrams, int) else self.ngrams
            x = tf.strings.ngrams(x, widths, " ")
        return x

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Learns the vocabulary from texts (a list, a tensor or batches); ``batch_size`` makes no difference."""
        self.reset_state()
        for batch in batches(data, steps):
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: Any) -> None:
        """Counts the words of a batch of texts.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.TextVectorization()
        >>> layer.update_state(["a tape", "the tape"])
        >>> layer.finalize_state()
        >>> [str(word) for word in layer.get_vocabulary()]
        ['', '[UNK]', 'tape', 'the', 'a']
        """
        self._lookup.update_state(self._preprocess(data))

    def finalize_state(self) -> None:
        """Makes the vocabulary of what was counted.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.TextVectorization()
        >>> layer.update_state(["a tape"])
        >>> before = layer.vocabulary_size()
        >>> layer.finalize_state()
        >>> before, layer.vocabulary_size()
        (2, 4)
        """
        self._lookup.finalize_state()

    def reset_state(self) -> None:
        """Forgets what was counted.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.TextVectorization()
        >>> layer.update_state(["forgotten"])
        >>> layer.reset_state()
        >>> layer.update_state(["tape"])
        >>> layer.finalize_state()
        >>> [str(word) for word in layer.get_vocabulary()]
        ['', '[UNK]', 'tape']
        """
        self._lookup.reset_state()

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """The words, each at the place of its number."""
        return self._lookup.get_vocabulary(include_special_tokens)

    def vocabulary_size(self) -> int:
        """How many words there are, with the special ones.

        >>> import minitape as tf
        >>> tf.keras.layers.TextVectorization(vocabulary=["tape", "graph"]).vocabulary_size()  # and two special ones
        4
        """
        return self._lookup.vocabulary_size()

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Takes these words, in this order; see ``StringLookup``.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.TextVectorization()
        >>> layer.set_vocabulary(["tape", "graph"])
        >>> layer(["Graph and tape!"]).numpy()
        array([[3, 1, 2]])
        """
        self._lookup.set_vocabulary(vocabulary, idf_weights)

    def call(self, inputs: Any) -> Any:
        """The numbers of the words of each text, or a vector for each text."""
        x = tf.convert_to_tensor(inputs)
        batch = x.shape[0] if len(x.shape) else None
        if self.output_mode == "int":
            return self._when_run(self._numbered, x, [batch, self.output_sequence_length], tf.int64)
        size = self._lookup._depth()
        return self._when_run(lambda t: self._lookup._encoded(self._preprocess(t)), x, [batch, size], tf.as_dtype(self._lookup._kind()))

    def _numbered(self, x: Any) -> Any:
        found = self._lookup(self._preprocess(x))
        length = self.output_sequence_length
        if hasattr(found, "flat_values"):
            return found.to_tensor(shape=[None] * (len(found.shape) - 1) + [length])
        if length is None or not len(found.shape):
            return found
        found = found[..., :length]
        room = [[0, 0]] * (len(found.shape) - 1) + [[0, length - found.shape[-1]]]
        return tf.pad(found, room)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this, with the vocabulary that it has."""
        own = ("standardize split ngrams output_mode output_sequence_length ragged encoding").split()
        inner = self._lookup.get_config()
        shared = ("max_tokens", "pad_to_max_tokens", "sparse", "vocabulary", "idf_weights")
        return {**super().get_config(), **{n: getattr(self, n) for n in own}, **{n: inner[n] for n in shared}}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer with these arguments; ValueError for a vocabulary that is the path of a file."""
        if isinstance(config.get("ngrams"), list):
            config = {**config, "ngrams": tuple(config["ngrams"])}
        with reading():
            return super().from_config(config)
