"""Find why a ``.grad`` of PyTorch is None, zero or NaN. Each check looks for one cause."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

import torch

from ...explain.reasons import checks, text, words, zero_nan
from ...explain.reasons.question import Escape, Finding, Question, RecordedRow
from ...explain.reasons.zero_nan import finding_at
from ...explain.sentences import fill
from ...explain.words import Explanation
from ...recording.sites import NOWHERE, Site, text_of
from ..recording import RowNumber
from ..rows import find_dropped_result, find_first_nonfinite_cause
from .adapter import CAUSE_ALIASES, build_question
from .graph import plain_node
from .rows import PAUSES
from .words import SAMPLES, TEXT

# -- errors ----------------------------------------------------------------------------------------


def find_backward_error(question: Question) -> Finding | None:
    """Find the line that explains an error in which a backward pass ended."""
    error, site = question.adapter.recording.error or (None, NOWHERE)
    message = str(error)
    if "modified by an inplace operation" in message:
        return _find_in_place_change(question, message)
    if "leaf Variable" in message:
        return Finding("in_place", site, detail=fill("The assignment"), variant="leaf")
    if "second time" in message:
        return Finding("backward_twice", site)
    if "only for scalar outputs" in message:
        target = question.rows[question.target_rows[0]]
        return Finding("not_scalar", site, detail=str(math.prod(target.shape)))
    return None


def _find_in_place_change(question: Question, message: str) -> Finding:
    """Find the operation that changed a value that the backward pass needs.

    Args:
        question: The question about the gradient.
        message: PyTorch's error, which names the node of the changed value.
    """
    recording = question.adapter.recording
    # Each change is a pair of rows: the value before and after.
    changes = [rows for rows in question.adapter.log.changes if not question.ancestors.isdisjoint(rows)]
    node = plain_node("".join(re.findall(r"output \d+ of (\w+), is at version", message)))
    named = [rows for rows in changes if node in [plain_node(question.rows[row].extra.node) for row in rows]]
    assigned_lines = [event["line"] for event in recording.events if event["kind"] == "assign"]
    if named or (changes and not assigned_lines):
        _, row_after = [*changes, *named][-1]
        return finding_at(question, "in_place", row_after)
    if not assigned_lines:
        return Finding("in_place", variant="parameter")
    file = question.rows[question.target_rows[0]].site[0]
    return Finding("in_place", (file, assigned_lines[-1]), variant="parameter")


sets_requires_grad_false = re.compile(r"requires_grad(_\(| = )False").search


# -- the source ------------------------------------------------------------------------------------


def find_missing_target(question: Question) -> Finding | None:
    """Find a target that is not a tensor, or a recording without a backward pass."""
    if isinstance(question.target, (torch.Tensor, RowNumber)):
        return None
    if question.target is None:
        return Finding("no_backward", variant="none")
    return Finding("not_tensor", detail=type(question.target).__name__)


def find_source_without_grad(question: Question) -> Finding | None:
    """Find a source that requires no gradient, or did not when it was used."""
    log, source = question.adapter.log, question.source
    first = question.rows[question.used_source_rows[0]] if question.used_source_rows else None
    if source.requires_grad:
        if first is None or first.tracked or first.kind == "operation":
            return None
        use = next(iter(question.find_first_uses()), first)
        return Finding("requires_grad", use.site, use.index, variant="late", is_intended=False)
    source_rows = [question.rows[row] for row in question.source_rows]
    result = next((row for row in source_rows if row.kind == "operation"), None)
    if result is not None and result.extra.why and any(question.rows[row].tracked for row in result.inputs):
        cause = CAUSE_ALIASES.get(result.extra.why, result.extra.why)
        return finding_at(question, cause, result.index, "source" if cause == "no_grad" else "")
    site = log.history.frozen.get(source) or log.born.get(source) or NOWHERE
    if site is NOWHERE and first is not None:
        site = _find_freezing_line(first.site, isinstance(source, torch.nn.Parameter))
    return Finding("requires_grad", site, None if first is None else first.index)


def _find_freezing_line(use: Site, is_parameter: bool) -> Site:
    """Return the only line of a program that freezes parameters, or the line that uses the source."""
    freezing = [
        statement
        for statement in text.statements(use[0])
        if not hasattr(statement.node, "body") and sets_requires_grad_false(ast.unparse(statement.node))
    ]
    return freezing[0].site if len(freezing) == 1 and is_parameter else use


REGISTER_METHODS = ("register_buffer", "register_parameter")  # a module a tensor, by its name


def find_creation_site(question: Question, row: RecordedRow) -> Site:
    """Return the line that created a tensor.

    If the recorder did not see it, finds the line in the program's text, by the name of the tensor.
    """
    log = question.adapter.log
    name = words.find_access_path(question, row.get_object())
    was_recorded = row.index not in log.unseen and not log.is_from_before(row.index)
    if not name or was_recorded:
        return row.site
    attribute, variable = name.rpartition(".")[2], name.partition("[")[0]
    use = text.at(row.site)
    # A function may use what the module creates further down, before it calls the function.
    earlier = [
        statement
        for statement in text.statements(use.file)
        if statement.order < use.order or (use.functions and not statement.around)
    ]
    registering = [
        statement.site
        for statement in earlier
        if statement.call_of(*REGISTER_METHODS) and repr(attribute) in ast.unparse(statement.node)
    ]
    binding = [
        statement.site
        for bound in (f"self.{attribute}", variable, name)
        for statement in earlier
        if bound in statement.binds
    ]
    return [row.site, *registering, *binding][-1]


# -- the way ---------------------------------------------------------------------------------------


def find_path_break(question: Question) -> Finding | None:
    """Find the break on the path, in PyTorch's words.

    A path through a copy of the source counts as no path.
    """
    finding = checks.find_path_break(question)
    if finding is None:
        return None
    for part in (finding, *finding.more):
        specialize_break(question, part)
    # An integer, such as an action that was drawn, is chosen by the source and not computed from it.
    is_integer = finding.row is not None and question.rows[finding.row].dtype.startswith(checks.INTEGER_DTYPES)
    passes_leaf = any(question.rows[row].kind != "operation" for row, _ in question.path)
    copy = find_copied_source(question) if is_integer or passes_leaf else None
    return copy or finding


LEAF_MAKERS = {
    "create_graph": ".grad",
    "no_grad": "The assignment",
    "copied": "tensor",
}  # what a leaf got its values from


def specialize_break(question: Question, finding: Finding) -> None:
    """Change a finding to what PyTorch calls it: for a leaf, a sample, or code in a function without gradients."""
    if finding.row is None:
        return
    row, statement = question.rows[finding.row], text.at(finding.site)
    if row.kind != "operation" and finding.cause in LEAF_MAKERS:
        finding.detail = fill(LEAF_MAKERS[finding.cause])
    if row.extra.why == "wrapped":
        finding.variant = "wrapped"
    if not statement or finding.cause not in PAUSES or statement.within(*PAUSES):
        return
    if statement.call_of("sample"):
        finding.variant = "drawn"
        return
    # The pause is around a call further out: in a block, or a decorator.
    for site in row.extra.way:
        caller = text.at(site)
        if caller and caller.within(*PAUSES):
            finding.site = site


def finding_of_escape(exit: Escape) -> Finding:
    """Return the finding for a value that left, or that decided a branch."""
    if exit.method == "__bool__":
        return Finding("branch", exit.site, exit.row)
    return Finding("left_torch", exit.site, exit.row, words.describe_escape(exit.method))


def find_escape(question: Question) -> Finding | None:
    """Find a value that left and came back; if there is none, one that decided a branch."""
    # Nothing computed the target, if the program created it from numbers.
    target_statement = (
        None if question.target_rows else text.at(question.adapter.log.born.get(question.target, NOWHERE))
    )
    if question.used_source_rows or not (question.target_rows or target_statement):
        return None
    escapes = [escape for escape in question.escapes if escape.row in question.descendants]
    branching = [escape for escape in escapes if escape.method == "__bool__"]
    returning = [
        escape
        for escape in escapes
        if escape.method != "__bool__" and _flows_to_target(question, escape, target_statement)
    ]
    differentiable = [
        escape for escape in returning if not question.rows[escape.row].dtype.startswith(checks.INTEGER_DTYPES)
    ]
    reported = differentiable or returning or branching[:1]
    # Keep one finding per line, for the first escape.
    by_site = {escape.site: finding_of_escape(escape) for escape in reversed(reported)}
    findings = list(reversed(by_site.values()))
    if not findings:
        return None
    first, *others = findings
    for other in others:
        other.is_side_break = True
    first.more = [*find_rebuilt_tensor(question, first), *others]
    return first


def _flows_to_target(question: Question, escape: Escape, target_statement: text.Statement | None) -> bool:
    """Return whether a value that left flows to the target, or to the statement that created it."""
    if not target_statement:
        return checks.flows_back_to_target(question, escape)
    return target_statement in text.flow(text.at(escape.site) or target_statement, ())


def find_rebuilt_tensor(question: Question, escape: Finding) -> list[Finding]:
    """Return the line that builds a tensor from the values that left. It is a separate break."""
    start = text.at(escape.site)
    if not start or escape.cause == "branch":
        return []
    for row in question.other_leaves():
        statement = text.at(row.site)
        call = None if statement is start else statement.call_of("tensor", "from_numpy", "FloatTensor")
        if call is not None and statement in text.flow(start, [row.site[0]]):
            return [Finding("copied", row.site, row.index, text.last_name(call.func))]
    return []


# -- another object --------------------------------------------------------------------------------


def find_replaced_source(question: Question) -> Finding | None:
    """Find another parameter or a copy that was used in place of the source."""
    log, source = question.adapter.log, question.source
    if question.used_source_rows:
        return None
    if not question.source_rows and not source.is_leaf:
        return Finding("non_leaf", variant="anew")
    replaced_at = log.history.replaced_at(source)
    if replaced_at is not NOWHERE:
        return Finding("rebound", replaced_at, variant="replaced")
    if copy := find_copied_source(question):
        return copy
    uses_unseen_rows = not question.source_rows and any(row in log.unseen for row in question.ancestors)
    return Finding("unknown", variant="before") if uses_unseen_rows else None


def find_copied_source(question: Question) -> Finding | None:
    """Find a deep copy of the source that was used."""
    made = (
        question.adapter.log.history.copied_at(question.rows[row].get_object(), question.source)
        for row in sorted(question.ancestors)
    )
    site = next((site for site in made if site is not NOWHERE), None)
    return None if site is None else Finding("rebound", site, variant="copied")


def find_unused_source(question: Question) -> Finding | None:
    """Find the reason why the target was not computed from the source."""
    if question.used_source_rows:
        return None
    log = question.adapter.log
    held = [
        question.source,
        *(tensor for row in question.descendants if (tensor := question.rows[row].get_object()) is not None),
    ]
    inside = next((site for tensor in held if (site := log.inside.get(tensor)) is not None), None)
    if inside is not None and question.descendants.isdisjoint(log.unseen):
        return Finding("unknown", inside)
    return find_dropped_result(question) or uncalled(question) or Finding("unused")


def uncalled(question: Question) -> Finding | None:
    """Nothing was computed with the whole layer of the source: the line that gives it to the model."""
    log = question.adapter.log
    root, path = log.history.path_of(question.source)
    layer = path.rpartition(".")[0]
    if root is None or any(
        not question.ancestors.isdisjoint(log.rows_of(p)) for p in root.get_submodule(layer).parameters()
    ):
        return None
    part = layer
    while part:
        part, _, name = part.rpartition(".")
        site = text.attribute_site(root.get_submodule(part), name)
        if site is not NOWHERE:
            return Finding("unused", site, detail=layer, variant="layer")
    return None


# -- .grad -----------------------------------------------------------------------------------------


def find_lost_grad(question: Question) -> Finding | None:
    """Find why a gradient that arrived did not become ``.grad``."""
    sweep, source = question.sweep, question.source
    if sweep is None:
        return Finding("no_backward")
    row = next((row for row in question.used_source_rows if row in sweep.adjoints), None)
    if row is None:
        last_reached = zero_nan.find_last_reached_row(question)
        return Finding("unused") if last_reached is None else finding_of_custom_rule(question, last_reached)
    if source.is_leaf:
        return _find_lost_leaf_grad(question, row)
    if not source.retains_grad and sweep.asked != "grad":
        return finding_at(question, "non_leaf", row)
    return None


def _find_lost_leaf_grad(question: Question, row: int) -> Finding | None:
    """Find why the gradient of a leaf was returned, cleared, or replaced by zeros."""
    log, sweep, source = question.adapter.log, question.sweep, question.source
    sweep_index = question.adapter.recording.sweeps.index(sweep)
    if source.grad is None:
        steps = (step for step in log.training.steps_of(source) if step.sweep >= sweep_index)
        is_missing_in_step = any(step.samples.get(id(source)) is None for step in steps)
        is_dropped = is_missing_in_step or isinstance(text.at(sweep.site).node, ast.Expr)
        if sweep.asked == "grad" and is_dropped:
            return Finding("grad_returned", sweep.site)
        cleared_at, cleared_after = log.clearings.get(source, (NOWHERE, -1))
        return Finding("grad_cleared", cleared_at, row) if cleared_after > sweep_index else None
    if sweep.asked == "grad":
        return None
    grad_rows = log.rows_of(source.grad)
    is_filled_with_zeros = bool(grad_rows) and not source.grad.is_sparse and not bool(source.grad.any())
    if is_filled_with_zeros and not sweep.adjoints[row].is_all_zero:
        return Finding("grad_cleared", question.rows[grad_rows[-1]].site, row, variant="zeros")
    return None


def finding_of_custom_rule(question: Question, row: int, kind: str = "") -> Finding:
    """Return the finding for the program's own ``backward()`` that gave nothing, or zeros."""
    site = zero_nan.find_custom_rule_return(question, row)
    return Finding("no_gradient", question.rows[row].site if site is NOWHERE else site, row, variant=kind)


