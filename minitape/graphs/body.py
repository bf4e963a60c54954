"""The body of a function, branch or loop: a graph with inputs and outputs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.recording.state import state
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import nest
from .build import Graph
from .program import Program, replay
from .symbolic import SymbolicTensor

if TYPE_CHECKING:
    from ..engine.recording.rows import Call
    from ..engine.types import Attributes, Function, Value
    from .types import Arrays, Notes, Specs, Tensors


class BodyGraph(Graph):
    """The graph of a branch or a loop's body inside another graph."""

    def _watched_outside(self, tensor: Value) -> SymbolicTensor | None:
        """An eager tensor as the graphs around know it, if a tape there watches it."""
        graph = self.outer
        if graph is None:
            return None
        row = graph.find(tensor)
        return graph._watched_outside(tensor) if row is None or row in graph.untracked else graph.tensor_at(row)


class TestGraph(BodyGraph):
    """The graph of a loop's condition: its operations are hidden."""


class GraphBody:
    """A traced Python function: rows of its inputs and outputs, and what it captured from the graph around it."""

    def __init__(self, graph: Graph, inputs: Sequence[SymbolicTensor], result: Any) -> None:
        self.graph, self.inputs, self.result = graph, list(inputs), result
        with graph.as_default():
            self.flat = [None if t is None else as_output(graph, t) for t in nest.flatten(result)]
        self.outputs = [t for t in self.flat if t is not None]
        captures: dict[int, tuple[SymbolicTensor, SymbolicTensor]] = {}
        for outer, inner in graph.captures.values():
            captures.setdefault(inner._row, (outer, inner))
        self.captured, self.places = ([pair[at] for pair in captures.values()] for at in (0, 1))
        # the calls that run whether their results are needed or not
        self.effects = [c for c in graph.calls if c.primitive.stateful and c.primitive.op != "ReadVariableOp"]
        self._stateful = [c for c in graph.calls if c.primitive.stateful]  # not those that gradients add later
        self._program: Program | None = None
        self._noting: Program | None = None

    @property
    def feeds(self) -> list[int]:
        """The rows of the inputs and then of the captured tensors."""
        return [t._row for t in [*self.inputs, *self.places]]

    @property
    def fetches(self) -> list[int]:
        """The rows of the outputs."""
        return [t._row for t in self.outputs]

    def specs(self) -> Specs:
        """(shape, dtype) of each output."""
        return [(t.shape, t.dtype) for t in self.outputs]

    def pack(self, found: Iterable) -> Any:
        """What the function returned, with these tensors in the place of the outputs."""
        values = iter(found)
        return nest.pack_sequence_as(self.result, list([None if t is None else next(values) for t in self.flat]))

    def connects(self, at: int) -> bool:
        """True when a gradient could pass from an output to the input or captured tensor of this number."""
        marks = {self.feeds[at]}
        for call in self.graph.calls:
            if any(r in marks and passes(call, i) for i, r in enumerate(call.inputs)):
                marks.update(t._row for t in self.graph.op_of[call.row].outputs if t.dtype.differentiable)
        return not marks.isdisjoint(self.fetches)

    def run(self, arrays: Arrays) -> tuple:
        """The outputs' arrays for the arrays of inputs and captured tensors."""
        if self._program is None:
            self._program = Program(self.graph, self.fetches, self.feeds, self.effects)
        return self._program.run(arrays)

    def run_noting(self, arrays: Arrays) -> tuple[tuple, dict[int, Any]]:
        """The same, and what each row with effects (or that reads a variable) gave, for a later ``replay``."""
        rows = [c.row + i for c in self._stateful for i in range(self.graph.op_of[c.row].count)]
        if self._noting is None:
            self._noting = Program(self.graph, [*self.fetches, *rows], self.feeds, self.effects)
        found = self._noting.run(arrays)
        count = len(self.fetches)
        return found[:count], dict(zip(rows, found[count:], strict=True))

    def replay(self, tensors: Tensors, notes: Notes | None = None) -> list:
        """The outputs for eager tensors, as recorded operations; without effects: what they gave is in the notes."""
        return replay(self.graph, self.fetches, dict(zip(self.feeds, tensors, strict=True)), notes)

    def aligned(self, captured: Tensors) -> None:
        """Takes these captured tensors, in this order: several bodies of one operation share their inputs."""
        for tensor in captured:
            self.graph.capture(tensor)
        self.places = [self.graph.captures[id(t)][1] for t in captured]
        self.captured = list(captured)
        self._program = self._noting = None

    def take(self, outer: SymbolicTensor, tensor: Value) -> None:
        """Takes an eager tensor that may be a constant here as a further input; ``outer`` is it in the graph around."""
        row = self.graph.find(tensor)
        if row is None:
            row = self.graph.placeholder(tensor.dtype, tensor.shape)._row
        self.places.append(self.graph.tensor_at(row))
        self.captured.append(outer)
        self._program = self._noting = None


