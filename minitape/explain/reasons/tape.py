"""Answer questions about minitape's own tape: read its rows, adapt it, and run its checks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...common.texts import paragraph
from ...engine.back.tape import GradientTape
from ...engine.recording.array_spec import ArraySpec
from ...engine.recording.evidence import creation_of
from ...engine.tensor.tensor import Tensor
from ...engine.tensor.variable import UnreadVariable
from ...engine.values.dtypes import dtype_of_numpy
from ...recording.bodies import outermost
from ...recording.nodes import (
    Break,
    CodePlace,
    TapeNode,
    is_leaf,
    is_state,
    operation_of,
    place_of_origin,
    placed,
    way_of,
)
from ...recording.origins import Ref, origin_of
from ...recording.rows import BackwardPass
from ...recording.sites import NOWHERE, Site, last_return
from ...recording.tape import TapeRules, handle_of, name_given
from ...recording.trace import Trace
from ...recording.values import ValueSummary
from ..caller import asking_names
from ..causes import KIND_NAMES
from ..families import CLASSES, LAYERS, OPERATIONS, ZEROS
from ..fixes.dialects import TAPE
from ..owners import Owners, variables_of
from ..replay import MOST, open_call, starts_of, swept
from ..sentences import fill
from ..words import Explanation
from . import checks, suspects, tape_words, text, words, zero_nan
from .names import find_source_name
from .question import (
    ADD_OPS,
    Creation,
    Escape,
    Finding,
    InputEdge,
    OptionalArray,
    Question,
    RecordedRow,
    find_tracked_consumers,
    list_distinct_breaks,
)

if TYPE_CHECKING:
    from ...engine.types import End

FUNCTION_OPS = ("function", "PartitionedCall", "StatefulPartitionedCall")
MAX_CALL_DEPTH = 3  # calls inside of calls that are looked into


def read_tape(tape: GradientTape, targets: list[End], sources: list[End]) -> TapeAdapter:
    """Read the rows that a question about a tape can need.

    If all sources have a gradient, reads only what escaped under this tape, and leaves out what escaped elsewhere.

    Args:
        tape: The tape that was asked.
        targets: The targets of the gradient.
        sources: The sources of the gradient.

    Returns:
        An adapter with a row for each ancestor of the targets, of the sources, and of each value that escaped.
    """
    rules = TapeRules(tape, targets, sources)
    trace, notes = rules.trace, rules.leaving
    if all(map(rules.connected, sources)):
        notes = [note for note in notes if _is_under(rules, note)]
    trace.look_for(*rules.sources)
    escaped_nodes = [trace.of_ref(Ref(*note.known)) for note in notes]
    trace.keep(node.row for node in escaped_nodes if node.record is rules.record)
    source_nodes = [node for source in rules.sources for node in trace.of(source)]
    ancestors = trace_ancestors(rules, [*rules.starts, *source_nodes, *escaped_nodes])
    row_of_node = {node.key: index for index, node in enumerate(ancestors)}
    rows: list[RecordedRow] = []
    for index, (node, inputs) in enumerate(ancestors.items()):
        edges = [_to_input_edge(row_of_node[input_node.key], break_) for input_node, break_ in inputs]
        rows.append(TapeRow(rules, index, node, edges))
    escapes = [
        Escape(
            row=row_of_node[node.key],
            method=note.how,
            site=placed(CodePlace(note.stack) if note.stack else None),
            row_count=note.row if _is_under(rules, note) else -1,
            clock=note.when,
        )
        for note, node in zip(notes, escaped_nodes, strict=True)
    ]
    return TapeAdapter(rules, rows, row_of_node, escapes[::-1])


def _is_under(rules: TapeRules, note: Any) -> bool:
    """Return whether a note on a value that left belongs to the tape that was asked."""
    return note.record is not None and note.record() is rules.record


def trace_ancestors(rules: TapeRules, roots: list[TapeNode]) -> dict[TapeNode, list[tuple[TapeNode, Break | None]]]:
    """Return the ancestors of some nodes, in the order of execution.

    Args:
        rules: What the tape connects.
        roots: The nodes to begin with.

    Returns:
        For each ancestor, the nodes that it was computed from, each with the break between them, if there is one.
    """
    inputs: dict[Hashable, list[tuple[TapeNode, Break | None]]] = {}  # By the key of a node.
    times: dict[TapeNode, tuple[int, int]] = {}
    times_by_key: dict[Hashable, tuple[int, int]] = {}
    waiting = [(root, False) for root in reversed(roots)]
    while waiting:
        node, inputs_are_done = waiting.pop()
        if inputs_are_done:
            # A node is never earlier than its inputs, even if they belong to another tape.
            input_times = [times_by_key[one.key] for one, _ in inputs[node.key] if one.key in times_by_key]
            times[node] = times_by_key[node.key] = max([_time_of(rules, node), *input_times])
        elif node.key not in inputs:
            inputs[node.key] = rules.trace.edges(node)
            waiting.append((node, True))
            waiting += [(one, False) for one, _ in inputs[node.key] if one.key not in inputs]
    return {node: inputs[node.key] for node in sorted(times, key=times.__getitem__)}


def _time_of(rules: TapeRules, node: TapeNode) -> tuple[int, int]:
    """Return when a node ran: the row on the tape that was asked, else the clock, which sorts before all rows."""
    begin = outermost(node)
    if begin.record is rules.record:
        return begin.row, 0
    return -1, 0 if begin.origin is None else begin.origin.when


def build_question(adapter: TapeAdapter, source: Any) -> Question:
    """Return the question about one source of a tape."""
    names = set(adapter.rules.trace.names(handle_of(source)))
    question = Question(
        adapter,
        adapter.rows,
        source_rows=sorted({row for name in names for row in adapter.rows_by_name.get(name, ())}),
        target_rows=[adapter.row_of_node[node.key] for node in adapter.rules.starts],
        source=source,
        escapes=adapter.escapes,
    )
    question.name = find_source_name(question)
    question.block_clock = min((note[2] for note in adapter.rules.begins), default=0)
    return question


def _to_input_edge(row: int, b: Break | None) -> InputEdge:
    if b is None:
        return InputEdge(row)
    return InputEdge(row, b.cause.removesuffix("_op"), placed(b.place), b.what)


class TapeRow(RecordedRow):
    """A row of a tape. Its sites and values are only looked up when they are needed."""

    def __init__(self, rules: TapeRules, at: int, node: TapeNode, given: list[InputEdge]) -> None:
        self.index, self.edges, self.extra, self.rules = at, given, node, rules
        made, origin, begin = self.operation, node.origin, outermost(node)
        self.op = "" if made is None else made.op or made.name
        computed = made is not None or (origin is not None and origin.kind == "gradient")
        on_tape = rules.is_on_tape(node)
        self.kind = "source" if on_tape else "constant"
        if node.variable is not None or is_state(origin):
            self.kind = "variable"
        if node.variable is None and computed:
            self.kind = "operation"
        self.position = begin.row if begin.record is rules.record else -1
        self.clock = 0 if origin is None else origin.when
        if node.tensor is None and node.record is not None and node.caller is None:  # both at one look
            self.shape, kind = node.record.shape_dtype(node.row)
            dtype: Any = dtype_of_numpy(kind)
        else:
            self.shape, dtype = np.shape(rules.value(node)), node.dtype()
        self.dtype = "" if dtype is None else dtype.name
        counts = dtype is None or dtype.differentiable
        self.tracked = counts and (on_tape or (computed and node.caller is not None))

    @property
    def operation(self) -> Any:
        """The primitive that computed the row; None for a leaf."""
        node = self.extra
        made = operation_of(node.record, node.row)[0] if node.record is not None else None
        return node.origin.detail if made is None and node.origin is not None and node.origin.kind == "op" else made

    @property
    def place(self) -> CodePlace | None:
        """The statement that computed the row, or the one that created a leaf."""
        node = self.extra
        return (is_leaf(node) and node.birth()) or node.place()

    @cached_property
    def site(self) -> Site:  # type: ignore[override]
        """The file and the line of `place`."""
        return placed(self.place)

    @cached_property
    def call_stack(self) -> Sequence[Site]:  # type: ignore[override]
        """The statements that ran at `place`, the outermost first."""
        return way_of(self.place)

    @cached_property
    def value(self) -> ValueSummary | None:  # type: ignore[override]
        """The elements of the row, if the tape kept them."""
        return ValueSummary(self.rules.value(self.extra))

    @cached_property
    def name(self) -> str:  # type: ignore[override]
        """The name that the program gave to a variable."""
        return name_given(self.extra.variable)

    def get_object(self) -> Any:
        """Return the tensor or variable that the row stands for, if it still exists."""
        return self.extra.tensor if self.extra.variable is None else self.extra.variable


class TapeAdapter:
    """Everything that the checks need to know of a tape, besides its rows.

    Attributes:
        rules: What the tape connects.
        row_of_node: The row of each node.
        rows_by_name: The rows that stand for a tensor or variable.
        zero_mechanisms: By cause, the operations that make zeros in that way.
        class_loss_ops: The losses that compare classes.
        cancelling_scopes: The layers whose shares cancel.
        unused_cause: The cause to report if the target does not depend on the source.
        escape_cause: The cause to report if a value left.
    """

    module, zero_mechanisms, class_loss_ops, cancelling_scopes = "tf", ZEROS, CLASSES, LAYERS
    dialect = TAPE
    unused_cause, escape_cause = "independent", "left_through_numpy"

    def __init__(self, rules: TapeRules, rows: list[RecordedRow], at: dict[Hashable, int], exits: list[Escape]) -> None:
        self.rules, self.rows, self.row_of_node, self.escapes, self.owners = rules, rows, at, exits, Owners()
        self.rows_by_name: dict[Hashable, list[int]] = {}  # the rows that stand for a tensor or variable
        for row in rows:
            for name in rules.trace.stands_for(row.extra):
                self.rows_by_name.setdefault(name, []).append(row.index)

    @cached_property
    def sweep(self) -> BackwardPass | None:
        """The backward sweep to all sources that have a gradient, run again; None if it cannot run again."""
        sources = [source for source in self.rules.sources if self.rules.connected(source)]
        return swept(self.rules, self.row_of_node, starts_of(self.rules), sources)

    @cached_property
    def suspicions(self) -> list[suspects.Suspicion]:
        """Everything that looks wrong with gradients that exist."""
        if len(self.rules.record) > MOST:
            return []
        run = suspects.CheckedRun(
            self.rows,
            [] if self.sweep is None else [self.sweep],
            self.escapes,
            OPERATIONS,
            lambda how: tape_words.ESCAPE_WORDS.get(how, how),
        )
        return [
            one
            for check in (suspects.check_broadcast, suspects.check_activation_twice, suspects.check_missing_term)
            for one in check(run)
        ]

    def names(self) -> Iterable[tuple[str, Any]]:
        """Return the names of the program that asks, and what they hold."""
        return asking_names().items()

    def to_handle(self, value: Any) -> Any:
        """Return what a variable is identified by."""
        return handle_of(value)

    def is_variable(self, thing: Any) -> bool:
        """Return whether an object is a variable for the program."""
        return hasattr(thing, "_tape_rows") and not isinstance(thing, Tensor)

    def array_of(self, thing: Any) -> OptionalArray:
        """Return the elements of a tensor or variable; None while it is traced."""
        value = getattr(getattr(thing, "_state", thing), "_value", None)
        return None if isinstance(value, ArraySpec) else ValueSummary(value).array()  # that is traced

    def find_creation(self, thing: Any) -> Creation:
        """Return when and where a tensor or variable was created.

        The weights that a layer creates for itself count as created where the program creates the layer.
        """
        if thing is None:
            return Creation(0)
        origin = self.rules.origin(thing)
        clock = 0 if origin is None else origin.when
        if isinstance(thing, Tensor):
            node = self.rules.trace.of_tensor(thing)
            return Creation(clock, way_of(node.birth() if is_leaf(node) else node.place()))
        call_stack = way_of(place_of_origin(origin))
        innermost = text.at(call_stack[-1] if call_stack else NOWHERE)
        if innermost.call_of("Variable", "add_weight", "deepcopy", "copy") is not None:
            return Creation(clock, call_stack)
        layer = self.owners.of(thing)
        frames = () if layer is None else creation_of(layer)
        return Creation(clock, way_of(CodePlace(frames)) if frames else call_stack)

    def find_creation_sites(self, thing: Any) -> Sequence[Site]:
        """Return the statements that ran when a tensor or variable was created, the outermost first."""
        return self.find_creation(thing).call_stack

    def find_leaf_creation(self, row: RecordedRow) -> Creation:
        """Return when and where a leaf was created."""
        variable = row.extra.variable
        if variable is not None:
            return self.find_creation(variable)
        begin = max((note[2] for note in self.rules.begins), default=0)
        return Creation(row.clock or (begin + 1 if row.position >= 0 else 0), list(row.call_stack))

    def is_literal(self, row: RecordedRow) -> bool:
        """Return whether a row is a number in the program's text. All equal numbers share one row."""
        return row.extra.is_number()

    def is_watched(self, row: RecordedRow) -> bool:
        """Return whether the program watched a row."""
        return self.rules.was_watched(row.extra)

    def find_block_stack(self) -> list[Site]:
        """Return the statements that ran when the tape began, the outermost first."""
        begins = self.rules.begins
        return way_of(CodePlace(begins[-1][3])) if begins and begins[-1][3] else [NOWHERE]

    def find_block(self) -> Site:
        """Return the line on which the tape began."""
        return self.find_block_stack()[-1]

    def in_block(self, when: int) -> bool:
        """Return whether a time is within a ``with`` block of the tape."""
        return any(note[2] < when for note in self.rules.begins)

    def was_made_again(self, question: Question, row: RecordedRow, at: text.Statement, when: int, other: int) -> bool:
        """Return whether the object that a statement created again took the place of the source.

        Args:
            question: The question about the source.
            row: The leaf that the statement created later or earlier.
            at: The statement.
            when: When the source was created.
            other: When the leaf was created.
        """
        looped = any(isinstance(s.node, text.LOOPS) for s in at.around)
        return looped or self.in_block(when) != self.in_block(other)

    def find_sentence_fields(self, question: Question, found: Finding) -> dict[str, str]:
        """Return the fields of a finding's sentence that depend on the program's text."""
        return tape_words.find_sentence_fields(question, found)

    def label(self, row: RecordedRow) -> str:
        """Return what minitape calls the operation of a row."""
        return row.extra.label()

    def find_custom_rule(self, row: RecordedRow) -> Site:
        """Return the line on which the program's own gradient function of a call returns."""
        own = row.extra.record.call_at(row.extra.row) if self.label(row) == "custom_gradient" else None
        return NOWHERE if own is None else last_return(own.attrs["call"].grad_fn)

    def describe_operation(self, question: Question, row: int) -> str:
        """Return what the program calls an operation: ``sqrt``, or ``sqrt in norm(...)``."""
        label = self.label(question.rows[row])
        if label == "function":
            return fill("the tf.function")
        written = text.named_call(question.rows[row].site)
        if not label or not written or written in (label, "__call__"):
            return label or question.rows[row].op
        if label == "custom_gradient":
            return written
        return fill("{operation} in {function}(...)", operation=label, function=written)

    def find_use_sites(self, source: Any) -> list[Site]:
        """Return the last line under the tape on which something was computed from a source."""
        own = set(self.rules.tape._rows_of(source))
        place = self.rules.last_use(source) if own else None
        return [] if place is None else [placed(place)]

    def layer_of(self, variable: Any) -> Any:
        """Return the layer or module that owns a variable."""
        return self.owners.of(variable)


