"""Pooling: the largest or the mean of the elements under a window, or of all."""

from __future__ import annotations

from typing import Any

from ... import tf
from ..base import standardize_data_format
from ..layer import InputSpec, Layer
from .convolution import sizes, windows


class _Pooling2D(Layer):
    _pool = ""
    _rank = 2

    _config = "pool_size padding strides data_format"

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        if self.data_format != "channels_last":
            raise ValueError(
                f"minitape's pooling supports data_format='channels_last' only. Received: data_format={data_format}"
            )
        self.pool_size = sizes(pool_size, "pool_size", self._rank)
        self.strides = self.pool_size if strides is None else sizes(strides, "strides", self._rank)
        self.padding = padding
        self.input_spec = InputSpec(ndim=self._rank + 2)

    def call(self, inputs: Any) -> Any:
        """The pooled inputs."""
        pool = getattr(tf.nn, self._pool)
        return pool(inputs, list(self.pool_size), list(self.strides), self.padding.upper())

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape with a size for each window; ValueError where none fits into the input."""
        batch, *sizes, channels = input_shape
        given = zip(sizes, self.pool_size, self.strides, strict=True)
        found = [windows(n, size, step, self.padding.lower()) for n, size, step in given]
        if any(n is not None and n <= 0 for n in found):
            shape, pool = (" ".join(map(str, numbers)) for numbers in (input_shape, self.pool_size))
            raise ValueError(f"Computed output size would be zero or negative. Received: `inputs.shape=[{shape}]`, "
                             f"`pool_size=[{pool}]`, `strides={self.strides}`, `padding={self.padding}`.")  # fmt: skip
        return (batch, *found, channels)


class MaxPooling2D(_Pooling2D):
    """The largest element under each window of (batch, height, width, channels).

    The inputs are floats; windows of ``pool_size`` stand ``strides`` apart (as far as they are wide by default), with
    ``padding`` "same" also over the edge. Differentiable: the gradient goes to the largest element. Raises ValueError
    for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.MaxPooling2D()(tf.ones([1, 4, 4, 3])).shape
    TensorShape([1, 2, 2, 3])
    """

    _pool = "max_pool2d"


class AveragePooling2D(_Pooling2D):
    """The mean of the elements under each window of (batch, height, width, channels).

    The inputs are floats; windows of ``pool_size`` stand ``strides`` apart (as far as they are wide by default), with
    ``padding`` "same" also over the edge. Differentiable. Raises ValueError for inputs of another number of axes.

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(16.0), (1, 4, 4, 1))
    >>> tf.keras.layers.AveragePooling2D(2)(image).numpy()[0, :, :, 0]
    array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """

    _pool = "avg_pool2d"

    def __init__(
        self, pool_size: Any, strides: Any = None, padding: str = "valid", data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class _Pooling1D(_Pooling2D):
    _rank = 1

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: str = "valid", data_format: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class MaxPooling1D(_Pooling1D):
    """The largest element under each window of (batch, steps, features).

    The inputs are floats; windows of ``pool_size`` steps stand ``strides`` apart (as far as they are long by default), with
    ``padding`` "same" also over the edge. Differentiable: the gradient goes to the largest element. Raises ValueError
    for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.MaxPooling1D(2)(tf.constant([[[1.0], [3.0], [2.0], [0.0]]])).numpy().tolist()
    [[[3.0], [2.0]]]
    """

    _pool = "max_pool1d"


class AveragePooling1D(_Pooling1D):
    """The mean of the elements under each window of (batch, steps, features).

    The inputs are floats; windows of ``pool_size`` steps stand ``strides`` apart (as far as they are long by default), with
    ``padding`` "same" also over the edge. Differentiable. Raises ValueError for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.AveragePooling1D(2)(tf.constant([[[1.0], [3.0], [2.0], [0.0]]])).numpy().tolist()
    [[[2.0], [1.0]]]
    """

    _pool = "avg_pool1d"


class _Global(Layer):
    _rank, _reduce = 3, "reduce_mean"

    _config = "data_format keepdims"

    def __init__(self, data_format: str | None = None, keepdims: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format, self.keepdims = standardize_data_format(data_format), keepdims
        self.input_spec = InputSpec(ndim=self._rank)
        self.supports_masking = self._rank == 3 and self._reduce == "reduce_mean"
        self.built = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """The pooled inputs; steps that the mask leaves out do not count in a mean."""
        first = self.data_format == "channels_first"
        axes = list(range(2, self._rank)) if first else list(range(1, self._rank - 1))
        if mask is not None and self.supports_masking:
            weight = tf.expand_dims(tf.cast(mask, inputs.dtype), 1 if first else -1)
            total = tf.reduce_sum(inputs * weight, axes, keepdims=self.keepdims)
            return total / tf.reduce_sum(weight, axes, keepdims=self.keepdims)
        return getattr(tf, self._reduce)(inputs, axes, keepdims=self.keepdims)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """None: the axis of the mask is gone."""
        return None


class GlobalAveragePooling1D(_Global):
    """The mean over the steps of (batch, steps, features), without those that a mask leaves out.

    The inputs are floats; the outputs are (batch, features), with ``keepdims`` (batch, 1, features). Differentiable.
    Raises ValueError for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.GlobalAveragePooling1D()(tf.constant([[[1.0, 2.0], [3.0, 6.0]]])).numpy()
    array([[2., 4.]], dtype=float32)
    """


class GlobalAveragePooling2D(_Global):
    """The mean over height and width of (batch, height, width, channels).

    The inputs are floats; the outputs are (batch, channels), with ``keepdims`` (batch, 1, 1, channels). Differentiable.
    Raises ValueError for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.GlobalAveragePooling2D()(tf.reshape(tf.range(8.0), (1, 2, 2, 2))).numpy()
    array([[3., 4.]], dtype=float32)
    """

    _rank = 4


class GlobalMaxPooling1D(_Global):
    """The largest over the steps of (batch, steps, features).

    The inputs are floats; the outputs are (batch, features), with ``keepdims`` (batch, 1, features). Differentiable;
    equal ones share the gradient. Raises ValueError for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.GlobalMaxPooling1D()(tf.constant([[[1.0, 6.0], [3.0, 2.0]]])).numpy()
    array([[3., 6.]], dtype=float32)
    """

    _reduce = "reduce_max"


class GlobalMaxPooling2D(_Global):
    """The largest over height and width of (batch, height, width, channels).

    The inputs are floats; the outputs are (batch, channels), with ``keepdims`` (batch, 1, 1, channels). Differentiable;
    equal ones share the gradient. Raises ValueError for inputs of another number of axes.

    >>> import minitape as tf
    >>> tf.keras.layers.GlobalMaxPooling2D(keepdims=True)(tf.reshape(tf.range(8.0), (1, 2, 2, 2))).numpy()
    array([[[[6., 7.]]]], dtype=float32)
    """

    _rank, _reduce = 4, "reduce_max"


MaxPool1D, AvgPool1D = MaxPooling1D, AveragePooling1D
MaxPool2D, AvgPool2D = MaxPooling2D, AveragePooling2D
GlobalAvgPool1D, GlobalMaxPool1D = GlobalAveragePooling1D, GlobalMaxPooling1D
GlobalAvgPool2D, GlobalMaxPool2D = GlobalAveragePooling2D, GlobalMaxPooling2D
