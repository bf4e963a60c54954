"""Define tensors, the immutable values that operations compute.

A tensor contains a NumPy array or a NumPy scalar. If it has a row in a recording, it also stores the recording and the
row number.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np
from numpy import ndarray

from ..hooks import hooks
from ..record.provenance import build_origin, log_escape
from ..record.row_parts import FLOAT_TYPES
from ..record.thread_state import state
from ..types import (
    Array,
    Function,
    Index,
    NumPyType,
    Object,
    OptionalFlag,
    OptionalText,
    PickleParts,
    Sizes,
    TensorMembers,
)
from ..values.dtypes import _BY_NUMPY, DType, as_dtype
from ..values.shape import TensorShape


class Tensor(TensorMembers):
    """An immutable, multi-dimensional array of elements of one type.

    Create tensors with ``tf.constant`` or with any operation. ``shape`` is a TensorShape, ``dtype`` is a DType, and
    ``numpy()`` returns the value. Operators broadcast like NumPy's operators. Both operands must have the same dtype.
    See https://www.tensorflow.org/api_docs/python/tf/Tensor.

    >>> import minitape as tf
    >>> x = tf.constant([[1.0, 2.0]])
    >>> x * 2 + 1
    <tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[3., 5.]], dtype=float32)>
    """

    __slots__ = ()
    __array_priority__ = 100
    __module__ = "tensorflow.python.framework.tensor"


_OPS_MODULE = "tensorflow.python.framework.ops"
_new_shape = TensorShape.__new__


class _FullName(type):
    """A metaclass that makes Python's own error messages show TensorFlow's full class name.

    By itself, Python shows full names only for classes written in C, such as TensorFlow's EagerTensor. ``__name__``
    still returns the short name.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
        return super().__new__(cls, f"{_OPS_MODULE}.{name}", bases, {**body, "__qualname__": name})

    __name__ = property(lambda cls: type.__dict__["__name__"].__get__(cls).rpartition(".")[2])


class EagerTensor(Tensor, metaclass=_FullName):
    """A tensor with a value.

    Attributes:
        _value: The elements as a NumPy scalar or array. No code may change them.
        _record: The recording that contains the tensor's row, or None.
        _row: The tensor's row number in ``_record``. Not set while ``_record`` is None.
        _origin: Where the value came from, for ``explain`` (:func:`~minitape.engine.record.provenance.build_origin`),
            or None.
    """

    __slots__ = ("_value", "_record", "_row", "_origin", "__weakref__")
    __module__ = _OPS_MODULE

    _value: Array

    # -- value -------------------------------------------------------------------------------------

    @property
    def array(self) -> Array:
        """The value as minitape stores it: a NumPy scalar, or an array that no code may change.

        During the first run of a ``tf.function``, reading the value raises TypeError if it may differ in later calls.
        """
        record = self._record
        if record is not None and record.first_run is not None:
            record.first_run.refuse_or_guard_value(self)
        return self._value

    def numpy(self) -> ndarray:
        """Return a copy of the value as a NumPy array, or as a NumPy scalar if the tensor has no axes.

        Raises:
            TypeError: If a traced function reads a value that may differ in later calls.

        >>> import minitape as tf
        >>> tf.constant([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        value = self._value
        if type(value) is ndarray:
            value = value.copy() if value.ndim else value[()]
        log_escape(self, "numpy", value)
        return value

    def _numpy(self) -> Array:
        """Return the same value as ``numpy``, without logging an escape for ``explain``."""
        value = self.array
        if type(value) is ndarray:
            return value.copy() if value.ndim else value[()]
        return value

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        dtype = self._value.dtype
        return _BY_NUMPY.get(dtype) or as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        # Shapes are read very often, so the body of TensorShape.from_sizes is inlined here.
        shape = _new_shape(TensorShape)
        shape._dims = self._value.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._value.shape)

    @property
    def dims(self) -> Sizes:
        """The shape as a tuple of ints, which is faster to read than ``shape``."""
        return self._value.shape

    def ref(self) -> Reference:
        """Return a hashable reference to this tensor. Tensors themselves are not hashable.

        Two references are equal if they refer to the same object.

        >>> import minitape as tf
        >>> x = tf.constant(1.0)
        >>> names = {x.ref(): "x"}
        >>> names[x.ref()], x.ref().deref() is x, tf.constant(1.0).ref() in names
        ('x', True, False)
        """
        return Reference(self)

    @property
    def device(self) -> str:
        """The device that stores the value. It is always the CPU."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    # -- Python's protocols ------------------------------------------------------------------------

    def __array__(self, dtype: NumPyType | None = None, copy: OptionalFlag = None) -> ndarray:
        """Return the value as a NumPy array for NumPy functions. The array is a copy unless ``copy`` is False."""
        if self._record is not None and self._record.first_run is not None:
            self._record.first_run.refuse_or_guard_value(self, "asarray")
        array = np.asarray(self._value, dtype)
        if copy or (copy is None and array.ndim):
            array = array.copy()
        log_escape(self, "asarray", array)
        return array

    def __float__(self) -> float:
        """Return the value of a tensor without axes as a float."""
        log_escape(self, "float")
        return float(self._get_scalar())

    def __int__(self) -> int:
        """Return the value of a tensor without axes as an int."""
        log_escape(self, "int")
        return int(self._get_scalar())

    def __complex__(self) -> complex:
        """Return the value of a tensor without axes as a complex number."""
        log_escape(self, "complex")
        return complex(self._get_scalar())

    def __index__(self) -> int:
        """Return an integer value as an int. With this method, a tensor can serve as an index or a size."""
        return self.array.__index__()

    def __bool__(self) -> bool:
        """Return the truth value of a single element. An empty tensor is false."""
        log_escape(self, "bool")
        value = self._value
        return bool(value) if value.size else False

    def _get_scalar(self) -> Array:
        value = self.array
        if value.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return value[()]

    def __len__(self) -> int:
        """Return the length of the first axis, or raise TypeError if there are no axes."""
        if not self.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return self._value.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the slices along the first axis, or raise TypeError if there are no axes."""
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Index) -> Tensor:
        """Return the elements that an index selects. Loading ``tf.indexing`` replaces this method."""
        return hooks.getitem(self, key)

    def __hash__(self) -> int:
        """Raise TypeError, because ``==`` compares tensors element by element."""
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __copy__(self) -> EagerTensor:
        """Return the tensor itself, because tensors never change."""
        return self

    def __deepcopy__(self, memo: object) -> EagerTensor:
        """Return the tensor itself, because tensors never change."""
        return self

    def __reduce__(self) -> PickleParts:
        """Return the function and arguments that pickle and copy use to rebuild the tensor."""
        from .conversion import convert_to_tensor

        return convert_to_tensor, (self.numpy(),)

    def __format__(self, spec: str) -> str:
        """Format the value, as in ``f"{x:.2f}"``."""
        log_escape(self, "text")
        return self._numpy().__format__(spec)

    def __str__(self) -> str:
        """Return the value, shape and dtype in TensorFlow's format."""
        name = self._traced_name
        if name is not None:
            return f'Tensor("{name}", shape={self.shape}, dtype={self.dtype.name})'
        return f"tf.Tensor({self._format_value()}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        """Return the shape, dtype and value in TensorFlow's format."""
        name = self._traced_name
        if name is not None:
            return f"<tf.Tensor '{name}' shape={self.shape} dtype={self.dtype.name}>"
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._format_value(repr)}>"

    @property
    def _traced_name(self) -> OptionalText:
        """The name shown in place of a value that may differ in later calls of a traced function."""
        record = self._record
        return None if record is None or record.first_run is None else record.first_run.find_symbolic_name(self._row)

    def _format_value(self, formatter: Callable[[Array], str] = str) -> str:
        """Format the value as TensorFlow does. An array with several lines starts on a new line.

        Args:
            formatter: ``str``, or ``repr`` for the representation in an interactive session.
        """
        value = self._numpy()
        if not self.ndim:
            return repr(value.item()) if formatter is repr and hasattr(value, "item") else str(value)
        text = formatter(value)
        return "\n" + text if "\n" in text else text


