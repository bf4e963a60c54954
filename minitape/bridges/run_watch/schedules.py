"""Track learning-rate schedules and layer modes, and find mistakes in how they are used."""

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from ...explain.caller import format_place_suffix
from ...explain.explanation import OptionalExplanation, explain_cause
from ...explain.reasons.program_text import list_call_sites
from ...recording.sites import NOWHERE, Site
from .accounts import OptimizerAccount, RunAccounts
from .run_finding import RunFinding, RunFindings

FEW_STEPS = 10  # In a run with fewer steps than this, a schedule may not have been due yet.
TINY_RATE = 1e-4  # Steps whose learning rate is below this fraction of the largest one change nothing.
RATE_SAMPLES = 200  # The maximum number of steps whose learning rates are recomputed after the run.
LARGE_RATE = 0.5  # A program creates an optimizer with such a large rate only if a schedule computes the actual rate.
FULL_SHARE = 0.9  # A schedule that is stepped in more than this share of the steps counts as stepped in every step.


@dataclass
class ScheduleAccount:
    """The account of a learning-rate schedule.

    Attributes:
        optimizer: The account of the schedule's optimizer.
        kind: The name of the schedule's class.
        creation_site: The line that created the schedule.
        period: The number of calls after which a schedule of a fixed length ends, or 0 for other schedules.
        site: The line of the schedule's last step, or the line that created the schedule if no step was taken yet.
        calls: The number of times that the schedule was stepped.
    """

    optimizer: OptimizerAccount
    kind: str
    creation_site: Site
    period: int
    site: Site
    calls: int = 0


@dataclass
class LayerModeAccount:
    """The modes in which a normalization or dropout layer was called.

    Attributes:
        kind: The name of the layer's class.
        trained_calls: The number of calls in training mode with gradients.
        fixed_calls: The number of calls in evaluation mode with gradients since the last call in training mode, except
            calls by a module that was itself in training mode.
        switching_site: The line that last switched the layer to another mode, or NOWHERE if none did.
        unrecorded_calls: The number of calls in training mode without gradients.
        frozen_calls: The number of calls in training mode while the weight of the layer did not require a gradient.
        site: The line of the last call counted in `unrecorded_calls` or `frozen_calls`.
    """

    kind: str
    trained_calls: int = 0
    fixed_calls: int = 0
    switching_site: Site = NOWHERE
    unrecorded_calls: int = 0
    frozen_calls: int = 0
    site: Site = NOWHERE


def find_misused_schedules(run: RunAccounts) -> RunFindings:
    """Find schedules that are stepped too often or too rarely, or that change the rate of an idle optimizer.

    Args:
        run: The accounts of the run.
    """
    for schedule in run.schedules:
        optimizer, calls, steps = schedule.optimizer, schedule.calls, schedule.optimizer.steps
        keys = [account.key for account in optimizer.accounts]
        fields = {"what": schedule.kind, "n": calls, "all": steps, "one": schedule.period}
        others = [other for other in run.optimizers if other.steps and other.accounts == optimizer.accounts]
        if calls and not steps and others:
            fields["other"] = format_place_suffix(others[-1].creation_site)
            yield RunFinding("schedule", "other", schedule.creation_site, fields, keys)
        elif steps < FEW_STEPS:
            continue
        elif schedule.kind == "LambdaLR" and calls and optimizer.rates[1] < 0.05 * optimizer.chosen_rate:
            # If the largest rate comes late, the rate may still be rising. If the optimizer was created with a large
            # rate, such as 1, the schedule's function returns the actual rate instead of a factor.
            if optimizer.peak_step < steps / 2 and optimizer.chosen_rate < LARGE_RATE:
                fields |= {"from_": optimizer.chosen_rate, "to": optimizer.rates[1]}
                yield RunFinding("schedule", "factor", schedule.creation_site, fields, keys)
        elif schedule.kind == "CosineAnnealingLR" and calls > max(FULL_SHARE * steps, 2 * schedule.period):
            yield RunFinding("schedule", "fast", schedule.site, fields, is_remark=True)
        elif schedule.kind == "OneCycleLR" and calls < schedule.period / 2 < FULL_SHARE * steps:
            yield RunFinding("schedule", "slow", schedule.site, fields, keys)


def find_layers_in_wrong_mode(run: RunAccounts) -> RunFindings:
    """Find layers that were in training mode during an evaluation, or in evaluation mode during training.

    Both modes may be intended, so these findings are only remarks.

    Args:
        run: The accounts of the run.
    """
    for mode in run.layer_modes:
        fields = {"what": mode.kind, "n": mode.unrecorded_calls, "all": mode.trained_calls + mode.fixed_calls}
        if 0 < 2 * mode.unrecorded_calls <= mode.trained_calls:
            yield RunFinding("layer_mode", "", mode.site, fields, is_remark=True)
        if mode.fixed_calls > max(2, mode.trained_calls) and run.taken_step_count:
            fields = fields | {"n": mode.fixed_calls}
            yield RunFinding("layer_mode", "fixed", mode.switching_site, fields, is_remark=True)
        if mode.frozen_calls > 2 and not mode.trained_calls and run.taken_step_count:
            fields["n"] = mode.frozen_calls
            yield RunFinding("layer_mode", "frozen", mode.site, fields, is_remark=True)


def explain_schedule_decayed_too_early(
    framework: str, rate_of_step: Callable, step_count: int, schedule_maker_names: Iterable[str]
) -> OptionalExplanation:
    """Explain that a schedule had lowered the learning rate to almost nothing before half of the steps were taken.

    Args:
        framework: The name of the framework.
        rate_of_step: Returns the learning rate of a step.
        step_count: The number of steps that the optimizer took.
        schedule_maker_names: The names of the functions or classes that may have created the schedule.

    Returns:
        The explanation, or None if the learning rate was large enough in half of the steps or cannot be computed.
    """
    steps = range(0, step_count, step_count // RATE_SAMPLES + 1)
    with suppress(Exception):  # A schedule defined by the program may not accept a step number.
        rates = [float(rate_of_step(step)) for step in steps]
        last = max(step for step, rate in zip(steps, rates, strict=True) if rate > TINY_RATE * max(rates))
        if step_count > 2 * FEW_STEPS and last < step_count / 2:
            file = getattr(sys.modules["__main__"], "__file__", None)
            sites = list_call_sites(file, *schedule_maker_names)
            fields = {"n": last + steps.step, "all": step_count, "from_": max(rates), "rate": rates[-1]}
            return explain_cause(framework, "not_applied", (sites or [NOWHERE])[-1], "decayed", fields)
    return None
