"""``tf.keras``: layers, models, losses, metrics and optimizers in the manner of Keras 3, small.

Each submodule is loaded when it is first used. What Keras has and this does not raises an AttributeError that says so.

>>> import minitape as tf
>>> dense = tf.keras.layers.Dense(2)
>>> dense.built, dense.variables
(False, [])
"""

from __future__ import annotations

import importlib
from typing import Any

from ..api import missing

MODULES = (
    "activations",
    "backend",
    "callbacks",
    "constraints",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "ops",
    "optimizers",
    "random",
    "regularizers",
    "saving",
    "utils",
)
HOME = {
    "Variable": "variable",
    "Layer": "layer",
    "Input": "symbolic",
    "KerasTensor": "symbolic",
    "Model": "model",
    "Sequential": "model",
    "Loss": "losses",
    "Metric": "metrics",
    "Optimizer": "optimizers",
    "Initializer": "initializers",
    "Regularizer": "regularizers",
    "InputSpec": "layer",
    "name_scope": "base",
}
__version__ = "3.15.1"


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in HOME:
        found = getattr(importlib.import_module(f"{__name__}.{HOME[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(missing("tf.keras", name, [*MODULES, *HOME]))


def __dir__() -> list[str]:
    return sorted([*MODULES, *HOME, "__version__"])


def version() -> str:
    """The version of Keras that this follows."""
    return __version__
