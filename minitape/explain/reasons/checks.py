"""Check for the causes of a missing gradient that all frameworks share.

Each check looks for one cause and returns a `Finding`, or None. A framework runs its checks in an order; the first
finding is the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeGuard

import numpy as np

from ...recording.nodes import placed
from ...recording.sites import NOWHERE, Site
from ..causes import KIND_NAMES, find_kind
from . import text
from .names import find_bound_name
from .question import (
    ADD_OPS,
    Escape,
    Finding,
    InputEdge,
    OptionalArray,
    PathStep,
    Question,
    RecordedRow,
    detaches_training_target,
    find_cheapest_path,
    list_distinct_breaks,
)

SETUP_METHODS = ("__init__", "__post_init__", "build")  # They run once, before any training step.
CAUSES_BEFORE_ESCAPE = ("stop_gradient", "integer_dtype", "nondifferentiable", "no_gradient_registered")
INTEGER_DTYPES = ("int", "uint", "bool")
SUBTRACT_OPS = {"sub", "Sub", "subtract", "__sub__"}
VARIABLE_MAKERS = ("Variable", "add_weight", "Parameter")
CONTROL_METHODS = ("bool", "__bool__", "index", "int")  # How a value leaves that only decides what runs.


def find_integer_source(question: Question) -> Finding | None:
    """Find a source that is not a float, so that it cannot have a gradient."""
    dtype = str(getattr(question.source.dtype, "name", question.source.dtype)).removeprefix("torch.")
    if not dtype.startswith((*INTEGER_DTYPES, "string")):
        return None
    first = question.rows[question.source_rows[0]] if question.source_rows else None
    created_at = question.adapter.find_creation(question.source).call_stack
    site = created_at[-1] if created_at else first.site if first is not None else NOWHERE
    return Finding("integer_dtype", site, None if first is None else first.index, dtype, "source")


# -- breaks on the path ----------------------------------------------------------------------------


def find_path_break(question: Question) -> Finding | None:
    """Find the break on the cheapest path that is nearest to the source.

    Returns:
        The finding, with the further breaks of the path and of other paths in `Finding.more`.
    """
    found: list[Finding] = []
    for row, edge in list_distinct_breaks(question.path):
        site = _site_of_break(question, row, edge)
        if found and _only_prepares(found[-1], edge, site):
            found.pop()
        if found and found[-1].cause == edge.cause and edge.detail == "gradient":
            found.pop()  # A gradient of another tape is reported where that gradient was taken.
        if (edge.cause, site) not in [(finding.cause, finding.site) for finding in found]:
            found.append(Finding(edge.cause, site, row, edge.detail))
    if not found:
        return None
    found[0].more = [*found[1:], *find_side_breaks(question, found)]
    return found[0]


def _site_of_break(question: Question, row: int, edge: InputEdge) -> Site:
    return question.rows[row].site if edge.site is NOWHERE else edge.site


def _only_prepares(finding: Finding, edge: InputEdge, site: Site) -> bool:
    """Return whether an unrecorded operation only prepares the value that the same line then stores or converts."""
    is_unrecorded = finding.cause in ("outside_tape", "not_recorded")
    is_stored = edge.cause in ("state", "variable_assign", "left_through_numpy")
    return is_unrecorded and is_stored and finding.site == site


def find_side_breaks(question: Question, known: list[Finding]) -> list[Finding]:
    """Find breaks that alone block another path, if that path is meant to carry a gradient.

    Args:
        question: The question about the paths.
        known: The findings that are reported already. Their rows count as mended.
    """
    mended = {finding.row for finding in known if finding.row is not None}
    reached_from_source = question.descendants_of(question.used_source_rows, open_only=True)
    open_to_target = question.ancestors_of(question.target_rows, open_only=True, mended=mended)
    # The variable holds a value of an earlier round, so breaks outside of the tape are to be expected.
    holds_earlier_value = bool(known) and known[0].cause == "variable_assign"
    reported = {(finding.cause, finding.site) for finding in known}
    found: list[Finding] = []
    for row in sorted(open_to_target):
        for edge in question.rows[row].edges:
            if not edge.cause or edge.input_row not in reached_from_source:
                continue
            if holds_earlier_value and KIND_NAMES.get(edge.cause) == "outside":
                continue
            site = _site_of_break(question, row, edge)
            if (edge.cause, site) in reported or _yields_discrete_value(question, row, edge.cause):
                continue
            if not _is_intended_cut(question, row, site):
                reported.add((edge.cause, site))
                found.append(Finding(edge.cause, site, row, edge.detail, is_side_break=True))
    return found


def _yields_discrete_value(question: Question, row: int, cause: str) -> bool:
    """Return whether a row yields a truth value, an index or a count, and not a rounded value."""
    is_rounded = question.rows[row].op in question.adapter.zero_mechanisms["zero_derivative"]
    return find_kind(cause).is_discrete and not is_rounded


def _is_intended_cut(question: Question, row: int, site: Site) -> bool:
    """Return whether a cut leaves the gradient right, or detaches a training target.

    Two idioms leave it right: the straight-through estimator ``z + (q - z).detach()``, and a shift by a maximum,
    ``x - x.max().detach()``.
    """
    if detaches_training_target(site):
        return True
    chain = [row]
    while len(inputs := question.rows[chain[-1]].inputs) == 1:
        chain.append(inputs[0])
    detached = question.rows[chain[1]] if len(chain) > 1 else question.rows[row]
    uses = [later for later in question.rows[row + 1 :] if row in later.inputs]
    if detached.op in SUBTRACT_OPS:
        return any(use.op in ADD_OPS and not set(use.inputs).isdisjoint(detached.inputs) for use in uses)
    is_maximum = any("max" in question.rows[link].op.lower() for link in chain)
    return is_maximum and all(use.op in SUBTRACT_OPS | ADD_OPS for use in uses)


# -- values that left the framework ----------------------------------------------------------------


def find_escape(question: Question) -> Finding | None:
    """Find a value of the source that left the framework, and came back or decided what ran."""
    if question.used_source_rows:
        return None
    escapes = [escape for escape in question.escapes if escape.row in question.descendants]

    def likelihood(escape: Escape) -> tuple[bool, bool]:
        path = find_path_to_escape(question, escape)
        return escape.method in CONTROL_METHODS, any(step.edge.cause for step in path)

    for escape in sorted(escapes, key=likelihood):
        if flows_back_to_target(question, escape):
            finding = Finding(question.adapter.escape_cause, escape.site, escape.row, escape.method)
            earlier = find_break_before_escape(question, escape)
            if earlier is None:
                return finding
            earlier.more = [finding]
            return earlier
    return None


def find_break_before_escape(question: Question, escape: Escape) -> Finding | None:
    """Find what broke the path from the source before a value left."""
    for row, edge in list_distinct_breaks(find_path_to_escape(question, escape)):
        if edge.cause in CAUSES_BEFORE_ESCAPE:
            return Finding(edge.cause, _site_of_break(question, row, edge), row, edge.detail)
    return None


def find_path_to_escape(question: Question, escape: Escape) -> list[PathStep]:
    """Return the cheapest path from the source to a value that left."""
    to_escape = Question(question.adapter, question.rows, question.source_rows, [escape.row], question.source)
    return find_cheapest_path(to_escape, set(question.source_rows))


def only_controls_flow(question: Question, finding: Finding) -> bool:
    """Return whether the value that left only decided what ran, and never came back as a value."""
    place = (finding.row, finding.site)
    escape = next((escape for escape in question.escapes if (escape.row, escape.site) == place), None)
    if escape is None or not text.at(escape.site):
        return False
    return not flows_back_to_target(question, escape, branches=False)


def flows_back_to_target(question: Question, escape: Escape, branches: bool = True) -> bool:
    """Return whether the program's text brings a value that left back to the target.

    Args:
        question: The question about the target.
        escape: The value that left.
        branches: Whether it is enough that the value decides which branch runs.

    Returns:
        True if the text of the line is unknown, because the value may come back.
    """
    start = text.at(escape.site)
    if not start:
        return True
    rows = (question.rows[row] for row in question.ancestors.difference(question.source_rows))
    later = (row for row in rows if row.is_after(escape) and not question.adapter.is_literal(row))
    sites = {site for row in later for site in (row.site, *row.call_stack)}
    reached = text.flow(start, [site[0] for site in sites], branches)
    for site in sites:
        statement = text.at(site)
        is_bare_expression = statement is start and isinstance(statement.node, ast.Expr)
        if statement in reached and not is_bare_expression:
            return True
    return False


# -- another object --------------------------------------------------------------------------------


def held_variable_before(question: Question, statement: text.Statement) -> bool:
    """Return whether another statement binds the same name to a variable."""
    others = [other for name in statement.binds for other in text.bound_by(name, statement) if other is not statement]
    # A statement of another notebook cell counts only if this one reads what it bound.
    continues = bool(set(statement.binds) & statement.reads)
    values = [other.value for other in others if continues or other.file == statement.file]
    parts = [part for value in values for part in getattr(value, "elts", [value])]
    return any(isinstance(part, ast.Call) and text.last_name(part.func) in VARIABLE_MAKERS for part in parts)


def site_in_statement(statement: text.Statement, site: Site) -> Site:
    """Return the first line of a statement, with the exact place in it if that is known."""
    place = getattr(site, "place", None)
    return statement.site if place is None else placed(place.at(statement.line))


def find_divergence(call_stack: Sequence[Site], other: Sequence[Site]) -> Site:
    """Return the statement at which two call stacks part.

    If a call below that statement stores its result in an object, returns that call.
    """
    if not call_stack:
        return NOWHERE
    depth = len(call_stack) - 1
    for level, (site, other_site) in enumerate(zip(call_stack, other, strict=False)):
        if site != other_site:
            depth = level
            break
    for site in reversed(call_stack[depth + 1 :]):
        if any("." in name or "[" in name for name in text.at(site).binds):
            return site
    return call_stack[depth]


def find_rebound_name(question: Question) -> Finding | None:
    """Find a statement such as ``w = w - rate * g`` that rebound the name of a variable or of a watched tensor."""
    if not question.source_rows:
        return None
    row = question.rows[question.source_rows[0]]
    for site in reversed(row.call_stack):
        statement = text.at(site)
        if not statement.binds:
            continue
        if _rebinds_variable(question, row, statement):
            return Finding("rebound", site_in_statement(statement, site), row.index, statement.binds[0])
        return None
    return None


def _rebinds_variable(question: Question, row: RecordedRow, statement: text.Statement) -> bool:
    """Return whether the statement that created a row rebinds a name that held a variable."""
    if held_variable_before(question, statement) and not statement.call_of("Variable"):
        return True
    binds = set(statement.binds)
    updates_itself = bool(binds & statement.reads)
    binds_part = not all(name.isidentifier() for name in statement.binds)
    if not (updates_itself or binds_part):
        return False
    target_names = {
        ast.unparse(node) for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.expr)
    }
    other_reads = statement.reads.difference(binds, target_names)
    leaves = [question.rows[leaf] for leaf in _find_leaves_used_by(question, row, statement)]
    states = [leaf for leaf in leaves if leaf.kind in ("variable", "source")]
    return any(names_bound_to(question, state).isdisjoint(other_reads) for state in states)


def names_bound_to(question: Question, leaf: RecordedRow) -> set[str]:
    """Return the names that the statements that created a leaf bound.

    Leaves out the names of a call that returned several things, because the leaf may be any of them.
    """
    names = set[str]()
    for site in question.adapter.find_leaf_creation(leaf).call_stack:
        statement = text.at(site)
        if len(statement.binds) == 1 or not isinstance(statement.value, ast.Call):
            names.update(statement.binds)
    return names


def _find_leaves_used_by(question: Question, row: RecordedRow, statement: text.Statement) -> Iterator[int]:
    """Yield the leaves from which one statement computed a row."""
    for index in row.inputs:
        input_row = question.rows[index]
        if input_row.kind != "operation":
            yield index
        elif any(statement.covers(site) for site in input_row.call_stack):
            yield from _find_leaves_used_by(question, input_row, statement)


def find_replaced_source(question: Question) -> Finding | None:
    """Find a leaf of the target that took the place of the source.

    Either the name of the source was bound to the leaf, or the statement that created the source ran again.
    """
    if question.used_source_rows:
        return None
    created = question.adapter.find_creation(question.adapter.to_handle(question.source))
    own_statements = _statements_that_created(created.call_stack)
    for leaf in question.other_leaves():
        leaf_created = question.adapter.find_leaf_creation(leaf)
        if question.adapter.is_literal(leaf) or leaf_created.clock == created.clock:
            continue
        leaf_is_newer = leaf_created.clock > created.clock
        leaf_statements = [(text.at(site), site) for site in reversed(leaf_created.call_stack)]
        for statement, site in own_statements:
            names = {*statement.binds, find_bound_name(site)}
            for other, other_site in leaf_statements:
                if not other.binds:
                    continue
                was_made_again = _may_run_again(question, leaf, statement, other) and question.adapter.was_made_again(
                    question, leaf, statement, created.clock, leaf_created.clock
                )
                binds_same_name = other is not statement and any(
                    other in text.bound_by(name, statement) for name in names
                )
                if was_made_again or binds_same_name:
                    newer = (
                        site_in_statement(other, other_site) if leaf_is_newer else site_in_statement(statement, site)
                    )
                    variant = "" if binds_same_name else "again"
                    return Finding("rebound", newer, leaf.index, statement.binds[0], variant)
    return None


def _statements_that_created(call_stack: Sequence[Site]) -> list[tuple[text.Statement, Site]]:
    """Return the binding statements of a call stack, innermost first, up to the first outside of a set-up method."""
    found: list[tuple[text.Statement, Site]] = []
    for site in reversed(call_stack):
        statement = text.at(site)
        if not statement.binds:
            continue
        found.append((statement, site))
        if statement.function not in SETUP_METHODS:
            break
    return found


def _may_run_again(
    question: Question, leaf: RecordedRow, statement: text.Statement, leaf_statement: text.Statement
) -> bool:
    """Return whether one statement created both the source and a leaf, each time as the same object."""
    if leaf_statement is not statement or not isinstance(statement.value, ast.Call):
        return False
    # ``weights[i] = ...`` creates another object for each key.
    has_computed_key = any(
        isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant) for target in statement.targets
    )
    return not has_computed_key and question.adapter.is_variable(question.source) == (leaf.kind == "variable")


def find_shared_ancestors(question: Question) -> set[int]:
    """Return the rows from which both the source and the target were computed, and that can have a gradient."""
    shared = question.ancestors_of(question.source_rows).difference(question.source_rows) & question.ancestors
    rows = (question.rows[row] for row in shared)
    return {row.index for row in rows if row.kind == "variable" or row.tracked}


def find_derived_source(question: Question) -> Finding | None:
    """Find a source that was computed from an ancestor of the target, and then not used."""
    if not question.source_rows or question.used_source_rows or not find_shared_ancestors(question):
        return None
    is_swapped = not question.ancestors_of(question.source_rows).isdisjoint(question.target_rows)
    if is_swapped:  # The target is an ancestor of the source. Another check reports that.
        return None
    first = question.source_rows[0]
    call_stack = question.rows[first].call_stack or question.adapter.find_creation(question.source).call_stack
    return Finding("wrong_object", call_stack[-1] if call_stack else NOWHERE, first)


def find_equal_leaf(question: Question) -> Finding | None:
    """Find a leaf of the target that has the values of the source, which was not used.

    Equal numbers say nothing of a leaf with one value only, unless a tape watches the leaf or the source.
    """
    if question.used_source_rows:
        return None
    adapter = question.adapter
    arrays = [adapter.array_of(question.source), *(question.rows[row].array for row in question.source_rows)]
    own_values = [array.ravel() for array in arrays if array is not None]
    is_tensor = not adapter.is_variable(question.source)
    source_is_watched = is_tensor and any(adapter.is_watched(question.rows[row]) for row in question.source_rows)
    for leaf in question.other_leaves():
        values = leaf.array
        if values is None or adapter.is_literal(leaf):
            continue
        is_watched = source_is_watched or (is_tensor and adapter.is_watched(leaf))
        if not (is_watched or _has_several_values(values)):
            continue
        if any(np.array_equal(own, values.ravel()) for own in own_values):
            created = [adapter.find_creation(adapter.to_handle(question.source)), adapter.find_leaf_creation(leaf)]
            call_stack = max(created, key=lambda creation: creation.clock).call_stack
            newest_row = max([leaf.index, *question.source_rows])
            return Finding("wrong_object", call_stack[-1] if call_stack else question.rows[newest_row].site, leaf.index)
    return None


def _has_several_values(array: OptionalArray) -> TypeGuard[np.ndarray]:
    return array is not None and array.size > 1 and bool(np.ptp(array) > 0)


def report_unused(question: Question) -> Finding:
    """Report that the target was not computed from the source. Runs last, and always finds something."""
    return Finding(question.adapter.unused_cause)
