"""Build a graph of the history of values from recorded rows, unrecorded operations, assignments and escapes.

A node is created when a search reaches it. An edge leads from a value to a value that it was computed from, and has a
:class:`Break` if no gradient can pass along the edge.
"""

from collections.abc import Hashable, Iterator
from functools import cached_property
from itertools import pairwise

from ..engine.backward.tape import GradientTape
from ..engine.backward.targets_and_sources import find_rows_in_recording
from ..engine.derivatives.py_function import PythonCall
from ..engine.hooks import hooks
from ..engine.record.provenance import LoggedEscape
from ..engine.record.record import Record
from ..engine.record.row_parts import CALL, Call
from ..engine.table.primitives import Primitive, Rules
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.tensor.tensor import Tensor
from ..engine.types import RowIterable, RowSequence, RowSet, TargetOrSource
from .function_bodies import (
    EnclosingCall,
    FunctionBody,
    find_loop_condition,
    find_variable_of_state_row,
    iter_assignments_and_outer_calls_before,
    iter_bodies_computing_output,
    list_whether_inputs_get_custom_share,
)
from .graph_nodes import (
    Break,
    CodePlace,
    InputEdges,
    NodeAndBreak,
    OptionalBreak,
    OptionalPlace,
    ValueNode,
    find_origin_place,
    find_variable_if_origin_is_state,
    is_variable_state,
)
from .scalar_chains import LONG_RECORD, ScalarChains
from .value_origins import ValueOrigin, ValueRef, find_origin, to_value_origin

_calls_in_question: list[PythonCall] = []  # The py_function calls in which a search for a break is under way.


