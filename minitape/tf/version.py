"""``tf.version``: which version of minitape this is."""

from . import __version__
from .namespace import lazy as _lazy

VERSION = __version__
__getattr__, __dir__ = _lazy("tf.version", {}, globals())
