"""One step of recurrent layers: a cell takes the features of a step and its states, and gives an output and new states."""

from __future__ import annotations

from typing import Any

from ... import tf
from ...engine import nest
from .. import activations, random
from ..layer import Layer
from ..serial import known, made
from .common import Weighted

_WEIGHTS = (
    "kernel_initializer recurrent_initializer bias_initializer kernel_regularizer recurrent_regularizer "
    "bias_regularizer kernel_constraint recurrent_constraint bias_constraint dropout recurrent_dropout seed"
)


class Cell(Weighted):
    """What the cells with weights share; subclasses define ``call`` and ``_gates``.

    ``implementation`` 1 draws masks of dropout for each gate, 2 one for all; with recurrent dropout it is 1.
    """

    _gates = 1
    _masks_by_gate = True
    _seeds_first = False  # whether the seed of dropout is drawn before those of the initializers

    _config = f"units activation use_bias {_WEIGHTS}"

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
        **kwargs: Any,
    ) -> None:
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for argument `units`, expected a positive integer, got {units}."
            )
        implementation = kwargs.pop("implementation", 2) if self._masks_by_gate else 2
        super().__init__(**kwargs)
        self.units, self.use_bias, self.seed = units, use_bias, seed
        if self._seeds_first:
            self.seed_generator = random.SeedGenerator(seed)
        self.activation = activations.get(activation)
        self._set_kind("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_kind("recurrent", recurrent_initializer, recurrent_regularizer, recurrent_constraint)
        self._set_kind("bias", bias_initializer, bias_regularizer, bias_constraint)
        self.dropout, self.recurrent_dropout = (min(1.0, max(0.0, rate)) for rate in (dropout, recurrent_dropout))
        self.implementation = 1 if self.recurrent_dropout else implementation
        if not self._seeds_first:
            self.seed_generator = random.SeedGenerator(seed)
        self.state_size: Any = units
        self.output_size = units
        self.reset_dropout_mask()
        self.reset_recurrent_dropout_mask()

    def build(self, input_shape: Any) -> None:
        """Creates the kernels and the bias."""
        width = self.units * self._gates
        self.kernel = self._weight("kernel", "kernel", (input_shape[-1], width))
        self.recurrent_kernel = self._weight("recurrent_kernel", "recurrent", (self.units, width))
        self.bias = None
        if self.use_bias:
            self.bias = self._weight("bias", "bias", self._bias_shape(), self._bias_initializer())

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.units * self._gates,)

    def _bias_initializer(self) -> Any:
        return self.bias_initializer

    def get_initial_state(self, batch_size: int | None = None) -> list[Any]:
        """Zeros for each state.

        >>> import minitape as tf
        >>> [state.numpy() for state in tf.keras.layers.LSTMCell(2).get_initial_state(batch_size=1)]
        [array([[0., 0.]], dtype=float32), array([[0., 0.]], dtype=float32)]
        """
        sizes = [self.state_size] if isinstance(self.state_size, int) else self.state_size
        return [tf.zeros((batch_size, size), self.dtype) for size in sizes]

    # -- dropout ------------------------------------------------------------------------------------------------------

    def get_dropout_mask(self, step_input: Any) -> Any:
        """The mask for inputs, the same until ``reset_dropout_mask``; None without dropout.

        A tensor of the shape of ``step_input``, or with ``implementation`` 1 a list with one for each gate.

        >>> import minitape as tf
        >>> cell = tf.keras.layers.GRUCell(2, dropout=0.5, seed=1)
        >>> mask = cell.get_dropout_mask(tf.ones([1, 4]))
        >>> mask.numpy(), cell.get_dropout_mask(tf.ones([1, 4])) is mask
        (array([[2., 0., 2., 0.]], dtype=float32), True)
        """
        return _alone(self._drawn("_input_masks", step_input, self.dropout))

    def get_recurrent_dropout_mask(self, step_input: Any) -> Any:
        """The mask (or masks) for states, the same until ``reset_recurrent_dropout_mask``; None without recurrent dropout.

        >>> import minitape as tf
        >>> cell = tf.keras.layers.GRUCell(2, recurrent_dropout=0.5, seed=1)
        >>> len(cell.get_recurrent_dropout_mask(tf.ones([1, 2])))  # one for each gate
        3
        """
        return _alone(self._drawn("_state_masks", step_input, self.recurrent_dropout))

    def reset_dropout_mask(self) -> None:
        """Lets the next call draw new masks for its inputs.

        >>> import minitape as tf
        >>> cell = tf.keras.layers.GRUCell(2, dropout=0.5, seed=1)
        >>> before = cell.get_dropout_mask(tf.ones([1, 4]))
        >>> cell.reset_dropout_mask()
        >>> cell.get_dropout_mask(tf.ones([1, 4])) is before
        False
        """
        object.__setattr__(self, "_input_masks", None)

    def reset_recurrent_dropout_mask(self) -> None:
        """Lets the next call draw new masks for its states.

        >>> import minitape as tf
        >>> cell = tf.keras.layers.GRUCell(2, recurrent_dropout=0.5, seed=1)
        >>> before = cell.get_recurrent_dropout_mask(tf.ones([1, 2]))
        >>> cell.reset_recurrent_dropout_mask()
        >>> cell.get_recurrent_dropout_mask(tf.ones([1, 2])) is before
        False
        """
        object.__setattr__(self, "_state_masks", None)

    def _drawn(self, name: str, like: Any, rate: float) -> Any:
        masks = getattr(self, name)
        if masks is None and rate:
            count = self._gates if self._masks_by_gate and self.implementation == 1 else 1
            masks = [random.dropout(tf.ones_like(like), rate, None, self.seed_generator) for _ in range(count)]
            object.__setattr__(self, name, masks)
        return masks

    def _masks(self, x: Any, h: Any, training: Any) -> tuple[Any, Any]:
        """The masks to apply to inputs and states: none unless training."""
        masks = []
        for name, like, rate in (("_input_masks", x, self.dropout), ("_state_masks", h, self.recurrent_dropout)):
            masks.append(self._drawn(name, like, rate) if training and 0 < rate < 1 else None)
        return masks[0], masks[1]


