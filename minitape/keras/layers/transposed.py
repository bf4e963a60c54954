"""Transposed convolution: the adjoint of convolution as a layer, which makes images larger."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import activations
from ..layer import InputSpec
from .common import KernelAndBias, length
from .convolution import channels_last, check_filters, check_steps, padding_word, set_windows, sizes


def grown(n: Any, kernel: int, stride: int, padding: str, more: int | None, rate: int) -> Any:
    """How long an axis of length ``n`` (a number, a tensor, or None for unknown) becomes; ``more`` is its output padding."""
    if n is None:
        return None
    reach = (kernel - 1) * rate + 1
    if more is None:
        return n * stride if padding == "same" else (n - 1) * stride + max(reach, stride)
    return (n - 1) * stride + (reach % 2 if padding == "same" else reach) + more


class Conv2DTranspose(KernelAndBias):
    """Spreads each pixel of (batch, height, width, channels) over ``filters`` kernels; overlapping shares are added.

    It is the gradient of a ``Conv2D`` by its input, and so makes height and width ``strides`` times as large: exactly with
    ``padding`` "same", up to the kernel's edge with "valid". ``output_padding`` (less than the strides) says which of the
    sizes that a convolution takes to the input's the output has. The kernel is height x width x filters x channels.
    Differentiable. Raises ValueError for data_format "channels_first", for strides together with a dilation, and for an
    output padding that is not smaller than the strides; InvalidArgumentError for a size that no convolution gives.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Conv2DTranspose(8, 3, strides=2, padding="same")
    >>> layer(tf.ones([1, 7, 7, 4])).shape, layer.kernel.shape
    (TensorShape([1, 14, 14, 8]), TensorShape([3, 3, 8, 4]))
    """

    _config = (
        "filters kernel_size strides padding output_padding data_format dilation_rate activation use_bias "
        "kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer "
        "kernel_constraint bias_constraint"
    )
    _rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        set_windows(self, kernel_size, strides, dilation_rate)
        self.padding = padding_word(padding)
        self.output_padding = (
            None if output_padding is None else sizes(output_padding, "output_padding", self._rank, least=0)
        )
        self.data_format = channels_last(self, data_format)
        check_filters(filters)
        self.filters = filters
        self._check_output_padding()
        check_steps(self.strides, self.dilation_rate)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self._set_kind("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_kind("bias", bias_initializer, bias_regularizer, bias_constraint)
        self.input_spec = InputSpec(min_ndim=self._rank + 2)

    def _check_output_padding(self) -> None:
        for i, (more, stride) in enumerate(zip(self.output_padding or (), self.strides, strict=False)):
            if more >= stride:
                raise ValueError(
                    "`output_padding` must be strictly less than `strides` for all dimensions. At dimension "
                    f"{i}, `output_padding` is {more} but `strides` is {stride}. Received: "
                    f"output_padding={self.output_padding}, strides={self.strides}"
                )

    def build(self, input_shape: Any) -> None:
        """Creates ``kernel`` and ``bias``."""
        channels = input_shape[-1]
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={-1: channels})
        self.kernel, self.bias = self._add_weights((*self.kernel_size, self.filters, channels), self.filters)

    def _grown(self, given: Any) -> list[Any]:
        """The spatial sizes of the outputs for those of the inputs."""
        more = self.output_padding or (None,) * self._rank
        return [
            grown(n, self.kernel_size[i], self.strides[i], self.padding, more[i], self.dilation_rate[i])
            for i, n in enumerate(given)
        ]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The batch, the sizes that the outputs have and the filters, as a list."""
        return [input_shape[0], *self._grown(tuple(input_shape)[1:-1]), self.filters]

    def call(self, inputs: Any) -> Any:
        """The transposed convolution, the bias and the activation."""
        batch, *given = (length(inputs, axis) for axis in range(len(inputs.shape) - 1))
        out = self._spread(inputs, [batch, *self._grown(given), self.filters])
        return self._finished(out)

    def _spread(self, inputs: Any, shape: list[Any]) -> Any:
        """The transposed convolution with outputs of this shape."""
        return tf.nn.conv2d_transpose(
            inputs, self.kernel, shape, list(self.strides), self.padding.upper(), dilations=list(self.dilation_rate)
        )


class Conv1DTranspose(Conv2DTranspose):
    """Spreads each step of (batch, steps, channels) over ``filters`` kernels; overlapping shares are added.

    The kernel is steps x filters x channels. The arguments and errors are those of ``Conv2DTranspose``. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.layers.Conv1DTranspose(2, 3, strides=2)(tf.ones([1, 4, 3])).shape
    TensorShape([1, 9, 2])
    """

    _rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, output_padding, data_format, dilation_rate, activation, use_bias,
            **kwargs,
        )  # fmt: skip

    def _spread(self, inputs: Any, shape: list[Any]) -> Any:
        out = tf.nn.conv2d_transpose(
            tf.expand_dims(inputs, 1), tf.expand_dims(self.kernel, 0), [shape[0], 1, *shape[1:]], [1, *self.strides],
            self.padding.upper(), dilations=[1, *self.dilation_rate],
        )  # fmt: skip
        return tf.squeeze(out, 1)


Convolution1DTranspose, Convolution2DTranspose = Conv1DTranspose, Conv2DTranspose
