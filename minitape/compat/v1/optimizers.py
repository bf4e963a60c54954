"""``tf.compat.v1.train``: optimizers that add their updates to the graph."""

from __future__ import annotations

import weakref
from typing import Any

from ... import tf
from ...engine.above import above
from ...engine.slices import IndexedSlices
from ...engine.state import state
from ...graphs.gates import group
from ...graphs.gradients import check_aggregation, gradients
from ...graphs.session import get_default_graph
from ...tf.awaited import resume
from .collections import trainable_variables


class Optimizer:
    """The base class: ``minimize`` adds the gradients and the updates.

    A subclass says in ``_update`` what it does with a variable and its gradient. ``use_locking`` has no effect.

    >>> import minitape as tf
    >>> issubclass(tf.compat.v1.train.GradientDescentOptimizer, tf.compat.v1.train.Optimizer)
    True
    """

    _checkpointed = frozenset({"_slots", "_held", "_powers"})  # what they hold are attributes, too

    def __init__(self, use_locking: bool = False, name: str = "Optimizer") -> None:
        self._name = name

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP,
                 aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                 name: str | None = None, grad_loss: Any = None) -> Any:  # fmt: skip
        """An operation that makes one step; in eager mode ``loss`` is a function, and the step is made at once.

        ``gate_gradients``, ``aggregation_method`` and ``colocate_gradients_with_ops`` say when and where TensorFlow
        computes gradients, not what they are; ValueError for values that do not exist.

        >>> import minitape as tf
        >>> w = tf.Variable(3.0)
        >>> _ = tf.compat.v1.train.GradientDescentOptimizer(0.5).minimize(lambda: w * w, var_list=[w])
        >>> w.numpy()
        np.float32(0.0)
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        if all(g is None for g, _ in pairs):
            raise above.why_none(ValueError(
                f"No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in pairs]} and loss {loss}."
            ), [v for _, v in pairs])  # fmt: skip
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
                          aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> list[Any]:  # fmt: skip
        """(gradient, variable) pairs. ``colocate_gradients_with_ops`` has no effect; for the others see ``minimize``.

        >>> import minitape as tf
        >>> w = tf.Variable(3.0)
        >>> optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
        >>> [(gradient, variable)] = optimizer.compute_gradients(lambda: w * w, [w])
        >>> gradient.numpy(), variable is w
        (np.float32(6.0), True)
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  Not "
                f"{gate_gradients}"
            )
        check_aggregation(aggregation_method)
        if callable(loss):
            with tf.GradientTape() as tape:
                value = loss()
            found = list(var_list) if var_list is not None else list(tape.watched_variables())
            return list(zip(tape.gradient(value, found, grad_loss), found, strict=True))
        if state.graph is None:
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
            )
        found = list(var_list) if var_list is not None else trainable_variables()
        return list(zip(gradients(loss, found, grad_loss), found, strict=True))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """An operation that applies gradients to their variables.

        >>> import minitape as tf
        >>> w, steps = tf.Variable(3.0), tf.Variable(0)
        >>> optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)
        >>> _ = optimizer.apply_gradients([(tf.constant(4.0), w)], global_step=steps)
        >>> w.numpy(), steps.numpy()
        (np.float32(1.0), np.int32(1))
        """
        self._prepare()
        updates = self._finish([self._update(v, _dense(g)) for g, v in grads_and_vars if g is not None])
        if global_step is not None:
            updates.append(global_step.assign_add(1))
        return group(*updates, name=name or self._name)

    def _update(self, variable: Any, gradient: Any) -> Any:
        raise NotImplementedError

    def _prepare(self) -> None:
        """Makes what the optimizer keeps beside the slots."""

    def _finish(self, updates: list[Any]) -> list[Any]:
        """What is to be done once all variables have changed."""
        return updates


def _dense(g: Any) -> Any:
    return g.dense() if isinstance(g, IndexedSlices) else g


class GradientDescentOptimizer(Optimizer):
    """Subtracts the gradient times ``learning_rate``.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     w = tf.compat.v1.get_variable("w", initializer=5.0)
    ...     step = tf.compat.v1.train.GradientDescentOptimizer(0.5).minimize(w * w)
    ...     with tf.compat.v1.Session() as session:
    ...         session.run(tf.compat.v1.global_variables_initializer())
    ...         session.run(step)
    ...         print(session.run(w))
    0.0
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _update(self, variable: Any, gradient: Any) -> Any:
        return variable.assign_sub(gradient * self._learning_rate)


def _now(number: Any) -> Any:
    """A setting, which may be a function."""
    return number() if callable(number) else number


class _Slotted(Optimizer):
    """An optimizer that keeps variables of its own beside those that it changes."""

    def __init__(self, learning_rate: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._slots: dict[tuple[int, int], Any] = {}
        self._held: list[Any] = []  # the variables whose numbers (``id``) the slots are found by

    def variables(self) -> list[Any]:
        """The optimizer's own variables."""
        return list(self._slots.values())

    def _slot(self, variable: Any, which: int = 0, value: float = 0.0) -> Any:
        """A variable of the shape of another, ``value`` at first, made when it is first asked for."""
        key = id(variable), which
        if key not in self._slots:
            self._held.append(variable)
            name = f"{variable.name.partition(':')[0]}/{self._name}" + (f"_{which}" if which else "")
            made = tf.Variable(tf.fill(variable.shape, tf.cast(value, variable.dtype)), False, name=name)
            self._keep(f"slot_{len(self._slots)}", made)
            self._slots[key] = made
        return self._slots[key]

    def _keep(self, name: str, variable: Any) -> None:
        """Makes a variable an attribute, by which a checkpoint finds it."""
        setattr(self, name, variable)
        resume(self)


