"""The checker: every exercise of every lesson, answered right, wrong in the likely ways, and not at all."""

import dataclasses
import errno
import json
import os
import pkgutil
import subprocess
import sys
from time import thread_time
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

import minitape as tf
import minitape.course
from minitape.course import Exercise, Mistake, add_exercise, check, is_right, predict, progress, reveal
from minitape.course.checker import collect_exercises, count_try_and_build_feedback
from minitape.course.exercise import ADDED_EXERCISES
from minitape.course.predict import RevealedAnswer
from minitape.course.progress import get_progress_path, note_try, read_progress

LESSONS = sorted(m.name for m in pkgutil.iter_modules(minitape.course.__path__) if m.name.startswith("lesson_"))
EXERCISES = [exercise for name in LESSONS for exercise in collect_exercises(name.removeprefix("lesson_")).values()]


class Hostile:
    """Fails at everything that a checker could try."""

    def __getattribute__(self, name):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")

    __hash__ = None


@pytest.fixture
def exercise():
    made = Exercise(
        "test.1", expect=6.0, mistakes=[Mistake(9.0, "That is y.")], hint="Think again.", because="Because it is so."
    )
    add_exercise(made)
    return made


# test_exercise_programs has classes for what is tried out; test_broken_networks diagnoses, answered by the bed
LISTED = [exercise for exercise in EXERCISES if not exercise.trials and not exercise.asks]


@pytest.mark.parametrize("exercise", LISTED, ids=lambda exercise: exercise.name)
def test_each_exercise_knows_right_wrong_and_blank(exercise, monkeypatch):
    assert count_try_and_build_feedback(exercise.name, ...).startswith(f"Exercise {exercise.name}: not answered yet.")
    by_part = isinstance(exercise.expect, (dict, list)) and exercise.hints[1].count(": ") >= len(exercise.expect)
    assert (
        len(exercise.mistakes) >= 3 or exercise.reasons or by_part or exercise.cases or exercise.of_wrong
    )  # what a function does is told by what it gives
    assert len({mistake.hint for mistake in exercise.mistakes}) == len(exercise.mistakes)
    # Values are handed in as the view would give them; the lesson's solution hands in the real object.
    monkeypatch.setitem(
        ADDED_EXERCISES, exercise.name, dataclasses.replace(exercise, view=None, order=0, also=None, from_tape="")
    )
    for mistake in exercise.mistakes:
        # known by the learner's source: test_exercise_programs has programs for these
        if mistake.where or mistake.error:
            continue
        said = count_try_and_build_feedback(exercise.name, mistake.answer)
        assert said.startswith(f"Exercise {exercise.name}: not yet."), said
        assert said.endswith(f"Hint: {mistake.hint}"), said
    said = count_try_and_build_feedback(exercise.name, exercise.expect)
    assert said.startswith(f"Exercise {exercise.name}: correct."), said
    assert exercise.because in said


def test_names_are_those_of_the_lesson():
    for exercise in EXERCISES:
        assert exercise.name in collect_exercises(exercise.lesson)
    names = [exercise.name for exercise in EXERCISES]
    assert len(names) == len(set(names))


def test_a_wrong_answer_shows_what_was_given_and_how_far_it_is_off(exercise, capsys):
    check("test.1", 9.0)
    assert capsys.readouterr().out == (
        "Exercise test.1: not yet.\n"
        "  given:    9.0\n"
        "  expected: a number (the answer is shown after 2 more tries)\n"
        "Hint: That is y.\n"
    )


def test_nothing_tells_an_answer_that_is_kept_back(exercise):
    """A difference would give a number away, and so would the kind of one part."""
    add_exercise(Exercise("test.3", expect=[None, 6.0]))
    for name, answer in (("test.1", 8.0), ("test.3", [0.0, 8.0])):
        assert "difference" not in count_try_and_build_feedback(
            name, answer
        ) and "expected None" not in count_try_and_build_feedback(name, answer)
        assert "difference: 2.0" in count_try_and_build_feedback(
            name, answer
        ) or "your answer is a number, not None" in count_try_and_build_feedback(name, answer)