# Maps the id of each variable slice to a weak reference to the slice and its `assign` function.
VARIABLE_SLICES: dict[int, tuple[weakref.ref[Tensor], Function]] = {}


def _assign(tensor: EagerTensor) -> Function:
    """Return the ``assign`` function of a variable slice.

    Args:
        tensor: The slice.

    Raises:
        AttributeError: If the tensor is not a slice of a variable.
    """
    tensor_ref, assign = VARIABLE_SLICES.get(id(tensor), (None, None))
    if tensor_ref is None or assign is None or tensor_ref() is not tensor:
        raise AttributeError(f"'{_OPS_MODULE}.EagerTensor' object has no attribute 'assign'", name="assign", obj=tensor)
    return assign


def _raise_no_name(tensor: EagerTensor) -> NoReturn:
    raise AttributeError("Tensor.name is undefined when eager execution is enabled.", name="name", obj=tensor)


EagerTensor.name = property(_raise_no_name)  # type: ignore[assignment, method-assign]
EagerTensor.assign = property(_assign)  # type: ignore[attr-defined]


class Reference:
    """A hashable reference to a tensor or a variable.

    Two references are equal if they refer to the same object.
    """

    __slots__ = ("_referent", "__weakref__")

    def __init__(self, referent: Object):
        """Create a reference to a tensor or a variable.

        Args:
            referent: The tensor or variable. The reference keeps it alive.
        """
        self._referent = referent

    def deref(self) -> Object:
        """Return the tensor or variable itself."""
        return self._referent

    def __eq__(self, other: object) -> bool:
        """Return whether ``other`` refers to the same object."""
        return isinstance(other, Reference) and other._referent is self._referent

    def __hash__(self) -> int:
        """Return a hash of the object's identity."""
        return id(self._referent)

    def __repr__(self) -> str:
        """Return the reference in TensorFlow's format."""
        return f"<Reference wrapping {self._referent!r}>"


def wrap_array_with_origin(value: Array) -> EagerTensor:
    """Wrap an array in a tensor, and store the statement that created it as the origin of the tensor.

    ``explain`` reads the origin. While a recording is open, no origin is needed, because the tensor gets a row there
    when it is used.

    Args:
        value: A NumPy scalar, or an array that no other code will change.
    """
    tensor = wrap_array(value)
    if state.record is None:
        tensor._origin = build_origin("made")
    return tensor


def wrap_array(value: Array) -> EagerTensor:
    """Wrap a NumPy scalar or an array in a tensor, without copying it.

    Args:
        value: A NumPy scalar, a value that NumPy can convert to a scalar, or an array that no other code will change.
            An array without axes becomes a scalar, unless its element is a string.

    Returns:
        A tensor without a row.
    """
    kind = type(value)
    # NumPy scalars, and arrays with axes, need no conversion.
    if kind not in FLOAT_TYPES and (kind is not ndarray or not value.shape) and not isinstance(value, np.generic):
        if kind is not ndarray:
            value = np.asarray(value, object if isinstance(value, bytes) else None)
        if not value.ndim and value.dtype != object:
            value = value[()]
    tensor = EagerTensor()
    tensor._value = value
    tensor._record = tensor._origin = None
    return tensor
