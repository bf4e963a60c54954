"""``tf.keras.datasets.cifar10``: made-up images in the shapes of small photographs."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.datasets.cifar10", {"keras.datasets.pictures": "load_data=cifar10"}, globals())
