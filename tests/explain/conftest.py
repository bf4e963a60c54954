"""What the tests of explanations share."""

from __future__ import annotations

from collections import deque

import pytest

from minitape.engine import evidence
from minitape.engine.state import state
from minitape.explain import flow, source


@pytest.fixture(autouse=True)
def nothing_has_left_yet(monkeypatch):
    """Explanations look through the values that left to NumPy: each program starts without those of the ones before."""
    fresh = evidence.Exits()
    monkeypatch.setattr(state, "exits", fresh)
    monkeypatch.setattr(evidence, "THREADS", deque([fresh], maxlen=16))


@pytest.fixture(autouse=True)
def no_texts_of_other_programs(monkeypatch):
    """Texts that were read are kept, and who holds a variable is looked for among all objects that live, those texts too."""
    monkeypatch.setattr(source, "_trees", {})
    monkeypatch.setattr(source, "_sources", {})
    yield
    source.unparse.cache_clear()
    flow.texts_of.cache_clear()
