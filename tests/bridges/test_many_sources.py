"""A page about many parameters searches the recording once, not once for each parameter."""

from __future__ import annotations

import sys
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from minitape.bridges import torch as bridge  # noqa: E402
from minitape.explain.reasons import question  # noqa: E402


def count_searches(monkeypatch: pytest.MonkeyPatch, layer_count: int) -> dict[str, int]:
    """Return how often a page about ``layer_count`` layers without a gradient searches the whole recording."""
    counts = dict.fromkeys(("find_rows_and_ancestors", "find_cheapest_steps_to_target"), 0)

    def count(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    torch.manual_seed(0)
    net = torch.nn.Sequential(*[torch.nn.Linear(3, 3) for _ in range(layer_count)])
    with bridge.record() as recording:
        (net(torch.ones(2, 3)) * torch.zeros(3)).sum().backward()
    with monkeypatch.context():
        count(question.Question, "find_rows_and_ancestors")
        count(question, "find_cheapest_steps_to_target")
        page = recording.explain(net)
    assert {answer.cause for answer in page.values()} == {"zero_factor"} and len(page) == 2 * layer_count
    return counts


def test_the_number_of_searches_does_not_depend_on_the_number_of_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    few = count_searches(monkeypatch, 2)
    monkeypatch.undo()
    assert count_searches(monkeypatch, 12) == few and few["find_cheapest_steps_to_target"] == 1


class Block(torch.nn.Module):
    """A layer whose output is added to its input, after two factors."""

    def __init__(self, gain: float, gate: float) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.gain, self.gate = gain, torch.nn.Parameter(torch.tensor(gate))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gain * x + self.gate * torch.tanh(self.layer(x))


def count_calls(block_count: int, gain: float, gate: float, is_cut: bool) -> int:
    """Return how many of minitape's functions are called to explain and to draw a model of some blocks.

    If the model is cut, a detach in its middle leaves half of the blocks without a gradient, and each block subtracts
    a detached maximum, which is meant.
    """
    torch.manual_seed(0)
    net = torch.nn.Sequential(*[Block(gain, gate) for _ in range(block_count)])
    with bridge.record() as recording:
        hidden = torch.ones(2, 3)
        for index, block in enumerate(net):
            hidden = block(hidden)
            if is_cut:
                hidden = hidden - hidden.max().detach()
            if is_cut and index == block_count // 2:
                hidden = hidden.detach()
        hidden.square().mean().backward()
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call" and "minitape" in frame.f_code.co_filename

    sys.setprofile(count)
    try:
        page = recording.explain(net)
        str(page)
        recording.snapshot()
    finally:
        sys.setprofile(None)
    detached = [answer for answer in page.values() if answer.cause == "detach"]
    assert len(detached) == (3 * (block_count // 2 + 1) if is_cut else 0)
    assert not any(answer.others for answer in detached)
    return calls


@pytest.mark.parametrize(
    ("gain", "gate", "is_cut"),
    [(1.0, 0.1, False), (0.3, 0.1, False), (2.7, 0.1, False), (1e10, 0.1, False), (1.0, 0.0, False), (1.0, 0.1, True)],
    ids=["healthy", "vanishing", "exploding", "infinite", "zero", "cut"],
)
def test_the_calls_per_parameter_do_not_depend_on_the_number_of_parameters(
    gain: float, gate: float, is_cut: bool
) -> None:
    # The first answer also parses the program.
    _, few, some, many = (count_calls(block_count, gain, gate, is_cut) for block_count in (4, 10, 20, 40))
    # If the calls grew with the square of the number of blocks, there would be four times as many further calls.
    assert many - some < 2.2 * (some - few)
