"""How an answer was found: other right ways are right; a slope by hand, a None that was typed in and a misspelled name
are told as such.
"""

import dataclasses
import logging
import re
import textwrap

import pytest
from test_exercise_programs import (
    EXERCISES,
    SOLUTIONS,
    check_program,
    define_function,
    get_exercise,
    list_exercise_cells,
    parse_programs,
)

import minitape as tf
from minitape.course import call_log
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.exercise import ADDED_EXERCISES
from minitape.recording.value_graph import ValueGraph

PLAIN = """
def number(x):
    return tf.constant(x, tf.float64)


def slope_by_hand(f, x):
    return (f(number(x + 1e-4)) - f(number(x - 1e-4))).numpy() / 2e-4


def bend_by_hand(f, x):
    return (f(number(x + 1e-3)) - 2.0 * f(number(x)) + f(number(x - 1e-3))).numpy() / 1e-6
"""
BY_HAND = {
    "01.2": "return slope_by_hand(f, value)",
    "01.4": "return bend_by_hand(f, value)",
    "01.5": "for _ in range(steps): start = start - 0.1 * slope_by_hand(f, start)\n    return start",
    "03.2": "w = tf.Variable(start)\n    for _ in range(steps): w.assign_sub(0.1 * slope_by_hand(loss_of, "
    "float(w)))\n    return w",
    "05.3": "return [slope_by_hand(f, value), slope_by_hand(g, value)]",
    "06.4": "return [round(value), slope_by_hand(rest, round(value))]",
    "06.5": "return [value, factor * slope_by_hand(rest, value)]",
    "07.1": "slope = slope_by_hand(f, value)\n    return slope + 2.0 * slope * bend_by_hand(f, value)",
    "07.4": "return value - slope_by_hand(f, value) / bend_by_hand(f, value)",
    "08.2": "return slope_by_hand(f, value)",
    "09.5": "w, speed, best, kept, lowest, momentum = 0.0, 0.0, 0.0, 0.0, 1e9, 0.8\n    for _ in range(steps):\n"
    "        loss = float(loss_of(number(w)))\n        if loss <= lowest:\n"
    "            best, kept, lowest = w, speed, loss\n"
    "            speed = momentum * speed - 0.05 * slope_by_hand(loss_of, w)\n            w += speed\n"
    "        else: w, speed, momentum = best, kept, momentum / 2.0\n    return best",
    "10.6": "angle = 0.4\n    for _ in range(10): angle -= float(throw(number(angle)) - target) / "
    "slope_by_hand(throw, angle)\n    return angle",
}
"""Slopes from differences of two values, in so many digits that the numbers are right: in each the body of the
exercise's function."""
TWO = "a, b = tf.Variable(value_of_a), tf.Variable(value_of_b)\n    with tf.GradientTape() as tape: y = "
TYPED_NONE = {
    "04.3": f"{TWO}f(a, b)\n    return [None, tape.gradient(y, b)]",
    "06.3": f"{TWO}distance(a, b)\n    return [tape.gradient(y, a), None]",
}
WAYS = parse_programs(
    """
#@ 01.2
def derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x)
#@ 01.2
def derivative(f, value):
    x = tf.constant(value)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = f(x)
    return acc.jvp(y)
#@ 01.2
def derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch([x])
        y = f(x)
    f(tf.constant(1.0))
    [g] = tape.gradient(y, [x])
    return float(g)
#@ 01.4
def second_derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        first = tape.gradient(y, x)
    return tape.gradient(first, x)
#@ 01.5
def roll_down(f, start, steps):
    x = tf.Variable(start)
    opt = tf.keras.optimizers.SGD(0.1)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            y = f(x)
        opt.apply_gradients([(tape.gradient(y, x), x)])
    return x.numpy()
#@ 03.3
def best_seen(loss_of, start, steps, rate):
    w, seen = tf.Variable(start), []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = loss_of(w)
        seen.append((float(loss), tf.Variable(w)))
        w.assign(w - rate * tape.gradient(loss, w))
    return min(seen, key=lambda pair: pair[0])[1]
#@ 03.2
def learn(loss_of, start, steps):
    w = tf.Variable(start)
    opt = tf.keras.optimizers.SGD(0.1)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = loss_of(w)
        opt.apply_gradients([(tape.gradient(loss, w), w)])
    return w
#@ 03.4
def careful(loss_of, start, steps, rate):
    w, lowest = tf.Variable(start), float("inf")
    for _ in range(steps):
        with tf.GradientTape() as tape:
            lowest = loss_of(w)
        step = rate * tape.gradient(lowest, w)
        w.assign_sub(step)
        if not loss_of(w) < lowest:
            w.assign_add(step)
            rate *= 0.5
    return w
#@ 03.6
def smooth(numbers, rate):
    average = tf.Variable(numbers[0])
    return [average.assign((1 - rate) * average + rate * number).numpy() for number in numbers]
#@ 04.3
def only_b(f, value_of_a, value_of_b):
    a, b = tf.Variable(value_of_a), tf.Variable(value_of_b)
    tape = tf.GradientTape(False, False)
    with tape:
        tape.watch([b])
        y = f(a, b)
    return tape.gradient(y, (a, b))
#@ 04.3
def only_b(f, value_of_a, value_of_b):
    a = tf.Variable(value_of_a)
    b = tf.Variable(value_of_b)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(b)
        y = f(a.read_value(), b)
    return tape.gradient(y, [a, b])
#@ 05.5
def fooled(loss_of, x, step):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = loss_of(x)
    slope = tape.gradient(loss, x)
    return tf.where(slope > 0.0, x + step, tf.where(slope < 0.0, x - step, x))
#@ 07.6
def best_rate(f, value):
    slope = derivative(f)
    return 1.0 / (slope(tf.constant(value + 1.0)) - slope(tf.constant(value)))
#@ 06.6
def with_note(f, note, value_of_a, value_of_b):
    p, q = tf.Variable(value_of_a), tf.Variable(value_of_b)
    with tf.GradientTape() as tape:
        cost = f(p, q)
        with tape.stop_recording():
            seen = note(p, q)
    return [seen, *tape.gradient(cost, [p, q])]
#@ 06.4
def value_and_gradient(rest, value):
    w = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = tf.round(w) + w - tf.stop_gradient(w)
        z = rest(y)
    return y, tape.gradient(z, w)
#@ 05.3
def two_gradients(f, g, value):
    x = tf.Variable(value)
    with tf.GradientTape() as one, tf.GradientTape() as two:
        y, z = f(x), g(x)
    return one.gradient(y, x), two.gradient(z, x)
#@ 05.5
def fooled(loss_of, x, step):
    start = tf.Variable(x)
    with tf.GradientTape() as tape:
        loss = -loss_of(start)
    return [number - step * np.sign(slope) for number, slope in zip(x, tape.gradient(loss, start).numpy())]
#@ 06.3
def gradients(distance, value_of_a, value_of_b):
    a = tf.Variable(value_of_a)
    b = tf.Variable(value_of_b)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            target = tf.identity(b)
        loss = distance(a, target)
    return tape.gradient(loss, [a, b])
#@ 06.5
def with_factor(rest, value, factor):
    @tf.custom_gradient
    def turned(x):
        return tf.identity(x), lambda upstream: factor * upstream

    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = turned(x)
        z = rest(y)
    return [y, tape.gradient(z, x)]
#@ 07.1
def gradient_of_loss(f, value):
    x = tf.constant(value)

    def slope(at):
        with tf.GradientTape() as inner:
            inner.watch(at)
            y = f(at)
        return inner.gradient(y, at)

    with tf.GradientTape() as outer:
        outer.watch(x)
        loss = f(x) + slope(x) ** 2
    return outer.gradient(loss, x)
#@ 07.4
def newton_step(f, value):
    x = tf.Variable(value)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(x)
        g = inner.gradient(y, x)
    return x - g / outer.gradient(g, x)
#@ 07.7
def my_product(f, point, direction):
    x = tf.constant(point)
    direction = tf.constant(direction)
    with tf.autodiff.ForwardAccumulator(x, direction) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
    return acc.jvp(g)
#@ 07.7
def along_a_line(f, point, direction):
    x, v, s = tf.constant(point), tf.constant(direction), tf.constant(0.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(s)
            y = f(x + s * v)
        slope = inner.gradient(y, s)
    return outer.gradient(slope, x)
#@ 07.5
def lowest(f, start, steps):
    x = tf.constant(start)
    slope = derivative(f)
    bend = derivative(slope)
    for _ in range(steps):
        move = slope(x) / tf.abs(bend(x))
        halvings = 0
        while f(x - move) > f(x) and halvings < 10:
            move, halvings = move / 2, halvings + 1
        x = tf.where(f(x - move) > f(x), x, x - move)
    return x.numpy()
"""
)


