"""Define element types such as ``tf.float32``, and convert NumPy types to them."""

import builtins

import numpy as np

from ..types import DTypeLike, NumPyType, Object, PickleParts


class DType:
    """The type of a tensor's elements.

    Two DTypes are equal if their names are equal. A DType is also equal to any value that :func:`as_dtype` converts to
    this DType.

    Attributes:
        name: TensorFlow's name, such as "float32".
        as_numpy_dtype: The NumPy scalar type, such as ``numpy.float32``, or ``object`` for strings.
        kind: "f" for real floats, "c" for complex numbers, "i" and "u" for signed and unsigned integers, "b" for bools,
            "s" for strings.
        number: The number in TensorFlow's ``DataType`` enumeration.
        kernel_name: The name in the error messages of TensorFlow's kernels.
        size: The number of bytes per element, or 0 for strings.
        differentiable: Whether values of this type can have gradients. True for floating and complex types.

    >>> import minitape as tf
    >>> tf.float32, str(tf.float32), tf.float32 == "float32", tf.float32.is_floating
    (tf.float32, "<dtype: 'float32'>", True, True)
    """

    __slots__ = ("name", "as_numpy_dtype", "kind", "number", "kernel_name", "size", "differentiable")

    def __init__(self, name: str, numpy_type: NumPyType, kind: str, number: int, kernel_name: str):
        """Create a type. Only this module creates DTypes.

        Args:
            name: The name, such as "float32".
            numpy_type: The NumPy scalar type, or ``object`` for strings.
            kind: NumPy's letter for the kind of type, or "s" for strings.
            number: TensorFlow's enum number for the dtype.
            kernel_name: The name in the error messages of TensorFlow's kernels.
        """
        self.name = name
        self.as_numpy_dtype = numpy_type
        self.kind = kind
        self.number = number
        self.kernel_name = kernel_name
        self.size = 0 if kind == "s" else np.dtype(numpy_type).itemsize
        self.differentiable = kind in "fc"

    is_floating = property(lambda self: self.kind == "f", doc="True for real floating point types.")
    is_complex = property(lambda self: self.kind == "c", doc="True for complex types.")
    is_integer = property(lambda self: self.kind in "iu", doc="True for integers, bool excluded.")

    def __eq__(self, other: Object) -> builtins.bool:
        """Return whether ``other`` is this type, or whether :func:`as_dtype` converts ``other`` to this type."""
        if self is other or other is None:
            return self is other
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __hash__(self) -> int:
        """Return TensorFlow's enum number for the dtype."""
        return self.number

    def __reduce__(self) -> PickleParts:
        """Return the name under which pickle finds the type, so that each type remains a single object."""
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        """Return the name in ``tf``, such as ``tf.float32``."""
        return f"tf.{self.name}"

    def __str__(self) -> str:
        """Return the representation in TensorFlow's format, such as ``<dtype: 'float32'>``."""
        return f"<dtype: '{self.name}'>"


float16 = DType("float16", np.float16, "f", 19, "half")
float32 = DType("float32", np.float32, "f", 1, "float")
float64 = double = DType("float64", np.float64, "f", 2, "double")
int8 = DType("int8", np.int8, "i", 6, "int8")
int16 = DType("int16", np.int16, "i", 5, "int16")
int32 = DType("int32", np.int32, "i", 3, "int32")
int64 = DType("int64", np.int64, "i", 9, "int64")
uint8 = DType("uint8", np.uint8, "u", 4, "uint8")
uint16 = DType("uint16", np.uint16, "u", 17, "uint16")
uint32 = DType("uint32", np.uint32, "u", 22, "uint32")
uint64 = DType("uint64", np.uint64, "u", 23, "uint64")
bool = DType("bool", np.bool_, "b", 10, "bool")
complex64 = DType("complex64", np.complex64, "c", 8, "complex64")
complex128 = DType("complex128", np.complex128, "c", 18, "complex128")
string = DType("string", object, "s", 7, "string")

_PYTHON_BOOL = type(True)  # noqa: UP003 - the name bool is taken
_ALL_DTYPES = [dtype for dtype in globals().values() if isinstance(dtype, DType)]
_BY_NAME = {d.name: d for d in _ALL_DTYPES} | {"half": float16, "float": float32, "double": float64}
_BY_NUMPY: dict[np.dtype, DType] = {np.dtype(d.as_numpy_dtype): d for d in _ALL_DTYPES}


def as_dtype(type_value: DTypeLike) -> DType:
    """Convert a DType, its name, a NumPy type, ``float``, ``bool`` or ``str`` to a DType.

    Args:
        type_value: The type, or an array whose element type is used.

    Returns:
        The DType.

    Raises:
        TypeError: If the argument is anything else. As in TensorFlow, this includes ``int``.

    >>> import numpy as np
    >>> as_dtype("float32"), as_dtype(float), as_dtype(np.int64)
    (tf.float32, tf.float32, tf.int64)
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str):
        dtype = _BY_NAME.get(type_value)
    elif type_value is float or type_value is _PYTHON_BOOL:
        dtype = float32 if type_value is float else bool
    else:
        dtype = _find_dtype_of_numpy_object(type_value)
    if dtype is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")
    return dtype


def _find_dtype_of_numpy_object(value: object) -> DType | None:
    """Find the DType of a NumPy type or an array.

    Return None for anything else, and for types that TensorFlow does not have.
    """
    if isinstance(value, type):
        is_element_type = value is object or (issubclass(value, np.generic) and value not in (np.generic, np.void))
        numpy_dtype = np.dtype(value) if is_element_type else None
    else:
        numpy_dtype = value if isinstance(value, np.dtype) else getattr(value, "dtype", None)
    if not isinstance(numpy_dtype, np.dtype):
        return None
    return string if numpy_dtype.kind in "SU" else _BY_NUMPY.get(numpy_dtype)


def find_dtype_of_numpy_dtype(dtype: np.dtype) -> DType:
    """Return the DType that corresponds to a NumPy dtype.

    Args:
        dtype: The NumPy dtype.

    Returns:
        The DType. Strings of any length have the type ``tf.string``.

    Raises:
        TypeError: If TensorFlow does not have this type.
    """
    return _BY_NUMPY.get(dtype) or as_dtype(dtype)
