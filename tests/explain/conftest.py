"""What the tests of explanations share."""

import pytest

from minitape.explain import flow, source, statement


@pytest.fixture(autouse=True)
def no_texts_of_other_programs(monkeypatch, nothing_has_left_yet):
    """Texts that were read are kept, and who holds a variable is looked for among all objects that live, those texts
    too.
    """
    monkeypatch.setattr(source, "_trees", {})
    monkeypatch.setattr(source, "_sources", {})
    yield
    statement.unparse.cache_clear()
    flow.texts_of.cache_clear()
