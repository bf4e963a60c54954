"""``tensorflow.python.framework``."""

from . import ops

__all__ = ["ops"]
