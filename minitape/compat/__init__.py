"""``tf.compat``: the names of TensorFlow 1 (``v1``)."""

from ..tf.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.compat",
    {
        "compat.v1": "v1=",
    },
    globals(),
)
