"""Tensors of strings as arrays of bytes, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.evidence import born, left
from ...engine.invalid import invalid
from ...engine.state import state
from ...engine.tensor import EagerTensor, Tensor, wrap


def strings_of(x: Any, op: str) -> Any:
    """``x`` as an array of bytes; InvalidArgumentError for a tensor of another type."""
    is_tensor = isinstance(x, Tensor) or hasattr(x, "_read")
    is_empty = isinstance(x, (list, tuple)) and not len(x)
    tensor = convert_to_tensor(x) if is_tensor or is_empty else convert_to_tensor(x, dtypes.string)
    if tensor.dtype != dtypes.string:
        raise invalid(
            f"cannot compute {op} as input #0(zero-based) was expected to be a string tensor but is a "
            f"{tensor.dtype.kernel_name} tensor",
            op,
        )
    if is_tensor and type(tensor) is EagerTensor:
        left(tensor, "text")
    return np.asarray(tensor.array, object)


def converted(x: Any, label: str = "") -> Any:
    """The same where TensorFlow converts first: ValueError (which names the argument) for a tensor of another type."""
    try:
        tensor = convert_to_tensor(x, dtypes.string)
    except ValueError as error:
        raise ValueError(f"{label}{error}") from None
    if tensor is x and type(x) is EagerTensor:
        left(x, "text")
    return np.asarray(tensor.array, object)


def texts(values: Any, shape: Any = None) -> Any:
    """A tensor of strings from a list of bytes."""
    values = list(values)
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    tensor = wrap(array if shape is None else array.reshape(shape))
    tensor._origin = born("made")
    return tensor


def each(function: Callable[[bytes], bytes], array: Any) -> Any:
    """A function of each string."""
    return texts([function(s) for s in array.reshape(-1)], array.shape)


def rows(array: Any, function: Callable[[bytes], list[Any]], dtype: Any = object) -> Any:
    """A list for each string: a tensor for a single string, else a ragged tensor with one more axis."""
    found = [function(s) for s in array.reshape(-1)]
    flat = [item for row in found for item in row]
    values = texts(flat) if dtype is object else wrap(np.array(flat, dtype))
    if not array.ndim:
        return values
    from ..ragged.parts import splits_of
    from ..ragged.tensor import make

    result = make(values, splits_of(np.array([len(row) for row in found], np.int64)))
    for size in reversed(array.shape[1:]):
        count = (len(result._splits) - 1) // size if size else 0
        result = make(result, np.arange(count + 1, dtype=np.int64) * size, size)
    return result


def is_later(x: Any) -> bool:
    """True for a tensor of a graph that is being built: its strings are not known."""
    return state.graph is not None and isinstance(x, Tensor) and getattr(x, "graph", None) is state.graph


def when_run(function: Callable[..., Any], tensors: list[Any], shape: Any, dtype: Any) -> Any:
    """The call of ``function`` when the graph runs."""
    from ...graphs.effects import later

    return later(lambda *given: [function(*given)], tensors, [(shape, dtype)])[0]