def test_the_answer_is_told_from_the_third_try_on(exercise):
    assert "6.0" not in count_try_and_build_feedback("test.1", 1.0)
    assert "1 more try)" in count_try_and_build_feedback("test.1", ...) + count_try_and_build_feedback("test.1", 1.0)
    assert "expected: 6.0" in count_try_and_build_feedback("test.1", 1.0)


@pytest.mark.parametrize("answer", [6, 6.0, np.float32(6), np.array(6), tf.constant(6.0), tf.Variable(6.0), 6.000001])
def test_the_right_number_in_any_dress(exercise, answer):
    assert count_try_and_build_feedback("test.1", answer).startswith("Exercise test.1: correct.")


@pytest.mark.parametrize(("answer", "words"), [
    ("six", "your answer is a string, not a number"), (None, "your answer is None, not a number"),
    (True, "your answer is True or False, not a number"), ([6.0], "your answer is a list of length 1"),
    (np.ones((2, 3)), "your answer is an array of 2 by 3 numbers"), (check, "your answer is a function"),
    (tf.constant([1, 2]), "your answer is an array of 2 numbers"), (float("nan"), (
        "one of the numbers is NaN (not a number)"
    )),
])  # fmt: skip
def test_what_is_no_number_is_named(exercise, answer, words):
    said = count_try_and_build_feedback("test.1", answer)
    assert said.startswith("Exercise test.1: not yet.")
    assert words in said
    assert said.endswith("Hint: Think again.")


@pytest.mark.parametrize(("expect", "answer", "words"), [
    ([5, 6, 7], ["5", "6", "7"], "remove the quotes around 5\n"),
    ([5, None], [5, "None"], "remove the quotes around None\n"),
    ([5, 6], "[5, 6]", "remove the quotes around [5, 6]\n"),
    (5, "None", "your answer is a string, not a number\n"),
    (5, "(" * 500, "your answer is a string, not a number\n"),
    ([0.0, 1.0], tf.constant([True, False]), "your answer is True or False, not a number"),
    ([4.0, None], [4.0, 0.0], "your answer is a number, not None"),
    ({"A": 1.0, "B": "x"}, {"a": 1.0, "B": "x"}, "expected the keys 'A', 'B', but got 'a', 'B'"),
    ({"A": 1.0}, {}, "expected the keys 'A', but got none"),
])  # fmt: skip
def test_of_what_looks_alike_the_difference_is_named(expect, answer, words):
    add_exercise(Exercise("test.2", expect=expect))
    assert (
        words
        in count_try_and_build_feedback("test.2", answer)
        + count_try_and_build_feedback("test.2", answer)
        + count_try_and_build_feedback("test.2", answer)
        + "\n"
    )


def test_what_is_only_in_quotes_is_no_try_and_gets_no_other_hint():
    add_exercise(Exercise("test.2", expect=[5, None], hint=("Think again.",)))
    for _ in range(4):
        said = count_try_and_build_feedback("test.2", [5, "None"])
        assert said.endswith("remove the quotes around None\n  right: 1 of 2")
        assert "the answer is shown after 3 more tries" in said


def test_a_difference_that_is_rounding_is_not_told():
    add_exercise(Exercise("test.2", expect={"what": "a variable", "holds": 2.6}))
    assert "difference" not in "".join(
        count_try_and_build_feedback("test.2", {"what": "a tensor", "holds": 2.6 + 1e-7}) for _ in range(3)
    )


def test_numbers_are_not_measured_where_a_word_is_wrong(exercise):
    add_exercise(Exercise("test.2", expect={"cause": "state", "line": 1}))
    assert "difference" not in count_try_and_build_feedback("test.2", {"cause": "rebound", "line": 1})
    assert "right: 1 of 2" in count_try_and_build_feedback("test.2", {"cause": "rebound", "line": 1})
    assert "correct" in count_try_and_build_feedback("test.2", {"cause": "State", "line": 1})


@pytest.mark.parametrize("expect", [6.0, None, "b", [1.0, None], {"a": 1.0}, np.ones(3)])
def test_the_checker_never_raises(expect):
    add_exercise(Exercise("test.2", expect=expect))
    recursive = []
    recursive.append(recursive)
    strange = (Hostile(), object(), recursive, [Hostile()], {}, [], (), b"x", 1j, 10**400, "b" * 10**6, {Hostile: 1})
    for answer in (*strange, np.array("s"), type, check):
        assert "Exercise test.2: " in count_try_and_build_feedback("test.2", answer)


