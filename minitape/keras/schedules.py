"""``tf.keras.optimizers.schedules``: learning rates that change with the number of steps."""

from __future__ import annotations

import math
from typing import Any


class LearningRateSchedule:
    """The base class: subclasses define ``__call__(step)``."""

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`."
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return dict(vars(self))


def _check_decay_steps(decay_steps: int) -> None:
    if decay_steps <= 0:
        raise ValueError(f"Argument `decay_steps` must be > 0. Received: decay_steps={decay_steps}")


class ExponentialDecay(LearningRateSchedule):
    """``initial * decay_rate ** (step / decay_steps)``, in whole steps if ``staircase``.

    >>> import minitape as tf
    >>> float(tf.keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5)(20))
    0.25
    """

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: str = "ExponentialDecay",
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name
        _check_decay_steps(decay_steps)

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        import minitape as tf

        p = tf.cast(step, tf.float32) / self.decay_steps
        return self.initial_learning_rate * tf.pow(
            tf.constant(self.decay_rate, tf.float32), tf.floor(p) if self.staircase else p
        )


class PiecewiseConstantDecay(LearningRateSchedule):
    """``values[i]`` up to the step ``boundaries[i]``, the last value after all of them."""

    def __init__(self, boundaries: list[int], values: list[float], name: str = "PiecewiseConstant") -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length "
                f"{len(values)}."
            )
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        import minitape as tf

        passed = sum(int(step) > b for b in self.boundaries)
        return tf.constant(self.values[passed], tf.float32)


class CosineDecay(LearningRateSchedule):
    """Half a cosine wave from ``initial_learning_rate`` down to ``alpha`` times it, over ``decay_steps``."""

    def __init__(
        self, initial_learning_rate: float, decay_steps: int, alpha: float = 0.0, name: str = "CosineDecay"
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.alpha, self.name = (
            initial_learning_rate,
            decay_steps,
            alpha,
            name,
        )
        _check_decay_steps(decay_steps)

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        import minitape as tf

        part = tf.minimum(tf.cast(step, tf.float32), float(self.decay_steps)) / self.decay_steps
        wave = 0.5 * (1.0 + tf.cos(tf.constant(math.pi, tf.float32) * part))
        return self.initial_learning_rate * ((1 - self.alpha) * wave + self.alpha)


class PolynomialDecay(LearningRateSchedule):
    """From ``initial_learning_rate`` to ``end_learning_rate`` over ``decay_steps``, as a power of the way left."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: str = "PolynomialDecay",
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle, self.name = end_learning_rate, power, cycle, name
        _check_decay_steps(decay_steps)

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        import minitape as tf

        now, steps = tf.cast(step, tf.float32), tf.constant(float(self.decay_steps))
        if self.cycle:
            steps = steps * (1.0 if float(now) == 0 else math.ceil(float(now) / self.decay_steps))
        else:
            now = tf.minimum(now, steps)
        left = tf.pow(1.0 - now / steps, tf.constant(float(self.power)))
        return (self.initial_learning_rate - self.end_learning_rate) * left + self.end_learning_rate


class InverseTimeDecay(LearningRateSchedule):
    """``initial / (1 + decay_rate * step / decay_steps)``, in whole steps if ``staircase``."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: str = "InverseTimeDecay",
    ) -> None:
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name
        _check_decay_steps(decay_steps)

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        import minitape as tf

        p = tf.cast(step, tf.float32) / self.decay_steps
        return self.initial_learning_rate / (1.0 + self.decay_rate * (tf.floor(p) if self.staircase else p))