class MomentumOptimizer(_Slotted):
    """Subtracts ``learning_rate`` times a sum of gradients, of which each step keeps the part ``momentum``.

    >>> import minitape as tf
    >>> w = tf.Variable(1.0)
    >>> optimizer = tf.compat.v1.train.MomentumOptimizer(0.1, momentum=0.5)
    >>> for _ in range(2):
    ...     optimizer.minimize(lambda: w * 2.0)
    >>> w.numpy()
    np.float32(0.5)
    """

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, use_locking, name)
        self._momentum, self._nesterov = momentum, use_nesterov

    def _update(self, variable: Any, gradient: Any) -> Any:
        slot, part = self._slot(variable), _now(self._momentum)
        total = slot.assign(part * slot + gradient)
        return variable.assign_sub(_now(self._learning_rate) * (gradient + part * total if self._nesterov else total))


class AdagradOptimizer(_Slotted):
    """Divides each gradient by the root of the sum of its squares so far, which begins with ``initial_accumulator_value``.

    >>> import minitape as tf
    >>> w = tf.Variable(1.0)
    >>> tf.compat.v1.train.AdagradOptimizer(0.5, initial_accumulator_value=12.0).minimize(lambda: w * 2.0)
    >>> w.numpy()
    np.float32(0.75)
    """

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "Adagrad"
    ) -> None:
        super().__init__(learning_rate, use_locking, name)
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        self._first = initial_accumulator_value

    def _update(self, variable: Any, gradient: Any) -> Any:
        slot = self._slot(variable, 0, self._first)
        return variable.assign_sub(_now(self._learning_rate) * gradient / slot.assign_add(gradient * gradient) ** 0.5)


class RMSPropOptimizer(_Slotted):
    """Divides each gradient by the root of a moving mean of its squares; ``centered`` takes the square of their mean off.

    >>> import minitape as tf
    >>> w = tf.Variable(1.0)
    >>> tf.compat.v1.train.RMSPropOptimizer(0.5, decay=1.0).minimize(lambda: w * 0.5)
    >>> w.numpy()
    np.float32(0.75)
    """

    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10, use_locking: bool = False,
        centered: bool = False, name: str = "RMSProp",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, use_locking, name)
        self._decay, self._momentum, self._epsilon, self._centered = decay, momentum, epsilon, centered

    def _update(self, variable: Any, gradient: Any) -> Any:
        squares, decay = self._slot(variable, 0, 1.0), _now(self._decay)
        below = squares.assign(decay * squares + (1.0 - decay) * gradient * gradient)
        if self._centered:
            mean = self._slot(variable, 1)
            below = below - mean.assign(decay * mean + (1.0 - decay) * gradient) ** 2
        moving = self._slot(variable, 2 if self._centered else 1)
        change = _now(self._learning_rate) * gradient / (below + _now(self._epsilon)) ** 0.5
        return variable.assign_sub(moving.assign(_now(self._momentum) * moving + change))


class AdamOptimizer(_Slotted):
    """Divides moving means of gradients by the roots of those of their squares (https://arxiv.org/abs/1412.6980).

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     w = tf.compat.v1.get_variable("w", initializer=5.0)
    ...     step = tf.compat.v1.train.AdamOptimizer(0.5).minimize(w * w)
    ...     with tf.compat.v1.Session() as session:
    ...         session.run(tf.compat.v1.global_variables_initializer())
    ...         session.run(step)
    ...         print(session.run(w))
    4.5
    """

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
        use_locking: bool = False, name: str = "Adam",
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, use_locking, name)
        self._betas, self._epsilon = (beta1, beta2), epsilon
        self._powers: list[Any] = []

    def variables(self) -> list[Any]:
        """The optimizer's own variables."""
        return super().variables() + self._powers

    def _prepare(self) -> None:
        if not self._powers:
            for i, beta in enumerate(self._betas, 1):
                self._powers.append(tf.Variable(_now(beta), False, name=f"beta{i}_power"))
                self._keep(f"beta{i}_power", self._powers[-1])

    def _update(self, variable: Any, gradient: Any) -> Any:
        one, two = (tf.cast(_now(beta), variable.dtype) for beta in self._betas)
        mean, square = self._slot(variable), self._slot(variable, 1)
        mean_now = mean.assign_add((gradient - mean) * (1.0 - one))
        square_now = square.assign_add((gradient * gradient - square) * (1.0 - two))
        rate = _now(self._learning_rate) * (1.0 - self._powers[1]) ** 0.5 / (1.0 - self._powers[0])
        return variable.assign_sub(rate * mean_now / (square_now**0.5 + _now(self._epsilon)))

    def _finish(self, updates: list[Any]) -> list[Any]:
        with tf.control_dependencies(updates):
            pairs = zip(self._powers, self._betas, strict=True)
            return [*updates, *[power.assign(power * _now(beta)) for power, beta in pairs]]


_steps: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # graph -> its step


def get_global_step(graph: Any = None) -> Any:
    """The variable that counts the steps of training, None where there is none yet.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.train.get_global_step())
    None
    """
    return _steps.get(graph or get_default_graph())


def get_or_create_global_step(graph: Any = None) -> Any:
    """The variable that counts the steps of training, int64, made if there is none.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     step = tf.compat.v1.train.get_or_create_global_step()
    >>> step.name, step.dtype, step.trainable
    ('global_step:0', tf.int64, False)
    """
    place = graph or get_default_graph()
    if place not in _steps:
        _steps[place] = tf.Variable(0, False, name="global_step", dtype=tf.int64)
    return _steps[place]
