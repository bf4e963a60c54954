"""``tf.ragged``: making ragged tensors and what only they need. Here is which module holds which name."""

from ...engine.namespace import lazy as _lazy
from .versions import install as _install

_install()
__getattr__, __dir__ = _lazy("tf.ragged", {
    "tf.ragged.functions": "boolean_mask stack",
    "tf.ragged.mapping": "map_flat_values",
    "tf.ragged.making": "constant cross range row_splits_to_segment_ids segment_ids_to_row_splits "
                     "stack_dynamic_partitions",
}, globals())  # fmt: skip
