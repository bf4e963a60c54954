"""Types for type checkers and editors.

Checkers do not see the operators that minitape installs when it is imported, so classes here declare them. At run time
these classes are ``object``, and only ``Params``, ``Returned`` and ``Decorated`` exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeAlias, TypeVar

# A decorator that keeps the arguments and the result of a function uses Params and Returned for them. A decorator that
# returns the function itself uses Decorated.
Params = ParamSpec("Params")
Returned = TypeVar("Returned")
Decorated = TypeVar("Decorated", bound=Callable)

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

    # Each idea for which Python has no type has one name here, with the reason. Other modules rarely use ``Any``.

    # An array, a NumPy scalar, a number, or in rules a tensor. One formula computes with all of them.
    Array: TypeAlias = Any
    # An array, or a tensor in a recorded sweep. One formula computes with both.
    Adjoint: TypeAlias = Any
    # A function that returns the adjoint of a row, or None if the row has none.
    AdjointLookup: TypeAlias = Callable[[int], Adjoint]
    # A tensor, or a tuple of tensors. The number of outputs depends on the primitive.
    Result: TypeAlias = Any
    # A value that becomes a tensor: a tensor, variable, array, number or text, a list of them, or an object that
    # converts itself.
    Value: TypeAlias = Any
    # A tensor, a variable, or an object of a higher package that wraps one. A union of the three would not say that the
    # shape is known.
    TargetOrSource: TypeAlias = Any
    # A variable, or None after ``read_value=False``. With a union, checkers would ask every caller to distinguish them.
    VariableOrNone: TypeAlias = Any
    # A tensor or another leaf, or nested lists, tuples, dictionaries and named tuples of leaves.
    Structure: TypeAlias = Any
    # An argument of ``as_dtype``. None keeps the dtype of the value.
    DTypeLike: TypeAlias = DType | np.dtype | type | str | None
    # An argument of ``TensorShape``: a shape, sizes, None, or tensors that hold sizes.
    ShapeLike: TypeAlias = TensorShape | Tensor | np.ndarray | Sequence | int | None
    # An object of other code, which may lack the attributes that minitape reads.
    Object: TypeAlias = Any
    # The columns of a recording: op, a, b, call, site, value.
    Columns: TypeAlias = list[list]
    # A class of NumPy scalars; ``object`` for text.
    NumPyType: TypeAlias = type[Any]
    # An ``InterruptSafeExit``, which is an ``__exit__`` that is a property.
    ExitProperty: TypeAlias = Callable[..., bool | None]
    # The name of an operation, which only graphs of TensorFlow 1 use.
    GraphName: TypeAlias = str | None
    # Sizes or numbers of axes.
    Sizes: TypeAlias = tuple[int, ...]
    # An index of NumPy, a tensor or a variable.
    Index: TypeAlias = SupportsIndex | slice | EllipsisType | np.ndarray | Tensor | ResourceVariable | Sequence | None
    # The attributes of an operation, or arguments by name. Each has its own type.
    Attributes: TypeAlias = dict[str, Any]
    # A function whose arguments and result only its caller can check.
    Function: TypeAlias = Callable

    class GradientSource(Protocol):
        """The source of a gradient: a tensor or a variable, including variables of Keras."""

        @property
        def shape(self) -> TensorShape:
            """The shape of the value."""
            ...

        def numpy(self) -> np.ndarray:
            """Return the value as an array, or as a NumPy scalar, which has the same methods."""
            ...

    AnySource = TypeVar("AnySource", bound=GradientSource)
    Key = TypeVar("Key")

    class ExplanationResult(Protocol):
        """The answer of ``tape.explain`` for one source.

        Attributes:
            connected: Whether there is a gradient, even if it is zero or NaN.
            cause: Why the gradient is None, in one word.
            message: The cause in a sentence.
            fix: What to change, in a sentence.
            filename: The file of the statement that broke the chain; None if it is not a single statement.
            line: The line of the statement.
            patch: The corrected line, if the correction is a single line.
            patch_line: The line that ``patch`` replaces, if it is another than ``line``.
        """

        connected: bool
        cause: str
        message: str
        fix: str
        filename: str | None
        line: int | None
        patch: str | None
        patch_line: int | None

        @property
        def kind(self) -> str:
            """The kind of the cause, which is the same for all frameworks."""
            ...

        @property
        def others(self) -> Sequence[ExplanationResult]:
            """The explanations of further breaks."""
            ...

    class TracedRun(Protocol):
        """The first run of a ``tf.function``, as the engine uses it; see :mod:`minitape.functions.first_run`.

        Attributes:
            tensor_refs: Weak references to the tensors of the run.
            has_values: Whether tensors have the values of the run. While a gradient is recorded, zeros replace them.
        """

        tensor_refs: list
        has_values: bool

        def enter_outside_tensor(self, tensor: Tensor, site: int | None) -> int:
            """Write the row of a tensor that was created outside the run, and return the row."""
            ...

        def refuse_or_guard_value(self, tensor: Tensor, access: str = ...) -> None:
            """Raise an error or write a guard if Python reads a value that later calls may change."""
            ...

        def find_symbolic_name(self, row: int) -> str | None:
            """Return the name that a tensor shows instead of its value; None if it shows its value."""
            ...

        def initialize_variable(self, variable: ResourceVariable, *arguments: Object) -> None:
            """Initialize a variable that the function creates."""
            ...

        def find_or_add_state(self, variable: ResourceVariable) -> Tensor:
            """Return the state that a variable has at this point of the run."""
            ...

        def add_equal_state(self, variable: ResourceVariable) -> None:
            """Give a variable that was read before its watch an equal state with a row of its own."""
            ...

        def assign_variable(self, variable: ResourceVariable, change: Tensor, method: str) -> None:
            """Assign a new state to a variable."""
            ...

    class RowValues(Protocol):
        """The values of a recording's rows: arrays, or tensors that an outer tape records."""

        def __getitem__(self, row: int, /) -> Adjoint:
            """Return the value of a row."""
            ...

    class TensorOperators:
        """The operators and conversions of tensors and variables."""

        @property
        def shape(self) -> TensorShape:
            """The shape of the value."""
            ...

        def numpy(self) -> np.ndarray:
            """Return the value as an array, or as a NumPy scalar, which has the same methods."""
            ...

        def _binary(self, other: Value, /) -> Tensor: ...
        def _unary(self) -> Tensor: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _binary
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _binary
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = _binary
        __neg__ = __abs__ = __invert__ = _unary

        def __getitem__(self, key: Index, /) -> Tensor:
            """Return a part of the value."""
            ...

        def __iter__(self) -> Iterator[Tensor]:
            """Iterate over the first axis."""
            ...

        def __len__(self) -> int:
            """Return the size of the first axis."""
            ...

        def __float__(self) -> float:
            """Return a single element as a float."""
            ...

        def __int__(self) -> int:
            """Return a single element as an integer."""
            ...

        def __index__(self) -> int:
            """Return a single integer for use as an index."""
            ...

    class TensorMembers(TensorOperators):
        """The members of all tensors."""

        _value: Array
        _record: Record | None
        _row: int
        _origin: Note

        @property
        def dtype(self) -> DType:
            """The dtype of the elements."""
            ...

        @property
        def _dims(self) -> Sizes: ...
        @property
        def ndim(self) -> int:
            """The number of axes."""
            ...

        @property
        def name(self) -> str:
            """The name of the tensor, which only tensors of graphs have."""
            ...

        @property
        def device(self) -> str:
            """The device that holds the value."""
            ...

        @property
        def array(self) -> Array:
            """The value as minitape stores it: a NumPy scalar, or an array that no code may change."""
            ...

        def _numpy(self) -> Array: ...
        def _format_value(self, formatter: Callable[[Array], str] = ...) -> str: ...
        def __array__(self, dtype: NumPyType | None = None, copy: bool | None = None) -> np.ndarray:
            """Return the value as a NumPy array."""
            ...

        def ref(self) -> Reference:
            """Return a hashable reference to the tensor."""
            ...

    class VariableSlice(Tensor):
        """A part of a variable, as a tensor through which the part can be assigned."""

        def assign(self, value: Value) -> ResourceVariable:
            """Assign a value to the part, and return the variable."""
            ...

else:
    TensorOperators = TensorMembers = object
