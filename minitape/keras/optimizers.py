"""``tf.keras.optimizers``: how gradients change weights.

``apply_gradients`` (or ``apply``) makes one step. The updates are plain operations on variables, in the order in which
Keras makes them, so that results agree to the last digit.
"""

from __future__ import annotations

from typing import Any

from ..slices import IndexedSlices
from . import initializers
from .optimizer import Optimizer, cast, value_of
from .serial import lookup
from .variable import Variable


class SGD(Optimizer):
    """Gradient descent, with momentum if wanted: ``v = momentum * v - lr * g; w += v``."""

    _settings = ("momentum", "nesterov")

    def __init__(self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)
        if not isinstance(momentum, float) or momentum < 0 or momentum > 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = momentum, nesterov

    def build(self, variables: Any) -> None:
        """Makes the momentums."""
        if self.built:
            return
        super().build(variables)
        self.momentums = self._slots("momentum")[0] if self.momentum else []

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
    """Steps scaled by running means of the gradients and of their squares."""

    _settings = ("beta_1", "beta_2", "epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.beta_1, self.beta_2, self.epsilon, self.amsgrad = beta_1, beta_2, epsilon, amsgrad

    def build(self, variables: Any) -> None:
        """Makes momentums and velocities."""
        if self.built:
            return
        super().build(variables)
        self._momentums, self._velocities = self._slots("momentum", "velocity")
        if self.amsgrad:
            (self._velocity_hats,) = self._slots("velocity_hat")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        import minitape as tf

        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        step = cast(value_of(self._iterations) + 1, variable)
        power_1, power_2 = (tf.pow(cast(beta, variable), step) for beta in (self.beta_1, self.beta_2))
        m, v = self._of(self._momentums, variable), self._of(self._velocities, variable)
        alpha = rate * tf.sqrt(1 - power_2) / (1 - power_1)
        m.assign_add((g - value_of(m)) * (1 - self.beta_1))
        v.assign_add((self.squared(gradient, variable) - value_of(v)) * (1 - self.beta_2))
        if self.amsgrad:
            largest = self._of(self._velocity_hats, variable)
            largest.assign(tf.maximum(value_of(largest), value_of(v)))
            v = largest
        variable.assign_sub(value_of(m) * alpha / (tf.sqrt(value_of(v)) + self.epsilon))


class AdamW(Adam):
    """Adam with weight decay beside the gradient step."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay=weight_decay, **kwargs)
        if self.weight_decay is None:
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")


class RMSprop(Optimizer):
    """Steps divided by the root of a running mean of the squared gradients."""

    _settings = ("rho", "momentum", "epsilon", "centered")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def build(self, variables: Any) -> None:
        """Makes velocities, and momentums and averages if they are used."""
        if self.built:
            return
        super().build(variables)
        (self._velocities,) = self._slots("velocity")
        self._momentums = self._slots("momentum")[0] if self.momentum > 0 else []
        self._averages = self._slots("average_gradient")[0] if self.centered else []

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        import minitape as tf

        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        v = self._of(self._velocities, variable)
        v.assign(self.rho * value_of(v) + (1 - self.rho) * self.squared(gradient, variable))
        below = value_of(v) + self.epsilon
        if self.centered:
            average = self._of(self._averages, variable)
            average.assign(self.rho * value_of(average) + (1 - self.rho) * g)
            below = value_of(v) - value_of(average) ** 2 + self.epsilon
        step = rate * g / tf.sqrt(below)
        if self.momentum > 0:
            m = self._of(self._momentums, variable)
            m.assign(self.momentum * value_of(m) + step)
            step = value_of(m)
        variable.assign_sub(step)


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients."""

    _settings = ("initial_accumulator_value", "epsilon")

    def __init__(
        self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def build(self, variables: Any) -> None:
        """Makes the sums."""
        if self.built:
            return
        super().build(variables)
        (self._sums,) = self._slots("accumulator", initializer=initializers.Constant(self.initial_accumulator_value))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        import minitape as tf

        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        total = self._of(self._sums, variable)
        total.assign_add(self.squared(gradient, variable))
        variable.assign_sub(rate * g / tf.sqrt(value_of(total) + self.epsilon))


class Adamax(Optimizer):
    """Adam with the largest gradient of each weight, fading, in place of the mean of their squares."""

    _settings = ("beta_1", "beta_2", "epsilon")

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

    def build(self, variables: Any) -> None:
        """Makes momentums and largest gradients."""
        if self.built:
            return
        super().build(variables)
        self._m, self._u = self._slots("momentum", "norm")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        import minitape as tf

        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        power = tf.pow(cast(self.beta_1, variable), cast(value_of(self._iterations) + 1, variable))
        m, u = self._of(self._m, variable), self._of(self._u, variable)
        m.assign_add((g - value_of(m)) * (1 - self.beta_1))
        u.assign(tf.maximum(self.beta_2 * value_of(u), tf.abs(g)))
        variable.assign_sub(rate * value_of(m) / ((1 - power) * (value_of(u) + self.epsilon)))


class Nadam(Optimizer):
    """Adam with Nesterov's momentum, which warms up."""

    _settings = ("beta_1", "beta_2", "epsilon")

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

    def build(self, variables: Any) -> None:
        """Makes momentums and velocities."""
        if self.built:
            return
        super().build(variables)
        self._momentums, self._velocities = self._slots("momentum", "velocity")
        self._product = Variable(1.0, dtype="float32", trainable=False, name="u_product")

    def _warm(self, step: Any) -> Any:
        import minitape as tf

        return self.beta_1 * (1.0 - 0.5 * tf.pow(cast(0.96, self._product), step))

    def begin_step(self) -> None:
        """Multiplies the factors of all steps so far."""
        self._product.assign(value_of(self._product) * self._warm(cast(value_of(self._iterations) + 1, self._product)))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        import minitape as tf

        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        step = cast(value_of(self._iterations) + 1, variable)
        beta_1, beta_2 = (cast(v, variable) for v in (self.beta_1, self.beta_2))
        now, following = (cast(self._warm(cast(step + i, self._product)), variable) for i in (0, 1))
        product = cast(value_of(self._product), variable)
        m, v = self._of(self._momentums, variable), self._of(self._velocities, variable)
        m.assign_add((g - value_of(m)) * (1 - beta_1))
        v.assign_add((self.squared(gradient, variable) - value_of(v)) * (1 - beta_2))
        ahead = following * value_of(m) / (1 - product * following) + (1 - now) * g / (1 - product)
        variable.assign_sub(ahead * rate / (tf.sqrt(value_of(v) / (1 - tf.pow(beta_2, step))) + self.epsilon))


class Adadelta(Optimizer):
    """Steps scaled by running means of the squares of steps and gradients."""

    _settings = ("rho", "epsilon")

    def __init__(self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho, self.epsilon = rho, epsilon

    def build(self, variables: Any) -> None:
        """Makes the running means."""
        if self.built:
            return
        super().build(variables)
        self._gradients, self._steps = self._slots("accumulated_grad", "accumulated_delta_var")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        import minitape as tf

        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        gradients, steps = self._of(self._gradients, variable), self._of(self._steps, variable)
        gradients.assign(self.rho * value_of(gradients) + (1 - self.rho) * self.squared(gradient, variable))
        step = -tf.sqrt(value_of(steps) + self.epsilon) * g / tf.sqrt(value_of(gradients) + self.epsilon)
        steps.assign(self.rho * value_of(steps) + (1 - self.rho) * step * step)
        variable.assign_add(rate * step)


TABLE = {cls.__name__.lower(): cls for cls in (SGD, Adam, AdamW, RMSprop, Adagrad, Adamax, Nadam, Adadelta)}


def get(identifier: Any) -> Any:
    """The optimizer of a name ("sgd", "Adam", ...), or ``identifier`` itself when it is one."""
    if isinstance(identifier, Optimizer) or identifier is None:
        return identifier
    if isinstance(identifier, str):
        return lookup("optimizer", identifier.lower(), TABLE) if identifier.lower() in TABLE else _unknown(identifier)
    if isinstance(identifier, dict):
        return TABLE[str(identifier["class_name"]).lower()](**identifier.get("config", {}))
    return _unknown(identifier)


def _unknown(identifier: Any) -> Any:
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")


def __getattr__(name: str) -> Any:
    if name == "schedules":
        from . import schedules

        return schedules
    from ..api import missing

    raise AttributeError(missing("tf.keras.optimizers", name, [*(cls.__name__ for cls in TABLE.values()), "schedules"]))
