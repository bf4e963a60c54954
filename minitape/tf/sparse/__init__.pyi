"""The names of `tf.tf.sparse`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.engine.tensor import (
    Tensor as _Tensor,
)
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
from minitape.tf.sparse.tensor import (
    SparseTensor as SparseTensor,
)
def segment_mean(data: _Any, indices: _Any, segment_ids: _Any, num_segments: _Any = None, name: _Any = None, sparse_gradient: _Any = False) -> _Tensor:
    """The mean of the rows ``data[indices]`` that have the same segment id; zeros for an id that is not there."""

def segment_sqrt_n(data: _Any, indices: _Any, segment_ids: _Any, num_segments: _Any = None, name: _Any = None, sparse_gradient: _Any = False) -> _Tensor:
    """The sum of the rows ``data[indices]`` with the same segment id, divided by the root of their number."""

def segment_sum(data: _Any, indices: _Any, segment_ids: _Any, num_segments: _Any = None, name: _Any = None, sparse_gradient: _Any = False) -> _Tensor:
    """The sum of the rows ``data[indices]`` that have the same segment id; zeros for an id that is not there."""

