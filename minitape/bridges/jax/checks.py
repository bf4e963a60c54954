"""Find out why a JAX gradient is zero or NaN, or why JAX refused to compute it. Each check looks for one cause."""

import ast
import re
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from ...common.syntax import select_nodes
from ...engine.types import NameSet, OptionalNumber
from ...explain.explanation import Explanation
from ...explain.reasons.check_order import FrameworkChecks, combine_checks, run_checks_until_first_finding
from ...explain.reasons.finding_sentences import find_access_path, to_explanation_with_fixes
from ...explain.reasons.program_text import (
    Statement,
    collect_own_names_and_attributes_of_nodes,
    find_binding_statements,
    find_root_name,
    find_statement,
    list_statements,
    pair_targets_with_own_or_whole_value,
    read_program,
)
from ...explain.reasons.question import Finding, OptionalFinding
from ...explain.reasons.zero_nan import (
    MIN_MAX_OPS,
    build_custom_rule_finding,
    build_row_finding,
    is_row_value_all_zero,
)
from ...explain.translated_sentences import UNNAMED_ARRAY, fill
from ...recording.recorded_rows import Escapes, RecordedRow
from ...recording.sites import NOWHERE, Site
from ..checkup import Checkup
from ..framework_adapter import is_any_name_read_later
from ..known_errors import find_cause_variant_and_fields_by_message, find_error_site
from ..outside_values import iter_function_and_callees, read_outside_values, unwrap_function
from .adapter import JaxQuestion, build_question
from .program_origin import JaxLeaf
from .recording import JaxRecording
from .row_log import STEP_FUNCTIONS

TRACER_WORDS = ("Tracer", "traced", "concrete")
PIECEWISE_LINEAR_OPS = {"relu", "leaky_relu", "relu6", "max", "abs", "select_n"}
ASKING_FUNCTION_PATTERN = re.compile(r"problem arose with the `(\w+)` function")
CONVERSIONS = "int float round item tolist range".split()


# -- what JAX refuses ------------------------------------------------------------------------------


def find_nondiff_argnums_callee_leaking_tracer(function: Any) -> OptionalFinding:
    """Find a function whose custom derivative rule excludes some arguments (``nondiff_argnums``) from differentiation.

    JAX keeps such an argument unchanged. If the argument is a traced array, it is used after its trace has ended.

    Args:
        function: The function that was differentiated.
    """
    for callee in iter_function_and_callees(function):
        for name, value in read_outside_values(callee).items():
            if isinstance(value, (jax.custom_jvp, jax.custom_vjp)) and value.nondiff_argnums:
                code = unwrap_function(value).__code__
                site = (code.co_filename, code.co_firstlineno)
                return Finding("leaked_tracer", site, variant="nondiff", detail=name)
    return None


def find_cause_of_trace_error(question: JaxQuestion) -> OptionalFinding:
    """Find out why the function could not be traced.

    Args:
        question: The question about the source.
    """
    recording = question.adapter.recording
    error = recording.error
    is_leak = isinstance(error, jax.errors.UnexpectedTracerError)
    if error is None or (recording.is_complete and not is_leak):
        return None
    site, library_function = find_error_site(error)
    if recording.stop_site is not NOWHERE:
        site = recording.stop_site
    if is_leak:
        return (
            find_attribute_that_keeps_tracer(site)
            or find_nondiff_argnums_callee_leaking_tracer(recording.recorded_call.function)
            or Finding("leaked_tracer", site)
        )
    cause, variant, fields = find_cause_variant_and_fields_by_message("jax", error)
    if cause in ("branch", "boolean_index"):
        detail = describe_tracer_reader(error, library_function) if variant else ""
        return Finding(cause, site, variant=variant, detail=detail)
    if any(word in f"{error} {error.__cause__} {error.__context__}" for word in TRACER_WORDS):
        calls = find_statement(site).calls
        math_calls = [call for call in calls if find_root_name(call) == "math"]
        if math_calls:
            reader = f"{ast.unparse(math_calls[0].func)}()"
        else:
            reader = describe_tracer_reader(error, library_function)
        return Finding("left_jax", site, detail=reader)
    detail = fields.get("what", str(error).partition("\n")[0])
    return Finding(cause or "refused", site, variant=variant, detail=detail)


