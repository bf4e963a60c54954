"""``tf.keras.optimizers``: how gradients change weights.

``apply_gradients`` (or ``apply``) makes one step. The updates are plain operations on variables, in the order in which
Keras makes them, so that results agree to the last digit.
"""

from __future__ import annotations

from typing import Any

from .. import tf
from ..engine.namespace import public
from ..engine.slices import IndexedSlices
from . import initializers, schedules
from .optimizer import Moments, Optimizer, cast, value_of
from .scaled import Ftrl, Lamb, Lion
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

    _settings = ("momentum", "nesterov")

    def __init__(self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)
        if not isinstance(momentum, float) or momentum < 0 or momentum > 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = momentum, nesterov

    def _make_slots(self) -> None:
        """Makes the momentums."""
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


class Adam(Moments):
    """Steps scaled by running means of the gradients and of their squares, which ``beta_1`` and ``beta_2`` keep.

    With ``amsgrad`` the largest mean of squares so far counts. The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Adam(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.8004
    """

    _settings = (*Moments._settings, "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, **kwargs)
        self.amsgrad = amsgrad

    def _make_slots(self) -> None:
        """Makes momentums, velocities and, for ``amsgrad``, their largest."""
        super()._make_slots()
        if self.amsgrad:
            (self._velocity_hats,) = self._slots("velocity_hat")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        alpha = self._once(self._rate, variable, learning_rate)
        m, v = self._moved(gradient, variable, self.beta_1, self.beta_2)
        if self.amsgrad:
            largest = self._of(self._velocity_hats, variable)
            largest.assign(tf.maximum(value_of(largest), value_of(v)))
            v = largest
        variable.assign_sub(value_of(m) * alpha / (tf.sqrt(value_of(v)) + self.epsilon))

    def _rate(self, variable: Any, learning_rate: Any) -> Any:
        """The learning rate, without the bias that both means have towards zero in the first steps."""
        step = cast(self._steps() + 1, variable)
        power_1, power_2 = (tf.pow(cast(beta, variable), step) for beta in (self.beta_1, self.beta_2))
        return cast(learning_rate, variable) * tf.sqrt(1 - power_2) / (1 - power_1)


class AdamW(Adam):
    """Adam with weight decay beside the gradient step: ``w -= lr * weight_decay * w``.

    The other arguments are those of ``Adam``. Raises ValueError without a weight decay.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.AdamW(0.1, weight_decay=0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.7816
    """

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
    """Steps divided by the root of a running mean of the squared gradients, which ``rho`` keeps.

    With ``centered`` the squared mean of the gradients is taken off below the root; with ``momentum`` steps add up. The
    other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.RMSprop(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.4989
    """

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

    def _make_slots(self) -> None:
        """Makes velocities, and momentums and averages if they are used."""
        (self._velocities,) = self._slots("velocity")
        self._momentums = self._slots("momentum")[0] if self.momentum > 0 else []
        self._averages = self._slots("average_gradient")[0] if self.centered else []

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        v = self._of(self._velocities, variable)
        v.assign(self.rho * value_of(v) + (1 - self.rho) * self._squared(gradient, variable))
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
    """Steps divided by the root of the sum of all squared gradients, which begins at ``initial_accumulator_value``.

    The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Adagrad(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.8347
    """

    _settings = ("initial_accumulator_value", "epsilon")

    def __init__(
        self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def _make_slots(self) -> None:
        """Makes the sums."""
        (self._sums,) = self._slots("accumulator", initializer=initializers.Constant(self.initial_accumulator_value))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        total = self._of(self._sums, variable)
        total.assign_add(self._squared(gradient, variable))
        variable.assign_sub(rate * g / tf.sqrt(value_of(total) + self.epsilon))


class Adamax(Moments):
    """Adam with the largest gradient of each weight, fading, in place of the mean of their squares.

    The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Adamax(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.8052
    """

    def _make_slots(self) -> None:
        """Makes momentums and largest gradients."""
        self._m, self._u = self._slots("momentum", "norm")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        power = tf.pow(cast(self.beta_1, variable), cast(self._steps() + 1, variable))
        m, u = self._of(self._m, variable), self._of(self._u, variable)
        m.assign_add((g - value_of(m)) * (1 - self.beta_1))
        u.assign(tf.maximum(self.beta_2 * value_of(u), self._by_rows(tf.abs, gradient, variable)))
        variable.assign_sub(rate * value_of(m) / ((1 - power) * (value_of(u) + self.epsilon)))


class Nadam(Moments):
    """Adam with Nesterov's momentum, which warms up.

    The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Nadam(0.1)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.8202
    """

    def _make_slots(self) -> None:
        """Makes momentums and velocities, and the product of the factors of all steps."""
        super()._make_slots()
        self._product = self._own(1.0, None, "float32")

    def _warm(self, step: Any) -> Any:
        return self.beta_1 * (1.0 - 0.5 * tf.pow(cast(0.96, self._product), step))

    def _begin_step(self) -> None:
        """Multiplies the factors of all steps so far."""
        self._product.assign(value_of(self._product) * self._warm(cast(self._steps() + 1, self._product)))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        step = cast(self._steps() + 1, variable)
        beta_1, beta_2 = (cast(v, variable) for v in (self.beta_1, self.beta_2))
        now, following = (cast(self._warm(cast(step + i, self._product)), variable) for i in (0, 1))
        product = cast(value_of(self._product), variable)
        m, v = self._moved(gradient, variable, beta_1, beta_2)
        ahead = following * value_of(m) / (1 - product * following) + (1 - now) * g / (1 - product)
        variable.assign_sub(ahead * rate / (tf.sqrt(value_of(v) / (1 - tf.pow(beta_2, step))) + self.epsilon))


class Adadelta(Optimizer):
    """Steps scaled by running means of the squares of steps and gradients, which ``rho`` keeps.

    The other arguments are those of ``Optimizer``.

    >>> import minitape as tf
    >>> w, optimizer = tf.Variable(1.0), tf.keras.optimizers.Adadelta(100.0)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(2.0 * w, w)])  # the gradient of w ** 2
    >>> round(float(w), 4)
    0.7264
    """

    _settings = ("rho", "epsilon")

    def __init__(self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho, self.epsilon = rho, epsilon

    def _make_slots(self) -> None:
        """Makes the running means."""
        self._gradients, self._changes = self._slots("accumulated_grad", "accumulated_delta_var")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        rate, g = cast(learning_rate, variable), cast(gradient, variable)
        gradients, steps = self._of(self._gradients, variable), self._of(self._changes, variable)
        gradients.assign(self.rho * value_of(gradients) + (1 - self.rho) * self._squared(gradient, variable))
        below = tf.sqrt(value_of(gradients) + self.epsilon)
        above = tf.sqrt(value_of(steps) + self.epsilon)
        step = -above * g / below
        squares = step * step
        if id(gradient) in self._sparse:
            squares = self._squared(gradient, variable) * (above / below) ** 2
        steps.assign(self.rho * value_of(steps) + (1 - self.rho) * squares)
        variable.assign_add(rate * step)


_ALL = (SGD, Adam, AdamW, RMSprop, Adagrad, Adamax, Nadam, Adadelta, Ftrl, Lamb, Lion)
TABLE = {cls.__name__.lower(): cls for cls in _ALL}


def get(identifier: Any) -> Any:
    """The optimizer of a name in any case ("sgd", "Adam", ...) or of a dictionary; ``identifier`` itself when it is one.

    Raises ValueError for an unknown name and for anything else.

    >>> import minitape as tf
    >>> optimizer = tf.keras.optimizers.get({"class_name": "SGD", "config": {"learning_rate": 0.5}})
    >>> type(optimizer).__name__, float(optimizer.learning_rate)
    ('SGD', 0.5)
    """
    if isinstance(identifier, Optimizer) or identifier is None:
        return identifier
    if isinstance(identifier, dict):
        return get_class(identifier.get("class_name")).from_config(identifier.get("config", {}))
    return get_class(identifier)()


def get_class(name: Any) -> Any:
    """The class of a name in any case; ValueError for an unknown one."""
    found = TABLE.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"Could not interpret optimizer identifier: {name}")
    return found


__all__ = ["Optimizer", *(cls.__name__ for cls in TABLE.values()), "get", "schedules"]
__getattr__, __dir__ = public("tf.keras.optimizers", __all__)
