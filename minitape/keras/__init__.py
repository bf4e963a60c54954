"""``tf.keras``: layers, models, losses, metrics and optimizers in the manner of Keras 3, small.

Each submodule is loaded when it is first used. What Keras has and this does not raises an AttributeError that says so.

>>> import minitape as tf
>>> dense = tf.keras.layers.Dense(2)
>>> dense.built, dense.variables
(False, [])

A file stands for the namespace of its name; the others hold what these are made of:

    ``layer``, ``calls``, ``state``, ``variable``   a layer, its call, what it holds
    ``symbolic``, ``model``, ``sequential``   models of symbolic tensors, and models of layers
    ``training``, ``feeding``, ``compiled``   ``fit`` and its kin; ``compiled_step`` what its step refuses
    ``lossfunctions``, ``logits``   losses; ``metric``   metrics; ``optimizer``   optimizers
    ``base``, ``random``   dtypes and names, objects by their names and from tables, how layers find their parts;
    random numbers
"""

from ..tf.namespace import lazy as _lazy

__version__ = "3.15.1"

_MODULES = "activations callbacks initializers layers losses metrics models optimizers regularizers utils".split()

__getattr__, __dir__ = _lazy(
    "tf.keras",
    {
        "keras.initializers": "Initializer",
        "keras.layer": "Layer",
        "keras.losses": "Loss",
        "keras.metrics": "Metric",
        "keras.model": "Model",
        "keras.optimizers": "Optimizer",
        "keras.regularizers": "Regularizer",
        "keras.sequential": "Sequential",
        "keras.symbolic": "Input KerasTensor",
        "keras.variable": "Variable",
    },
    globals(),
    {name: (f"keras.{name}", "") for name in _MODULES},
)
