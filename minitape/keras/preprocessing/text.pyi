"""The names of `tf.keras.preprocessing.text`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras.tokenizer import (
    Tokenizer as Tokenizer,
    text_to_word_sequence as text_to_word_sequence,
)
