"""What the watch of a PyTorch run writes into its accounts, in programs of a few lines."""

import pytest

from .cases import compile_program

torch = pytest.importorskip("torch")

from minitape.bridges.run_watch.accounts import CLEARED, CONSUMED, REUSED, SKIPPED, STEPPED  # noqa: E402
from minitape.bridges.torch.ledger.run_watch import TorchRunWatch  # noqa: E402

BEGINNING = """import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1, bias=False)
x = torch.ones(3, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
"""
FIRST = len(BEGINNING.splitlines()) + 1


def watch(text):
    """Run a program under watch, and return the watch; its lines count from the first one after `BEGINNING`."""
    run_watch = TorchRunWatch()
    run_watch.start_watching()
    try:
        namespace = {}
        exec(compile_program(BEGINNING + text, "program.py"), namespace)
    finally:
        run_watch.stop_watching()
    run_watch.namespace = namespace  # The parameters stay alive.
    return run_watch


def find_account(run_watch, name="net.weight"):
    return run_watch.find_or_open_account(eval(name, run_watch.namespace))


def list_routes(run_watch, name="net.weight"):
    """List the fate of each gradient with the kinds of changes, the numbers of passes, and the count."""
    accounts = run_watch.accounts
    return [
        (route.fate, "+".join(change.kind for change in route.changes), len(route.pass_sites), count)
        for route, count in accounts.iter_routes_and_counts(find_account(run_watch, name))
    ]


STEP = "net(x).sum().backward()\noptimizer.step()\n"
FATES = {
    "a step": (STEP, [(STEPPED, "", 1, 1)]),
    "a step that is taken twice": (STEP + "optimizer.step()\n", [(STEPPED, "", 1, 1), (REUSED, "", 1, 1)]),
    "two passes": ("net(x).sum().backward()\n" + STEP, [(STEPPED, "", 2, 1)]),
    "a cleared gradient": ("net(x).sum().backward()\noptimizer.zero_grad()\n", [(CLEARED, "", 1, 1)]),
    "a gradient that the module clears": ("net(x).sum().backward()\nnet.zero_grad()\n", [(CLEARED, "", 1, 1)]),
    "a gradient set to None": ("net(x).sum().backward()\nnet.weight.grad = None\n" + STEP,
                               [(CLEARED, "", 1, 1), (STEPPED, "", 1, 1)]),
    "a gradient set to zero": ("net(x).sum().backward()\nnet.weight.grad.zero_()\n", [(CLEARED, "", 1, 1)]),
    "an update by hand": ("net(x).sum().backward()\nwith torch.no_grad():\n    net.weight -= 0.1 * net.weight.grad\n"
                          "net.zero_grad()\n", [(CONSUMED, "", 1, 1)]),
    "an edited gradient": ("net(x).sum().backward()\nnet.weight.grad.mul_(2)\noptimizer.step()\n",
                           [(STEPPED, "edited", 1, 1)]),
    "a clipped gradient": ("net(x).sum().backward()\nnn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
                           "optimizer.step()\n", [(STEPPED, "clipped", 1, 1)]),
    "a closure": ("optimizer = torch.optim.LBFGS(net.parameters(), max_iter=1)\ndef closure():\n    "
                  "optimizer.zero_grad()\n    loss = net(x).pow(2).sum()\n    loss.backward()\n    return loss\n"
                  "optimizer.step(closure)\n", [(STEPPED, "", 1, 1)]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "routes"), FATES.values(), ids=FATES)
def test_the_fate_of_a_gradient(text, routes) -> None:
    assert list_routes(watch(text)) == routes


