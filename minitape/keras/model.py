"""``tf.keras.Model``: layers made of layers that can be trained, and those of symbolic tensors."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from .. import tf
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from ..engine.values.dtypes import as_dtype
from . import base
from .base import convert
from .calls import InputSpec, check_inputs
from .layer import Layer
from .symbolic import InputLayer, KerasStep, KerasTensor, by_depth, infer, nodes_between, replay
from .training import Trainer


class Model(Trainer, Layer):
    """A layer with ``compile``, ``fit``, ``evaluate`` and ``predict``.

    Subclass it (make layers in ``__init__``, use them in ``call``), or give it symbolic tensors:
    ``Model(inputs=x, outputs=y)``. See https://keras.io/api/models/model/.

    >>> import minitape as tf
    >>> class Line(tf.keras.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")
    ...     def call(self, x):
    ...         return self.dense(x)
    >>> model = Line()
    >>> model(tf.constant([[2.0]])).numpy(), len(model.weights)
    (array([[2.]], dtype=float32), 2)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Model and _symbolic_arguments(args, kwargs):
            return super().__new__(Functional)
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if _symbolic_arguments(args, kwargs):
            _become_functional(type(self))
            functional: Any = self
            Functional.__init__(functional, *args, **kwargs)
            return
        Layer.__init__(self, **kwargs)
        self._not_compiled()

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the output."""
        raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")

    def build(self, input_shape: Any) -> None:
        """Creates the weights of all layers, by running the model on zeros of this shape."""
        infer(self, (KerasTensor(input_shape, self.dtype),), {})

    def _build_for(self, args: Any, kwargs: Any) -> None:
        if type(self).build is not Model.build:
            super()._build_for(args, kwargs)
        else:
            self.path = base.current_path()
            self._build_shape = nest.map_structure(lambda x: base.standardize_shape(x.shape), args[0]) if args else None

    @property
    def layers(self) -> list[Layer]:
        """The layers that are attributes."""
        return list({id(layer): layer for layer in self._layers}.values())

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """The layer of this name or number; ValueError when there is none.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2, name="hidden"), tf.keras.layers.ReLU()])
        >>> model.get_layer("hidden").units, model.get_layer(index=0).name
        (2, 'hidden')
        """
        if index is not None and name is not None:
            raise ValueError(f"Provide only a layer name or a layer index. Received: index={index}, name={name}.")
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(self.layers)} layers."
                )
            return self.layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in self.layers]}.")

    def summary(self, print_fn: Any = None) -> None:
        """Prints the layers, their output shapes and numbers of weights, as Keras does, but without a frame.

        >>> import minitape as tf
        >>> tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3, name="dense")], name="line").summary()
        Model: "line"
        Layer (type)   Output Shape  Param #
        dense (Dense)  (None, 3)           9
         Total params: 9 (36.00 B)
         Trainable params: 9 (36.00 B)
         Non-trainable params: 0 (0.00 B)
        """
        (print_fn or sys.stdout.write)(summary_text(self))


def _symbolic_arguments(args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether a model is given its inputs and outputs, by place or by name."""
    return len(args) in (2, 3) or "outputs" in kwargs


def _become_functional(cls: type) -> None:
    """Puts ``Functional`` in the place of ``Model`` below a class of the user's, as Keras does at its first instance.

    So a class that only overrides ``train_step`` can be given symbolic tensors, and one that makes them in its
    ``__init__`` can hand them to ``super().__init__(inputs, outputs)``.
    """
    if issubclass(cls, Functional):
        return
    for base_class in cls.__bases__:
        if base_class is not Model and issubclass(base_class, Model):
            _become_functional(base_class)
    cls.__bases__ = tuple(Functional if b is Model else b for b in cls.__bases__)


