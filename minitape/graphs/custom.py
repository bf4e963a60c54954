"""Rows that call the user's Python: ``custom_gradient``, ``py_function`` and ``numpy_function`` inside a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..engine.derivatives.custom import CustomCall, call_as_row
from ..engine.derivatives.pyfunction import types_of_results
from ..engine.recording.state import state
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import new_tensor
from ..engine.values import nest
from .effects import NUMPY, NUMPY_STATELESS, PYTHON
from .primitive import GraphPrimitive
from .program import inline
from .values import current

if TYPE_CHECKING:
    from ..engine.recording.rows import Call
    from ..engine.types import Adjoint, Array, Attributes, Function, Value
    from .build import Graph
    from .types import Arguments, Names, Tensors

# -- Python functions ------------------------------------------------------------------------------


def python_row(func: Function, inputs: Tensors, dtypes: list) -> Any:
    """Adds a py_function."""
    return list(state.graph.apply(PYTHON, tuple(inputs), {"func": func, "dtypes": dtypes})[:-1])


def numpy_row(func: Function, inputs: Tensors, Tout: Any, stateful: bool) -> Any:
    """Adds a numpy_function (``compat.v1.py_func``)."""
    dtypes, several = types_of_results(Tout)
    attrs = {"func": func, "dtypes": dtypes}
    made = state.graph.apply(NUMPY if stateful else NUMPY_STATELESS, tuple(map(convert_to_tensor, inputs)), attrs)
    return list(made) if several else made[0]


# -- custom_gradient -------------------------------------------------------------------------------


def _forward(*arrays: Array, call: CustomCall, results: int) -> tuple:
    return tuple(arrays[:results])


def _infer(tensors: Tensors, attrs: Attributes) -> list:
    return [(t.shape, t.dtype) for t in tensors[: attrs["results"]]]


def _rule(g: Adjoint, z: Adjoint, *inputs: Any, call: CustomCall, results: int) -> list:
    gs = list(g) if isinstance(g, (list, tuple)) else [g]
    return [None] * results + call.shares(gs)


def _run_eagerly(graph: Graph, call: Call, values: dict[int, Any]) -> list:
    """An eager run of the row: its gradient is traced once, as rows of the graph, and replayed when asked for."""
    results = call.attrs["results"]
    outs = [new_tensor(values[r].array) for r in call.inputs[:results]]
    known = dict(values)
    return outs






def _copy_attrs(graph: Graph, call: Call, rows: dict[int, int]) -> Attributes:
    """The attributes of the row in the graph that is being built: its gradient becomes a copy of rows, too."""
    target: Any = state.graph

    def copied(shares: list[int], gs: dict[int, Any]) -> list:
        here: Any = state.graph
        known = {row: target.tensor_at(at) for row, at in rows.items()} | gs
        places = {row: here.row_or_new_leaf(tensor) for row, tensor in known.items()}
        inline(graph, here, shares, places, ())
        return [here.tensor_at(places[r]) for r in shares]



CUSTOM_ROW = GraphPrimitive("custom_gradient", "IdentityN", _infer, forward=_forward, rules=_rule)
CUSTOM_ROW.replayed, CUSTOM_ROW.copied = _run_eagerly, _copy_attrs


def custom_call(f: Any, args: Arguments, kwargs: Names) -> Any:
    """A call of a function with its own gradient while a graph is being built."""
    if kwargs:
        raise ValueError(
            "The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled."
        )

    def row(call: CustomCall, results: list, inputs: Tensors) -> list:
        return list(state.graph.apply(CUSTOM_ROW, (*results, *inputs), {"call": call, "results": len(results)}))

    return call_as_row(f, nest.map_structure(_argument, list(args)), {}, row, hides=True)


def _argument(value: Value) -> Any:
    """Of a variable the function gets the value of this moment, also for its gradient."""
    return convert_to_tensor(current(value))
