"""``tf.keras.Sequential``: a model of layers one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..engine.values import nest
from . import base
from .layer import Layer
from .model import Functional, Model, take_nothing_else
from .symbolic import InputLayer, KerasTensor


def _of_built(what: str, word: str) -> Any:
    """A property of a model that is built, and of the ``Functional`` that it has then; AttributeError before."""

    def read(model: Sequential) -> Any:
        if model._functional is None:
            raise AttributeError(f"Sequential model '{model.name}' has no defined {word} yet.")
        return getattr(model._functional, what)

    return property(read)


class Sequential(Model):
    """Layers one after the other. Built at once when the first is an ``Input``, else by the first call.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
    >>> model.built, model(tf.constant([[1.0, 2.0]])).numpy()
    (True, array([[3.]], dtype=float32))
    >>> model.add(tf.keras.layers.ReLU())
    >>> [type(layer).__name__ for layer in model.layers], type(model.pop()).__name__, len(model.layers)
    (['Dense', 'ReLU'], 'ReLU', 1)
    """

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None) -> None:
        super().__init__(trainable=trainable, name=name)
        self._stack: tuple[Layer, ...] = ()
        self._extend(layers or [])

    def add(self, layer: Any) -> None:
        """Puts a layer on top. Raises ValueError for what is no layer, and for a second one of the same name."""
        self._extend([layer])

    def _extend(self, layers: Iterable) -> None:
        stack, names = [*self._stack], {layer.name: layer for layer in self._stack}
        for layer in layers:
            if not stack and getattr(layer, "_input_shape_arg", None) is not None:
                stack.append(InputLayer(layer._input_shape_arg))
            stack.append(self._checked(layer, stack, names))
            names[stack[-1].name] = stack[-1]
        self._set_stack((*stack,))
        self._rebuild()

    def _checked(self, layer: Any, stack: list[Layer], names: dict[str, Layer]) -> Layer:
        """Returns the layer, after a check that it can follow these."""
        if isinstance(layer, KerasTensor) and isinstance(layer._keras_history.layer, InputLayer):
            layer = layer._keras_history.layer
        if not isinstance(layer, Layer):
            raise ValueError(
                "Only instances of `keras.Layer` can be added to a Sequential model. Received: "
                f"{layer} (of type {type(layer)})"
            )
        if names.get(layer.name, layer) is not layer:
            raise ValueError(
                "All layers added to a Sequential model should have unique names. Name "
                f"'{layer.name}' is already the name of a layer in this model. Update the `name` argument to "
                "pass a unique name."
            )
        if isinstance(layer, InputLayer) and stack and isinstance(stack[0], InputLayer):
            raise ValueError(
                f"Sequential model '{self.name}' has already been configured to use input shape "
                f"{stack[0].batch_shape}. You cannot add a different Input layer to it."
            )
        return layer

    def pop(self) -> Layer:
        """Takes the last layer off and returns it."""
        last = self._stack[-1]
        self._set_stack(self._stack[:-1])
        self._rebuild()
        return last

    def _set_stack(self, stack: tuple[Layer, ...]) -> None:
        self._locked = False
        self._stack = stack
        self.built, self._functional = False, None

    def _rebuild(self) -> None:
        self.built, self._functional = False, None
        first = self._stack[0] if self._stack else None
        shape = getattr(first, "batch_shape", None) or (first.input_shape if isinstance(first, Functional) else None)
        if shape is not None and len(self._stack) > 1:
            self.build(shape)

    def build(self, input_shape: Any = None) -> None:
        """Creates the weights for inputs of this shape."""
        try:
            shape = base.standardize_shape(input_shape)
        except (ValueError, TypeError):
            return
        if not self._stack:
            raise ValueError(
                f"Sequential model {self.name} cannot be built because it has no layers. Call `model.add(layer)`."
            )
        first = self._stack[0]
        if isinstance(first, InputLayer):
            if first.batch_shape != shape:
                raise ValueError(
                    f"Sequential model '{self.name}' has already been configured to use input shape "
                    f"{first.batch_shape}. You cannot build it with input_shape {shape}"
                )
        else:
            self._set_stack((InputLayer(batch_shape=shape, dtype=first.compute_dtype), *self._stack))
        x = start = self._stack[0].output
        for layer in self._stack[1:]:
            x = layer(x)
        object.__setattr__(self, "_functional", Functional(start, x))
        self.built = True

    def _built_with(self, shape: Any) -> None:
        self._build_shape, self.built = shape, bool(self._functional)  # a Sequential may be changed after it was built

    def _build_for(self, args: Any, kwargs: Any) -> None:
        if args and not nest.is_nested(args[0]):
            first = self._stack[0] if self._stack else None
            self.build(first.batch_shape if isinstance(first, InputLayer) else args[0].shape)

    def call(self, inputs: Any, training: Any = None, mask: Any = None, **kwargs: Any) -> Any:
        """Applies one layer after the other."""
        take_nothing_else(self, mask, kwargs)
        if self._functional is not None:
            return self._functional.call(inputs, training=training)
        for layer in self.layers:
            given = {"training": training} if layer._takes_training and training is not None else {}
            inputs = layer(inputs, **given)
        return inputs

    @property
    def layers(self) -> list[Layer]:
        """The layers, without the input."""
        return [layer for i, layer in enumerate(self._stack) if i or not isinstance(layer, InputLayer)]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for an input of this shape."""
        if self._functional is None:
            return super().compute_output_shape(input_shape)
        return self._functional.compute_output_shape(input_shape)

    inputs = _of_built("inputs", "inputs")
    outputs = _of_built("outputs", "outputs")
    input_shape = _of_built("input_shape", "input shape")
    output_shape = _of_built("output_shape", "output shape")
