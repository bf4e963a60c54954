"""How the functions of ``tf`` take their arguments: Python values, arrays and variables become tensors of one dtype."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.evidence import note_used_as_size
from ..engine.recording.state import state
from ..engine.table.accelerator import fast
from ..engine.table.code import define
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.operation import apply, binary
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.types import Same
from ..engine.values.dtypes import int32
from ..engine.values.invalid import invalid
from ..engine.values.shape import TensorShape

if TYPE_CHECKING:
    from ..engine.types import Array, DTypeLike, Object, Result, ShapeLike, Sizes, Value


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


def same_shape_and_dtype(x: EagerTensor, y: EagerTensor) -> bool:
    """Whether two tensors have the same shape and dtype, of numbers, so that no other check is needed."""
    a, b = x._value, y._value
    return a.shape == b.shape and a.dtype is b.dtype and a.dtype.kind != "O"


def of_one_dtype(*values: Value) -> list[Tensor]:
    """Converts operands to tensors of one dtype: that of the first tensor among them, else that of the first value.

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


def with_dtype_hint(x: Value, y: Value) -> tuple[Tensor, Tensor]:
    """The operands of ``add`` and its kin: y takes the dtype of x where it can, else its own."""
    if type(x) is not EagerTensor:
        x = tensor_of(x)
    return x, tensor_of(y) if is_tensor_like(y) else convert_to_tensor(y, dtype_hint=x.dtype)


def axes_of(axis: Value) -> Sizes | None:
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
        note_used_as_size(tensor)
        value = tensor.array
    return value.tolist() if is_array(value) else value


def integers(value: Value, op: str, attr: str, noted: bool = False) -> Array:
    """An argument of sizes, axes or places as a NumPy array; other dtypes raise InvalidArgumentError.

    With ``noted`` `explain` will know that the value was read.
    """
    if type(value) is int or (isinstance(value, (list, tuple)) and all(type(v) is int for v in value)):
        return np.asarray(value, np.int32 if value == [] or value == () else None)
    tensor = tensor_of(value)
    if noted:
        note_used_as_size(tensor)
    return np.asarray(tensor.array)


def with_name(function: Same, name: str, doc: str, module: str) -> Same:
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
    return of_one_dtype(x, y)


def call(name: str, *inputs: Tensor, **attrs: Object) -> Result:
    """Applies the primitive ``name`` of the table to tensors."""
    return apply(TABLE[name], inputs, attrs)


def static_sizes(shape: ShapeLike) -> Sequence[int]:
    """A shape argument (ints, TensorShape, tensor, list with tensors in it) as a tuple of ints.

    Raises ValueError for a shape that is only partly known, TypeError for anything but integers.
    """
    if isinstance(shape, (list, tuple)) and all(type(s) is int for s in shape):
        return tuple(shape)
    with_tensors = isinstance(shape, (list, tuple)) and any(hasattr(s, "dtype") for s in shape)
    settled = with_tensors or isinstance(shape, (TensorShape, Tensor))  # whether its dtype is
    given = convert_to_tensor(shape, None if settled else int32)
    if given.ndim > 1:
        raise invalid(f"dims must represent a vector, got shape [{','.join(map(str, given.shape))}]", "Fill")
    if settled:
        note_used_as_size(given)
    return tuple(int(s) for s in given.array.reshape(-1).tolist())


def fill_sizes(shape: Any, op: str = "Fill") -> Sizes:
    """The sizes of a tensor that is to be filled; raises as TensorFlow's kernel for what is no shape."""
    sizes = static_sizes(shape)
    for n in sizes:
        if n < 0:
            raise invalid(f"Dimension {n} must be >= 0", op)
    return tuple(sizes)


_FUNCTION = """
def {name}({arguments}, name=None):{quick}
    return run({arguments})
"""
_QUICK = """
    if type({0}) is EagerTensor:
        return apply(primitive, ({0},), NONE, _getframe(1))"""
_QUICK_PAIR = """
    if type({0}) is type({1}) is EagerTensor and same_shape_and_dtype({0}, {1}):
        return apply(primitive, ({0}, {1}), NONE, _getframe(1))"""


def quick_function(name: str, arguments: str, run: Any, primitive: Any = None) -> Any:
    """The public function of this name, with these arguments: of a tensor, or of two that are alike, the ``primitive``.

    Without a primitive, and for other arguments, it is ``run``.
    """
    names = arguments.split(", ")
    # of one operand, which may also be a ragged tensor: then it is of the values
    general = run if len(names) == 2 else lambda x: x._map_values(run) if hasattr(x, "_map_values") else run(x)
    quick = "" if primitive is None or primitive.code else (_QUICK, _QUICK_PAIR)[len(names) - 1].format(*names)
    space = {
        "run": general,
        "primitive": primitive,
        "apply": apply,
        "EagerTensor": EagerTensor,
        "NONE": {},
        "same_shape_and_dtype": same_shape_and_dtype,
        "_getframe": _getframe,
    }
    made = define(_FUNCTION.format(name=name, arguments=arguments, quick=quick), "<tf.math>", space)[name]
    if primitive is not None and primitive.code:
        made = fast.function(made, primitive, name, signature=f"{arguments}, name=None")
    made.__annotations__["return"] = "Tensor"  # what editors say of it
    return made


def quick(primitive: Any = None) -> Callable[[Same], Same]:
    """Decorates a function of one or two operands and a name, see :func:`quick_function`."""

    def decorate(function: Same) -> Same:
        *operands, _ = inspect.signature(function).parameters
        made = quick_function(function.__name__, ", ".join(operands), function, primitive)
        return with_name(made, function.__name__, function.__doc__ or "", function.__module__)

    return decorate
