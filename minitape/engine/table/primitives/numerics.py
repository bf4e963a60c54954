"""Provide helpers for half precision and for the extreme values of dtypes."""

from functools import wraps

import numpy as np

from ...types import Array, Function, Object


def wrap_to_compute_half_in_float32(function: Function) -> Function:
    """Make a function compute half-precision inputs in float32, as in TensorFlow.

    Args:
        function: A function whose positional arguments are arrays.

    Returns:
        A function with the same parameters. If the first input is float16 or bfloat16, the result has the same dtype.
    """

    @wraps(function)
    def compute_wide(x: Array, *others: Array, **attrs: Object) -> Array:
        dtype = x.dtype
        if dtype.itemsize != 2 or dtype.kind in "iu":
            return function(x, *others, **attrs)
        wide_inputs = [array.astype(np.float32) if array.dtype == dtype else array for array in (x, *others)]
        return function(*wide_inputs, **attrs).astype(dtype)

    return compute_wide


def get_extreme_value_of_dtype(dtype: np.dtype, sign: int) -> Array:
    """Return the smallest or largest value of a NumPy dtype.

    The search for the largest element of an array starts from the smallest value.

    Args:
        dtype: The dtype.
        sign: -1 for the smallest value, 1 for the largest value.

    Returns:
        The value, which is infinite for floating dtypes.
    """
    if dtype.kind not in "iu":
        return dtype.type(sign * np.inf)
    return np.iinfo(dtype).min if sign < 0 else np.iinfo(dtype).max
