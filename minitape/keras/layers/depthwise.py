"""Convolutions in which each channel has kernels of its own."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import activations
from ..layer import InputSpec
from .common import Weighted
from .convolution import channels_last, check_filters, convolved_shape, padding_word, set_windows


class _Depthwise(Weighted):
    """What depthwise and separable convolutions share."""

    _rank = 2

    def _set_windows(
        self, kernel_size: Any, strides: Any, padding: str, data_format: Any, dilation_rate: Any, depth_multiplier: Any
    ) -> None:
        """Takes the arguments that say where the windows are."""
        set_windows(self, kernel_size, strides, dilation_rate)
        self.padding = padding_word(padding)
        self.data_format = channels_last(self, data_format)
        if depth_multiplier is not None and depth_multiplier <= 0:
            raise ValueError("Invalid value for argument `depth_multiplier`. Expected a strictly positive value. "
                             f"Received depth_multiplier={depth_multiplier}.")  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self.input_spec = InputSpec(min_ndim=self._rank + 2)

    def _deep(self, inputs: Any, kernel: Any) -> Any:
        """The depthwise convolution."""
        return tf.nn.depthwise_conv2d(
            inputs, kernel, [1, *self.strides, 1], self.padding.upper(), dilations=list(self.dilation_rate)
        )


class DepthwiseConv2D(_Depthwise):
    """Slides ``depth_multiplier`` kernels over each channel of (batch, height, width, channels) by itself.

    The outputs have channels * depth_multiplier channels, the kernel is height x width x channels x depth_multiplier.
    ``padding`` is "valid" or "same". Differentiable. Raises ValueError for data_format "channels_first" and for a kernel
    that does not fit into the input.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.DepthwiseConv2D(3, depth_multiplier=2)
    >>> layer(tf.ones([1, 5, 5, 4])).shape, layer.kernel.shape
    (TensorShape([1, 3, 3, 8]), TensorShape([3, 3, 4, 2]))
    """

    _config = (
        "depth_multiplier kernel_size strides padding data_format dilation_rate activation use_bias "
        "depthwise_initializer bias_initializer depthwise_regularizer bias_regularizer activity_regularizer "
        "depthwise_constraint bias_constraint"
    )

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_windows(kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self._set_kind("depthwise", depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        self._set_kind("bias", bias_initializer, bias_regularizer, bias_constraint)

    def build(self, input_shape: Any) -> None:
        """Creates ``kernel`` and ``bias``."""
        channels = input_shape[-1]
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={-1: channels})
        self.compute_output_shape(input_shape)
        self.kernel = self._weight("kernel", "depthwise", (*self.kernel_size, channels, self.depth_multiplier))
        self.bias = self._weight("bias", "bias", (self.depth_multiplier * channels,)) if self.use_bias else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The sizes that are left; ValueError when the kernel does not fit into the input."""
        return convolved_shape(self, input_shape, self.depth_multiplier * input_shape[-1])

    def call(self, inputs: Any) -> Any:
        """The convolution, the bias and the activation."""
        out = self._deep(inputs, self.kernel)
        return self._finished(out)


class SeparableConv2D(_Depthwise):
    """A depthwise convolution of (batch, height, width, channels), then ``filters`` mixtures of its channels.

    The weights are ``depthwise_kernel`` (see ``DepthwiseConv2D``), ``pointwise_kernel`` (1 x 1 x channels *
    depth_multiplier x filters) and ``bias``. Differentiable. Raises ValueError for data_format "channels_first" and for a
    kernel that does not fit into the input.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.SeparableConv2D(6, 3)
    >>> layer(tf.ones([1, 5, 5, 4])).shape, [w.name for w in layer.weights]
    (TensorShape([1, 3, 3, 6]), ['depthwise_kernel', 'pointwise_kernel', 'bias'])
    """

    _config = (
        "depth_multiplier filters kernel_size strides padding data_format dilation_rate activation use_bias "
        "depthwise_initializer pointwise_initializer bias_initializer depthwise_regularizer pointwise_regularizer "
        "bias_regularizer activity_regularizer depthwise_constraint pointwise_constraint bias_constraint"
    )

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_windows(kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier)
        check_filters(filters)
        self.filters = filters
        self.activation, self.use_bias = activations.get(activation), use_bias
        self._set_kind("depthwise", depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        self._set_kind("pointwise", pointwise_initializer, pointwise_regularizer, pointwise_constraint)
        self._set_kind("bias", bias_initializer, bias_regularizer, bias_constraint)

    def build(self, input_shape: Any) -> None:
        """Creates ``depthwise_kernel``, ``pointwise_kernel`` and ``bias``."""
        channels = input_shape[-1]
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={-1: channels})
        self.compute_output_shape(input_shape)
        self.depthwise_kernel = self._weight(
            "depthwise_kernel", "depthwise", (*self.kernel_size, channels, self.depth_multiplier)
        )
        self.pointwise_kernel = self._weight(
            "pointwise_kernel", "pointwise", (*(1,) * self._rank, self.depth_multiplier * channels, self.filters)
        )
        self.bias = self._weight("bias", "bias", (self.filters,)) if self.use_bias else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The sizes that are left; ValueError when the kernel does not fit into the input."""
        return convolved_shape(self, input_shape, self.filters)

    def call(self, inputs: Any) -> Any:
        """Both convolutions, the bias and the activation."""
        out = tf.nn.convolution(self._deep(inputs, self.depthwise_kernel), self.pointwise_kernel)
        return self._finished(out)


SeparableConvolution2D = SeparableConv2D
