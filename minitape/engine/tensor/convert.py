"""Python and NumPy values become tensors: ``constant``, ``convert_to_tensor``, and the operands of operators."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..hooks import hooks
from ..recording.evidence import exits, origin_of_new
from ..table.fp import ignore_fp_errors
from ..table.primitives import TABLE
from ..table.primitives.choice import warn_discarded
from ..values import dtypes
from ..values.dtypes import DType
from ..values.errors import UnimplementedError
from ..values.invalid import invalid
from ..values.shape import TensorShape
from .tensor import EagerTensor, Tensor, from_array, new_tensor

if TYPE_CHECKING:
    from ..types import Array, DTypeLike, NumPyType, Object, ShapeLike, Value

_PYTHON = {float, int, bool, complex}
_TEXT = (str, bytes)
_MIXED = "Can't convert Python sequence with mixed types to Tensor."
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
_TOO_LARGE = "Can't convert Python sequence with out-of-range integer to Tensor."
_NOT_A_DOUBLE = "Can't convert Python sequence with a value out of range for a double-precision float."

_LARGEST = float(np.finfo(np.float32).max)

_BOOLS = (bool, np.bool_)
_INTEGERS = (int, np.integer)
_REALS = (float, np.floating, *_INTEGERS)
_NUMBERS = (complex, float, int, np.number)
# what a Python leaf may be to become an element of a dtype of this kind
_FITS = {"f": _REALS, "i": _INTEGERS, "u": _INTEGERS, "b": _BOOLS, "c": _NUMBERS, "s": _TEXT}
# what the first leaf is, what all others may be then, and the type of the elements
_BY_FIRST: tuple[tuple[tuple[type, ...], tuple[type, ...], NumPyType], ...] = (
    (_BOOLS, _BOOLS, np.bool_),
    (_INTEGERS, (*_INTEGERS, np.bool_), np.int64),
    (_REALS, _REALS, np.float32),
    ((complex, np.complexfloating), _NUMBERS, np.complex128),
)


def is_array(value: Object) -> bool:
    """True for the values of NumPy: arrays, and the scalars that take their place."""
    return isinstance(value, (ndarray, np.generic))


def convert_to_tensor(
    value: Value, dtype: DTypeLike = None, dtype_hint: DTypeLike = None, name: str | None = None
) -> Tensor:
    """Converts ``value`` to a tensor; a tensor comes back as it is.

    Python floats become float32, ints int32 (int64 when they need it), NumPy arrays keep their dtype. A sequence that
    holds tensors is stacked, and gradients pass through. ``dtype_hint`` is tried first, and given up where it does not
    fit.
    Raises ValueError when a tensor has another dtype than the one asked for, TypeError when a Python value does not
    fit it. See https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor.

    >>> import minitape as tf
    >>> tf.convert_to_tensor([1, 2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    if type(value) is EagerTensor and (dtype is None or dtype is value.dtype):
        return value
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype != wanted:
            label = f"{name}: " if name else ""
            raise ValueError(
                f"{label}Tensor conversion requested dtype {wanted.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    if hasattr(value, "_to_tensor"):  # variables, and other things that hold a tensor
        return value._to_tensor(wanted)
    if wanted is None and dtype_hint is not None:
        with suppress(TypeError, ValueError):
            return convert_to_tensor(value, dtype_hint)
    if isinstance(value, (list, tuple)) and not _PYTHON.issuperset(map(type, value)) and _tensor_within(value):
        return _pack(value, wanted)
    return _note_constant(from_array(to_array(value, wanted)), value)


def constant(value: Value, dtype: DTypeLike = None, shape: ShapeLike = None, name: str = "Const") -> Tensor:
    """Makes a tensor of a Python value, a NumPy array (copied), or a tensor (returned as it is).

    ``shape`` reshapes the value, or fills that shape with a single one. Raises ValueError for ragged sequences and
    TypeError for values that do not fit ``dtype``. See https://www.tensorflow.org/api_docs/python/tf/constant.

    >>> import minitape as tf
    >>> print(tf.constant(3.0))
    tf.Tensor(3.0, shape=(), dtype=float32)
    >>> tf.constant(0, shape=[2, 2])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[0, 0],
           [0, 0]], dtype=int32)>
    """
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype != dtype:
            raise TypeError(f"Expected a tensor of dtype {dtype!r}, got {value.dtype!r}: use tf.cast.")
        return value if shape is None else _in_shape(value, value, TensorShape(shape))
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if hasattr(value, "_to_tensor"):
        value = value.numpy()
    tensor: Tensor = _note_constant(from_array(to_array(value, wanted)), value)
    return tensor if shape is None else _in_shape(tensor, value, TensorShape(shape))


def _in_shape(tensor: Tensor, value: Value, shape: TensorShape) -> Tensor:
    array = tensor.array
    if array.size == shape.num_elements():
        return new_tensor(np.reshape(array, tuple(shape)))
    if array.size == 1 and shape.is_fully_defined():
        return new_tensor(np.full(tuple(shape), array.reshape(())[()], array.dtype))
    raise TypeError(f"A tensor of {array.size} elements, converted from {value!r}, does not have the shape {shape}.")


def convert_operand(value: Value, like: DType, strict: bool = True) -> Tensor:
    """The other operand of an operator, which is no number beside a float, in the dtype of the first; TypeError when it
    does not fit.

    Without ``strict`` (TensorFlow's ``+`` and ``/``) what does not fit keeps its own dtype: the operation refuses it.
    """
    if is_array(value) and value.dtype.kind in "fiubc" and like.kind in "fiucb":
        return _note_constant(from_array(value.astype(like.as_numpy_dtype)), value)
    return convert_to_tensor(value, like) if strict else convert_to_tensor(value, dtype_hint=like)


def _note_constant(tensor: EagerTensor, value: Value) -> EagerTensor:
    """Notes where a constant was made and of which NumPy value: `explain` follows values that left and came back."""
    tensor._origin = origin_of_new("constant", (), exits().of(value) if is_array(value) else None)
    return tensor


# -- values to arrays ------------------------------------------------------------------------------


def to_array(value: Value, dtype: DType | None = None) -> Array:
    """``value`` as a NumPy array or scalar of its own (a copy), with TensorFlow's default dtypes."""
    if type(value) in _PYTHON:  # the usual cases first: a number, and a list of numbers
        usual = dtype is None and type(value) is float and abs(value) <= _LARGEST
        return np.float32(value) if usual else _convert([value], dtype)[0]
    if type(value) is list and value and type(value[0]) in _PYTHON:
        return _convert(value, dtype)
    if isinstance(value, (list, tuple)) and value and {*map(type, value)} == {ndarray}:
        value = _rectangular(value, None)
    if not isinstance(value, (list, tuple, *_TEXT)) and hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype)
    nested = _rectangular([*value] if isinstance(value, (range, TensorShape)) else value, object)
    if not nested.size:
        return np.empty(nested.shape, np.float32 if dtype is None else dtype.as_numpy_dtype)
    array = _convert(nested.reshape(-1).tolist(), dtype)
    return array.reshape(nested.shape) if nested.shape or array.dtype == object else array[0]


def _rectangular(value: Value, kind: type | None) -> ndarray:
    """An array of a nested sequence; ValueError when it is not rectangular."""
    try:
        return np.array(value, kind)
    except ValueError:
        raise ValueError(_RAGGED) from None


def _from_numpy(value: Array, dtype: DType | None) -> Array:
    kind = value.dtype.kind
    if not value.dtype.isnative:  # bytes in the order of another machine
        value = value.astype(value.dtype.newbyteorder("="))
    if kind == "O" or (dtype is None and kind in "SU") or (dtype is not None and dtype.kind == "s"):
        return _strings(value.reshape(-1).tolist()).reshape(value.shape)
    if kind in "Mm" or value.dtype.char in "gGV":
        raise ValueError(f"An array of NumPy's {value.dtype} does not become a tensor: convert its elements before.")
    if dtype is None:
        dtypes.as_dtype(value.dtype)  # refuses what TensorFlow does not know
        return np.array(value)
    return ignore_fp_errors().run(value.astype, dtype.as_numpy_dtype)


def _convert(leaves: list[Object], dtype: DType | None) -> ndarray:
    """A flat array of the leaves: in the dtype asked for where each of them fits it, else in the one they suggest."""
    kinds = {*map(type, leaves)}
    if ndarray in kinds:  # those without axes are single elements
        leaves = [leaf[()] if type(leaf) is ndarray else leaf for leaf in leaves]
        kinds = {*map(type, leaves)}
    if type(None) in kinds:
        text = "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
        raise hooks.why_none(ValueError(text))  # often a gradient: a note says why it is None
    if not kinds.isdisjoint((list, tuple)):
        raise ValueError(_RAGGED)
    if dtype is None:
        return _finite(_infer_dtype(leaves, kinds), leaves)
    if not all(issubclass(k, _FITS[dtype.kind]) and not (dtype.kind == "c" and k is bool) for k in kinds):
        _infer_dtype(leaves, kinds)  # which refuses what fits no dtype
        given = leaves if len(leaves) > 1 else leaves[0]
        raise TypeError(f"Cannot convert {given!r} to EagerTensor of dtype {dtype.kernel_name}")
    if dtype.kind == "s":
        return _strings(leaves)
    try:
        return ignore_fp_errors().run(np.array, leaves, dtype.as_numpy_dtype)
    except OverflowError:  # an int too large for the dtype
        return _integers(leaves).astype(dtype.as_numpy_dtype)


def _infer_dtype(leaves: list[Object], kinds: set[type]) -> ndarray:
    first = leaves[0]
    if isinstance(first, _TEXT):
        return _strings(leaves)
    if not isinstance(first, (*_BOOLS, *_NUMBERS)):
        raise ValueError(
            f"Attempt to convert a value ({first!r}) with an unsupported type ({type(first)}) to a Tensor."
        )
    # Python's bool is an int, too: one that is first stands beside bools only
    for starts, fits, wanted in _BY_FIRST[:1] if isinstance(first, _BOOLS) else _BY_FIRST[1:]:
        if isinstance(first, starts) and all(issubclass(k, fits) for k in kinds):
            if wanted is np.int64:
                return _integers(leaves)
            kind = first.dtype.type if isinstance(first, np.floating) else wanted
            return ignore_fp_errors().run(np.array, leaves, kind)  # what is too large becomes infinite
    raise ValueError(_MIXED)


def _integers(leaves: list[Object]) -> ndarray:
    """int32 where all numbers fit, else int64; ValueError beyond."""
    try:
        wide = np.array(leaves, np.int64)
    except OverflowError:
        raise ValueError(_TOO_LARGE) from None
    return wide.astype(np.int32) if wide.min() >= -(2**31) and wide.max() < 2**31 else wide


def _finite(made: Array, leaves: list[Object]) -> Array:
    """Raises ValueError where a finite Python number became an infinite float32 that was not asked for."""
    if (
        made.dtype == np.float32
        and (huge := np.isinf(made)).any()
        and not np.isinf(np.array(leaves, np.float64)[huge.reshape(-1)]).all()
    ):
        raise ValueError(_NOT_A_DOUBLE)
    return made


def _strings(leaves: list[Object]) -> ndarray:
    """An object array of bytes: text is encoded as UTF-8."""
    out = np.empty(len(leaves), object)
    for i, text in enumerate(leaves):
        if isinstance(text, str):
            text = text.encode("utf-8")
        if not isinstance(text, bytes):
            raise ValueError(_MIXED)
        out[i] = bytes(text)
    return out


# -- sequences that hold tensors -------------------------------------------------------------------


def _tensor_within(value: Value) -> list:
    """The first tensor, or what holds one, in a nested sequence, in a list; empty where there is none."""
    for item in value:
        if isinstance(item, Tensor) or hasattr(item, "_to_tensor"):
            return [item]
        if isinstance(item, (list, tuple)) and (found := _tensor_within(item)):
            return found
    return []


def _pack(value: Value, dtype: DType | None) -> Tensor:
    """A sequence with tensors in it: stacked, as ``tf.stack`` does."""
    found = _tensor_within(value)[0].dtype if dtype is None else dtype

    def part(item: Value) -> Tensor:
        if isinstance(item, (list, tuple)) and _tensor_within(item):
            return pack([part(i) for i in item], 0)
        if not (isinstance(item, Tensor) or hasattr(item, "_to_tensor")):
            return convert_to_tensor(item, found)
        tensor = convert_to_tensor(item)
        return tensor if dtype in (None, tensor.dtype) else cast_tensor(tensor, dtype)

    return pack([part(item) for item in value], 0)


def pack(tensors: list[Tensor], axis: int) -> Tensor:
    """Tensors of one shape and dtype stacked along a new axis; InvalidArgumentError when they differ."""
    first = tensors[0]
    for i, t in enumerate(tensors):
        if t.dtype is not first.dtype:
            raise invalid(f"Tensors of one dtype can be stacked, got {first.dtype.name} and {t.dtype.name}")
        if t.shape != first.shape:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {first.shape} != values[{i}].shape = {t.shape}",
                "Pack",
            )
    return TABLE["stack"](*tensors, axis=axis)


def cast_tensor(x: Tensor, dtype: DType) -> Tensor:
    """The tensor in another dtype; UnimplementedError from or to strings."""
    if x.dtype == dtype:
        return x
    if x.dtype.kind == "s" or dtype.kind == "s":
        raise UnimplementedError(
            None, None, f"Cast {x.dtype.kernel_name} to {dtype.kernel_name} is not supported [Op:Cast] name: "
        )
    warn_discarded(x.dtype, dtype)
    return TABLE["cast"](x, dtype=dtype)
