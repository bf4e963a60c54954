"""What is wrong with gradients that are there, in PyTorch: what optimizers, steps and draws show, beside what
:mod:`suspects` finds in the rows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from ...explain.caller import in_brackets
from ...explain.families import OperationNames
from ...explain.owners import living
from ...explain.reasons import text
from ...explain.reasons.question import RecordedRow
from ...explain.reasons.suspects import CheckedRun, Suspicion, steps_said
from ...explain.reasons.words import left_by
from ...explain.sentences import fill
from ...recording.sites import NOWHERE, Site, text_of
from ...recording.values import numbers_of
from ..rows import exits_of
from .adapter import TorchAdapter, rows_read
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


def run_of(recording: Any) -> CheckedRun:
    """The rows, backward passes and steps of a recording, as the checks read them."""
    rows, training = rows_read(recording), recording.log.training
    sweeps = [sweep for sweep in recording.sweeps if sweep.adjoints]
    optimizers = living(torch.optim.Optimizer)  # it goes through all objects: once
    held = {key for event in training.events for key in event.rates or ()} | {
        id(p) for one in optimizers for group in one.param_groups for p in group["params"]
    }
    reached = {row for sweep in sweeps for row in sweep.adjoints if rows[row].kind != "operation"}
    leaves = ((rows[row].kind, rows[row].thing()) for row in reached)
    # a leaf that is no parameter is trained where an optimizer holds it
    with_gradient = {id(t): t for kind, t in leaves if t is not None and (kind == "variable" or id(t) in held)}
    return CheckedRun(
        rows,
        sweeps,
        exits_of(recording),
        NAMES,
        left_by,
        recording=recording,
        adapter=TorchAdapter(recording),
        checks=(
            accumulated,
            partial(not_applied, held=held),
            partial(not_optimized, held=held),
            sampled,
        ),
        rows_of=recording.rows_of,
        steps_of=training.steps_of,
        with_gradient=with_gradient,
        # a step was taken, or they hold what got a gradient
        trained=held if training.steps or not held.isdisjoint(with_gradient) else (),
    )


# -- optimizers ------------------------------------------------------------------------------------


def _samples(run: CheckedRun, key: int) -> Iterator[tuple[TrainingEvent, bool, Any]]:
    """The events that concern a parameter: each, whether it is a step of its own, and ``.grad`` then."""
    for event in run.recording.log.training.events:
        held = event.kind != "pass" and key in (event.rates or ())
        if key in event.samples or held:
            yield event, held, numbers(event.samples.get(key))


def _arrived(run: CheckedRun, event: TrainingEvent, parameter: Any) -> np.ndarray | None:
    """What a backward pass brought to a parameter, as far as samples go."""
    sweeps, rows = run.recording.sweeps[event.sweep :][:1], run.recording.log.leaf_rows(parameter)
    came = [numbers_of(sweep.adjoints.get(row)) for sweep in sweeps for row in rows]
    known = [array for array in came if array is not None]
    return np.sum(known, axis=0).reshape(-1)[:SAMPLE] if known else None


def _is_changed(run: CheckedRun, parameter: Any) -> bool:
    """Whether the program itself changed it."""
    return len(run.recording.log.leaf_rows(parameter)) > 1


def accumulated(run: CheckedRun) -> Iterator[Suspicion]:
    """A step used gradients that an earlier step had used already."""
    for key, parameter in run.with_gradient.items():
        last, used, stale, counts, site = None, False, False, [0], NOWHERE
        for event, held, now in _samples(run, key):
            if event.kind == "pass":
                came = _arrived(run, event, parameter)
                used = used and not equal_samples(now, came)  # a new beginning
                stale = used and last is not None and came is not None and equal_samples(now, last + came)
                counts.append(counts[-1] + 1 if stale else 1)
            elif held:
                used, site = True, event.site if stale else site
            last = now
        if site is not NOWHERE:
            yield Suspicion("accumulated", site, {"n": max(counts)}, sources={key})


def not_applied(run: CheckedRun, held: set[int]) -> Iterator[Suspicion]:
    """No step used a gradient: none was taken, it was cleared before, or the rate is 0."""
    log = run.recording.log
    training = log.training
    for key, parameter in run.with_gradient.items():
        steps, passes, lost = training.steps_of(parameter), [*training.passes_of(parameter)], _lost(run, key)
        if not steps and len(passes) > 1 and key in held and not _is_changed(run, parameter):
            yield Suspicion("not_applied", training.passes[-1].site, {"n": len(training.passes)}, sources={key})
        if lost is not None:
            filled = log.rows_of(parameter.grad)[-1:]  # with zeros
            site = run.rows[filled[0]].site if filled else log.clearings.get(parameter, (NOWHERE, 0))[0]
            step = in_brackets(*lost.site)
            yield Suspicion("not_applied", site, {"other": step}, sources={key}, kind="cleared")
        elif len(steps) > 2 and not any((step.rates or {})[key] for step in steps[-3:]):
            yield Suspicion("not_applied", rate_at(steps[-1]), {"n": len(steps)}, sources={key}, kind="rate")


def rate_at(step: TrainingEvent) -> Site:
    """The line that gives an optimizer its learning rate: its schedule where it has one."""
    schedules = [kind.__name__ for kind in torch.optim.lr_scheduler.LRScheduler.__subclasses__()]
    here = text.statements(step.site[0])
    sets = (s.site for s in here if s.call_of(*schedules) or "['lr']" in "".join(s.binds))
    return next(sets, made_at(step))


def _lost(run: CheckedRun, key: int) -> TrainingEvent | None:
    """The last step that found no gradient, although a backward pass had come since the step before."""
    had, clipped, lost = None, False, None
    for event, held, now in _samples(run, key):
        if event.kind == "pass":
            had, clipped = now, False
        clipped |= event.kind == "norm"  # a gradient of infinite norm is clipped to zeros
        if held:
            nothing = now is None or not (now.any() or clipped)
            lost = event if had is not None and had.any() and key in event.samples and nothing else lost
            had = None
    return lost


def not_optimized(run: CheckedRun, held: set[int]) -> Iterator[Suspicion]:
    """A gradient is there, steps were taken, and no optimizer holds the parameter."""
    training = run.recording.log.training
    taken = {key for step in training.steps for key in step.rates or ()}
    of_another = not any(taken & event.samples.keys() for event in training.passes)  # they hold nothing that is trained
    for key, parameter in run.with_gradient.items() if training.steps else ():
        beside = of_another or any(taken & event.samples.keys() for event in training.passes_of(parameter))
        if key not in held and beside and not _is_changed(run, parameter):
            site, kind = _why_not_held(run, parameter)
            kind = kind or "another" * of_another
            at = made_at(training.steps[-1]) if site is NOWHERE and kind != "model" else site
            fields = {"what": fill("an optimizer"), "steps": steps_said(len(training.steps))}
            yield Suspicion("not_optimized", at, fields, sources={key}, kind=kind)


def made_at(step: TrainingEvent) -> Site:
    """The line that makes the optimizer of a step, as far as the text tells."""
    at = text.at(step.site)
    calls = [call.func for call in at.calls if isinstance(call.func, ast.Attribute)]
    made = text.bound_by(ast.unparse(calls[0].value), at) if calls else []
    return made[-1].site if made else step.site


def _why_not_held(run: CheckedRun, parameter: Any) -> tuple[Site, str]:
    """The line that left a parameter out, where it is known."""
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


def sampled(run: CheckedRun) -> Iterator[Suspicion]:
    """A draw that passes no gradient is used in the target by more than its probability."""
    targets = {row for sweep in run.sweeps for row in sweep.target}
    for row in run.rows:
        drawn = any(one.why == "no_grad" and run.rows[one.row].tracked for one in row.given)
        real = row.kind == "operation" and row.dtype.startswith(("float", "bfloat"))
        if not drawn or not real or ".sample(" not in text_of(row.site):
            continue
        spoken, plain = _uses(run, row)
        if not plain.isdisjoint(targets) and not any(_is_weighted(run, run.rows[at], spoken) for at in spoken):
            behind = set().union(*(run.behind(one) for one in row.inputs))
            leaves = [run.rows[at].thing() for at in behind if run.rows[at].kind == "variable"]
            yield Suspicion("sampled", row.site, {}, sources={id(leaf) for leaf in leaves if leaf is not None})


def _uses(run: CheckedRun, draw: RecordedRow) -> tuple[set[int], set[int]]:
    """The rows that were computed from the probability of a draw, and those from the draw by other paths."""
    spoken, plain = set[int](), {draw.row}
    for later in run.rows[draw.row + 1 :]:
        given = plain.intersection(later.inputs)
        if given:
            (spoken if _is_of_it(run, later, given) else plain).add(later.row)
        if not spoken.isdisjoint(later.inputs):
            spoken.add(later.row)
    return spoken, plain


def _is_of_it(run: CheckedRun, row: RecordedRow, draw: Iterable[int]) -> bool:
    """Whether a row is of the probability of a draw: of no distribution that was made with it, and in no module that
    the line calls.
    """
    if not _speaks(row) or any(run.rows[one].tracked for one in draw):
        return False
    return not any(len(other.scope) < len(row.scope) for other in run.rows if other.site == row.site)


def _is_weighted(run: CheckedRun, row: RecordedRow, spoken: set[int]) -> bool:
    """Whether a row multiplies what was computed from a probability with something else."""
    if row.op not in NAMES.factors or len(row.inputs) < 2 or _speaks(row) or spoken.isdisjoint(row.inputs):
        return False
    return any(one not in spoken and run.rows[one].shape for one in row.inputs)


def _speaks(row: RecordedRow) -> bool:
    """Whether a row is of a line that asks for a probability, and no function of its own that the line calls."""
    line = text_of(row.site)
    return "log_prob(" in line and f"{row.op}(" not in line
