"""When something in a training run counts as a mistake, on accounts that are written by hand, without a framework."""

from math import inf, nan

import pytest

from minitape.bridges.run_watch import findings, schedules
from minitape.bridges.run_watch.accounts import (
    CLEARED,
    CLEARED_NONFINITE,
    CLIPPED,
    CONSUMED,
    EDITED,
    LEFT,
    REUSED,
    SKIPPED,
    STEPPED,
    UNSCALED,
    Anomaly,
    ClipCalls,
    Contribution,
    GradientChange,
    ParameterRegistration,
    ScalerAccount,
)
from minitape.bridges.run_watch.anomaly_sentences import (
    describe_first_nonfinite_value,
    describe_second_run_and_compare_losses,
)
from minitape.bridges.run_watch.findings import find_run_findings
from minitape.bridges.run_watch.patch_trials import (
    apply_patch,
    judge_patch_for_missing_gradient,
    judge_patch_for_wrong_gradient,
)
from minitape.bridges.run_watch.run_finding import RunFinding
from minitape.bridges.run_watch.schedules import LayerModeAccount, ScheduleAccount
from minitape.bridges.run_watch.summary import summarize_run
from minitape.recording.sites import NOWHERE

from .hand_built_accounts import (
    BACKWARD,
    CLEAR,
    FACTS,
    LATE,
    MADE,
    OTHER_BACKWARD,
    STEP,
    Parameter,
    Run,
    at,
    route,
    summarize,
)

# -- gradients that are cleared, reused or left over -----------------------------------------------


@pytest.mark.parametrize(("cleared", "used", "facts", "expected"), [
    (3, 2, {}, [("discarded", "", 10)]),
    (2, 2, {}, [("discarded", "", 10)]),
    (2, 3, {}, []),
    (1, 1, {}, []),
    (3, 2, {"clearing_site": OTHER_BACKWARD}, []),
    (3, 0, {"followed_steps": 4, "empty_steps": 3}, [("not_applied", "cleared", 10)]),
    (3, 0, {"followed_steps": 4, "empty_steps": 2}, []),
    (3, 0, {"followed_steps": 1, "empty_steps": 1}, []),
    (1, 0, {"followed_steps": 4, "empty_steps": 4}, []),
])  # fmt: skip
def test_gradients_are_cleared_more_often_than_they_are_used(cleared, used, facts, expected) -> None:
    for fate in (STEPPED, SKIPPED):
        run = Run()
        parameter = run.add_parameter(route(CLEARED, cleared, site=CLEAR), *[route(fate, used)] * bool(used))
        run.add_optimizer(parameter, **({"clearing_site": CLEAR} | facts))
        found = list(findings.find_gradients_cleared_before_use(run))
        assert summarize(found) == expected
        assert all(finding.fields.get("all", cleared + used) == cleared + used for finding in found)


@pytest.mark.parametrize("routes", [
    [route(CLEARED, 3, site=CLEAR), route(STEPPED, 2, changes=[GradientChange(EDITED)])],
    [route(CLEARED, 3, (BACKWARD, OTHER_BACKWARD), CLEAR), route(STEPPED, 2)],
    [route(CLEARED, 3, site=NOWHERE), route(STEPPED, 2)],
    [route(CONSUMED, 3, site=CLEAR), route(STEPPED, 2)],
])  # fmt: skip
def test_gradients_that_are_summed_by_hand_or_cleared_unseen_are_not_called_discarded(routes) -> None:
    run = Run()
    run.add_optimizer(run.add_parameter(*routes), clearing_site=CLEAR)
    assert not list(findings.find_gradients_cleared_before_use(run))


@pytest.mark.parametrize(("pass_sites", "count", "passes", "expected"), [
    ([BACKWARD, BACKWARD], 2, 4, [("accumulated", "", 20)]),
    ([BACKWARD, BACKWARD], 1, 4, []),
    ([BACKWARD, BACKWARD], 1, 3, [("accumulated", "", 20)]),
    ([BACKWARD], 2, 4, []),
])  # fmt: skip
def test_a_step_uses_old_gradients_again(pass_sites, count, passes, expected) -> None:
    run = Run(passes)
    run.add_parameter(route(REUSED, count, pass_sites))
    found = list(findings.find_steps_accumulating_old_gradients(run))
    assert summarize(found) == expected and all(finding.fields["n"] == 2 for finding in found)


