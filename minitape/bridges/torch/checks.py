"""Find out why a PyTorch ``.grad`` is None, zero or NaN.

Each check looks for one cause. A check receives the question, and returns a finding or None.
"""

import ast
import re
from dataclasses import replace
from math import prod
from typing import Any

from torch import Tensor, nn
from torch.nn import Module, Parameter

from ...engine.types import OptionalText
from ...explain.caller import format_place_suffix
from ...explain.explanation import Explanation
from ...explain.reasons import zero_nan
from ...explain.reasons.check_order import FrameworkChecks, combine_checks, run_checks_until_first_finding
from ...explain.reasons.checks import INTEGER_DTYPES, does_escape_reach_target, find_break_before_escape
from ...explain.reasons.finding_sentences import describe_escape_method, find_access_path, to_explanation_with_fixes
from ...explain.reasons.program_text import (
    Statement,
    collect_statements_using_value,
    find_attribute_assignment_site,
    find_last_name_of_dotted_path,
    find_statement,
    list_statements,
)
from ...explain.reasons.question import Finding, OptionalFinding
from ...explain.reasons.zero_nan import build_custom_rule_finding, build_row_finding
from ...explain.translated_sentences import fill
from ...recording.recorded_rows import Escape, Escapes, RecordedRow, collect_rows_and_ancestors
from ...recording.sites import NOWHERE, Site, read_line_at_site
from ...recording.value_summary import ValueSummary
from ..recording import RowNumber
from .adapter import TorchQuestion, build_question
from .autograd_graph import strip_node_name
from .operation_families import SAMPLING_OPS
from .recording import TorchRecording
from .row_log import PAUSE_BLOCKS, GradClearing, get_extra

# -- errors ----------------------------------------------------------------------------------------


def find_cause_of_backward_error(question: TorchQuestion) -> OptionalFinding:
    """Find the cause of the error that ended a backward pass.

    Return None if the error has no known explanation, or if there was no error.

    Args:
        question: The question about the source.
    """
    error, site = question.adapter.recording.error or (None, NOWHERE)
    message = str(error)
    if "modified by an inplace operation" in message:
        return _explain_in_place_change(question, message)
    if "leaf Variable" in message:
        return Finding("in_place", site, detail=fill("The assignment"), variant="leaf")
    if "second time" in message:
        return Finding("backward_twice", site)
    if "only for scalar outputs" in message:
        return Finding("not_scalar", site, detail=str(prod(question.first_target.shape)))
    return None


def _explain_in_place_change(question: TorchQuestion, error_message: str) -> Finding:
    """Find the operation that changed a value needed by the backward pass.

    Args:
        question: The question about the gradient.
        error_message: PyTorch's error message, which names the node of the changed value.
    """
    # Each change is a pair of rows that hold the value before and after the change.
    changes = [rows for rows in question.adapter.log.in_place_changes if not question.ancestors.isdisjoint(rows)]
    node = strip_node_name("".join(re.findall(r"output \d+ of (\w+), is at version", error_message)))
    named = [
        rows for rows in changes if node in [strip_node_name(get_extra(question.rows[row]).node_name) for row in rows]
    ]
    assigned_lines = [event["line"] for event in question.adapter.recording.events if event["kind"] == "assign"]
    if named or (changes and not assigned_lines):
        # Prefer changes to a value whose node is named in the error.
        _, row_after = named[-1] if named else changes[-1]
        return build_row_finding(question, "in_place", row_after)
    site = (question.first_target.site[0], assigned_lines[-1]) if assigned_lines else NOWHERE
    return Finding("in_place", site, variant="parameter")


sets_requires_grad_false = re.compile(r"requires_grad(_\(| = )False").search


# -- the source ------------------------------------------------------------------------------------


def find_non_tensor_target(question: TorchQuestion) -> OptionalFinding:
    """Find a target that is not a tensor. A target of None is reported only after the source has been checked.

    Args:
        question: The question about the source.
    """
    if question.target is None or isinstance(question.target, (Tensor, RowNumber)):
        return None
    return Finding("not_tensor", detail=type(question.target).__name__)


