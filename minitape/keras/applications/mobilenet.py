"""``tf.keras.applications.mobilenet``: depthwise convolutions."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.mobilenet", {
    "keras.applications.mobile": "MobileNet",
    "keras.applications.pixels": "decode_predictions preprocess_input=tf",
}, globals())  # fmt: skip