@pytest.mark.parametrize(("pass_sites", "count", "fate", "key", "expected"), [
    ([OTHER_BACKWARD, BACKWARD], 2, STEPPED, 1, [("leftover", "", 20)]),
    ([OTHER_BACKWARD, BACKWARD], 1, STEPPED, 1, []),
    ([BACKWARD, OTHER_BACKWARD], 2, STEPPED, 1, []),
    ([BACKWARD, BACKWARD], 2, STEPPED, 1, []),
    ([OTHER_BACKWARD, BACKWARD], 2, REUSED, 1, []),
    ([OTHER_BACKWARD, BACKWARD], 2, STEPPED, 9, []),
])  # fmt: skip
def test_a_pass_adds_to_what_another_loss_left(pass_sites, count, fate, key, expected) -> None:
    run = Run()
    run.add_parameter(route(fate, count, pass_sites))
    run.sent_by_another[OTHER_BACKWARD, BACKWARD, key] = None
    found = list(findings.find_passes_adding_to_leftovers_of_other_loss(run))
    assert summarize(found) == expected
    for finding in found:
        assert finding.keys == [1] and "line 8" in finding.fields["step"] and "line 9" in finding.fields["from_"]


CLIP = at(15)


@pytest.mark.parametrize(("facts", "steps", "expected"), [
    ({"calls": 5, "before_unscaling": 2}, 5, [("clipped_scaled", "", 15)]),
    ({"calls": 5, "before_unscaling": 1}, 5, []),
    ({"calls": 5, "without_gradients": 4}, 5, [("not_clipped", "early", 15)]),
    ({"calls": 5, "without_gradients": 3}, 5, []),
    ({"calls": 2, "without_gradients": 1}, 5, []),
    ({"calls": 5, "without_gradients": 4}, 0, []),
    ({"calls": 5, "after_step": 4}, 5, [("not_clipped", "late", 15)]),
    ({"calls": 5, "without_parameters": 2}, 5, [("not_clipped", "", 15)]),
    ({"calls": 1, "without_parameters": 1}, 5, [("not_clipped", "", 15)]),
    ({"calls": 5, "without_parameters": 1}, 5, []),
])  # fmt: skip
def test_a_call_clips_nothing_or_what_is_still_scaled(facts, steps, expected) -> None:
    run = Run()
    clipped = run.add_parameter(route(STEPPED, 4, changes=[GradientChange(CLIPPED, CLIP)]))
    run.add_optimizer(clipped, run.add_parameter(route(STEPPED, 4)), steps=steps)
    run.clips[CLIP] = ClipCalls(**facts)
    found = list(findings.find_clipping_of_nothing_or_scaled_gradients(run))
    assert summarize(found) == expected
    assert all(set(finding.keys) == {1} for finding in found if finding.cause == "clipped_scaled")


# -- parameters that no optimizer changes ----------------------------------------------------------


@pytest.mark.parametrize(("routes", "facts", "passes", "expected"), [
    ([route(CLEARED, 2, site=CLEAR)], {}, 4, [("not_optimized", "", 20)]),
    ([route(CLEARED, 1, [BACKWARD] * 2, CLEAR)], {}, 4, [("not_optimized", "", 20)]),
    ([route(CLEARED, 1, site=CLEAR)], {}, 4, []),
    ([route(CLEARED, 1, site=CLEAR)], {}, 1, [("not_optimized", "", 20)]),
    ([route(CLEARED, 2, [OTHER_BACKWARD], CLEAR)], {}, 4, []),
    ([route(CLEARED, 2, site=CLEAR)], {"unchanged": False}, 4, []),
    ([route(CLEARED, 2, site=CLEAR)], {"facts": FACTS._replace(is_parameter=False)}, 4, []),
    ([route(CLEARED, 2, site=CLEAR)], {"got_gradient": False}, 4, []),
])  # fmt: skip
def test_a_parameter_gets_gradients_with_others_but_no_optimizer_holds_it(routes, facts, passes, expected) -> None:
    run = Run(passes)
    run.add_optimizer(run.add_parameter(route(STEPPED, 4)), steps=4)
    run.add_parameter(*routes, **({"unchanged": True} | facts))
    found = list(findings.find_unoptimized_parameters(run))
    assert summarize(found) == expected and all(finding.keys == [2] for finding in found)


def test_a_parameter_was_registered_after_the_optimizer_was_created() -> None:
    run = Run()
    run.add_optimizer(run.add_parameter(route(STEPPED, 4)), steps=4)
    run.add_parameter(route(CLEARED, 2, site=CLEAR), unchanged=True)
    run.optimizer_sites.append(MADE)
    run.registrations[2] = ParameterRegistration(at(3), "Linear.weight", LATE)
    assert summarize(findings.find_unoptimized_parameters(run)) == [("not_optimized", "late", 30)]
    run.registrations[2] = ParameterRegistration(at(3), "Linear.weight")
    assert summarize(findings.find_unoptimized_parameters(run)) == [("not_optimized", "", 20)]


@pytest.mark.parametrize(("empty_steps", "expected"), [(4, [("not_optimized", "another", 20)]), (2, [])])
def test_the_optimizer_holds_the_parameters_of_another_model(empty_steps, expected) -> None:
    run = Run()
    held = run.add_parameter(got_gradient=False)
    run.add_optimizer(held, steps=4, followed_steps=4, empty_steps=empty_steps)
    run.add_parameter(route(CLEARED, 2, site=CLEAR), unchanged=True)
    assert summarize(findings.find_unoptimized_parameters(run)) == expected


