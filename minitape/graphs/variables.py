"""Variables that are made while a graph is being built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.block import no_tapes
from ..engine.recording.state import state
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.tensor.variable import ResourceVariable, _numbers
from ..engine.values import dtypes
from ..engine.values.shape import TensorShape
from .program import find_needed, replay
from .scopes import no_op
from .symbolic import SymbolicTensor

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, ShapeLike, Value
    from .types import Variable


_ONCE = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only "
    "created once or created outside tf.function. See https://www.tensorflow.org/guide/function#creating_tfvariables "
    "for more information."
)


class GraphVariable(ResourceVariable):
    """A variable of a TensorFlow 1 graph: it has no value until its initializer has run in a session."""

    __module__ = "tensorflow.python.ops.resource_variable_ops"
    _uninitialized = True
    initializer: Any = None  # these hide the properties of eager variables
    initial_value: Any = None
    graph: Any = None

    def eval(self, session: Any = None) -> Any:
        """The value in the default session (or the given one)."""
        from .session import default_session

        return default_session(session, "evaluate tensor using `eval()`", self.graph).run(self)

    def __hash__(self) -> int:  # variables of TensorFlow 1 are keys of feed_dict, and == is identity
        return id(self)

    def __eq__(self, other: Any) -> Any:
        return self is other

    def __ne__(self, other: Any) -> Any:
        return self is not other

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}>"


def create(variable: Variable, initial_value: Any, *given: Any) -> None:
    """What ``Variable.__init__`` does inside a graph, with its arguments."""
    graph = state.graph
    root = graph.around[-1]
    if root.building_function:
        _lift(root, variable, initial_value, *given)
        return
    # a function or branch of TensorFlow 1: its variables belong to the graph, whose sessions start them
    if graph is not root:
        with root.as_default():
            create(variable, initial_value, *given)
        return
    trainable, name, dtype, constraint, shape = given
    if callable(initial_value):
        initial_value = initial_value()
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    value = convert_to_tensor(initial_value, wanted)
    variable.__class__ = GraphVariable
    variable._shape = TensorShape(value.shape if shape is None else shape)
    variable._trainable = True if trainable is None else trainable
    variable._name = graph.unique_name(name or "Variable")
    variable._number, variable._version, variable.constraint = next(_numbers), 0, constraint
    sizes = [0 if d is None else d for d in (variable._shape.as_list() if variable._shape.rank is not None else [])]
    variable._set(np.zeros(sizes, value.dtype.as_numpy_dtype))
    variable.graph, variable.initial_value = graph, value
    from .effects import ASSIGN

    with graph.name_scope(None):
        row = graph.row_or_new_leaf(value)
        attrs = {"variable": variable, "how": "assign"}
        made = graph.call_row(
            ASSIGN["assign"], (row,), attrs, [(variable._shape, value.dtype)], variable._name + "/Assign"
        )
    graph.tuples.add(made[0]._row)
    variable.initializer = made[0].op
    graph.add_to_collection("variables", variable)
    if variable._trainable:
        graph.add_to_collection("trainable_variables", variable)


def _lift(
    root: Any,
    variable: Variable,
    initial_value: Any,
    trainable: Any,
    name: Any,
    dtype: DTypeLike,
    constraint: Any,
    shape: ShapeLike,
) -> None:
    """A variable made inside tf.function: once, with a value that is computed outside of the graph."""
    if not root.may_create:  # it is not the first trace of the function
        raise ValueError(_ONCE)
    if callable(initial_value) and not isinstance(initial_value, Tensor):
        initial_value = initial_value()
    with no_tapes():
        if isinstance(initial_value, SymbolicTensor):
            initial_value = value_now(initial_value)
        ResourceVariable.__init__(
            variable, initial_value, trainable, name=name, dtype=dtype, constraint=constraint, shape=shape
        )
    root.created.append(variable)


def value_now(tensor: Value) -> Any:
    """The value that a tensor of a function has in the call that is being traced: the first value of a variable.

    The rows that it needs run once more, out of the graph; NeedsValue where it hangs on what no call has given yet.
    """
    if not isinstance(tensor, SymbolicTensor):
        return tensor
    graph = tensor.graph
    places = {**getattr(graph, "given", {}), **{inner._row: outer for outer, inner in graph.captures.values()}}
    leaves = find_needed(graph, [tensor._row], [], ())[1]
    missing = [row for row in leaves if row not in places and graph.leaves[row].tensor is None]
    if missing:
        return new_tensor(tensor.array)  # raises NeedsValue
    return replay(graph, [tensor._row], {row: value_now(places[row]) for row in leaves if row in places})[0]


def initializer_of(variables: Any, name: str = "init") -> Any:
    """One operation that runs the initializers of the variables."""
    graph = state.graph
    if graph is None:
        return None
    with graph.control_dependencies([v.initializer for v in variables if isinstance(v, GraphVariable)]):
        return no_op(name)
