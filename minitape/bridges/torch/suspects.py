"""Find wrong gradients in PyTorch by what optimizers, steps and samples show.

The checks that need nothing but rows are in `minitape.explain.reasons.suspects`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from ...explain.caller import in_brackets
from ...explain.families import OperationNames
from ...explain.owners import living
from ...explain.reasons import text
from ...explain.reasons.question import RecordedRow
from ...explain.reasons.suspects import CheckedRun, Suspicion, format_steps
from ...explain.reasons.words import describe_escape
from ...explain.sentences import fill
from ...recording.sites import NOWHERE, Site, text_of
from ...recording.values import numbers_of
from ..rows import read_escapes
from .adapter import TorchAdapter, read_rows
from .model import held_parameters
from .training import SAMPLE, TrainingEvent, equal_samples, numbers

_SOFTMAX, _SIGMOID = "softmax", "sigmoid"
NAMES = OperationNames(
    compare={"sub", "sub_", "rsub"},
    losses={"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "gaussian_nll_loss"},
    sums={"sum", "mean", "nanmean", "nansum"},
    shapes=set(
        "view reshape squeeze unsqueeze getitem expand expand_as flatten contiguous to float double half view_as "
        "clone unflatten movedim transpose permute T".split()
    ),
    adds=set("add sub rsub iadd isub add_ sub_ radd".split()),
    factors={"mul", "div", "true_divide", "rmul", "imul", "mul_"},
    of_logits={
        "cross_entropy": _SOFTMAX,
        "binary_cross_entropy_with_logits": _SIGMOID,
        "multilabel_soft_margin_loss": _SIGMOID,
        "log_softmax": _SOFTMAX,
        "logsumexp": _SOFTMAX,
        "logsigmoid": _SIGMOID,
        "softplus": _SIGMOID,
    },
    activations={"softmax": _SOFTMAX, "sigmoid": _SIGMOID, "sigmoid_": _SIGMOID}
    | {name: name for name in "tanh relu gelu silu elu leaky_relu softplus hardsigmoid".split()},
    normalize={"softmax", "layer_norm", "instance_norm", "group_norm"},
    saturate={"sigmoid", "tanh", "softmax", "hardtanh"},
)


def build_checked_run(recording: Any) -> CheckedRun:
    """Return the rows, backward passes and optimizer steps of a recording, for the checks to read."""
    rows, training = read_rows(recording), recording.log.training
    sweeps = [sweep for sweep in recording.sweeps if sweep.adjoints]
    optimizers = living(torch.optim.Optimizer)  # it goes through all objects: once
    held = {key for event in training.events for key in event.rates or ()} | {
        id(p) for one in optimizers for group in one.param_groups for p in group["params"]
    }
    reached = {row for sweep in sweeps for row in sweep.adjoints if rows[row].kind != "operation"}
    leaves = ((rows[row].kind, rows[row].get_object()) for row in reached)
    # A leaf that is not a parameter is trained if an optimizer holds it.
    with_gradient = {id(t): t for kind, t in leaves if t is not None and (kind == "variable" or id(t) in held)}
    return CheckedRun(
        rows,
        sweeps,
        read_escapes(recording),
        NAMES,
        describe_escape,
        recording=recording,
        adapter=TorchAdapter(recording),
        checks=(
            check_accumulated,
            partial(check_not_applied, held=held),
            partial(check_not_optimized, held=held),
            check_sampled,
        ),
        rows_of=recording.rows_of,
        steps_of=training.steps_of,
        sources_with_gradient=with_gradient,
        # a step was taken, or they hold what got a gradient
        trained_keys=held if training.steps or not held.isdisjoint(with_gradient) else (),
    )


# -- optimizers ------------------------------------------------------------------------------------


class ParameterEvent(NamedTuple):
    """A training event as one parameter saw it.

    Attributes:
        event: The backward pass, the step, or the clipping of norms.
        is_step: Whether it is an event of an optimizer that holds the parameter.
        grad: A sample of ``.grad`` at that time; None if there was no gradient.
    """

    event: TrainingEvent
    is_step: bool
    grad: Any


def _iter_parameter_events(run: CheckedRun, key: int) -> Iterator[ParameterEvent]:
    """Yield the training events that concern a parameter, in order."""
    for event in run.recording.log.training.events:
        is_step = event.kind != "pass" and key in (event.rates or ())
        if key in event.samples or is_step:
            yield ParameterEvent(event, is_step, numbers(event.samples.get(key)))


def _sum_arrived_adjoints(run: CheckedRun, event: TrainingEvent, parameter: Any) -> np.ndarray | None:
    """Return a sample of what a backward pass added to the gradient of a parameter."""
    if event.sweep >= len(run.recording.sweeps):
        return None
    sweep = run.recording.sweeps[event.sweep]
    arrived = [numbers_of(sweep.adjoints.get(row)) for row in run.recording.log.leaf_rows(parameter)]
    arrays = [array for array in arrived if array is not None]
    return np.sum(arrays, axis=0).reshape(-1)[:SAMPLE] if arrays else None


def _is_changed_by_program(run: CheckedRun, parameter: Any) -> bool:
    """Return whether the program changed a parameter without an optimizer."""
    return len(run.recording.log.leaf_rows(parameter)) > 1


def check_accumulated(run: CheckedRun) -> Iterator[Suspicion]:
    """Find a step that used gradients which an earlier step had used already."""
    for key, parameter in run.sources_with_gradient.items():
        previous_grad: Any = None
        was_used = is_stale = False
        pass_counts = [0]
        site = NOWHERE
        for event, is_step, grad in _iter_parameter_events(run, key):
            if event.kind == "pass":
                arrived = _sum_arrived_adjoints(run, event, parameter)
                was_used = was_used and not equal_samples(grad, arrived)  # If they are equal, .grad was reset.
                is_known = previous_grad is not None and arrived is not None
                is_stale = was_used and is_known and equal_samples(grad, previous_grad + arrived)
                pass_counts.append(pass_counts[-1] + 1 if is_stale else 1)
            elif is_step:
                was_used = True
                site = event.site if is_stale else site
            previous_grad = grad
        if site is not NOWHERE:
            yield Suspicion("accumulated", site, {"n": max(pass_counts)}, source_keys={key})


def check_not_applied(run: CheckedRun, held: set[int]) -> Iterator[Suspicion]:
    """Find parameters whose gradient no step used.

    There was no step, the gradient was cleared before it, or the learning rate is 0.

    Args:
        run: The run to check.
        held: The keys of the parameters that optimizers hold.
    """
    log, training = run.recording.log, run.recording.log.training
    for key, parameter in run.sources_with_gradient.items():
        steps, passes = training.steps_of(parameter), list(training.passes_of(parameter))
        if not steps and len(passes) > 1 and key in held and not _is_changed_by_program(run, parameter):
            yield Suspicion("not_applied", training.passes[-1].site, {"n": len(training.passes)}, source_keys={key})
        lost_step = _find_step_without_gradient(run, key)
        if lost_step is not None:
            zeroed_rows = log.rows_of(parameter.grad)[-1:]  # ``.grad`` was filled with zeros.
            cleared_at = log.clearings.get(parameter, (NOWHERE, 0))[0]
            site = run.rows[zeroed_rows[0]].site if zeroed_rows else cleared_at
            step_line = in_brackets(*lost_step.site)
            yield Suspicion("not_applied", site, {"other": step_line}, source_keys={key}, variant="cleared")
        elif len(steps) > 2 and not any((step.rates or {})[key] for step in steps[-3:]):
            fields = {"n": len(steps)}
            yield Suspicion("not_applied", find_rate_site(steps[-1]), fields, source_keys={key}, variant="rate")


def find_rate_site(step: TrainingEvent) -> Site:
    """Return the line that sets the learning rate, or that creates its schedule."""
    schedules = [scheduler.__name__ for scheduler in torch.optim.lr_scheduler.LRScheduler.__subclasses__()]
    for statement in text.statements(step.site[0]):
        if statement.call_of(*schedules) or "['lr']" in "".join(statement.binds):
            return statement.site
    return find_optimizer_site(step)


def _find_step_without_gradient(run: CheckedRun, key: int) -> TrainingEvent | None:
    """Return the last step that found no gradient although a backward pass had brought one."""
    pending_grad, was_clipped, lost_step = None, False, None
    for event, is_step, grad in _iter_parameter_events(run, key):
        if event.kind == "pass":
            pending_grad, was_clipped = grad, False
        elif event.kind == "norm":  # A gradient of infinite norm is clipped to zeros.
            was_clipped = True
        if is_step:
            found_nothing = grad is None or not (grad.any() or was_clipped)
            had_gradient = pending_grad is not None and pending_grad.any()
            if had_gradient and found_nothing and key in event.samples:
                lost_step = event
            pending_grad = None
    return lost_step


def check_not_optimized(run: CheckedRun, held: set[int]) -> Iterator[Suspicion]:
    """Find parameters with a gradient that no optimizer holds, although steps were taken.

    Args:
        run: The run to check.
        held: The keys of the parameters that optimizers hold.
    """
    training = run.recording.log.training
    if not training.steps:
        return
    stepped = {key for step in training.steps for key in step.rates or ()}
    # The optimizers belong to another model if no backward pass reached anything that they hold.
    hold_another_model = not any(stepped & event.samples.keys() for event in training.passes)
    for key, parameter in run.sources_with_gradient.items():
        if key in held or _is_changed_by_program(run, parameter):
            continue
        passes = training.passes_of(parameter)
        if not hold_another_model and not any(stepped & event.samples.keys() for event in passes):
            continue
        site, variant = _find_omission(run, parameter)
        if not variant and hold_another_model:
            variant = "another"
        if site is NOWHERE and variant != "model":
            site = find_optimizer_site(training.steps[-1])
        fields = {"what": fill("an optimizer"), "steps": format_steps(len(training.steps))}
        yield Suspicion("not_optimized", site, fields, source_keys={key}, variant=variant)


def find_optimizer_site(step: TrainingEvent) -> Site:
    """Return the line that creates the optimizer of a step, if the text shows it."""
    statement = text.at(step.site)
    methods = [call.func for call in statement.calls if isinstance(call.func, ast.Attribute)]
    if not methods:
        return step.site
    creating = text.bound_by(ast.unparse(methods[0].value), statement)
    return creating[-1].site if creating else step.site


def _find_omission(run: CheckedRun, parameter: Any) -> tuple[Site, str]:
    """Return the line that left a parameter out of an optimizer, if it is known, and how."""
    history = run.recording.log.history
    site, roots = history.replacement_of(parameter), history.roots()
    if site is not NOWHERE:
        return site, "replaced"
    beside = (one for root in roots for one in held_parameters(root)) if not history.path_of(parameter)[1] else ()
    for owner, name, _, tensor in beside:
        if tensor is parameter:
            return text.attribute_site(owner, name), "model"
    return NOWHERE, ""


# -- draws -----------------------------------------------------------------------------------------


def check_sampled(run: CheckedRun) -> Iterator[Suspicion]:
    """Find a sample that passes no gradient and reaches the target in other ways than by its probability."""
    targets = {row for sweep in run.sweeps for row in sweep.target}
    for row in run.rows:
        is_sample = any(edge.cause == "no_grad" and run.rows[edge.input_row].tracked for edge in row.edges)
        is_float = row.kind == "operation" and row.dtype.startswith(("float", "bfloat"))
        if not is_sample or not is_float or ".sample(" not in text_of(row.site):
            continue
        uses = _split_uses_of_draw(run, row)
        if uses.other.isdisjoint(targets):
            continue
        if any(_is_weighted_log_prob(run, run.rows[index], uses.log_prob) for index in uses.log_prob):
            continue
        ancestors = set().union(*(run.connected_ancestors_of(input_row) for input_row in row.inputs))
        variables = [run.rows[index].get_object() for index in ancestors if run.rows[index].kind == "variable"]
        keys = {id(variable) for variable in variables if variable is not None}
        yield Suspicion("sampled", row.site, {}, source_keys=keys)


class DrawUses(NamedTuple):
    """The rows computed from the log-probability of a sample, and those computed from the sample otherwise."""

    log_prob: set[int]
    other: set[int]


def _split_uses_of_draw(run: CheckedRun, draw: RecordedRow) -> DrawUses:
    """Return the rows that use a sample, by whether they use its log-probability."""
    uses = DrawUses(set(), {draw.index})
    for later in run.rows[draw.index + 1 :]:
        plain_inputs = uses.other.intersection(later.inputs)
        if plain_inputs:
            is_log_prob = _is_log_prob_of(run, later, plain_inputs)
            (uses.log_prob if is_log_prob else uses.other).add(later.index)
        if not uses.log_prob.isdisjoint(later.inputs):
            uses.log_prob.add(later.index)
    return uses


def _is_log_prob_of(run: CheckedRun, row: RecordedRow, draw: Iterable[int]) -> bool:
    """Return whether a row is part of the log-probability of a sample.

    It is not, if a distribution was created from the sample, or if the line calls a module of the program.
    """
    if not _is_log_prob_row(row) or any(run.rows[one].tracked for one in draw):
        return False
    return not any(len(other.scope) < len(row.scope) for other in run.rows if other.site == row.site)


def _is_weighted_log_prob(run: CheckedRun, row: RecordedRow, spoken: set[int]) -> bool:
    """Return whether a row multiplies a log-probability by something else."""
    if row.op not in NAMES.factors or len(row.inputs) < 2 or _is_log_prob_row(row) or spoken.isdisjoint(row.inputs):
        return False
    return any(one not in spoken and run.rows[one].shape for one in row.inputs)


def _is_log_prob_row(row: RecordedRow) -> bool:
    """Return whether a row belongs to a line that calls ``log_prob``, and not to a function that the line calls."""
    line = text_of(row.site)
    return "log_prob(" in line and f"{row.op}(" not in line
