"""What type checkers and editors cannot see for themselves: operators that are installed while minitape loads.

At run time there is nothing here: the classes are ``object``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

Given = ParamSpec("Given")  # the arguments and the result of a function that a decorator gives back as it was
Made = TypeVar("Made")
Same = TypeVar("Same", bound=Callable[..., Any])

if TYPE_CHECKING:
    from .dtypes import DType
    from .shape import TensorShape
    from .tensor import Reference, Tensor

    # What Python has no type for has one name each, here, with the reason; elsewhere ``Any`` is the exception.
    Array: TypeAlias = Any  # an array, a NumPy scalar or a Python number: one formula takes all, NumPy's types keep them apart
    Adjoint: TypeAlias = Any  # an array; in its place a tensor in a recorded sweep, a batch in a Jacobian's, or slices
    Result: TypeAlias = Any  # a tensor, or a tuple of several: the primitive says which, and a graph's are of its own class
    Value: TypeAlias = Any  # what becomes a tensor: one, a variable, array, number, text, lists of them, what converts itself
    End: TypeAlias = Any  # a target or a source: a tensor, a variable, or a composite tensor of the rooms above
    Structure: TypeAlias = Any  # nested lists, tuples, dictionaries, named tuples, ... of tensors or other leaves, or one leaf
    DTypeLike: TypeAlias = Any  # what ``as_dtype`` reads: a DType, a NumPy or Python type, a name, a number
    ShapeLike: TypeAlias = Any  # what ``TensorShape`` reads: a shape, sizes, None, tensors that hold sizes
    Object: TypeAlias = Any  # somebody else's object, of which attributes are read that it may not have
    Graph: TypeAlias = Any  # the graph that is built: a recording, and more, of a room above the engine
    Columns: TypeAlias = list[list[Any]]  # of a recording: four of integers, and one of values
    Attributes: TypeAlias = dict[str, Any]  # of an operation, or arguments by name: each has a type of its own
    Function: TypeAlias = Callable[..., Any]  # of arguments and results that only its caller knows

    class Operators:
        """A class that computes, and whose other attributes are not all written down."""

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

    class TensorOperators(Operators):
        """A class that computes tensors."""

        def __add__(self, other: Any, /) -> Tensor: ...
        def __radd__(self, other: Any, /) -> Tensor: ...
        def __sub__(self, other: Any, /) -> Tensor: ...
        def __rsub__(self, other: Any, /) -> Tensor: ...
        def __mul__(self, other: Any, /) -> Tensor: ...
        def __rmul__(self, other: Any, /) -> Tensor: ...
        def __truediv__(self, other: Any, /) -> Tensor: ...
        def __rtruediv__(self, other: Any, /) -> Tensor: ...
        def __floordiv__(self, other: Any, /) -> Tensor: ...
        def __rfloordiv__(self, other: Any, /) -> Tensor: ...
        def __mod__(self, other: Any, /) -> Tensor: ...
        def __rmod__(self, other: Any, /) -> Tensor: ...
        def __pow__(self, other: Any, /) -> Tensor: ...
        def __rpow__(self, other: Any, /) -> Tensor: ...
        def __matmul__(self, other: Any, /) -> Tensor: ...
        def __rmatmul__(self, other: Any, /) -> Tensor: ...
        def __and__(self, other: Any, /) -> Tensor: ...
        def __rand__(self, other: Any, /) -> Tensor: ...
        def __or__(self, other: Any, /) -> Tensor: ...
        def __ror__(self, other: Any, /) -> Tensor: ...
        def __xor__(self, other: Any, /) -> Tensor: ...
        def __rxor__(self, other: Any, /) -> Tensor: ...
        def __lt__(self, other: Any, /) -> Tensor: ...
        def __le__(self, other: Any, /) -> Tensor: ...
        def __gt__(self, other: Any, /) -> Tensor: ...
        def __ge__(self, other: Any, /) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    class TensorMembers(TensorOperators):
        """What eager tensors and those of graphs both have."""

        shape: TensorShape
        dtype: DType
        ndim: int
        name: str
        device: str

        def numpy(self) -> Any: ...
        def get_shape(self) -> TensorShape: ...
        def set_shape(self, shape: Any) -> None: ...
        def ref(self) -> Reference: ...
        def __getitem__(self, key: Any, /) -> Tensor: ...

else:
    Operators = TensorOperators = TensorMembers = object
