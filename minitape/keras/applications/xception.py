"""``tf.keras.applications.xception``: separable convolutions."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.xception", {
    "keras.applications.inception": "Xception",
    "keras.applications.pixels": "decode_predictions preprocess_input=tf",
}, globals())  # fmt: skip
