"""``tf.config``: how functions run, and which devices there are (the CPU)."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.config",
    {
        "functions.settings": "functions_run_eagerly list_physical_devices run_functions_eagerly",
    },
    globals(),
)
