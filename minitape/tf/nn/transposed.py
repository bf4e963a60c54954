"""The transposed convolution of ``tf.nn``: the adjoint of ``conv2d``, in the format batch, height, width, channels."""

from __future__ import annotations

from typing import Any

from ...engine.tensor.tensor import Tensor
from ...engine.values.invalid import invalid, shown
from ...ops.opdefs import mismatch
from ...ops.operands import call, deferred, static, together
from .convolutions import check_texts, pads_of, spatial


def _check_adjoint(g: Any, k: Any, shape: tuple[int, ...], steps: list[int]) -> None:
    """Whether images g can be what filters k make of images of this shape; InvalidArgumentError if not."""
    op = "Conv2DBackpropInput"
    if g.dtype is not k.dtype:
        raise mismatch(op, 2, k.dtype.kernel_name, g.dtype)
    if len(shape) != 4 or k.ndim != 4 or g.ndim != 4:
        raise invalid(f"{op}: images, filters and input_sizes must be 4-dimensional", op)
    if min(steps) <= 0:
        raise invalid("Row and column strides should be larger than 0.", op)
    if (shape[0], shape[3], g.shape[3]) != (g.shape[0], *k.shape[2:]):
        raise invalid(f"{op}: input_sizes {shape} do not fit images of shape {shown(g.shape)} and filters of shape "
                      f"{shown(k.shape)}", op)  # fmt: skip


@deferred
def conv2d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME", data_format: str = "NHWC",
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The adjoint of ``conv2d``: ``filters`` are height x width x channels out x channels in. Differentiable in both.

    ``output_shape`` (four sizes, or height and width) says which of the possible sizes the result has.
    InvalidArgumentError when that cannot be.

    >>> import minitape as tf
    >>> tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1, 4, 4, 1], 2).shape
    TensorShape([1, 4, 4, 1])
    """
    g, k = together(input, filters)
    steps, holes = spatial(strides, "strides"), spatial(dilations, "dilations")
    check_texts("Conv2DBackpropInput", padding, data_format)
    shape: tuple[Any, ...] = tuple(int(n) for n in static(output_shape))
    if len(shape) == 2:  # height and width; the rest is known
        shape = (g.shape[0], *shape, k.shape[2])
    _check_adjoint(g, k, shape, steps)
    pads = pads_of(padding, shape[1:3], k.shape[:2], steps[1:3], holes[1:3])
    for i in (1, 2):
        reach = (k.shape[i - 1] - 1) * holes[i] + 1
        computed = (shape[i] + sum(pads[i - 1]) - reach) // steps[i] + 1
        if computed != g.shape[i]:
            raise invalid("Conv2DCustomBackpropInput: Size of out_backprop doesn't match computed: actual = "
                          f"{g.shape[i]}, computed = {computed} spatial_dim: {i} input: {shape[i]} filter: "
                          f"{k.shape[i - 1]} output: {g.shape[i]} stride: {steps[i]} dilation: "
                          f"{holes[i]}", "Conv2DBackpropInput")  # fmt: skip
    return call("conv2d_input", g, k, shape=shape, strides=tuple(steps[1:3]), pads=pads, dilations=tuple(holes[1:3]))
