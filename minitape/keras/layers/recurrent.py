"""Recurrent layers: one step after the other over the second axis of (batch, steps, features)."""

from __future__ import annotations

import inspect
from typing import Any

from ... import tf
from ...engine import nest
from .. import base
from ..layer import InputSpec, Layer
from ..serial import known, made
from ..variable import Variable
from .cells import Cell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells, initial_state, output_size, takes_training


class RNN(Layer):
    """A cell, or a list of cells, applied to one step after the other of (batch, steps, features).

    A cell has ``state_size`` (an int, or a list of them) and ``call(inputs, states)``, which gives an output and the new
    states. The layer gives the last output, all of them with ``return_sequences`` and the last states as well with
    ``return_state``; ``go_backwards`` begins with the last step. Steps that a mask leaves out change no state and repeat
    the output before, or give zeros with ``zero_output_for_mask``. With ``stateful`` a call begins where the last one
    ended, until ``reset_state()``, for batches of one size. A call takes the ``initial_state``. ``unroll`` says how to
    compute and changes nothing. Raises ValueError for what is no cell, and for states of another number.

    >>> import minitape as tf
    >>> class Sum(tf.keras.Layer):
    ...     state_size = 1
    ...     def call(self, x, states):
    ...         total = states[0] + x
    ...         return total, [total]
    >>> tf.keras.layers.RNN(Sum(), return_sequences=True)(tf.constant([[[1.0], [2.0], [3.0]]])).numpy().ravel()
    array([1., 3., 6.], dtype=float32)
    """

    _config = "return_sequences return_state go_backwards stateful unroll zero_output_for_mask cell"

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Any,
    ) -> None:
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError(f"Argument `cell` should have a `call` method. Received: cell={cell}")
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have a `state_size` attribute (single integer or list of integers, one integer per "
                f"RNN state). Received: cell={cell}"
            )
        super().__init__(**kwargs)
        size = cell.state_size
        if size is None:
            raise ValueError("state_size must be specified as property on the RNN cell.")
        if not isinstance(size, (list, tuple, int)):
            raise ValueError("state_size must be an integer, or a list/tuple of integers (one for each state tensor).")
        self.cell = cell
        self.state_size = [size] if isinstance(size, int) else list(size)
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards
        self.stateful, self.unroll, self.zero_output_for_mask = stateful, unroll, zero_output_for_mask
        self.states: Any = None
        self.supports_masking = True

    def build(self, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        """Builds the cell; a stateful layer keeps states for batches of this size."""
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((sequences_shape[0], *sequences_shape[2:]))
        if self.stateful and self.states is None:
            if sequences_shape[0] is None:
                raise ValueError(
                    "When using `stateful=True` in a RNN, the batch size must be static. Found dynamic batch size: "
                    f"sequence.shape={sequences_shape}"
                )
            made = nest.map_structure(
                lambda x: Variable(x, trainable=False, dtype=self.dtype, name="rnn_state"),
                self.get_initial_state(sequences_shape[0]),
            )
            object.__setattr__(self, "states", made)  # no weights, as in Keras

    def get_initial_state(self, batch_size: Any) -> list[Any]:
        """The states that a call begins with, when it is given none.

        >>> import minitape as tf
        >>> [state.numpy() for state in tf.keras.layers.GRU(2).get_initial_state(batch_size=1)]
        [array([[0., 0.]], dtype=float32)]
        """
        states = initial_state(self.cell, batch_size, self.dtype)
        return list(states) if nest.is_nested(states) else [states]

    def reset_state(self) -> None:
        """Sets the kept states of a stateful layer to zero.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.GRU(1, stateful=True)
        >>> x = tf.ones([1, 2, 1])
        >>> first, second = layer(x), layer(x)
        >>> layer.reset_state()
        >>> bool(first == second), bool(first == layer(x))
        (False, True)
        """
        for state in [] if self.states is None else nest.flatten(self.states):
            state.assign(tf.zeros(state.shape, state.dtype))

    reset_states = reset_state

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool = False) -> Any:
        """The last output (or all of them), and the states if they are wanted; ValueError for too many states."""

        states = self._first_states(sequences, initial_state)
        self._draw_masks(self.cell, sequences[:, 0], states)
        run = self._steps if sequences.shape[1] is None else self._unrolled
        outputs, last, states = run(sequences, states, mask, self._step(training))
        self._forget_masks(self.cell)
        if self.stateful:
            for kept, state in zip(nest.flatten(self.states), nest.flatten(states), strict=True):
                kept.assign(state)
        result = outputs if self.return_sequences else last
        return (result, *states) if self.return_state else result

    def _unrolled(self, sequences: Any, states: Any, mask: Any, step: Any) -> tuple[Any, Any, Any]:
        """All outputs (or None), the last one and the last states of sequences of known length."""
        outputs: list[Any] = []
        steps = range(sequences.shape[1])
        for i in reversed(steps) if self.go_backwards else steps:
            new, states = self._turn(step, sequences, i, states, mask, outputs[-1] if outputs else None)
            outputs.append(new)
        last = outputs[-1] if outputs else self._no_output(sequences)
        return tf.stack(outputs, axis=1) if self.return_sequences else None, last, states

    def _no_output(self, sequences: Any) -> Any:
        """Zeros that stand for an output before the first step."""
        return tf.zeros((_batch(sequences), output_size(self.cell)), self.dtype)

    def _steps(self, sequences: Any, states: Any, mask: Any, step: Any) -> tuple[Any, Any, Any]:
        """The same for a length that only a run of the graph knows: one loop."""
        count = tf.shape(sequences)[1]
        last = self._no_output(sequences)
        kept = tf.TensorArray(self.dtype, size=count if self.return_sequences else 0, element_shape=last.shape)

        def turn(i: Any, states: Any, last: Any, kept: Any) -> Any:
            new, moved = self._turn(step, sequences, count - 1 - i if self.go_backwards else i, states, mask, last)
            return i + 1, moved, new, kept.write(i, new) if self.return_sequences else kept

        _, states, last, kept = tf.while_loop(lambda i, *_: i < count, turn, (tf.constant(0), states, last, kept))
        if not self.return_sequences:
            return None, last, states
        by_step = kept.stack()
        return tf.transpose(by_step, [1, 0, *range(2, by_step.shape.rank)]), last, states

    def _turn(self, step: Any, sequences: Any, i: Any, states: Any, mask: Any, last: Any) -> tuple[Any, Any]:
        """Output and states of step ``i``; ``last`` is the output before, or None."""
        new, moved = step(sequences[:, i], states)
        moved = nest.pack_sequence_as(states, nest.flatten(moved))
        if mask is not None:  # a step that is padding changes nothing
            keep = mask[:, i]
            for _ in new.shape[1:]:
                keep = tf.expand_dims(keep, -1)
            zero = self.zero_output_for_mask or last is None
            new = tf.where(keep, new, tf.zeros_like(new) if zero else last)
            moved = nest.map_structure(lambda a, b: tf.where(keep, a, b), moved, states)
        return new, moved

    def _first_states(self, sequences: Any, given: Any) -> list[Any]:
        batch = sequences.shape[0]
        if given is None:
            given = self.states if self.stateful else self.get_initial_state(_batch(sequences))
        if self.stateful:
            size = nest.flatten(self.states)[0].shape[0]
            if size != batch:
                raise ValueError(
                    "If an RNN is stateful, the batch size of the input sequences must be the same as the batch size of "
                    f"the initial state. \n- Expected batch size: {size}\n- Received batch size: {batch}"
                )
        given = list(given) if nest.is_nested(given) else [given]
        found, wanted = len(nest.flatten(given)), len(nest.flatten(self.state_size))
        if found != wanted:
            raise ValueError(f"{type(self).__name__} has {wanted} state(s), but got {found}.")
        kind = getattr(self.cell, "compute_dtype", self.dtype)
        return nest.map_structure(lambda x: base.convert(x, kind), given)

    def _step(self, training: Any) -> Any:
        """The function of a step's features and the states; cells of our own need no surrounding call."""
        cell = self.cell
        function = cell.call if isinstance(cell, Cell) and cell.activity_regularizer is None else cell
        if not takes_training(cell):
            return function
        return lambda x, states: function(x, states, training=training)

    def _draw_masks(self, cell: Any, x: Any, states: Any) -> Any:
        """Draws the masks of dropout, which are the same for all steps; as in Keras each call draws new ones."""
        if isinstance(cell, Cell):
            cell.get_dropout_mask(x)
            cell.get_recurrent_dropout_mask(states[0] if isinstance(states, (list, tuple)) else states)
        if isinstance(cell, StackedRNNCells):
            for inner, its in zip(cell.cells, states, strict=True):
                self._draw_masks(inner, x, its)
                x, _ = inner(x, list(its) if nest.is_nested(its) else [its])

    def _forget_masks(self, cell: Any) -> None:
        if isinstance(cell, Cell):
            cell.reset_dropout_mask()
            cell.reset_recurrent_dropout_mask()
        for inner in cell.cells if isinstance(cell, StackedRNNCells) else ():
            self._forget_masks(inner)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The mask of the steps, while there are steps; states have none."""
        mask = nest.flatten(previous_mask)[0] if self.return_sequences else None
        return [mask, *[None] * len(self.state_size)] if self.return_state else mask

    def compute_output_shape(self, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        """The shape of the output; with ``return_state`` followed by those of the states."""
        batch, steps = sequences_shape[:2]
        features = output_size(self.cell)
        shape = (batch, steps, features) if self.return_sequences else (batch, features)
        if not self.return_state:
            return shape
        return (shape, *((batch, n) if isinstance(n, int) else [(batch, m) for m in n] for n in self.state_size))

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The layer with these arguments."""
        with known(custom_objects):
            return super().from_config({**config, "cell": made(config["cell"])} if "cell" in config else config)


