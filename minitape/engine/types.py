"""Define types for type checkers and editors.

Type checkers do not see the operators that minitape installs at import time, so classes at the end of this module
declare them. At run time, these classes are ``object``, and ``VariableSlice`` does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy import ndarray

if TYPE_CHECKING:
    from ast import expr
    from pathlib import Path
    from types import FrameType

    from .record.provenance import Origin
    from .record.record import Record
    from .tensor.tensor import Reference, Tensor
    from .tensor.variable import ResourceVariable
    from .values.dtypes import DType
    from .values.shape import TensorShape

# A decorator uses Params and Returned if the new function has the same parameters and result as the old one.
# A decorator that returns the function itself uses Decorated.
Params = ParamSpec("Params")
Returned = TypeVar("Returned")
Decorated = TypeVar("Decorated", bound=Callable)

# The types of a value that holds several values in order. Other sequences, such as a text, count as one value.
LIST_OR_TUPLE = (list, tuple)

# Each alias stands for an idea that Python's types cannot express, or that many functions share.
# The comment above an alias says which values it stands for, or why it is needed.

# An array, a NumPy scalar, a Python number or, in rules, a tensor. The same formula computes with all of them.
Array: TypeAlias = Any
# An array or, in a recorded sweep, a tensor. The same formula computes with both.
Adjoint: TypeAlias = Any
# The adjoints of several outputs or inputs.
Adjoints: TypeAlias = list[Adjoint]
# A function that returns the adjoint of a row, or None if the row has none.
AdjointLookup: TypeAlias = Callable[[int], Adjoint]
# A tensor or a tuple of tensors, depending on the number of outputs of the primitive.
Result: TypeAlias = Any
# Anything that converts to a tensor: tensors, variables, arrays, numbers, strings, and lists of these.
Value: TypeAlias = Any
# The outputs of an operation, or a list argument after conversion.
Tensors: TypeAlias = "list[Tensor]"
# A tensor, a variable, or a wrapper around a variable. Type checkers would not find `shape` on a union of them.
TargetOrSource: TypeAlias = Any
# The targets or the sources of a gradient, as a flat list.
TargetsOrSources: TypeAlias = list[TargetOrSource]
# A variable, or None after ``read_value=False``. A union would force every caller to check for None.
VariableOrNone: TypeAlias = Any
# A tensor or another leaf, or nested lists, tuples, dictionaries and named tuples of leaves.
Structure: TypeAlias = Any
# An argument that ``as_dtype`` accepts. None keeps the dtype of the value.
DTypeLike: TypeAlias = "DType | np.dtype | type | str | None"
# An argument that ``TensorShape`` accepts: a shape, sizes, None, or tensors that contain sizes.
ShapeLike: TypeAlias = "TensorShape | Tensor | np.ndarray | Sequence | int | None"
# A text, a number or a flag that may be missing. Only an OptionalFloat may have a fractional part.
OptionalText: TypeAlias = "str | None"
OptionalNumber: TypeAlias = "int | None"
OptionalFloat: TypeAlias = "float | None"
OptionalFlag: TypeAlias = "bool | None"
# A file or folder, a frame of the call stack, or an expression of a program, if there is one.
OptionalPath: TypeAlias = "Path | None"
OptionalFrame: TypeAlias = "FrameType | None"
OptionalExpression: TypeAlias = "expr | None"
# The error that ended a program or a call, if one did.
OptionalError: TypeAlias = BaseException | None
# Files or folders, in a list or in any sequence.
PathList: TypeAlias = "list[Path]"
PathSequence: TypeAlias = "Sequence[Path]"
# Numbers, in a list or in any sequence.
FloatList: TypeAlias = list[float]
FloatSequence: TypeAlias = Sequence[float]
# An object from other code, which may lack the attributes that minitape reads.
Object: TypeAlias = Any
# The six columns of a recording: code, a, b, call, offset, value.
Columns: TypeAlias = list[list]
# A NumPy scalar class, or ``object`` for strings.
NumPyType: TypeAlias = type[Any]
# An ``InterruptSafeExit``, which is an ``__exit__`` in the form of a property.
ExitProperty: TypeAlias = Callable[..., bool | None]
# The name of an operation, for TensorFlow 1 graphs.
GraphName: TypeAlias = str | None
# The path of a name scope, of a layer or of a JAX function, outermost first.
Scope: TypeAlias = tuple[str, ...]
# The sizes of axes, or their positions.
Sizes: TypeAlias = tuple[int, ...]
# The shape and the dtype of a row's value.
ShapeAndDtype: TypeAlias = tuple[Sizes, np.dtype]
# A dict that maps row numbers to values.
ArraysByRow: TypeAlias = dict[int, Array]
# A dict that maps row numbers, or the positions of a call's inputs, to adjoints.
AdjointsByRow: TypeAlias = dict[int, Adjoint]
# The numbers of some rows: to iterate over, to search, in no order, in an order, or in a list that grows.
RowIterable: TypeAlias = Iterable[int]
RowCollection: TypeAlias = Collection[int]
RowSet: TypeAlias = set[int]
RowSequence: TypeAlias = Sequence[int]
RowList: TypeAlias = list[int]
# A dict that maps row numbers to lists of rows, such as their consumers.
RowsByRow: TypeAlias = dict[int, list[int]]
# A dict that maps a row to another one, such as the row that a copied value came from.
RowByRow: TypeAlias = dict[int, int]
# A dict that maps row numbers to the program's names for their values.
NamesByRow: TypeAlias = dict[int, str]
# The numbers of rows, such as those of an operation's inputs, in order.
RowNumbers: TypeAlias = tuple[int, ...]
# A dict that maps names to texts, such as titles, translations or parts of a sentence.
TextsByName: TypeAlias = dict[str, str]
# The data of a JSON object, or of a part of one.
JsonObject: TypeAlias = dict[str, Any]
# Names or other short texts, in order.
Names: TypeAlias = tuple[str, ...]
NameList: TypeAlias = list[str]
NameSet: TypeAlias = set[str]
# Names that code only searches, or iterates over in any order.
NameCollection: TypeAlias = Collection[str]
# Texts that aren't names, such as lines, sentences or file names, in a list or in any sequence.
TextList: TypeAlias = list[str]
TextSequence: TypeAlias = Sequence[str]
# Two texts that belong together, such as a heading and its body, or a name and its value.
TextPair: TypeAlias = tuple[str, str]
# Two numbers that belong together, such as the position of a line and a tier, or two rows.
NumberPair: TypeAlias = tuple[int, int]
# A dict that maps names to counts or other integers.
CountsByName: TypeAlias = dict[str, int]
# A dict that maps the identities of objects to facts about them.
FactsById: TypeAlias = dict[int, tuple]
# Ranges of rows, as (first, end) pairs.
Spans: TypeAlias = list[tuple[int, int]]
# Dictionaries that map the program's names to their values. If several contain the same name, the first one takes
# precedence.
Namespaces: TypeAlias = Iterable[dict[str, object]]
NamespaceList: TypeAlias = list[dict[str, object]]
# Anything that can index an array, a tensor or a variable.
Index: TypeAlias = "SupportsIndex | slice | EllipsisType | np.ndarray | Tensor | ResourceVariable | Sequence | None"
# The attributes of an operation, or keyword arguments. Each value has its own type.
Attributes: TypeAlias = dict[str, Any]
# A function whose parameters and result are not declared.
Function: TypeAlias = Callable
# A function, if there is one, such as a custom rule or a compiled kernel.
OptionalFunction: TypeAlias = Callable | None
# A function that returns a tensor, with the parameters of any operation.
TensorFunction: TypeAlias = "Callable[..., Tensor]"
# A dict that maps names in formulas to functions, or names of methods to operators.
FunctionsByName: TypeAlias = dict[str, Function]
# A function and its arguments, and perhaps a state, as a `__reduce__` method returns them for pickles and copies.
PickleParts: TypeAlias = tuple[object, ...]
# A function without parameters whose result is ignored.
Action: TypeAlias = Callable[[], object]


class GradientSource(Protocol):
    """A gradient source: a tensor or a variable, including Keras variables."""

    @property
    def shape(self) -> TensorShape:
        """The shape of the value."""

    def numpy(self) -> ndarray:
        """Return the value as an array, or as a NumPy scalar, which has the same methods."""


AnySource = TypeVar("AnySource", bound=GradientSource)
Key = TypeVar("Key")


class ExplanationResult(Protocol):
    """What ``tape.explain`` returns for one source.

    Attributes:
        connected: Whether there is a gradient, even if it is zero or NaN.
        cause: The name of the reason why the gradient is None.
        message: The cause as a sentence.
        fix: A sentence on what to change.
        filename: The file of the statement that broke the chain, or None if no single statement did.
        line: The line of the statement.
        patch: The corrected line, if the correction is a single line.
        patch_line: The line that ``patch`` replaces, if that is not ``line``.
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
        """The kind of the cause. The kinds are the same in all frameworks."""

    @property
    def others(self) -> Sequence[ExplanationResult]:
        """The explanations of further breaks."""


