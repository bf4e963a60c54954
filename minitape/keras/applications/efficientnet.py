"""``tf.keras.applications.efficientnet``: scaled in width, depth and size together."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.efficientnet", {
    "keras.applications.efficient": "EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6 EfficientNetB7",
    "keras.applications.pixels": "decode_predictions preprocess_input=unchanged",
}, globals())  # fmt: skip