@pytest.mark.parametrize(("expect", "right", "wrong"), [
    ([4.0, None], [[4.0, None], (tf.constant(4.0), None)], [[4.0, 0.0], [None, 4.0], [4.0], 4.0]),
    ({"a": 1.0, "b": "x"}, [{"a": 1, "b": "x"}, [1.0, "x"]], [{"a": 1.0}, {"a": 1.0, "b": "y"}, ["x", 1.0]]),
    ("b", ["b"], ["a", 1, None]),
    (None, [None], [0.0, "None", []]),
    (True, [True, np.True_, tf.constant(True)], [1, False, "True"]),
    (np.array([1.0, 2.0]), [[1, 2], np.array([1.0, 2.0]), tf.constant([1.0, 2.0])], [[1.0], [[1.0, 2.0]], 1.0]),
    (float("nan"), [float("nan")], [0.0]),
])  # fmt: skip
def test_kinds_of_answers(expect, right, wrong):
    add_exercise(Exercise("test.3", expect=expect))
    for answer in right:
        assert count_try_and_build_feedback("test.3", answer).startswith("Exercise test.3: correct."), answer
    for answer in wrong:
        assert count_try_and_build_feedback("test.3", answer).startswith("Exercise test.3: not yet."), answer


def test_a_function_is_called_on_every_case():
    mistakes = [Mistake(lambda x: x * x, "That is the square.")]
    add_exercise(Exercise("test.4", expect=lambda x: 2 * x, cases=[(2.0,), (3.0,)], mistakes=mistakes, hint="?"))

    def blank(x): ...

    def square(x):
        return x * x

    assert "not answered yet" in count_try_and_build_feedback("test.4", blank)
    assert count_try_and_build_feedback("test.4", lambda x: x + x).startswith("Exercise test.4: correct.")
    said = count_try_and_build_feedback("test.4", square)
    assert "square(3.0) gives 9.0" in said
    assert "expected: 6.0" in said
    assert said.endswith("That is the square.")
    assert "raises TypeError" in count_try_and_build_feedback("test.4", lambda: 1)
    assert "expected: a function (write its name" in count_try_and_build_feedback("test.4", 4.0)


def test_hints_come_one_by_one_a_question_first_and_the_line_last(exercise):
    add_exercise(
        Exercise("test.11", expect=6.0, mistakes=[Mistake(9.0, "That is y.")], hint=("Why?", "Look.", "Write 6."))
    )
    given = [count_try_and_build_feedback("test.11", answer).rpartition("Hint: ")[2] for answer in (1.0, 9.0, 2.0, 3.0)]
    assert given == ["Why?", "That is y.", "Write 6.", "Write 6."]


def test_a_misspelled_name_is_told_as_such_and_is_no_try():
    add_exercise(Exercise("test.12", expect=lambda x: 2 * x, cases=[(2.0,)], hint=("Why?", "Look.", "Twice.")))
    total = 3.0

    def misspelled(x):
        number = total * x  # noqa: F841 - what was meant
        return nubmer  # noqa: F821

    said = count_try_and_build_feedback("test.12", misspelled)
    assert "raises NameError" in said and "(in this line: return nubmer" in said
    assert said.endswith("Python does not know the name 'nubmer'. Did you mean 'number'?")
    assert "There is no '.wacth' here. Did you mean 'watch'?" in count_try_and_build_feedback(
        "test.12", lambda x: tf.GradientTape().wacth(x)
    )
    assert count_try_and_build_feedback("test.12", lambda x: x + 0.5).endswith("Hint: Why?"), "these were no tries"


def test_a_function_that_forgets_to_return_is_no_blank():
    add_exercise(Exercise("test.7", expect=lambda x: 2 * x, cases=[(2.0,)], hint="Twice."))

    def printed(x):
        "Doubles."
        2 * x

    def untouched(x):
        return ...

    said = count_try_and_build_feedback("test.7", printed)
    assert said.startswith("Exercise test.7: not yet.")
    assert "printed(2.0) gives None" in said
    assert "Your function ends without return, so it gives None. Its last line is 2 * x." in said
    assert count_try_and_build_feedback("test.7", lambda x: None).endswith("Hint: Twice.")
    assert "Replace the ..." in count_try_and_build_feedback("test.7", untouched)
    made: dict = {}
    exec("def of_nowhere(x): pass", made)
    assert "Replace the ..." in count_try_and_build_feedback(
        "test.7", made["of_nowhere"]
    )  # nobody can look at its source


