"""``recording.explain`` for PyTorch: what is asked of it alone; ``test_explain`` has the rest."""

import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'minitape[torch]'")

from minitape.bridges import torch as bridge  # noqa: E402 - behind the check for PyTorch
from minitape.bridges.torch.raised_errors import explain_error_by_message_alone, explain_raised_error  # noqa: E402
from minitape.common.translation import LANGUAGE_VARIABLES  # noqa: E402

from .cases import compile_program, strip_fix_comments  # noqa: E402
from .frameworks import FRAMEWORKS  # noqa: E402

TORCH = next(framework for framework in FRAMEWORKS if framework.name == "torch")


def test_other_answers():
    w = torch.tensor([1.0, -1.0], requires_grad=True)
    with bridge.record() as recording:
        loss = (w * w).sum()
        loss.backward(torch.tensor(0.0))
        level = (w - w).sum()
        level.backward()
        number = loss.item()
        slope = torch.autograd.grad((w**3).sum(), w)
    assert recording.explain(loss, w).cause == "zero_seed"
    assert recording.explain(level, w).cause == "zero_sum"
    assert recording.explain(number, w).cause == "not_tensor"
    assert recording.explain(1.0, slope[0]).cause == "not_tensor"
    assert [(why.connected, why.kind) for why in recording.explain(level, [w])] == [(True, "zero")]
    assert len(slope) == 1
    with pytest.raises(TypeError, match="takes a tensor as its source"):
        recording.explain(loss, 3.0)


def test_the_name_of_a_parameter_is_that_in_its_module():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.decoder = torch.nn.Linear(2, 1)

        def forward(self, x):
            return self.decoder(x).detach()

    model = Net()
    with bridge.record() as recording:
        loss = model(torch.ones(1, 2)).mean()
    why = recording.explain(loss, model.decoder.weight)
    assert why.message.startswith("detach (test_torch_explain.py, line ")
    assert why.message.endswith("blocks the gradient from the target to model.decoder.weight.")


def test_a_further_break_is_said_too():
    w = torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        loss = (w.detach() * 2).data.sum()
    why = recording.explain(loss, w)
    assert why.cause == "detach" and [other.cause for other in why.others] == ["data"]


FILLS = ("target.copy_({})", "target.data = {}", "target.data.copy_({})")


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize(("values", "cause"), [
    ("w.data", "unused"), ("w.detach()", "unused"), ("w.detach() * 2", "detach"), ("w.data * 2", "data"),
    ("w.detach() - w.grad", "unused"), ("other.detach()", "unused"),
])  # fmt: skip
def test_a_weight_filled_from_another_depends_on_it_only_if_the_values_were_computed(fill, values, cause):
    w, other, target = (torch.ones(2, requires_grad=True) for _ in range(3))
    with bridge.record() as recording:
        (w * w).sum().backward()
        with torch.no_grad():
            exec(fill.format(values), {"w": w, "other": other, "target": target})
        loss = (target * 3).sum()
        loss.backward()
    assert recording.explain(loss, w).cause == cause


def test_what_one_block_cuts_is_said_once():
    w, x = torch.ones(2, requires_grad=True), torch.ones(2)
    with bridge.record() as recording:
        with torch.no_grad():
            hidden = w * x
            out = hidden.exp()
        loss = out.sum()
    why = recording.explain(loss, w)
    assert (why.cause, why.code, why.others) == ("no_grad", "hidden = w * x", [])


def mean_of(numbers):
    return sum(numbers) / len(numbers)


def test_a_number_that_a_function_of_the_program_brings_back_left_and_one_that_is_logged_did_not():
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        seen, logged = [], []
        for part in (w * 2.0, w * 3.0):
            seen.append(part.sum().item())
        for part in (v * 2.0, v * 3.0):
            logged.append(part.sum().item())
        loss = (torch.ones(2) * mean_of(seen)).sum()
    assert logged == [4.0, 6.0]
    why = recording.explain(loss, w)
    assert (why.cause, why.code) == ("left_torch", "seen.append(part.sum().item())")
    assert recording.explain(loss, v).cause == "unused"