class FirstRunInterface(Protocol):
    """The part of a ``tf.function``'s first run that the engine uses (:mod:`minitape.functions.first_run`).

    Attributes:
        tensor_refs: Weak references to the tensors of the run.
        has_values: Whether tensors hold the values of the run. True until the first gradient of the run is
            recorded, and False from then on, because zeros replace the values that are no longer available.
    """

    tensor_refs: list
    has_values: bool

    def add_feed_for_outside_tensor(self, tensor: Tensor, offset: int | None) -> int:
        """Write a row for a tensor that was created outside the run.

        Args:
            tensor: The tensor.
            offset: The bytecode offset of the statement that uses the tensor, or None for the current statement.

        Returns:
            The number of the row.
        """

    def refuse_or_guard_value(self, tensor: Tensor, access: str = ...) -> None:
        """Raise an error or write a guard if Python reads a value that may differ in later calls.

        Args:
            tensor: The tensor whose value is read.
            access: "bool" for a branch, otherwise the name of the method or conversion that reads the value.
        """

    def find_symbolic_name(self, row: int) -> str | None:
        """Return the name that replaces a tensor's value in its repr, or None if the value may be shown.

        Args:
            row: The row of the tensor.
        """

    def initialize_variable(self, variable: ResourceVariable, *arguments: Object) -> None:
        """Initialize a variable that the function has created.

        Args:
            variable: The variable.
            *arguments: The arguments of `ResourceVariable._initialize`.
        """

    def find_or_add_state(self, variable: ResourceVariable) -> Tensor:
        """Return a variable's state at this point of the run.

        Args:
            variable: The variable.
        """

    def add_equal_state(self, variable: ResourceVariable) -> None:
        """Replace a variable's state with an equal state that has a new row.

        The engine calls this when a tape begins to watch a variable that it has already read.

        Args:
            variable: The variable.
        """

    def assign_variable(self, variable: ResourceVariable, change: Tensor, method: str) -> None:
        """Assign a new state to a variable.

        Args:
            variable: The variable.
            change: The tensor to assign, add or subtract.
            method: "assign", "assign_add" or "assign_sub".
        """


