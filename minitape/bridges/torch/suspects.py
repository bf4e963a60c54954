"""Find wrong gradients in PyTorch by checking optimizers, steps and samples.

Each check receives the checked run and yields one suspicion per problem. Checks that need only rows are in
`minitape.explain.reasons.suspects`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import torch

from ...explain.caller import format_bracketed_place
from ...explain.layer_lookup import iter_living_instances
from ...explain.operation_families import OperationNames
from ...explain.reasons import program_text
from ...explain.reasons.finding_sentences import describe_escape_method
from ...explain.reasons.suspects import CheckedRun, Suspicion, format_step_count
from ...explain.translated_sentences import fill
from ...recording.recorded_rows import RecordedRow
from ...recording.sites import NOWHERE, Site, read_line_at_site
from ...recording.value_summary import to_float_array
from .adapter import TorchAdapter
from .model_parameters import iter_unregistered_parameters
from .row_log import GradClearing
from .training_events import SAMPLE_SIZE, TrainingEvent, are_samples_equal_and_nonzero, convert_sample_to_numpy

if TYPE_CHECKING:
    from .recording import TorchRecording

_SOFTMAX, _SIGMOID = "softmax", "sigmoid"
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
        "cross_entropy": _SOFTMAX,
        "binary_cross_entropy_with_logits": _SIGMOID,
        "multilabel_soft_margin_loss": _SIGMOID,
        "log_softmax": _SOFTMAX,
        "logsumexp": _SOFTMAX,
        "logsigmoid": _SIGMOID,
        "softplus": _SIGMOID,
    },
    activation_names={"softmax": _SOFTMAX, "sigmoid": _SIGMOID, "sigmoid_": _SIGMOID}
    | {name: name for name in "tanh relu gelu silu elu leaky_relu softplus hardsigmoid".split()},
    normalizing_ops={"softmax", "layer_norm", "instance_norm", "group_norm"},
    saturating_ops={"sigmoid", "tanh", "softmax", "hardtanh"},
)


def build_checked_run(recording: TorchRecording) -> CheckedRun:
    """Return a recording's rows, backward passes and optimizer steps for the checks."""
    rows, training = recording.rows, recording.log.training
    sweeps = [sweep for sweep in recording.sweeps if sweep.adjoints]
    # Search only once, because the search visits all objects.
    optimizers = iter_living_instances(torch.optim.Optimizer)
    optimized_keys = {key for event in training.events for key in event.learning_rates or ()} | {
        id(parameter) for optimizer in optimizers for group in optimizer.param_groups for parameter in group["params"]
    }
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
        describe_escape_method,
        recording=recording,
        adapter=TorchAdapter(recording),
        checks=(
            check_accumulated_gradients,
            lambda run: check_unapplied_gradients(run, optimized_keys),
            lambda run: check_unoptimized_sources(run, optimized_keys),
            check_samples_without_gradient,
        ),
        find_source_rows=recording.list_rows,
        find_optimizer_steps=training.list_steps_of_parameter,
        sources_with_gradient=sources_with_gradient,
        # If no optimizer took a step, the optimizers count only if one of their parameters got a gradient.
        trained_keys=optimized_keys if training.steps or not optimized_keys.isdisjoint(sources_with_gradient) else (),
    )


def get_torch_recording(run: CheckedRun) -> TorchRecording:
    """Return the recording of a checked PyTorch run, with its type."""
    return cast("TorchRecording", run.recording)


# -- optimizers ------------------------------------------------------------------------------------


class ParameterEvent(NamedTuple):
    """A training event from the viewpoint of one parameter.

    Attributes:
        event: The backward pass, the step, or the clipping of norms.
        is_step: Whether the event is a step of an optimizer that holds the parameter.
        grad: A sample of ``.grad`` at the event, or None if there was no gradient.
    """

    event: TrainingEvent
    is_step: bool
    grad: Any


