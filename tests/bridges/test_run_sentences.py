"""What the sentences about a training run say: counts, rates and lines of accounts that are written by hand."""

from math import inf, nan

import pytest

from minitape.bridges.run_watch import findings, schedules
from minitape.bridges.run_watch.accounts import (
    CLEARED,
    CLIPPED,
    EDITED,
    LEFT,
    REUSED,
    SKIPPED,
    STEPPED,
    Anomaly,
    ClipCalls,
    GradientChange,
    ParameterRegistration,
    ScalerAccount,
)
from minitape.bridges.run_watch.anomaly_sentences import describe_second_run_and_compare_losses
from minitape.bridges.run_watch.patch_trials import judge_patch_for_missing_gradient, judge_patch_for_wrong_gradient
from minitape.bridges.run_watch.schedules import LayerModeAccount, ScheduleAccount
from minitape.bridges.run_watch.summary import summarize_run
from minitape.recording.sites import NOWHERE

from .hand_built_accounts import BACKWARD, CLEAR, FACTS, LATE, MADE, OTHER_BACKWARD, STEP, Run, at, route, summarize

CLIP = at(15)


def build_run(*routes, passes=4, facts=None, **optimizer):
    """Build a run with an optimizer of a single parameter."""
    run = Run(passes)
    run.add_optimizer(run.add_parameter(*routes, **(facts or {})), **optimizer)
    return run


def find_discarded():
    run = build_run(route(CLEARED, 5, site=CLEAR), route(STEPPED, 3), clearing_site=CLEAR)
    run.add_optimizer(run.accounts[1], clearing_site=LATE)  # One of several optimizers clears the gradients there.
    return findings.find_gradients_cleared_before_use(run)


def find_cleared_before_the_step(other_line=20):
    run = build_run(route(CLEARED, 5, site=CLEAR), followed_steps=4, empty_steps=3, site=at(19))
    run.add_optimizer(run.accounts[1], followed_steps=4, empty_steps=0, site=at(other_line))
    return findings.find_gradients_cleared_before_use(run)


def find_accumulated():
    run = Run()
    run.add_parameter(route(REUSED, 2, [BACKWARD] * 5), route(REUSED, 2, [BACKWARD] * 3), route(STEPPED, 2))
    return findings.find_steps_accumulating_old_gradients(run)


def find_leftover():
    run = Run()
    run.add_parameter(route(STEPPED, 3, [OTHER_BACKWARD, BACKWARD]))
    run.sent_by_another[OTHER_BACKWARD, BACKWARD, 1] = None
    return findings.find_passes_adding_to_leftovers_of_other_loss(run)


def find_clipping(**calls):
    run = build_run(route(STEPPED, 4, changes=[GradientChange(CLIPPED, CLIP)]), steps=5)
    run.clips[CLIP] = ClipCalls(calls=7, **calls)
    return findings.find_clipping_of_nothing_or_scaled_gradients(run)


def find_unoptimized(late=False, **optimizer):
    run = build_run(route(STEPPED, 4), steps=6, **optimizer)
    run.add_parameter(route(CLEARED, 3, site=CLEAR), unchanged=True)
    if late:
        run.optimizer_sites += [MADE, at(6)]
        run.registrations[2] = ParameterRegistration(at(3), "Linear.weight", LATE)
    return findings.find_unoptimized_parameters(run)


def find_idle():
    run = build_run(route(CLEARED, 2, site=CLEAR), passes=7, facts={"unchanged": True})
    return findings.find_optimizers_that_change_nothing(run)


def find_idle_rate(facts=None, **optimizer):
    run = build_run(route(STEPPED, 3), facts=facts, **({"steps": 6} | optimizer))
    return findings.find_optimizers_that_change_nothing(run)


def find_divergence(losses=(), anomaly=None, **optimizer):
    run = build_run(**optimizer)
    run.losses.extend(losses)
    run.anomaly = anomaly
    return findings.find_optimizer_causes_of_divergence(run)


