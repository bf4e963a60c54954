"""Half precision, and the limits of dtypes, for the primitives."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...types import Array, Function, Object


def wrap_half_in_single(function: Function) -> Function:
    """Let a function compute float16 in float32, as TensorFlow does; the result has the dtype of the
    first input.
    """

    @functools.wraps(function)
    def compute_wide(x: Array, *others: Array, **attrs: Object) -> Array:
        dtype = x.dtype
        if dtype.itemsize != 2 or dtype.kind in "iu":
            return function(x, *others, **attrs)
        return function(
            *[array.astype(np.float32) if array.dtype == dtype else array for array in (x, *others)], **attrs
        ).astype(dtype)

    return compute_wide


def get_extreme_value_of_dtype(dtype: np.dtype, sign: int = -1) -> Array:
    """Return the least number of a NumPy dtype, from which a search for the largest one begins; with sign 1 the other
    end.
    """
    if dtype.kind not in "iu":
        return dtype.type(sign * np.inf)
    return np.iinfo(dtype).min if sign < 0 else np.iinfo(dtype).max
