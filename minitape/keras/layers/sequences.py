"""Convolutions over sequences in which each channel has kernels of its own: (batch, steps, channels)."""

from __future__ import annotations

from typing import Any

from ... import tf
from .depthwise import DepthwiseConv2D, SeparableConv2D, _Depthwise


class _OverSteps(_Depthwise):
    """A depthwise convolution over the only spatial axis, as one over two of which the first has length 1."""

    _rank = 1

    def _deep(self, inputs: Any, kernel: Any) -> Any:
        out = tf.nn.depthwise_conv2d(
            tf.expand_dims(inputs, 1), tf.expand_dims(kernel, 0), [1, *self.strides * 2, 1], self.padding.upper(),
            dilations=[1, *self.dilation_rate],
        )  # fmt: skip
        return tf.squeeze(out, 1)


class DepthwiseConv1D(_OverSteps, DepthwiseConv2D):
    """Slides ``depth_multiplier`` kernels over each channel of (batch, steps, channels) by itself.

    The outputs have channels * depth_multiplier channels. The arguments and errors are those of ``DepthwiseConv2D``.
    Differentiable.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.DepthwiseConv1D(3, depth_multiplier=2)
    >>> layer(tf.ones([1, 5, 4])).shape, layer.kernel.shape
    (TensorShape([1, 3, 8]), TensorShape([3, 4, 2]))
    """

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(kernel_size, strides, padding, depth_multiplier, data_format, dilation_rate, **kwargs)


class SeparableConv1D(_OverSteps, SeparableConv2D):
    """A depthwise convolution of (batch, steps, channels), then ``filters`` mixtures of its channels.

    The arguments and errors are those of ``SeparableConv2D``. Differentiable.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.SeparableConv1D(6, 3, padding="same")
    >>> layer(tf.ones([1, 5, 4])).shape, layer.pointwise_kernel.shape
    (TensorShape([1, 5, 6]), TensorShape([1, 4, 6]))
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, **kwargs)


SeparableConvolution1D = SeparableConv1D
