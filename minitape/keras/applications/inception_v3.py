"""``tf.keras.applications.inception_v3``: several sizes of filters side by side."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.inception_v3", {
    "keras.applications.inception": "InceptionV3",
    "keras.applications.pixels": "decode_predictions preprocess_input=tf",
}, globals())  # fmt: skip
