"""The names of `tf.keras.preprocessing.sequence`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

from minitape.keras.utils import (
    pad_sequences as pad_sequences,
)