def test_the_detach_of_a_straight_through_estimator_is_no_second_cause():
    encoder, code = torch.nn.Linear(2, 2), torch.nn.Parameter(torch.ones(2))
    with bridge.record() as recording:
        z = encoder(torch.ones(3, 2)).detach()
        loss = (z + (code - z).detach()).pow(2).mean()
    why = recording.explain(loss, encoder.weight)
    assert (why.cause, why.code, why.others) == ("detach", "z = encoder(torch.ones(3, 2)).detach()", [])
    assert recording.explain(loss, code).code == "loss = (z + (code - z).detach()).pow(2).mean()"


def test_a_graph_that_torch_made_of_a_function_has_the_line_of_its_call():
    traced = torch.fx.symbolic_trace(lambda w: (w * 2).detach() * w.shape[0])
    w = torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        loss = traced(w).sum()
    assert recording.explain(loss, w).code == "loss = traced(w).sum()"


def test_what_no_gradient_came_out_of_is_said_to_be_unknown():
    w = torch.ones(3, requires_grad=True)
    with bridge.record() as recording:
        with torch.no_grad():
            loss = torch.vmap(lambda x: (w * x).sum())(torch.ones(4, 3)).sum()
        places = torch.vmap(lambda x: (w * x).argmax())(torch.ones(4, 3))
        row = torch.ones(3)[places].sum()
    assert [recording.explain(target, w).cause for target in (loss, row)] == ["unknown", "unknown"]


def test_a_function_with_vmap_compiles_in_a_block_as_outside_of_it():
    w, xs = torch.ones(3, requires_grad=True), torch.ones(4, 3)
    compiled = torch.compile(
        lambda w, xs: torch.vmap(lambda x: (w * x).sum())(xs).sum(), backend="eager", fullgraph=True
    )
    with bridge.record() as recording:
        loss = compiled(w, xs)
        loss.backward()
    assert recording.internal_error is None and recording.explain(loss, w).connected
    assert w.grad.tolist() == [4.0, 4.0, 4.0]


BEFORE = {  # what stands before the block, what is asked about -> the cause, and which of the lines is to blame
    ("w = torch.ones(3, requires_grad=True) * 0.01", "w"): ("non_leaf", 1),
    ("w = torch.ones(3)", "w"): ("requires_grad", 1),
    ("net = torch.nn.Linear(3, 1)\nfor p in net.parameters():\n    p.requires_grad = False", "net.weight"): (
        "requires_grad",
        3,
    ),
    (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = "
        "torch.nn.Parameter(torch.ones(3)) * 0.02\nnet = Net()",
        "net.w",
    ): ("non_leaf", 4),
    # used in a function that stands above it
    ("def double(v):\n    return v * 2\nw = torch.ones(3, requires_grad=True) * 0.5", "w", "double(w)"): (
        "non_leaf",
        3,
    ),
}


@pytest.mark.parametrize("case", BEFORE)
def test_what_was_done_before_the_block_is_blamed_where_it_was_done(case, tmp_path):
    before, asked, used = (*case, case[1])[:3]
    program = tmp_path / "before.py"
    program.write_text(
        f"{before}\nwith bridge.record() as recording:\n    loss = ({used} * other).sum()\n    "
        f"loss.backward()\nwhy = recording.explain({asked})\n"
    )
    space = {"torch": torch, "bridge": bridge, "other": torch.ones(3, requires_grad=True)}
    exec(compile(program.read_text(), program, "exec"), space)
    assert (space["why"].cause, space["why"].line) == BEFORE[case]


class Trainer:
    def __init__(self):
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ModuleDict({"head": torch.nn.Linear(1, 1)}))
        self.parts = [torch.nn.Linear(2, 1)]


def test_names_are_as_the_program_reaches_a_tensor():
    trainer = Trainer()
    every = [*trainer.net.parameters(), trainer.parts[0].bias]
    for p in every:  # the name of a loop holds something else in the next round
        p.grad = None
    with bridge.record() as recording:
        loss = torch.ones(1, requires_grad=True).sum()
    names = [
        "trainer.net[0].weight", "trainer.net[0].bias", "trainer.net[1].head.weight", "trainer.net[1].head.bias",
        "trainer.parts[0].bias",
    ]  # fmt: skip
    assert [recording.explain(loss, source).name for source in every] == names
    net = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 1))
    with bridge.record() as recording:
        loss = net(torch.ones(1, 2)).sum()
        loss.backward()
    assert "is recomputed" in recording.explain(net.weight).message


