"""docs/explain.md: its programs print what it says, and its table has every kind. Those of other frameworks run in
tests/bridges.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from minitape.common.translation import LANGUAGE_VARIABLES
from minitape.explain.causes import CAUSES
from minitape.explain.causes.cause import KINDS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {code: (DOCS / f"explain{end}").read_text(encoding="utf-8") for code, end in (("en", ".md"), ("zh", ".zh.md"))}
PAGE = PAGES["en"]
PROGRAMS = [
    (code, program, said)
    for code, page in PAGES.items()
    for program, said in re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
]
OWN = [case for case in PROGRAMS if "import minitape as tf" in case[1]]


def test_each_program_shows_its_output():
    assert [page.count("```python") for page in PAGES.values()] == [len(PROGRAMS) // 2, len(OWN) // 2 + 5]


@pytest.mark.parametrize(("code", "program", "said"), OWN)
def test_a_program_prints_what_the_page_says(code, program, said, tmp_path, monkeypatch):
    monkeypatch.setenv(LANGUAGE_VARIABLES[0], code)
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    printed = (done.stdout + done.stderr).replace(f"{tmp_path}/", "")
    for line in said.splitlines():
        assert line in printed, printed


def test_the_table_has_every_kind_with_causes_of_that_kind():
    """What stands alone in backquotes is a kind, a cause, or a name of Python's. docs/causes.md has every cause."""
    table = PAGE.partition("| kind |")[2].partition("\n\n")[0].splitlines()[2:]
    said = {kind: CAUSES.keys() & rest for kind, *rest in (re.findall(r"`(\w+)`", row) for row in table)}
    assert said.keys() == KINDS.keys()
    assert all(causes and {CAUSES[cause].kind for cause in causes} == {kind} for kind, causes in said.items())
