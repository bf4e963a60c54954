"""How the functions of ``tf`` take their arguments: Python values, arrays and variables become tensors of one dtype."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.above import above
from ..engine.recording.evidence import planned
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.operation import apply, binary
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.typed import Given, Made, Same
from ..engine.values.dtypes import int32
from ..engine.values.invalid import AtRun, invalid
from ..engine.values.shape import TensorShape
from .convert import convert_to_tensor
from .opdefs import accept_attr, has_default

if TYPE_CHECKING:
    from ..engine.typed import Array, DTypeLike, Object, Result, ShapeLike, Value


def tensor_of(x: Value, dtype: DTypeLike = None) -> Tensor:
    """``x`` as a tensor; ``dtype`` is that of a Python value or array, tensors keep their own."""
    if isinstance(x, Tensor):
        return x
    if hasattr(x, "_read"):
        return x._read()
    return convert_to_tensor(x, dtype)


def is_tensor_like(x: Value) -> bool:
    """True for tensors and variables, whose dtype is settled."""
    return isinstance(x, Tensor) or hasattr(x, "_read")


def alike(x: EagerTensor, y: EagerTensor) -> bool:
    """Whether two tensors have one shape and one dtype of numbers: nothing more is to be asked before they are combined."""
    a, b = x._value, y._value
    return a.shape == b.shape and a.dtype is b.dtype and a.dtype.kind != "O"


def together(*values: Value) -> list[Tensor]:
    """Operands of one dtype: that of the first tensor among them, else that of the first value.

    A tensor of another dtype is left as it is (the operation refuses it). TypeError for a Python value that does not
    fit.
    """
    dtype = next((v.dtype for v in values if is_tensor_like(v)), None)
    out = []
    for v in values:
        tensor = tensor_of(v, dtype)
        dtype = tensor.dtype if dtype is None else dtype
        out.append(tensor)
    return out


def hinted(x: Value, y: Value) -> tuple[Tensor, Tensor]:
    """The operands of ``add`` and its kin: y takes the dtype of x where it can, else its own."""
    if type(x) is not EagerTensor:
        x = tensor_of(x)
    return x, tensor_of(y) if is_tensor_like(y) else convert_to_tensor(y, dtype_hint=x.dtype)


def axes_of(axis: Value) -> tuple[int, ...] | None:
    """An axis argument (None, an int, a list or a tensor) as a tuple of ints."""
    if axis is None:
        return None
    if type(axis) is int:
        return (axis,)
    numbers = np.asarray(axis.array if isinstance(axis, Tensor) else axis)
    if state.graph is not None and numbers.ndim > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {numbers.ndim}")
    return tuple(int(a) for a in numbers.reshape(-1))


def static(value: Value) -> Object:
    """A number or list of numbers given as a tensor, as plain Python."""
    among = state.graph is not None and isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value)
    if among or isinstance(value, Tensor) or hasattr(value, "_read"):
        tensor = tensor_of(value)
        planned(tensor)
        value = tensor.array
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def integers(value: Value, op: str, attr: str, noted: bool = False) -> Array:
    """An argument of sizes, axes or places as a NumPy array; other dtypes raise InvalidArgumentError.

    With ``noted`` `explain` will know that the value was read.
    """
    if type(value) is int or (isinstance(value, (list, tuple)) and all(type(v) is int for v in value)):
        return np.asarray(value, np.int32 if value == [] or value == () else None)
    if type(value) is float and has_default(op, attr):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int32")
    tensor = tensor_of(value)
    accept_attr(op, attr, tensor.dtype)
    if noted:
        planned(tensor)
    return np.asarray(tensor.array)


def deferred(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """A function that needs values or sizes: where only the run of a graph knows them, it is called when the graph runs."""

    @functools.wraps(function)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        try:
            return function(*args, **kwargs)
        except (AttributeError, TypeError, ValueError) as error:
            if state.graph is None or not _waits(error):
                raise
            found = above.postpone(function, args, kwargs)
            if found is None:
                raise
            return found[0]
        except AtRun as error:
            if state.graph is None:
                raise
            made: Made = above.refuse(function, args, kwargs, error)
            return made

    return checked


def _waits(error: Exception) -> bool:
    """True for what is raised because a value or a size is not known while a graph is being built."""
    if isinstance(error, TypeError):
        return any(word in str(error) for word in ("SymbolicTensor", "NoneType"))
    return isinstance(error, AttributeError) or getattr(error, "unsettled", False) or "unknown rank" in str(error)


def named(function: Same, name: str, doc: str, module: str) -> Same:
    """A made function with the name and the documentation of a written one."""
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = doc, module
    return function


def unary(primitive: Primitive, x: Value) -> Tensor:
    """Applies an elementwise primitive to one argument."""
    return apply(primitive, (tensor_of(x),), {})


def pairwise(primitive: Primitive, x: Value, y: Value) -> Tensor:
    """Applies an elementwise primitive to two arguments of one dtype."""
    return binary(primitive, *pair(x, y))


def pair(x: Value, y: Value) -> list[Tensor]:
    """Two operands of one dtype, see ``together``: a number of Python or an array before a variable follows its dtype.

    Anything else there has its own; ValueError where that is another one.
    """
    if hasattr(y, "_read") and not is_tensor_like(x) and not isinstance(x, (int, float, np.ndarray)):
        x = convert_to_tensor(x)
        y._to_tensor(x.dtype)
    return together(x, y)


def call(name: str, *inputs: Tensor, **attrs: Object) -> Result:
    """Applies the primitive ``name`` of the table to tensors."""
    return apply(TABLE[name], inputs, attrs)


def static_sizes(shape: ShapeLike) -> Sequence[int]:
    """A shape argument (ints, TensorShape, tensor, list with tensors in it) as a tuple of ints.

    Raises ValueError for a shape that is only partly known, TypeError for anything but integers.
    """
    if isinstance(shape, (list, tuple)) and all(type(s) is int for s in shape):
        return tuple(shape)
    settled = isinstance(shape, TensorShape) or _has_tensors(shape)
    given = convert_to_tensor(shape, None if settled else int32)
    if not given.dtype.is_integer and not (isinstance(shape, (list, tuple)) and not shape):
        accept_attr("Fill", "index_type", given.dtype)
    if given.ndim > 1:
        raise invalid(f"dims must represent a vector, got shape [{','.join(map(str, given.shape))}]", "Fill")
    if settled:
        planned(given)
    return tuple(int(s) for s in given.array.reshape(-1).tolist())


def _has_tensors(shape: ShapeLike) -> bool:
    """Whether the dtype of a shape argument is settled: it is a tensor, or a list with one in it."""
    return isinstance(shape, Tensor) or (isinstance(shape, (list, tuple)) and any(hasattr(s, "dtype") for s in shape))
