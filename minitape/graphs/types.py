"""What the functions of this package take and give, where Python has no type for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from ..engine.types import Array

    Tensors: TypeAlias = Sequence[Any]  # of a graph, or eager ones where its rows are run again
    Arrays: TypeAlias = Sequence[Array]  # the values of rows
    Variable: TypeAlias = Any  # of ``tf`` or of Keras
    Test: TypeAlias = Any  # what decides: a tensor, or what Python takes for true or false
    Names: TypeAlias = dict[str, Any]  # arguments, or variables of Python, by name
