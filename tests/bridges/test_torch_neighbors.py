"""Answers about small PyTorch programs of which some differ in a single line."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'minitape[torch]'")

from minitape.bridges import torch as bridge  # noqa: E402
from minitape.bridges.torch import suspects  # noqa: E402
from minitape.bridges.torch.adapter import TorchAdapter  # noqa: E402

from .cases import compile_program  # noqa: E402

HOOKED = "def cut(g):\n    if True:\n        return g * 0\n    g.zero_()\ndef other(g):\n    return g\nh = w * 2\n"
BACKWARD = "loss = h.sum()\nloss.backward()\n"
REPLACED = "loss = model(torch.ones(1, 2)).sum()\nloss.backward()\nw = old\n"
PROGRAMS = {  # The text, the cause, the line, and the cause and line of each further break, with whether it is beside.
    "two numbers on one path": ("a = w.sum().item()\nb = (w * 2).sum().item()\nloss = torch.tensor([a * b]).sum()\n",
                                "left_torch", 1, [("copied", 3, False), ("left_torch", 2, True)]),
    "two numbers on one line": ("a = w.sum().item() + w.prod().item()\nloss = (torch.ones(2) * a).sum()\n",
                                "left_torch", 1, []),
    "a number on the line of the new tensor": ("loss = torch.tensor([w.sum().item()]).sum()\n", "left_torch", 1, []),
    "a number and a branch": ("a = w.sum().item()\nif (w > 0).all():\n    b = 2.0\nloss = torch.ones(2).sum() * a\n",
                              "left_torch", 1, []),
    "a number and a branch on a number": ("a = w.sum().item()\nif w.sum():\n    pass\nloss = torch.ones(2).sum() * a\n",
                                          "left_torch", 1, []),
    "a branch as a number": ("flag = bool(w.sum() > 0)\nh = torch.tensor([float(flag)])\nloss = h.sum()\n",
                             "branch", 1, []),
    "a sample of Poisson": ("h = torch.poisson(w.exp())\n" + BACKWARD, "zero_derivative", 1, []),
    "a sample of Bernoulli": ("h = torch.bernoulli(w)\n" + BACKWARD, "zero_derivative", 1, []),
    "a hook": (HOOKED + "h.register_hook(cut)\n" + BACKWARD, "hook", 3, []),
    "two hooks": (HOOKED + "h.register_hook(other)\nh.register_hook(cut)\n" + BACKWARD, "hook", 7, []),
    "a hook without a return statement": ("h = w * 2\nh.register_hook(lambda g: g * 0)\n" + BACKWARD, "hook", 2, []),
    "a gradient that is returned to nobody": ("loss = (w * w).sum()\ntorch.autograd.grad(loss, w)\n",
                                              "grad_returned", 2, []),
    "a gradient that is returned": ("loss = (w * w).sum()\ng = torch.autograd.grad(loss, w)\n", "connected", None, []),
    "a gradient that is returned beside another": (
        "h = w * w\n" + BACKWARD + "loss = (w * 3).sum()\ntorch.autograd.grad(loss, w)\n", "connected", None, []),
    "a gradient that is cleared": ("h = w * w\n" + BACKWARD + "w.grad = None\n", "grad_cleared", 4, []),
    "a gradient that is filled with zeros": ("h = w * w\n" + BACKWARD + "w.grad.zero_()\n", "grad_cleared", 4, []),
    "a gradient that is cleared before the pass": ("w.grad = None\nh = w * w\n" + BACKWARD, "connected", None, []),
    "no backward pass": ("loss = (w * w).sum()\n", "no_backward", None, []),
    "a result": ("h = w * 2\n" + BACKWARD + "w = h\n", "non_leaf", 1, []),
    "a result that retains its gradient": ("h = w * 2\nh.retain_grad()\n" + BACKWARD + "w = h\n",
                                           "connected", None, []),
    "a parameter that is replaced": ("old = model.weight\nmodel.weight = nn.Parameter(torch.ones(1, 2))\n" + REPLACED,
                                     "rebound", 2, []),
    "a layer that is replaced": ("old = layers[0].weight\nlayers[0] = nn.Linear(2, 1)\n"
                                 + REPLACED.replace("model", "layers"), "rebound", 2, []),
    "a parameter that is set again": ("old = model.weight\nmodel.weight = old\nh = model.bias\nw = old\n" + BACKWARD,
                                      "unused", None, []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "cause", "line", "others"), PROGRAMS.values(), ids=PROGRAMS)
def test_the_answer_about_a_small_program(text, cause, line, others):
    nn = torch.nn
    w = torch.tensor([0.3, 0.4], requires_grad=True)
    space = {"torch": torch, "nn": nn, "w": w, "model": nn.Linear(2, 1), "layers": nn.Sequential(nn.Linear(2, 1))}
    with bridge.record() as recording:
        exec(compile_program(text, f"<{text}>"), space)
    why = recording.explain(space["loss"], space["w"])
    assert (why.cause, why.line) == (cause, line), str(why)
    assert [(other.cause, other.line, other.beside) for other in why.others] == others


def test_a_plain_tensor_counts_as_trained_only_if_an_optimizer_holds_it():
    weight, data = (torch.ones(2, requires_grad=True) for _ in range(2))
    parameter = torch.nn.Parameter(torch.ones(2))
    with bridge.record() as recording:
        optimizer = torch.optim.SGD([weight], 0.1)
        (weight * data * parameter).sum().backward()
        optimizer.step()
    run = suspects.build_checked_run(recording)
    assert run.sources_with_gradient == {id(weight): weight, id(parameter): parameter}
    assert set(run.trained_keys) == {id(weight)}


def test_a_leaf_that_no_longer_exists_is_no_source():
    with bridge.record() as recording:
        (torch.nn.Parameter(torch.ones(2)) * 2).sum().backward()
    assert suspects.build_checked_run(recording).sources_with_gradient == {}


@pytest.mark.parametrize("change", ["w.data = torch.zeros(2)", "w.data.zero_()", "w.data[0] = 9.0"])
def test_a_recording_shows_the_values_before_a_change_through_data(change):
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    with bridge.record() as recording:
        (w * w).sum().backward()
        exec(change, {"w": w, "torch": torch})
    assert recording.rows[0].array.tolist() == [3.0, 4.0]


def test_the_line_that_created_a_tensor_is_known_only_within_the_block():
    before = torch.ones(2)
    with bridge.record() as recording:
        inside = torch.zeros(2)
        (before + inside).sum()
    adapter = TorchAdapter(recording)
    ((file, _),) = adapter.find_creation(inside).call_stack
    assert file == __file__ and adapter.find_creation(before).call_stack == []


@pytest.mark.parametrize(("is_stepped", "variants"), [([True, False], [""]), ([True, True], [])])
def test_a_parameter_that_a_module_registers_is_not_called_unregistered(is_stepped, variants):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False))
    with bridge.record() as recording:
        held = [layer.weight for layer, steps in zip(model, is_stepped, strict=True) if steps]
        optimizer = torch.optim.SGD(held, 0.01)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(4, 2)).square().mean().backward()
            optimizer.step()
    found = suspects.check_fate_of_gradients_after_backward(suspects.build_checked_run(recording))
    assert [it.variant for it in found if it.cause == "not_optimized"] == variants
