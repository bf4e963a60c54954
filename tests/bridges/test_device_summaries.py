"""A recording summarizes large tensors on their device, and copies all summaries to the host together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from minitape.picture.shown_values import to_value_fields

torch = pytest.importorskip("torch")

HOST_METHODS = ("cpu", "numpy", "tolist", "item", "__array__", "to")


@contextmanager
def count_host_copies() -> Iterator[list[tuple[str, int]]]:
    """Yield the list of (method, element count) of each conversion of a tensor that may read a device."""
    found: list[tuple[str, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in HOST_METHODS:
            original = getattr(torch.Tensor, name)

            def count(tensor: Any, *args: Any, _name: str = name, _original: Any = original, **kwargs: Any) -> Any:
                if _name != "to" or "cpu" in map(str, args):
                    found.append((_name, tensor.numel()))
                return _original(tensor, *args, **kwargs)

            patch.setattr(torch.Tensor, name, count)
        yield found


@pytest.mark.parametrize("is_on_host", [True, False])
def test_a_step_copies_once(monkeypatch: pytest.MonkeyPatch, is_on_host: bool) -> None:
    """Many large tensors are released within the block, and one copy at its end has all summaries."""
    from minitape.bridges import kept_values
    from minitape.bridges.torch import kept_tensors, record

    monkeypatch.setattr(kept_values, "BYTE_LIMIT", 100_000)
    if not is_on_host:  # No second device exists here, so the CPU is treated as if it were one.
        monkeypatch.setattr(kept_tensors, "HOST_DEVICES", set())
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(100, 90), torch.nn.Tanh(), torch.nn.Linear(90, 80))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.randn(64, 100)
    with count_host_copies() as copies, record() as recording:
        hidden = model[1](model[0](x))
        loss = (model[2](hidden) * float("inf")).sum() + hidden.sum()
        loss.backward()
        optimizer.step()
        assert copies == []
        released = [row.value for row in recording.rows if row.value.content is None]
        assert len(released) > 3 and all(value.device_summary is not None for value in released)
    assert [name for name, _ in copies] == ["cpu", "numpy"]
    rows = [row for row in recording.rows if row.op in ("mul", "tanh")]
    assert [row.value.compute_zero_and_finite_flags() for row in rows] == [(False, True), (False, False)]
    if not is_on_host:
        large_rows = [row for row in recording.rows if np.prod(row.shape) > kept_values.SMALL_SIZE]
        with count_host_copies() as copies:
            assert all(row.value.shown()["thumb"] for row in large_rows)
        assert copies == [], "pictures need no further copy"


ARRAYS = {
    "float32": torch.linspace(-3, 2, 5600).reshape(70, 80),
    "transposed": torch.linspace(-3, 2, 19_200).reshape(8, 6, 20, 20).transpose(1, 2),
    "integers": torch.arange(5000) - 7,
    "float16": torch.linspace(-1, 1, 5000).half(),
    "bfloat16": torch.linspace(-1, 1, 5000).bfloat16(),
    "float64": torch.linspace(0, 1e-300, 5000, dtype=torch.float64),
    "zeros": torch.zeros(90, 90),
    "not finite": torch.cat([torch.linspace(-1, 1, 5000), torch.tensor([torch.inf, torch.nan])]),
    "all NaN": torch.full((5000,), torch.nan),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_summary_from_a_device_agrees_with_numpy(name: str) -> None:
    """The thumbnail, the extremes and the facts are equal."""
    from minitape.bridges.torch.device_summaries import fetch_summaries_from_devices
    from minitape.bridges.torch.kept_tensors import TorchValue

    tensor = ARRAYS[name]
    array = np.asarray(tensor.float() if tensor.dtype is torch.bfloat16 else tensor)
    released, kept = TorchValue(tensor), TorchValue(tensor)
    others = [TorchValue(tensor.double()), TorchValue(torch.ones(5000))]  # One copy converts all to the widest type.
    for value in (released, *others):
        value.reduce_to_summary()
    fetch_summaries_from_devices([released, *others])
    assert released.compute_zero_and_finite_flags() == kept.compute_zero_and_finite_flags()
    for part in ("thumb", "cell"):
        assert released.shown()[part] == to_value_fields(array)[part]
    low, high = (float(released.shown()["stats"][part]) for part in ("min", "max"))
    assert [low, high] == pytest.approx([array.min(), array.max()], nan_ok=True)
