"""``tf.saved_model``: objects with their traced functions in files."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.saved_model", {
    "tf.exported": "load save",
}, globals())  # fmt: skip
