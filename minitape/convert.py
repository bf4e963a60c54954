"""Python and NumPy values become tensors: ``constant``, ``convert_to_tensor``, and the operands of operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .dtypes import DType
from .record import state
from .tensor import EagerTensor, Tensor, wrap

_PYTHON = {float: np.float32, int: np.int32, bool: np.bool_, complex: np.complex128}


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """Converts ``value`` to a tensor; a tensor comes back as it is.

    Python floats become float32, ints int32, NumPy arrays keep their dtype. Raises ValueError when a tensor has another
    dtype than the one asked for, TypeError when a Python value does not fit it.
    See https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor.

    >>> import minitape as tf
    >>> tf.convert_to_tensor([1, 2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype != wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if hasattr(value, "_to_tensor"):  # variables, and other things that hold a tensor
        return value._to_tensor(wanted)
    if wanted is None and dtype_hint is not None:
        try:
            return _enter(wrap(to_array(value, dtypes.as_dtype(dtype_hint), strict=True)), value)
        except (TypeError, ValueError):
            pass
    if isinstance(value, (list, tuple)) and _holds_tensors(value):
        return _pack(value, wanted)
    return _enter(wrap(to_array(value, wanted)), value)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
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
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and wanted != value.dtype:
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")
        tensor = value
    elif hasattr(value, "_to_tensor"):
        tensor = wrap(np.array(value.numpy(), None if wanted is None else wanted.as_numpy_dtype))
    else:
        tensor = _enter(wrap(to_array(value, wanted)), value)
    if shape is None:
        return tensor
    from .shape import TensorShape, static_sizes

    sizes = static_sizes(shape)
    count = int(np.prod(sizes))
    array = tensor.array
    if array.size == count:
        return wrap(np.reshape(array, sizes))
    if array.size == 1:
        return wrap(np.full(sizes, array.reshape(())[()], array.dtype))
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {tensor!r} (converted from {value!r}) has "
        f"{array.size:d} elements, but got `shape` {TensorShape(sizes)!r} with {count:d} elements)."
    )


def convert_operand(value: Any, like: DType) -> Any:
    """The right operand of an operator: it takes the left one's dtype where it can, else its own."""
    if like.differentiable and (type(value) is float or type(value) is int):
        return wrap(like.as_numpy_dtype(value))
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiubc" and like.kind in "fiuc":
        return _enter(wrap(np.asarray(value).astype(like.as_numpy_dtype)), value)
    return convert_to_tensor(value, dtype_hint=like)


def _enter(tensor: EagerTensor, value: Any) -> EagerTensor:
    """Under a tape, remembers which NumPy value a constant was made of: `explain` follows values that left."""
    if state.record is not None and isinstance(value, (np.ndarray, np.generic)):
        state.record.note("constant", tensor)
    return tensor


def to_array(value: Any, dtype: DType | None = None, strict: bool = False) -> Any:
    """``value`` as a NumPy array or scalar of its own (a copy), with TensorFlow's default dtypes."""
    if dtype is not None and dtype.kind == "s":
        return _strings(value)
    kind = type(value)
    if kind in _PYTHON and dtype is None:
        return _python_scalar(value)
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind in "SUO":
            array = _strings(value)
        else:
            dtypes.as_dtype(value.dtype)  # refuses what TensorFlow does not know
            array = np.array(value)
        return array if dtype is None else _fit_array(array, value, dtype)
    if isinstance(value, (str, bytes)):
        if dtype is not None:
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
        return _strings(value)
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    if kind in _PYTHON:
        return _fit_python(value, dtype)
    return _sequence(value, dtype)


def _python_scalar(value: Any) -> Any:
    if type(value) is int and not -(2**31) <= value < 2**31:
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"Attempt to convert a value ({value}) with an unsupported type ({type(value)}) to a Tensor.")
        return np.int64(value)
    return _PYTHON[type(value)](value)


def _fit_python(value: Any, dtype: Any) -> Any:
    """A Python number in a dtype that was asked for; TypeError when it would lose its kind."""
    kind = type(value)
    fits = {"f": (int, float), "c": (int, float, complex), "i": (int,), "u": (int,), "b": (bool,)}[dtype.kind]
    if kind not in fits:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    with np.errstate(all="ignore"):
        return np.array(value).astype(dtype.as_numpy_dtype)[()]


