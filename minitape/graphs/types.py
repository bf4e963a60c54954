"""What the functions of this package take and give, where Python has no type for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.recording.rows import Call
    from ..engine.types import Array, Function
    from ..engine.values.dtypes import DType
    from ..engine.values.shape import TensorShape
    from .loops import _Elements, _Numbers
    pass

    Tensors: TypeAlias = Sequence  # of a graph, or eager ones where its rows are run again
    Arrays: TypeAlias = Sequence[Array]  # the values of rows
    Variable: TypeAlias = Any  # of ``tf`` or of Keras
    Test: TypeAlias = Any  # what decides: a tensor, or what Python takes for true or false
    Names: TypeAlias = dict[str, Any]  # arguments, or variables of Python, by name
    Arguments: TypeAlias = tuple  # of a call, by place
    Getter: TypeAlias = Callable[[], tuple]  # gives the values of Python's names around a branch or loop
    Setter: TypeAlias = Callable[[tuple], None]  # gives them others
    Specs: TypeAlias = Sequence[tuple[TensorShape, DType]]  # what a graph knows of several outputs
    Steps: TypeAlias = list[tuple[Call, Function | None]]  # calls to run again, with their functions of the table
    Notes: TypeAlias = dict[int, Any]  # what rows with effects gave when they ran
    Tapes: TypeAlias = Sequence[GradientTape]
    Walk: TypeAlias = _Elements | _Numbers  # what a loop goes along
