"""Read the rows of minitape's own tape, and adapt the tape to the checks."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...engine.backward.tape import GradientTape
from ...engine.record.array_spec import ArraySpec
from ...engine.record.provenance import LoggedEscape, find_creation_stack
from ...engine.table.primitives import Primitive
from ...engine.tensor.tensor import Tensor
from ...engine.types import NumberPair, OptionalFunction, RowList, TargetsOrSources
from ...engine.values.dtypes import find_dtype_of_numpy_dtype
from ...recording.access_paths import NamesAndValues
from ...recording.function_bodies import find_outermost_call_or_node_itself
from ...recording.graph_nodes import (
    Break,
    CodePlace,
    NodeAndBreak,
    ValueNode,
    build_call_stack_outermost_first,
    find_origin_place,
    is_leaf,
    is_variable_state,
    to_site,
)
from ...recording.recorded_rows import (
    OTHER_RECORDING,
    Escape,
    InputEdge,
    OptionalArray,
    OptionalBackwardPass,
    RecordedRow,
    RecordedRowList,
    RowKind,
)
from ...recording.sites import NOWHERE, CallStack, Site, find_innermost_site
from ...recording.tape_reachability import TapeReachability, read_given_variable_name, unwrap_to_base_variable
from ...recording.value_origins import ValueRef
from ...recording.value_summary import ValueSummary
from ..caller import collect_asking_variables
from ..fixes.dialects import TAPE
from ..layer_lookup import LayerOwners
from ..operation_families import CLASS_LOSS_OPS, NORMALIZATION_LAYERS, TENSORFLOW_OPERATIONS, ZERO_OPS_BY_CAUSE
from ..replayed_sweep import MAX_ROWS, build_unit_seeds, replay_sweep
from ..translated_sentences import fill
from . import suspects, tape_sentences
from .adapter import Adapter
from .object_names import get_source_name_or_placeholder
from .program_text import LOOP_NODES, Statement, find_last_name_of_call_at_placed_site, find_statement
from .question import Creation, Question


def build_tape_adapter(tape: GradientTape, targets: TargetsOrSources, sources: TargetsOrSources) -> TapeAdapter:
    """Read the rows that may be needed to answer a question about a tape.

    If all sources have gradients, values that escaped under other tapes are not read.

    Args:
        tape: The tape in question.
        targets: The targets of the gradient.
        sources: The sources of the gradient.

    Returns:
        An adapter with a row for each ancestor of the targets, of the sources, and of each value that escaped.
    """
    reachability = TapeReachability(tape, targets, sources)
    graph = reachability.graph
    logged_escapes = reachability.escapes
    if all(map(reachability.is_connected, sources)):
        logged_escapes = [escape for escape in logged_escapes if _is_escape_of_tape(reachability, escape)]
    graph.exclude_values_from_contraction(*reachability.sources)
    escaped_nodes = [graph.find_or_add_ref_node(ValueRef(*escape.reference_fields)) for escape in logged_escapes]
    graph.exclude_rows_from_contraction(node.row for node in escaped_nodes if node.record is reachability.record)
    source_nodes = [node for source in reachability.sources for node in graph.list_nodes_of_value(source)]
    ancestors = map_ancestors_to_inputs(reachability, [*reachability.target_nodes, *source_nodes, *escaped_nodes])
    row_of_node = {node.key: index for index, node in enumerate(ancestors)}
    details = TapeRowDetails(reachability)
    rows = list[RecordedRow]()
    for index, (node, inputs) in enumerate(ancestors.items()):
        edges = [_to_input_edge(row_of_node[input_node.key], break_) for input_node, break_ in inputs]
        rows.append(build_tape_row(details, index, node, edges))
    escapes = [
        Escape(
            row=row_of_node[node.key],
            method=escape.method,
            site=to_site(CodePlace(escape.stack) if escape.place else None),
            row_count=escape.row_count if _is_escape_of_tape(reachability, escape) else OTHER_RECORDING,
            clock=escape.clock,
        )
        for escape, node in zip(logged_escapes, escaped_nodes, strict=True)
    ]
    return TapeAdapter(reachability, rows, row_of_node, escapes[::-1])


def _is_escape_of_tape(reachability: TapeReachability, escape: LoggedEscape) -> bool:
    """Return whether a value escaped while the recording of the tape in question was open."""
    return escape.record is not None and escape.record() is reachability.record


def map_ancestors_to_inputs(
    reachability: TapeReachability, roots: list[ValueNode]
) -> dict[ValueNode, list[NodeAndBreak]]:
    """Return the ancestors of the given nodes, in execution order.

    Args:
        reachability: The tape's rows, and which of them its adjoints reach.
        roots: The initial nodes.

    Returns:
        For each ancestor, the nodes that it was computed from, each with the break on its edge, if any.
    """
    # The dictionary's keys identify nodes, in the order in which the search visits them.
    inputs: dict[Hashable, list[NodeAndBreak]] = {}
    times: dict[ValueNode, NumberPair] = {}
    times_by_key: dict[Hashable, NumberPair] = {}
    waiting = [(root, False) for root in reversed(roots)]
    while waiting:
        node, inputs_are_done = waiting.pop()
        if inputs_are_done:
            # A node must come after its inputs, even if they belong to another tape.
            input_times = [
                times_by_key[input_node.key] for input_node, _ in inputs[node.key] if input_node.key in times_by_key
            ]
            times[node] = times_by_key[node.key] = max([_build_execution_order_key(reachability, node), *input_times])
        elif node.key not in inputs:
            inputs[node.key] = reachability.graph.list_input_edges(node)
            waiting.append((node, True))
            waiting += [(input_node, False) for input_node, _ in inputs[node.key] if input_node.key not in inputs]
    return {node: inputs[node.key] for node in sorted(times, key=times.__getitem__)}


def _build_execution_order_key(reachability: TapeReachability, node: ValueNode) -> NumberPair:
    """Return a sort key for the time at which a node was computed.

    Nodes on the tape in question are sorted by their rows. All other nodes come before them, sorted by their clocks.
    """
    outer_node = find_outermost_call_or_node_itself(node)
    if outer_node.record is reachability.record:
        return outer_node.row, 0
    return -1, 0 if outer_node.origin is None else outer_node.origin.clock


def build_question(adapter: TapeAdapter, source: Any) -> TapeQuestion:
    """Return the question about one source of a gradient on a tape.

    Args:
        adapter: The adapter for the tape.
        source: The tensor or variable.
    """
    keys = set(adapter.reachability.graph.list_keys_of_value(unwrap_to_base_variable(source)))
    question = TapeQuestion(
        adapter,
        adapter.rows,
        source_rows=sorted({row for name in keys for row in adapter.rows_by_name.get(name, ())}),
        target_rows=[adapter.row_of_node[node.key] for node in adapter.reachability.target_nodes],
        source=source,
        escapes=adapter.escapes,
    )
    question.name = get_source_name_or_placeholder(question)
    question.block_clock = min((begin.clock for begin in adapter.reachability.block_begins), default=0)
    return question


def _to_input_edge(row: int, break_: Break | None) -> InputEdge:
    """Return the edge to a row, with the cause of its break, if any."""
    if break_ is None:
        return InputEdge(row)
    return InputEdge(row, break_.cause.removesuffix("_op"), to_site(break_.place), break_.detail)


@dataclass(frozen=True, eq=False)
class TapeRowDetails:
    """Looks up the code locations, values and names of a tape's rows on demand.

    Attributes:
        reachability: The tape's rows, and which of them its adjoints reach.
    """

    reachability: TapeReachability

    def find_place(self, row: RecordedRow) -> CodePlace | None:
        """Return the statement that computed a row or created a leaf.

        Args:
            row: The row.
        """
        node: ValueNode = row.extra
        return (is_leaf(node) and node.find_creation_place()) or node.find_computation_use_or_creation_place()

    def find_site(self, row: RecordedRow) -> Site:
        """Return the file and line of the statement that ``find_place`` returns."""
        return to_site(self.find_place(row))

    def find_call_stack(self, row: RecordedRow) -> CallStack:
        """Return the statements that were running when the row was computed, outermost first."""
        return build_call_stack_outermost_first(self.find_place(row))

    def find_value(self, row: RecordedRow) -> ValueSummary:
        """Return the elements of the row, if the tape kept them."""
        return ValueSummary(self.reachability.find_array(row.extra))

    def find_name(self, row: RecordedRow) -> str:
        """Return the name that the program gave to a variable, or "" for other rows."""
        return read_given_variable_name(row.extra.variable)

    def find_object(self, row: RecordedRow) -> Any:
        """Return the tensor or variable that the row stands for, or None if it no longer exists."""
        return row.extra.tensor if row.extra.variable is None else row.extra.variable


def find_primitive(node: ValueNode) -> Primitive | None:
    """Return the primitive that computed a node, or None for a leaf.

    Args:
        node: The node.
    """
    primitive = node.find_operation()
    if primitive is None and node.origin is not None and node.origin.kind == "op":
        return node.origin.detail
    return primitive


def build_tape_row(details: TapeRowDetails, index: int, node: ValueNode, edges: list[InputEdge]) -> RecordedRow:
    """Return the row of a node.

    Args:
        details: Looks up the details of the tape's rows.
        index: The index of the row in the recording.
        node: The node.
        edges: The edges to the rows that the node was computed from.
    """
    reachability = details.reachability
    primitive = find_primitive(node)
    origin = node.origin
    outer_node = find_outermost_call_or_node_itself(node)
    is_computed = primitive is not None or (origin is not None and origin.kind == "gradient")
    is_on_tape = reachability.is_on_tape(node)
    kind: RowKind
    if node.variable is None and is_computed:
        kind = "operation"
    elif node.variable is not None or is_variable_state(origin):
        kind = "variable"
    else:
        kind = "source" if is_on_tape else "constant"
    if node.tensor is None and node.record is not None and node.enclosing_call is None:
        # One call for both values is faster than two separate lookups.
        shape, numpy_dtype = node.record.get_shape_and_dtype(node.row)
        dtype: Any = find_dtype_of_numpy_dtype(numpy_dtype)
    else:
        shape = np.shape(reachability.find_array(node))
        dtype = node.find_dtype()
    is_differentiable = dtype is None or dtype.differentiable
    row = RecordedRow(
        index,
        "" if primitive is None else primitive.op or primitive.name,
        kind,
        inputs=[edge.input_row for edge in edges],
        tracked=is_differentiable and (is_on_tape or (is_computed and node.enclosing_call is not None)),
        dtype="" if dtype is None else dtype.name,
        shape=shape,
        position=outer_node.row if outer_node.record is reachability.record else OTHER_RECORDING,
        clock=0 if origin is None else origin.clock,
        details=details,
        extra=node,
    )
    row.edges = edges
    return row


class TapeAdapter(Adapter):
    """The adapter through which the checks access a tape and its objects.

    Attributes:
        reachability: The tape's rows, and which of them its adjoints reach.
        rows: The rows of the recording.
        row_of_node: The index in `rows` of each node, keyed by the node's key.
        rows_by_name: The rows that represent a tensor or variable, by each key that `ValueGraph.list_keys_of_value`
            returns for it.
        escapes: The values that left the framework, newest first.
        owners: Looks up the layers that own variables.
    """

    framework = "tape"
    zero_mechanisms = ZERO_OPS_BY_CAUSE
    class_loss_ops = CLASS_LOSS_OPS
    cancelling_scopes = NORMALIZATION_LAYERS
    dialect = TAPE
    unused_cause = "independent"
    escape_cause = "left_through_numpy"
    to_handle_for_comparison = staticmethod(unwrap_to_base_variable)
    build_sentence_fields_from_program = tape_sentences.build_finding_sentence_fields

    def __init__(
        self,
        reachability: TapeReachability,
        rows: RecordedRowList,
        row_of_node: dict[Hashable, int],
        escapes: list[Escape],
    ):
        """Create the adapter, and index its rows by the values that they represent."""
        self.reachability = reachability
        self.rows = rows
        self.row_of_node = row_of_node
        self.escapes = escapes
        self.owners = LayerOwners()
        self.rows_by_name: dict[Hashable, RowList] = {}
        for row in rows:
            for name in reachability.graph.iter_keys_of_node(row.extra):
                self.rows_by_name.setdefault(name, []).append(row.index)

    @cached_property
    def sweep(self) -> OptionalBackwardPass:
        """A replay of the backward sweep to all sources that have a gradient, or None if no replay is possible."""
        sources = [source for source in self.reachability.sources if self.reachability.is_connected(source)]
        return replay_sweep(self.reachability, self.row_of_node, build_unit_seeds(self.reachability), sources)

    @cached_property
    def suspicions(self) -> list[suspects.Suspicion]:
        """The suspicions about gradients that exist."""
        if len(self.reachability.record) > MAX_ROWS:
            return []
        run = suspects.CheckedRun(
            self.rows,
            [] if self.sweep is None else [self.sweep],
            self.escapes,
            TENSORFLOW_OPERATIONS,
            lambda how: tape_sentences.ESCAPE_WORDS.get(how, how),
        )
        return [
            *suspects.check_accidental_broadcast(run),
            *suspects.check_activation_before_logits_loss(run),
            *suspects.check_term_without_gradient(run),
        ]

    def list_program_variable_names_and_values(self) -> NamesAndValues:
        """Return the names and values of the variables in the program that requested the explanation."""
        return collect_asking_variables().items()

    def is_variable(self, obj: Any) -> bool:
        """Return whether the program treats an object as a variable.

        Args:
            obj: The object.
        """
        return hasattr(obj, "_find_rows_in_recording") and not isinstance(obj, Tensor)

    def find_array(self, obj: Any) -> OptionalArray:
        """Return the elements of a tensor or variable, or None if they no longer exist.

        Args:
            obj: The tensor or variable.
        """
        value = getattr(getattr(obj, "_state", obj), "_value", None)
        # After a function's first run, its tensors still have their shapes but no longer their elements.
        if isinstance(value, ArraySpec):
            return None
        return ValueSummary(value).to_array()

    def find_creation(self, obj: Any) -> Creation:
        """Return when and where a tensor or variable was created.

        For the weight of a layer, return the line on which the program created the layer.

        Args:
            obj: The tensor or variable.
        """
        if obj is None:
            return Creation(0)
        origin = self.reachability.find_origin(obj)
        clock = 0 if origin is None else origin.clock
        if isinstance(obj, Tensor):
            node = self.reachability.graph.find_or_add_tensor_node(obj)
            place = node.find_creation_place() if is_leaf(node) else node.find_computation_use_or_creation_place()
            return Creation(clock, build_call_stack_outermost_first(place))
        call_stack = build_call_stack_outermost_first(find_origin_place(origin))
        innermost = find_statement(find_innermost_site(call_stack))
        if innermost.find_call("Variable", "add_weight", "deepcopy", "copy") is not None:
            return Creation(clock, call_stack)
        layer = self.owners.find_owner(obj)
        frames = () if layer is None else find_creation_stack(layer)
        return Creation(clock, build_call_stack_outermost_first(CodePlace(frames)) if frames else call_stack)

    def find_leaf_creation(self, row: RecordedRow) -> Creation:
        """Return when and where a leaf was created.

        Args:
            row: The row of the leaf.
        """
        node: ValueNode = row.extra
        variable = node.variable
        if variable is not None:
            return self.find_creation(variable)
        clock = row.clock
        if not clock and row.position != OTHER_RECORDING:
            # A leaf in this recording without a creation time was created after the block began.
            clock = max((begin.clock for begin in self.reachability.block_begins), default=0) + 1
        return Creation(clock, list(row.call_stack))

    def is_from_number_literal(self, row: RecordedRow) -> bool:
        """Return whether a row holds a number that the program wrote as a literal. Equal numbers share one row.

        Args:
            row: The row.
        """
        node: ValueNode = row.extra
        return node.record is not None and node.enclosing_call is None and node.record.is_python_number(node.row)

    def was_watched_by_program(self, row: RecordedRow) -> bool:
        """Return whether the program made the tape watch a row, by calling ``watch`` or by reading a variable.

        Args:
            row: The row.
        """
        node: ValueNode = row.extra
        return node.record is self.reachability.record and node.row in self.reachability.tape.watched

    def find_block_begin_call_stack(self) -> CallStack:
        """Return the statements that were running when the tape's ``with`` block began, outermost first."""
        begins = self.reachability.block_begins
        if not begins or not begins[-1].frames:
            return [NOWHERE]
        return build_call_stack_outermost_first(CodePlace(begins[-1].frames))

    def is_after_block_begin(self, clock: int) -> bool:
        """Return whether one of the tape's ``with`` blocks had begun before the given time.

        Args:
            clock: The time.
        """
        return any(begin.clock < clock for begin in self.reachability.block_begins)

    def was_source_replaced_when_statement_reran(
        self,
        question: Question,
        leaf: RecordedRow,
        statement: Statement,
        source_clock: int,
        leaf_clock: int,
    ) -> bool:
        """Return whether a statement ran again and created a leaf that took the place of the source.

        Args:
            question: The question about the source.
            leaf: The leaf that the statement created before or after the source.
            statement: The statement that created both.
            source_clock: When the source was created.
            leaf_clock: When the leaf was created.
        """
        is_in_loop = any(isinstance(enclosing.node, LOOP_NODES) for enclosing in statement.enclosing)
        return is_in_loop or self.is_after_block_begin(source_clock) != self.is_after_block_begin(leaf_clock)

    def find_custom_rule(self, row: RecordedRow) -> OptionalFunction:
        """Return the program's custom derivative rule for an operation, or None if the program has no such rule.

        Args:
            row: The row of the operation.
        """
        node: ValueNode = row.extra
        has_rule = node.record is not None and node.find_operation_name() == "custom_gradient"
        call = node.record.get_call(node.row) if node.record is not None and has_rule else None
        return None if call is None else call.attrs["call"].grad_fn

    def get_operation_name_or_comparison_text(self, question: Question, row: int) -> str:
        """Return the program's name for an operation, such as ``sqrt`` or ``sqrt in norm(...)``.

        Args:
            question: The question whose recording contains the row.
            row: The row of the operation.
        """
        node: ValueNode = question.rows[row].extra
        label = node.find_operation_name()
        if label == "function":
            return fill("the tf.function")
        called_name = find_last_name_of_call_at_placed_site(question.rows[row].site)
        if not label or not called_name or called_name in (label, "__call__"):
            return label or question.rows[row].op
        if label == "custom_gradient":
            return called_name
        return fill("{operation} in {function}(...)", operation=label, function=called_name)


class TapeQuestion(Question):
    """A question about a tape.

    Attributes:
        adapter: The adapter for the tape.
    """

    adapter: TapeAdapter
