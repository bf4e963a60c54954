"""A page about many parameters searches the recording once, not once for each parameter."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from minitape.bridges import torch as bridge  # noqa: E402
from minitape.explain.reasons import question  # noqa: E402


def count_searches(monkeypatch: pytest.MonkeyPatch, layer_count: int) -> dict[str, int]:
    """Return how often a page about ``layer_count`` layers without a gradient searches the whole recording."""
    counts = dict.fromkeys(("find_ancestors", "find_cheapest_steps_to_target"), 0)

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
        count(question.Question, "find_ancestors")
        count(question, "find_cheapest_steps_to_target")
        page = recording.explain(net)
    assert {answer.cause for answer in page.values()} == {"zero_factor"} and len(page) == 2 * layer_count
    return counts


def test_the_number_of_searches_does_not_depend_on_the_number_of_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    few = count_searches(monkeypatch, 2)
    monkeypatch.undo()
    assert count_searches(monkeypatch, 12) == few and few["find_cheapest_steps_to_target"] == 1
