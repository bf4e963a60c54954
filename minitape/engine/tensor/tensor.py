"""Tensors: immutable values.

A tensor holds a NumPy array or NumPy scalar, and, once a recording has met it, the recording and its row there.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy import ndarray

from ..hooks import hooks
from ..record.provenance import build_origin, note_escape
from ..record.row_parts import REALS
from ..record.thread_state import state
from ..types import TensorMembers
from ..values.dtypes import _BY_NUMPY, DType, find_dtype_of_numpy
from ..values.shape import TensorShape

if TYPE_CHECKING:
    from ..types import Array, Function, Index, NumPyType, Object, Sizes


class Tensor(TensorMembers):
    """A multi-dimensional array of elements of one type; immutable.

    Make one with ``tf.constant`` or any operation. ``shape`` is a TensorShape, ``dtype`` a DType, ``numpy()`` the
    value. Operators broadcast as NumPy's do; both sides must have the same dtype.
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
    """Gives a class the full name of TensorFlow's in Python's own error texts, as classes written in C have it."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
        return super().__new__(cls, f"{_OPS_MODULE}.{name}", bases, {**body, "__qualname__": name})

    __name__ = property(lambda cls: type.__dict__["__name__"].__get__(cls).rpartition(".")[2])


class EagerTensor(Tensor, metaclass=_FullName):
    """A tensor with a value."""

    __slots__ = ("_value", "_record", "_row", "_origin", "__weakref__")
    __module__ = _OPS_MODULE

    _value: Array

    # -- value -------------------------------------------------------------------------------------

    @property
    def array(self) -> Array:
        """The value as minitape holds it: a NumPy scalar or an array that no code may change."""
        record = self._record
        if record is not None and record.trace is not None:
            record.trace.refuse_or_guard_value(self)
        return self._value

    def numpy(self) -> ndarray:
        """The value as a NumPy array (a copy) or, for a tensor without axes, a NumPy scalar.

        >>> import minitape as tf
        >>> tf.constant([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        value = self._value
        if type(value) is ndarray:
            value = value.copy() if value.ndim else value[()]
        note_escape(self, "numpy", value)
        return value

    def _numpy(self) -> Array:
        value = self.array
        if type(value) is ndarray:
            return value.copy() if value.ndim else value[()]
        return value

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        dtype = self._value.dtype
        return _BY_NUMPY.get(dtype) or find_dtype_of_numpy(dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""  # TensorShape.from_sizes, written out: it is asked often
        shape = _new_shape(TensorShape)
        shape._dims = self._value.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._value.shape)

    @property
    def _dims(self) -> Sizes:
        return self._value.shape

    def ref(self) -> Reference:
        """A hashable reference to this very tensor (tensors themselves are unhashable).

        >>> import minitape as tf
        >>> x = tf.constant(1.0)
        >>> names = {x.ref(): "x"}
        >>> names[x.ref()], x.ref().deref() is x, tf.constant(1.0).ref() in names
        ('x', True, False)
        """
        return Reference(self)

    @property
    def device(self) -> str:
        """Where the value lives: always the CPU."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    # -- Python's protocols ------------------------------------------------------------------------

    def __array__(self, dtype: NumPyType | None = None, copy: bool | None = None) -> ndarray:
        if self._record is not None and self._record.trace is not None:
            self._record.trace.refuse_or_guard_value(self, "asarray")
        array = np.asarray(self._value, dtype)
        if copy or (copy is None and array.ndim):
            array = array.copy()
        note_escape(self, "asarray", array)
        return array

    def __float__(self) -> float:
        note_escape(self, "float")
        return float(self._get_scalar())

    def __int__(self) -> int:
        note_escape(self, "int")
        return int(self._get_scalar())

    def __complex__(self) -> complex:
        note_escape(self, "complex")
        return complex(self._get_scalar())

    def __index__(self) -> int:
        return self.array.__index__()

    def __bool__(self) -> bool:
        note_escape(self, "bool")
        value = self._value
        return bool(value) if value.size else False

    def _get_scalar(self) -> Array:
        value = self.array
        if value.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return value[()]

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return self._value.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Index) -> Tensor:
        return hooks.getitem(self, key)  # which takes this method's place when it is loaded

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: object) -> EagerTensor:
        return self  # tensors never change

    def __format__(self, spec: str) -> str:
        note_escape(self, "text")
        return self._numpy().__format__(spec)

    def __str__(self) -> str:
        name = self._traced_name
        if name is not None:
            return f'Tensor("{name}", shape={self.shape}, dtype={self.dtype.name})'
        return f"tf.Tensor({self._format_value()}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        name = self._traced_name
        if name is not None:
            return f"<tf.Tensor '{name}' shape={self.shape} dtype={self.dtype.name}>"
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._format_value(repr)}>"

    @property
    def _traced_name(self) -> str | None:
        """The text in place of a value that later calls of a traced function do not have; None where values show."""
        record = self._record
        return None if record is None or record.trace is None else record.trace.find_symbolic_name(self._row)

    def _format_value(self, formatter: Callable[[Array], str] = str) -> str:
        value = self._numpy()
        if not self.ndim:
            return repr(value.item()) if formatter is repr and hasattr(value, "item") else str(value)
        text = formatter(value)
        return "\n" + text if "\n" in text else text


# id of a tensor that is a slice of a variable -> it and its assign
VARIABLE_SLICES: dict[int, tuple[weakref.ref[Tensor], Function]] = {}


def _assign(tensor: EagerTensor) -> Function:
    tensor_ref, assign = VARIABLE_SLICES.get(id(tensor), (None, None))
    if tensor_ref is None or assign is None or tensor_ref() is not tensor:
        raise AttributeError(f"'{_OPS_MODULE}.EagerTensor' object has no attribute 'assign'", name="assign", obj=tensor)
    return assign


def _raise_no_name(tensor: EagerTensor) -> NoReturn:
    raise AttributeError("Tensor.name is undefined when eager execution is enabled.", name="name", obj=tensor)


EagerTensor.name = property(_raise_no_name)  # type: ignore[assignment, method-assign]
setattr(EagerTensor, _assign.__name__[1:], property(_assign))


class Reference:
    """A hashable handle on a tensor or variable; equal when it is the very same object."""

    __slots__ = ("_referent", "__weakref__")

    def __init__(self, referent: Object) -> None:
        self._referent = referent

    def deref(self) -> Object:
        """The object itself."""
        return self._referent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._referent is self._referent

    def __hash__(self) -> int:
        return id(self._referent)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referent!r}>"


def create_tensor(value: Array) -> EagerTensor:
    """Create a tensor as ``from_array`` does, with a note of the statement that makes it, where no row says so."""
    tensor = from_array(value)
    if state.record is None:
        tensor._origin = build_origin("made")
    return tensor


def from_array(value: Array) -> EagerTensor:
    """Return a tensor around a NumPy scalar or an array that no other code will change."""
    kind = type(value)
    if kind not in REALS and (kind is not ndarray or not value.shape) and not isinstance(value, np.generic):
        if kind is not ndarray:
            value = np.asarray(value, object if isinstance(value, bytes) else None)
        if not value.ndim and value.dtype != object:
            value = value[()]
    tensor = EagerTensor()
    tensor._value = value
    tensor._record = tensor._origin = None
    return tensor
