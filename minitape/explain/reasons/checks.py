"""Find the causes of missing gradients with the checks that all frameworks share.

Each check looks for one cause and returns a `Finding` or None. ``check_order.py`` runs the checks.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import TypeGuard

import numpy as np

from ...common.syntax import list_nodes, select_nodes
from ...engine.types import NameSet, RowSet
from ...recording.graph_nodes import CodePlace, to_site
from ...recording.recorded_rows import Escape, Escapes, InputEdge, OptionalArray, RecordedRow
from ...recording.sites import NOWHERE, CallStack, Site, find_innermost_site
from ..causes import get_kind_or_error_kind
from ..fixes.host_conversion_fixes import CONVERSION_NAMES
from .object_names import find_name_bound_at_site
from .program_text import (
    Statement,
    collect_statements_using_value,
    find_binding_statements,
    find_last_name_of_dotted_path,
    find_statement,
)
from .question import (
    ADD_OPS,
    Finding,
    OptionalFinding,
    PathStep,
    Question,
    is_training_target_detached,
    list_distinct_breaks,
)
from .zero_nan import SUBTRACT_OPS, build_row_finding

SETUP_METHODS = ("__init__", "__post_init__", "build")  # These methods run once, before any training step.
CAUSES_BEFORE_ESCAPE = set(
    "stop_gradient integer_dtype integer_cast nondifferentiable no_gradient_registered no_grad inference_mode".split()
)
INTEGER_DTYPES = ("int", "uint", "bool")
VARIABLE_MAKERS = ("Variable", "add_weight", "Parameter")
# Values converted by these methods are used only to decide which code runs.
CONTROL_METHODS = ("bool", "__bool__", "index", "int")
BRANCH_METHODS = ("bool", "__bool__", "index")

BreaksByRow = dict[int, set[tuple[str, Site]]]  # The cause and the line of each break.


def find_non_float_source(question: Question) -> OptionalFinding:
    """Find a source that cannot have a gradient because it is an integer, a truth value or a string.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the cause lies elsewhere.
    """
    dtype = str(getattr(question.source.dtype, "name", question.source.dtype)).removeprefix("torch.")
    if not dtype.startswith((*INTEGER_DTYPES, "string")):
        return None
    first_row = question.rows[question.source_rows[0]] if question.source_rows else None
    site = find_innermost_site(question.source_call_stack, NOWHERE if first_row is None else first_row.site)
    return Finding("integer_dtype", site, None if first_row is None else first_row.index, dtype, "source")


# -- breaks on the path ----------------------------------------------------------------------------


def find_path_break_nearest_to_source(question: Question) -> OptionalFinding:
    """Find the break that is nearest to the source on the cheapest path.

    Args:
        question: The question about the source.

    Returns:
        The finding, whose `more` lists the other breaks in this path and in other paths.
    """
    findings: list[Finding] = []
    for row, edge in question.path_breaks:
        site = _find_break_site(question, row, edge)
        if findings and _does_finding_only_prepare_stored_value(findings[-1], edge, site):
            findings.pop()
        if findings and findings[-1].cause == edge.cause and edge.detail == "gradient":
            # A break at another tape's gradient replaces a previous finding with the same cause, because the line that
            # computed the gradient is the one to report.
            findings.pop()
        if (edge.cause, site) not in [(finding.cause, finding.site) for finding in findings]:
            findings.append(Finding(edge.cause, site, row, edge.detail))
    if not findings:
        return None
    findings[0].more = [*findings[1:], *find_side_breaks(question, findings)]
    return findings[0]


def _find_break_site(question: Question, row: int, edge: InputEdge) -> Site:
    return question.rows[row].site if edge.site is NOWHERE else edge.site


def _does_finding_only_prepare_stored_value(finding: Finding, edge: InputEdge, site: Site) -> bool:
    """Return whether an unrecorded operation merely prepares a value that the same line then stores or converts."""
    is_unrecorded = finding.cause in ("outside_tape", "not_recorded")
    is_stored = edge.cause in ("state", "variable_assign", "left_through_numpy")
    return is_unrecorded and is_stored and finding.site == site


def _map_rows_to_first_breaks_towards_target(question: Question) -> BreaksByRow:
    """Return, for each row, the first break in each of its paths to the target, as a (cause, site) pair.

    Breaks that the program seems to intend are left out.
    """
    reachable: BreaksByRow = {}
    for row in sorted(question.ancestors, reverse=True):
        for edge in question.rows[row].edges:
            breaks = reachable.setdefault(edge.input_row, set())
            if not edge.cause:
                breaks |= reachable.get(row, set())
            elif question.rows[row].kind != "operation" or not _is_break_intended(question, row, edge):
                breaks.add((edge.cause, _find_break_site(question, row, edge)))
    return reachable


def find_side_breaks(question: Question, known_findings: list[Finding]) -> list[Finding]:
    """Find each break that is the only one in some other path, unless the program seems to intend that break.

    Args:
        question: The question about the paths.
        known_findings: The findings that are already reported. Breaks at the rows of these findings are treated as
            repaired.
    """
    reported = {(finding.cause, finding.site) for finding in known_findings}
    # A large model has many sources, so the rows are searched again only for a source with a break to report.
    reachable_breaks = question.get_or_compute_shared_result(
        "reachable breaks", lambda: _map_rows_to_first_breaks_towards_target(question)
    )
    if all(reported.issuperset(reachable_breaks.get(row, ())) for row in question.used_source_rows):
        return []
    reached_from_source = question.find_rows_and_descendants(question.used_source_rows, open_only=True)
    repaired_rows = {finding.row for finding in known_findings if finding.row is not None}
    open_to_target = question.find_rows_and_ancestors(question.target_rows, open_only=True, repaired_rows=repaired_rows)
    findings = []
    for row in sorted(open_to_target):
        for edge in question.rows[row].edges:
            if not edge.cause or edge.input_row not in reached_from_source:
                continue
            site = _find_break_site(question, row, edge)
            if (edge.cause, site) not in reported and not _is_break_intended(question, row, edge):
                reported.add((edge.cause, site))
                findings.append(Finding(edge.cause, site, row, edge.detail, is_side_break=True))
    return findings


def _yields_truth_value_index_or_count(question: Question, row: int, cause: str) -> bool:
    """Return whether a row yields a truth value, an index or a count, rather than a rounded value."""
    is_rounded = question.rows[row].op in question.adapter.zero_mechanisms["zero_derivative"]
    return get_kind_or_error_kind(cause).is_discrete and not is_rounded


def _is_break_intended(question: Question, row: int, edge: InputEdge) -> bool:
    """Return whether a break seems intended because of a discrete value, a training target or a known idiom.

    Two idioms leave the gradient correct despite the break: the straight-through estimator ``z + (q - z).detach()``,
    and subtracting a detached maximum, ``x - x.max().detach()``.
    """
    site = _find_break_site(question, row, edge)
    if _yields_truth_value_index_or_count(question, row, edge.cause) or is_training_target_detached(site):
        return True
    chain = [row]
    while len(inputs := question.rows[chain[-1]].inputs) == 1:
        chain.append(inputs[0])
    detached = question.rows[chain[1]] if len(chain) > 1 else question.rows[row]
    uses = [question.rows[reader] for reader in question.consumers.get(row, ())]
    if detached.op in SUBTRACT_OPS:
        return any(use.op in ADD_OPS and not set(use.inputs).isdisjoint(detached.inputs) for use in uses)
    is_maximum = any("max" in question.rows[index].op.lower() for index in chain)
    return is_maximum and all(use.op in SUBTRACT_OPS | ADD_OPS for use in uses)


# -- values that left the framework ----------------------------------------------------------------


def rank_escapes_by_likely_cause(question: Question, escapes: Iterable[Escape]) -> list[Escape]:
    """Return the given escapes, starting with those that are most likely to be the cause.

    Values that only decide which code runs come last, and values that lie behind a break come after values on an open
    path.

    Args:
        question: The question about the source.
        escapes: The values that were computed from the source and left the framework.
    """

    def rank_escape(escape: Escape) -> tuple[bool, bool]:
        path = find_path_from_source_to_escape(question, escape)
        return escape.method in CONTROL_METHODS, any(step.edge.cause for step in path)

    return sorted(escapes, key=rank_escape)


def find_escapes_beside_open_path(question: Question, known_findings: list[Finding]) -> list[Finding]:
    """Find values that left the framework and reached the target as plain numbers, although another path is open.

    Args:
        question: The question about the source.
        known_findings: The findings that are already reported.

    Returns:
        A finding for each statement in which such a value left the framework.
    """
    reached_from_source = question.find_rows_and_descendants(question.used_source_rows, open_only=True)
    reported = {finding.site for finding in known_findings}
    findings = []
    for escape in question.escapes:
        statement = find_statement(escape.site)
        if escape.row not in reached_from_source or escape.site in reported or escape.method in BRANCH_METHODS:
            continue
        if not statement or _does_convert_only_to_compare(statement):
            continue
        if does_escape_reach_target(question, escape, follow_branches=False):
            reported.add(escape.site)
            cause = question.adapter.escape_cause
            findings.append(Finding(cause, escape.site, escape.row, escape.method, is_side_break=True))
    return findings


def _does_convert_only_to_compare(statement: Statement) -> bool:
    """Return whether a statement converts values to plain numbers only to compare them."""
    compared = {node for compare in list_nodes(statement.node, ast.Compare) for node in ast.walk(compare)}
    calls = list_nodes(statement.node, ast.Call)
    conversions = [call for call in calls if find_last_name_of_dotted_path(call.func) in CONVERSION_NAMES]
    return bool(conversions) and all(call in compared for call in conversions)


def find_break_before_escape(question: Question, escape: Escape) -> OptionalFinding:
    """Find the break in the path from the source to a value that left the framework.

    Args:
        question: The question about the source.
        escape: The value that left the framework.
    """
    for row, edge in list_distinct_breaks(find_path_from_source_to_escape(question, escape)):
        if edge.cause in CAUSES_BEFORE_ESCAPE:
            return Finding(edge.cause, _find_break_site(question, row, edge), row, edge.detail)
    return None


def find_path_from_source_to_escape(question: Question, escape: Escape) -> list[PathStep]:
    """Return the cheapest path from the source to a value that left the framework.

    Args:
        question: The question about the source.
        escape: The value that left the framework.
    """
    return Question(question.adapter, question.rows, question.source_rows, [escape.row], question.source).path


def is_escape_only_control_flow(question: Question, finding: Finding) -> bool:
    """Return whether a value that left the framework only decided which code ran.

    Args:
        question: The question about the source.
        finding: The finding for the value that left the framework.
    """
    place = (finding.row, finding.site)
    escape = next((escape for escape in question.escapes if (escape.row, escape.site) == place), None)
    if escape is None or not find_statement(escape.site):
        return False
    return not does_escape_reach_target(question, escape, follow_branches=False)


def does_escape_reach_target(question: Question, escape: Escape, follow_branches: bool = True) -> bool:
    """Return whether a value that left the framework reaches the target through the program's statements.

    Args:
        question: The question about the target.
        escape: The value that left the framework.
        follow_branches: Whether a value counts as reaching the target if it only decides which branch runs.

    Returns:
        Whether the value reaches the target, or True if the line's text is unknown.
    """
    start = find_statement(escape.site)
    if not start:
        return True
    rows = (question.rows[row] for row in question.ancestors.difference(question.source_rows))
    later_rows = (
        row for row in rows if row.was_created_after(escape) and not question.adapter.is_from_number_literal(row)
    )
    sites = {site for row in later_rows for site in (row.site, *row.call_stack)}
    reached = collect_statements_using_value(start, [site[0] for site in sites], follow_branches)
    if isinstance(start.node, ast.Expr):  # A bare expression passes its value to no other code on its line.
        reached = reached - {start}
    return not reached.isdisjoint(map(find_statement, sites))


def build_finding_of_first_escape(question: Question, escapes: Escapes) -> Finding:
    """Return the finding for the first of the given values that left the framework.

    Args:
        question: The question about the source.
        escapes: At least one value that left the framework.
    """
    return Finding(question.adapter.escape_cause, escapes[0].site, escapes[0].row, escapes[0].method)


# -- another object --------------------------------------------------------------------------------


def is_assigned_name_bound_to_variable_elsewhere(question: Question, statement: Statement) -> bool:
    """Return whether another statement assigns a variable to a name that the given statement also assigns.

    Args:
        question: The question about the source.
        statement: The statement that assigns the name.
    """
    others = [
        other
        for name in statement.bound_names
        for other in find_binding_statements(name, statement)
        if other is not statement
    ]
    # Statements in other notebook cells count only if the given statement reads the name that it assigns.
    reads_own_name = bool(set(statement.bound_names) & statement.read_names)
    values = [other.value for other in others if reads_own_name or other.file == statement.file]
    parts = [part for value in values for part in getattr(value, "elts", [value])]
    return any(find_last_name_of_dotted_path(part.func) in VARIABLE_MAKERS for part in select_nodes(parts, ast.Call))


def move_site_to_statement_start(statement: Statement, site: Site) -> Site:
    """Return the first line of a statement, together with the exact position inside the statement if it is known.

    Args:
        statement: The statement.
        site: A site in the statement.
    """
    place: CodePlace | None = getattr(site, "place", None)
    return statement.site if place is None else to_site(place.copy_with_line(statement.line))


def find_divergence_site_or_deeper_storing_site(call_stack: CallStack, other_stack: CallStack) -> Site:
    """Return the statement at which two call stacks diverge.

    If a statement further down `call_stack` stores its result in an object, that statement is returned instead.

    Args:
        call_stack: The statements that ran, outermost first.
        other_stack: The call stack to compare with.

    Returns:
        The site, or `NOWHERE` if `call_stack` is empty.
    """
    if not call_stack:
        return NOWHERE
    pairs = enumerate(zip(call_stack, other_stack, strict=False))
    depth = next((level for level, (site, other_site) in pairs if site != other_site), len(call_stack) - 1)
    for site in reversed(call_stack[depth + 1 :]):
        if any("." in name or "[" in name for name in find_statement(site).bound_names):
            return site
    return call_stack[depth]


def find_rebound_name(question: Question) -> OptionalFinding:
    """Find a statement, such as ``w = w - rate * g``, that rebound the name of a variable or watched tensor.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the cause lies elsewhere.
    """
    if not question.source_rows:
        return None
    row = question.rows[question.source_rows[0]]
    for site in reversed(row.call_stack):
        statement = find_statement(site)
        if not statement.bound_names:
            continue
        if _does_rebind_variable(question, row, statement):
            return Finding(
                "rebound", move_site_to_statement_start(statement, site), row.index, statement.bound_names[0]
            )
        return None
    return None


def _does_rebind_variable(question: Question, row: RecordedRow, statement: Statement) -> bool:
    """Return whether the statement that created a row rebinds a name that held a variable."""
    if is_assigned_name_bound_to_variable_elsewhere(question, statement) and not statement.find_call("Variable"):
        return True
    binds = set(statement.bound_names)
    updates_itself = bool(binds & statement.read_names)
    binds_part = not all(name.isidentifier() for name in statement.bound_names)
    if not (updates_itself or binds_part):
        return False
    target_names = {ast.unparse(node) for target in statement.targets for node in list_nodes(target, ast.expr)}
    other_reads = statement.read_names.difference(binds, target_names)
    leaves = [question.rows[leaf] for leaf in _iter_leaf_inputs_of_statement(question, row, statement)]
    states = [leaf for leaf in leaves if leaf.kind in ("variable", "source")]
    return any(collect_names_assigned_at_leaf_creation(question, state).isdisjoint(other_reads) for state in states)


def collect_names_assigned_at_leaf_creation(question: Question, leaf: RecordedRow) -> NameSet:
    """Return the names assigned by the statements that created a leaf.

    Names assigned from a call with several results are omitted, because the leaf may be any of the results.
    """
    names = set[str]()
    for site in question.adapter.find_leaf_creation(leaf).call_stack:
        statement = find_statement(site)
        if len(statement.bound_names) == 1 or not isinstance(statement.value, ast.Call):
            names.update(statement.bound_names)
    return names


def _iter_leaf_inputs_of_statement(question: Question, row: RecordedRow, statement: Statement) -> Iterator[int]:
    """Yield the leaves from which a statement computed a row."""
    for index in row.inputs:
        input_row = question.rows[index]
        if input_row.kind != "operation":
            yield index
        elif any(map(statement.covers_site, input_row.call_stack)):
            yield from _iter_leaf_inputs_of_statement(question, input_row, statement)


def find_leaf_replacing_source(question: Question) -> OptionalFinding:
    """Find a leaf that took the place of the source in the target's computation.

    Either the leaf was assigned to the source's name, or the statement that created the source ran again.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the cause lies elsewhere.
    """
    created = question.adapter.find_creation(question.adapter.to_handle_for_comparison(question.source))
    own_statements = _list_assignments_up_to_first_outside_setup(created.call_stack)
    for leaf in question.list_target_leaves_besides_source():
        leaf_created = question.adapter.find_leaf_creation(leaf)
        if question.adapter.is_from_number_literal(leaf) or leaf_created.clock == created.clock:
            continue
        leaf_is_newer = leaf_created.clock > created.clock
        leaf_statements = [(find_statement(site), site) for site in reversed(leaf_created.call_stack)]
        for statement, site in own_statements:
            names = {*statement.bound_names, find_name_bound_at_site(site)}
            for leaf_statement, leaf_site in leaf_statements:
                if not leaf_statement.bound_names:
                    continue
                was_made_again = _did_statement_create_both_as_same_kind(
                    question, leaf, statement, leaf_statement
                ) and question.adapter.was_source_replaced_when_statement_reran(
                    question, leaf, statement, created.clock, leaf_created.clock
                )
                binds_same_name = leaf_statement is not statement and any(
                    leaf_statement in find_binding_statements(name, statement) for name in names
                )
                if was_made_again or binds_same_name:
                    newer = (leaf_statement, leaf_site) if leaf_is_newer else (statement, site)
                    newer_site = move_site_to_statement_start(*newer)
                    variant = "" if binds_same_name else "again"
                    return Finding("rebound", newer_site, leaf.index, statement.bound_names[0], variant)
    return None


def _list_assignments_up_to_first_outside_setup(call_stack: CallStack) -> list[tuple[Statement, Site]]:
    """Return the assignments on a call stack, innermost first, up to the first one outside a set-up method."""
    statements = []
    for site in reversed(call_stack):
        statement = find_statement(site)
        if not statement.bound_names:
            continue
        statements.append((statement, site))
        if statement.enclosing_function_name not in SETUP_METHODS:
            break
    return statements


def _did_statement_create_both_as_same_kind(
    question: Question, leaf: RecordedRow, statement: Statement, leaf_statement: Statement
) -> bool:
    """Return whether a single statement created both the source and a leaf of the same kind."""
    if leaf_statement is not statement or not isinstance(statement.value, ast.Call):
        return False
    is_same_kind = question.is_source_variable == (leaf.kind == "variable")
    # ``weights[i] = ...`` creates another object for each key.
    return is_same_kind and not statement.does_set_item_at_nonconstant_index


def find_differentiable_shared_ancestors(question: Question) -> RowSet:
    """Return the differentiable rows from which both the source and the target were computed.

    Args:
        question: The question about the source and the target.
    """
    shared = (
        question.find_rows_and_ancestors(question.source_rows).difference(question.source_rows) & question.ancestors
    )
    rows = (question.rows[row] for row in shared)
    return {row.index for row in rows if row.kind == "variable" or row.tracked}


def find_unused_source_sharing_ancestor(question: Question) -> OptionalFinding:
    """Find a source that was computed from an ancestor of the target but was never used.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the cause lies elsewhere.
    """
    if not question.source_rows or not find_differentiable_shared_ancestors(question):
        return None
    is_swapped = not question.find_rows_and_ancestors(question.source_rows).isdisjoint(question.target_rows)
    if is_swapped:  # A different check reports that the target is an ancestor of the source.
        return None
    first_row = question.source_rows[0]
    call_stack = question.rows[first_row].call_stack or question.source_call_stack
    return Finding("wrong_object", find_innermost_site(call_stack), first_row)


def find_leaf_equal_to_source(question: Question) -> OptionalFinding:
    """Find a leaf among the target's ancestors that has the same values as the unused source.

    A leaf whose elements are all equal is probably equal to the source by coincidence. Such a leaf is ignored unless a
    tape watches either the leaf or the source.

    Args:
        question: The question about the source.

    Returns:
        The finding, or None if the cause lies elsewhere.
    """
    adapter = question.adapter
    arrays = [adapter.find_array(question.source), *(question.rows[row].array for row in question.source_rows)]
    source_arrays = [array.ravel() for array in arrays if array is not None]
    is_tensor = not question.is_source_variable
    source_is_watched = is_tensor and any(
        adapter.was_watched_by_program(question.rows[row]) for row in question.source_rows
    )
    for leaf in question.list_target_leaves_besides_source():
        values = leaf.array
        if values is None or adapter.is_from_number_literal(leaf):
            continue
        was_watched_by_program = source_is_watched or (is_tensor and adapter.was_watched_by_program(leaf))
        if not (was_watched_by_program or _has_unequal_elements(values)):
            continue
        if any(np.array_equal(source_values, values.ravel()) for source_values in source_arrays):
            created = [
                adapter.find_creation(adapter.to_handle_for_comparison(question.source)),
                adapter.find_leaf_creation(leaf),
            ]
            call_stack = max(created, key=lambda creation: creation.clock).call_stack
            newest_row = question.rows[max([leaf.index, *question.source_rows])]
            return Finding("wrong_object", find_innermost_site(call_stack, newest_row.site), leaf.index)
    return None


def _has_unequal_elements(array: OptionalArray) -> TypeGuard[np.ndarray]:
    return array is not None and array.size > 1 and bool(np.ptp(array) > 0)


def build_finding_of_target_without_source(question: Question) -> Finding:
    """Report that the target was not computed from the source.

    Args:
        question: The question about the source.
    """
    return Finding(question.adapter.unused_cause)


def find_result_unused_by_target(question: Question) -> OptionalFinding:
    """Find the last result computed from the source, if the target does not depend on any such result.

    Args:
        question: The question about the source and the target.

    Returns:
        A finding with the variant "dropped", or None if no result was computed from the source before the target.
    """
    results = question.descendants.difference(question.source_rows)
    if question.target_rows:
        results = {row for row in results if row < question.target_rows[0]}
    if not results:
        return None
    return build_row_finding(question, question.adapter.unused_cause, max(results), "dropped")