# -- checks of a tape alone ------------------------------------------------------------------------


def find_unwatched_source(question: Question) -> Finding | None:
    """Find a source that the tape did not watch when it was used."""
    if not question.used_source_rows or _is_broken_before_tape(question):
        return None
    adapter, rules = question.adapter, question.adapter.rules
    used_rows = [question.rows[row] for row in question.used_source_rows]
    is_on_tape = any(rules.is_on_tape(row.extra) and row.tracked for row in used_rows)
    if is_on_tape and not _was_used_before_watch(question):
        return None
    uses = question.find_first_uses()
    first_use = next((row for row in uses if row.position >= 0), uses[0] if uses else None)
    site, row = (NOWHERE, None) if first_use is None else (first_use.site, first_use.index)
    late_watch = _find_late_watch(question)
    if late_watch is not None:
        late_watch.row = row
        return late_watch
    if isinstance(question.source, UnreadVariable):
        place = place_of_origin(origin_of(question.source._state))
        return Finding("rebound", site if place is None else placed(place), detail="of the variable")
    if not adapter.is_variable(question.source):
        return checks.find_rebound_name(question) or Finding("not_watched", site, row)
    if not question.source.trainable:
        call_stack = adapter.find_creation(question.source).call_stack
        return Finding("not_trainable", call_stack[-1] if call_stack else site)
    if not rules.tape._watch_accessed_variables:
        return Finding("not_accessed_watched", adapter.find_block(), row)
    return None