def test_without_a_target_the_backward_pass_that_failed_is_asked_about():
    w = torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        right = (w > 0).sum().item()
        with torch.no_grad():
            loss = (w * right).sum()
        with pytest.raises(RuntimeError, match="does not require grad"):
            loss.backward()
    assert recording.explain(w).cause == "no_grad"


def test_without_a_backward_pass_the_answer_says_so():
    w, k = torch.ones(2, requires_grad=True), torch.ones(2)
    with bridge.record() as recording:
        loss = (w * k).sum()
    assert [why.cause for why in (*recording.explain([w, k]), recording.explain(loss, w))] == [
        "no_backward",
        "requires_grad",
        "no_backward",
    ]


def test_a_pass_from_a_scaled_loss_answers_for_the_loss():
    w, u, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True), torch.zeros(2)
    with bridge.record() as recording:
        loss, extra = (w * w + u * v).sum(), (w * 3).sum()
        (loss / 4).backward(retain_graph=True)
        (1024 * (loss + extra)).backward()
        loss_of_its_own = (w * 5).sum()
        loss_of_its_own.backward()
    assert [recording.explain(loss, each).cause for each in (w, u)] == ["connected", "zero_factor"]
    assert recording.explain(extra, u).cause == "unused"
    passes = recording.sweeps
    assert [passes.index(recording.find_last_sweep(each)) for each in (loss, extra, loss_of_its_own)] == [1, 1, 2]


def test_of_a_whole_model_too_the_loss_is_the_one_that_was_scaled():
    net = torch.nn.Linear(2, 1)
    with bridge.record() as recording:
        for part in torch.ones(4, 2).split(2):
            loss = net(part).square().mean()
            (loss / 2).backward()
        torch.optim.SGD(net.parameters(), 0.1).step()
    answers = recording.explain(loss, net)
    assert [(name, answer.cause) for name, answer in answers.items()] == [
        ("net.weight", "connected"),
        ("net.bias", "connected"),
    ], answers


@pytest.mark.parametrize(("code", "page"), [("en", "README.md"), ("zh", "README.zh.md")])
def test_the_example_of_the_readme_prints_what_stands_below_it(code, page, repository, tmp_path, monkeypatch):
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], code)
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    readme = (repository / page).read_text(encoding="utf-8")
    ((example, printed),) = re.findall(r"```python\n(import torch\n.*?)```\n+```text\n(.*?)```", readme, re.DOTALL)
    (tmp_path / "train.py").write_text(example)
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, encoding="utf-8", capture_output=True, timeout=600
    )
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr


def test_classes_of_leaves_are_as_they_were():
    kinds = (torch.nn.Parameter, torch.autograd.Variable, torch.nn.Module)
    before = [dict(vars(kind)) for kind in kinds]
    with pytest.raises(ZeroDivisionError), bridge.record():
        assert torch.nn.Parameter(torch.ones(2)).requires_grad
        assert not torch.autograd.Variable(torch.ones(2)).requires_grad
        1 / 0  # noqa: B018 - the exception
    assert [dict(vars(kind)) for kind in kinds] == before
    assert isinstance(torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter)


class Zeros(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return torch.zeros_like(g)


zeros = Zeros.apply


def test_a_function_whose_apply_was_taken_before_the_block():
    w = torch.tensor([0.4, 1.6], requires_grad=True)
    with bridge.record() as recording:
        loss = zeros(torch.sin(w)).sum()
        loss.backward()
    why = recording.explain(loss, w)
    assert (why.cause, why.code) == ("no_gradient", "return torch.zeros_like(g)")
    assert recording.rows[2].op == "Zeros"
    assert "apply" not in vars(torch.autograd.function._SingleLevelFunction)


def test_layers_in_a_plain_list_belong_to_the_model():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.teachers = [torch.nn.Linear(3, 3)], [torch.nn.Linear(3, 3)]
            self.out = torch.nn.Linear(3, 1)

        def forward(self, x):
            return self.out(torch.tanh(self.hidden[0](x)))

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with bridge.record() as recording:
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.ones(4, 3)).sum().backward()
            optimizer.step()
    causes = {name: answer.cause for name, answer in recording.explain(net).items()}
    assert causes.pop("net.hidden[0].weight") == causes.pop("net.hidden[0].bias") == "not_optimized"
    assert causes == {"net.out.weight": "connected", "net.out.bias": "connected"}


