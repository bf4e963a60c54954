"""Sums and means of chosen rows by segment: ``tf.sparse.segment_sum`` and its siblings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from ...engine.dtypes import int32
from ...engine.invalid import at_run, invalid
from ...engine.opdefs import accept
from ...engine.operands import named, spelled
from ...engine.shape import TensorShape
from ...engine.state import state
from ...engine.tensor import Tensor
from ...graphs.effects import later
from .primitives import pick


def _segment(kind: str, doc: str) -> Any:
    """The function that makes of the chosen rows of each segment what ``tf.math.unsorted_segment_...`` of this kind does."""

    @spelled(f"sparse_segment_{kind}_v2")
    def function(
        data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
        sparse_gradient: bool = False,
    ) -> Tensor:  # fmt: skip
        from ...ops.picking import gather
        from .. import math

        op, given, data = f"SparseSegment{kind.title().replace('_', '')}", data, convert_to_tensor(data)
        picked, ids = (v if isinstance(v, Tensor) else convert_to_tensor(v, int32 if np.size(v) == 0 else None)
                       for v in (indices, segment_ids))  # fmt: skip
        accept(op, data.dtype, picked.dtype, ids.dtype)
        if num_segments is not None:
            op += "WithNumSegments"
        combine = getattr(math, f"unsorted_segment_{kind}")
        if state.graph is not None:
            rows, count = _in_graph(op, given, data, picked, ids, num_segments, sparse_gradient)
            if num_segments is None:  # TensorFlow never knows how many there are, not even of constants
                sizes = TensorShape([None]).concatenate(data.shape[1:])
                return later(lambda *given: [combine(*given)], [rows, ids, count], [(sizes, data.dtype)])[0]
        else:
            _check(op, data, picked.array, ids.array, num_segments)
            count = int(ids.array[-1]) + 1 if num_segments is None and len(ids.array) else int(num_segments or 0)
            rows = gather(given, picked) if sparse_gradient else pick(data, picked.array)
        return combine(rows, ids, count)

    return named(function, f"segment_{kind}", doc, __name__)


segment_sum = _segment("sum", """The sum of the rows ``data[indices]`` that have the same segment id; zeros for an id that is not there.

    ``data`` has at least one axis, ``indices`` and the sorted ``segment_ids`` are vectors of one length. The result has
    ``num_segments`` rows (by default the last id plus one) and the dtype of ``data``. Differentiable by ``data``; with
    ``sparse_gradient`` the gradient is an IndexedSlices. InvalidArgumentError for ids that fall, for an id or an index
    out of range, and for vectors of two lengths.

    >>> import minitape as tf
    >>> rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> tf.sparse.segment_sum(rows, [0, 1, 2], [0, 0, 1]).numpy()
    array([[4., 6.], [5., 6.]], dtype=float32)
    """)
segment_mean = _segment("mean", """The mean of the rows ``data[indices]`` that have the same segment id; zeros for an id that is not there.

    Arguments, gradient and errors are those of ``tf.sparse.segment_sum``, but ``data`` must be floating point.

    >>> import minitape as tf
    >>> rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> tf.sparse.segment_mean(rows, [0, 1, 2], [0, 0, 1]).numpy()
    array([[2., 3.], [5., 6.]], dtype=float32)
    """)
segment_sqrt_n = _segment("sqrt_n", """The sum of the rows ``data[indices]`` with the same segment id, divided by the root of their number.

    Arguments, gradient and errors are those of ``tf.sparse.segment_sum``, but ``data`` must be floating point.

    >>> import minitape as tf
    >>> tf.sparse.segment_sqrt_n([1.0, 2.0, 3.0, 4.0], [0, 1, 2, 3], [0, 0, 0, 0]).numpy()
    array([5.], dtype=float32)
    """)


def _in_graph(
    op: str, given: Any, data: Any, picked: Any, ids: Any, num_segments: Any, sparse_gradient: bool
) -> tuple[Any, Any]:
    """The chosen rows, and the number of segments, while a graph is built: its run checks the ids."""
    from ...ops.arrays import reshape, shape
    from ...ops.elementwise import maximum
    from ...ops.picking import gather
    from ...ops.reductions import reduce_max

    def check(rows: Any, chosen: Any, segments: Any, *most: Any) -> list[Any]:
        _check(op, rows, chosen.array, segments.array, most[0].array if most else None)
        return [chosen, most[0] if most else maximum(reduce_max(segments) + 1, 0)]

    if data.shape.rank == 0:
        raise invalid("Shape must be at least rank 1", op)
    most = () if num_segments is None else (convert_to_tensor(num_segments),)
    count = [(TensorShape([]), ids.dtype if num_segments is None else most[0].dtype)]
    checked, count = later(check, [data, picked, ids, *most], [(picked.shape, picked.dtype), *count], name=op)
    return gather(given if sparse_gradient else reshape(data, shape(data)), checked), count if num_segments is None else num_segments


def _check(op: str, data: Any, indices: Any, ids: Any, num_segments: Any) -> None:
    if data.shape.rank == 0:
        raise invalid("Shape must be at least rank 1", op)
    if indices.ndim != 1:
        raise invalid("indices should be a vector.", op)
    if ids.ndim != 1:
        raise invalid("segment_ids should be a vector.", op)
    if len(ids) != len(indices):
        raise invalid("segment_ids and indices should have same size.", op)
    if not len(ids):
        return
    if num_segments is not None and ids[-1] >= int(num_segments):
        raise at_run("segment ids must be < num_segments", op)
    if (np.diff(ids) < 0).any():
        raise at_run("segment ids are not increasing", op)
    if ids[0] < 0:
        limit = int(num_segments) if num_segments is not None else int(ids[-1]) + 1
        raise at_run(
            f"Segment id {ids[0]} out of range [0, {limit}), possibly because 'segment_ids' input is not sorted.", op
        )
    size = int(data.shape[0])
    outside = np.flatnonzero((indices < 0) | (indices >= size))
    if len(outside):
        at = outside[0]
        raise at_run(f"Bad: indices[{at}] == {indices[at]} out of range [0, {size})", op)
