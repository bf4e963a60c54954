"""What is said to a wrong program that is handed in again: each time the next step, and only what is true of it."""

import pytest
from test_exercise_programs import SOLUTIONS, check_program, solved

from minitape.course import Exercise
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.exercise import ADDED_EXERCISES


@pytest.fixture(autouse=True)
def new_learner(monkeypatch, tmp_path):
    monkeypatch.setenv("MINITAPE_PROGRESS", str(tmp_path / "progress.json"))


def read_hints(name, program, count=3):
    return [check_program(name, program).partition("Hint: ")[2].partition("\n  Your tape")[0] for _ in range(count)]


def test_each_rung_speaks_of_this_program():
    first_reply = check_program("08.3", solved("08.3", "reduce_mean", "reduce_sum"))
    assert "Hint: That's the derivative of the sum. A mean also divides by the count." in first_reply
    assert (
        "Your tape and the solution's differ at the line y = tf.reduce_sum(results): "
        "next, your program computed Σ(results) = 35.0, and the solution computed mean(results) = 11.666667."
    ) in first_reply
    pointer, line = read_hints("08.3", solved("08.3", "reduce_mean", "reduce_sum"), 2)
    assert pointer.startswith("A path from x to the result needs a tf function for the mean of all results")
    assert line.split("\n")[1:] == ["  - y = tf.reduce_sum(results)", "  + y = tf.reduce_mean(results)"]


def test_the_second_rung_names_a_line_that_the_first_reply_did_not_name():
    for name, right, wrong in [
        ("08.3", "gradient(y, x)", "gradient(results, x)"),
        ("09.2", "tape.gradient(total, w)", "2.0 * tape.gradient(total, w)"),
        ("10.2", "found.append(tape.gradient(y, x))", "found.append(y)"),
    ]:
        program = solved(name, right, wrong)
        own_line = next(line.strip() for line in program.split("\n") if wrong in line)
        first_reply = check_program(name, program)
        assert own_line not in first_reply
        assert read_hints(name, program, 1) == [f"The rest is right, so look again at your line {own_line}."]


@pytest.mark.parametrize("name", ["08.3", "09.2", "10.2"])
def test_no_rung_repeats_what_stood_below_the_one_before(name):
    programs = {
        "08.3": solved("08.3", "reduce_mean", "reduce_max"),
        "09.2": solved("09.2", "f(w * x)", "f(x * x)"),
        "10.2": solved("10.2", "penalty * x", "penalty"),
    }
    replies = [check_program(name, programs[name]) for _ in range(3)]
    below = replies[0].partition("Hint: ")[2]
    for reply in replies[1:]:
        rung = reply.partition("Hint: ")[2].partition("\n  Your tape")[0]
        assert rung not in below
        below += reply


def test_a_line_that_is_too_far_left_is_shown_where_it_stands():
    outside = solved("08.3", "        y = tf.reduce_mean(results)", "    y = tf.reduce_mean(results)")
    assert read_hints("08.3", outside)[2].split("\n")[1:] == [
        "  - y = tf.reduce_mean(results)",
        "  +     y = tf.reduce_mean(results)",
    ]


def test_names_that_both_programs_have_are_not_exchanged():
    program = """
def learn(loss_of, start, steps):
    for _ in range(steps):
        w = tf.Variable(start)
        with tf.GradientTape() as tape:
            loss = loss_of(w)
        w.assign_sub(0.1 * tape.gradient(loss, w))
    return w"""
    assert "your tape has w = -2.0, but the solution's tape has w = -1.4." in check_program("03.2", program)


def test_another_wrong_program_hears_first_what_it_does():
    read_hints("08.3", solved("08.3", "reduce_mean", "reduce_sum"))
    twice = SOLUTIONS["08.3"].replace("return tape.gradient(y, x)", "return 2.0 * tape.gradient(y, x)")
    hint = check_program("08.3", twice).partition("Hint: ")[2]
    assert hint.startswith("The right result is in tape.gradient(y, x), but your function returns something else.")


def test_the_line_is_in_the_names_of_the_learner():
    program = """
def slopes(g, numbers):
    v = tf.Variable(numbers)
    with tf.GradientTape() as recorder:
        heights = g(v)
        mean = tf.reduce_sum(heights)
    return recorder.gradient(mean, v)"""
    assert read_hints("08.3", program)[2].endswith(
        "- mean = tf.reduce_sum(heights)\n  + mean = tf.reduce_mean(heights)"
    )


