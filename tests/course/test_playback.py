"""A wrong program's tape beside the solution's: the first row that differs is named, and both can be opened."""

import sys
from xml.etree import ElementTree

import pytest
from test_exercise_programs import SOLUTIONS, check_program, solved

import minitape as tf
from minitape.course.call_log import observe_run
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.tape_playback import (
    build_first_difference_playback,
    build_solution_function,
    find_solution_text,
)
from minitape_widgets.paired_views import build_comparison_box

SVG = "{http://www.w3.org/2000/svg}"
PARTED = [  # an exercise, a right piece, a wrong one, and what is said of it
    ("01.2", "y = f(x)", "y = f(x) * 2.0",
     "Your tape and the solution's differ at the line y = f(x) * 2.0: your program computed (… × x + 1.0) × "
     "2.0 = 6.0, but the solution's tape ends before that."),
    ("01.2", "tf.constant(value)", "tf.constant(value + 1)",
     "at the line tape.watch(x): your tape has x = 3.0, but the solution's tape has x = 2.0."),
    ("04.3", "f(a, b)", "f(b, a)",
     "at the line y = f(b, a): next, your program computed b × b = 25.0, and the solution computed a × a = 4.0."),
    ("04.3", "        tape.watch(b)\n        y = f(a, b)", "        y = f(a, b)\n        tape.watch(b)",
     "Before the line y = f(a, b), the solution's tape already watches b = 5.0."),
    ("04.3", "watch(b)", "watch([a, b])",
     "Before the line y = f(a, b), your tape already watches a = 2.0, but the solution's tape does not."),
    ("04.3", "        y = f(a, b)", "    y = f(a, b)",
     "Your tape differs from the solution's: it ends before a × a = 4.0, which the solution computed."),
    ("04.3",
     "    with tf.GradientTape(watch_accessed_variables=False) as tape:\n        tape.watch(b)\n        y = f(a, b)",
     "    start = b + 0.0\n    with tf.GradientTape(watch_accessed_variables=False) as tape:\n        tape.watch(b)\n"
     "        y = f(a, start)",
     "your program computed a × a × start = 20.0, and the solution computed a × a × b = 20.0."),
    ("06.6", "        with tape.stop_recording():\n            said = note(a, b)\n        loss = f(a, b)",
     "        loss = f(a, b)\n        with tape.stop_recording():\n            said = note(b, a)",
     "at the line loss = f(a, b): next, your program computed a − b = 2.0, and the solution computed a × b = 3.0."),
    ("06.6", "loss = f(a, b)", "loss = f(a, b) + f(a, b)",
     "your program computed a − b = 2.0, but the solution's tape ends before that."),
    ("09.2", "f(w * x)", "f(w + x)",
     "at the line total = total + f(w + x): next, your program computed w + 1.0 = 4.0, and the solution computed "
     "w × 1.0 = 3.0."),
    ("08.2", "dtype=tf.float32", "trainable=True",
     "your program computed x × x = 9, and the solution computed x × x = 9.0."),
    ("07.1", "y + slope * slope", "y + slope",
     "outer: Your tape and the solution's differ at the line loss = y + slope: next, your program computed y + "
     "slope = 0.09375, and the solution computed slope × slope = 0.03515625."),
    ("08.6", "tf.where(x > 0.0, f(safe), 0.0)", "f(safe)",
     "the solution computed x > 0.0 = [False True True]."),
    ("01.4", "        first = inner", "    first = inner",
     "outer: Your tape differs from the solution's: the solution's tape recorded a step of another tape's sweep "
     "there, but your tape did not."),
    ("01.4", "        outer.watch(x)\n", "",
     "outer: Before the line y = f(x), the solution's tape already watches x = 1.0."),
    ("01.4", "        first = inner.gradient(y, x)",
     "    with tf.GradientTape() as outer:\n        outer.watch(x)\n        first = inner.gradient(y, x)",
     "outer: Your tape and the solution's differ at the line first = inner.gradient(y, x): next, your program"),
    ("01.5", "x = x - 0.1", "x = start - 0.1",
     "tape number 3 of those you asked: Your tape and the solution's differ at the line tape.watch(x): "
     "your tape has x = "),
    ("11.6", "upstream, 0.0", "upstream, 1.0",
     "Both tapes have the same operations. In the backward sweep, sign(x) sends 1.0 on your tape, but 0.0 on the "
     "solution's tape."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "right", "wrong", "words"), PARTED)
