"""The names of `tf.sparse`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.composites import (
    sparse_dense_matmul as sparse_dense_matmul,
    to_dense as to_dense,
)