CLIP = "nn.utils.clip_grad_norm_({}, {})\n"
CLIPS = {
    "in its place": ("net(x).sum().backward()\n" + CLIP.format("net.parameters()", 1.0), (1, 0, 0, 0, 0)),
    "a single tensor": ("net(x).sum().backward()\n" + CLIP.format("net.weight", 1.0), (1, 0, 0, 0, 0)),
    "of nothing": (CLIP.format("[]", 1.0), (1, 1, 0, 0, 0)),
    "too early": (CLIP.format("net.parameters()", 1.0), (1, 0, 1, 0, 0)),
    "too late": (STEP + CLIP.format("net.parameters()", 1.0), (1, 0, 0, 1, 0)),
    "late, to measure only": (STEP + CLIP.format("net.parameters()", "float('inf')"), (1, 0, 0, 0, 0)),
    "of scaled gradients": ("scaler = torch.amp.GradScaler('cpu', init_scale=8.0)\n"
                            "scaler.scale(net(x).sum()).backward()\n" + CLIP.format("net.parameters()", 1.0),
                            (1, 0, 0, 0, 1)),
    "of unscaled gradients": ("scaler = torch.amp.GradScaler('cpu', init_scale=8.0)\n"
                              "scaler.scale(net(x).sum()).backward()\nscaler.unscale_(optimizer)\n"
                              + CLIP.format("net.parameters()", 1.0), (1, 0, 0, 0, 0)),
    "of gradients scaled by 1": ("scaler = torch.amp.GradScaler('cpu', init_scale=1.0)\n"
                                 "scaler.scale(net(x).sum()).backward()\n" + CLIP.format("net.parameters()", 1.0),
                                 (1, 0, 0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "counts"), CLIPS.values(), ids=CLIPS)
def test_a_call_that_clips_is_counted_by_what_it_finds(text, counts) -> None:
    ((site, calls),) = watch(text).accounts.clips.items()
    names = ("calls", "without_parameters", "without_gradients", "after_step", "before_unscaling")
    assert tuple(getattr(calls, name) for name in names) == counts
    assert site == ("program.py", FIRST + next(i for i, line in enumerate(text.splitlines()) if "clip" in line))
    assert calls.scale == (8.0 if calls.before_unscaling else 1.0)


def test_an_optimizer_has_its_lines_and_its_learning_rates() -> None:
    text = "for rate in (0.1, 0.4, 1e-6, 0.0, 0.0):\n    optimizer.param_groups[0]['lr'] = rate\n"
    text += "    optimizer.zero_grad()\n    net(x).sum().backward()\n    optimizer.step()\n"
    (account,) = watch(text).accounts.optimizers
    assert (account.creation_site[1], account.clearing_site[1], account.site[1]) == (FIRST - 1, FIRST + 2, FIRST + 4)
    assert (account.kind, account.steps, account.followed_steps, account.empty_steps) == ("SGD", 5, 5, 0)
    assert (account.chosen_rate, account.rates, account.peak_step) == (0.1, (0.0, 0.4), 1)
    assert (account.zero_rate_steps, account.tiny_rate_steps) == (2, 3)
    assert len(account.norms) == 5 and account.half_epsilon == 1.0


def test_a_step_without_a_new_gradient_is_empty() -> None:
    (account,) = watch("optimizer.step()\n" + STEP + "optimizer.step()\noptimizer.zero_grad()\noptimizer.step()\n"
                       ).accounts.optimizers  # fmt: skip
    assert (account.steps, account.empty_steps) == (4, 2)


@pytest.mark.parametrize(("dtype", "epsilon"), [("float16", 1e-8), ("bfloat16", 1.0), ("float32", 1.0)])
def test_only_the_epsilon_of_a_float16_parameter_can_round_to_zero(dtype, epsilon) -> None:
    text = f"optimizer = torch.optim.Adam([torch.zeros(2, dtype=torch.{dtype}, requires_grad=True)])\n"
    assert watch(text).accounts.optimizers[-1].half_epsilon == epsilon


def test_norms_and_updates_are_measured() -> None:
    text = "before = net.weight.detach().clone()\nfor step in range(3):\n    optimizer.zero_grad()\n"
    text += "    (net(x).sum() * (step + 1)).backward()\n    optimizer.step()\n"
    run_watch = watch(text)
    account = find_account(run_watch)
    norm = 3 * 2**0.5
    assert account.norms == pytest.approx([norm, 3 * norm, 3 * norm])
    weight = float(run_watch.namespace["before"].norm())
    assert account.moves[0] == 3 and 0.1 * norm / weight == pytest.approx(account.moves[1], rel=0.9)
    assert account.undone_moves == 0 and not account.is_unchanged_since_first_gradient()


def test_an_update_that_is_undone_before_the_next_step_is_counted() -> None:
    text = "for step in range(4):\n    before = net.weight.detach().clone()\n    optimizer.zero_grad()\n"
    text += "    net(x).sum().backward()\n    optimizer.step()\n    net.weight.data.copy_(before)\n"
    assert find_account(watch(text)).undone_moves == 3


SCALER = "scaler = torch.amp.GradScaler('cpu', init_scale={}, enabled={})\n"
SCALED = "scaler.scale(net(x).sum()).backward()\nscaler.step(optimizer)\n"
SCALERS = {
    "a step": (SCALER.format(8.0, True) + SCALED + "scaler.update()\n", (1, 1, 0, 1, 0), [(STEPPED, 1)]),
    "no update": (SCALER.format(8.0, True) + SCALED, (1, 1, 0, 0, 0), [(STEPPED, 1)]),
    "an infinite gradient": (SCALER.format(8.0, True) + SCALED.replace("net(x).sum()", "(net(x).sum() * 1e38 * 1e2)"),
                             (1, 1, 1, 0, 0), [(SKIPPED, 1)]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "counts", "routes"), SCALERS.values(), ids=SCALERS)
def test_a_scaler_is_followed(text, counts, routes) -> None:
    run_watch = watch(text)
    (scaler,) = run_watch.accounts.scalers
    assert (scaler.scaled_losses, scaler.steps, scaler.skipped, scaler.updates, scaler.unscaled_passes) == counts
    assert scaler.scales == (8.0, 8.0) and run_watch.accounts.skipped_step_count == scaler.skipped
    assert [(fate, count) for fate, _, _, count in list_routes(run_watch)] == routes
    assert run_watch.accounts.anomaly is None  # The scaler itself takes care of what overflows.


def test_a_scaler_that_is_switched_off_changes_nothing() -> None:
    run_watch = watch(SCALER.format(8.0, False) + SCALED)
    assert not any(scaler.steps or scaler.scaled_losses for scaler in run_watch.accounts.scalers)
    assert list_routes(run_watch) == [(STEPPED, "", 1, 1)]


def test_a_step_of_an_unscaled_loss_is_counted() -> None:
    text = SCALER.format(8.0, True) + "scaler.scale(net(x).sum())\nnet(x).sum().backward()\nscaler.step(optimizer)\n"
    assert watch(text).accounts.scalers[0].unscaled_passes == 1


def call_layer(layer, setting, call):
    return f"layer = {layer}\n{setting}\ny = torch.ones(4, 3, requires_grad=True)\n{call}\n"


NORM, PLAIN = "nn.BatchNorm1d(3)", "layer(y)"
MODES = {
    "in training": (call_layer(NORM, "", PLAIN), (1, 0, 0, 0)),
    "in evaluation": (call_layer(NORM, "layer.eval()", PLAIN), (0, 1, 0, 0)),
    "in training, without gradients": (call_layer(NORM, "", "with torch.no_grad():\n    layer(y)"), (0, 0, 1, 0)),
    "in evaluation, without gradients": (call_layer(NORM, "layer.eval()", "with torch.no_grad():\n    layer(y)"),
                                         (0, 0, 0, 0)),
    "frozen": (call_layer(NORM, "layer.requires_grad_(False)", PLAIN), (0, 0, 0, 1)),
    "frozen, in evaluation": (call_layer(NORM, "layer.requires_grad_(False).eval()", PLAIN), (0, 0, 0, 0)),
    "without weights": (call_layer("nn.BatchNorm1d(3, affine=False)", "", PLAIN), None),
    "a dropout": (call_layer("nn.Dropout(0.5)", "", PLAIN), (1, 0, 0, 0)),
    "a dropout of nothing": (call_layer("nn.Dropout(0.0)", "", PLAIN), None),
    "first in evaluation": (call_layer(NORM, "layer.eval()", "layer(y)\nlayer.train()\nlayer(y)"), (1, 0, 0, 0)),
    "in a module that trains": (call_layer("nn.Sequential(nn.BatchNorm1d(3))", "layer[0].eval()", PLAIN),
                                (0, 0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "counts"), MODES.values(), ids=MODES)
def test_the_modes_of_a_layer_are_counted(text, counts) -> None:
    modes = watch(text).accounts.layer_modes
    names = ("trained_calls", "fixed_calls", "unrecorded_calls", "frozen_calls")
    found = [tuple(getattr(mode, name) for name in names) for mode in modes]
    assert found == ([] if counts is None else [counts])


SCHEDULE = "schedule = torch.optim.lr_scheduler.{}\n"


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize(("schedule", "period", "rates"), [
    ("StepLR(optimizer, 1, 0.5)", 0, [0.05]), ("CosineAnnealingLR(optimizer, 8)", 8, None),
    ("OneCycleLR(optimizer, 0.4, total_steps=20)", 20, None),
])  # fmt: skip
def test_a_schedule_is_followed_from_its_line_to_its_last_step(schedule, period, rates) -> None:
    run_watch = watch(SCHEDULE.format(schedule) + STEP + "schedule.step()\n")
    (account,) = run_watch.accounts.schedules
    assert (account.kind, account.period, account.calls) == (schedule.partition("(")[0], period, 1)
    assert (account.creation_site[1], account.site[1]) == (FIRST, FIRST + 3)
    assert account.optimizer is run_watch.accounts.optimizers[0]
    assert account.optimizer.rate_schedule is account and rates in (None, account.optimizer.scheduled_rates)


ANOMALIES = {
    "a loss": ("for scale in (1.0, float('nan'), 1.0):\n    (net(x).sum() * scale).backward()\n", ("loss", 2, 1)),
    "a loss after a finite step": ("for scale in (1.0, float('nan'), 1.0):\n    (net(x).sum() * scale).backward()\n"
                                   "    optimizer.step()\n", ("loss", 2, 2)),
    "a gradient": ("for power in (1, 2, 1):\n    optimizer.zero_grad()\n    (net(x).sum() * 0).abs().pow(1 / power)"
                   ".backward()\n    optimizer.step()\n", ("gradient", 2, 2)),
    "a weight": ("optimizer.param_groups[0]['lr'] = 1e38\nfor scale in (1e-30, 1e2, 1.0):\n    optimizer.zero_grad()\n"
                 "    (net(x).sum() * scale).backward()\n    optimizer.step()\n", ("weight", 2, 2)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ANOMALIES.values(), ids=ANOMALIES)
def test_the_first_value_that_is_not_finite_is_found_where_it_arose(text, expected) -> None:
    anomaly = watch(text).accounts.anomaly
    assert (anomaly.kind, anomaly.pass_number, anomaly.first_pass) == expected


def test_losses_are_kept_and_counted() -> None:
    text = "for scale in (1.0, float('nan'), float('inf'), 2.0):\n    (torch.ones(2, requires_grad=True) * scale)."
    text += "backward(torch.ones(2))\ntorch.autograd.grad(net(x).sum(), net.weight)\n"
    accounts = watch(text).accounts
    assert list(accounts.losses)[::3] == [2.0, 4.0] and accounts.nonfinite_losses == 2
    assert (accounts.passes, accounts.gradient_calls) == (4, 1)


@pytest.mark.parametrize(("text", "line"), [
    ("torch.set_grad_enabled(False)\nnet(x)\nloss.backward()\n", FIRST + 1),
    ("torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\nloss.backward()\n", None),
    ("with torch.set_grad_enabled(False):\n    net(x)\nloss.backward()\n", None),
])  # fmt: skip
def test_a_switch_that_stays_off_is_noticed(text, line) -> None:
    with torch.enable_grad():
        assert watch("loss = net(x).sum()\n" + text).accounts.paused_at[1] == line


MISUSES = {
    "an attribute for the learning rate": ("optimizer.lr = 0.5\n" + STEP, [("no_effect", "optimizer", FIRST)]),
    "the same learning rate": ("optimizer.lr = 0.1\n" + STEP, []),
    "a flag that nothing reads": ("net.requires_grad = False\n" + STEP * 4, [("no_effect", "", FIRST)]),
    "a flag that is true": ("net.requires_grad = True\n" + STEP * 4, []),
    "a flag in a short run": ("net.requires_grad = False\n" + STEP * 2, []),
    "a model that loads itself": (STEP + "net.load_state_dict(net.state_dict())\n",
                                  [("no_effect", "loaded", FIRST + 2)]),
    "a model that loads a copy": (STEP + "net.load_state_dict({'weight': net.weight.detach().clone()})\n", []),
    "a model that loads itself before it is trained": ("net.load_state_dict(net.state_dict())\n", []),
    "a parameter that is frozen too late": (
        "optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)\n" + STEP
        + "net.weight.requires_grad_(False)\noptimizer.step()\n", [("frozen_moved", "", FIRST)]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MISUSES.values(), ids=MISUSES)
def test_a_setting_that_torch_ignores_is_noted(text, expected) -> None:
    noted = watch(text).accounts.noted.values()
    assert [(finding.cause, finding.variant, finding.site[1]) for finding in noted] == expected


def test_a_parameter_that_is_registered_after_the_optimizer_has_the_line_that_made_it() -> None:
    run_watch = watch("late = nn.Linear(1, 1)\n")
    registrations = run_watch.accounts.registrations
    early, late = (registrations[id(run_watch.namespace[name].weight)] for name in ("net", "late"))
    assert (early.name, early.site[1], early.late_site[1]) == ("Linear.weight", FIRST - 3, None)
    assert (late.site[1], late.late_site[1]) == (FIRST, FIRST)
    assert run_watch.find_name(id(run_watch.namespace["late"].bias)) == "Linear.bias"


def test_a_pass_that_adds_to_what_another_optimizer_left_is_noted() -> None:
    text = "other = nn.Linear(2, 1)\nsecond = torch.optim.SGD(other.parameters(), 0.1)\n"
    text += "(net(x) + other(x)).sum().backward()\nsecond.step()\nnet(x).pow(2).sum().backward()\n"
    run_watch = watch(text)
    key = id(run_watch.namespace["net"].weight)
    expected = (("program.py", FIRST + 2), ("program.py", FIRST + 4), key)
    assert list(run_watch.accounts.sent_by_another) == [expected]
    assert not watch(text.replace("second.step()", "optimizer.step()")).accounts.sent_by_another