def find_nonfinite_cause(question: Question) -> Finding | None:
    """Find where a NaN arose, even in an earlier backward pass."""
    return find_first_nonfinite_cause(question, build_question)


def find_hook_site(file: str | None) -> Site:
    """Return the line on which the only hook of a program returns."""
    statements = text.statements(file)
    calls = [call for statement in statements if (call := statement.call_of(*HOOK_METHODS))]
    if len(calls) != 1:
        return NOWHERE
    hook_names = {text.last_name(argument) for argument in calls[0].args}
    returns = [
        statement.site
        for statement in statements
        if isinstance(statement.node, ast.Return) and statement.function in hook_names
    ]
    return [(file, calls[0].lineno), *returns][-1]


HOOK_METHODS = ("register_hook", "register_full_backward_hook", "register_full_backward_pre_hook")


def find_zero_cause(question: Question) -> Finding | None:
    """Find what made zeros, with what PyTorch knows of it."""
    finding = zero_nan.find_zero_cause(question)
    if finding is None or finding.row is None:
        return finding
    row = question.rows[finding.row]
    if finding.cause == "hook" or row.op == "BackwardHookFunction":
        name = words.find_access_path(question, row.get_object()) or fill("a tensor")
        return finding_at(question, "hook", row.index, detail=name, site=find_hook_site(row.site[0]))
    if row.extra.custom:
        return finding_of_custom_rule(question, row.index, "zeros")
    if row.op in SAMPLES:
        return finding_at(question, "zero_derivative", row.index, "sampled")
    if row.op == "grid_sample" and "nearest" in text_of(row.site):
        return finding_at(question, "zero_derivative", row.index, "nearest")
    return finding


