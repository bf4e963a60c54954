"""The layer that marks padding."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import base, ops
from .common import SameShape


class Masking(SameShape):
    """Marks the steps whose features all are ``mask_value`` as padding, for the layers behind, and makes them 0.

    The inputs are (batch, steps, features). The mask (batch, steps) is True for the other steps. Recurrent layers,
    attention, ``TimeDistributed``, ``GlobalAveragePooling1D``, losses and metrics honour it. Differentiable.

    >>> import minitape as tf
    >>> x = tf.constant([[[1.0], [2.0], [0.0]]])
    >>> tf.keras.layers.GlobalAveragePooling1D()(tf.keras.layers.Masking()(x)).numpy()
    array([[1.5]], dtype=float32)
    """

    _config = "mask_value"

    def __init__(self, mask_value: Any = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value
        self.supports_masking = self.built = True

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """True for steps with a feature that is not ``mask_value``."""
        return ops.any(ops.not_equal(inputs, self.mask_value), -1)

    def call(self, inputs: Any) -> Any:
        """The inputs, with zeros in the steps that are padding."""
        mask = self.compute_mask(inputs)
        out = tf.where(tf.expand_dims(mask, -1), inputs, tf.zeros((), inputs.dtype))
        base.set_keras_mask(out, mask)
        return out
