"""``tf.keras.random``: seeded random tensors; a seed is an int or a ``SeedGenerator`` that moves on at each use.

Here is who holds which name.

>>> import minitape as tf
>>> dir(tf.keras.random)
['SeedGenerator', 'dropout', 'normal', 'randint', 'truncated_normal', 'uniform']
"""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.random", {
    "keras.seeds": "SeedGenerator",
    "keras.operations.sampling": "dropout normal randint truncated_normal uniform",
}, globals())  # fmt: skip