def find_attribute_that_keeps_tracer(read_site: Site) -> OptionalFinding:
    """Find the statement that stores a tracer in an attribute that the next call to the function reads.

    Args:
        read_site: The line that reads the tracer.
    """
    statement = find_statement(read_site)
    nearby_statements = [
        statement,
        *(candidate for name in statement.read_names for candidate in find_binding_statements(name, statement)),
    ]
    attributes = {
        ast.unparse(node) for candidate in nearby_statements for node in select_nodes(candidate.nodes, ast.Attribute)
    }
    for candidate in list_statements(read_site[0]):
        kept_attributes = attributes & {ast.unparse(target) for target in candidate.targets}
        if kept_attributes and candidate.enclosing_functions == statement.enclosing_functions:
            return Finding("leaked_tracer", candidate.site, variant="kept", detail=kept_attributes.pop())
    return None


def describe_tracer_reader(error: Exception, library_function: str) -> str:
    """Return the name of the function that, according to JAX's error message, requested a number from a tracer.

    If the message names no function, return the library function that raised the error.

    Args:
        error: JAX's error.
        library_function: The library function that raised the error, or "".
    """
    if isinstance(error, jax.errors.TracerArrayConversionError):
        return fill("A NumPy function")
    if isinstance(error, jax.errors.TracerIntegerConversionError):
        return fill("range() or an index")
    match = ASKING_FUNCTION_PATTERN.search(str(error))
    if match:
        return f"{match[1]}()"
    return f"{library_function}()" if library_function else fill("This line")


def find_result_other_than_real_scalar(question: JaxQuestion) -> OptionalFinding:
    """Find a result that is not a single real number.

    Args:
        question: The question about the source.
    """
    recording = question.adapter.recording
    value = recording.value
    if not isinstance(recording.error, TypeError) or recording.sweeps:
        return None
    site = question.adapter.origin.find_return_or_last_statement_site(
        question.first_target.site if question.target_rows else NOWHERE
    )
    if value is None:
        return Finding("not_scalar", site, variant="none")
    if not hasattr(value, "shape"):
        return Finding("has_aux", site)
    if "aux" in str(recording.error):
        return Finding("has_aux", site, variant="none")
    if value.shape:
        return Finding("not_scalar", site, detail=str(value.shape))
    return Finding("refused", site, variant="complex") if np.iscomplexobj(value) else None


def find_cause_of_backward_error(question: JaxQuestion) -> OptionalFinding:
    """Find out why JAX's backward pass ended with an error.

    Args:
        question: The question about the source.
    """
    error = question.adapter.recording.error
    if error is None:
        return None
    ancestors = [question.rows[row] for row in sorted(question.ancestors) if question.rows[row].tracked]
    for word, cause in (("while", "while_loop"), ("callback", "callback")):
        row = next((row.index for row in ancestors if word in row.op), None)
        if row is not None:
            return build_row_finding(question, cause, row)
    message = str(error).partition("\n")[0]
    rule_rows = [row.index for row in ancestors if row.extra.custom_rule]
    if rule_rows and "bwd rule" in message:
        return build_custom_rule_finding(question, rule_rows[0], "refused", detail=message)
    return Finding("refused", find_error_site(error).site, detail=message)


# -- the argument ----------------------------------------------------------------------------------


def find_differentiated_non_float_argument(question: JaxQuestion) -> OptionalFinding:
    """Find a differentiated argument that does not contain floats.

    Args:
        question: The question about the source.
    """
    recording = question.adapter.recording
    for index in recording.differentiated_rows if recording.error is not None else question.source_rows:
        row = question.rows[index]
        if index in recording.differentiated_rows and not row.tracked:
            site = question.adapter.find_argument_creation_site(index)
            return Finding("integer_dtype", site, index, row.dtype, other_name=row.name or fill("An argument"))
    return None


def find_source_missing_from_argnums(question: JaxQuestion) -> OptionalFinding:
    """Find an argument with respect to which the function is not differentiated.

    Args:
        question: The question about the source.
    """
    recording = question.adapter.recording
    leaf = question.adapter.find_first_argument_leaf(question.source_rows[:1])
    if leaf is None or leaf.row in recording.differentiated_rows:
        return None
    differentiated = {
        other.argument_index for other in recording.argument_leaves if other.row in recording.differentiated_rows
    }
    argument_indices = str((*sorted({leaf.argument_index, *differentiated}),))
    return Finding(
        "argnums",
        question.adapter.origin.gradient_or_call_site,
        detail=str(leaf.argument_index),
        other_name=argument_indices,
    )


