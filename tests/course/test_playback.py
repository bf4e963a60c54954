"""A wrong program's tape beside the solution's: the first row that differs is named, and both can be opened."""

import sys

import pytest
from test_exercise_programs import SOLUTIONS, check_program, solved

import minitape as tf
import minitape_widgets  # noqa: F401 - as lessons do
from minitape.course.call_log import observe_run
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.tape_playback import (
    Playback,
    build_first_difference_playback,
    build_solution_function,
    find_solution_text,
)

PARTED = [  # an exercise, a right piece, a wrong one, and what is said of it
    ("01.2", "y = f(x)", "y = f(x) * 2.0",
     "Up to your line y = f(x) * 2.0 both tapes are the same. There yours has × = 6.0, and the solution "
     "has nothing like it."),
    ("01.2", "tf.constant(value)", "tf.constant(value + 1)",
     "In your line tape.watch(x) the tape has x = 3.0, and the solution has x = 2.0."),
    ("02.6", "tape.gradient", "tape.jacobian",
     "On the way back yours has adjoint [1. 0. 0.] of row 8, and the solution has adjoint [1. 1. 1.] of row 8."),
    ("06.4", "(tf.round(x) - x)", "(tf.round(x))", "the solution has - = 0.3599999, which your tape lacks."),
    ("07.2", "y + slope * slope", "y + slope",
     "Before your line loss = y + slope the solution has × = 0.03515625, which your tape lacks."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "right", "wrong", "words"), PARTED)
def test_the_first_row_that_differs_is_named_with_its_line(name, right, wrong, words):
    assert words in check_program(name, solved(name, right, wrong))


def test_tapes_that_are_alike_are_not_shown_and_another_name_is_no_difference():
    wrong = solved("01.2", "return tape", "return -tape").replace("tf.constant(value)", 'tf.Variable(value, name="x")')
    said = check_program("01.2", wrong)
    assert "not yet" in said and "Row" not in said
    assert "Row" not in check_program("01.2", SOLUTIONS["01.2"])


def test_other_leaves_and_a_tape_that_is_asked_twice_say_nothing():
    assert "Row" not in check_program("02.6", solved("02.6", "tape.watch(x)", "pass"))
    assert "Row" not in check_program("05.2", solved("05.2", "tape.gradient(z, x)", "tape.gradient(y, x)"))


def test_a_program_without_a_tape_or_with_an_error_is_shown_none():
    assert "Row" not in count_try_and_build_feedback("01.2", lambda f, value: 3.0)
    assert "Row" not in check_program("01.2", solved("01.2", "f(x)", "f(x, x)"))


def test_a_row_that_is_not_recorded_is_told_as_such():
    def tape_of(watch):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            if watch:
                tape.watch(x)
            y = x * x
        tape.gradient(y, x)
        return tape

    told = build_first_difference_playback([tape_of(False)], [tape_of(True)]).text
    assert "The solution's tape recorded × = 4.0 there, and yours did not." in told


@pytest.fixture
def playback():
    def wrong(f, value):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) * x
        return tape.gradient(y, x)

    tapes = []
    for function in (wrong, build_solution_function(find_solution_text("01.2"), wrong)):
        with observe_run() as seen:
            function(tf.sin, 2.0)
        tapes.append(seen.asked_tapes)
    return build_first_difference_playback(*tapes)


def test_the_box_is_folded_and_makes_its_two_views_when_it_is_opened(playback):
    bundle = playback._repr_mimebundle_()
    assert (
        bundle["text/html"].startswith("<details><summary>Your tape beside") and bundle["text/html"].count("<img") == 2
    )
    box = playback.build_box()
    [inside] = box.children
    assert box.selected_index is None and inside.children == ()
    box.selected_index = 0
    text, grid = inside.children
    assert (
        text.value == "Up to your line y = f(x) * x both tapes are the same. There yours has × = 1.8185948, and the "
        "solution has nothing like it."
    )
    titles, views = zip(*(column.children for column in grid.children), strict=True)
    assert [title.value for title in titles] == ["<b>Your tape</b>", "<b>The solution&#x27;s tape</b>"]
    assert [type(view).__name__ for view in views] == ["TapeView", "TapeView"]


def test_the_sentence_and_both_pictures_name_the_same_row(playback):
    box = playback.build_box()
    box.selected_index = 0
    views = [column.children[1] for column in box.children[0].children[1].children]
    row, _ = playback.difference.rows
    assert [view._build_snapshot()["differs"]["row"] for view in views] == list(playback.difference.places)
    assert views[0]._build_snapshot()["differs"]["row"] == row["row"]
    assert "× of row 1, 0 = 1.8185948 here" in views[0]._build_snapshot()["differs"]["text"]


def test_without_live_views_both_pictures_are_left(playback, monkeypatch):
    monkeypatch.delitem(sys.modules, "minitape_widgets")
    assert set(playback._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert isinstance(playback, Playback)
