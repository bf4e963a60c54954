"""Recurrent layers: one step after the other over the second axis of (batch, steps, features)."""

from __future__ import annotations

from typing import Any

from ... import nest
from .. import activations, constraints, initializers, random, regularizers
from ..layer import InputSpec, Layer


class _Recurrent(Layer):
    """The loop over the steps; subclasses define ``_step(x, states) -> (output, states)`` and ``_gates``.

    ``x`` is the product of a step's features with ``kernel``, ``h @ recurrent_kernel`` comes from ``_recur(h)``.
    """

    _gates, _states = 1, 1
    _masks_by_gate = True  # with recurrent dropout each gate has masks of its own

    _config = (
        "return_sequences return_state go_backwards stateful unroll zero_output_for_mask units activation use_bias "
        "kernel_initializer recurrent_initializer bias_initializer kernel_regularizer recurrent_regularizer "
        "bias_regularizer activity_regularizer kernel_constraint recurrent_constraint bias_constraint dropout "
        "recurrent_dropout"
    )
    # the first is not supported, the others say how to compute, not what
    _declined = {"stateful": False}  # noqa: RUF012
    _ways = ("unroll", "use_cudnn", "implementation")

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        *,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for argument `units`, expected a positive integer, got {units}."
            )
        self.unroll = kwargs.get("unroll", False)
        super().__init__(**{name: value for name, value in kwargs.items() if name not in self._ways})
        self.units, self.use_bias, self.stateful = units, use_bias, False
        self.activation = activations.get(activation)
        for name, initializer, regularizer, constraint in (
            ("kernel", kernel_initializer, kernel_regularizer, kernel_constraint),
            ("recurrent", recurrent_initializer, recurrent_regularizer, recurrent_constraint),
            ("bias", bias_initializer, bias_regularizer, bias_constraint),
        ):
            setattr(self, f"{name}_initializer", initializers.get(initializer))
            setattr(self, f"{name}_regularizer", regularizers.get(regularizer))
            setattr(self, f"{name}_constraint", constraints.get(constraint))
        self.dropout, self.recurrent_dropout = (min(1.0, max(0.0, rate)) for rate in (dropout, recurrent_dropout))
        self.seed, self.seed_generator = seed, random.SeedGenerator(seed)
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards
        self.zero_output_for_mask = zero_output_for_mask
        self.input_spec = InputSpec(ndim=3)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Creates the kernels and the bias."""
        width = self.units * self._gates
        self.kernel = self._weight("kernel", "kernel", (input_shape[-1], width))
        self.recurrent_kernel = self._weight("recurrent_kernel", "recurrent", (self.units, width))
        self.bias = self._weight("bias", "bias", self._bias_shape()) if self.use_bias else None

    def _weight(self, name: str, what: str, shape: tuple[int, ...]) -> Any:
        initializer = self._bias_initializer() if what == "bias" else getattr(self, f"{what}_initializer")
        return self.add_weight(
            shape,
            initializer,
            regularizer=getattr(self, f"{what}_regularizer"),
            constraint=getattr(self, f"{what}_constraint"),
            name=name,
        )

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self._gates,)

    def _bias_initializer(self) -> Any:
        return self.bias_initializer

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool = False) -> Any:
        """The last output (or all of them), and the states if they are wanted; ValueError for too many states."""
        import minitape as tf

        zero = tf.zeros((sequences.shape[0], self.units), sequences.dtype)
        states = [zero] * self._states if initial_state is None else nest.flatten(initial_state)
        if len(states) != self._states:
            raise ValueError(f"{type(self).__name__} has {self._states} state(s), but got {len(states)}.")
        self._draw_masks(sequences[:, 0], zero, training)
        output, outputs = zero, []
        steps = range(sequences.shape[1])
        for i in reversed(steps) if self.go_backwards else steps:
            new, moved = self._step(_products(sequences[:, i], self.kernel, self._input_masks), states)
            if mask is not None:  # a step that is padding changes nothing
                keep = tf.expand_dims(mask[:, i], -1)
                new = tf.where(keep, new, zero if self.zero_output_for_mask else output)
                moved = [tf.where(keep, a, b) for a, b in zip(moved, states, strict=True)]
            output, states = new, moved
            outputs.append(output)
        result = tf.stack(outputs, axis=1) if self.return_sequences else output
        return (result, *states) if self.return_state else result

    def _draw_masks(self, x: Any, h: Any, training: bool) -> None:
        """The masks of dropout, which are the same for all steps of a call; as in Keras each call draws new ones."""
        import minitape as tf

        count = self._gates if self.recurrent_dropout and self._masks_by_gate else 1

        def draw(like: Any, rate: float) -> Any:
            if not rate:
                return None
            masks = [random.dropout(tf.ones_like(like), rate, None, self.seed_generator) for _ in range(count)]
            return masks if training and rate < 1 else None

        object.__setattr__(self, "_input_masks", draw(x, self.dropout))
        object.__setattr__(self, "_state_masks", draw(h, self.recurrent_dropout))

    def _recur(self, h: Any) -> Any:
        return _products(h, self.recurrent_kernel, self._state_masks)

    def _step(self, x: Any, states: Any) -> Any:
        raise NotImplementedError

    def _sum(self, x: Any, h: Any) -> Any:
        total = x + self._recur(h)
        return total if self.bias is None else total + self.bias

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The mask of the steps, while there are steps."""
        return previous_mask if self.return_sequences and not self.return_state else None


