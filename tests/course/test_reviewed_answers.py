"""Answers that two readers of the whole course handed in: each was accepted, refused or answered wrongly then."""

import ast
import re

import pytest
from test_exercise_programs import EXERCISES, SOLUTIONS, check_program, solved

import minitape as tf
from minitape.course.checker import count_try_and_build_feedback
from minitape.engine.record import log_warnings

VALUES = [  # an exercise, an answer, what it hears, and what it must not hear
    ("02.2", {"x": 44.0, "u": 10.0, "v": 4.0, "y": 0.0}, "y: it's the target, and starts with 1.", "x: it"),
    ("02.2", {"x": 34.0, "u": 10.0, "v": 5.0, "y": 1.0}, "x: once y, v and u are right,", "y: it"),
    ("01.3", [9.0, 10.0, 27.0], "27 is y itself, and", "counts"),
    ("01.1", 12.006, "very close. Did you measure", "too large"),
    ("01.3", [None, 9.0, 9.0], "B: 9 is x * x itself", "half"),
    ("02.2", {"x": 24.0, "u": 10.0, "v": 4.0, "y": 1.0}, (
        "x: 3 amounts meet at x, and 24 is the sum of only 2"
    ), "value of y"),
    ("02.2", {"x": 40.0, "u": 10.0, "v": 4.0, "y": 1.0}, "3 amounts meet at x, and 40 is the sum of only 2",
     "too small"),
    ("02.2", {"x": 44.0, "u": 6.0, "v": 4.0, "y": 1.0}, "u: 2 amounts meet at u, and 6 is only one of them",
     "value of v"),
    ("04.2", {"A": [24.0, None, None], "B": [12.0, 2.0, 8.0], "C": [None, 2.0, None]}, "A, item 1: 24 is the value",
     "twice"),
    ("05.2", {"A": "error", "B": 8.0, "C": 16.0, "D": "error"}, "B: 8 is z itself. (It's also",
     "value of y"),
    ("05.2", {"A": "error", "B": 12.0, "C": 8.0, "D": "error"}, "C: several targets", "value of z"),
    ("05.1", {"A": 0, "B": 0, "C": 1, "D": 2}, "A: don't forget x itself.", "few"),
    ("06.1", {"A": 6.0, "B": None, "C": 8.0, "D": 1.0}, "A: 6 is x * y itself", "twice"),
    ("06.2", {"A inner": 8.0, "A outer": 12.0, "B inner": 4.0, "B outer": 4.0}, "this tape paused",
     "twice"),
    ("07.2", [50.0, 20.0, None, 10.0], "1: 50 is the value of q", "twice"),
    ("07.2", [25.0, 20.0, None, 5.0], "D: 5 is v itself", "value of q"),
    ("03.1", {"after one step": -6.0, "after two steps": -3.0}, "is the slope at 1", "sign"),
    ("03.1", {"after one step": 4.0, "after two steps": 4.0}, "4 is the lowest point", "2.5"),
    ("03.5", ["soft:0", "best:0", "trust:0"], "trust is read inside the block", "does not belong"),
    ("03.5", ["trust:0", "soft:0", "best:0"], "trust is read inside the block", "does not belong"),
    ("04.1", ["d:0", "c:0", "a:0"], "c is read one line too early", "does not belong"),
    ("04.1", ["A:0", "D:0"], "'A' does not belong in the list", "trainable"),
    ("04.2", {"A": 12, "B": [12, 8], "C": 2}, "A: your answer is a number, not a list of length 3",
     "only what is trainable and read is"),
    ("02.2", {"x": 44, "u": 10, "v": 4, "y": 24}, "24 is the value of y.", "At x"),
    ("02.2", {"x": 44, "u": 24, "v": 4, "y": 1}, "u: The number is too large", "value of y"),
    ("02.2", {"x": 88, "u": 20, "v": 8, "y": 2}, "Hint: ", "value of x"),
    ("02.2", {"x": 24, "u": 24, "v": 24, "y": 24}, "Hint: ", "the sum of 2"),
    ("02.2", {"x": 1, "u": 4, "v": 5, "y": 44}, "Hint: ", "at which"),
    ("02.1", {1: [0, 0], 2: [1, 1], 3: [2, 2]}, "Hint: ", "too large"),
    ("02.1", {1: [0], 2: [1, 0], 3: [2, 1]}, "\n  item 1: your answer is a list of length 1, not a list of length 2\n",
     "too few"),
    ("02.4", {"A": True, "B": False, "C": True, "D": False}, "Hint: ", "in other places"),
    ("01.3", [float("nan"), 6.0, 9.0], "Hint: ", "A number means"),
    ("03.5", ["d:1"], "'d:1' does not belong", "d:1:0"),
    ("04.1", [tf.Variable(1.0, name="a")], "Should the list contain words", "does not belong"),
    ("05.2", {"A": "error", "B": 8.0, "C": 12.0, "D": "error"}, "C: one call with several",
     "only the last"),
    ("06.1", {"A": 3.0, "B": None, "C": 8.0, "D": 3.0}, "Hint: ", "how fast p"),
    ("06.2", {"A inner": 8.0, "A outer": 12.0, "B inner": 8.0, "B outer": 8.0}, "Hint: ", "amounts meet"),
    ("08.4", [0.0, None, 0.0, None], "Hint: ", "reverse"),
    ("08.5", ["line 5", "line 6", "line 7"], "or numbers?", "does not belong"),
    ("14.3", {"cause": "unused", "line": 7}, "Hint: ", "too"),
    ("05.2", ["error", 12, 4, "error"], "C: 4 is the gradient of y alone", "value of y"),
    ("01.1", 8.0, "(It's also 4 + 4, if", "how large"),
    ("01.3", [9.0, 6.0, None], "Here, the results are right, but they are in reverse order.", "Look at C"),
    ("04.2", {"A": [24.0, None, None], "B": [24.0, 24.0, 24.0], "C": [None, 24.0, None]}, "A, item 1: 24 is the value",
     "too"),
    ("04.2", {"A": [12.0, None, None], "B": [12.0, 6.0, 8.0], "C": [None, 2.0, None]},
     "B, item 2: 6 is the rate at which y grows "
     "with c", "too small"),
    ("06.2", {"A inner": 4.0, "A outer": 8.0, "B inner": 4.0, "B outer": 4.0}, "8 is the path through s",
     "too small"),
    ("07.2", [None, 10.0, 25.0, 20.0], "Here, the results are right, but they are in the wrong order.", "Look at D"),
    ("09.3", [2.0, 6.0, 8.0], "But no line reads x while it's 3", "once more"),
    ("13.1", 49, "49 is 16 too few: w1 has", "32 + 16"),
    ("13.1", 80, "and b2 is a single number", "gives one number"),
]  # fmt: skip
LISTS = [  # in the order of the names that are asked for
    ("02.2", [44.0, 10.0, 4.0, 1.0]),
    ("03.1", [2.5, 3.25]),
    ("06.2", [4.0, 12.0, 4.0, 4.0]),
]
BETTER = "better = f(x - move) <= f(x)\n        x.assign(x - move if better else tf.constant(start))"
PROGRAMS = [
    ("07.5", solved("07.5", "if f(x - move) <= f(x):\n            x.assign_sub(move)", BETTER), "lowest("),
    ("07.5", solved("07.5", "<= f(x):", "<= f(tf.constant(start)):"), "3.25, 6) gives"),  # it climbs on the way
    (
        "07.7",
        "def product(f, point, direction):\n    x, v = tf.constant(point), tf.constant(direction)\n"
        "    with tf.GradientTape() as outer:\n        outer.watch(x)\n        slope = derivative(f)(x)\n"
        "    return outer.gradient(slope, x)",
        "That's the Hessian times a list of ones.",
    ),
    ("14.4", solved("14.4", "gradient(loss, w1)", "gradient(features, w1)"), "Does yours, and is it the target?"),
    ("appendix.2", "def keep(numbers):\n    return tf.minimum(tf.constant(numbers), 0.0)", "the other way round"),
    ("07.4", solved("07.4", "slope(x) / bend(x)", "bend(x) / slope(x)"), "upside down"),
    ("07.4", solved("07.4", "x - slope(x) / bend(x)", "(x - slope(x)) / bend(x)"), "only the slope is divided"),
    ("07.4", solved("07.4", "slope(x) / bend(x)", "slope(x) * bend(x)"), "x minus slope times second derivative"),
    ("07.4", solved("07.4", "slope(x) / bend(x)", "0.1 * slope(x)"), "a step of gradient descent"),
    (
        "06.3",
        solved("06.3", "b = tf.Variable(value_of_b)", "b = tf.Variable(value_of_b, trainable=False)").replace(
            "tf.stop_gradient(b)", "b"
        ),
        "b isn't trainable here.",
    ),
    ("02.3", solved("02.3", "arrived, -arrived", "arrived * y, arrived * x"), "the rule for a product"),
    (
        "02.3",
        solved("02.3", "arrived, -arrived", "x * arrived - y * arrived"),
        "your answer is a number, not a tuple of length 2",
    ),
    ("02.5", solved("02.5", "    return adjoints", "        return adjoints"), "A return statement ends your loop"),
    (
        "02.5",
        solved("02.5", "adjoints[-1] = 1.0", "adjoints[-1] = values[-1]"),
        "The last adjoint is the value of the result",
    ),
    ("02.5", solved("02.5", "range(len(rows))", "range(1, len(rows) + 1)"), "Positions are counted from 0"),
    ("02.5", solved("02.5", '"multiply"', '"mul"'), "if no product sends anything."),
    ("02.5", solved("02.5", "operation, *inputs =", "operation, *inputs, _ ="), "not yet"),
    ("05.5", solved("05.5", "step * ", ""), "The numbers move by 1 here."),
    ("05.5", solved("05.5", "tf.sign(tape.gradient(loss, x))", "1.0"), "All numbers move up"),
    ("12.3", solved("12.3", "adjoints[target.row] = 1.0", "adjoints[-1] = 1.0"), "1.0 has to stand at the row"),
    ("12.7", solved("12.7", "g, g.sum(axis=0)", "g * b, g.sum(axis=0)"), "x isn't multiplied by b"),
    (
        "06.4",
        solved("06.4", "x + tf.stop_gradient(tf.round(x) - x)", "x + tf.round(x) - x"),
        "The value is right, but the gradient is 0, up to",
    ),
]
PROGRAMS += [  # of a third reading: a wrong way that was accepted, and causes that were guessed
    ("06.5", solved("06.5", "factor * x + tf.stop_gradient(x - factor * x)", "x + 0.0")
     .replace("z = rest", "z = factor * rest"),
     "your code keeps computing after rest"),
    ("06.4", solved("06.4", "x + tf.stop_gradient(tf.round(x) - x)", "x.assign(tf.round(x))"), "should stay as it is"),
    ("12.2", SOLUTIONS["12.2"].replace("(g * y, g * x)", "(g * z / x, g * z / y)"), "ZeroDivisionError"),
    ("12.3", solved("12.3", "range(target.row, -1, -1)", "range(target.row + 1)"), "3.0 comes back to the sum"),
    ("01.4", solved("01.4", "            inner.watch(x)\n", ""), "Hint: inner: x is a tensor"),
    ("01.4", solved("01.4", "        outer.watch(x)\n", ""), "Hint: outer: x is a tensor"),
    ("02.3", "def rule(arrived, x, y):\n    return (arrived, -arrived) if x > y else (-arrived, arrived)",
     "Which of the two is larger doesn't matter"),
    ("05.3", SOLUTIONS["05.3"].replace("return [", "return sum([").replace("(z, x)]", "(z, x)])"),
     "That's the sum of both gradients. How do you"),
    ("11.3", solved("11.3", "tf.identity(x), grad", "grad, tf.identity(x)"), "or did you mean something else"),
    ("03.2", solved("03.2", "tf.Variable(start)", "tf.constant(start)")
     .replace("    loss =", "    tape.watch(w)\n            loss =")
     .replace("w.assign_sub(0.1 * tape.gradient(loss, w))", "w = w - 0.1 * tape.gradient(loss, w)"), "it's a tensor"),
    ("12.4", SOLUTIONS["12.4"].replace((
        "(g / y, -g * x / y**2)"
    ), "(1 / y, -x / y**2)").replace("(g / y, -g * z / y)", "(1 / y, -z / y)"),
     "Each of its slopes should be multiplied by g"),
    ("12.3", SOLUTIONS["12.3"].replace("adjoints[row] is None or not inputs", "not inputs"), "NoneType"),
    ("02.5", SOLUTIONS["02.5"].replace("arrived * values[inputs[1]]", "int(arrived * values[inputs[1]])"), "not yet"),
    ("01.5", solved("01.5", "x = x - 0.1 * tape.gradient(y, x)",
     "new = x - 0.1 * tape.gradient(y, x)\n        x = new if f(new) < y else x"), "11x**2"),
]  # fmt: skip
SOFT, IN_PLACE = SOLUTIONS["11.4"], "def without_negatives(numbers):\n    x = tf.constant(numbers)\n    "
PROGRAMS += [  # of a fourth reading: an edit is told that the program shows, and no other one
    ("06.4", solved("06.4", "tf.round(x) - x", "x - tf.round(x)"), "swap the two sides of a subtraction"),
    ("06.5", solved("06.5", "x - factor * x", "factor * x - x"), "swap the two sides of a subtraction"),
    ("12.8", solved("12.8", "(g @ w.T, x.T @ g)", "(g @ w.T, x.T @ z)"), "z stands where g belongs"),
    ("10.6", solved("10.6", "miss / ", "1.0 / "), "Hint: "),
    ("10.2", SOLUTIONS["10.2"].replace("tf.constant(penalty)", "tf.constant(0.0)"), "the slope of f alone"),
    ("05.5", "def fooled(loss_of, x, step):\n    x = tf.constant(x)\n    for _ in range(2):\n"
     "        with tf.GradientTape() as tape:\n            tape.watch(x)\n            loss = loss_of(x)\n"
     "        x = x + step / 2 * tf.sign(tape.gradient(loss, x))\n    return x", "gives [0.06, -0.08, 1.2]"),
    ("11.4", SOFT.replace("    return", "    if x > 50.0:\n        return upstream\n    return"), "let tf.where"),
    ("11.4", SOFT.replace("    return", "    if -9.0 < x < -8.0:\n        return 0.0\n    return"), "let tf.where"),
    ("01.2", "def derivative(f, value):\n    return (f(tf.constant(value + 0.1)) - f(tf.constant(value))) / 0.1",
     "but no tape recorded the call"),
    ("09.6", "def descend(loss_of, steps):\n    return [tf.Variable(1.0)] * 2", "You never use 'loss_of'"),
    ("05.4", solved("05.4", "zip(variables, gradients)", "zip(gradients, variables)"), "stand for the variable"),
    ("12.1", solved("12.1", 'self.append("watched", [], value)', 'self.append("watched", [], value) and self'),
     "Here, .row is read from a tape"),
    ("12.1", solved("12.1", "self.rows.append(", "self.row.append("), "Did you mean 'rows'?"),
    ("12.2", SOLUTIONS["12.2"].replace("in numbers], forward(", "in numbers], None and forward("),
     ".value is None here."),
    ("12.3", SOLUTIONS["12.3"].replace("return [", "return dict(enumerate([")
     .replace("in sources]", "in sources]))"),
     "right, but they are not in a list"),
    ("12.8", solved("12.8", "(g @ w.T,", "(-g @ w.T,"),
     "the one for x has the wrong sign."),
    ("appendix.2", IN_PLACE + "return x * (x > 0)", "makes a mask 1 and 0."),
    ("appendix.2", IN_PLACE + "x[x < 0] = 0\n    return x", "cannot be changed in place"),
]  # fmt: skip
LEAVING = """
def lowest(f, start, steps):
    x = tf.constant(start)
    slope = derivative(f)
    bend = derivative(slope)
    for _ in range(steps):
        move = slope(x) / tf.abs(bend(x))
        for halved in range(10):
            if f(x - move) > f(x):
                move = move / 2.0
            else:
                x = x - move
                break
    return x
"""
COUNTING = """
def lowest(f, start, steps):
    x = tf.constant(start)
    slope = derivative(f)
    bend = derivative(slope)
    for _ in range(steps):
        move = slope(x) / tf.abs(bend(x))
        halved = 0
        for _ in range(10):
            if f(x - move) > f(x):
                move = move / 2.0
                halved += 1
        if halved < 10:
            x = x - move
    return x
"""
PROGRAMS += [("07.5", LEAVING, "lowest("), ("07.5", COUNTING, "lowest(")]
START = next(one.start for one in EXERCISES if one.name == "10.2")
LATE = "            y = loss(x)\n        penalty.assign(number)"
PROGRAMS += [  # of a reading of 1,255 answers
    ("08.6", solved("08.6", "tf.where(x > 0.0, x, 1.0)", "tf.maximum(x, 0.5)"), "[0.0, 2.0, 0.25]"),
    ("10.2", START.replace("return found", "return [found[0], found[0] + 5.0]"), "adding the penalty's slope to one"),
    ("10.2", START.replace("penalty = 0.0", "penalty = tf.Variable(0.0)").replace("for penalty", "for number")
     .replace("            y = loss(x)", LATE), "after the loss was computed"),
    ("10.2", START.replace("(0.0, 5.0)", "(5.0, 0.0)"), "\nHint: "),
    ("10.4", solved("10.4", "k + 1", "k + 2"), "this is the slope of f(f(x))"),
    ("10.4", solved("10.4", "k, y = tf", "y = tf"), "also returns its counter"),
    ("12.3", solved("12.3", "adjoints[target.row] = 1.0", "adjoints[-1] = 1.0")
     .replace("range(target.row, -1, -1)", "range(len(self.rows) - 1, -1, -1)"), "1.0 has to stand at the row"),
    ("12.8", "def rule_of_matmul(g, z, x, w):\n    return g @ w.T",
     "your answer is an array of 2 by 4 numbers, not a tuple"),
]  # fmt: skip
SILENT = [
    ("01.5", solved("01.5", "0.1 * tape.gradient(y, x)", "0.1 * y")),
    ("07.5", solved("07.5", "tf.abs(bend)", "bend")),
]