def find_source_read_from_outside(question: JaxQuestion) -> OptionalFinding:
    """Find a source that the function reads from an enclosing scope instead of taking it as an argument.

    Args:
        question: The question about the source.
    """
    if question.source_rows:
        return None
    site = question.adapter.recording.log.find_outside_read_site(question.source)
    return None if site == NOWHERE else Finding("closure", site)


# -- the path --------------------------------------------------------------------------------------


def find_enclosing_piecewise_constant_function(question: JaxQuestion, row: int) -> str:
    """Return the jax.numpy step function that contains an operation, or "" if none exists.

    Args:
        question: The question about the source.
        row: The row of the operation.
    """
    return next((name for name in question.rows[row].scope if name in STEP_FUNCTIONS), "")


def name_piecewise_constant_function_in_finding(question: JaxQuestion, finding: Finding, row: RecordedRow) -> None:
    """In the finding for a break inside a step function, name that function instead of the operation.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row of the break.
    """
    step_function = find_enclosing_piecewise_constant_function(question, row.index)
    if step_function and finding.cause == "no_derivative":
        finding.cause, finding.detail = "zero_derivative", step_function


def build_finding_of_first_escape(question: JaxQuestion, escapes: Escapes) -> Finding:
    """Return the finding for the first value that Python read while the function was traced.

    Args:
        question: The question about the source.
        escapes: One or more relevant escapes.
    """
    escape = escapes[0]
    statement = find_statement(escape.site)
    if not escape.is_condition:
        number = next((name for name in CONVERSIONS if statement.find_call(name)), "")
        return Finding("left_jax", escape.site, detail=f"{number}()", variant="number" if number else "values")
    modules = read_program(statement.file).imported_modules.keys()
    tested_names = {name for name in statement.read_names if name.isidentifier()} - modules
    computed_names = collect_names_computed_from(question.name.partition("[")[0], statement)
    tested_names = tested_names & computed_names or tested_names
    is_only_branch = isinstance(statement.node, ast.If) and not is_any_name_read_later(statement, tested_names)
    return Finding("branch" if is_only_branch else "other_branch", escape.site, variant="python")


def collect_names_computed_from(source_name: str, end_statement: Statement) -> NameSet:
    """Return a name, together with all names whose values are computed from it before a given statement.

    Args:
        source_name: The name to start from.
        end_statement: The statement at which the search ends. Only earlier statements of the same function are
            considered.
    """
    names = {source_name}
    for earlier in list_statements(end_statement.file)[: end_statement.order]:
        if earlier.enclosing_functions != end_statement.enclosing_functions:
            continue
        for target, value in pair_targets_with_own_or_whole_value(earlier):
            if names & collect_own_names_and_attributes_of_nodes(ast.walk(value or earlier.node)):
                names.add(ast.unparse(target))
    return names


def find_other_branch_or_value_used_instead(question: JaxQuestion) -> OptionalFinding:
    """Find out whether the source was unused because another branch ran or another value was used instead.

    Args:
        question: The question about the source.
    """
    for choice in question.adapter.recording.log.branch_choices:
        if question.descendants.intersection(choice.input_rows):
            return Finding("other_branch", choice.site, detail=str(choice.branch_index))
    leaf = question.adapter.find_first_argument_leaf(question.source_rows)
    if leaf is not None and (finding := _find_argument_read_from_outside(question, leaf)) is not None:
        return finding
    kinked_rows = [row for row in sorted(question.descendants) if question.rows[row].op in PIECEWISE_LINEAR_OPS]
    scopes = (scope for row in question.descendants for scope in question.rows[row].scope)
    if kinked_rows and any("transpose(" in scope for scope in scopes):
        return build_row_finding(question, "zero_derivative", kinked_rows[0], "second")
    return None