class ValueGraph:
    """The history of values, as seen from one tape.

    Attributes:
        tape: The tape.
        record: The recording of the tape.
        nodes: The nodes created so far, by their keys.
        target_keys: The keys of the target's nodes.
        excluded_rows: The rows that a search looks for. Chains of scalar rows are not contracted across these rows.
        spans: The (first, end) ranges of the rows that the tape recorded.
    """

    def __init__(self, tape: GradientTape):
        """Create a graph without nodes."""
        self.tape = tape
        self.record = Record() if tape._record is None else tape._record
        self.nodes: dict[Hashable, ValueNode] = {}
        self.target_keys: set[Hashable] = set()
        self.excluded_rows: RowSet = set()
        self._passes_by_call: dict[int, tuple[Call, list[bool]]] = {}
        spans = list(tape.spans)
        if tape.is_recording:
            spans.append((tape.span_start, len(self.record)))
        self.spans = spans

    # -- nodes -------------------------------------------------------------------------------------

    def list_nodes_of_value(self, value: TargetOrSource) -> list[ValueNode]:
        """Return the node of a tensor, or the nodes of a variable's states, newest first.

        Args:
            value: The tensor or variable.
        """
        if isinstance(value, Tensor):
            return [self.find_or_add_tensor_node(value)]
        state = getattr(value, "_state", None)
        if state is None:
            return []
        nodes = [
            self.find_or_add_row_node(self.record, row) for row in reversed(value._find_rows_in_recording(self.tape))
        ]
        current = self.find_or_add_tensor_node(state)
        return nodes if current in nodes else [current, *nodes]

    def find_or_add_tensor_node(self, tensor: Tensor) -> ValueNode:
        """Return the node of a tensor: a row of any recording, or a value without a row.

        Args:
            tensor: The tensor.
        """
        if (row := self.record.find_row(tensor)) is not None:
            return self.find_or_add_row_node(self.record, row)
        other_record = tensor._record
        origin = find_origin(tensor)
        if other_record is not None and len(other_record) and origin is None:
            return self.find_or_add_row_node(other_record, tensor._row)
        return self._find_or_add_node(
            ValueNode(
                ("tensor", id(tensor)), origin=origin, tensor=tensor, variable=find_variable_if_origin_is_state(origin)
            )
        )

    def find_or_add_row_node(self, record: Record, row: int) -> ValueNode:
        """Return the node of a row.

        Args:
            record: The recording.
            row: The row.
        """
        key = (id(record), row)
        node = self.nodes.get(key)
        if node is None:
            leaf = record.leaves.get(row)
            tensor = origin = variable = None
            if leaf is not None:
                tensor = leaf.tensor
                variable = leaf.variable
                origin = to_value_origin(leaf.origin) if tensor is None else find_origin(tensor)
            elif record.first_run is not None:  # In the first run of a function, a state has no leaf.
                variable = find_variable_of_state_row(record, row)
            node = self.nodes[key] = ValueNode(key, record, row, origin, tensor, variable)
        return node

    def find_or_add_ref_node(self, ref: ValueRef) -> ValueNode:
        """Return the node of a value that may no longer exist.

        Args:
            ref: The reference to the value.
        """
        tensor = ref.tensor()
        if tensor is not None:
            return self.find_or_add_tensor_node(tensor)
        record = None if ref.record is None else ref.record()
        if record is not None and len(record):
            return self.find_or_add_row_node(record, ref.row)
        key = ("origin", id(ref.origin)) if ref.origin is not None else ("gone", id(ref.tensor), ref.row)
        origin = to_value_origin(ref.origin)
        return self._find_or_add_node(ValueNode(key, origin=origin, variable=find_variable_if_origin_is_state(origin)))

    def _find_or_add_node(self, node: ValueNode) -> ValueNode:
        """Return the existing node with the same key, or add this node and return it."""
        return self.nodes.setdefault(node.key, node)

    # -- edges -------------------------------------------------------------------------------------

    def list_input_edges(self, node: ValueNode) -> list[NodeAndBreak]:
        """Return the nodes that a node was computed from.

        The result is cached. For another tape's long recording, the result is empty, so that the search does not enter
        that recording.

        Args:
            node: The node.

        Returns:
            Each input node, with the break on its edge, if any.
        """
        if node._edges is None:
            if node.record is None:
                node._edges = list(self._iter_leaf_edges(node))
            elif node.record is self.record or len(node.record) <= LONG_RECORD:
                node._edges = list(self._iter_edges_by_row_kind(node))
            else:
                node._edges = []
        return node._edges

    def _is_unbroken_row_of_long_recording(self, node: ValueNode, op: int) -> bool:
        """Return whether a scalar row belongs to a long recording and has no breaks on its edges."""
        is_long = node.record is self.record and len(self.record) > LONG_RECORD
        return (
            is_long
            and "-" not in BY_CODE[op - FIRST_CODE].texts[1:]
            and self.find_break_of_unrecorded_operation(node) is None
        )

    @cached_property
    def _chains(self) -> ScalarChains:
        """The scalar rows of a long recording. Chains that are found later respect rows that are excluded later."""
        return ScalarChains(self.record, self.spans, self.excluded_rows)

    def _iter_chain_nodes_with_inputs_outside_chain(self, node: ValueNode) -> InputEdges:
        """Yield each row in a long chain of scalar rows that reads a row outside the chain."""
        record = self.record
        for row, outside_rows in self._chains.map_first_consumers_to_outside_inputs(node.row).items():
            end_node = self._find_or_add_node(ValueNode((id(record), row, "end"), record, row))
            edges = self._iter_edges_by_row_kind(self.find_or_add_row_node(record, row), contract_chains=False)
            end_node._edges = [(input_node, break_) for input_node, break_ in edges if input_node.row in outside_rows]
            yield end_node, None

    def _iter_edges_by_row_kind(self, node: ValueNode, contract_chains: bool = True) -> InputEdges:
        """Yield the input nodes of a row, each with the break on its edge, if any."""
        op, _, _, call = node.operation_operands_and_call
        if node.enclosing_call is not None and node.row in node.enclosing_call.next_turn_rows:
            yield from self._iter_loop_input_and_last_result_edges(node)
        elif op >= FIRST_CODE and contract_chains and self._is_unbroken_row_of_long_recording(node, op):
            yield from self._iter_chain_nodes_with_inputs_outside_chain(node)
        elif op >= FIRST_CODE:
            yield from self._iter_scalar_operation_edges(node)
        elif op == CALL and call is not None:
            yield from self._iter_call_input_and_body_result_edges(node, call)
        else:
            yield from self._iter_leaf_edges(node)

    def _iter_leaf_edges(self, node: ValueNode) -> InputEdges:
        """Yield the values that a leaf's value came from, or nothing if its origin is unknown."""
        if node.origin is not None:
            yield from self._iter_origin_edges(node.origin)
            return
        tensor = node.tensor
        if tensor is None or tensor._record is None or tensor._record is node.record or not len(tensor._record):
            return
        yield self.find_or_add_row_node(tensor._record, tensor._row), None

    def _iter_scalar_operation_edges(self, node: ValueNode) -> InputEdges:
        """Yield the one or two inputs of an elementwise operation on scalars."""
        op, left, right, _ = node.operation_operands_and_call
        primitive = BY_CODE[op - FIRST_CODE]
        inputs = (left,) if left == right or len(primitive.texts) == 2 else (left, right)
        scope_break = self._find_unrecorded_break_outside_calls(node)
        if "-" not in primitive.texts[1:] and node.required_recording.first_run is None:
            # All inputs are floats with a rule, so these edges have a break only if the tape did not record the
            # operation.
            yield from ((self.find_row_node_in_same_run(node, row), scope_break) for row in inputs)
            return
        yield from self._iter_operation_edges(node, primitive, inputs, scope_break)

    def _iter_call_input_and_body_result_edges(self, node: ValueNode, call: Call) -> InputEdges:
        """Yield the inputs of a call, or the results of the bodies that ran in it."""
        primitive = call.primitive
        inputs = call.inputs
        scope_break = self._find_unrecorded_break_outside_calls(node)
        bodies = list(iter_bodies_computing_output(call, node.row - call.row))
        if bodies:
            yield from ((self.find_body_output_node(node, call, body), scope_break) for body in bodies)
            # The first input of a cond decides which body runs.
            inputs = inputs[:1] if primitive.name == "cond" else ()
            condition = find_loop_condition(call)
            if condition is not None:
                yield (
                    self.find_body_output_node(node, call, condition),
                    scope_break
                    or Break("nondifferentiable_op", node.find_computation_use_or_creation_place(), primitive.op),
                )
        yield from self._iter_operation_edges(node, primitive, inputs, scope_break)

    def _find_unrecorded_break_outside_calls(self, node: ValueNode) -> OptionalBreak:
        """Return the break at an operation that this tape did not record, or None for a row inside a call."""
        return None if node.enclosing_call is not None else self.find_break_of_unrecorded_operation(node)

    def _iter_operation_edges(
        self, node: ValueNode, primitive: Primitive, inputs: RowSequence, scope_break: OptionalBreak
    ) -> InputEdges:
        """Yield the inputs of an operation, each with its break, if any."""
        for index, row in enumerate(inputs):
            input_node = self.find_row_node_in_same_run(node, row)
            # Assignments inside the function are newer than the state before the call.
            if node.required_recording.first_run is not None:
                yield from self._iter_edges_to_values_assigned_before_read(node, row)
            yield input_node, scope_break or self._find_operation_break(node, input_node, primitive, index)

    def find_row_node_in_same_run(self, node: ValueNode, row: int) -> ValueNode:
        """Return the node of another row from the same recording and the same execution of a function.

        Args:
            node: A node from the same execution.
            row: The other row.
        """
        if node.enclosing_call is None:
            return self.find_or_add_row_node(node.required_recording, row)
        return self.find_or_add_node_in_or_feeding_call(node.required_recording, row, node.enclosing_call)

    def find_body_output_node(self, node_in_same_run: ValueNode, call: Call, body: FunctionBody) -> ValueNode:
        """Return the node of the row in a body that computed an output of a call.

        Args:
            node_in_same_run: A node of the execution that contains the call.
            call: The call.
            body: A body of the call, whose `row` computes the output.
        """
        call_node = self.find_row_node_in_same_run(node_in_same_run, call.row)
        enclosing_call = EnclosingCall(call_node, body.outer_rows, body.next_turn_rows)
        return self.find_or_add_node_in_or_feeding_call(body.record, body.row, enclosing_call)

    def _iter_edges_to_values_assigned_before_read(self, node: ValueNode, row: int) -> InputEdges:
        """Yield edges to the values that a function assigned to a variable before one of its rows read the variable.

        The assignment may be in a loop or a branch.
        """
        record = node.required_recording
        variable = find_variable_of_state_row(record, row)
        if variable is None:
            return
        for assign_call, outer_calls in iter_assignments_and_outer_calls_before(record, variable, row):
            context_node = node
            for call, inner_call in pairwise((*outer_calls, assign_call)):
                body = next(
                    candidate
                    for candidate in iter_bodies_computing_output(call, None)
                    if inner_call in candidate.record.calls
                )
                context_node = self.find_body_output_node(
                    self.find_row_node_in_same_run(context_node, call.row), call, body
                )
            assigned_node = self.find_row_node_in_same_run(context_node, assign_call.row)
            for input_row in assign_call.inputs:
                yield (
                    self.find_row_node_in_same_run(context_node, input_row),
                    Break("state", assigned_node.find_computation_use_or_creation_place(), assign_call.primitive.name),
                )

    def find_or_add_node_in_or_feeding_call(self, record: Record, row: int, enclosing_call: EnclosingCall) -> ValueNode:
        """Return the node of a row in a function's body, for one particular call of the function.

        Args:
            record: The recording of the function's body.
            row: The row in that recording. For an input row, the result is the node outside the call that provides the
                row's value.
            enclosing_call: The call.
        """
        if row in enclosing_call.outer_rows and row not in enclosing_call.next_turn_rows:
            return self.find_row_node_in_same_run(enclosing_call.node, enclosing_call.outer_rows[row])
        leaf = record.leaves.get(row)
        if leaf is not None and isinstance(leaf.tensor, Tensor):
            return self.find_or_add_tensor_node(leaf.tensor)
        node = self._find_or_add_node(ValueNode((id(record), row, enclosing_call.node.key), record, row))
        node.enclosing_call = enclosing_call
        return node

    def _iter_loop_input_and_last_result_edges(self, node: ValueNode) -> InputEdges:
        """Yield the edges from an input row of a loop to the loop's input and to the result of the last iteration."""
        enclosing_call = node.enclosing_call
        assert enclosing_call is not None
        yield self.find_row_node_in_same_run(enclosing_call.node, enclosing_call.outer_rows[node.row]), None
        result_row = enclosing_call.next_turn_rows[node.row]
        yield self.find_or_add_node_in_or_feeding_call(node.required_recording, result_row, enclosing_call), None

    def find_break_of_unrecorded_operation(self, node: ValueNode) -> OptionalBreak:
        """Return the break at an operation that this tape did not record, or None if the tape recorded it.

        The tape may have been paused or reset, or its block may not have begun yet or may have ended already.

        Args:
            node: The node of the operation.
        """
        is_own_row = node.record is self.record
        if is_own_row and any(first <= node.row < end for first, end in self.spans):
            return None
        cause = "outside_tape"
        if is_own_row:
            for event, row, _, frames in reversed(self.tape.history):
                if event == "reset" and node.row < row and frames:
                    return Break("outside_tape", CodePlace(frames), "reset")
            if self._is_row_in_pause(node.row):
                cause = "recording_paused"
        return Break(cause, node.find_computation_use_or_creation_place(), node.find_operation_name())

    def _is_row_in_pause(self, row: int) -> bool:
        """Return whether a row of the tape's recording was written inside a ``stop_recording()`` block."""
        kinds = [
            event.kind
            for event in self.record.events
            if event.row <= row and event.kind in ("pause", "resume") and event.subject is self.tape
        ]
        return kinds[-1:] == ["pause"]

    def _find_operation_break(
        self, node: ValueNode, input_node: ValueNode, primitive: Primitive, input_index: int
    ) -> OptionalBreak:
        """Return the reason why an operation passes no gradient to one of its inputs, or None if it does pass one."""
        place = node.find_computation_use_or_creation_place()
        break_ = self._find_stop_gradient_assign_or_numpy_break(primitive, place) or self._find_dtype_break(
            node, input_node, primitive, place
        )
        if break_ is not None:
            return break_
        dtype = node.find_dtype()
        is_discrete = dtype is not None and not dtype.differentiable
        # An adjoint can reach only a float, or the target itself.
        needs_gradient = not is_discrete or node.key in self.target_keys
        if primitive.rules is None and primitive.missing == "unregistered" and needs_gradient:
            return Break("no_gradient_registered", place, primitive.op)
        if is_discrete or not self._has_rule_for_input(node, primitive.rules, input_index):
            return Break("nondifferentiable_op", place, primitive.op or primitive.label)
        if primitive.name == "py_function":
            return self._find_break_in_py_function(node, place, input_index)
        return None

    @staticmethod
    def _find_stop_gradient_assign_or_numpy_break(primitive: Primitive, place: OptionalPlace) -> OptionalBreak:
        """Return the break at an operation that always cuts the gradient, stores the value or passes it to NumPy."""
        name = primitive.name
        if name == "stop_gradient":
            return Break("stop_gradient", place, primitive.label)
        if name.startswith("assign") or name == "slice_update":  # v[i].assign(x) computes and stores a new v.
            return Break("state", place, name)
        if "numpy_function" in name:
            return Break("left_through_numpy", place, "tf.numpy_function")
        return None

    @staticmethod
    def _find_dtype_break(
        node: ValueNode, input_node: ValueNode, primitive: Primitive, place: OptionalPlace
    ) -> OptionalBreak:
        """Return the break at a cast to a dtype without gradients, or at an input with such a dtype."""
        dtype = node.find_dtype()
        input_dtype = input_node.find_dtype()
        if input_dtype is not None and not input_dtype.differentiable:
            return Break("integer_dtype", place, input_dtype.name)
        is_cast = primitive.name in ("cast", "bitcast")
        if dtype is not None and not dtype.differentiable and (is_cast or dtype.name == "string"):
            return Break("integer_dtype", place, dtype.name)
        return None

    def _has_rule_for_input(self, node: ValueNode, rules: Rules, input_index: int) -> bool:
        """Return whether an operation has a rule for an input. The last rule also covers all further inputs."""
        if rules is None:
            return False
        if callable(rules):
            record = node.required_recording
            return self.list_whether_inputs_get_adjoint(record, record.get_call(node.row))[input_index]
        return rules[min(input_index, len(rules) - 1)] is not None

    def _find_break_in_py_function(self, node: ValueNode, place: OptionalPlace, input_index: int) -> OptionalBreak:
        """Return the break inside a ``tf.py_function``, or None. A function with a break passes back zeros."""
        call = node.required_recording.get_call(node.row)
        python_call: PythonCall | None
        if "call" in call.attrs:
            python_call = call.attrs["call"]
        else:  # A row of a function does not store its Python call, but the last such call may still exist.
            python_call = getattr(call.primitive, "last_run", lambda: None)()
        if python_call is None or python_call.tape is None or not python_call.inputs[input_index].dtype.differentiable:
            return None
        if python_call in _calls_in_question:  # The search has come back to this call through an escaped value.
            return None
        _calls_in_question.append(python_call)
        try:
            break_: OptionalBreak = hooks.find_break_on_tape_of_py_function(
                python_call.tape, python_call.outputs[node.row - call.row], python_call.inputs[input_index]
            )
        finally:
            _calls_in_question.remove(python_call)
        if break_ is None or break_.cause != "independent":
            return break_
        return Break("left_through_numpy", place, "tf.py_function")

    def list_whether_inputs_get_adjoint(self, record: Record, call: Call) -> list[bool]:
        """Return, for each input of a call, whether the call's rules pass an adjoint to it.

        The program's custom gradient is called once, without being recorded, to see for which inputs it returns None.

        Args:
            record: The recording.
            call: The call.
        """
        rules = call.primitive.rules
        if rules is None:
            return [False] * len(call.inputs)
        if not callable(rules):
            return [rules[min(index, len(rules) - 1)] is not None for index in range(len(call.inputs))]
        cached = self._passes_by_call.get(id(call))
        # A new call may have the same id as a call that no longer exists.
        if cached is not None and cached[0] is call:
            return cached[1]
        concrete_function = call.attrs.get("concrete_function")
        if concrete_function is not None and concrete_function._gradient is not None:
            passes = [part is not None for part in concrete_function._gradient.gradient_rows]
        elif call.primitive.name == "custom_gradient":
            passes = list_whether_inputs_get_custom_share(record, call)
        else:
            passes = [True] * len(call.inputs)
        self._passes_by_call[id(call)] = call, passes
        return passes

    def _iter_origin_edges(self, origin: ValueOrigin) -> InputEdges:
        """For a value without a row, yield the values it came from, each with the break on its edge, if any."""
        kind = origin.kind
        place = find_origin_place(origin)
        if kind == "constant":
            if origin.detail is not None:
                escape: LoggedEscape = origin.detail
                place = CodePlace(escape.stack) if escape.place else place
                yield (
                    self.find_or_add_ref_node(ValueRef(*escape.reference_fields)),
                    Break("left_through_numpy", place, escape.method),
                )
            return
        if is_variable_state(origin):
            cause = "state"
            detail = kind
        else:
            cause = "outside_tape"
            detail = origin.detail.name if kind == "op" else kind
        for ref in origin.inputs:
            input_node = self.find_or_add_ref_node(ref)
            if kind in ("row", "value"):
                cause = "integer_dtype" if origin.detail in ("AsString", "StringToNumber") else "nondifferentiable_op"
                yield input_node, Break(cause, place, origin.detail) if kind == "value" else None
                continue
            is_stopped = kind == "op" and detail == "stop_gradient"
            yield input_node, Break("stop_gradient" if is_stopped else cause, place, detail)

    # -- keys of values ---------------------------------------------------------------------------

    def list_keys_of_value(self, value: TargetOrSource) -> list[tuple[str, int]]:
        """Return the keys that identify the nodes of a tensor or variable; see :meth:`iter_keys_of_node`.

        Args:
            value: The tensor or variable.
        """
        if not isinstance(value, Tensor):
            return [("variable", id(getattr(value, "_base", value)))]
        row = self.record.find_row(value)
        return [("tensor", id(value))] + ([] if row is None else [("row", row)])

    def exclude_values_from_contraction(self, *values: TargetOrSource) -> None:
        """In a long recording, exclude the rows of the given values from the chains that a search contracts.

        Args:
            *values: Tensors and variables.
        """
        if len(self.record) > LONG_RECORD:
            self.exclude_rows_from_contraction(
                row for value in values for row in find_rows_in_recording(self.tape, value)
            )

    def exclude_rows_from_contraction(self, rows: RowIterable) -> None:
        """Exclude the given scalar rows from the chains that a search contracts, and discard the nodes built so far.

        Args:
            rows: The rows. Rows that are not scalar operations are ignored.
        """
        new_rows = {row for row in rows if self.record.read_integer_cells(row)[0] >= FIRST_CODE} - self.excluded_rows
        if new_rows:
            self.excluded_rows |= new_rows
            for node in self.nodes.values():
                node._edges = None
            self.nodes.clear()

    def iter_keys_of_node(self, node: ValueNode) -> Iterator[tuple[str, int]]:
        """Yield the keys that :meth:`list_keys_of_value` returns for a node's tensor, variable and row.

        Args:
            node: The node.
        """
        if node.tensor is not None:
            yield "tensor", id(node.tensor)
        if node.variable is not None:
            yield "variable", id(node.variable)
        if node.record is self.record:
            yield "row", node.row
