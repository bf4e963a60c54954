"""``minitape explain`` for the whole run of a PyTorch program: the step that went wrong, raised errors, and honesty."""

import json

import pytest

pytest.importorskip("torch")

from minitape.bridges.run_watch.patch_trials import judge_patch_for_missing_gradient
from minitape.bridges.run_watch.report import ProblemGroup
from minitape.bridges.torch.patch_runs import try_patch_and_add_verdict

from .cases import strip_fix_comments
from .test_program import HEALTHY, run_minitape_explain, run_python_command
from .test_run_watch import BEGINNING, PROGRAMS

LATE_NAN = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(24):
    x = torch.randn(4, 3)
    if step == 15:
        net.weight.data[:], net.bias.data[:] = 0, 0
    length = torch.sqrt(net(x).pow(2).sum(1))
    loss = (length - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TWICE = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
mean = torch.zeros(1)
for step in range(3):
    y = net(torch.randn(4, 3))
    mean = 0.9 * mean + 0.1 * y.mean()
    loss = (y - mean).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def explain(tmp_path, text, *options):
    """Return what the command prints about a program, and its exit status."""
    file = tmp_path / "answers.json"
    done = run_minitape_explain(tmp_path, text, "--json", str(file), *options, arguments=())
    return done, json.loads(file.read_text())


def test_a_late_nan_is_recorded_in_a_second_run_that_agrees_with_the_first(tmp_path):
    done, answers = explain(tmp_path, LATE_NAN)
    assert done.returncode == 1 and "Healthy" not in done.stderr
    assert "second run with the same random seeds recorded backward pass 16" in done.stderr
    assert "The 15 losses before that pass are bit-for-bit identical in both runs." in done.stderr
    problem = answers["anomaly_problems"][0]
    assert (problem["cause"], problem["line"]) == ("nan_backward", 11)
    assert answers["summary"].startswith("Observed: 24 backward passes and 24 steps;")


def test_a_program_that_writes_files_runs_again_only_if_the_user_says_so(tmp_path):
    text = LATE_NAN.replace("range(24):\n", "range(24):\n    open(f'log{step}.txt', 'a').write('x')\n")
    done, answers = explain(tmp_path, text)
    assert not answers["anomaly_problems"] and "use --rerun to allow this" in done.stderr and done.returncode == 1
    assert (tmp_path / "log3.txt").read_text() == "x"
    done, answers = explain(tmp_path, text, "--rerun")
    assert answers["anomaly_problems"][0]["line"] == 12
    assert len((tmp_path / "log3.txt").read_text()) > 2  # The second command has run it more than once.


def test_a_loss_that_is_not_finite_has_a_cause_though_its_gradients_are_fine(tmp_path):
    text = HEALTHY.replace(
        "    optimizer.zero_grad()\n",
        "    loss = loss + torch.log(torch.zeros(()))\n    optimizer.zero_grad()\n",
    )
    done, answers = explain(tmp_path, text.replace("int(sys.argv[1])", "3"))
    assert done.returncode == 1 and "Healthy" not in done.stderr
    assert [(each["cause"], each["line"]) for each in answers["anomaly_problems"]] == [("nonfinite_value", 10)]


def test_a_late_loss_that_is_not_finite_has_the_cause_that_a_second_run_finds(tmp_path):
    text = LATE_NAN.replace("    if step == 15:\n        net.weight.data[:], net.bias.data[:] = 0, 0\n", "")
    text = text.replace(".mean()", ".mean() - torch.log(torch.tensor(float(step != 15)))")
    done, answers = explain(tmp_path, text)
    assert done.returncode == 1 and "second run with the same random seeds recorded backward pass 16" in done.stderr
    assert [(each["cause"], each["line"]) for each in answers["anomaly_problems"]] == [("nonfinite_value", 10)]


def test_a_diverging_training_comes_before_the_infinite_loss_that_it_leads_to(tmp_path):
    text = LATE_NAN.replace("    if step == 15:\n        net.weight.data[:], net.bias.data[:] = 0, 0\n", "")
    text = text.replace("torch.randn", "1000 * torch.randn").replace("torch.sqrt(net(x).pow(2).sum(1))", "net(x)")
    done, answers = explain(tmp_path, text)
    assert done.returncode == 1 and not answers["anomaly_problems"]
    assert answers["problems"][0]["cause"] == "exploding" and "standardize" in answers["problems"][0]["fix"]


def test_a_second_backward_names_the_value_that_carries_the_graph(tmp_path):
    done, answers = explain(tmp_path, TWICE)
    assert done.returncode == 1 and (answers["raised"]["cause"], answers["raised"]["line"]) == ("backward_twice", 10)
    assert "mean (train.py, line 10) was computed in an earlier step" in done.stderr
    assert "for" not in answers["raised"]["heading"] and "Healthy" not in done.stderr


def test_a_graph_that_is_kept_while_the_weights_change_names_the_value_that_carries_it(tmp_path):
    two_layers = "torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))"
    text = TWICE.replace("torch.nn.Linear(3, 1)", two_layers).replace("backward()", "backward(retain_graph=True)")
    done, answers = explain(tmp_path, text)
    assert (answers["raised"]["cause"], answers["raised"]["line"]) == ("in_place", 10), done.stderr
    assert "mean (train.py, line 10) was computed in an earlier step" in done.stderr


STEP_BETWEEN_TWO_PASSES = """
import torch

torch.manual_seed(0)
generator = torch.nn.Linear(2, 2)
critic = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
generator_optimizer = torch.optim.Adam(generator.parameters())
critic_optimizer = torch.optim.Adam(critic.parameters())
for step in range(4):
    score = critic(generator(torch.randn(8, 2)))
    critic_optimizer.zero_grad()
    (score - critic(torch.randn(8, 2))).mean().backward(retain_graph=True)
    critic_optimizer.step()
    generator_optimizer.zero_grad()
    score.mean().neg().backward()
    generator_optimizer.step()
"""


def test_an_optimizer_step_between_two_passes_is_the_change_that_the_second_pass_meets(tmp_path):
    done, answers = explain(tmp_path, STEP_BETWEEN_TWO_PASSES)
    assert (answers["raised"]["cause"], answers["raised"]["line"]) == ("in_place", 13), done.stderr
    assert "Make all calls to backward() before that line" in answers["raised"]["fix"]
    repaired = STEP_BETWEEN_TWO_PASSES.replace("    critic_optimizer.step()\n", "") + "    critic_optimizer.step()\n"
    done, answers = explain(tmp_path, repaired)
    assert "raised" not in answers or answers["raised"] is None, done.stderr
    assert not any(problem["cause"] == "in_place" for problem in answers["problems"]), done.stderr


TWO_OPTIMIZERS_OF_ONE_NETWORK = """
import torch

torch.manual_seed(0)
g, d = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)), torch.nn.Linear(2, 1)
d_optimizer = torch.optim.SGD(g.parameters(), lr=0.1)
g_optimizer = torch.optim.SGD(g.parameters(), lr=0.1)
for step in range(6):
    fake = g(torch.randn(8, 2))
    d.zero_grad()
    (d(torch.randn(8, 2)).pow(2).mean() - d(fake.detach()).pow(2).mean().tanh()).backward()
    d_optimizer.step()
    g.zero_grad()
    d(fake).pow(2).mean().backward()
    g_optimizer.step()
"""


def test_an_optimizer_of_the_wrong_network_is_named_before_the_change_that_it_made(tmp_path):
    done, answers = explain(tmp_path, TWO_OPTIMIZERS_OF_ONE_NETWORK)
    raised = answers["raised"]
    assert done.returncode == 1 and (raised["cause"], raised["line"]) == ("not_optimized", 6), done.stderr
    assert "(train.py, line 7)" in raised["message"] and "Also: Parameters were changed" in done.stderr
    done, answers = explain(tmp_path, TWO_OPTIMIZERS_OF_ONE_NETWORK.replace("g.parameters()", "d.parameters()", 1))
    assert done.returncode == 0 and answers["raised"] is None, done.stderr


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = torch.ones(3)\nv = 2 * x\ny = v.sum() * net.weight.sum()\ntorch.autograd.grad(y, v)", 6),
        ("x = torch.ones(3, requires_grad=True)\nu = x[0:1]\ny = (x * x).sum()\ntorch.autograd.grad(y, u)", 7),
        (
            "x = torch.ones(3, requires_grad=True)\nu = x[0:1]\ndef loss(x):\n    return (x * x).sum()\ny = loss(x)\n"
            "torch.autograd.grad(y, u)",
            9,
        ),
        ("x = torch.ones(3, requires_grad=True)\nu = x * 2\n(net(u)).sum().backward()\nu.grad.norm()", 6),
        ("with torch.no_grad():\n    y = net(torch.ones(3))\ny.sum().backward()", 6),
        (
            "for _ in range(8):\n    net(torch.ones(3)).sum().backward()\nx = torch.ones(3, requires_grad=True)\n"
            "for _ in range(2):\n    net(x).sum().backward()\n    x = x + x.grad.sign()",
            10,
        ),
    ],
)
def test_a_raised_error_is_explained_alone(tmp_path, text, line):
    beginning = "import torch\n\nnet = torch.nn.Linear(3, 1)\n\n"
    done, answers = explain(tmp_path, beginning + text + "\n")
    assert done.returncode == 1 and answers["raised"] is not None, done.stderr
    assert answers["raised"]["line"] == line, answers["raised"]
    assert "gradient for" not in done.stderr


