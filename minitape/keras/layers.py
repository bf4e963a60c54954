"""``tf.keras.layers``: a layer builds its weights when it first sees an input."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from .. import tf
from ..engine.recording.evidence import note_creation
from ..engine.recording.state import state
from .variable import Variable

_GIVEN: Counter[str] = Counter()


def auto_name(class_name: str) -> str:
    """``dense``, then ``dense_1``, ``dense_2``, ..."""
    name = re.sub("([a-z])([A-Z])", r"\1_\2", class_name).lower()
    number, _GIVEN[name] = _GIVEN[name], _GIVEN[name] + 1
    return f"{name}_{number}" if number else name


class Layer:
    """The base class of layers: subclasses make weights in ``build`` and compute in ``call``.

    >>> import minitape as tf
    >>> class Scale(tf.keras.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight((input_shape[-1],), "ones", "factor")
    ...     def call(self, x):
    ...         return x * self.factor
    >>> layer = Scale(name="scale")
    >>> layer(tf.constant([[2.0, 3.0]])).numpy(), [w.path for w in layer.weights]
    (array([[2., 3.]], dtype=float32), ['scale/factor'])
    """

    def __init__(self, name: str | None = None, trainable: bool = True) -> None:
        self.name, self.trainable, self.built = name or auto_name(type(self).__name__), trainable, False
        note_creation(self)

    def add_weight(self, shape: Any, initializer: Any = "glorot_uniform", name: str = "variable") -> Variable:
        """A weight; ``initializer`` is "ones", "zeros", "glorot_uniform" or a function of the shape."""
        shape = tuple(int(n) for n in shape)
        if callable(initializer):
            value = initializer(shape)
        elif initializer == "glorot_uniform":
            limit = np.sqrt(6.0 / (shape[0] + shape[-1]))
            value = tf.random.uniform(shape, -limit, limit)
        else:
            value = {"ones": tf.ones, "zeros": tf.zeros}[initializer](shape)
        around = state.scope
        if around[-1:] != (self.name,):
            state.scope = (*around, self.name)
        try:
            return Variable(value, self.trainable, name, f"{self.name}/{name}")
        finally:
            state.scope = around

    def build(self, input_shape: Any) -> None:
        """Makes the weights."""

    def call(self, inputs: Any) -> Any:
        """Computes the output."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call` method implemented.")

    def __call__(self, inputs: Any) -> Any:
        inputs = tf.convert_to_tensor(inputs)
        around = state.scope
        state.scope = (*around, self.name)
        try:
            if not self.built:
                with tf.init_scope():
                    self.build(inputs.shape)
                self.built = True
            return self.call(inputs)
        finally:
            state.scope = around

    @property
    def variables(self) -> list[Variable]:
        """The weights of the layer and of the layers in it, in the order in which they became attributes."""
        found: dict[int, Variable] = {}
        for value in vars(self).values():
            for part in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(part, Variable):
                    found[id(part)] = part
                elif isinstance(part, Layer):
                    found |= {id(v): v for v in part.variables}
        return list(found.values())

    weights = variables

    @property
    def trainable_variables(self) -> list[Variable]:
        """The weights that training may change."""
        return [v for v in self.variables if v.trainable]

    trainable_weights = trainable_variables


class Dense(Layer):
    """``activation(inputs @ kernel + bias)``.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    >>> layer(tf.constant([[1.0, 2.0]])).numpy()
    array([[3., 3.]], dtype=float32)
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        name: str | None = None,
        trainable: bool = True,
    ) -> None:
        super().__init__(name, trainable)
        self.units, self.use_bias = units, use_bias
        self.activation = getattr(tf.nn, activation) if isinstance(activation, str) else activation
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: Any) -> None:
        """Makes ``kernel`` and ``bias``."""
        self.kernel = self.add_weight((input_shape[-1], self.units), self.kernel_initializer, "kernel")
        self.bias = self.add_weight((self.units,), self.bias_initializer, "bias") if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The product, the bias and the activation."""
        out = inputs @ self.kernel
        out = out if self.bias is None else out + self.bias
        return out if self.activation is None else self.activation(out)


class Sequential(Layer):
    """Layers one after the other.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    >>> model(tf.constant([[1.0, 2.0]])).numpy()
    array([[3.]], dtype=float32)
    """

    def __init__(self, layers: Any = (), name: str | None = None) -> None:
        super().__init__(name)
        self.layers = list(layers)

    def add(self, layer: Any) -> None:
        """Puts a layer on top."""
        self.layers.append(layer)

    def call(self, inputs: Any) -> Any:
        """The layers' outputs, one from the other."""
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs
