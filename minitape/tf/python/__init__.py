"""``tensorflow.python``: as much of TensorFlow's private package as the documents import."""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.python",
    {
        "tf.python.framework": "framework=",
    },
    globals(),
)