def find_source_without_requires_grad_when_used(question: TorchQuestion) -> OptionalFinding:
    """Find a source that does not require a gradient, or did not require one when it was used.

    Args:
        question: The question about the source.
    """
    log, source = question.adapter.log, question.source
    first = question.rows[question.used_source_rows[0]] if question.used_source_rows else None
    if source.requires_grad:
        if first is None or first.tracked or first.kind == "operation":
            return None
        use = next(iter(question.list_target_ancestors_reading_source()), first)
        return Finding("requires_grad", use.site, use.index, variant="late", is_intended=False)
    source_rows = [question.rows[row] for row in question.source_rows]
    result = next((row for row in source_rows if row.kind == "operation"), None)
    if result is not None and result.cause and any(question.rows[row].tracked for row in result.inputs):
        return build_row_finding(question, result.cause, result.index, "source" if result.cause == "no_grad" else "")
    site = log.history.freezing_sites.get(source) or log.creations.get(source) or NOWHERE
    if site is NOWHERE and first is not None:
        site = _find_only_freezing_or_use_site(first.site, isinstance(source, Parameter))
    return Finding("requires_grad", site, None if first is None else first.index)


def _find_only_freezing_or_use_site(use_site: Site, is_parameter: bool) -> Site:
    """Return the only line that freezes parameters, or else the line that uses the source.

    The line of the use is returned if the source is not a parameter, or if parameters are frozen on several lines or on
    none.
    """
    freezing = [
        statement
        for statement in list_statements(use_site[0])
        if not hasattr(statement.node, "body") and sets_requires_grad_false(ast.unparse(statement.node))
    ]
    return freezing[0].site if len(freezing) == 1 and is_parameter else use_site


def find_creation_site_in_recording_or_text(question: TorchQuestion, row: RecordedRow) -> Site:
    """Return the line that created a tensor.

    If the recorder did not see the creation, search for the tensor's name in the program's text.
    """
    log = question.adapter.log
    name = find_access_path(question, row.find_object())
    was_recorded = row.index not in log.unrecorded_rows and not log.is_leaf_created_before_block(row.index)
    if not name or was_recorded:
        return row.site
    attribute, variable = name.rpartition(".")[2], name.partition("[")[0]
    use = find_statement(row.site)
    # A function may use a name that its module binds below the function but before the call.
    earlier_statements = [
        statement
        for statement in list_statements(use.file)
        if statement.order < use.order or (use.enclosing_functions and not statement.enclosing)
    ]
    binding = [
        statement.site
        for bound_name in (f"self.{attribute}", variable, name)
        for statement in earlier_statements
        if bound_name in statement.bound_names
    ]
    return binding[-1] if binding else row.site


# -- the path --------------------------------------------------------------------------------------


# These phrases describe where a leaf's values came from.
LEAF_VALUE_ORIGINS = {"create_graph": ".grad", "no_grad": "The assignment", "copied": "tensor"}


def specialize_break_finding(question: TorchQuestion, finding: Finding, row: RecordedRow) -> None:
    """Make a finding more specific if it concerns a leaf, a sample, or code that runs with gradients switched off.

    Args:
        question: The question about the gradient.
        finding: The finding, which is changed in place.
        row: The row at which the path breaks.
    """
    statement = find_statement(finding.site)
    if finding.cause == "detach" and statement and not statement.find_call("detach", "detach_"):
        finding.variant = "state" if statement.find_call("state_dict") else "copied"
    if row.kind != "operation" and finding.cause in LEAF_VALUE_ORIGINS:
        finding.detail = fill(LEAF_VALUE_ORIGINS[finding.cause])
    if get_extra(row).is_wrapped:
        finding.variant = "wrapped"
    if (
        not statement
        or finding.cause not in PAUSE_BLOCKS
        or statement.find_enclosing_with_or_function_using(*PAUSE_BLOCKS)
    ):
        return
    if statement.find_call("sample"):
        finding.variant = "drawn"
        return
    # A block or a decorator around one of the outer calls switched gradients off.
    for site in get_extra(row).call_stack:
        caller = find_statement(site)
        if caller and caller.find_enclosing_with_or_function_using(*PAUSE_BLOCKS):
            finding.site = site