def find_last_layer_alive():
    run = Run()
    layers = [run.add_parameter(norms=[0.0, 1.0, 0.0], zero_norms=count) for count in (8, 8, 8, 0)]
    run.add_optimizer(*layers, run.add_parameter(norms=[]), rates=(0.05, 0.75))
    return findings.find_optimizers_with_only_last_layer_alive(run)


def find_remade(*step_counts):
    run = Run()
    parameter = run.add_parameter()
    for steps in step_counts:
        run.add_optimizer(parameter, steps=steps)
    return findings.find_optimizers_remade_each_step(run)


def find_scaler(**scaler):
    run = build_run(route(STEPPED, 2))
    run.scalers.append(ScalerAccount(STEP, **({"scales": (2.0, 1024.0)} | scaler)))
    return findings.find_idle_or_bypassed_scalers(run)


def find_paused():
    run = Run(7)
    run.paused_at = at(2)
    return findings.find_line_that_left_gradients_off(run)


def find_schedule(kind, calls, period=0, **optimizer):
    run = build_run(**({"steps": 20} | optimizer))
    run.schedules.append(ScheduleAccount(run.optimizers[0], kind, at(6), period, at(22), calls))
    return schedules.find_misused_schedules(run)


def find_mode(**mode):
    run = build_run(steps=4)
    run.layer_modes.append(LayerModeAccount("Dropout", switching_site=at(13), site=at(12), **mode))
    return schedules.find_layers_in_wrong_mode(run)


