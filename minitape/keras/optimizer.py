"""The base class of optimizers: their variables, clipping, and one step.

The rule of an optimizer is a formula of values, written once: where a weight and its gradient hold floats of one type
it runs on their arrays, with one note for `explain`; on tensors in a graph, under a tape, and for the rows of an
embedding.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

from .. import tf
from ..engine.back.tape import _WARNS
from ..engine.hooks import hooks
from ..engine.recording.evidence import ASSIGNED, one_statement, origin_of_new
from ..engine.recording.rows import REALS
from ..engine.recording.state import state
from ..engine.table.fp import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.slices import IndexedSlices, dense_of
from ..engine.tensor.tensor import EagerTensor
from ..engine.tensor.variable import ResourceVariable
from ..engine.values.class_names import methods_of
from . import initializers
from .base import auto_name, convert, name_scope
from .variable import Variable


@methods_of("BaseOptimizer")
class Optimizer:
    """The base class: subclasses define ``build(variables)`` and ``update_step(gradient, variable, learning_rate)``.

    ``learning_rate`` is a float. Gradients can be clipped by ``clipvalue``, ``clipnorm`` (each) or ``global_clipnorm``
    (all together); ``weight_decay`` shrinks weights at each step. Raises ValueError for a learning rate of another
    type, for two kinds of clipping, and for arguments that are not known.

    >>> import minitape as tf
    >>> class Signs(tf.keras.optimizers.Optimizer):  # of the gradients' sums
    ...     def build(self, variables):
    ...         super().build(variables)
    ...         self.sums = [self.add_variable_from_reference(v, name="sum") for v in variables]
    ...     def update_step(self, gradient, variable, learning_rate):
    ...         total = self.sums[self._get_variable_index(variable)]
    ...         total.assign_add(gradient)
    ...         variable.assign_sub(learning_rate * tf.sign(total))
    >>> v, signs = tf.Variable(1.0), Signs(0.5)
    >>> signs.apply([tf.constant(-3.0)], [v])
    >>> int(signs.apply_gradients([(tf.constant(2.0), v)])), v.numpy(), signs.sums[0].numpy()
    (2, np.float32(2.0), np.float32(-1.0))
    """

    _warned: tuple = ()  # the variables that were warned of last, and in which words
    _rates: dict | None = None  # the learning rate for weights of each type, while a step is made
    _rows: IndexedSlices | None = None  # of an embedding's gradient, while its weight is changed
    _slots: tuple[list[ResourceVariable], ...] = ()  # for each weight the optimizer's own variables that the rule takes

    def __init__(
        self,
        learning_rate: Any,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        self.name = name or auto_name(type(self).__name__)
        if sum(a is not None for a in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                f"clipnorm={clipnorm}, clipvalue={clipvalue}, global_clipnorm={global_clipnorm}"
            )
        self.weight_decay, self.clipnorm, self.clipvalue = weight_decay, clipnorm, clipvalue
        self.global_clipnorm = global_clipnorm
        self.built = False
        self._variables: list[Variable] = []
        self._trainable_variables: list = []
        self._index: dict[int, int] = {}
        self._sparse: dict[int, IndexedSlices] = {}  # the rows of gradients of embeddings, by the id of the dense ones
        self.iterations = self.add_variable((), "zeros", "int64", "iteration")  # how many steps have been made
        if callable(learning_rate):
            raise ValueError(
                "minitape's optimizers have no schedules: give a float, and assign to `optimizer.learning_rate` "
                "between the "
                f"steps. Received: learning_rate={learning_rate}"
            )
        if not isinstance(learning_rate, float):
            raise ValueError(
                "Argument `learning_rate` should be float, or an instance of LearningRateSchedule, or a callable (that "
                "takes in the current iteration value and returns the corresponding learning rate value). Received "
                f"instead: learning_rate={learning_rate}"
            )
        self._learning_rate = self.add_variable((), initializers.Constant(learning_rate), name="learning_rate")

    # -- state -------------------------------------------------------------------------------------

    def add_variable(
        self, shape: Any, initializer: Any = "zeros", dtype: Any = None, name: str | None = None
    ) -> Variable:
        """A variable of the optimizer's own.

        >>> import minitape as tf
        >>> tf.keras.optimizers.SGD(0.1).add_variable((2,), name="sums").numpy()
        array([0., 0.], dtype=float32)
        """
        with name_scope(self.name, caller=self):
            made = Variable(initializers.get(initializer), shape, dtype, trainable=False, name=name)
        self._variables.append(made)
        return made

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Variable:
        """A variable of the shape and type of a weight, named after it.

        >>> import minitape as tf
        >>> optimizer = tf.keras.optimizers.SGD(0.1)
        >>> optimizer.add_variable_from_reference(tf.Variable([1.0, 2.0], name="w"), "speed").name
        'w_0_speed'
        """
        path = getattr(reference_variable, "path", None) or str(reference_variable.name).replace(":", "_")
        label = f"{path.replace('/', '_')}_{name or 'var'}"
        return self.add_variable(reference_variable.shape, initializer, _kind(reference_variable), label)

    def _slot(self, name: str, initializer: Any = "zeros") -> list[Variable]:
        """A variable for each weight."""
        return [self.add_variable_from_reference(v, name, initializer) for v in self._trainable_variables]

    def _get_variable_index(self, variable: Any) -> int:
        """The place of a weight in the lists of the optimizer's own variables: what ``update_step`` looks it up by."""
        return self._index[id(_first_given(variable))]

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's own variables: the step counter, the learning rate, momentums and so on."""
        return self._variables[:]

    @property
    def learning_rate(self) -> Variable:
        """The learning rate, a variable."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
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
        self._trainable_variables = [_first_given(v) for v in variables]
        self._index = {id(v): i for i, v in enumerate(self._trainable_variables)}
        kinds = self._make_slots()
        self._slots = tuple([kind[i].value for kind in kinds] for i in range(len(self._trainable_variables)))
        self.built = True

    def _make_slots(self) -> tuple:
        """The variables that the rule of the optimizer needs for each weight: a list for each argument of the rule."""
        return ()

    # -- a step ------------------------------------------------------------------------------------

    def apply_gradients(self, grads_and_vars: Any) -> Variable:
        """One step with pairs (gradient, weight); returns the number of steps made."""
        unzipped = list(zip(*grads_and_vars, strict=True))
        if not unzipped:  # as Python says it, where Keras unpacks them
            raise hooks.why_none(ValueError("not enough values to unpack (expected 2, got 0)"), [])
        grads, variables = unzipped
        self.apply(grads, variables)
        return self.iterations

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """One step, of the weights that the optimizer was built with where none are given.

        Weights without a gradient are left alone, with a warning; ValueError when none has one.
        """
        if len(grads) == 0:
            return
        if trainable_variables is None and not self.built:
            raise ValueError(
                "When passing `grads` without `variables`, the optimizer must already be built on a list of variables. "
                "Call `optimizer.build(trainable_variables)` first. "
            )
        variables = list(self._trainable_variables if trainable_variables is None else trainable_variables)
        if not self.built:
            with name_scope(self.name, caller=self):
                self.build(variables)
        for v in variables:
            if id(_first_given(v)) not in self._index:
                raise ValueError(
                    f"Unknown variable: {v}. This optimizer can only be called for the variables it was originally "
                    "built "
                    "with. When working with a new set of variables, you should recreate a new optimizer instance."
                )
        pairs = self._with_gradients(list(grads), variables)
        grads, variables = [g for g, _ in pairs], [v for _, v in pairs]
        if type(self).__module__.startswith("minitape."):
            with one_statement():
                self._update(grads, variables)
        else:  # its update_step is the user's text
            self._update(grads, variables)
        if _WARNS:
            hooks.warn_of_step(variables)
        self.iterations.value.assign_add(1)

    def _with_gradients(self, grads: list, variables: list) -> list[tuple]:
        pairs = list(zip(grads, variables, strict=True))
        missing = [getattr(v, "path", None) or v.name for g, v in pairs if g is None]
        if len(missing) == len(pairs):
            raise hooks.why_none(ValueError("No gradients provided for any variable."), variables)
        if missing:
            warnings.warn(self._told_of(missing, [v for g, v in pairs if g is None]), stacklevel=4)
        return [(g, v) for g, v in pairs if g is not None]

    def _told_of(self, missing: list[str], variables: list) -> str:
        """Keras' warning of gradients that do not exist, and why: which is asked once, for a step is taken many
        times.
        """
        if self._warned[:1] != (missing,):
            text = (
                f"Gradients do not exist for variables {missing} when minimizing the loss. If using "
                "`model.compile()`, did you forget to provide a `loss` argument?"
            )
            self._warned = missing, f"{text}\n{hooks.why_some_none(variables)}"
        return str(self._warned[1])

    def _update(self, grads: list, variables: list) -> None:
        """Clips, decays, and changes each weight."""
        clipped = self._clipped(grads)
        grads = [dense_of(g) for g in clipped]
        self._sparse = {id(d): g for d, g in zip(grads, clipped, strict=True) if d is not g}
        for v in variables if self.weight_decay is not None else ():
            v.assign(value_of(v) - value_of(v) * cast(self.weight_decay, v) * cast(self.learning_rate, v))
        self._rates = {}
        try:
            for g, v in zip(grads, variables, strict=True):
                self.update_step(g, v, self.learning_rate)
        finally:
            self._rates = None
        for v in variables:
            if getattr(v, "constraint", None) is not None:
                v.assign(v.constraint(v))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Changes one weight, and the optimizer's own variables for it."""
        slots = self._slots[self._get_variable_index(variable)]
        held = variable.value if type(variable) is Variable else variable
        if self._takes_arrays(gradient, held):
            self._step_on_arrays(gradient, held, slots, learning_rate)
            return
        self._rows = self._sparse.get(id(gradient))
        rate = self._rate_for(_kind(variable), value_of, lambda x: cast(x, variable), learning_rate)
        change, *states = self._rule(cast(gradient, variable), rate, *map(value_of, slots))
        for slot, value in zip(slots, states, strict=True):
            slot.assign(value)
        variable.assign_sub(change)

    def _takes_arrays(self, gradient: Any, held: Any) -> bool:
        """Whether the rule can run on arrays: no caller records it, and there is nothing to convert or to refuse."""
        if type(gradient) is not EagerTensor or type(held) is not ResourceVariable or id(gradient) in self._sparse:
            return False
        if state.record is not None or state.graph is not None or state.scratch or state.trying:
            return False
        g, w = gradient.array, held._state.array
        return g.dtype is w.dtype and g.dtype.type in REALS and g.shape == w.shape

    def _step_on_arrays(
        self, gradient: Any, held: ResourceVariable, slots: list[ResourceVariable], learning_rate: Any
    ) -> None:
        """The same on arrays; `explain` finds one note: of which gradient the weight was changed by, and where."""
        self._rows, w, g = None, _array_of(held), gradient.array
        before = WARNINGS[OFF]
        try:
            rate = self._rate_for(g.dtype.type, _array_of, g.dtype.type, learning_rate)
            change, *states = self._rule(g, rate, *[slot._state.array for slot in slots])
            new = w - change
        finally:
            restore_fp_errors(before)
        note = origin_of_new("assign_sub", (gradient, held), weakref.ref(held), step=ASSIGNED)
        _store(held, new, note)
        for slot, value in zip(slots, states, strict=True):
            _store(slot, value, note.with_detail(weakref.ref(slot)))

    def _rate_for(self, kind: Any, read: Any, number: Any, learning_rate: Any) -> Any:
        """``_rate``, which is the same in one step for all weights of a kind."""
        rates = {} if self._rates is None else self._rates  # `update_step` may be called by itself
        if kind not in rates:
            rates[kind] = self._rate(read, number, learning_rate)
        return rates[kind]

    def _rate(self, read: Callable[[Any], Any], number: Callable[[Any], Any], learning_rate: Any) -> Any:
        """The learning rate as a value of a weight's type; ``read`` gives the value of a variable, ``number`` converts
        it.
        """
        return number(read(learning_rate))

    def _rule(self, g: Any, rate: Any, *states: Any) -> tuple:
        """What a weight loses, and the new values of its variables, from the gradient: of arrays or of tensors."""
        raise NotImplementedError

    def _clipped(self, grads: list) -> list:
        """The gradients clipped; what counts of an embedding's are its rows as they came, not their sums."""
        if not (self.global_clipnorm or self.clipnorm or self.clipvalue):
            return grads
        values = [g.values if type(g) is IndexedSlices else g for g in grads]
        if self.global_clipnorm:  # this one gives sums for rows, as in Keras
            dense = [dense_of(g) for g in grads]
            return list(tf.clip_by_global_norm(dense, self.global_clipnorm, tf.linalg.global_norm(values))[0])
        if self.clipnorm:
            values = [tf.clip_by_norm(g, self.clipnorm) for g in values]
        elif self.clipvalue:
            values = [tf.clip_by_value(g, -self.clipvalue, self.clipvalue) for g in values]
        return [
            IndexedSlices(v, g.indices, g.dense_shape) if type(g) is IndexedSlices else v
            for g, v in zip(grads, values, strict=True)
        ]

    def _squared(self, g: Any) -> Any:
        """The squares of a gradient; of the rows of an embedding each by itself, as in Keras."""
        rows = self._rows
        if rows is None:
            return g * g
        return convert(IndexedSlices(rows.values * rows.values, rows.indices, rows.dense_shape).dense(), g.dtype.name)


def _first_given(variable: Any) -> Any:
    """The variable itself; of an argument of a function that is traced, the variable that was given first."""
    return getattr(variable, "first", variable)


def _kind(variable: Any) -> str:
    """The name of the type of a variable, of Keras or of TensorFlow."""
    return str(getattr(variable.dtype, "name", variable.dtype))


def value_of(x: Any) -> Any:
    """The value of a variable as a tensor; anything else as it is."""
    return x._read() if hasattr(x, "_read") else x


def _array_of(x: Any) -> Any:
    value = value_of(x)
    return value.array if type(value) is EagerTensor else value


def _store(held: ResourceVariable, array: Any, note: Any) -> None:
    """Give a variable its next state, whose origin is noted already."""
    held._version += 1
    held._set(array)
    held._state._origin = note


def cast(value: Any, variable: Any) -> Any:
    """A number or tensor in the type of a variable."""
    return convert(value, _kind(variable))
