"""The layer that turns integers into vectors."""

from __future__ import annotations

import warnings
from typing import Any

from ... import tf
from .. import ops
from .common import Weighted


class Embedding(Weighted):
    """Row ``i`` of a table of ``input_dim`` x ``output_dim`` weights for each integer ``i``.

    Negative ones count from the end. With ``mask_zero`` zeros are marked as padding for the layers behind. The gradient of the table is an IndexedSlices.
    Raises ValueError when a size is no positive int.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Embedding(4, 2, embeddings_initializer="ones")
    >>> layer(tf.constant([[1, 3]])).shape
    TensorShape([1, 2, 2])
    """

    _config = (
        "input_dim output_dim embeddings_initializer embeddings_regularizer activity_regularizer "
        "embeddings_constraint mask_zero quantization_config"
    )
    _declined = {"lora_rank": None, "lora_alpha": None, "quantization_config": None}  # noqa: RUF012

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        weights: Any = None,
        **kwargs: Any,
    ) -> None:
        for name, size in (("input_dim", input_dim), ("output_dim", output_dim)):
            if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
                raise ValueError(
                    f"`{name}` must be a positive integer. Received: {name}={size} (of type {type(size).__name__})."
                )
        if kwargs.pop("input_length", None) is not None:
            warnings.warn("Argument `input_length` is deprecated. Just remove it.", stacklevel=2)
        super().__init__(**kwargs)
        self.input_dim, self.output_dim = input_dim, output_dim
        self._set_kind("embeddings", embeddings_initializer, embeddings_regularizer, embeddings_constraint)
        self.mask_zero = self.supports_masking = mask_zero
        self.autocast = False
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) and len(weights) == 1 else [weights])

    def build(self, input_shape: Any = None) -> None:
        """Creates the table."""
        if self.built:
            return
        self.embeddings = self._weight("embeddings", "embeddings", (self.input_dim, self.output_dim))

    def call(self, inputs: Any) -> Any:
        """The rows."""
        if inputs.dtype not in (tf.int32, tf.int64):
            inputs = tf.cast(inputs, tf.int32)
        known = getattr(inputs, "array", None)  # most have no negative number, which costs less to see than to mend
        if not getattr(inputs, "_composite", False) and (known is None or (known < 0).any()):
            inputs = tf.where(inputs < 0, inputs + self.input_dim, inputs)
        return tf.gather(self.embeddings, inputs, axis=0)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """True where the integer is not zero, if ``mask_zero``."""
        return ops.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape and ``output_dim``."""
        return (*input_shape, self.output_dim)
