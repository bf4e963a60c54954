"""``tf.keras.applications.vgg19``: convolutions in a row."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.vgg19", {
    "keras.applications.plain": "VGG19",
    "keras.applications.pixels": "decode_predictions preprocess_input=caffe",
}, globals())  # fmt: skip