def build_escape_or_branch_finding(escape: Escape) -> Finding:
    """Return the finding for a value that left PyTorch or decided which branch ran.

    Args:
        escape: A value that was computed from the source and then left the framework.
    """
    if escape.is_condition:
        return Finding("branch", escape.site, escape.row)
    return Finding("left_torch", escape.site, escape.row, describe_escape_method(escape.method))


def find_statement_of_rowless_target(question: TorchQuestion) -> Statement | None:
    """Return the statement that created a target from plain numbers, or None if the target was recorded.

    Args:
        question: The question about the source.
    """
    if question.target_rows:
        return None
    return find_statement(question.adapter.log.creations.get(question.target, NOWHERE))


def does_escape_reach_target_or_branch(question: TorchQuestion, escape: Escape) -> bool:
    """Return whether an escaped value decided which branch ran, or flowed into the target or the line creating it.

    Args:
        question: The question about the source.
        escape: A value that was computed from the source and left the framework.
    """
    if escape.is_condition:
        return True
    target_statement = find_statement_of_rowless_target(question)
    if not target_statement:
        return does_escape_reach_target(question, escape)
    return target_statement in collect_statements_using_value(find_statement(escape.site), ())


def build_finding_of_earlier_break_or_escapes(question: TorchQuestion, escapes: Escapes) -> Finding:
    """Return a finding for the values that returned to PyTorch, or else for a value that decided which branch ran.

    If the path breaks before these values left PyTorch, the finding for that break comes first.

    Args:
        question: The question about the source.
        escapes: The values that returned to PyTorch or decided which branch ran.
    """
    branching = [escape for escape in escapes if escape.is_condition]
    returning = [escape for escape in escapes if not escape.is_condition]
    differentiable = [escape for escape in returning if not question.rows[escape.row].dtype.startswith(INTEGER_DTYPES)]
    reported = differentiable or returning or branching[:1]
    # For each line, keep only the finding for the first escape.
    by_site = {escape.site: build_escape_or_branch_finding(escape) for escape in reversed(reported)}
    first, *others = reversed(by_site.values())
    for other in others:
        other.is_side_break = True
    first.more = [*list_breaks_at_rebuilt_tensor(question, first), *others]
    earlier = find_break_before_escape(question, reported[0]) if returning else None
    if earlier is None or earlier.row is None:
        return first
    specialize_break_finding(question, earlier, question.rows[earlier.row])
    earlier.more = [first, *first.more]
    return earlier


def list_breaks_at_rebuilt_tensor(question: TorchQuestion, escape_finding: Finding) -> list[Finding]:
    """If a new tensor was built from values that had left PyTorch, list the break at this tensor."""
    start = find_statement(escape_finding.site)
    if escape_finding.cause == "branch":
        return []
    for row in question.list_target_leaves_besides_source():
        statement = find_statement(row.site)
        call = None if statement is start else statement.find_call("tensor", "from_numpy", "FloatTensor")
        if call is not None and statement in collect_statements_using_value(start, [row.site[0]]):
            return [Finding("copied", row.site, row.index, find_last_name_of_dotted_path(call.func))]
    return []


# -- another object --------------------------------------------------------------------------------


def find_replacement_of_unused_source(question: TorchQuestion) -> OptionalFinding:
    """Find a different parameter, or a copy, that the program used instead of the source.

    Args:
        question: The question about the source.
    """
    log, source = question.adapter.log, question.source
    if not question.source_rows and not source.is_leaf:
        return Finding("non_leaf", variant="anew")
    replaced_at = log.history.removal_sites.get(source, NOWHERE)
    if replaced_at is not NOWHERE:
        return Finding("rebound", replaced_at, variant="replaced")
    if copy_finding := find_gradient_path_through_deep_copy(question):
        return copy_finding
    uses_unseen_rows = not question.source_rows and not question.ancestors.isdisjoint(log.unrecorded_rows)
    return Finding("unknown", variant="before") if uses_unseen_rows else None


