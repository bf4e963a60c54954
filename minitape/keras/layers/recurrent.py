"""Recurrent layers: one step after the other over the second axis of (batch, steps, features)."""

from __future__ import annotations

from typing import Any

from .. import activations, initializers
from ..layer import InputSpec, Layer
from ..seeds import make_default_seed


class _Recurrent(Layer):
    """The loop over the steps; subclasses define ``_step(x, states) -> (output, states)`` and ``_gates``."""

    _gates = 1
    _states = 1

    _config = (
        "return_sequences return_state go_backwards units activation use_bias kernel_initializer "
        "recurrent_initializer bias_initializer"
    )

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        **kwargs: Any,
    ) -> None:
        for name in ("dropout", "recurrent_dropout", "seed", "stateful", "unroll"):
            if kwargs.pop(name, None) and name not in ("seed", "unroll"):
                raise ValueError(f"minitape's recurrent layers have no `{name}`.")
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for argument `units`, expected a positive integer, got {units}."
            )
        super().__init__(**kwargs)
        self.units, self.use_bias = units, use_bias
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards
        self.input_spec = InputSpec(ndim=3)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Creates the kernels and the bias."""
        width = self.units * self._gates
        self.kernel = self.add_weight((input_shape[-1], width), self.kernel_initializer, name="kernel")
        self.recurrent_kernel = self.add_weight(
            (self.units, width), self.recurrent_initializer, name="recurrent_kernel"
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(self._bias_shape(), self._bias_initializer(), name="bias")

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self._gates,)

    def _bias_initializer(self) -> Any:
        return self.bias_initializer

    def call(self, sequences: Any, mask: Any = None, training: bool = False) -> Any:
        """The last output (or all of them), and the states if they are wanted."""
        import minitape as tf

        zero = tf.zeros((sequences.shape[0], self.units), sequences.dtype)
        states, output, outputs = [zero] * self._states, zero, []
        steps = range(sequences.shape[1])
        for i in reversed(steps) if self.go_backwards else steps:
            new, moved = self._step(sequences[:, i], states)
            if mask is not None:  # a step that is padding changes nothing
                keep = tf.expand_dims(mask[:, i], -1)
                new = tf.where(keep, new, output)
                moved = [tf.where(keep, a, b) for a, b in zip(moved, states, strict=True)]
            output, states = new, moved
            outputs.append(output)
        result = tf.stack(outputs, axis=1) if self.return_sequences else output
        return (result, *states) if self.return_state else result

    def _step(self, x: Any, states: Any) -> Any:
        raise NotImplementedError

    def _sum(self, x: Any, h: Any) -> Any:
        import minitape as tf

        total = tf.matmul(x, self.kernel) + tf.matmul(h, self.recurrent_kernel)
        return total if self.bias is None else total + self.bias

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The mask of the steps, while there are steps."""
        return previous_mask if self.return_sequences and not self.return_state else None


class SimpleRNN(_Recurrent):
    """``h = activation(x @ kernel + h @ recurrent_kernel + bias)``.

    >>> import minitape as tf
    >>> tf.keras.layers.SimpleRNN(3)(tf.ones([2, 4, 5])).shape
    TensorShape([2, 3])
    """

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True, **kwargs: Any) -> None:
        make_default_seed()  # Keras draws one for dropout before those of the weights
        super().__init__(units, activation, use_bias, **kwargs)

    def _step(self, x: Any, states: Any) -> Any:
        h = self.activation(self._sum(x, states[0]))
        return h, [h]


class LSTM(_Recurrent):
    """Long short-term memory: gates for input, forgetting and output, and a cell that keeps a sum.

    >>> import minitape as tf
    >>> tf.keras.layers.LSTM(3, return_sequences=True)(tf.ones([2, 4, 5])).shape
    TensorShape([2, 4, 3])
    """

    _gates, _states = 4, 2

    _config = (
        "return_sequences return_state go_backwards units activation recurrent_activation use_bias "
        "kernel_initializer recurrent_initializer bias_initializer unit_forget_bias"
    )

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        unit_forget_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, activation, use_bias, **kwargs)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        make_default_seed()  # Keras draws one for dropout after those of the weights

    def _bias_initializer(self) -> Any:
        if not self.unit_forget_bias:
            return self.bias_initializer

        def with_ones(shape: Any, dtype: Any = None) -> Any:
            import minitape as tf

            n = self.units
            return tf.concat(
                [
                    self.bias_initializer((n,), dtype=dtype),
                    tf.ones((n,), dtype),
                    self.bias_initializer((2 * n,), dtype=dtype),
                ],
                0,
            )

        return with_ones

    def _step(self, x: Any, states: Any) -> Any:
        import minitape as tf

        h, c = states
        i, f, candidate, o = tf.split(self._sum(x, h), 4, axis=1)
        gate = self.recurrent_activation
        c = gate(f) * c + gate(i) * self.activation(candidate)
        h = gate(o) * self.activation(c)
        return h, [h, c]


class GRU(_Recurrent):
    """Gated recurrent units: one gate that keeps the state, one that resets it for the candidate.

    Only ``reset_after=True``, the default, is supported; another value raises ValueError.

    >>> import minitape as tf
    >>> tf.keras.layers.GRU(3)(tf.ones([2, 4, 5])).shape
    TensorShape([2, 3])
    """

    _gates = 3

    _config = (
        "return_sequences return_state go_backwards units activation recurrent_activation use_bias "
        "kernel_initializer recurrent_initializer bias_initializer reset_after"
    )

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        reset_after: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, activation, use_bias, **kwargs)
        if not reset_after:
            raise ValueError("minitape's GRU supports reset_after=True only.")
        self.recurrent_activation, self.reset_after = activations.get(recurrent_activation), reset_after
        make_default_seed()  # Keras draws one for dropout after those of the weights

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units)

    def _step(self, x: Any, states: Any) -> Any:
        import minitape as tf

        (h,) = states
        outer, inner = tf.matmul(x, self.kernel), tf.matmul(h, self.recurrent_kernel)
        if self.bias is not None:
            outer, inner = outer + self.bias[0], inner + self.bias[1]
        x_z, x_r, x_h = tf.split(outer, 3, axis=1)
        h_z, h_r, h_h = tf.split(inner, 3, axis=1)
        gate = self.recurrent_activation
        keep = gate(x_z + h_z)
        candidate = self.activation(x_h + gate(x_r + h_r) * h_h)
        h = keep * h + (1 - keep) * candidate
        return h, [h]
