"""``tf.keras.Model``: layers made of layers that can be trained, and those of symbolic tensors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import tf
from ..engine import nest
from ..engine.tensor import Tensor
from . import base
from .base import convert
from .calls import InputSpec, check_inputs
from .layer import Layer
from .serial import known, reading
from .symbolic import InputLayer, KerasTensor, Step, by_depth, inferred, nodes_between, replay
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
            Functional.__init__(self, *args, **kwargs)
            return
        Layer.__init__(self, **kwargs)
        Trainer.__init__(self)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the output."""
        raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")

    def build(self, input_shape: Any) -> None:
        """Creates the weights of all layers, by running the model on zeros of this shape."""
        from .symbolic import infer

        if type(self).call is Model.call:
            raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")
        infer(self, (KerasTensor(input_shape, self.dtype),), {})

    def _build_for(self, args: Any, kwargs: Any) -> None:
        if type(self).build is not Model.build:
            super()._build_for(args, kwargs)
        else:
            self._path = base.current_path()
            self._build_shape = nest.map_structure(lambda x: base.standardize_shape(x.shape), args[0]) if args else None

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The model with these arguments; with the layers and calls of one that was made of symbolic tensors."""
        if "input_layers" not in config:
            return super().from_config(config)
        from .configs import model_of

        with known(custom_objects), reading():
            return model_of(Functional if cls is Model else cls, config)

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

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Any = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Any = None,
    ) -> None:
        """Prints a table of the layers: their output shapes and numbers of weights.

        >>> import minitape as tf
        >>> tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3, name="dense")], name="line").summary(60)
        Model: "line"
        ┏━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━┓
        ┃ Layer (type)             ┃ Output Shape      ┃   Param # ┃
        ┡━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━┩
        │ dense (Dense)            │ (None, 3)         │         9 │
        └──────────────────────────┴───────────────────┴───────────┘
         Total params: 9 (36.00 B)
         Trainable params: 9 (36.00 B)
         Non-trainable params: 0 (0.00 B)
        """
        from .summary import print_summary

        if layer_range is not None:
            raise ValueError("minitape's summary() shows all layers: `layer_range` is not supported.")
        print_summary(self, line_length, positions, print_fn, expand_nested, show_trainable)

    def to_json(self) -> str:
        """The class and the configuration as text, for ``tf.keras.models.model_from_json``.

        >>> import minitape as tf
        >>> text = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)]).to_json()
        >>> tf.keras.models.model_from_json(text).output_shape
        (None, 3)
        """
        import json

        from .saving import described

        return json.dumps(described(self))

    def _serving_function(self, name: str | None = None) -> Any:
        """The model as a function of inputs of the shapes that it was built for, of any batch size; None before.

        ``name`` is that of an only input.
        """
        known = [(x.shape, x.dtype, x.name) for x in getattr(self, "inputs", None) or ()]
        if not known and self._build_shape and not nest.is_nested(self._build_shape[-1]):
            known = [(self._build_shape, self.dtype, "inputs")]
        if not known:
            return None
        specs = [tf.TensorSpec((None, *shape[1:]), dtype, name if name and len(known) == 1 else own) for shape, dtype, own in known]

        def serve(*inputs: Any) -> Any:
            return self(inputs[0] if len(inputs) == 1 else list(inputs), training=False)

        return tf.function(serve, input_signature=specs, autograph=False)

    def export(self, filepath: Any, format: str = "tf_saved_model", verbose: bool | None = None) -> None:
        """Writes what the model computes into a folder, which ``tf.saved_model.load`` reads without the model's class.

        What it gives has the function ``serve``, the variables and the signature "serving_default"; training of dropout and the like is off. It
        says so unless ``verbose`` is False. ValueError for another ``format`` and for a model that is not built, and what ``tf.saved_model.save`` raises.

        >>> import minitape as tf, tempfile
        >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        >>> model.export(folder := tempfile.mkdtemp(), verbose=False)
        >>> bool(tf.saved_model.load(folder).serve(tf.ones([1, 2])) == model(tf.ones([1, 2])))
        True
        """
        if format != "tf_saved_model":
            raise ValueError(f"minitape exports models as 'tf_saved_model' only, in its own kind of file. Received: format={format}")
        exported: Any = tf.Module("exported")
        exported.serve = self._serving_function()
        if exported.serve is None:
            raise ValueError("The layer provided has not yet been built. It must be built before export.")
        exported.model, exported.weights = self, [v.value for v in self.variables]
        tf.saved_model.save(exported, filepath, dict.fromkeys(("serve", "serving_default"), exported.serve))
        if verbose is not False:
            print(f"Saved artifact at '{filepath}'. The following endpoints are available:\n\n* Endpoint 'serve'")
            print(exported.serve.pretty_printed_concrete_signatures())

    def save(self, filepath: Any, overwrite: bool = True, save_format: Any = None) -> None:
        """Writes the model to a ``.keras`` file of minitape's own; ValueError for a ``save_format``: the name tells it.

        >>> import minitape as tf, tempfile
        >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        >>> model.save(path := tempfile.mkdtemp() + "/it.keras")
        >>> bool(tf.keras.models.load_model(path)(tf.ones([1, 2])) == model(tf.ones([1, 2])))
        True
        """
        from .saving import save_model

        if save_format is not None:
            raise ValueError(
                "The `save_format` argument is deprecated in Keras 3. Please remove this argument and pass a file path with "
                f"either `.keras` or `.h5` extension.Received: save_format={save_format}"
            )
        save_model(self, filepath, overwrite)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Writes the weights to a ``.weights.h5`` file of minitape's own.

        >>> import minitape as tf, tempfile
        >>> one, other = (tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)]) for _ in range(2))
        >>> one.save_weights(path := tempfile.mkdtemp() + "/it.weights.h5")
        >>> other.load_weights(path)
        >>> bool(tf.reduce_all(one(tf.ones([1, 2])) == other(tf.ones([1, 2]))))
        True
        """
        from .saving import save_weights

        save_weights(self, filepath, overwrite)

    def load_weights(self, filepath: Any) -> None:
        """Reads weights that ``save_weights`` wrote; ValueError for a file of another kind, and before the model is built.

        >>> import minitape as tf, tempfile
        >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, bias_initializer="ones")])
        >>> model.save_weights(path := tempfile.mkdtemp() + "/it.weights.h5")
        >>> model.set_weights([tf.zeros([2, 1]), tf.zeros([1])])
        >>> model.load_weights(path)
        >>> model.get_weights()[1]
        array([1.], dtype=float32)
        """
        from .saving import load_weights

        load_weights(self, filepath)