@pytest.mark.parametrize(("empty_steps", "variant"), [(4, "another"), (2, "")])
def test_the_step_after_the_pass_belongs_to_the_optimizer_without_the_parameter(empty_steps, variant) -> None:
    run = Run()
    run.add_optimizer(steps=4, followed_steps=4, empty_steps=empty_steps, site=at(9))
    run.add_optimizer(run.add_parameter(route(STEPPED, 4)), steps=4, site=at(7))
    run.add_parameter(route(CLEARED, 2, site=CLEAR), unchanged=True)
    assert summarize(findings.find_unoptimized_parameters(run)) == [("not_optimized", variant, 9)]


def test_two_optimizers_hold_the_same_parameters() -> None:
    run = Run()
    held = run.add_parameter(route(STEPPED, 4))
    run.add_optimizer(held, steps=4, creation_site=at(6), site=at(7))
    run.add_optimizer(held, steps=4, creation_site=at(4), site=at(21))
    run.add_parameter(route(CLEARED, 2, site=CLEAR), unchanged=True)
    (finding,) = findings.find_unoptimized_parameters(run)
    # The step on line 21 follows the pass on line 8, so this optimizer was meant to hold the missing parameter.
    assert summarize([finding]) == [("not_optimized", "shared", 4)] and "line 6" in finding.fields["other"]


@pytest.mark.parametrize(("count", "lost", "variants"), [(2, 0, ["", ""]), (3, 0, ["remade"]), (1, 2, ["remade"])])
def test_a_line_that_makes_a_layer_in_each_step_makes_parameters_of_a_single_gradient(count, lost, variants) -> None:
    run = Run(passes=1)
    run.add_optimizer(run.add_parameter(route(STEPPED, 4)), steps=4)
    for _ in range(count):
        key = run.add_parameter(route(LEFT, 1), unchanged=True).key
        run.registrations[key] = ParameterRegistration(at(12), "Linear.weight")
    run.lost_registrations[at(12), "Linear.weight"] = lost
    found = list(findings.find_unoptimized_parameters(run))
    assert [finding.variant for finding in found] == variants
    assert all(finding.site == at(12) for finding in found if finding.variant)


# -- optimizers that change nothing ----------------------------------------------------------------


@pytest.mark.parametrize(("facts", "passes", "unchanged", "expected"), [
    ({}, 2, True, [("not_applied", "", 8)]),
    ({}, 1, True, []),
    ({}, 2, False, []),
    ({"skipped_steps": 1}, 2, True, []),
    ({"steps": 1}, 2, True, []),
])  # fmt: skip
def test_an_optimizer_never_steps(facts, passes, unchanged, expected) -> None:
    run = Run(passes)
    run.add_optimizer(run.add_parameter(route(CLEARED, 2, site=CLEAR), unchanged=unchanged), **facts)
    assert summarize(findings.find_optimizers_that_change_nothing(run)) == expected


SCHEDULE = {"kind": "StepLR", "creation_site": at(6), "period": 0, "site": at(22)}


@pytest.mark.parametrize(("facts", "scheduled_rates", "expected"), [
    ({"zero_rate_steps": 3, "followed_steps": 4}, None, [("not_applied", "rate", 20)]),
    ({"zero_rate_steps": 2, "followed_steps": 3}, None, []),
    ({"zero_rate_steps": 3, "followed_steps": 5}, None, []),
    ({"zero_rate_steps": 3, "followed_steps": 4}, [0.0], [("not_applied", "rate", 6)]),
    ({"zero_rate_steps": 3, "followed_steps": 4}, [0.1], [("not_applied", "rate", 20)]),
    ({"tiny_rate_steps": 11, "steps": 20}, None, [("not_applied", "decayed", 20)]),
    ({"tiny_rate_steps": 11, "steps": 20}, [0.1], [("not_applied", "decayed", 22)]),
    ({"tiny_rate_steps": 11, "steps": 28}, None, []),
    ({"tiny_rate_steps": 11, "steps": 27}, None, [("not_applied", "decayed", 20)]),
    ({"tiny_rate_steps": 10, "steps": 12}, None, []),
])  # fmt: skip
def test_the_learning_rate_is_zero_or_has_become_tiny(facts, scheduled_rates, expected) -> None:
    run = Run()
    optimizer = run.add_optimizer(run.add_parameter(route(STEPPED, 4)), **({"steps": 4} | facts))
    if scheduled_rates is not None:
        optimizer.rate_schedule = ScheduleAccount(optimizer, **SCHEDULE)
        optimizer.scheduled_rates = scheduled_rates
    assert summarize(findings.find_optimizers_that_change_nothing(run)) == expected


