"""Memory that a recording has released is free at once, and goes back to the operating system when the block ends."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from minitape.bridges import kept_values
from minitape.bridges.kept_values import KeptValue, MemoryBudget, trim_process_memory

from .frameworks import FRAMEWORKS, Framework


def test_memory_is_returned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of malloc_trim takes as long as many operations, so releasing arrays does not call it."""
    calls: list[int] = []
    monkeypatch.setattr(kept_values, "_released_bytes", [0])
    monkeypatch.setattr(kept_values.ctypes, "pythonapi", SimpleNamespace(malloc_trim=calls.append))
    trim_process_memory()
    assert calls == []
    budget = MemoryBudget(byte_limit=100)
    for number in range(20):
        budget.add_value_and_enforce_limit(KeptValue(np.full(5000, number, np.int8)), 5000, 50)
    assert calls == []
    trim_process_memory()
    trim_process_memory()
    assert calls == [0]
    monkeypatch.setattr(kept_values, "MAX_UNTRIMMED_BYTES", 500)  # A long block does not wait for its end.
    for number in range(20):
        budget.add_value_and_enforce_limit(KeptValue(np.full(5000, number, np.int8)), 5000, 50)
    assert 1 < len(calls) < 5


def record_torch(torch: Any, bridge: Any) -> Any:
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    with bridge.record() as recording:
        (weight * weight).sum().backward()
        optimizer.step()
    return recording


def record_tensorflow(tensorflow: Any, bridge: Any) -> Any:
    weight = tensorflow.Variable([1.0, 2.0])
    with bridge.record() as recording, tensorflow.GradientTape() as tape:
        loss = tensorflow.reduce_sum(weight * weight)
        tape.gradient(loss, weight)
    return recording


def record_jax(jax: Any, bridge: Any) -> Any:
    return bridge.record(lambda weight: (weight * weight).sum(), jax.numpy.ones(3))


RECORD = {"torch": record_torch, "tensorflow": record_tensorflow, "jax": record_jax}


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_a_recording_that_nobody_holds_is_freed_at_once(framework: Framework) -> None:
    """In a loop, each recording would otherwise hold its arrays until the garbage collector runs."""
    record, module, bridge = RECORD[framework.name], framework.module, framework.bridge
    record(module, bridge)  # The first recording fills caches of the framework and of the bridge.
    gc.collect()
    gc.disable()
    try:
        freed_recording = weakref.ref(record(module, bridge))
        assert freed_recording() is None, gc.get_referrers(freed_recording())
    finally:
        gc.enable()