def _symbolic_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
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

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name or base.auto_name("functional"), **kwargs)
        for key, x in inputs.items() if isinstance(inputs, dict) else ():
            if isinstance(x, KerasTensor) and x.name != key:
                warnings.warn(
                    "When providing `inputs` as a dict, all keys in the dict must match the names of the corresponding "
                    f"tensors. Received key '{key}' mapping to value {x} which has name '{x.name}'. Change the tensor name "
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
        for what, given in (("_inputs_struct", inputs), ("_outputs_struct", outputs)):
            object.__setattr__(self, what, given)  # a list stays what it is
        self.inputs, self.outputs = nest.flatten(inputs), nest.flatten(outputs)
        self._nodes = nodes_between(self.inputs, outputs)
        kept = by_depth(self._nodes, self.inputs, outputs)
        whole = {id(x._keras_history.layer) for x in self.inputs if not isinstance(x._keras_history.layer, InputLayer)}
        inside = {id(node.layer) for node in self._nodes}  # an input may come from a layer that is outside the model
        self._operations = [o for o in kept if id(o) not in whole or id(o) in inside]
        for operation in self._operations:
            self._store.add(operation)
        self.built = True
        self._build_shape = nest.map_structure(lambda x: x.shape, inputs)

    def get_config(self) -> dict[str, Any]:
        """The layers with their arguments, and the calls between them. TypeError for what JSON cannot hold."""
        from .configs import config_of

        return config_of(self)

    layers = property(
        lambda self: [o for o in self._operations if not isinstance(o, Step)],
        doc="The layers, inputs first; of plain operations on symbolic tensors only ``operations`` knows.",
    )
    operations = property(lambda self: list(self._operations), doc="The layers and the plain operations, inputs first.")
    input = property(lambda self: self._inputs_struct, doc="The symbolic input, or a structure of them.")
    output = property(lambda self: self._outputs_struct, doc="The symbolic output, or a structure of them.")
    input_shape = property(
        lambda self: nest.map_structure(lambda x: x.shape, self._inputs_struct), doc="The shape of the input."
    )
    output_shape = property(
        lambda self: nest.map_structure(lambda x: x.shape, self._outputs_struct), doc="The shape of the output."
    )

    def call(self, inputs: Any, training: Any = None, mask: Any = None, **kwargs: Any) -> Any:
        """Replays the calls on real tensors; ``mask`` (one, or a structure like the inputs) goes with them."""
        take_nothing_else(self, kwargs)
        values = self._matched(self._arranged(inputs))
        for i, (symbol, value) in enumerate(zip(self.inputs, values, strict=True)):
            if value is not None and len(value.shape) != len(symbol.shape):
                struct = self._inputs_struct
                path = list(struct)[i] if isinstance(struct, dict) else i if nest.is_nested(struct) else ""
                raise ValueError(
                    f"Invalid input shape for input {value} with name '{symbol.name}' and path '{path}'. Expected shape "
                    f"{symbol.shape}, but input has incompatible shape {tuple(value.shape)}"
                )
        for value, kept in zip(values, [] if mask is None else nest.flatten(mask), strict=False):
            if kept is not None:
                base.set_keras_mask(value, kept)
        found = replay(self._nodes, self.inputs, self._outputs_struct, values, training)
        return found[0] if isinstance(found, (list, tuple)) and len(found) == 1 else found

    def _converted_leaf(self, x: Any) -> Any:
        return x if isinstance(x, np.ndarray) else super()._converted_leaf(x)  # it takes the type of its input later

    def _check_input(self, first: Any) -> None:
        struct = self._inputs_struct
        names = [x._keras_history.layer.name for x in self.inputs]
        if isinstance(struct, dict):
            if not all(isinstance(x, KerasTensor) for x in struct.values()):
                return  # nobody checks what lies deeper
            names = sorted(struct)
        if not isinstance(first, dict) and len(nest.flatten(first)) != len(names):
            pairs = ", ".join(f"{name!r}: ..." for name in names)
            raise ValueError(
                f'Layer "{self.name}" expects {len(names)} named input(s) with keys {names}, but it received '
                f"{len(nest.flatten(first))} input tensors. Pass inputs as a dict, e.g. `layer({{{pairs}}})`."
            )
        shapes = [(None, *x.shape[1:]) if x.shape else () for x in self.inputs]  # a batch may have any size
        check_inputs(
            [InputSpec(shape=shape, allow_last_axis_squeeze=True, name=name, optional=True)  # the call says where it is not
             for shape, name in zip(shapes, names, strict=True)], first, self.name,
        )  # fmt: skip

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
            unclear = list(struct) != sorted(struct)  # nobody knows which is which
        if unclear or _skeleton(inputs) != _skeleton(struct):
            message = (
                "The structure of `inputs` doesn't match the expected structure.\n"
                f"Expected: {_shown(struct, lambda x: x.name)}\n"
                f"Received: inputs={_shown(inputs, lambda x: f'Tensor(shape={tuple(x.shape)})')}"
            )
            if unclear:
                raise ValueError(message)
            warnings.warn(message, stacklevel=5)
        return inputs

    def _matched(self, inputs: Any) -> list[Any]:
        """The given tensors in the order of the model's inputs, in their types and ranks."""
        values = nest.flatten(inputs)
        checked = []
        for symbol, value in zip(self.inputs, values, strict=False):  # a dictionary may hold more
            if value is None:
                if not getattr(symbol._keras_history.layer, "optional", True):
                    raise ValueError(
                        f"The input '{symbol.name}' is not optional, but None was passed. Please provide a valid tensor."
                    )
            elif not hasattr(value, "_composite"):
                value = _fitted(value if isinstance(value, KerasTensor) else convert(value, symbol.dtype), symbol.shape)
            checked.append(value)
        return checked

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for an input of this shape."""
        if len(self.inputs) != 1:
            return super().compute_output_shape(input_shape)
        given = [KerasTensor(input_shape, self.inputs[0].dtype, name="given")]
        return nest.map_structure(lambda x: x.shape, inferred(self._nodes, self.inputs, self._outputs_struct, given))


def _skeleton(structure: Any) -> Any:
    """The structure without its leaves; lists and tuples are alike."""
    if isinstance(structure, dict):
        return {name: _skeleton(value) for name, value in structure.items()}
    return tuple(map(_skeleton, structure)) if isinstance(structure, (list, tuple)) else None


def _shown(structure: Any, leaf: Any) -> Any:
    return nest.map_structure(lambda x: "None" if x is None else leaf(x), structure)


def take_nothing_else(model: Model, kwargs: dict[str, Any]) -> None:
    """The signature says **kwargs, as that of Keras, which errors show; but there is nothing that they could mean."""
    for name in kwargs:
        raise TypeError(f"{type(model).__name__}.call() got an unexpected keyword argument '{name}'")


def _fitted(value: Any, shape: tuple[Any, ...]) -> Any:
    """With or without a last axis of size 1, as the shape wants it."""
    if len(value.shape) == len(shape) - 1 and shape[-1] == 1:
        return tf.expand_dims(value, -1)
    if len(value.shape) == len(shape) + 1 and value.shape[-1] == 1:
        return tf.squeeze(value, -1)
    return value