def find_gradient_path_through_deep_copy(question: TorchQuestion) -> OptionalFinding:
    """Find a deep copy of the source that lies on a path along which gradients flow back from the target.

    A copy that lies on no such path, for example one in a target network, is not trained.

    Args:
        question: The question about the source.
    """
    history = question.adapter.log.history
    if not history.parameter_copies:
        return None
    copy_sites = (
        history.find_last_deep_copy_site(question.rows[row].find_object(), question.source)
        for row in sorted(question.find_rows_and_ancestors(question.target_rows, open_only=True))
    )
    findings = (Finding("rebound", site, variant="copied") for site in copy_sites if site is not NOWHERE)
    return next(findings, None)


def find_use_in_unrecorded_call(question: TorchQuestion) -> OptionalFinding:
    """Find a call to a transform or a checkpoint that used the source but was not recorded.

    Args:
        question: The question about the source.
    """
    log = question.adapter.log
    related_tensors = [question.source, *(question.rows[row].find_object() for row in question.descendants)]
    transform_site = next(filter(None, map(log.unrecorded_use_sites.get, related_tensors)), None)
    if transform_site is not None and question.descendants.isdisjoint(log.unrecorded_rows):
        # Reentrant checkpoints record nothing if no input requires a gradient.
        sites = [row.site for row in question.rows if row.op == "CheckpointFunction" and not (row.tracked or row.cause)]
        return Finding("no_grad", sites[0], variant="checkpoint") if sites else Finding("unknown", transform_site)
    return None


def find_uncalled_layer_of_source(question: TorchQuestion) -> OptionalFinding:
    """Find a layer that contains the source and that the program never called.

    The finding names the line that assigns the layer to the model.

    Args:
        question: The question about the source.
    """
    log = question.adapter.log
    root, path = log.history.find_called_root_module_and_path(question.source)
    layer = path.rpartition(".")[0]
    if root is None or any(
        not question.ancestors.isdisjoint(log.list_rows(parameter))
        for parameter in root.get_submodule(layer).parameters()
    ):
        return None
    owner_path, is_chosen = layer, _is_one_of_alternative_layers(question, root, layer)
    while owner_path:
        owner_path, _, name = owner_path.rpartition(".")
        site = find_attribute_assignment_site(root.get_submodule(owner_path), name)
        if site is not NOWHERE:
            return Finding("unused", site, detail=layer, variant="layer", is_intended=is_chosen or None)
    return None


def _is_one_of_alternative_layers(question: TorchQuestion, root: Module, layer: str) -> bool:
    """Return whether a layer is one of several alternatives, such as the experts in a mixture of experts.

    Such layers are kept in one list and called from one line in a loop, and a condition on a value selects which of
    them run.

    Args:
        question: The question about the source.
        root: The model.
        layer: The path of the layer.
    """
    parts = layer.split(".")
    for depth in range(len(parts), 0, -1):
        container = root.get_submodule(".".join(parts[: depth - 1]))
        if isinstance(container, (nn.ModuleList, nn.ModuleDict)):
            break
    else:
        return False
    log = question.adapter.log
    siblings = [[*sibling.parameters()] for sibling in container.children()]
    used = [any(not question.ancestors.isdisjoint(log.list_rows(p)) for p in parameters) for parameters in siblings]
    branches = {escape.site for escape in question.escapes if escape.is_condition}
    sibling_rows = {row for parameters in siblings for parameter in parameters for row in log.list_rows(parameter)}
    uses = {row.site for row in question.rows if not sibling_rows.isdisjoint(row.inputs)}
    enclosing = [block.site for site in uses for block in find_statement(site).enclosing]
    return sum(used) > 0 and len(uses) == 1 and not branches.isdisjoint(enclosing)


# -- .grad -----------------------------------------------------------------------------------------