def test_a_gradient_that_grad_returned_is_no_grad_of_the_model():
    net = torch.nn.Linear(2, 1, bias=False)
    rate = torch.nn.Parameter(torch.tensor(0.1))
    with bridge.record() as recording:
        (given,) = torch.autograd.grad(net(torch.ones(3, 2)).pow(2).sum(), [net.weight])
        (net.weight.detach() - rate * given).sum().backward()
    assert recording.explain(net)["net.weight"].cause == "create_graph"


def test_numbers_that_have_grown_are_no_matter_of_a_function():
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), 1e13)
    with bridge.record() as recording:
        for _ in range(4):
            loss = net(torch.ones(4, 3)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    answer = recording.explain(net.weight)
    assert answer.cause == "nan_forward"
    assert "smaller learning rate" in answer.fix


def test_nan_of_a_single_element_is_not_blamed_on_a_division_by_zero():
    program = """
w = torch.randn(1, requires_grad=True)
scaled = (w - w.mean()) / (w.std() + 1e-8)
scaled.sum().backward()
"""
    with bridge.record() as recording, pytest.warns(UserWarning, match="degrees of freedom"):
        exec(compile_program(program, "program.py"), namespace := {"torch": torch})
    answer = recording.explain(namespace["w"])
    assert (answer.cause, answer.line) == ("nan_forward", 3)
    assert "correction=1" in answer.fix and "zero for at least one element" not in answer.fix, answer.fix


def test_advice_on_an_operation_does_not_depend_on_the_name_of_the_loss():
    program = """
scores = torch.randn(3, 1, 5, requires_grad=True)
criterion = torch.nn.CTCLoss()
loss = criterion(scores.log_softmax(2), torch.ones(1, 4, dtype=torch.long), torch.tensor([3]), torch.tensor([4]))
loss.backward()
"""
    with bridge.record() as recording:
        exec(compile_program(program, "program.py"), namespace := {"torch": torch})
    answer = recording.explain(namespace["scores"])
    assert (answer.cause, answer.line) == ("nan_forward", 4)
    assert "zero_infinity=True" in answer.fix, answer.fix


STATE_AS_ONE_NAME = """
def read(x, state):
    out, state = rnn(x, state)
    return out, state
rnn, state = torch.nn.LSTM(2, 3), None
for _ in range(2):
    out, state = read(torch.ones(4, 2), state)
    out.sum().backward()
"""
STATE_KEPT_UNTIL_THE_NEXT_STEP = """
rnn, state = torch.nn.LSTM(2, 3), None
for _ in range(3):
    out, new_state = rnn(torch.ones(4, 2), state)
    out.sum().backward()
    state = new_state
"""
STATE_OF_A_MODEL = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.state = torch.nn.LSTM(2, 3), None
    def forward(self, x):
        out, self.state = self.rnn(x, self.state)
        return out
net = Net()
for _ in range(2):
    net(torch.ones(4, 2)).sum().backward()
"""
STATE_AS_TWO_NAMES = """
cell, h, c = torch.nn.LSTMCell(2, 3), torch.zeros(4, 3), torch.zeros(4, 3)
for _ in range(2):
    h, c = cell(torch.ones(4, 2), (h, c))
    h.sum().backward()
"""


@pytest.mark.parametrize(
    ("program", "line", "names", "fix"),
    [
        (STATE_AS_ONE_NAME, 3, ("state",), "state = tuple(s.detach() for s in state)"),
        (STATE_KEPT_UNTIL_THE_NEXT_STEP, 4, ("new_state",), "new_state = tuple(s.detach() for s in new_state)"),
        (STATE_OF_A_MODEL, 7, ("self.state", "net.state"), ".state = tuple(s.detach() for s in "),
        (STATE_AS_TWO_NAMES, 4, ("h", "c"), "state = state.detach()"),
    ],
)
def test_a_state_that_is_a_tuple_is_detached_element_by_element(program, line, names, fix):
    namespace = {"torch": torch}
    with bridge.record() as recording, pytest.raises(RuntimeError, match="second time") as raised:
        exec(compile_program(program, "program.py"), namespace)
    answer = explain_raised_error(recording, raised.value)
    assert (answer.cause, answer.line) == ("backward_twice", line) and fix in answer.fix, answer
    assert answer.message.split(" (")[0] in names, answer


@pytest.mark.parametrize(
    ("before", "loop", "name"),
    [
        (
            "rnn, state = torch.nn.GRU(2, 3), None",
            "out, state = rnn(torch.ones(4, 2), state)\n    out.sum().backward()",
            "state",
        ),
        (
            "net, t = torch.nn.Linear(1, 1), 0.1 + torch.rand(4, 1, requires_grad=True) ** 2",
            "u = net(t).tanh()\n    torch.autograd.grad(u.sum(), t, create_graph=True)[0].sum().backward()",
            "t",
        ),
    ],
)
def test_a_second_backward_names_a_state_and_a_value_made_once(before, loop, name):
    namespace = {"torch": torch}
    with bridge.record() as recording, pytest.raises(RuntimeError, match="second time") as raised:
        exec(compile_program(f"{before}\nfor _ in range(2):\n    {loop}\n", "program.py"), namespace)
    answer = explain_raised_error(recording, raised.value)
    line = 1 if name == "t" else 3
    assert (answer.cause, answer.line) == ("backward_twice", line) and name in answer.message.split(" (")[0], answer


def test_a_product_with_a_parameter_that_nothing_holds_is_not_to_be_detached():
    program = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.randn(4)) * 0.02
        self.out = torch.nn.Linear(4, 1)
    def forward(self, x):
        return self.out(x + self.shift)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    net(torch.ones(3, 4)).pow(2).sum().backward()
    optimizer.step()
"""
    with bridge.record() as recording, pytest.raises(RuntimeError, match="second time") as raised:
        exec(compile_program(program, "program.py"), {"torch": torch})
    answer = explain_raised_error(recording, raised.value)
    assert (answer.cause, answer.line) == ("backward_twice", 5)
    assert "is not a parameter itself" in answer.message and "detach" not in answer.fix, answer


KNOWN_ERRORS = {
    "returned 2 gradients, but forward() received 3 arguments": """
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, name):
        return factor * x
    @staticmethod
    def backward(ctx, gradient):
        return gradient, None  #!
Scaled.apply(torch.ones(2, requires_grad=True), 2.0, "").sum().backward()""",
    "a gradient with the shape [2] for argument 0": """
class Row(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sum(0)
    @staticmethod
    def backward(ctx, gradient):
        return gradient[:2]  #!
Row.apply(torch.ones(4, 3, requires_grad=True)).sum().backward()""",
    "received a single value for each channel": "nn.BatchNorm1d(3)(torch.ones(1, 3))  #!",
    "computed in torch.inference_mode()": """
with torch.inference_mode():
    place = torch.ones(3)
(torch.ones(3, requires_grad=True) * place).sum().backward()  #!""",
    "received no parameters": "torch.optim.SGD(nn.ReLU().parameters())  #!",
    "computed from other tensors": "torch.optim.SGD([2 * torch.ones(3, requires_grad=True)])  #!",
    "a gradient of type Double where it expected Float": """
nn.functional.huber_loss(nn.Linear(2, 1)(torch.ones(3, 2)), torch.ones(3, 1).double()).backward()  #!""",
    "not between 0 and 1": "nn.BCELoss()(torch.tensor([2.0]), torch.ones(1))  #!",
    "A tensor of whole numbers": "torch.tensor([1, 2], requires_grad=True)  #!",
    "to NumPy": "torch.ones(2, requires_grad=True).numpy()  #!",
    "unbind()": """
for row in (2 * torch.ones(3, 2, requires_grad=True)).unbind():
    row += 1  #!""",
    "needs the derivative of": """
scores = torch.rand(5, 1, 3).log_softmax(2).requires_grad_()
y = nn.functional.ctc_loss(scores, torch.ones(1, 2, dtype=torch.long), torch.tensor([5]), torch.tensor([2]))
torch.autograd.grad(y, scores, create_graph=True)[0].sum().backward()  #!""",
}


@pytest.mark.parametrize("sentence", KNOWN_ERRORS)
def test_an_error_is_explained_by_its_message(sentence):
    text = "import torch\nfrom torch import nn\n" + KNOWN_ERRORS[sentence].strip() + "\n"
    with pytest.raises((RuntimeError, ValueError, TypeError)) as caught:
        exec(compile_program(text, "program.py"), {})
    explanation = explain_error_by_message_alone(caught.value)
    lines = text.splitlines()
    assert sentence in explanation.message and "{" not in explanation.message
    assert lines[explanation.line - 1].endswith("#!") and explanation.cause == "refused" and explanation.fix


def test_a_batch_of_one_example_is_explained_with_the_line_of_the_loader():
    text = """import torch
from torch import nn
from torch.utils.data import DataLoader

examples = torch.ones(5, 3)
batches = DataLoader(examples, batch_size=2)
norm = nn.BatchNorm1d(3)
for number, batch in enumerate(batches):
    norm(batch)
"""
    with pytest.raises(ValueError) as caught:
        exec(compile_program(text, "program.py"), {})
    explanation = explain_error_by_message_alone(caught.value)
    assert (explanation.cause, explanation.line) == ("refused", 9)
    assert "drop_last=True) (program.py, line 6)." in explanation.fix


def test_an_error_of_the_program_is_not_explained_by_its_message():
    assert explain_error_by_message_alone(ValueError("the file has no columns")) is None


def test_a_list_that_is_never_cleared_is_named_with_the_line_that_reads_it():
    text = """
import torch
torch.manual_seed(0)
policy = torch.nn.Linear(2, 2)
kept = []
for episode in range(2):
    for step in range(3):
        kept.append(policy(torch.ones(2)).log_softmax(0)[0])
    loss = -torch.stack(kept).sum()
    loss.backward()
"""
    with pytest.raises(RuntimeError) as caught, bridge.record() as recording:
        exec(compile_program(text, "program.py"), {})
    explanation = explain_raised_error(recording, caught.value)
    assert (explanation.cause, explanation.line) == ("backward_twice", 9)
    assert explanation.message.startswith("kept still contains values of an earlier step, such as kept[2]")
    assert "kept.clear()" in explanation.fix


def test_the_line_that_makes_a_tensor_of_what_left_is_a_break_too_and_a_whole_number_that_left_is_none():
    net = torch.nn.Linear(2, 3)

    def episode():
        logs, rewards = [], []
        for _ in range(4):
            row = torch.log_softmax(net(torch.randn(2)), 0)
            action = row.argmax()
            logs.append(row[action].item())
            rewards.append(1.0 if action.item() else 0.5)
        return logs, rewards

    with bridge.record() as recording:
        for _ in range(2):
            logs, rewards = episode()
            given = torch.tensor(rewards)
            loss = -(torch.tensor(logs, requires_grad=True) * given).sum()
            loss.backward()
    answer = recording.explain(net.weight)
    assert answer.code == "logs.append(row[action].item())"
    assert [(other.cause, other.code) for other in answer.others] == [
        ("copied", "loss = -(torch.tensor(logs, requires_grad=True) * given).sum()")
    ]


def test_a_gradient_of_zeros_that_a_rule_gave_is_there():
    w = torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        zeros(w).sum().backward()
    page = recording.explain({"w": w})
    assert (page["w"].cause, page["w"].connected) == ("no_gradient", True)
    assert str(page).startswith("Gradient found for w (1 of 1): norm 0, zeros 100 %.\nno_gradient: ")
    assert page.problems == [page["w"]]


def test_what_the_module_lost_is_told_by_what_is_in_its_place():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with bridge.record() as recording:
        net[1] = torch.nn.Linear(2, 2)
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.ones(4, 2)).sum().backward()
            optimizer.step()
    assert {name: answer.cause for name, answer in recording.explain().items()} == {
        "net.0.weight": "connected",
        "net.0.bias": "connected",
        "net.1.weight": "not_optimized",
        "net.1.bias": "not_optimized",
    }