def _batch(sequences: Any) -> Any:
    """The number of sequences, as a tensor where only a run of the graph knows it."""
    known = sequences.shape[0]
    return tf.shape(sequences)[0] if known is None else known


class _Recurrent(RNN):
    """An ``RNN`` whose cell is made from the arguments of the layer; ``_cell`` is its class."""

    _cell: type[Cell]
    _config = (
        "return_sequences return_state go_backwards stateful unroll zero_output_for_mask units activation use_bias "
        "kernel_initializer recurrent_initializer bias_initializer kernel_regularizer recurrent_regularizer "
        "bias_regularizer activity_regularizer kernel_constraint recurrent_constraint bias_constraint dropout "
        "recurrent_dropout"
    )
    use_cudnn: Any = False

    def __init__(self, units: int, activation: Any = "tanh", *args: Any, **kwargs: Any) -> None:
        names = _arguments(self._cell)
        given = {name: kwargs.pop(name) for name in names & set(kwargs)}
        shared = {name: kwargs[name] for name in ("dtype", "trainable") if name in kwargs}
        made = self._cell(units, activation, *args, **given, **shared, name=base.to_snake_case(self._cell.__name__))
        super().__init__(made, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool = False) -> Any:
        """The last output (or all of them), and the states if they are wanted; ValueError for too many states."""
        if self.use_cudnn is True:
            raise ValueError(
                "use_cudnn=True was specified, but cuDNN is not supported for this layer configuration with this backend. "
                "Pass use_cudnn='auto' to fallback to a non-cuDNN implementation."
            )
        return super().call(sequences, initial_state, mask, training)

    def _take_use_cudnn(self, use_cudnn: Any) -> None:
        if use_cudnn not in ("auto", True, False):
            raise ValueError(
                "Invalid valid received for argument `use_cudnn`. Expected one of {'auto', True, False}. "
                f"Received: use_cudnn={use_cudnn}"
            )
        self.use_cudnn = use_cudnn


