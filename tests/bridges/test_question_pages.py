"""The programs of the question pages print the same in TensorFlow, as their first page says."""

import runpy
from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in (DOCS / "questions").glob("*.md") if "." not in path.stem and path.stem != "index")
find_programs = runpy.run_path(str(DOCS / "site" / "page_programs.py"))["find_programs"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tensorflow_prints_what_the_page_shows(page, capsys):
    programs, namespace = find_programs(page.read_text(encoding="utf-8")), {}
    assert programs
    for program in programs:
        if "tape.explain(" in program.code or "why." in program.code:  # minitape's own question
            continue
        code = program.code.replace("import minitape as tf", "import tensorflow as tf")
        exec(compile(code, page.name, "exec"), namespace)
        assert capsys.readouterr().out == program.output