HALF = {"facts": FACTS._replace(dtype_name="bfloat16"), "unchanged": True, "norms": [0.1, 0.3, 0.2]}
LOWERED = {"chosen_rate": 0.1, "rates": (1e-4, 4e-3), "peak_step": 0}
SENTENCES = {
    "discarded": (find_discarded, "5 of 8 backward passes (train.py, line 8) were cleared (train.py, line 10)"),
    "cleared": (
        find_cleared_before_the_step,
        "cleared (train.py, line 10) before a step used it, so the step (train.py, line 20) found no gradient",
    ),
    "accumulated": (
        find_accumulated,
        "the step (train.py, line 20) uses the gradients of earlier steps again, from 5 backward passes",
    ),
    "leftover": (
        find_leftover,
        "The step (train.py, line 20) also uses the gradient that the backward pass "
        "(train.py, line 9) left behind. This happened 3 times",
    ),
    "clipped while scaled": (
        lambda: find_clipping(before_unscaling=2, scale=1024.0),
        "In 2 of 7 calls, the gradients are clipped (train.py, line 15) while they are still "
        "multiplied by the scale 1024",
    ),
    "clipped early": (
        lambda: find_clipping(without_gradients=6),
        "In 6 of 7 calls, the function that clips the gradients (train.py, line 15) found no gradients",
    ),
    "clipped late": (lambda: find_clipping(after_step=6), "In 6 of 7 calls, the gradients are clipped"),
    "clipped nothing": (lambda: find_clipping(without_parameters=3), "In 3 of 7 calls"),
    "not optimized": (find_unoptimized, "6 steps of an optimizer (train.py, line 20) did not change it"),
    "optimized too late": (
        lambda: find_unoptimized(late=True),
        "in 3 backward passes, but it has not changed since the first "
        "pass. It was created (train.py, line 30) after the last optimizer had been created "
        "(train.py, line 6)",
    ),
    "not applied": (find_idle, "in 7 backward passes (train.py, line 8)"),
    "no rate": (lambda: find_idle_rate(zero_rate_steps=3, followed_steps=4), "3 optimizer steps changed nothing"),
    "a tiny rate": (
        lambda: find_idle_rate(tiny_rate_steps=11, steps=20, rates=(1e-9, 0.25)),
        "In 11 of 20 optimizer steps, the learning rate (train.py, line 20) was so small that nothing was "
        "learned: it fell from 0.25 to 1e-09",
    ),
    "rounded": (
        lambda: find_idle_rate(HALF, rates=(0.0, 0.125)),
        "6 steps (train.py, line 20) with the learning rate 0.125 used a gradient of norm 0.3",
    ),
    "undone": (lambda: find_idle_rate({"norms": [0.1] * 3, "undone_moves": 3}), "has its old values again"),
    "exploding": (lambda: find_divergence([1.0, 2e4], norms=[2.0, 5e4]), "from 2 in the first step to 5e+04"),
    "a small epsilon": (
        lambda: find_divergence(anomaly=Anomaly("weight", 3, 3, STEP), half_epsilon=1e-8),
        "The optimizer (train.py, line 5) adds eps=1e-08",
    ),
    "a rate that grew": (
        lambda: find_divergence(anomaly=Anomaly("gradient", 3, 3, STEP), chosen_rate=0.1, rates=(0.05, 0.75)),
        "The learning rate (train.py, line 20) has grown from 0.1 to 0.75",
    ),
    "dead": (find_last_layer_alive, "of 3 parameters of this optimizer (train.py, line 5)"),
    "remade": (lambda: find_remade(1, 1, 1, 1), "4 optimizers were created (train.py, line 5)"),
    "a scaler without updates": (
        lambda: find_scaler(steps=3, skipped=1),
        "was called 3 times, but scaler.update() was never "
        "called. 1 of these steps were skipped because gradients overflowed, and the scale "
        "stays at 1024",
    ),
    "a scaler that skips": (
        lambda: find_scaler(steps=9, skipped=9, updates=9),
        "all 9 steps (train.py, line 20), because a gradient was not finite in each of them. The scale is now 2.",
    ),
    "a loss without a scale": (
        lambda: find_scaler(steps=4, updates=4, unscaled_passes=2),
        "by the scale 1024, but in 2 of 4 steps",
    ),
    "a loss without a small scale": (
        lambda: find_scaler(steps=4, updates=4, unscaled_passes=2, scales=(0.2, 0.5)),
        "by the scale 1, but in 2 of 4 steps",
    ),
    "around the scaler": (lambda: find_scaler(scaled_losses=2), "still multiplied by the scale 1024"),
    "gradients off": (find_paused, "Gradients were switched off (train.py, line 2), and backward pass 7 ran"),
    "a factor": (
        lambda: find_schedule("LambdaLR", 19, **LOWERED),
        "with the learning rate 0.1, but in 20 steps it used at "
        "most 0.004. The function that LambdaLR receives (train.py, line 6)",
    ),
    "a fast schedule": (
        lambda: find_schedule("CosineAnnealingLR", 19, 7),
        "CosineAnnealingLR was created for 7 steps, but scheduler.step() (train.py, line 22) was called 19 times",
    ),
    "a slow schedule": (
        lambda: find_schedule("OneCycleLR", 9, 20),
        "OneCycleLR was created for 20 steps, and the optimizer "
        "took 20 steps, but scheduler.step() was called only 9 times (train.py, line 22)",
    ),
    "training in an evaluation": (
        lambda: find_mode(unrecorded_calls=2, trained_calls=4, fixed_calls=1),
        "Dropout was in training mode in 2 calls without gradients (train.py, line 12)",
    ),
    "evaluation in training": (
        lambda: find_mode(fixed_calls=4, trained_calls=3),
        "Dropout was in evaluation mode (train.py, line 13) in the last 4 of 7 calls",
    ),
    "a frozen layer in training": (
        lambda: find_mode(frozen_calls=3),
        "in training mode in 3 calls (train.py, line 12)",
    ),
}


@pytest.mark.parametrize(("find", "told"), SENTENCES.values(), ids=SENTENCES)
def test_a_sentence_about_a_run_names_its_counts_and_lines(find, told) -> None:
    (finding,) = find()
    assert summarize([finding]) and told in finding.to_explanation("torch").message


# -- limits at which nothing is said ---------------------------------------------------------------


