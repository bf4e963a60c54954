"""``tf.keras.applications.densenet``: each layer sees all before it."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.applications.densenet", {
    "keras.applications.dense": "DenseNet121 DenseNet169 DenseNet201",
    "keras.applications.pixels": "decode_predictions preprocess_input=torch",
}, globals())  # fmt: skip