def test_a_program_to_change_says_so_until_it_is_changed():
    start = "def nothing(x):\n    return None"
    add_exercise(Exercise("test.8", expect=lambda x: 2 * x, cases=[(2.0,)], start=start, hint="Twice."))

    def nothing(x):
        return None  # a comment is no change

    def still_nothing(x):
        result = None
        return result if x else None

    said = count_try_and_build_feedback("test.8", nothing)
    assert said.startswith("Exercise test.8: not answered yet.\nChange the program and run the cell again.")
    said = count_try_and_build_feedback("test.8", still_nothing)
    assert "still_nothing(2.0) gives None" in said and said.endswith("Hint: Twice.")


def test_of_arrays_in_a_long_call_only_is_said_what_they_are():
    add_exercise(Exercise("long.1", expect=lambda x, n: n, cases=[(np.ones(90, np.float32), 2.0)]))
    assert "(an array of 90 numbers, 2.0) gives 3.0" in count_try_and_build_feedback("long.1", lambda x, n: 3.0)


def test_a_list_of_a_million_is_answered_at_once():
    million, begin = list(range(1_000_000)), thread_time()
    np.asarray(million)
    once, begin = thread_time() - begin, thread_time()
    assert "your answer is a list of length 1000000, not a number" in count_try_and_build_feedback("01.1", million)
    assert thread_time() - begin < 100 * once  # it took 700 times as long


def test_of_several_answers_it_is_said_how_many_are_right():
    add_exercise(Exercise("test.9", expect={"A": "dense", "B": None, "C": 1.0}))
    assert "right: 2 of 3" in count_try_and_build_feedback("test.9", {"A": "dense", "B": 0.0, "C": 1.0})
    assert "right: " not in count_try_and_build_feedback(
        "test.9", {"A": "sparse", "B": 0.0, "C": 5.0}
    )  # a hint may say how near it is
    assert "right: " not in count_try_and_build_feedback("test.9", {"A": "dense", "B": None, "C": 1.0})
    assert "right: " not in count_try_and_build_feedback("test.9", ["dense", None, 1.0])


def test_a_text_is_right_in_capitals_too():
    add_exercise(Exercise("test.10", expect={"A": "dense", "B": "string"}))
    assert "correct" in count_try_and_build_feedback("test.10", {"A": "Dense", "B": " string"})
    assert "right: 1 of 2" in count_try_and_build_feedback("test.10", {"A": "Dense", "B": "strings"})


def test_a_view_looks_at_an_object():
    add_exercise(Exercise("test.6", expect=["x"], view=lambda tape: [v.name[0] for v in tape.watched_variables()]))
    x = tf.Variable(1.0, name="x")
    with tf.GradientTape() as tape:
        x * x
    assert "correct" in count_try_and_build_feedback("test.6", tape)
    assert "a number cannot be used here: AttributeError" in count_try_and_build_feedback("test.6", 1.0)


def test_an_unknown_name_lists_the_known_ones(exercise):
    assert "This lesson has the exercises test.1" in count_try_and_build_feedback("test.99", 1)
    assert count_try_and_build_feedback(7, 1).startswith("The exercise '7' does not exist.")


def test_a_lesson_may_be_named_by_its_number(capsys):
    progress(1, "2")
    assert [line[:10] for line in capsys.readouterr().out.splitlines()] == ["Lesson 01:", "Lesson 02:"]


def test_a_lesson_that_is_not_there_is_no_progress(capsys):
    progress("99")
    assert capsys.readouterr().out == "No lesson named '99' has exercises.\n"


