"""Find wrong gradients in PyTorch by checking optimizers, steps and samples.

Each check receives the run to check and yields one suspicion per problem. Checks that need only rows are in
`minitape.explain.reasons.suspects`.
"""

import ast
from collections.abc import Collection
from contextlib import suppress
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import torch

from ...common.grouping import group_values_by_key
from ...engine.types import RowIterable, RowSet
from ...explain.caller import format_place_suffix
from ...explain.layer_lookup import iter_living_instances
from ...explain.operation_families import OperationNames
from ...explain.reasons.cancelled_values import check_value_added_and_subtracted
from ...explain.reasons.program_text import (
    find_attribute_assignment_site,
    find_binding_statements,
    find_statement,
    list_statements,
)
from ...explain.reasons.suspects import CheckedRun, Suspicion, Suspicions, build_row_suspicion
from ...recording.recorded_rows import RecordedRow, RecordedRowList
from ...recording.sites import NOWHERE, Site, find_last_return_site, read_line_at_site
from ..run_watch.accounts import RunAccounts
from ..run_watch.findings import find_run_findings
from ..run_watch.run_finding import RunFinding
from .adapter import TorchAdapter
from .custom_functions import is_call_repeatable_and_derivative_intended, measure_disagreeing_slopes
from .misused_operations import (
    check_addition_at_repeated_indices,
    check_log_probs_indexed_with_all_labels,
    check_targets_outside_activation_range,
    check_units_that_stay_equal,
    check_zero_second_derivatives,
    record_dropout_that_ignores_eval,
    record_first_batch_used_in_every_step,
    record_last_recurrent_layer_without_gradient,
    record_manual_updates_never_applied,
)
from .model_parameters import iter_parameters_in_plain_attributes
from .recording import TorchRecording
from .row_log import PAUSE_BLOCKS, get_extra
from .wrong_axes import check_example_selected_as_time_step, check_softmax_over_examples, check_views_that_mix_axes

