"""``tf.linalg``: products, norms, decompositions, diagonals. Here is which module holds which function."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.linalg", {
    "ops.clipping": "global_norm",
    "tf.linalg.products": "einsum l2_normalize matmul matvec norm normalize tensordot",
    "tf.linalg.decompositions": "adjoint band_part cholesky cholesky_solve cross det diag diag_part eigh eigvalsh expm "
                             "inv logdet lstsq matrix_rank matrix_transpose pinv qr set_diag slogdet solve svd "
                             "tensor_diag tensor_diag_part trace triangular_solve",
    "tf.linalg.factors": "banded_triangular_solve eig eigh_tridiagonal eigvals logm lu lu_matrix_inverse lu_reconstruct "
                      "lu_solve sqrtm tridiagonal_matmul tridiagonal_solve",
    "ops.filling": "eye",
}, globals())  # fmt: skip
