"""The names of `tf.tf.linalg`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.ops.clipping import (
    global_norm as global_norm,
)
from minitape.ops.filling import (
    eye as eye,
)
from minitape.tf.linalg.decompositions import (
    adjoint as adjoint,
    band_part as band_part,
    cholesky as cholesky,
    cholesky_solve as cholesky_solve,
    det as det,
    diag as diag,
    diag_part as diag_part,
    inv as inv,
    logdet as logdet,
    matrix_transpose as matrix_transpose,
    set_diag as set_diag,
    slogdet as slogdet,
    solve as solve,
    tensor_diag as tensor_diag,
    trace as trace,
    triangular_solve as triangular_solve,
)
from minitape.tf.linalg.products import (
    einsum as einsum,
    l2_normalize as l2_normalize,
    matmul as matmul,
    matvec as matvec,
    norm as norm,
    normalize as normalize,
    tensordot as tensordot,
)