def _is_broken_before_tape(question: Question) -> bool:
    """Return whether the first step of the path on this tape is a break that another check reports."""
    for row, edge in question.path:
        if edge.cause or question.rows[row].extra.caller is None:
            return edge.cause in ("outside_tape", "recording_paused", "state", "left_through_numpy")
    return False


def _was_used_before_watch(question: Question) -> bool:
    """Return whether the program watched the source only after all its uses."""
    adapter = question.adapter
    rows = (question.rows[row] for row in question.used_source_rows)
    watched_since = [adapter.rules.tape.watched[row.extra.row] for row in rows if adapter.is_watched(row)]
    if not watched_since:
        return False
    return all(0 <= use.position < min(watched_since) for use in question.find_first_uses())


def _find_late_watch(question: Question) -> Finding | None:
    """Find the call of ``tape.watch`` that came too late, or while recording was paused."""
    rules = question.adapter.rules
    for what, row, subject, frames in rules.tape.notes:
        if what == "watch" and subject is not None and subject() is question.source and frames:
            site = placed(CodePlace(frames))
            paused = rules.trace.paused(row) is not None or _is_paused(site)
            return Finding("recording_paused" if paused else "watched_late", site, variant="watch" if paused else "")
    return None


def _is_paused(site: Site) -> bool:
    return text.at(site).within("stop_recording", "init_scope") is not None


