"""What becomes of gradients in a whole run: the accounts of PyTorch programs, and what they show to be wrong."""

import io
from contextlib import contextmanager, nullcontext, redirect_stdout

import pytest

from .cases import apply_fixes, compile_program, list_blamed_line_numbers, parse_programs_by_name, strip_fix_comments
from .torch_runs import CASES

torch = pytest.importorskip("torch")

from minitape.bridges.run_watch.findings import find_run_findings  # noqa: E402
from minitape.bridges.run_watch.summary import summarize_run  # noqa: E402
from minitape.bridges.torch import record  # noqa: E402
from minitape.bridges.torch.ledger import run_watch as run_watch_module  # noqa: E402
from minitape.bridges.torch.ledger.run_watch import TorchRunWatch  # noqa: E402
from minitape.bridges.torch.suspects import (  # noqa: E402
    build_checked_run,
    move_finding_to_line_to_blame,
    record_findings_of_operations,
)

BEGINNING = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"


PROGRAMS = parse_programs_by_name(CASES)
REMARKS = [
    "an_epoch_schedule_is_stepped_in_each_batch",
    "an_evaluation_in_training_mode",
    "the_statistics_of_a_frozen_layer_change",
    "a_target_of_the_same_network_has_a_gradient",
    "an_advantage_trains_the_critic",
    "a_dropout_does_not_know_the_mode",
    "a_dropout_layer_is_new_in_each_call",
]
WRONG = [name for name, (cause, _) in PROGRAMS.items() if cause != "connected"]


def watch(text, recorder=record):
    """Run a program under watch; return the watch and the findings."""
    run_watch = TorchRunWatch()
    run_watch.start_watching()
    with redirect_stdout(io.StringIO()), recorder() as recording:
        namespace = {}
        exec(compile_program(BEGINNING + text, "program.py"), namespace)
    run_watch.stop_watching()
    if recording is not None:
        record_findings_of_operations(build_checked_run(recording), run_watch.accounts)
    run_watch.namespace = namespace  # The parameters stay alive.
    return run_watch, find_run_findings(run_watch.accounts)


def find_first_blamed_line(text):
    """Run a program under watch; return the first finding's cause, variant and line to blame."""
    recordings = []

    @contextmanager
    def keep():
        with record() as recording:
            recordings.append(recording)
            yield recording

    _, findings = watch(text, recorder=keep)
    finding = move_finding_to_line_to_blame(recordings[0], findings[0])
    return finding.cause, finding.variant, finding.site[1]


def summarize(run_watch, findings):
    keys = {key for finding in findings for key in finding.keys}
    return summarize_run(run_watch.accounts, run_watch.find_name, keys, not findings)


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.parametrize("name", PROGRAMS)
def test_cause_and_line(name):
    cause, text = PROGRAMS[name]
    run_watch, findings = watch(strip_fix_comments(text))
    summary = summarize(run_watch, findings)
    if cause == "connected":
        assert not findings and summary.startswith("Healthy: "), (findings, summary)
        return
    blamed = list_blamed_line_numbers(BEGINNING + text)[0]
    explanation = findings[0].to_explanation("torch")
    assert (explanation.cause, explanation.line) == (cause, blamed), explanation
    assert explanation.kind in ("suspect", "zero") and explanation.fix and "{" not in explanation.message
    assert summary.startswith("Observed: ")


@pytest.mark.parametrize("name", WRONG)
def test_the_repaired_program_is_not_accused(name):
    text = apply_fixes(PROGRAMS[name][1])
    assert text != strip_fix_comments(PROGRAMS[name][1])
    run_watch, findings = watch(text)
    assert not findings and summarize(run_watch, findings).startswith("Healthy: "), findings


@pytest.mark.parametrize("name", REMARKS)
def test_what_may_be_intended_is_only_a_remark(name):
    _, findings = watch(strip_fix_comments(PROGRAMS[name][1]))
    assert [finding.is_remark for finding in findings] == [True]


def test_an_update_that_is_only_shown_is_left_alone():
    text = """
w = torch.ones(2, requires_grad=True)
for point in range(2):
    w.grad = None
    w.pow(2).sum().backward()
    with torch.no_grad():
        print(w - 0.1 * w.grad)
"""
    assert not watch(text)[1]


def test_layers_in_a_compiled_or_traced_model_are_left_alone():
    text = """
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 1))
nodes = [node.op for node in torch.fx.symbolic_trace(net).graph.nodes]
compiled = torch.compile(net, backend="eager", fullgraph=True)(torch.randn(8, 4))
"""
    run_watch, findings = watch("import torch.fx\n" + text, recorder=nullcontext)
    assert run_watch.namespace["nodes"].count("call_module") == 4 and not findings
    assert run_watch.namespace["compiled"].shape == (8, 1)
    assert "__call__" not in vars(torch.nn.Dropout)


def test_a_warning_about_a_schedule_names_the_line_of_the_program():
    text = """
optimizer = torch.optim.SGD(nn.Linear(4, 1).parameters(), 0.1)
torch.optim.lr_scheduler.StepLR(optimizer, 2).step()
"""
    with pytest.warns(UserWarning, match="Detected call") as warnings:
        watch(text)
    assert (warnings[0].filename, warnings[0].lineno) == ("program.py", 6)


def test_the_summary_counts_the_losses_that_were_not_finite():
    text = """
w = nn.Parameter(torch.ones(2))
for scale in (1.0, float("nan"), float("inf")):
    (w * scale).sum().backward()
    w.grad = None
"""
    assert "; 2 losses were NaN or infinite" in summarize(*watch(text))


