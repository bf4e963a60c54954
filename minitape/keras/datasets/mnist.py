"""``tf.keras.datasets.mnist``: made-up images in the shapes of handwritten digits."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.datasets.mnist", {"keras.datasets.pictures": "load_data=mnist"}, globals())