HALF = {"facts": FACTS._replace(dtype_name="bfloat16"), "unchanged": True, "norms": [0.1, 0.1, 0.1]}


@pytest.mark.parametrize(("facts", "steps", "rate", "expected"), [
    (HALF, 3, 0.1, [("not_applied", "rounded", 20)]),
    (HALF | {"facts": FACTS}, 3, 0.1, []),
    (HALF | {"unchanged": False}, 3, 0.1, []),
    (HALF | {"moves": (1, 0.1, 0.1)}, 3, 0.1, []),
    (HALF | {"norms": [1e-7, 1e-7, 1e-7]}, 3, 0.1, []),
    (HALF | {"norms": [1e-3, 1e-3, 1e-3]}, 3, 0.1, []),
    (HALF, 2, 0.1, []),
    (HALF, 3, 0.0, []),
    (HALF | {"norms": []}, 3, 0.1, []),
    ({"norms": [0.1, 0.1, 0.1], "undone_moves": 3}, 3, 0.1, [("not_applied", "undone", 20)]),
    ({"norms": [0.1, 0.1, 0.1], "undone_moves": 2}, 3, 0.1, []),
])  # fmt: skip
def test_updates_are_rounded_away_or_undone(facts, steps, rate, expected) -> None:
    run = Run()
    large = run.add_parameter(route(STEPPED, 4), norms=[1.0, 10.0, 1.0])
    small = run.add_parameter(route(STEPPED, steps), **facts)
    optimizer = run.add_optimizer(large, small, steps=4)
    optimizer.rates = (0.0, rate)
    assert summarize(findings.find_optimizers_that_change_nothing(run)) == expected


# -- runs that diverge -----------------------------------------------------------------------------

WEIGHT, GRADIENT = Anomaly("weight", 3, 3, STEP), Anomaly("gradient", 3, 3, STEP)


@pytest.mark.parametrize(("facts", "losses", "anomaly", "expected"), [
    ({"norms": [1.0, 2e4]}, [1.0, 2e4], None, [("exploding", "run", 20)]),
    ({"norms": [1.0, 5e3]}, [1.0, 2e4], None, []),
    ({"norms": [1.0, 2e4]}, [1.0, 5e3], None, []),
    ({"norms": [0.1, 5e3]}, [1.0, 2e4], None, []),
    ({"norms": [1.0, 2e4]}, [0.0, 2e4], None, []),
    ({"norms": [1.0, 2e4]}, [1.0, 2e4, nan], None, [("exploding", "run", 20)]),
    ({"norms": [1.0, 2e4]}, [1.0, -2e4], None, [("exploding", "run", 20)]),
    ({"half_epsilon": 1e-8}, [], WEIGHT, [("exploding", "half", 5)]),
    ({"half_epsilon": 1e-8}, [], GRADIENT, []),
    ({"half_epsilon": 1e-4}, [], WEIGHT, []),
    ({"chosen_rate": 0.1, "rates": (0.1, 0.6)}, [], GRADIENT, [("exploding", "rate", 20)]),
    ({"chosen_rate": 0.1, "rates": (0.1, 0.4)}, [], GRADIENT, []),
    ({"chosen_rate": 0.1, "rates": (0.1, 0.6)}, [], None, []),
])  # fmt: skip
def test_a_run_diverges(facts, losses, anomaly, expected) -> None:
    run = Run()
    run.add_optimizer(**facts)
    run.losses.extend(losses)
    run.anomaly = anomaly
    assert summarize(findings.find_optimizer_causes_of_divergence(run)) == expected


@pytest.mark.parametrize(("zeros", "is_dead"), [
    ([8, 8, 8, 0], True), ([9, 8, 12, 0], True), ([7, 8, 8, 0], False), ([8, 8, 8, 1], False), ([8, 8, 0], False),
    ([8, 8, 8, 8, 8], False), ([8, 8, 8, 0, 0], False),
])  # fmt: skip
def test_only_the_last_layer_is_alive(zeros, is_dead) -> None:
    run = Run()
    layers = [run.add_parameter(norms=[0.0, 1.0, 0.0], zero_norms=count) for count in zeros]
    run.add_optimizer(run.add_parameter(norms=[0.0, 0.0, 0.0], zero_norms=0), *layers)
    (found,) = [list(findings.find_optimizers_with_only_last_layer_alive(run))]
    assert summarize(found) == ([("dead_relu", "run", 5)] if is_dead else [])
    assert all(finding.keys == [1, 2, 3] for finding in found)


