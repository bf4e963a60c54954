"""Convolution and pooling of ``tf.nn``, in the format batch, (height,) width, channels ("NHWC", "NWC").

Three spatial axes are in :mod:`minitape.nn.volumes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.errors import UnimplementedError
from ...engine.invalid import invalid, shown
from ...engine.opdefs import accept_text
from ...engine.operands import call, mismatch, static, strict, tensor_of, together
from ...engine.primitives import convolution as primitives
from ...engine.state import state
from ...engine.tensor import Tensor


def unimplemented(message: str, op: str) -> UnimplementedError:
    return UnimplementedError(None, None, f"{message} [Op:{op}] name: ")


def spatial(value: Any, n: int, name: str, channel: int) -> list[int]:
    """A strides, dilations or window argument as one number for each axis of the tensor."""
    numbers = static(value)
    numbers = [1 if value is None else numbers] if not isinstance(numbers, (list, tuple)) else list(numbers)
    if len(numbers) not in (1, n, n + 2):
        raise ValueError(
            f"{name} should be of length 1, {n} or {n + 2}. Received: {name}={value} of length {len(numbers)}"
        )
    if len(numbers) == n + 2:
        return [int(v) for v in numbers]
    numbers = [int(v) for v in (numbers * n if len(numbers) == 1 else numbers)]
    return [1, *numbers, 1] if channel == n + 1 else [1, 1, *numbers]


def pads_of(padding: Any, size: Any, window: Any, strides: Any, dilations: Any) -> tuple[tuple[int, int], ...]:
    """Zeros before and after each spatial axis; ValueError for a list without a pair for each axis."""
    if not isinstance(padding, str):
        pairs = list(padding)
        if len(pairs) != len(size) + 2:
            raise ValueError(f"When padding is a list, it must be of size {len(size) + 2}. Received: padding={padding} of "
                             f"size {len(pairs)}")  # fmt: skip
        return tuple(tuple(int(v) for v in pair) for pair in pairs[1:-1])
    if padding == "VALID":
        return ((0, 0),) * len(size)
    pads = []
    for n, k, s, d in zip(size, window, strides, dilations, strict=True):
        total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def check_windows(size: Any, window: Any, strides: Any, dilations: Any, pads: Any, op: str) -> None:
    """InvalidArgumentError where a window is so much larger than the image that there is no place for it.

    Where it is a little larger, a convolution has no elements, and pooling fails.
    """
    for n, k, s, d, pad in zip(size, window, strides, dilations, pads, strict=True):
        reach = (k - 1) * d + 1
        if n is None:
            continue
        if state.graph is not None and n + sum(pad) < reach:  # which is refused while the graph is being built
            raise ValueError(f"Negative dimension size caused by subtracting {reach} from {n + sum(pad)}")
        left = n + sum(pad) - reach + s
        count = left // s if left >= 0 else -(-left // s)  # as the kernel divides, towards zero
        if count < 0 or (count == 0 and op.endswith("Pool")):
            raise invalid(f"Computed output size would be {'negative' if count else 'zero'}: {count} [input_size: {n}, "
                          f"effective_filter_size: {reach}, stride: {s}]", op)  # fmt: skip


def check_texts(op: str, padding: Any, data_format: str) -> None:
    if isinstance(padding, str):
        accept_text(op, "padding", padding)
    accept_text(op, "data_format", data_format)
    if data_format != "NHWC":
        if op == "AvgPool":
            raise invalid("Default AvgPoolingOp only supports NHWC on device type CPU", op)
        if op == "MaxPool":
            raise invalid("Default MaxPoolingOp only supports NHWC on device type CPU", op)
        if op == "Conv2DBackpropInput":
            raise invalid("Conv2DCustomBackpropInputOp only supports NHWC.", op)
        raise unimplemented(f"The {op} op currently only supports the NHWC tensor format on the CPU. The op was given "
                             f"the format: {data_format}", op)  # fmt: skip


def _layout(x: Any, k: Any, strides: Any, padding: Any, dilations: Any, op: str) -> dict[str, Any]:
    """The attributes of a convolution primitive, after TensorFlow's checks."""
    if strides[0] != 1 or strides[3] != 1:
        raise unimplemented(
            "Current implementation does not yet support strides in the batch and depth dimensions.", op
        )
    if min(strides) <= 0:
        raise invalid("Row and column strides should be larger than 0.", op)
    if dilations[0] != 1 or dilations[3] != 1:
        raise unimplemented(
            "Current implementation does not yet support dilations in the batch and depth dimensions.", op
        )
    if min(dilations) <= 0:
        raise invalid("Dilated rates should be larger than 0.", op)
    pads = pads_of(padding, x.shape[1:3], k.shape[:2], strides[1:3], dilations[1:3])
    check_windows(x.shape[1:3], k.shape[:2], strides[1:3], dilations[1:3], pads, op)
    return {"strides": tuple(strides[1:3]), "pads": pads, "dilations": tuple(dilations[1:3])}


