"""The map of minitape's files in lesson 12: the files are there, what it names is in them, and they are as large as it says."""

from __future__ import annotations

import re

import nbformat
import pytest

from minitape.cli.lessons import lessons_folder

CELLS = nbformat.read(lessons_folder() / "12_build_your_own_tape.ipynb", as_version=4).cells
ROWS = re.findall(r"^\| .*? \| (.*?) \| .*? \| `(minitape/[\w/]+\.py)` \| (\d+) \|$", "\n".join(c.source for c in CELLS), re.MULTILINE)
NAMED = {
    "operators.py": "_FLOATS",
    "record.py": "self.put",
    "tape.py": "def gradient(",
    "reach.py": "def reach(",
    "sweep.py": "def _walk(",
    "elementwise.py": "DERIVATIVES",
    "text.py": "def source(",
}


def test_the_map_has_the_whole_way():
    assert len(ROWS) == 8
    assert {file.rpartition("/")[2] for _, file, _ in ROWS} == set(NAMED)


@pytest.mark.parametrize(("who", "file", "lines"), ROWS)
def test_a_file_of_the_map_has_what_it_names_in_about_so_many_lines(repository, who, file, lines):
    if not (repository / file).exists():
        assert file.startswith("minitape/speed/"), "only that folder may be deleted"
        return
    text = (repository / file).read_text(encoding="utf-8")
    assert NAMED[file.rpartition("/")[2]] in text
    assert text.count("\n") == pytest.approx(int(lines), rel=0.1)