def test_progress_lasts_and_shows_what_is_left(exercise, capsys):
    add_exercise(Exercise("kept.1", expect=1.0))
    add_exercise(Exercise("kept.2", expect=2.0))
    check("kept.1", 1.0)
    check("kept.1", 5.0)
    check("kept.2", 1.0)
    capsys.readouterr()
    progress()
    assert "Lesson kept: #. 1 of 2 solved   left: kept.2\n" in capsys.readouterr().out
    progress("kept")
    assert capsys.readouterr().out == "Lesson kept: #. 1 of 2 solved   left: kept.2\n"
    kept = json.loads(get_progress_path().read_text())
    wrong = {"times": 1, "hint": ""}
    assert kept["exercises"] == {
        "kept.1": {"solved": True, "tries": 2, "right_at": 1, "wrong": {"5.0": wrong}},
        "kept.2": {"solved": False, "tries": 1, "wrong": {"1.0": wrong}},
    }


def test_progress_holds_times_and_wrong_answers_and_no_more(exercise, monkeypatch):
    clock = iter(range(1000, 2000))
    monkeypatch.setattr(
        sys.modules["minitape.course.progress"], "time", SimpleNamespace(time=lambda: next(clock) + 0.5)
    )
    for answer in (9.0, 9.0, 6.0, 5.0, ...):
        count_try_and_build_feedback("test.1", answer)
    predict("test.p", "?", [1, 2]).commit("2")
    kept = json.loads(get_progress_path().read_text())
    assert set(kept) == {"version", "exercises", "predictions", "last", "times"}
    assert kept["times"] == {"test.1": [1000, 1001, 1002, 1003], "test.p": [1004]}  # no answer is no try
    assert kept["exercises"]["test.1"]["right_at"] == 3
    assert kept["exercises"]["test.1"]["wrong"]["9.0"]["times"] == 2
    for answer in range(110):
        count_try_and_build_feedback("test.1", 1000.0 + answer)
    kept = json.loads(get_progress_path().read_text())
    assert len(kept["times"]["test.1"]) == 100 and kept["times"]["test.1"][-1] == 1114  # the file stays small
    assert len(kept["exercises"]["test.1"]["wrong"]) == 20 and kept["exercises"]["test.1"]["tries"] == 114


@pytest.mark.skipif(os.name != "posix", reason="files have modes on POSIX systems only")
def test_only_the_owner_and_a_group_that_was_let_in_read_the_progress(exercise):
    count_try_and_build_feedback("test.1", 6.0)
    assert get_progress_path().stat().st_mode & 0o777 == 0o600
    for before, after in ((0o640, 0o640), (0o644, 0o640)):
        get_progress_path().chmod(before)
        count_try_and_build_feedback("test.1", 6.0)
        assert get_progress_path().stat().st_mode & 0o777 == after


@pytest.mark.parametrize("wrong", [
    {"exercises": {"test.1": {"tries": 1, "solved": False, "wrong": {"9.0": 3}}}, "predictions": {}},
    {"exercises": {"test.1": {"tries": 1, "solved": False}}, "predictions": {}, "times": {"test.1": {}}},
    {"exercises": {"test.1": {"tries": 1, "solved": False}}, "predictions": {}, "times": []},
])  # fmt: skip
def test_a_file_that_holds_something_else_is_kept_aside(exercise, wrong):
    get_progress_path().write_text(json.dumps(wrong))
    assert "not yet" in count_try_and_build_feedback("test.1", 9.0)
    assert json.loads(get_progress_path().read_text())["exercises"]["test.1"]["tries"] == 1


def test_a_grade_asks_whether_an_answer_is_right_and_counts_nothing(exercise):
    assert [is_right("test.1", answer) for answer in (6.0, 9.0, ..., "six")] == [True, False, False, False]
    assert not get_progress_path().exists()
    with pytest.raises(ValueError, match=r"The exercise 'test\.77' does not exist"):
        is_right("test.77", 6.0)


def test_a_spoiled_progress_file_is_kept_aside(exercise):
    get_progress_path().write_text("{ not json")
    assert "correct" in count_try_and_build_feedback("test.1", 6.0)
    kept = get_progress_path().with_name(f"{get_progress_path().name}.unreadable")
    assert kept.read_text() == "{ not json"


def test_each_spoiled_progress_file_is_kept_aside(exercise):
    for text in ("{ one", "{ two", "{ three"):
        get_progress_path().write_text(text)
        assert "correct" in count_try_and_build_feedback("test.1", 6.0)
    kept = get_progress_path().parent.glob(f"{get_progress_path().name}.unreadable*")
    assert sorted(path.read_text() for path in kept) == ["{ one", "{ three", "{ two"]


