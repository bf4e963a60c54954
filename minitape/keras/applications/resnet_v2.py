"""``tf.keras.applications.resnet_v2``: residual blocks that begin with a normalization."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.resnet_v2", {
    "keras.applications.residual": "ResNet50V2 ResNet101V2 ResNet152V2",
    "keras.applications.pixels": "decode_predictions preprocess_input=tf",
}, globals())  # fmt: skip
