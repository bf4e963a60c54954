"""``tf.keras.applications.resnet50``: residual blocks, fifty layers."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.resnet50", {
    "keras.applications.residual": "ResNet50",
    "keras.applications.pixels": "decode_predictions preprocess_input=caffe",
}, globals())  # fmt: skip
