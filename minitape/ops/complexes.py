"""Complex numbers: made of parts, taken apart, conjugated."""

from __future__ import annotations

from typing import Any

from ..engine.table.primitives import TABLE, special  # noqa: F401 - special fills the table
from ..engine.tensor.operation import apply, binary
from ..engine.tensor.tensor import Tensor
from ..engine.values import dtypes
from .convert import convert_to_tensor
from .operands import deferred, tensor_of


@deferred
def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Complex numbers from their parts: complex64 of float32 tensors, complex128 of float64 ones. Differentiable.

    Raises TypeError for other dtypes.

    >>> import minitape as tf
    >>> print(tf.complex(1.0, 2.0).numpy())
    (1+2j)
    """
    x, y = tensor_of(real), tensor_of(imag)
    if x.dtype != y.dtype or x.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"The `real` and `imag` components have incorrect types: {x.dtype.name} {y.dtype.name}. They "
                        "must be consistent, and one of [tf.float32, tf.float64]")  # fmt: skip
    return binary(TABLE["complex"], x, y)


@deferred
def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; real tensors come back as they are. Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.real(1.0 + 2.0j).numpy())
    1.0
    """
    x = tensor_of(input)
    if x.dtype.kind in "bs":
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype}")
    return apply(TABLE["real"], (x,), {}) if x.dtype.kind == "c" else x


@deferred
def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for real tensors. Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.imag(1.0 + 2.0j).numpy())
    2.0
    """
    x = tensor_of(input)
    if x.dtype.kind == "c":
        return apply(TABLE["imag"], (x,), {})
    from .filling import zeros_like

    return zeros_like(x)


@deferred
def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; real tensors come back as they are. Differentiable. TypeError for bools and strings.

    >>> import minitape as tf
    >>> print(tf.math.conj(1.0 + 2.0j).numpy())
    (1-2j)
    """
    x = tensor_of(x)
    if x.dtype.kind == "c":
        return apply(TABLE["conj"], (x,), {})
    if x.dtype.kind in "fiu":
        return x
    raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}.")


@deferred
def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of complex numbers, in radians; 0 or pi for real floats. Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.angle([1.0, -1.0]).numpy())
    [0.        3.1415927]
    """
    x = tensor_of(input)
    if x.dtype.kind == "c":
        return apply(TABLE["angle"], (x,), {})
    half_turn = convert_to_tensor(3.141592653589793, x.dtype) * TABLE["ones_like"](x)
    return apply(TABLE["select"], (x < convert_to_tensor(0, x.dtype), half_turn, TABLE["zeros_like"](x)), {})