def _find_argument_read_from_outside(question: JaxQuestion, argument_leaf: JaxLeaf) -> OptionalFinding:
    """Find an argument that the function ignores because it reads the same value from elsewhere, such as a global.

    Args:
        question: The question about the argument.
        argument_leaf: The argument's leaf.
    """
    origin = question.adapter.origin
    captured = argument_leaf.value
    used_at = question.adapter.recording.log.find_outside_read_site(captured)
    if used_at == NOWHERE or not hasattr(captured, "dtype"):
        return None
    tree = origin.args[argument_leaf.argument_index]
    site, name = origin.find_first_outside_read_or_empty(lambda name, value: value is captured or value is tree)
    if not name:
        site = used_at
    argument = question.name.partition("[")[0]
    return Finding("closure", site, variant="beside", detail=name or fill(UNNAMED_ARRAY), other_name=argument)


# -- what arrived ----------------------------------------------------------------------------------


def find_custom_rule_sending_no_share(question: JaxQuestion) -> OptionalFinding:
    """Find one of the program's custom rules that sent no share to the source.

    Args:
        question: The question about the source.
    """
    if (
        question.sweep is None
        or not question.used_source_rows
        or question.used_source_rows[0] not in question.adapter.recording.unreached_rows
    ):
        return None
    for row, _ in question.path:
        if question.rows[row].extra.custom_rule:
            return replace(build_custom_rule_finding(question, row), has_gradient=True)
    return None


def blame_origin_of_nonfinite_input(question: JaxQuestion, finding: Finding, row: RecordedRow) -> Finding:
    """Return a finding that blames the operation or line that created a nonfinite input, or else the given finding.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row that the finding blames.
    """
    is_new_value = np.isnan if row.array is not None and np.isnan(row.array).any() else np.isinf
    if (
        finding.cause == "nan_input"
        and row.extra.outside_arrays
        and not any(is_new_value(array).any() for array in row.extra.outside_arrays)
    ):
        # The arrays from outside do not contain this NaN or infinity, so an operation on them must have produced it.
        return build_row_finding(question, "nan_forward", row.index, detail=fill("An operation"))
    if finding.cause == "nan_input" and question.adapter.find_first_argument_leaf([row.index]):
        finding.site = question.adapter.find_argument_creation_site(row.index)
    return finding


def blame_step_function_or_relu_for_zeros(question: JaxQuestion, finding: Finding, row: RecordedRow) -> Finding:
    """Return a finding for the step function or relu that produced zeros, or else the given finding.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
        row: The row that the finding blames.
    """
    if (step := _find_blamed_step_function_row(question, row)) is not None:
        return build_row_finding(
            question, "zero_derivative", step, detail=find_enclosing_piecewise_constant_function(question, step)
        )
    label = question.adapter.recording.rows[row.index].label
    if finding.cause == "not_selected" and label in ("max 0.0", "0.0 max"):
        return build_row_finding(question, "dead_relu", row.index)
    if finding.cause == "zero_cancels" and _is_normalized_over_one_element(question, row, finding.detail):
        finding.variant = "one"
    return finding


def _find_blamed_step_function_row(question: JaxQuestion, row: RecordedRow) -> OptionalNumber:
    """Return the row of the step function that caused a row's zeros, possibly the row itself, or None."""
    if row.op in MIN_MAX_OPS:
        for index in sorted(question.descendants & question.ancestors):
            if is_step_function_the_only_break_from_row(question, index):
                return index
    return row.index if find_enclosing_piecewise_constant_function(question, row.index) else None


def _is_normalized_over_one_element(question: JaxQuestion, row: RecordedRow, scope: str) -> bool:
    """Return whether a normalization in JAX sums over only one element."""
    sums = [
        candidate
        for candidate in question.rows
        if candidate.op.startswith("reduce_") and scope in candidate.scope and candidate.site == row.site
    ]
    sizes = [(np.prod(question.rows[sum_row.inputs[0]].shape), np.prod(sum_row.shape)) for sum_row in sums]
    return bool(sizes) and all(input_size == output_size for input_size, output_size in sizes)


