"""``ConvLSTM1D``, ``ConvLSTM2D`` and ``ConvLSTM3D``: an LSTM whose products are convolutions."""

from __future__ import annotations

from typing import Any

from ... import tf
from ..base import convert
from ..layer import InputSpec
from .cells import LSTMCell
from .convolution import channels_last, convolved_shape, padding_word, sizes
from .recurrent import RNN, of_the_cell

_CONVOLUTION = "filters kernel_size strides padding data_format dilation_rate"


class ConvLSTMCell(LSTMCell):
    """One step of a ConvLSTM layer over ``rank`` spatial axes: both states are images with ``filters`` channels."""

    _config = LSTMCell._config.replace("units", _CONVOLUTION)

    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(filters, **kwargs)
        self.implementation = 1  # masks by gate
        self.rank, self.filters = rank, filters
        self.kernel_size, self.strides = sizes(kernel_size, "kernel_size", rank), sizes(strides, "strides", rank, least=0)
        self.padding, self.data_format = padding_word(padding), channels_last(self, data_format)
        self.dilation_rate = sizes(dilation_rate, "dilation_rate", rank)
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                "Specifying `strides > 1` is not compatible with `dilation_rate > 1`. Please provide `strides=1` or "
                f"`dilation_rate=1`. Received: strides={self.strides} and dilation_rate={self.dilation_rate}"
            )
        self.input_spec = InputSpec(ndim=rank + 2)
        self.state_size = -1

    def build(self, input_shape: Any, states_shape: Any = None) -> None:
        """Creates the kernels and the bias; ValueError for sizes that are not known."""
        self.spatial_dims, channels = tuple(input_shape[1:-1]), input_shape[-1]
        if None in self.spatial_dims:
            raise ValueError("ConvLSTM layers only support static input shapes for the spatial dimension. "
                             f"Received invalid input shape: input_shape={input_shape}")  # fmt: skip
        if channels is None:
            raise ValueError("The channel dimension of the inputs (last axis) should be defined. Found None. "
                             f"Full input shape received: input_shape={input_shape}")  # fmt: skip
        self.input_dim, width = channels, 4 * self.filters
        self.kernel = self._weight("kernel", "kernel", (*self.kernel_size, channels, width))
        self.recurrent_kernel = self._weight("recurrent_kernel", "recurrent", (*self.kernel_size, self.filters, width))
        self.bias = self._weight("bias", "bias", (width,), self._bias_initializer()) if self.use_bias else None

    def compute_output_shape(self, input_shape: Any, states_shape: Any = None) -> Any:
        """The shape of the output and those of the two states."""
        shape = convolved_shape(self, input_shape, self.filters)
        return shape, [shape, shape]

    def get_initial_state(self, batch_size: Any = None) -> list[Any]:
        """Zeros for both states."""
        shape = convolved_shape(self, (1, *self.spatial_dims, self.input_dim), self.filters)
        return [tf.zeros((batch_size, *shape[1:]), self.compute_dtype) for _ in range(2)]

    def _gates_of(self, x: Any, kernel: Any, masks: Any, steps: Any, rates: Any, padding: str) -> list[Any]:
        """The convolution with the kernel of each gate: one for all of them, unless dropout tells them apart."""
        def convolved(x: Any, kernel: Any) -> Any:
            return tf.nn.convolution(x, kernel, list(steps), padding.upper(), dilations=list(rates))

        kernel = convert(kernel, self.compute_dtype)
        if masks is None:
            return tf.split(convolved(x, kernel), 4, axis=-1)
        parts = tf.split(kernel, 4, axis=-1)
        return [convolved(x * masks[i % len(masks)], part) for i, part in enumerate(parts)]

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        """The output, and the two states."""
        h, c = states[0], states[1]
        of_x, of_h = self._masks(inputs, h, training)
        xs = self._gates_of(inputs, self.kernel, of_x, self.strides, self.dilation_rate, self.padding)
        hs = self._gates_of(h, self.recurrent_kernel, of_h, (1,) * self.rank, (1,) * self.rank, "same")
        sums = [a + b for a, b in zip(xs, hs, strict=True)]
        if self.bias is not None:
            sums = [s + b for s, b in zip(sums, tf.split(convert(self.bias, self.compute_dtype), 4), strict=True)]
        return self._gated(sums, c)


class _ConvLSTM(RNN):
    """An ``RNN`` over a ``ConvLSTMCell``."""

    _rank = 0
    _config = (
        f"return_sequences return_state go_backwards stateful unroll zero_output_for_mask {ConvLSTMCell._config}"
        " activity_regularizer"
    )

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        cell = ConvLSTMCell(
            self._rank, filters, kernel_size, strides, padding, data_format, dilation_rate, activation=activation,
            recurrent_activation=recurrent_activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer, bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias, kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint, dropout=dropout, recurrent_dropout=recurrent_dropout, seed=seed,
            name="conv_lstm_cell", dtype=kwargs.get("dtype"),
        )  # fmt: skip
        super().__init__(
            cell, return_sequences=return_sequences, return_state=return_state, go_backwards=go_backwards,
            stateful=stateful, activity_regularizer=activity_regularizer, **kwargs,
        )  # fmt: skip
        self.state_size = [-1, -1]
        self.input_spec = InputSpec(ndim=self._rank + 3)

    def _no_output(self, sequences: Any) -> Any:
        return self._first_states(sequences, None)[0] * 0

    def compute_output_shape(self, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        """The shape of the output; with ``return_state`` followed by those of the two states."""
        batch, steps, *rest = sequences_shape
        state = convolved_shape(self.cell, (batch, *rest), self.cell.filters)
        output = (batch, steps, *state[1:]) if self.return_sequences else state
        return (output, state, state) if self.return_state else output


for _name in ConvLSTMCell._config.split():
    setattr(_ConvLSTM, _name, of_the_cell(_name))


class ConvLSTM1D(_ConvLSTM):
    """An LSTM over (batch, time, steps, channels) whose input and recurrent products are convolutions over the steps.

    The arguments are those of ``Conv1D`` and of ``LSTM``; only data_format "channels_last". Differentiable. Raises
    ValueError for strides together with a dilation and for spatial sizes that are not known.

    >>> import minitape as tf
    >>> tf.keras.layers.ConvLSTM1D(4, 3)(tf.ones([2, 5, 6, 1])).shape
    TensorShape([2, 4, 4])
    """

    _rank = 1


class ConvLSTM2D(_ConvLSTM):
    """An LSTM over (batch, time, height, width, channels) whose products are convolutions; see ``ConvLSTM1D``.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.ConvLSTM2D(4, 3, padding="same", return_sequences=True)
    >>> layer(tf.ones([1, 2, 5, 5, 3])).shape
    TensorShape([1, 2, 5, 5, 4])
    """

    _rank = 2


class ConvLSTM3D(_ConvLSTM):
    """An LSTM over (batch, time, depth, height, width, channels) whose products are convolutions; see ``ConvLSTM1D``.

    >>> import minitape as tf
    >>> tf.keras.layers.ConvLSTM3D(2, 2)(tf.ones([1, 2, 3, 3, 3, 1])).shape
    TensorShape([1, 2, 2, 2, 2])
    """

    _rank = 3
