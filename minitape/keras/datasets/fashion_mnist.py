"""``tf.keras.datasets.fashion_mnist``: made-up images in the shapes of pieces of clothing."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.datasets.fashion_mnist", {"keras.datasets.pictures": "load_data=fashion_mnist"}, globals())
