"""Layers that number words and integers: ``StringLookup`` and ``IntegerLookup``.

The vocabulary is a Python dictionary. Inside a graph the numbers are looked up when it runs; no gradient passes.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from typing import Any

import numpy as np

from ... import tf
from ...engine.invalid import invalid
from ..base import floatx, is_keras_tensor
from ..layer import Layer
from ..serial import in_safe_mode, reading

_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")
OLD_MODES = {"binary": "multi_hot", "tf-idf": "tf_idf"}


def one_of(layer: Any, name: str, value: Any, allowed: tuple[str, ...], or_else: str = "") -> None:
    """ValueError for a word that is not allowed."""
    if isinstance(value, str) and value not in allowed:
        raise ValueError(
            f"Unknown value for `{name}` argument of layer {type(layer).__name__}. {or_else}Allowed values are: {allowed}. "
            f"Received: {value}"
        )


class OfText(Layer):
    """A layer that is called with text or integers as they are, not with floats."""

    _keeps_dtype = True

    def __call__(self, inputs: Any, **kwargs: Any) -> Any:
        """The layer of a tensor, an array or a list; a symbolic tensor is noted."""
        if is_keras_tensor(inputs):
            return super().__call__(inputs, **kwargs)
        kwargs.pop("training", None)
        return self._run((inputs,), kwargs)

    def _when_run(self, function: Any, x: Any, shape: Any, dtype: Any) -> Any:
        """``function(x)``: now for a tensor with a value, in a graph when it runs."""
        if hasattr(x, "array") or hasattr(x, "flat_values"):
            return function(x)
        from ...engine.shape import TensorShape
        from ...graphs.effects import later

        return later(lambda t: [function(t)], (x,), [(TensorShape(shape), dtype)])[0]


class _Lookup(OfText):
    """What both kinds of lookup share."""

    _words = True
    _tokens: list[Any]
    _places: dict[Any, int]
    _counts: Counter[Any]
    _documents: Counter[Any]
    _seen: int

    def __init__(
        self, max_tokens: Any, num_oov_indices: int, mask_token: Any, oov_token: Any, vocabulary: Any, idf_weights: Any,
        invert: bool, output_mode: str, sparse: bool, pad_to_max_tokens: bool, name: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(f"If set, `max_tokens` must be greater than 1. Received: max_tokens={max_tokens}")
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError(f"If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens={max_tokens}")
        if num_oov_indices < 0:
            raise ValueError("`num_oov_indices` must be greater than or equal to 0. "
                             f"Received: num_oov_indices={num_oov_indices}")  # fmt: skip
        output_mode = OLD_MODES.get(output_mode, output_mode)
        one_of(self, "output_mode", output_mode, _MODES)
        if invert and output_mode != "int":
            raise ValueError(f"`output_mode` must be `'int'` when `invert` is true. Received: output_mode={output_mode}")
        if sparse:
            raise ValueError(f"minitape's {type(self).__name__} gives dense tensors only. Received: sparse={sparse}")
        if idf_weights is not None and output_mode != "tf_idf":
            raise ValueError("`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: "
                             f"idf_weights={idf_weights} and output_mode={output_mode}")  # fmt: skip
        super().__init__(name=name, **kwargs)
        self._dtype = "string" if self._words else "int64"
        self.max_tokens, self.num_oov_indices, self.mask_token = max_tokens, num_oov_indices, mask_token
        self.oov_token, self.invert, self.output_mode = oov_token, invert, output_mode
        self.sparse, self.pad_to_max_tokens = sparse, pad_to_max_tokens
        self._fixed = vocabulary is not None
        self._weights_of: Any = None
        self._take([])
        self.reset_state()
        self.built = True
        if vocabulary is not None:
            if output_mode == "tf_idf" and idf_weights is None:
                raise ValueError("When specifying the `vocabulary` argument, in TF-IDF output mode, the `idf_weights` "
                                 "argument must also be provided.")  # fmt: skip
            self.set_vocabulary(vocabulary, idf_weights)

    # -- vocabulary ---------------------------------------------------------------------------------------------------

    def _special(self) -> list[Any]:
        """The tokens before the vocabulary: the mask, where it has a number, and those for unknown ones."""
        masked = [self.mask_token] if self.mask_token is not None and self.output_mode == "int" else []
        return [*masked, *[self.oov_token] * self.num_oov_indices]

    def _plain(self, values: Any) -> list[Any]:
        """Tokens as Python values."""
        values = values.numpy() if hasattr(values, "numpy") else values
        flat = [v.item() if isinstance(v, np.generic) else v for v in np.asarray(values, object).reshape(-1)]
        return [v.decode() if isinstance(v, bytes) else v for v in flat]

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Takes these tokens, in this order; the special ones may stand before them. A text is the path of a file.

        Raises ValueError for no tokens, for repeated ones, for more than ``max_tokens``, and where the weights of
        "tf_idf" are missing or too many.

        >>> import minitape as tf
        >>> lookup = tf.keras.layers.StringLookup()
        >>> lookup.set_vocabulary(["tape", "graph"])
        >>> lookup(["graph", "else"]).numpy()
        array([2, 0])
        """
        if self.output_mode == "tf_idf" and idf_weights is None:
            raise ValueError("`idf_weights` must be set if output_mode is 'tf_idf'.")
        if self.output_mode != "tf_idf" and idf_weights is not None:
            raise ValueError(f"`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: output_mode="
                             f"{self.output_mode} and idf_weights={idf_weights}")  # fmt: skip
        if isinstance(vocabulary, str):
            if in_safe_mode():
                raise ValueError(
                    "Requested the loading of a vocabulary file outside of the model archive. This carries a potential risk of "
                    "loading arbitrary and sensitive files and thus it is disallowed by default. If you trust the source of the "
                    "artifact, you can override this error by passing `safe_mode=False` to the loading function. Vocabulary "
                    f"file: '{vocabulary}'"
                )
            if not os.path.exists(vocabulary):
                raise ValueError(f"Vocabulary file {vocabulary} does not exist.")
            with open(vocabulary, encoding="utf-8") as file:
                vocabulary = file.read().splitlines()
            vocabulary = vocabulary if self._words else [int(v) for v in vocabulary]
        given = self._plain(vocabulary)
        if not given:
            raise ValueError(f"Cannot set an empty vocabulary. Received: vocabulary={vocabulary}")
        special = self._special()
        tokens = given[len(special) :] if given[: len(special)] == special else given
        repeated = [token for token, count in Counter(tokens).items() if count > 1]
        if repeated:
            raise ValueError("The passed vocabulary has at least one repeated term. Please uniquify your dataset. "
                             f"The repeated terms are: {repeated}")  # fmt: skip
        size = len(special) + len(tokens)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError("Attempted to set a vocabulary larger than the maximum vocab size. Received vocabulary size "
                             f"is {size}; `max_tokens` is {self.max_tokens}.")  # fmt: skip
        if idf_weights is not None:
            weights = [float(w) for w in np.asarray(idf_weights)]
            if len(weights) != len(given):
                raise ValueError(f"`idf_weights` must be the same length as vocabulary. len(idf_weights) is "
                                 f"{len(weights)}; len(vocabulary) is {len(given)}")  # fmt: skip
            front = [] if len(tokens) < len(given) else [float(np.average(weights))] * len(special)
            self._weights_of = [*front, *weights]
        self._take(tokens)

    def _take(self, tokens: list[Any]) -> None:
        start = len(self._special())
        object.__setattr__(self, "_tokens", tokens)
        places = {(t.encode() if isinstance(t, str) else t): start + i for i, t in enumerate(tokens)}
        object.__setattr__(self, "_places", places)

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The tokens, each at the place of its number; without the special ones on demand."""
        kind = np.str_ if self._words else np.int64
        return [*(self._special() if include_special_tokens else []), *map(kind, self._tokens)]

    def vocabulary_size(self) -> int:
        """How many tokens there are, with the special ones.

        >>> import minitape as tf
        >>> tf.keras.layers.StringLookup(vocabulary=["tape", "graph"]).vocabulary_size()  # and [UNK]
        3
        """
        return len(self._special()) + len(self._tokens)

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Learns the vocabulary: the tokens of ``data`` (a tensor, a list or batches), the most frequent first.

        Of equally frequent ones the last in the order of the alphabet comes first. With ``steps`` so many batches.
        Raises ValueError for a layer that was given a vocabulary.

        >>> import minitape as tf
        >>> lookup = tf.keras.layers.StringLookup()
        >>> lookup.adapt(["graph", "tape", "tape"])
        >>> [str(word) for word in lookup.get_vocabulary()]
        ['[UNK]', 'tape', 'graph']
        """
        self.reset_state()
        for batch in batches(data, steps):
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: Any) -> None:
        """Counts the tokens of a batch, a document in each row.

        >>> import minitape as tf
        >>> lookup = tf.keras.layers.IntegerLookup()
        >>> lookup.update_state([5, 7])
        >>> lookup.update_state([7])
        >>> lookup.finalize_state()
        >>> [int(number) for number in lookup.get_vocabulary()]
        [-1, 7, 5]
        """
        if self._fixed:
            raise ValueError(f"Cannot adapt layer '{self.name}' after setting a static vocabulary via `vocabulary` argument "
                             "or `set_vocabulary()` method.")  # fmt: skip
        for row in _rows(data):
            found = self._plain(row)
            self._counts.update(found)
            self._documents.update(set(found))
            self._seen += 1

    def finalize_state(self) -> None:
        """Makes the vocabulary of what was counted.

        >>> import minitape as tf
        >>> lookup = tf.keras.layers.IntegerLookup()
        >>> lookup.update_state([5, 7, 7])
        >>> before = lookup.vocabulary_size()
        >>> lookup.finalize_state()
        >>> before, lookup.vocabulary_size()
        (1, 3)
        """
        if self._fixed or not self._counts:
            return
        for token in (self.mask_token, self.oov_token):
            self._counts.pop(token, None)
        tokens = sorted(self._counts, key=lambda t: (self._counts[t], t.encode() if isinstance(t, str) else t), reverse=True)
        room = None if self.max_tokens is None else self.max_tokens - len(self._special())
        self._take(tokens[:room])
        if self.output_mode == "tf_idf":
            weights = [math.log(1 + self._seen / (1 + self._documents[t])) for t in self._tokens]
            self._weights_of = [*[sum(weights) / len(weights)] * len(self._special()), *weights]
        self.reset_state()

    def reset_state(self) -> None:
        """Forgets what was counted, not the vocabulary.

        >>> import minitape as tf
        >>> lookup = tf.keras.layers.IntegerLookup()
        >>> lookup.update_state([5, 5])
        >>> lookup.reset_state()
        >>> lookup.update_state([7])
        >>> lookup.finalize_state()
        >>> [int(number) for number in lookup.get_vocabulary()]
        [-1, 7]
        """
        for name, empty in (("_counts", Counter()), ("_documents", Counter()), ("_seen", 0)):
            object.__setattr__(self, name, empty)  # no state that a layer keeps

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(self, inputs: Any) -> Any:
        """The numbers of the tokens (or the tokens of numbers, if inverted), encoded as ``output_mode`` says.

        Raises RuntimeError without a vocabulary.
        """
        if not self._tokens:
            raise RuntimeError(f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, you must set the "
                               "layer's vocabulary before calling it. Either pass a `vocabulary` argument to the layer, or "
                               "call `adapt` with some sample data.")  # fmt: skip
        key = "int64" if self.invert or not self._words else "string"
        x = inputs if hasattr(inputs, "flat_values") else tf.convert_to_tensor(inputs)
        if not hasattr(x, "flat_values") and key == "int64" and x.dtype.name != "int64":
            x = tf.cast(x, "int64")
        if self.output_mode == "int":
            kind = "string" if self.invert and self._words else "int64"
            return self._when_run(self._numbers, x, x.shape, tf.as_dtype(kind))
        shape = list(x.shape)
        shape = shape[:-1] if self.output_mode != "one_hot" or (len(shape) > 1 and shape[-1] == 1) else shape
        return self._when_run(self._encoded, x, [*shape, self._depth()], tf.as_dtype(self._kind()))

    def _kind(self) -> str:
        """The dtype of the vectors."""
        return floatx() if self.output_mode == "tf_idf" else "int64"

    def _depth(self) -> int:
        return self.max_tokens if self.pad_to_max_tokens else self.vocabulary_size()

    def _numbers(self, x: Any) -> Any:
        """The number of each token, whatever the shape."""
        if hasattr(x, "flat_values"):
            return tf.ragged.map_flat_values(self._numbers, x)
        array = x.numpy() if hasattr(x, "numpy") else x
        flat = np.asarray(array, object if self._words and not self.invert else None).reshape(-1).tolist()
        if self.invert:
            vocabulary = dict(enumerate(self.get_vocabulary()))
            found: Any = [vocabulary.get(v, self.oov_token) for v in flat]
            return tf.constant(found, "string" if self._words else "int64", shape=x.shape)
        places = [self._place(v) for v in flat]
        return tf.reshape(tf.constant(places, "int64", shape=[len(places)]), x.shape)

    def _place(self, token: Any) -> int:
        found = self._places.get(token)
        if found is not None:
            return found
        mask = self.mask_token.encode() if isinstance(self.mask_token, str) else self.mask_token
        if mask is not None and token == mask:
            return 0 if self.output_mode == "int" else -1
        if not self.num_oov_indices:
            raise invalid(f"When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values [{token!r}], "
                          "consider setting `num_oov_indices=1`.")  # fmt: skip
        first = len(self._special()) - self.num_oov_indices
        return first + (self._bucket(token) if self.num_oov_indices > 1 else 0)

    def _bucket(self, token: Any) -> int:
        if not self._words:
            return int(token % self.num_oov_indices)
        return int(tf.strings.to_hash_bucket_fast([token], self.num_oov_indices)[0])

    def _encoded(self, x: Any) -> Any:
        """The numbers as vectors with an element for each token."""
        depth = self._depth()
        if hasattr(x, "flat_values"):
            rows = [self._numbers(row).numpy() for row in x]
        else:
            numbers = self._numbers(x).numpy()
            if self.output_mode == "one_hot":
                numbers = numbers[..., 0] if numbers.ndim > 1 and numbers.shape[-1] == 1 else numbers
                return tf.constant((np.arange(depth) == numbers[..., None]).astype(np.int64))
            rows = list(numbers) if numbers.ndim > 1 else [numbers]
        counts = np.stack([np.bincount(row[row >= 0].reshape(-1), minlength=depth)[:depth] for row in rows])
        if self.output_mode == "multi_hot":
            counts = counts > 0
        if self.output_mode == "tf_idf":
            weights = np.zeros(depth)
            weights[: len(self._weights_of)] = self._weights_of
            counts = counts * weights
        counts = counts.astype(self._kind())
        flat = not hasattr(x, "flat_values") and len(x.shape) < 2
        return tf.constant(counts[0] if flat else counts, self._kind())

    _config = ""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer with these arguments; ValueError for a vocabulary that is the path of a file."""
        with reading():
            return super().from_config(config)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this, with the vocabulary that it has."""
        own = ("max_tokens num_oov_indices mask_token oov_token invert output_mode sparse pad_to_max_tokens").split()
        return {**super().get_config(), **{name: getattr(self, name) for name in own},
                "vocabulary": list(self._tokens) or None,
                "idf_weights": None if self._weights_of is None else list(self._weights_of)[len(self._special()) :]}  # fmt: skip


