"""Use the recording of a failed step to explain the error that ended a program."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable

import torch

from ...engine.record.user_frames import is_minitape_or_library_file
from ...engine.types import RowList
from ...explain.caller import format_place_suffix
from ...explain.explanation import OptionalExplanation, explain_cause
from ...explain.reasons.object_names import find_first_access_path, share_searches_between_questions
from ...explain.reasons.program_text import find_binding_statements, find_statement, list_statements
from ...explain.translated_sentences import fill
from ...recording.access_paths import AccessPaths
from ...recording.recorded_rows import (
    RecordedRow,
    RecordedRowList,
    collect_rows_and_ancestors,
    collect_rows_and_connected_ancestors,
)
from ...recording.sites import NOWHERE, Site, find_last_return_site
from .. import known_errors
from .checks import explain_gradient
from .model_parameters import find_access_path_in_program
from .recording import TorchRecording


def explain_raised_error(recording: TorchRecording, error: BaseException) -> OptionalExplanation:
    """Explain the error that ended a program, using the check that fits the error's message.

    Args:
        recording: The recording of the step that raised the error.
        error: The error.

    Returns:
        The explanation, or None if the error is not from autograd or has no known explanation.
    """
    with share_searches_between_questions():
        for pattern, explain in EXPLANATIONS_BY_MESSAGE.items():
            if re.search(pattern, str(error)):
                return explain(recording, TensorNames(error))
    return None


def explain_error_by_message_alone(error: BaseException) -> OptionalExplanation:
    """Explain the error that ended a program, using nothing but the error's message.

    Args:
        error: The error.

    Returns:
        The explanation, or None if the message is not known.
    """
    named = (
        find_last_return_site(function.backward)
        for function in torch.autograd.Function.__subclasses__()
        if f"{function.__name__}Backward" in str(error)
    )
    loader = format_place_suffix(_find_loader_creation_site(error))
    return known_errors.explain_error_by_message("torch", error, next(named, NOWHERE), loader)


def _find_loader_creation_site(error: BaseException) -> Site:
    """Return the line that creates the DataLoader over which the program was looping, or NOWHERE if none is found."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_minitape_or_library_file(frame.filename):
            continue
        statement = find_statement((frame.filename, frame.lineno))
        for name in {name for loop in statement.enclosing_loops for name in loop.read_names}:
            bindings = find_binding_statements(name, statement)
            if bindings and bindings[-1].find_call("DataLoader"):
                return bindings[-1].site
    return NOWHERE


def _explain_failed_pass_by_checks(recording: TorchRecording, _: TensorNames) -> OptionalExplanation:
    """Explain the error of a failed pass by running the checks for each source that was meant to be trained.

    Args:
        recording: The recording of the step.
    """
    for tensor in recording.collect_sources_meant_to_be_trained().values():
        explanation = explain_gradient(recording, recording.find_last_target_row(), tensor)
        if explanation.kind == "error" and explanation.cause not in ("no_backward", "grad_cleared", "grad_returned"):
            return explanation
    return None


# -- a second backward pass through the same graph -------------------------------------------------


def _explain_reuse_of_earlier_graph(
    recording: TorchRecording, names: TensorNames, cause: str = "backward_twice"
) -> OptionalExplanation:
    """Name the value that carries an earlier pass's graph into the failed pass.

    Args:
        recording: The recording of the step.
        names: The program's names for tensors.
        cause: "backward_twice" if the earlier pass has freed its graph, or "in_place" if it has kept its graph, but the
            parameters have changed since.
    """
    rows = recording.rows
    earlier_calls, carriers = _find_rows_carried_from_earlier_passes(recording, keeps_graph=cause == "in_place")
    if not carriers:
        return None
    site = recording.error[1] if recording.error else NOWHERE
    if not set(recording.failed_target_rows).isdisjoint(carriers):  # The program called backward() on this loss again.
        return explain_cause("torch", "backward_twice", site)
    carrier = rows[carriers[-1]]
    name = names.find_name_or_operation_of_row(carrier)
    later = rows[max(row.index for row in rows if row.call_id in earlier_calls) + 1 :]
    ran_again = any(row.site == carrier.site for row in later)
    freeing = earlier_calls[carrier.call_id]
    use = next((row.site for row in later if carrier.index in row.inputs), NOWHERE)
    container = _find_name_of_growing_list(name, carrier, later, names)
    if freeing.function_name == "grad" and not ran_again:
        variant, blamed, other = "grad", freeing.site, site
    elif container:
        variant, blamed, other = "stored", use, carrier.site
    else:
        variant, blamed, other = "carried" if ran_again else "made_once", carrier.site, use
        accounts = recording.log.run_watch.accounts
        parameter_keys = {
            id(rows[row].find_object())
            for row in collect_rows_and_connected_ancestors(rows, [carrier.index])
            if rows[row].kind == "variable" and not recording.log.is_leaf_created_before_block(row)
        }
        if not ran_again and parameter_keys - accounts.registrations.keys() - accounts.collect_optimized_keys():
            variant = "unheld"
    bound_names = find_statement(carrier.site).bound_names
    if variant == "carried" and 1 < len(bound_names) <= carrier.output:  # The last name stands for a tuple.
        variant, name = "carried_tuple", bound_names[-1]
    if cause == "in_place" and not variant.startswith("carried"):
        return None
    fields = {"what": name, "other": format_place_suffix(other), "list": container}
    return explain_cause("torch", cause, blamed, variant, fields)


