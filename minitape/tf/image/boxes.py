"""Boxes in images: which of those that overlap are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.evidence import decided
from ...engine.invalid import invalid, shown
from ...engine.operands import strict, tensor_of
from ...engine.state import state
from ...engine.tensor import Tensor, wrap

_OP = "NonMaxSuppressionV3"


@strict
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The numbers of the best boxes, of which no two overlap by more than ``iou_threshold``: int32, best first.

    ``boxes`` is a float matrix with two opposite corners (y1, x1, y2, x2) in each row, ``scores`` has a number for each.
    At most ``max_output_size`` are kept, only with more than ``score_threshold``. Overlap is the area that two boxes
    share by that which they cover together. Not differentiable: gather the boxes by the numbers. Raises
    InvalidArgumentError for shapes that do not fit, a threshold outside [0, 1] and a ``max_output_size`` below 0.

    >>> import minitape as tf
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]]
    >>> tf.image.non_max_suppression(boxes, [0.5, 0.9, 0.4], max_output_size=2).numpy()
    array([1, 2], dtype=int32)
    """
    count = tensor_of(max_output_size, dtypes.int32)
    floats = [tensor_of(x, dtypes.float32) for x in (boxes, scores, iou_threshold, score_threshold)]
    given = [*floats[:2], count, *floats[2:]]
    if state.graph is not None:
        from ...graphs.effects import later

        return later(_run, tuple(given), [([None], dtypes.int32)])[0]
    return decided(_run(*given)[0], tuple(given[:2]), _OP)


def _run(*given: Tensor) -> list[Any]:
    boxes, scores, most, overlap, lowest = (t.array for t in given)
    _check(boxes, scores, most, overlap)
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    areas = np.prod(high - low, axis=1)
    kept: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        if len(kept) >= most or not scores[i] > lowest:
            break
        shared = np.prod(np.maximum(np.minimum(high[i], high[kept]) - np.maximum(low[i], low[kept]), 0), axis=1)
        covered = areas[i] + areas[kept] - shared
        solid = (areas[i] > 0) & (areas[kept] > 0)  # a box without an area overlaps with nothing
        if not np.any(solid & (shared > overlap * covered)):
            kept.append(int(i))
    return [wrap(np.array(kept, np.int32))]


def _check(boxes: Any, scores: Any, most: Any, overlap: Any) -> None:
    if most.ndim:
        rank = f"(Shape must be rank 0 but is rank {most.ndim})"
        raise invalid(f"max_output_size must be 0-D, got shape {shown(most.shape)} {rank}", _OP)
    if most < 0:
        raise invalid("output size must be non-negative", _OP)
    if not 0 <= overlap <= 1:
        raise invalid("iou_threshold must be in [0, 1]", _OP)
    if boxes.ndim != 2:
        raise invalid(f"boxes must be 2-D{shown(boxes.shape)} (Shape must be rank 2 but is rank {boxes.ndim})", _OP)
    if boxes.shape[1] != 4:
        raise invalid(f"boxes must have 4 columns (Dimension must be 4 but is {boxes.shape[1]})", _OP)
    if scores.ndim != 1:
        raise invalid(f"scores must be 1-D{shown(scores.shape)} (Shape must be rank 1 but is rank {scores.ndim})", _OP)
    if scores.shape != boxes.shape[:1]:
        sizes = f"Dimensions must be equal, but are {len(boxes)} and {len(scores)}"
        raise invalid(f"scores has incompatible shape ({sizes})", _OP)
