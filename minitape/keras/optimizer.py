"""The base class of optimizers: their variables, clipping, averages, and one step."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from .. import tf
from ..engine.above import above
from ..engine.evidence import one_statement
from ..engine.shown import methods_of
from ..engine.slices import IndexedSlices
from ..engine.tape import _WARNS
from ..tf.awaited import resume
from . import schedules
from .base import auto_name, convert, floatx, name_scope
from .serial import known, lookup, plain
from .slots import Slots, first_given
from .variable import Variable

SHARED = tuple(
    "weight_decay clipnorm global_clipnorm clipvalue use_ema ema_momentum ema_overwrite_frequency loss_scale_factor "
    "gradient_accumulation_steps".split()
)


@methods_of("BaseOptimizer")
class Optimizer(Slots):
    """The base class: subclasses define ``build(variables)`` and ``update_step(gradient, variable, learning_rate)``.

    ``learning_rate`` is a float, a schedule, or a function of nothing. Gradients can be clipped by ``clipvalue``,
    ``clipnorm`` (each) or ``global_clipnorm`` (all together); ``weight_decay`` shrinks weights at each step;
    ``loss_scale_factor`` is what ``scale_loss`` multiplies by and a step divides by. With
    ``gradient_accumulation_steps`` only every so many steps change the weights, by the mean of the gradients.
    ``use_ema`` keeps moving averages of the weights, which take their place every ``ema_overwrite_frequency`` steps and
    with ``finalize_variable_values``. Raises ValueError for a learning rate of another type, for two kinds of clipping,
    and for settings of averages and accumulation that are out of range.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.5)
    >>> _ = optimizer.apply_gradients([(tf.constant(1.0), v)])
    >>> v.numpy()
    np.float32(0.5)
    >>> class Signs(tf.keras.optimizers.Optimizer):  # of the gradients' sums
    ...     def build(self, variables):
    ...         self.sums = self.add_optimizer_variables(variables, "sum")
    ...         self.calls = self.add_variable((), name="calls")
    ...         super().build(variables)
    ...     def update_step(self, gradient, variable, learning_rate):
    ...         total = self.sums[self._get_variable_index(variable)]
    ...         self.assign_add(total, gradient)
    ...         self.assign_sub(variable, learning_rate * tf.sign(total))
    ...         self.assign(self.calls, self.iterations)
    >>> signs = Signs(0.5)
    >>> for gradient in (-3.0, 2.0):
    ...     signs.apply([tf.constant(gradient)], [v])
    >>> v.numpy(), signs.sums[0].numpy(), signs.calls.numpy()
    (np.float32(1.5), np.float32(-1.0), np.float32(1.0))
    """

    _checkpointed: frozenset[str] = frozenset()

    def __init__(
        self,
        learning_rate: Any,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if kwargs.pop("decay", None) is not None:
            warnings.warn("Argument `decay` is no longer supported and will be ignored.", stacklevel=2)
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        self.name = name or auto_name(type(self).__name__)
        _check_settings(use_ema, ema_momentum, ema_overwrite_frequency, gradient_accumulation_steps)
        if sum(a is not None for a in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                f"clipnorm={clipnorm}, clipvalue={clipvalue}, global_clipnorm={global_clipnorm}"
            )
        self.weight_decay, self.clipnorm, self.clipvalue = weight_decay, clipnorm, clipvalue
        self.global_clipnorm, self.loss_scale_factor = global_clipnorm, loss_scale_factor
        self.use_ema, self.ema_momentum, self.ema_overwrite_frequency = use_ema, ema_momentum, ema_overwrite_frequency
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.built = False
        self._variables: list[Variable] = []
        self._trainable_variables: list[Any] = []
        self._index: dict[int, int] = {}
        self._iterations = self._own(0, "iteration", "int64")
        if callable(learning_rate):
            self._learning_rate = learning_rate
        elif isinstance(learning_rate, float):
            self._learning_rate = self._own(learning_rate, "learning_rate", floatx())
        else:
            raise ValueError(
                "Argument `learning_rate` should be float, or an instance of LearningRateSchedule, or a callable (that "
                "takes in the current iteration value and returns the corresponding learning rate value). Received "
                f"instead: learning_rate={learning_rate}"
            )

    # -- state --------------------------------------------------------------------------------------------------------

    @property
    def iterations(self) -> Any:
        """How many steps have changed the weights: an int64 variable, or a tensor where gradients are accumulated."""
        if self.gradient_accumulation_steps:
            return self._iterations // self.gradient_accumulation_steps
        return self._iterations

    def _steps(self) -> Any:
        """The same as a tensor."""
        return value_of(self.iterations) if isinstance(self.iterations, Variable) else self.iterations

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's own variables: the step counter, the learning rate, momentums and so on."""
        return self._variables[:]

    @property
    def learning_rate(self) -> Any:
        """The learning rate: a variable, or what the schedule says now."""
        rate = self._learning_rate
        if isinstance(rate, Variable):
            return rate
        return rate(self.iterations) if hasattr(rate, "get_config") else rate()

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(value):
            self._learning_rate = value
        elif not isinstance(self._learning_rate, Variable):
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor "
                "argument, hence its learning rate is not settable. If you need the learning rate to be settable, you "
                "should instantiate the optimizer with a float `learning_rate` argument."
            )
        else:
            self._learning_rate.assign(value)

    def build(self, variables: Any) -> None:
        """Makes the optimizer's own variables for these weights, once.

        >>> import minitape as tf
        >>> v = tf.Variable([1.0, 2.0], name="v")
        >>> optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
        >>> optimizer.build([v])
        >>> [own.name for own in optimizer.variables]
        ['iteration', 'learning_rate', 'v_0_momentum']
        """
        if self.built:
            return
        self._trainable_variables = [first_given(v) for v in variables]
        self._index = {id(v): i for i, v in enumerate(self._trainable_variables)}
        if self.use_ema:
            (self._ema_weights,) = self._slots("average")
        if self.gradient_accumulation_steps:
            (self._gradient_sums,) = self._slots("gradient_accumulator")
        self._make_slots()
        self.built = True
        resume(self)

    def _make_slots(self) -> None:
        """Makes the variables that the rule of the optimizer needs for each weight."""

    def exclude_from_weight_decay(self, var_list: Any = None, var_names: Any = None) -> None:
        """Spares these weights from ``weight_decay``, and those whose name holds one of ``var_names``.

        Raises ValueError once the optimizer is built.

        >>> import minitape as tf
        >>> w, bias = tf.Variable(1.0), tf.Variable(1.0)
        >>> optimizer = tf.keras.optimizers.SGD(0.5, weight_decay=0.5)
        >>> optimizer.exclude_from_weight_decay([bias])
        >>> optimizer.apply([tf.constant(0.0)] * 2, [w, bias])
        >>> w.numpy(), bias.numpy()
        (np.float32(0.75), np.float32(1.0))
        """
        if self.built:
            raise ValueError("`exclude_from_weight_decay()` can only be configured before the optimizer is built.")
        self._spared, self._spared_names = {id(v) for v in var_list or ()}, tuple(var_names or ())

    _warned: tuple[Any, ...] = ()  # the variables that were warned of last, and in which words
    _spared: set[int] = frozenset()
    _spared_names: tuple[str, ...] = ()

    def _decays(self, variable: Any) -> bool:
        named = any(re.search(name, variable.name) for name in self._spared_names)
        return id(first_given(variable)) not in self._spared and not named

    # -- a step -------------------------------------------------------------------------------------------------------

    def apply_gradients(self, grads_and_vars: Any) -> Variable:
        """One step with pairs (gradient, weight); returns the number of steps made."""
        unzipped = list(zip(*grads_and_vars, strict=True))
        if not unzipped:  # as Python says it, where Keras unpacks them
            raise above.why_none(ValueError("not enough values to unpack (expected 2, got 0)"), [])
        grads, variables = unzipped
        self.apply(grads, variables)
        return self._iterations

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """One step. Weights without a gradient are left alone, with a warning; ValueError when none has one."""
        if len(grads) == 0:
            return
        variables = self._known(grads) if trainable_variables is None else list(trainable_variables)
        if not self.built:
            with name_scope(self.name, caller=self):
                self.build(variables)
        for v in variables:
            if id(first_given(v)) not in self._index:
                raise ValueError(
                    f"Unknown variable: {v}. This optimizer can only be called for the variables it was originally built "
                    "with. When working with a new set of variables, you should recreate a new optimizer instance."
                )
        pairs = self._with_gradients(list(grads), variables)
        grads = [g if self.loss_scale_factor is None else g / self.loss_scale_factor for g, _ in pairs]
        variables = [v for _, v in pairs]
        step = self._accumulate if self.gradient_accumulation_steps else self._update
        if type(self).__module__.startswith("minitape."):
            with one_statement():
                step(grads, variables)
        else:  # its update_step is the user's text
            step(grads, variables)
        if _WARNS:
            above.warn_of_step(variables)
        if self.use_ema:
            self._average()
        for v in variables:
            if getattr(v, "constraint", None) is not None:
                v.assign(v.constraint(v))
        self._iterations.assign_add(1)

    def _known(self, grads: Any) -> list[Any]:
        """The weights that the optimizer was built with; ValueError before that, and for another number of gradients."""
        if not self.built:
            raise ValueError(
                "When passing `grads` without `variables`, the optimizer must already be built on a list of variables. "
                "Call `optimizer.build(trainable_variables)` first. "
            )
        if len(grads) != len(self._trainable_variables):
            raise ValueError(
                "When passing `grads` as a list of gradient tensors, the gradients must match `optimizer.variables` "
                f"one-to-on. Received a list of {len(grads)} gradients, but the optimizer is tracking "
                f"{len(self._trainable_variables)} trainable variables."
            )
        return self._trainable_variables

    def _update(self, grads: list[Any], variables: list[Any]) -> None:
        """Clips, decays, and changes each weight."""
        clipped = self._clipped(grads)
        grads = [_dense(g) for g in clipped]
        self._sparse = {id(d): g for d, g in zip(grads, clipped, strict=True) if d is not g}
        self._decay(variables)
        self._begin_step()
        rate = self.learning_rate
        self._step = {}
        try:
            for g, v in zip(grads, variables, strict=True):
                self.update_step(g, v, rate)
        finally:
            self._step = None

    def _accumulate(self, grads: list[Any], variables: list[Any]) -> None:
        """Adds the gradients up; every so many steps their mean changes the weights."""
        sums = [self._of(self._gradient_sums, v) for v in variables]
        totals = [_dense(g) + value_of(total) for g, total in zip(grads, sums, strict=True)]

        def due() -> None:
            self._update([total / self.gradient_accumulation_steps for total in totals], variables)
            for kept in self._gradient_sums:
                kept.assign(tf.zeros_like(value_of(kept)))

        def not_yet() -> None:
            for kept, total in zip(sums, totals, strict=True):
                kept.assign(total)

        tf.cond((self._iterations + 1) % self.gradient_accumulation_steps == 0, due, not_yet)

    def _average(self) -> None:
        """Moves the averages towards the weights; every so many steps they take their place."""
        for v, average in zip(self._trainable_variables, self._ema_weights, strict=True):
            fresh = convert(self.iterations == 0, average.dtype)  # the first average is the weight itself
            momentum = convert(self.ema_momentum, average.dtype) * (1.0 - fresh)
            average.assign(momentum * value_of(average) + (1.0 - momentum) * value_of(v))
        if self.ema_overwrite_frequency:
            due = (self.iterations + 1) % self.ema_overwrite_frequency == 0
            tf.cond(due, lambda: self._overwrite(self._trainable_variables), lambda: None)

    def _overwrite(self, variables: Any) -> None:
        for v in variables:
            v.assign(value_of(self._of(self._ema_weights, v)))

    def finalize_variable_values(self, var_list: Any) -> None:
        """Gives these weights their moving averages, where the optimizer keeps them; ``fit`` does so at its end.

        >>> import minitape as tf
        >>> w = tf.Variable(0.0)
        >>> optimizer = tf.keras.optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5)
        >>> for _ in range(3):
        ...     optimizer.apply([tf.constant(-1.0)], [w])
        >>> before = w.numpy()
        >>> optimizer.finalize_variable_values([w])
        >>> before, w.numpy()
        (np.float32(3.0), np.float32(2.25))
        """
        if self.use_ema and self.built:
            self._overwrite(var_list)

    def _with_gradients(self, grads: list[Any], variables: list[Any]) -> list[tuple[Any, Any]]:
        pairs = list(zip(grads, variables, strict=True))
        missing = [getattr(v, "path", None) or v.name for g, v in pairs if g is None]
        if len(missing) == len(pairs):
            raise above.why_none(ValueError("No gradients provided for any variable."), variables)
        if missing:
            warnings.warn(self._told_of(missing, [v for g, v in pairs if g is None]), stacklevel=4)
        return [(g, v) for g, v in pairs if g is not None]

    def _told_of(self, missing: list[str], variables: list[Any]) -> str:
        """Keras' warning of gradients that do not exist, and why: which is asked once, for a step is taken many times."""
        if self._warned[:1] != (missing,):
            text = (f"Gradients do not exist for variables {missing} when minimizing the loss. If using "
                    "`model.compile()`, did you forget to provide a `loss` argument?")  # fmt: skip
            self._warned = missing, f"{text}\n{above.why_some_none(variables)}"
        return self._warned[1]

    def _clipped(self, grads: list[Any]) -> list[Any]:
        """The gradients clipped; what counts of an embedding's are its rows as they came, not their sums."""
        values = [_rows(g) for g in grads]
        if self.global_clipnorm:  # this one gives sums for rows, as in Keras
            dense, norm = [_dense(g) for g in grads], tf.linalg.global_norm(values)
            return list(tf.clip_by_global_norm(dense, self.global_clipnorm, norm)[0])
        if self.clipnorm:
            values = [tf.clip_by_norm(g, self.clipnorm) for g in values]
        elif self.clipvalue:
            values = [tf.clip_by_value(g, -self.clipvalue, self.clipvalue) for g in values]
        return [_with_rows(g, v) for g, v in zip(grads, values, strict=True)]

    def _decay(self, variables: list[Any]) -> None:
        if self.weight_decay is None:
            return
        for v in filter(self._decays, variables):
            kind = getattr(v.dtype, "name", v.dtype)
            v.assign(value_of(v) - value_of(v) * convert(self.weight_decay, kind) * convert(self.learning_rate, kind))

    def _by_rows(self, change: Callable[[Any], Any], gradient: Any, variable: Any) -> Any:
        """What ``change`` makes of a gradient; of the rows of an embedding each by itself, as in Keras."""
        rows = self._sparse.get(id(gradient))
        if rows is None:
            return change(cast(gradient, variable))
        return cast(IndexedSlices(change(rows.values), rows.indices, rows.dense_shape).dense(), variable)

    def _squared(self, gradient: Any, variable: Any) -> Any:
        """The squares of a gradient."""
        return self._by_rows(lambda g: g * g, gradient, variable)

    _step: dict[Any, Any] | None = None  # what the weights of a step share, while it is made

    def _once(self, function: Any, variable: Any, learning_rate: Any) -> Any:
        """``function(variable, learning_rate)``, which is the same in one step for all weights of a type."""
        if self._step is None:  # `update_step` was called by itself
            return function(variable, learning_rate)
        key = function, getattr(variable.dtype, "name", variable.dtype)
        if key not in self._step:
            self._step[key] = function(variable, learning_rate)
        return self._step[key]

    def _begin_step(self) -> None:
        """What a step does once, before it changes the weights."""

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight."""
        raise NotImplementedError

    def scale_loss(self, loss: Any) -> Any:
        """The loss times ``loss_scale_factor``.

        >>> import minitape as tf
        >>> tf.keras.optimizers.SGD(loss_scale_factor=8.0).scale_loss(tf.constant(2.0)).numpy()
        np.float32(16.0)
        """
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this.

        >>> import minitape as tf
        >>> config = tf.keras.optimizers.SGD(0.5, momentum=0.25).get_config()
        >>> config["learning_rate"], config["momentum"]
        (0.5, 0.25)
        """
        rate = self._learning_rate
        config = {"name": self.name, "learning_rate": float(rate.numpy()) if isinstance(rate, Variable) else rate}
        if hasattr(rate, "get_config"):
            config["learning_rate"] = plain(rate)
        config.update({name: getattr(self, name) for name in SHARED})
        config.update({name: getattr(self, name) for name in self._settings})
        return config

    _settings: tuple[str, ...] = ()

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Optimizer:
        """The optimizer with these arguments; ValueError for a learning rate schedule that is not known.

        >>> import minitape as tf
        >>> config = tf.keras.optimizers.SGD(0.5, momentum=0.25).get_config()
        >>> tf.keras.optimizers.SGD.from_config(config).momentum
        0.25
        """
        rate = config.get("learning_rate")
        if isinstance(rate, dict):
            with known(custom_objects):
                rate = lookup("learning rate schedule", rate, schedules.TABLE)
            config = {**config, "learning_rate": rate}
        return cls(**config)


