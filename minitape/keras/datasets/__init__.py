"""``tf.keras.datasets``: made-up data in the shapes and types of the real ones, for minitape loads nothing from the network.

They have a pattern for each class (or a linear law), so that a model learns something of them; what it learns says nothing of
the real data. The first use of each says so. ``madeup`` makes them, for ``pictures``, ``wordlists`` and ``tables``; each
other file is the namespace of its name.
"""

from ...engine.namespace import lazy as _lazy

_NAMES = "boston_housing california_housing cifar10 cifar100 fashion_mnist imdb mnist reuters".split()

__getattr__, __dir__ = _lazy("tf.keras.datasets", {}, globals(), {name: (f"keras.datasets.{name}", "") for name in _NAMES})
