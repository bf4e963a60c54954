"""docs/explain.md: its programs print what it says, and it knows every cause."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_table_has_every_cause():
    assert sorted(re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)) == sorted({key.split()[0] for key in TEXT})
