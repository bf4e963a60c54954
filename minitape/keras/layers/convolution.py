"""Convolution and pooling of images."""

from __future__ import annotations

from typing import Any

from ... import tf
from ..calls import InputSpec
from ..layer import Layer
from .common import Affine, channels_last, pair, windows


class Conv2D(Affine):
    """Slides ``filters`` kernels over the two middle axes of (batch, height, width, channels).

    ``padding`` is "valid" or "same"; the arguments behind ``dilation_rate`` are those of ``Dense``. Raises ValueError
    for another order of the axes, for strides together with a dilation and for a kernel that does not fit into the
    input.

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


class _Pooling2D(Layer):
    """Windows over the two middle axes, one result of each, which ``_pool`` computes."""

    _pool: Any

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.data_format = channels_last(data_format)
        self.pool_size = pair(pool_size, "pool_size")
        self.strides = self.pool_size if strides is None else pair(strides, "strides")
        self.padding = padding
        self.input_spec = InputSpec(ndim=4)

    def call(self, inputs: Any) -> Any:
        """The pooled inputs."""
        return type(self)._pool(inputs, list(self.pool_size), list(self.strides), self.padding.upper())

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape with a size for each window; ValueError where none fits into the input."""
        batch, *sizes, channels = input_shape
        given = zip(sizes, self.pool_size, self.strides, strict=True)
        found = [windows(n, size, step, self.padding.lower()) for n, size, step in given]
        if any(n is not None and n <= 0 for n in found):
            shape, pool = (" ".join(map(str, numbers)) for numbers in (input_shape, self.pool_size))
            raise ValueError(
                f"Computed output size would be zero or negative. Received: `inputs.shape=[{shape}]`, "
                f"`pool_size=[{pool}]`, `strides={self.strides}`, `padding={self.padding}`."
            )
        return (batch, *found, channels)


class MaxPooling2D(_Pooling2D):
    """The largest element under each window of (batch, height, width, channels).

    The inputs are floats; windows of ``pool_size`` are ``strides`` apart (as far as they are wide by default), with
    ``padding`` "same" also over the edge. Differentiable: the gradient goes to the largest element. Raises ValueError
    for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.MaxPooling2D()(tf.ones([1, 4, 4, 3])).shape
    TensorShape([1, 2, 2, 3])
    """

    _pool = staticmethod(tf.nn.max_pool2d)


class AveragePooling2D(_Pooling2D):
    """The mean of the elements under each window of (batch, height, width, channels); arguments as of ``MaxPooling2D``.

    >>> import minitape as tf
    >>> tf.keras.layers.AveragePooling2D(2)(tf.reshape(tf.range(16.0), (1, 4, 4, 1))).numpy()[0, :, :, 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """

    _pool = staticmethod(tf.nn.avg_pool2d)


class _GlobalPooling2D(Layer):
    """One result for each channel of an image, which ``_reduce`` computes."""

    _reduce: Any

    def __init__(self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format, self.keepdims = channels_last(data_format), keepdims
        self.input_spec = InputSpec(ndim=4)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The results for all of height and width."""
        return type(self)._reduce(inputs, [1, 2], keepdims=self.keepdims)


class GlobalAveragePooling2D(_GlobalPooling2D):
    """The mean over height and width of (batch, height, width, channels).

    The inputs are floats; the outputs are (batch, channels), with ``keepdims`` (batch, 1, 1, channels). Differentiable.
    Raises ValueError for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.GlobalAveragePooling2D()(tf.reshape(tf.range(8.0), (1, 2, 2, 2))).numpy()
    array([[3., 4.]], dtype=float32)
    """

    _reduce = staticmethod(tf.reduce_mean)


class GlobalMaxPooling2D(_GlobalPooling2D):
    """The largest over height and width, as ``GlobalAveragePooling2D``; equal ones share the gradient.

    >>> import minitape as tf
    >>> tf.keras.layers.GlobalMaxPooling2D(keepdims=True)(tf.reshape(tf.range(8.0), (1, 2, 2, 2))).numpy()
    array([[[[6., 7.]]]], dtype=float32)
    """

    _reduce = staticmethod(tf.reduce_max)
