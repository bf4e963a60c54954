"""All that happened to a value: rows of recordings, operations outside any tape, assigns, exits.

Nodes are made when a walk comes to them. An edge leads from a value to one that it was computed from; where a
gradient cannot pass, the edge carries a :class:`Break`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..engine.recording.record import Record
from ..engine.recording.rows import CALL
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.tensor.tensor import Tensor
from .bodies import INTO, Caller, FunctionBody, assigns, bodies_of, passes_of_own, read_by, test_of
from .chains import LONG, Chains
from .nodes import Break, CodePlace, TapeNode, is_state, place_of_origin, state_of
from .origins import Ref, ValueOrigin, origin_of, read

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.derivatives.pyfunction import PythonCall
    from ..engine.recording.rows import Call, Event
    from ..engine.table.primitives import Primitive, Rule
    from ..engine.types import End

_OPEN: list[PythonCall] = []  # runs of py_functions that are being asked about


class Trace:
    """The values as one tape sees them."""

    # what breaks the way of an input of a py_function inside of it: of another module, which asks about a whole tape
    inside_python: Callable[[GradientTape, End, End], Break | None]

    def __init__(self, tape: GradientTape) -> None:
        self.tape = tape
        self.record = Record() if tape._record is None else tape._record
        self.nodes: dict[Hashable, TapeNode] = {}
        self.ends: set[Hashable] = set()  # the targets
        self._chains: dict[Hashable, Chains] = {}
        self.wanted: set[int] = set()  # the rows that a search looks for: no run is contracted over them
        self._passes: dict[int, tuple[Call, list[bool]]] = {}
        spans = list(tape.spans)
        if tape._recording:
            spans.append((tape._start, len(self.record)))
        self.spans = spans

    # -- nodes -------------------------------------------------------------------------------------

    def of(self, value: End) -> list[TapeNode]:
        """The nodes of a tensor, or of the states of a variable, newest first."""
        if isinstance(value, Tensor):
            return [self.of_tensor(value)]
        state = getattr(value, "_state", None)
        if state is None:
            return []
        nodes = [self.of_row(self.record, row) for row in reversed(value._tape_rows(self.tape))]
        current = self.of_tensor(state)
        return nodes if current in nodes else [current, *nodes]

    def of_tensor(self, tensor: Tensor) -> TapeNode:
        """The node of a tensor: its row in the tape's recording or in another one, else its origin."""
        if (row := self.record.find(tensor)) is not None:
            return self.of_row(self.record, row)
        home, origin = tensor._record, origin_of(tensor)
        if home is not None and len(home) and origin is None:
            return self.of_row(home, tensor._row)
        return self._node(TapeNode(("tensor", id(tensor)), origin=origin, tensor=tensor, variable=state_of(origin)))

    def of_row(self, record: Record, row: int) -> TapeNode:
        """The node of a row."""
        key = (id(record), row)
        node = self.nodes.get(key)
        if node is None:
            leaf = record.leaves.get(row)
            tensor = origin = variable = None
            if leaf is not None:
                tensor, variable = leaf.tensor, leaf.variable
                origin = read(leaf.origin) if tensor is None else origin_of(tensor)
            elif record.trace is not None:  # a function's
                variable = read_by(record, row)
            node = self.nodes[key] = TapeNode(key, record, row, origin, tensor, variable)
        return node

    def of_ref(self, ref: Ref) -> TapeNode:
        """The node of a value that may be gone."""
        tensor = ref.tensor()
        if tensor is not None:
            return self.of_tensor(tensor)
        record = None if ref.record is None else ref.record()
        if record is not None and len(record):
            return self.of_row(record, ref.row)
        key = ("origin", id(ref.origin)) if ref.origin is not None else ("gone", id(ref.tensor), ref.row)
        origin = read(ref.origin)
        return self._node(TapeNode(key, origin=origin, variable=state_of(origin)))

    def _node(self, made: TapeNode) -> TapeNode:
        """The node that is known by the key of this one, else this one."""
        return self.nodes.setdefault(made.key, made)

    # -- edges -------------------------------------------------------------------------------------

    def edges(self, node: TapeNode) -> list[tuple[TapeNode, Break | None]]:
        """The values that a value was computed from, and what breaks on the way."""
        if node._edges is None:
            if node.record is None:
                node._edges = list(self._origin_edges(node.origin))
            elif node.record is self.record or len(node.record) <= LONG:
                node._edges = list(self._row_edges(node))
            else:  # a long recording of another tape: a value that came from there stands for all behind it
                node._edges = []
        return node._edges

    def _in_run(self, node: TapeNode, op: int) -> bool:
        """Whether a scalar row is in a long recording and nothing breaks there."""
        long = node.record is self.record and len(self.record) > LONG
        return long and "-" not in BY_CODE[op - FIRST_CODE].texts[1:] and self.scope(node) is None

    def _run_edges(self, node: TapeNode) -> Iterator[tuple[TapeNode, Break | None]]:
        """The ends of a long run of scalar rows, each row with those of its inputs that lie outside the run."""
        record = self.record
        key = (id(record), frozenset(self.wanted))
        chains = self._chains.get(key)
        if chains is None:
            chains = self._chains[key] = Chains(record, self.spans, self.wanted)
        for row, outside in chains.ends(node.row).items():
            made = self._node(TapeNode((id(record), row, "end", key[1]), record, row))
            edges = self._row_edges(self.of_row(record, row), whole=False)
            made._edges = [(parent, broken) for parent, broken in edges if parent.row in outside]
            yield made, None

    def _row_edges(self, node: TapeNode, whole: bool = True) -> Iterator[tuple[TapeNode, Break | None]]:
        record = node.record
        assert record is not None
        op, a, b, _ = record.cell(node.row)
        if node.caller is not None and node.row in node.caller.again:
            yield from self._turns(node)
            return
        inputs: tuple[int, ...]
        rules: Sequence[object] | Rule | None
        if whole and op >= FIRST_CODE and self._in_run(node, op):
            yield from self._run_edges(node)
            return
        if op >= FIRST_CODE:
            primitive = BY_CODE[op - FIRST_CODE]
            inputs = (a,) if a == b or len(primitive.texts) == 2 else (a, b)
            rules = [None if t == "-" else t for t in primitive.texts[1:]]
        elif op == CALL and (call := record.call_at(node.row)) is not None:
            primitive, inputs, rules = call.primitive, call.inputs, call.primitive.rules
        else:
            home = None if node.tensor is None else node.tensor._record
            if node.origin is not None:
                yield from self._origin_edges(node.origin)
            elif node.tensor is not None and home is not None and home is not record and len(home):
                yield self.of_row(home, node.tensor._row), None
            return
        outside = None if node.caller is not None else self.scope(node)
        if op >= FIRST_CODE and "-" not in primitive.texts[1:] and record.trace is None:  # floats with slopes
            yield from ((self.node_at(node, row), outside) for row in inputs)
            return
        inner = list(bodies_of(call, node.row - call.row)) if primitive.name in INTO else []
        if inner:
            yield from ((self.inside(node, call, body), outside) for body in inner)
            inputs = inputs[:1] if primitive.name == "cond" else ()  # what decides
            test = test_of(call)
            if test is not None:
                yield (
                    self.inside(node, call, test),
                    outside or Break("nondifferentiable_op", node.place(), primitive.op),
                )
        for i, row in enumerate(inputs):
            parent = self.node_at(node, row)
            if record.trace is not None:  # before what the variable held when the function was called: that is older
                yield from self._assigned_inside(node, row)
            yield parent, outside or self._op_break(node, parent, primitive, rules, i)

    def node_at(self, node: TapeNode, row: int) -> TapeNode:
        """The node of another row, in the same recording or run of a function as ``node``."""
        record = node.record
        assert record is not None
        return self.of_row(record, row) if node.caller is None else self.within(record, row, node.caller)

    def inside(self, node: TapeNode, call: Call, body: FunctionBody) -> TapeNode:
        """The row of a body that computed this output of a call."""
        return self.within(body.record, body.row, Caller(self.node_at(node, call.row), body.outer, body.again))

    def _assigned_inside(self, node: TapeNode, row: int) -> Iterator[tuple[TapeNode, Break | None]]:
        """The node that the same function had assigned to the variable that a row of it reads, also in a loop or a
        branch.
        """
        record = node.record
        assert record is not None
        variable = read_by(record, row)
        for made_by, around in assigns(record, variable, row) if variable is not None else ():
            beside = node
            for call, inner in zip(around, [*around, made_by][1:], strict=True):
                body = next(b for b in bodies_of(call, None) if inner in b.record.calls)
                beside = self.inside(self.node_at(beside, call.row), call, body)
            made = self.node_at(beside, made_by.row)
            for given in made_by.inputs:
                yield self.node_at(beside, given), Break("state", made.place(), made_by.primitive.name)

    def within(self, record: Record, row: int, caller: Caller) -> TapeNode:
        """The node of a row of a function, as one call ran it; of what came from outside the node there."""
        if row in caller.outer and row not in caller.again:
            return self.node_at(caller.node, caller.outer[row])
        leaf = record.leaves.get(row)
        if leaf is not None and isinstance(leaf.tensor, Tensor):
            return self.of_tensor(leaf.tensor)
        node = self._node(TapeNode((id(record), row, caller.node.key), record, row))
        node.caller = caller
        return node

    def _turns(self, node: TapeNode) -> Iterator[tuple[TapeNode, Break | None]]:
        """The inputs of a turn of a loop: those of the loop, and the results of the turn before."""
        caller, record = node.caller, node.record
        assert caller is not None and record is not None
        yield self.node_at(caller.node, caller.outer[node.row]), None
        yield self.within(record, caller.again[node.row], caller), None

    def scope(self, node: TapeNode) -> Break | None:
        """The break of an operation that ran where this tape did not record."""
        own = node.record is self.record
        if own and any(a <= node.row < b for a, b in self.spans):
            return None
        for what, row, _, frames in reversed(self.tape.notes) if own else ():
            if what == "reset" and node.row < row and frames:
                return Break("outside_tape", CodePlace(frames), "reset")
        paused = own and self.paused(node.row) is not None
        return Break("recording_paused" if paused else "outside_tape", node.place(), node.label())

    def paused(self, row: int) -> Event | None:
        """The event that began the ``stop_recording()`` in which the tape was at this row; None outside of one."""
        inside = None
        for event in self.record.events:
            if event.row > row:
                break
            if event.kind in ("pause", "resume") and event.subject is self.tape:
                inside = event if event.kind == "pause" else None
        return inside

    def _op_break(
        self, node: TapeNode, parent: TapeNode, primitive: Primitive, rules: Sequence[object] | Rule | None, i: int
    ) -> Break | None:
        name = primitive.name
        where, label = node.place(), primitive.label
        if name == "stop_gradient":
            return Break("stop_gradient", where, label)
        if name.startswith("assign") or name == "slice_update":  # v[i].assign(x) makes v anew, and stores it
            return Break("state", where, name)
        if "numpy_function" in name or name.startswith("py_func_") or name == "py_func":
            return Break("left_through_numpy", where, "tf.numpy_function")
        out = node.dtype()
        if out is not None and not out.differentiable and (name in ("cast", "bitcast") or out.name == "string"):
            source = parent.dtype()
            if source is None or source.differentiable:
                return Break("integer_dtype", where, out.name)
        into = parent.dtype()
        if into is not None and not into.differentiable:
            return Break("integer_dtype", where, into.name)
        asked = out is None or out.differentiable or node.key in self.ends  # else no adjoint ever comes as far as this
        if rules is None and primitive.missing == "unregistered" and asked:
            return Break("no_gradient_registered", where, primitive.op)
        if callable(rules):
            record = node.record
            assert record is not None
            flat = not self.passes(record, record.call_at(node.row))[i]
        else:
            flat = rules is None or rules[i if i < len(rules) else -1] is None
        if flat:
            return Break("nondifferentiable_op", where, primitive.op or label)
        if out is not None and not out.differentiable:
            return Break("nondifferentiable_op", where, primitive.op or label)
        return self._broken_in_python(node, where, i) if name == "py_function" else None

    def _broken_in_python(self, node: TapeNode, where: CodePlace | None, i: int) -> Break | None:
        """The break inside a ``tf.py_function``: it promises a gradient, which is zero then."""
        record = node.record
        assert record is not None
        call = record.call_at(node.row)
        # of a function's row the last run, while it is there
        ran = call.attrs["call"] if "call" in call.attrs else getattr(call.primitive, "ran", lambda: None)()
        if ran is None or not hasattr(ran, "tape") or ran.tape is None or not ran.inputs[i].dtype.differentiable:
            return None
        if ran in _OPEN:  # the question of what left in it, and later, has come back to it
            return None
        _OPEN.append(ran)
        try:
            found = Trace.inside_python(ran.tape, ran.outputs[node.row - call.row], ran.inputs[i])
        finally:
            _OPEN.remove(ran)
        if found is None or found.cause != "independent":
            return found
        return Break("left_through_numpy", where, "tf.py_function")

    def passes(self, record: Record, call: Call) -> list[bool]:
        """For each input of a call whether its rules hand an adjoint on.

        A gradient of the user's own may return None: it is called once, out of sight of every tape.
        """
        rules = call.primitive.rules
        if rules is None:
            return [False] * len(call.inputs)
        if not callable(rules):
            return [rules[min(i, len(rules) - 1)] is not None for i in range(len(call.inputs))]
        kept = self._passes.get(id(call))
        if kept is not None and kept[0] is call:  # a number may be that of a call that is gone
            return kept[1]
        custom = call.primitive.name == "custom_gradient"
        recording = call.attrs.get("recording")
        if recording is not None and recording._grads is not None:
            found = [part is not None for part in recording._grads.parts]
        else:
            found = passes_of_own(record, call) if custom else [True] * len(call.inputs)
        self._passes[id(call)] = call, found
        return found

    def _origin_edges(self, origin: ValueOrigin | None) -> Iterator[tuple[TapeNode, Break | None]]:
        if origin is None:
            return
        place = place_of_origin(origin)
        if origin.kind == "constant":
            if origin.detail is not None:
                exit = origin.detail
                place = CodePlace(exit.stack) if exit.stack else place
                yield self.of_ref(Ref(*exit.known)), Break("left_through_numpy", place, exit.how)
            return
        if is_state(origin):
            cause, what = "state", origin.kind
        else:
            cause, what = "outside_tape", origin.detail.name if origin.kind == "op" else origin.kind
        for ref in origin.inputs:
            parent = self.of_ref(ref)
            if origin.kind in ("row", "value"):
                cause = "integer_dtype" if origin.detail in ("AsString", "StringToNumber") else "nondifferentiable_op"
                yield parent, Break(cause, place, origin.detail) if origin.kind == "value" else None
                continue
            stopped = origin.kind == "op" and what == "stop_gradient"
            yield parent, Break("stop_gradient" if stopped else cause, place, what)

    # -- what stands for a value ------------------------------------------------------------------

    def names(self, value: End) -> list[tuple[str, int]]:
        """The key of a tensor's or variable's node in a search."""
        if not isinstance(value, Tensor):
            return [("variable", id(getattr(value, "_base", value)))]
        row = self.record.find(value)
        return [("tensor", id(value))] + ([] if row is None else [("row", row)])

    def look_for(self, *values: End) -> None:
        """Of a long recording, keeps the rows of some values apart from the runs around them."""
        if len(self.record) > LONG:
            self.keep(row for value in values for row in self.tape._rows_of(value))

    def keep(self, rows: Iterable[int]) -> None:
        """Keeps rows of scalars apart from the runs around them."""
        more = {row for row in rows if self.record.cell(row)[0] >= FIRST_CODE} - self.wanted
        if more:
            self.wanted |= more
            for node in self.nodes.values():
                node._edges = None
            self.nodes.clear()

    def stands_for(self, node: TapeNode) -> Iterator[tuple[str, int]]:
        """The names that :meth:`names` has for the tensor, the variable and the row of a node."""
        if node.tensor is not None:
            yield "tensor", id(node.tensor)
        if node.variable is not None:
            yield "variable", id(node.variable)
        if node.record is self.record:
            yield "row", node.row
