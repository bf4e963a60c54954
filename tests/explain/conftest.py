"""What the tests of explanations share."""

from __future__ import annotations

from collections import deque

import pytest

from minitape.engine import evidence
from minitape.engine.state import state


@pytest.fixture(autouse=True)
def nothing_has_left_yet(monkeypatch):
    """Explanations look through the values that left to NumPy: each program starts without those of the ones before."""
    fresh = evidence.Exits()
    monkeypatch.setattr(state, "exits", fresh)
    monkeypatch.setattr(evidence, "THREADS", deque([fresh], maxlen=16))
