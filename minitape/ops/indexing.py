"""Slices of tensors and variables: ``x[1:, ..., tf.newaxis]``, ``tf.slice``, ``tf.strided_slice``, masks.

An index is checked as TensorFlow's StridedSlice checks it and turned into a NumPy index (``spec``), which is what the
primitive ``slice`` works with.
"""

from __future__ import annotations

import numbers
from functools import lru_cache
from sys import _getframe
from typing import Any

import numpy as np

from ..engine.recording.evidence import note_escape
from ..engine.table.primitives import TABLE
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.tensor.updates import assigner, attach
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from ..functions.calls import in_traces
from .picking import boolean_mask

_SLICE = TABLE["slice"]
_OP, _NAME = "StridedSlice", "strided_slice/"
_VALID = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
    "valid indices"
)


def getitem(tensor: Any, key: Any, variable: Any = None, attrs: Any = None) -> Any:
    """The slice of a tensor that an index selects; a boolean tensor or array selects elements.

    ``variable`` is the one whose state ``tensor`` is: the slice can then be assigned to. ``attrs`` have the NumPy index
    where it is known.

    >>> import minitape as tf
    >>> x = tf.constant([[1, 2, 3], [4, 5, 6]])
    >>> getitem(x, (slice(None), 1)).numpy(), getitem(x, x > 4).numpy()
    (array([2, 5], dtype=int32), array([5, 6], dtype=int32))
    """
    if attrs is None and type(tensor) is EagerTensor:
        attrs = _plain_index(key, tensor._value.shape)
    if attrs is None:
        parts = list(key) if isinstance(key, (list, tuple)) else [key]
        return _by_parts(tensor, [(e.start, e.stop, e.step) if type(e) is slice else e for e in parts], variable)
    out = apply(_SLICE, (tensor,), attrs, _getframe(1))
    if variable is not None:
        attach(out, assigner(variable, attrs["spec"]))
    return out


def _by_parts(tensor: Any, parts: list, variable: Any = None) -> Any:
    """The slice that the parts of an index select, where a slice is a tuple: while a function is traced, one row."""
    if len(parts) == 1 and _is_mask(parts[0]):
        return boolean_mask(tensor, parts[0])
    key = [slice(*e) if type(e) is tuple else e for e in parts]
    return getitem(tensor, key, variable, {"spec": spec_of(tensor.shape, key)})


_by_parts = in_traces("getitem", _by_parts)
EagerTensor.__getitem__ = getitem  # type: ignore[method-assign]


def _plain_index(key: Any, sizes: tuple[int, ...]) -> dict[str, Any] | None:
    """What integers and slices between such select, which need no more thought; None for any other key."""
    if type(key) is slice:
        try:
            return _cut(sizes, key.start, key.stop, key.step)
        except TypeError:  # an end without a hash: a tensor
            return None
    if type(key) is not tuple:
        key = (key,)
    if not 0 < len(key) <= len(sizes):
        return None
    spec = tuple(map(_plain, key, sizes))
    return None if None in spec else {"spec": spec}


@lru_cache(1024, typed=True)
def _cut(sizes: tuple[int, ...], start: Any, stop: Any, step: Any) -> dict[str, Any] | None:
    """The same of one slice: programs take few different ones, again and again."""
    entry = _plain(slice(start, stop, step), sizes[0]) if sizes else None
    return None if entry is None else {"spec": (entry,)}


def _plain(entry: Any, size: int) -> Any:
    """An integer that is there, counted from the front, or a slice between integers; None for anything else."""
    if type(entry) is int:
        return None if not -size <= entry < size else entry + size if entry < 0 else entry
    if type(entry) is not slice or not (entry.start is None or type(entry.start) is int):
        return None
    step = entry.step is None or (type(entry.step) is int and entry.step)
    return entry if step and (entry.stop is None or type(entry.stop) is int) else None


def _is_mask(key: Any) -> bool:
    if isinstance(key, bool):
        return True
    if isinstance(key, np.ndarray):
        return key.dtype == bool
    return isinstance(key, Tensor) and key.dtype == dtypes.bool


def spec_of(shape: Any, key: Any) -> tuple:
    """The NumPy index for what the user wrote in ``[...]``; raises TypeError or InvalidArgumentError as TensorFlow."""
    parts = key if isinstance(key, (list, tuple)) else (key,)
    entries = [_entry(e) for e in parts]
    return _resolve(entries, tuple(shape), _NAME)


def _entry(entry: Any) -> Any:
    if type(entry) is int:
        return entry
    if isinstance(entry, slice):
        return slice(*(None if e is None else _number(e) for e in (entry.start, entry.stop, entry.step)))
    if entry is Ellipsis or entry is None:
        return entry
    return _number(entry)


def check_index(index: Any) -> None:
    """TypeError for what is no index: what has a dtype must be a whole number, and no vector."""
    if isinstance(index, numbers.Integral):
        return
    dtype, shape = getattr(index, "dtype", None), getattr(index, "shape", ())
    whole = dtype is not None and dtypes.as_dtype(dtype).name in ("int16", "int32", "int64")
    if not whole or (getattr(shape, "rank", 0) is not None and len(shape) == 1):
        raise TypeError(f"{_VALID}, got {index!r}")


def _number(index: Any) -> int:
    if type(index) is int or type(index) is bool:
        return index
    if isinstance(index, numbers.Integral):
        return int(index)
    check_index(index)
    if hasattr(index, "_read"):
        index = index._read()
    if type(index) is EagerTensor:
        note_escape(index, "index")
    value = index.array if isinstance(index, Tensor) else index
    if value.ndim:
        sizes = ",".join(map(str, (1, *value.shape)))
        raise _error(
            f"Expected begin, end, and strides to be 1D equal size tensors, but got shapes [{sizes}], "
            f"[{sizes}], and [1] instead.",
            _NAME,
        )
    return int(value)


def _error(message: str, name: str = "") -> Exception:
    return invalid(message, _OP, name)


def _resolve(entries: list, sizes: tuple[int, ...], name: str) -> tuple:
    """The entries with bounds checked, negative places counted from the front, and an ellipsis written out."""
    if sum(e is Ellipsis for e in entries) > 1:
        raise _error("Multiple ellipses in slice spec not allowed", name)
    taken = sum(e is not None and e is not Ellipsis for e in entries)
    if taken > len(sizes):
        raise _error(
            f"Index out of range using input dim {len(sizes)}; input has only {len(sizes)} dims"
            if sizes
            else "Attempting to slice scalar input.",
            name,
        )
    spec: list = []
    axis = 0
    for e in entries:
        if e is None:
            spec.append(None)
        elif e is Ellipsis:
            spec += [slice(None)] * (len(sizes) - taken)
            axis += len(sizes) - taken
        else:
            spec.append(_check_bounds(e, axis, sizes[axis], name))
            axis += 1
    return tuple(spec)


def _check_bounds(entry: Any, axis: int, size: int, name: str) -> Any:
    """An integer that is there, counted from the front; a slice as it is."""
    if isinstance(entry, slice):
        if entry.step == 0:
            raise _error(f"strides[{axis}] must be non-zero", name)
        return entry
    place = int(entry) + size if entry < 0 else int(entry)
    if not 0 <= place < size:
        raise _error(f"slice index {place} of dimension {axis} out of bounds.", name)
    return place


# -- functions -------------------------------------------------------------------------------------
