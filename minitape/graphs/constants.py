"""Python values that become constants of a graph: there NumPy makes them, and refuses them in other words."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.dtypes import DType

_KINDS = {
    "f": (numbers.Real, np.integer, np.floating), "i": (numbers.Integral, np.integer),
    "u": (numbers.Integral, np.integer), "b": (bool,), "c": (numbers.Complex, np.number), "s": (str, bytes),
}  # fmt: skip
_ADVICE = ("Consider casting elements to a supported type. See https://www.tensorflow.org/api_docs/python/tf/dtypes for "
           "supported TF dtypes.")  # fmt: skip


def graph_array(value: Any, dtype: DType | None, error: Exception) -> np.ndarray:
    """What a graph makes of a value that eager mode refused with ``error``: bools are numbers there.

    In its words ValueError for None, TypeError for an element that does not fit ``dtype``.
    """
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, (np.ndarray, np.generic)):
        raise error
    kinds = (str, bytes, numbers.Number) if dtype is None else _KINDS.get(dtype.kind, (object,))
    odd = [leaf for leaf in _leaves(value) if not isinstance(leaf, kinds)]
    if odd and dtype is None:
        raise TypeError(f"Failed to convert elements of {value} to Tensor. {_ADVICE}")
    if odd and dtype is not None:
        raise TypeError(f"Expected {dtype.name}, but got {odd[0]} of type '{type(odd[0]).__name__}'.")
    if dtype is not None and dtype.kind in "fiu":
        return np.array(value, dtype.as_numpy_dtype)
    raise error


def _leaves(value: Any) -> Sequence[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, (list, tuple)) else [value]
