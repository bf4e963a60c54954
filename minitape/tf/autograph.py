"""``tf.autograph``: what can be said about the conversion of Python's control flow."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.autograph",
    {},
    globals(),
)
