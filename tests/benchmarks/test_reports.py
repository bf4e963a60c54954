"""Each program that follows a public bug report has a known fault, a repaired version and a judge's mark."""

from collections import Counter
from pathlib import Path

import pytest

import benchmarks.reports
from benchmarks.reports.__main__ import describe_result, list_judged_sets, list_named_lines, list_sets, read_set_file

FOLDER = Path(benchmarks.reports.__file__).parent
JUDGED = list_judged_sets()
NEWEST = JUDGED[-1]


def list_faults(set_name: str) -> dict[str, dict]:
    return {name: truth for name, truth in read_set_file(set_name, "truth.json").items() if not truth.get("healthy")}


@pytest.mark.parametrize("set_name", list_sets())
def test_each_program_has_a_truth_and_a_mark(set_name):
    programs = {path.stem for path in (FOLDER / set_name / "programs").rglob("*.py")}
    faults = list_faults(set_name)
    assert programs == {*read_set_file(set_name, "truth.json"), *(f"{name}__twin" for name in faults)}
    if set_name in JUDGED:
        assert programs == set(read_set_file(set_name, "judged.json")["marks"])
    for truth in faults.values():
        lines = (FOLDER / set_name / "programs" / truth["file"]).read_text(encoding="utf-8").splitlines()
        assert truth["cause"] and all(1 <= line <= len(lines) for line in truth["lines"]), truth["name"]


@pytest.mark.parametrize("column", range(3))
def test_the_page_shows_the_marks(column):
    page = (FOLDER.parents[1] / "docs" / "how_often_right.md").read_text(encoding="utf-8")
    framework = ["torch", "jax", "tensorflow"][column]
    marks = read_set_file(NEWEST, "judged.json")["marks"]
    counts = Counter(
        marks[name]["mark"] for name, truth in list_faults(NEWEST).items() if truth["framework"] == framework
    )
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