def _iter_parameter_events(run: CheckedRun, parameter_key: int) -> Iterator[ParameterEvent]:
    """Yield the training events that concern a parameter, in order."""
    for event in get_torch_recording(run).log.training.events:
        is_step = event.kind != "pass" and parameter_key in (event.learning_rates or ())
        if parameter_key in event.grad_samples or is_step:
            yield ParameterEvent(event, is_step, convert_sample_to_numpy(event.grad_samples.get(parameter_key)))


def _sum_adjoint_samples_of_pass(run: CheckedRun, pass_event: TrainingEvent, parameter: Any) -> np.ndarray | None:
    """Return the first elements of the gradient that a backward pass added to a parameter."""
    if pass_event.sweep_index >= len(get_torch_recording(run).sweeps):
        return None
    sweep = get_torch_recording(run).sweeps[pass_event.sweep_index]
    arrived = [
        to_float_array(sweep.adjoints.get(row)) for row in get_torch_recording(run).log.list_leaf_rows(parameter)
    ]
    arrays = [array for array in arrived if array is not None]
    return np.sum(arrays, axis=0).reshape(-1)[:SAMPLE_SIZE] if arrays else None


def _is_changed_without_optimizer(run: CheckedRun, parameter: Any) -> bool:
    """Return whether the program changed a parameter without an optimizer."""
    return len(get_torch_recording(run).log.list_leaf_rows(parameter)) > 1


def check_accumulated_gradients(run: CheckedRun) -> Iterator[Suspicion]:
    """Find a step that reused an earlier step's gradients."""
    for key, parameter in run.sources_with_gradient.items():
        previous_grad: Any = None
        was_used = is_stale = False
        pass_counts = [0]
        site = NOWHERE
        for event, is_step, grad in _iter_parameter_events(run, key):
            if event.kind == "pass":
                arrived = _sum_adjoint_samples_of_pass(run, event, parameter)
                # If .grad equals the gradient of this pass, it was reset before the pass.
                was_used = was_used and not are_samples_equal_and_nonzero(grad, arrived)
                is_known = previous_grad is not None and arrived is not None
                is_stale = was_used and is_known and are_samples_equal_and_nonzero(grad, previous_grad + arrived)
                pass_counts.append(pass_counts[-1] + 1 if is_stale else 1)
            elif is_step:
                was_used = True
                site = event.site if is_stale else site
            previous_grad = grad
        if site is not NOWHERE:
            yield Suspicion("accumulated", site, {"n": max(pass_counts)}, source_keys={key})


def check_unapplied_gradients(run: CheckedRun, optimized_keys: set[int]) -> Iterator[Suspicion]:
    """Find parameters whose gradients no step used.

    Either there was no step, or the gradient was cleared before the step, or the learning rate is 0.

    Args:
        run: The run to check.
        optimized_keys: The keys of the parameters that optimizers hold.
    """
    log, training = get_torch_recording(run).log, get_torch_recording(run).log.training
    for key, parameter in run.sources_with_gradient.items():
        steps = training.list_steps_of_parameter(parameter)
        passes = list(training.iter_passes_reaching_parameter(parameter))
        if (
            not steps
            and len(passes) > 1
            and key in optimized_keys
            and not _is_changed_without_optimizer(run, parameter)
        ):
            yield Suspicion("not_applied", training.passes[-1].site, {"n": len(training.passes)}, source_keys={key})
        lost_step = _find_step_with_lost_gradient(run, key)
        if lost_step is not None:
            zeroed_rows = log.list_rows(parameter.grad)[-1:]  # Only a .grad filled with zeros has a row.
            cleared_at = log.grad_clearings.get(parameter, GradClearing(NOWHERE, 0)).site
            site = run.rows[zeroed_rows[0]].site if zeroed_rows else cleared_at
            step_line = format_bracketed_place(*lost_step.site)
            yield Suspicion("not_applied", site, {"other": step_line}, source_keys={key}, variant="cleared")
        elif len(steps) > 2 and not any((step.learning_rates or {})[key] for step in steps[-3:]):
            fields = {"n": len(steps)}
            yield Suspicion(
                "not_applied", find_learning_rate_site(steps[-1]), fields, source_keys={key}, variant="rate"
            )


