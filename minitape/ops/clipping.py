"""Limits for values and norms, and sums of lists of tensors."""

from __future__ import annotations

from typing import Any

from ..engine.table.primitives import TABLE
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import Tensor
from .operands import call, pairwise, tensor_of


def _slices_or_tensor(t: Any) -> Any:
    return tensor_of(t)


def _like_input(values: Any, t: Any) -> Any:
    return values


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """The elements, limited to a range: min(t, clip_value_max), then max with clip_value_min.

    The limits broadcast to the shape of t (ValueError if t would have to grow). Differentiable: 1 inside the range and
    at its ends, 0 outside.

    >>> import minitape as tf
    >>> print(tf.clip_by_value([-2.0, 0.5, 3.0], -1.0, 1.0).numpy())
    [-1.   0.5  1. ]
    """
    values = _slices_or_tensor(t)
    low = pairwise(TABLE["minimum"], values, clip_value_max)
    values.shape.assert_is_compatible_with(low.shape)
    out = pairwise(TABLE["maximum"], low, clip_value_min)
    values.shape.assert_is_compatible_with(out.shape)
    return _like_input(out, t)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape and dtype. Differentiable.

    Raises ValueError for an empty list, InvalidArgumentError for unlike shapes or dtypes.

    >>> import minitape as tf
    >>> print(tf.add_n([[1.0, 2.0], [3.0, 4.0]]).numpy())
    [4. 6.]
    """
    if not hasattr(inputs, "dtype"):
        inputs = list(inputs)
    elif tensor_of(inputs).ndim == 0:
        raise TypeError("Cannot iterate over a scalar tensor.")
    values = [] if any(x is None for x in inputs) else [tensor_of(x) for x in inputs]
    if not values:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    if len(values) == 1:
        return call("identity", values[0])
    return apply(TABLE["add_n"], tuple(values), {})
