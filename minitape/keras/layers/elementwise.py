"""Activations and other functions as layers."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from ... import tf
from .. import activations, regularizers
from ..layer import InputSpec, Layer
from ..serial import is_code, no_code, registered, unknown
from .common import SameShape, Weighted


class _Elementwise(SameShape):
    """A layer without weights whose output has the shape of its input."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = self.built = True


class Activation(_Elementwise):
    """An activation as a layer, by name or as a function.

    The inputs are a tensor of any shape, in the dtype of the layer; the outputs have its shape. Differentiable as the
    activation is. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.layers.Activation("relu")(tf.constant([-1.0, 1.0])).numpy()
    array([0., 1.], dtype=float32)
    """

    _config = "activation"

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        """The activation of the inputs."""
        return self.activation(inputs)


class Identity(_Elementwise):
    """The inputs as they are.

    They have any shape. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.layers.Identity()(tf.constant([1.0, 2.0])).numpy()
    array([1., 2.], dtype=float32)
    """

    def call(self, inputs: Any) -> Any:
        """The inputs."""
        return inputs


class ReLU(_Elementwise):
    """``max(x, 0)``; or ``negative_slope * (x - threshold)`` below ``threshold``, cut at ``max_value``.

    The inputs are a tensor of any shape, in the dtype of the layer; the outputs have its shape. Differentiable. Raises
    ValueError for a negative argument.

    >>> import minitape as tf
    >>> tf.keras.layers.ReLU(max_value=6.0)(tf.constant([-1.0, 2.0, 9.0])).numpy()
    array([0., 2., 6.], dtype=float32)
    """

    _config = "max_value negative_slope threshold"

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError(f"max_value of a ReLU layer cannot be a negative value. Received: max_value={max_value}")
        if negative_slope is None or negative_slope < 0.0:
            raise ValueError(
                f"negative_slope of a ReLU layer cannot be a negative value. Received: negative_slope={negative_slope}"
            )
        if threshold is None or threshold < 0.0:
            raise ValueError(f"threshold of a ReLU layer cannot be a negative value. Received: threshold={threshold}")
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, inputs: Any) -> Any:
        """The activation of the inputs."""
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(_Elementwise):
    """``x``, times ``negative_slope`` where it is negative.

    The inputs are a tensor of any shape, in the dtype of the layer; the outputs have its shape. Differentiable. Raises
    ValueError for a negative slope. ``alpha`` is its old name.

    >>> import minitape as tf
    >>> tf.keras.layers.LeakyReLU(negative_slope=0.5)(tf.constant([-1.0, 2.0])).numpy()
    array([-0.5,  2. ], dtype=float32)
    """

    _config = "negative_slope"

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any) -> None:
        if "alpha" in kwargs:
            negative_slope = kwargs.pop("alpha")
            warnings.warn("Argument `alpha` is deprecated. Use `negative_slope` instead.", stacklevel=4)
        super().__init__(**kwargs)
        if negative_slope is None or negative_slope < 0:
            raise ValueError(
                "The negative_slope value of a Leaky ReLU layer cannot be None or negative value. Expected a "
                f"float. Received: negative_slope={negative_slope}"
            )
        self.negative_slope = negative_slope

    def call(self, inputs: Any) -> Any:
        """The activation of the inputs."""
        return activations.leaky_relu(inputs, self.negative_slope)


