"""``tf.keras.models``: the models, and reading them back from files."""

from __future__ import annotations

from typing import Any

from ..engine import nest
from ..engine.namespace import public
from .model import Functional, Model
from .saving import load_model, model_from_json, save_model
from .sequential import Sequential
from .serial import reading
from .symbolic import InputLayer, Step


def clone_model(model: Any, *, clone_function: Any = None) -> Any:
    """A new model of the same kind with fresh layers of the same configuration: a Sequential one or one of symbols.

    ``clone_function`` makes each layer from the old one; a layer that is called several times is made once. A model that
    is a class of its own is made by its class from what ``get_config`` gives; ValueError for a ``clone_function`` then.

    >>> import minitape as tf
    >>> x = tf.keras.Input((2,))
    >>> model = tf.keras.Model(x, tf.keras.layers.Dense(1, name="out")(x))
    >>> copy = tf.keras.models.clone_model(model)
    >>> copy.layers[1].name, copy.layers[1] is model.layers[1]
    ('out', False)
    """
    with reading(safe_mode=False):  # the configurations are those of objects that are here
        return _cloned(model, clone_function)


def _cloned(model: Any, clone_function: Any) -> Any:
    make = clone_function or _again
    if isinstance(model, Sequential):
        copy = Sequential(name=model.name)
        copy._extend(map(make, model._stack))
        return copy
    if isinstance(model, Functional):
        return _of_symbols(model, make)
    if clone_function is not None:
        raise ValueError(
            "Arguments `clone_function` and `input_tensors` are only supported for Sequential models or Functional "
            f"models. Received model of type '{type(model).__name__}', with clone_function={clone_function}"
        )
    return type(model).from_config(model.get_config())


def _again(layer: Any) -> Any:
    """A layer of the same configuration; models inside a model are cloned themselves."""
    if isinstance(layer, (Sequential, Functional)):
        return clone_model(layer)
    return type(layer).from_config(layer.get_config())


def _of_symbols(model: Functional, make: Any) -> Functional:
    """The calls of a model noted once more, with other layers."""
    known, layers = {}, {}
    for x in model.inputs:
        start = make(x._keras_history.layer) if _is_input(x) else InputLayer(batch_shape=x.shape, dtype=x.dtype, name=x.name)
        known[id(x)] = start.output
    for node in model._nodes:
        if isinstance(node.layer, InputLayer):
            continue
        layer = layers.get(id(node.layer))
        if layer is None:
            plain = isinstance(node.layer, Step)  # a function, which has nothing of its own
            layer = layers[id(node.layer)] = Step(node.layer._function, "step") if plain else make(node.layer)
        args, kwargs = nest.map_structure(lambda v: known.get(id(v), v), (node.args, node.kwargs))
        for old, new in zip(nest.flatten(node.outputs), nest.flatten(layer(*args, **kwargs)), strict=True):
            known[id(old)] = new
    ends = [nest.map_structure(lambda v: known[id(v)], end) for end in (model._inputs_struct, model._outputs_struct)]
    return Functional(*ends, name=model.name)


def _is_input(symbol: Any) -> bool:
    """True for a symbol that an input layer gave."""
    return isinstance(symbol._keras_history.layer, InputLayer)


__all__ = ["Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]
__getattr__, __dir__ = public("tf.keras.models", __all__)
