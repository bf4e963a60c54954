"""One trace of a function: a graph with inputs and outputs, compiled; under a tape it is one row with its own
gradient."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.back.reach import on_tape
from ..engine.derivatives.custom import for_batches
from ..engine.recording.evidence import ASSIGNED, ValueOrigin, clock, origin_of_new, stack
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.operation import apply, finish
from ..engine.tensor.tensor import Tensor, from_array, new_tensor
from ..engine.values import nest
from .body import GraphBody, held_elsewhere, lift, passes
from .build import Graph
from .gradients import sweep_rows
from .primitive import as_eager, dense, eager_vjp, floats, with_value
from .program import Program, find_needed, inline, replay

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.types import Adjoint, Array, Structure, Value
    from .signature import Signature
    from .symbolic import SymbolicTensor
    from .types import Arrays, Tensors, Variable


class FuncGraph(Graph):
    """The graph of a ``tf.function``."""

    building_function = True

    def __init__(self, name: str, outer: Graph | None = None, may_create: bool = True) -> None:
        super().__init__(outer)
        self.name, self.may_create = name, may_create
        self.given: dict[int, Any] = {}  # row of each placeholder -> what the call that is traced gave for it
        self.created: list[Variable] = []
        self.inputs: list[SymbolicTensor] = []  # the placeholders of the arguments
        self.outputs: list[SymbolicTensor] = []


def _assigned_at(graph: Graph, variable: Variable) -> Any:
    """The user's frame of the last assign to a variable, in a graph or in what it calls; () where there is none."""
    for call in reversed(graph.calls):
        if call.attrs.get("variable") is variable and call.primitive.name.startswith("assign"):
            site = graph.site_of(call.row)
            return () if site is None else (site,)
        inner = (
            call.attrs.get("body"),
            *call.attrs.get("bodies", ()),
            getattr(call.attrs.get("concrete"), "body", None),
        )
        found = next((at for body in inner if body is not None and (at := _assigned_at(body.graph, variable))), None)
        if found:
            return found
    return ()


_numbers = itertools.count(1)


