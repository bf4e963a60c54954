"""Partial changes of variables: scatter updates, and ``v[...].assign``."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING

from ..recording.state import first_run
from ..table.primitives import TABLE
from .convert import convert_to_tensor
from .operation import apply
from .tensor import SLICES

if TYPE_CHECKING:
    from ..types import Function, Index, Value
    from .tensor import Tensor
    from .variable import ResourceVariable, UnreadVariable


def assigner(variable: ResourceVariable, spec: tuple[Index, ...]) -> Function:
    """The function that changes the part of ``variable`` that the NumPy index ``spec`` selects."""

    def assign(value: Value, name: str | None = None) -> UnreadVariable | None:
        part, update = convert_to_tensor(value, variable.dtype), TABLE["slice_update"]
        if first_run() is not None:
            return variable._assign(apply(update, (variable._read(), part), {"spec": spec}), "assign")
        return variable._change_part(partial(update.forward, spec=spec), part)

    return assign


def attach(tensor: Tensor, assign: Function) -> None:
    """Makes ``tensor.assign(value)`` change the variable of which ``tensor`` is a part."""
    key = id(tensor)
    SLICES[key] = weakref.ref(tensor, lambda _: SLICES.pop(key, None)), assign
