"""The recorder of a thread: a recording, the first run of a function, or none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .state import state

if TYPE_CHECKING:
    from ..tensor.tensor import Tensor
    from ..tensor.variable import ResourceVariable
    from ..types import Assigned, Object


class Recorder:
    """Operations on variables without a recording; recordings and first runs of functions override them."""

    __slots__ = ()

    def create(self, variable: ResourceVariable, *given: Object) -> None:
        """Initializes a variable from its arguments."""
        variable._begin(*given)

    def read(self, variable: ResourceVariable, accessed: bool = True) -> Tensor:
        """The current state as a tensor. Where it is ``accessed``, tapes begin to watch a trainable variable."""
        return variable._state

    def assign(self, variable: ResourceVariable, change: Tensor, how: str, read_value: bool) -> Assigned:
        """Sets a new state, or adds to the old one: ``how`` is the name of the variable's method."""
        return variable._set_or_add(change, how, read_value)


NO_RECORDER = Recorder()


def recorder() -> Recorder:
    """The recorder of this thread now."""
    record = state.record
    return NO_RECORDER if record is None else record.trace or record