def find_path_break(question: Question) -> Finding | None:
    """Find the break on the path that is nearest to the source, with what a tape knows of it."""
    finding = checks.find_path_break(question)
    for row, _ in question.path:
        # The program's own rule may have given None although no edge is broken.
        if finding is None or row == finding.row:
            rule = zero_nan.find_custom_rule_return(question, row)
            if rule is not NOWHERE:
                more = [] if finding is None else finding.more
                return Finding("custom_rule", rule, row, variant="none", more=more)
    if finding is None or finding.row is None:
        return finding
    edge = next(edge for row, edge in question.path if row == finding.row and edge.cause)
    if edge.detail in ("OnesLike", "ZerosLike") and text.at(finding.site).call_of("gradient"):
        return Finding("independent")  # The row is the seed of another gradient.
    if finding.cause == "outside_tape":
        if question.is_unwatched:
            first_uses = question.find_first_uses()
            finding.more.append(Finding("not_watched", first_uses[0].site if first_uses else NOWHERE))
        if edge.detail != "reset":
            _blame_way_out_of_block(question, finding)
    return finding


def _blame_way_out_of_block(question: Question, finding: Finding) -> None:
    """Set the site of a finding to the statement by which the program left the block, or never entered it."""
    assert finding.row is not None
    row = question.rows[finding.row]
    if row.extra.record is None and _is_paused(finding.site):
        finding.cause = "recording_paused"
    # The calls that led to the block itself are not known, so the comparison begins in the function of the block.
    block = text.at(question.adapter.find_block())
    functions = [statement.functions if statement else None for statement in map(text.at, row.call_stack)]
    start = functions.index(block.functions) if block and block.functions in functions else 0
    divergence = checks.find_divergence(row.call_stack[start:], question.adapter.find_block_stack())
    finding.site = divergence or finding.site


