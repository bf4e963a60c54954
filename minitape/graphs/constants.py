"""Python values that become constants of a graph: there NumPy makes them, and refuses them in other words."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.dtypes import DType, as_dtype

_KINDS = {
    "f": (numbers.Real, np.integer, np.floating), "i": (numbers.Integral, np.integer),
    "u": (numbers.Integral, np.integer), "b": (bool,), "c": (numbers.Complex, np.number), "s": (str, bytes),
}  # fmt: skip
_ADVICE = ("Consider casting elements to a supported type. See https://www.tensorflow.org/api_docs/python/tf/dtypes for "
           "supported TF dtypes.")  # fmt: skip


def graph_array(value: Any, dtype: DType | None, error: Exception) -> np.ndarray:
    """What a graph makes of a value that eager mode refused with ``error``: an array, or an error in a graph's words.

    A bool is a number here, and numbers of several kinds mix. Raises TypeError for an element that does not fit
    ``dtype`` or is of no known type, ValueError for None and for sequences that are not rectangular.
    """
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, (np.ndarray, np.generic)):
        raise error
    if dtype is not None:
        odd = _first_misfit(value, _KINDS.get(dtype.kind, (object,)))
        if odd is not None:
            raise TypeError(f"Expected {dtype.name}, but got {odd[0]} of type '{type(odd[0]).__name__}'.")
    try:
        array = np.array(value, None if dtype is None or dtype.kind == "s" else dtype.as_numpy_dtype)
    except (ValueError, TypeError) as failure:
        if isinstance(failure, ValueError) and "inhomogeneous" not in str(failure):
            raise
        array = np.array(None)
    if array.dtype.kind in "SUO":
        if any(not isinstance(leaf, (str, bytes)) for leaf in _leaves(value)):
            if array.shape == () and isinstance(value, (list, tuple)) and not _odd_leaves(value):
                raise error
            raise TypeError(f"Failed to convert elements of {value} to Tensor. {_ADVICE}")
        raise error
    if dtype is None and array.dtype == np.float64:
        return array.astype(np.float32)
    if dtype is None and array.dtype == np.int64 and (array.astype(np.int32) == array).all():
        return array.astype(np.int32)
    as_dtype(array.dtype)
    return array


def _leaves(value: Any) -> Sequence[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, (list, tuple)) else [value]


def _odd_leaves(value: Any) -> bool:
    return any(not isinstance(leaf, (numbers.Number, np.generic, str, bytes)) for leaf in _leaves(value))


def _first_misfit(value: Any, kinds: Any) -> tuple[Any] | None:
    """The first leaf that is of none of the kinds."""
    return next(((leaf,) for leaf in _leaves(value) if not isinstance(leaf, kinds)), None)