@pytest.mark.parametrize(("name", "given", "words", "never"), VALUES)
def test_a_wrong_number_is_told_as_what_it_is(name, given, words, never):
    said = count_try_and_build_feedback(name, given)
    assert said.startswith(f"Exercise {name}: not yet.") and words in said, said
    assert re.search(rf"\b{re.escape(never)}\b", said) is None, said


@pytest.mark.parametrize("exercise", [one for one in EXERCISES if one.changes], ids=lambda one: one.name)
def test_each_change_of_a_solution_is_another_program_that_python_can_read(exercise):
    for piece, other in (change.split(" => ") for change in exercise.changes if " => " in change):
        changed = SOLUTIONS[exercise.name].replace(piece, other)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOLUTIONS[exercise.name])), piece


@pytest.mark.parametrize(("name", "given"), LISTS)
def test_a_list_is_as_good_as_a_dictionary(name, given):
    assert count_try_and_build_feedback(name, given).startswith(f"Exercise {name}: correct.")


@pytest.mark.parametrize(("name", "program", "words"), PROGRAMS)
def test_a_wrong_program_is_refused_with_what_it_does(name, program, words):
    assert check_program(name, SOLUTIONS[name]).startswith(f"Exercise {name}: correct.")
    said = check_program(name, program)
    assert said.startswith(f"Exercise {name}: not yet.") and words in said, said


@pytest.mark.parametrize(("name", "program"), SILENT)
def test_runs_that_the_check_makes_itself_warn_of_nothing(name, program, caplog, recwarn, monkeypatch):
    monkeypatch.setattr(log_warnings, "_log_counts", {})  # a warning is logged a few times, then no more
    assert check_program(name, program).startswith(f"Exercise {name}: not yet.")
    assert (caplog.messages, list(recwarn), log_warnings._log_counts) == ([], [], {})


def test_penalties_in_the_other_order_are_as_right():
    turned = solved("10.2", "(0.0, 5.0)", "(5.0, 0.0)").replace("return found", "return found[::-1]")
    assert check_program("10.2", turned).startswith("Exercise 10.2: correct.\nAn argument gets ")


def test_a_list_is_no_variable():
    assert "  your answer isn't one variable. " in count_try_and_build_feedback("appendix.7", [1.0, 2.0])
