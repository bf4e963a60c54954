"""The recurrent layer: one step after the other over the second axis of (batch, steps, features)."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import activations, base, initializers, regularizers
from ..calls import InputSpec
from ..random import SeedGenerator
from .common import Affine, length


class LSTM(Affine):
    """Long short-term memory: gates for input, forgetting and output, and a cell that keeps a sum.

    Gives the last output of (batch, steps, features), all of them with ``return_sequences`` and the last states ``h``
    and ``c`` as well with ``return_state``. A call takes the ``initial_state``, a list of two (batch, units); zeros by
    default. The gates' activation is ``recurrent_activation``; ``unit_forget_bias`` begins with ones in the bias of
    forgetting. The other arguments are those of ``Dense``. Differentiable. Raises ValueError when ``units`` is no
    positive int, and for another number of states.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.LSTM(3, return_sequences=True, return_state=True)
    >>> [x.shape for x in layer(tf.ones([2, 4, 5]))]
    [TensorShape([2, 4, 3]), TensorShape([2, 3]), TensorShape([2, 3])]
    >>> [state.numpy() for state in tf.keras.layers.LSTM(2).get_initial_state(batch_size=1)]
    [array([[0., 0.]], dtype=float32), array([[0., 0.]], dtype=float32)]
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        *,
        recurrent_initializer: Any = "orthogonal",
        recurrent_regularizer: Any = None,
        unit_forget_bias: bool = True,
        return_sequences: bool = False,
        return_state: bool = False,
        **kwargs: Any,
    ) -> None:
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for argument `units`, expected a positive integer, got {units}."
            )
        super().__init__(activation, use_bias, **kwargs)
        self.units, self.unit_forget_bias = units, unit_forget_bias
        self.recurrent_activation = activations.get(recurrent_activation)
        self.recurrent_initializer = initializers.get(recurrent_initializer)
        self.recurrent_regularizer = regularizers.get(recurrent_regularizer)
        self.return_sequences, self.return_state = return_sequences, return_state
        self.seed_generator = SeedGenerator()  # not used, but among the variables, and its seed is drawn, as in Keras
        self.input_spec = InputSpec(ndim=3)

    def build(self, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        """Creates the kernels and the bias."""
        width = 4 * self.units
        with base.name_scope("lstm_cell") as scope:  # Keras keeps the weights in a layer of this name
            scope.caller = self
            self.kernel = self._add_kernel(sequences_shape[-1], width)
            self.recurrent_kernel = self.add_weight(
                (self.units, width),
                self.recurrent_initializer,
                regularizer=self.recurrent_regularizer,
                name="recurrent_kernel",
            )
            self._add_bias(width, self._first_bias)

    def _first_bias(self, shape: Any, dtype: Any = None) -> Any:
        """With ``unit_forget_bias`` the gate that forgets begins open: ones are at its place."""
        if not self.unit_forget_bias:
            return self.bias_initializer(shape, dtype=dtype)
        before = self.bias_initializer((self.units,), dtype=dtype)
        behind = self.bias_initializer((2 * self.units,), dtype=dtype)
        return tf.concat([before, tf.ones((self.units,), dtype), behind], 0)

    def get_initial_state(self, batch_size: Any) -> list:
        """The states that a call begins with, when it is given none: zeros."""
        return [tf.zeros((batch_size, self.units), self.dtype) for _ in range(2)]

    def call(self, sequences: Any, initial_state: Any = None, training: bool = False) -> Any:
        """The last output (or all of them), and the states if they are wanted; ValueError for too many states."""
        if initial_state is None:
            initial_state = self.get_initial_state(length(sequences, 0))
        given = list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
        if len(given) != 2:
            raise ValueError(f"LSTM has 2 state(s), but got {len(given)}.")
        run = self._loop if sequences.shape[1] is None else self._unrolled
        outputs, states = run(sequences, [base.convert(x, self.dtype) for x in given])
        result = outputs if self.return_sequences else states[0]
        return (result, *states) if self.return_state else result

    def _step(self, x: Any, states: list) -> list:
        """The states behind a step; the first of them is its output."""
        h, c = states
        if not x.dtype.is_floating:
            x = tf.cast(x, self.kernel.dtype)
        total = tf.matmul(x, self.kernel) + tf.matmul(h, self.recurrent_kernel)
        i, f, candidate, o = tf.split(total if self.bias is None else total + self.bias, 4, axis=1)
        gate = self.recurrent_activation
        c = gate(f) * c + gate(i) * self.activation(candidate)
        return [gate(o) * self.activation(c), c]

    def _unrolled(self, sequences: Any, states: list) -> tuple[Any, list]:
        """All outputs (or None) and the last states of sequences of known length."""
        outputs = []
        for i in range(sequences.shape[1]):
            states = self._step(sequences[:, i], states)
            outputs.append(states[0])
        return tf.stack(outputs, axis=1) if self.return_sequences else None, states

    def _loop(self, sequences: Any, states: list) -> tuple[Any, list]:
        """The same for a length that only a run of the graph knows: one loop."""
        count = tf.shape(sequences)[1]
        kept = tf.TensorArray(self.dtype, size=count if self.return_sequences else 0, element_shape=(None, self.units))

        def turn(i: Any, states: Any, kept: Any) -> Any:
            states = self._step(sequences[:, i], states)
            return i + 1, states, kept.write(i, states[0]) if self.return_sequences else kept

        _, states, kept = tf.while_loop(lambda i, *_: i < count, turn, (tf.constant(0), states, kept))
        return tf.transpose(kept.stack(), [1, 0, 2]) if self.return_sequences else None, states

    def compute_output_shape(self, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        """The shape of the output; with ``return_state`` followed by those of the states."""
        batch, steps = sequences_shape[:2]
        state = (batch, self.units)
        shape = (batch, steps, self.units) if self.return_sequences else state
        return (shape, state, state) if self.return_state else shape
