"""The shape and dtype that a recording holds in place of an array that no rule reads."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..types import NumPyType, Sizes


class ArraySpec:
    """The shape and dtype of an array that was not kept, because no rule reads its elements."""

    def __init__(self, shape: Sizes, dtype: np.dtype) -> None:
        self.shape, self.dtype = shape, dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    @cached_property
    def zeros(self) -> np.ndarray:
        """An array of this shape, for who needs one and reads no element."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)

    def conj(self) -> ArraySpec:
        """The spec of the conjugate."""
        return self

    def __array__(self, dtype: NumPyType | None = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError("a rule reads an array that was not kept: its primitive's `keep` does not name it")


get_array_spec = lru_cache(4096)(ArraySpec)
