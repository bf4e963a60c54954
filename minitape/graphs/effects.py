"""Rows that do more than compute: variables' reads and assignments, Python functions, random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.derivatives.custom import for_batches
from ..engine.derivatives.pyfunction import PythonCall, check_count, next_number, note_run, python_error, run_python
from ..engine.recording.block import During, no_tapes
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import new_tensor
from ..engine.tensor.variable import UnreadVariable
from ..engine.values import errors, nest
from ..engine.values.dtypes import string
from ..engine.values.invalid import invalid, shape_text
from ..engine.values.shape import TensorShape
from .primitive import GraphPrimitive, write_notes

if TYPE_CHECKING:
    from ..engine.types import Adjoint, Array, Attributes, DTypeLike, Function, Value
    from .build import Graph
    from .types import Specs, Tapes, Tensors, Variable

# -- variables -------------------------------------------------------------------------------------


def _read_forward(*outer: Any, variable: Variable) -> tuple:
    if variable._uninitialized:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"Could not find variable {variable._name}. This could mean that the variable has been deleted. In "
            "TF1, it can also mean the variable is uninitialized. Run its initializer, or tf.compat.v1."
            "global_variables_initializer(), first.",
        )
    return (variable._state.array,)


def _read_eager(tensors: Tensors, attrs: Attributes) -> list:
    return [TABLE["identity"](tensors[0])] if tensors else [new_tensor(attrs["variable"]._state.array)]


# a variable's value; in the body of a loop or branch its input is the value outside, for the gradient
READ = GraphPrimitive(
    "read",
    "ReadVariableOp",
    lambda tensors, attrs: [(attrs["variable"].shape, attrs["variable"].dtype)],
    forward=_read_forward,
    eager=_read_eager,
    rules=[lambda g, z, x, *, variable: g],
    stateful=True,
)


def read(graph: Graph, variable: Variable, tapes: Tapes, accessed: bool = True) -> Any:
    """The value of a variable at this point of the graph, watched by those of the tapes that watch what is read.

    What was read before a tape watched the variable is another tensor for it.
    """
    tensor = graph.reads.get(id(variable))
    if accessed:
        watch_accessed(graph, variable, tapes)
    watching = [tape for tape in tapes if id(variable) in tape.variables]
    if tensor is None or any(tensor._row not in tape.watched for tape in watching):
        outer = () if graph.outer is None else (graph.outer.read(variable, accessed, graph.tapes_around),)
        with graph.name_scope(None):
            rows, attrs = tuple(graph.row_or_new_leaf(t) for t in outer), {"variable": variable}
            (tensor,) = graph.call_row(
                READ, rows, attrs, READ.infer((), attrs), f"{variable._name}/Read/ReadVariableOp"
            )
            graph.tuples.add(tensor._row)
        graph.reads[id(variable)] = tensor
    known = graph.variables.setdefault(id(variable), (variable, []))
    if tensor._row not in known[1]:
        known[1].append(tensor._row)
    for tape in watching:
        tape._watch_row(tensor._row)
    return tensor


def watch_accessed(graph: Graph, variable: Variable, tapes: Tapes) -> None:
    """What an access means to the tapes of a graph: they begin to watch the variable if it is trainable."""
    for tape in tapes:
        if variable.trainable and tape._watch_accessed_variables and tape._record is graph:
            tape.variables[id(variable)] = variable


def _assign_forward(value: Value, *, variable: Variable, how: str) -> tuple:
    if how == "assign_add" or how == "assign_sub":
        (old,) = _read_forward(variable=variable)
        if old.shape != value.shape:
            raise invalid(
                f"Cannot update variable with shape {shape_text(old.shape)} using a Tensor with shape "
                f"{shape_text(value.shape)}, "
                "shapes must be equal.",
                _ASSIGN_OPS[how],
            )
        value = old + value if how == "assign_add" else old - value
    variable._version += 1
    variable._set(value)
    if variable._uninitialized:
        variable._uninitialized = False
    return (value,)


_ASSIGN_OPS = {"assign": "AssignVariableOp", "assign_add": "AssignAddVariableOp", "assign_sub": "AssignSubVariableOp"}
ASSIGN = {
    how: GraphPrimitive(
        how,
        op,
        lambda tensors, attrs: [(attrs["variable"].shape, attrs["variable"].dtype)],
        forward=_assign_forward,
        eager=lambda tensors, attrs: [tensors[0]],
        rules=None,
        stateful=True,
    )
    for how, op in _ASSIGN_OPS.items()
}


def assign(graph: Graph, variable: Variable, tensor: Value, how: str) -> Any:
    """An assignment at this point of the graph; its value is the variable's new one."""
    kind = how if how in _ASSIGN_OPS else "assign"
    if kind != "assign" and not variable.shape.is_compatible_with(tensor.shape):
        raise ValueError(
            f"Shapes {variable.shape} and {tensor.shape} are incompatible: a variable of the first cannot take the "
            "second."
        )
    (made,) = graph.apply(ASSIGN[kind], (tensor,), {"variable": variable, "how": kind})
    graph.forget_reads()
    return made


# -- Python functions ------------------------------------------------------------------------------