@pytest.mark.parametrize(
    ("name", "program", "gone"),
    [
        ("08.3", SOLUTIONS["08.3"].replace("reduce_mean", "reduce_sum"), "np.mean"),
        ("08.3", SOLUTIONS["08.3"].replace("tf.reduce_mean(results)", "results[0]"), "np.mean"),
        ("14.4", SOLUTIONS["14.4"].replace("** 2", "** 4"), "nothing around"),
        ("14.4", SOLUTIONS["14.4"].replace("- t)", "+ t)"), "nothing around"),
        ("10.2", SOLUTIONS["10.2"].replace("penalty * x", "penalty * x * x"), "Python looks up"),
    ],
)
def test_no_rung_speaks_of_a_line_that_the_program_does_not_have(name, program, gone):
    assert [hint for hint in read_hints(name, program, 4) if gone in hint] == []


def test_a_hint_that_names_the_line_of_a_cell_is_the_same_in_its_next_run():
    program = solved("01.4", "outer.watch(x)", "pass")
    first_reply = check_program("01.4", program)
    assert "Hint: outer: x is a tensor that the tape does not watch" in first_reply
    assert "outer: Before the line y = f(x), the solution's tape already watches x = 1.0." in first_reply
    question, line = read_hints("01.4", program, 2)
    assert question == "The rest is right, so look again at your line pass."
    assert line.endswith("  - pass\n  + outer.watch(x)")


@pytest.mark.parametrize(
    ("answer", "words"),
    [([2.386, -1.0], "You rounded correctly. Now give more digits."), ([2.4, -1.0], "Think of the logarithm.")],
)
def test_a_rounded_number_hears_that_it_is_right(answer, words, monkeypatch):
    made = Exercise("made.1", expect=[2.386294, -1.0], hint="Think of the logarithm.")
    monkeypatch.setitem(ADDED_EXERCISES, made.name, made)
    assert words in count_try_and_build_feedback("made.1", answer)


@pytest.mark.parametrize(
    ("name", "program", "words"),
    [
        (
            "appendix.2",
            "def keep(numbers):\n    return [max(x, 0.0) for x in numbers]",
            "The numbers are right, but they aren't in a tensor.",
        ),
        (
            "appendix.3",
            "def with_zero_diagonal(table):\n    return tf.constant(table) * (1.0 - tf.eye(len(table)))",
            "tf.tensor_scatter_nd_update",
        ),
        ("07.3", "def third(f, value):\n    x = tf.constant(value)\n    return derivative", "never call it"),
        ("01.2", solved("01.2", "tape.watch(x)", "tape.watch"), "has no parentheses"),
    ],
)
def test_a_program_hears_what_it_does(name, program, words):
    assert words in check_program(name, program.replace("derivative", "abs"))


def test_a_tape_before_the_loop_is_noticed():
    program = """
def careful(loss_of, start, steps, rate):
    w = tf.Variable(start)
    with tf.GradientTape(persistent=True) as tape:
        loss = loss_of(w)
    for _ in range(steps):
        w.assign_sub(rate * tape.gradient(loss, w))
    return w"""
    assert "If a tape records only once, before the loop" in check_program("03.4", program)


def test_a_line_is_named_only_if_the_program_is_right_with_the_line_of_the_solution():
    """Here the second tape is at fault. The line of the memories differs from the solution's, but it's right."""
    steps = "da, db = tape.gradient(loss, [a, b])\n        seen_a.assign_add(da**2)\n        seen_b.assign_add(db**2)\n"
    program = solved("09.6", steps, steps.replace("db**2", "3.0 * db**2")).replace(", trainable=False", "")
    for hint in read_hints("09.6", program, 4):
        assert "Look again" not in hint


@pytest.mark.parametrize("loop", ["for _ in tf.range(times)", "while k < times"])
def test_a_loop_that_tensorflow_records_once_is_accepted(loop):
    program = SOLUTIONS["10.4"]
    begin = program.index("k, y = tf.while_loop")
    end = program.index("\n", begin)
    body = f"k = 0\n        {loop}:\n            y = f(y)\n            k = k + 1"
    assert "correct" in check_program("10.4", program[:begin] + body + program[end:])
