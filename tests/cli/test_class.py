"""`minitape class` reports what the learners of a class have really done."""

import csv
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from minitape.cli import main
from minitape.cli.class_figures import compute_class_figures
from minitape.cli.handins import ExerciseRecord, find_hand_in_files_by_learner, read_hand_ins
from minitape.course.checker import collect_exercises, count_try_and_build_feedback
from minitape.course.exercise import Exercise
from minitape.course.progress import FILE_NAME

from .conftest import run_minitape


def run_class_command(*arguments):
    done = CliRunner().invoke(main, ["class", *map(str, arguments)], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert done.exit_code == 0, done.output
    return done.output


def answer_exercises(monkeypatch, folder, *answers):
    """Create a learner's folder by giving these answers to the checker."""
    folder.mkdir(parents=True)
    monkeypatch.setenv("MINITAPE_PROGRESS", str(folder / FILE_NAME))
    for name, answer in answers:
        count_try_and_build_feedback(name, answer)


def write_notebook(path, *outputs, lesson="01_the_first_tape"):
    cells = [
        nbformat.v4.new_code_cell("check(...)", outputs=[nbformat.v4.new_output("stream", text=text)])
        for text in outputs
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


@pytest.fixture
def three(tmp_path, monkeypatch):
    """Return the folder of a class in which Ann is right at once, Bob is right later, and Cem is not right yet."""
    answer_exercises(monkeypatch, tmp_path / "ann", ("01.1", 12.0), ("01.3", [None, 6.0, 9.0]))
    answer_exercises(monkeypatch, tmp_path / "bob", ("01.1", 8.0), ("01.1", 4.0), ("01.1", 12.0))
    answer_exercises(monkeypatch, tmp_path / "cem" / "minitape-lessons", ("01.1", 8.0), ("01.1", ...))
    return tmp_path


def test_each_exercise_is_counted(three):
    found = compute_class_figures(read_hand_ins(find_hand_in_files_by_learner([three])))
    assert found.exercises_by_lesson == {"01": [*collect_exercises("01")]}
    first, second, third, *_ = found.by_exercise
    assert (
        first.first_try_count,
        first.later_try_count,
        first.stuck_count,
        first.untried_count,
        first.median_tries,
    ) == (
        1,
        1,
        1,
        0,
        2,
    )
    hint = next(mistake.hint for mistake in collect_exercises("01")["01.1"].mistakes if mistake.answer == 8.0)
    assert first.commonest_wrong_answer == f"8.0 (2x) {hint}"
    assert (second.untried_count, second.median_tries, second.commonest_wrong_answer) == (3, None, "")
    assert (third.first_try_count, third.untried_count) == (1, 2)
    assert [(who.learner, who.solved_by_lesson["01"], who.tries, who.first_try_count) for who in found.by_learner] == [
        ("ann", 2, 2, 2),
        ("bob", 1, 3, 0),
        ("cem", 0, 1, 0),
    ]


def test_the_terminal_shows_learners_and_exercises(three):
    text = run_class_command(three)
    count = len(collect_exercises("01"))
    assert re.search(rf"^bob +1/{count} +1 +0 +3 +0\s*$", text, re.MULTILINE)
    assert re.search(r"^01\.1 +1 +1 +1 +0 +2 +0 +8\.0 \(2x\) 8 is y itself\. .{50}", text, re.MULTILINE)
    assert text.rstrip().endswith(f"3 learners, 1 lesson, {count} exercises: {100 // count}% solved.")


def test_the_table_for_a_spreadsheet(three, tmp_path):
    run_class_command(three, "--csv", tmp_path / "class.csv")
    with open(tmp_path / "class.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * len(collect_exercises("01"))
    [bob] = [row for row in rows if (row["learner"], row["exercise"]) == ("bob", "01.1")]
    assert (bob["solved"], bob["tries"], bob["right_at"], bob["wrong_answers"]) == ("1", "3", "3", "4.0 | 8.0")
    [ann] = [row for row in rows if (row["learner"], row["exercise"]) == ("ann", "01.2")]
    assert (ann["solved"], ann["tries"], ann["seconds"]) == ("0", "", "")


def test_time_is_counted_from_answer_to_answer_without_pauses(tmp_path):
    entry = {"tries": 2, "solved": True, "right_at": 2}
    times = {"01.p1": [1000], "01.1": [1060, 1120], "01.2": [1120 + 86_400, 1150 + 86_400], "02.1": [99]}
    kept = {
        "version": 1, "exercises": dict.fromkeys(("01.1", "01.2", "02.1"), entry), "predictions": {}, "times": times,
    }  # fmt: skip
    (tmp_path / "ann.json").write_text(json.dumps(kept))
    [ann] = read_hand_ins(find_hand_in_files_by_learner([tmp_path]))
    assert ann.learner == "ann"
    assert {name: work.seconds for name, work in ann.records.items()} == {"01.1": 120, "01.2": 30, "02.1": None}


def test_returned_notebooks_tell_the_last_answer(tmp_path):
    wrong = "Exercise 01.1: not yet.\n  given:    8.0\n  expected: a number\n  exact: no\nHint: That is y.\n"
    write_notebook(
        tmp_path / "ann" / "01_the_first_tape.ipynb",
        wrong,
        "Exercise 01.2: correct.\n  exact: yes",
        "Exercise 01.3: not answered yet.",
    )
    write_notebook(tmp_path / "doe_jane_4711_01_the_first_tape.ipynb", "Exercise 01.1: correct.")
    write_notebook(tmp_path / "li_01_第一条磁带.ipynb", "练习 01.1：正确。")
    write_notebook(tmp_path / "wang" / "lessons" / "02_走进磁带.ipynb", "练习 02.1：正确。")
    ann, jane, li, wang = read_hand_ins(find_hand_in_files_by_learner([tmp_path]))
    assert (li.learner, wang.learner) == ("li", "wang") and li.records["01.1"].is_solved
    assert {name: work.is_solved for name, work in ann.records.items()} == {"01.1": False, "01.2": True}
    assert ann.records["01.1"].wrong_answers == {"8.0": "That is y."} and ann.records["01.1"].tries is None
    assert jane.learner == "doe_jane_4711" and jane.records["01.1"].is_solved


def test_what_all_left_blank_counts(tmp_path):
    """The exercises of a user's own lesson are known only from the learners' notebooks."""
    right, blank = "Exercise mine.1: correct.", "Exercise mine.2: not answered yet."
    write_notebook(tmp_path / "ann" / "mine.ipynb", right, blank)
    write_notebook(tmp_path / "bob" / "mine.ipynb", "Exercise mine.1: not answered yet.", blank, blank)
    write_notebook(tmp_path / "cem" / "other.ipynb", "Exercise other.1: not answered yet.")
    found = compute_class_figures(read_hand_ins(find_hand_in_files_by_learner([tmp_path])))
    assert found.exercises_by_lesson == {"mine": ["mine.1", "mine.2"]}  # Nobody answered the other lesson.
    assert [learner.solved_count for learner in found.by_learner] == [1, 0, 0]
    assert "2 exercises: 17% solved" in run_class_command(tmp_path)


def test_a_lesson_as_the_checker_left_it_is_read(tmp_path, monkeypatch):
    """The text that is read from a notebook is the text that `check` prints."""
    monkeypatch.setenv("MINITAPE_PROGRESS", str(tmp_path / "elsewhere.txt"))
    texts = [
        count_try_and_build_feedback("01.1", 8.0),
        count_try_and_build_feedback("01.2", lambda f, value: -1.0),
        count_try_and_build_feedback("01.3", [None, 6.0, 9.0]),
        count_try_and_build_feedback("01.4"),
    ]
    write_notebook(tmp_path / "class" / "ann" / "lesson.ipynb", "".join(f"{text}\n" for text in texts))
    [ann] = read_hand_ins(find_hand_in_files_by_learner([tmp_path / "class"]))
    assert {name: work.is_solved for name, work in ann.records.items()} == {"01.1": False, "01.2": False, "01.3": True}
    [(given, hint)] = ann.records["01.2"].wrong_answers.items()
    assert hint and given and texts[1].endswith(f"Hint: {hint}")


def test_progress_and_notebook_of_one_learner_are_one(three):
    write_notebook(
        three / "bob" / "02_inside_the_tape.ipynb",
        "Exercise 02.1: correct.",
        "Exercise 01.1: not yet.\n  given:    7.0",
    )
    bob = next(hand_in for hand_in in read_hand_ins(find_hand_in_files_by_learner([three])) if hand_in.learner == "bob")
    assert bob.records["02.1"].is_solved and bob.records["01.1"].is_solved
    assert bob.records["01.1"].right_at == 3 and set(bob.records["01.1"].wrong_answers) == {"8.0", "4.0", "7.0"}
    longer = ExerciseRecord(False, tries=3, seconds=9)
    assert ExerciseRecord(True, tries=1, right_at=1).merge_with(longer) == replace(
        longer, is_solved=True
    )  # the longer one counts


def test_folders_of_learners_on_one_machine(three):
    homes = three / "home"
    for who in ("ann", "bob"):
        shutil.move(three / who, homes / who / "minitape-lessons")
    assert list(find_hand_in_files_by_learner([homes / who / "minitape-lessons" for who in ("ann", "bob")])) == [
        "ann",
        "bob",
    ]
    assert list(find_hand_in_files_by_learner([homes / "ann" / "minitape-lessons"])) == ["ann"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps names that are not UTF-8")
def test_learners_whose_names_are_in_gbk_stay_apart(tmp_path):
    """Linux unpacks zip files from Chinese Windows with such names."""
    names = ["张三", "李四", "王五", "ann"]
    for place, name in enumerate(names):
        folder = os.path.join(os.fsencode(tmp_path), name.encode("gbk"))
        os.mkdir(folder)
        entry = {"tries": place + 1, "solved": True}
        content = {"version": 1, "exercises": {"01.1": entry}, "predictions": {}}
        Path(os.fsdecode(folder), FILE_NAME).write_text(json.dumps(content) if name != "王五" else "{")
    hand_ins = {hand_in.learner: hand_in for hand_in in read_hand_ins(find_hand_in_files_by_learner([tmp_path]))}
    assert set(hand_ins) == set(names)
    assert [hand_ins[name].records["01.1"].tries for name in ("张三", "李四", "ann")] == [1, 2, 4]
    assert "王五" in hand_ins["王五"].problems[0][0] and "4 learners" in run_class_command(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux allows such names")
def test_learners_whose_names_look_alike_are_numbered(tmp_path):
    utf8, gbk = "张三".encode(), "张三".encode("gbk")
    for name in (utf8, gbk, b"bob\x01", b"bob\x02"):
        folder = os.path.join(os.fsencode(tmp_path), name)
        os.mkdir(folder)
        Path(os.fsdecode(folder), FILE_NAME).write_text('{"version": 1, "exercises": {}, "predictions": {}}')
    assert sorted(find_hand_in_files_by_learner([tmp_path])) == ["bob\ufffd", "bob\ufffd (2)", "张三", "张三 (2)"]


def test_exercises_that_this_process_has_added_do_not_count(tmp_path, monkeypatch):
    write_notebook(tmp_path / "ann" / "my_topic.ipynb", "Exercise my-topic.1: correct.")
    monkeypatch.setattr("minitape.course.exercise.ADDED_EXERCISES", {"my-topic.3": Exercise("my-topic.3", expect=1.0)})
    figures = compute_class_figures(read_hand_ins(find_hand_in_files_by_learner([tmp_path])))
    assert figures.exercises_by_lesson == {"my-topic": ["my-topic.1"]}


def test_a_broken_file_is_named_and_skipped(three):
    (three / "bob" / "02_inside_the_tape.ipynb").write_text('{"cells": [')
    (three / "cem" / "x.ipynb").write_text("[1, 2]")
    (three / "ann" / "old-progress.json").write_text('{"exercises": 3}')
    text = run_class_command(three)
    for name, why in (
        ("bob/02_inside_the_tape", "is incomplete"),
        ("cem/x", "is not a notebook"),
        ("ann/old-progress", "is not a progress file"),
    ):
        assert re.search(rf"not counted: {three}/{name}\.\w+ {why}", text)
    assert "3 learners" in text


def test_before_anybody_has_answered(tmp_path):
    write_notebook(tmp_path / "ann" / "01_the_first_tape.ipynb", "nothing said")
    said = run_class_command(tmp_path)
    assert "1 learner: no exercise has been answered yet." in said and "commonest" not in said


def test_what_strangers_wrote_steers_nothing(tmp_path):
    """Terminals and spreadsheets receive no commands, and links to other folders are not followed."""
    evil = "\x1b[2J<script>alert(1)</script>[red]"
    entry = {"tries": 1, "solved": False, "wrong": {"=HYPERLINK(1)": {"times": 1, "hint": evil}}}
    kept = {"version": 1, "exercises": {"01.1": entry, f"{evil}.1": entry}, "predictions": {}}
    folder = tmp_path / "class" / "<b>eve[b]"
    folder.mkdir(parents=True)
    (folder / FILE_NAME).write_text(json.dumps(kept))
    (tmp_path / "secret.ipynb").write_text("secret")
    (folder / "link.ipynb").symlink_to(tmp_path / "secret.ipynb")
    text = run_class_command(tmp_path / "class", "--csv", tmp_path / "p.csv")
    assert "\x1b" not in text and "<b>eve[b]" in text and "secret" not in text
    assert "'=HYPERLINK(1)" in (tmp_path / "p.csv").read_text() and ",=" not in (tmp_path / "p.csv").read_text()


def test_a_folder_without_hand_ins(tmp_path):
    done = run_minitape("class", tmp_path)
    assert done.returncode == 2
    assert f"no progress files or notebooks found in {tmp_path}" in done.stderr
