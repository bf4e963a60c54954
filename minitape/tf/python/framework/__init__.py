"""``tensorflow.python.framework``."""

from ...namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.python.framework",
    {
        "tf.python.framework.ops": "ops=",
    },
    globals(),
)