def find_line_of_next_optimizer(*sites, passed=8, steps=()):
    """Return the line of the optimizer whose step comes next after the passes of a parameter without an optimizer."""
    run = Run()
    trained = run.add_parameter(route(STEPPED, 4, [at(passed)]))
    for number, site in enumerate(sites):
        count = steps[number] if number < len(steps) else 4
        run.add_optimizer(*[trained] * (number == 0), site=site, steps=count, creation_site=at(40 + number))
    run.add_parameter(route(CLEARED, 2, [at(passed)], site=CLEAR), unchanged=True)
    (finding,) = findings.find_unoptimized_parameters(run)
    return finding.site[1]


@pytest.mark.parametrize(("sites", "steps", "line"), [
    ((at(20), at(12)), (), 12), ((at(12), at(20)), (), 12), ((at(20), at(7)), (), 20), ((at(6), at(7)), (), 6),
    ((at(20), at(8)), (), 8), ((at(20), at(12)), (4, 0), 20), ((at(20), NOWHERE), (), 20), ((at(1), NOWHERE), (), None),
])  # fmt: skip
def test_the_step_that_comes_next_after_a_pass_was_meant_to_change_its_parameters(sites, steps, line) -> None:
    assert find_line_of_next_optimizer(*sites, steps=steps) == line


@pytest.mark.parametrize(("creation_site", "same", "variant"), [
    ((at(6), at(4)), True, "shared"), ((at(6), at(6)), True, ""), ((at(6), NOWHERE), True, ""),
    ((at(6), at(4)), False, ""),
])  # fmt: skip
def test_two_optimizers_share_parameters_if_both_were_made_on_lines_of_their_own(creation_site, same, variant) -> None:
    run = Run()
    held, other = run.add_parameter(route(STEPPED, 4)), run.add_parameter(route(STEPPED, 4))
    for number, site in enumerate(creation_site):
        run.add_optimizer(held if same or not number else other, steps=4, creation_site=site, site=at(20 + number))
    run.add_parameter(route(CLEARED, 2, site=CLEAR), unchanged=True)
    (finding,) = findings.find_unoptimized_parameters(run)
    assert finding.variant == variant and ("other" in finding.fields) is bool(variant)


@pytest.mark.parametrize("fate", [STEPPED, REUSED, SKIPPED])
def test_any_step_uses_the_pass_of_the_other_parameters(fate) -> None:
    for routes, is_told in (([route(fate, 4)], True), ([route(LEFT, 1), route(fate, 4)], True), ([], False)):
        run = Run()
        run.add_optimizer(run.add_parameter(*routes), steps=4)
        run.add_parameter(route(CLEARED, 2, site=CLEAR), unchanged=True)
        assert bool(list(findings.find_unoptimized_parameters(run))) is is_told


@pytest.mark.parametrize(("fate", "number", "is_told"), [
    (STEPPED, 1, True), (REUSED, 1, True), (SKIPPED, 1, False), (STEPPED, 2, False),
])  # fmt: skip
def test_only_the_steps_of_the_optimizer_itself_can_be_rounded_away(fate, number, is_told) -> None:
    run = build_run(route(fate, 3, number=number), facts=HALF, steps=6, rates=(0.0, 0.1))
    assert bool(list(findings.find_optimizers_that_change_nothing(run))) is is_told


def test_a_line_that_remakes_a_layer_is_told_only_with_steps_and_with_its_own_parameters() -> None:
    for is_trained in (True, False):
        run = Run(passes=1)
        run.add_optimizer(run.add_parameter(*[route(STEPPED, 4)] * is_trained), steps=4)
        for line in (12, 12, 12, 13):
            key = run.add_parameter(route(LEFT, 1), unchanged=True).key
            run.registrations[key] = ParameterRegistration(at(line), "Linear.weight")
        found = [it for it in findings.find_unoptimized_parameters(run) if it.variant == "remade"]
        assert [(it.site, it.fields, it.keys) for it in found] == (
            [(at(12), {"n": 3}, {2, 3, 4})] if is_trained else []
        )


