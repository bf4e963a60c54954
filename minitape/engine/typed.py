"""What type checkers and editors cannot see for themselves: operators that are installed while minitape loads.

At run time there is nothing here: the classes are ``object``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeAlias, TypeVar

Given = ParamSpec("Given")  # the arguments and the result of a function that a decorator gives back as it was
Made = TypeVar("Made")
Same = TypeVar("Same", bound=Callable[..., Any])  # a function that a decorator gives back with another name, say

if TYPE_CHECKING:
    from .recording.evidence import Note
    from .recording.record import Record
    from .tensor.tensor import Reference, Tensor
    from .values.dtypes import DType
    from .values.shape import TensorShape

    # What Python has no type for has one name each, here, with the reason; elsewhere ``Any`` is the exception.
    Array: TypeAlias = Any  # an array, a NumPy scalar, a number, in rules a tensor: one formula takes all, Python has no type for that
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
    Assigned: TypeAlias = Any  # the variable, None without ``read_value``, in a graph the operation that assigns
    NumPyType: TypeAlias = Any  # a scalar type or dtype of NumPy's; ``object`` for text
    Leaving: TypeAlias = Any  # an ``Exit``: a property, in which type checkers do not see the end of a block
    Sizes: TypeAlias = tuple[int, ...]  # of axes, or their numbers
    Index: TypeAlias = Any  # what NumPy takes as an index: slices, numbers, arrays, None, ... or a tuple of them
    Attributes: TypeAlias = dict[str, Any]  # of an operation, or arguments by name: each has a type of its own
    Function: TypeAlias = Callable[..., Any]  # of arguments and results that only its caller knows

    class Values(Protocol):
        """The values of a recording's rows: arrays, or the tensors that an outer tape knows."""

        def __getitem__(self, row: int, /) -> Adjoint: ...

    class Operators:
        """A class that computes, and whose other attributes are not all written down."""

        __add__: Function
        __radd__: Function
        __sub__: Function
        __rsub__: Function
        __mul__: Function
        __rmul__: Function
        __truediv__: Function
        __rtruediv__: Function
        __floordiv__: Function
        __rfloordiv__: Function
        __mod__: Function
        __rmod__: Function
        __pow__: Function
        __rpow__: Function
        __matmul__: Function
        __rmatmul__: Function
        __and__: Function
        __rand__: Function
        __or__: Function
        __ror__: Function
        __xor__: Function
        __rxor__: Function
        __lt__: Function
        __le__: Function
        __gt__: Function
        __ge__: Function
        __neg__: Function
        __abs__: Function
        __invert__: Function
        __getitem__: Function
        __iter__: Function
        __len__: Function
        __float__: Function
        __int__: Function
        __index__: Function

        def __getattr__(self, name: str) -> Object: ...

    class TensorOperators(Operators):
        """A class that computes tensors."""

        def __add__(self, other: Value, /) -> Tensor: ...
        def __radd__(self, other: Value, /) -> Tensor: ...
        def __sub__(self, other: Value, /) -> Tensor: ...
        def __rsub__(self, other: Value, /) -> Tensor: ...
        def __mul__(self, other: Value, /) -> Tensor: ...
        def __rmul__(self, other: Value, /) -> Tensor: ...
        def __truediv__(self, other: Value, /) -> Tensor: ...
        def __rtruediv__(self, other: Value, /) -> Tensor: ...
        def __floordiv__(self, other: Value, /) -> Tensor: ...
        def __rfloordiv__(self, other: Value, /) -> Tensor: ...
        def __mod__(self, other: Value, /) -> Tensor: ...
        def __rmod__(self, other: Value, /) -> Tensor: ...
        def __pow__(self, other: Value, /) -> Tensor: ...
        def __rpow__(self, other: Value, /) -> Tensor: ...
        def __matmul__(self, other: Value, /) -> Tensor: ...
        def __rmatmul__(self, other: Value, /) -> Tensor: ...
        def __and__(self, other: Value, /) -> Tensor: ...
        def __rand__(self, other: Value, /) -> Tensor: ...
        def __or__(self, other: Value, /) -> Tensor: ...
        def __ror__(self, other: Value, /) -> Tensor: ...
        def __xor__(self, other: Value, /) -> Tensor: ...
        def __rxor__(self, other: Value, /) -> Tensor: ...
        def __lt__(self, other: Value, /) -> Tensor: ...
        def __le__(self, other: Value, /) -> Tensor: ...
        def __gt__(self, other: Value, /) -> Tensor: ...
        def __ge__(self, other: Value, /) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    class TensorMembers(TensorOperators):
        """What eager tensors and those of graphs both have."""

        _record: Record | None
        _row: int
        _origin: Note

        @property
        def shape(self) -> TensorShape: ...
        @property
        def dtype(self) -> DType: ...
        @property
        def ndim(self) -> int: ...
        @property
        def name(self) -> str: ...
        @property
        def device(self) -> str: ...

        def numpy(self) -> Array: ...
        def get_shape(self) -> TensorShape: ...
        def set_shape(self, shape: ShapeLike) -> None: ...
        def ref(self) -> Reference: ...
        def __getitem__(self, key: Index, /) -> Tensor: ...

else:
    Operators = TensorOperators = TensorMembers = object
