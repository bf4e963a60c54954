"""Find problems in the accounts of a training run.

Each check examines the fates and counts of gradients, but never the source code of the program.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from math import isfinite

from ...common.grouping import group_values_by_key
from ...explain.caller import format_place_suffix
from ...explain.reasons.suspects import format_step_count
from ...explain.translated_sentences import fill
from ...recording.sites import NOWHERE, Site
from .accounts import (
    CLEARED,
    CLIPPED,
    EDITED,
    LEFT,
    REUSED,
    SKIPPED,
    STEPPED,
    UNSCALED,
    Account,
    GradientChange,
    OptimizerAccount,
    Route,
    RunAccounts,
)
from .run_finding import RunFinding, RunFindings
from .schedules import find_layers_in_wrong_mode, find_misused_schedules

SMALL_NORM = 1e-6  # A gradient below this norm is too small to move a weight by itself.
# If a line creates more than this many parameters that get only one gradient each, it recreates a layer.
MAX_SINGLE_REGISTRATIONS = 2
GROWTH = 1e4  # If the gradient and the loss have grown by this factor since the first step, the training has diverged.
DEAD_STEPS = 8  # A layer counts as dead if its gradient was zero in at least this many measured steps.
TINY_SHARE = 0.4  # A schedule may leave this share of the steps with a rate that changes nothing.
SMALLEST_HALF = 2.0**-25  # Any smaller number becomes 0 in float16.
SHORT_RUN = 3  # In a run with at most this many backward passes, a problem is reported even if it occurs only once.
# For a float32 weight, a vanished update only means that the gradient or the learning rate is small, possibly on
# purpose.
HALF_DTYPES = ("float16", "bfloat16")


def find_run_findings(
    run: RunAccounts, move_finding_to_line_to_blame: Callable[[RunFinding], RunFinding] = lambda finding: finding
) -> list[RunFinding]:
    """Return all findings about a run. Parameters whose problems have the same cause and line share one finding.

    Args:
        run: The accounts of the run.
        move_finding_to_line_to_blame: Returns the finding with a more precise line, if the framework's bridge can find
            one.
    """
    merged: dict[tuple, RunFinding] = {}
    for rule in RULES:
        for finding in map(move_finding_to_line_to_blame, rule(run)):
            place = finding.cause, finding.variant, finding.site
            first = merged.setdefault(place, finding)
            merged[place] = first._replace(keys={*first.keys, *finding.keys})
    return list(merged.values())


Rule = Callable[[RunAccounts], Iterable[RunFinding]]


def find_line_that_left_gradients_off(run: RunAccounts) -> RunFindings:
    """Find the line that permanently switched gradients off.

    Args:
        run: The accounts of the run.
    """
    if run.paused_at != NOWHERE:
        yield RunFinding("grad_off", "", run.paused_at, {"n": run.passes})


def find_passes_adding_to_leftovers_of_other_loss(run: RunAccounts) -> RunFindings:
    """Find passes that add to another loss's leftover gradient because only other optimizers stepped after that loss.

    Args:
        run: The accounts of the run.
    """
    for old_site, new_site, key in run.sent_by_another:
        account = run.accounts.get(key)
        for route, count in run.iter_routes_and_counts(account) if account else ():
            is_sum_of_both = old_site in route.pass_sites and route.pass_sites[-1] == new_site
            if route.fate == STEPPED and count > 1 and is_sum_of_both:
                fields = {
                    "step": format_place_suffix(new_site),
                    "from_": format_place_suffix(old_site),
                    "n": count,
                }
                yield RunFinding("leftover", "", route.site, fields, [key])


def find_gradients_cleared_before_use(run: RunAccounts) -> RunFindings:
    """Find gradients that were cleared before any step used them.

    Args:
        run: The accounts of the run.
    """
    for account in run.accounts.values():
        routes = list(run.iter_routes_and_counts(account))
        # A program that writes into .grad may be accumulating the gradients of several passes by hand.
        if any(route.fate == STEPPED and _has_gradient_change(route, EDITED) for route, _ in routes):
            continue
        for route, count in routes:
            if route.fate == CLEARED and len(set(route.pass_sites)) == 1 and route.site != NOWHERE:
                yield from _report_route_cleared_more_than_used(run, account, route, count)


def _report_route_cleared_more_than_used(
    run: RunAccounts, account: Account, route: Route, clearing_count: int
) -> RunFindings:
    """Report a route if its gradients were cleared at least as often as gradients from the same line reached a step.

    Args:
        run: The accounts of the run.
        account: The account.
        route: The route.
        clearing_count: The number of times the route was taken.
    """
    pass_site = route.pass_sites[0]
    used = sum(
        times
        for other, times in run.iter_routes_and_counts(account)
        if other.fate in (STEPPED, SKIPPED) and pass_site in other.pass_sites
    )
    fields = {"n": clearing_count, "all": clearing_count + used, "from_": format_place_suffix(pass_site)}
    optimizers = run.list_optimizers_of(account)
    is_cleared_by_optimizer = any(optimizer.clearing_site == route.site for optimizer in optimizers)
    if used and clearing_count >= max(2, used) and is_cleared_by_optimizer:
        yield RunFinding("discarded", "", route.site, fields, [account.key])
    elif not used and clearing_count > 1 and any(map(_has_almost_only_empty_steps, optimizers)):
        fields = {"other": format_place_suffix(optimizers[-1].site)}
        yield RunFinding("not_applied", "cleared", route.site, fields, [account.key])


def _has_gradient_change(route: Route, *kinds: str) -> bool:
    """Return whether the gradient was changed in one of the given ways on a route."""
    return any(change.kind in kinds for change in route.changes)


def _has_almost_only_empty_steps(optimizer: OptimizerAccount) -> bool:
    """Return whether almost all followed steps of an optimizer found no new gradient."""
    return optimizer.followed_steps > 1 and optimizer.empty_steps >= optimizer.followed_steps - 1


def find_steps_accumulating_old_gradients(run: RunAccounts) -> RunFindings:
    """Find steps that reused gradients from earlier steps of the same optimizer.

    Args:
        run: The accounts of the run.
    """
    for account in run.accounts.values():
        reused = [(route, times) for route, times in run.iter_routes_and_counts(account) if route.fate == REUSED]
        sums = [route for route, _ in reused if len(route.pass_sites) > 1]
        count = sum(times for _, times in reused)
        if sums and (count > 1 or run.passes <= SHORT_RUN):
            fields = {"n": max(len(route.pass_sites) for route in sums)}
            yield RunFinding("accumulated", "", sums[-1].site, fields, [account.key])


def find_clipping_of_nothing_or_scaled_gradients(run: RunAccounts) -> RunFindings:
    """Find clipping calls that clip nothing, or that clip gradients that are still scaled.

    Args:
        run: The accounts of the run.
    """
    for site, calls in run.clips.items():
        if calls.before_unscaling > 1:
            keys = {
                account.key
                for account in run.accounts.values()
                for route, _ in run.iter_routes_and_counts(account)
                if GradientChange(CLIPPED, site) in route.changes
            }
            fields = {"n": calls.before_unscaling, "all": calls.calls, "scale": calls.scale}
            yield RunFinding("clipped_scaled", "", site, fields, keys)
        counts, least = {"early": calls.without_gradients, "late": calls.after_step}, max(2, calls.calls - 1)
        if calls.without_parameters > 1 or calls.without_parameters == calls.calls:
            counts, least = {"": calls.without_parameters}, 1
        for variant, count in counts.items():
            if count >= least and run.taken_step_count:
                yield RunFinding("not_clipped", variant, site, {"n": count, "all": calls.calls})


def find_unoptimized_parameters(run: RunAccounts) -> RunFindings:
    """Find parameters that received gradients together with others, but that no optimizer holds or has updated.

    Args:
        run: The accounts of the run.
    """
    lines_of_used_passes = set[Site]()
    for account in run.accounts.values():
        routes = [route for route, _ in run.iter_routes_and_counts(account)]
        if any(route.fate in (STEPPED, REUSED, SKIPPED) for route in routes):
            lines_of_used_passes.update(site for route in routes for site in route.pass_sites)
    unoptimized = [
        account
        for account in run.accounts.values()
        if not account.optimizer_numbers
        and account.got_gradient
        and account.read_current_parameter_facts().is_parameter
    ]
    # A layer that is recreated in each step gets one gradient before another layer takes its place.
    single_registrations = {
        account.key: (registration.site, registration.name)
        for account in unoptimized
        if (registration := run.registrations.get(account.key)) is not None
        and sum(len(route.pass_sites) * times for route, times in run.iter_routes_and_counts(account)) == 1
    }
    registrations = run.lost_registrations + Counter(single_registrations.values())
    for account in unoptimized:
        if (
            account.key not in single_registrations
            or registrations[single_registrations[account.key]] <= MAX_SINGLE_REGISTRATIONS
        ):
            yield from _check_unoptimized_parameter(run, account, lines_of_used_passes)
    for (site, name), count in registrations.items():
        if lines_of_used_passes and count > MAX_SINGLE_REGISTRATIONS:
            keys = {
                key for key, registration_place in single_registrations.items() if registration_place == (site, name)
            }
            yield RunFinding("not_optimized", "remade", site, {"n": count}, keys)


def _check_unoptimized_parameter(run: RunAccounts, account: Account, lines_of_used_passes: set[Site]) -> RunFindings:
    """Report a parameter if steps used other parameters' gradients from the same passes but never the parameter's own.

    Args:
        run: The accounts of the run.
        account: The account of the parameter.
        lines_of_used_passes: The lines of the passes whose gradients were used by steps.
    """
    routes = [route.pass_sites for route, _ in run.iter_routes_and_counts(account)]
    lines = {site for pass_sites in routes for site in pass_sites}
    count = max([run.count_gradients_with_fates(account, CLEARED, LEFT), *map(len, routes)])
    optimizers = _list_optimizers_in_line_order_after_pass(run, lines)
    next_optimizer = next(iter(optimizers), OptimizerAccount(0, ""))
    # If the steps find no gradient, the optimizer holds the parameters of a different model.
    is_of_other_model = _has_almost_only_empty_steps(next_optimizer)
    are_others_trained = is_of_other_model or not lines.isdisjoint(lines_of_used_passes)
    if not are_others_trained or count < min(2, run.passes) or not account.is_unchanged_since_first_gradient():
        return
    registration = run.registrations.get(account.key)
    if registration is not None and registration.late_site != NOWHERE:
        fields = {"n": count, "made": format_place_suffix(run.optimizer_sites[-1])}
        yield RunFinding("not_optimized", "late", registration.late_site, fields, [account.key])
    else:
        fields = {"what": fill("an optimizer"), "steps": format_step_count(next_optimizer.steps)}
        variant, site = "another" if is_of_other_model else "", next_optimizer.site
        held = [optimizer.accounts for optimizer in run.optimizers]
        shared = list(
            dict.fromkeys(
                optimizer.creation_site
                for optimizer in optimizers
                if held.count(optimizer.accounts) > 1 and optimizer.creation_site != NOWHERE
            )
        )
        if len(shared) > 1:
            variant, site = "shared", shared[0]
            fields["other"] = format_place_suffix(shared[1])
        yield RunFinding("not_optimized", variant, site, fields, [account.key])


def _list_optimizers_in_line_order_after_pass(run: RunAccounts, pass_sites: set[Site]) -> list[OptimizerAccount]:
    """Return the optimizers that took steps, in the order of the lines that follow a parameter's first pass.

    The first of them was probably meant to hold the parameter, because its step comes next after that pass.

    Args:
        run: The accounts of the run.
        pass_sites: The lines of the parameter's passes.
    """
    first_line = min((line or 0 for _, line in pass_sites), default=0)
    stepping = [optimizer for optimizer in reversed(run.optimizers) if optimizer.steps]
    return sorted(stepping, key=lambda optimizer: ((optimizer.site[1] or 0) < first_line, optimizer.site[1] or 0))


def find_optimizers_that_change_nothing(run: RunAccounts) -> RunFindings:
    """Find optimizers that never take a step, or whose steps have no lasting effect.

    Args:
        run: The accounts of the run.
    """
    for optimizer in run.optimizers:
        got_gradient = [account for account in optimizer.accounts if account.got_gradient]
        keys = [account.key for account in got_gradient]
        if not optimizer.steps and not optimizer.skipped_steps:
            if (
                got_gradient
                and run.passes > 1
                and all(account.is_unchanged_since_first_gradient() for account in got_gradient)
            ):
                pass_sites = [route.pass_sites[-1] for route, _ in run.iter_routes_and_counts(got_gradient[0])]
                site = pass_sites[-1] if pass_sites else NOWHERE
                yield RunFinding("not_applied", "", site, {"n": run.passes}, keys)
        elif optimizer.zero_rate_steps > 2 and optimizer.zero_rate_steps >= optimizer.followed_steps - 1 and keys:
            schedule, site = optimizer.rate_schedule, optimizer.site
            if schedule is not None and not any(optimizer.scheduled_rates):
                site = schedule.creation_site
            yield RunFinding("not_applied", "rate", site, {"n": optimizer.zero_rate_steps}, keys)
        else:
            yield from _find_decayed_rate(optimizer, keys)
            yield from _find_rounded_or_undone_updates(run, optimizer)


def _find_decayed_rate(optimizer: OptimizerAccount, keys: Collection[int]) -> RunFindings:
    """Report an optimizer whose learning rate was too small in many steps to change anything."""
    if optimizer.tiny_rate_steps > max(10, TINY_SHARE * optimizer.steps):
        counts = {"n": optimizer.tiny_rate_steps, "all": optimizer.steps}
        rates = {"rate": optimizer.rates[0], "from_": optimizer.rates[1]}
        site = optimizer.site if optimizer.rate_schedule is None else optimizer.rate_schedule.site
        yield RunFinding("not_applied", "decayed", site, counts | rates, keys)


def _find_rounded_or_undone_updates(run: RunAccounts, optimizer: OptimizerAccount) -> RunFindings:
    """Find parameters that did not change in steps with a gradient, or whose changes did not last.

    Args:
        run: The accounts of the run.
        optimizer: The optimizer.
    """
    largest = max((account.norms[1] for account in optimizer.accounts if account.norms), default=0.0)
    for account in optimizer.accounts:
        used = [
            count
            for route, count in run.iter_routes_and_counts(account)
            if route.optimizer_number == optimizer.number and route.fate in (STEPPED, REUSED)
        ]
        if sum(used) <= 2 or not account.norms:
            continue
        keys = [account.key]
        if account.undone_moves > 2:
            yield RunFinding("not_applied", "undone", optimizer.site, {}, keys)
        elif (
            account.read_current_parameter_facts().dtype_name in HALF_DTYPES
            and account.norms[1] > max(SMALL_NORM, 1e-3 * largest)
            and optimizer.rates[1] > 0
            and not account.moves[0]
            and account.is_unchanged_since_first_gradient()
        ):
            fields = {
                "n": optimizer.steps,
                "rate": optimizer.rates[1],
                "norm": account.norms[1],
                "dtype": account.read_current_parameter_facts().dtype_name,
            }
            yield RunFinding("not_applied", "rounded", optimizer.site, fields, keys)


def find_optimizer_causes_of_divergence(run: RunAccounts) -> RunFindings:
    """Find optimizers whose gradients or learning rate grew, or that divided by 0, before the training diverged.

    Args:
        run: The accounts of the run.
    """
    sizes = [abs(loss) for loss in run.losses if isfinite(loss)] or [0.0]
    for optimizer in run.optimizers:
        first, largest = (optimizer.norms[0], max(optimizer.norms)) if optimizer.norms else (0.0, 0.0)
        has_grown = largest > GROWTH * max(first, 1.0) and sizes[-1] > GROWTH * sizes[0] > 0
        if has_grown:
            yield RunFinding("exploding", "run", optimizer.site, {"from_": first, "to": largest})
        if run.anomaly and run.anomaly.kind == "weight" and optimizer.half_epsilon < SMALLEST_HALF:
            yield RunFinding("exploding", "half", optimizer.creation_site, {"eps": optimizer.half_epsilon})
        if (has_grown or run.anomaly) and optimizer.rates[1] > 5 * optimizer.chosen_rate:
            fields = {"from_": optimizer.chosen_rate, "to": optimizer.rates[1]}
            yield RunFinding("exploding", "rate", optimizer.site, fields)


def find_optimizers_with_only_last_layer_alive(run: RunAccounts) -> RunFindings:
    """Find an optimizer whose gradients have become zero for all parameters except the last one.

    Args:
        run: The accounts of the run.
    """
    for optimizer in run.optimizers:
        trained = [account for account in optimizer.accounts if account.norms and account.norms[1]]
        dead = [account.key for account in trained if account.zero_norms >= DEAD_STEPS]
        if 2 < len(dead) == len(trained) - 1 and not trained[-1].zero_norms:
            fields = {"n": len(dead), "rate": optimizer.rates[1]}
            yield RunFinding("dead_relu", "run", optimizer.creation_site, fields, dead)


def find_optimizers_remade_each_step(run: RunAccounts) -> RunFindings:
    """Find a line that recreates an optimizer for each step and thereby discards its moments.

    Args:
        run: The accounts of the run.
    """
    optimizers_by_line = group_values_by_key(
        (optimizer.creation_site, optimizer)
        for optimizer in run.optimizers
        if optimizer.creation_site != NOWHERE and optimizer.kind != "SGD"
    )
    for site, optimizers in optimizers_by_line.items():
        held_keys = {frozenset(account.key for account in optimizer.accounts) for optimizer in optimizers}
        if len(optimizers) > 2 and len(held_keys) == 1 and all(each.steps == 1 for each in optimizers):
            yield RunFinding("optimizer_remade", "", site, {"n": len(optimizers)}, next(iter(held_keys)))


def find_idle_or_bypassed_scalers(run: RunAccounts) -> RunFindings:
    """Find gradient scalers that are never updated, that skip all steps, or that are bypassed by a loss or a step.

    Args:
        run: The accounts of the run.
    """
    for scaler in run.scalers:
        fields = {"n": scaler.skipped, "all": scaler.steps, "scale": scaler.scales[1]}
        if scaler.steps > 1 and not scaler.updates:
            yield RunFinding("scaler", "never_updated", scaler.site, fields)
        elif scaler.skipped > 8 and scaler.skipped == scaler.steps:
            yield RunFinding("scaler", "skips_all", scaler.site, fields | {"scale": scaler.scales[0]})
        if scaler.unscaled_passes > 1:
            fields = fields | {"n": scaler.unscaled_passes, "scale": max(1.0, scaler.scales[1])}
            yield RunFinding("scaler", "unscaled_loss", scaler.site, fields)
    idle = [scaler for scaler in run.scalers if scaler.scaled_losses and not scaler.steps and scaler.scales[1] != 1.0]
    if idle:
        yield from _find_steps_bypassing_scaler(run, idle[0].scales[1])


def _find_steps_bypassing_scaler(run: RunAccounts, scale: float) -> RunFindings:
    """Find optimizers whose ``step`` was called without the scaler that scaled the loss."""
    for account in run.accounts.values():
        for route, count in run.iter_routes_and_counts(account):
            if route.fate == STEPPED and count > 1 and not _has_gradient_change(route, UNSCALED, EDITED):
                yield RunFinding("scaler", "bypassed", route.site, {"scale": scale}, [account.key])


RULES: tuple[Rule, ...] = (
    find_line_that_left_gradients_off,
    find_idle_or_bypassed_scalers,
    find_passes_adding_to_leftovers_of_other_loss,
    find_gradients_cleared_before_use,
    find_steps_accumulating_old_gradients,
    find_clipping_of_nothing_or_scaled_gradients,
    find_unoptimized_parameters,
    find_misused_schedules,
    find_optimizers_that_change_nothing,
    find_optimizer_causes_of_divergence,
    find_optimizers_with_only_last_layer_alive,
    find_optimizers_remade_each_step,
    find_layers_in_wrong_mode,
    lambda run: run.noted.values(),
)
