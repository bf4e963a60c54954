"""``tf.keras``, as much as the documents and the lessons show: ``Dense``, ``Layer``, ``Sequential``, ``SGD``,
``Adam``.

>>> import minitape as tf
>>> dense = tf.keras.layers.Dense(2)
>>> dense.built, dense.variables
(False, [])
"""

from ..tf.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.keras",
    {"keras.layers": "Layer Sequential", "keras.variable": "Variable"},
    globals(),
    {name: (f"keras.{name}", "") for name in ("callbacks", "layers", "optimizers")},
)
