"""Describe tensors with ``tf.TensorSpec``, and build the keys that ``tf.function`` uses to distinguish calls."""

from dataclasses import dataclass
from typing import Any
from weakref import ref

from ..engine.tensor.tensor import Tensor
from ..engine.types import Object, OptionalText, Value
from ..engine.values import dtypes
from ..engine.values.shape import TensorShape


@dataclass(frozen=True)
class TensorSpec:
    """The dtype and static shape of a tensor, for input signatures.

    See https://www.tensorflow.org/api_docs/python/tf/TensorSpec.

    Attributes:
        shape: A `TensorShape`, in which None allows any size.
        dtype: A `DType`.
        name: A name for the tensor, or None.

    >>> import minitape as tf
    >>> tf.TensorSpec([None, 2], tf.float32)
    TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)
    """

    shape: Any
    dtype: Any = dtypes.float32
    name: OptionalText = None

    def __post_init__(self) -> None:
        """Convert the shape and the dtype to TensorFlow's types."""
        object.__setattr__(self, "shape", TensorShape(self.shape))
        object.__setattr__(self, "dtype", dtypes.as_dtype(self.dtype))

    def __repr__(self) -> str:
        """Return the representation in TensorFlow's format."""
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class IdentityKey:
    """A dictionary key that compares objects by identity.

    The key does not keep its object alive, unless the object does not support weak references.
    """

    __slots__ = ("_ref", "_id")

    def __init__(self, value: Value):
        """Create the key for an object."""
        self._id = id(value)
        try:
            self._ref: Any = ref(value)
        except TypeError:
            self._ref = lambda: value

    def __eq__(self, other: object) -> bool:
        """Return whether both keys belong to the same object and that object still exists."""
        return isinstance(other, IdentityKey) and self._id == other._id and self._ref() is other._ref() is not None

    def __hash__(self) -> int:
        """Return the object's id."""
        return self._id


def build_argument_key(value: Value) -> Object:
    """Return the part of a call's key that describes one argument.

    Tensors are compared by dtype and shape, plain Python values by equality, collections by their items, and other
    objects by identity. As in TensorFlow, 1, 1.0 and True are therefore the same argument.

    Args:
        value: The argument.

    Returns:
        A hashable key.
    """
    if isinstance(value, Tensor):
        return value.dtype, value.dims
    if value is None or isinstance(value, (int, float, str, bytes, complex)):
        # All NaNs share a key, because NaN is not equal to itself.
        return value if value == value else repr(value)
    if isinstance(value, (list, tuple, range)):
        return type(value), *[build_argument_key(item) for item in value]
    if isinstance(value, dict):
        return dict, *[(key, build_argument_key(value[key])) for key in sorted(value, key=str)]
    return IdentityKey(value)
