"""Embeddings: rows of a table by their numbers, alone or combined as sparse and ragged tensors say."""

from __future__ import annotations

from typing import Any

from ... import tf
from ...engine import dtypes
from ...engine.operands import call, strict, tensor_of
from ...engine.state import state
from ...engine.tensor import Tensor

_COMBINERS = ("mean", "sqrtn", "sum")


@strict
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Tensor:
    """The rows of a table at ``ids``, in the shape of ``ids`` followed by that of a row.

    Differentiable in ``params``: the gradient is an IndexedSlices. ``params`` may be a list of tables, one after the
    other; ``max_norm`` limits the euclidean norm of each row. InvalidArgumentError for an id that is not there.

    >>> import minitape as tf
    >>> print(tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1, 0]).numpy().tolist())
    [[3.0, 4.0], [1.0, 2.0]]
    """
    from ...ops.clipping import clip_by_norm
    from ...ops.picking import gather

    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)):
        if not params:
            raise ValueError("Length of params is currently 0. Need at least one param.")
        params = tensor_of(params[0]) if len(params) == 1 else call("concat", *[tensor_of(p) for p in params], axis=0)
    rows = call("identity", gather(params, ids))  # TensorFlow's is one step further, which orders its slices
    if max_norm is None:
        return rows
    first = tensor_of(ids).ndim
    return clip_by_norm(rows, max_norm, axes=list(range(first, rows.ndim)))


@strict
def embedding_lookup_sparse(
    params: Any, sp_ids: Any, sp_weights: Any, combiner: str | None = None, max_norm: Any = None, name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """The rows of a table that each row of ``sp_ids`` names, combined into one: of shape [rows, *table.shape[1:]].

    ``sp_ids`` is a SparseTensor of integers in order, or a RaggedTensor, ``sp_weights`` None or the same with a weight for
    each. ``combiner`` is "sum" (of weight * row), "mean" (that by the sum of the weights; the default) or "sqrtn" (by the
    root of the sum of their squares). A row without ids gives zeros. Differentiable by ``params``, whose gradient is an
    IndexedSlices unless ``allow_fast_lookup``, and by the weights. ``params`` and ``max_norm`` are those of
    ``embedding_lookup``. TypeError for ids or weights of another kind, ValueError for another combiner or unlike numbers of them,
    InvalidArgumentError for an id that is not there. See https://www.tensorflow.org/api_docs/python/tf/nn/embedding_lookup_sparse.

    >>> import minitape as tf
    >>> table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> tf.nn.embedding_lookup_sparse(table, tf.ragged.constant([[0, 1], [2]]), None, combiner="sum").numpy()
    array([[4., 6.],
           [5., 6.]], dtype=float32)
    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    if isinstance(params, (list, tuple)) and len(params) == 1:
        params = params[0]
    _check_kind(sp_ids, f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    ids, segments = _entries(sp_ids)
    weights = None
    if sp_weights is not None:
        _check_kind(sp_weights, f"sp_weights must be either None or SparseTensor,got {type(sp_weights)}")
        weights = _entries(sp_weights)[0]
        ids.shape.assert_is_compatible_with(weights.shape)
    if weights is None and max_norm is None and not isinstance(params, (list, tuple)) and (allow_fast_lookup or not _recorded()):
        return _combined(tensor_of(params), ids, segments, combiner)
    ids, places = tf.unique(ids)
    rows = embedding_lookup(params, ids, max_norm)
    return _combined(rows, places, segments, combiner) if weights is None else _weighed(rows, places, segments, weights, combiner)


@strict
def safe_embedding_lookup_sparse(
    embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: str = "mean", default_id: Any = None,
    max_norm: Any = None, name: str | None = None, allow_fast_lookup: bool = False,
) -> Tensor:  # fmt: skip
    """The same without negative ids and (unless they are summed) ids whose weight is not positive.

    A row of which no id is left gives the row ``default_id`` of the table, or zeros. ``sparse_ids`` may have more than two axes: the
    rows along the last one are combined, and the result has all others. ValueError without ``embedding_weights``.

    >>> import minitape as tf
    >>> table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.nn.safe_embedding_lookup_sparse(table, tf.sparse.SparseTensor([[0, 0], [0, 1]], [1, -1], [2, 2])).numpy()
    array([[3., 4.],
           [0., 0.]], dtype=float32)
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if hasattr(sparse_ids, "to_sparse"):  # ragged
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = None if sparse_weights is None else sparse_weights.to_sparse()
    shape = sparse_ids.dense_shape
    flat = tf.stack([tf.reduce_prod(shape[:-1]), shape[-1]])
    sparse_ids = tf.sparse.reshape(sparse_ids, flat)
    kept = sparse_ids.values >= 0
    if sparse_weights is not None:
        weights = sparse_weights.values
        sparse_weights = tf.sparse.SparseTensor(sparse_ids.indices, weights, sparse_ids.dense_shape)
        kept = kept & (weights > 0) if combiner != "sum" else kept
        sparse_weights = tf.sparse.fill_empty_rows(tf.sparse.retain(sparse_weights, kept), tf.ones([], weights.dtype))[0]
    default = tf.cast(0 if default_id is None else default_id, sparse_ids.dtype)
    sparse_ids, empty = tf.sparse.fill_empty_rows(tf.sparse.retain(sparse_ids, kept), default)
    rows = embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner, max_norm, None, allow_fast_lookup)
    if default_id is None:
        rows = tf.where(tf.reshape(empty, [-1] + [1] * (rows.ndim - 1)), tf.zeros_like(rows), rows)
    return tf.reshape(rows, tf.concat([tf.cast(shape[:-1], dtypes.int32), tf.shape(rows)[1:]], 0))


def _check_kind(value: Any, words: str) -> None:
    from ..ragged.tensor import RaggedTensor  # which wants the functions of this module, for ragged versions of them
    from ..sparse.tensor import SparseTensor

    if not isinstance(value, (SparseTensor, RaggedTensor)):
        raise TypeError(words)


def _entries(value: Any) -> tuple[Any, Any]:
    """The values of a sparse or ragged tensor, and the number of the row of each."""
    if hasattr(value, "value_rowids"):  # ragged
        return value.values, value.value_rowids()
    return value.values, value.indices[:, 0]


def _recorded() -> bool:
    return bool(state.tapes) or state.graph is not None


def _combined(rows: Any, places: Any, segments: Any, combiner: str) -> Any:
    from ..sparse import segments as by_segment

    combine = {"sum": by_segment.segment_sum, "mean": by_segment.segment_mean, "sqrtn": by_segment.segment_sqrt_n}[combiner]
    return combine(rows, places, segments)


def _weighed(rows: Any, places: Any, segments: Any, weights: Any, combiner: str) -> Any:
    if state.graph is not None:  # which never knows how many rows there will be
        from ...graphs.effects import later

        sizes = tf.TensorShape([None]).concatenate(rows.shape[1:])
        parts = [rows, places, segments, weights]
        return later(lambda *given: [_weighed(*given, combiner=combiner)], parts, [(sizes, rows.dtype)])[0]
    rows = tf.gather(rows, places)
    weights = tf.reshape(tf.cast(weights, rows.dtype), [-1] + [1] * (rows.ndim - 1))
    total = tf.math.segment_sum(rows * weights, segments)
    if combiner == "sum":
        return total
    if combiner == "mean":
        return tf.math.divide_no_nan(total, tf.math.segment_sum(weights, segments))
    return tf.math.divide_no_nan(total, tf.sqrt(tf.math.segment_sum(weights * weights, segments)))
