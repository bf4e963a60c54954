"""``tf.bitwise``: integers combined bit by bit. No gradient passes; InvalidArgumentError for other dtypes."""

from __future__ import annotations

from typing import Any as _Any

import numpy as _np

from ..engine.namespace import lazy as _lazy
from ..engine.operands import pairwise as _pairwise
from ..engine.operands import tensor_of as _tensor_of
from ..engine.operation import apply as _apply
from ..engine.primitives import TABLE as _TABLE
from ..engine.primitives import declare as _declare
from ..engine.tensor import Tensor as _Tensor


def _shift(function: _Any) -> _Any:
    """A shift by 0 to (number of bits - 1) places, as TensorFlow limits it."""

    def forward(x: _Any, y: _Any) -> _Any:
        bits = x.dtype.itemsize * 8
        return function(x, _np.clip(y, 0, bits - 1).astype(x.dtype))

    return forward


_declare("left_shift", _shift(_np.left_shift), [None, None], op="LeftShift", label="<<", keep="")
_declare("right_shift", _shift(_np.right_shift), [None, None], op="RightShift", label=">>", keep="")


def bitwise_and(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """The bits that are set in both.

    ``x`` and ``y`` are whole numbers of one dtype, which is also the result's, and of shapes that broadcast: else
    InvalidArgumentError. Not differentiable.

    >>> import minitape as tf
    >>> tf.bitwise.bitwise_and(12, 10).numpy()
    np.int32(8)
    """
    return _pairwise(_TABLE["bitwise_and"], x, y)


def bitwise_or(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """The bits that are set in one of them or both.

    ``x`` and ``y`` are whole numbers of one dtype, which is also the result's, and of shapes that broadcast: else
    InvalidArgumentError. Not differentiable.

    >>> import minitape as tf
    >>> tf.bitwise.bitwise_or(12, 10).numpy()
    np.int32(14)
    """
    return _pairwise(_TABLE["bitwise_or"], x, y)


def bitwise_xor(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """The bits that are set in exactly one of them.

    ``x`` and ``y`` are whole numbers of one dtype, which is also the result's, and of shapes that broadcast: else
    InvalidArgumentError. Not differentiable.

    >>> import minitape as tf
    >>> tf.bitwise.bitwise_xor(12, 10).numpy()
    np.int32(6)
    """
    return _pairwise(_TABLE["bitwise_xor"], x, y)


def invert(x: _Any, name: str | None = None) -> _Tensor:
    """All bits flipped.

    ``x`` is a tensor of whole numbers (else InvalidArgumentError); the result has its shape and dtype. Not
    differentiable.

    >>> import minitape as tf
    >>> tf.bitwise.invert(5).numpy()
    np.int32(-6)
    """
    return _apply(_TABLE["bitwise_not"], (_tensor_of(x),), {})


def left_shift(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """``x`` moved ``y`` places to the left.

    A negative ``y`` counts as 0, one from the number of bits on as one less. Dtypes, shapes and errors are those of
    ``tf.bitwise.bitwise_and``.

    >>> import minitape as tf
    >>> tf.bitwise.left_shift(3, 2).numpy()
    np.int32(12)
    """
    return _pairwise(_TABLE["left_shift"], x, y)


def right_shift(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """``x`` moved ``y`` places to the right; negative numbers stay negative.

    A negative ``y`` counts as 0, one from the number of bits on as one less. Dtypes, shapes and errors are those of
    ``tf.bitwise.bitwise_and``.

    >>> import minitape as tf
    >>> tf.bitwise.right_shift(-8, 1).numpy()
    np.int32(-4)
    """
    return _pairwise(_TABLE["right_shift"], x, y)


__getattr__, __dir__ = _lazy("tf.bitwise", {}, globals())
