"""The primitive that finds the largest elements along the last axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.invalid import invalid
from . import TABLE, declare, scatter  # noqa: F401 - its primitives are in the rules

if TYPE_CHECKING:
    from ...types import Array
    from ...values.dtypes import DType


def _order(x: Array) -> Array:
    """Positions from the largest element to the smallest, equal ones as they come; NaN is last."""
    return np.argsort(~x if x.dtype.kind in "iu" else -x.astype(np.float64), axis=-1, kind="stable")


def _top_k(x: Array, *, k: int, sorted: bool = True, index_type: DType | None = None) -> Array:
    if x.ndim < 1 or not 0 <= k <= x.shape[-1]:
        raise invalid(f"input must have at least k columns: k is {k}, its shape {x.shape}", "TopKV2")
    positions = _order(x)[..., :k]
    if not sorted and k < x.shape[-1]:
        positions = np.sort(positions, axis=-1)
    wide = np.int32 if index_type is None else index_type.as_numpy_dtype
    return np.take_along_axis(x, positions, -1), positions.astype(wide)


def _top_k_rule(g: Array, z: Array, x: Array, *, k: int, sorted: bool = True, index_type: DType | None = None) -> Array:
    rows = len(x.shape) - 1
    return TABLE["scatter_axis"](g[0], z[1], axis=rows, batch_dims=rows, shape=tuple(x.shape))


declare("top_k", _top_k, [_top_k_rule], op="TopKV2", label="top k", keep="z")
