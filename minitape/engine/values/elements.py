"""The element type of an array or a tensor as a DType."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dtypes import _BY_NUMPY, DType, as_dtype

if TYPE_CHECKING:
    from ..typed import Array, NumPyType, Object


def dtype_of(value: Array) -> DType:
    """The DType of a NumPy array or scalar."""
    return dtype_of_numpy(value.dtype)


def dtype_of_numpy(dtype: NumPyType) -> DType:
    """The DType of a NumPy dtype."""
    found = _BY_NUMPY.get(dtype)
    return found if found is not None else as_dtype(dtype)


def dtype_of_any(value: Object) -> DType:
    """The DType of a tensor, array or NumPy scalar."""
    dtype = value.dtype
    return dtype if isinstance(dtype, DType) else dtype_of(value)