class Moments(Optimizer):
    """What is set for optimizers of two moments: how fast each fades, and what keeps the quotient finite."""

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

    def _make_slots(self) -> None:
        """Makes momentums and velocities."""
        self._momentums, self._velocities = self._slots("momentum", "velocity")

    def _moved(self, gradient: Any, variable: Any, beta_1: Any, beta_2: Any) -> tuple[Any, Any]:
        """The means of a weight's gradients and of their squares, which this gradient has moved."""
        m, v = self._of(self._momentums, variable), self._of(self._velocities, variable)
        m.assign_add((cast(gradient, variable) - value_of(m)) * (1 - beta_1))
        v.assign_add((self._squared(gradient, variable) - value_of(v)) * (1 - beta_2))
        return m, v


def _check_settings(use_ema: bool, momentum: float, frequency: Any, accumulation: Any) -> None:
    """Raises ValueError for averages and an accumulation that cannot be."""
    if use_ema:
        if momentum > 1 or momentum < 0:
            raise ValueError(f"`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={momentum}")
        if frequency and (not isinstance(frequency, int) or frequency < 1):
            raise ValueError(
                "`ema_overwrite_frequency` must be an integer >= 1 or None. Received: "
                f"ema_overwrite_frequency={frequency}"
            )
    if accumulation and not accumulation >= 2:
        raise ValueError(
            "`gradient_accumulation_steps` must be an integer >= 2. Received: "
            f"gradient_accumulation_steps={accumulation}"
        )


def value_of(variable: Any) -> Any:
    """The value as a tensor."""
    return variable._read()


def _rows(gradient: Any) -> Any:
    return gradient.values if type(gradient) is IndexedSlices else gradient


def _with_rows(gradient: Any, values: Any) -> Any:
    if type(gradient) is not IndexedSlices:
        return values
    return IndexedSlices(values, gradient.indices, gradient.dense_shape)


def _dense(gradient: Any) -> Any:
    return gradient.dense() if type(gradient) is IndexedSlices else gradient


def cast(value: Any, variable: Any) -> Any:
    """A number or tensor in the type of a variable."""
    return convert(value, getattr(variable.dtype, "name", variable.dtype))
