"""docs/explain.md: its programs print what it says, and its table has every cause. Those of other frameworks run in
tests/bridges.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from minitape.explain.causes import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
OWN = [(program, said) for program, said in PROGRAMS if "import minitape as tf" in program]


def test_each_program_shows_its_output():
    assert PAGE.count("```python") == len(PROGRAMS) == len(OWN) + 5


@pytest.mark.parametrize(("program", "said"), OWN, ids=["asked", "several", "warned", "nonfinite"])
def test_a_program_prints_what_the_page_says(program, said, tmp_path):
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    printed = (done.stdout + done.stderr).replace(f"{tmp_path}/", "")
    for line in said.splitlines():
        assert line in printed, printed


def test_the_table_has_every_cause_beside_its_kind():
    """What stands alone in backquotes is a kind, a cause, or a name of Python's."""
    table = PAGE.partition("| kind |")[2].partition("\n\n")[0].splitlines()[2:]
    said = {kind: KINDS.keys() & rest for kind, *rest in (re.findall(r"`(\w+)`", row) for row in table)}
    assert said == {kind: {cause for cause in KINDS if KINDS[cause] == kind} for kind in KINDS.values()}
