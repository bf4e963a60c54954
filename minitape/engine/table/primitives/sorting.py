"""Declare the primitive that finds the largest elements along the last axis."""

import numpy as np

from ...types import Array
from ...values.argument_errors import build_argument_error
from . import TABLE, declare, scatter  # noqa: F401 - the rules use its primitives
from .shaping import create_constant_like_adjoint


def _argsort_descending(x: Array) -> Array:
    """Return the positions that would sort the elements in descending order.

    Equal elements keep their order, and NaNs are last.
    """
    return np.argsort(~x if x.dtype.kind in "iu" else -x.astype(np.float64), axis=-1, kind="stable")


def _compute_top_k(x: Array, *, k: int) -> tuple[Array, Array]:
    if x.ndim < 1 or not 0 <= k <= x.shape[-1]:
        raise build_argument_error(
            f"input must have at least k columns, but k is {k} and the shape is {x.shape}", "TopKV2"
        )
    positions = _argsort_descending(x)[..., :k]
    return np.take_along_axis(x, positions, -1), positions.astype(np.int32)


def _apply_top_k_rule(g: Array, z: Array, x: Array, *, k: int) -> Array:
    axes = np.indices(tuple(z[1].shape), np.int32)[:-1]  # The indices along all axes except the last.
    places = TABLE["stack"](*[create_constant_like_adjoint(g[0], axis) for axis in axes], z[1], axis=-1)
    return TABLE["scatter_nd"](places, g[0], shape=tuple(x.shape))


declare("top_k", _compute_top_k, [_apply_top_k_rule], op="TopKV2", label="top k", keep="z")
