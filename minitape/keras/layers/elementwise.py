"""Activations and other functions as layers."""

from __future__ import annotations

from typing import Any

from .. import activations
from ..layer import Layer
from .common import SameShape


class _Elementwise(SameShape):
    """A layer without weights whose output has the shape of its input."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = self.built = True


class Activation(_Elementwise):
    """An activation as a layer, by name or as a function.

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
    """The inputs as they are."""

    def call(self, inputs: Any) -> Any:
        """The inputs."""
        return inputs


class ReLU(_Elementwise):
    """``max(x, 0)``, with an optional slope, threshold and upper bound."""

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
    """``x``, times ``negative_slope`` where it is negative."""

    _config = "negative_slope"

    def __init__(self, negative_slope: float = 0.3, **kwargs: Any) -> None:
        negative_slope = kwargs.pop("alpha", negative_slope)
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


class ELU(_Elementwise):
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere."""

    _config = "alpha"

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs: Any) -> Any:
        """The activation of the inputs."""
        return activations.elu(inputs, self.alpha)


class Softmax(_Elementwise):
    """Softmax over ``axis``."""

    _config = "axis"

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        """The activation of the inputs."""
        return activations.softmax(inputs, self.axis)


class Rescaling(_Elementwise):
    """``inputs * scale + offset``."""

    _config = "scale offset"

    def __init__(self, scale: Any, offset: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale, self.offset = scale, offset

    def call(self, inputs: Any) -> Any:
        """The scaled inputs, as floats."""
        import minitape as tf

        return tf.cast(inputs, self.dtype) * self.scale + self.offset


class Lambda(Layer):
    """Any function of tensors as a layer. Variables inside it are not seen by the layer."""

    _config = "function arguments"

    def __init__(
        self, function: Any, output_shape: Any = None, mask: Any = None, arguments: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if mask is not None:
            raise ValueError("minitape's Lambda layer takes no `mask`: write a Layer with compute_mask() instead.")
        self.function, self.arguments = function, dict(arguments or {})
        self._given_shape = output_shape

    def call(self, inputs: Any) -> Any:
        """The function of the inputs."""
        return self.function(inputs, **self.arguments)
