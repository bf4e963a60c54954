"""The layer that turns integers into vectors."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import initializers, regularizers
from ..layer import Layer


class Embedding(Layer):
    """Row ``i`` of a table of ``input_dim`` x ``output_dim`` weights for each integer ``i``.

    Negative ones count from the end. The gradient of the table is an IndexedSlices. ``weights`` is a table to begin with.
    Raises ValueError when a size is no positive int, and for ``mask_zero``.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Embedding(4, 2, embeddings_initializer="ones")
    >>> layer(tf.constant([[1, 3]])).shape
    TensorShape([1, 2, 2])
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        mask_zero: bool = False,
        weights: Any = None,
        **kwargs: Any,
    ) -> None:
        for name, size in (("input_dim", input_dim), ("output_dim", output_dim)):
            if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
                raise ValueError(
                    f"`{name}` must be a positive integer. Received: {name}={size} (of type {type(size).__name__})."
                )
        if mask_zero:
            raise ValueError(
                "minitape's layers hand on no masks, so an Embedding cannot mark zeros as padding: multiply the loss or "
                f"the outputs by a mask of your own. Received: mask_zero={mask_zero}"
            )
        super().__init__(**kwargs)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.autocast = False
        if weights is not None:
            self.build()
            self.set_weights(weights if isinstance(weights, list) and len(weights) == 1 else [weights])

    def build(self, input_shape: Any = None) -> None:
        """Creates the table."""
        if self.built:
            return
        self.embeddings = self.add_weight(
            (self.input_dim, self.output_dim),
            self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            name="embeddings",
        )

    def call(self, inputs: Any) -> Any:
        """The rows."""
        if inputs.dtype not in (tf.int32, tf.int64):
            inputs = tf.cast(inputs, tf.int32)
        known = getattr(inputs, "array", None)  # most have no negative number, which costs less to see than to mend
        if known is None or (known < 0).any():
            inputs = tf.where(inputs < 0, inputs + self.input_dim, inputs)
        return tf.gather(self.embeddings, inputs, axis=0)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape and ``output_dim``."""
        return (*input_shape, self.output_dim)