def _alone(masks: list[Any] | None) -> Any:
    """One mask as it is, several as a list."""
    return masks[0] if masks is not None and len(masks) == 1 else masks


def products(x: Any, kernel: Any, masks: Any) -> Any:
    """``x @ kernel`` where ``x`` is masked: by one mask, or by another for the columns of each gate."""
    x = x if x.dtype.is_floating else tf.cast(x, kernel.dtype)
    if masks is None:
        return tf.matmul(x, kernel)
    if len(masks) == 1:
        return tf.matmul(x * masks[0], kernel)
    parts = tf.split(tf.convert_to_tensor(kernel), len(masks), axis=1)
    return tf.concat([tf.matmul(x * mask, part) for mask, part in zip(masks, parts, strict=True)], 1)


class SimpleRNNCell(Cell):
    """One step of ``SimpleRNN``: ``h = activation(x @ kernel + h @ recurrent_kernel + bias)``.

    A call takes ``x`` (batch, features) and the states, a list of ``h`` (batch, units); it gives ``h`` and the new states.
    The arguments are those of ``SimpleRNN``; masks of dropout stay the same until ``reset_dropout_mask()`` and
    ``reset_recurrent_dropout_mask()``. Differentiable. Raises ValueError when ``units`` is no positive int.

    >>> import minitape as tf
    >>> cell = tf.keras.layers.SimpleRNNCell(1, "linear", kernel_initializer="ones", recurrent_initializer="ones")
    >>> h, states = cell(tf.constant([[2.0]]), [tf.constant([[3.0]])])
    >>> h.numpy(), len(states)
    (array([[5.]], dtype=float32), 1)
    """

    _masks_by_gate, _seeds_first = False, True

    def __init__(self, units: int, activation: Any = "tanh", use_bias: bool = True, **kwargs: Any) -> None:
        super().__init__(units, activation, use_bias, **kwargs)

    def call(self, sequence: Any, states: Any, training: bool = False) -> Any:
        """The output, and the states as they were given."""
        h = states[0] if isinstance(states, (list, tuple)) else states
        of_x, of_h = self._masks(sequence, h, training)
        total = products(sequence, self.kernel, of_x) + products(h, self.recurrent_kernel, of_h)
        h = self.activation(total if self.bias is None else total + self.bias)
        return h, [h] if isinstance(states, (list, tuple)) else h