def find_unused_layer(question: Question) -> Finding | None:
    """Find a layer that was not called, if the source is one of its variables."""
    rules, owner = (
        question.adapter.rules,
        question.adapter.layer_of(question.source) if question.adapter.is_variable(question.source) else None,
    )
    if owner is None or question.source._tape_rows(rules.tape):
        return None
    used = {id(row.get_object()) for row in question.other_leaves() if row.kind == "variable"}
    if any(id(one) in used or one._tape_rows(rules.tape) for one in variables_of(owner)):
        return None
    frames = creation_of(owner)
    way = way_of(CodePlace(frames)) if frames else question.adapter.find_creation(question.source).call_stack
    name = getattr(owner, "name", None)
    return Finding(
        "unused_layer",
        way[-1] if way else NOWHERE,
        detail=f"{name} ({type(owner).__name__})" if isinstance(name, str) else type(owner).__name__,
    )


def find_equal_leaf(question: Question) -> Finding | None:
    """Find another object of the same kind with equal values. Equal initial weights of layers mean nothing."""
    variable = question.adapter.is_variable(question.source)
    found = (
        None
        if variable and question.adapter.layer_of(question.source) is not None
        else checks.find_equal_leaf(question)
    )
    row = None if found is None else found.row
    return found if row is not None and variable == (question.rows[row].kind == "variable") else None


