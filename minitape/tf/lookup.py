"""``tf.lookup``: tables from keys to values. Here is which module holds which class."""

from ..engine.namespace import Namespace as _Namespace
from ..engine.namespace import lazy as _lazy

experimental = _Namespace("tf.lookup.experimental", {"tf.tables": "MutableHashTable"})

__getattr__, __dir__ = _lazy("tf.lookup", {
    "tf.tables": "KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex TextFileInitializer",
}, globals())  # fmt: skip