def test_an_optimizer_with_parameters_that_changed_without_it_is_not_idle() -> None:
    run = build_run(route(CLEARED, 2, site=CLEAR), facts={"unchanged": True})
    changed = run.add_parameter(route(CLEARED, 2, site=CLEAR))
    run.optimizers[0].accounts.append(changed)
    assert not list(findings.find_optimizers_that_change_nothing(run))
    without_gradient = build_run(passes=7, facts={"unchanged": True, "got_gradient": False})
    assert not list(findings.find_optimizers_that_change_nothing(without_gradient))
    assert not list(findings.find_optimizers_remade_each_step(build_run(steps=1)))
    assert not list(find_remade(1, 1, 2)) and list(find_remade(1, 1, 1))
    assert not list(findings.find_line_that_left_gradients_off(Run(7)))
    assert not list(find_idle_rate({"got_gradient": False}, zero_rate_steps=3, followed_steps=4))


@pytest.mark.parametrize(("last_step", "step_count", "n"), [(9, 22, 10), (100, 1000, 102), (0, 21, 1)])
def test_a_schedule_that_ends_early_is_told_with_its_step_and_rates(last_step, step_count, n) -> None:
    answer = schedules.explain_schedule_decayed_too_early(
        "tensorflow", lambda step: 0.1 if step <= last_step else 1e-6, step_count, ["CosineDecay"]
    )
    assert answer.message.startswith(f"After step {n} of {step_count}, ") and "from 0.1 to 1e-06" in answer.message
    assert schedules.explain_schedule_decayed_too_early("tensorflow", lambda: 0.1, step_count, []) is None


DISCARDED = {
    "an edit of a gradient that no step used": ([route(CLEARED, 3, site=CLEAR, changes=[GradientChange(EDITED)]),
                                                 route(STEPPED, 2)], True),
    "a step that used another pass": ([route(CLEARED, 3, site=CLEAR), route(STEPPED, 3, [OTHER_BACKWARD])], False),
    "a step that used both": ([route(CLEARED, 3, site=CLEAR), route(STEPPED, 3, [OTHER_BACKWARD, BACKWARD])], True),
    "cleared on an unknown line": ([route(CLEARED, 3, site=NOWHERE), route(STEPPED, 2)], False),
}  # fmt: skip


@pytest.mark.parametrize(("routes", "is_told"), DISCARDED.values(), ids=DISCARDED)
def test_a_gradient_is_discarded_if_steps_used_the_same_pass_less_often(routes, is_told) -> None:
    for clearing_site in (CLEAR, NOWHERE):
        run = build_run(*routes, clearing_site=clearing_site)
        found = summarize(findings.find_gradients_cleared_before_use(run))
        assert found == [("discarded", "", 10)] * (is_told and clearing_site == CLEAR)


def test_a_parameter_whose_gradients_are_summed_by_hand_hides_no_other_parameter() -> None:
    run = build_run(route(STEPPED, 2, changes=[GradientChange(EDITED)]), clearing_site=CLEAR)
    discarded = run.add_parameter(route(CLEARED, 3, site=CLEAR), route(STEPPED, 2))
    run.add_optimizer(discarded, clearing_site=CLEAR)
    assert [finding.keys for finding in findings.find_gradients_cleared_before_use(run)] == [[2]]


def test_a_parameter_with_few_updates_hides_no_other_parameter_whose_updates_are_lost() -> None:
    run = build_run(route(STEPPED, 2), facts=HALF, steps=6, rates=(0.0, 0.1))
    rounded = run.add_parameter(route(STEPPED, 3), **HALF)
    run.optimizers[0].accounts.append(rounded)
    assert [finding.keys for finding in findings.find_optimizers_that_change_nothing(run)] == [[2]]


@pytest.mark.parametrize(("largest", "is_told"), [(250.0, True), (350.0, False)])
def test_a_norm_is_small_beside_the_largest_of_its_optimizer(largest, is_told) -> None:
    run = build_run(route(STEPPED, 3), facts=HALF, steps=6, rates=(0.0, 0.1))
    run.optimizers[0].accounts.append(run.add_parameter(route(STEPPED, 3), norms=[0.0, largest, 500.0]))
    assert bool(list(findings.find_optimizers_that_change_nothing(run))) is is_told


