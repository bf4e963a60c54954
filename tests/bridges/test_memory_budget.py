"""Memory that a recording has released goes back to the operating system once, when the recording ends."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from minitape.bridges import kept_values
from minitape.bridges.kept_values import KeptValue, MemoryBudget, trim_process_memory


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