def test_the_first_row_that_differs_is_named_with_its_line(name, right, wrong, words):
    assert words in check_program(name, solved(name, right, wrong))


def test_a_tape_that_reveals_the_answer_is_shown_from_the_third_try_on():
    program = solved("06.4", "(tf.round(x) - x)", "(tf.round(x))")
    words = "the solution computed round(x) − x = 0.3599999."
    said = [check_program("06.4", program) for _ in range(3)]
    assert [words in feedback for feedback in said] == [False, False, True], said


def test_tapes_that_are_alike_are_not_shown_and_another_name_is_no_difference():
    wrong = solved("01.2", "return tape", "return -tape").replace("tf.constant(value)", 'tf.Variable(value, name="x")')
    said = check_program("01.2", wrong)
    assert "not yet" in said and "Row" not in said
    assert "Row" not in check_program("01.2", SOLUTIONS["01.2"])


def test_steps_of_an_inner_sweep_that_outer_tapes_record_are_missing_on_no_inner_tape():
    side_by_side = """def third_derivative(f, value):
    x = tf.Variable(value)
    with tf.GradientTape() as one:
        y = f(x)
    first = one.gradient(y, x)
    with tf.GradientTape() as two:
        z = first * x
    second = two.gradient(z, x)
    with tf.GradientTape() as three:
        u = second * x
    return three.gradient(u, x)
"""
    said = check_program("07.3", side_by_side)
    assert "two and the solution's middle: " in said and "first × x = " in said, said


def test_arguments_of_a_traced_function_are_neither_shown_nor_compared_in_an_order():
    swapped = solved("10.2", "loss(x, penalty)", "loss(penalty, x)")
    assert "your program computed loss = 0.0, but the solution computed loss = 9.0" in check_program("10.2", swapped)
    constant = solved("10.2", "penalty * x", "penalty * penalty * x").replace(
        "tf.Variable(value)", "tf.constant(value)"
    )
    said = check_program("10.2", constant.replace("as tape:\n", "as tape:\n            tape.watch(x)\n"))
    assert "tape number 2 of those you asked: " in said, said


def test_other_leaves_and_a_tape_that_is_asked_twice_say_nothing():
    assert "Row" not in check_program("01.2", solved("01.2", "tape.watch(x)", "pass"))
    assert "Row" not in check_program("05.3", solved("05.3", "tape.gradient(z, x)", "tape.gradient(y, x)"))


def test_a_program_without_a_tape_or_with_an_error_is_shown_none():
    assert "Row" not in count_try_and_build_feedback("01.2", lambda f, value: 3.0)
    assert "Row" not in check_program("01.2", solved("01.2", "f(x)", "f(x, x)"))


def test_a_row_that_is_not_recorded_is_told_as_such():
    def square(x, watch):
        with tf.GradientTape() as tape:
            if watch:
                tape.watch(x)
            y = x * x
        tape.gradient(y, x)

    runs = [observe(square, tf.constant(2.0), watch) for watch in (False, True)]
    told = build_first_difference_playback(*runs).text
    assert "Before the line y = x * x, the solution's tape already watches x = 2.0." in told


def test_a_jacobian_begins_with_one_element():
    def compute_slopes(method):
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return getattr(tape, method)(y, x)

    runs = [observe(compute_slopes, method) for method in ("jacobian", "gradient")]
    assert build_first_difference_playback(*runs).text.endswith(
        "Both tapes have the same operations. In the backward sweep, x × x has [1. 0. 0.] on your tape, but [1. 1. 1.] "
        "on the solution's tape."
    )


def read_figure(playback):
    page = playback._repr_mimebundle_()["text/html"]
    return ElementTree.fromstring(page[page.index("<svg") : page.index("</details>")])


