"""``recording.explain`` for PyTorch: the cause and the line of each program, and that what it advises works."""

import re

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'minitape[torch]'")

from minitape.bridges import torch as bridge  # noqa: E402 - behind the check for PyTorch
from minitape.bridges.torch_texts import TEXT  # noqa: E402

from .cases import blamed, broken, compiled, mended, programs  # noqa: E402
from .torch_cases import CASES  # noqa: E402

# what PyTorch itself says against these programs
pytestmark = pytest.mark.filterwarnings("ignore:To copy construct", "ignore:The .grad attribute", "ignore:Converting a tensor", "ignore:.*non-leaf Tensor")
PROGRAMS = programs(CASES)
FAILS = {"requires_grad", "detach", "data", "no_grad", "inference_mode", "copied", "integer_cast", "no_derivative", "in_place",
         "backward_twice", "not_scalar"}  # fmt: skip


def run(text: str, name: str) -> dict:
    torch.manual_seed(3)
    space = {"torch": torch, "nn": torch.nn, "__name__": "program"}
    exec(compiled(text, name), space)
    return space


@pytest.mark.parametrize("name", PROGRAMS)
def test_cause_and_line(name):
    cause, text = PROGRAMS[name]
    space = {"torch": torch, "nn": torch.nn, "__name__": "program"}
    torch.manual_seed(3)
    code = compiled(broken(text), f"<{name}>")
    with bridge.record() as recording:
        try:
            exec(code, space)
            failed = False
        except RuntimeError:
            failed = True
    assert recording.failure is None
    assert not failed or cause in FAILS
    why = recording.explain(space["loss"], space["w"])
    assert (why.cause, [why.line] if why.line else []) == (cause, blamed(text)), str(why)
    assert why.filename == (f"<{name}>" if blamed(text) else None)
    assert not why.connected and why.message and why.fix
    assert "{" not in why.message + why.fix and str(why) and why._repr_html_()


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_mends_it(name):
    w = run(mended(PROGRAMS[name][1]), f"<{name} mended>")["w"]
    assert w.grad is not None and torch.isfinite(w.grad).all() and w.grad.any()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_mended_program_is_connected(name):
    text = mended(PROGRAMS[name][1])
    with bridge.record() as recording:
        space = run(text, f"<{name} mended>")
    why = recording.explain(space["loss"], space["w"])
    assert why.connected, str(why)


def test_every_cause_has_words():
    assert {cause for cause, _ in PROGRAMS.values()} >= {key.partition(" ")[0] for key in TEXT} - {
        "connected", "not_tensor", "zero_sum", "zero_seed", "grad_returned"
    }  # fmt: skip


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


def test_the_example_of_the_readme(repository):
    from minitape_widgets import TapeView

    readme = (repository / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(from minitape.bridges.*?)```", readme, re.DOTALL)
    model = torch.nn.Sequential()
    model.add_module("decoder", torch.nn.Linear(2, 1))
    space = {"TapeView": TapeView, "model": model, "x": torch.ones(3, 2), "torch": torch}
    exec(compiled(example, "<readme>"), space)
    why = space["recording"].explain(space["loss"], model.decoder.weight)
    assert why.connected and model.decoder.weight.grad is not None