def _arguments(cell: type[Cell]) -> set[str]:
    """The names of what a cell takes by name alone."""
    found = {"implementation"} if cell._masks_by_gate else set()
    for kind in (cell, Cell):
        parameters = inspect.signature(kind.__init__).parameters.values()
        found |= {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    return found


def of_the_cell(name: str) -> property:
    """An attribute of a layer that is its cell's."""
    return property(lambda self: getattr(self.cell, name), doc=f"``{name}`` of the cell.")


for _name in (*_Recurrent._config.split()[6:], "recurrent_activation", "unit_forget_bias", "reset_after", "seed"):
    if _name != "activity_regularizer":
        setattr(_Recurrent, _name, of_the_cell(_name))


class SimpleRNN(_Recurrent):
    """``h = activation(x @ kernel + h @ recurrent_kernel + bias)``, from (batch, steps, features).

    Gives the last ``h``, all of them with ``return_sequences`` and the last states as well with ``return_state``. The
    kernels and the bias have an initializer, a regularizer and a constraint each; ``dropout`` and ``recurrent_dropout``
    are the rates for inputs and states. The weights are those of ``cell``, a ``SimpleRNNCell``; the other arguments, masks
    and states are as for ``RNN``. Raises ValueError when ``units`` is no positive int.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.SimpleRNN(1, "linear", kernel_initializer="ones", recurrent_initializer="ones")
    >>> layer(tf.constant([[[1.0], [2.0], [3.0]]])).numpy()
    array([[6.]], dtype=float32)
    >>> layer(tf.constant([[[1.0]]]), initial_state=tf.constant([[10.0]])).numpy()
    array([[11.]], dtype=float32)
    """

    _cell = SimpleRNNCell

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True, **kwargs: Any) -> None:
        super().__init__(units, activation, use_bias, **kwargs)