@pytest.mark.parametrize(("count", "facts", "same_parameters", "is_remade"), [
    (3, {}, True, True), (2, {}, True, False), (3, {"kind": "SGD"}, True, False), (3, {"steps": 2}, True, False),
    (3, {"creation_site": NOWHERE}, True, False), (3, {}, False, False),
])  # fmt: skip
def test_an_optimizer_is_created_anew_for_each_step(count, facts, same_parameters, is_remade) -> None:
    run = Run()
    parameters = [run.add_parameter() for _ in range(count)]
    for parameter in parameters:
        run.add_optimizer(parameters[0] if same_parameters else parameter, **({"steps": 1} | facts))
    expected = [("optimizer_remade", "", 5)] if is_remade else []
    assert summarize(findings.find_optimizers_remade_each_step(run)) == expected


@pytest.mark.parametrize(("facts", "expected"), [
    ({"steps": 2}, ["never_updated"]), ({"steps": 1}, []), ({"steps": 2, "updates": 1}, []),
    ({"steps": 9, "skipped": 9, "updates": 9}, ["skips_all"]), ({"steps": 8, "skipped": 8, "updates": 8}, []),
    ({"steps": 10, "skipped": 9, "updates": 9}, []), ({"steps": 1, "unscaled_passes": 2}, ["unscaled_loss"]),
    ({"steps": 1, "unscaled_passes": 1}, []), ({"steps": 3, "unscaled_passes": 2}, ["never_updated", "unscaled_loss"]),
])  # fmt: skip
def test_a_scaler_is_misused(facts, expected) -> None:
    run = Run()
    run.scalers.append(ScalerAccount(STEP, **facts))
    assert [finding.variant for finding in findings.find_idle_or_bypassed_scalers(run)] == expected


@pytest.mark.parametrize(("scaler", "used", "expected"), [
    ({"scaled_losses": 2, "scales": (2.0, 8.0)}, route(STEPPED, 2), [("scaler", "bypassed", 20)]),
    ({"scaled_losses": 2, "scales": (2.0, 8.0)}, route(STEPPED, 1), []),
    ({"scaled_losses": 2, "scales": (2.0, 8.0)}, route(CLEARED, 2), []),
    ({"scaled_losses": 2, "scales": (2.0, 8.0)}, route(STEPPED, 2, changes=[GradientChange(UNSCALED)]), []),
    ({"scaled_losses": 2, "scales": (1.0, 1.0)}, route(STEPPED, 2), []),
    ({"scaled_losses": 0, "scales": (2.0, 8.0)}, route(STEPPED, 2), []),
    ({"scaled_losses": 2, "scales": (2.0, 8.0), "steps": 1}, route(STEPPED, 2), []),
])  # fmt: skip
def test_a_step_goes_around_the_scaler_of_the_loss(scaler, used, expected) -> None:
    run = Run()
    run.add_parameter(used)
    run.scalers.append(ScalerAccount(STEP, **scaler))
    assert summarize(findings.find_idle_or_bypassed_scalers(run)) == expected


# -- schedules and modes ---------------------------------------------------------------------------

LOWERED = {"chosen_rate": 0.1, "rates": (1e-4, 4e-3), "peak_step": 0}


@pytest.mark.parametrize(("kind", "calls", "period", "facts", "expected"), [
    ("LambdaLR", 20, 0, LOWERED, [("schedule", "factor", 6)]),
    ("LambdaLR", 0, 0, LOWERED, []),
    ("LambdaLR", 20, 0, LOWERED | {"rates": (1e-4, 6e-3)}, []),
    ("LambdaLR", 20, 0, LOWERED | {"peak_step": 10}, []),
    ("LambdaLR", 20, 0, LOWERED | {"chosen_rate": 0.5}, []),
    ("LambdaLR", 9, 0, LOWERED | {"steps": 9}, []),
    ("StepLR", 20, 0, LOWERED, []),
    ("CosineAnnealingLR", 20, 9, {}, [("schedule", "fast", 22)]),
    ("CosineAnnealingLR", 20, 10, {}, []),
    ("CosineAnnealingLR", 18, 8, {}, []),
    ("OneCycleLR", 9, 20, {}, [("schedule", "slow", 22)]),
    ("OneCycleLR", 10, 20, {}, []),
    ("OneCycleLR", 9, 40, {}, []),
])  # fmt: skip
def test_a_schedule_is_stepped_too_often_or_too_rarely(kind, calls, period, facts, expected) -> None:
    run = Run()
    optimizer = run.add_optimizer(run.add_parameter(), **({"steps": 20} | facts))
    run.schedules.append(ScheduleAccount(optimizer, kind, at(6), period, at(22), calls))
    found = list(schedules.find_misused_schedules(run))
    assert summarize(found) == expected
    assert [finding.is_remark for finding in found] == [finding.variant == "fast" for finding in found]


