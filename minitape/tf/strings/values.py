"""Tensors of strings as arrays of bytes, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.recording.evidence import born, left
from ...engine.recording.state import state
from ...engine.tensor.tensor import EagerTensor, Tensor, wrap
from ...engine.values import dtypes
from ...ops.convert import convert_to_tensor
from ...ops.opdefs import mismatch


def strings_of(x: Any, op: str) -> Any:
    """``x`` as an array of bytes; InvalidArgumentError for a tensor of another type."""
    is_tensor = isinstance(x, Tensor) or hasattr(x, "_read")
    is_empty = isinstance(x, (list, tuple)) and not len(x)
    tensor = convert_to_tensor(x) if is_tensor or is_empty else convert_to_tensor(x, dtypes.string)
    if tensor.dtype != dtypes.string:
        raise mismatch(op, 0, dtypes.string.kernel_name, tensor.dtype)
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


def texts(values: list[bytes], shape: tuple[int, ...] | None = None) -> Any:
    """A tensor of strings from a list of bytes."""
    array = np.empty(len(values), object)
    array[:] = values
    tensor = wrap(array if shape is None else array.reshape(shape))
    tensor._origin = born("made")
    return tensor


def rows(array: Any, function: Callable[[bytes], list[Any]], dtype: Any = object) -> Any:
    """A list for each string: a tensor for a single string, a ragged tensor for a list of them."""
    found = [function(s) for s in array.flat]
    flat = [item for row in found for item in row]
    values = texts(flat) if dtype is object else wrap(np.array(flat, dtype))
    if not array.ndim:
        return values
    from ..ragged.tensor import RaggedTensor

    if array.ndim > 1:
        raise ValueError("minitape cuts a string or a list of strings to pieces: a ragged tensor has no rows of rows.")
    return RaggedTensor.from_row_lengths(values, np.array([len(row) for row in found], np.int64))


def is_later(x: Any) -> bool:
    """True for a tensor of a graph that is being built: its strings are not known."""
    return state.graph is not None and isinstance(x, Tensor) and getattr(x, "graph", None) is state.graph


def when_run(function: Callable[..., Any], tensors: list[Any], shape: Any, dtype: Any) -> Any:
    """The call of ``function`` when the graph runs."""
    from ...graphs.effects import later

    return later(lambda *given: [function(*given)], tensors, [(shape, dtype)])[0]
