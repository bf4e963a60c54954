"""``tf.keras``: layers, models, losses, metrics and optimizers in the manner of Keras 3, small.

Each submodule is loaded when it is first used. What Keras has and this does not raises an AttributeError that says so.

>>> import minitape as tf
>>> dense = tf.keras.layers.Dense(2)
>>> dense.built, dense.variables
(False, [])

A file stands for the namespace of its name; the others hold what these are made of:

    ``layer``, ``calls``, ``state``, ``tracking``, ``variable``   a layer, its call, what it holds and how it finds that
    ``symbolic``, ``model``, ``sequential``, ``configs``, ``summary``   models of symbolic tensors, and models of layers
    ``training``, ``feeding``, ``compiled``, ``callback``, ``monitor``, ``tensorboard``, ``progress``   ``fit`` and its kin
    ``loss``, ``lossfunctions``, ``logits``, ``segmentation``   losses; ``metric``, ``accuracies``, ``counting``, ``auc``   metrics;
    ``annotated``   how both, and schedules, say what they take
    ``optimizer``, ``slots``, ``scaled``, ``schedules``   optimizers, what they keep for each weight, and how their rates change
    ``base``, ``serial``, ``seeds``, ``legacy``   settings and names, objects by their names, seeds, Keras 2's backend
    ``operations``   the functions behind ``ops``, ``activations`` and ``random``; ``windows`` and ``folders`` of ``utils``
    ``datasets``   made-up data in the shapes of the real ones; ``downloads``   files that are there already
    ``applications``   the architectures of Keras, with random weights
    ``skipgrams``, ``tokenizer``   of ``preprocessing.sequence`` and ``preprocessing.text``
"""

from ..engine.namespace import lazy as _lazy

__version__ = "3.15.1"

_MODULES = (
    "activations applications backend callbacks constraints datasets initializers layers losses metrics models ops optimizers preprocessing "
    "random regularizers saving utils"
).split()

__getattr__, __dir__ = _lazy("tf.keras", {
    "keras.base": "name_scope version",
    "keras.initializers": "Initializer",
    "keras.layer": "InputSpec Layer",
    "keras.losses": "Loss",
    "keras.metrics": "Metric",
    "keras.model": "Model",
    "keras.optimizers": "Optimizer",
    "keras.regularizers": "Regularizer",
    "keras.sequential": "Sequential",
    "keras.symbolic": "Input KerasTensor",
    "keras.variable": "Variable",
}, globals(), {name: (f"keras.{name}", "") for name in _MODULES})  # fmt: skip