@pytest.mark.parametrize(("facts", "variants"), [
    ({"chosen_rate": 0.1, "rates": (0.1, 0.5)}, []), ({"chosen_rate": 0.1, "rates": (0.1, 0.51)}, ["rate"]),
    ({"chosen_rate": 0.1, "rates": (0.1, 0.6), "norms": [1.0, 2e4]}, ["run", "rate"]),
])  # fmt: skip
def test_a_rate_is_blamed_if_it_grew_fivefold_before_the_run_diverged(facts, variants) -> None:
    has_grown = "norms" in facts
    anomaly = None if has_grown else Anomaly("gradient", 3, 3, STEP)
    found = find_divergence([1.0, 2e4], anomaly, **facts)
    assert [finding.variant for finding in found] == variants


def test_a_schedule_of_few_steps_hides_no_other_schedule() -> None:
    run = build_run(steps=9)
    run.add_optimizer(run.accounts[1], steps=20)
    for optimizer in run.optimizers:
        run.schedules.append(ScheduleAccount(optimizer, "OneCycleLR", at(6), 20, at(22), 9))
    assert summarize(schedules.find_misused_schedules(run)) == [("schedule", "slow", 22)]
    assert not list(find_schedule("StepLR", 9, 20))


@pytest.mark.parametrize(("cleared", "used", "optimizer", "is_told"), [
    (2, 0, {"followed_steps": 2, "empty_steps": 1}, True), (1, 0, {"followed_steps": 2, "empty_steps": 2}, False),
    (3, 2, {"followed_steps": 4, "empty_steps": 4, "clearing_site": LATE}, False),
])  # fmt: skip
def test_gradients_are_cleared_before_the_steps_if_no_step_found_one(cleared, used, optimizer, is_told) -> None:
    run = build_run(route(CLEARED, cleared, site=CLEAR), *[route(STEPPED, used)] * bool(used), **optimizer)
    found = summarize(findings.find_gradients_cleared_before_use(run))
    assert found == [("not_applied", "cleared", 10)] * is_told


def test_several_passes_before_a_single_step_are_accumulated_on_purpose() -> None:
    assert not list(findings.find_steps_accumulating_old_gradients(build_run(route(STEPPED, 4, [BACKWARD] * 3))))


@pytest.mark.parametrize(("count", "is_told"), [(2, True), (1, False)])
def test_at_most_one_call_may_find_something_to_clip(count, is_told) -> None:
    run = build_run(route(STEPPED, 4), steps=5)
    run.clips[CLIP] = ClipCalls(calls=3, without_gradients=count)
    assert bool(list(findings.find_clipping_of_nothing_or_scaled_gradients(run))) is is_told


def test_a_parameter_of_an_idle_optimizer_has_an_optimizer() -> None:
    run = build_run(route(STEPPED, 4), steps=4)
    run.add_optimizer(run.add_parameter(route(CLEARED, 2, site=CLEAR), unchanged=True))
    assert not list(findings.find_unoptimized_parameters(run))


def test_layers_with_several_gradients_each_were_not_remade() -> None:
    run = build_run(route(STEPPED, 4), steps=4)
    for _ in range(3):
        key = run.add_parameter(route(LEFT, 2), unchanged=True).key
        run.registrations[key] = ParameterRegistration(at(12), "Linear.weight")
    assert [finding.variant for finding in findings.find_unoptimized_parameters(run)] == ["", "", ""]


def test_the_step_after_the_first_of_several_passes_comes_next() -> None:
    run = build_run(route(STEPPED, 4), steps=4, site=LATE)
    run.add_optimizer(steps=4, site=at(12))
    run.add_parameter(route(CLEARED, 2, [at(15), BACKWARD], site=CLEAR), unchanged=True)
    assert [finding.site[1] for finding in findings.find_unoptimized_parameters(run)] == [12]


