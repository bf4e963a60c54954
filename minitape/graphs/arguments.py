"""The arguments of a call of ``tf.function``: NumPy values become tensors, and all fit the input signature."""

from __future__ import annotations

from typing import Any

from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from ..ops.convert import convert_to_tensor
from .spec import TensorSpec, is_array, show

_ROWS = ("RaggedTensor", "SparseTensor", "RaggedTensorSpec", "SparseTensorSpec")  # tensors with rows or places, their types


class NoCast(TypeError):
    """Why an argument does not fit its part of the input signature."""


def cast(spec: Any, value: Any) -> Any:
    """An argument as its part of the input signature wants it; NoCast says why it does not fit."""
    if isinstance(spec, dict):
        if not isinstance(value, dict):
            raise NoCast(f"Can not cast {value!r} to a Dict type.")
        if set(spec) != set(value):
            raise NoCast(f"{value} has different keys with the TraceType {show(spec)}.")
        return type(value)((k, cast(spec[k], value[k])) for k in value)
    if isinstance(spec, (list, tuple)):
        kind = list if isinstance(spec, list) else tuple
        if not isinstance(value, kind):
            raise NoCast(f"Can not cast {value!r} to {kind.__name__} type.")
        if len(spec) != len(value):
            raise NoCast(f"Expected {value} to have length of {len(spec)}")
        parts = [cast(s, v) for s, v in zip(spec, value, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else kind(parts)
    try:
        return _cast_leaf(spec, value)
    except NoCast:
        raise
    except (ValueError, TypeError) as error:
        raise NoCast(str(error)) from error


def _cast_leaf(spec: Any, value: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        return value
    if isinstance(value, TensorSpec):
        if not value.is_subtype_of(spec):
            raise NoCast(f"Can not cast {value!r} to {spec}")
        return value
    tensor = value
    if is_array(value) and value.dtype.kind in "SU" and spec.dtype.kind != "s":
        tensor = convert_to_tensor(value.astype(spec.dtype.as_numpy_dtype))  # which NumPy refuses in its own words
    elif not isinstance(value, Tensor):
        tensor = convert_to_tensor(value, spec.dtype)
    if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        raise NoCast(f"Can not cast {TensorSpec(tensor.shape, tensor.dtype, spec.name)} to {spec}")
    return tensor


def with_tensors(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments with NumPy values and variables of Keras turned into tensors."""
    for name, value in values.items():
        if isinstance(value, Tensor):
            continue
        if isinstance(value, (list, tuple, dict)):
            values[name] = nest.map_structure(_as_argument, value)
        else:
            values[name] = _as_argument(value)
    return values


def _as_argument(value: Any) -> Any:
    if is_array(value):
        return convert_to_tensor(value)
    if type(value).__name__ in _ROWS:
        raise TypeError(f"In minitape a tf.function takes no {type(value).__name__}: give it the tensors of which that is made.")
    of_keras = hasattr(value, "_read") and hasattr(value, "_gradient_leaf")
    return value._to_tensor() if of_keras else value  # TensorFlow knows its own variables only
