"""Partial changes of variables: scatter updates, and ``v[...].assign``."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ..recording.recorder import recorder
from ..table.primitives import TABLE
from .convert import convert_to_tensor
from .tensor import SLICES

if TYPE_CHECKING:
    from ..types import Assigned, Function, Index, Value
    from .tensor import Tensor
    from .variable import ResourceVariable


def assigner(variable: ResourceVariable, spec: tuple[Index, ...]) -> Function:
    """What changes the part of ``variable`` that the NumPy index ``spec`` selects."""

    def assign(value: Value, name: str | None = None) -> Assigned:
        inputs = (convert_to_tensor(value, variable.dtype),)
        return recorder().update(
            variable, TABLE["slice_update"], inputs, {"spec": spec}, "assign", lambda value: (value,)
        )

    return assign


def attach(tensor: Tensor, assign: Function) -> None:
    """Makes ``tensor.assign(value)`` change the variable of which ``tensor`` is a part."""
    key = id(tensor)
    SLICES[key] = weakref.ref(tensor, lambda _: SLICES.pop(key, None)), assign
