"""``tf.keras.models``: the models, and reading them back from files."""

from __future__ import annotations

from typing import Any

from ..namespace import public
from .model import Functional, Model, Sequential  # noqa: F401 - part of tf.keras.models
from .saving import load_model, save_model


def clone_model(model: Any, *, clone_function: Any = None) -> Any:
    """A new Sequential model with fresh layers of the same configuration; ValueError for another kind of model.

    ``clone_function`` makes each layer from the old one.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, name="out")])
    >>> copy = tf.keras.models.clone_model(model)
    >>> copy.layers[0].name, copy.layers[0] is model.layers[0]
    ('out', False)
    """
    if not isinstance(model, Sequential):
        raise ValueError(
            f"minitape clones Sequential models only. Received: {model}. Make the others with their own code."
        )
    clone = clone_function or (lambda layer: type(layer).from_config(layer.get_config()))
    copy = Sequential(name=model.name)
    for layer in model._stack:
        copy.add(clone(layer), rebuild=False)
    copy._rebuild()
    return copy


__all__ = ["Model", "Sequential", "clone_model", "load_model", "save_model"]
__getattr__, __dir__ = public("tf.keras.models", __all__)
