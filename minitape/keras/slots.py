"""The variables of an optimizer: its own, and those that it keeps for each weight."""

from __future__ import annotations

from typing import Any

from ..engine.shown import methods_of
from . import initializers
from .base import convert, name_scope
from .variable import Variable


def first_given(variable: Any) -> Any:
    """The variable itself; of an argument of a function that is traced, the variable that was given first."""
    return getattr(variable, "first", variable)


@methods_of("BaseOptimizer")
class Slots:
    """The part of an optimizer that makes and changes variables."""

    name: str
    _variables: list[Variable]
    _trainable_variables: list[Any]
    _index: dict[int, int]

    def _own(self, value: Any, name: str | None, dtype: str) -> Variable:
        with name_scope(self.name, caller=self):
            made = Variable(convert(value, dtype), dtype=dtype, trainable=False, name=name)
        self._variables.append(made)
        return made

    def add_variable(
        self, shape: Any, initializer: Any = "zeros", dtype: Any = None, aggregation: str = "none", name: Any = None
    ) -> Variable:
        """A variable of the optimizer's own."""
        with name_scope(self.name, caller=self):
            made = Variable(initializers.get(initializer), shape, dtype, False, aggregation=aggregation, name=name)
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
        kind = getattr(reference_variable.dtype, "name", reference_variable.dtype)
        label = f"{path.replace('/', '_')}_{name or 'var'}"
        return self.add_variable(reference_variable.shape, initializer, kind, name=label)

    def add_optimizer_variables(self, trainable_variables: Any, name: Any, initializer: Any = "zeros") -> Any:
        """A list with a variable for each weight; for a list of names (and of initializers) one such list for each.

        Raises ValueError for another number of initializers than names.
        """
        names = [name] if isinstance(name, str) else list(name)
        starts = list(initializer) if isinstance(initializer, (list, tuple)) else [initializer] * len(names)
        if len(names) != len(starts):
            raise ValueError(
                "The number of provided names must match the number of provided initializers.  Received "
                f"name='{name}', initializer='{initializer}'"
            )
        made: tuple[list[Variable], ...] = tuple([] for _ in names)
        for weight in trainable_variables:
            for slot, called, start in zip(made, names, starts, strict=True):
                slot.append(self.add_variable_from_reference(weight, called, start))
        return made[0] if isinstance(name, str) else made

    def _slots(self, *names: str, initializer: Any = "zeros") -> tuple[list[Variable], ...]:
        """For each name a list with a variable for each weight; ``initializer`` is one for all, or a list with its own."""
        starts = initializer if isinstance(initializer, list) else [initializer] * len(names)
        made: tuple[list[Variable], ...] = self.add_optimizer_variables(self._trainable_variables, names, starts)
        return made

    def _get_variable_index(self, variable: Any) -> int:
        """The place of a weight in the lists of the optimizer's own variables: what ``update_step`` looks it up by."""
        return self._index[id(first_given(variable))]

    def _of(self, slot: list[Variable], variable: Any) -> Variable:
        return slot[self._get_variable_index(variable)]

    def assign(self, variable: Any, value: Any) -> None:
        """Sets a weight, or a variable of the optimizer's own."""
        variable.assign(value)

    def assign_add(self, variable: Any, value: Any) -> None:
        """Adds to a weight, or to a variable of the optimizer's own."""
        variable.assign_add(value)

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtracts from a weight, or from a variable of the optimizer's own."""
        variable.assign_sub(value)
