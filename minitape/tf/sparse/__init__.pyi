"""The names of `tf.tf.sparse`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.sparse.functions import (
    from_dense as from_dense,
    reduce_sum as reduce_sum,
    sparse_dense_matmul as sparse_dense_matmul,
    to_dense as to_dense,
)
from minitape.tf.sparse.tensor import (
    SparseTensor as SparseTensor,
)