def test_a_list_of_parameters_is_answered_as_a_model_is():
    net, other = torch.nn.Linear(2, 1, bias=False), torch.nn.Linear(2, 1, bias=False)
    with bridge.record() as recording:
        net(torch.ones(4, 2)).sum().backward()
    answers = recording.explain([net.weight, other.weight])
    assert [answer.cause for answer in answers] == ["connected", "unused"]
    assert str(answers).startswith("No gradient for other.weight (1 of 2).\nunused: ")
    assert str(answers).endswith("\n\nHealthy: net.weight (1 of 2): norm 5.7, zeros 0 %.")


def test_a_warning_of_pytorch_has_the_line_of_the_program(recwarn):
    w = torch.ones(3, requires_grad=True)
    with bridge.record():
        torch.nn.functional.mse_loss(w, torch.ones(3, 1))
    (said,) = [one for one in recwarn if "target size" in str(one.message)]
    assert said.filename == __file__


def test_a_function_that_runs_without_gradients_is_blamed_where_the_block_calls_it():
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, x):
            return torch.tanh(self.layer(x))

    policy, value, kept = Policy(), torch.nn.Linear(4, 1), []
    with bridge.record() as recording:
        for _ in range(2):
            x = torch.randn(2)
            with torch.no_grad():
                action = policy(x)  # the line
            kept.append(torch.cat([x, action]))
        loss = value(torch.stack(kept)).mean()
        loss.backward()
    answer = recording.explain(policy.layer.weight)
    assert answer.cause == "no_grad" and answer.code.startswith("action = policy(x)")


