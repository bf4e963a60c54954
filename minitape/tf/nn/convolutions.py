"""Convolution and pooling of ``tf.nn``, in the format batch, height, width, channels ("NHWC")."""

from __future__ import annotations

from typing import Any

from ...engine.recording.state import state
from ...engine.table.primitives import convolution  # noqa: F401 - it fills the table
from ...engine.tensor.opdefs import accept_text
from ...engine.tensor.tensor import Tensor
from ...engine.values.invalid import invalid, mismatch, shape_text
from ...ops.operands import call, of_one_dtype, static, tensor_of




def spatial(value: Any, name: str) -> list[int]:
    """A strides, dilations or window argument as one number for each axis of the tensor."""
    given = static(value)
    numbers = list(given) if isinstance(given, (list, tuple)) else [1 if value is None else given]
    if len(numbers) not in (1, 2, 4):
        raise ValueError(f"{name} should be of length 1, 2 or 4. Received: {name}={value} of length {len(numbers)}")
    numbers = [int(v) for v in numbers]
    return numbers if len(numbers) == 4 else [1, *(numbers * 2)[:2], 1]


def pads_of(padding: Any, size: Any, window: Any, strides: Any, dilations: Any) -> tuple[tuple[int, int], ...]:
    """Zeros before and after each spatial axis."""
    if not isinstance(padding, str):
        return tuple((int(before), int(after)) for before, after in list(padding)[1:-1])
    if padding == "VALID":
        return ((0, 0),) * len(size)
    pads = []
    for n, k, s, d in zip(size, window, strides, dilations, strict=True):
        total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def check_windows(size: Any, window: Any, strides: Any, dilations: Any, pads: Any, op: str) -> None:
    """InvalidArgumentError where a window is so much larger than the image that there is no place for it; a little
    larger: no elements.
    """
    for n, k, s, d, pad in zip(size, window, strides, dilations, pads, strict=True):
        reach = (k - 1) * d + 1
        if n is None:
            continue
        if state.graph is not None and n + sum(pad) < reach:  # which is refused while the graph is being built
            raise ValueError(f"Negative dimension size caused by subtracting {reach} from {n + sum(pad)}")
        left = n + sum(pad) - reach + s
        count = left // s if left >= 0 else -(-left // s)  # as the kernel divides, towards zero
        if count < 0:
            raise invalid(
                f"Computed output size would be negative: {count} [input_size: {n}, effective_filter_size: {reach}, "
                f"stride: {s}]",
                op,
            )


def check_texts(op: str, padding: Any, data_format: str) -> None:
    """InvalidArgumentError for another padding, UnimplementedError for another format than "NHWC"."""
    if isinstance(padding, str):
        accept_text(op, "padding", padding)
    accept_text(op, "data_format", data_format)


def _layout(x: Any, k: Any, strides: Any, padding: Any, dilations: Any, op: str) -> dict[str, Any]:
    """The attributes of a convolution primitive, after TensorFlow's checks."""
    for name, steps in (("strides", strides), ("dilations", dilations)):
        if min(steps) <= 0:
            raise invalid(f"Row and column {name} should be larger than 0.", op)
    pads = pads_of(padding, x.shape[1:3], k.shape[:2], strides[1:3], dilations[1:3])
    check_windows(x.shape[1:3], k.shape[:2], strides[1:3], dilations[1:3], pads, op)
    return {"strides": tuple(strides[1:3]), "pads": pads, "dilations": tuple(dilations[1:3])}


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The 2-D convolution (cross-correlation) of images with filters.

    ``input`` is batch x height x width x channels, ``filters`` height x width x channels in x channels out.
    ``strides`` and ``dilations`` are an int or a list; ``padding`` is "SAME", "VALID" or a list of pairs.
    Differentiable in both. Raises InvalidArgumentError for shapes that do not fit, UnimplementedError for the format
    "NCHW" and for filters of a part of the channels.

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> print(tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), strides=1, padding="VALID").numpy().reshape(2, 2).tolist())
    [[8.0, 12.0], [20.0, 24.0]]
    """
    x, k = of_one_dtype(input, filters)
    steps, holes = spatial(strides, "strides"), spatial(dilations, "dilations")
    check_texts("Conv2D", padding, data_format)
    if x.dtype is not k.dtype:
        raise mismatch("Conv2D", 1, x.dtype.kernel_name, k.dtype)
    if x.ndim != 4:
        raise invalid(f"convolution input must be 4-dimensional: {shape_text(x.shape)}", "Conv2D")
    if k.ndim != 4:
        raise invalid(f"convolution filter must be 4-dimensional: {shape_text(k.shape)}", "Conv2D")
    if x.shape[-1] % k.shape[2]:
        raise invalid(f"input depth must be evenly divisible by filter depth: {x.shape[-1]} vs {k.shape[2]}", "Conv2D")
    return call("conv2d", x, k, **_layout(x, k, steps, padding, holes, "Conv2D"))


# -- pooling ---------------------------------------------------------------------------------------


def _pool(kind: str, input: Any, ksize: Any, strides: Any, padding: Any, data_format: str) -> Any:
    op = "MaxPool" if kind == "max_pool" else "AvgPool"
    x = tensor_of(input)
    check_texts(op, padding, data_format)
    if x.ndim != 4:
        raise invalid(f"tensor_in_shape must have 2 spatial dimensions. {x.ndim} {0 if x.ndim < 4 else x.ndim - 2}", op)
    return call(kind, x, **_pool_windows(x, ksize, strides, padding, op))


def _pool_windows(x: Any, ksize: Any, strides: Any, padding: Any, op: str) -> dict[str, Any]:
    """The attributes of a pooling primitive over the height and width of x, after TensorFlow's checks."""
    window, steps = spatial(ksize, "ksize"), spatial(strides, "strides")
    if min(window) <= 0:
        raise invalid(
            f"Sliding window ksize must be positive. The specified or inferred ksize is: {','.join(map(str, window))}",
            op,
        )
    if min(steps) <= 0:
        raise invalid(f"Stride must be > 0, but got {min(steps)}", op)
    pads = pads_of(padding, x.shape[1:3], window[1:3], steps[1:3], (1, 1))
    check_windows(x.shape[1:3], window[1:3], steps[1:3], (1, 1), pads, op)
    return {"size": tuple(window[1:3]), "strides": tuple(steps[1:3]), "pads": pads}


def max_pool2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """The largest element of each window of height x width; ``padding`` is "SAME", "VALID" or a list of pairs.

    Differentiable: the first largest element of a window gets its gradient.
    Raises InvalidArgumentError unless ``input`` is batch x height x width x channels.

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> print(tf.nn.max_pool2d(image, ksize=2, strides=2, padding="VALID").numpy().reshape(-1))
    [ 5.  7. 13. 15.]
    """
    return _pool("max_pool", input, ksize, strides, padding, data_format)


