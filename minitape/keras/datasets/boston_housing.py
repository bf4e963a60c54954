"""``tf.keras.datasets.boston_housing``: made-up rows in the shape of a table of houses and their prices."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.datasets.boston_housing", {"keras.datasets.tables": "load_data=boston_housing"}, globals())
