"""``tf.autodiff``: the tape and the forward accumulator under their other names."""

from .forward import ForwardAccumulator
from .tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