def find_learning_rate_site(step: TrainingEvent) -> Site:
    """Return the line that sets the learning rate or creates its schedule."""
    schedules = [scheduler.__name__ for scheduler in torch.optim.lr_scheduler.LRScheduler.__subclasses__()]
    for statement in program_text.list_statements(step.site[0]):
        if statement.find_call(*schedules) or "['lr']" in "".join(statement.bound_names):
            return statement.site
    return find_optimizer_creation_site(step)


def _find_step_with_lost_gradient(run: CheckedRun, parameter_key: int) -> TrainingEvent | None:
    """Return the last step that found no gradient although a backward pass had computed one."""
    pending_grad, was_clipped, lost_step = None, False, None
    for event, is_step, grad in _iter_parameter_events(run, parameter_key):
        if event.kind == "pass":
            pending_grad, was_clipped = grad, False
        elif event.kind == "norm":  # A gradient with an infinite norm is clipped to zeros.
            was_clipped = True
        if is_step:
            found_nothing = grad is None or not (grad.any() or was_clipped)
            had_gradient = pending_grad is not None and pending_grad.any()
            if had_gradient and found_nothing and parameter_key in event.grad_samples:
                lost_step = event
            pending_grad = None
    return lost_step


def check_unoptimized_sources(run: CheckedRun, optimized_keys: set[int]) -> Iterator[Suspicion]:
    """Find parameters that have a gradient but are held by no optimizer, although optimizers took steps.

    Args:
        run: The run to check.
        optimized_keys: The keys of the parameters that optimizers hold.
    """
    training = get_torch_recording(run).log.training
    if not training.steps:
        return
    stepped_keys = {key for step in training.steps for key in step.learning_rates or ()}
    # If no backward pass reached an optimizer's parameters, the optimizer belongs to another model.
    hold_another_model = not any(stepped_keys & event.grad_samples.keys() for event in training.passes)
    for key, parameter in run.sources_with_gradient.items():
        if key in optimized_keys or _is_changed_without_optimizer(run, parameter):
            continue
        passes = training.iter_passes_reaching_parameter(parameter)
        if not hold_another_model and not any(stepped_keys & event.grad_samples.keys() for event in passes):
            continue
        site, variant = _find_omission_site_and_variant(run, parameter)
        if not variant and hold_another_model:
            variant = "another"
        if site is NOWHERE and variant != "model":
            site = find_optimizer_creation_site(training.steps[-1])
        fields = {"what": fill("an optimizer"), "steps": format_step_count(len(training.steps))}
        yield Suspicion("not_optimized", site, fields, source_keys={key}, variant=variant)


def find_optimizer_creation_site(step: TrainingEvent) -> Site:
    """Return the line that created a step's optimizer, if it is visible in the program's text."""
    statement = program_text.find_statement(step.site)
    methods = [call.func for call in statement.calls if isinstance(call.func, ast.Attribute)]
    if not methods:
        return step.site
    creating = program_text.find_binding_statements(ast.unparse(methods[0].value), statement)
    return creating[-1].site if creating else step.site


def _find_omission_site_and_variant(run: CheckedRun, parameter: Any) -> tuple[Site, str]:
    """Return the line that left a parameter out of an optimizer, if known, and the variant of the sentence about it."""
    history = get_torch_recording(run).log.history
    site, roots = history.find_insertion_site(parameter), history.list_called_root_modules()
    if site is not NOWHERE:
        return site, "replaced"
    is_registered = bool(history.find_root_module_and_path(parameter)[1])
    unregistered = (
        ()
        if is_registered
        else (each_parameter for root in roots for each_parameter in iter_unregistered_parameters(root))
    )
    for omitted in unregistered:
        if omitted.parameter is parameter:
            return program_text.find_attribute_assignment_site(omitted.owner, omitted.attribute), "model"
    return NOWHERE, ""


