"""``tf.keras.optimizers``: how gradients change weights.

``apply_gradients`` (or ``apply``) makes one step. The updates are plain operations on variables, in the order in which
Keras makes them, so that results agree to the last digit.
"""

from __future__ import annotations

from typing import Any

from .. import tf
from ..engine.namespace import public
from ..engine.slices import IndexedSlices
from . import initializers
from .optimizer import Optimizer, cast, value_of
from .variable import Variable


class SGD(Optimizer):
    """Gradient descent, with momentum if wanted: ``v = momentum * v - lr * g; w += v``.

    With ``nesterov`` the step looks ahead: ``w += momentum * v - lr * g``. The other arguments are those of
    ``Optimizer``. Raises ValueError unless ``momentum`` is a float in [0, 1].

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.SGD(0.1, momentum=0.5)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.54
    """

    def __init__(self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)
        if not isinstance(momentum, float) or momentum < 0 or momentum > 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = momentum, nesterov

    def _make_slots(self) -> None:
        """Makes the momentums."""
        self.momentums = self._slots("momentum") if self.momentum else []

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rows = self._sparse.get(id(gradient))
        if rows is not None and not self.momentum:  # one row after the other, so that rounding is the same
            target = variable.value if isinstance(variable, Variable) else variable
            steps = cast(rows.values, variable) * cast(learning_rate, variable)
            target.scatter_sub(IndexedSlices(steps, rows.indices, rows.dense_shape))
            return
        step = cast(gradient, variable) * cast(learning_rate, variable)
        if not self.momentum:
            variable.assign_sub(step)
            return
        m = self._of(self.momentums, variable)
        momentum = cast(self.momentum, variable)
        m.assign(value_of(m) * momentum - step)
        variable.assign_add(value_of(m) * momentum - step if self.nesterov else value_of(m))


class Adam(Optimizer):
    """Steps scaled by running means of the gradients and of their squares, which ``beta_1`` and ``beta_2`` keep.

    The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Adam(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.8004
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _make_slots(self) -> None:
        """Makes momentums and velocities in pairs."""
        pairs = [
            [self.add_variable_from_reference(v, name) for name in ("momentum", "velocity")]
            for v in self._trainable_variables
        ]
        self._momentums, self._velocities = [m for m, _ in pairs], [v for _, v in pairs]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        alpha = self._once(self._rate, variable, learning_rate)
        m, v = self._of(self._momentums, variable), self._of(self._velocities, variable)
        m.assign_add((cast(gradient, variable) - value_of(m)) * (1 - self.beta_1))
        v.assign_add((self._squared(gradient, variable) - value_of(v)) * (1 - self.beta_2))
        variable.assign_sub(value_of(m) * alpha / (tf.sqrt(value_of(v)) + self.epsilon))

    def _rate(self, variable: Any, learning_rate: Any) -> Any:
        """The learning rate, without the bias that both means have towards zero in the first steps."""
        step = cast(value_of(self.iterations) + 1, variable)
        power_1, power_2 = (tf.pow(cast(beta, variable), step) for beta in (self.beta_1, self.beta_2))
        return cast(learning_rate, variable) * tf.sqrt(1 - power_2) / (1 - power_1)


class RMSprop(Optimizer):
    """Steps divided by the root of a running mean of the squared gradients, which ``rho`` keeps.

    With ``momentum`` steps add up. The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.RMSprop(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.4989
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho, self.momentum, self.epsilon = rho, momentum, epsilon

    def _make_slots(self) -> None:
        """Makes velocities, and momentums if they are used."""
        self._velocities = self._slots("velocity")
        self._momentums = self._slots("momentum") if self.momentum > 0 else []

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        v = self._of(self._velocities, variable)
        v.assign(self.rho * value_of(v) + (1 - self.rho) * self._squared(gradient, variable))
        step = rate * g / tf.sqrt(value_of(v) + self.epsilon)
        if self.momentum > 0:
            m = self._of(self._momentums, variable)
            m.assign(self.momentum * value_of(m) + step)
            step = value_of(m)
        variable.assign_sub(step)


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients, which begins at ``initial_accumulator_value``.

    The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Adagrad(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.8347
    """

    def __init__(
        self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def _make_slots(self) -> None:
        """Makes the sums."""
        self._sums = self._slots("accumulator", initializers.Constant(self.initial_accumulator_value))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        total = self._of(self._sums, variable)
        total.assign_add(self._squared(gradient, variable))
        variable.assign_sub(rate * g / tf.sqrt(value_of(total) + self.epsilon))


TABLE = {"sgd": SGD, "adam": Adam, "rmsprop": RMSprop, "adagrad": Adagrad}


def get(identifier: Any) -> Any:
    """The optimizer of a name in any case ("sgd", "Adam", ...); ``identifier`` itself when it is one.

    Raises ValueError for an unknown name and for anything else.

    >>> import minitape as tf
    >>> type(tf.keras.optimizers.get("SGD")).__name__
    'SGD'
    """
    if isinstance(identifier, Optimizer) or identifier is None:
        return identifier
    found = TABLE.get(identifier.lower()) if isinstance(identifier, str) else None
    if found is None:
        raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
    return found()


__all__ = ["SGD", "Adagrad", "Adam", "Optimizer", "RMSprop", "get"]
__getattr__, __dir__ = public("tf.keras.optimizers", __all__)
