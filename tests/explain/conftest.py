"""Define fixtures for the tests of explanations."""

import pytest

from minitape.explain.reasons import program_text


@pytest.fixture(autouse=True)
def no_texts_of_other_programs(monkeypatch, nothing_has_left_yet):
    """Start each test without cached program texts.

    The search for the holders of a variable looks at all living objects, and the cached texts would be among them.
    """
    monkeypatch.setattr(program_text, "_programs", {})
    yield
    for cached_function in (
        program_text.unparse,
        program_text._parse_program,
        program_text._trace_value,
        program_text._find_local_names,
    ):
        cached_function.cache_clear()