def _find_rows_carried_from_earlier_passes(recording: TorchRecording, keeps_graph: bool) -> tuple[dict, RowList]:
    """Find the nearest values from earlier passes on which the failed pass depends.

    Args:
        recording: The recording of the step.
        keeps_graph: Whether the earlier passes kept their graphs.

    Returns:
        For each call in the graphs of these passes, its pass, and the rows of the values in order of creation.
    """
    rows = recording.rows
    # All results of a call, such as the output and the hidden state of a recurrent layer, share its graph.
    earlier_calls = {
        rows[row].call_id: sweep
        for sweep in recording.sweeps
        if sweep is not recording.failed_sweep and sweep.keeps_graph == keeps_graph
        for row in sweep.adjoints
        if rows[row].kind == "operation"
    }
    results = {row.index for row in rows if row.call_id in earlier_calls}
    used = collect_rows_and_connected_ancestors(rows, recording.failed_target_rows, stop_rows=results)
    return earlier_calls, sorted(used & results)


def _explain_change_of_needed_value(recording: TorchRecording, names: TensorNames) -> OptionalExplanation:
    """Name the value that carries an earlier pass's kept graph into the failed pass, or else the change in place.

    The optimizer has changed the parameters in the kept graph.

    Args:
        recording: The recording of the step.
        names: The program's names for tensors.
    """
    explanation = _explain_reuse_of_earlier_graph(recording, names, "in_place")
    carried = explanation is not None and explanation.cause == "in_place"
    return explanation if carried else _explain_failed_pass_by_checks(recording, names)


def _find_name_of_growing_list(
    carrier_name: str, carrier: RecordedRow, later_rows: RecordedRowList, names: TensorNames
) -> str:
    """Return the name of a list that holds both a value and a later value from the same line, or "" if none does."""
    container, bracket, _ = carrier_name.rpartition("[")
    newer = [names.find_name_or_operation_of_row(row) for row in later_rows if bracket and row.site == carrier.site]
    return container if any(other.startswith(container + bracket) for other in newer) else ""


# -- autograd.grad ---------------------------------------------------------------------------------


def _explain_unreachable_input(recording: TorchRecording, names: TensorNames) -> OptionalExplanation:
    """Name the input of ``autograd.grad`` on which the output does not depend.

    If the output depends on some of the input's ancestors, also name the last of these.

    Args:
        recording: The recording of the step.
        names: The program's names for tensors.
    """
    rows = recording.rows
    used = collect_rows_and_ancestors(rows, recording.failed_target_rows)
    unreached = [row for row in recording.failed_source_rows if row not in used]
    if not unreached:
        return None
    source = rows[unreached[0]]
    relatives = [row for row in collect_rows_and_ancestors(rows, [source.index]) - {source.index} if row in used]
    fields = {"what": names.find_name_or_operation_of_row(source), "used": format_place_suffix(source.site)}
    if not relatives:
        fields["line"] = fields["used"]
        site = recording.error[1] if recording.error else source.site
        return explain_cause("torch", "unused", site, "input", fields)
    relative = rows[max(relatives)]
    fields["other"] = names.find_name_or_operation_of_row(relative)
    site = _find_use_of_name_in_function_of_row(source, fields["other"]) or source.site
    return explain_cause("torch", "unused", site, "relative", fields)