def test_a_schedule_is_blamed_for_a_rate_of_zero_only_if_it_never_gave_another() -> None:
    for rates, line in (([0.0, 0.0], 6), ([0.0, 0.1], 20)):
        run = build_run(route(STEPPED, 4), steps=4, zero_rate_steps=3, followed_steps=4)
        optimizer = run.optimizers[0]
        optimizer.rate_schedule, optimizer.scheduled_rates = (
            ScheduleAccount(optimizer, "StepLR", at(6), 0, at(22)),
            rates,
        )
        assert summarize(findings.find_optimizers_that_change_nothing(run)) == [("not_applied", "rate", line)]


def test_a_tiny_loss_can_grow_and_a_scale_can_grow_from_one() -> None:
    assert [finding.variant for finding in find_divergence([1e-5, 2e4], norms=[1.0, 2e4])] == ["run"]
    assert [finding.variant for finding in find_scaler(scaled_losses=2, scales=(1.0, 8.0))] == ["bypassed"]
    assert not list(find_schedule("LambdaLR", 19, **LOWERED | {"peak_step": 10}))
    assert list(find_schedule("LambdaLR", 19, **LOWERED | {"peak_step": 9}))


# -- the summary and the verdicts ------------------------------------------------------------------


def summarize_parameters(*parameters, passes=4, keys=(), **facts):
    """Return the summary of a run whose parameters have the given facts."""
    run = Run(passes)
    accounts = [run.add_parameter(**parameter) for parameter in parameters]
    run.add_optimizer(*accounts, steps=4, followed_steps=4)
    for name, value in facts.items():
        setattr(run, name, value)
    return summarize_run(run, lambda key: "" if key == 9 else f"w{key}", keys, is_problem_free=True)


GOOD, OTHER = (
    {"norms": [0.5, 2.0, 1.0], "moves": (3, 1e-3, 2e-3)},
    {"norms": [0.25, 1.0, 1.0], "moves": (1, 5e-4, 1e-3)},
)
SUMMARIES = {
    "ranges": (
        lambda: summarize_parameters(GOOD, OTHER),
        "2 of 2 parameters got a finite gradient and changed (norm 0.25 to 2, update/weight 0.0005 to 0.002).",
    ),
    "no known update": (
        lambda: summarize_parameters(GOOD, OTHER | {"moves": (0, inf, 0.0)}),
        "update/weight 0.001 to 0.002).",
    ),
    "no update at all": (lambda: summarize_parameters(OTHER | {"moves": (0, inf, 0.0)}), "changed (norm 0.25 to 1)."),
    "a parameter with a finding": (lambda: summarize_parameters(GOOD, OTHER, keys=[2]), "1 of 2 parameters"),
    "three that lack it": (
        lambda: summarize_parameters(*[{"got_gradient": False}] * 3),
        "; w1, w2, w3: got no gradient.",
    ),
    "one without a name": (
        lambda: summarize_parameters(GOOD, *[{"got_gradient": False}] * 8),
        "w2, w3, w4 and 5 more: got",
    ),
    "nonfinite losses": (lambda: summarize_parameters(GOOD, nonfinite_losses=2), "; 2 losses were NaN or infinite."),
    "an error": (lambda: summarize_parameters(GOOD, watch_error="TypeError"), "ended the watch (TypeError)."),
    "a tiny norm, and an update": (
        lambda: summarize_parameters(GOOD | {"norms": [1e-9, 1e-8, 1e-9]}),
        "1 of 1 parameters got a finite gradient and changed (norm 1e-09 to 1e-08",
    ),
    "a norm that was tiny at times": (
        lambda: summarize_parameters({"norms": [1e-9, 1.0, 1e-9], "moves": (0, inf, 0.0), "unchanged": True}),
        "w1: did not change.",
    ),
    "a norm at the limit": (
        lambda: summarize_parameters({"norms": [1.0, 1e8, 1.0], "moves": (1, 0.1, 0.1)}),
        "Observed: ",
    ),
}


