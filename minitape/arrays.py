"""Operations on whole tensors: making, casting, reshaping, joining and picking."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .convert import convert_to_tensor
from .math import _tensor
from .primitives import TABLE
from .shape import static_sizes
from .tensor import apply, wrap


def identity(input: Any, name: str | None = None) -> Any:
    """A tensor with the same value, as a row of its own."""
    return apply(TABLE["identity"], (_tensor(input),), {})


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same value, through which no gradient passes."""
    return apply(TABLE["stop_gradient"], (_tensor(input),), {})


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The values in another dtype."""
    x, dtype = _tensor(x), dtypes.as_dtype(dtype)
    return x if x.dtype == dtype else apply(TABLE["cast"], (x,), {"dtype": dtype})


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; one size may be -1."""
    return apply(TABLE["reshape"], (_tensor(tensor),), {"shape": static_sizes(shape)})


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """The axes in another order, reversed by default."""
    a = _tensor(a)
    order = tuple(range(a.ndim))[::-1] if perm is None else static_sizes(perm)
    out = apply(TABLE["transpose"], (a,), {"perm": order})
    return apply(TABLE["conj"], (out,), {}) if conjugate else out


def concat(values: Any, axis: int, name: str = "concat") -> Any:
    """Tensors joined along an axis that they have."""
    return TABLE["concat"](*[_tensor(v) for v in values], axis=int(axis))


def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """Tensors joined along a new axis."""
    return TABLE["stack"](*[_tensor(v) for v in values], axis=int(axis))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> Any:
    """The slices along an axis, as a list."""
    return list(apply(TABLE["unstack"], (_tensor(value),), {"axis": int(axis)}))


def gather(params: Any, indices: Any, axis: int = 0, name: str | None = None) -> Any:
    """The slices of ``params`` at ``indices`` along an axis."""
    return apply(TABLE["gather"], (_tensor(params), convert_to_tensor(indices)), {"axis": int(axis)})


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of zeros."""
    return wrap(np.zeros(static_sizes(shape), dtypes.as_dtype(dtype).as_numpy_dtype))


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of ones."""
    return wrap(np.ones(static_sizes(shape), dtypes.as_dtype(dtype).as_numpy_dtype))


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros in the shape of another tensor."""
    return apply(TABLE["zeros_like"], (_tensor(input),), {})


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones in the shape of another tensor."""
    return apply(TABLE["ones_like"], (_tensor(input),), {})
