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
    assert [why.connected for why in recording.explain(level, [w])] == [False]
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
    assert why.message.endswith("cuts the way from decoder.weight to the target.")


def test_a_further_break_is_said_too():
    w = torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        loss = (w.detach() * 2).data.sum()
    why = recording.explain(loss, w)
    assert why.cause == "detach" and [other.cause for other in why.others] == ["data"]


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
