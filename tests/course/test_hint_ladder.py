"""What is said to a wrong program that is handed in again: each time the next step, and only what is true of it."""

import pytest
from test_exercise_programs import SOLUTIONS, check_program, solved

from minitape.course.checker import count_try_and_build_feedback


@pytest.fixture(autouse=True)
def new_learner(monkeypatch, tmp_path):
    monkeypatch.setenv("MINITAPE_PROGRESS", str(tmp_path / "progress.json"))


def read_hints(name, program, count=3):
    return [check_program(name, program).partition("Hint: ")[2].partition("\n  Your tape")[0] for _ in range(count)]


def test_each_rung_speaks_of_this_program():
    what, where, line = read_hints("08.3", solved("08.3", "reduce_mean", "reduce_sum"))
    assert what == "That's the derivative of the sum. A mean also divides by the count."
    assert where == (
        "Up to your line y = tf.reduce_sum(results), both tapes are the same. "
        "Next, your tape has Σ(results) = 35.0, but the solution's tape has mean(results) = 11.666667."
    )
    assert line.split("\n")[1:] == ["  - y = tf.reduce_sum(results)", "  + y = tf.reduce_mean(results)"]


def test_another_wrong_program_hears_first_what_it_does():
    read_hints("08.3", solved("08.3", "reduce_mean", "reduce_sum"))
    twice = SOLUTIONS["08.3"].replace("return tape.gradient(y, x)", "return 2.0 * tape.gradient(y, x)")
    assert (
        check_program("08.3", twice)
        .partition("Hint: ")[2]
        .startswith("In each case, your result is 2 times what it should be")
    )


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
        ("14.4", SOLUTIONS["14.4"].replace("** 2", "** 4"), "stop_recording"),
        ("14.4", SOLUTIONS["14.4"].replace("- t)", "+ t)"), "stop_recording"),
        ("10.2", SOLUTIONS["10.2"].replace("penalty * x", "penalty * x * x"), "Python looks up"),
    ],
)
def test_no_rung_speaks_of_a_line_that_the_program_does_not_have(name, program, gone):
    assert [hint for hint in read_hints(name, program, 4) if gone in hint] == []


def test_a_hint_that_names_the_line_of_a_cell_is_the_same_in_its_next_run():
    program = solved("01.4", "outer.watch(x)", "pass")
    what, where, line = read_hints("01.4", program)
    assert what.startswith("outer: x is a tensor that the tape does not watch")
    assert "Next, the solution's tape recorded ∂y/∂y × x = 1.0, but your tape did not." in where
    assert line.endswith("  - pass\n  + outer.watch(x)")


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("11.1", [2.386, -1.0], "You rounded correctly. Now give more digits."),
        ("11.1", [2.4, -1.0], "log"),
    ],
)
def test_a_rounded_number_hears_that_it_is_right(name, answer, words):
    assert words in count_try_and_build_feedback(name, answer)


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
            "def with_zero_ends(numbers):\n    return tf.concat([[0.0], tf.constant(numbers)[1:-1], [0.0]], 0)",
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
def learn(loss_of, start, steps):
    w = tf.Variable(start)
    with tf.GradientTape(persistent=True) as tape:
        loss = loss_of(w)
    for _ in range(steps):
        w.assign_sub(0.1 * tape.gradient(loss, w))
    return w"""
    assert "Your tape records only once, before the loop" in check_program("03.2", program)


@pytest.mark.parametrize("loop", ["for _ in tf.range(times)", "while k < times"])
def test_a_loop_that_tensorflow_records_once_is_accepted(loop):
    program = SOLUTIONS["10.4"]
    begin = program.index("k, y = tf.while_loop")
    end = program.index("\n", begin)
    body = f"k = 0\n        {loop}:\n            y = f(y)\n            k = k + 1"
    assert "correct" in check_program("10.4", program[:begin] + body + program[end:])