@pytest.mark.parametrize(("summarize", "told"), SUMMARIES.values(), ids=SUMMARIES)
def test_a_summary_tells_ranges_counts_and_errors(summarize, told) -> None:
    assert told in summarize()


def test_a_summary_of_a_run_without_steps_or_names() -> None:
    run = Run(passes=2)
    run.add_optimizer(run.add_parameter(got_gradient=False, facts=FACTS._replace(is_on_other_processes=True)))
    run.add_parameter(norms=[])
    text = summarize_run(run, lambda key: "", [], is_problem_free=True)
    expected = "Observed: 2 backward passes and no optimizer step; no parameter is known to be healthy (1 in all); "
    assert text == expected + "?: no optimizer step used the gradient."


@pytest.mark.parametrize(("is_parameter", "unchanged", "has_optimizer", "is_counted"), [
    (True, True, False, True), (False, False, False, True), (False, True, False, False), (False, True, True, True),
])  # fmt: skip
def test_an_input_that_nothing_trains_is_not_counted(is_parameter, unchanged, has_optimizer, is_counted) -> None:
    run = Run()
    leaf = run.add_parameter(norms=[], unchanged=unchanged, facts=FACTS._replace(is_parameter=is_parameter))
    run.add_optimizer(*[leaf] * has_optimizer, steps=1)
    assert ("w1" in summarize_run(run, lambda key: f"w{key}", [], is_problem_free=True)) is is_counted


def test_a_verdict_names_two_gained_gradients_and_a_few_changed_ones() -> None:
    names = ["a", "b", "c"]
    gained = judge_patch_for_missing_gradient({}, dict.fromkeys(names, 0.5), names[:2]).sentence
    assert gained == "Tested: a gets a gradient of norm 0.5, b gets a gradient of norm 0.5."
    more = judge_patch_for_missing_gradient({}, dict.fromkeys(names, 0.5), names).sentence
    assert more == gained.removesuffix(".") + ", and 1 more get a gradient."
    others = {f"w{number}": 1.0 for number in range(9)}
    changed = judge_patch_for_missing_gradient(others, dict.fromkeys(others, 2.0) | {"a": 0.5}, ["a"]).sentence
    assert 2 <= changed.count("from 1 to 2") < 9
    infinite = judge_patch_for_missing_gradient({"w": 1.0}, {"w": inf, "a": 0.5}, ["a"]).sentence
    assert "it removed the gradient of w" in infinite


def test_a_gradient_that_was_there_in_another_pass_is_not_one_of_the_others() -> None:
    assert judge_patch_for_missing_gradient({"b": 1.0}, {"b": 0.5}, ["b"]).sentence == (
        "Tested: b gets a gradient of norm 0.5."
    )


def test_a_loss_that_only_the_second_run_lost_is_a_difference() -> None:
    text = describe_second_run_and_compare_losses({"from_pass": 0, "pass": 3, "losses": [1.0, nan, 9.0]}, [1.0, 2.0])
    assert "recorded backward pass 3." in text and "differ from backward pass 2 on" in text


def test_a_run_with_a_problem_is_not_called_healthy() -> None:
    run = build_run(facts=GOOD, steps=4, followed_steps=4)
    for is_problem_free, word in ((True, "Healthy: "), (False, "Observed: ")):
        assert summarize_run(run, lambda key: "w", [], is_problem_free).startswith(word)


def test_a_verdict_about_a_wrong_gradient_names_the_new_problem_or_the_passes() -> None:
    original = [("v", "broadcast"), ("w", "broadcast")]
    new = judge_patch_for_wrong_gradient(original, [("a", "detach")], "broadcast", ["v", "w"], 3)
    assert not new[0] and new.sentence.endswith("it caused a new problem: detach.")
    assert judge_patch_for_wrong_gradient(original, [], "broadcast", ["v", "w"], 3).sentence.endswith(
        "no problem is found in 3 backward passes."
    )
    remained = judge_patch_for_wrong_gradient(original, [("w", "broadcast")], "broadcast", ["v", "w"], 3)
    assert remained.sentence == "A patch was tried, but the problem remained."