CHECKS = (
    checks.find_integer_source,
    find_unwatched_source,
    find_path_break,
    checks.find_escape,
    checks.find_replaced_source,
    checks.find_derived_source,
    find_equal_leaf,
    find_unused_layer,
    checks.report_unused,
)


def explain_missing_gradient(question: Question) -> Explanation:
    """Return why one source has no gradient."""
    return to_explanation(question, run_checks(question))


def run_checks(question: Question) -> Finding:
    """Return what the first check finds that finds anything."""
    return next(finding for check in CHECKS if (finding := check(question)) is not None)


def to_explanation_of_value(question: Question, finding: Finding) -> Explanation:
    """Return, in words, why a gradient is zero or not finite, even if the reason is within a function."""
    inner_question, inner_finding = descend_into_call(question, finding)
    answer = to_explanation(inner_question, inner_finding)
    if inner_question is not question:
        answer._rows = [] if finding.row is None else [question.rows[finding.row].extra.row]
    name = question.name
    if answer.kind == "zero":
        answer.message = paragraph(fill("The gradient of {x} is zero.", x=name), answer.message)
    elif answer.kind == "nonfinite":
        target_is_finite = all(zero_nan.is_finite(question, row) for row in question.target_rows)
        gradient = fill("The gradient of {x} is not finite.", x=name)
        answer.message = paragraph(gradient if target_is_finite else fill("The target is not finite."), answer.message)
    return answer


