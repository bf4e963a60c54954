"""Models and weights in files.

The files are minitape's own: NumPy archives of the weights (and, for a whole model, its class and configuration), under
the names that Keras demands. They are not those of Keras.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from .serial import registered
from .utils import register_keras_serializable  # noqa: F401 - Keras offers it here


def _check(filepath: Any, ending: str, overwrite: bool) -> str:
    path = os.fspath(filepath)
    if not path.endswith(ending):
        raise ValueError(
            f"The filename must end in `{ending}`. Received: filepath={path}"
            if "weights" in ending
            else f"Invalid filepath extension for saving. Please add either a `.keras` extension for the native "
            f"Keras format (recommended) or a `.h5` extension. Use `model.export(filepath)` if you want to export "
            f"a SavedModel for use with TFLite/TFServing/etc. Received: filepath={path}."
        )
    if os.path.exists(path) and not overwrite:
        raise FileExistsError(f"{path} exists already; pass overwrite=True to replace it.")
    return path


def save_weights(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Writes a model's weights; ValueError unless the name ends in ``.weights.h5``."""
    with open(_check(filepath, ".weights.h5", overwrite), "wb") as file:
        np.savez(file, **{str(i): v.numpy() for i, v in enumerate(model.weights)})


def load_weights(model: Any, filepath: Any) -> None:
    """Reads weights that ``save_weights`` wrote; ValueError when they do not fit the model."""
    with np.load(os.fspath(filepath)) as archive:
        model.set_weights([archive[str(i)] for i in range(len(archive.files))])


def save_model(model: Any, filepath: Any, overwrite: bool = True) -> None:
    """Writes a model: its class, its configuration and its weights. ValueError unless the name ends in ``.keras``."""
    from .model import Functional, Sequential

    path = _check(filepath, ".keras", overwrite)
    if isinstance(model, Functional):
        raise ValueError(
            "minitape saves Sequential and subclassed models. Of a model made of symbolic tensors save the "
            "weights (`model.save_weights('x.weights.h5')`) and build it again by its own code."
        )
    about: dict[str, Any] = {"class_name": type(model).__name__, "build_shape": model._build_shape}
    if isinstance(model, Sequential):
        about["layers"] = [{"class_name": type(layer).__name__, "config": layer.get_config()} for layer in model._stack]
        about["config"] = {"name": model.name}
    else:
        about["config"] = {k: v for k, v in model.get_config().items() if k in model._init_arguments or k == "name"}
    weights = {str(i): v.numpy() for i, v in enumerate(model.weights)}
    with open(path, "wb") as file:
        np.savez(file, about=np.array(json.dumps(about)), **weights)


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """The model in a file that ``save`` wrote, not compiled. Its class must be registered or given in "
    "``custom_objects``."""
    from . import layers
    from .model import Sequential

    path = os.fspath(filepath)
    if not os.path.exists(path):
        raise ValueError(f"File not found: filepath={path}. Please ensure the file is an accessible `.keras` zip file.")
    with np.load(path) as archive:
        about = json.loads(str(archive["about"]))
        weights = [archive[str(i)] for i in range(len(archive.files) - 1)]
    known = {**registered, **(custom_objects or {})}

    def find(name: str) -> Any:
        return known[name] if name in known else getattr(layers, name)

    if "layers" in about:
        model = Sequential(**about["config"])
        for layer in about["layers"]:
            model.add(find(layer["class_name"]).from_config(layer["config"]), rebuild=False)
        model._rebuild()
    else:
        if about["class_name"] not in known:
            raise TypeError(
                f"Could not locate class '{about['class_name']}'. Make sure custom classes are decorated with "
                "`@keras.saving.register_keras_serializable()`."
            )
        model = known[about["class_name"]](**about["config"])
    if weights and not model.weights and about["build_shape"] is not None:
        model.build(tuple(about["build_shape"]))
    if weights or model.weights:
        model.set_weights(weights)
    return model
