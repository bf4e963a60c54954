"""For every test and doctest: a learner's progress goes to a temporary file."""

import pytest


@pytest.fixture(autouse=True)
def _own_progress(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("MINITAPE_PROGRESS", str(tmp_path_factory.mktemp("progress") / "progress.json"))
