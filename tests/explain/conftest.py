"""What the tests of explanations share."""

import pytest

from minitape.explain.reasons import text


@pytest.fixture(autouse=True)
def no_texts_of_other_programs(monkeypatch, nothing_has_left_yet):
    """Texts that were read are kept, and who holds a variable is looked for among all objects that live, those texts
    too.
    """
    monkeypatch.setattr(text, "_programs", {})
    yield
    for kept in (text.unparse, text._parsed, text._flow, text._locals):
        kept.cache_clear()
