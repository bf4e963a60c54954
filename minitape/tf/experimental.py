"""``tf.experimental``: of its parts, the ones that shapes of ragged tensors need."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.experimental", {
    "tf.ragged.partition": "RowPartition",
    "tf.ragged.shape": "DynamicRaggedShape",
}, globals())  # fmt: skip
