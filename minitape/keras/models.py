"""``tf.keras.models``: the models."""

from __future__ import annotations

from ..tf.namespace import public
from .model import Model
from .sequential import Sequential

__all__ = ["Model", "Sequential"]
__getattr__, __dir__ = public("tf.keras.models", __all__)
