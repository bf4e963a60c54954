"""The names of `tf.tf.lookup`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.tf.tables import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    StaticHashTable as StaticHashTable,
    StaticVocabularyTable as StaticVocabularyTable,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)
experimental: _Any
