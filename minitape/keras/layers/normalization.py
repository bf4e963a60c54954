"""Layers that shift and scale their inputs to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import tf
from ...engine.tensor import Tensor
from .. import base, initializers, ops
from ..layer import InputSpec
from ..operations.sampling import sizes_of
from .common import OverAxes, SameShape, ScaleAndOffset


class BatchNormalization(ScaleAndOffset):
    """Normalises each feature: by the batch in training (which also moves the averages), else by the moving averages.

    Features lie along ``axis``; ``gamma`` (with ``scale``) multiplies and ``beta`` (with ``center``) is added. Where a
    mask (of all axes but the last) is False, elements do not count in training.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.BatchNormalization(epsilon=0.0)
    >>> layer(tf.constant([[1.0], [3.0]]), training=True).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """

    _config = (
        "axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer "
        "moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint synchronized "
        "renorm renorm_clipping renorm_momentum"
    )
    _declined = {"synchronized": False, "renorm": False, "renorm_clipping": None, "renorm_momentum": 0.99}  # noqa: RUF012

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(center, scale, **kwargs)
        self.axis, self.momentum, self.epsilon = int(axis), float(momentum), float(epsilon)
        self._set_kind("beta", beta_initializer, beta_regularizer, beta_constraint)
        self._set_kind("gamma", gamma_initializer, gamma_regularizer, gamma_constraint)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)

    def build(self, input_shape: Any) -> None:
        """Creates ``gamma``, ``beta`` and the moving averages."""
        shape = (input_shape[self.axis],)
        self._add_weights(shape)
        self.moving_mean = self.add_weight(shape, self.moving_mean_initializer, trainable=False, name="moving_mean")
        self.moving_variance = self.add_weight(
            shape, self.moving_variance_initializer, trainable=False, name="moving_variance"
        )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: input_shape[self.axis]})

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The normalised inputs."""
        rank = len(inputs.shape)
        keep = self.axis % rank
        kind = base.result_type(inputs.dtype.name, "float32")
        inputs = base.convert(inputs, kind)
        mean, variance = (base.convert(v, kind) for v in (self.moving_mean, self.moving_variance))
        if training and self.trainable:
            mean, variance = _moments(inputs, [i for i in range(rank) if i != keep], mask)
            for moving, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
                moving.assign(base.convert(moving, kind) * self.momentum + value * (1.0 - self.momentum))
        shape = [inputs.shape[keep] if i == keep else 1 for i in range(rank)]
        scale, offset = self._scale_and_offset(shape, kind)
        out = tf.nn.batch_normalization(
            inputs, tf.reshape(mean, shape), tf.reshape(variance, shape), offset, scale, self.epsilon
        )
        return base.convert(out, self.dtype)


def _moments(inputs: Any, axes: list[int], mask: Any) -> tuple[Any, Any]:
    """Mean and variance over ``axes`` of the elements where the mask is True, of all without one."""
    if mask is None:
        return tf.nn.moments(inputs, axes)
    if len(mask.shape) != len(inputs.shape) - 1:
        raise ValueError(
            "The mask provided should be one dimension less than the inputs. Received: "
            f"mask.shape={tuple(mask.shape)}, inputs.shape={tuple(inputs.shape)}"
        )
    kept = tf.cast(tf.broadcast_to(tf.expand_dims(mask, -1), sizes_of(inputs)), inputs.dtype)
    count = tf.reduce_sum(kept, axes, keepdims=True) + base.epsilon()
    mean = tf.reduce_sum(tf.where(kept > 0, inputs, 0.0), axes, keepdims=True) / count
    variance = tf.reduce_sum(tf.where(kept > 0, inputs - mean, 0.0) ** 2, axes, keepdims=True) / count
    return tf.squeeze(mean, axes), tf.squeeze(variance, axes)


