"""Activations, dropout and other functions as layers."""

from __future__ import annotations

import inspect
from typing import Any

from .. import activations, random
from ..base import define_from_table
from ..layer import Layer
from .common import SameShape


class Activation(SameShape):
    """An activation as a layer, by name or as a function.

    The outputs have the shape of the inputs. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.layers.Activation("relu")(tf.constant([-1.0, 1.0])).numpy()
    array([0., 1.], dtype=float32)
    """

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The activation of the inputs."""
        return self.activation(inputs)


_NAMED = """
name | function | arguments | given | result
LeakyReLU | leaky_relu | negative_slope=0.3 | tf.constant([-1.0, 2.0]) | [-0.3  2. ]
ReLU | relu | max_value=None, negative_slope=0.0, threshold=0.0 | tf.constant([-1.0, 2.0]) | [0. 2.]
Softmax | softmax | axis=-1 | tf.constant([[0.0, 0.0]]) | [[0.5 0.5]]
"""
_TEXT = '''
class {name}(SameShape):
    """``tf.keras.activations.{function}`` as a layer, with the arguments of the function.

    The outputs have the shape of the inputs. Differentiable. Raises ValueError for a negative argument but an axis.

    >>> import minitape as tf
    >>> print(tf.keras.layers.{name}()({given}).numpy())
    {result}
    """

    def __init__(self, {arguments}, **kwargs):
        super().__init__(**kwargs)
        self._options = dict({passed})
        self.__dict__.update(self._options)
        for name, value in self._options.items():
            if name != "axis" and (name != "max_value" if value is None else value < 0):
                raise ValueError(f"{{name}} of a {name} layer cannot be a negative value. Received: {{name}}={{value}}")
        self.built = True

    def call(self, inputs):
        return activations.BY_NAME["{function}"](inputs, **self._options)
'''

LeakyReLU, ReLU, Softmax = define_from_table(_NAMED, _TEXT, globals()).values()


class Lambda(Layer):
    """Any function of tensors as a layer. Variables inside it are not seen by the layer.

    ``function`` takes the inputs and ``arguments`` by name, and ``training`` where it has an argument of this name;
    shapes, dtypes and the gradient are its own. ``output_shape`` (without the batch, or a function of the input's
    shape) is what ``compute_output_shape`` answers; a model calls the function to find out.

    >>> import minitape as tf
    >>> tf.keras.layers.Lambda(lambda x, power: x**power, arguments={"power": 2})(tf.constant([3.0])).numpy()
    array([9.], dtype=float32)
    """

    def __init__(self, function: Any, output_shape: Any = None, *, arguments: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function, self.arguments = function, dict(arguments or {})
        self._given_shape = output_shape
        self._asks_for_training = "training" in inspect.getfullargspec(function).args

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The function of the inputs."""
        if self._asks_for_training:
            return self.function(inputs, training=training, **self.arguments)
        return self.function(inputs, **self.arguments)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape that was given, else that of the function's output for an input of this shape."""
        if self._given_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._given_shape):
            return self._given_shape(input_shape)
        return (input_shape[0], *self._given_shape)


class Dropout(SameShape):
    """In training sets a fraction ``rate`` of the elements to zero and scales the others by 1 / (1 - rate).

    Raises ValueError for a rate outside [0, 1].

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Dropout(0.5, seed=1)
    >>> layer(tf.ones([3])).numpy()
    array([1., 1., 1.], dtype=float32)
    >>> layer(tf.ones([3]), training=True).numpy()
    array([2., 0., 2.], dtype=float32)
    """

    def __init__(self, rate: float, *, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate <= 1:
            raise ValueError(
                "Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
                f"Received: rate={rate}"
            )
        self.rate, self.seed = rate, seed
        if rate > 0:
            self.seed_generator = random.SeedGenerator(seed)
        self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The inputs, disturbed in training."""
        if training and self.rate > 0:
            return random.dropout(inputs, self.rate, self.seed_generator)
        return inputs
