"""Rows that call the user's Python: ``custom_gradient``, ``py_function`` and ``numpy_function`` inside a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine import nest
from ..engine.backward import flat_leaf, like_flat
from ..engine.convert import convert_to_tensor
from ..engine.custom import CUSTOM, CustomCall, check_gradient_arguments, variables_read
from ..engine.forward import follow_custom
from ..engine.operation import finish
from ..engine.state import state
from ..engine.tensor import Tensor, wrap
from .effects import NUMPY, NUMPY_STATELESS, PYTHON
from .inline import inline
from .primitive import GraphPrimitive
from .program import replay

# -- Python functions -------------------------------------------------------------------------------------------------


def python_row(func: Any, inputs: Sequence[Any], dtypes: list[Any]) -> list[Any]:
    """Adds a py_function."""
    return list(state.graph.apply(PYTHON, tuple(inputs), {"func": func, "dtypes": dtypes}))[:-1]


def numpy_row(func: Any, inputs: Sequence[Any], dtypes: list[Any], stateful: bool) -> list[Any]:
    """Adds a numpy_function (``compat.v1.py_func``)."""
    return list(
        state.graph.apply(NUMPY if stateful else NUMPY_STATELESS, tuple(inputs), {"func": func, "dtypes": dtypes})
    )


# -- custom_gradient --------------------------------------------------------------------------------------------------


def _forward(*arrays: Any, call: CustomCall, results: int) -> tuple[Any, ...]:
    return tuple(arrays[:results])


def _infer(tensors: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
    return [(t.shape, t.dtype) for t in tensors[: attrs["results"]]]


def _rule(g: Any, z: Any, *inputs: Any, call: CustomCall, results: int) -> list[Any]:
    gs = list(g) if isinstance(g, (list, tuple)) else [g]
    return [None] * results + call.shares(gs)


def _replayed(graph: Any, call: Any, values: dict[int, Any]) -> list[Any]:
    """An eager run of the row: its gradient is traced once, as rows of the graph, and replayed when asked for."""
    results = call.attrs["results"]
    outs = [wrap(values[r].array) for r in call.inputs[:results]]
    known = dict(values)
    custom = _elsewhere(graph, call, lambda rows, gs: replay(graph, rows, known | gs))
    finish(CUSTOM, tuple(values[r] for r in call.inputs[results:]), {"call": custom}, tuple(outs))
    return outs


def _elsewhere(graph: Any, call: Any, run: Callable[[list[int], dict[int, Any]], list[Any]]) -> CustomCall:
    """The call with a gradient that is traced in its own graph; ``run`` gives its rows for adjoints elsewhere."""

    def grad_fn(*gs: Any) -> Any:
        seeds, rows = _gradient_rows(graph, call)
        found = iter(run([r for r in rows if r is not None], dict(zip(seeds, gs, strict=True))))
        return [None if r is None else next(found) for r in rows]

    return CustomCall(call.attrs["call"].name, grad_fn, [], len(call.inputs) - call.attrs["results"], None)


def _gradient_rows(graph: Any, call: Any) -> tuple[list[int], list[int | None]]:
    """The rows of the adjoints and of the shares in them, which the first gradient of a call adds to the graph."""
    with graph.lock:
        if ("gradient", call.row) not in graph.replays:
            with graph.as_default():
                outs = [graph.tensor_at(call.row + i) for i in range(call.outputs)]
                seeds = [graph.placeholder(t.dtype, t.shape, "grad_ys") for t in outs]
                shares = call.attrs["call"].shares(seeds)
                rows = [None if s is None else graph.enter(s if isinstance(s, Tensor) else s.dense()) for s in shares]
            graph.replays["gradient", call.row] = [s._row for s in seeds], rows
        return graph.replays["gradient", call.row]


def _copied(graph: Any, call: Any, rows: dict[int, int]) -> dict[str, Any]:
    """The attributes of the row in the graph that is being built: its gradient becomes a copy of rows, too."""
    target: Any = state.graph

    def copied(shares: list[int], gs: dict[int, Any]) -> list[Any]:
        here: Any = state.graph
        known = {row: target.tensor_at(at) for row, at in rows.items()} | gs
        places = {row: here.enter(tensor) for row, tensor in known.items()}
        inline(graph, here, shares, places, ())
        return [here.tensor_at(places[r]) for r in shares]

    return call.attrs | {"call": _elsewhere(graph, call, copied)}


CUSTOM_ROW = GraphPrimitive("custom_gradient", "IdentityN", _infer, forward=_forward, rules=_rule)
CUSTOM_ROW.replayed, CUSTOM_ROW.copied = _replayed, _copied


def custom_call(f: Any, args: tuple[Any, ...]) -> Any:
    """A call of a function with its own gradient while a graph is being built."""
    arguments = nest.map_structure(_argument, list(args))
    with variables_read() as read:
        result, grad_fn = f(*arguments)
    inputs = nest.flatten(arguments)
    variables = [v for v in read.values() if all(v is not i for i in inputs)]
    check_gradient_arguments(grad_fn, variables)
    flat = [flat_leaf(a) for a in nest.flatten(arguments)]
    models = nest.flatten(result)
    outputs = [convert_to_tensor(flat_leaf(t)) for t in models]
    call = CustomCall(getattr(f, "__name__", "custom"), grad_fn, variables, len(flat), result)
    tensors = [*outputs, *flat, *(v._read() for v in variables)]
    made = list(state.graph.apply(CUSTOM_ROW, tuple(tensors), {"call": call, "results": len(outputs)}))
    follow_custom(outputs, made)
    return nest.pack_sequence_as(result, [like_flat(m, t) for m, t in zip(models, made, strict=True)])


def _argument(value: Any) -> Any:
    if hasattr(value, "_read"):
        return value._read()  # the function gets the value of this moment, also for its gradient
    return value if hasattr(value, "_composite") else convert_to_tensor(value)
