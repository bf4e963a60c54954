"""What assignments return while a graph is being built."""

from __future__ import annotations

from typing import Any

from ..engine.recording.state import state
from ..engine.tensor.variable import UnreadVariable


class AssignedVariable(UnreadVariable):
    """What ``assign`` and its kin return in a graph: the variable, to be read after the assignment."""

    __module__ = "tensorflow.python.ops.resource_variable_ops"

    def __init__(self, variable: Any, tensor: Any) -> None:
        super().__init__(variable)
        self.assigned = tensor  # the value that was assigned; whoever needs it makes the assignment run

    graph = property(lambda self: self.assigned.graph, doc="The graph in which the assignment is.")
    op = property(lambda self: self.assigned.op, doc="The operation that assigns.")

    def _read(self) -> Any:
        """In a function the value at this point of it; in other graphs, whose rows have no order, the assigned one."""
        graph = state.graph
        if graph is None or not graph.is_function():
            return self.assigned
        return graph.read(self._base, accessed=False)


AssignedVariable.__name__ = "_UnreadVariable"  # as it prints
