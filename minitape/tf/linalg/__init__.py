"""``tf.linalg``: products, norms, decompositions, diagonals. Here is which module holds which function."""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.linalg",
    {
        "tf.linalg.products": "l2_normalize matmul matvec norm tensordot",
        "tf.linalg.decompositions": "det diag diag_part inv solve tensor_diag trace",
        "ops.filling": "eye",
    },
    globals(),
)
