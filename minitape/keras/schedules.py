"""``tf.keras.optimizers.schedules``: learning rates that change with the number of steps."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from .. import tf
from ..engine.namespace import public
from .annotated import Annotated
from .serial import Configured


class LearningRateSchedule(Configured):
    """The base class: subclasses define ``__call__(step)``, the rate (a float32 scalar) after that many steps.

    ``step`` is an int or a scalar tensor. An optimizer asks its schedule at each step.

    >>> import minitape as tf
    >>> class Harmonic(tf.keras.optimizers.schedules.LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 1.0 / (1.0 + tf.cast(step, tf.float32))
    >>> w, optimizer = tf.Variable(0.0), tf.keras.optimizers.SGD(Harmonic())
    >>> for _ in range(3):
    ...     _ = optimizer.apply_gradients([(tf.constant(-1.0), w)])
    >>> round(float(w), 4)  # 1 + 1/2 + 1/3
    1.8333
    """

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`."
        )


class _Decay(Annotated, LearningRateSchedule):
    """A schedule over some steps; ``over`` says which argument is their number."""

    _over: ClassVar[str]

    def _take(self, **arguments: Any) -> None:
        vars(self).update(arguments)
        steps = arguments[self._over]
        if steps <= 0:
            raise ValueError(f"Argument `{self._over}` must be > 0. Received: {self._over}={steps}")


class ExponentialDecay(_Decay, over="decay_steps"):
    """``initial * decay_rate ** (step / decay_steps)``, in whole steps if ``staircase``.

    Raises ValueError unless ``decay_steps`` is positive; ``name`` is kept for ``get_config`` only.

    >>> import minitape as tf
    >>> float(tf.keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5)(20))
    0.25
    """

    initial_learning_rate: float
    decay_steps: int
    decay_rate: float
    staircase: bool = False
    name: str = "ExponentialDecay"

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        p = tf.cast(step, tf.float32) / self.decay_steps
        return self.initial_learning_rate * tf.pow(
            tf.constant(self.decay_rate, tf.float32), tf.floor(p) if self.staircase else p
        )


class PiecewiseConstantDecay(LearningRateSchedule):
    """``values[i]`` up to the step ``boundaries[i]``, the last value after all of them.

    Raises ValueError unless there is one value more than boundaries.

    >>> import minitape as tf
    >>> rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.25])
    >>> [float(rate(step)) for step in (10, 11, 21)]
    [1.0, 0.5, 0.25]
    """

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
        passed = tf.reduce_sum(tf.cast(tf.cast(step, tf.float64) > [float(b) for b in self.boundaries], tf.int32))
        return tf.gather(tf.constant(self.values, tf.float32), passed)


class CosineDecayRestarts(_Decay, over="first_decay_steps"):
    """Half cosine waves, one after the other: the first takes ``first_decay_steps``, each further one ``t_mul`` as many.

    Each begins at ``m_mul`` times the height of the one before, and ends at ``alpha`` times ``initial_learning_rate``.
    Raises ValueError unless ``first_decay_steps`` is positive.

    >>> import minitape as tf
    >>> rate = tf.keras.optimizers.schedules.CosineDecayRestarts(1.0, first_decay_steps=10)
    >>> [round(float(rate(step)), 4) for step in (0, 5, 10, 20)]
    [1.0, 0.5, 1.0, 0.5]
    """

    initial_learning_rate: float
    first_decay_steps: int
    t_mul: float = 2.0
    m_mul: float = 1.0
    alpha: float = 0.0
    name: str = "SGDRDecay"

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        done = tf.cast(step, tf.float32) / self.first_decay_steps  # in lengths of the first wave
        ratio = tf.constant(self.t_mul, tf.float32)
        if self.t_mul == 1.0:
            wave = tf.floor(done)
            done = done - wave
        else:
            wave = tf.floor(tf.math.log(1.0 - done * (1.0 - ratio)) / tf.math.log(ratio))
            length = tf.pow(ratio, wave)
            done = (done - (1.0 - length) / (1.0 - ratio)) / length
        height = 0.5 * tf.pow(tf.constant(self.m_mul, tf.float32), wave)
        cosine = height * (1.0 + tf.cos(tf.constant(math.pi, tf.float32) * done))
        return self.initial_learning_rate * ((1 - self.alpha) * cosine + self.alpha)


class CosineDecay(_Decay, over="decay_steps"):
    """Half a cosine wave from ``initial_learning_rate`` down to ``alpha`` times it, over ``decay_steps``.

    With a ``warmup_target`` the rate first rises to it in a line over ``warmup_steps``, and the wave begins there.
    Raises ValueError unless ``decay_steps`` is positive.

    >>> import minitape as tf
    >>> rate = tf.keras.optimizers.schedules.CosineDecay(1.0, decay_steps=10)
    >>> [round(float(rate(step)), 4) for step in (0, 5, 10, 20)]
    [1.0, 0.5, 0.0, 0.0]
    >>> rate = tf.keras.optimizers.schedules.CosineDecay(0.0, 10, warmup_target=1.0, warmup_steps=4)
    >>> [round(float(rate(step)), 4) for step in (0, 2, 4, 9, 14)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    initial_learning_rate: float
    decay_steps: int
    alpha: float = 0.0
    name: str = "CosineDecay"
    warmup_target: float | None = None
    warmup_steps: int = 0

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        now = tf.cast(step, tf.float32)
        if self.warmup_target is None:
            return self._wave(now, self.initial_learning_rate)
        start, up = self.initial_learning_rate, float(self.warmup_steps)
        rising = (self.warmup_target - start) * tf.math.divide_no_nan(now, up) + start
        return tf.where(now < up, rising, self._wave(now - up, self.warmup_target))

    def _wave(self, step: Any, top: float) -> Any:
        part = tf.minimum(step, float(self.decay_steps)) / self.decay_steps
        wave = 0.5 * (1.0 + tf.cos(tf.constant(math.pi, tf.float32) * part))
        return top * ((1 - self.alpha) * wave + self.alpha)


class PolynomialDecay(_Decay, over="decay_steps"):
    """From ``initial_learning_rate`` to ``end_learning_rate`` over ``decay_steps``, as a power of the way left.

    With ``cycle`` it begins again, over twice, three times, ... as many steps. Raises ValueError unless
    ``decay_steps`` is positive.

    >>> import minitape as tf
    >>> rate = tf.keras.optimizers.schedules.PolynomialDecay(1.0, 10, end_learning_rate=0.0, power=2.0)
    >>> [float(rate(step)) for step in (0, 5, 10, 15)]
    [1.0, 0.25, 0.0, 0.0]
    """

    initial_learning_rate: float
    decay_steps: int
    end_learning_rate: float = 0.0001
    power: float = 1.0
    cycle: bool = False
    name: str = "PolynomialDecay"

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        now, steps = tf.cast(step, tf.float32), tf.constant(float(self.decay_steps))
        if self.cycle:
            steps = steps * tf.maximum(tf.math.ceil(now / self.decay_steps), 1.0)
        else:
            now = tf.minimum(now, steps)
        left = tf.pow(1.0 - now / steps, tf.constant(float(self.power)))
        return (self.initial_learning_rate - self.end_learning_rate) * left + self.end_learning_rate


class InverseTimeDecay(_Decay, over="decay_steps"):
    """``initial / (1 + decay_rate * step / decay_steps)``, in whole steps if ``staircase``.

    Raises ValueError unless ``decay_steps`` is positive.

    >>> import minitape as tf
    >>> float(tf.keras.optimizers.schedules.InverseTimeDecay(1.0, decay_steps=10, decay_rate=3.0)(10))
    0.25
    """

    initial_learning_rate: float
    decay_steps: int
    decay_rate: float
    staircase: bool = False
    name: str = "InverseTimeDecay"

    def __call__(self, step: Any) -> Any:
        """The learning rate at a step."""
        p = tf.cast(step, tf.float32) / self.decay_steps
        return self.initial_learning_rate / (1.0 + self.decay_rate * (tf.floor(p) if self.staircase else p))


_CLASSES = (CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay)
TABLE = {cls.__name__: cls for cls in _CLASSES}  # what a configuration may name
__all__ = """CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay
PolynomialDecay""".split()
__getattr__, __dir__ = public("tf.keras.optimizers.schedules", __all__)