def same_dtype(x: Any, k: Any, op: str) -> None:
    if x.dtype is not k.dtype:
        raise mismatch(op, 1, x.dtype, k.dtype)


def _batched(x: Any, rank: int) -> tuple[Any, tuple[int, ...]]:
    """x with all leading batch axes made one; and those axes."""
    extra = x.ndim - rank
    if extra <= 0:
        return x, ()
    return call("reshape", x, shape=(-1, *x.shape[extra + 1 :])), tuple(x.shape[: extra + 1])


@strict
def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str = "NHWC", dilations: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The 2-D convolution (cross-correlation) of images with filters.

    ``input`` is batch x height x width x channels, ``filters`` height x width x channels in x channels out.
    ``strides`` and ``dilations`` are an int or a list; ``padding`` is "SAME", "VALID" or a list of pairs. The number
    of input channels may be a multiple of the filters' (grouped convolution). Differentiable in both. Raises
    InvalidArgumentError for shapes that do not fit, UnimplementedError for the format "NCHW".

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> print(tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), strides=1, padding="VALID").numpy().reshape(2, 2).tolist())
    [[8.0, 12.0], [20.0, 24.0]]
    """
    x, k = together(input, filters)
    channel = 3 if data_format == "NHWC" else 1
    steps, holes = spatial(strides, 2, "strides", channel), spatial(dilations, 2, "dilations", channel)
    check_texts("Conv2D", padding, data_format)
    same_dtype(x, k, "Conv2D")
    x, batch = _batched(x, 4)
    if x.ndim != 4:
        raise invalid(f"convolution input must be 4-dimensional: {shown(x.shape)}", "Conv2D")
    if k.ndim != 4:
        raise invalid(f"convolution filter must be 4-dimensional: {shown(k.shape)}", "Conv2D")
    attrs = _layout(x, k, steps, padding, holes, "Conv2D")
    out = grouped("conv2d", x, k, attrs)
    return call("reshape", out, shape=(*batch, *out.shape[1:])) if batch else out


def grouped(kind: str, x: Any, k: Any, attrs: dict[str, Any]) -> Any:
    """A convolution whose filters see one group of the input channels each."""
    depth, own, outputs = x.shape[-1], k.shape[-2], k.shape[-1]
    op = primitives.TABLE[kind].op
    if 0 in tuple(k.shape)[:-1]:
        raise invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)", op)
    if depth % own:
        which = "input" if kind == "conv2d" else "Input"
        raise invalid(f"{which} depth must be evenly divisible by filter depth: {depth} vs {own}", op)
    groups = depth // own
    if groups == 1:
        return call(kind, x, k, **attrs)
    if outputs % groups:
        raise invalid(f"output depth must be evenly divisible by number of groups: {outputs} vs {groups}", op)
    wide = outputs // groups
    everywhere = (slice(None),) * (x.ndim - 1)
    parts = []
    for i in range(groups):
        own_channels = call("slice", x, spec=(*everywhere, slice(i * own, (i + 1) * own)))
        own_filters = call("slice", k, spec=(*everywhere, slice(i * wide, (i + 1) * wide)))
        parts.append(call(kind, own_channels, own_filters, **attrs))
    return call("concat", *parts, axis=x.ndim - 1)


def _with_height(x: Any, axis: int) -> Any:
    shape = list(x.shape)
    return call("reshape", x, shape=(*shape[:axis], 1, *shape[axis:]))


def _without_height(x: Any) -> Any:
    shape = list(x.shape)
    return call("reshape", x, shape=(*shape[:-3], *shape[-2:]))


@strict
def conv1d(
    input: Any, filters: Any, stride: Any, padding: Any, data_format: str = "NWC", dilations: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The convolution of sequences: batch x width x channels with width x channels in x out. Differentiable.

    >>> import minitape as tf
    >>> x = tf.reshape(tf.range(4.0), [1, 4, 1])
    >>> print(tf.nn.conv1d(x, tf.ones([2, 1, 1]), stride=1, padding="VALID").numpy().reshape(-1))
    [1. 3. 5.]
    """
    _only_nwc(data_format)
    x, k = together(input, filters)
    steps, holes = spatial(stride, 1, "stride", 2), spatial(dilations, 1, "dilations", 2)
    out = conv2d(
        _with_height(x, x.ndim - 2), _with_height(k, 0), [1, 1, *steps[1:]], padding, "NHWC", [1, 1, *holes[1:]]
    )
    return _without_height(out)


