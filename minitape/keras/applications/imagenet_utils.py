"""``tf.keras.applications.imagenet_utils``: how pixels are scaled for one or another network."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.imagenet_utils", {
    "keras.applications.pixels": "decode_predictions preprocess_input=scaled",
}, globals())  # fmt: skip
