"""The transposed convolution of ``tf.nn``: the adjoint of ``conv2d``, in the format batch, height, width, channels."""

from __future__ import annotations

from typing import Any

from ...engine.invalid import invalid
from ...engine.operands import call, mismatch, static, strict, together
from ...engine.tensor import Tensor
from .convolution import check_texts, pads_of, spatial
from .volumes import conv3d_transpose


def _check_adjoint(g: Any, k: Any, shape: tuple[int, ...], steps: list[int]) -> None:
    """Whether images g can be what filters k make of images of this shape; InvalidArgumentError if not."""
    op = "Conv2DBackpropInput"
    if g.dtype is not k.dtype:
        raise mismatch(op, 2, k.dtype, g.dtype)
    if len(shape) != 4:
        raise invalid(f"{op} requires input_sizes to contain 4 values or 2 values, but got: {len(shape)}", op)
    if k.ndim != 4:
        raise invalid("Conv2DCustomBackpropInput: filter must be 4-dimensional", op)
    if g.ndim != 4:
        raise invalid(f"input_sizes must be 4-dimensional, got: {g.ndim}", op)
    if min(steps) <= 0:
        raise invalid("Row and column strides should be larger than 0.", op)
    if shape[0] != g.shape[0]:
        raise invalid("Conv2DCustomBackpropInput: input and out_backprop must have the same batch size. Input batch: "
                      f"{shape[0]}, outbackprop batch: {g.shape[0]}, batch_dim: 0", op)  # fmt: skip
    if shape[3] != k.shape[2]:
        raise invalid("Gradients for grouped convolutions are not supported on CPU. Please file a feature request if "
                      f"you run into this issue. Computed input depth {shape[3]} doesn't match filter input depth "
                      f"{k.shape[2]}", op)  # fmt: skip
    if g.shape[3] != k.shape[3]:
        raise invalid("Conv2DCustomBackpropInput: filter and out_backprop must have the same out_depth", op)


@strict
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
    steps, holes = spatial(strides, 2, "strides", 3), spatial(dilations, 2, "dilations", 3)
    check_texts("Conv2DBackpropInput", padding, data_format)
    shape, given = (tuple(int(n) for n in sizes) for sizes in (static(output_shape), g.shape))
    if len(shape) == 2:  # height and width; the rest is known
        shape = (given[0], *shape, k.shape[2])
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


@strict
def conv1d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME", data_format: str = "NWC",
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The adjoint of ``conv1d``: ``filters`` are width x channels out x channels in. Differentiable in both.

    ``output_shape`` (three sizes) says which of the possible sizes the result has. ValueError for another format than
    "NWC", InvalidArgumentError for sizes that cannot be.

    >>> import minitape as tf
    >>> tf.nn.conv1d_transpose(tf.ones([1, 2, 1]), tf.ones([2, 1, 1]), [1, 4, 1], 2).numpy().ravel()
    array([1., 1., 1., 1.], dtype=float32)
    """
    if data_format != "NWC":
        raise ValueError("`data_format` must be 'NWC': the other formats have no kernel on the CPU. "
                         f"Received: data_format={data_format}")  # fmt: skip
    g, k = together(input, filters)
    steps, holes = spatial(strides, 1, "strides", 2), spatial(dilations, 1, "dilations", 2)
    batch, width, channels = (int(n) for n in static(output_shape))
    wide, kernel = (
        call("reshape", t, shape=(*s[:at], 1, *s[at:])) for t, s, at in ((g, tuple(g.shape), 1), (k, tuple(k.shape), 0))
    )
    found = conv2d_transpose(
        wide, kernel, [batch, 1, width, channels], [1, 1, steps[1], 1], padding, "NHWC", [1, 1, holes[1], 1]
    )
    return call("reshape", found, shape=(batch, width, channels))


@strict
def conv_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME", data_format: str | None = None,
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """``conv1d_transpose``, ``conv2d_transpose`` or ``conv3d_transpose``, as many spatial axes as the filters have.

    Differentiable in both. Raises ValueError for more axes, and for an ``output_shape`` of another length.

    >>> import minitape as tf
    >>> tf.nn.conv_transpose(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1, 4, 4, 1], 2).shape
    TensorShape([1, 4, 4, 1])
    """
    if output_shape is None or not (hasattr(output_shape, "shape") or hasattr(output_shape, "__len__")):
        raise ValueError(f"`output_shape` must be a tensor or sized collection. Received: output_shape={output_shape}")
    length = output_shape.shape[0] if hasattr(output_shape, "shape") else len(output_shape)
    if length not in (3, 4, 5, None):
        raise ValueError(f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape} of length "
                         f"{length}.")  # fmt: skip
    rank = together(input, filters)[1].shape.rank
    if rank not in (3, 4, 5):
        raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={rank - 2}.")
    function, usual = ((conv1d_transpose, "NWC"), (conv2d_transpose, "NHWC"), (conv3d_transpose, "NDHWC"))[rank - 3]
    return function(input, filters, output_shape, strides, padding, data_format or usual, dilations)
