"""Convolution and pooling of ``tf.nn`` over three spatial axes: batch, depth, height, width, channels ("NDHWC")."""

from __future__ import annotations

import math
from typing import Any

from ...engine.invalid import invalid
from ...engine.opdefs import accept, accept_text
from ...engine.operands import call, static, strict, tensor_of, together
from ...engine.tensor import Tensor
from .convolution import grouped, pads_of, same_dtype, spatial, unimplemented


def _check_texts(op: str, padding: Any, data_format: str) -> None:
    accept_text(op, "padding", padding)
    accept_text(op, "data_format", data_format)
    if data_format != "NDHWC":
        raise invalid(f"{op} supports NDHWC on the CPU only. Received: {data_format}", op)


def _five(value: Any, name: str, op: str) -> list[int]:
    """Strides or dilations: a list of five numbers."""
    numbers = static([1] * 5 if value is None else value)
    if not isinstance(numbers, (list, tuple)):
        raise TypeError(f"Expected list for '{name}' argument to '{op.lower()}' Op, not {value!r}.")
    if len(numbers) < 5:
        raise invalid(f"Length for attr '{name}' of {len(numbers)} must be at least minimum 5", op)
    return [int(n) for n in numbers]


@strict
def conv3d(
    input: Any, filters: Any, strides: Any, padding: str, data_format: str = "NDHWC", dilations: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The 3-D convolution (cross-correlation) of volumes with filters. Differentiable in both.

    ``input`` is batch (one axis or more) x depth x height x width x channels, ``filters`` depth x height x width x channels in x channels
    out; ``strides`` is a list of five, ``padding`` is "SAME" or "VALID". Raises InvalidArgumentError for shapes that do not fit,
    for the format "NCDHW", and for ``dilations`` other than 1, which ``tf.nn.convolution`` takes.

    >>> import minitape as tf
    >>> y = tf.nn.conv3d(tf.ones([1, 3, 3, 3, 1]), tf.ones([2, 2, 2, 1, 4]), [1, 1, 1, 1, 1], "VALID")
    >>> y.shape, float(y[0, 0, 0, 0, 0])
    (TensorShape([1, 2, 2, 2, 4]), 8.0)
    """
    op = "Conv3D"
    x, k = together(input, filters)
    steps, holes = _five(strides, "strides", op), _five(dilations, "dilations", op)
    _check_texts(op, padding, data_format)
    same_dtype(x, k, op)
    batch = tuple(x.shape)[:-4]
    if len(batch) > 1 and x.shape.is_fully_defined():
        flat = call("reshape", x, shape=(math.prod(batch), *x.shape[-4:]))
        out = conv3d(flat, k, strides, padding, data_format, dilations)
        return call("reshape", out, shape=(*batch, *out.shape[1:]))
    for what, tensor in (("input", x), ("filter", k)):
        if tensor.ndim != 5:
            raise invalid(f"{what} must be 5-dimensional", op)
    for what, numbers in (("strides", steps), ("dilations", holes)):
        if numbers[0] != 1 or numbers[4] != 1:
            text = f"Current implementation does not yet support {what} in the batch and depth dimensions."
            raise invalid(text, op)
        if min(numbers) <= 0:
            which = "Spatial strides" if what == "strides" else "Dilated rates"
            raise invalid(f"{which} should be larger than 0.", op)
    if max(holes) > 1:
        raise invalid(f"CPU implementation of {op} currently only supports dilated rates of 1.", op)
    return dilated3d(x, k, steps, padding, holes)


def dilated3d(x: Any, k: Any, steps: list[int], padding: str, holes: list[int]) -> Any:
    """The convolution after the checks; with dilations, which ``convolution`` takes and ``conv3d`` does not."""
    pads = pads_of(padding, x.shape[1:4], k.shape[:3], steps[1:4], holes[1:4])
    return grouped("conv3d", x, k, {"strides": tuple(steps[1:4]), "pads": pads, "dilations": tuple(holes[1:4])})


@strict
def conv3d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: str = "SAME", data_format: str = "NDHWC",
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The adjoint of ``conv3d``: ``filters`` are depth x height x width x channels out x channels in. Differentiable in both.

    ``output_shape`` (five sizes) says which of the possible sizes the result has; InvalidArgumentError when that cannot
    be.

    >>> import minitape as tf
    >>> tf.nn.conv3d_transpose(tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 3, 1]), [1, 4, 4, 4, 3], 2).shape
    TensorShape([1, 4, 4, 4, 3])
    """
    op = "Conv3DBackpropInputV2"
    g, k = together(input, filters)
    steps, holes = spatial(strides, 3, "strides", 4), spatial(dilations, 3, "dilations", 4)
    _check_texts(op, padding, data_format)
    same_dtype(k, g, op)
    shape = tuple(int(n) for n in static(output_shape))
    for what, rank in (("input_sizes", len(shape)), ("filter_sizes", k.ndim), ("out_backprop", g.ndim)):
        if rank != 5:
            raise invalid(f"{what} tensor must have 5 dimensions", op)
    if g.shape[0] != shape[0]:
        raise invalid("input_sizes and out_backprop must have the same batch size", op)
    if shape[4] != k.shape[3]:
        raise invalid("input_sizes and filter_sizes must have the same number of channels", op)
    if g.shape[4] != k.shape[4]:
        raise invalid("out_backprop and filter_sizes must have the same number of channels. "
                      f"Got {g.shape[4]} for out_backprop and {k.shape[4]} for filter_sizes", op)  # fmt: skip
    pads = pads_of(padding, shape[1:4], k.shape[:3], steps[1:4], holes[1:4])
    for i in (1, 2, 3):
        n, taps, stride, hole = shape[i], k.shape[i - 1], steps[i], holes[i]
        computed = (n + sum(pads[i - 1]) - ((taps - 1) * hole + 1)) // stride + 1
        if computed != g.shape[i]:
            raise invalid("Conv3DBackpropInputOp: Size of out_backprop doesn't match computed: actual = "
                          f"{g.shape[i]}, computed = {computed} spatial_dim: {i} input: {n} filter: {taps} output: "
                          f"{g.shape[i]} stride: {stride} dilation: {hole}", op)  # fmt: skip
    return call("conv3d_input", g, k, shape=shape, strides=tuple(steps[1:4]), pads=pads, dilations=tuple(holes[1:4]))


def pool3d(kind: str, input: Any, ksize: Any, strides: Any, padding: Any, data_format: str) -> Any:
    """The largest or the mean of each window, after TensorFlow's checks."""
    op = "MaxPool3D" if kind == "max_pool" else "AvgPool3D"
    x = tensor_of(input)
    window, steps = spatial(ksize, 3, "ksize", 4), spatial(strides, 3, "strides", 4)
    accept(op, x.dtype)
    _check_texts(op, padding, data_format)
    if min(window) <= 0:
        raise invalid("Sliding window ksize field must have non-negative dimensions", op)
    if min(steps) <= 0:
        raise invalid(f"Stride must be > 0, but got {min(steps)}", op)
    if x.ndim != 5:
        raise invalid("tensor_in must be 5-dimensional", op)
    for at, axis in ((0, "batch"), (4, "depth")):
        if window[at] != 1 or steps[at] != 1:
            raise unimplemented(f"Pooling is not yet supported on the {axis} dimension.", op)
    pads = pads_of(padding, x.shape[1:4], window[1:4], steps[1:4], (1, 1, 1))
    return call(f"{kind}3d", x, size=tuple(window[1:4]), strides=tuple(steps[1:4]), pads=pads)


@strict
def max_pool3d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NDHWC", name: str | None = None
) -> Tensor:
    """The largest element of each window of depth x height x width; ``padding`` is "SAME" or "VALID". Differentiable.

    Raises InvalidArgumentError unless ``input`` is batch x depth x height x width x channels, and for doubles.

    >>> import minitape as tf
    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> print(tf.nn.max_pool3d(volume, ksize=2, strides=2, padding="VALID").numpy().ravel())
    [7.]
    """
    return pool3d("max_pool", input, ksize, strides, padding, data_format)


@strict
def avg_pool3d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NDHWC", name: str | None = None
) -> Tensor:
    """The mean of each window of depth x height x width; elements outside the volume do not count. Differentiable.

    Raises InvalidArgumentError unless ``input`` is batch x depth x height x width x channels.

    >>> import minitape as tf
    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> print(tf.nn.avg_pool3d(volume, ksize=2, strides=2, padding="VALID").numpy().ravel())
    [3.5]
    """
    return pool3d("avg_pool", input, ksize, strides, padding, data_format)
