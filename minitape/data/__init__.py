"""``tf.data``: datasets. Here is which module holds which name."""

from ..namespace import Namespace as _Namespace
from ..namespace import lazy as _lazy

experimental = _Namespace("tf.data.experimental", {
    "data.dataset": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY cardinality dense_to_ragged_batch",
})  # fmt: skip

__getattr__, __dir__ = _lazy("tf.data", {
    "data.dataset": "AUTOTUNE Dataset INFINITE_CARDINALITY Options UNKNOWN_CARDINALITY Iterator=DatasetIterator",
}, globals())  # fmt: skip
