"""``tf.keras.applications.vgg16``: convolutions in a row."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.vgg16", {
    "keras.applications.plain": "VGG16",
    "keras.applications.pixels": "decode_predictions preprocess_input=caffe",
}, globals())  # fmt: skip