# -- draws -----------------------------------------------------------------------------------------


def check_samples_without_gradient(run: CheckedRun) -> Iterator[Suspicion]:
    """Find a sample that blocks gradients, and that the target uses for more than its log-probability."""
    targets = {row for sweep in run.sweeps for row in sweep.target}
    for row in run.rows:
        has_tracked_input = any(run.rows[edge.input_row].tracked for edge in row.edges)
        is_sample = any(edge.cause == "no_grad" for edge in row.edges) and ".sample(" in read_line_at_site(row.site)
        is_float = row.kind == "operation" and row.dtype.startswith(("float", "bfloat"))
        # Autograd sends zeros back through torch.normal.
        is_normal = row.op == "normal"
        if not (is_sample or is_normal) or not is_float or not has_tracked_input:
            continue
        uses = _split_uses_of_draw(run, row)
        if uses.other_rows.isdisjoint(targets):
            continue
        if any(_is_weighted_log_prob(run, run.rows[index], uses.log_prob_rows) for index in uses.log_prob_rows):
            continue
        ancestors = set().union(*(run.find_connected_ancestors(input_row) for input_row in row.inputs))
        variables = [run.rows[index].find_object() for index in ancestors if run.rows[index].kind == "variable"]
        keys = {id(variable) for variable in variables if variable is not None}
        yield Suspicion("sampled", row.site, {}, source_keys=keys, variant="normal" if is_normal else "")


class DrawUses(NamedTuple):
    """The rows computed from a sample.

    Attributes:
        log_prob_rows: The rows computed from the log-probability of the sample.
        other_rows: The sample itself, and the rows computed from it in other ways.
    """

    log_prob_rows: set[int]
    other_rows: set[int]


def _split_uses_of_draw(run: CheckedRun, draw: RecordedRow) -> DrawUses:
    """Return the rows computed from a sample, separated by whether they use its log-probability."""
    uses = DrawUses(set(), {draw.index})
    for later in run.rows[draw.index + 1 :]:
        plain_inputs = uses.other_rows.intersection(later.inputs)
        if plain_inputs:
            is_log_prob = _is_log_prob_of_draw(run, later, plain_inputs)
            if is_log_prob:
                uses.log_prob_rows.add(later.index)
            else:
                uses.other_rows.add(later.index)
        if not uses.log_prob_rows.isdisjoint(later.inputs):
            uses.log_prob_rows.add(later.index)
    return uses


def _is_log_prob_of_draw(run: CheckedRun, row: RecordedRow, draw_rows: Iterable[int]) -> bool:
    """Return whether a row is part of a sample's log-probability.

    Rows do not count if a distribution was created from the sample, or if the line calls one of the program's
    modules.
    """
    if not _is_log_prob_row(row) or any(run.rows[draw_row].tracked for draw_row in draw_rows):
        return False
    return not any(len(other.scope) < len(row.scope) for other in run.rows if other.site == row.site)


def _is_weighted_log_prob(run: CheckedRun, row: RecordedRow, log_prob_rows: set[int]) -> bool:
    """Return whether a row multiplies a log-probability by another value."""
    if (
        row.op not in OPERATION_NAMES.product_ops
        or len(row.inputs) < 2
        or _is_log_prob_row(row)
        or log_prob_rows.isdisjoint(row.inputs)
    ):
        return False
    return any(input_row not in log_prob_rows and run.rows[input_row].shape for input_row in row.inputs)


def _is_log_prob_row(row: RecordedRow) -> bool:
    """Return whether a line that calls ``log_prob`` computed a row directly, and not in a function called there."""
    line = read_line_at_site(row.site)
    return "log_prob(" in line and f"{row.op}(" not in line