class ConcreteFunction:
    """A traced function for one signature. Call it with tensors that fit.

    See https://www.tensorflow.org/api_docs/python/tf/types/experimental/ConcreteFunction.

    >>> import minitape as tf
    >>> double = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([], tf.float32))
    >>> double(tf.constant(3.0)).numpy()
    np.float32(6.0)
    """

    def __init__(self, body: GraphBody, name: str, signature: Signature) -> None:
        self.body, self.signature, self.label = body, signature, name
        self.name = f"__inference_{name}_{next(_numbers)}".encode()
        graph: Any = body.graph
        self.graph, graph.label = graph, self.name.decode()
        self._assigned_at: dict[int, Any] = {}  # by identity of a variable: the user's frame of its last assign
        graph.inputs, graph.outputs = body.inputs, body.outputs
        lift(self.graph)
        self._forward = Program(self.graph, body.fetches, body.feeds, body.effects)
        self._rows = len(self.graph)
        self._reads = {key: (v, list(rows)) for key, (v, rows) in self.graph.variables.items()}
        self.variables = tuple(v for v, _ in self._reads.values())
        assigned = {id(c.attrs["variable"]): c.attrs["variable"] for c in body.effects if "variable" in c.attrs}
        self._assigned = tuple(assigned.values())
        self._unassigned = tuple(v for v in self.variables if id(v) not in assigned)
        numbers = {id(t) for t in self.graph.numbers.values()}
        self._held = [
            r for r, leaf in self.graph.leaves.items() if id(leaf.tensor) not in numbers and held_elsewhere(leaf)
        ]
        self._single = len(body.outputs) == 1 and (not nest.is_nested(body.result))
        self._packer = _packer(body.result) or body.pack
        self._taped: dict[tuple[int, ...], Taped] = {}

    # -- what it is --------------------------------------------------------------------------------

    inputs = property(lambda self: self.body.inputs, doc="The placeholders of the arguments.")
    outputs = property(lambda self: self.body.outputs, doc="The symbolic results.")
    structured_outputs = property(lambda self: self.body.result, doc="The results in the structure that was returned.")
    output_shapes = property(
        lambda self: nest.map_structure(lambda t: getattr(t, "shape", None), self.body.result),
        doc="The static shapes of the results, in their structure.",
    )
    trainable_variables = property(lambda self: tuple(v for v in self.variables if v.trainable), doc="Its variables.")





    # -- calling -----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call_flat(self.signature.flat(self, args, kwargs))

    def call_flat(self, tensors: Tensors, arrays: Sequence | None = None) -> Any:
        """Calls it with the tensors of the placeholders, in their order; ``arrays`` are theirs, where they are
        known.
        """
        if state.graph is not None:
            return self._pack(self._in_graph(tensors))
        recorded = state.record is not None
        if recorded:
            taped = self._under_tape(tensors)
            if taped is not None:
                return self._pack(taped)
        found = self._forward.run([t.array for t in tensors] if arrays is None else arrays)
        noted = recorded or bool(self.variables)
        for t in tensors:
            noted = noted or t._record is not None
        if self._single and not noted:  # the usual case
            return from_array(found[0])
        outputs = [from_array(a) for a in found]
        if noted:
            self._note(tensors, outputs)
        return self._pack(outputs)

    def _note(self, tensors: Tensors, outputs: Tensors) -> None:
        """Notes for `explain`: what came out of which inputs, where no tape watches them."""
        inputs, place = (*tensors, *[v._state for v in self.variables]), None
        if outputs and state.record is not None:
            finish(FUNCTION, inputs, {"concrete": self}, tuple(outputs))
        elif outputs:
            place = sum(stack(), ())
            origin = origin_of_new("op", inputs, FUNCTION, place)
            for tensor in outputs:
                tensor._origin = origin
        self._note_assigns(tensors, place)

    def _note_assigns(self, tensors: Tensors, place: Any = None) -> None:
        """Notes for `explain` that the variables that were assigned hold what was computed from the inputs, at a place
        (None: it is looked for).
        """
        if self._assigned:
            place = sum(stack(), ()) if place is None else place
            known = origin_of_new("assign", [*tensors, *self._unassigned], None, place, ASSIGNED)
            for v in self._assigned:
                if (at := self._assigned_at.get(id(v))) is None:
                    at = self._assigned_at[id(v)] = sum(_assigned_at(self.graph, v), ())
                v._state._origin = ValueOrigin(
                    clock(), known.kind, at + place, known.values, weakref.ref(v), known.depth
                )


    def _pack(self, found: Sequence) -> Any:
        return found[0] if self._single else self._packer(iter(found))

    # -- inside another graph ----------------------------------------------------------------------

    def _in_graph(self, tensors: Tensors) -> list:
        graph = state.graph
        rows: dict[int, int] = {}
        for place, tensor in zip(self.body.inputs, tensors, strict=True):
            rows[place._row] = graph.row_or_new_leaf(tensor)
        for place, tensor in zip(self.body.places, self.body.captured, strict=True):
            rows[place._row] = graph.row_or_new_leaf(tensor)
        inline(self.graph, graph, [*self.body.fetches], rows, self.body.effects)
        found = [graph.tensor_at(rows[r]) for r in self.body.fetches]
        if not self.body.effects or graph.is_function():  # a function runs its effects in any case
            return found
        with graph.control_dependencies([graph.op_of[rows[call.row]] for call in self.body.effects]):
            found = [TABLE["identity"](t) for t in found]
        for tensor in found:  # not even a constant is known without them
            graph.folded.pop(tensor._row, None)
        return found

    # -- under a tape ------------------------------------------------------------------------------

    def _under_tape(self, tensors: Tensors) -> list | None:
        record: Any = state.record
        for variable in self._assigned:  # TensorFlow counts every variable of the function as accessed
            variable._read()
        held = [row for row in self._held if _is_tracked(record, self.graph.leaves[row].tensor)]
        inputs = [*tensors, *(v._read() for v in self.variables), *(self.graph.leaves[r].tensor for r in held)]
        if not any(_is_tracked(record, t) for t in inputs):
            return None
        taped = self._taped.get(tuple(held))
        if taped is None:
            if not _on_tape(record, inputs):  # all of it lies behind stop_gradient
                return None
            with self.graph.lock:  # another thread may have traced the gradient in the meantime
                taped = self._taped.get(tuple(held)) or Taped(self, held)
                self._taped[tuple(held)] = taped
        arrays = [t.array for t in tensors]
        found = taped.forward.run(arrays)
        count = len(self.body.outputs)
        outputs = [new_tensor(a) for a in found[:count]]
        self._note_assigns(tensors)
        if outputs:
            finish(FUNCTION, tuple(inputs), {"taped": taped, "saved": found[count:], "arrays": arrays}, tuple(outputs))
        return outputs