def test_a_frozen_model_names_a_parameter_that_the_optimizer_holds(tmp_path):
    text = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
for parameter in net.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.SGD(net[1].parameters(), 0.1)
optimizer.zero_grad()
net(torch.ones(4, 3)).mean().backward()
"""
    done, answers = explain(tmp_path, text)
    assert (answers["raised"]["cause"], answers["raised"]["line"]) == ("requires_grad", 5), done.stderr
    assert "Call net[1].weight.requires_grad_()" in answers["raised"]["fix"]


def test_a_plain_error_prints_itself_and_no_paragraphs(tmp_path):
    text = "import torch\nnet = torch.nn.Linear(3, 1)\nnet(torch.ones(3))\nraise KeyError('mine')\n"
    done, answers = explain(tmp_path, text)
    assert done.returncode == 1 and answers["raised"] is None and not answers["problems"]
    assert done.stderr.rstrip().endswith(
        "KeyError: 'mine'\n\nNothing was observed, because the program ran no backward pass."
    )


def test_a_compiled_model_runs_and_is_seen(tmp_path):
    text = HEALTHY.replace("optimizer =", "net = torch.compile(net, backend='eager')\noptimizer =", 1)
    done, answers = explain(tmp_path, text.replace("int(sys.argv[1])", "7"))
    assert (done.returncode, done.stdout) == (0, "done\n") and "Warning" not in done.stderr
    assert answers["summary"].startswith("Healthy: 7 backward passes and 7 steps; 2 of 2")
    cut = text.replace("(net(torch.randn(8, 3))", "(net(torch.randn(8, 3)).detach() * net.bias")
    done, answers = explain(tmp_path, cut.replace("int(sys.argv[1])", "7"))
    assert {answer["cause"] for answer in answers["answers"]} == {"detach", "connected"}


def test_a_rank_with_findings_names_itself_and_does_not_end_the_job(tmp_path):
    text = f"import os\nos.environ.update(RANK='1', WORLD_SIZE='2')\n{CUT}"
    done = run_minitape_explain(tmp_path, text, "--json", "answers.json", arguments=())
    assert done.returncode == 0 and "\nrank 1 of 2:\nNo gradient for encoder.weight" in done.stderr
    assert (
        json.loads((tmp_path / "answers_rank1.json").read_text())["problems"]
        and not (tmp_path / "answers.json").exists()
    )
    assert run_minitape_explain(tmp_path, text, "--fail", arguments=()).returncode == 1
    assert run_minitape_explain(tmp_path, f"{text}raise ValueError('an error')\n", arguments=()).returncode == 1


@pytest.mark.longest
def test_a_job_prints_one_page_that_begins_with_the_rank_that_went_wrong_first(tmp_path):
    (tmp_path / "train.py").write_text(JOB)
    launch = "-m torch.distributed.run --standalone --nproc_per_node 3 -m minitape explain --json answers.json".split()
    done = run_python_command(tmp_path, [*launch, "train.py"], warm=False)
    page = done.stderr[done.stderr.index("Rank ") :]
    assert done.returncode == 0
    assert page.startswith(
        "Rank 1 was the first process with a value that is not finite, in backward pass 6.\n\nrank 1"
    ), page
    assert "ranks 0, 2 of 3:\nThe gradients of backward pass 6" in page and "--rerun" not in page, page
    losses = [json.loads((tmp_path / f"answers_rank{rank}.json").read_text())["anomaly"] for rank in range(3)]
    assert [text.startswith("The loss of backward pass 6") for text in losses] == [False, True, False], losses


def test_gradients_that_the_scaler_skipped_are_not_missed(tmp_path):
    text = CUT.replace(".detach()", "").replace("loss.backward()", "scaler.scale(1e6 * loss).backward()")
    text = text.replace(
        "    optimizer.step()", "    scaler.step(optimizer)\n    scaler.update()\n    optimizer.zero_grad()"
    )
    text = text.replace("for step", 'scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120)\nfor step')
    done, answers = explain(tmp_path, text)
    assert done.returncode == 0 and not answers["problems"], done.stderr
    assert "and no optimizer step, 5 skipped by GradScaler" in answers["summary"]


CUT = """
import torch