def test_a_place_in_a_slice_is_where_its_values_became_whole():
    place, head, x = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1), torch.rand(5, 8)
    with bridge.record() as recording:
        start = torch.sigmoid(place(x[:, :3])).mul(4).long()[:, 0]
        loss = head(torch.stack([x[i, start[i] : start[i] + 4] for i in range(5)])).mean()
        loss.backward()
    answer = recording.explain(place.weight)
    assert answer.cause == "integer_cast" and answer.code.startswith("start =")


class Half(torch.autograd.Function):
    """A rule that gives zeros for its second input."""

    @staticmethod
    def forward(ctx, x, scale):
        return x * scale

    @staticmethod
    def backward(ctx, g):
        return g, (g * 0.0).sum().reshape(1)


def test_zeros_of_a_rule_are_its_own_also_where_relu_gave_zeros_beside():
    w, scale = torch.nn.Parameter(torch.randn(3, 3)), torch.nn.Parameter(torch.tensor([0.5]))
    x = torch.relu(torch.tensor([[1.0, -1.0, 2.0]]))
    with bridge.record() as recording:
        loss = torch.nn.functional.linear(x, Half.apply(w, scale)).pow(2).sum()
        loss.backward()
    answer = recording.explain(scale)
    assert answer.cause == "no_gradient" and answer.code.startswith("return g, (g * 0.0)")


