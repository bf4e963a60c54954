"""What the tests of explanations share."""

import pytest

from minitape.explain.reasons import program_text


@pytest.fixture(autouse=True)
def no_texts_of_other_programs(monkeypatch, nothing_has_left_yet):
    """Texts that were read are kept, and who holds a variable is looked for among all objects that live, those texts
    too.
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
