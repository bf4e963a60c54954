"""What type checkers and editors can not see for themselves: operators that are installed while minitape loads.

At run time there is nothing here: ``Operators`` is ``object``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class Operators:
        """A class that computes like a tensor, and whose other attributes are not all written down."""

        __add__: Any
        __radd__: Any
        __sub__: Any
        __rsub__: Any
        __mul__: Any
        __rmul__: Any
        __truediv__: Any
        __rtruediv__: Any
        __floordiv__: Any
        __rfloordiv__: Any
        __mod__: Any
        __rmod__: Any
        __pow__: Any
        __rpow__: Any
        __matmul__: Any
        __rmatmul__: Any
        __and__: Any
        __rand__: Any
        __or__: Any
        __ror__: Any
        __xor__: Any
        __rxor__: Any
        __lt__: Any
        __le__: Any
        __gt__: Any
        __ge__: Any
        __neg__: Any
        __abs__: Any
        __invert__: Any
        __getitem__: Any
        __iter__: Any
        __len__: Any
        __float__: Any
        __int__: Any
        __index__: Any

        def __getattr__(self, name: str) -> Any: ...

else:
    Operators = object
