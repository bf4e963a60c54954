"""Whatever a learner hands in, `minitape class` counts the other learners without delay.

These tests do not measure times, because what once took hours takes a second.
"""

import json
import os
import sys

import pytest
from click.testing import CliRunner

from minitape.cli import main
from minitape.cli.handins import MAX_EXERCISES
from minitape.course.progress import FILE_NAME, MAX_WRONG_ANSWERS


def format_progress(exercises, times=None):
    return json.dumps({"version": 1, "exercises": exercises, "predictions": {}, "times": times or {}})


def build_entry(**other):
    return {"tries": 1, "solved": True, **other}


def format_notebook(text):
    return json.dumps({"cells": [{"cell_type": "code", "outputs": [{"text": text}]}]})


def run_class_report(folder, name, text):
    """Return the report of a class in which Eve handed in this file, and Ann solved 01.1."""
    (folder / "class" / "ann").mkdir(parents=True)
    (folder / "class" / "ann" / FILE_NAME).write_text(format_progress({"01.1": build_entry()}))
    (folder / "class" / "eve").mkdir()
    with open(os.path.join(os.fsencode(folder / "class" / "eve"), os.fsencode(name)), "w") as file:
        file.write(text)
    table = folder / "table.csv"
    done = CliRunner().invoke(main, ["class", str(folder / "class"), "--csv", str(table)], env={"COLUMNS": "160"})
    assert done.exit_code == 0, done.exception
    assert "ann" in done.output and "ann,01,01.1,1," in table.read_text()
    assert table.stat().st_size < 200_000 and len(done.output) < 200_000
    return done.output, table.read_text()


HUGE = 10**4000
FILES = {
    "a number of 4,000 digits": (FILE_NAME, format_progress({"01.1": build_entry(tries=HUGE, right_at=HUGE)}),
        "is not a progress file"),
    "a number below zero": (FILE_NAME, format_progress({"01.1": build_entry(tries=-5)}), "is not a progress file"),
    "times that nobody can subtract": (FILE_NAME, format_progress({"01.1": build_entry()}, {"01.1": [HUGE, HUGE]}),
        "is not a progress file"),
    "many exercises": (FILE_NAME, format_progress({f"{i}.1": build_entry() for i in range(30_000)}),
        f"more than {MAX_EXERCISES} exercises"),
    "many exercises in a notebook": ("a.ipynb",
        format_notebook("".join(f"Exercise {i}.1: correct.\n" for i in range(30_000))),
        f"more than {MAX_EXERCISES} exercises"),
    "empty lines": ("a.ipynb", format_notebook("Exercise 01.1: not yet.\n" + "\n" * 2_000_000), None),
    "a line of blanks": ("a.ipynb", format_notebook("Exercise 01.1: not yet.\n  given:" + " " * 2_000_000), None),
    "a long name": ("a.ipynb", format_notebook(f"Exercise {'a' * 2_000_000}.1: correct."), None),
    "colours that never end": ("a.ipynb", format_notebook("\x1b[" * 500_000 + ";" * 500_000), None),
    "a nest": ("a.ipynb", "[" * 200_000, "is nested too deeply"),
    "a large file": ("a.ipynb", "[" + " " * 20_000_000 + "]", "is larger than 20 MB"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_one_file_stops_no_report(tmp_path, case):
    name, text, why = FILES[case]
    said, _ = run_class_report(tmp_path, name, text)
    assert ("not counted" in said) == (why is not None)
    assert why is None or why in " ".join(said.split())


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="such names of files are refused here")
@pytest.mark.parametrize("name", [b"\xff\xfe<b>.ipynb", b"a\nnot counted: b\x1b]0;title\x07.ipynb"])
def test_a_name_of_a_file_is_one_harmless_line(tmp_path, name):
    said, _ = run_class_report(tmp_path, name, "[")
    assert said.count("\nnot counted: ") == 1 and "\x1b" not in said and "\x07" not in said


def test_only_so_many_wrong_answers_are_kept_of_an_exercise(tmp_path):
    wrong = {f"a{i}": {"times": 1, "hint": "h" * 1000} for i in range(5_000)}
    _, table = run_class_report(tmp_path, FILE_NAME, format_progress({"01.1": build_entry(solved=False, wrong=wrong)}))
    assert table.count(" | ") == MAX_WRONG_ANSWERS - 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="links have no owner here")
@pytest.mark.parametrize("owner", ["the learner", "who runs the report"])
def test_a_learners_link_brings_no_other_ones_work(tmp_path, monkeypatch, owner):
    folders = [tmp_path / name / "minitape-lessons" for name in ("ann", "eve")]
    folders[0].mkdir(parents=True)
    (folders[0] / FILE_NAME).write_text(format_progress({"01.1": build_entry()}))
    folders[1].parent.mkdir()
    folders[1].symlink_to(folders[0])
    if owner == "the learner":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    done = CliRunner().invoke(main, ["class", *map(str, folders), "--csv", str(table := tmp_path / "table.csv")])
    assert done.exit_code == 0, done.output
    assert "ann,01,01.1,1," in table.read_text()
    taken = "eve,01,01.1,1," in table.read_text()
    refused = "is a link, which may lead to" in " ".join(done.output.split())
    assert (taken, refused) == ((False, True) if owner == "the learner" else (True, False)), done.output