class LSTMCell(Cell):
    """One step of ``LSTM``: from ``x`` and the states ``h`` and ``c`` to ``h`` and both states.

    ``x`` is (batch, features), the states are a list of two (batch, units). The arguments are those of ``LSTM``, masks of
    dropout as for ``SimpleRNNCell``. Differentiable. Raises ValueError when ``units`` is no positive int.

    >>> import minitape as tf
    >>> cell = tf.keras.layers.LSTMCell(3)
    >>> h, states = cell(tf.ones([2, 4]), cell.get_initial_state(batch_size=2))
    >>> h.shape, [s.shape for s in states]
    (TensorShape([2, 3]), [TensorShape([2, 3]), TensorShape([2, 3])])
    """

    _gates = 4
    _config = Cell._config.replace("use_bias", "recurrent_activation use_bias unit_forget_bias")

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
        self.state_size = [units, units]

    def _bias_initializer(self) -> Any:
        if not self.unit_forget_bias:
            return self.bias_initializer

        def with_ones(shape: Any, dtype: Any = None) -> Any:
            n = self.units
            ends = (self.bias_initializer((k,), dtype=dtype) for k in (n, 2 * n))
            return tf.concat([next(ends), tf.ones((n,), dtype), next(ends)], 0)

        return with_ones

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        """The output, and the two states."""
        h, c = states[0], states[1]
        of_x, of_h = self._masks(inputs, h, training)
        total = products(inputs, self.kernel, of_x) + products(h, self.recurrent_kernel, of_h)
        return self._gated(tf.split(total if self.bias is None else total + self.bias, 4, axis=1), c)

    def _gated(self, sums: Any, c: Any) -> tuple[Any, list[Any]]:
        """The output and the two states, from what goes into the gates and from the cell's state before."""
        gate = self.recurrent_activation
        i, f, candidate, o = sums
        c = gate(f) * c + gate(i) * self.activation(candidate)
        h = gate(o) * self.activation(c)
        return h, [h, c]


class GRUCell(Cell):
    """One step of ``GRU``: from ``x`` and the state ``h`` to ``h`` and the new states.

    ``x`` is (batch, features), the states are a list of ``h`` (batch, units). The arguments are those of ``GRU``, masks of
    dropout as for ``SimpleRNNCell``. Differentiable. Raises ValueError when ``units`` is no positive int.

    >>> import minitape as tf
    >>> cell = tf.keras.layers.GRUCell(3)
    >>> h, states = cell(tf.ones([2, 4]), cell.get_initial_state(batch_size=2))
    >>> h.shape, len(states)
    (TensorShape([2, 3]), 1)
    """

    _gates = 3
    _config = Cell._config.replace("use_bias", "recurrent_activation use_bias").replace("seed", "reset_after seed")

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

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        """The output, and the states as they were given."""
        h = states[0] if isinstance(states, (list, tuple)) else states
        of_x, of_h = self._masks(inputs, h, training)
        x = products(inputs, self.kernel, of_x)
        gate = self.recurrent_activation
        if self.bias is not None:
            x = x + (self.bias[0] if self.reset_after else self.bias)
        x_z, x_r, x_h = tf.split(x, 3, axis=1)
        if self.reset_after:
            inner = products(h, self.recurrent_kernel, of_h)
            h_z, h_r, h_h = tf.split(inner if self.bias is None else inner + self.bias[1], 3, axis=1)
            keep, reset = gate(x_z + h_z), gate(x_r + h_r)
            candidate = self.activation(x_h + reset * h_h)
        else:
            before, last = tf.split(tf.convert_to_tensor(self.recurrent_kernel), [2 * self.units, self.units], axis=1)
            h_z, h_r = tf.split(products(h, before, of_h and of_h[:2]), 2, axis=1)
            keep, reset = gate(x_z + h_z), gate(x_r + h_r)
            candidate = self.activation(x_h + products(reset * h, last, of_h and of_h[2:]))
        h = keep * h + (1 - keep) * candidate
        return h, [h] if isinstance(states, (list, tuple)) else h