def test_gradients_that_are_switched_off_for_good_are_found():
    text = """
net = nn.Linear(4, 1)
y = net(torch.randn(8, 4)).sum()

torch.set_grad_enabled(False)
y.backward()
"""
    with torch.enable_grad():
        _, findings = watch(text)
    assert [(finding.cause, finding.site[1]) for finding in findings] == [("grad_off", 8)]


def test_a_step_that_the_scaler_skips_is_called_that():
    text = """
net = nn.Linear(4, 1)
optimizer, scaler = torch.optim.SGD(net.parameters(), 1e-3), torch.amp.GradScaler("cpu", init_scale=2.0**126)
for step in range(24):
    optimizer.zero_grad()
    scaler.scale(9 * net(torch.randn(8, 4)).pow(2).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
"""
    run_watch, findings = watch(text)
    assert not findings and run_watch.accounts.anomaly is None
    assert "skipped by GradScaler" in summarize(run_watch, findings)


def test_a_single_step_that_the_scaler_skips_is_counted():
    text = """
net = nn.Linear(1, 1, bias=False)
optimizer, scaler = torch.optim.SGD(net.parameters(), 1e-3), torch.amp.GradScaler("cpu", init_scale=2.0**127)
for step in range(6):
    optimizer.zero_grad()
    scaler.scale(net(torch.full((1, 1), 3.0)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
"""
    assert "6 backward passes and 5 steps, 1 skipped by GradScaler;" in summarize(*watch(text))


def test_the_summary_of_a_single_step_is_in_the_singular():
    text = """
net = nn.Linear(1, 1, bias=False)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
net(torch.ones(1, 1)).sum().backward()
optimizer.step()
"""
    assert summarize(*watch(text)).startswith("Healthy: 1 backward pass and 1 step; 1 of 1 parameters")


def test_an_error_of_the_watch_ends_the_watch_and_not_the_program(monkeypatch):
    def measure(gradients):
        raise TypeError("an odd tensor")

    monkeypatch.setattr(run_watch_module, "measure_norms", measure)
    text = """
net = nn.Linear(4, 1)
optimizer, losses = torch.optim.SGD(net.parameters(), 0.01), []
for step in range(6):
    optimizer.zero_grad()
    loss = net(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
"""
    run_watch, findings = watch(text)
    assert len(run_watch.namespace["losses"]) == 6 and not findings
    summary = summarize(run_watch, findings)
    assert summary.startswith("Observed: ") and "an error in minitape ended the watch (TypeError: an odd" in summary


def test_a_number_that_is_not_finite_is_seen_in_any_step_and_is_not_healthy():
    text = """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 1e-3)
for step in range(200):
    x = torch.randn(8, 4) if step != 150 else torch.zeros(8, 4)
    optimizer.zero_grad()
    (net(x) - net.bias).norm().backward() if step != 170 else (net(x) / 0).sum().backward()
    optimizer.step()
"""
    run_watch, findings = watch(text)
    assert run_watch.accounts.anomaly.kind == "loss" and run_watch.accounts.anomaly.pass_number == 171
    assert summarize(run_watch, findings).startswith("Observed: 200 backward passes")


def test_the_watch_rests_once_nothing_is_new_and_leaves_pytorch_as_it_was():
    before = torch.Tensor.backward, torch.optim.Optimizer.zero_grad, torch.nn.utils.clip_grad_norm_
    text = PROGRAMS["micro_batches_are_discarded"][1].replace("range(12)", "range(600)")
    run_watch, findings = watch(apply_fixes(text))
    optimizer = run_watch.accounts.optimizers[0]
    assert optimizer.steps == 200 and optimizer.followed_steps < 120 and not findings
    assert before == (torch.Tensor.backward, torch.optim.Optimizer.zero_grad, torch.nn.utils.clip_grad_norm_)


def test_a_layer_that_is_made_in_each_step_ends_the_rest_only_once():
    text = """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(400):
    probe = nn.Linear(1, 1).requires_grad_(False)
    optimizer.zero_grad()
    probe(net(torch.randn(8, 4))).pow(2).mean().backward()
    optimizer.step()
"""
    run_watch, findings = watch(text, recorder=nullcontext)
    assert run_watch.accounts.optimizers[0].followed_steps < 64 + 8 * 8 and not findings


def test_an_optimizer_of_the_original_of_a_copy_is_named_itself():
    text = """
import copy
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
net = copy.deepcopy(net)
for step in range(6):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
"""
    assert find_first_blamed_line(text) == ("not_optimized", "another", 7)


def test_an_optimizer_that_holds_a_copy_is_to_blame():
    text = strip_fix_comments(PROGRAMS["the_optimizer_holds_a_copy_of_the_latent_code"][1])
    assert find_first_blamed_line(text) == ("not_optimized", "another", 7)


def test_the_line_that_converted_the_weights_is_to_blame_for_rounding():
    text = strip_fix_comments(PROGRAMS["updates_are_rounded_away"][1])
    assert find_first_blamed_line(text) == ("not_applied", "converted", 4)


def test_parameters_that_a_program_drops_are_not_kept_alive():
    import weakref

    run_watch = TorchRunWatch()
    run_watch.start_watching()
    net = torch.nn.Linear(2, 1)
    net(torch.ones(1, 2)).sum().backward()
    dropped = weakref.ref(net.weight)
    del net
    assert dropped() is None
    run_watch.stop_watching()


def test_an_input_that_no_optimizer_holds_is_not_counted():
    run_watch, findings = watch(PROGRAMS["an_input_has_a_gradient_because_a_loss_contains_its_derivative"][1])
    assert "4 of 4 parameters" in summarize(run_watch, findings) and "?" not in summarize(run_watch, findings)