torch.manual_seed(0)
encoder, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
for step in range(5):
    hidden = encoder(torch.ones(3, 4)).detach()
    loss = decoder(hidden).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
JOB = """
import torch

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
torch.manual_seed(rank)
for step in range(8):
    x = torch.randn(16, 4)
    if rank == 1 and step == 5:
        x[0, 0] = float("nan")
    optimizer.zero_grad()
    net(x).pow(2).mean().backward()
    optimizer.step()
torch.distributed.destroy_process_group()
"""
CRITIC = """
    critic_optimizer.zero_grad()
    critic(torch.ones(3, 2)).pow(2).mean().backward()
    critic_optimizer.step()
    optimizer.zero_grad()
"""
STOPPED = """
import torch

torch.manual_seed(0)
encoder, head = torch.nn.Linear(4, 2), torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for step in range(5):
    a, b = encoder(torch.randn(3, 4)), encoder(torch.randn(3, 4))
    target = head(a).detach()
    loss = (b - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_patch_is_offered_if_a_run_has_shown_that_the_gradient_comes_even_in_a_second_pass(tmp_path):
    critic = "critic = torch.nn.Linear(2, 1)\ncritic_optimizer = torch.optim.SGD(critic.parameters(), 0.1)\nfor step"
    text = CUT.replace("for step", critic).replace("\n    optimizer.zero_grad()\n", CRITIC)
    done, answers = explain(tmp_path, text)
    (problem,) = answers["problems"]
    assert problem["is_patch_offered"] and problem["patch"] == "hidden = encoder(torch.ones(3, 4))"
    assert "Tested: encoder.weight gets a gradient of norm 0." in done.stderr
    assert "the other 2 gradients are unchanged." in done.stderr


def test_a_patch_that_changes_other_gradients_is_no_fix(tmp_path):
    done, answers = explain(tmp_path, STOPPED)
    (problem,) = answers["problems"]
    assert problem["cause"] == "detach" and not problem["is_patch_offered"]
    assert "it also changes other gradients: encoder.weight from" in done.stderr and "should be `" not in done.stderr


@pytest.mark.parametrize(
    ("after", "offered", "said"),
    [
        ({"a": 1.0, "b": 2.0}, True, "Tested: a gets a gradient of norm 1, and the other"),
        ({"a": 1.0, "b": 0.0}, False, "it removed the gradient of b"),
        ({"a": 1.0, "b": 3.0}, False, "it also changes other gradients: b from 2 to 3"),
        ({"b": 2.0}, False, "a still had no finite gradient"),
        ({"a": float("nan"), "b": 2.0}, False, "a still had no finite gradient"),
        ({"a": 0.0, "b": 2.0}, False, "with it, the gradient of a is exactly zero"),
    ],
)
def test_what_a_trial_must_show(after, offered, said):
    verdict = judge_patch_for_missing_gradient({"b": 2.0}, after, ["a"])
    assert verdict.is_offered == offered and said in verdict.sentence


BY_ITEM = """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    hidden = net[1](net[0](x)).detach()
    loss = ((net[2](hidden) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_layers_called_one_by_one_get_their_patch(tmp_path):
    done, _ = explain(tmp_path, BY_ITEM)
    assert "should be `hidden = net[1](net[0](x))`" in done.stderr, done.stderr
    assert "Tested: net[0].weight gets a gradient of norm" in done.stderr, done.stderr


CANCELLED = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(4, 3)
y = torch.cat([x[:1], torch.randn(3, 3)])
for step in range(4):
    gaps = net(x) - net(y)
    loss = torch.sqrt((gaps**2).sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_gradient_that_cancels_is_zero_and_not_missing(tmp_path):
    done, _ = explain(tmp_path, CANCELLED)
    assert "nan_backward" in done.stderr and "still had no" not in done.stderr
    assert "with it, the gradient of net.bias is exactly zero." in done.stderr


def test_a_report_before_the_end_says_that_the_program_is_still_running(tmp_path):
    text = "from minitape.bridges.torch import program\n\nprogram.EARLY_REPORT_SECONDS = -1.0\n" + CANCELLED.replace(
        "range(4)", "range(16)"
    )
    done, _ = explain(tmp_path, text)
    early, _, rest = done.stderr.partition("The program is still running. Its first steps show:")
    assert "nan_backward" not in early and rest.count("\nnan_backward: ") == 2
    done, _ = explain(tmp_path, CANCELLED)
    assert "still running" not in done.stderr and done.stderr.count("\nnan_backward: ") == 1


def test_a_patched_program_that_raises_an_error_is_no_fix(tmp_path):
    source = "y = x.detach()\n"
    group = ProblemGroup(["a"], "", "detach", "cut", "p.py", 1, source, "", patch="y = x")
    answers = iter([{"norms": {}, "error": None}, {"norms": {}, "error": "ValueError: x"}])
    tried = try_patch_and_add_verdict(group, source, 1, lambda request: next(answers), [group])
    assert not tried.is_patch_offered and "the patched program raises ValueError: x" in tried.trial


def test_a_patch_leaves_a_straight_through_estimator_as_it_is(tmp_path):
    text = """
import torch

torch.manual_seed(0)
encoder, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(2, 4)
codes = torch.nn.Parameter(torch.randn(8, 2))
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters(), codes], lr=0.1)
for step in range(5):
    x = torch.randn(3, 4)
    z = encoder(x)
    code = codes[torch.cdist(z, codes).argmin(1)]
    loss = (decoder(z + (code - z).detach()) - x).pow(2).mean() + 0.25 * (z - code.detach()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    done, answers = explain(tmp_path, text)
    assert {problem["line"] for problem in answers["problems"]} <= {11, 12}
    patches = [problem["patch"] for problem in answers["problems"] if problem["is_patch_offered"]]
    assert all("decoder(z + (code - z).detach())" in patch for patch in patches), done.stderr


def test_a_layer_that_nothing_reads_is_mentioned_and_not_accused(tmp_path):
    text = HEALTHY.replace("optimizer =", "net.spare = torch.nn.Linear(3, 1)\noptimizer =", 1)
    done, answers = explain(tmp_path, text.replace("int(sys.argv[1])", "3"))
    assert (done.returncode, answers["problems"]) == (0, []), done.stderr
    assert "unused: net.spare.weight was not used" in done.stderr
    assert "net.spare.weight, bias: got no gradient" in done.stderr


def test_a_sum_over_many_passes_is_not_taken_for_a_missing_step(tmp_path):
    text = """
import torch
from minitape.bridges.torch import program

program.EARLY_REPORT_SECONDS = -1.0
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(64):
    loss = (net(torch.randn(4, 3)) - 1.0).pow(2).mean() / 32
    loss.backward()
    if step % 32 == 31:
        optimizer.step()
        optimizer.zero_grad()
"""
    done, answers = explain(tmp_path, text)
    assert (done.returncode, answers["problems"]) == (0, []), done.stderr
    assert "not_applied" not in done.stderr


def test_watched_functions_take_arguments_by_keyword(tmp_path):
    text = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(params=net.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu")
schedule = torch.optim.lr_scheduler.StepLR(optimizer=optimizer, step_size=5)
for step in range(8):
    net.train(mode=True)
    loss = (net(torch.randn(4, 3)) - 1.0).pow(2).mean()
    optimizer.zero_grad(set_to_none=True)
    torch.autograd.backward(tensors=scaler.scale(outputs=loss))
    scaler.unscale_(optimizer=optimizer)
    torch.nn.utils.clip_grad_norm_(parameters=net.parameters(), max_norm=1.0)
    torch.nn.utils.clip_grad_value_(net.parameters(), clip_value=1.0)
    scaler.step(optimizer=optimizer)
    scaler.update(new_scale=None)
    schedule.step(epoch=None)
    with torch.set_grad_enabled(mode=False):
        net(torch.randn(4, 3))
    torch.autograd.grad(outputs=(net.weight ** 2).sum(), inputs=net.weight)
print(loss.item())
"""
    done, answers = explain(tmp_path, text)
    assert (done.returncode, answers["problems"]) == (0, []), done.stderr
    assert "Traceback" not in done.stderr and "8 backward passes and 8 steps" in done.stderr


TWO_PHASES = """
import torch

torch.manual_seed(0)
x = torch.randn(32, 4)
teacher, student = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)
optimizer = torch.optim.Adam(teacher.parameters(), 0.01)
for step in range(12):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(teacher(x), x[:, :3].argmax(1)).backward()
    optimizer.step()
optimizer = torch.optim.Adam(student.parameters(), 0.01)
for step in range(12):
    with torch.no_grad():
        goal = teacher(x).softmax(1)
    answer = student(x).softmax(1)
    loss = torch.nn.functional.kl_div(answer, goal, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PRETRAINED = """
import torch

torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
body, head = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh()), torch.nn.Linear(8, 1)
optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], 0.01)
for step in range(12):
    optimizer.zero_grad()
    (head(body(x)) - y).pow(2).mean().backward()
    optimizer.step()
