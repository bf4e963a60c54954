"""``tf.test``: what helps to test gradients."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.test",
    {
        "check": "compute_gradient",
    },
    globals(),
)
