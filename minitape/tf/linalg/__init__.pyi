"""The names of `tf.tf.linalg`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

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
    cross as cross,
    det as det,
    diag as diag,
    diag_part as diag_part,
    eigh as eigh,
    eigvalsh as eigvalsh,
    expm as expm,
    inv as inv,
    logdet as logdet,
    lstsq as lstsq,
    matrix_rank as matrix_rank,
    matrix_transpose as matrix_transpose,
    pinv as pinv,
    qr as qr,
    set_diag as set_diag,
    slogdet as slogdet,
    solve as solve,
    svd as svd,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
    triangular_solve as triangular_solve,
)
from minitape.tf.linalg.factors import (
    banded_triangular_solve as banded_triangular_solve,
    eig as eig,
    eigh_tridiagonal as eigh_tridiagonal,
    eigvals as eigvals,
    logm as logm,
    lu as lu,
    lu_matrix_inverse as lu_matrix_inverse,
    lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve,
    sqrtm as sqrtm,
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
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