def _products(x: Any, kernel: Any, masks: Any) -> Any:
    """``x @ kernel`` where ``x`` is masked: by one mask, or by another for the columns of each gate."""
    import minitape as tf

    if masks is None:
        return tf.matmul(x, kernel)
    if len(masks) == 1:
        return tf.matmul(x * masks[0], kernel)
    parts = tf.split(tf.convert_to_tensor(kernel), len(masks), axis=1)
    return tf.concat([tf.matmul(x * mask, part) for mask, part in zip(masks, parts, strict=True)], 1)


class SimpleRNN(_Recurrent):
    """``h = activation(x @ kernel + h @ recurrent_kernel + bias)``, from (batch, steps, features).

    Gives the last ``h``, all of them with ``return_sequences`` and the last states as well with ``return_state``. The
    kernels and the bias have an initializer, a regularizer and a constraint each; ``dropout`` and ``recurrent_dropout``
    are the rates for inputs and states. Steps that a mask leaves out repeat the output before, or give zeros with
    ``zero_output_for_mask``. A call takes the ``initial_state``. Arguments that say how to compute (``unroll``,
    ``use_cudnn``, ``implementation``) change nothing. Raises ValueError for ``stateful=True``, and when ``units`` is no
    positive int.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.SimpleRNN(1, "linear", kernel_initializer="ones", recurrent_initializer="ones")
    >>> layer(tf.constant([[[1.0], [2.0], [3.0]]])).numpy()
    array([[6.]], dtype=float32)
    >>> layer(tf.constant([[[1.0]]]), initial_state=tf.constant([[10.0]])).numpy()
    array([[11.]], dtype=float32)
    """

    _masks_by_gate = False

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True, **kwargs: Any) -> None:
        super().__init__(units, activation, use_bias, **kwargs)

    def _step(self, x: Any, states: Any) -> Any:
        h = self.activation(self._sum(x, states[0]))
        return h, [h]


class LSTM(_Recurrent):
    """Long short-term memory: gates for input, forgetting and output, and a cell that keeps a sum.

    The gates' activation is ``recurrent_activation``; ``unit_forget_bias`` begins with ones in the bias of forgetting.
    Its states are ``h`` and the cell. The other arguments are those of ``SimpleRNN``.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.LSTM(3, return_sequences=True, return_state=True)
    >>> [x.shape for x in layer(tf.ones([2, 4, 5]))]
    [TensorShape([2, 4, 3]), TensorShape([2, 3]), TensorShape([2, 3])]
    """

    _gates, _states = 4, 2
    _config = (
        _Recurrent._config.replace(" use_bias", " recurrent_activation use_bias").replace(
            " kernel_regularizer", " unit_forget_bias kernel_regularizer"
        )
        + " seed"
    )

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        *,
        unit_forget_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, activation, use_bias, **kwargs)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias

    def _bias_initializer(self) -> Any:
        if not self.unit_forget_bias:
            return self.bias_initializer

        def with_ones(shape: Any, dtype: Any = None) -> Any:
            import minitape as tf

            n = self.units
            ends = (self.bias_initializer((k,), dtype=dtype) for k in (n, 2 * n))
            return tf.concat([next(ends), tf.ones((n,), dtype), next(ends)], 0)

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

    With ``reset_after`` the state is reset behind the product with its kernel, else before. The gates' activation is
    ``recurrent_activation``. The other arguments are those of ``SimpleRNN``.

    >>> import minitape as tf
    >>> tf.keras.layers.GRU(3)(tf.ones([2, 4, 5])).shape
    TensorShape([2, 3])
    """

    _gates = 3
    _config = _Recurrent._config.replace(" use_bias", " recurrent_activation use_bias") + " reset_after seed"

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        *,
        reset_after: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, activation, use_bias, **kwargs)
        self.recurrent_activation, self.reset_after = activations.get(recurrent_activation), reset_after

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def _step(self, x: Any, states: Any) -> Any:
        import minitape as tf

        (h,) = states
        gate = self.recurrent_activation
        if self.bias is not None:
            x = x + (self.bias[0] if self.reset_after else self.bias)
        x_z, x_r, x_h = tf.split(x, 3, axis=1)
        if self.reset_after:
            inner = self._recur(h)
            h_z, h_r, h_h = tf.split(inner if self.bias is None else inner + self.bias[1], 3, axis=1)
            keep, reset = gate(x_z + h_z), gate(x_r + h_r)
            candidate = self.activation(x_h + reset * h_h)
        else:
            before, last = tf.split(tf.convert_to_tensor(self.recurrent_kernel), [2 * self.units, self.units], axis=1)
            masks = self._state_masks
            h_z, h_r = tf.split(_products(h, before, masks and masks[:2]), 2, axis=1)
            keep, reset = gate(x_z + h_z), gate(x_r + h_r)
            candidate = self.activation(x_h + _products(reset * h, last, masks and masks[2:]))
        h = keep * h + (1 - keep) * candidate
        return h, [h]
