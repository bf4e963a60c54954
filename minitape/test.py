"""``tf.test``: what helps to test gradients."""

from .check import compute_gradient

__all__ = ["compute_gradient"]