def test_gradients_of_an_inner_step_end_no_step():
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with bridge.record(first=3) as recording:
        for _ in range(5):
            total = 0.0
            for _ in range(4):
                x = torch.randn(3, 2)
                (g,) = torch.autograd.grad((x @ net.weight.T).pow(2).mean(), [net.weight], create_graph=True)
                total = total + (x @ torch.nn.Parameter(net.weight - 0.1 * g).T).pow(2).mean()
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
    answer = recording.explain(net.weight)
    assert answer.cause == "copied" and "nn.Parameter(net.weight" in answer.code


@pytest.mark.parametrize("again", [torch.as_tensor, lambda value: torch.stack([torch.as_tensor(value)])])
def test_a_tensor_of_a_tensor_is_that_tensor(again):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with bridge.record() as recording:
        taken = (w * w).sum().item()
        loss = again(taken) * torch.ones(1, requires_grad=True)
        loss.sum().backward()
    answer = recording.explain(loss, w)
    assert answer.cause == "left_torch" and not answer.others and "not enough" not in answer.fix


def test_a_target_that_is_made_of_a_number_has_left():
    net, x = torch.nn.Linear(2, 1), torch.ones(3, 2)
    with bridge.record() as recording:
        value = net(x).pow(2).mean()
        loss = torch.tensor(value.item())
    answer = recording.explain(loss, net.weight)
    assert answer.cause == "left_torch" and answer.code == "loss = torch.tensor(value.item())"


def test_only_a_gradient_that_a_normalization_cancels_is_meant_beside_parameters_that_learn():
    class Pair(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.masked = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return (self.used * x).sum() + (self.masked * torch.zeros(2)).sum()

    model = Pair()
    with bridge.record() as recording:
        model(torch.ones(2)).backward()
    page = recording.explain(model)
    assert [(why.cause, why.intended) for why in page.values()] == [("connected", False), ("zero_factor", False)]


@pytest.mark.parametrize("depth", [4, 40])
def test_a_layer_is_listed_as_often_however_many_other_layers_were_not_called(depth, monkeypatch):
    model = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(depth)])
    with bridge.record() as recording:
        hidden = torch.ones(1, 2)
        for layer in model[::2]:
            hidden = layer(hidden)
        hidden.sum().backward()
    list_parameters, listed = torch.nn.Module.named_parameters, []

    def count_and_list_parameters(module, *args, **kwargs):
        listed.append(module)
        return list_parameters(module, *args, **kwargs)

    monkeypatch.setattr(torch.nn.Module, "named_parameters", count_and_list_parameters)
    causes = [answer.cause for answer in recording.explain(model).values()]
    assert causes.count("unused") == depth, causes
    assert listed.count(model[0]) <= 2, listed.count(model[0])