def _python_forward(*arrays: Array, func: Function, dtypes: Any) -> tuple:
    """The results, and behind them the run itself: its tape gives the gradient."""
    call = run_python(func, [new_tensor(a) for a in arrays], dtypes, differentiate=True)
    note_run(func, call)
    return (*[o.array for o in call.outputs], write_notes(call))


def _promised(tensors: Tensors, attrs: Attributes) -> list:
    return [(TensorShape(None), d) for d in attrs["dtypes"]]


def _python_infer(tensors: Tensors, attrs: Attributes) -> list:
    return [*_promised(tensors, attrs), (TensorShape([]), string)]


@for_batches
def _python_rule(gs: Adjoint, z: Adjoint, *inputs: Any, func: Function, dtypes: Any) -> list:
    """The tape of the forward run gives the gradient; derivatives of it are None, as in TensorFlow."""
    tensors = [*gs[:-1], z[-1], *inputs]
    count = len(gs) - 1
    graph: Graph = state.graph
    found = graph.apply(PYTHON_GRADIENT, tuple(tensors), {"count": count})
    shares: list = [None] * len(inputs)
    for i, share in zip([i for i, t in enumerate(inputs) if t.dtype.kind in "fc"], found, strict=True):
        shares[i] = share
    return shares


def _python_gradient(*arrays: Array, count: int) -> tuple:
    call: PythonCall = np.asarray(arrays[count], object).item()
    return tuple(share.array for share in call.run_gradient([new_tensor(g) for g in arrays[:count]]))


def _python_gradient_infer(tensors: Tensors, attrs: Attributes) -> list:
    inputs = tensors[attrs["count"] + 1 :]
    return [(t.shape, t.dtype) for t in inputs if t.dtype.differentiable]


PYTHON = GraphPrimitive(
    "py_function", "EagerPyFunc", _python_infer, forward=_python_forward, rules=_python_rule, stateful=True
)
PYTHON_GRADIENT = GraphPrimitive(
    "py_function_gradient", "EagerPyFunc", _python_gradient_infer, forward=_python_gradient, rules=None
)


def _numpy_forward(*arrays: Array, func: Function, dtypes: Any) -> tuple:
    number = next_number()
    with no_tapes(), During(state, compiled=None):
        try:
            result = func(*[np.asarray(a)[()] for a in arrays])  # scalars are no arrays there
        except Exception as error:
            raise python_error(error) from error
        values = [] if result is None else nest.flatten(result) if isinstance(result, (list, tuple)) else [result]
        check_count(len(values), len(dtypes), number, "PyFunc")
        return tuple(_as_promised(i, v, d, number) for i, (v, d) in enumerate(zip(values, dtypes, strict=True)))


def _as_promised(at: int, value: Value, dtype: DTypeLike, number: int) -> Any:
    tensor = convert_to_tensor(np.asarray(value) if isinstance(value, (int, float)) else value)
    if tensor.dtype != dtype:
        raise invalid(
            f"{at}-th value returned by pyfunc_{number} is {tensor.dtype.kernel_name}, but expects {dtype.kernel_name}",
            "PyFunc",
        )
    return tensor.array


NUMPY = GraphPrimitive("py_func", "PyFunc", _promised, forward=_numpy_forward, rules=None, stateful=True)
NUMPY_STATELESS = GraphPrimitive("py_func_stateless", "PyFuncStateless", _promised, forward=_numpy_forward, rules=None)


# -- any Python function of minitape that must run when the graph does -----------------------------


_LATER: Attributes = {
    "infer": lambda tensors, attrs: attrs["specs"],
    "eager": lambda tensors, attrs: attrs["function"](*tensors),
}
LATER = GraphPrimitive("later", "PartitionedCall", **_LATER)
LATER_STATEFUL = GraphPrimitive("later_stateful", "StatefulPartitionedCall", **_LATER, stateful=True)
# numbers drawn at random: no gradient passes to what they were drawn from
DRAW = GraphPrimitive("draw", "StatefulPartitionedCall", **_LATER, rules=None, stateful=True)
NEXT = GraphPrimitive("next_element", "IteratorGetNext", **_LATER, stateful=True)




def add_effect(
    function: Callable[..., list],
    tensors: Tensors,
    specs: Specs,
    stateful: bool = False,
    name: str | None = None,
) -> list:
    """Adds a row that calls ``function`` with eager tensors when the graph runs; ``specs`` are (shape, dtype) pairs."""
    primitive = LATER_STATEFUL if stateful else LATER
    return list(state.graph.apply(primitive, tuple(tensors), {"function": function, "specs": specs}, name))


class AssignedVariable(UnreadVariable):
    """What ``assign`` and its kin return in a graph: the variable, to be read after the assignment."""

    __module__ = "tensorflow.python.ops.resource_variable_ops"

    def __init__(self, variable: Variable, tensor: Value) -> None:
        super().__init__(variable)
        self.assigned = tensor  # the value that was assigned; whoever needs it makes the assignment run

    graph = property(lambda self: self.assigned.graph, doc="The graph in which the assignment is.")
    op = property(lambda self: self.assigned.op, doc="The operation that assigns.")



AssignedVariable.__name__ = "_UnreadVariable"  # as it prints
