"""``tf.nn``: what is done across channels, or tells of their places: local response normalisation, pooling with places."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.opdefs import accept, accept_attr, accept_text
from ...engine.operands import call, deferred, strict, tensor_of
from ...engine.primitives import activation  # noqa: F401 - it fills the table
from ...engine.tensor import Tensor
from .convolution import pool_windows


@deferred
def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5, name: str | None = None
) -> Tensor:
    """Divides each element by ``(bias + alpha * s) ** beta``: s is the sum of squares over the channels around its own.

    Those are at most ``depth_radius`` away. ``input`` is batch x height x width x channels, of float32, half or bfloat16;
    InvalidArgumentError for others. Has no second derivative (LookupError).

    >>> import minitape as tf
    >>> print(tf.nn.local_response_normalization([[[[1.0, 2.0, 2.0]]]], depth_radius=1, bias=0.0).numpy().ravel())
    [0.4472136  0.6666667  0.70710677]
    """
    x = tensor_of(input, None if hasattr(input, "dtype") else dtypes.float32)
    accept("LRN", x.dtype)
    if x.ndim != 4:
        raise invalid("in must be 4-dimensional", "LRN")
    if depth_radius < 0:
        raise invalid(f"depth_radius = {depth_radius} larger than int max", "LRN")
    return call("lrn", x, depth_radius=int(depth_radius), bias=bias, alpha=alpha, beta=beta)


class MaxPoolWithArgmax(NamedTuple):
    """What ``max_pool_with_argmax`` returns."""

    output: Tensor
    argmax: Tensor


@strict
def max_pool_with_argmax(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False, name: str | None = None,
) -> MaxPoolWithArgmax:  # fmt: skip
    """The largest element of each window of height x width, and its flat number in its image.

    With ``include_batch_in_index`` that is its number in the whole ``input``. The largest elements are differentiable, once:
    a second derivative raises LookupError. InvalidArgumentError unless ``input`` is batch x height x width x channels,
    ValueError for a ``data_format`` other than "NHWC".

    >>> import minitape as tf
    >>> image = tf.reshape([1.0, 5.0, 2.0, 7.0], [1, 2, 2, 1])
    >>> largest, places = tf.nn.max_pool_with_argmax(image, ksize=2, strides=2, padding="VALID")
    >>> print(largest.numpy().ravel(), places.numpy().ravel())
    [7.] [3]
    """
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}")
    op, x, dtype = "MaxPoolWithArgmax", tensor_of(input), dtypes.as_dtype(output_dtype)
    accept_attr(op, "Targmax", dtype)
    accept_text(op, "padding", padding)
    accept(op, x.dtype)
    if x.ndim != 4:
        raise invalid("tensor_in must be 4-dimensional (2)", op)
    batched = bool(include_batch_in_index)
    places = call("places_of_max", x, batched=batched, dtype=dtype.as_numpy_dtype, **pool_windows(x, ksize, strides, padding, op))
    return MaxPoolWithArgmax(call("max_at", x, places, batched=batched), places)
