"""The programs after public bug reports: each fault has a truth, a repaired version and a judge's mark."""

import json
from collections import Counter
from pathlib import Path

import pytest

import benchmarks.reports
from benchmarks.reports.__main__ import describe_result, list_named_lines

FOLDER = Path(benchmarks.reports.__file__).parent
TRUTHS = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
MARKS = {
    name: judged["mark"] for name, judged in json.loads((FOLDER / "judged.json").read_text("utf-8"))["marks"].items()
}
FAULTS = {name: truth for name, truth in TRUTHS.items() if not truth.get("healthy")}


def test_each_program_has_a_truth_and_a_mark():
    programs = {path.stem for path in (FOLDER / "programs").rglob("*.py")}
    assert programs == set(TRUTHS) | {f"{name}__twin" for name in FAULTS} == set(MARKS)
    for truth in FAULTS.values():
        lines = (FOLDER / "programs" / truth["file"]).read_text(encoding="utf-8").splitlines()
        assert truth["cause"] and all(1 <= line <= len(lines) for line in truth["lines"]), truth["name"]


@pytest.mark.parametrize("framework", ["torch", "jax", "tensorflow"])
def test_the_page_shows_the_marks(framework):
    page = (FOLDER.parents[1] / "docs" / "how_often_right.md").read_text(encoding="utf-8")
    column = ["torch", "jax", "tensorflow"].index(framework)
    counts = Counter(MARKS[name] for name, truth in FAULTS.items() if truth["framework"] == framework)
    rows = {
        "right": "names the cause and the line",
        "partly": "leads to the fault, but is too general or names a line nearby",
        "silent": "says nothing about the fault",
        "misleading": "leads away from the fault",
    }
    for mark, text in rows.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| {text} |"))
        assert int(row.split("|")[2 + column]) == counts[mark], (mark, row)


def test_a_report_is_read_for_the_lines_that_it_names():
    assert list_named_lines("line 12 of train.py; see train.py:30 and outline 7") == {12, 30}
    assert describe_result({"lines": [12]}, False, 1, "line 12") == "names the line"
    assert describe_result({"lines": [12]}, False, 1, "line 13") == "does not name the line"
    assert describe_result({"lines": [12]}, True, 1, "line 12").startswith("ACCUSED")
    assert describe_result({"healthy": True}, False, 0, "") == "exit status 0"
