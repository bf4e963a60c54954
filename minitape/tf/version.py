"""``tf.version``: which version of minitape this is."""

from .namespace import lazy as _lazy

VERSION = "0.1.0"
__getattr__, __dir__ = _lazy("tf.version", {}, globals())
