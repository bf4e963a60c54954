"""The fully connected layer."""

from __future__ import annotations

from typing import Any

from ... import tf
from ..calls import InputSpec
from .common import Affine


class Dense(Affine):
    """``activation(inputs @ kernel + bias)``, over the last axis of the inputs.

    The kernel and the bias have an initializer and a regularizer each (``kernel_initializer``, ``bias_regularizer``, ...);
    ``use_bias`` says whether there is a bias. The weights exist once the layer is built: by ``build(input_shape)`` or by its first call.
    Raises ValueError when ``units`` is no positive int, or when an input has less than two axes.

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