def batches(data: Any, steps: int | None) -> Any:
    """The batches of what a layer is adapted to: one, unless it is a dataset or another iterable."""
    if isinstance(data, (list, tuple, np.ndarray)) or hasattr(data, "numpy") or hasattr(data, "flat_values"):
        x = data if hasattr(data, "flat_values") else tf.convert_to_tensor(data)
        yield tf.expand_dims(x, -1) if len(x.shape) == 1 else x
        return
    for i, batch in enumerate(data):
        if steps is not None and i >= steps:
            return
        yield batch


def _rows(data: Any) -> list[Any]:
    """The documents of a batch: its rows; a vector is one."""
    if hasattr(data, "flat_values"):
        return list(data)
    x = tf.convert_to_tensor(data)
    array = np.asarray(x.numpy(), object)
    return [array] if array.ndim < 2 else list(array)


class StringLookup(_Lookup):
    """Numbers for words, from a ``vocabulary`` or from what ``adapt`` has seen; words for numbers with ``invert``.

    The first numbers are those of ``mask_token``, if there is one, and of unknown words (``num_oov_indices``; several are
    told apart by their hash). ``output_mode`` is "int", or "one_hot", "multi_hot", "count" or "tf_idf" for vectors as
    long as the vocabulary (as ``max_tokens`` with ``pad_to_max_tokens``). ``encoding`` is "utf-8". Not differentiable. Raises ValueError for
    ``sparse`` and for arguments that contradict each other.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    >>> layer([["b", "?"], ["a", "b"]]).numpy().tolist(), layer.vocabulary_size()
    ([[2, 0], [1, 2]], 3)
    """

    def __init__(
        self, max_tokens: int | None = None, num_oov_indices: int = 1, mask_token: Any = None, oov_token: str = "[UNK]",
        vocabulary: Any = None, idf_weights: Any = None, invert: bool = False, output_mode: str = "int",
        pad_to_max_tokens: bool = False, sparse: bool = False, encoding: str = "utf-8", name: str | None = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        if encoding.lower() != "utf-8":
            raise ValueError(f"minitape's StringLookup supports encoding='utf-8' only. Received: encoding={encoding}")
        super().__init__(max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert, output_mode,
                         sparse, pad_to_max_tokens, name, **kwargs)  # fmt: skip
        self.encoding = encoding

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this, with the vocabulary that it has."""
        return {**super().get_config(), "encoding": self.encoding}


class IntegerLookup(_Lookup):
    """Numbers for integers, from a ``vocabulary`` or from what ``adapt`` has seen; see ``StringLookup``.

    ``oov_token`` is what unknown numbers become with ``invert``. ``vocabulary_dtype`` is "int64". Not differentiable.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.IntegerLookup()
    >>> layer.adapt([7, 7, 12])
    >>> layer([12, 7, 100]).numpy(), [int(v) for v in layer.get_vocabulary()]
    (array([2, 1, 0]), [-1, 7, 12])
    """

    _words = False

    def __init__(
        self, max_tokens: int | None = None, num_oov_indices: int = 1, mask_token: Any = None, oov_token: int = -1,
        vocabulary: Any = None, vocabulary_dtype: str = "int64", idf_weights: Any = None, invert: bool = False,
        output_mode: str = "int", sparse: bool = False, pad_to_max_tokens: bool = False, name: str | None = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        if vocabulary_dtype != "int64":
            raise ValueError("If `output_mode` is 'int', `vocabulary_dtype` must be 'int64'; minitape's IntegerLookup has no "
                             f"other. Received: vocabulary_dtype={vocabulary_dtype}")  # fmt: skip
        super().__init__(max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert, output_mode,
                         sparse, pad_to_max_tokens, name, **kwargs)  # fmt: skip
        self.vocabulary_dtype = vocabulary_dtype

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this, with the vocabulary that it has."""
        return {**super().get_config(), "vocabulary_dtype": self.vocabulary_dtype}