def find_cause_of_adjoint_missing_in_grad(question: TorchQuestion) -> OptionalFinding:
    """Find out why an adjoint that reached the source did not become its ``.grad``.

    Args:
        question: The question about the source.
    """
    sweep, source = question.sweep, question.source
    if sweep is None:
        return Finding("no_backward")
    row = next((row for row in question.used_source_rows if row in sweep.adjoints), None)
    if row is None:
        last_reached = zero_nan.find_row_that_passed_on_no_adjoint(question)
        if last_reached is None:
            return Finding("unused")
        return build_custom_rule_finding(question, last_reached, "no_gradient")
    if source.is_leaf:
        return _find_cause_of_adjoint_missing_in_leaf_grad(question, row)
    if not source.retains_grad and sweep.function_name != "grad":
        return build_row_finding(question, "non_leaf", row)
    return None


def _find_cause_of_adjoint_missing_in_leaf_grad(question: TorchQuestion, row: int) -> OptionalFinding:
    """Find out whether a leaf's gradient was returned, cleared, or replaced with zeros."""
    log, sweep, source = question.adapter.log, question.sweep, question.source
    assert sweep is not None
    sweep_index = question.adapter.recording.sweeps.index(sweep)
    adjoint: ValueSummary = sweep.adjoints[row]
    if not adjoint.is_all_finite:
        return None  # The origin of the NaN matters more than what became of the gradient.
    if source.grad is None:
        is_missing_in_step = any(step.empty_steps for step in log.run_watch.list_optimizer_account_of_each_step(source))
        is_dropped = is_missing_in_step or isinstance(find_statement(sweep.site).node, ast.Expr)
        if sweep.function_name == "grad" and is_dropped:
            return Finding("grad_returned", sweep.site)
        clearing_site, cleared_after = log.grad_clearings.get(source, GradClearing(NOWHERE, -1))
        return Finding("grad_cleared", clearing_site, row) if cleared_after > sweep_index else None
    if sweep.function_name == "grad":
        return None
    grad_rows = log.list_rows(source.grad)
    is_filled_with_zeros = bool(grad_rows) and not source.grad.is_sparse and not bool(source.grad.any())
    if is_filled_with_zeros and not adjoint.is_all_zero:
        return Finding("grad_cleared", question.rows[grad_rows[-1]].site, row, variant="zeros", has_gradient=True)
    return None


def find_return_site_of_only_hook(file: OptionalText) -> Site:
    """Return the line of the only hook's return statement, or of its registration if it has no such statement.

    If the program does not have exactly one hook, return NOWHERE.
    """
    statements = list_statements(file)
    calls = [call for statement in statements if (call := statement.find_call(*HOOK_METHODS))]
    if len(calls) != 1:
        return NOWHERE
    hook_names = {find_last_name_of_dotted_path(argument) for argument in calls[0].args}
    returns = [
        statement.site
        for statement in statements
        if isinstance(statement.node, ast.Return) and statement.enclosing_function_name in hook_names
    ]
    return returns[-1] if returns else (file, calls[0].lineno)


HOOK_METHODS = ("register_hook", "register_full_backward_hook", "register_full_backward_pre_hook")


def refine_finding_of_zeros(question: TorchQuestion, finding: Finding, row: RecordedRow) -> Finding:
    """Return a finding for the hook, rule, sample or initial values that produced zeros, or else the given finding.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row that the finding blames.
    """
    if finding.cause == "hook" or row.op == "BackwardHookFunction":
        name = find_access_path(question, row.find_object()) or fill("a tensor")
        return build_row_finding(
            question, "hook", row.index, detail=name, site=find_return_site_of_only_hook(row.site[0])
        )
    if get_extra(row).custom_rule:
        return replace(build_custom_rule_finding(question, row.index, "no_gradient", "zeros"), has_gradient=True)
    if row.op in SAMPLING_OPS:
        return build_row_finding(question, "zero_derivative", row.index, "sampled")
    if finding.cause == "zero_factor" and (start := _find_initialization_with_zeros(question, row)):
        return Finding("zero_factor", start, row.index, row.op, "start", format_place_suffix(row.site))
    if row.op == "grid_sample" and "nearest" in read_line_at_site(row.site):
        return build_row_finding(question, "zero_derivative", row.index, "nearest")
    return finding