def _packer(structure: Structure) -> Any:
    """What puts the tensors of an iterator into a structure of lists, tuples and dictionaries; None where it holds more
    than tensors.
    """
    kind = type(structure)
    if isinstance(structure, Tensor):
        return next
    if kind is list or kind is tuple:
        parts = [_packer(part) for part in structure]
        return None if None in parts else lambda values: kind([part(values) for part in parts])
    if kind is dict and all(type(name) is str for name in structure):
        names = sorted(structure)
        inner, order = _packer([structure[name] for name in names]), dict.fromkeys(structure)
        return inner and (lambda values: order | dict(zip(names, inner(values), strict=True)))
    return None


def _is_tracked(record: Record, tensor: Value) -> bool:
    row = record.find(tensor)
    return row is not None and row not in record.untracked


def _on_tape(record: Record, tensors: Tensors) -> bool:
    """True when an active tape follows one of the tensors."""
    rows = [row for row in map(record.find, tensors) if row is not None]
    return any(on[row] for on in map(on_tape, state.tapes) for row in rows)


# -- the row of a call on an eager tape ------------------------------------------------------------


class Taped:
    """A concrete function with some inputs to differentiate: the forward program that keeps what the backward one
    reads."""

    def __init__(self, concrete: ConcreteFunction, held: list[int]) -> None:
        self.concrete, self.held, body, graph = concrete, held, concrete.body, concrete.graph
        groups = [[t._row] for t in body.inputs]
        groups += [rows for _, rows in concrete._reads.values()]
        groups += [[r] for r in held]
        self.groups = groups
        self.error: Exception | None = None
        self.grads: list = [None] * len(groups)
        self.starts: list = []
        self.border = border = len(graph)
        self._reading: dict[int, bool] = {}
        try:
            with graph.as_default():
                self._trace_backward(graph, body)
        except LookupError as error:  # raised when the gradient is asked for
            self.error = error
        rows = [r for g in self.grads for r in _rows_of(g)]
        starts = [s._row for s in self.starts if s is not None]
        self.saved = sorted(_crossing(graph, rows, border) | _stateful_rows(graph, border))
        self.forward = Program(graph, [*body.fetches, *self.saved], body.feeds, body.effects)
        self.backward = Program(graph, rows, [*self.saved, *body.feeds, *starts])

    def _trace_backward(self, graph: Graph, body: GraphBody) -> None:
        differentiable = [t for t in body.outputs if t.dtype.differentiable]
        self.starts = [
            graph.placeholder(t.dtype, t.shape, "grad_ys") if t.dtype.differentiable else None for t in body.outputs
        ]
        found = sweep_rows(
            graph,
            differentiable,
            [g if all(graph.tensors[r].dtype.differentiable for r in g) else [] for g in self.groups],
            [s for s in self.starts if s is not None],
        )
        self.grads = [_symbolic(graph, g) for g in found]

    def shares(self, gs: Tensors, saved: Sequence, arrays: Arrays) -> list:
        """The gradients of the inputs as arrays."""
        if self.error is not None:
            raise self.error
        starts = [np.asarray(g) if np.ndim(g) else g for g, s in zip(gs, self.starts, strict=True) if s is not None]
        found = iter(self.backward.run([*saved, *arrays, *starts]))
        return [_share(g, found) for g in self.grads]


    def reads_values(self, at: int) -> bool:
        """True when the gradient by an input is a function of values of the forward run, not of adjoints alone."""
        if at not in self._reading:
            self._reading[at] = _reads(self.concrete.graph, _rows_of(self.grads[at]), self.border)
        return self._reading[at]

    def replayed(self, inputs: Tensors, saved: Sequence) -> list:
        """The outputs as eager operations of the inputs; what effects returned is taken from the first run."""
        graph, body = self.concrete.graph, self.concrete.body
        known: dict[int, Any] = {}
        kept = dict(zip(self.saved, saved, strict=True))
        notes = {row: kept[row] for row in _stateful_rows(graph, self.concrete._rows)}
        for group, tensor in zip(self.groups, inputs, strict=True):
            for row in group:
                known[row] = with_value(tensor, kept[row]) if row in kept else tensor
        return replay(graph, body.fetches, known, notes)