@pytest.mark.parametrize(("calls", "steps", "shares_parameters", "is_misused"), [
    (5, 5, True, True), (0, 5, True, False), (5, 0, True, False), (5, 5, False, False),
])  # fmt: skip
def test_a_schedule_changes_the_rate_of_an_optimizer_that_never_steps(
    calls, steps, shares_parameters, is_misused
) -> None:
    run = Run()
    held, other = run.add_parameter(), run.add_parameter()
    idle = run.add_optimizer(held)
    run.add_optimizer(held if shares_parameters else other, steps=steps, creation_site=at(7))
    run.schedules.append(ScheduleAccount(idle, "StepLR", at(6), 0, at(22), calls))
    found = list(schedules.find_misused_schedules(run))
    assert summarize(found) == ([("schedule", "other", 6)] if is_misused else [])
    assert all("line 7" in finding.fields["other"] for finding in found)


@pytest.mark.parametrize(("facts", "steps", "expected"), [
    ({"unrecorded_calls": 2, "trained_calls": 4}, 4, [("", 12)]),
    ({"unrecorded_calls": 3, "trained_calls": 4}, 4, []),
    ({"unrecorded_calls": 0, "trained_calls": 4}, 4, []),
    ({"fixed_calls": 3}, 4, [("fixed", 13)]),
    ({"fixed_calls": 2}, 4, []),
    ({"fixed_calls": 3, "trained_calls": 3}, 4, []),
    ({"fixed_calls": 3}, 0, []),
    ({"frozen_calls": 3}, 4, [("frozen", 12)]),
    ({"frozen_calls": 2}, 4, []),
    ({"frozen_calls": 3, "trained_calls": 1}, 4, []),
    ({"frozen_calls": 3}, 0, []),
])  # fmt: skip
def test_a_layer_is_in_the_wrong_mode(facts, steps, expected) -> None:
    run = Run()
    run.add_optimizer(steps=steps)
    run.layer_modes.append(LayerModeAccount("Dropout", switching_site=at(13), site=at(12), **facts))
    found = list(schedules.find_layers_in_wrong_mode(run))
    assert [(finding.variant, finding.site[1]) for finding in found] == expected
    assert all(finding.is_remark for finding in found)


@pytest.mark.parametrize(("last_step", "step_count", "has_decayed"), [
    (9, 22, True), (9, 20, False), (11, 22, False), (100, 1000, True), (600, 1000, False),
])  # fmt: skip
def test_a_schedule_ends_before_half_of_the_steps(last_step, step_count, has_decayed) -> None:
    answer = schedules.explain_schedule_decayed_too_early(
        "tensorflow", lambda step: 0.1 if step <= last_step else 1e-6, step_count, ["CosineDecay"]
    )
    assert (answer is not None) is has_decayed
    assert answer is None or answer.cause == "not_applied"


# -- all findings, and the bookkeeping they rest on ------------------------------------------------


def test_parameters_with_the_same_problem_share_a_finding_and_what_was_noted_comes_last() -> None:
    run = Run()
    for _ in range(2):
        run.add_parameter(route(REUSED, 2, [BACKWARD, BACKWARD]))
    run.record_finding("layer_mode", "fixed", at(3), [1], is_remark=True, what="Dropout", n=3, all=3)
    run.paused_at = at(2)
    found = find_run_findings(run)
    assert summarize(found) == [("grad_off", "", 2), ("accumulated", "", 20), ("layer_mode", "fixed", 3)]
    assert list(found[1].keys) == [1, 2] and found[2].is_remark
    moved = find_run_findings(run, lambda finding: finding._replace(site=at(1)))
    assert {finding.site for finding in moved} == {at(1)}


@pytest.mark.parametrize(("has_changed", "is_finite", "used_by", "fates"), [
    (False, True, (), [CLEARED]), (True, True, (), [CONSUMED]), (False, False, (), [CLEARED_NONFINITE]),
    (True, False, (), [CONSUMED]), (False, True, (1,), []),
])  # fmt: skip
def test_the_fate_of_a_gradient_that_is_cleared(has_changed, is_finite, used_by, fates) -> None:
    run = Run()
    parameter = run.add_parameter(used_by=used_by, pending=(Contribution(1, BACKWARD, is_finite=is_finite),))
    assert [it.fate for it, _ in run.iter_routes_and_counts(parameter)] == ([] if used_by else [LEFT])
    run.record_cleared_gradient(parameter, CLEAR, has_changed)
    routes = [(it.fate, it.pass_sites, it.site, count) for it, count in run.iter_routes_and_counts(parameter)]
    assert routes == [(fate, (BACKWARD,), CLEAR, 1) for fate in fates]
    assert (parameter.pending, parameter.changes, parameter.used_by) == ((), (), ())


def test_a_change_belongs_to_gradients_that_are_there_and_is_kept_once() -> None:
    run = Run()
    full, empty = run.add_parameter(pending=(Contribution(1, BACKWARD),)), run.add_parameter()
    for _ in range(2):
        run.record_gradient_change([full, empty], GradientChange(CLIPPED, CLIP))
    assert (full.changes, empty.changes) == ((GradientChange(CLIPPED, CLIP),), ())


