"""Convolution over images."""

from __future__ import annotations

from typing import Any

from ... import tf
from ..calls import InputSpec
from .common import Affine, channels_last, pair, windows


class Conv2D(Affine):
    """Slides ``filters`` kernels over the two middle axes of (batch, height, width, channels).

    ``padding`` is "valid" or "same"; the arguments behind ``dilation_rate`` are those of ``Dense``. Raises ValueError for
    another order of the axes, for strides together with a dilation and for a kernel that does not fit into the input.

    >>> import minitape as tf
    >>> tf.keras.layers.Conv2D(4, 3, padding="same")(tf.ones([1, 5, 5, 2])).shape
    TensorShape([1, 5, 5, 4])
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.data_format = channels_last(data_format)
        if filters is None or filters <= 0:
            raise ValueError(
                f"Invalid value for argument `filters`. Expected a strictly positive value. Received filters={filters}."
            )
        self.filters = filters
        self.padding = str(padding).lower()
        if self.padding not in ("valid", "same"):
            raise ValueError(
                f"The `padding` argument must be a list/tuple or one of {{'valid', 'same'}}. Received: {self.padding}"
            )
        self.kernel_size = pair(kernel_size, "kernel_size")
        self.strides = pair(strides, "strides")
        self.dilation_rate = pair(dilation_rate, "dilation_rate")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )
        self.input_spec = InputSpec(min_ndim=4)

    def build(self, input_shape: Any) -> None:
        """Creates ``kernel`` and ``bias``."""
        channels = input_shape[-1]
        self.input_spec = InputSpec(min_ndim=4, axes={-1: channels})
        self.compute_output_shape(input_shape)
        self.kernel = self._add_weights(*self.kernel_size, channels, self.filters)

    def call(self, inputs: Any) -> Any:
        """The convolution, the bias and the activation."""
        strides, rates = list(self.strides), list(self.dilation_rate)
        return self._finished(tf.nn.conv2d(inputs, self.kernel, strides, self.padding.upper(), dilations=rates))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The sizes that are left; ValueError when the kernel does not fit into the input."""
        shape, kernel = tuple(input_shape), (*self.kernel_size, input_shape[-1], self.filters)
        if len(shape) != 4:
            raise ValueError(
                f"Kernel shape must have the same length as input, but received kernel of shape {kernel} and input of "
                f"shape {shape}."
            )
        steps = zip(shape[1:-1], self.kernel_size, self.strides, self.dilation_rate, strict=True)
        found = [windows(n, size, step, self.padding, rate) for n, size, step, rate in steps]
        if any(n is not None and n <= 0 for n in found):
            rates = " ".join(map(str, self.dilation_rate))
            raise ValueError(
                f"Computed output size would be zero or negative. Received `inputs shape={shape}`, "
                f"`kernel shape={kernel}`, `dilation_rate=[{rates}]`, `strides={self.strides}`, "
                f"`padding={self.padding}`."
            )
        return (shape[0], *found, self.filters)