def open_views(box):
    """The grid of two live views that a box makes when it is opened."""
    box.selected_index = 0
    [content] = box.children
    [grid] = content.children
    return grid


def observe(function, *arguments):
    with observe_run() as seen:
        function(*arguments)
    return seen


@pytest.fixture
def playback():
    def wrong(f, value):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) * x
        return tape.gradient(y, x)

    functions = wrong, build_solution_function(find_solution_text("01.2"), wrong)
    return build_first_difference_playback(*(observe(each, tf.sin, 2.0) for each in functions), ("0.08", "-0.42"))


def test_the_box_is_folded_and_makes_its_two_views_when_it_is_opened(playback):
    bundle = playback._repr_mimebundle_()
    assert (
        bundle["text/html"].startswith("<details><summary>Your tape next to") and bundle["text/html"].count("<svg") == 1
    )
    assert (
        "<p>Your tape and the solution&#x27;s differ at the line y = f(x) * x: your program computed sin(x) × "
        "x = 1.8185948, but the solution&#x27;s tape ends before that.</p><svg" in bundle["text/html"]
    )
    box = build_comparison_box(playback, "<p>The picture.</p>", ["Tapes", "Live"], ["Yours", "Ours"])
    [inside] = box.children
    assert box.selected_index is None and inside.children == ()
    box.selected_index = 0
    picture, views_box = inside.children
    assert picture.value == "<p>The picture.</p>"
    grid = open_views(views_box)
    titles, views = zip(*(column.children for column in grid.children), strict=True)
    assert [title.value for title in titles] == ["<b>Yours</b>", "<b>Ours</b>"]
    assert [type(view).__name__ for view in views] == ["TapeView", "TapeView"]


def test_the_sentence_and_both_pictures_name_the_same_row(playback):
    box = build_comparison_box(playback, "<p>The picture.</p>", ["Tapes", "Live"], ["Yours", "Ours"])
    box.selected_index = 0
    views = [column.children[1] for column in open_views(box.children[0].children[1]).children]
    row, _ = playback.difference.rows
    assert [view._build_snapshot()["differs"]["row"] for view in views] == list(playback.difference.places)
    assert views[0]._build_snapshot()["differs"]["row"] == row["row"]
    assert views[0]._build_snapshot()["differs"]["text"] == "inserted: y = sin(x) × x = 1.8185948"


def test_the_picture_has_both_tapes_on_one_layout_up_to_the_wrong_number(playback):
    tree = read_figure(playback)
    texts = [(node.text, float(node.get("x")), float(node.get("y"))) for node in tree.iter(f"{SVG}text")]
    heights = {name: [y for text, _, y in texts if text == name] for name in ("x", "y = sin(x)", "sin(x)", "≠", "=")}
    assert len(heights["x"]) == 2 and len({*heights["x"]}) == 1, "a row that both have stands on one line"
    assert heights["sin(x)"] == heights["y = sin(x)"]
    [difference] = heights["≠"]
    [wrong_row] = [y for text, _, y in texts if text == "y = sin(x) × x"]
    assert 0 < difference - wrong_row < 20, "the sign stands beside the row that the sentence names"
    assert [text for text, _, y in texts if y == max(y for _, _, y in texts)] == ["result: 0.08", "result: -0.42"]


def test_the_rows_appear_forward_and_the_adjoints_back(playback):
    tree = read_figure(playback)
    seconds = {}
    for group in tree.iter(f"{SVG}g"):
        for node in group.iter(f"{SVG}text"):
            seconds.setdefault(node.text, float(group.get("style").removeprefix("animation-delay:")[:-1]))
    assert seconds["x"] < seconds["y = sin(x)"] < seconds["y = sin(x) × x"] < seconds["∂ 1.0"] < seconds["result: 0.08"]
    assert "prefers-reduced-motion" in playback._repr_mimebundle_()["text/html"]


def test_without_live_views_the_sentence_is_left(playback, monkeypatch):
    monkeypatch.delitem(sys.modules, "minitape_widgets")
    assert playback._repr_mimebundle_() == {"text/plain": f"Your tape next to the solution's tape: {playback.text}"}
