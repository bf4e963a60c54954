"""Element types: ``tf.float32`` and its siblings, and the way from NumPy's types to them and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .shown import Shown

if TYPE_CHECKING:
    import builtins

    from .typed import Array, DTypeLike, NumPyType, Object


class DType(metaclass=Shown):
    """The type of a tensor's elements.

    ``name`` is TensorFlow's, ``as_numpy_dtype`` the NumPy type that holds it. Two DTypes are equal when their names
    are; a DType also equals anything that :func:`as_dtype` turns into it.

    >>> import minitape as tf
    >>> tf.float32, str(tf.float32), tf.float32 == "float32", tf.float32.is_floating
    (tf.float32, "<dtype: 'float32'>", True, True)
    """

    __slots__ = ("name", "_numpy", "kind", "size", "number", "kernel_name", "differentiable")
    _shown = "tensorflow.python.framework.dtypes"

    name: str
    _numpy: NumPyType
    kind: str
    size: int
    number: int
    kernel_name: str
    differentiable: builtins.bool  # bool is a DType here

    def __new__(cls, name: DTypeLike, *details: Object) -> DType:
        return object.__new__(cls) if details else _of_number(name)

    def __init__(self, name: DTypeLike, *details: Object) -> None:
        if not details:
            return
        numpy_type, kind, size, number, kernel_name = details
        self.name, self._numpy, self.kind, self.size = name, numpy_type, kind, size
        self.number = number  # TensorFlow's DataType enum
        self.kernel_name = kernel_name  # what kernels' error messages call it
        self.differentiable = kind in "fc"

    @property
    def as_numpy_dtype(self) -> NumPyType:
        """The NumPy scalar type, e.g. ``numpy.float32``; ``object`` for strings. KeyError where there is none."""
        if self._numpy is None:
            raise KeyError(self.number)
        return self._numpy

    @property
    def as_datatype_enum(self) -> int:
        """TensorFlow's number of this type."""
        return self.number

    @property
    def base_dtype(self) -> DType:
        """The type itself: minitape has no reference types."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: float32 for complex64, float64 for complex128, else itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    is_floating = property(lambda self: self.kind == "f", doc="True for real floating point types.")
    is_complex = property(lambda self: self.kind == "c", doc="True for complex types.")
    is_integer = property(lambda self: self.kind in "iu", doc="True for integers, bool excluded.")
    is_bool = property(lambda self: self.kind == "b", doc="True for tf.bool.")
    is_unsigned = property(lambda self: self.kind == "u", doc="True for unsigned integers.")
    is_numeric = property(lambda self: self.kind in "fciu", doc="True for numbers.")
    is_quantized = property(lambda self: False, doc="False: minitape has no quantized types.")
    is_numpy_compatible = property(lambda self: self._numpy is not None, doc="True when there is a NumPy type for it.")

    @property
    def min(self) -> Array:
        """The smallest value."""
        return self._limit("min")

    @property
    def max(self) -> Array:
        """The largest value."""
        return self._limit("max")

    @property
    def limits(self) -> tuple[Array, Array]:
        """The usual range of intensities in images: (0, 1) for floats, (0, largest) for integers; else ValueError."""
        if self._numpy is None:
            raise KeyError(self.number)
        if self.name in ("float32", "float64"):
            return 0, 1
        if self.kind in "iub":
            return 0, True if self.kind == "b" else self.max
        raise ValueError(f"{self} does not have defined limits.")

    def _limit(self, which: str) -> Array:
        if self.kind == "f":
            return getattr(_finfo(self._numpy), which)
        if self.kind in "iu":
            return getattr(np.iinfo(self._numpy), which)
        raise TypeError(f"Cannot find {'minimum' if which == 'min' else 'maximum'} value of {self} with type {self}.")

    def is_compatible_with(self, other: DTypeLike) -> builtins.bool:
        """True when ``other`` names the same type. TypeError when it names none.

        >>> import minitape as tf
        >>> tf.float32.is_compatible_with("float32"), tf.float32.is_compatible_with(tf.float64)
        (True, False)
        """
        return self == as_dtype(other)

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None:
            return False
        if isinstance(other, DType):
            return self.name == other.name
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self.number

    def __reduce__(self) -> tuple[object, ...]:
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"


def _finfo(numpy_type: NumPyType) -> Object:
    if np.dtype(numpy_type).name == "bfloat16":
        import ml_dtypes

        return ml_dtypes.finfo(numpy_type)
    return np.finfo(numpy_type)


float16 = half = DType("float16", np.float16, "f", 2, 19, "half")
float32 = DType("float32", np.float32, "f", 4, 1, "float")
float64 = double = DType("float64", np.float64, "f", 8, 2, "double")
int8 = DType("int8", np.int8, "i", 1, 6, "int8")
int16 = DType("int16", np.int16, "i", 2, 5, "int16")
int32 = DType("int32", np.int32, "i", 4, 3, "int32")
int64 = DType("int64", np.int64, "i", 8, 9, "int64")
uint8 = DType("uint8", np.uint8, "u", 1, 4, "uint8")
uint16 = DType("uint16", np.uint16, "u", 2, 17, "uint16")
uint32 = DType("uint32", np.uint32, "u", 4, 22, "uint32")
uint64 = DType("uint64", np.uint64, "u", 8, 23, "uint64")
bool = DType("bool", np.bool_, "b", 1, 10, "bool")
complex64 = DType("complex64", np.complex64, "c", 8, 8, "complex64")
complex128 = DType("complex128", np.complex128, "c", 16, 18, "complex128")
string = DType("string", object, "s", 0, 7, "string")

_python_bool = type(True)  # noqa: UP003 - the name bool is taken
_ALL = [float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, complex64,
        complex128, string]  # fmt: skip
_BY_NAME = {d.name: d for d in _ALL} | {"half": float16, "float": float32, "double": float64}
_BY_NUMPY: dict[np.dtype, DType] = {np.dtype(d.as_numpy_dtype): d for d in _ALL}
_BY_NUMBER = {d.number: d for d in _ALL}


def _of_number(number: Object) -> DType:
    if int(number) == 14:
        return _bfloat16()
    if int(number) not in _BY_NUMBER:
        raise TypeError(f"{number} does not correspond to a valid tensorflow::DataType")
    return _BY_NUMBER[int(number)]


def _bfloat16() -> DType:
    """tf.bfloat16, made when it is first asked for: its NumPy type comes from the package ml_dtypes."""
    if "bfloat16" not in _BY_NAME:
        import ml_dtypes

        made = DType("bfloat16", ml_dtypes.bfloat16, "f", 2, 14, "bfloat16")
        _BY_NAME["bfloat16"] = _BY_NUMPY[np.dtype(ml_dtypes.bfloat16)] = _BY_NUMBER[14] = made
    return _BY_NAME["bfloat16"]


def as_dtype(type_value: DTypeLike) -> DType:
    """Turns a DType, its name, its number, a NumPy type or ``float``/``bool``/``str`` into a DType.

    Raises TypeError for anything else, ``int`` included, as TensorFlow does.

    >>> import numpy as np
    >>> import minitape as tf
    >>> tf.as_dtype("float32"), tf.as_dtype(float), tf.as_dtype(np.int64)
    (tf.float32, tf.float32, tf.int64)
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str):
        name = type_value.removesuffix("_ref")
        if name == "bfloat16":
            return _bfloat16()
        if name in _BY_NAME:
            return _BY_NAME[name]
    elif type_value is float:
        return float32
    elif type_value is _python_bool:
        return bool
    elif isinstance(type_value, int):
        if type_value == 14 or (type_value % 100 in _BY_NUMBER and type_value < 200):
            return _of_number(type_value % 100)
    else:
        found = _of_numpy(type_value)
        if found is not None:
            return found
    raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")


def _of_numpy(value: object) -> DType | None:
    """The DType of a NumPy type, or of an array; None when it is neither or TensorFlow has no such type."""
    if isinstance(value, type):
        key = np.dtype(value) if issubclass(value, np.generic) or value is object else None
        if value in (np.generic, np.void):
            return None
    else:
        key = value if isinstance(value, np.dtype) else getattr(value, "dtype", None)
    if not isinstance(key, np.dtype):
        return None
    if key.kind in "SU":
        return string
    return _bfloat16() if key.name == "bfloat16" else _BY_NUMPY.get(key)


def __getattr__(name: str) -> DType:
    if name == "bfloat16":  # only who names it waits for ml_dtypes
        return _bfloat16()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
