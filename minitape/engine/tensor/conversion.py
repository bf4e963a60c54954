"""Convert Python and NumPy values to tensors, for ``constant``, ``convert_to_tensor`` and the operands of operators."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy import float32, floating, ndarray

from ..hooks import hooks
from ..record.provenance import build_origin, get_thread_escape_log
from ..table.float_warnings import ignore_fp_errors
from ..table.primitives import TABLE
from ..table.primitives.choice import warn_if_imaginary_discarded
from ..types import LIST_OR_TUPLE, Array, DTypeLike, NumPyType, Object, OptionalText, ShapeLike, Tensors, Value
from ..values.argument_errors import build_argument_error
from ..values.dtypes import DType, as_dtype
from ..values.errors import UnimplementedError
from ..values.shape import TensorShape
from .tensor import EagerTensor, Tensor, wrap_array, wrap_array_with_origin

_PYTHON_NUMBERS = {float, int, bool, complex}
_TEXT = (str, bytes)
_MIXED_TYPES = "Can't convert Python sequence with mixed types to Tensor."
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
_TOO_LARGE = "Can't convert Python sequence with out-of-range integer to Tensor."
_NOT_A_DOUBLE = "Can't convert Python sequence with a value out of range for a double-precision float."

_LARGEST_FLOAT32 = float(np.finfo(float32).max)

_BOOLS = (bool, np.bool_)
_INTEGERS = (int, np.integer)
_REAL_NUMBERS = (float, floating, *_INTEGERS)
_NUMBERS = (complex, float, int, np.number)
# For each kind of dtype, the Python and NumPy types that can become its elements.
_TYPES_BY_KIND = {"f": _REAL_NUMBERS, "i": _INTEGERS, "u": _INTEGERS, "b": _BOOLS, "c": _NUMBERS, "s": _TEXT}
# TensorFlow does not convert Python's bools to these dtypes.
_DTYPES_WITHOUT_BOOLS = {"int8", "int16", "uint8", "uint16", "uint32", "complex64"}
# Each row contains possible types of the first leaf, the types then allowed for all leaves, and the element type.
_TYPES_BY_FIRST_LEAF: tuple[tuple[tuple[type, ...], tuple[type, ...], NumPyType], ...] = (
    (_BOOLS, _BOOLS, np.bool_),
    (_INTEGERS, (*_INTEGERS, np.bool_), np.int64),
    (_REAL_NUMBERS, _REAL_NUMBERS, float32),
    ((complex, np.complexfloating), _NUMBERS, np.complex128),
)


def is_numpy_value(value: Object) -> bool:
    """Return whether a value is a NumPy array or a NumPy scalar.

    Args:
        value: Any object.
    """
    return isinstance(value, (ndarray, np.generic))


def convert_to_tensor(
    value: Value, dtype: DTypeLike = None, dtype_hint: DTypeLike = None, name: OptionalText = None
) -> Tensor:
    """Convert a value to a tensor. Tensors are returned unchanged.

    Python floats become float32. Python ints become int32, or int64 if one of them is too large. NumPy arrays keep
    their dtype. A sequence that contains tensors is stacked, and gradients flow through it. See
    https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor.

    Args:
        value: A number, string, NumPy array, tensor or variable, or a nested sequence of these.
        dtype: The dtype of the result. If None, the value determines the dtype.
        dtype_hint: A dtype that is tried first, and ignored if the value cannot be converted to it.
        name: A label for the error message.

    Returns:
        The tensor.

    Raises:
        ValueError: If a tensor has a dtype other than ``dtype``, or a sequence is not rectangular.
        TypeError: If a Python value cannot be converted to ``dtype``.

    >>> import minitape as tf
    >>> tf.convert_to_tensor([1, 2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    if type(value) is EagerTensor and (dtype is None or dtype is value.dtype):
        return value
    wanted_dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted_dtype is not None and value.dtype != wanted_dtype:
            label = f"{name}: " if name else ""
            raise ValueError(
                f"{label}Tensor conversion requested dtype {wanted_dtype.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    # Variables and other objects that hold a tensor convert themselves.
    if hasattr(value, "_to_tensor_requiring_dtype"):
        return value._to_tensor_requiring_dtype(wanted_dtype)
    if wanted_dtype is None and dtype_hint is not None:
        with suppress(TypeError, ValueError):
            return convert_to_tensor(value, dtype_hint)
    if (
        isinstance(value, LIST_OR_TUPLE)
        and not _PYTHON_NUMBERS.issuperset(map(type, value))
        and _find_first_tensor_in_sequence_as_list(value)
    ):
        return _stack_sequence_with_tensors(value, wanted_dtype)
    return _set_constant_origin(wrap_array(convert_to_new_array(value, wanted_dtype)), value)


def constant(value: Value, dtype: DTypeLike = None, shape: ShapeLike = None, name: str = "Const") -> Tensor:
    """Create a tensor from a Python value or from a copy of a NumPy array. Tensors are returned unchanged.

    See https://www.tensorflow.org/api_docs/python/tf/constant.

    Args:
        value: A number, string, NumPy array or tensor, or a nested sequence of numbers or strings.
        dtype: The dtype of the result. If None, the value determines the dtype, as in ``tf.convert_to_tensor``.
        shape: The shape of the result. The value is reshaped to this shape. A single element is repeated.
        name: Ignored. TensorFlow accepts it.

    Returns:
        The tensor.

    Raises:
        ValueError: If a sequence is not rectangular.
        TypeError: If a value does not match ``dtype`` or ``shape``.

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
            raise TypeError(
                f"Expected a tensor of dtype {dtype!r}, but got {value.dtype!r}. Use tf.cast to convert the tensor."
            )
        return value if shape is None else _reshape_or_fill(value, value, TensorShape(shape))
    wanted_dtype = None if dtype is None else as_dtype(dtype)
    if hasattr(value, "_to_tensor_requiring_dtype"):
        value = value.numpy()
    tensor: Tensor = _set_constant_origin(wrap_array(convert_to_new_array(value, wanted_dtype)), value)
    return tensor if shape is None else _reshape_or_fill(tensor, value, TensorShape(shape))


def _reshape_or_fill(tensor: Tensor, value: Value, shape: TensorShape) -> Tensor:
    array = tensor.array
    if array.size == shape.num_elements():
        return wrap_array_with_origin(np.reshape(array, tuple(shape)))
    if array.size == 1 and shape.is_fully_defined():
        return wrap_array_with_origin(np.full(tuple(shape), array.reshape(())[()], array.dtype))
    raise TypeError(f"A tensor with {array.size} elements, converted from {value!r}, does not fit the shape {shape}.")


def convert_operand_to_dtype(value: Value, dtype: DType, strict: bool = True) -> Tensor:
    """Convert the other operand of an operator to the dtype of the first operand.

    Args:
        value: The other operand. (If the first operand is a float tensor, ``convert_number_operand`` has already
            converted a Python number.)
        dtype: The dtype of the first operand.
        strict: Whether to raise an error for a value that cannot be converted. TensorFlow's ``+`` and ``/`` are not
            strict. In that case, the value keeps its own dtype, and the operation itself raises the error.

    Returns:
        The tensor.

    Raises:
        TypeError: If ``strict`` is true and the value cannot be converted.
    """
    if is_numpy_value(value) and value.dtype.kind in "fiubc" and dtype.kind in "fiucb":
        return _set_constant_origin(wrap_array(value.astype(dtype.as_numpy_dtype)), value)
    return convert_to_tensor(value, dtype) if strict else convert_to_tensor(value, dtype_hint=dtype)


def _set_constant_origin(tensor: EagerTensor, value: Value) -> EagerTensor:
    """Store where a constant was created and from which NumPy value, and return the constant.

    With this origin, `explain` follows values that left minitape and came back.
    """
    escape = get_thread_escape_log().find_escape_of_result(value) if is_numpy_value(value) else None
    tensor._origin = build_origin("constant", (), escape)
    return tensor


# -- values to arrays ------------------------------------------------------------------------------


def convert_to_new_array(value: Value, dtype: DType | None) -> Array:
    """Convert a value to a new NumPy array or scalar, with TensorFlow's default dtypes.

    Args:
        value: A number, string or NumPy array, or a nested sequence of these.
        dtype: The dtype of the result. If None, the value determines the dtype.

    Returns:
        An array that no other code refers to, or a NumPy scalar.
    """
    # Numbers and lists of numbers are the most common values, so they are handled first.
    if type(value) in _PYTHON_NUMBERS:
        is_usual_float = dtype is None and type(value) is float and abs(value) <= _LARGEST_FLOAT32
        return float32(value) if is_usual_float else _convert_leaves([value], dtype)[0]
    if type(value) is list and value and type(value[0]) in _PYTHON_NUMBERS:
        return _convert_leaves(value, dtype)
    if isinstance(value, LIST_OR_TUPLE) and value and {*map(type, value)} == {ndarray}:
        value = _build_rectangular_array(value, None)
    if not isinstance(value, (list, tuple, *_TEXT)) and hasattr(value, "__array__"):
        return _convert_numpy(np.asarray(value), dtype)
    return _convert_nested_sequence(value, dtype)


def _convert_nested_sequence(value: Value, dtype: DType | None) -> Array:
    """Convert a nested sequence, or a single Python value, to an array or a scalar."""
    object_array = _build_rectangular_array([*value] if isinstance(value, (range, TensorShape)) else value, object)
    if not object_array.size:
        return np.empty(object_array.shape, float32 if dtype is None else dtype.as_numpy_dtype)
    array = _convert_leaves(object_array.reshape(-1).tolist(), dtype)
    return array.reshape(object_array.shape) if object_array.shape or array.dtype == object else array[0]


def _build_rectangular_array(value: Value, element_type: type | None) -> ndarray:
    """Build an array from a nested sequence.

    Raises:
        ValueError: If the sequence is not rectangular.
    """
    try:
        return np.array(value, element_type)
    except ValueError:
        raise ValueError(_RAGGED) from None


def _convert_numpy(value: Array, dtype: DType | None) -> Array:
    kind = value.dtype.kind
    # An array from another machine may have a different byte order.
    if not value.dtype.isnative:
        value = value.astype(value.dtype.newbyteorder("="))
    if kind == "O" or (dtype is None and kind in "SU") or (dtype is not None and dtype.kind == "s"):
        return _encode_strings(value.reshape(-1).tolist()).reshape(value.shape)
    if kind in "Mm" or value.dtype.char in "gGV":
        raise ValueError(f"A NumPy array of dtype {value.dtype} cannot become a tensor. Convert its elements first.")
    if dtype is None:
        # This raises TypeError for types that TensorFlow does not have.
        as_dtype(value.dtype)
        return np.array(value)
    return ignore_fp_errors().run(value.astype, dtype.as_numpy_dtype)


def _convert_leaves(leaves: list[Object], dtype: DType | None) -> ndarray:
    """Convert leaves to a flat array of the given dtype. If ``dtype`` is None, the first leaf determines the dtype.

    Raises:
        TypeError: If a leaf cannot be converted to the dtype.
        ValueError: If the leaves have mixed types, or if a leaf is None, a sequence or an object of an unsupported
            type.
    """
    leaf_types = {*map(type, leaves)}
    # A leaf may be an array without axes, which is converted to its element.
    if ndarray in leaf_types:
        leaves = [leaf[()] if type(leaf) is ndarray else leaf for leaf in leaves]
        leaf_types = {*map(type, leaves)}
    if type(None) in leaf_types:
        text = "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
        # If the None is a gradient, as it often is, a note on the error explains why it is None.
        raise hooks.add_notes_why_gradients_are_none(ValueError(text))
    if not leaf_types.isdisjoint(LIST_OR_TUPLE):
        raise ValueError(_RAGGED)
    if dtype is None:
        return _check_no_overflow_to_infinity(_convert_by_first_leaf(leaves, leaf_types), leaves)
    fits_dtype = all(issubclass(leaf_type, _TYPES_BY_KIND[dtype.kind]) for leaf_type in leaf_types)
    if not fits_dtype or (type(leaves[0]) is bool and dtype.name in _DTYPES_WITHOUT_BOOLS):
        # Leaves that cannot be converted to any dtype raise their own error here.
        _convert_by_first_leaf(leaves, leaf_types)
        shown_value = leaves if len(leaves) > 1 else leaves[0]
        raise TypeError(f"Cannot convert {shown_value!r} to EagerTensor of dtype {dtype.kernel_name}")
    if dtype.kind == "s":
        return _encode_strings(leaves)
    try:
        return ignore_fp_errors().run(np.array, leaves, dtype.as_numpy_dtype)
    except OverflowError:
        # An int that is too large for the dtype wraps around.
        return _build_integers(leaves).astype(dtype.as_numpy_dtype)


def _convert_by_first_leaf(leaves: list[Object], leaf_types: set[type]) -> ndarray:
    """Convert leaves to a flat array. The first leaf determines the dtype."""
    first_leaf = leaves[0]
    if isinstance(first_leaf, _TEXT):
        return _encode_strings(leaves)
    if not isinstance(first_leaf, _BOOLS + _NUMBERS):
        raise ValueError(
            f"Attempt to convert a value ({first_leaf!r}) with an unsupported type ({type(first_leaf)}) to a Tensor."
        )
    # Python's bool is a subclass of int, but only bools may follow a bool.
    candidates = _TYPES_BY_FIRST_LEAF[:1] if isinstance(first_leaf, _BOOLS) else _TYPES_BY_FIRST_LEAF[1:]
    for first_types, allowed_types, element_type in candidates:
        if not isinstance(first_leaf, first_types):
            continue
        if not all(issubclass(leaf_type, allowed_types) for leaf_type in leaf_types):
            continue
        if element_type is np.int64:
            return _build_integers(leaves)
        kind = first_leaf.dtype.type if isinstance(first_leaf, floating) else element_type
        # Numbers that are too large become infinite without a warning.
        return ignore_fp_errors().run(np.array, leaves, kind)
    raise ValueError(_MIXED_TYPES)


def _build_integers(leaves: list[Object]) -> ndarray:
    """Build an int32 array if all numbers fit, otherwise an int64 array.

    Raises:
        ValueError: If a number is too large for int64.
    """
    try:
        int64_array = np.array(leaves, np.int64)
    except OverflowError:
        raise ValueError(_TOO_LARGE) from None
    fits_int32 = int64_array.min() >= -(2**31) and int64_array.max() < 2**31
    return int64_array.astype(np.int32) if fits_int32 else int64_array


def _check_no_overflow_to_infinity(array: Array, leaves: list[Object]) -> Array:
    """Return an array that was built from Python numbers.

    Raises:
        ValueError: If a finite number has become infinite as float32.
    """
    if (
        array.dtype == float32
        and (is_infinite := np.isinf(array)).any()
        and not np.isinf(np.array(leaves, np.float64)[is_infinite.reshape(-1)]).all()
    ):
        raise ValueError(_NOT_A_DOUBLE)
    return array


def _encode_strings(leaves: list[Object]) -> ndarray:
    """Build an object array of bytes, with strings encoded in UTF-8."""
    encoded = np.empty(len(leaves), object)
    for i, text in enumerate(leaves):
        if isinstance(text, str):
            text = text.encode("utf-8")
        if not isinstance(text, bytes):
            raise ValueError(_MIXED_TYPES)
        encoded[i] = bytes(text)
    return encoded


# -- sequences that hold tensors -------------------------------------------------------------------


def _find_first_tensor_in_sequence_as_list(value: Value) -> list:
    """Find the first tensor, or object that contains a tensor, in a nested sequence.

    Returns:
        A list with that object, or an empty list. The result is a list because the truth value of a tensor depends on
        its elements.
    """
    for item in value:
        if isinstance(item, Tensor) or hasattr(item, "_to_tensor_requiring_dtype"):
            return [item]
        if isinstance(item, LIST_OR_TUPLE) and (inner_tensor := _find_first_tensor_in_sequence_as_list(item)):
            return inner_tensor
    return []


def _stack_sequence_with_tensors(value: Value, dtype: DType | None) -> Tensor:
    """Stack a sequence that contains tensors, like ``tf.stack``."""
    element_dtype = _find_first_tensor_in_sequence_as_list(value)[0].dtype if dtype is None else dtype

    def convert_item(item: Value) -> Tensor:
        if isinstance(item, LIST_OR_TUPLE) and _find_first_tensor_in_sequence_as_list(item):
            return stack_tensors([convert_item(i) for i in item], 0)
        if not (isinstance(item, Tensor) or hasattr(item, "_to_tensor_requiring_dtype")):
            return convert_to_tensor(item, element_dtype)
        tensor = convert_to_tensor(item)
        return tensor if dtype in (None, tensor.dtype) else cast_tensor(tensor, dtype)

    return stack_tensors([convert_item(item) for item in value], 0)


def stack_tensors(tensors: Tensors, axis: int) -> Tensor:
    """Stack tensors of the same shape and dtype along a new axis.

    Args:
        tensors: At least one tensor.
        axis: The position of the new axis.

    Returns:
        The stacked tensor.

    Raises:
        InvalidArgumentError: If the shapes or dtypes differ.
    """
    first_tensor = tensors[0]
    for i, tensor in enumerate(tensors):
        if tensor.dtype is not first_tensor.dtype:
            raise build_argument_error(
                f"Only tensors of the same dtype can be stacked, but the dtypes are {first_tensor.dtype.name} and "
                f"{tensor.dtype.name}"
            )
        if tensor.shape != first_tensor.shape:
            raise build_argument_error(
                f"Shapes of all inputs must match: values[0].shape = {first_tensor.shape} != "
                f"values[{i}].shape = {tensor.shape}",
                "Pack",
            )
    return TABLE["stack"](*tensors, axis=axis)


def cast_tensor(tensor: Tensor, dtype: DType) -> Tensor:
    """Cast a tensor to another dtype.

    A tensor that already has the dtype is returned unchanged. If the imaginary part is lost, a warning is logged.

    Args:
        tensor: The tensor.
        dtype: The dtype of the result.

    Returns:
        The tensor, converted to the other dtype.

    Raises:
        UnimplementedError: If one of the dtypes is ``tf.string`` and the other is not.
    """
    if tensor.dtype == dtype:
        return tensor
    if tensor.dtype.kind == "s" or dtype.kind == "s":
        raise UnimplementedError(
            None, None, f"Cast {tensor.dtype.kernel_name} to {dtype.kernel_name} is not supported [Op:Cast] name: "
        )
    warn_if_imaginary_discarded(tensor.dtype, dtype)
    return TABLE["cast"](tensor, dtype=dtype)