def _rows_of(g: Adjoint) -> list[int]:
    """The rows of a gradient: one, or two for slices (three where only a run knows the dense shape), or none."""
    if g is None:
        return []
    return [g._row]


def _symbolic(graph: Graph, g: Adjoint) -> Any:
    """A gradient as tensors of the graph."""
    return None if g is None else graph.tensor_at(graph.row_or_new_leaf(g))


def _share(g: Adjoint, arrays: Array) -> Any:
    if g is None:
        return None
    return next(arrays)


def _crossing(graph: Graph, rows: list[int], border: int) -> set[int]:
    """The rows below the border that rows above it read: what a forward run must keep for the backward one."""
    calls, _ = find_needed(graph, rows, [], ())
    read = {*rows, *(row for call in calls if call.row >= border for row in call.inputs)}
    return {row for row in read if row < border and graph.call_at(row) is not None}


def _reads(graph: Graph, rows: list[int], border: int) -> bool:
    """Whether these rows of a gradient depend smoothly on a row below the border."""
    stack, seen = list(rows), set()
    while stack:
        row = stack.pop()
        if row < border:
            return True
        call = graph.call_at(row)
        if call is None or row in seen:
            continue
        seen.add(row)
        stack += [r for i, r in enumerate(call.inputs) if graph.tensors[r].dtype.differentiable and passes(call, i)]
    return False


def _stateful_rows(graph: Graph, border: int) -> set[int]:
    """The rows whose values another run might not give again."""
    return {
        call.row + i
        for call in graph.calls
        if call.primitive.stateful and call.row < border
        for i in range(graph.op_of[call.row].count)
    }


@for_batches
def _function_rule(gs: Adjoint, z: Adjoint, *inputs: Any, taped: Taped, saved: Any, arrays: Array) -> list:
    if not any(isinstance(g, Tensor) for g in gs):
        return taped.shares(gs, saved, arrays)
    tensors = [as_eager(i) for i in inputs]
    shares = eager_vjp(lambda given: taped.replayed(given, saved), gs, tensors)
    linked = [tensors[i] for i, known in enumerate(taped.grads) if known is not None]
    for i in floats(tensors):
        known = taped.grads[i]  # a way that the call did not go gives zeros, as in the gradient of the whole graph
        shares[i] = shares[i] if known is None else dense(shares[i], tensors[i])
        if isinstance(shares[i], Tensor) and taped.reads_values(i):
            shares[i] = apply(TIED, (shares[i], *linked), {})
    return shares


# TensorFlow hands on zeros, not None, to all inputs where the gradient of a function reads what the call has computed
TIED = Primitive(
    "linear_call",
    lambda share, *inputs: share,
    for_batches(lambda gs, z, share, *inputs: [gs[0], *(TABLE["zeros_like"](i) for i in inputs)]),
    op="PartitionedCall",
    label="function",
)
FUNCTION = Primitive(
    "function", lambda *arrays, taped, saved, arrays_: arrays, _function_rule, op="PartitionedCall", label="function"
)
