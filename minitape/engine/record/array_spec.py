"""Define the spec that a recording keeps in place of an array that no rule reads."""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import prod

import numpy as np
from numpy import ndarray

from ..types import NumPyType, OptionalFlag, Sizes


class ArraySpec:
    """The shape and dtype of an array that was not kept because no rule reads its elements.

    Rules receive the spec in place of the array, so it has all array attributes that do not depend on the elements.

    Attributes:
        shape: The sizes of the axes.
        dtype: The NumPy dtype.
        ndim: The number of axes.
        size: The number of elements.
    """

    def __init__(self, shape: Sizes, dtype: np.dtype):
        """Store the shape and dtype. `get_array_spec` shares one spec for equal arguments.

        Args:
            shape: The sizes of the axes.
            dtype: The NumPy dtype of the elements.
        """
        self.shape = shape
        self.dtype = dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: prod(self.shape))

    @cached_property
    def zeros(self) -> ndarray:
        """A read-only array of zeros, for code that needs an array of this shape but does not read its elements."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)

    def conj(self) -> ArraySpec:
        """Return the spec itself, because the complex conjugate has the same shape and dtype."""
        return self

    def __array__(self, dtype: NumPyType | None = None, copy: OptionalFlag = None) -> ndarray:
        """Raise an error instead of converting the spec to an array.

        Raises:
            RuntimeError: Always, because a rule should only read arrays that its primitive lists in `keep`.
        """
        raise RuntimeError("a rule reads an array that was not kept: its primitive's `keep` does not name it")


get_array_spec = lru_cache(4096)(ArraySpec)
