"""Layers over three spatial axes: (batch, depth, height, width, channels).

Each is what its namesake over two axes is, with one axis more.
"""

from __future__ import annotations

from typing import Any

from ... import tf
from .convolution import Conv2D, sizes
from .images import _Cropping, _Padding, _UpSampling, margins
from .pooling import _Global, _Pooling2D
from .transposed import Conv2DTranspose


class Conv3D(Conv2D):
    """Slides ``filters`` kernels over the three middle axes of (batch, depth, height, width, channels).

    The arguments and errors are those of ``Conv2D``. Differentiable.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Conv3D(4, 3, padding="same")
    >>> layer(tf.ones([1, 5, 5, 5, 2])).shape, layer.kernel.shape
    (TensorShape([1, 5, 5, 5, 4]), TensorShape([3, 3, 3, 2, 4]))
    """

    _rank = 3

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1, 1),
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, groups, activation, use_bias, **kwargs
        )


class Conv3DTranspose(Conv2DTranspose):
    """Spreads each element of (batch, depth, height, width, channels) over ``filters`` kernels; shares are added.

    The kernel is depth x height x width x filters x channels. The arguments and errors are those of ``Conv2DTranspose``.
    Differentiable.

    >>> import minitape as tf
    >>> tf.keras.layers.Conv3DTranspose(2, 3, strides=2, padding="same")(tf.ones([1, 2, 2, 2, 3])).shape
    TensorShape([1, 4, 4, 4, 2])
    """

    _rank = 3

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        output_padding: Any = None,
        dilation_rate: Any = (1, 1, 1),
        activation: Any = None,
        use_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, output_padding, data_format, dilation_rate, activation, use_bias,
            **kwargs,
        )  # fmt: skip

    def _spread(self, inputs: Any, shape: list[Any]) -> Any:
        return tf.nn.conv3d_transpose(
            inputs, self.kernel, shape, list(self.strides), self.padding.upper(), dilations=list(self.dilation_rate)
        )


class _Pooling3D(_Pooling2D):
    _rank = 3

    def __init__(
        self,
        pool_size: Any = (2, 2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class MaxPooling3D(_Pooling3D):
    """The largest element under each window of (batch, depth, height, width, channels); see ``MaxPooling2D``.

    >>> import minitape as tf
    >>> tf.keras.layers.MaxPooling3D()(tf.ones([1, 4, 4, 4, 3])).shape
    TensorShape([1, 2, 2, 2, 3])
    """

    _pool = "max_pool3d"


class AveragePooling3D(_Pooling3D):
    """The mean of the elements under each window of (batch, depth, height, width, channels); see ``AveragePooling2D``.

    >>> import minitape as tf
    >>> volume = tf.reshape(tf.range(8.0), (1, 2, 2, 2, 1))
    >>> tf.keras.layers.AveragePooling3D(2)(volume).numpy().ravel()
    array([3.5], dtype=float32)
    """

    _pool = "avg_pool3d"

    def __init__(
        self, pool_size: Any, strides: Any = None, padding: str = "valid", data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **kwargs)


class GlobalAveragePooling3D(_Global):
    """The mean over depth, height and width; see ``GlobalAveragePooling2D``.

    >>> import minitape as tf
    >>> tf.keras.layers.GlobalAveragePooling3D()(tf.reshape(tf.range(8.0), (1, 1, 2, 2, 2))).numpy()
    array([[3., 4.]], dtype=float32)
    """

    _rank = 5


class GlobalMaxPooling3D(_Global):
    """The largest over depth, height and width; see ``GlobalMaxPooling2D``.

    >>> import minitape as tf
    >>> tf.keras.layers.GlobalMaxPooling3D()(tf.reshape(tf.range(8.0), (1, 1, 2, 2, 2))).numpy()
    array([[6., 7.]], dtype=float32)
    """

    _rank, _reduce = 5, "reduce_max"


class UpSampling3D(_UpSampling):
    """Repeats depth, height and width of (batch, depth, height, width, channels) ``size`` times. Differentiable.

    With data_format "channels_first" the channels are the second axis.

    >>> import minitape as tf
    >>> tf.keras.layers.UpSampling3D((1, 2, 3))(tf.ones([1, 2, 2, 2, 1])).shape
    TensorShape([1, 2, 4, 6, 1])
    """

    _config = "size data_format"

    def __init__(self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, 5, **kwargs)
        self.size = sizes(size, "size", 3)

    def call(self, inputs: Any) -> Any:
        """The repeated elements."""
        return self._repeated(inputs)


class ZeroPadding3D(_Padding):
    """Zeros around (batch, depth, height, width, channels): an int, one for each axis, or three pairs. Differentiable.

    With data_format "channels_first" the channels are the second axis. Raises ValueError for anything else.

    >>> import minitape as tf
    >>> tf.keras.layers.ZeroPadding3D(((1, 0), (0, 2), (0, 0)))(tf.ones([1, 2, 2, 2, 1])).shape
    TensorShape([1, 3, 4, 2, 1])
    """

    def __init__(self, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, 5, **kwargs)
        self.padding = self._sides = margins(padding, "padding", axes=3)


class Cropping3D(_Cropping):
    """Cuts from the edges of (batch, depth, height, width, channels): an int, one for each axis, or three pairs.

    With data_format "channels_first" the channels are the second axis. Differentiable. Raises ValueError for anything else,
    and when nothing is left.

    >>> import minitape as tf
    >>> tf.keras.layers.Cropping3D(((1, 0), (0, 1), (1, 1)))(tf.ones([1, 4, 4, 4, 1])).shape
    TensorShape([1, 3, 3, 2, 1])
    """

    _config = "cropping data_format"

    def __init__(self, cropping: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, 5, **kwargs)
        self.cropping = self._sides = margins(cropping, "cropping", crop=True, axes=3)


MaxPool3D, AvgPool3D = MaxPooling3D, AveragePooling3D
GlobalMaxPool3D, GlobalAvgPool3D = GlobalMaxPooling3D, GlobalAveragePooling3D
Convolution3D, Convolution3DTranspose = Conv3D, Conv3DTranspose