@strict
def convolution(
    input: Any, filters: Any, strides: Any = None, padding: str = "VALID", data_format: str | None = None,
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The convolution over one to three spatial axes, as many as ``filters`` have; see ``conv1d``, ``conv2d``, ``conv3d``.

    Raises ValueError for more.

    >>> import minitape as tf
    >>> tf.nn.convolution(tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 2, 1])).shape
    TensorShape([1, 3, 3, 1])
    """
    k = tensor_of(filters)
    if k.ndim == 3:
        return conv1d(input, k, 1 if strides is None else strides, padding, data_format or "NWC", dilations)
    if k.ndim == 4:
        return conv2d(input, k, 1 if strides is None else strides, padding, data_format or "NHWC", dilations)
    if k.ndim == 5:
        from .volumes import conv3d, dilated3d

        steps, holes = spatial(strides, 3, "strides", 4), spatial(dilations, 3, "dilations", 4)
        if max(holes) > 1 == max(steps):
            x, k = together(input, k)
            return dilated3d(x, k, steps, padding, holes)
        return conv3d(input, k, steps, padding, data_format or "NDHWC", holes)
    raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={k.ndim - 2}.")


@strict
def atrous_conv2d(value: Any, filters: Any, rate: int, padding: str, name: str | None = None) -> Tensor:
    """A 2-D convolution whose filter taps lie ``rate`` apart. Differentiable.

    >>> import minitape as tf
    >>> tf.nn.atrous_conv2d(tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 2, 1]), 2, "VALID").shape
    TensorShape([1, 2, 2, 1])
    """
    return conv2d(value, filters, 1, padding, dilations=rate)


@strict
def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: str | None = None, dilations: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolves each channel with its own filters: height x width x channels x multiplier. Differentiable in both.

    The result has channels * multiplier channels. ``strides`` is a list of four; InvalidArgumentError unless those over
    height and width are equal.

    >>> import minitape as tf
    >>> tf.nn.depthwise_conv2d(tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 3]), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 6])
    """
    op, given = "DepthwiseConv2dNative", static(strides)
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"Expected list for 'strides' argument to 'depthwise_conv2d_native' Op, not {strides!r}.")
    if len(given) != 4:
        raise invalid("Sliding window strides field must specify 4 or 5 dimensions", op)
    x, k = together(input, filter)
    steps, holes = spatial(given, 2, "strides", 3), spatial(dilations, 2, "dilations", 3)
    check_texts(op, padding, data_format or "NHWC")
    same_dtype(x, k, op)
    if x.ndim != 4 or k.ndim != 4:
        name, wrong = ("input", x) if x.ndim != 4 else ("filter", k)
        raise invalid(f"{name} must be 4-dimensional{shown(wrong.shape)}", op)
    if steps[1] != steps[2]:
        raise invalid("Current implementation only supports equal length strides in the row and column dimensions.", op)
    if x.shape[3] != k.shape[2]:
        raise invalid(f"input and filter must have the same depth: {x.shape[3]} vs {k.shape[2]}", op)
    return call("depthwise", x, k, **_layout(x, k, steps, padding, holes, op))


