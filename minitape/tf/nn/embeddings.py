"""Embeddings: rows of a table by their numbers."""

from __future__ import annotations

from typing import Any

from ...engine.tensor.tensor import Tensor
from ...ops.operands import call, deferred, tensor_of


@deferred
def embedding_lookup(params: Any, ids: Any, *, name: str | None = None) -> Tensor:
    """The rows of a table at ``ids``, in the shape of ``ids`` followed by that of a row.

    Differentiable in ``params``: the gradient is an IndexedSlices. ``params`` may be a list of tables, one after the
    other. InvalidArgumentError for an id that is not there.

    >>> import minitape as tf
    >>> print(tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1, 0]).numpy().tolist())
    [[3.0, 4.0], [1.0, 2.0]]
    """
    from ...ops.picking import gather

    if hasattr(ids, "_map_values"):
        return ids._map_values(lambda numbers: embedding_lookup(params, numbers))
    if isinstance(params, (list, tuple)):
        params = call("concat", *[tensor_of(p) for p in params], axis=0)
    return call("identity", gather(params, ids))  # TensorFlow's is one step further, which orders its slices