"""
LATER_PHASES = {
    "a_student_with_log_probabilities": TWO_PHASES.replace("student(x).softmax", "student(x).log_softmax"),
    "a_new_head_on_detached_features": PRETRAINED
    + """
new_head = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(new_head.parameters(), 0.01)
for step in range(12):
    optimizer.zero_grad()
    (new_head(body(x).detach()) + y).pow(2).mean().backward()
    optimizer.step()
""",
    "lbfgs_after_adam": PRETRAINED
    + """
optimizer = torch.optim.LBFGS([*body.parameters(), *head.parameters()], 0.1, max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = (head(body(x)) - y).pow(2).mean()
    loss.backward()
    return loss


for step in range(8):
    optimizer.step(closure)
""",
    "an_actor_waits_for_its_critic": """
import torch

torch.manual_seed(0)
actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
actor_optimizer = torch.optim.Adam(actor.parameters(), 0.01)
critic_optimizer = torch.optim.Adam(critic.parameters(), 0.01)
for step in range(40):
    state = torch.randn(32, 4)
    with torch.no_grad():
        action = torch.tanh(actor(state)) + 0.3 * torch.randn(32, 2)
    reward = -action.pow(2).sum(1, keepdim=True)
    critic_optimizer.zero_grad()
    (critic(torch.cat([state, action], 1)) - reward).pow(2).mean().backward()
    critic_optimizer.step()
    if step >= 20:
        actor_optimizer.zero_grad()
        critic(torch.cat([state, torch.tanh(actor(state))], 1)).mean().neg().backward()
        actor_optimizer.step()
""",
    "an_input_is_optimized": PRETRAINED
    + """
for parameter in body.parameters():
    parameter.requires_grad_(False)
picture = torch.zeros(1, 4, requires_grad=True)
optimizer = torch.optim.Adam([picture], 0.1)
for step in range(12):
    optimizer.zero_grad()
    head(body(picture)).sum().neg().backward()
    optimizer.step()
""",
}


def test_the_first_steps_of_a_later_optimizer_are_recorded_too(tmp_path):
    done, answers = explain(tmp_path, TWO_PHASES)
    assert done.returncode == 1 and "Healthy" not in done.stderr
    assert [(problem["cause"], problem["line"]) for problem in answers["problems"]] == [("loss_input", 16)]
    assert answers["problems"][0]["names"] == ["student.bias", "student.weight"]
    assert answers["passes"] == 24 and answers["steps"] == 24


@pytest.mark.parametrize("name", LATER_PHASES)
def test_a_healthy_later_phase_is_not_accused(tmp_path, name):
    done, answers = explain(tmp_path, LATER_PHASES[name])
    assert (done.returncode, answers["problems"]) == (0, []), done.stderr
    assert answers["summary"].startswith("Healthy: ")


def test_a_tensor_of_a_module_that_is_not_a_parameter_is_named_with_its_line(tmp_path):
    _, text = PROGRAMS["a_tensor_of_a_module_is_not_a_parameter"]
    done, answers = explain(tmp_path, BEGINNING + strip_fix_comments(text))
    problem = answers["problems"][0]
    assert (problem["cause"], problem["code"]) == (
        "not_optimized",
        "self.stiffness = torch.tensor(1.0, requires_grad=True)",
    )
    assert done.returncode == 1 and "?" not in done.stderr


LEARNED_LOSS = """
import torch

torch.manual_seed(0)
learned_loss = torch.nn.Linear(2, 1)
start = torch.nn.Parameter(torch.zeros(3, 1))
optimizer = torch.optim.Adam([*learned_loss.parameters(), start], 0.01)
for step in range(8):
    outer = 0.0
    for task in range(4):
        x = torch.randn(20, 3)
        y = x.sum(1, keepdim=True)
        weights = start
        for inner_step in range(2):
            inner = learned_loss(torch.cat([x @ weights, y], 1)).pow(2).mean()
            (slope,) = torch.autograd.grad(inner, [weights], create_graph=True)
            weights = weights - 0.1 * slope
        outer = outer + (x @ weights - y).pow(2).mean()
    optimizer.zero_grad()
    outer.backward()
    optimizer.step()
"""


def test_many_inner_gradients_do_not_hide_the_backward_pass_behind_them(tmp_path):
    """Eight calls to autograd.grad come before the first backward(), more than the steps that are recorded."""
    done, answers = explain(tmp_path, LEARNED_LOSS)
    assert (done.returncode, answers["problems"]) == (0, []), done.stderr
    assert answers["summary"].startswith("Healthy: 8 backward passes and 8 steps; 3 of 3 parameters")
    done, answers = explain(tmp_path, LEARNED_LOSS.replace("create_graph=True", "retain_graph=True"))
    assert done.returncode == 1
    assert [(problem["cause"], problem["line"]) for problem in answers["problems"]] == [("create_graph", 16)]
    assert answers["problems"][0]["names"] == ["learned_loss.weight", "learned_loss.bias"]


REPLACED_LAYER = """
import torch

torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)


def train(count):
    for step in range(count):
        model.zero_grad()
        (model(x) - y).pow(2).mean().backward()
        optimizer.step()


train(151)
model[2] = torch.nn.Linear(8, 1)
train(201)
"""


def test_a_layer_replaced_late_in_the_run_is_missed_by_the_old_optimizer(tmp_path):
    """Graphs are searched for leaves ever less often, so a new layer must be looked for when it appears."""
    done, answers = explain(tmp_path, REPLACED_LAYER)
    assert done.returncode == 1 and "Healthy" not in done.stderr
    (problem,) = answers["problems"]
    assert (problem["cause"], problem["line"]) == ("not_optimized", 18)
    again = "optimizer = torch.optim.Adam(model.parameters(), 0.01)\ntrain(201)"
    done, answers = explain(tmp_path, REPLACED_LAYER.replace("train(201)", again))
    assert (done.returncode, answers["problems"]) == (0, []), done.stderr