@strict
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A depthwise convolution followed by a 1 x 1 convolution that mixes the channels. Differentiable in all three.

    >>> import minitape as tf
    >>> x = tf.ones([1, 3, 3, 2])
    >>> tf.nn.separable_conv2d(x, tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 3]), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 3])
    """
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(deep, pointwise_filter, 1, "VALID")


# -- pooling ----------------------------------------------------------------------------------------------------------


def _pool(kind: str, input: Any, ksize: Any, strides: Any, padding: Any, data_format: str) -> Any:
    op = "MaxPool" if kind == "max_pool" else "AvgPool"
    x = tensor_of(input)
    check_texts(op, padding, data_format)
    if x.ndim != 4:
        raise invalid(f"tensor_in_shape must have 2 spatial dimensions. {x.ndim} {0 if x.ndim < 4 else x.ndim - 2}", op)
    return call(kind, x, **pool_windows(x, ksize, strides, padding, op))


def pool_windows(x: Any, ksize: Any, strides: Any, padding: Any, op: str) -> dict[str, Any]:
    """The attributes of a pooling primitive over the height and width of x, after TensorFlow's checks."""
    window, steps = spatial(ksize, 2, "ksize", 3), spatial(strides, 2, "strides", 3)
    if min(window) <= 0:
        raise invalid(
            f"Sliding window ksize must be positive. The specified or inferred ksize is: {','.join(map(str, window))}",
            op,
        )
    if window[0] != 1 or window[3] != 1 or steps[0] != 1 or steps[3] != 1:
        raise unimplemented("Pooling is not yet supported on the batch or channel dimension.", op)
    if min(steps) <= 0:
        raise invalid(f"Stride must be > 0, but got {min(steps)}", op)
    pads = pads_of(padding, x.shape[1:3], window[1:3], steps[1:3], (1, 1))
    check_windows(x.shape[1:3], window[1:3], steps[1:3], (1, 1), pads, op)
    return {"size": tuple(window[1:3]), "strides": tuple(steps[1:3]), "pads": pads}


@strict
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


@strict
def avg_pool2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """The mean of each window of height x width; elements outside the image do not count. Differentiable; floats only.

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> print(tf.nn.avg_pool2d(image, ksize=2, strides=2, padding="VALID").numpy().reshape(-1))
    [ 2.5  4.5 10.5 12.5]
    """
    return _pool("avg_pool", input, ksize, strides, padding, data_format)


def _pool1d(kind: str, input: Any, ksize: Any, strides: Any, padding: Any) -> Any:
    x = tensor_of(input)
    window, steps = spatial(ksize, 1, "ksize", 2), spatial(strides, 1, "strides", 2)
    pads = padding if isinstance(padding, str) else [[0, 0], *padding]
    out = _pool(kind, _with_height(x, x.ndim - 2), [1, 1, window[1], 1], [1, 1, steps[1], 1], pads, "NHWC")
    return _without_height(out)


@strict
def max_pool1d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """The largest element of each window of a sequence, batch x width x channels. Differentiable.

    >>> import minitape as tf
    >>> x = tf.reshape(tf.range(4.0), [1, 4, 1])
    >>> print(tf.nn.max_pool1d(x, ksize=2, strides=2, padding="VALID").numpy().reshape(-1))
    [1. 3.]
    """
    _only_nwc(data_format)
    return _pool1d("max_pool", input, ksize, strides, padding)


