"""The values of a tensor in another dtype; complex numbers made of parts and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.table.primitives import (
    special,  # noqa: F401 - special fills the table
)
from ..engine.tensor.convert import cast_tensor
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values import dtypes
from .operands import call, tensor_of


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The values in another dtype: floats are truncated to integers, complex numbers lose their imaginary part.

    Differentiable between float and complex dtypes. Raises UnimplementedError for strings.

    >>> import minitape as tf
    >>> tf.cast([1.8, -1.8], tf.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if type(x) is not EagerTensor:
        if hasattr(x, "_read") and x.dtype == dtype:
            return x  # a variable itself, as in TensorFlow
        x = tensor_of(x)
    return cast_tensor(x, dtype)


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
    low, high = _limits_in(x.dtype, dtype)
    for bound, primitive in ((low, "maximum"), (high, "minimum")):
        if bound is not None:
            x = call(primitive, x, new_tensor(bound))
    return cast(x, dtype)


def _limits_in(have: Any, wanted: Any) -> tuple:
    """The limits of one dtype as values of another; None where integers cannot exceed it, infinities are limited."""
    number = have.as_numpy_dtype
    bounds: list = []
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


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; real tensors come back as they are. Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.real(1.0 + 2.0j).numpy())
    1.0
    """
    x = tensor_of(input)
    if x.dtype.kind in "bs":
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype}")
    return call("real", x) if x.dtype.kind == "c" else x


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; real tensors come back as they are. Differentiable. TypeError for bools and strings.

    >>> import minitape as tf
    >>> print(tf.math.conj(1.0 + 2.0j).numpy())
    (1-2j)
    """
    x = tensor_of(x)
    if x.dtype.kind == "c":
        return call("conj", x)
    if x.dtype.kind in "fiu":
        return x
    raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}.")
