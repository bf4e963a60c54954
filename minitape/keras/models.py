"""``tf.keras.models``: the models, and reading them back from files."""

from __future__ import annotations

from typing import Any

from .model import Functional, Model, Sequential

__all__ = ["Functional", "Model", "Sequential", "clone_model", "load_model", "save_model"]


def clone_model(model: Any) -> Any:
    """A new Sequential model with fresh layers of the same configuration; ValueError for another kind of model."""
    if not isinstance(model, Sequential):
        raise ValueError(
            f"minitape clones Sequential models only. Received: {model}. Make the others with their own code."
        )
    copy = Sequential(name=model.name)
    for layer in model._stack:
        copy.add(type(layer).from_config(layer.get_config()), rebuild=False)
    copy._rebuild()
    return copy


def save_model(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Writes a model to a file of minitape's own."""
    from .saving import save_model as save

    save(model, filepath, overwrite)


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """The model in a file that ``save`` wrote."""
    from .saving import load_model as load

    return load(filepath, custom_objects, compile)
