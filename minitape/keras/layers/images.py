"""Layers that repeat, pad, cut and resize images and sequences; none has weights, and the batch stays first."""

from __future__ import annotations

from typing import Any

from ... import tf
from ..base import convert, standardize_data_format
from ..layer import InputSpec, Layer
from .common import length
from .convolution import sizes

INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")


def resized(images: Any, size: tuple[int, int], interpolation: str, antialias: bool = False) -> Any:
    """Images with the channels last in another size and of the same dtype: integers are rounded.

    ValueError for an interpolation that Keras does not know.
    """
    if interpolation not in INTERPOLATIONS:
        raise ValueError(f"Invalid value for argument `interpolation`. Expected of one {INTERPOLATIONS}. Received: "
                         f"interpolation={interpolation}")  # fmt: skip
    if len(images.shape) not in (3, 4):
        raise ValueError("Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). Received "
                         f"input with shape: images.shape={images.shape}")  # fmt: skip
    out = tf.image.resize(images, size, method=interpolation, antialias=antialias)
    if out.dtype == images.dtype:
        return out
    return tf.saturate_cast(tf.round(out) if images.dtype.is_integer else out, images.dtype)


class _Images(Layer):
    """A layer over the spatial axes of images with a ``data_format``."""

    _keeps_dtype = True

    def __init__(self, data_format: str | None, axes: int | None, /, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        self.input_spec = None if axes is None else InputSpec(ndim=axes)

    def _spatial(self, rank: int) -> range:
        """The axes between the batch and the channels."""
        return range(2, rank) if self.data_format == "channels_first" else range(1, rank - 1)

    def _with_channels_last(self, change: Any, images: Any) -> Any:
        """``change`` of images, or of one, whose channels are moved to the end meanwhile."""
        if self.data_format != "channels_first":
            return change(images)
        batch = list(range(len(images.shape) - 3))
        channels, rows, columns = (len(batch) + i for i in range(3))
        out = change(tf.transpose(images, [*batch, rows, columns, channels]))
        return tf.transpose(out, [*batch, columns, channels, rows])


class _Sized(_Images):
    """A layer that gives images of one ``height`` and ``width``."""

    height: int
    width: int

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape with the height and width of the result."""
        shape = list(input_shape)
        start = len(shape) - (2 if self.data_format == "channels_first" else 3)
        shape[start : start + 2] = self.height, self.width
        return tuple(shape)


class UpSampling1D(_Images):
    """Repeats each step of (batch, steps, features) ``size`` times.

    Differentiable. Raises TypeError when ``size`` is no int, ValueError unless it is positive.

    >>> import minitape as tf
    >>> tf.keras.layers.UpSampling1D(2)(tf.constant([[[1.0], [2.0]]])).numpy().tolist()
    [[[1.0], [1.0], [2.0], [2.0]]]
    """

    _config = "size"

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__("channels_last", 3, **kwargs)
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"Expected an integer value for `size`, got {type(size)}.")
        if size <= 0:
            raise ValueError(f"Argument `size` should be a positive integer. Received: size={size}")
        self.size = size

    def call(self, inputs: Any) -> Any:
        """The repeated steps."""
        return tf.repeat(inputs, self.size, 1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape with ``size`` times as many steps, as a list."""
        batch, steps, features = input_shape
        return [batch, None if steps is None else self.size * steps, features]


class _UpSampling(_Images):
    """Layers that make each spatial axis ``size`` times as long."""

    size: tuple[int, ...]

    def _times(self) -> Any:
        """(axis, how often it is repeated) of each spatial axis."""
        return zip(self._spatial(len(self.size) + 2), self.size, strict=True)

    def _repeated(self, inputs: Any) -> Any:
        for axis, times in self._times():
            inputs = tf.repeat(inputs, times, axis)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape with longer spatial axes."""
        shape = list(input_shape)
        for axis, times in self._times():
            shape[axis] = None if shape[axis] is None else shape[axis] * times
        return tuple(shape)


class UpSampling2D(_UpSampling):
    """Makes height and width of (batch, height, width, channels) ``size`` times as large.

    ``interpolation`` is "nearest" (pixels are repeated), "bilinear", "bicubic", "lanczos3", "lanczos5" or "area"; see
    ``tf.image.resize`` for the gradients. With data_format "channels_first" the channels are the second axis. Raises
    ValueError for another interpolation when the layer is called.

    >>> import minitape as tf
    >>> image = tf.reshape([0.0, 1.0], [1, 1, 2, 1])
    >>> tf.keras.layers.UpSampling2D()(image).numpy()[0, :, :, 0]
    array([[0., 0., 1., 1.],
           [0., 0., 1., 1.]], dtype=float32)
    >>> tf.keras.layers.UpSampling2D((1, 2), interpolation="bilinear")(image).numpy().ravel()
    array([0.  , 0.25, 0.75, 1.  ], dtype=float32)
    """

    _config = "size data_format interpolation"

    def __init__(
        self, size: Any = (2, 2), data_format: str | None = None, interpolation: str = "nearest", **kwargs: Any
    ) -> None:
        super().__init__(data_format, 4, **kwargs)
        self.size = sizes(size, "size", 2)
        self.interpolation = interpolation.lower()

    def call(self, inputs: Any) -> Any:
        """The larger images."""
        return self._repeated(inputs) if self.interpolation == "nearest" else self._with_channels_last(self._larger, inputs)

    def _larger(self, images: Any) -> Any:
        new = length(images, 1) * self.size[0], length(images, 2) * self.size[1]
        return resized(images, new, self.interpolation)


def margins(value: Any, name: str, crop: bool = False, axes: int = 2) -> tuple[Any, ...]:
    """What is added to or cut from each spatial axis: an int, one int or one pair for each, as pairs; else ValueError."""
    if isinstance(value, int):
        if crop and value < 0:
            raise ValueError(f"`{name}` cannot be negative. Received: {name}={value}.")
        return ((value, value),) * axes
    if not hasattr(value, "__len__"):
        received = value if crop and axes == 3 else f"{name}={value}"
        raise ValueError(f"`{name}` should be either {_FORMS[axes].format(what='crop' if crop else _PAD[axes])}. "
                         f"Received: {received}.")  # fmt: skip
    if len(value) != axes:
        received = f"{name}={value}" if axes == 2 else value
        raise ValueError(f"`{name}` should have {_COUNTS[axes]} elements. Received: {received}.")
    places = ("1st", "2nd", "3rd")
    return tuple(sizes(v, f"{at} entry of {name}", 2, least=0) for v, at in zip(value, places, strict=False))


_COUNTS, _PAD = {2: "two", 3: "3"}, {2: "crop", 3: "pad"}
_FORMS = {
    2: "an int, a tuple of 2 ints (symmetric_height_{what}, symmetric_width_{what}), or a tuple of 2 tuples of 2 ints "
       "((top_{what}, bottom_{what}), (left_{what}, right_{what}))",
    3: "an int, a tuple of 3 ints (symmetric_dim1_{what}, symmetric_dim2_{what}, symmetric_dim3_{what}), or a tuple of 3 "
       "tuples of 2 ints ((left_dim1_{what}, right_dim1_{what}), (left_dim2_{what}, right_dim2_{what}), "
       "(left_dim3_{what}, right_dim2_{what}))",
}  # fmt: skip


class _Padding(_Images):
    _config = "padding data_format"
    _sides: tuple[tuple[int, int], ...]

    def call(self, inputs: Any) -> Any:
        """The inputs with zeros around them."""
        rank = len(inputs.shape)
        given = dict(zip(self._spatial(rank), self._sides, strict=True))
        return tf.pad(inputs, [given.get(axis, (0, 0)) for axis in range(rank)])

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape with the zeros counted."""
        shape = list(input_shape)
        for axis, sides in zip(self._spatial(len(shape)), self._sides, strict=True):
            shape[axis] = None if shape[axis] is None else shape[axis] + sum(sides)
        return tuple(shape)


class ZeroPadding1D(_Padding):
    """Zeros before and after the steps of (batch, steps, features): ``padding`` is their number, or one for each end.

    With data_format "channels_first" the steps are the last axis. Differentiable. Raises ValueError for a negative number.

    >>> import minitape as tf
    >>> tf.keras.layers.ZeroPadding1D((2, 1))(tf.ones([1, 1, 1])).numpy().ravel()
    array([0., 0., 1., 0.], dtype=float32)
    """

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, 3, **kwargs)
        self.padding = sizes(padding, "padding", 2, least=0)
        self._sides = (self.padding,)


