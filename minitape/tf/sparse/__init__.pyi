"""The names of `tf.tf.sparse`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

from minitape.tf.sparse.arithmetic import (
    add as add,
    map_values as map_values,
    maximum as maximum,
    minimum as minimum,
    softmax as softmax,
    sparse_dense_matmul as sparse_dense_matmul,
)
from minitape.tf.sparse.functions import (
    concat as concat,
    expand_dims as expand_dims,
    eye as eye,
    fill_empty_rows as fill_empty_rows,
    from_dense as from_dense,
    mask as mask,
    reorder as reorder,
    reset_shape as reset_shape,
    reshape as reshape,
    retain as retain,
    slice as slice,
    split as split,
    to_dense as to_dense,
    to_indicator as to_indicator,
    transpose as transpose,
)
from minitape.tf.sparse.reductions import (
    bincount as bincount,
    reduce_max as reduce_max,
    reduce_sum as reduce_sum,
)
from minitape.tf.sparse.segments import (
    segment_mean as segment_mean,
    segment_sqrt_n as segment_sqrt_n,
    segment_sum as segment_sum,
)
from minitape.tf.sparse.tensor import (
    SparseTensor as SparseTensor,
)
