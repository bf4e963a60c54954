"""Variables as arguments of ``tf.function``: one trace serves all variables of one kind.

While a function is traced a :class:`GivenVariable` stands for each variable that it was given. Its rows read and assign
what the variable of the running call holds. Inside other graphs a call is traced for its very variables instead.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..engine import nest
from ..engine.block import block
from ..engine.shape import TensorShape
from ..engine.state import state
from ..engine.variable import ResourceVariable, _numbers


@dataclass(frozen=True)
class VariableSpec:
    """What a trace tells variables apart by; ``alias_id`` says which of the arguments are one variable."""

    shape: TensorShape
    dtype: Any
    trainable: bool
    alias_id: int

    def __hash__(self) -> int:
        return hash((self.dtype, self.trainable, self.alias_id))

    def __repr__(self) -> str:
        return f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={self.trainable}, alias_id={self.alias_id})"

    def fits(self, value: Any) -> bool:
        """True for a variable of this kind."""
        return is_given(value) and (value.shape, value.dtype, value.trainable) == (
            self.shape,
            self.dtype,
            self.trainable,
        )


def is_given(value: Any) -> bool:
    """True for variables that a trace takes as arguments."""
    return type(value) is ResourceVariable


class GivenVariable(ResourceVariable):
    """Stands for a variable while a function is traced; in a call it is the one that was given there.

    Who kept it beyond that has the variable of the first call, as in TensorFlow.
    """

    _shown = ResourceVariable._shown

    def __init__(self, spec: VariableSpec, first: Any) -> None:
        self._spec, self._shape, self._trainable, self._name = spec, spec.shape, spec.trainable, first._name
        self._first = weakref.ref(first)
        self._synchronization = self._aggregation = self.constraint = None
        self._number, self._calls = next(_numbers), threading.local()

    dtype = property(lambda self: self._spec.dtype, doc="The type of the elements.")
    _state = property(lambda self: self.bound._state)
    _version = property(lambda self: self.bound._version, lambda self, number: setattr(self.bound, "_version", number))
    _seen = None  # read anew each time

    @property
    def bound(self) -> Any:
        """The variable of the call that runs; of the first call where none runs. RuntimeError where that is gone."""
        variable = getattr(self._calls, "variable", None)
        if variable is None and (variable := self._first()) is None:
            raise RuntimeError(
                f"{self.name} stands for a variable that a tf.function was given, and that variable is gone. "
                "Keep the variable itself, not what the function sees of it."
            )
        return variable

    def __repr__(self) -> str:
        gone = getattr(self._calls, "variable", None) is None and self._first() is None
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>" if gone else super().__repr__()

    @property
    def first(self) -> Any:
        """The variable of the first call, as long as there is one."""
        variable = self._first()
        return self if variable is None else variable

    def _set(self, array: Any) -> None:
        self.bound._set(array)

    def _read(self) -> Any:
        return super()._read() if state.graph is not None else self.bound._read()


def with_specs(values: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The arguments with specs in the place of variables, and these variables, each once."""
    known: list[Any] = []

    def leaf(value: Any) -> Any:
        if not is_given(value):
            return value
        at = next((i for i, v in enumerate(known) if v is value), len(known))
        if at == len(known):
            known.append(value)
        return VariableSpec(value.shape, value.dtype, value.trainable, at)

    def part(value: Any) -> Any:
        if isinstance(value, dict):  # in their own order, not in that of their keys
            found = {key: part(v) for key, v in value.items()}
            return nest.map_structure(lambda _, new: new, value, found) if type(value) is not dict else found
        return nest.map_structure(leaf, value)

    if state.graph is not None or not any(is_given(v) for v in nest.flatten(values)):
        return values, known
    return {name: part(value) for name, value in values.items()}, known


GivenVariable.__name__ = GivenVariable.__qualname__ = "ResourceVariable"  # what a program sees while it is traced


class Slots:
    """The stand-ins of one trace, by alias; ``given`` are the variables of the call that is traced."""

    def __init__(self, given: Sequence[Any]) -> None:
        self._given = given
        self.variables: dict[int, GivenVariable] = {}

    def of(self, spec: VariableSpec) -> GivenVariable:
        """The stand-in for arguments of this spec."""
        at = spec.alias_id
        if at not in self.variables:
            self.variables[at] = GivenVariable(spec, self._given[at])
        return self.variables[at]

    def traced(self) -> Slots:
        """These stand-ins, when the trace is made: the variables of its call are let go."""
        self._given = ()
        return self

    def now(self, variable: Any) -> Any:
        """The variable itself in the call that runs, where a stand-in is meant."""
        return variable.bound if isinstance(variable, GivenVariable) else variable

    def given(self) -> list[Any]:
        """The variables of the call that runs."""
        return [self.variables[i].bound for i in range(len(self.variables))]

    @block
    def bound(self, variables: Sequence[Any]) -> Iterator[None]:
        """In the block the stand-ins are these variables."""
        slots = [self.variables[i] for i in range(len(variables))]
        before = [getattr(slot._calls, "variable", None) for slot in slots]
        for slot, variable in zip(slots, variables, strict=True):
            slot._calls.variable = variable
        try:
            yield
        finally:
            for slot, variable in zip(slots, before, strict=True):
                slot._calls.variable = variable
