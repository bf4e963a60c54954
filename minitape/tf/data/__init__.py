"""``tf.data``: datasets. Here is which module holds which name."""

from ..namespace import Namespace as _Namespace
from ..namespace import lazy as _lazy

experimental = _Namespace("tf.data.experimental", {
    "data.choosing": "Counter choose_from_datasets sample_from_datasets",
    "data.files": "CsvDataset make_csv_dataset",
    "data.options": "cardinality dense_to_ragged_batch",
    "data.recipe": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
})  # fmt: skip

__getattr__, __dir__ = _lazy("tf.data", {
    "data.dataset": "Dataset",
    "data.files": "TextLineDataset",
    "data.options": "Options",
    "data.recipe": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY Iterator=DatasetIterator",
}, globals())  # fmt: skip
