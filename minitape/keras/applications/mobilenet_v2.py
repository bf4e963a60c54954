"""``tf.keras.applications.mobilenet_v2``: inverted residual blocks."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.mobilenet_v2", {
    "keras.applications.mobile": "MobileNetV2",
    "keras.applications.pixels": "decode_predictions preprocess_input=tf",
}, globals())  # fmt: skip