class PReLU(Weighted, SameShape):
    """``x`` where positive, ``alpha * x`` elsewhere, with an ``alpha`` that is learnt.

    Each feature of an example has its own; along the ``shared_axes`` (counted from 1) there is one for all. The outputs
    have the shape of the inputs. Differentiable.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.PReLU(alpha_initializer="ones", shared_axes=[1, 2])
    >>> layer(tf.constant([[[[-1.0], [2.0]]]])).numpy().ravel(), layer.alpha.shape
    (array([-1.,  2.], dtype=float32), TensorShape([1, 1, 1]))
    """

    _config = "alpha_initializer alpha_regularizer alpha_constraint shared_axes"

    def __init__(
        self,
        alpha_initializer: Any = "Zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self._set_kind("alpha", alpha_initializer, alpha_regularizer, alpha_constraint)
        if shared_axes is not None:
            shared_axes = list(shared_axes) if isinstance(shared_axes, (list, tuple)) else [shared_axes]
        self.shared_axes = shared_axes

    def build(self, input_shape: Any) -> None:
        """Creates ``alpha``."""
        shape, shared = list(input_shape[1:]), self.shared_axes or ()
        for axis in shared:
            shape[axis - 1] = 1
        self.alpha = self._weight("alpha", "alpha", shape)
        own = {i: input_shape[i] for i in range(1, len(input_shape)) if shared and i not in shared}
        self.input_spec = InputSpec(ndim=len(input_shape), axes=own)

    def call(self, inputs: Any) -> Any:
        """The activation of the inputs."""
        return activations.relu(inputs) + -self.alpha * activations.relu(-inputs)


class ELU(_Elementwise):
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere.

    The inputs are a tensor of any shape, in the dtype of the layer; the outputs have its shape. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.layers.ELU()(tf.constant([-1.0, 2.0])).numpy().round(4)
    array([-0.6321,  2.    ], dtype=float32)
    """

    _config = "alpha"

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs: Any) -> Any:
        """The activation of the inputs."""
        return activations.elu(inputs, self.alpha)


class Softmax(_Elementwise):
    """Softmax over ``axis`` (one, or several): numbers between 0 and 1 that sum to 1.

    The inputs are a tensor of any shape but (), in the dtype of the layer; the outputs have its shape. Where a ``mask``
    that broadcasts to the inputs is False the outputs are 0, and the others sum to 1 without them. Differentiable. Raises
    ValueError for a mask that does not broadcast.

    >>> import minitape as tf
    >>> tf.keras.layers.Softmax()(tf.constant([[0.0, 0.0], [0.0, 2.0]])).numpy().round(4)
    array([[0.5   , 0.5   ],
           [0.1192, 0.8808]], dtype=float32)
    >>> tf.keras.layers.Softmax()(tf.constant([0.0, 0.0, 5.0]), mask=tf.constant([True, True, False])).numpy()
    array([0.5, 0.5, 0. ], dtype=float32)
    """

    _config = "axis"

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """The activation of the inputs."""
        if mask is not None:
            _check_mask(inputs, mask)
            mask = mask if mask.dtype.is_bool else mask > 0.5
            inputs = tf.where(mask, inputs, tf.constant(-3e4 if inputs.dtype == tf.float16 else -1e9, inputs.dtype))
        axis = self.axis if isinstance(self.axis, int) else tuple(self.axis)
        if isinstance(axis, tuple) and len(axis) > 1:
            out = tf.exp(inputs - tf.reduce_logsumexp(inputs, axis, keepdims=True))
        else:
            out = activations.softmax(inputs, axis if isinstance(axis, int) else axis[0])
        return out if mask is None else tf.where(mask, out, tf.zeros((), out.dtype))


def _check_mask(inputs: Any, mask: Any) -> None:
    """Raises ValueError for a mask that is larger than the inputs somewhere."""
    shapes = f"Received: inputs.shape={inputs.shape}, mask.shape={mask.shape}"
    if len(mask.shape) > len(inputs.shape):
        raise ValueError(f"The `mask` must be broadcastable to `inputs` and must not have more dimensions. {shapes}")
    if any(m not in (1, n) for m, n in zip(mask.shape[::-1], inputs.shape[::-1], strict=False)):
        raise ValueError(
            "The `mask` must be broadcastable to `inputs`. Each mask dimension must be 1 or match the corresponding "
            f"input dimension. {shapes}"
        )


class ActivityRegularization(_Elementwise):
    """The inputs as they are, with a penalty on their size among the ``losses``.

    It is ``l1 * sum(abs(x)) + l2 * sum(x ** 2)``, divided by the size of the batch. Differentiable. Raises ValueError for
    a factor that is negative.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.ActivityRegularization(l1=0.5)
    >>> y = layer(tf.constant([[1.0], [-3.0]]))
    >>> [float(loss) for loss in layer.losses]
    [1.0]
    """

    _config = "l1 l2"

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1, self.l2 = l1, l2

    def call(self, inputs: Any) -> Any:
        """The inputs."""
        return inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this."""
        return {name: value for name, value in super().get_config().items() if name != "activity_regularizer"}


class Rescaling(_Elementwise):
    """``inputs * scale + offset``.

    The inputs are a tensor of numbers of any shape and become the dtype of the layer; the outputs have their shape.
    Differentiable.

    >>> import minitape as tf
    >>> tf.keras.layers.Rescaling(1 / 255)(tf.constant([0, 51, 255])).numpy().round(4)
    array([0. , 0.2, 1. ], dtype=float32)
    """

    _config = "scale offset"

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset

    def call(self, inputs: Any) -> Any:
        """The scaled inputs, as floats."""
        return tf.cast(inputs, self.dtype) * self.scale + self.offset


class Lambda(Layer):
    """Any function of tensors as a layer. Variables inside it are not seen by the layer.

    ``function`` takes the inputs and ``arguments`` by name, and where it has arguments of these names the ``mask`` of the
    inputs and ``training``; shapes, dtypes and the gradient are its own.
    ``output_shape`` (without the batch, or a function of the input's shape) is what ``compute_output_shape`` answers; a
    model calls the function to find out. Raises ValueError for a ``mask``.

    >>> import minitape as tf
    >>> tf.keras.layers.Lambda(lambda x, power: x**power, arguments={"power": 2})(tf.constant([3.0])).numpy()
    array([9.], dtype=float32)
    """

    _config = "function arguments"

    def __init__(
        self, function: Any, output_shape: Any = None, mask: Any = None, arguments: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if mask is not None:
            raise ValueError("minitape's Lambda layer takes no `mask`: write a Layer with compute_mask() instead.")
        self.function, self.arguments = function, dict(arguments or {})
        self._given_shape = output_shape
        self._asks_for = {"mask", "training"} & set(inspect.getfullargspec(function).args)

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """The function of the inputs."""
        given = {"mask": mask, "training": training}
        return self.function(inputs, **self.arguments, **{name: given[name] for name in self._asks_for})

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape that was given, else that of the function's output for an input of this shape."""
        if self._given_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._given_shape):
            return self._given_shape(input_shape)
        return (input_shape[0], *self._given_shape)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this; the function by its name."""
        config = super().get_config()
        return config if self._given_shape is None else {**config, "output_shape": self._given_shape}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer with these arguments.

        TypeError for a function whose name is not registered, ValueError for a lambda: a configuration holds no code.
        """
        function = config["function"]
        if is_code(function) or is_code(config.get("output_shape")) or (function == "<lambda>" and function not in registered):
            raise no_code("`Lambda` layer whose `function` is a Python lambda")
        if not callable(function):
            if not isinstance(function, str) or function not in registered:
                raise unknown("function", function)
            config = {**config, "function": registered[function]}
        return super().from_config(config)
