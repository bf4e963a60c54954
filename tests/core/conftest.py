"""What tests of the engine share."""

from __future__ import annotations

import pytest

from minitape import plan


@pytest.fixture
def at_once(monkeypatch):
    """Programs of sweeps are written for the first recording, not only for those that are met often."""
    monkeypatch.setattr(plan, "OFTEN", 0)