def test_a_progress_file_that_notepad_saved_is_read(exercise):
    count_try_and_build_feedback("test.1", 6.0)
    get_progress_path().write_text(get_progress_path().read_text(), encoding="utf-8-sig")
    assert read_progress()["exercises"]["test.1"]["solved"]


@pytest.mark.parametrize("jumps", [(-1e9, 0.5, 1e9), (1e9, 1e18, 1e9 - 7200.0)])
def test_a_clock_that_jumps_loses_no_progress(exercise, monkeypatch, jumps):
    for count, now in enumerate(jumps):
        monkeypatch.setattr("time.time", lambda now=now: now)
        assert note_try(f"99.{count}") == 1
    assert sorted(read_progress()["exercises"]) == [f"99.{count}" for count in range(3)]
    assert not list(get_progress_path().parent.glob(f"{get_progress_path().name}.unreadable*"))


def test_a_read_that_fails_loses_no_progress(exercise, monkeypatch):
    """What is answered meanwhile waits for the next time."""
    count_try_and_build_feedback("test.1", 6.0)
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[read_progress.__module__], "read_json", Mock(side_effect=OSError(errno.EIO, "error")))
        assert [note_try("test.2", wrong) for wrong in (("5.0", "Look again."), None)] == [1, 2]
        wrong_answers = {"5.0": {"times": 1, "hint": "Look again."}}
        entry = {"tries": 2, "solved": True, "right_at": 2, "wrong": wrong_answers}
        assert read_progress()["exercises"]["test.2"] == entry
    assert [read_progress()["exercises"][name]["solved"] for name in ("test.1", "test.2")] == [True, True]
    assert note_try("test.3") == 1
    kept = json.loads(get_progress_path().read_text())["exercises"]
    assert {name: entry["tries"] for name, entry in kept.items()} == {"test.1": 1, "test.2": 2, "test.3": 1}


@pytest.mark.skipif(os.name != "posix", reason="files are not locked here")
def test_two_kernels_keep_each_others_progress(tmp_path):
    code = """
import sys
from minitape.course.progress import note_try
for i in range(30):
    note_try(f"{sys.argv[1]}.{i}")
"""
    file = tmp_path / "kept.json"
    both = [
        subprocess.Popen([sys.executable, "-c", code, name], env={**os.environ, "MINITAPE_PROGRESS": str(file)})
        for name in ("one", "two")
    ]
    assert [process.wait() for process in both] == [0, 0]
    assert len(json.loads(file.read_text())["exercises"]) == 60


def test_a_folder_that_can_not_be_written_stops_nobody(exercise, monkeypatch):
    monkeypatch.setenv("MINITAPE_PROGRESS", "/proc/nowhere/progress.json")
    assert "correct" in count_try_and_build_feedback("test.1", 6.0)


def test_a_learner_reads_once_that_progress_is_not_saved_and_why(exercise, monkeypatch):
    note = f"Your progress could not be saved in {get_progress_path()}: the disk is full."
    question = predict("test.p", "What is y?", [6.0, 9.0])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "full")))
        told = [count_try_and_build_feedback("test.1", answer) for answer in (5.0, 6.0)]
        assert note in told[0] and "Your progress" not in told[1] and "Your progress" not in question.commit("9.0")
    assert "Your progress" not in count_try_and_build_feedback("test.1", 6.0)
    assert (
        read_progress()["exercises"]["test.1"]["tries"] == 3
        and not sys.modules[read_progress.__module__]._unsaved[get_progress_path()]
    )
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(errno.EDQUOT, "quota")))
    assert question.commit("6.0").endswith("tries to save it again with your next answer.")  # and again, after a save


@pytest.fixture
def forgetful(monkeypatch):
    """A kernel that nothing was asked in; what it calls is a restart."""
    module = sys.modules[reveal.__module__]

    def restart_kernel():
        monkeypatch.setattr(module, "_questions", {})
        monkeypatch.setattr(module, "_waiting_reveals", {})

    restart_kernel()
    return restart_kernel


