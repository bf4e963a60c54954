"""``tf.gradients`` and ``tf.hessians``: operations that compute gradients are added to the graph."""

from __future__ import annotations

from typing import Any


from ..engine.back.endpoints import UnconnectedGradients
from ..engine.back.reach import TERMINAL, propagate
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import EagerTensor
from ..engine.values import nest
from .body import lift
from .build import Graph
from .symbolic import SymbolicTensor
from .values import current


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    *,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list:
    """Adds the operations that compute the sum of d``ys``/dx for each x in ``xs``; returns their outputs as a list.

    ``grad_ys`` weighs the ys; gradients do not pass ``stop_gradients``. None where nothing connects them.
    RuntimeError outside a graph. See https://www.tensorflow.org/api_docs/python/tf/gradients.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(3.0)
    ...     (g,) = tf.gradients(x * x, [x])
    ...     print(tf.compat.v1.Session().run(g))
    6.0
    """
    graph = state.graph
    if graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    targets, sources = [convert_to_tensor(y) for y in nest.flatten(ys)], nest.flatten(xs)
    adjoints = list(grad_ys) if isinstance(grad_ys, (list, tuple)) else [grad_ys]
    if grad_ys is None:
        adjoints = [None] * len(targets)
    if len(adjoints) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(adjoints)} grad_ys for {len(targets)} ys")
    if any(type(s) is EagerTensor for s in sources):
        lift(graph)
    with graph.name_scope(name) as scope:
        pass  # taken: the operations of the gradients have it before their names
    found = _through_captures(
        graph, targets, adjoints, sources, [] if stop_gradients is None else nest.flatten(stop_gradients), scope[:-1]
    )
    try:
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    return [_zeros(s) if g is None and zero else g for g, s in zip(found, sources, strict=True)]




def _through_captures(graph: Graph, targets: list, adjoints: list, sources: list, stops: list, prefix: str) -> list:
    """The gradient for each source, or None: in this graph, and through what it captured for tensors of those around
    it.

    There the rows stay as they are: those of the gradients are added to the graph that is being built.
    """
    for target in targets:
        graph.row_or_new_leaf(target)
    rows = [_rows(graph, s) for s in sources]
    ends = {r for s in stops for r in _rows(graph, s)}
    outside = [s if type(s) is SymbolicTensor and s.graph is not graph else None for s in sources]
    captured = _capture(graph) if any(s is not None for s in outside) else []
    found = sweep_rows(graph, targets, [*rows, *([inner._row] for _, inner in captured)], adjoints, ends, prefix)
    here, onward = found[: len(rows)], found[len(rows) :]
    handed = [(outer, g) for (outer, _), g in zip(captured, onward, strict=True) if g is not None]
    if not handed or graph.outer is None:
        return here
    outers, adjoints = map(list, zip(*handed, strict=True))
    beyond = _through_captures(graph.outer, outers, adjoints, outside, stops, prefix)
    return [a if b is None else b if a is None else a + b for a, b in zip(here, beyond, strict=True)]


def _capture(graph: Graph) -> list[tuple]:
    """(tensor of the graph around it, its place) for what a graph captured and gradients may pass."""
    places = {inner._row: (outer, inner) for outer, inner in graph.captures.values() if outer.graph is graph.outer}
    return [(outer, inner) for outer, inner in places.values() if inner.dtype.differentiable]


def sweep_rows(
    graph: Graph, targets: list, rows: list[list[int]], adjoints: list, stops: Any = (), prefix: str = ""
) -> list:
    """The gradient of the targets for each list of rows (the reads of one variable, or one tensor), or None."""
    wanted = {r for group in rows for r in group}
    if not wanted:
        return [None] * len(rows)
    reachable, gate = bytearray(len(graph)), bytearray(b"\1") * len(graph)
    for row in wanted:
        reachable[row] = 1
    for row in stops:
        gate[row] = 0
    propagate(graph, reachable, 0, len(graph), gate)  # from the first row: that of a leaf may be a late one
    for row in wanted.intersection(stops):
        reachable[row] = TERMINAL
    starts: dict[int, Any] = {}
    for target, adjoint in zip(targets, adjoints, strict=True):
        row = graph.row_or_new_leaf(target)
        if target.dtype.differentiable and reachable[row]:
            if adjoint is None and target.dtype.is_complex:
                raise TypeError(
                    f"Gradients of complex tensors ({target}) must set grad_ys (y.dtype = {target.dtype.name})"
                )
            adjoint = TABLE["ones_like"](target) if adjoint is None else convert_to_tensor(adjoint, target.dtype)
            starts[row] = starts[row] + adjoint if row in starts else adjoint
    if not starts:
        return [None] * len(rows)
    sweep = graph.sweeper(graph, starts, wanted, reachable, recorded=True)
    sweep.prefix, sweep.missing, sweep.verifies = prefix, _NO_GRADIENT, True
    sweep.run()
    found = []
    for group in rows:
        parts = [a for a in map(sweep.adjoint, group) if a is not None]
        total = parts[0] if parts else None
        for part in parts[1:]:
            total = total + part
        found.append(total)
    return found


def _rows(graph: Graph, source: Any) -> list[int]:
    """The rows of a tensor or variable in a graph; none for a tensor of another graph, or of integers."""
    if source is None or not source.dtype.differentiable:
        return []
    if hasattr(source, "_read"):
        known = graph.variables.get(id(source))
        return [] if known is None else list(known[1])
    if getattr(source, "graph", graph) is graph:
        return [graph.row_or_new_leaf(source)]
    return []


def _zeros(source: Any) -> Any:
    return TABLE["zeros_like"](current(source))


_NO_GRADIENT = (
    "No gradient defined for operation'{}' (op type: {}). In general every operation must have an associated "
    "`@tf.RegisterGradient` for correct autodiff, which this op is lacking. If you want to pretend this operation is a "
    "constant in your program, you may insert `tf.stop_gradient`. This can be useful to silence the error in cases "
    "where you know gradients are not needed, e.g. the forward pass of tf.custom_gradient. Please see more details in "
    "https://www.tensorflow.org/api_docs/python/tf/custom_gradient."
)
