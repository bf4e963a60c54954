"""``tf.keras.datasets.cifar100``: made-up images in the shapes of small photographs, of many classes."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.datasets.cifar100", {"keras.datasets.pictures": "load_data=cifar100"}, globals())