def to_explanation(question: Question, finding: Finding) -> Explanation:
    """Return a finding in a tape's words."""
    for part in (finding, *finding.more):
        if part.cause == "nondifferentiable":
            part.cause = "nondifferentiable_op"
    answer = words.to_explanation(question, finding, words.VALUES)
    for explanation in (answer, *answer.others):
        nodes = [question.rows[row].extra for row in explanation._rows]
        explanation._rows = [node.row for node in nodes if node.record is question.adapter.rules.record]
    return answer


# -- what arrived ----------------------------------------------------------------------------------


def explain_value(question: Question) -> Explanation:
    """Return why a gradient that exists is zero, not finite or wrong; if it is none of these, what it lacks."""
    question.sweep = question.adapter.sweep
    finding = find_value_cause(question)
    if finding is not None:
        return to_explanation_of_value(question, finding)
    cuts = [cut for cut in checks.find_side_breaks(question, []) if cut.row is None or is_wanted_path(question, cut)]
    connected = to_explanation(question, Finding("connected", more=cuts))
    open_descendants = question.descendants_of(question.source_rows, open_only=True)
    suspicion = next((one for one in question.adapter.suspicions if one.row in open_descendants), None)
    answer = connected if suspicion is None else suspicion.to_explanation(question.name, question)
    answer.name = question.name
    answer.others = [other for other in connected.others if other.line != answer.line]
    for other in answer.others:
        if other.kind == "cut":
            other.fix = fill("If that is meant, nothing is wrong.")
    if suspicion is None:
        answer.message = paragraph(answer.message, _describe_summed_targets(question.adapter.rules.targets))
    if answer.others:
        answer.message = paragraph(answer.message, _describe_blocked_paths(len(answer.others)))
    return answer


def _describe_blocked_paths(count: int) -> str:
    """Return a sentence on the paths that are blocked next to an open one."""
    if count == 1:
        return fill("Another path is blocked, and the gradient lacks what would come along it.")
    several = "{n} other paths are blocked, and the gradient lacks what would come along them."
    return fill(several, n=count)


def is_wanted_path(question: Question, one: Finding) -> bool:
    """Return whether a path that is blocked next to an open one is likely to be wanted.

    A path is wanted if its end is added or joined to others. A target or a factor is often cut on purpose.
    """
    if KIND_NAMES[one.cause] == "cut":
        return any(
            question.rows[at].op in {*ADD_OPS, "ConcatV2"} for at in find_tracked_consumers(question.rows, one.row or 0)
        )
    return one.cause != "state" or one.row not in question.source_rows


def _describe_summed_targets(targets: list[End]) -> str:
    """Return a sentence on a target with several elements; "" for a target with one."""
    sizes = [t.shape.num_elements() for t in targets]
    if None in sizes or sum(sizes) < 2:
        return ""
    if len(sizes) > 1:
        return fill("There are {n} targets: this is the gradient of the sum of all their elements.", n=len(sizes))
    return fill(
        "The target has {n} elements: this is the gradient of their sum; tape.jacobian keeps them apart.", n=sizes[0]
    )


def find_nonfinite_target(question: Question) -> Finding | None:
    """Find where the NaN or infinity of a target arose, if its sweep cannot run again."""
    end = next((end for end in question.target_rows if not zero_nan.is_finite(question, end)), None)
    return None if end is None else zero_nan.trace_nonfinite_value(question, end)


def find_value_cause(question: Question) -> Finding | None:
    """Find why a gradient that exists is zero or not finite."""
    with np.errstate(all="ignore"):
        return (
            find_nonfinite_target(question)
            if question.sweep is None
            else zero_nan.find_nonfinite_cause(question) or zero_nan.find_zero_cause(question)
        )