def _find_initialization_with_zeros(question: TorchQuestion, product: RecordedRow) -> Site | None:
    """Return the line that set a parameter to zero, if a factor of a product is zero because of that parameter."""
    log = question.adapter.log
    zeros = collect_rows_and_ancestors(
        question.rows, [product.index], lambda _, edge: zero_nan.is_row_value_all_zero(question, edge.input_row)
    )
    rows = [question.rows[row] for row in sorted(zeros)]
    weights = [row.find_object() for row in rows if row.kind == "variable" and len(row.shape) > 1]
    # If a constant, such as a mask, is zero, the initial values are not to blame.
    if weights and all(row.tracked for row in rows):
        return log.history.constant_fill_sites.get(weights[0]) or log.creations.get(weights[0])
    return None


def find_missing_backward_if_no_target(question: TorchQuestion) -> OptionalFinding:
    """If no target is known, report that no backward pass ran.

    Args:
        question: The question about the source.
    """
    return Finding("no_backward", variant="none") if question.target is None else None


def replace_finding_if_path_uses_deep_copy(question: TorchQuestion, finding: Finding, row: RecordedRow) -> Finding:
    """Return the given finding, or one for a copy of the source if the path leads through that copy.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row at which the path breaks.
    """
    copy_finding = find_gradient_path_through_deep_copy(question)
    if copy_finding is None:
        return finding
    # An integer, such as a sampled action, is not computed from the source but only selected by it.
    is_integer = row.dtype.startswith(INTEGER_DTYPES)
    passes_leaf = any(question.rows[step.row].kind != "operation" for step in question.path)
    return copy_finding if is_integer or passes_leaf else finding


def is_target_computation_recorded_or_in_text(question: TorchQuestion) -> bool:
    """Return whether the target has a recorded row, or its creation is visible in the program's text.

    Args:
        question: The question about the source.
    """
    return bool(question.target_rows or find_statement_of_rowless_target(question))


TORCH_CHECKS = FrameworkChecks(
    find_cause_of_raised_error=find_cause_of_backward_error,
    find_undifferentiable_target=find_non_tensor_target,
    find_untracked_source=combine_checks(
        find_source_without_requires_grad_when_used, find_missing_backward_if_no_target
    ),
    specialize_break=specialize_break_finding,
    find_cause_behind_break=replace_finding_if_path_uses_deep_copy,
    is_target_computation_recorded_or_in_text=is_target_computation_recorded_or_in_text,
    does_escape_reach_target_or_branch=does_escape_reach_target_or_branch,
    build_escape_finding=build_finding_of_earlier_break_or_escapes,
    reports_every_escape=True,
    find_replacement_of_unused_source=find_replacement_of_unused_source,
    find_reason_for_no_use=find_use_in_unrecorded_call,
    find_uncalled_layer=find_uncalled_layer_of_source,
    find_lost_gradient=find_cause_of_adjoint_missing_in_grad,
    refine_zero_finding=refine_finding_of_zeros,
)
LEAF_CAUSES = ("requires_grad", "non_leaf", "integer_dtype", "nan_input")


def explain_gradient(recording: TorchRecording, target: Any, source: Any) -> Explanation:
    """Explain why a tensor has no gradient, or what is wrong with its gradient.

    Args:
        recording: The program's recording.
        target: The target, or None for the last backward pass.
        source: The tensor.

    Raises:
        TypeError: If the source is not a tensor.
    """
    if not isinstance(source, Tensor):
        raise TypeError(f"explain() takes a tensor as its source, but received {source!r}.")
    question = build_question(recording, target, source)
    question.name = find_access_path(question, source) or recording.log.history.find_tensor_name(source)
    finding = run_checks_until_first_finding(question, TORCH_CHECKS)
    if finding.row is not None and finding.cause in LEAF_CAUSES and finding.site == question.rows[finding.row].site:
        finding.site = find_creation_site_in_recording_or_text(question, question.rows[finding.row])
    return to_explanation_with_fixes(question, finding)