LEAF_CAUSES = ("requires_grad", "non_leaf", "integer_dtype", "nan_input")
TARGETLESS_CHECKS = (find_backward_error, checks.find_integer_source, find_source_without_grad)
CHECKS = (
    find_backward_error,
    find_missing_target,
    checks.find_integer_source,
    find_source_without_grad,
    find_path_break,
    find_escape,
    find_replaced_source,
    find_unused_source,
    find_lost_grad,
    find_nonfinite_cause,
    find_zero_cause,
)


def explain_gradient(recording: Any, target: Any, source: Any) -> Explanation:
    """Return why one tensor has no gradient, or what is wrong with the gradient that it has.

    Args:
        recording: The recording of the program.
        target: The target, or None for the last backward pass.
        source: The tensor.

    Raises:
        TypeError: If the source is not a tensor.
    """
    if not isinstance(source, torch.Tensor):
        raise TypeError(f"explain() takes a tensor as its source, but received {source!r}.")
    question = build_question(recording, target, source)
    question.name = words.find_access_path(question, source) or recording.log.history.name_of(source)
    order = CHECKS if target is not None else (*TARGETLESS_CHECKS, find_missing_target)
    finding = next((found for check in order if (found := check(question)) is not None), Finding("connected"))
    if finding.row is not None and finding.cause in LEAF_CAUSES and finding.site == question.rows[finding.row].site:
        finding.site = find_creation_site(question, question.rows[finding.row])
    answer = words.to_explanation(question, finding, TEXT)
    answer.connected |= finding.variant == "zeros"
    return answer
