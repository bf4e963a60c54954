"""``tensorflow.python``: as much of TensorFlow's private package as the documents import."""

from . import framework

__all__ = ["framework"]
