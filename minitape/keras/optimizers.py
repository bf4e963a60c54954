"""``tf.keras.optimizers``: how gradients change weights.

``apply_gradients`` (or ``apply``) makes one step. A rule is a formula of arrays or of tensors, whose operations come in
the order of Keras', so that results agree to the last digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.table.primitives import PLAIN
from ..engine.table.primitives import TABLE as PRIMITIVES
from ..engine.table.primitives.elementwise import form_of
from ..engine.tensor.slices import IndexedSlices
from ..tf.namespace import public
from . import initializers
from .optimizer import Optimizer, cast
from .variable import Variable

_SQRT, _POW = PRIMITIVES["sqrt"], PRIMITIVES["pow"]


def sqrt(x: Any) -> Any:
    """The square root of an array or a tensor."""
    return np.sqrt(x) if type(x) in PLAIN else _SQRT(x)


def power(x: Any, y: Any) -> Any:
    """``x ** y`` of two numbers or two tensors, which are rounded alike."""
    return form_of(_POW.code, x).forward(x, y) if type(x) in PLAIN else _POW(x, y)


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

    def _make_slots(self) -> tuple:
        self.momentums = self._slot("momentum") if self.momentum else []
        return (self.momentums,) if self.momentum else ()

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight, and its momentum."""
        rows = self._sparse.get(id(gradient))
        if rows is None or self.momentum:
            super().update_step(gradient, variable, learning_rate)
            return
        target = variable.value if isinstance(variable, Variable) else variable
        steps = cast(rows.values, variable) * cast(learning_rate, variable)
        # one row after the other: rounding is the same
        target.scatter_sub(IndexedSlices(steps, rows.indices, rows.dense_shape))

    def _rule(self, g: Any, rate: Any, *momentum: Any) -> tuple:
        step = g * rate
        if not momentum:
            return (step,)
        m = momentum[0] * self.momentum - step
        return -(m * self.momentum - step if self.nesterov else m), m


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

    def _make_slots(self) -> tuple:
        pairs = [
            [self.add_variable_from_reference(v, name) for name in ("momentum", "velocity")]
            for v in self._trainable_variables
        ]
        self._momentums, self._velocities = [m for m, _ in pairs], [v for _, v in pairs]
        return self._momentums, self._velocities

    def _rate(self, read: Any, number: Any, learning_rate: Any) -> Any:
        """The learning rate, without the bias that both means have towards zero in the first steps."""
        step = number(read(self.iterations) + 1)
        power_1, power_2 = (power(number(beta), step) for beta in (self.beta_1, self.beta_2))
        return super()._rate(read, number, learning_rate) * sqrt(1 - power_2) / (1 - power_1)

    def _rule(self, g: Any, rate: Any, m: Any, v: Any) -> tuple:
        m = m + (g - m) * (1 - self.beta_1)
        v = v + (self._squared(g) - v) * (1 - self.beta_2)
        return m * rate / (sqrt(v) + self.epsilon), m, v


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

    def _make_slots(self) -> tuple:
        self._velocities = self._slot("velocity")
        self._momentums = self._slot("momentum") if self.momentum > 0 else []
        return (self._velocities, self._momentums) if self.momentum > 0 else (self._velocities,)

    def _rule(self, g: Any, rate: Any, v: Any, *momentum: Any) -> tuple:
        v = self.rho * v + (1 - self.rho) * self._squared(g)
        step = rate * g / sqrt(v + self.epsilon)
        if not momentum:
            return step, v
        m = self.momentum * momentum[0] + step
        return m, v, m


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

    def _make_slots(self) -> tuple:
        self._accumulators = self._slot("accumulator", initializers.Constant(self.initial_accumulator_value))
        return (self._accumulators,)

    def _rule(self, g: Any, rate: Any, total: Any) -> tuple:
        total = total + self._squared(g)
        return rate * g / sqrt(total + self.epsilon), total


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
