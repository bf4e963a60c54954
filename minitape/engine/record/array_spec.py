"""The shape and dtype that a recording keeps instead of an array that no rule reads."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..types import NumPyType, Sizes


class ArraySpec:
    """The shape and dtype of an array that was not kept, because no rule reads its elements.

    Rules receive it in place of the array, so it has the attributes of an array that need no elements.

    Attributes:
        shape: The sizes of the axes.
        dtype: The NumPy dtype.
        ndim: The number of axes.
        size: The number of elements.
    """

    def __init__(self, shape: Sizes, dtype: np.dtype) -> None:
        """Store the shape and dtype. `get_array_spec` does so once for equal arguments."""
        self.shape, self.dtype = shape, dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    @cached_property
    def zeros(self) -> np.ndarray:
        """A read-only array of zeros, for code that needs an array of this shape but reads no element."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)

    def conj(self) -> ArraySpec:
        """Return the spec of the complex conjugate, which is the same spec."""
        return self

    def __array__(self, dtype: NumPyType | None = None, copy: bool | None = None) -> np.ndarray:
        """Refuse to convert the spec to an array.

        Raises:
            RuntimeError: Always, because a rule reads an array that its primitive did not list in `keep`.
        """
        raise RuntimeError("a rule reads an array that was not kept: its primitive's `keep` does not name it")


get_array_spec = lru_cache(4096)(ArraySpec)
