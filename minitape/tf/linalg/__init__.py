"""``tf.linalg``: products, norms, decompositions, diagonals. Here is which module holds which function."""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.linalg",
    {
        "ops.clipping": "global_norm",
        "tf.linalg.products": "einsum l2_normalize matmul matvec norm normalize tensordot",
        "tf.linalg.decompositions": "adjoint band_part cholesky cholesky_solve det diag diag_part inv logdet "
        "matrix_transpose set_diag slogdet solve tensor_diag trace "
        "triangular_solve",
        "ops.filling": "eye",
    },
    globals(),
)
