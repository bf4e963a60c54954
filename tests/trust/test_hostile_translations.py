"""A file of translations, from a stranger, changes words: it shows no attribute of what is put in, and takes no
memory.
"""

from __future__ import annotations

import json

import pytest

from minitape.common.texts import say

TEXT = "right: {right} of {of}"


@pytest.fixture
def translated(tmp_path, monkeypatch):
    """Writes a translation of TEXT into the folder in which one works."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    return lambda text, name="feedback": (tmp_path / "texts" / f"{name}.json").write_text(json.dumps({TEXT: text}))


def test_the_same_values_in_another_order(translated):
    translated("{of}, davon richtig: {right}")
    assert say(TEXT, right=2, of=3) == "3, davon richtig: 2"
    translated("{right} sind richtig")
    assert say(TEXT, right=2, of=3) == "2 sind richtig"


@pytest.mark.parametrize(
    "text",
    [
        "{right.__class__.__mro__} {of}",
        "{right[0]} {of}",
        "{right:>999999999} {of}",
        "{right!r} {of}",
        "{right} {of} {other}",
        "{right} {}",
        "{right",
        "}",
        "{right}" * 100_000 + "{",
    ],
)
def test_other_values_or_forms_are_told_and_the_text_stays_english(translated, text):
    translated(text)
    with pytest.warns(UserWarning, match="names other values than the English text") as told:
        assert say(TEXT, right=2, of=3) == "right: 2 of 3"
    assert len(str(told[0].message)) < 400


@pytest.mark.parametrize("name", ["../texts/feedback", "/etc/hostname"])
def test_a_lesson_is_no_path(translated, name):
    translated("{right} {of}")
    assert say(TEXT, name, right=2, of=3) == "right: 2 of 3"
