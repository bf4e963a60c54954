"""The fully connected layer."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import activations
from ..layer import InputSpec
from .common import KernelAndBias


class Dense(KernelAndBias):
    """``activation(inputs @ kernel + bias)``, over the last axis of the inputs.

    The weights exist once the layer is built: by ``build(input_shape)`` or by its first call.
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

    _config = (
        "units activation use_bias kernel_initializer bias_initializer kernel_regularizer "
        "bias_regularizer kernel_constraint bias_constraint quantization_config"
    )
    _declined = {"lora_rank": None, "lora_alpha": None, "quantization_config": None}  # noqa: RUF012

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for `units`, expected a positive integer. Received: units={units}"
            )
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units = units
        self.activation, self.use_bias = activations.get(activation), use_bias
        self._set_kind("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_kind("bias", bias_initializer, bias_regularizer, bias_constraint)
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Creates ``kernel`` and ``bias``."""
        self._kernel, self.bias = self._add_weights((input_shape[-1], self.units))
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})

    @property
    def kernel(self) -> Any:
        """The matrix of weights; AttributeError before the layer is built."""
        if not self.built:
            raise AttributeError("You must build the layer before accessing `kernel`.")
        return self._kernel

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The product, the bias and the activation."""
        kernel = self.kernel
        if inputs.dtype.is_integer or inputs.dtype.is_bool:
            inputs = tf.cast(inputs, self.dtype)
        if getattr(inputs, "_composite", False):
            out = tf.sparse.sparse_dense_matmul(tf.cast(inputs, self.dtype), kernel)
        elif len(inputs.shape) == 2:  # a variable has no ndim
            out = tf.matmul(inputs, kernel)
        else:
            out = tf.tensordot(inputs, kernel, 1)
        return self._finished(out)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape with ``units`` as its last size."""
        return (*input_shape[:-1], self.units)
