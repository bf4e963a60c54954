"""``tf.keras.datasets.california_housing``: made-up rows in the shape of a table of houses and their prices."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.datasets.california_housing", {"keras.datasets.tables": "load_data=california_housing"}, globals())