@strict
def avg_pool1d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """The mean of each window of a sequence, batch x width x channels. Differentiable.

    >>> import minitape as tf
    >>> x = tf.reshape(tf.range(4.0), [1, 4, 1])
    >>> print(tf.nn.avg_pool1d(x, ksize=2, strides=2, padding="VALID").numpy().reshape(-1))
    [0.5 2.5]
    """
    _only_nwc(data_format)
    return _pool1d("avg_pool", input, ksize, strides, padding)


def _only_nwc(data_format: str) -> None:
    if data_format != "NWC":
        raise ValueError(
            f"`data_format` must be 'NWC': the other formats have no kernel on the CPU. Received: {data_format}"
        )


def _any_rank(kind: str, input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None) -> Any:
    x = tensor_of(input)
    if x.ndim == 3:
        _only_nwc(data_format or "NWC")
        return _pool1d(kind, x, ksize, strides, padding)
    if x.ndim == 4:
        return _pool(kind, x, ksize, strides, padding, data_format or "NHWC")
    if x.ndim == 5:
        from .volumes import pool3d

        return pool3d(kind, x, ksize, strides, padding, data_format or "NDHWC")
    raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x.shape} of rank {x.ndim}.")


@strict
def max_pool(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """The largest element of each window over one to three spatial axes, by the rank of ``input``. Differentiable.

    >>> import minitape as tf
    >>> tf.nn.max_pool(tf.ones([1, 4, 4, 1]), 2, 2, "VALID").shape
    TensorShape([1, 2, 2, 1])
    """
    return _any_rank("max_pool", input, ksize, strides, padding, data_format)


@strict
def avg_pool(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """The mean of each window over one to three spatial axes, by the rank of ``input``. Differentiable.

    >>> import minitape as tf
    >>> tf.nn.avg_pool(tf.ones([1, 4, 1]), 2, 2, "VALID").shape
    TensorShape([1, 2, 1])
    """
    return _any_rank("avg_pool", input, ksize, strides, padding, data_format)


def _dilated_pool(kind: str, x: Any, window: list[int], rates: list[int], data_format: str | None) -> Any:
    """Pooling, without gaps, of images that each hold every so many elements."""
    from ...ops.blocks import batch_to_space, space_to_batch_nd

    rests = [-size % rate for size, rate in zip(x.shape[1:-1], rates, strict=True)]
    edges = [[0, rest] for rest in rests]
    return batch_to_space(_any_rank(kind, space_to_batch_nd(x, rates, edges), window, 1, "VALID", data_format), rates, edges)


@strict
def pool(
    input: Any, window_shape: Any, pooling_type: str, strides: Any = None, padding: str = "VALID",
    data_format: str | None = None, dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Pooling of type "MAX" or "AVG" over windows of ``window_shape``. Differentiable.

    With ``dilations`` the elements of a window are so many apart. Raises ValueError for another type, for strides larger
    than the window, and for strides or "SAME" beside dilations.

    >>> import minitape as tf
    >>> tf.nn.pool(tf.ones([1, 4, 4, 1]), [2, 2], "MAX").shape
    TensorShape([1, 3, 3, 1])
    """
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: pooling_type={pooling_type}")
    sizes, steps = (np.reshape(static(v), -1) for v in (window_shape, 1 if strides is None else strides))
    if any(steps > sizes):
        raise ValueError(
            "`strides` > `window_shape` not supported due to inconsistency between CPU and GPU implementations. "
            f"Received: strides={steps} and window_shape={window_shape}"
        )
    kind = "max_pool" if pooling_type == "MAX" else "avg_pool"
    rates = np.broadcast_to(np.reshape(static(1 if dilations is None else dilations), -1), sizes.shape)
    if any(rates != 1):
        if any(steps != 1):
            raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                             f"strides={steps} and dilation_rate={rates}")  # fmt: skip
        if padding == "SAME":
            raise ValueError("pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: "
                             f"padding={padding} and dilation_rate={rates}")  # fmt: skip
        return _dilated_pool(kind, tensor_of(input), sizes.tolist(), rates.tolist(), data_format)
    return _any_rank(kind, input, list(window_shape), 1 if strides is None else strides, padding, data_format)