class Functional(Model):
    """A model of symbolic tensors: it replays the calls that lead from ``inputs`` to ``outputs``."""

    _inputs_struct: Any  # a symbolic tensor or a structure of them
    _outputs_struct: Any
    inputs: list
    outputs: list
    _nodes: list

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name or base.auto_name("functional"), **kwargs)
        for key, x in inputs.items() if isinstance(inputs, dict) else ():
            if isinstance(x, KerasTensor) and x.name != key:
                warnings.warn(
                    "When providing `inputs` as a dict, all keys in the dict must match the names of the corresponding "
                    f"tensors. Received key '{key}' mapping to value {x} which has name '{x.name}'. Change the tensor "
                    "name "
                    f"to '{key}' (via `Input(..., name='{key}')`)",
                    stacklevel=2,
                )
        for what, given in (("inputs", inputs), ("outputs", outputs)):
            for x in nest.flatten(given):
                if not isinstance(x, KerasTensor):
                    raise ValueError(
                        f"All `{what}` values must be KerasTensors. Received: {what}={given} including invalid value "
                        f"{x} of type {type(x)}"
                    )
        flat = nest.flatten(inputs)
        vars(self).update(  # none of these holds parts of the model
            _inputs_struct=inputs,
            _outputs_struct=outputs,
            inputs=flat,
            outputs=nest.flatten(outputs),
            _nodes=nodes_between(flat, outputs),
        )
        kept = by_depth(self._nodes, self.inputs, outputs)
        whole = {id(x._keras_history.layer) for x in self.inputs if not isinstance(x._keras_history.layer, InputLayer)}
        inside = {id(node.layer) for node in self._nodes}  # an input may come from a layer that is outside the model
        self._operations = tuple(o for o in kept if id(o) not in whole or id(o) in inside)
        self.built = True
        self.input_shape, self.output_shape = (
            nest.map_structure(lambda x: x.shape, given) for given in (inputs, outputs)
        )
        self._build_shape = self.input_shape

    @property
    def layers(self) -> list[Layer]:
        """The layers, inputs first; of plain operations on symbolic tensors only ``operations`` knows."""
        return [o for o in self._operations if not isinstance(o, KerasStep)]

    @property
    def operations(self) -> list[Layer]:
        """The layers and the plain operations, inputs first."""
        return list(self._operations)

    @property
    def input(self) -> Any:
        """The symbolic input, or a structure of them."""
        return self._inputs_struct

    @property
    def output(self) -> Any:
        """The symbolic output, or a structure of them."""
        return self._outputs_struct

    def call(self, inputs: Any, training: Any = None, mask: Any = None, **kwargs: Any) -> Any:
        """Replays the calls on real tensors."""
        take_nothing_else(self, mask, kwargs)
        values = self._matched(self._arranged(inputs))
        for i, (symbol, value) in enumerate(zip(self.inputs, values, strict=True)):
            if len(value.shape) != len(symbol.shape):
                struct = self._inputs_struct
                path = list(struct)[i] if isinstance(struct, dict) else i if nest.is_nested(struct) else ""
                raise ValueError(
                    f"Invalid input shape for input {value} with name '{symbol.name}' and path '{path}'. Expected "
                    "shape "
                    f"{symbol.shape}, but input has incompatible shape {tuple(value.shape)}"
                )

        def run(layer: Layer, args: Any, kwargs: Any) -> Any:
            given = {**kwargs, "training": training} if training is not None and layer._takes_training else kwargs
            return layer(*args, **given)

        found = replay(self._nodes, self.inputs, self._outputs_struct, values, run)
        return found[0] if isinstance(found, (list, tuple)) and len(found) == 1 else found

    def _converted_leaf(self, x: Any) -> Any:
        return x if isinstance(x, np.ndarray) else super()._converted_leaf(x)  # it takes the type of its input later

    def _check_input(self, first: Any) -> None:
        struct = self._inputs_struct
        names = [x._keras_history.layer.name for x in self.inputs]
        if isinstance(struct, dict):
            if not all(isinstance(x, KerasTensor) for x in struct.values()):
                return  # no code checks what lies deeper
            names = sorted(struct)
        if not isinstance(first, dict) and len(nest.flatten(first)) != len(names):
            pairs = ", ".join(f"{name!r}: ..." for name in names)
            raise ValueError(
                f'Layer "{self.name}" expects {len(names)} named input(s) with keys {names}, but it received '
                f"{len(nest.flatten(first))} input tensors. Pass inputs as a dict, e.g. `layer({{{pairs}}})`."
            )
        shapes = [(None, *x.shape[1:]) if x.shape else () for x in self.inputs]  # a batch may have any size
        check_inputs(
            [InputSpec(shape=shape, name=name) for shape, name in zip(shapes, names, strict=True)], first, self.name
        )

    def _arranged(self, inputs: Any) -> Any:
        """The inputs in the model's own structure where that is plain; else a warning, or ValueError, says the two."""
        struct, unclear = self._inputs_struct, False
        if isinstance(struct, list) and len(struct) == 1 and isinstance(inputs, Tensor):
            inputs = [inputs]
        elif isinstance(inputs, dict) and not isinstance(struct, dict):
            wanted = [struct] if isinstance(struct, KerasTensor) else struct
            unclear = any(not isinstance(x, KerasTensor) or x.name not in inputs for x in wanted)
            inputs = inputs if unclear else [inputs[x.name] for x in wanted]
        elif isinstance(struct, dict) and not isinstance(inputs, dict):
            unclear = list(struct) != sorted(struct)  # it is unknown which is which
        if unclear or _skeleton(inputs) != _skeleton(struct):
            message = (
                "The structure of `inputs` doesn't match the expected structure.\n"
                f"Expected: {nest.map_structure(lambda x: x.name, struct)}\n"
                f"Received: inputs={nest.map_structure(lambda x: f'Tensor(shape={tuple(x.shape)})', inputs)}"
            )
            if unclear:
                raise ValueError(message)
            warnings.warn(message, stacklevel=5)
        return inputs

    def _matched(self, inputs: Any) -> list:
        """The given tensors in the order of the model's inputs, in their types and ranks."""
        checked = []
        for symbol, value in zip(self.inputs, nest.flatten(inputs), strict=False):  # a dictionary may hold more
            if not hasattr(value, "_composite"):
                value = _fitted(value if isinstance(value, KerasTensor) else convert(value, symbol.dtype), symbol.shape)
            checked.append(value)
        return checked

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for an input of this shape."""
        if len(self.inputs) != 1:
            return super().compute_output_shape(input_shape)
        given = [KerasTensor(input_shape, self.inputs[0].dtype, name="given")]
        return nest.map_structure(
            lambda x: x.shape, replay(self._nodes, self.inputs, self._outputs_struct, given, infer)
        )


def _skeleton(structure: Any) -> Any:
    """The structure without its leaves; lists and tuples are alike."""
    if isinstance(structure, dict):
        return {name: _skeleton(value) for name, value in structure.items()}
    return tuple(map(_skeleton, structure)) if isinstance(structure, (list, tuple)) else None


def take_nothing_else(model: Model, mask: Any, kwargs: dict[str, Any]) -> None:
    """The signature of ``call`` is that of Keras, which errors show; but there are no masks, and nothing else that is
    taken.
    """
    for name in [*kwargs, *(["mask"] if mask is not None else [])]:
        raise TypeError(f"{type(model).__name__}.call() got an unexpected keyword argument '{name}'")


def _fitted(value: Any, shape: tuple) -> Any:
    """With or without a last axis of size 1, as the shape wants it."""
    if len(value.shape) == len(shape) - 1 and shape[-1] == 1:
        return tf.expand_dims(value, -1)
    if len(value.shape) == len(shape) + 1 and value.shape[-1] == 1:
        return tf.squeeze(value, -1)
    return value


def summary_text(model: Any) -> str:
    """The layers of a model, their output shapes and the numbers of their weights."""
    rows = [["Layer (type)", "Output Shape", "Param #"]]
    for layer in getattr(model, "operations", model.layers):
        name = f"{layer.name} ({getattr(layer, '_kind', type(layer).__name__)})"
        rows.append([name, _shape_text(layer), f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"])
    first, second, third = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [f"{name:{first}}  {shape:{second}}  {count:>{third}}" for name, shape, count in rows]
    return "\n".join([f'Model: "{model.name}"', *lines, *_totals(model)]) + "\n"


def _shape_text(layer: Any) -> str:
    """The shapes of what a layer gave last, or would give; "?" where it cannot tell."""
    if layer._inbound_nodes:
        return ", ".join(str(x.shape) for x in nest.flatten(layer._inbound_nodes[-1].outputs))
    if layer._build_shape is None:
        return "?"
    try:
        return str(getattr(layer, "output_shape", None) or layer.compute_output_shape(layer._build_shape))
    except Exception:
        return "?"


def _totals(model: Any) -> list[str]:
    trainable, frozen = model.trainable_weights, model.non_trainable_weights
    has_steps = model.compiled and model.optimizer and model.optimizer.built
    optimizer = model.optimizer.variables if has_steps else []
    groups = [("Total", [*trainable, *frozen, *optimizer]), ("Trainable", trainable), ("Non-trainable", frozen)]
    if has_steps:
        groups.append(("Optimizer", optimizer))
    return [f" {name} params: {_count(vs):,} ({_memory(vs)})" for name, vs in groups]


def _count(variables: Any) -> int:
    return sum(v.shape.num_elements() for v in variables)


def _memory(variables: Any) -> str:
    size = float(sum(v.shape.num_elements() * as_dtype(v.dtype).size for v in variables))
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} TB"
