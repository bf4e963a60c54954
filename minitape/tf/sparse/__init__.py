"""``tf.sparse``: sparse tensors. Here is which module holds which name."""

from ...engine.namespace import lazy as _lazy
from .versions import install as _install

_install()
__getattr__, __dir__ = _lazy("tf.sparse", {
    "tf.sparse.arithmetic": "add map_values maximum minimum softmax sparse_dense_matmul",
    "tf.sparse.functions": "concat expand_dims eye fill_empty_rows from_dense mask reorder reset_shape reshape retain "
                        "slice split to_dense to_indicator transpose",
    "tf.sparse.reductions": "bincount reduce_max reduce_sum",
    "tf.sparse.segments": "segment_mean segment_sqrt_n segment_sum",
    "tf.sparse.tensor": "SparseTensor",
}, globals())  # fmt: skip