def _fit_array(array: Any, value: Any, dtype: DType) -> Any:
    if dtypes.of(array) == dtype:
        return array
    if array.dtype == object:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    with np.errstate(all="ignore"):
        return array.astype(dtype.as_numpy_dtype)


def _sequence(value: Any, dtype: DType | None) -> Any:
    if hasattr(value, "__array__"):
        return to_array(np.asarray(value), dtype)
    if not isinstance(value, (list, tuple, range)) and not hasattr(value, "__len__"):
        raise ValueError(
            f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor."
        )
    shape = _shape_of(value)
    leaves = list(_leaves(value))
    kinds = {type(leaf) for leaf in leaves}
    if not kinds:
        return np.empty(shape, np.float32 if dtype is None else dtype.as_numpy_dtype)
    if kinds & {str, bytes, np.str_, np.bytes_}:
        if not kinds <= {str, bytes, np.str_, np.bytes_} or dtype is not None:
            raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
        return _strings(value)
    numpy_kinds = [k for k in kinds if issubclass(k, (np.generic, np.ndarray))]
    if numpy_kinds and dtype is None:
        return np.array(value)
    if dtype is not None:
        for leaf in leaves:
            if not isinstance(leaf, (np.generic, np.ndarray)):
                try:
                    _fit_python(leaf, dtype)
                except (TypeError, KeyError):
                    raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}") from None
        with np.errstate(all="ignore"):
            return np.array(leaves).astype(dtype.as_numpy_dtype).reshape(shape)
    if not kinds <= set(_PYTHON):
        odd = next(leaf for leaf in leaves if type(leaf) not in _PYTHON)
        raise ValueError(f"Attempt to convert a value ({odd!r}) with an unsupported type ({type(odd)}) to a Tensor.")
    if bool in kinds and len(kinds) > 1:
        raise TypeError("Cannot convert Python sequence with mixed types to Tensor.") if False else ValueError(
            "Can't convert Python sequence with mixed types to Tensor."
        )
    if kinds == {int} and any(not -(2**31) <= leaf < 2**31 for leaf in leaves):
        return np.array(leaves, np.int64).reshape(shape)
    widest = next(k for k in (complex, float, int, bool) if k in kinds)
    return np.array(leaves, _PYTHON[widest]).reshape(shape)


def _shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a nested sequence; ValueError when it is ragged."""
    if isinstance(value, np.ndarray):
        return value.shape
    if not isinstance(value, (list, tuple, range)):
        return ()
    inner = [_shape_of(v) for v in value]
    if any(s != inner[0] for s in inner):
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    return (len(value), *(inner[0] if inner else ()))


def _leaves(value: Any) -> Any:
    if isinstance(value, (list, tuple, range, np.ndarray)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _strings(value: Any) -> np.ndarray:
    """An object array of bytes: text is encoded as UTF-8."""
    shape = value.shape if isinstance(value, (np.ndarray, np.generic)) else _shape_of(value)
    flat = [value] if shape == () and isinstance(value, (str, bytes)) else list(_leaves(value))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        flat = [value.item()]
    out = np.empty(len(flat), object)
    for i, text in enumerate(flat):
        if isinstance(text, str):
            text = text.encode("utf-8")
        if not isinstance(text, bytes):
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
        out[i] = bytes(text)
    return out.reshape(shape)


def _holds_tensors(value: Any) -> bool:
    return any(
        isinstance(v, Tensor) or hasattr(v, "_to_tensor") or (isinstance(v, (list, tuple)) and _holds_tensors(v))
        for v in value
    )


def _pack(value: Any, dtype: DType | None) -> Any:
    """A sequence with tensors in it: stacked, as ``tf.stack`` does."""
    from .primitives import TABLE

    if dtype is None:
        dtype = next(v.dtype for v in _leaves(value) if hasattr(v, "dtype") and not isinstance(v, np.generic))
    return TABLE["stack"](*[convert_to_tensor(v, dtype) for v in value], axis=0)
