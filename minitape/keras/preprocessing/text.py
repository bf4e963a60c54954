"""``tf.keras.preprocessing.text``: texts as numbers, as older programs make them."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.preprocessing.text", {
    "keras.tokenizer": "Tokenizer text_to_word_sequence",
}, globals())  # fmt: skip