def test_a_question_is_answered_before_the_answer_is_told(capsys, forgetful):
    question = predict("test.p", "What is y?", [6.0, "None"])
    assert repr(question) == "Predict: What is y?\n  - 6.0\n  - None\nTo choose, run this cell."
    reveal("test.p", tf.constant(6.0), "Because.")
    assert capsys.readouterr().out == "Pick an answer above to see the explanation here.\n"
    question.commit("6.0")
    reveal("test.p", tf.constant(6.0), "Because.")
    assert capsys.readouterr().out == "You said 6.0, and that's right.\n\nBecause.\n"
    assert question.commit("None") == "Your first answer counts: 6.0."
    reveal("test.p", tf.constant(6.0), "Because.")
    said = capsys.readouterr().out
    assert said == "You said 6.0, and that's right.\n\nBecause.\n", "the first choice counts"
    assert read_progress()["predictions"]["test.p"] == "6.0"
    with pytest.raises(ValueError, match="'7' is not a choice"):
        question.commit("7")
    reveal("test.p", 7.0, "Because.")  # a line of the program was changed
    said = capsys.readouterr().out
    assert said.startswith("The answer: 7.0\n\nThe answer is not one of the choices.") and "Because" not in said


def test_a_wrong_choice_is_answered_with_what_it_believes(capsys, forgetful):
    beliefs = {"9.0": "9.0 is y itself.", "3.0": "3.0 is one factor's share."}
    question = predict("test.p", "What is y?", [3.0, 6.0, 9.0])
    question.commit("9.0")
    reveal("test.p", tf.constant(6.0), "Because.", beliefs)
    question.commit("6.0")
    reveal("test.p", tf.constant(6.0), "Because.", beliefs)
    assert capsys.readouterr().out == (
        "You predicted 9.0. The answer: 6.0\n\n9.0 is y itself.\n\nBecause.\n"
        "You predicted 9.0. The answer: 6.0\n\n9.0 is y itself.\n\nBecause.\n"
    )
    question.commit("3.0")
    reveal("test.p", tf.constant(6.0), "Because.", beliefs)
    said = capsys.readouterr().out
    assert said == "You predicted 9.0. The answer: 6.0\n\n3.0 is one factor's share.\n\nBecause.\n"
    forgetful()
    predict("test.p", "What is y?", [3.0, 6.0, 9.0])
    page = RevealedAnswer("test.p", 6.0, "Because.", beliefs)._repr_markdown_()
    assert "- **9.0**: 9.0 is y itself.\n- **3.0**: 3.0 is one factor's share.\n\nBecause." in page
    predict("01.p1", "What is y?", [3.0, 6.0, 9.0]).commit("9.0")
    reveal("01.p1", 6.0)
    assert "\n\n9.0 is how large `y` is." in capsys.readouterr().out, "the lesson's own"


def test_a_kernel_that_forgot_asks_again_and_says_what_was_predicted_before(capsys, forgetful):
    predict("test.p", "What is y?", [6.0, 9.0]).commit("9.0")
    forgetful()
    reveal("test.p", 6.0, "Because.")
    widget = predict("test.p", "What is y?", [6.0, 9.0])._build_widget()
    reveal("test.p", 6.0, "Because.")
    assert capsys.readouterr().out == 2 * "Pick an answer above to see the explanation here.\n"
    assert (widget.chosen, widget.said) == ("", "Last time, you predicted: 9.0. What do you predict today?")


def test_in_a_page_the_answer_is_folded_and_in_a_notebook_it_appears_when_a_button_is_pressed(forgetful, monkeypatch):
    import IPython

    shown = []

    def display(what, display_id):
        shown.append(what._repr_markdown_())
        return SimpleNamespace(update=lambda again: shown.append(again._repr_markdown_()))

    monkeypatch.setattr(IPython, "get_ipython", object)
    monkeypatch.setattr("IPython.display.display", display)
    question = predict("test.p", "What is y?", [6.0, "a[0] = 9"])
    reveal("test.p", 6.0, "Because.")
    [page] = shown
    before, folded = page.split("<details>")
    assert "6.0" not in before and "Because" not in before
    assert "The answer: **6.0**\n\nBecause." in folded
    question.commit("a[0] = 9")
    assert shown[1].startswith("You predicted `a[0] = 9`. The answer: **6.0**") and shown[1].endswith("\n\nBecause.")


