"""Variables that are made while a graph is being built."""

from __future__ import annotations

from typing import Any


from ..engine.recording.state import state
from ..engine.tensor.variable import ResourceVariable
from .scopes import no_op





class GraphVariable(ResourceVariable):
    """A variable of a TensorFlow 1 graph: it has no value until its initializer has run in a session."""

    __module__ = "tensorflow.python.ops.resource_variable_ops"
    _uninitialized = True
    initializer: Any = None  # these hide the properties of eager variables
    initial_value: Any = None
    graph: Any = None


    def __hash__(self) -> int:  # variables of TensorFlow 1 are keys of feed_dict, and == is identity
        return id(self)

    def __eq__(self, other: Any) -> Any:
        return self is other


    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}>"








def initializer_of(variables: Any, name: str = "init") -> Any:
    """One operation that runs the initializers of the variables."""
    graph = state.graph
    if graph is None:
        return None
    with graph.control_dependencies([v.initializer for v in variables if isinstance(v, GraphVariable)]):
        return no_op(name)
