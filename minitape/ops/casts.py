"""The values of a tensor, or its bytes, in another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.table.primitives import TABLE
from ..engine.table.primitives.choice import warn_discarded
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor, wrap
from ..engine.values import dtypes
from ..engine.values.errors import UnimplementedError
from .operands import deferred, tensor_of


@deferred
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The values in another dtype: floats are truncated to integers, complex numbers lose their imaginary part.

    Differentiable between float and complex dtypes. Raises UnimplementedError for strings.

    >>> import minitape as tf
    >>> tf.cast([1.8, -1.8], tf.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if type(x) is not EagerTensor:
        if hasattr(x, "_composite"):
            return x.with_values(cast(x.values, dtype))
        if hasattr(x, "_read") and x.dtype == dtype:
            return x  # a variable itself, as in TensorFlow
        x = tensor_of(x)
    if x.dtype == dtype:
        return x
    if x.dtype.kind == "s" or dtype.kind == "s":
        raise UnimplementedError(None, None, f"Cast {x.dtype.kernel_name} to {dtype.kernel_name} is not supported "
                                             "[Op:Cast] name: ")  # fmt: skip
    warn_discarded(x.dtype, dtype)
    return apply(TABLE["cast"], (x,), {"dtype": dtype})


@deferred
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """The values in another dtype, limited to what it can hold.

    Fractions are cut off on the way to whole numbers. Differentiable between floats. TypeError for complex numbers.

    >>> import minitape as tf
    >>> tf.saturate_cast([300.0, -5.0], tf.uint8).numpy()
    array([255,   0], dtype=uint8)
    """
    x, dtype = tensor_of(value), dtypes.as_dtype(dtype)
    if x.dtype.is_complex or dtype.is_complex:
        raise TypeError(f"saturate_cast takes real numbers, got {x.dtype.name} and {dtype.name}")
    if x.dtype == dtype and not x.dtype.is_floating:
        return x
    low, high = _inside(x.dtype, dtype)
    for bound, primitive in ((low, "maximum"), (high, "minimum")):
        if bound is not None:
            x = apply(TABLE[primitive], (x, wrap(bound)), {})
    return cast(x, dtype)


def _inside(have: Any, wanted: Any) -> tuple[Any, Any]:
    """The limits of one dtype as values of another; None where integers cannot exceed it, infinities are limited."""
    number = have.as_numpy_dtype
    bounds: list[Any] = []
    for which, inward in (("min", np.inf), ("max", -np.inf)):
        mine, theirs = (_plain(getattr(d, which)) for d in (have, wanted))  # TypeError for bools and strings
        if (mine >= theirs) if which == "min" else (mine <= theirs):
            bounds.append(number(getattr(have, which)) if have.is_floating else None)
            continue
        bound = number(float(theirs) if have.is_floating else theirs)
        if have.is_floating and ((_plain(bound) < theirs) if which == "min" else (_plain(bound) > theirs)):
            bound = np.nextafter(bound, number(inward))
        bounds.append(bound)
    return bounds[0], bounds[1]


def _plain(number: Any) -> Any:
    """A limit as an exact number of Python: an int where it is whole."""
    if isinstance(number, (int, np.integer)):
        return int(number)
    value = float(number)
    return int(value) if value.is_integer() else value