class LSTM(_Recurrent):
    """Long short-term memory: gates for input, forgetting and output, and a cell that keeps a sum.

    The gates' activation is ``recurrent_activation``; ``unit_forget_bias`` begins with ones in the bias of forgetting.
    Its states are ``h`` and the cell. ``implementation`` 1 drops other inputs for each gate, 2 the same for all; there is
    no cuDNN to use. The other arguments are those of ``SimpleRNN``. Raises ValueError in a call with ``use_cudnn=True``.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.LSTM(3, return_sequences=True, return_state=True)
    >>> [x.shape for x in layer(tf.ones([2, 4, 5]))]
    [TensorShape([2, 4, 3]), TensorShape([2, 3]), TensorShape([2, 3])]
    """

    _cell = LSTMCell
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
        use_cudnn: Any = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(units, activation, recurrent_activation, use_bias, **kwargs)
        self._take_use_cudnn(use_cudnn)


class GRU(_Recurrent):
    """Gated recurrent units: one gate that keeps the state, one that resets it for the candidate.

    With ``reset_after`` the state is reset behind the product with its kernel, else before. The gates' activation is
    ``recurrent_activation``. ``implementation`` and ``use_cudnn`` are as for ``LSTM``, the other arguments those of
    ``SimpleRNN``.

    >>> import minitape as tf
    >>> tf.keras.layers.GRU(3)(tf.ones([2, 4, 5])).shape
    TensorShape([2, 3])
    """

    _cell = GRUCell
    _config = _Recurrent._config.replace(" use_bias", " recurrent_activation use_bias") + " reset_after seed"

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        *,
        use_cudnn: Any = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(units, activation, recurrent_activation, use_bias, **kwargs)
        self._take_use_cudnn(use_cudnn)