def test_norms_and_updates_are_kept_as_ranges() -> None:
    parameter = Parameter(1, pending=(Contribution(1, BACKWARD),))
    for norm in (2.0, 0.5, 3.0, 0.0, 0.0):
        parameter.record_gradient_norm(norm)
    assert parameter.norms == [0.0, 3.0, 0.0] and parameter.zero_norms == 2
    parameter.forget_pending_contributions()
    parameter.record_gradient_norm(0.0)  # No backward pass sent this zero.
    assert parameter.zero_norms == 2
    parameter.record_gradient_norm(1.0)
    assert parameter.zero_norms == 0
    for ratio in (0.2, 0.1):
        parameter.record_update_ratio(ratio)
    assert parameter.moves == (2, 0.1, 0.2)


def test_the_first_value_that_is_not_finite_is_kept() -> None:
    run = Run(passes=4)
    run.record_nonfinite_if_first_in_run("gradient", STEP, 0)
    run.record_nonfinite_if_first_in_run("loss", BACKWARD)
    assert run.anomaly == Anomaly("gradient", 4, 1, STEP)
    other = Run(passes=4)
    other.record_nonfinite_if_first_in_run("loss", BACKWARD)
    assert other.anomaly == Anomaly("loss", 4, 4, BACKWARD)


# -- the sentences about a run ---------------------------------------------------------------------


def summarize_one(run, **facts):
    """Return the summary of a run with a healthy parameter and one that has the given facts."""
    healthy = {"norms": [0.5, 2.0, 1.0], "moves": (3, 1e-3, 2e-3)}
    parameters = [run.add_parameter(**healthy), run.add_parameter(**(healthy | facts))]
    run.add_optimizer(*parameters, steps=4, followed_steps=4)
    return summarize_run(run, lambda key: f"w{key}", [], is_problem_free=True)


@pytest.mark.parametrize(("facts", "lack"), [
    ({}, None),
    ({"facts": FACTS._replace(is_gone=True)}, "no longer used by the program"),
    ({"facts": FACTS._replace(is_trainable=False)}, "no gradient is requested"),
    ({"got_gradient": False}, "got no gradient"),
    ({"norms": []}, "no optimizer step used the gradient"),
    ({"norms": [0.0, 0.0, 0.0]}, "the gradient is zero"),
    ({"norms": [1e-9, 1e-8, 1e-9], "moves": (0, inf, 0.0)}, "the gradient is only rounding error, with a norm of at "
                                                             "most 1e-08"),
    ({"moves": (0, inf, 0.0), "unchanged": True}, "did not change"),
    ({"moves": (0, inf, 0.0)}, None),
])  # fmt: skip
def test_the_summary_names_what_a_parameter_lacks(facts, lack) -> None:
    summary = summarize_one(Run(), **facts)
    assert summary.startswith("Healthy: 4 backward passes and 4 steps; ")
    assert f"{1 + (lack is None)} of 2 parameters got a finite gradient and changed (norm 0.5 to 2" in summary
    assert summary.endswith("." if lack is None else f"; w2: {lack}.") and ("w2" in summary) is bool(lack)


def test_a_run_with_anything_nonfinite_or_absurd_is_not_called_healthy() -> None:
    assert summarize_one(Run(passes=0)) == "Nothing was observed, because the program ran no backward pass."
    for name, value in (("nonfinite_losses", 2), ("anomaly", WEIGHT), ("watch_error", "TypeError")):
        run = Run()
        setattr(run, name, value)
        assert summarize_one(run).startswith("Observed: "), name
    assert summarize_one(Run(), norms=[1.0, 2e8, 1.0]).startswith("Observed: ")
    assert summarize_one(Run(), norms=[1.0, 5e7, 1.0]).startswith("Healthy: ")


def test_the_summary_counts_steps_that_were_not_followed_or_skipped_and_names_few_parameters() -> None:
    run = Run(passes=1)
    run.add_optimizer(*(run.add_parameter(got_gradient=False) for _ in range(5)), steps=4, followed_steps=3)
    run.optimizers[0].skipped_steps = 2
    run.add_parameter(facts=FACTS._replace(is_parameter=False), unchanged=True)  # An input of the program.
    run.add_parameter(got_gradient=False)  # Neither trained nor reached.
    expected = "Observed: 1 backward pass and 4 steps (3 of them followed in full), 2 skipped by GradScaler; "
    expected += "no parameter is known to be healthy (5 in all); w1, w2, w3 and 2 more: got no gradient."
    assert summarize_run(run, lambda key: f"w{key}", [], is_problem_free=True) == expected
    assert "(6 in all)" not in summarize_run(run, lambda key: f"w{key}", [1], is_problem_free=True)