def descend_into_call(question: Question, finding: Finding, depth: int = 0) -> tuple[Question, Finding]:
    """Replace a finding about a function call by a finding within the function.

    Args:
        question: The question that the finding answers.
        finding: The finding.
        depth: The number of calls that were entered already, at most `MAX_CALL_DEPTH`.

    Returns:
        The question within the innermost call that is to blame and its finding, or the arguments if there is none.
    """
    unchanged = question, finding
    if depth == MAX_CALL_DEPTH or finding.row is None or question.rows[finding.row].op not in FUNCTION_OPS:
        return unchanged
    node = question.rows[finding.row].extra
    adjoint = None if question.sweep is None else question.sweep.adjoints.get(finding.row)
    replayed_call = None if adjoint is None else open_call(question.adapter.rules, node.row)
    if replayed_call is None:
        return unchanged
    inner = read_tape(*replayed_call)
    sweep = _sweep_call(inner, adjoint)
    call = node.record.call_at(node.row)
    for source, input_row in zip(inner.rules.sources, call.inputs, strict=False):
        outer_row = question.adapter.row_of_node.get((id(node.record), input_row))
        if not source.dtype.differentiable or outer_row not in question.descendants:
            continue
        inner_question = build_question(inner, source)
        inner_question.sweep, inner_question.name = sweep, question.name
        if not inner.rules.connected(source):
            cut = run_checks(inner_question)
            if cut.cause == "independent":  # The source is used in another branch of the function.
                return question, Finding("independent", finding.site, variant="call")
            return inner_question, cut
        inner_finding = find_value_cause(inner_question)
        if inner_finding is not None:
            return descend_into_call(inner_question, inner_finding, depth + 1)
        cut_off = find_cut_that_zeroes(inner_question)
        if cut_off is not None:
            return inner_question, cut_off
    return unchanged


def _sweep_call(inner: TapeAdapter, adjoint: Any) -> BackwardPass | None:
    """Run the backward sweep of a call again.

    Args:
        inner: The call, read as a separate tape.
        adjoint: What arrived at the call: one adjoint, or one for each result.
    """
    rules = inner.rules
    adjoints = adjoint.given if isinstance(adjoint.given, (tuple, list)) else [adjoint.given]
    starts = {
        row: result_adjoint
        for result, result_adjoint in zip(rules.targets, adjoints, strict=False)
        if result.dtype.differentiable
        for row in rules.tape._rows_of(result)[-1:]
    }
    return swept(rules, inner.row_of_node, starts, rules.sources)


def find_cut_that_zeroes(question: Question) -> Finding | None:
    """Find a cut that makes a gradient zero, because all paths through a loop or a branch are cut."""
    inside_of = any(row.extra.caller is not None for row in question.rows)
    return (
        find_path_break(question)
        if list_distinct_breaks(question.path) and (inside_of or question.adapter.sweep is None)
        else None
    )


def explain_gradient(adapter: TapeAdapter, source: Any) -> Explanation:
    """Return why one source has no gradient, or what there is to say about the gradient that it has."""
    question = build_question(adapter, source)
    is_reached = not adapter.sweep or not adapter.sweep.adjoints.keys().isdisjoint(question.source_rows)
    unreached_break = None if is_reached else find_path_break(question)
    if unreached_break is not None and unreached_break.cause == "custom_rule":
        answer = to_explanation(question, unreached_break)
    elif not adapter.rules.connected(source):
        answer = explain_missing_gradient(question)
    else:
        cut = find_cut_that_zeroes(question)
        answer = explain_value(question) if cut is None else to_explanation(question, cut)
        if answer.kind not in ("connected", "zero", "nonfinite", "suspect"):
            answer.message = paragraph(fill("The gradient of {x} is zero.", x=question.name), answer.message)
        answer.connected = True
    answer._tape = adapter.rules.tape
    return answer


def find_break_in_python(tape: GradientTape, target: End, source: End) -> Break | None:
    """Find what breaks the path to an input of a ``tf.py_function`` within it; None if nothing does."""
    asked = read_tape(tape, [target], [source])
    if asked.rules.connected(source):
        return None
    found = run_checks(build_question(asked, source))
    return Break(found.cause, getattr(found.site, "place", None), found.detail)


Trace.inside_python = staticmethod(find_break_in_python)
