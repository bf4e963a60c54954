"""``tf.config``: how functions run, and which devices there are (the CPU)."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.config",
    {
        "functions.settings": "run_functions_eagerly",
    },
    globals(),
)