class ZeroPadding2D(_Padding):
    """Zeros around the images of (batch, height, width, channels).

    ``padding`` is how many rows and columns: an int, one for height and one for width, or two pairs ((top, bottom),
    (left, right)). With data_format "channels_first" the channels are the second axis. Differentiable. Raises ValueError
    for anything else.

    >>> import minitape as tf
    >>> tf.keras.layers.ZeroPadding2D(((1, 0), (0, 2)))(tf.ones([1, 1, 1, 1])).numpy()[0, :, :, 0]
    array([[0., 0., 0.],
           [1., 0., 0.]], dtype=float32)
    """

    def __init__(self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, 4, **kwargs)
        self.padding = self._sides = margins(padding, "padding")


class _Cropping(_Images):
    _sides: tuple[tuple[int, int], ...]
    _cut_away = (
        "Values in `cropping` argument should be smaller than the corresponding spatial dimension of the input."
    )

    def _check(self, shape: Any, name: str) -> None:
        """ValueError unless something is left of an input of this shape."""
        given = zip(self._spatial(len(shape)), self._sides, strict=True)
        if any(shape[axis] is not None and sum(sides) >= shape[axis] for axis, sides in given):
            raise ValueError(f"{self._cut_away} Received: {name}={shape}, cropping={self.cropping}")

    def call(self, inputs: Any) -> Any:
        """What is left of the inputs."""
        self._check(inputs.shape, "inputs.shape")
        key = [slice(None)] * len(inputs.shape)
        for axis, (before, after) in zip(self._spatial(len(key)), self._sides, strict=True):
            key[axis] = slice(before, -after if after else None)
        return inputs[tuple(key)]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of what is left; ValueError when nothing is."""
        self._check(input_shape, "input_shape")
        shape = list(input_shape)
        for axis, sides in zip(self._spatial(len(shape)), self._sides, strict=True):
            shape[axis] = None if shape[axis] is None else shape[axis] - sum(sides)
        return tuple(shape)


class Cropping1D(_Cropping):
    """Cuts steps from both ends of (batch, steps, features): ``cropping`` is their number, or one for each end.

    Differentiable. Raises ValueError for a negative number and when nothing is left.

    >>> import minitape as tf
    >>> tf.keras.layers.Cropping1D((1, 0))(tf.constant([[[1.0], [2.0], [3.0]]])).numpy().ravel()
    array([2., 3.], dtype=float32)
    """

    _config = "cropping"
    _cut_away = "`cropping` parameter of `Cropping1D` layer must be smaller than the input length."

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        super().__init__("channels_last", 3, **kwargs)
        self.cropping = sizes(cropping, "cropping", 2, least=0)
        self._sides = (self.cropping,)


class Cropping2D(_Cropping):
    """Cuts rows and columns from the edges of the images of (batch, height, width, channels).

    ``cropping`` is how many: an int, one for height and one for width, or two pairs ((top, bottom), (left, right)).
    With data_format "channels_first" the channels are the second axis. Differentiable. Raises ValueError for anything else,
    and when nothing is left.

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.keras.layers.Cropping2D(((1, 0), (0, 1)))(image).numpy()[0, :, :, 0]
    array([[3., 4.],
           [6., 7.]], dtype=float32)
    """

    _config = "cropping data_format"

    def __init__(self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, 4, **kwargs)
        self.cropping = self._sides = margins(cropping, "cropping", crop=True)


class Resizing(_Sized):
    """Images, (batch, height, width, channels) or one of them, in the size ``height`` x ``width``.

    ``interpolation`` is "bilinear", "nearest", "bicubic", "lanczos3", "lanczos5" or "area"; see ``tf.image.resize`` for it,
    for ``antialias`` and for the gradients. With ``crop_to_aspect_ratio`` images of other proportions are cut first, with
    ``pad_to_aspect_ratio`` they get a border of ``fill_value``. The dtype stays: integers are rounded. Raises ValueError
    for both at once, for a ``fill_mode`` other than "constant", and for a dictionary of images and labels.

    >>> import minitape as tf
    >>> tf.keras.layers.Resizing(1, 4)(tf.constant([[[[0.0], [1.0]]]])).numpy().ravel()
    array([0.  , 0.25, 0.75, 1.  ], dtype=float32)
    """

    _config = (
        "data_format height width interpolation crop_to_aspect_ratio pad_to_aspect_ratio fill_mode fill_value antialias"
    )
    _declined = {"bounding_box_format": None}  # noqa: RUF012

    def __init__(
        self,
        height: int,
        width: int,
        interpolation: str = "bilinear",
        crop_to_aspect_ratio: bool = False,
        pad_to_aspect_ratio: bool = False,
        fill_mode: str = "constant",
        fill_value: float = 0.0,
        antialias: bool = False,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(data_format, None, **kwargs)
        self.height, self.width, self.interpolation = height, width, interpolation
        self.crop_to_aspect_ratio, self.pad_to_aspect_ratio = crop_to_aspect_ratio, pad_to_aspect_ratio
        self.fill_mode, self.fill_value, self.antialias = fill_mode, fill_value, bool(antialias)

    def call(self, data: Any, training: Any = True) -> Any:
        """The resized images, in training as elsewhere."""
        self._check(data)
        return self._with_channels_last(self._resized, data)

    def _resized(self, images: Any) -> Any:
        if self.crop_to_aspect_ratio:
            images = cut_to(images, self.height, self.width)
        elif self.pad_to_aspect_ratio:
            images = self._padded(images)
        return resized(images, (self.height, self.width), self.interpolation, self.antialias)

    def _check(self, data: Any) -> None:
        if isinstance(data, dict):
            raise ValueError("minitape's Resizing takes images, not a dictionary with images and labels.")
        if self.fill_mode != "constant":
            raise ValueError("Invalid value for argument `fill_mode`. Only `'constant'` is supported. Received: "
                             f"fill_mode={self.fill_mode}")  # fmt: skip
        if self.pad_to_aspect_ratio and self.crop_to_aspect_ratio:
            raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.")

    def _padded(self, images: Any) -> Any:
        """Images with a border that gives them the proportions of the result."""
        height, width = (int(n) for n in tuple(images.shape)[-3:-1])
        rows = (max(height, int(width * self.height / self.width)) - height) // 2
        columns = (max(width, int(height * self.width / self.height)) - width) // 2
        batch = [(0, 0)] * (len(images.shape) - 3)
        return tf.pad(images, [*batch, (rows, rows), (columns, columns), (0, 0)], constant_values=self.fill_value)


def cut_to(images: Any, height: int, width: int) -> Any:
    """The largest middle part of images that has the proportions of ``height`` x ``width``."""
    rows, columns = (int(n) for n in tuple(images.shape)[-3:-1])
    keep_rows = max(min(rows, int(columns * height / width)), 1)
    keep_columns = max(min(columns, int(rows * width / height)), 1)
    top, left = (rows - keep_rows) // 2, (columns - keep_columns) // 2
    return images[..., top : top + keep_rows, left : left + keep_columns, :]


class CenterCrop(_Sized):
    """The middle ``height`` x ``width`` pixels of images, (batch, height, width, channels) or one of them.

    Smaller images are cut to the proportions and resized. The inputs become the dtype of the layer. With data_format
    "channels_first" the channels stand before height and width. Differentiable. Raises ValueError unless there are 3 or 4
    axes.

    >>> import minitape as tf
    >>> tf.keras.layers.CenterCrop(1, 2)(tf.reshape(tf.range(12.0), [1, 3, 4, 1])).numpy().ravel()
    array([5., 6.], dtype=float32)
    """

    _config = "data_format height width"
    _keeps_dtype = False

    def __init__(self, height: int, width: int, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(data_format, None, **kwargs)
        self.height, self.width = height, width

    def call(self, data: Any, training: Any = True) -> Any:
        """The middle of the images, in training as elsewhere."""
        if len(data.shape) not in (3, 4):
            raise ValueError("Expected image tensor to have rank 3 (single image) or 4 (batch of images). Received: "
                             f"data.shape={data.shape}")  # fmt: skip
        return self._with_channels_last(self._middle, convert(data, self.compute_dtype))

    def _middle(self, images: Any) -> Any:
        size = self.height, self.width
        top, left = (n - m for n, m in zip(tuple(images.shape)[-3:-1], size, strict=True))
        if top < 0 or left < 0:
            return resized(cut_to(images, *size), size, "bilinear")
        return images[..., top // 2 : top // 2 + self.height, left // 2 : left // 2 + self.width, :]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape with the height and width of the result; ValueError unless it has 3 or 4 axes."""
        if len(input_shape) not in (3, 4):
            raise ValueError(
                "`input_shape` must be a non-nested tuple or list of rank-1 with size 3 (unbatched) or 4 (batched). "
            )
        return super().compute_output_shape(input_shape)