def is_gate_zero_only_at_first(question: JaxQuestion, finding: Finding) -> bool:
    """Return whether the zero factor is an argument with a nonzero gradient, as in ReZero.

    Such a factor is zero only at the start of training.

    Args:
        question: The question about the source.
        finding: The finding from the shared checks.
    """
    if finding.cause != "zero_factor" or finding.row is None or question.sweep is None:
        return False
    gates = (
        question.find_rows_and_ancestors(
            [gate for gate in question.rows[finding.row].inputs if gate not in question.descendants]
        )
        & question.sweep.adjoints.keys()
    )
    return any(
        is_row_value_all_zero(question, gate) and not question.sweep.adjoints[gate].is_all_zero
        for gate in gates.intersection(question.adapter.recording.differentiated_rows)
    )


def is_step_function_the_only_break_from_row(question: JaxQuestion, row: int) -> bool:
    """Return whether a step function is the only break in the path from this row to the target.

    If so, the row's gradient is zero whatever value the row has.

    Args:
        question: The question about the source.
        row: The row.
    """
    has_step = find_enclosing_piecewise_constant_function(question, row) or any(
        edge.cause == "zero_derivative" for edge in question.rows[row].edges
    )
    return bool(has_step) and not any(edge.cause for _, edge in replace(question, source_rows=[row]).path)


def build_finding_of_target_without_source(question: JaxQuestion) -> Finding:
    """Report that the result does not depend on the source. The finding names the line that defines the function.

    Args:
        question: The question about the source.
    """
    return Finding("unused", question.adapter.origin.function_definition_or_call_site)


JAX_CHECKS = FrameworkChecks(
    find_cause_of_raised_error=find_cause_of_trace_error,
    find_non_float_source=find_differentiated_non_float_argument,
    find_untracked_source=combine_checks(
        find_result_other_than_real_scalar, find_source_missing_from_argnums, find_source_read_from_outside
    ),
    specialize_break=name_piecewise_constant_function_in_finding,
    rank_escapes=lambda question, escapes: sorted(escapes, key=lambda escape: escape.is_condition),
    does_escape_reach_target_or_branch=lambda question, escape: (
        True
    ),  # In a trace without values, it is unknown which escapes matter.
    build_escape_finding=build_finding_of_first_escape,
    find_reason_for_no_use=find_other_branch_or_value_used_instead,
    build_finding_of_target_without_source=build_finding_of_target_without_source,
    find_lost_gradient=combine_checks(find_cause_of_backward_error, find_custom_rule_sending_no_share),
    refine_nonfinite_finding=blame_origin_of_nonfinite_input,
    refine_zero_finding=blame_step_function_or_relu_for_zeros,
)


def explain_gradient(recording: JaxRecording, target: Any, source: Any) -> Explanation:
    """Explain one gradient, as described in ``Recording.explain``.

    Args:
        recording: The recording of a function.
        target: The target to explain. None and the function's result both mean the first leaf of the result.
        source: An array, a name, or a tree. For a tree, the explanation of the worst leaf is returned.

    Raises:
        ValueError: If the source is a name that no argument has.
        TypeError: If the source is neither an array nor a name.
    """
    source_rows = recording.list_rows(source)
    if source_rows[1:]:
        page = Checkup(recording, target).build_page_of_source_explanations(
            recording.map_names_or_placeholders_to_rows(source_rows)
        )
        return next(iter(page.problems or page.values()))
    question = build_question(recording, target, source, source_rows)
    question.name = (
        next((question.rows[row].name for row in source_rows), "")
        or find_access_path(question, source)
        or fill(UNNAMED_ARRAY)
    )
    if isinstance(source, str) and not source_rows and recording.is_complete:
        names = ", ".join(recording.map_names_or_placeholders_to_rows([leaf.row for leaf in recording.argument_leaves]))
        raise ValueError(f"explain() found no argument named {source!r}. The arguments are: {names}.")
    is_known = bool(source_rows) or isinstance(source, str) or hasattr(source, "shape")
    if not is_known:
        outside_read = question.adapter.origin.find_first_outside_read_or_empty(
            lambda name, value: name == question.name and value is source
        )
        is_known = bool(outside_read.expression)
    if not is_known:
        raise TypeError(f"explain() takes an array or the name of an argument as its source, but received {source!r}.")
    finding = run_checks_until_first_finding(question, JAX_CHECKS)
    explanation = to_explanation_with_fixes(question, finding)
    explanation.intended |= is_gate_zero_only_at_first(question, finding)
    return explanation
