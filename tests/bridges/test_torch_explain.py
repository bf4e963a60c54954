"""``recording.explain`` for PyTorch: what is asked of it alone; ``test_explain`` has the rest."""

import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'minitape[torch]'")

from minitape.bridges import torch as bridge  # noqa: E402 - behind the check for PyTorch


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
    assert recording.explain(number, w).cause == "left_torch"
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
    assert why.message.endswith("cuts the way from model.decoder.weight to the target.")


def test_a_further_break_is_said_too():
    w = torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        loss = (w.detach() * 2).data.sum()
    why = recording.explain(loss, w)
    assert why.cause == "detach" and [other.cause for other in why.others] == ["data"]


def test_a_step_that_remains_when_the_first_break_is_mended_is_said():
    w = torch.tensor([0.4, 1.6], requires_grad=True)
    with bridge.record() as recording:
        steps = torch.round(w * 3)
        loss = (steps.detach() * 2).sum()
    why = recording.explain(loss, w)
    assert why.cause == "detach" and [other.cause for other in why.others] == ["zero_derivative"]
    assert "That alone is not enough: round" in why.fix and why.patch is None


def test_what_was_computed_before_the_block_is_blamed_where_it_was_made(tmp_path, monkeypatch):
    program = tmp_path / "before.py"
    program.write_text(
        "import torch\nfrom minitape.bridges import torch as bridge\n\n"
        "W = torch.ones(3, requires_grad=True) * 0.01\nwith bridge.record() as recording:\n"
        "    loss = (W * 2).sum()\n    loss.backward()\nwhy = recording.explain(W)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import before

    assert (before.why.cause, before.why.kind, before.why.line) == ("non_leaf", "not_tracked", 4)


def test_a_patch_that_leaves_nothing_to_do_deletes_the_line():
    w = torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        h = w * 2
        h = h.detach()
        loss = h.sum()
    assert re.search(r"Delete line \d+\.$", recording.explain(loss, w).fix)


def test_the_example_of_the_readme_prints_what_stands_below_it(repository, tmp_path):
    readme = (repository / "README.md").read_text(encoding="utf-8")
    (example, printed), = re.findall(r"```python\n(import torch\n.*?)```\n+```text\n(.*?)```", readme, re.DOTALL)
    (tmp_path / "train.py").write_text(example)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, text=True, capture_output=True, timeout=120)
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
    assert recording.entries[2].op == "Zeros"
    assert "apply" not in vars(torch.autograd.function._SingleLevelFunction)