def write_function_with_body(name: str, body: str) -> str:
    """The exercise's function with another body; what it needs stands inside, where a notebook has it in a cell
    above.
    """
    head = next(source for other, source, _ in list_exercise_cells() if other == name).strip().splitlines()[0]
    return f"{head}\n{textwrap.indent(PLAIN, '    ')}\n    {body}\n"


@pytest.mark.parametrize("name", BY_HAND)
def test_a_slope_by_hand_is_told_as_such(name, monkeypatch):
    exercise = get_exercise(name)
    monkeypatch.setitem(ADDED_EXERCISES, name, dataclasses.replace(exercise, rtol=1e-3))
    said = check_program(name, write_function_with_body(name, BY_HAND[name]))
    assert said.startswith(f"Exercise {name}: not yet.\n  The results are right, but the method is not."), said
    assert re.search(r"no tape recorded the call", said), said


def test_the_last_derivative_by_hand_is_told_as_such(monkeypatch):
    for name, order in (("01.4", 2), ("07.3", 3)):
        monkeypatch.setitem(ADDED_EXERCISES, name, dataclasses.replace(get_exercise(name), rtol=1e-2))
        nested = "lambda x: (lambda h: (derivative(f)(x + h) - derivative(f)(x - h)) / (2.0 * h))(1e-4)"
        slope = nested if order == 2 else nested.replace("derivative(f)", "derivative(derivative(f))")
        said = count_try_and_build_feedback(
            name, define_function(f"lambda f, value: ({slope})(tf.constant(value, tf.float64))")
        )
        assert "a derivative of order" in said, said