ENTROPIES = set("nll_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits".split())
LEAST_EXCESS = 0.05  # Rounding alone does not make the logarithm of a probability this large.
FARTHEST_TARGET = 0.5  # A GAN's noisy labels exceed the range of probabilities by less than this.
MIN_CUT_STEPS = 3  # A state that is cut off this often in one backward pass must be cut off in a loop.
OPERATION_NAMES = OperationNames(
    compare_ops={"sub", "sub_", "rsub"},
    loss_ops={"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "gaussian_nll_loss"},
    sum_ops={"sum", "mean", "nanmean", "nansum"},
    shape_ops=set(
        "view reshape squeeze unsqueeze getitem expand expand_as flatten contiguous to float double half view_as "
        "clone unflatten movedim transpose permute T".split()
    ),
    add_ops=set("add sub rsub iadd isub add_ sub_ radd".split()),
    product_ops={"mul", "div", "true_divide", "rmul", "imul", "mul_"},
    activation_of_loss={
        "cross_entropy": "softmax",
        "binary_cross_entropy_with_logits": "sigmoid",
        "multilabel_soft_margin_loss": "sigmoid",
        "log_softmax": "softmax",
        "logsumexp": "softmax",
        "logsigmoid": "sigmoid",
        "softplus": "sigmoid",
    },
    activation_names={"sigmoid_": "sigmoid"}
    | {name: name for name in "softmax sigmoid tanh relu gelu silu elu leaky_relu softplus hardsigmoid".split()},
    normalizing_ops={"softmax", "layer_norm", "instance_norm", "group_norm"},
    saturating_ops={"sigmoid", "tanh", "softmax", "hardtanh"},
)


def build_checked_run(recording: TorchRecording) -> CheckedRun:
    """Return a recording's rows, backward passes and optimizer steps for the checks."""
    rows = recording.rows
    watch = recording.log.run_watch
    sweeps = [sweep for sweep in recording.sweeps if sweep.adjoints]
    # Search only once, because the search visits all objects.
    for optimizer in iter_living_instances(torch.optim.Optimizer):
        watch.find_or_follow_optimizer(optimizer)
    optimized_keys = watch.accounts.collect_optimized_keys()
    reached_rows = {row for sweep in sweeps for row in sweep.adjoints if rows[row].kind != "operation"}
    leaves = ((rows[row].kind, rows[row].find_object()) for row in reached_rows)
    # A leaf that is not a parameter counts as trained if an optimizer holds it.
    sources_with_gradient = {
        id(tensor): tensor
        for kind, tensor in leaves
        if tensor is not None and (kind == "variable" or id(tensor) in optimized_keys)
    }
    return CheckedRun(
        rows,
        sweeps,
        recording.escapes,
        OPERATION_NAMES,
        recording=recording,
        adapter=TorchAdapter(recording),
        checks=(
            check_fate_of_gradients_after_backward,
            check_range_of_loss_inputs_and_targets,
            check_targets_outside_activation_range,
            check_log_probs_indexed_with_all_labels,
            check_addition_at_repeated_indices,
            check_example_selected_as_time_step,
            check_views_that_mix_axes,
            check_softmax_over_examples,
            check_derivatives_of_custom_functions,
            check_samples_used_outside_log_prob,
            check_state_detached_in_each_loop_step,
            check_units_that_stay_equal,
            check_zero_second_derivatives,
            check_value_added_and_subtracted,
        ),
        find_source_rows=recording.list_rows,
        find_optimizer_steps=watch.list_optimizer_account_of_each_step,
        sources_with_gradient=sources_with_gradient,
        # If no optimizer took a step, the optimizers count only if one of their parameters got a gradient.
        trained_keys=optimized_keys
        if watch.accounts.taken_step_count or not optimized_keys.isdisjoint(sources_with_gradient)
        else (),
    )


# -- optimizers ------------------------------------------------------------------------------------


def check_fate_of_gradients_after_backward(run: CheckedRun) -> Suspicions:
    """Find gradients that were lost or changed on their way from a backward pass to the weights.

    Args:
        run: The run to check.
    """
    recording: TorchRecording = run.recording
    if not recording.explains_steps:
        return
    for finding in find_run_findings(
        recording.log.run_watch.accounts, lambda finding: move_finding_to_line_to_blame(recording, finding)
    ):
        if not finding.is_remark:
            keys = finding.keys or run.sources_with_gradient.keys()
            yield Suspicion(finding.cause, finding.site, finding.fields, source_keys=keys, variant=finding.variant)


def move_finding_to_line_to_blame(recording: TorchRecording, finding: RunFinding) -> RunFinding:
    """Move a finding to the line to blame, if the program's text or the history of its modules shows that line.

    Args:
        recording: The recording that contains the modules' history.
        finding: The finding.
    """
    watch = recording.log.run_watch
    # The line that creates an optimizer of the program's own class is hidden by the constructor of that class.
    creation_sites = {
        optimizer.site: optimizer.creation_site if hasattr(torch.optim, optimizer.kind) else NOWHERE
        for optimizer in watch.accounts.optimizers
    }
    if finding.variant in ("rate", "decayed") and finding.site in creation_sites:
        watched_sites = {schedule.creation_site for schedule in watch.accounts.schedules}
        return finding._replace(site=find_learning_rate_or_schedule_site(finding.site, watched_sites))
    tensors = (account.tensor_ref() for key in finding.keys if (account := watch.tensor_accounts.get(key)))
    parameter = next(tensors, None)
    if finding.variant == "rounded":
        converted_at = recording.log.history.conversion_sites.get(parameter)
        return finding if converted_at is None else finding._replace(site=converted_at, variant="converted")
    if finding.cause != "not_optimized" or finding.variant not in ("", "another"):
        return finding
    site, variant = (
        (NOWHERE, "")
        if parameter is None
        else _find_parameter_omission_site_and_variant(recording, parameter, finding.variant)
    )
    if site is NOWHERE and variant != "model":
        creation_site = creation_sites.get(finding.site, NOWHERE)
        return finding._replace(
            site=find_optimizer_creation_or_step_site(finding.site) if creation_site == NOWHERE else creation_site
        )
    return finding._replace(site=site, variant=variant)


def find_learning_rate_or_schedule_site(step_site: Site, excluded_schedule_sites: Collection[Site]) -> Site:
    """Return the line that sets the learning rate or creates its schedule.

    Args:
        step_site: The line of a step.
        excluded_schedule_sites: The lines that created schedules known not to have set this learning rate.
    """
    schedules = [scheduler.__name__ for scheduler in torch.optim.lr_scheduler.LRScheduler.__subclasses__()]
    for statement in list_statements(step_site[0]):
        creates_schedule = statement.site not in excluded_schedule_sites and statement.find_call(*schedules)
        if creates_schedule or "['lr']" in "".join(statement.bound_names):
            return statement.site
    return find_optimizer_creation_or_step_site(step_site)


def find_optimizer_creation_or_step_site(step_site: Site) -> Site:
    """Return the line that created a step's optimizer, or the step's own line if the source shows no such line.

    Args:
        step_site: The line of the step.
    """
    statement = find_statement(step_site)
    methods = [call.func for call in statement.calls if isinstance(call.func, ast.Attribute)]
    if not methods:
        return step_site
    creating = find_binding_statements(ast.unparse(methods[0].value), statement)
    return creating[-1].site if creating else step_site


def _find_parameter_omission_site_and_variant(
    recording: TorchRecording, parameter: Any, known_variant: str
) -> tuple[Site, str]:
    """Return the line that left a parameter out of an optimizer, if known, and the sentence variant to use."""
    history = recording.log.history
    site = history.find_site_of_insertion_as_replacement(parameter)
    roots = history.list_called_root_modules()
    if site is not NOWHERE:
        return site, "replaced"
    is_registered = bool(history.find_called_root_module_and_path(parameter)[1])
    for root in () if is_registered else roots:
        for omitted in iter_parameters_in_plain_attributes(root):
            if omitted.parameter is parameter:
                return find_attribute_assignment_site(omitted.owner, omitted.attribute), "model"
    # A deep copy is registered in its module, although no line of the program registers it. An optimizer of "another"
    # model was itself created with the wrong tensors.
    if known_variant or is_registered or id(parameter) in recording.log.run_watch.accounts.registrations:
        return NOWHERE, ""
    return recording.log.creations.get(parameter, NOWHERE), "unregistered"


# -- custom derivatives ----------------------------------------------------------------------------


def check_derivatives_of_custom_functions(run: CheckedRun) -> Suspicions:
    """Find the program's autograd Functions whose ``backward()`` is not the derivative of ``forward()``.

    Args:
        run: The run to check.
    """
    for function, args in run.recording.log.custom_calls.items():
        site = find_last_return_site(function.backward)
        rows = [row for row in run.reached_operations if get_extra(run.rows[row]).custom_rule is function.backward]
        # Some Functions do not accept float64, or have more than one output.
        with suppress(Exception), torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(0)
            is_checked = rows and site != NOWHERE and is_call_repeatable_and_derivative_intended(function, args)
            slopes = measure_disagreeing_slopes(function, args) if is_checked else None
            if slopes is not None:
                fields = {"what": function.__name__, "one": slopes[0], "two": slopes[1]}
                yield Suspicion("wrong_derivative", site, fields, rows[0])


# -- samples ---------------------------------------------------------------------------------------


def check_samples_used_outside_log_prob(run: CheckedRun) -> Suspicions:
    """Find a sample that blocks gradients and influences the target not only through its log-probability."""
    targets = {row for sweep in run.sweeps for row in sweep.target}
    for row in run.rows:
        is_sample = any(edge.cause == "no_grad" for edge in row.edges) and ".sample(" in read_line_at_site(row.site)
        is_float = row.kind == "operation" and row.dtype.startswith(("float", "bfloat"))
        # Autograd sends zeros back through torch.normal.
        is_normal = row.op == "normal"
        if (
            not (is_sample or is_normal)
            or not is_float
            or not run.list_tracked_inputs(row)
            or _is_paused_by_program(row)
        ):
            continue
        uses = _split_uses_by_log_prob(run, row)
        if uses.other_rows.isdisjoint(targets):
            continue
        if any(_is_weighted_log_prob(run, run.rows[index], uses.log_prob_rows) for index in uses.log_prob_rows):
            continue
        ancestors = set().union(*map(run.find_row_and_connected_ancestors, row.inputs))
        variables = [run.rows[index].find_object() for index in ancestors if run.rows[index].kind == "variable"]
        keys = {id(variable) for variable in variables if variable is not None}
        yield Suspicion("sampled", row.site, {}, source_keys=keys, variant="normal" if is_normal else "")


def _is_paused_by_program(row: RecordedRow) -> bool:
    """Return whether the program itself, and not only ``sample()``, switched gradients off for a row's operation."""
    statements = map(find_statement, get_extra(row).call_stack)
    return any(statement.find_enclosing_with_or_function_using(*PAUSE_BLOCKS) for statement in statements)


def check_state_detached_in_each_loop_step(run: CheckedRun) -> Suspicions:
    """Find a state that is detached in each step of a loop, which leaves only the last step with a gradient.

    A state is reported only if none of the results that were cut off is used elsewhere. If a loss uses the results of
    all steps, nothing is lost.
    """
    reached_sites = {(run.rows[row].op, run.rows[row].site) for row in run.reached_operations}
    cuts = (
        (row.site, run.rows[edge.input_row])
        for row in run.rows
        for edge in row.edges
        if edge.cause in ("detach", "data")
    )
    lost_states = group_values_by_key(
        (site, state)
        for site, state in cuts
        if state.kind == "operation" and state.tracked and state.index not in run.reached_operations
        if (state.op, state.site) in reached_sites
    )
    for site, states in lost_states.items():
        last = max(run.reached_operations, default=0)
        repeated = [state for state in states if state.index < last and state.site == states[-1].site]
        # A state that is carried from one backward pass to the next is cut off once in each pass.
        if len(repeated) >= MIN_CUT_STEPS * max(1, len(run.sweeps)):
            keys = set(run.sources_with_gradient)
            yield Suspicion("in_part", site, {"what": "detach", "n": len(repeated)}, source_keys=keys, variant="steps")


class SampleUses(NamedTuple):
    """The rows computed from a sample.

    Attributes:
        log_prob_rows: The rows computed from the log-probability of the sample.
        other_rows: The sample itself, and the rows computed from it in other ways.
    """

    log_prob_rows: RowSet
    other_rows: RowSet


def _split_uses_by_log_prob(run: CheckedRun, sample: RecordedRow) -> SampleUses:
    """Return the rows computed from a sample, split by whether they use its log-probability."""
    uses = SampleUses(set(), {sample.index})
    for later in run.rows[sample.index + 1 :]:
        plain_inputs = uses.other_rows.intersection(later.inputs)
        if plain_inputs:
            if _is_log_prob_while_samples_are_untracked(run, later, plain_inputs):
                uses.log_prob_rows.add(later.index)
            else:
                uses.other_rows.add(later.index)
        if not uses.log_prob_rows.isdisjoint(later.inputs):
            uses.log_prob_rows.add(later.index)
    return uses


def _is_log_prob_while_samples_are_untracked(run: CheckedRun, row: RecordedRow, sample_rows: RowIterable) -> bool:
    """Return whether a row was computed as part of a sample's log-probability.

    A row does not count if a distribution was created from the sample, or if the row's line calls one of the program's
    modules.
    """
    if not _is_computed_by_log_prob_call(row) or any(run.rows[sample_row].tracked for sample_row in sample_rows):
        return False
    return not any(len(other.scope) < len(row.scope) for other in run.rows if other.site == row.site)


def _is_weighted_log_prob(run: CheckedRun, row: RecordedRow, log_prob_rows: RowSet) -> bool:
    """Return whether a row is the product of a log-probability and another value."""
    if (
        row.op not in OPERATION_NAMES.product_ops
        or len(row.inputs) < 2
        or _is_computed_by_log_prob_call(row)
        or log_prob_rows.isdisjoint(row.inputs)
    ):
        return False
    return any(input_row not in log_prob_rows and run.rows[input_row].shape for input_row in row.inputs)


def _is_computed_by_log_prob_call(row: RecordedRow) -> bool:
    """Return whether a row was computed by a call to ``log_prob``, and not by another call on the same line."""
    line = read_line_at_site(row.site)
    return "log_prob(" in line and f"{row.op}(" not in line


# -- losses ----------------------------------------------------------------------------------------


def check_range_of_loss_inputs_and_targets(run: CheckedRun) -> Suspicions:
    """Find inputs or targets outside the range that a loss expects.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named_last_first(ENTROPIES):
        is_binary = row.op.startswith("binary")
        prediction = run.find_row_before_reshapes(row.inputs[0])
        if not is_binary and run.find_activation_name(prediction) == "softmax":
            fields = {"what": row.op, "other": format_place_suffix(row.site)}
            yield build_row_suspicion(prediction, "loss_input", fields, "softmax")
            continue
        given, target = (run.rows[index] for index in row.inputs[:2])
        if is_binary and target.tracked and not given.tracked and _is_made_of_zeros_and_ones(run, given):
            yield build_row_suspicion(row, "loss_input", {"what": row.op}, "swapped")
            continue
        values = run.find_array(target.index if is_binary else given.index)
        if values is None or not values.size:
            continue
        least, greatest = values.min(), values.max()
        excess = max(-least, greatest - 1) - FARTHEST_TARGET if is_binary else greatest - LEAST_EXCESS
        if excess > 0:
            fields = {"what": row.op, "one": least, "two": greatest}
            yield build_row_suspicion(row, "loss_input", fields, "targets" if is_binary else row.op)


def _is_made_of_zeros_and_ones(run: CheckedRun, row: RecordedRow) -> bool:
    values = run.find_array(row.index)
    return values is not None and bool(np.isin(values, (0, 1)).all())


def record_findings_of_operations(run: CheckedRun, accounts: RunAccounts) -> None:
    """Record what the recorded operations show about the whole run.

    Args:
        run: The run to check.
        accounts: The accounts of the run.
    """
    for record_findings in (
        record_last_recurrent_layer_without_gradient,
        record_dropout_that_ignores_eval,
        record_first_batch_used_in_every_step,
        record_manual_updates_never_applied,
        record_bootstrapped_targets_with_gradient,
    ):
        record_findings(run, accounts)


def record_first_suspicion_of_each_source(run: CheckedRun, accounts: RunAccounts) -> None:
    """Record the most certain suspicion about each source that the program trains.

    Args:
        run: The run to check.
        accounts: The accounts of the run.
    """
    for key in run.sources_with_gradient.keys() & run.trained_keys:
        for suspicion in run.list_suspicions_of_source(run.sources_with_gradient[key])[:1]:
            accounts.record_finding(suspicion.cause, suspicion.variant, suspicion.site, [key], **suspicion.fields)


def record_bootstrapped_targets_with_gradient(run: CheckedRun, accounts: RunAccounts) -> None:
    """Record bootstrapped values that get gradients although they are training targets or log-probability weights.

    A bootstrapped value combines data with a prediction.

    Args:
        run: The run to check.
        accounts: The accounts of the run.
    """
    names = run.op_names
    # The loss for a differential equation may also add data to a derivative.
    compare_ops = () if any(sweep.function_name == "grad" for sweep in run.sweeps) else names.compare_ops
    for row in run.iter_reached_operations_named_last_first({*names.loss_ops, *compare_ops, *names.product_ops}):
        tracked = run.list_tracked_inputs(row)
        for one, other in permutations(tracked, 2) if len(tracked) == 2 else ():
            candidates, variant = [run.find_row_before_reshapes(one)], ""
            if row.op in names.product_ops:
                candidates, variant = _list_ancestors_of_log_prob_weight(run, one, other), "advantage"
            for candidate in candidates:
                # The program may train two networks that share no parameters to agree with each other.
                if _adds_untracked_to_tracked_array(run, candidate) and (
                    variant
                    or run.find_row_and_connected_ancestors(other)
                    & run.find_row_and_connected_ancestors(candidate.index)
                ):
                    accounts.record_finding("target_gradient", variant, candidate.site, is_remark=True)


def _list_ancestors_of_log_prob_weight(
    run: CheckedRun, candidate_weight: int, candidate_log_prob: int
) -> RecordedRowList:
    """Return the rows from which a log-probability's weight was computed, or [] if the product has no such weight."""
    rows, others = (
        [run.rows[index] for index in run.find_row_and_connected_ancestors(side)]
        for side in (candidate_weight, candidate_log_prob)
    )
    return (
        rows
        if any(map(_is_computed_by_log_prob_call, others)) and not any(map(_is_computed_by_log_prob_call, rows))
        else []
    )


def _adds_untracked_to_tracked_array(run: CheckedRun, row: RecordedRow) -> bool:
    """Return whether a row is the sum or difference of an array of data and an array with a gradient."""
    terms = [run.rows[index] for index in row.inputs] if row.op in run.op_names.add_ops else []
    return len(terms) == 2 and terms[0].tracked != terms[1].tracked and all(term.shape for term in terms)
