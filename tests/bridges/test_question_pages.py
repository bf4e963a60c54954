"""The programs of the question pages print the same in TensorFlow, PyTorch and JAX, as their first page says."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in (DOCS / "questions").glob("*.md") if path.name.partition(".")[0] != "index")
PAGE_PROGRAMS = SimpleNamespace(**runpy.run_path(str(DOCS / "site" / "page_programs.py")))


def find_framework(page):
    return PAGE_PROGRAMS.find_framework(page.read_text(encoding="utf-8"))


ENGLISH_PAGES_IN_TENSORFLOW = [page for page in PAGES if "." not in page.stem and not find_framework(page)]


@pytest.mark.parametrize("page", ENGLISH_PAGES_IN_TENSORFLOW, ids=lambda page: page.stem)
def test_tensorflow_prints_what_the_page_shows(page, capsys):
    pytest.importorskip("tensorflow")
    programs, namespace = PAGE_PROGRAMS.find_programs(page.read_text(encoding="utf-8")), {}
    assert programs
    for program in programs:
        if "tape.explain(" in program.code or "why." in program.code:  # minitape's own question
            continue
        code = program.code.replace("import minitape as tf", "import tensorflow as tf")
        exec(compile(code, page.name, "exec"), namespace)
        assert capsys.readouterr().out == program.output


@pytest.mark.parametrize("page", list(filter(find_framework, PAGES)), ids=lambda page: page.name)
def test_a_framework_prints_what_its_page_shows(page, monkeypatch):
    pytest.importorskip(find_framework(page))
    monkeypatch.setenv("MINITAPE_LANGUAGE", "zh" if page.name.endswith(".zh.md") else "en")
    namespace = {}
    for program in PAGE_PROGRAMS.find_programs(page.read_text(encoding="utf-8")):
        assert PAGE_PROGRAMS.run_program(program.code, namespace) == program.output