@pytest.mark.parametrize("name", TYPED_NONE)
def test_a_none_that_was_typed_in_is_told_as_such(name):
    said = check_program(name, write_function_with_body(name, TYPED_NONE[name]))
    assert re.search("wrote the None yourself|[Tt]he None (isn't the gradient|doesn't come from)", said), said


def test_a_loop_without_an_end_is_told_as_such(monkeypatch):
    monkeypatch.setattr(call_log, "MAX_LINES", 1000)
    said = check_program("09.5", write_function_with_body("09.5", "w = tf.Variable(0.0)\n    while True: loss_of(w)"))
    assert "stopped after 1000 lines; does its loop ever end?" in said, said
    said = check_program("02.5", "def my_sweep(rows, values):\n    row = 1\n    while row >= 0:\n        row += 1")
    assert "stopped after 1000 lines; does its loop ever end? (in this line" in said, said


@pytest.mark.parametrize("name", [exercise.name for exercise in EXERCISES if exercise.cases])
def test_a_misspelled_name_in_the_solution_is_told_as_such(name):
    """In each solution, the last name that stands there and can be misspelled is."""
    lines = SOLUTIONS[name].rstrip().splitlines()
    program = "\n".join([*lines[:-1], re.sub(r"\S.*$", "return misspelled_name", lines[-1])])
    said = check_program(name, program)
    assert (
        "Python does not know the name 'misspelled_name'" in said and "(in this line: return misspelled_name" in said
    ), said


@pytest.mark.parametrize(("name", "program"), WAYS)
def test_another_right_way_is_right(name, program, caplog):
    caplog.set_level(logging.ERROR)  # TensorFlow's advice about a tape that is asked in its own block
    said = check_program(name, program)
    assert said.startswith(f"Exercise {name}: correct."), said


def test_what_left_in_earlier_cells_is_looked_through_once_at_most(nothing_has_left_yet, monkeypatch):
    looked, edges = [], ValueGraph.list_input_edges
    monkeypatch.setattr(ValueGraph, "list_input_edges", lambda trace, node: looked.append(node) or edges(trace, node))
    unwatched = SOLUTIONS["10.4"].replace("tape.watch(x)", "pass")
    assert unwatched != SOLUTIONS["10.4"]
    check_program("10.4", unwatched)
    alone = len(looked)
    for _ in range(40):  # cells of a lesson
        y = tf.constant(2.0)
        for _ in range(20):
            y = y * 1.1
        float(y)
    looked.clear()
    check_program("10.4", unwatched)
    assert alone <= len(looked) < alone + 2 * 40 * 20, (alone, len(looked))
