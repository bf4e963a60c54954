"""``tf.version``: which version of minitape this is."""

from . import __version__ as VERSION  # noqa: N812 - TensorFlow's name
from .namespace import public

__all__ = ["VERSION"]
__getattr__, __dir__ = public("tf.version", __all__)
