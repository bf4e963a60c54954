"""The element type of an array or a tensor as a DType."""

from __future__ import annotations

from typing import Any

from .dtypes import _BY_NUMPY, DType, as_dtype


def dtype_of(value: Any) -> DType:
    """The DType of a NumPy array or scalar."""
    return dtype_of_numpy(value.dtype)


def dtype_of_numpy(dtype: Any) -> DType:
    """The DType of a NumPy dtype."""
    found = _BY_NUMPY.get(dtype)
    return found if found is not None else as_dtype(dtype)


def dtype_of_any(value: Any) -> DType:
    """The DType of a tensor, array or NumPy scalar."""
    dtype = value.dtype
    return dtype if isinstance(dtype, DType) else dtype_of(value)