class StackedRNNCells(Layer):
    """Several cells as one: the output of each is the input of the next; the states are a list with those of each.

    Raises ValueError for a cell without ``call`` or ``state_size``. Differentiable as the cells are.

    >>> import minitape as tf
    >>> cells = tf.keras.layers.StackedRNNCells([tf.keras.layers.GRUCell(3), tf.keras.layers.LSTMCell(2)])
    >>> cells.state_size, tf.keras.layers.RNN(cells)(tf.ones([1, 4, 5])).shape
    ([3, [2, 2]], TensorShape([1, 2]))
    """

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError(f"All cells must have a `call` method. Received cell without a `call` method: {cell}")
            if not hasattr(cell, "state_size"):
                raise ValueError(
                    f"All cells must have a `state_size` attribute. Received cell without a `state_size`: {cell}"
                )
        self.cells = cells

    state_size = property(lambda self: [cell.state_size for cell in self.cells], doc="The sizes of each cell's states.")
    output_size = property(lambda self: output_size(self.cells[-1]), doc="The number of features of the output.")

    def get_initial_state(self, batch_size: int | None = None) -> list[Any]:
        """The initial states of each cell.

        >>> import minitape as tf
        >>> cells = tf.keras.layers.StackedRNNCells([tf.keras.layers.GRUCell(2), tf.keras.layers.LSTMCell(3)])
        >>> tf.nest.map_structure(lambda state: state.shape.as_list(), cells.get_initial_state(batch_size=4))
        [[[4, 2]], [[4, 3], [4, 3]]]
        """
        return [initial_state(cell, batch_size, self.dtype) for cell in self.cells]

    def build(self, input_shape: Any) -> None:
        """Builds the cells."""
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
            input_shape = (input_shape[0], output_size(cell))

    def call(self, inputs: Any, states: Any, training: bool = False, **kwargs: Any) -> Any:
        """The output of the last cell, and the states of all."""
        new = []
        for cell, before in zip(self.cells, states, strict=False):
            given = {**kwargs, "training": training} if takes_training(cell) else kwargs
            inputs, after = cell(inputs, list(before) if nest.is_nested(before) else [before], **given)
            new.append(after[0] if len(after) == 1 and not nest.is_nested(before) else after)
        return inputs, new[0] if len(new) == 1 else new

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        from ..serial import plain

        return {**super().get_config(), "cells": [plain(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The layer with these arguments."""
        with known(custom_objects):
            return super().from_config({**config, "cells": [made(cell) for cell in config["cells"]]})


def takes_training(cell: Any) -> bool:
    """True for a layer whose ``call`` has the argument ``training``."""
    return isinstance(cell, Layer) and cell._takes_training


def output_size(cell: Any) -> Any:
    """The number of features of a cell's output: what it says, else the size of its first state."""
    size = getattr(cell, "output_size", None)
    if size is None:
        size = cell.state_size if isinstance(cell.state_size, int) else cell.state_size[0]
    return size


def initial_state(cell: Any, batch_size: int | None, dtype: str) -> Any:
    """The initial states that a cell gives, else zeros of its sizes."""
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(batch_size=batch_size)
    if isinstance(cell.state_size, int):
        return tf.zeros((batch_size, cell.state_size), dtype)
    return [tf.zeros((batch_size, size), dtype) for size in cell.state_size]