@pytest.mark.parametrize(("kind", "sentence"), [
    ("loss", "The loss of backward pass 2 (train.py, line 8) is nan."),
    ("gradient", "The gradients of backward pass 2 (train.py, line 8) are not finite."),
    ("weight", "The optimizer step (train.py, line 8) after backward pass 2 made some weights NaN or infinite."),
])  # fmt: skip
def test_the_sentence_about_the_first_value_that_is_not_finite(kind, sentence) -> None:
    assert describe_first_nonfinite_value(Anomaly(kind, 2, 2, BACKWARD), [1.0, nan, 3.0]) == sentence


@pytest.mark.parametrize(("answer", "parts"), [
    ({"from_pass": 0, "pass": 3, "losses": [1.0, nan, 9.0]}, ["A second run", "The 2 losses before", "identical"]),
    ({"from_pass": 0, "pass": 3, "losses": [1.0, 2.5, 9.0]}, ["A second run", "differ from backward pass 2 on"]),
    ({"from_pass": 0, "pass": 1, "losses": [7.0]}, ["A second run"]),
    ({"from_pass": 1, "pass": 3, "losses": [1.0, nan, 9.0]}, ["at backward pass 1", "The 1 losses before"]),
])  # fmt: skip
def test_the_second_run_is_compared_with_the_first(answer, parts) -> None:
    text = describe_second_run_and_compare_losses(answer, [1.0, nan, 3.0])
    assert all(part in text for part in parts), text
    assert ("losses" in text) is (answer["pass"] > 1)


# -- trials of patches -----------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "after", "works", "said"), [
    ({"a": 1.0}, {"a": 1.0, "b": 0.5}, True, "Tested: b gets a gradient of norm 0.5, and the other gradient is un"),
    ({"a": 1.0, "c": 2.0}, {"a": 1.0, "c": 2.0, "b": 0.5}, True, "the other 2 gradients are unchanged"),
    ({}, {"b": 0.5}, True, "Tested: b gets a gradient of norm 0.5."),
    ({"a": 1.0}, {"a": 1.0}, False, "b still had no finite gradient"),
    ({"a": 1.0}, {"a": 1.0, "b": nan}, False, "b still had no finite gradient"),
    ({"a": 1.0}, {"a": 1.0, "b": 0.0}, False, "the gradient of b is exactly zero"),
    ({"a": 1.0}, {"b": 0.5}, False, "it removed the gradient of a"),
    ({"a": 1.0}, {"a": 0.0, "b": 0.5}, False, "it removed the gradient of a"),
    ({"a": 0.0}, {"a": 0.0, "b": 0.5}, True, "Tested: b gets a gradient of norm 0.5."),
    ({"a": 1.0}, {"a": 1.5, "b": 0.5}, False, "it also changes other gradients: a from 1 to 1.5"),
])  # fmt: skip
def test_a_patch_for_a_missing_gradient_is_judged_by_all_gradients(before, after, works, said) -> None:
    verdict = judge_patch_for_missing_gradient(before, after, ["b"])
    assert verdict[0] is works and said in verdict.sentence, verdict


def test_a_patch_is_judged_by_the_names_of_the_program() -> None:
    verdict = judge_patch_for_missing_gradient({}, {"net.0.weight": 0.5}, ["net[0].weight"])
    assert verdict[0] and "net[0].weight gets" in verdict.sentence
    many = judge_patch_for_missing_gradient({}, dict.fromkeys("abc", 1.0), ["a", "b", "c"])
    assert many[0] and "and 1 more get a gradient" in many.sentence


@pytest.mark.parametrize(("patched", "works"), [
    ([], True), ([("a", "detach")], True), ([("w", "broadcast")], False), ([("w", "detach")], False),
    ([("v", "broadcast")], False),
])  # fmt: skip
def test_a_patch_for_a_wrong_gradient_must_cause_no_other_problem(patched, works) -> None:
    original = [("w", "broadcast"), ("a", "detach")]
    assert judge_patch_for_wrong_gradient(original, patched, "broadcast", ["w"], 3)[0] is works


@pytest.mark.parametrize(("line", "patch", "expected"), [
    (2, "y = 1", "if a:\n    y = 1\nz = 2\n"),
    (3, "y = 1", "if a:\n    y = 1\nz = 2\n"),
    (1, "if b:", "if b:\n    y = f(\n        x)\nz = 2\n"),
    (4, "z = 3\nw = 4", "if a:\n    y = f(\n        x)\nz = 3\nw = 4\n"),
    (4, "z = (", None),
    (9, "z = 3", None),
])  # fmt: skip
def test_a_patch_replaces_a_statement_or_the_line_of_a_block(line, patch, expected) -> None:
    assert apply_patch("if a:\n    y = f(\n        x)\nz = 2\n", line, patch) == expected


def test_a_finding_is_an_explanation_of_its_line() -> None:
    answer = RunFinding("accumulated", "", STEP, {"n": 3}).to_explanation("torch")
    assert (answer.cause, answer.filename, answer.line) == ("accumulated", *STEP) and "3" in answer.message
