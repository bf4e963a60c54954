"""The fully connected layer, and the one that turns integers into vectors."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import initializers, regularizers
from ..calls import InputSpec
from ..layer import Layer
from .common import Affine


class Dense(Affine):
    """``activation(inputs @ kernel + bias)``, over the last axis of the inputs.

    The kernel and the bias have an initializer and a regularizer each (``kernel_initializer``, ``bias_regularizer``,
    ...); ``use_bias`` says whether there is a bias. The weights exist once the layer is built: by
    ``build(input_shape)`` or by its first call. Raises ValueError when ``units`` is no positive int, or when an input
    has less than two axes.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Dense(2, kernel_initializer="ones", name="dense")
    >>> layer.variables
    []
    >>> layer(tf.constant([[1.0, 2.0]])).numpy()
    array([[3., 3.]], dtype=float32)
    >>> [(v.path, v.shape) for v in layer.variables]
    [('dense/kernel', TensorShape([2, 2])), ('dense/bias', TensorShape([2]))]
    """

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True, **kwargs: Any) -> None:
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for `units`, expected a positive integer. Received: units={units}"
            )
        super().__init__(activation, use_bias, **kwargs)
        self.units = units
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Creates ``kernel`` and ``bias``."""
        self._kernel = self._add_weights(input_shape[-1], self.units)
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})

    @property
    def kernel(self) -> Any:
        """The matrix of weights; AttributeError before the layer is built."""
        if not self.built:
            raise AttributeError("You must build the layer before accessing `kernel`.")
        return self._kernel

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The product, the bias and the activation."""
        if inputs.dtype.kind in "iub":
            inputs = tf.cast(inputs, self.dtype)
        # a variable has no ndim
        return self._finished(inputs @ self.kernel if len(inputs.shape) == 2 else tf.tensordot(inputs, self.kernel, 1))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape with ``units`` as its last size."""
        return (*input_shape[:-1], self.units)


class Embedding(Layer):
    """Row ``i`` of a table of ``input_dim`` x ``output_dim`` weights for each integer ``i``.

    Negative ones count from the end. The gradient of the table is an IndexedSlices. ``weights`` is a table to begin
    with. Raises ValueError when a size is no positive int, and for ``mask_zero``.

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
                "minitape's layers hand on no masks, so an Embedding cannot mark zeros as padding: multiply the loss "
                "or "
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
        known = getattr(inputs, "array", None)  # most have no negative number, which costs less to see than to fix
        if known is None or (known < 0).any():
            inputs = tf.where(inputs < 0, inputs + self.input_dim, inputs)
        return tf.gather(self.embeddings, inputs, axis=0)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape and ``output_dim``."""
        return (*input_shape, self.output_dim)
