"""The programs of the question pages print the same in TensorFlow, as their first page says."""

import re
from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

PAGES = sorted(
    path
    for path in (Path(__file__).parents[2] / "docs" / "questions").glob("*.md")
    if "." not in path.stem and path.stem != "index"
)
PROGRAM = re.compile(r"^```python\n(.*?)^```\n\n^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tensorflow_prints_what_the_page_shows(page, capsys):
    programs, namespace = PROGRAM.findall(page.read_text(encoding="utf-8")), {}
    assert programs
    for code, output in programs:
        if "tape.explain(" in code or "why." in code:  # minitape's own question
            continue
        exec(compile(code.replace("import minitape as tf", "import tensorflow as tf"), page.name, "exec"), namespace)
        assert capsys.readouterr().out == output
