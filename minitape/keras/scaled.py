"""Optimizers whose steps are scaled in other ways: by sign, by the size of the weights, towards sparse weights."""

from __future__ import annotations

from typing import Any

from .. import tf
from . import initializers
from .optimizer import Moments, Optimizer, cast, value_of


class Lion(Optimizer):
    """Steps of one size, in the direction that the sign of a running mean of the gradients gives.

    ``beta_1`` weighs the mean against the gradient of the step, ``beta_2`` keeps it. The other arguments are those of
    ``Optimizer``. Raises ValueError unless ``beta_1`` lies in (0, 1].

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Lion(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.8
    """

    _settings = ("beta_1", "beta_2")

    def __init__(self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)
        self.beta_1, self.beta_2 = beta_1, beta_2
        if beta_1 <= 0 or beta_1 > 1:
            raise ValueError("Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer degenerates to "
                             f"SignSGD. Received: beta_1={beta_1}.")  # fmt: skip

    def _make_slots(self) -> None:
        """Makes the running means."""
        (self._momentums,) = self._slots("momentum")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        m = self._of(self._momentums, variable)
        beta_1, beta_2 = (cast(beta, variable) for beta in (self.beta_1, self.beta_2))
        variable.assign_sub(rate * tf.sign(value_of(m) * beta_1 + g * (1.0 - beta_1)))
        m.assign(value_of(m) * beta_2 + g * (1.0 - beta_2))


class Lamb(Moments):
    """Adam whose step for each variable is as large as the variable itself, times the learning rate.

    The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Lamb(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.81
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, step = cast(learning_rate, variable), cast(self._steps() + 1, variable)
        power_1, power_2 = (tf.pow(cast(beta, variable), step) for beta in (self.beta_1, self.beta_2))
        m, v = self._moved(gradient, variable, self.beta_1, self.beta_2)
        update = value_of(m) / (1.0 - power_1) / (tf.sqrt(value_of(v) / (1.0 - power_2)) + self.epsilon)
        size, step_size = (tf.sqrt(tf.reduce_sum(tf.pow(x, 2))) for x in (value_of(variable), update))
        fits = tf.logical_and(size > 0, step_size > 0)
        variable.assign_sub(tf.where(fits, size / step_size, tf.ones_like(size)) * rate * update)


class Ftrl(Optimizer):
    """"Follow the regularized leader": weights that the sum of all gradients so far would choose, and many zeros.

    ``l1_regularization_strength`` makes weights exactly 0, ``l2_regularization_strength`` and ``beta`` make them small,
    ``l2_shrinkage_regularization_strength`` adds a share of them to the gradients. ``learning_rate_power`` says how fast
    steps shrink with the sum of squared gradients, which begins at ``initial_accumulator_value``. The other arguments are
    those of ``Optimizer``. Raises ValueError for a power above 0 and for negative strengths.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Ftrl(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.6858
    """

    _settings = (
        "learning_rate_power", "initial_accumulator_value", "l1_regularization_strength", "l2_regularization_strength",
        "l2_shrinkage_regularization_strength", "beta",
    )  # fmt: skip

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.learning_rate_power, self.initial_accumulator_value = learning_rate_power, initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength, self.beta = l2_shrinkage_regularization_strength, beta
        if learning_rate_power > 0.0:
            raise ValueError("`learning_rate_power` needs to be negative or zero. Received: "
                             f"learning_rate_power={learning_rate_power}.")  # fmt: skip
        for name in self._settings[1:5]:
            if getattr(self, name) < 0.0:
                raise ValueError(f"`{name}` needs to be positive or zero. Received: {name}={getattr(self, name)}.")

    def _make_slots(self) -> None:
        """Makes the sums of squares and the linear parts."""
        starts = [initializers.Constant(self.initial_accumulator_value), "zeros"]
        self._sums, self._linears = self._slots("accumulator", "linear", initializer=starts)

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g, w = cast(learning_rate, variable), cast(gradient, variable), value_of(variable)
        total, linear = self._of(self._sums, variable), self._of(self._linears, variable)
        power, most = -self.learning_rate_power, self.l1_regularization_strength
        after = value_of(total) + self._squared(gradient, variable)
        roots = tf.pow(after, power), tf.pow(value_of(total), power)
        shrunk = g + 2 * self.l2_shrinkage_regularization_strength * w
        linear.assign_add(shrunk - (roots[0] - roots[1]) / rate * w)
        quadratic = roots[0] / rate + 2 * (self.l2_regularization_strength + self.beta / (2.0 * rate))
        variable.assign((tf.clip_by_value(value_of(linear), -most, most) - value_of(linear)) / quadratic)
        total.assign(after)
