"""On the question pages, each program prints what the page says, and each page is listed in both languages."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ROOT / "docs" / "questions"
PAGES = sorted(path for path in QUESTIONS.glob("*.md") if not path.name.startswith("index."))
ENGLISH_PAGES = [page for page in PAGES if not page.name.endswith(".zh.md")]


PAGE_PROGRAMS = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "site" / "page_programs.py")))


def read_page(page):
    return page.read_text(encoding="utf-8")


def runs_in_minitape(page):
    return not PAGE_PROGRAMS.find_framework(read_page(page))


@pytest.mark.parametrize("page", list(filter(runs_in_minitape, PAGES)), ids=lambda page: page.name)
def test_a_page_shows_what_its_programs_print(page, monkeypatch):
    monkeypatch.setenv("MINITAPE_LANGUAGE", "zh" if page.name.endswith(".zh.md") else "en")
    programs, namespace = PAGE_PROGRAMS.find_programs(read_page(page)), {}
    assert programs, page.name
    for program in programs:
        assert PAGE_PROGRAMS.run_program(program.code, namespace) == program.output
        if program.tape_name:
            assert namespace[program.tape_name].record is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_program_of_a_page_is_run(page):
    """A block of Python without its output, or a picture without a program, would be skipped."""
    text, programs = read_page(page), PAGE_PROGRAMS.find_programs(read_page(page))
    assert len(re.findall(r"^```python$", text, re.MULTILINE)) == len(programs)
    assert len(PAGE_PROGRAMS.PICTURE_COMMENT.findall(text)) == sum(bool(program.tape_name) for program in programs)


@pytest.mark.parametrize("page", ENGLISH_PAGES, ids=lambda page: page.name)
def test_the_chinese_page_has_the_same_programs(page):
    twin = page.with_suffix(".zh.md")
    codes, twin_codes = (
        [program.code for program in PAGE_PROGRAMS.find_programs(read_page(path))] for path in (page, twin)
    )
    assert twin_codes == codes


@pytest.mark.parametrize("suffix", [".md", ".zh.md"])
def test_the_list_has_each_question_with_its_title(suffix):
    listed = {
        target: title
        for title, target in re.findall(r"^- \[(.*)\]\((\w+)\.", read_page(QUESTIONS / f"index{suffix}"), re.M)
    }
    titles = {
        page.name.partition(".")[0]: read_page(page).partition("\n")[0].removeprefix("# ")
        for page in PAGES
        if page.name == page.name.partition(".")[0] + suffix
    }
    assert listed == titles


@pytest.mark.parametrize("page", [*PAGES, *QUESTIONS.glob("index*.md")], ids=lambda page: page.name)
def test_the_links_of_a_page_lead_to_files(page):
    targets = re.findall(r"\]\((?!\w+:)([^()#\s]+)", read_page(page))
    assert [target for target in targets if not (page.parent / target).exists()] == []