class DetachedEncoder(torch.nn.Module):
    """A model whose head trains, and whose encoder gets no gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(x).detach())


@pytest.mark.parametrize(
    ("name_sources", "layers"),
    [
        (lambda model: "encoder", ["encoder"]),
        (lambda model: "head", ["head"]),
        (lambda model: model.encoder, ["encoder"]),
        (lambda model: model.parameters(), ["encoder", "head"]),
        (lambda model: dict(model.named_parameters()), ["encoder", "head"]),
        (lambda model: model, ["encoder", "head"]),
    ],
    ids=["name", "healthy layer's name", "layer", "parameters()", "dictionary", "model"],
)
def test_a_layer_by_name_and_the_parameters_of_a_model_can_be_asked_about(name_sources, layers):
    model = DetachedEncoder()
    with bridge.record() as recording:
        model(torch.ones(4, 2)).sum().backward()
    page = recording.explain(name_sources(model))
    asked = [parameter for layer in layers for parameter in getattr(model, layer).parameters()]
    found = [answer.cause == "detach" for answer in page.values()]
    assert found == [parameter.grad is None for parameter in asked], page


def test_a_page_lists_the_layers_without_a_gradient_before_the_healthy_ones_also_if_they_are_frozen_on_purpose():
    net = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(3)])
    net[1].requires_grad_(False)
    with bridge.record() as recording:
        net[2](net[1](net[0](torch.ones(4, 2))).detach()).sum().backward()
    page = recording.explain(net)
    lines = [line for line in str(page).splitlines() if re.match("No gradient|Frozen|Healthy", line)]
    healthy = [[parameter.grad is not None for parameter in layer.parameters()] for layer in net]
    assert healthy == [[False] * 2, [False] * 2, [True] * 2]
    named = [re.search(r"net\.(\d)", line)[1] for line in lines]
    assert named == ["0", "1", "2"], page


def test_a_name_that_no_parameter_has_is_refused_with_the_names_that_there_are():
    model = DetachedEncoder()
    with bridge.record() as recording:
        model(torch.ones(4, 2)).sum().backward()
    with pytest.raises(ValueError, match=r"no parameter with that name.*encoder\.weight.*head\.bias"):
        recording.explain("decoder")


def test_a_softmax_that_runs_on_the_line_of_the_loss_is_named_by_its_layer():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Softmax(dim=1))
    with bridge.record() as recording:
        torch.nn.functional.cross_entropy(model(torch.ones(4, 2)), torch.tensor([0, 1, 2, 0])).backward()
    why = recording.explain(model[0].weight)
    assert why.cause == "activation_twice" and "the result of a softmax (model.1, " in why.message, why


def test_a_layer_without_batch_first_is_named_where_the_program_creates_it_and_not_where_an_encoder_copies_it():
    program = """
layer = torch.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
def pool(x):
    return model(x).mean(dim=1)
"""
    names = {"torch": torch}
    with bridge.record() as recording:
        exec(compile_program(program, "model.py"), names)
        names["pool"](torch.randn(6, 5, 4)).pow(2).mean().backward()
    why = recording.explain(names["model"]).problems[0]
    assert (why.cause, why.line) == ("wrong_axis", 5) and "(model.py, line 2) was created" in why.message, why


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("all_targets_are_ignored", "all of them are ignore_index"),
        ("a_cell_that_remembers_nothing", "Pass it the state that the previous call returned"),
        ("adapted_weights_are_loaded", "call torch.func.functional_call(module, state, inputs)"),
    ],
)
def test_the_advice_fits_the_operation(name, advice):
    cause, text = TORCH.cases[name]
    _, _, why = TORCH.record_and_explain_program(strip_fix_comments(text), f"<{name}>")
    assert why.cause == cause and advice in why.fix, why
