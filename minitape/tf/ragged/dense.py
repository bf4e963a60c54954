"""The rows of a ragged tensor, filled up to a dense one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid, shown
from ...engine.operation import apply
from ...engine.primitives import TABLE, declare
from ...engine.slices import IndexedSlices
from ...engine.tensor import Tensor, wrap
from .rows import coordinates


def _fill(values: Any, default: Any, *, places: Any, shape: tuple[int, int]) -> Any:
    """The rows of ``values`` at their places in an array of this outer shape that is ``default`` elsewhere."""
    out = np.empty((shape[0] * shape[1], *values.shape[1:]), values.dtype)
    out[...] = default
    out[places] = values
    return out.reshape((*shape, *values.shape[1:]))


def _as_rows(g: Any, values: Any, shape: tuple[int, int]) -> Any:
    return TABLE["reshape"](g, shape=(shape[0] * shape[1], *tuple(values.shape)[1:]))


def _fill_values(g: Any, z: Any, values: Any, default: Any, *, places: Any, shape: tuple[int, int]) -> Any:
    box = wrap if isinstance(g, Tensor) else np.asarray
    numbers, sizes = np.arange(len(places), dtype=np.int32), np.array([int(n) for n in values.shape], np.int32)
    picked = TABLE["gather"](_as_rows(g, values, shape), box(places), axis=0)
    return IndexedSlices(picked, box(numbers), box(sizes))


def _fill_default(g: Any, z: Any, values: Any, default: Any, *, places: Any, shape: tuple[int, int]) -> Any:
    box = wrap if isinstance(g, Tensor) else np.asarray
    rest = np.setdiff1d(np.arange(shape[0] * shape[1]), places)
    picked = TABLE["gather"](_as_rows(g, values, shape), box(rest), axis=0)
    one_for_all = len(tuple(default.shape)) < len(tuple(values.shape)) - 1
    return TABLE["reduce_sum"](picked, axis=None if one_for_all else (0,), keepdims=False)


def _example(rng: Any) -> Any:
    return (rng.standard_normal(3), rng.standard_normal(())), {"places": np.array([0, 2, 3]), "shape": (2, 3)}


declare("ragged_to_tensor", _fill, [_fill_values, _fill_default], op="RaggedTensorToTensor", keep="", example=_example)


def to_tensor(values: Any, splits: Any, default_value: Any) -> Any:
    """The rows as a dense tensor, with ``default_value`` where they are short."""
    zero = b"" if values.dtype.kind == "s" else np.zeros((), values.dtype.as_numpy_dtype)
    default = convert_to_tensor(zero if default_value is None else default_value, values.dtype)
    if default.ndim >= values.ndim:
        raise invalid(
            f"default_value.shape={shown(default.shape)} and rt_input.flat_values.shape={shown(values.shape)} are "
            f"incompatible: default_value.rank = {default.ndim}  must be less than rt_input.flat_values.rank = {values.ndim}",
            "RaggedTensorToTensor",
        )
    rows, within = coordinates(splits)
    shape = (len(splits) - 1, int(np.diff(splits).max(initial=0)))
    return apply(TABLE["ragged_to_tensor"], (values, default), {"places": rows * shape[1] + within, "shape": shape})
