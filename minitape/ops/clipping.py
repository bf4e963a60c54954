"""Limits for values and norms, and sums of lists of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import apply
from ..engine.tensor.slices import IndexedSlices
from ..engine.tensor.tensor import Tensor, new_tensor
from .casts import cast
from .operands import call, pairwise, postpone, tensor_of
from .reductions import reduce_sum


def _slices_or_tensor(t: Any) -> Any:
    return tensor_of(t.values if isinstance(t, IndexedSlices) else t)


def _like_input(values: Any, t: Any) -> Any:
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


@postpone
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


@postpone
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """t scaled down so that its euclidean norm, over ``axes``, is at most ``clip_norm``. Differentiable; floats only.

    >>> import minitape as tf
    >>> print(tf.clip_by_norm([3.0, 4.0], 1.0).numpy())
    [0.6 0.8]
    """
    values = _slices_or_tensor(t)
    total = reduce_sum(values * values, axes, True)
    positive = total > 0
    safe = call("select", positive, total, call("ones_like", total))
    size = call("select", positive, call("sqrt", safe), total)
    clip_norm = pairwise(TABLE["maximum"], tensor_of(clip_norm, values.dtype), 0)
    scaled = values * clip_norm
    values.shape.assert_is_compatible_with(scaled.shape)
    return _like_input(call("identity", scaled / pairwise(TABLE["maximum"], size, clip_norm)), t)


def _check_list(t_list: Any) -> None:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")


@postpone
def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The euclidean norm of all elements of all tensors of a list together; None entries are left out. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.global_norm([tf.constant([3.0]), None, tf.constant([4.0])]).numpy())
    5.0
    """
    _check_list(t_list)
    halves = [call("l2_loss", _slices_or_tensor(t)) for t in t_list if t is not None]
    if not halves:
        return call("sqrt", new_tensor(np.float32(0)))
    total = reduce_sum(call("stack", *halves, axis=0))
    return call("sqrt", total * 2.0)


@postpone
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None) -> Any:
    """A pair: the tensors scaled so that their common norm is at most ``clip_norm``, and that norm (or ``use_norm``).

    None entries stay None. An infinite norm gives NaN. Differentiable. Raises TypeError unless ``t_list`` is a
    sequence.

    >>> import minitape as tf
    >>> clipped, size = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)
    >>> print([c.numpy().tolist() for c in clipped], size.numpy())
    [[0.6000000238418579], [0.800000011920929]] 5.0
    """
    _check_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list)
    one = convert_to_tensor(1.0, use_norm.dtype)
    scale = clip_norm * pairwise(TABLE["minimum"], 1.0 / use_norm, one / clip_norm)
    scale = scale + (use_norm - use_norm)  # NaN where the norm is not finite
    clipped: list = []
    for t in t_list:
        if t is None:
            clipped.append(None)
            continue
        values = _slices_or_tensor(t)
        values = call("identity", values * cast(scale, values.dtype))
        clipped.append(_like_input(values, t))
    return clipped, use_norm


@postpone
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape and dtype. Differentiable.

    Raises ValueError for an empty list, InvalidArgumentError for unlike shapes or dtypes.

    >>> import minitape as tf
    >>> print(tf.add_n([[1.0, 2.0], [3.0, 4.0]]).numpy())
    [4. 6.]
    """
    if isinstance(inputs, IndexedSlices):
        return inputs._to_tensor()
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
