"""The map of a model: the norms, updates and problems of its parameters in each recorded step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minitape.bridges import Recording
from minitape_widgets import map_model
from minitape_widgets.model_map import measure_change, split_path

torch = pytest.importorskip("torch")


class Net(torch.nn.Module):
    """Two linear layers with a detach between them."""

    def __init__(self, size: int = 4) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(size, size), torch.nn.Linear(size, 1)

    def forward(self, x: Any) -> Any:
        """Return the outputs of a batch."""
        return self.second(torch.tanh(self.first(x)).detach())


def train(net: Any, step_count: int) -> tuple[Any, list[dict[str, float]], list[dict[str, float]]]:
    """Train a network, and return the recording, and for each step the gradients' norms and the updates by name."""
    from minitape.bridges.torch import record

    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    norms, updates = [], []
    with record(first=step_count) as recording:
        for _ in range(step_count):
            optimizer.zero_grad()
            net(torch.ones(2, net.first.in_features)).square().sum().backward()
            before = {name: parameter.detach().clone() for name, parameter in net.named_parameters()}
            norms.append({name: float(p.grad.norm()) for name, p in net.named_parameters() if p.grad is not None})
            optimizer.step()
            updates.append(
                {
                    name: float((p.detach() - before[name]).norm() / before[name].norm())
                    for name, p in net.named_parameters()
                }
            )
    return recording, norms, updates


def test_each_step_has_the_norm_the_update_and_the_cause_of_each_parameter(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = Net()
    recording, norms, updates = train(net, 3)
    found = map_model(recording, net)
    assert repr(found) == "ModelMap(4 parameters with 25 elements, 3 steps)"
    assert [parameter["path"][-2:] for parameter in found.parameters] == [
        ["first", "weight"],
        ["first", "bias"],
        ["second", "weight"],
        ["second", "bias"],
    ]
    for parameter in found.parameters:
        name = ".".join(parameter["path"][-2:])
        if name.startswith("first"):
            assert parameter["norms"] == ["none"] * 3
            assert [found.explanations[cause]["cause"] for cause in parameter["causes"]] == ["detach"] * 3
            continue
        assert parameter["causes"] == [-1] * 3
        for step in range(3):
            assert parameter["norms"][step] == pytest.approx(norms[step][name], rel=5e-3)
            assert parameter["updates"][step] == pytest.approx(updates[step][name], rel=5e-3)
    (problem,) = found.explanations
    assert problem["place"].startswith("test_model_map.py:")
    found.save(tmp_path / "map.html")
    assert (tmp_path / "map.html").read_text(encoding="utf-8").count("<script") == 3
    with pytest.raises(ValueError, match=r"Use a name that ends in \.html"):
        found.save(tmp_path / "map.png")
    both = map_model([recording, recording], net)
    assert [len(parameter["norms"]) for parameter in both.parameters] == [6] * 4


def list_rows_of_map(step_count: int) -> list[list[Any]]:
    """Return the operations that the map of a small network lists after some steps."""
    from minitape.bridges.torch import record
    from minitape_widgets.model_map import list_module_rows

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with record(first=step_count) as recording:
        for _ in range(step_count):
            optimizer.zero_grad()
            net(torch.ones(2, 4)).square().sum().backward()
            optimizer.step()
    return sorted(row for rows in list_module_rows(recording).values() for row in rows)


def test_the_rows_of_a_map_are_those_of_the_last_step_with_their_gradients() -> None:
    of_one, of_three = list_rows_of_map(1), list_rows_of_map(3)
    assert [row[1] for row in of_three] == [row[1] for row in of_one], "the operations of one step"
    assert of_three[0][0] > of_one[-1][0], "and of the last one"
    assert all(isinstance(row[-1], float) for row in of_three), of_three


def test_a_large_model_keeps_the_norm_of_each_gradient_and_gives_a_small_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients beyond the memory budget have no elements, but their norms are those of PyTorch."""
    from minitape.bridges import kept_values

    monkeypatch.setattr(kept_values, "BYTE_LIMIT", 100_000)
    torch.manual_seed(0)
    net = torch.nn.Sequential(*(torch.nn.Linear(120, 120) for _ in range(6)))
    net.first = net[0]
    recording, (norms,), _ = train(net, 1)
    found = map_model(recording, net)
    arrays = [adjoint.to_array() for adjoint in recording.sweeps[-1].adjoints.values() if adjoint is not None]
    assert any(array is None for array in arrays)
    for parameter in found.parameters:
        assert parameter["norms"] == [pytest.approx(norms[".".join(parameter["path"][1:])], rel=5e-3)]
    assert len(found.build_page()) < 100_000


def test_what_has_no_map_is_refused() -> None:
    with pytest.raises(TypeError, match="needs the recording of a PyTorch, TensorFlow or JAX program"):
        map_model(Recording("by hand"))
    recording, *_ = train(Net(), 1)
    with pytest.raises(TypeError, match="Leave the model out"):
        map_model(recording, 3)


def test_the_program_of_the_page_writes_a_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "model_map.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    exec(program, {})
    assert '"steps": 10' in (tmp_path / "map.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("net.first.weight", ["net", "first", "weight"]),
        ("net.layers[0].kernel", ["net", "layers", "0", "kernel"]),
        ("params['a.b'][\"w\"]", ["params", "a.b", "w"]),
    ],
)
def test_names_become_paths(name: str, path: list[str]) -> None:
    assert split_path(name) == path


def test_the_update_of_zeros_has_no_ratio_but_is_known() -> None:
    zeros, ones = np.zeros(3), np.ones(3)
    assert measure_change(zeros, 0.01 * ones) == "from 0"
    assert measure_change(zeros, zeros) == 0
    assert measure_change(ones, 1.5 * ones) == pytest.approx(0.5)
    assert measure_change(None, ones) is None