def test_an_array_that_was_predicted_is_right_however_it_is_printed(capsys, forgetful):
    predict("test.a", "What is y?", [[0.0, 1.0], [1.0, 0.0]]).commit("[0.0, 1.0]")
    reveal("test.a", tf.constant([0.0, 1.0]))
    reveal("test.a", tf.constant([1.0, 0.0]))
    assert [line[:32] for line in capsys.readouterr().out.splitlines()[:2]] == [
        "You said [0.0, 1.0], and that's ",
        "You predicted [0.0, 1.0]. The an",
    ]


def test_choices_in_words_stand_for_what_reveal_gets(capsys, forgetful):
    question = predict("test.w", "Does it grow?", {"it grows": True, "it falls": False, "16 times": [2, 8]})
    for truth, said in ((np.bool_(True), "it grows, and that's right"), ((2, 8), "answer: 16 times"), (3, "answer: 3")):
        question.commit("it grows")
        reveal("test.w", truth)
        assert said in capsys.readouterr().out


def test_what_is_chosen_of_a_prediction_is_committed_and_shown_again(forgetful):
    question = predict("test.q", "What is y?", [6.0, 9.0])
    widget = question._build_widget()
    assert (widget.text, widget.choices, widget.chosen, widget.said) == ("What is y?", ["6.0", "9.0"], "", "")
    for choice in ("9.0", "6.0"):
        widget.on_request(widget, {"choice": choice}, [])
        assert (widget.chosen, widget.said) == (
            choice,
            f"You say {choice}. Let's find out: press Shift+Enter twice.",
        )
    assert json.loads(get_progress_path().read_text())["predictions"] == {"test.q": "6.0"}
    assert predict("test.q", "What is y?", [6.0, 9.0])._build_widget().chosen == "6.0"  # the cell is run again
    assert predict("test.q", "What is z?", [1, 2])._build_widget().chosen == ""  # and has other choices by now


def test_words_may_be_set_apart_by_blanks_and_lists_may_stand_in_any_order():
    words = ["not watched", "Stop-Gradient", "outside tape", "recording_paused"]
    assert "correct" in count_try_and_build_feedback("08.1", words)
    assert "correct" in count_try_and_build_feedback("14.3", {"cause": "dead relu", "line": 6})
    assert "given:    {'cause': 'x', 'line': 6}" in count_try_and_build_feedback("14.3", {"cause": "x", "line": 6})
    assert "correct" in count_try_and_build_feedback("08.5", [7, 5, 6, 5])
    assert "write it in square brackets" in count_try_and_build_feedback("08.5", "5, 6, 7")


def test_whole_numbers_are_counted_not_measured():
    add_exercise(Exercise("t.bytes", expect=20_000_000))
    assert "not yet" in count_try_and_build_feedback("t.bytes", 20_000_001)
    assert "correct" in count_try_and_build_feedback("t.bytes", 2e7)


def test_a_variable_of_integers_is_not_one_that_holds_decimals():
    assert "This variable contains integers, and will never accept 1.5." in count_try_and_build_feedback(
        "appendix.7", tf.Variable([1, 2], shape=[None])
    )
    said = count_try_and_build_feedback("appendix.7", tf.Variable([1.0, 2.0]))
    assert "compared" not in said and "the number of axes or their length?" in said
    assert "isn't one variable" in count_try_and_build_feedback("appendix.7", tf.constant([1.0, 2.0]))
    assert "isn't one variable" in count_try_and_build_feedback("appendix.7", [1.0, 2.0])
    assert "correct" in count_try_and_build_feedback(
        "appendix.7", tf.Variable([1.0, 2.0], shape=[None], dtype=tf.float64)
    )


def test_a_class_with_its_first_method_is_an_answer():
    class Tape:
        """A tape."""

    assert "not answered yet" in count_try_and_build_feedback("12.1", Tape)
    Tape.__init__ = lambda self: setattr(self, "rows", [])
    told = count_try_and_build_feedback("12.1", Tape)
    assert "not yet" in told and "[x] Tape().rows" in told and "[ ] tape = Tape()" in told
