"""``tf.compat.v1.train``: optimizers that add their updates to the graph."""

from __future__ import annotations

from typing import Any

from ...graphs.gradients import check_aggregation, gradients
from ...graphs.variables import group
from ...slices import IndexedSlices
from ...state import state
from .collections import trainable_variables


class Optimizer:
    """The base class: ``minimize`` adds the gradients and the updates.

    A subclass says in ``_update`` what it does with a variable and its gradient. ``use_locking`` has no effect.

    >>> import minitape as tf
    >>> issubclass(tf.compat.v1.train.GradientDescentOptimizer, tf.compat.v1.train.Optimizer)
    True
    """

    def __init__(self, use_locking: bool = False, name: str = "Optimizer") -> None:
        self._name = name

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP,
                 aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                 name: str | None = None, grad_loss: Any = None) -> Any:  # fmt: skip
        """An operation that makes one step; in eager mode ``loss`` is a function, and the step is made at once.

        ``gate_gradients``, ``aggregation_method`` and ``colocate_gradients_with_ops`` say when and where TensorFlow
        computes gradients, not what they are; ValueError for values that do not exist.
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        if all(g is None for g, _ in pairs):
            raise ValueError(
                f"No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
                          aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> list[Any]:  # fmt: skip
        """(gradient, variable) pairs. ``colocate_gradients_with_ops`` has no effect; for the others see ``minimize``."""
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  Not "
                f"{gate_gradients}"
            )
        check_aggregation(aggregation_method)
        if callable(loss):
            import minitape as tf

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
        """An operation that applies gradients to their variables."""
        updates = [self._update(v, _dense(g)) for g, v in grads_and_vars if g is not None]
        if global_step is not None:
            updates.append(global_step.assign_add(1))
        return group(*updates, name=name or self._name)

    def _update(self, variable: Any, gradient: Any) -> Any:
        raise NotImplementedError


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
