"""The pages about causes are up to date, complete and short, and quote what minitape prints."""

import re
import sys

import make_causes
import pytest

from minitape.cli.cause_page import find_causes_by_name_or_message, normalize_message_words
from minitape.explain.causes import CAUSES
from tests.explain.cause_sections import read_cause_texts
from tests.explain.page_programs import (
    PICTURES_FOLDER,
    explain_page_program,
    load_page_programs,
    names_blamed_line,
    read_outputs,
)

TEXTS = {language: read_cause_texts(language) for language in make_causes.SUFFIXES}
ENGLISH = TEXTS["en"]
# Causes that only a whole run of a program reveals, or that have no page for one framework.
WITHOUT_PROGRAM = {("nonfinite_value", "torch"), ("zero_seed", "tape"), ("refused", "torch")}
# The sentence about a value that is masked later is not in the record.
OTHER_SENTENCES = {("tape", "nan_backward"), ("tensorflow", "nan_backward")}
MOST_WORDS = 1200


def test_the_pages_are_up_to_date():
    pages = make_causes.build_pages()
    folder = make_causes.DOCS / make_causes.PAGES_FOLDER
    assert {f"{folder.name}/{path.name}" for path in folder.iterdir()} == {name for name in pages if "/" in name}
    for name, text in pages.items():
        written = (make_causes.DOCS / name).read_text(encoding="utf-8")
        assert written == text, f"{name}: run python tests/repository/make_causes.py"


def test_each_saved_picture_is_shown_and_small():
    pages = "".join(make_causes.build_pages().values())
    pictures = list(PICTURES_FOLDER.iterdir())
    assert len(pictures) >= 40
    assert [path.name for path in pictures if f"](../cause_pictures/{path.name})" not in pages] == []
    assert sum(path.stat().st_size for path in pictures) <= 400_000


def test_each_cause_has_a_text_in_each_language():
    for texts in TEXTS.values():
        assert texts.keys() == CAUSES.keys() - {"connected"}
        for name, text in texts.items():
            assert text.title and text.intended and "\n\n" in text.reason, name


def test_a_page_has_a_program_for_each_framework():
    programs = load_page_programs()
    missing = {
        (name, framework)
        for name in ENGLISH
        for framework in CAUSES[name].frameworks
        if framework not in programs.get(name, {})
    }
    assert missing == WITHOUT_PROGRAM


def test_a_page_is_short():
    for path in (make_causes.DOCS / make_causes.PAGES_FOLDER).glob("*.md"):
        assert len(path.read_text(encoding="utf-8").split()) <= MOST_WORDS, path.name


def test_the_outputs_are_those_of_the_current_sentences():
    """A sentence that was changed in a record is changed on the pages, which does not require the frameworks."""
    for framework, outputs in read_outputs().items():
        for name, output in outputs.items():
            assert output["cause"] == name
            templates = [text.message for (own, _), text in CAUSES[name].text_by_variant.items() if own == framework]
            patterns = (".*".join(map(re.escape, re.split(r"\{[^}]*\}", template))) for template in templates)
            is_current = any(re.search(pattern, output["en"]) for pattern in patterns)
            assert is_current or (framework, name) in OTHER_SENTENCES, (framework, name)


@pytest.mark.skipif(sys.platform == "win32", reason="the page shows what Linux prints")
def test_minitape_prints_what_the_pages_say():
    outputs = read_outputs()["tape"]
    for name, programs in load_page_programs().items():
        if "tape" in programs:
            assert explain_page_program(programs["tape"]) == outputs[name]
            assert names_blamed_line(programs["tape"], outputs[name]["en"]), name


@pytest.mark.parametrize("name", [name for name, text in ENGLISH.items() if text.errors])
def test_an_error_message_leads_to_its_causes(name):
    for error in ENGLISH[name].errors:
        assert name in find_causes_by_name_or_message(f"RuntimeError: {error} (at 0x7f0000000000)")
        half = normalize_message_words(error).split()[:6]
        assert len(half) < 3 or name in find_causes_by_name_or_message(" ".join(half))


def test_what_a_framework_raises_on_a_page_leads_to_it():
    """The messages of the frameworks themselves are checked where the message decides on few causes."""
    raised = {
        (name, output["error"])
        for outputs in read_outputs().values()
        for name, output in outputs.items()
        if output["error"]
    }
    lost = sorted(name for name, error in raised if name not in find_causes_by_name_or_message(error))
    assert lost == [], lost
