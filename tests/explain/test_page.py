"""docs/explain.md: its programs print what it says, and it knows every cause."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from minitape.explain.arrived import TapeValues
from minitape.explain.kinds import KINDS
from minitape.explain.texts import TEXT

PAGE = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def test_each_program_shows_its_output():
    assert PAGE.count("```python") == len(PROGRAMS) == 6


@pytest.mark.parametrize(("program", "said"), PROGRAMS, ids=["asked", "several", "warned", "raised", "nonfinite", "wrong"])
def test_a_program_prints_what_the_page_says(program, said, tmp_path):
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    printed = (done.stdout + done.stderr).replace(f"{tmp_path}/", "")
    for line in said.splitlines():
        assert line in printed, printed


def rows(first: str) -> dict[str, list[str]]:
    """The rows of a table by their first cell, with the names in the last."""
    table = PAGE.partition(f"| {first} | what happened |")[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {row[0]: re.findall(r"`(\w+)`", row[-1]) for row in cells}


def test_the_table_has_every_cause():
    told = {name for cell in rows("cause") for name in re.findall(r"`(\w+)`", cell)}
    assert told == {key.split()[0] for key in TEXT} | set(TapeValues.causes)


def test_the_table_of_kinds_has_every_cause_of_each():
    said = {cell.strip("`"): set(causes) - {"explain_nonfinite"} for cell, causes in rows("kind").items()}
    assert said == {kind: {cause for cause in KINDS if KINDS[cause] == kind} for kind in KINDS.values()}
