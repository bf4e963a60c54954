"""All that happened to a value: rows of recordings, operations outside any tape, assignments, escapes.

Nodes are made when a search comes to them. An edge leads from a value to one that it was computed from; where a
gradient cannot pass, the edge carries a :class:`Break`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..engine.hooks import hooks
from ..engine.record.record import Record
from ..engine.record.row_parts import CALL
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.tensor.tensor import Tensor
from .function_bodies import (
    BODY_PRIMITIVES,
    EnclosingCall,
    FunctionBody,
    find_loop_condition,
    find_variable_of_state_row,
    iter_assignments_before,
    iter_bodies_of_call,
    list_custom_gradient_passes,
)
from .graph_nodes import Break, CodePlace, ValueNode, find_origin_place, find_variable_of_origin, is_variable_state
from .scalar_chains import LONG_RECORD, ScalarChains
from .value_origins import ValueOrigin, ValueRef, convert_note_to_origin, find_origin

if TYPE_CHECKING:
    from ..engine.backward.tape import GradientTape
    from ..engine.derivatives.py_function import PythonCall
    from ..engine.record.provenance import EscapeNote
    from ..engine.record.row_parts import Call, Event
    from ..engine.table.primitives import Primitive, Rule
    from ..engine.types import TargetOrSource

_calls_in_question: list[PythonCall] = []  # runs of py_functions that are being asked about


class ValueGraph:
    """The values as one tape sees them."""

    def __init__(self, tape: GradientTape) -> None:
        self.tape = tape
        self.record = Record() if tape._record is None else tape._record
        self.nodes: dict[Hashable, ValueNode] = {}
        self.target_keys: set[Hashable] = set()  # the targets
        self._chains: dict[Hashable, ScalarChains] = {}
        self.excluded_rows: set[int] = set()  # the rows that a search looks for: no run is contracted over them
        self._passes_by_call: dict[int, tuple[Call, list[bool]]] = {}
        spans = list(tape.spans)
        if tape._recording:
            spans.append((tape._start, len(self.record)))
        self.spans = spans

    # -- nodes -------------------------------------------------------------------------------------

    def list_nodes_of_value(self, value: TargetOrSource) -> list[ValueNode]:
        """List the nodes of a tensor, or of the states of a variable, the newest first."""
        if isinstance(value, Tensor):
            return [self.find_or_add_tensor_node(value)]
        state = getattr(value, "_state", None)
        if state is None:
            return []
        nodes = [self.find_or_add_row_node(self.record, row) for row in reversed(value._find_tape_rows(self.tape))]
        current = self.find_or_add_tensor_node(state)
        return nodes if current in nodes else [current, *nodes]

    def find_or_add_tensor_node(self, tensor: Tensor) -> ValueNode:
        """The node of a tensor: its row in the tape's recording or in another one, else its origin."""
        if (row := self.record.find_row(tensor)) is not None:
            return self.find_or_add_row_node(self.record, row)
        other_record, origin = tensor._record, find_origin(tensor)
        if other_record is not None and len(other_record) and origin is None:
            return self.find_or_add_row_node(other_record, tensor._row)
        return self._find_or_add_node(
            ValueNode(("tensor", id(tensor)), origin=origin, tensor=tensor, variable=find_variable_of_origin(origin))
        )

    def find_or_add_row_node(self, record: Record, row: int) -> ValueNode:
        """The node of a row."""
        key = (id(record), row)
        node = self.nodes.get(key)
        if node is None:
            leaf = record.leaves.get(row)
            tensor = origin = variable = None
            if leaf is not None:
                tensor, variable = leaf.tensor, leaf.variable
                origin = convert_note_to_origin(leaf.origin) if tensor is None else find_origin(tensor)
            elif record.trace is not None:  # a function's
                variable = find_variable_of_state_row(record, row)
            node = self.nodes[key] = ValueNode(key, record, row, origin, tensor, variable)
        return node

    def find_or_add_ref_node(self, ref: ValueRef) -> ValueNode:
        """The node of a value that may be gone."""
        tensor = ref.tensor()
        if tensor is not None:
            return self.find_or_add_tensor_node(tensor)
        record = None if ref.record is None else ref.record()
        if record is not None and len(record):
            return self.find_or_add_row_node(record, ref.row)
        key = ("origin", id(ref.origin)) if ref.origin is not None else ("gone", id(ref.tensor), ref.row)
        origin = convert_note_to_origin(ref.origin)
        return self._find_or_add_node(ValueNode(key, origin=origin, variable=find_variable_of_origin(origin)))

    def _find_or_add_node(self, node: ValueNode) -> ValueNode:
        """Return the node that is known by the key of this one; else add this one."""
        return self.nodes.setdefault(node.key, node)

    # -- edges -------------------------------------------------------------------------------------

    def list_input_edges(self, node: ValueNode) -> list[tuple[ValueNode, Break | None]]:
        """List the nodes that a node was computed from, each with the break on its edge, if there is one."""
        if node._edges is None:
            if node.record is None:
                node._edges = list(self._iter_origin_edges(node.origin))
            elif node.record is self.record or len(node.record) <= LONG_RECORD:
                node._edges = list(self._iter_row_edges(node))
            else:  # a long recording of another tape: a value that came from there stands for all behind it
                node._edges = []
        return node._edges

    def _is_in_unbroken_chain(self, node: ValueNode, op: int) -> bool:
        """Whether a scalar row is in a long recording and nothing breaks there."""
        is_long = node.record is self.record and len(self.record) > LONG_RECORD
        return is_long and "-" not in BY_CODE[op - FIRST_CODE].texts[1:] and self.find_unrecorded_break(node) is None

    def _iter_chain_end_edges(self, node: ValueNode) -> Iterator[tuple[ValueNode, Break | None]]:
        """Yield the ends of a long run of scalar rows, each with edges to its inputs outside the run."""
        record = self.record
        key = (id(record), frozenset(self.excluded_rows))
        chains = self._chains.get(key)
        if chains is None:
            chains = self._chains[key] = ScalarChains(record, self.spans, self.excluded_rows)
        for row, outside_rows in chains.map_readers_to_outside_inputs(node.row).items():
            end_node = self._find_or_add_node(ValueNode((id(record), row, "end", key[1]), record, row))
            edges = self._iter_row_edges(self.find_or_add_row_node(record, row), contract_chains=False)
            end_node._edges = [(input_node, break_) for input_node, break_ in edges if input_node.row in outside_rows]
            yield end_node, None

    def _iter_row_edges(
        self, node: ValueNode, contract_chains: bool = True
    ) -> Iterator[tuple[ValueNode, Break | None]]:
        record = node.record
        assert record is not None
        op, left, right, _ = record.read_integer_cells(node.row)
        if node.enclosing_call is not None and node.row in node.enclosing_call.next_turn_rows:
            yield from self._iter_loop_turn_edges(node)
            return
        inputs: tuple[int, ...]
        rules: Sequence[object] | Rule | None
        if contract_chains and op >= FIRST_CODE and self._is_in_unbroken_chain(node, op):
            yield from self._iter_chain_end_edges(node)
            return
        if op >= FIRST_CODE:
            primitive = BY_CODE[op - FIRST_CODE]
            inputs = (left,) if left == right or len(primitive.texts) == 2 else (left, right)
            rules = [None if text == "-" else text for text in primitive.texts[1:]]
        elif op == CALL and (call := record.get_call(node.row)) is not None:
            primitive, inputs, rules = call.primitive, call.inputs, call.primitive.rules
        else:
            other_record = None if node.tensor is None else node.tensor._record
            if node.origin is not None:
                yield from self._iter_origin_edges(node.origin)
            elif (
                node.tensor is not None
                and other_record is not None
                and other_record is not record
                and len(other_record)
            ):
                yield self.find_or_add_row_node(other_record, node.tensor._row), None
            return
        scope_break = None if node.enclosing_call is not None else self.find_unrecorded_break(node)
        if op >= FIRST_CODE and "-" not in primitive.texts[1:] and record.trace is None:  # floats with slopes
            yield from ((self.find_node_in_same_run(node, row), scope_break) for row in inputs)
            return
        bodies = list(iter_bodies_of_call(call, node.row - call.row)) if primitive.name in BODY_PRIMITIVES else []
        if bodies:
            yield from ((self.find_body_output_node(node, call, body), scope_break) for body in bodies)
            inputs = inputs[:1] if primitive.name == "cond" else ()  # what decides
            condition = find_loop_condition(call)
            if condition is not None:
                yield (
                    self.find_body_output_node(node, call, condition),
                    scope_break or Break("nondifferentiable_op", node.find_recorded_place(), primitive.op),
                )
        for index, row in enumerate(inputs):
            input_node = self.find_node_in_same_run(node, row)
            if record.trace is not None:  # before what the variable held when the function was called: that is older
                yield from self._iter_inner_assignment_edges(node, row)
            yield input_node, scope_break or self._find_operation_break(node, input_node, primitive, rules, index)

    def find_node_in_same_run(self, node: ValueNode, row: int) -> ValueNode:
        """Return the node of another row, in the same recording or run of a function as ``node``."""
        record = node.record
        assert record is not None
        return (
            self.find_or_add_row_node(record, row)
            if node.enclosing_call is None
            else self.find_node_in_call(record, row, node.enclosing_call)
        )

    def find_body_output_node(self, node: ValueNode, call: Call, body: FunctionBody) -> ValueNode:
        """Return the node of the row in a body that computed this output of a call."""
        return self.find_node_in_call(
            body.record,
            body.row,
            EnclosingCall(self.find_node_in_same_run(node, call.row), body.outer_rows, body.next_turn_rows),
        )

    def _iter_inner_assignment_edges(self, node: ValueNode, row: int) -> Iterator[tuple[ValueNode, Break | None]]:
        """Yield the edges to what the same function had assigned to the variable that a row of it reads.

        The assignment may be in a loop or a branch.
        """
        record = node.record
        assert record is not None
        variable = find_variable_of_state_row(record, row)
        for assign_call, outer_calls in iter_assignments_before(record, variable, row) if variable is not None else ():
            context_node = node
            for call, inner_call in zip(outer_calls, [*outer_calls, assign_call][1:], strict=True):
                body = next(
                    candidate for candidate in iter_bodies_of_call(call, None) if inner_call in candidate.record.calls
                )
                context_node = self.find_body_output_node(
                    self.find_node_in_same_run(context_node, call.row), call, body
                )
            assigned_node = self.find_node_in_same_run(context_node, assign_call.row)
            for input_row in assign_call.inputs:
                yield (
                    self.find_node_in_same_run(context_node, input_row),
                    Break("state", assigned_node.find_recorded_place(), assign_call.primitive.name),
                )

    def find_node_in_call(self, record: Record, row: int, enclosing_call: EnclosingCall) -> ValueNode:
        """The node of a row of a function, as one call ran it; of what came from outside the node there."""
        if row in enclosing_call.outer_rows and row not in enclosing_call.next_turn_rows:
            return self.find_node_in_same_run(enclosing_call.node, enclosing_call.outer_rows[row])
        leaf = record.leaves.get(row)
        if leaf is not None and isinstance(leaf.tensor, Tensor):
            return self.find_or_add_tensor_node(leaf.tensor)
        node = self._find_or_add_node(ValueNode((id(record), row, enclosing_call.node.key), record, row))
        node.enclosing_call = enclosing_call
        return node

    def _iter_loop_turn_edges(self, node: ValueNode) -> Iterator[tuple[ValueNode, Break | None]]:
        """Yield the edges to the inputs of a turn of a loop: those of the loop, and the results of the turn before."""
        enclosing_call, record = node.enclosing_call, node.record
        assert enclosing_call is not None and record is not None
        yield self.find_node_in_same_run(enclosing_call.node, enclosing_call.outer_rows[node.row]), None
        yield self.find_node_in_call(record, enclosing_call.next_turn_rows[node.row], enclosing_call), None

    def find_unrecorded_break(self, node: ValueNode) -> Break | None:
        """Find the break of an operation that ran where this tape did not record; None where it did."""
        is_own_row = node.record is self.record
        if is_own_row and any(first <= node.row < end for first, end in self.spans):
            return None
        for event, row, _, frames in reversed(self.tape.notes) if is_own_row else ():
            if event == "reset" and node.row < row and frames:
                return Break("outside_tape", CodePlace(frames), "reset")
        is_paused = is_own_row and self.find_pause_around_row(node.row) is not None
        return Break(
            "recording_paused" if is_paused else "outside_tape", node.find_recorded_place(), node.find_operation_name()
        )

    def find_pause_around_row(self, row: int) -> Event | None:
        """Find the event that began the ``stop_recording()`` around a row; None outside of one."""
        pause = None
        for event in self.record.events:
            if event.row > row:
                break
            if event.kind in ("pause", "resume") and event.subject is self.tape:
                pause = event if event.kind == "pause" else None
        return pause

    def _find_operation_break(
        self,
        node: ValueNode,
        input_node: ValueNode,
        primitive: Primitive,
        rules: Sequence[object] | Rule | None,
        input_index: int,
    ) -> Break | None:
        name = primitive.name
        place, label = node.find_recorded_place(), primitive.label
        if name == "stop_gradient":
            return Break("stop_gradient", place, label)
        if name.startswith("assign") or name == "slice_update":  # v[i].assign(x) makes v anew, and stores it
            return Break("state", place, name)
        if "numpy_function" in name or name.startswith("py_func_") or name == "py_func":
            return Break("left_through_numpy", place, "tf.numpy_function")
        dtype = node.find_dtype()
        if dtype is not None and not dtype.differentiable and (name in ("cast", "bitcast") or dtype.name == "string"):
            cast_dtype = input_node.find_dtype()
            if cast_dtype is None or cast_dtype.differentiable:
                return Break("integer_dtype", place, dtype.name)
        input_dtype = input_node.find_dtype()
        if input_dtype is not None and not input_dtype.differentiable:
            return Break("integer_dtype", place, input_dtype.name)
        needs_gradient = (
            dtype is None or dtype.differentiable or node.key in self.target_keys
        )  # else no adjoint ever comes as far as this
        if rules is None and primitive.missing == "unregistered" and needs_gradient:
            return Break("no_gradient_registered", place, primitive.op)
        if callable(rules):
            record = node.record
            assert record is not None
            is_flat = not self.list_adjoint_passes_by_input(record, record.get_call(node.row))[input_index]
        else:
            is_flat = rules is None or rules[input_index if input_index < len(rules) else -1] is None
        if is_flat:
            return Break("nondifferentiable_op", place, primitive.op or label)
        if dtype is not None and not dtype.differentiable:
            return Break("nondifferentiable_op", place, primitive.op or label)
        return self._find_break_in_py_function(node, place, input_index) if name == "py_function" else None

    def _find_break_in_py_function(self, node: ValueNode, place: CodePlace | None, input_index: int) -> Break | None:
        """Find the break inside a ``tf.py_function``: it promises a gradient, which is zero then."""
        record = node.record
        assert record is not None
        call = record.get_call(node.row)
        # of a function's row the last run, while it is there
        python_call: PythonCall | None = (
            call.attrs["call"] if "call" in call.attrs else getattr(call.primitive, "last_run", lambda: None)()
        )
        if (
            python_call is None
            or not hasattr(python_call, "tape")
            or python_call.tape is None
            or not python_call.inputs[input_index].dtype.differentiable
        ):
            return None
        if python_call in _calls_in_question:  # the question of what left in it, and later, has come back to it
            return None
        _calls_in_question.append(python_call)
        try:
            break_: Break | None = hooks.find_break_in_python(
                python_call.tape, python_call.outputs[node.row - call.row], python_call.inputs[input_index]
            )
        finally:
            _calls_in_question.remove(python_call)
        if break_ is None or break_.cause != "independent":
            return break_
        return Break("left_through_numpy", place, "tf.py_function")

    def list_adjoint_passes_by_input(self, record: Record, call: Call) -> list[bool]:
        """Return for each input of a call whether its rules pass an adjoint to it.

        A gradient of the user's own may return None: it is called once, out of sight of every tape.
        """
        rules = call.primitive.rules
        if rules is None:
            return [False] * len(call.inputs)
        if not callable(rules):
            return [rules[min(index, len(rules) - 1)] is not None for index in range(len(call.inputs))]
        cached = self._passes_by_call.get(id(call))
        if cached is not None and cached[0] is call:  # a number may be that of a call that is gone
            return cached[1]
        is_custom = call.primitive.name == "custom_gradient"
        recording = call.attrs.get("recording")
        if recording is not None and recording._gradient is not None:
            passes = [part is not None for part in recording._gradient.gradient_rows]
        else:
            passes = list_custom_gradient_passes(record, call) if is_custom else [True] * len(call.inputs)
        self._passes_by_call[id(call)] = call, passes
        return passes

    def _iter_origin_edges(self, origin: ValueOrigin | None) -> Iterator[tuple[ValueNode, Break | None]]:
        if origin is None:
            return
        place = find_origin_place(origin)
        if origin.kind == "constant":
            if origin.detail is not None:
                escape: EscapeNote = origin.detail
                place = CodePlace(escape.stack) if escape.stack else place
                yield (
                    self.find_or_add_ref_node(ValueRef(*escape.reference_fields)),
                    Break("left_through_numpy", place, escape.method),
                )
            return
        if is_variable_state(origin):
            cause, detail = "state", origin.kind
        else:
            cause, detail = "outside_tape", origin.detail.name if origin.kind == "op" else origin.kind
        for ref in origin.inputs:
            input_node = self.find_or_add_ref_node(ref)
            if origin.kind in ("row", "value"):
                cause = "integer_dtype" if origin.detail in ("AsString", "StringToNumber") else "nondifferentiable_op"
                yield input_node, Break(cause, place, origin.detail) if origin.kind == "value" else None
                continue
            is_stopped = origin.kind == "op" and detail == "stop_gradient"
            yield input_node, Break("stop_gradient" if is_stopped else cause, place, detail)

    # -- what stands for a value ------------------------------------------------------------------

    def list_keys_of_value(self, value: TargetOrSource) -> list[tuple[str, int]]:
        """List the keys by which a search knows the nodes of a tensor or variable."""
        if not isinstance(value, Tensor):
            return [("variable", id(getattr(value, "_base", value)))]
        row = self.record.find_row(value)
        return [("tensor", id(value))] + ([] if row is None else [("row", row)])

    def exclude_values_from_chains(self, *values: TargetOrSource) -> None:
        """Keep the rows of some values out of the runs that a search of a long recording skips."""
        if len(self.record) > LONG_RECORD:
            self.exclude_rows_from_chains(row for value in values for row in self.tape._find_rows_of_value(value))

    def exclude_rows_from_chains(self, rows: Iterable[int]) -> None:
        """Keep rows of scalars out of the runs that a search skips."""
        new_rows = {row for row in rows if self.record.read_integer_cells(row)[0] >= FIRST_CODE} - self.excluded_rows
        if new_rows:
            self.excluded_rows |= new_rows
            for node in self.nodes.values():
                node._edges = None
            self.nodes.clear()

    def iter_keys_of_node(self, node: ValueNode) -> Iterator[tuple[str, int]]:
        """Yield the keys that :meth:`list_keys_of_value` has for the tensor, the variable and the row of a node."""
        if node.tensor is not None:
            yield "tensor", id(node.tensor)
        if node.variable is not None:
            yield "variable", id(node.variable)
        if node.record is self.record:
            yield "row", node.row