def _find_use_of_name_in_function_of_row(source_row: RecordedRow, searched_name: str) -> Site | None:
    """Return the next line that reads a given name in the function that created a source, or None if no line does.

    Args:
        source_row: The source's row.
        searched_name: The name.
    """
    start = find_statement(source_row.site)
    if not start or not searched_name.replace(".", "_").isidentifier():
        return None
    sites = (
        statement.site
        for statement in list_statements(start.file)
        if statement.enclosing_functions == start.enclosing_functions
        and statement.order > start.order
        and searched_name in statement.read_names
    )
    return next(sites, None)


def _explain_untracked_tensor(recording: TorchRecording, names: TensorNames) -> OptionalExplanation:
    """Name the tensor that has no history, either an input of ``autograd.grad`` or the target of a backward pass.

    Args:
        recording: The recording of the step.
        names: The program's names for tensors.
    """
    rows = recording.rows
    untracked = [row for row in recording.failed_source_rows if not rows[row].tracked]
    if untracked:
        source = rows[untracked[0]]
        variant = "computed" if source.kind == "operation" else "input"
        return explain_cause(
            "torch", "requires_grad", source.site, variant, {"x": names.find_name_or_operation_of_row(source)}
        )
    sources = recording.collect_sources_meant_to_be_trained().values()
    optimized_keys = recording.log.run_watch.accounts.collect_optimized_keys()
    for tensor in sorted(sources, key=lambda source: id(source) not in optimized_keys):
        if recording.list_rows(tensor):
            explanation = explain_gradient(recording, recording.find_last_target_row(), tensor)
            if explanation.line is not None and not explanation.connected:
                return explanation
    return None


# -- .grad of a result -----------------------------------------------------------------------------


def _explain_read_of_missing_grad_of_result(recording: TorchRecording, names: TensorNames) -> OptionalExplanation:
    """Explain an error that arose because the program read the ``.grad`` of a tensor that is not a leaf.

    Args:
        recording: The recording of the step.
        names: The program's names for tensors.
    """
    for row, site in reversed(recording.log.missing_grad_reads):
        if site in names.error_sites:
            made = recording.rows[row]
            return explain_cause(
                "torch", "non_leaf", made.site, "", {"x": names.find_name_or_operation_of_row(made), "what": made.op}
            )
    return None


EXPLANATIONS_BY_MESSAGE: dict[str, Callable[[TorchRecording, TensorNames], OptionalExplanation]] = {
    "second time": _explain_reuse_of_earlier_graph,
    "appears to not have been used|unused.*graph|graph.*unused": _explain_unreachable_input,
    "does not require grad": _explain_untracked_tensor,
    "modified by an inplace operation": _explain_change_of_needed_value,
    "leaf Variable|scalar outputs": _explain_failed_pass_by_checks,
    "None": _explain_read_of_missing_grad_of_result,
}
"""For each pattern, the function that explains errors whose message matches it. The first match is used."""


class TensorNames:
    """The names of tensors in the program, and in the functions that an error has passed through.

    Attributes:
        error_sites: The lines in the error's traceback.
    """

    def __init__(self, error: BaseException):
        """Prepare to search the frames of an error's traceback. Names in inner functions take precedence."""
        frames_and_lines = [*traceback.walk_tb(error.__traceback__)]
        self.error_sites = {(frame.f_code.co_filename, line) for frame, line in frames_and_lines}
        self._access_paths = [
            AccessPaths(list(frame.f_locals.items()))
            for frame, _ in reversed(frames_and_lines)
            if not is_minitape_or_library_file(frame.f_code.co_filename)
        ]

    def find_name_or_operation_of_row(self, row: RecordedRow) -> str:
        """Return the program's name for a row's value, or the operation that computed the value if it has no name.

        Args:
            row: The row.
        """
        tensor = row.find_object()
        name = ""
        if tensor is not None:
            name = find_access_path_in_program(tensor) or find_first_access_path(self._access_paths, tensor)
        bound_names = find_statement(row.site).bound_names if row.kind == "operation" else []
        name = name or row.name or next(iter(bound_names[row.output :] or bound_names), "")
        return name or (fill("the result of {op}", op=row.op) if row.kind == "operation" else row.op)