class LayerNormalization(ScaleAndOffset):
    """Normalises each example over ``axis`` (one, or a list) to mean 0 and variance 1.

    ``gamma`` (with ``scale``) multiplies and ``beta`` (with ``center``) is added. Raises TypeError for another ``axis``.

    >>> import minitape as tf
    >>> tf.keras.layers.LayerNormalization(epsilon=0.0)(tf.constant([[1.0, 3.0], [10.0, 30.0]])).numpy()
    array([[-1.,  1.],
           [-1.,  1.]], dtype=float32)
    """

    _config = (
        "axis epsilon center scale rms_scaling beta_initializer gamma_initializer beta_regularizer gamma_regularizer "
        "beta_constraint gamma_constraint"
    )
    _declined = {"rms_scaling": False}  # noqa: RUF012

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(center, scale, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(f"Expected an int or a list/tuple of ints for the argument 'axis', but received: {axis!r}")
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.epsilon, self.autocast = epsilon, False
        self._set_kind("beta", beta_initializer, beta_regularizer, beta_constraint)
        self._set_kind("gamma", gamma_initializer, gamma_regularizer, gamma_constraint)

    def build(self, input_shape: Any) -> None:
        """Creates ``gamma`` and ``beta``."""
        self._add_weights(tuple(input_shape[a] for a in sorted(self._axes())))

    def call(self, inputs: Any) -> Any:
        """The normalised inputs."""
        given, rank = inputs.dtype.name, len(inputs.shape)
        axes = sorted(a % rank for a in self._axes())
        kind = base.result_type(given, "float32")
        x = base.convert(inputs, kind)
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        shape = [x.shape[i] if i in axes else 1 for i in range(x.ndim)]
        scale, offset = self._scale_and_offset(shape, kind)
        out = tf.nn.batch_normalization(x, mean, variance, offset, scale, self.epsilon)
        return base.convert(base.convert(out, given), self.dtype)  # as Keras: integers give integers


class GroupNormalization(ScaleAndOffset):
    """Normalises each example over all axes, for each of some groups of channels, to mean 0 and variance 1.

    The channels lie along ``axis``, and there are ``groups`` of the same size; -1 means one for each channel. ``gamma``
    (with ``scale``) multiplies and ``beta`` (with ``center``) is added. Differentiable. Raises ValueError for a number of
    groups that does not divide the channels.

    >>> import minitape as tf
    >>> tf.keras.layers.GroupNormalization(2, epsilon=0.0)(tf.constant([[1.0, 3.0, 10.0, 30.0]])).numpy()
    array([[-1.,  1., -1.,  1.]], dtype=float32)
    """

    _config = (
        "groups axis epsilon center scale beta_initializer gamma_initializer beta_regularizer gamma_regularizer "
        "beta_constraint gamma_constraint"
    )

    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(groups, int) or (groups <= 0 and groups != -1):
            raise ValueError(
                "Received an invalid value for argument `groups`, expected a positive integer (or `-1` for instance "
                f"normalization). Received: groups={groups}"
            )
        super().__init__(center, scale, **kwargs)
        self.groups, self.axis, self.epsilon, self.autocast = groups, axis, epsilon, False
        self._set_kind("beta", beta_initializer, beta_regularizer, beta_constraint)
        self._set_kind("gamma", gamma_initializer, gamma_regularizer, gamma_constraint)

    def build(self, input_shape: Any) -> None:
        """Creates ``gamma`` and ``beta``."""
        channels = input_shape[self.axis]
        if channels is None:
            raise ValueError(
                f"Axis {self.axis} of input tensor should have a defined dimension but the layer received an input with "
                f"shape {input_shape}."
            )
        if self.groups == -1:
            self.groups = channels
        if channels < self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) cannot be more than the number of channels ({channels})."
            )
        if channels % self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) must be a multiple of the number of channels ({channels})."
            )
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: channels})
        self._add_weights((channels,))

    def call(self, inputs: Any) -> Any:
        """The normalised inputs."""
        given, rank = inputs.dtype.name, len(inputs.shape)
        kind, at = base.result_type(given, "float32"), self.axis % rank
        sizes = [self.groups, inputs.shape[at] // self.groups]
        x = tf.reshape(base.convert(inputs, kind), [*inputs.shape[:at], *sizes, *inputs.shape[at + 1 :]])
        mean, variance = tf.nn.moments(x, [i for i in range(1, rank + 1) if i != at], keepdims=True)
        scale, offset = self._scale_and_offset([*[1] * at, *sizes, *[1] * (rank - at - 1)], kind)
        out = tf.reshape(tf.nn.batch_normalization(x, mean, variance, offset, scale, self.epsilon), inputs.shape)
        return base.convert(base.convert(out, given), self.dtype)


class RMSNormalization(OverAxes):
    """Divides by the root of the mean square over ``axis`` (one, or a list of them), times a learnt ``scale``.

    The inputs are floats. Differentiable. Raises ValueError for an axis that is not there.

    >>> import minitape as tf
    >>> tf.keras.layers.RMSNormalization()(tf.constant([[3.0, 4.0]])).numpy().round(4)
    array([[0.8485, 1.1314]], dtype=float32)
    """

    _config = "axis epsilon"

    def __init__(self, axis: Any = -1, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon

    def build(self, input_shape: Any) -> None:
        """Creates ``scale``, with a number for each position along the axes."""
        self.axis = sorted(self._axes())
        self.scale = self.add_weight(tuple(input_shape[axis] for axis in self.axis), "ones", name="scale")

    def call(self, x: Any) -> Any:
        """The inputs with a mean square of 1, scaled."""
        return ops.rms_normalization(x, self.scale, self.axis, self.epsilon)


class UnitNormalization(OverAxes):
    """Divides by the length of the vectors along ``axis`` (one, or a list of them).

    The inputs are floats of any shape but (); zeros stay zeros. Differentiable. Raises TypeError for another ``axis``,
    ValueError for one that is not there.

    >>> import minitape as tf
    >>> tf.keras.layers.UnitNormalization()(tf.constant([[3.0, 4.0]])).numpy().round(4)
    array([[0.6, 0.8]], dtype=float32)
    """

    _config = "axis"
    _repeats_axis = False

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(
                f"Invalid value for `axis` argument: expected an int or a list/tuple of ints. Received: axis={axis}"
            )
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.supports_masking = self.built = True

    def call(self, inputs: Any) -> Any:
        """The vectors of length 1."""
        return ops.normalize(inputs, axis=self.axis, order=2, epsilon=1e-12)


class Normalization(SameShape):
    """Shifts and scales by a mean and a variance that are given, or learnt from data by ``adapt``.

    Each position along the axes in ``axis`` has its own, None means one for all; ``invert`` goes the other way. Raises
    ValueError when only one of ``mean`` and ``variance`` is given, for shapes that differ, and for an axis of the input
    that is not there or of unknown size.

    >>> import minitape as tf, numpy as np
    >>> layer = tf.keras.layers.Normalization(axis=None)
    >>> layer.adapt(np.array([1.0, 3.0], np.float32))
    >>> layer(tf.constant([3.0])).numpy()
    array([1.], dtype=float32)
    >>> tf.keras.layers.Normalization(mean=3.0, variance=2.25)(tf.constant([[0.0, 6.0]])).numpy()
    array([[-2.,  2.]], dtype=float32)
    """

    _config = "axis invert"

    def __init__(
        self, axis: Any = -1, mean: Any = None, variance: Any = None, invert: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if (mean is None) != (variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. Received: "
                f"mean={mean} and variance={variance}"
            )
        if np.shape(mean) != np.shape(variance):
            raise ValueError(
                "When setting values directly, `mean` and `variance` must have the same shape. Received: mean shape "
                f"{np.shape(mean)} and variance shape {np.shape(variance)}"
            )
        self.axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if len(np.shape(mean)) > len(self.axis):
            raise ValueError(
                f"The rank of `mean` must be less than or equal to the number of axes ({len(self.axis)}). Received: "
                f"mean shape {np.shape(mean)} for axis {self.axis}"
            )
        self.invert, self.supports_masking = invert, True
        self._given = None if mean is None else (np.asarray(mean, self.dtype), np.asarray(variance, self.dtype))
        self._learnt: Any = None

    def build(self, input_shape: Any) -> None:
        """Finds the shape of the statistics; those that ``adapt`` learns are weights that training leaves alone."""
        rank = len(input_shape)
        if any(not -rank <= a < rank for a in self.axis):
            raise ValueError(
                f"All `axis` values must be in the range [-ndim, ndim). Received inputs with ndim={rank}, while "
                f"axis={self.axis}"
            )
        self._kept = tuple(sorted(a % rank for a in self.axis))
        for a in self._kept:
            if input_shape[a] is None:
                raise ValueError(
                    f"All `axis` values to be kept must have a known shape. Received axis={self.axis}, "
                    f"inputs.shape={tuple(input_shape)}, with unknown axis at index {a}"
                )
        self._shape = tuple(n if i in self._kept else 1 for i, n in enumerate(input_shape))
        if self._given is None:
            sizes = tuple(input_shape[a] for a in self._kept)
            self._learnt = (
                self.add_weight(sizes, "zeros", trainable=False, name="mean"),
                self.add_weight(sizes, "ones", trainable=False, name="variance"),
                self.add_weight((), "zeros", "int64", trainable=False, name="count"),
            )

    def _statistic(self, i: int) -> Any:
        if not self.built:
            return None
        if self._given is None:
            return tf.reshape(self._learnt[i], self._shape)
        value = self._given[i]
        if value.ndim:  # the last axes that are kept, each at its place
            last = self._kept[-value.ndim :]
            sizes = dict(zip(last, value.shape, strict=True))
            value = value.reshape([sizes.get(axis, 1) for axis in range(len(self._shape))])
        return tf.broadcast_to(tf.constant(value), self._shape)

    mean = property(lambda self: self._statistic(0), doc="The mean in use, in a shape that broadcasts; None unbuilt.")
    variance = property(lambda self: self._statistic(1), doc="The variance in use; None before the layer is built.")

    def adapt(self, data: Any) -> None:
        """Takes mean and variance from an array, a dataset or an iterable of batches; ValueError if it is empty."""
        if not isinstance(data, (np.ndarray, Tensor)):
            dataset = hasattr(data, "as_numpy_iterator")
            batches = list(data.as_numpy_iterator() if dataset else map(np.asarray, data))
            if not batches:
                raise ValueError("adapt() received an empty iterable (no batches). Expected at least one batch.")
            data = np.stack(batches) if dataset and batches[0].ndim < 2 else np.concatenate(batches)
        data = np.asarray(data)
        if not self.built:
            self.build(data.shape)
        if self._given is not None:
            raise ValueError("minitape's Normalization does not adapt where `mean` and `variance` were given.")
        over = tuple(i for i in range(data.ndim) if i not in self._kept)
        for weight, found in zip(self._learnt, (data.mean, data.var), strict=False):
            weight.assign(np.asarray(found(over, dtype=np.float64), self.dtype))

    def call(self, inputs: Any) -> Any:
        """The normalised inputs (or the way back, with ``invert``)."""
        x, mean = tf.cast(inputs, self.dtype), self.mean
        deviation = tf.maximum(tf.sqrt(self.variance), base.epsilon())
        return x * deviation + mean if self.invert else (x - mean) / deviation

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this; what ``adapt`` learnt is in the weights."""
        given = (None, None) if self._given is None else (v.tolist() for v in self._given)
        return {**super().get_config(), **dict(zip(("mean", "variance"), given, strict=True))}
