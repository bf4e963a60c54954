"""Types for checkers and editors, which do not see the operators that are installed while minitape loads.

At run time there is nothing here: the classes are ``object``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeAlias, TypeVar

Params = ParamSpec("Params")  # the arguments and the result of a function that a decorator gives back as it was
Returned = TypeVar("Returned")
Decorated = TypeVar("Decorated", bound=Callable)  # a function that a decorator gives back with another name, say

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import SupportsIndex

    import numpy as np

    from .record.provenance import Note
    from .record.record import Record
    from .tensor.tensor import Reference, Tensor
    from .tensor.variable import ResourceVariable
    from .values.dtypes import DType
    from .values.shape import TensorShape

    # What Python has no type for has one name each, here, with the reason; elsewhere ``Any`` is the exception.
    # an array, a NumPy scalar, a number, in rules a tensor: one formula takes all, Python has no type for that
    Array: TypeAlias = Any
    Adjoint: TypeAlias = Any  # an array, or a tensor in a sweep that is recorded: one formula takes both
    AdjointLookup: TypeAlias = Callable[[int], Adjoint]  # the adjoint that has arrived at a row, None where none has
    # a tensor, or a tuple of several: the primitive says which
    Result: TypeAlias = Any
    # what becomes a tensor: one, a variable, array, number, text, lists of them, what converts itself
    Value: TypeAlias = Any
    # a target or a source: a tensor, a variable, or a composite tensor of the packages above; of a known shape, which
    # the union of the three does not say
    TargetOrSource: TypeAlias = Any
    VariableOrNone: TypeAlias = (
        Any  # the variable, or None where it is asked not to be read: editors would ask of each which
    )
    # nested lists, tuples, dictionaries, named tuples, ... of tensors or other leaves, or one leaf
    Structure: TypeAlias = Any
    DTypeLike: TypeAlias = DType | np.dtype | type | str | None  # what ``as_dtype`` reads; None: as the value is
    # what ``TensorShape`` reads: a shape, sizes, None, tensors that hold sizes
    ShapeLike: TypeAlias = TensorShape | Tensor | np.ndarray | Sequence | int | None
    Object: TypeAlias = Any  # an object of other code, of which attributes are read that it may not have
    Columns: TypeAlias = list[list]  # of a recording: op, a, b, call, site, value
    NumPyType: TypeAlias = type[Any]  # of scalars; ``object`` for text
    ExitProperty: TypeAlias = Callable[..., bool | None]  # an ``InterruptSafeExit``: an ``__exit__`` that is a property
    GraphName: TypeAlias = str | None  # of an operation in a graph of TensorFlow 1; elsewhere functions do without
    Sizes: TypeAlias = tuple[int, ...]  # of axes, or their numbers
    # what NumPy takes as an index, and tensors and variables
    Index: TypeAlias = SupportsIndex | slice | EllipsisType | np.ndarray | Tensor | ResourceVariable | Sequence | None
    Attributes: TypeAlias = dict[str, Any]  # of an operation, or arguments by name: each has a type of its own
    Function: TypeAlias = Callable  # of arguments and results that only its caller knows

    class GradientSource(Protocol):
        """The source of a gradient: a tensor or a variable, also one of Keras."""

        @property
        def shape(self) -> TensorShape: ...
        def numpy(self) -> np.ndarray: ...  # or, of a scalar, a number of NumPy, which has the same methods

    AnySource = TypeVar("AnySource", bound=GradientSource)
    Key = TypeVar("Key")

    class ExplanationResult(Protocol):
        """The answer of ``tape.explain`` for one source: see minitape.explain.Explanation."""

        connected: bool
        cause: str
        message: str
        fix: str
        filename: str | None
        line: int | None
        patch: str | None
        patch_line: int | None

        @property
        def kind(self) -> str: ...
        @property
        def others(self) -> Sequence[ExplanationResult]: ...

    class TracedRun(Protocol):
        """The first run of a function, see minitape.functions.first_run: what the engine tells it and asks it."""

        tensor_refs: list  # weak references to its tensors
        has_values: bool  # not zeros in their place

        def enter_outside_tensor(self, tensor: Tensor, site: int | None) -> int: ...
        def refuse_or_guard_value(self, tensor: Tensor, access: str = ...) -> None: ...
        def find_symbolic_name(self, row: int) -> str | None: ...
        def initialize_variable(self, variable: ResourceVariable, *arguments: Object) -> None: ...
        def find_or_add_state(self, variable: ResourceVariable) -> Tensor: ...
        def assign_variable(self, variable: ResourceVariable, change: Tensor, method: str) -> None: ...

    class RowValues(Protocol):
        """The values of a recording's rows: arrays, or the tensors that an outer tape knows."""

        def __getitem__(self, row: int, /) -> Adjoint: ...

    class TensorOperators:
        """A class that computes tensors."""

        @property
        def shape(self) -> TensorShape: ...
        def numpy(self) -> np.ndarray: ...  # or, of a scalar, a number of NumPy, which has the same methods
        def _binary(self, other: Value, /) -> Tensor: ...
        def _unary(self) -> Tensor: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _binary
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _binary
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = _binary
        __neg__ = __abs__ = __invert__ = _unary

        def __getitem__(self, key: Index, /) -> Tensor: ...
        def __iter__(self) -> Iterator[Tensor]: ...
        def __len__(self) -> int: ...
        def __float__(self) -> float: ...
        def __int__(self) -> int: ...
        def __index__(self) -> int: ...

    class TensorMembers(TensorOperators):
        """The members that all tensors have."""

        _value: Array
        _record: Record | None
        _row: int
        _origin: Note

        @property
        def dtype(self) -> DType: ...
        @property
        def _dims(self) -> Sizes: ...
        @property
        def ndim(self) -> int: ...
        @property
        def name(self) -> str: ...
        @property
        def device(self) -> str: ...

        @property
        def array(self) -> Array: ...
        def _numpy(self) -> Array: ...
        def _format_value(self, formatter: Callable[[Array], str] = ...) -> str: ...
        def __array__(self, dtype: NumPyType | None = None, copy: bool | None = None) -> np.ndarray: ...
        def ref(self) -> Reference: ...

    class VariableSlice(Tensor):
        """A part of a variable: a tensor, by which that part is changed."""

        def assign(self, value: Value) -> ResourceVariable: ...

else:
    TensorOperators = TensorMembers = object