class RowValues(Protocol):
    """The values of a recording's rows: arrays, or tensors in a recorded sweep."""

    def __getitem__(self, row: int, /) -> Adjoint:
        """Return the value of a row."""


if TYPE_CHECKING:

    class TensorOperators:
        """The operators and conversions of tensors and variables."""

        @property
        def shape(self) -> TensorShape:
            """The shape of the value."""

        def numpy(self) -> ndarray:
            """Return the value as an array, or as a NumPy scalar, which has the same methods."""

        def _binary(self, other: Value, /) -> Tensor: ...
        def _unary(self) -> Tensor: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _binary
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _binary
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = _binary
        __neg__ = __abs__ = __invert__ = _unary

        def __getitem__(self, key: Index, /) -> Tensor:
            """Return the elements that an index selects."""

        def __iter__(self) -> Iterator[Tensor]:
            """Iterate over the first axis."""

        def __len__(self) -> int:
            """Return the length of the first axis."""

        def __float__(self) -> float:
            """Return the only element as a float."""

        def __int__(self) -> int:
            """Return the only element as an integer."""

        def __index__(self) -> int:
            """Return the only element, an integer, for use as an index."""

    class TensorMembers(TensorOperators):
        """The members of all tensors."""

        _value: Array
        _record: Record | None
        _row: int
        _origin: Origin

        @property
        def dtype(self) -> DType:
            """The dtype of the elements."""

        @property
        def dims(self) -> Sizes:
            """The shape as a tuple of ints, which is faster to read than ``shape``."""

        @property
        def ndim(self) -> int:
            """The number of axes."""

        @property
        def name(self) -> str:
            """The name of the tensor. Only graph tensors have one."""

        @property
        def device(self) -> str:
            """The device that stores the value."""

        @property
        def array(self) -> Array:
            """The stored value: a NumPy scalar, or an array that no code may change."""

        def _numpy(self) -> Array: ...
        def _format_value(self, formatter: Callable[[Array], str] = ...) -> str: ...
        def __array__(self, dtype: NumPyType | None = None, copy: bool | None = None) -> ndarray:
            """Return the value as a NumPy array."""

        def ref(self) -> Reference:
            """Return a hashable reference to the tensor."""

    class VariableSlice(Tensor):
        """A tensor that was read as a slice of a variable. Its ``assign`` method changes the slice."""

        def assign(self, value: Value) -> ResourceVariable:
            """Assign a value to the slice.

            Args:
                value: The new elements, which broadcast to the shape of the slice.

            Returns:
                The variable.
            """

else:
    TensorOperators = TensorMembers = object
