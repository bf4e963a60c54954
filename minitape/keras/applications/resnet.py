"""``tf.keras.applications.resnet``: residual blocks."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.resnet", {
    "keras.applications.residual": "ResNet50 ResNet101 ResNet152",
    "keras.applications.pixels": "decode_predictions preprocess_input=caffe",
}, globals())  # fmt: skip