def passes(call: Call, at: int) -> bool:
    """Whether a call has a rule for an input; of branches, whether one of them has."""
    rules, connects = call.primitive.rules, getattr(call.primitive, "connects", None)
    if connects is not None:
        return bool(connects(call.attrs, at))
    return rules is not None and (callable(rules) or rules[min(at, len(rules) - 1)] is not None)


def as_output(graph: Graph, value: Value) -> SymbolicTensor:
    """A returned value as a tensor of the graph."""
    tensor = value if isinstance(value, Tensor) else convert_to_tensor(value)
    return graph.tensor_at(graph.row_or_new_leaf(tensor))


def trace_body(function: Function, specs: Specs, kind: type[Graph] = BodyGraph, scope: str = "") -> GraphBody:
    """Traces ``function`` on inputs of these (shape, dtype) pairs inside the graph that is being built, in a name
    ``scope``.
    """
    graph = kind(state.graph)
    with graph.as_default(), graph.name_scope(scope):
        inputs = [graph.input(dtype, shape) for shape, dtype in specs]
        result = function(*inputs)
    return GraphBody(graph, inputs, result)


def share_captures(bodies: Sequence[GraphBody]) -> list[SymbolicTensor]:
    """Gives several bodies the same captured tensors; returns those of the graph around them."""
    graph: Any = bodies[0].graph.outer
    captured = [t if t.graph is graph else graph.capture(t) for body in bodies for t in body.captured]
    shared = list({t._row: t for t in captured}.values())
    for body in bodies:
        body.aligned(shared)
    return shared


def held_elsewhere(leaf: Value) -> bool:
    """True for a captured eager tensor that is still held outside: a tape may watch it later."""
    kind = type(leaf.tensor)  # in no variable here: whether that counts as a holder depends on the interpreter
    return kind is EagerTensor and leaf.tensor.dtype.differentiable and sys.getrefcount(leaf.tensor) > 2


def lift(graph: Graph) -> None:
    """Hands the held tensors of all bodies inside the graph to the operations around them."""
    done = {id(b) for call in graph.calls for b in _bodies(call.attrs.get("attrs", {}))}  # whose gradients are rows
    for call in graph.calls:
        bodies = [] if any(id(b) in done for b in _bodies(call.attrs)) else _bodies(call.attrs)
        for body in bodies:
            lift(body.graph)
        for tensor in _constants(bodies):
            row = graph.row_or_new_leaf(tensor)
            call.inputs = (*call.inputs, row)
            for body in bodies:
                body.take(graph.tensor_at(row), tensor)


def _bodies(attrs: Attributes) -> list[GraphBody]:
    given = [*attrs.get("bodies", ()), attrs.get("test"), attrs.get("body")]
    return [b for b in given if isinstance(b, GraphBody)]


def _constants(bodies: list[GraphBody]) -> list:
    """The tensors that are constants of the bodies, each once."""
    found: dict[int, Any] = {}
    for body in bodies:
        numbers = {id(t) for t in body.graph.numbers.values()}
        fed = {*body.feeds}
        for row, leaf in body.graph.leaves.items():
            if row not in fed and id(leaf.tensor) not in numbers and held_elsewhere(leaf):
                found[id(leaf.tensor)] = leaf.tensor
    return list(found.values())
