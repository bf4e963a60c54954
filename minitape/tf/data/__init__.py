"""``tf.data``: datasets. Here is which module holds which name."""

from ...engine.namespace import Namespace as _Namespace
from ...engine.namespace import lazy as _lazy

experimental = _Namespace("tf.data.experimental", {
    "tf.data.choosing": "Counter choose_from_datasets sample_from_datasets",
    "tf.data.files": "CsvDataset make_csv_dataset",
    "tf.data.options": "cardinality dense_to_ragged_batch",
    "tf.data.recipe": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
})  # fmt: skip

__getattr__, __dir__ = _lazy("tf.data", {
    "tf.data.dataset": "Dataset",
    "tf.data.files": "TextLineDataset",
    "tf.data.options": "Options",
    "tf.data.recipe": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY Iterator=DatasetIterator",
}, globals())  # fmt: skip
