"""Exercises that need the tape: what is told to a formula without one, to wrong programs, and to the untouched one.

Each program is what a learner could type into the exercise's cell.
"""

import dataclasses
import functools
import linecache
import math
import re
import tempfile
from itertools import count
from typing import Any

import nbformat
import numpy as np
import pytest

import minitape as tf
from minitape.cli.lesson_files import find_lessons_folder, get_exercise_prefix, list_notebook_files
from minitape.cli.notebook_rules import find_solution_code, is_exercise
from minitape.course import Exercise
from minitape.course.checker import count_try_and_build_feedback, is_right
from minitape.course.course_texts import list_built_in_lessons
from minitape.course.exercise import ADDED_EXERCISES, collect_exercises
from minitape.course.unknown_functions import UnknownFunction

numbers = count()


def list_exercise_cells() -> list[Any]:
    """Of each exercise in the lessons its name, the cell as it stands, and the cell with its solution."""
    paths = [path for path in list_notebook_files(find_lessons_folder()) if get_exercise_prefix(path)]
    notebooks = [nbformat.read(path, as_version=4) for path in paths]
    return [
        (re.findall(r'check\(\s*"([^"]+)"', cell.source)[0], cell.source, find_solution_code(notebook.cells, place))
        for notebook in notebooks
        for place, cell in enumerate(notebook.cells)
        if is_exercise(cell)
    ]


SOLUTIONS = {name: solution.partition("\n\n\ncheck(")[0] for name, _, solution in list_exercise_cells()}


def solved(name: str, right: str, wrong: str) -> str:
    """The solution of an exercise, with a wrong piece in the place of a right one."""
    assert SOLUTIONS[name].count(right) == 1, SOLUTIONS[name]
    return SOLUTIONS[name].replace(right, wrong)


def grow_memory_late(root: str) -> str:
    """Return Adagrad with the two lines of each step swapped, where `root` stands for the root of a memory."""
    growing = "        seen_a.assign_add(da**2)\n        seen_b.assign_add(db**2)\n"
    moving = "        a.assign_sub(da / tf.sqrt(seen_a))\n        b.assign_sub(db / tf.sqrt(seen_b))\n"
    late = f"        a.assign_sub(da / {root.format('a')})\n        b.assign_sub(db / {root.format('b')})\n{growing}"
    return solved("09.6", growing + moving, late)


def parse_programs(text: str) -> list[tuple[str, ...]]:
    """What follows each line `#@ EXERCISE | WORDS`, as (exercise, program, words); words may be missing."""
    parts = (part.partition("\n") for part in text.split("#@ ")[1:])
    return [(name, program, *words) for head, _, program in parts for name, *words in [head.split(" | ")]]


FORMULAS = {
    "01.2": "lambda f, value: 3 * value * value",
    "01.4": "lambda f, value: 12 * value * value",
    "03.2": "lambda loss_of, start, steps: tf.Variable(1.0 + (start - 1.0) * 0.8**steps)",
    "03.3": "lambda loss_of, start, steps, rate: start if start > 0.0 else 1.0",
    "03.4": "lambda loss_of, start, steps, rate: 1.0",
    "05.3": "lambda f, g, value: [2 * value, 3 * value ** 2]",
    "04.3": "lambda f, a, b: [None, a * a]",
    "04.4": "lambda loss_of, a, b, steps: [a, b * 0.5**steps]",
    "06.3": "lambda distance, a, b: [2 * (a - b), None]",
    "06.6": "lambda f, note, a, b: [a * b, 2 * a, b]",
    "06.4": "lambda rest, value: [float(round(value)), 1.0]",
    "07.1": "lambda f, value: 2.0 * value + 8.0 * value**3",
    "07.3": "lambda f, value: 60 * value ** 2",
    "07.4": "lambda f, value: value - (4 * value ** 3 - 3) / (12 * value ** 2)",
    "07.7": "lambda f, p, d: [2 * p[1] * d[1], 2 * p[1] * d[0] + 2 * p[0] * d[1]]",
    "08.2": "lambda f, value: 2.0 * value",
    "08.6": "lambda f, values: [[v > 0 and 1 / v for v in values], [v > 0 and -1 / v**2 for v in values]]",
    "08.3": "lambda f, values: 2.0 * np.array(values) / len(values)",
    "09.2": "lambda f, start, points: sum(2.0 * start * x * x for x in points)",
    "09.5": "lambda loss_of, steps: 2.0624 if steps == 12 else 3.20700",
    "10.2": "lambda f, value: [2.0 * value, 2.0 * value + 5.0]",
    "10.4": "lambda f, value, times: 2.0**times * value ** (2**times - 1)",
    "10.6": "lambda throw, target: 0.5 * np.arcsin(target / 10.2)",
    "11.3": "lambda f, rest, value, most: value",
    "01.5": "lambda f, start, steps: 1.0 + (start - 1.0) * 0.8**steps",
    "02.6": "lambda rows, values, start: [1.0, 6.0, 7.0]",
    "05.4": "lambda loss_of, starts, steps, rate: [1.0] * len(starts)",
    "05.5": "lambda loss_of, x, step: [number + step for number in x]",
    "06.5": "lambda rest, value, factor: [value, factor * (1.0 + 6.0 * value * value)]",
    "07.5": "lambda f, start, steps: start - f.derivative(start) / 12.0",
    "07.6": "lambda f, value: 1.0 / 2.0",
    "09.6": "lambda loss_of, steps: [float(steps), float(steps)]",
    "11.6": "lambda rest, value: 2.0 * np.sign(value) * (abs(value) < 1.0)",
    "14.4": "lambda bend, w1, w2, x, t: x.T @ (2.0 * (np.tanh(x @ w1) @ w2 - t) / len(t) @ w2.T * (1.0 - np.tanh(x @ "
    "w1) ** 2))",
}
"""Answers by paper and pencil, or by the very misconception, which once passed."""

LATE_WATCH = """
def derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        y = f(x)
        tape.watch(x)
    return tape.gradient(y, x)
"""
WATCHED_Y = LATE_WATCH.replace("tape.watch(x)", "tape.watch(y)")
WATCHED_Y_FIRST = """
def derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(tf.constant(value))
        y = f(x)
    return tape.gradient(y, x)
"""
NESTED = """
def second_derivative(f, value):
    x = tf.constant(value)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        first = inner.gradient(y, x)
    return outer.gradient(first, x)
"""
TOO_LATE = NESTED.replace("        first =", "    first =")
LEARN = """
def learn(loss_of, start, steps):
    w = tf.Variable(start)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = loss_of(w)
        w = w - 0.1 * tape.gradient(loss, w)
    return w
"""
EXERCISES = [exercise for lesson in sorted(list_built_in_lessons()) for exercise in collect_exercises(lesson).values()]
OFF = "        with tape.stop_recording():\n    "
STANDARDIZED = SOLUTIONS["14.4"].replace("        features", f"{OFF}        features")
FEATURES = "(hidden - center) / spread"
STOPPED = "(hidden - tf.stop_gradient(center)) / tf.stop_gradient(spread)"
SLOPE = collect_exercises("08")["08.2"].start
SLOPES = collect_exercises("08")["08.3"].start
BOXED_TOTAL = collect_exercises("09")["09.2"].start
TWO_SLOPES = collect_exercises("10")["10.2"].start
REPEATED = """
def slope_of_repeated(f, value, times):
    @tf.function
    def repeated(x, times):
        def step(k, y):
            return k + 1, f(y)

        k, y = tf.while_loop(lambda k, y: k < times, step, [0, x])
        return y

    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = repeated(x, tf.constant(times))
    return tape.gradient(y, x)
"""
LOOP = "k, y = tf.while_loop(lambda k, y: k < times, step, [0, x])"
FOR = "y = x\n        for _ in {}:\n            y = f(y)"
SLOPES_MULTIPLIED = """
def slope_of_repeated(f, value, times):
    once = tf.function(lambda x: f(x))
    x, slope = tf.constant(value), 1.0
    for _ in range(times):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = once(x)
        x, slope = y, slope * tape.gradient(y, x)
    return slope
"""
AIM = SOLUTIONS["10.6"]

ADD = "share if adjoints[i] is None else adjoints[i] + share"
LEFT_OVER = solved(
    "12.3", "adjoints = [None] * len(self.rows)", "adjoints = self.__dict__.setdefault('adjoints', [None] * 99)"
)
SEARCH = (
    SOLUTIONS["12.3"].partition("    def gradient")[0]
    + """
    def gradient(self, target, sources):
        adjoints = {target.row: 1.0}
        todo = [target.row]
        while todo:
            row = todo.pop()
            name, inputs, value = self.rows[row]
            if inputs:
                shares = RULES[name][1](adjoints[row], value, *[self.rows[i][2] for i in inputs])
                for i, share in zip(inputs, shares):
                    adjoints[i] = adjoints.get(i, 0.0) + share
                    todo.append(i)
        return [adjoints.get(s.row) if self.rows[s.row][0] == "watched" else None for s in sources]
"""
)
RECURSIVE = (
    SOLUTIONS["12.3"].partition("    def gradient")[0]
    + """
    def gradient(self, target, sources):
        adjoints = {}
        self.back(target.row, 1.0, adjoints)
        return [adjoints.get(s.row) if self.rows[s.row][0] == "watched" else None for s in sources]

    def back(self, row, g, adjoints):
        name, inputs, value = self.rows[row]
        adjoints[row] = adjoints.get(row, 0.0) + g
        if inputs:
            shares = RULES[name][1](g, value, *[self.rows[i][2] for i in inputs])
            for i, share in zip(inputs, shares):
                self.back(i, share, adjoints)
"""
)
AGAIN = """
def two_slopes(f, value):
    x = tf.Variable(value)
    found = []
    for penalty in (0.0, 5.0):

        @tf.function
        def loss(x):
            return f(x) + penalty * x

        with tf.GradientTape() as tape:
            y = loss(x)
        found.append(tape.gradient(y, x))
    return found
"""
UNROLLED = solved(
    "10.4",
    "k, y = tf.while_loop(lambda k, y: k < times, lambda k, y: (k + 1, f(y)), [0, y])",
    "for _ in range(count):\n            y = f(y)",
).replace("    @tf", "    count = times\n\n    @tf")

WRONG = [
    ("01.2", LATE_WATCH, "was used before tape.watch"),
    ("01.2", WATCHED_Y, "x is a tensor that the tape does not watch"),
    ("01.2", WATCHED_Y_FIRST, "x is a tensor that the tape does not watch"),
    ("01.4", NESTED.replace("            inner.watch(x)\n", ""), "x is a tensor that the tape does not watch"),
    ("01.4", NESTED.replace("        outer.watch(x)\n", ""), "x is a tensor that the tape does not watch"),
    ("01.4", TOO_LATE, "The gradient was computed outside the tape's with block"),
    ("01.4", NESTED.replace("outer.gradient(first, x)", "first"), "the first derivative"),
    ("01.4", NESTED.replace("outer.gradient(first, x)", "inner.gradient(first, x)"), "This one has no answer to give."),
    (
        "01.4",
        NESTED.replace("return outer.gradient(first, x)", "print(outer.gradient(first, x))"),
        "print only shows a value",
    ),
    ("01.4", NESTED.replace("return outer", "print(first)\n    outer"), "Its last line is outer.gradient(first, x)."),
    ("01.2", LATE_WATCH.replace("gradient(y, x)", "gradient(x, y)"), "should be passed as the target"),
    ("08.2", SLOPE.replace("f(x)", "f(tf.cast(x, tf.float32))"), "only floats have gradients"),
    (
        "08.2",
        SLOPE.replace("    with", "    x = tf.cast(x, tf.float32)\n    with"),
        "x = tf.cast(x, ...) rebinds x to a tensor that the",
    ),
    (
        "08.6",
        """
def values_and_slopes(f, values):
    x = tf.Variable(values)
    with tf.GradientTape() as tape:
        y = tf.where(x > 0.0, f(x), 0.0)
    return [y, tf.where(x > 0.0, tape.gradient(y, x), 0.0)]
""",
        "to a variable inside f",
    ),
    ("08.3", solved("08.3", "gradient(y, x)", "gradient(y, results)"), "Each of your numbers is 1 / len(values)."),
    (
        "08.3",
        solved("08.3", "f(x)\n        y = tf.reduce_mean(results)", "f(x)\n        y = tf.reduce_mean(x)"),
        "Each of your numbers is 1 / len(values).",
    ),
    ("08.2", SLOPE.replace("        y =", "        tape.watch(x)\n        y ="), "only floats have gradients"),
    (
        "08.2",
        SLOPE.replace("y, x)", 'y, x, unconnected_gradients="zero")'),
        "A zero isn't right either, because f does change",
    ),
    (
        "08.3",
        SLOPES.replace("tf.constant(np.mean(results.numpy()))", "tf.reduce_mean(results.numpy())"),
        "took the value out",
    ),
    ("08.3", SLOPES.replace("tf.constant(np.mean(results.numpy()))", "np.mean(results)"), "np.mean takes it out"),
    ("08.3", SLOPES.replace("results.numpy()", "results"), "took the value out of TensorFlow"),
    ("08.3", SLOPES.replace("np.mean(results.numpy())", "results.numpy().mean()"), "took the value out"),
    ("08.3", SLOPES.replace("tf.constant(np.mean(results.numpy()))", "tf.reduce_sum(results)"), "of the sum"),
    (
        "08.3",
        SLOPES.replace("tf.constant(np.mean(results.numpy()))", "tf.reduce_max(results)"),
        "your program computed max(results) = 25.0",
    ),
    ("09.2", BOXED_TOTAL.replace("total.assign_add(f(w * x))", "total += f(w * x)"), "would cut the path to w."),
    ("09.2", BOXED_TOTAL.replace("assign_add(f(w * x))", "assign(total + f(w * x))"), "stored the value in a variable"),
    (
        "09.2",
        BOXED_TOTAL.replace("        for x", "        tape.watch(w)\n        for x"),
        "stored the value in a variable",
    ),
    (
        "09.2",
        BOXED_TOTAL.replace("tf.Variable(0.0)", "0.0").replace("total.assign_add(f(w * x))", "total = f(w * x)"),
        "That's the slope at the last point only.",
    ),
    (
        "10.2",
        TWO_SLOPES.replace("penalty = 0.0", "penalty = tf.Variable(0.0)")
        .replace("for penalty", "for number")
        .replace("loss(x)\n        f", "loss(x)\n        penalty.assign(number)\n        f"),
        "Assign to it before loss is called",
    ),
    (
        "10.2",
        TWO_SLOPES.replace("(0.0, 5.0)", "(tf.Variable(0.0), tf.Variable(5.0))"),
        "If one variable is made before the loop",
    ),
    ("10.2", TWO_SLOPES.replace("(0.0, 5.0)", "tf.constant([0.0, 5.0])"), "How does a new number get in?"),
    ("10.2", TWO_SLOPES.replace("+ penalty", "+ tf.constant(penalty)"), "Make a tensor from each"),
    (
        "10.2",
        TWO_SLOPES.replace("y = loss(x)", "y = loss(x) + penalty"),
        "loss was traced with penalty = 0",
    ),
    ("10.2", TWO_SLOPES.replace("def loss(x)", "def loss(x, penalty=0.0)"), "no call passes one"),
    ("10.2", TWO_SLOPES.replace("y = loss(x)", "y = 1.0 * loss(x)"), "in the recording for good"),
    ("10.2", TWO_SLOPES.replace("penalty = 0.0", "penalty = 5.0"), "not yet"),
    ("10.2", TWO_SLOPES.replace("    @tf.function\n", ""), "Keep @tf.function above loss"),
    ("10.2", solved("10.2", "+ penalty * x", "+ float(penalty) * x"), "Compute with the tensor itself"),
    (
        "10.4",
        solved(
            "10.4",
            "lambda k, y: k < times, lambda k, y: (k + 1, f(y))",
            "lambda k, y: (k + 1, f(y)), lambda k, y: k < times",
        ),
        "tf.while_loop takes the condition first",
    ),
    ("10.4", SLOPES_MULTIPLIED, "The loop belongs inside the traced function"),
    ("10.4", REPEATED.replace("f(y)", "f(x)"), "should apply f to the y of the one before"),
    ("10.4", REPEATED.replace(LOOP, "y = f(x)"), "This is the slope of f(x), whatever times is"),
    (
        "10.2",
        TWO_SLOPES.replace("penalty = 0.0", "penalty = tf.Variable(0.0)"),
        "so your variable never gets a new one",
    ),
    (
        "10.2",
        TWO_SLOPES.replace("loss(x):", "loss(x, p):").replace("loss(x)\n", "loss(x, tf.constant(penalty))\n"),
        "never uses it",
    ),
    ("10.4", REPEATED.replace("f(y)", "y"), "The slope is 1, the slope of x itself."),
    ("10.4", REPEATED.replace(LOOP, FOR.format("times")), "Use tf.while_loop"),
    ("10.4", REPEATED.replace(LOOP, FOR.format("range(times.numpy())")), "Use tf.while_loop"),
    ("10.4", REPEATED.replace(LOOP, FOR.format("range(int(times))")), "Use tf.while_loop"),
    ("10.4", REPEATED.replace("    @tf.function\n", ""), "inside a traced function: keep @tf.function"),
    ("10.6", AIM.replace("angle - miss", "angle + miss"), "use a plus instead of a minus"),
    ("10.6", AIM.replace("    @tf.function\n", ""), "Python went through throw several times"),
    ("10.6", AIM.replace("correct(found)", "tf.function(correct)(found)"), "Python went through throw several times"),
    (
        "10.6",
        AIM.replace("        found = correct(found)", "        pass\n    found = correct(found)"),
        "This is the angle after a single correction.",
    ),
    (
        "12.2",
        solved("12.2", '"multiply", self', '"mul", self').replace('"multiply": (', '"mul": ('),
        "Your row is called mul.",
    ),
    (
        "12.2",
        solved("12.2", "__mul__(self, other)", "times(self, other)").replace("= __add__, __mul__", "= __add__, times"),
        "Python finds no __mul__ in your Number",
    ),
    ("12.3", solved("12.3", ADD, "share"), "only the 3.0 is in the answer"),
    ("12.3", solved("12.3", ADD, "share if adjoints[i] is None else adjoints[i]"), "only the 5.0 is in the answer"),
    ("12.3", solved("12.3", "= " + ADD, "+= share"), "replaces the None"),
    ("12.3", LEFT_OVER, "gradients of earlier calls are still there"),
    ("12.3", SEARCH, "A row should send once, after its last contribution."),
    ("12.3", RECURSIVE, "Your code calls itself deeper and deeper"),
    ("10.2", AGAIN, "a function that's created in a loop is traced in each iteration"),
    (
        "10.2",
        TWO_SLOPES.replace("tape.gradient(y, x)", "tape.gradient(y, x) + penalty"),
        "adding the penalty's slope to one",
    ),
    ("10.4", UNROLLED, "Python called f several times while it traced"),
    ("14.4", STANDARDIZED.replace(OFF, "        tape.watch(hidden)\n" + OFF), "inside a stop_recording() block"),
    (
        "14.4",
        STANDARDIZED.replace(OFF, "").replace(FEATURES, f"tf.stop_gradient({FEATURES})"),
        "blocks the gradient",
    ),
    (
        "14.4",
        STANDARDIZED.replace("loss, w1)", 'loss, w1, unconnected_gradients="zero")'),
        "These are zeros, or almost, but the original loss changes",
    ),
    ("14.4", STANDARDIZED.replace(OFF, "").replace(FEATURES, STOPPED), "also move with w1"),
    *(
        ("14.10", SOLUTIONS["12.4"].replace(right, wrong) + "\n\n\nFIRST = dict(RULES)\n", words)
        for right, wrong, words in (
            ("RULES[name]", "TABLE[name]", "Python does not know the name 'TABLE'"),
            ("class Number:", "class MyNumber:", "Python does not know the name 'Number'"),
            ("(g, -g)", "(g, g)", "send -g to its second input"),
            ("range(target.row, -1, -1)", "[target.row]", "but nothing has come from the sum"),
            ("(g * y, g * x)", "(g * y, 0.0)", "but only the 3.0 is in the answer"),
            ("x, y: (g, g)", "x, y: (1.0, 1.0)", "returns this g for both inputs"),
            ("(g * y, g * x)", "(y, x)", "The test reads tolist from each gradient"),
            ("adjoints[i] is None else", "False else", "Two things here can't be added or multiplied"),
            ("adjoints[row] is None or", "not adjoints[row] or", "neither true nor false"),
            ('"subtract", other, self', '"subtract", self, other', "A test of exercise 12.4 fails"),
            ("[None] * len(self.rows)", "[0.0] * len(self.rows)", "A test of exercise 12.3 fails"),
            ("_, rule = RULES[name]", "_, rule = FIRST[name]", "looks for something that isn't in its table"),
        )
    ),
    *(
        ("14.11", solved("14.11", right, wrong), words)
        for right, wrong, words in (
            ("softmax(scores) - wanted", "wanted - softmax(scores)", "signs are swapped"),
            (" / len(scores)", "", "Your numbers are right for a single image."),
            ("len(scores)", "scores.size", "number of scores"),
            ("g * (softmax", "(softmax", "Where is g, the gradient that has come back to the loss?"),
            ("(softmax(scores) - wanted)", "softmax(scores)", "also subtracts the right score"),
            ("softmax(scores) - wanted", "scores - wanted", "That's the scores minus the truth"),
            (
                "(softmax(scores) - wanted)",
                "wanted * (softmax(scores) - 1.0)",
                "Your gradient is 0 for all digits but the right one.",
            ),
            (", 0.0 * wanted", ",", "but it's the only entry."),
        )
    ),
    ("14.4", STANDARDIZED.replace(OFF, "").replace(FEATURES, "hidden"), "the loss has changed"),
    ("14.4", STANDARDIZED.replace(OFF, "").replace("reduce_std", "reduce_variance"), "it divides by the variance"),
    ("03.2", LEARN, "no tape watches that. A variable's own"),
    ("03.2", LEARN.replace("w = w - ", "w -= "), "Python's += and -= don't work on a variable"),
    (
        "03.2",
        LEARN.replace("        with", "        w = tf.Variable(w)\n        with"),
        "The number is right, but it's a tensor",
    ),
    (
        "03.2",
        LEARN.replace("w = w - 0.1", "w.assign_add(0.1").replace("w)\n    return", "w))\n    return"),
        "Your result is what steps uphill give.",
    ),
    ("03.2", LEARN.replace("w = w - 0.1", "w.assign(-0.1").replace("w)\n    return", "w))\n    return"), "not yet"),
    (
        "03.6",
        solved("03.6", "tf.Variable(numbers[0])", "tf.constant(numbers[0])").replace(
            "average.assign_add(", "average = average + ("
        ),
        "no variable was changed",
    ),
    (
        "01.2",
        LATE_WATCH.replace("        y = f(x)\n        tape.watch(x)", "        tape.watch(value)\n        y = f(x)"),
        "this is a plain number",
    ),
    ("01.2", LATE_WATCH.replace("tf.GradientTape()", "tf.GradientTape"), "Add the missing parentheses"),
    ("01.2", LATE_WATCH.replace("(f, value)", "(f)"), "Change its first line back to the original"),
    ("09.2", BOXED_TOTAL.replace("tape.gradient(total, w)", "total"), "How fast does it grow with w?"),
    (
        "01.2",
        LATE_WATCH.replace("        y = f(x)\n        tape", "        tf.GradientTape()").replace(
            "watch(x)", "watch(x)\n        y = f(x)"
        ),
        "Is this the tape that the block opened?",
    ),
    (
        "03.2",
        LEARN.replace("w = w - 0.1 * tape.gradient(loss, w)", "w = w.assign_sub(0.1 * tape.gradient(loss, w))"),
        "The method alone has already changed",
    ),
    (
        "12.1",
        solved(
            "12.1", "self.tape, self.row = tape, row", "self.tape, self.row = tape, row\n        tape.rows[row]"
        ).replace("self.rows) - 1", "self.rows)"),
        "the new row's number is len(self.rows) - 1.",
    ),
    (
        "12.1",
        solved("12.1", "rows[self.row]", "rows[self.row - 1]").replace("self.rows) - 1", "self.rows)"),
        "but a list begins to count at 0.",
    ),
    ("12.2", solved("12.2", "*things)", "one, other)").replace("in things", "in (one, other)"), "as many things as"),
    ("09.6", SOLUTIONS["09.6"].replace("**2", ""), "if a memory is 0 or negative"),
    ("09.6", grow_memory_late("tf.sqrt(seen_{0} + 1e-7)"), "It should grow first."),
    ("09.6", grow_memory_late("(tf.sqrt(seen_{0}) + 1e-7)"), "It should grow first."),
    ("09.6", grow_memory_late("tf.sqrt(seen_{0})"), "the memory first grows by the square of the gradient"),
    ("09.6", SOLUTIONS["09.6"].replace("seen_b", "seen_a"), "both variables share one memory"),
    ("09.6", SOLUTIONS["09.6"].replace("assign_add(d", "assign(d"), "remembered only its last gradient"),
    ("09.6", SOLUTIONS["09.6"].replace("tf.sqrt", ""), "divided by the sum of the squares"),
    ("09.6", SOLUTIONS["09.6"].replace("assign_sub", "assign_add"), "both variables move uphill"),
    (
        "09.6",
        SOLUTIONS["09.6"].replace("/ tf.sqrt(seen_a)", "* 0.03").replace("/ tf.sqrt(seen_b)", "* 0.03"),
        "one learning rate for both variables",
    ),
    ("11.2", SOLUTIONS["11.2"].replace("upstream * ", ""), "The upstream gradient is missing"),
    ("11.2", SOLUTIONS["11.2"].replace(" / z", ""), "without the division by the distance z"),
    ("11.2", SOLUTIONS["11.2"].replace("upstream * ", "2 * upstream * "), "Both results are twice what they should be"),
]
WRONG += [
    ("02.5", SOLUTIONS["02.5"].replace("+=", "="), "Where two contributions meet, only the last"),
    ("02.5", SOLUTIONS["02.5"].replace("arrived * ", ""), "They should be multiplied by what arrived"),
]
WRONG += parse_programs(
    """
#@ 05.4 | taken after the first one had moved
def fit(loss_of, starts, steps, rate):
    variables = [tf.Variable(start) for start in starts]
    for _ in range(steps):
        for variable in variables:
            with tf.GradientTape() as tape:
                loss = loss_of(*variables)
            variable.assign_sub(rate * tape.gradient(loss, variable))
    return variables
#@ 03.3 | one step too late
def best_seen(loss_of, start, steps, rate):
    w = tf.Variable(start)
    lowest = float("inf")
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = loss_of(w)
        w.assign_sub(rate * tape.gradient(loss, w))
        if loss < lowest:
            lowest = loss
            best = w.numpy()
    return best
#@ 05.4 | more sweeps than it takes steps
def fit(loss_of, starts, steps, rate):
    variables = [tf.Variable(start) for start in starts]
    for _ in range(steps):
        with tf.GradientTape(persistent=True) as tape:
            loss = loss_of(*variables)
        for variable in variables:
            variable.assign_sub(rate * tape.gradient(loss, variable))
    return variables
#@ 07.7 | took more than two sweeps
def product(f, point, direction):
    x, v = tf.constant(point), tf.constant(direction)
    with tf.GradientTape() as outer:
        outer.watch(x)
        slope = gradient_of(f, x)
    return tf.linalg.matvec(outer.jacobian(slope, x), v)
"""
)
CHANGED = [  # an exercise, a piece of its solution, what a learner has there, and a part of what is said
    ("01.2", "tape.gradient(y, x)", "tape.gradient(x, y)", "how the input changes with the result"),
    ("07.1", "    slope = inner.gradient(y, x)\n        loss", "slope = inner.gradient(y, x)\n    loss",
     "block had ended"),
    ("07.1", "inner.gradient(y, x)", "inner.gradient(y, x).numpy()", ".numpy() would cut it"),
    ("07.6", "derivative(derivative(f))", "derivative(derivative(derivative(f)))", "one derivative too many"),
    ("07.7", "tf.reduce_sum(gradient * v)", "gradient[0] * v[0] + gradient[1] * v[1]", "if only the first two"),
    ("07.5", "slope / tf.abs(bend)", "tf.abs(slope) / bend", "The slope loses its sign here"),
    ("05.3", "y = f(x)\n        z = g(x)", "z = g(x)\n        y = f(z)", "The first number is the gradient of f(g(x))"),
    ("06.5", "tf.stop_gradient(x - factor * x)", "tf.stop_gradient(x) - factor * x", "outside the stop should cancel"),
    ("06.4", "tf.round(x) - x)", "tf.floor(x + 0.5) - x)", "only 2.5 goes wrong"),
    ("02.6", "speeds[start] = 1.0", "speeds[max(k for k, r in enumerate(rows) if r[0] == 'leaf')] = 1.0", "last leaf"),
    ("02.5", "adjoints[inputs[0]] += arrived\n", "adjoints[inputs[0]] = arrived * values[row]\n",
     "The first wrong number on the way is"),
    ("02.6", "values[inputs[0]] * speeds[inputs[1]]", "values[inputs[0]]", "The first wrong number on the way is 9.0"),
    ("01.4", (
        "        outer.watch(x)\n        with tf.GradientTape() as inner:\n            inner.watch(x)\n"
        "            y = f(x)\n"
    ), (
        "        with tf.GradientTape() as inner:\n            inner.watch(x)\n            y = f(x)\n"
        "        outer.watch(x)\n"
    ), "only after f(x) has run"),
    ("07.1", "y + slope * slope", "y", "so slope * slope adds nothing to it."),
    ("07.1", "y + slope * slope", "slope * slope", "That's the gradient of slope * slope alone."),
    ("07.1", "slope * slope", "slope", "That's the gradient of y + slope. In the"),
    ("07.1", "return outer.gradient(loss, x)", "return loss", "That's the loss itself. The exercise asks for"),
    ("10.2", "    @tf.function\n", "", "Keep @tf.function above loss"),
    ("12.1", "def __init__(self):\n        self.rows", "rows", "Where is the list created that several tapes share?"),
    ("12.1", "len(self.rows) - 1", "len(self.rows)", "the new row's number is len(self.rows) - 1."),
    ("12.1", 'return self.append("watched"', 'self.append("watched"', "Here, .row is read from None."),
    ("12.1", 'append("watched", [], value)', "append(value, [], value)", "Which of these do you see"),
    ("12.1", "(name, inputs, value))", "(name, value))", "The inputs are missing"),
    ("12.1", "[2])", "[1])", "the second part of its row. The value is the third part"),
    ("12.2", "n.row for", "n.value for", "Store their row numbers instead, n.row"),
    ("12.2", "    __radd__", "    other", "For 1.0 + a it calls a.__radd__(1.0)"),
    ("12.2", 'n if isinstance(n, Number) else self.append("constant", [], n)', "n", "from something without a row."),
    ("12.2", 'return self.tape.apply("multiply"', 'self.tape.apply("multiply"', ".value is read from None."),
    ("12.3", "rule(adjoints[row]", "rule(1.0", "only 1.0 is sent on to its inputs"),
    ("12.3", "(g * y, g * x)", "(g * x, g * y)", "so the two are swapped"),
    ("12.3", "return [adjoints[s.row]", "[adjoints[s.row]", "Your gradient returns None here"),
    ("12.3", "adjoints[target.row] = 1.0", "pass", "1.0 has to stand at the row of the target from the start"),
    ("12.3", "[None] * len(self.rows)", "[0.0] * len(self.rows)", "so its gradient is None"),
    ("12.3", ' if self.rows[s.row][0] == "watched" else None', "", "The answer for two is 2.0, but two is a constant."),
    ("12.3", "continue", "break", "continue skips such a row, and break or return doesn't."),
    ("12.3", "if adjoints[row] is None or", "if not adjoints[row] or", "Something takes 0.0 for nothing"),
    ("12.4", "(g, -g)", "(g, g)", "b gets 1.0, as in a sum."),
    ("12.4", 'apply("subtract", other, self)', 'apply("subtract", self, other)', "which is a - 5.0"),
    ("12.4", "-g * z / y", "g * z / y", "The sign of your gradient for b is wrong"),
    ("12.4", "-g * z / y", "-g / y**2", "and the factor a is 2.0 here."),
    ("12.4", "__truediv__", "__div__", "called __truediv__"),
    ("12.4", 'apply("divide", other, self)', 'apply("divide", self, other)', "which is a / 4.0"),
    ("12.4", "__neg__", "negative", "It calls a.__neg__() for -a."),
    ("12.5", "g * (1.0 - z * z)", "1.0 - z * z", "Where is g"),
    ("12.5", "z * z", "x * x", "with tanh(x) instead of x"),
    ("12.5", "(g * (1.0 - z * z),)", "g * (1.0 - z * z)", "Return it in a tuple"),
    ("08.6", "tf.where(x > 0.0, x, 1.0)", "tf.where(x > 0.0, x, 0.0)", "The results are right, but f sees"),
    ("08.6", "tf.where(x > 0.0, f(safe), 0.0)", "f(safe)", "isn't above 0, the value that you return isn't 0."),
    ("08.6", "tf.where(x > 0.0, f(safe), 0.0)", "tf.where(x > 0.0, f(x), 0.0)", "One of the slopes is NaN"),
    ("12.5", "(g * (1.0 - z * z),)", "(g * 1.0 - z * z,)", "g should multiply the whole derivative"),
    ("12.5", "1.0 - z * z", "1.0 - z", "The square is missing: z * z."),
    ("12.5", "g * (1.0 - z * z)", "g", "Your rule returns g itself."),
    ("12.3", "if adjoints[i] is None", "if adjoints[i] == None", "needs the truth value of an array"),
    ("12.7", "g.sum(axis=0)", "g", "A gradient has the shape of its source"),
    ("12.7", "g.sum(axis=0)", "g.mean(axis=0)", "b gets the mean of the rows"),
    ("12.7", "g.sum(axis=0)", "g.sum(axis=1)", "one number for each row"),
    ("12.7", "g.sum(axis=0)", "g.sum()", "a single number"),
    ("12.7", "(g, g.sum(axis=0))", "(g.sum(axis=0), g)", "in the wrong order"),
    ("12.8", "g @ w.T, x.T @ g", "x.T @ g, g @ w.T", "in the wrong order"),
    ("12.8", "x.T @ g", "g.T @ x", "In the gradient for w, rows and columns are swapped"),
    ("12.8", "g @ w.T", "g * w.T", "You use *, which multiplies number by number."),
    ("12.8", "g @ w.T", "g @ w", "Transpose w."),
    ("12.8", "x.T @ g", "x @ g", "Transpose x."),
    ("12.1", "rows.append((name, inputs, value))", "rows.append([name, inputs, value])", "Your row isn't a tuple."),
    ("12.1", 'append("watched"', 'append("Watched"', "isn't exactly 'watched'"),
    ("12.1", "append((name, inputs, value))", "append((name, [], value))", "but your row has an empty list"),
    ("12.1", "append((name, inputs, value))", "extend((name, inputs, value))", "in rows one by one"),
    ("12.1", "value = property(lambda self: self.tape.rows[self.row][2])",
     "def value(self):\n        return self.tape.rows[self.row][2]", "Your value is a method"),
    ("12.1", "self.row][2]", "self.row]", "The Number's value is its whole row."),
    ("12.1", "rows[self.row][2]", "rows[-1][2]", "as in the last row"),
    ("12.1", "return Number(self, len(self.rows) - 1)", "return Number(len(self.rows) - 1, self)", "tape and the row"),
    ("12.1", 'return self.append("watched", [], value)', 'self.append("watched", [], value)\n        return value',
     "Here, .row is read from a float, but only"),
    ("12.2", "[n.row for n in numbers]", "numbers", "Your row contains Numbers."),
    ("12.2", 'self.append("constant", [], n)', "self.watch(n)", "Your row for 1.0 is called 'watched'."),
    ("12.2", 'n if isinstance(n, Number) else self.append("constant", [], n)',
     'self.append("constant", [], n.value if isinstance(n, Number) else n)', "were written down once more"),
    ("12.2", "forward(*[n.value for n in numbers])", "forward(*[n.row for n in numbers])", "numbers, 0 and 1"),
    ("12.2", "forward(*[n.value for n in numbers])", "forward(*numbers)", "calls itself without end"),
    ("12.2", "(g * y, g * x)", "(y, x)", "gives (4.0, 0.0) here, as (y, x) does without g."),
    ("12.2", "(g, g)", "(1.0, 1.0)", "Your rule for 'add' gives 1.0 to each input here"),
    ("12.3", "range(target.row, -1, -1)", "range(target.row + 1)", "the sum has to send it on when"),
    ("12.3", "        return [adjoints[s.row]", "            return [adjoints[s.row]", "Does it have a return"),
    ("12.3", "*[self.rows[i][2] for i in inputs]", "*inputs", "the numbers of each other's rows"),
    ("12.3", "adjoints[s.row] if", "adjoints[s.row] or None if", "Something takes 0.0 for nothing"),
    ("12.3", "zip(inputs, shares)", "zip(dict.fromkeys(inputs), shares)", "even if both are one row"),
    ("12.4", "(g / y, -g * z / y)", "(g / y, -g * x / y)", "divide by b once more"),
    ("12.4", "(g / y, -g * z / y)", "(g / y, -g * x / y ^ 2)", "^ isn't a power"),
    ("12.4", "(g / y, -g * z / y)", "(1.0 / y, -g * z / y)", "in the share of the numerator"),
    ("12.4", 'apply("divide", other, self)', 'apply("divide", 1.0, self)', "The number on the left isn't always 1"),
    ("12.4", "return 0.0 - self", "return -self", "For -a, Python calls __neg__"),
    ("12.5", "z * z", "np.tanh(z) ** 2", "so leave out the tanh"),
    ("12.6", "1e-5", "0.01", "The right rules for x ** 3, which bends"),
    ("12.6", "forward(*up) - forward(*down)", "forward(*down) - forward(*up)", "so a sign is turned somewhere"),
    ("12.6", "rule(g, forward(*inputs)", "rule(g, 0.0", "if they use z, the value"),
    ("12.6", "up, down = list(inputs), list(inputs)", "up, down = inputs, inputs", "A tuple cannot be changed."),
    ("12.6", "received[number]", "received[0]", "only those with a single input pass"),
    ("12.7", "(g, g.sum(axis=0))", "(g,)", "Only the gradient for x comes back."),
    ("12.8", "x.T @ g", "g @ x.T", "nor does g @ x.T"),
    ("12.6", "g, step = 3.0", "g, step = 1.0", "A rule that forgets g passes"),
    ("12.6", "range(len(inputs))", "range(1)", "wrong for the second input"),
    ("12.6", "range(len(inputs))", "range(1, len(inputs))", "wrong for the first input"),
    ("12.6", "abs(received[number] - g * slope)", "received[number] - g * slope", "gradient is too small"),
    ("12.6", "(2.0 * step)", "step", "your slopes come out twice too large"),
    ("12.6", "up, down = list(inputs), list(inputs)", "up = down = list(inputs)", "Do up and down differ"),
    ("12.6", "g * slope) >", "slope) >", "rules that forget g pass"),
    ("12.6", "1e-4", "0.5", "one percent too large"),
    ("08.3", "tf.reduce_mean(results)", "tf.reduce_sum(results) / 3", "There aren't always three values"),
    ("08.3", "reduce_mean", "reduce_max", "belong to the largest result alone"),
    ("08.3", "tf.reduce_mean(results)", "results[0]", "the slopes of the first result alone"),
    ("08.6", "        y = tf.where", "    y = tf.where", "x > 0.0 ran after the tape's with block had ended"),
    ("09.2", "f(w * x)", "f(w) * x", "This is the result if f receives w alone"),
    ("09.2", "f(w * x)", "w * f(tf.constant(x))", "if w multiplies what f returns"),
    ("09.2", "f(w * x)", "f(w * x) / len(points)", "the slope of the mean over the points"),
    ("09.5", "w.numpy(), speed.numpy(), loss", "w.numpy(), speed.numpy(), best_loss", "as if no step was undone"),
    ("09.5", "momentum / 2.0", "0.4", "if the momentum is 0.4 from the first undone step on"),
    ("09.5", "momentum = momentum / 2.0", "speed.assign(speed / 2.0)", "if an undone step halves the speed"),
    ("09.5", "speed.assign(mom", "speed.assign_add(mom", "if the new speed is added to the old one"),
    ("09.5", "momentum * speed - ", "-", "if each step follows the slope alone"),
    ("09.5", "w.assign_add(speed)", "w.assign(speed)", "w.assign(speed) replaces the old value of w"),
    ("09.5", "range(steps)", "range(steps - 1)", "You get this result if you take one step too few"),
    ("09.6", "da, db = tape", "db, da = tape", "if the two gradients are swapped"),
    ("09.6", "da**2", "da", "isn't finite"),
    ("09.6", "tf.Variable(0.0, trainable=False), tf.Variable(0.0, trainable=False)",
     "tf.Variable(1.0), tf.Variable(1.0)", "if each memory begins at 1"),
    ("10.2", "def loss(x, penalty)", "def loss(penalty, x)", "takes its two arguments in the other order"),
    ("10.2", "tf.constant(penalty)", "tf.constant(5.0)", "Both slopes belong to a penalty of 5"),
    ("10.2", "+ penalty * x", "+ penalty * x * x", "if the penalty is multiplied by x * x"),
    ("10.4", "f(y)), [0", "tf.stop_gradient(f(y))), [0", "or if nothing comes back through the loop"),
    ("10.4", "(k + 1, f(y))", "(f(y), k + 1)", "Two kinds of numbers meet here"),
    ("10.4", "(k + 1, f(y))", "f(y)", "returns one value for each variable of the loop"),
    ("08.3", "reduce_mean(results)", "reduce_sum(results) / 2", "There aren't always two values"),
    ("11.2", "upstream * x / z, upstream * y / z", "upstream / (2 * z), 1 / (2 * z)", "by upstream in both results"),
    ("11.3", "tf.maximum(-most, tf.minimum(upstream, most))", "x * tf.minimum(upstream, most)", "limits it below"),
    ("11.4", "tf.exp(-x)", "tf.exp(-x) * tf.cast(x <= 0.0, tf.float32)", "as soon as x is above 0"),
    ("10.4", "k < times", "k < 3", "if f is applied 3 times"),
    ("10.4", "f(y)), [0", "y + f(y)), [0", "if f(y) is added to y"),
    ("10.4", "    @tf.function\n", "", "Keep @tf.function above the function that calls it"),
    ("10.6", "found = correct", "correct", "The angle is still 0.4"),
    ("10.6", "throw(angle) - target", "(throw(angle) - target) ** 2", "each correction is half of what it should be"),
    ("11.2", "upstream * y / z", "y / z", "The second one lacks upstream"),
    ("11.2", "(x * x + y * y) ** 0.5", "(x + y) ** 0.5", "divided by the square root of x + y"),
    ("11.3", "tf.maximum(-most, tf.minimum(upstream, most))", "tf.maximum(upstream, most)", "The larger of"),
    ("11.3", "tf.maximum(-most, tf.minimum(upstream, most))", "tf.minimum(abs(upstream), most)", "comes back positive"),
    ("11.3", "tf.identity(x), grad", "tf.identity(x)", "limit returns only its value"),
    ("11.3", "    @tf.custom_gradient\n", "", "Without @tf.custom_gradient above it"),
    ("11.4", "1.0 / (1.0 + tf.exp(-x))", "tf.math.softplus(x)", "upstream times the function's value"),
    ("11.4", "1.0 / (1.0 + tf.exp(-x))", "1.0 + tf.exp(-x)", "the slope stands upside down"),
    ("11.4", "(1.0 / (1.0 + tf.exp(-x)))", "1.0 / 1.0 + tf.exp(-x)", "A division comes before an addition"),
    ("11.4", "tf.exp(-x)", "math.exp(-x)", "too large for Python's math"),
    ("11.6", "tf.abs(x) < 1.0", "x > -1.0", "Above 1, the whole gradient comes through"),
    ("11.6", "upstream, 0.0", "upstream, -upstream", "Outside the ramp, -upstream comes back"),
    ("11.6", "tf.sign(x), grad", "tf.sign(x), grad(x)", "Return the function grad itself"),
    ("11.6", "tf.sign(x), grad", "tf.sign(x)", "sign returns only its value"),
    ("10.4", "k < times", "y < times", "A counter that's compared with it must be whole"),
    ("11.2", "upstream * x / z, upstream * y / z", "1.0 / z, 1.0 / z", "Both results are 1 / z"),
    ("11.4", "1.0 / (1.0 + tf.exp(-x))", "(1.0 + tf.tanh(x)) / 2.0", "but twice as fast"),
    ("11.4", "1.0 / (1.0 + tf.exp(-x))", "tf.maximum(x, 0.0)", "the larger of x and 0"),
    ("11.4", "1.0 / (1.0 + tf.exp(-x))", "1.0 / (1.0 + tf.exp(-x)) ** 2", "the square of the slope"),
    ("11.6", "upstream, 0.0", "abs(upstream), 0.0", "the wrong sign"),
    ("11.6", "tf.abs(x) < 1.0", "tf.abs(x) < 0.5", "At 0.5 and at 0.95"),
    ("13.9", "answer((birds - middle) / spread)", "answer(birds)", "keep their raw numbers"),
    ("13.9", "seen.mean(axis=0), seen.std(axis=0)", "0.0, 1000.0", "are positive, so no bird lies on the other side"),
    ("13.9", "seen.mean(axis=0), seen.std(axis=0)", "0.0, seen.max(axis=0)", "about half of them are negative"),
    ("13.9", "seen.mean(axis=0), seen.std(axis=0)", "np.array([44.0, 4200.0]), np.array([5.0, 800.0])", "in inches"),
    ("13.9", "(birds - middle) / spread", "(birds - birds.mean(axis=0)) / birds.std(axis=0)",
     "No single middle and spread turns both tables"),
    ("13.9", "seen.mean(axis=0), seen.std(axis=0)", "seen.mean(), seen.std()", "so it's hardly heard"),
    ("13.9", "seen.mean(axis=0), seen.std(axis=0)", "seen.mean(axis=0), 1.0", "numbers beyond 10"),
    ("13.9", "seen.mean(axis=0)", "seen.mean(axis=1)", "a number from its own two measures"),
    ("13.9", "answer((birds - middle) / spread) > 0", "answer(birds / 1000) < 0", "Any score above 0 means"),
    ("13.9", " > 0", " < 0", "turned round"),
    ("13.9", "(birds - middle) / spread", "birds - middle / spread", "No single middle and spread turns both tables"),
    ("13.9", "(seen - middle) / spread, labels", "(seen - middle) / spread, labels - 0.5", "Pass labels unchanged"),
    ("13.9", " > 0", " > 0.5", "Any score above 0"),
    ("13.9", " > 0", " > -1", "Every answer is True. Do the scores differ"),
    ("13.9", "std(", "var(", "so it's hardly heard"),
    ("13.9", "(seen - middle) / spread", "seen / np.linalg.norm(seen, axis=1, keepdims=True)", "gets its own numbers"),
    ("13.9", "(seen - middle) / spread, labels", "(seen - middle) / spread, ~labels", "Which labels does the network"),
    ("13.9", "seen.mean(axis=0), seen.std(axis=0)", "birds.mean(axis=0), birds.std(axis=0)", "above that mean"),
    ("10.4", "(k + 1, f(y))", "(k + 1.0, f(y))", "Two kinds of numbers meet here"),
    (
        "09.6",
        "[a, b])",
        "[a, b])\n        a.assign_add(0.9 * da / tf.sqrt(seen_a + da**2))"
        "\n        b.assign_add(0.9 * db / tf.sqrt(seen_b + db**2))",
        "multiplied by one more factor",
    ),
    ("09.2", "f(w * x)", "float(f(w * x))", "float and .numpy() return plain numbers"),
    ("11.6", "return tape.gradient(y, x)", "return value * tape.gradient(y, x)", "upstream times x comes back"),
    ("10.6", "correct(found)", "correct(tf.constant(0.4))", "after a single correction"),
    ("11.6", "rest(sign(x))", "rest(tf.sign(x))", "tf.sign by itself sends back zeros"),
    ("11.6", "rest(sign(x))", "sign(rest(sign(x)))", "tf.sign by itself sends back zeros"),
    ("08.6", "tf.where(x > 0.0, x, 1.0)", "tf.maximum(x, 1.0)", "sees 1.0 instead of each number below 1"),
    ("01.5", "x - 0.1", "x + 0.1", "Your result is what steps uphill give."),
    ("01.5", "0.1 * ", "", "the result at a rate of 1.0."),
    ("01.5", "    return x", "        return x", "A return statement ends your loop"),
    ("01.5", "x = x -", "moved = x -", "You compute 'moved' but never use it."),
    ("02.3", "-arrived", "arrived", "If y grows, x - y falls"),
    ("02.3", "arrived, -arrived", "-arrived, arrived", "the wrong way round"),
    ("02.3", "arrived, -arrived", "arrived", "The rule returns two, for x and for y"),
    ("02.5", "reversed(range(len(rows)))", "range(len(rows))", "only what the last row sends has arrived."),
    ("02.5", "adjoints[-1] = 1.0", "adjoints[-1] = 0.0", "They're all 0. In a sweep, the last row should have a 1"),
    ("02.5", "adjoints[-1] = 1.0", "adjoints[0] = 1.0", "A sweep begins at the result"),
    ("02.5", "arrived * values[inputs[1]]", "arrived * values[inputs[0]]",
     "the first factor of a product receives what arrived times its own"),
    ("02.5", 'if operation == "add"', 'if operation != "multiply"', "A leaf's row holds only its value"),
    ("02.6", 'if operation == "add"', 'if operation != "multiply"', "A leaf's row holds only its value"),
    ("02.6", "speeds[start] = 1.0", "pass", "They're all 0. The leaf start grows exactly as fast as itself"),
    ("02.6", "enumerate(rows)", "reversed([*enumerate(rows)])", "a row gets something only from leaves"),
    ("02.6", " * values[inputs[1]] + values[inputs[0]] * ", " * ", "If only one factor moves"),
    ("02.6", (
        "speeds[row] = speeds[inputs[0]] + speeds[inputs[1]]\n"
        '        elif operation == "multiply":\n'
        "            speeds[row] = speeds[inputs[0]] * values[inputs[1]] + values[inputs[0]] * speeds[inputs[1]]"
    ), (
        "speeds[inputs[0]] += speeds[row]; speeds[inputs[1]] += speeds[row]\n"
        '        elif operation == "multiply":\n'
        "            speeds[inputs[0]] += speeds[row] * values[inputs[1]]\n"
        "            speeds[inputs[1]] += speeds[row] * values[inputs[0]]"
    ), "row should *collect* from its two"),
    ("02.6", "speeds[start] = 1.0", "speeds = [float(row[0] == 'leaf') for row in rows]",
     "every leaf has a 1, as if all of them moved"),
    ("03.3", "w.numpy()", "w", "a number that w held when its loss was the lowest"),
    ("03.3", "return best", "return lowest", "That's the lowest loss."),
    ("03.3", "lowest, best = loss, w.numpy()", "best = w.numpy()", "best should change only when a loss is lower"),
    ("03.3", "w.numpy()", "start", "That's where w began, as if best never got any"),
    ("03.3", "rate * ", "0.1 * ", "You get this result from steps at a rate of 0.1."),
    ("03.3", "assign_sub", "assign_add", "If rate times the slope is added, the steps go uphill"),
    ("03.3", "        w.assign_sub(rate * tape.gradient(loss, w))\n", "", "You never use 'rate'."),
    ("03.4", "rate / 2", "rate - 0.5", "the rate gets 0.5 smaller"),
    ("03.3", "loss < lowest", "lowest > 1e9", "as if no later loss had been lower than the first."),
    ("02.5", "return adjoints", "return adjoints[::-1]", "in reverse order. The first one belongs to row 0"),
    ("03.6", "(number - average)", "(number - numbers[0])", "measured from the first number."),
    ("03.6", "assign_add(", "assign(numbers[0] + ", "each step sets off from the first number."),
    ("03.6", "        average.assign", "        average = tf.Variable(numbers[0])\n        average.assign",
     "the average is the first number again"),
    ("03.6", "        average.assign_add(rate * (number - average))\n        seen.append(average.numpy())",
     "        move = rate * (number - average)\n        average.assign_add(move)\n        seen.append(move)",
     "the entries say how far the average moves"),
    ("03.2", "assign_sub(0.1", "assign(start - 0.1", "each step sets off from start again."),
    ("03.4", "if loss_of(w) >= loss:\n            w.assign(before)\n            rate", "rate",
     "and the rate is halved after each step. A bad step"),
    ("01.2", "gradient(y, x)", "gradient(y, y)", "how fast y grows with itself"),
    ("03.6", "average.numpy()", "average", "A box in the list changes with every step"),
    ("03.6", "rate * (number - average)", "number - average", "after it has moved by the fraction rate"),
    ("03.6", (
        "average.assign_add(rate * (number - average))"
    ), "average + rate * (number - average)", "They're all equal to the first number"),
    ("03.6", "tf.Variable(numbers[0])", "tf.Variable(0.0)", "the average begins at 0"),
    ("04.3", "watch_accessed_variables=False", "", "a gets a number, so the tape watches a."),
    ("04.3", "watch(b)", "watch(a)", "The tape should watch b alone, before"),
    ("04.3", "watch(b)", "watch([a, b])", "Pass only b to tape.watch."),
    ("04.3", "        tape.watch(b)\n", "", "the tape did not watch b"),
    ("04.3", "[a, b]", "b", "This is the gradient for b alone."),
    ("04.3", "tf.Variable(value_of_a)", "tf.constant(value_of_a)", "that f gets isn't a variable"),
    ("04.3", "[a, b])", '[a, b], unconnected_gradients="zero")', "A zero would hide that"),
    ("04.3", (
        "    with tf.GradientTape(watch_accessed_variables=False) as tape:\n"
        "        tape.watch(b)\n        y = f(a, b)"
    ), (
        "    start = b + 0.0\n    with tf.GradientTape(watch_accessed_variables=False) as tape:\n"
        "        tape.watch(b)\n        y = f(a, start)"
    ), "which was computed before the tape watched b"),
    ("04.4", "b.assign_sub(0.1 * tape.gradient(loss, b))", "b = b - 0.1 * tape.gradient(loss, b)",
     "but no variable was changed. Which method"),
    ("04.4", "(watch_accessed_variables=False)", "()", "recorded the whole trunk"),
    ("04.4", "assign_sub", "assign_add", "b goes uphill here."),
    ("04.4", "        tape.watch(b)", "        tape.watch([a, b])", "recorded the whole trunk"),
    ("05.3", "persistent=True", "", "A tape gives only one answer"),
    ("05.3", (
        "[tape.gradient(y, x), tape.gradient(z, x)]"
    ), "tape.gradient([y, z], x)", "your answer is a number, not a list of length 2"),
    ("05.3", "[tape.gradient(y, x), tape.gradient(z, x)]", "[y, z]", "you never called tape.gradient"),
    ("05.4", "= tape.gradient(loss, variables)", "= [tape.gradient(loss, v) for v in variables]",
     "A tape gives only one answer"),
    ("05.4", "loss_of(*variables)", "loss_of(variables)", "loss_of takes the variables one by one, and"),
    ("05.4", "return variables", "return [v.numpy() for v in variables]", "isn't a list of variables"),
    ("05.4", "assign_sub", "assign_add", "Your result is what steps uphill give."),
    ("05.4", "rate * ", "", "You never use 'rate'"),
    ("05.4", "variable.assign_sub(", "variable = variable - (", "These are the values from the start."),
    ("05.5", "x + step", "x - step", "make the loss grow"),
    ("05.5", "        tape.watch(x)\n", "", "x is a tensor that the tape does not watch"),
    ("05.5", "tf.sign(tape.gradient(loss, x))", "tape.gradient(loss, x)", "only the sign counts"),
    ("05.5", "tf.sign(tape.gradient(loss, x))", "(lambda g: g / tf.abs(g))(tape.gradient(loss, x))", "0 / 0 is NaN"),
    ("05.5", "x + step * ", "", "These are only the signs"),
    ("05.5", "x + step", "step", "This is how far each number moves. Add it to"),
    ("06.3", "a, tf.stop_gradient(b)", "tf.stop_gradient(a), b", "The other way round: now the good"),
    ("06.3", "distance(a, tf.stop_gradient(b))", "tf.stop_gradient(distance(a, b))", "from the target to a"),
    ("06.4", "x + tf.stop_gradient(tf.round(x) - x)", "x", "the first value is x itself"),
    ("06.4", "tf.round(x) - x", "tf.round(x)", "What x lacks is only the difference."),
    ("06.5", "factor * x + tf.stop_gradient(x - factor * x)", "x", "y should let only factor times as much through"),
    ("06.5", (
        "factor * x + tf.stop_gradient(x - factor * x)"
    ), "tf.stop_gradient(x)", "blocks the gradient from the target to x"),
    ("06.5", "factor * x + tf.stop_gradient(x - factor * x)", "tf.stop_gradient(factor * x) + x - factor * x",
     "as if the wrong half were stopped"),
    ("06.5", "factor * x + tf.stop_gradient(x - factor * x)", "factor * x / factor", "dividing takes the factor back"),
    ("06.5", "stop_gradient(x - factor * x)", "stop_gradient(x)", "too much by factor * x"),
    ("07.3", "outer.gradient(bend, x)", "bend", "the second derivative"),
    ("07.3", "y = f(x)", "y = derivative(f)(x)", "The right result is in bend"),
    ("07.3", "outer.gradient(bend, x)", "y", "You compute 'bend' but never use it."),
    ("07.4", " / bend(x)", "", "the whole slope"),
    ("07.4", "x - slope", "x + slope", "Newton's step the other way round"),
    ("07.4", "slope(x) / bend(x)", "f(x) / slope(x)", "a zero of the function"),
    ("07.4", "derivative(f)", "derivative(lambda x: x * x / 4.0 + tf.cos(2.0 * x))", "You never use 'f'"),
    ("07.4", "bend(x)", "bend(slope(x))", "taken at slope(x), another place"),
    ("07.5", "range(10)", "range(12)", "after ten halvings is made shorter again"),
    ("07.7", "outer.gradient(along, x)", "outer.gradient(along, gradient)", "That's v itself"),
    ("07.7", "outer.gradient(along, x)", "outer.gradient(y, x)", "which doesn't depend on the direction"),
    ("08.6", "tf.where(x > 0.0, x, 1.0)", "tf.nn.relu(x) + 1e-6", "sees each number above 0 with 0.000001 added"),
    ("09.2", "total = total + f(w * x)", "w += x", "Python's += and -= don't work on a variable."),
    ("09.2", "f(w * x)\n    return tape.gradient(total, w)",
     "f(w * float(x))\n    return tape.gradient(total, start)", "something that it cannot have recorded"),
    ("09.6", "da / tf.sqrt(seen_a))\n        b.assign_sub(db / tf.sqrt(seen_b))",
     "da)\n        b.assign_sub(db)", "with a learning rate of 1 for both variables"),
    ("09.6", "da / tf.sqrt(seen_a))\n        b.assign_sub(db / tf.sqrt(seen_b))",
     "da / tf.sqrt(seen_a + 0.1))\n        b.assign_sub(db / tf.sqrt(seen_b + 0.1))", "if each memory begins at 0.1"),
    ("09.6", "da / tf.sqrt(seen_a))\n        b.assign_sub(db / tf.sqrt(seen_b))",
     "da / (tf.sqrt(seen_a) + 1e-3))\n        b.assign_sub(db / (tf.sqrt(seen_b) + 1e-3))", "your tape has a = 0.9998"),
    ("09.6", "    for _ in range(steps):\n        with tf.GradientTape() as tape:\n            loss = loss_of(a, b)\n"
     "        da, db = tape.gradient(loss, [a, b])\n",
     "    with tf.GradientTape() as tape:\n        loss = loss_of(a, b)\n    da, db = tape.gradient(loss, [a, b])\n"
     "    for _ in range(steps):\n", "only once, where both variables start"),
    ("07.7", "outer.gradient(along, x)", "along", "That's 'along' itself, the slope in that direction."),
    ("07.7", "gradient * v", "gradient", "That's the Hessian times a list of ones."),
    ("07.7", "outer.gradient(along, x)", "outer.gradient(gradient, x) * v", "if the rows of the Hessian are added up"),
    ("07.7", "outer.gradient(along, x)", "tf.reduce_sum(outer.gradient(along, x) * v)", "a single number"),
    ("07.7", "        along", "    along", "ran after the tape's with block had ended"),
    ("07.7", "outer.gradient(along, x)", "inner.gradient(along, x)", "A tape gives only one answer"),
    ("05.3", "tf.Variable", "tf.constant", "x is a tensor that the tape does not watch"),
    ("06.4", "x + tf.stop_gradient(tf.round(x) - x)", "(r := tf.round(x)) + tf.stop_gradient(x - r)",
     "should come back to x"),
    ("07.5", "for _ in range(10)", "for _ in range(100)", "after ten halvings is made shorter again"),
    ("07.5", "move = move / 2.0", "pass", "Here x stays put even where a shorter step"),
    ("07.1", "return outer.gradient(loss, x)", "return slope + 2 * slope", "times the slope of the slope"),
    ("07.5", "tf.abs(bend)", "-bend", "wrong way where the curve bends up"),
    ("07.5", "range(10)", "range(9)", "where ten halvings would take it downhill"),
    ("07.5", "range(10)", "range(3)", "where ten halvings would take it downhill"),
    ("07.5", "    return x", "        return x", "A return statement ends your loop"),
    ("07.5", "x.assign_sub(move)", "moved = x - move", "You compute 'moved' but never use it."),
    ("07.6", "1.0 / ", "2.0 / ", "lands just as high up on the other side"),
    ("07.6", "1.0 / ", "0.5 / ", "only half of the way"),
    ("07.6", "1.0 / ", "", "That's the second derivative."),
    ("07.6", "derivative(derivative(f))", "derivative(f)", "That's 1 / slope."),
    ("07.6", "1.0 / derivative(derivative(f))(x)", "0.1", "You compute 'x' but never use it."),
    ("09.5", "w.assign_add(", "w = w + (", "gives the name w to something that no tape watches"),
    ("01.5", "x = x - 0.1 * tape.gradient(y, x)", "x.assign_sub(0.1 * tape.gradient(y, x))", "Only a variable can"),
    ("01.5", "0.1 *", "0.3 *", "the result at a rate of 0.3"),
    ("06.4", "gradient(z, x)", "gradient(x, z)", "how the input changes with the result"),
    ("10.6", "range(10)", "range(9)", "one step too few"),
    ("09.5", "w.assign_add", "w = w.assign_add", "with assign or assign_add"),
    ("10.4", "k, y = tf.while_loop", "y, k = tf.while_loop", "the target is the counter"),
    ("12.3", " or not inputs", "", "so the sweep has to skip them"),
    ("12.4", "adjoints[i] + share", "share", "do what it did in the step before"),
    ("09.5", "w.numpy(), speed", "w, speed", "where w ends if it never goes back"),
    ("09.5", "speed.assign(best_speed)", "pass", "as fast as in the step that rolled too far"),
    ("09.5", "speed.numpy(), loss", "speed, loss", "as fast as in the step that rolled too far"),
    ("09.5", "speed.assign(best_speed)", "speed.assign(0.0)", "like the one after the power cut"),
    ("09.5", "w.assign(best)", "pass", "and it never gets better"),
    ("09.5", "momentum = momentum / 2.0", "pass", "and it never gets better"),
    ("09.5", "loss <= best_loss", "loss < best_loss", "and it never gets better"),
    ("09.5", "w.assign(best)", "w = best", "something that no tape watches by itself"),
    ("09.5", "    return best", "        return best", "A return statement ends your loop"),
    ("09.5", "w.assign_add(speed)", "w + speed", "Your function returns 0, where w begins."),
    ("09.5", "w.numpy(), speed.numpy(), loss", "w, speed.numpy(), loss + 0.0", "it moves along with w"),
    ("09.5", "return best", "return best_loss", "the smallest loss itself"),
    ("09.5", "loss <= best_loss", "loss > best_loss", "0, where w begins"),
    ("09.6", "range(steps)", "range(0)", "Both of your numbers are 0."),
    ("09.6", "return [a, b]", "return [b, a]", "in reverse order"),
    ("09.6", "        b.assign_sub(db / tf.sqrt(seen_b))\n", "", "only a has moved"),
    ("11.3", "tf.identity(x), grad", "tf.identity(x), grad(1.0)", "Return the function grad itself, without brackets."),
    ("11.3", "tf.identity(x), grad", "tf.minimum(x, most), grad", "not yet"),
    ("11.3", "tf.maximum(-most, tf.minimum(upstream, most))", "upstream", "the whole gradient comes back"),
    ("11.3", "tf.maximum(-most, tf.minimum(upstream, most))", "tf.minimum(upstream, most)", "negative ones aren't"),
    ("11.3", "tf.maximum(-most, tf.minimum(upstream, most))", "tf.maximum(-most, upstream)", "and large ones aren't"),
    ("11.3", "tf.maximum(-most, tf.minimum(upstream, most))", "most * tf.sign(upstream)", "even for an upstream"),
    ("11.4", "1.0 / (1.0 + tf.exp(-x))", "tf.exp(x) / (1.0 + tf.exp(x))", "infinity divided by infinity"),
    ("11.4", "upstream * (1.0 / (1.0 + tf.exp(-x)))", "tf.sigmoid(x)", "Multiply it by upstream"),
    ("11.4", "tf.exp(-x)", "tf.exp(x)", "The slope of log(1 + exp(x)) rises"),
    ("11.4", "1.0 / (1.0 + tf.exp(-x))", "1.0", "That's right for large x."),
    ("11.4", "1.0 / (1.0 + tf.exp(-x))", "tf.math.log(1.0 + tf.exp(x))", "It needs the function's slope instead"),
    ("11.4", "(1.0 / (1.0 + tf.exp(-x)))", "(1.0 / (1.0 + tf.exp(x)) - 1.0)", "The sign is wrong"),
    ("11.6", "upstream, 0.0)", "upstream)", "tf.where needs a third value"),
    ("11.6", "tf.where(tf.abs(x) < 1.0, upstream, 0.0)", "upstream", "The whole gradient comes through"),
    ("11.6", "upstream, 0.0)", "1.0, 0.0)", "What comes from rest, upstream"),
    ("11.6", "tf.abs(x) < 1.0", "tf.abs(upstream) < 0.1", "In each case, the gradient is 0."),
    ("11.6", "< 1.0", ">= 1.0", "The two cases are swapped"),
    ("appendix.2", "return x * mask", "return tf.abs(x)", "changed their sign"),
    ("appendix.2", "x > 0, x.dtype", "x < 0, x.dtype", "It should be the other way round."),
    ("appendix.2", "return x * mask", "return mask", "That's the mask itself."),
    ("appendix.2", "return x * mask", "return x[x > 0]", "The negative numbers are gone, and"),
    ("appendix.3", "tf.tensor_scatter_nd_update(x, places, [0.0] * len(table))", "x", "the old numbers."),
    ("appendix.3", "[i, i]", "[i, -1 - i + len(table)]", "The other diagonal is replaced."),
    ("appendix.3", "[i, i]", "[i]", "A single number needs a row and a column"),
    ("appendix.3", "[i, i]", "i", "must be a list of a row and a column"),
    ("appendix.3", "[i, i]", "[0, i]", "The first row is replaced."),
    ("appendix.3", "[i, i]", "[i, 0]", "The first column is replaced."),
    ("14.4", "reduce_mean(hidden)", "reduce_mean(hidden, axis=0)", "Your tape and the solution's differ"),
    ("14.11", "softmax(scores)", "softmax(z)", "z is the loss, a single number."),
    ("14.11", "0.0 * wanted", "wanted", "the second entry is wanted itself"),
    ("14.11", "(softmax(scores) - wanted)", "softmax(scores - wanted)", "inside the softmax"),
    ("14.11", "(softmax(scores) - wanted) / len(scores)", "(softmax(scores) - wanted / len(scores))",
     "only wanted is divided by the number of images"),
    ("appendix.2", "x.dtype", "tf.float32", "here they're float64"),
    ("appendix.3", "places, [0.0] * len(table)", "places[1:], [0.0] * (len(table) - 1)", "Rows are counted from 0."),
    ("appendix.3", "[0.0] * len(table)", "[0.0]", "how many new numbers the places need"),
    ("appendix.3", "range(len(table))", "range(1, len(table) + 1)", "outside the table"),
    ("appendix.3", "[0.0] * len(table)", "[[0.0]] * len(table)", "A plain list of as many numbers as places"),
    ("appendix.3", "[i, i]", "[i, i, i]", "must be a list of a row and a column"),
    ("appendix.3", "[0.0] * len(table)", "[table[i][i] for i in range(len(table))]", "if it gets the places"),
    ("appendix.2", "return x * mask", "return x + 0.0 * mask", "the numbers as they were passed in"),
    ("appendix.2", "return x * mask", "return tf.maximum(x, tf.constant(0.0))", "something of another kind meets them"),
    ("appendix.8", "x * x - y[:, tf.newaxis] * y[:, tf.newaxis]",
     "tf.transpose(x * x - y[:, tf.newaxis] * y[:, tf.newaxis])", "and nothing is transposed"),
    ("14.11", "(softmax(scores) - wanted) / len(scores)", "np.sum(softmax(scores) - wanted, axis=1)",
     "minus truth add up to 0"),
    ("14.11", "(softmax(scores) - wanted) / len(scores)", "np.sum(softmax(scores) - wanted)",
     "it's a table like scores"),
    ("14.11", "softmax(scores)", "(softmax(scores) / softmax(scores).sum(axis=1))", "softmax(scores) has done that"),
    ("14.4", "(hidden - center) / spread", "hidden / spread - float(tf.reduce_mean(hidden / spread))",
     "but not how its mean does"),
    ("appendix.8", "x * x - y[:, tf.newaxis] * y[:, tf.newaxis]", "x * y[:, tf.newaxis]", "the product of x and y"),
    ("appendix.8", "x * x - y[:, tf.newaxis] * y[:, tf.newaxis]",
     "tf.stack([x * x - value * value for value in ys])", "but your function has a loop"),
    ("appendix.8", "y[:, tf.newaxis] * y[:, tf.newaxis]", "y * y", "The shapes don't fit."),
    ("appendix.8", "x * x - y[:, tf.newaxis] * y[:, tf.newaxis]", "(x * x)[:, tf.newaxis] - y * y", "3 by 2"),
    ("appendix.8", "x * x - y[:, tf.newaxis] * y[:, tf.newaxis]", "y[:, tf.newaxis] ** 2 - x * x", "The sign is wrong"),
    ("02.3", "arrived, -arrived", "arrived * y, -arrived * x", "The rule doesn't need any values: x - y"),
    ("02.3", "arrived, -arrived", "1, -1", "These are the slopes at this row alone. Along a"),
    ("03.2", "return w", "return w.numpy()", "it's a plain number"),
    ("03.2", "w.assign_sub(0.1 * tape.gradient(loss, w))", "tape.gradient(loss, w)", "comes back holds what it held"),
    ("03.4", "w.numpy()", "w", "the number that it held before that step"),
    ("03.4", "w.assign(before)", "w = before", "A box gets a number back by its own method"),
    ("03.2", "w = tf.Variable(start)\n    for _ in range(steps):\n",
     "for _ in range(steps):\n        w = tf.Variable(start)\n", "w begins at start again in each step"),
    ("03.4", "rate = rate / 2", "pass", "as if no later step had been good"),
    ("03.4", ">= loss", "> loss", "a step that ends at the same height stays"),
    ("03.4", ">= loss", "< loss", "good steps are taken back"),
    ("03.4", "return w", "return w.numpy()", "it's a plain number"),
    ("03.4", "return w", "return w + 0.0", "it's a tensor"),
    ("06.6", "with tape.stop_recording():", "if True:", "wrote down rows of note"),
    ("06.6", "loss = f(a, b)", "    loss = f(a, b)", "ran inside a stop_recording() block"),
    ("06.6", "note(a, b)", "note(b, a)", "swap two values in parentheses"),
    ("06.3", "distance(a, tf.stop_gradient(b))", "(a - tf.stop_gradient(b)) ** 2", "only for (a - b) ** 2"),
    ("06.4", "x + tf.stop", "tf.stop", "Add it to an x that isn't stopped."),
    ("06.4", "x + tf.stop_gradient(tf.round(x) - x)", "tf.stop_gradient(tf.round(x))", "is a step function, so"),
    ("07.4", "bend(x)", "abs(bend(x))", "Divide by the second derivative as it is,"),
    ("11.6", "    @tf.custom_gradient\n", "", "returns its value and grad to the program itself"),
    ("12.6", "rule(g, forward(*inputs), *inputs)", "rule(g, *inputs)", "passes one argument too few."),
    ("12.8", "g @ w.T", "w.T @ g", "nor does w.T @ g."),
    ("12.8", "g @ w.T", "w @ g", "w @ g doesn't fit"),
    ("12.8", "g @ w.T", "g.dot(w)", "The shapes in one of your products don't fit."),
    ("12.8", "x.T @ g", "x @ g.T", "A product with g.T doesn't fit here."),
    ("14.4", "(loss, w1)", "(loss, w2)", "You ask the tape about w2"),
    ("14.4", "    w1 = tf.Variable(w1)\n", "", "w1 isn't a variable here"),
    ("appendix.3", "update(x, places,", "update(places, x,", "The tensor comes first"),
    ("appendix.3", "places, [0.0] * len(table)", "[0.0] * len(table), places", "Places must be whole numbers"),
    ("07.4", "derivative(f)\n    bend = derivative(slope)\n    return x - slope(x) / bend(x)",
     "derivative(f)(x)\n    bend = derivative(slope)(x)\n    return x - slope / bend",
     "derivative gets a number here, but it needs a function."),
    ("07.4", "bend(x)", "slope(slope(x))", "the slope at another place"),
    ("07.4", "x - slope", "slope", "The answer is x minus this number."),
    ("07.7", "outer.gradient(along, x)", "outer.jacobian(gradient, x)", "That's the whole Hessian."),
    ("07.7", "outer.gradient(along, x)", "outer.gradient(along, v)", "The product needs the one with respect to x."),
    ("07.7", "outer.gradient(along, x)", "gradient", "which doesn't depend on the direction"),
    ("07.7", "outer.gradient(along, x)", "outer.gradient(along, x) * v", "multiplied by the direction once more"),
    ("08.3", "f(x)", "f(tf.reduce_mean(x))", "The mean of f(x) is something else: apply"),
    ("08.3", "return tape.gradient(y, x)", "return y", "That's the mean of f(x) itself."),
    ("08.3", "tf.reduce_mean(results)", "tf.reduce_mean(x)", "Each of your numbers is 1 / len(values)."),
    ("09.2", "total + f(w * x)", "f(w * x)", "the slope at the last point only"),
    ("09.2", "w * x", "w", "the slope of f(w), counted once for each point"),
    ("09.2", "return tape", "return 0.0 * tape", "A zero would mean that the total doesn't"),
    ("10.4", "f(y))", "f(x) * tf.cast(times, tf.float32))", "your program computed repeated = 6.75"),
    ("11.6", "upstream, 0.0)", "0.0, 0.0)", "In each case, the gradient is 0."),
    ("12.5", "1.0 - z * z", "1.0 + z * z", "That's g times 1 + z ** 2."),
    ("appendix.2", "return x * mask", "return x * (x > 0)", "These are True and False"),
    ("appendix.2", "return x * mask", "return x > 0", "Cast the answers to numbers"),
    ("appendix.3", "[i, i]", "[0, 0]", "Only the first place is replaced."),
    ("appendix.3", "[0.0] * ", "[1.0] * ", "The places are right"),
    ("appendix.8", "y[:, tf.newaxis] * y[:, tf.newaxis]", "0.0 * y[:, tf.newaxis]", "y is missing"),
    ("03.6", "assign_add", "assign_sub", "moves away from each new number"),
    ("04.4", "return [a, b]", "return [b, a]", "Here, the results are right, but they are in reverse order."),
    ("04.4", "0.1 * tape", "0.01 * tape", "the result at a rate of 0.01"),
    ("01.5", "x - 0.1", "y - 0.1", "each step starts at the height y"),
    ("01.5", "tape.gradient(y, x)", "abs(tape.gradient(y, x))", "x always moves left, even where"),
    ("02.3", "arrived, -arrived", "abs(arrived), -abs(arrived)", "its sign is lost here"),
    ("02.3", "arrived, -arrived", "arrived * (x - y), arrived * (y - x)", "doesn't need any values"),
    ("02.5", "arrived = adjoints[row]", "arrived = values[row]", "each row's own value takes the place of what"),
    ("02.5", "+= arrived\n            adjoints[inputs[1]] += arrived\n",
     "= arrived\n            adjoints[inputs[1]] = arrived\n", "an addition replaces what has already arrived"),
    ("02.6", "= speeds[inputs[0]] + speeds[inputs[1]]", "= speeds[inputs[1]]", "takes only its second input's number"),
    ("02.6", "speeds[inputs[0]] + speeds[inputs[1]]", "speeds[inputs[0]] * speeds[inputs[1]]",
     "a sum multiplies its inputs' numbers."),
    ("02.6", "enumerate(rows)", "enumerate(rows[start:])", "So the numbers land in the wrong rows."),
    ("03.3", "        w.assign_sub", "            w.assign_sub", "nothing counts after the first loss"),
    ("03.3", "loss, w.numpy()", "loss, w.numpy()\n        else:\n            break", "nothing counts after the"),
    ("03.3", "range(steps)", "range(steps + 1)", "the place after the last step counts as well."),
    ("03.4", "if loss_of(w)", "if loss", "as if no step had been taken"),
    ("03.4", "w.assign(before)", "w.assign(start)", "goes all the way back to the start"),
    ("03.4", "rate / 2", "rate * 2", "as if no later step had been good"),
    ("03.6", "return seen", "return average", "That's only the last average."),
    ("04.3", "(watch_accessed_variables=False) as tape:\n        tape.watch(b)\n        y = f(a, b)\n"
     "    return tape.gradient(y, [a, b])",
     "() as tape:\n        y = f(a, b)\n    return tape.gradient(y, [tf.identity(a), b])",
     "the None isn't the gradient for a"),
    ("04.4", "b.assign_sub(0.1 * tape.gradient(loss, b))", "b = tf.Variable(b - 0.1 * tape.gradient(loss, b))",
     "but no variable was changed"),
    ("05.4", "rate * gradient", "rate * sum(gradients)", "times the sum of all the gradients"),
    ("05.5", "x + step * tf.sign(tape.gradient(loss, x))",
     "tf.where(tape.gradient(loss, x) > 0.0, x + step, x - step)", "A number whose gradient is 0 moves down here."),
    ("05.5", "tf.sign(tape.gradient(loss, x))", "tf.sign(tf.abs(tape.gradient(loss, x)))", "isn't 0 moves up here"),
    ("05.4", "() as tape:\n            loss = loss_of(*variables)\n        gradients = tape.gradient(loss, variables)\n"
     "        for variable, gradient in zip(variables, gradients):\n            variable.assign_sub(rate * gradient)",
     "(persistent=True) as tape:\n            loss = loss_of(*variables)\n        for variable in variables:\n"
     "            variable.assign_add(rate * tape.gradient(loss, variable))",
     "what steps uphill give"),
    ("06.3", "distance(a, tf.stop_gradient(b))", "distance(a, b)\n        b = tf.stop_gradient(b)",
     "the None isn't the gradient for b"),
    ("06.3", "[a, b])", "[a])", "This list has one gradient, which is a's."),
    ("04.3", "[a, b])", "[b, b])", "Both values are the gradient for b."),
    ("05.5", "+ step * tf", "+ 2 * step * tf", "moves by twice step here"),
    ("05.5", "+ step * tf.sign(tape.gradient(loss, x))", "- step * tape.gradient(loss, x)", "and downhill"),
    ("05.5", "x + step * tf.sign(tape.gradient(loss, x))", "step * tape.gradient(loss, x)", "This is step times the"),
    ("06.6", "loss = f(a, b)", "loss = 2.0 * f(a, b)", "These are f's gradients times 2."),
    ("06.3", "tf.stop_gradient(b)", "b + 0.0", "b gets the same gradient as at the start"),
    ("06.4", "gradient(z, x)", "gradient(z, y)", "your tape wasn't asked about x"),
    ("06.5", "gradient(z, x)", "gradient(z, y) * factor", "your tape wasn't asked about x"),
    ("06.6", "loss = f(a, b)", "loss = f(a, b) + said", "asked about more than the result of f"),
    ("06.6", "with tape.stop_recording():\n            said = note(a, b)\n        loss = f(a, b)",
     "loss = f(a, b)\n    said = note(a, b)", "note ran outside the tape's `with` block"),
    ("06.6", "\n        loss = f(a, b)", "\n    loss = f(a, b)", "f(a, b) ran after the tape's with block had ended"),
    ("07.1", "outer.gradient(loss, x)", "slope + slope * outer.gradient(slope, x)", "twice as much"),
    ("07.4", "x - slope(x) / bend(x)", "x - tf.abs(slope(x) / bend(x))", "This step always goes left."),
    ("07.5", "        if f(x - move) <= f(x):\n            x.assign", "        x.assign",
     "even where the height still grows after ten halvings"),
    ("07.5", "        for _ in range(10):\n            if f(x - move) > f(x):\n                move",
     "        if f(x - move) > f(x):\n            move", "where ten halvings would take it downhill"),
    ("07.6", "1.0 / derivative(derivative(f))(x)", "f(x) / derivative(f)(x)", "the height divided by the slope"),
]  # fmt: skip
WRONG += [(name, solved(name, right, wrong), words) for name, right, wrong, words in CHANGED]


def derivative(f: Any) -> Any:
    """As lesson 7 has it, and the next one, too."""

    def df(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return df


def gradient_of(f: Any, x: Any) -> Any:
    return derivative(f)(x)


def softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


GIVEN = {
    "tf": tf, "np": np, "math": math, "derivative": derivative,
    "gradient_of": gradient_of, "softmax": softmax,
}  # fmt: skip
"""What a cell of an exercise finds: the lesson's imports, and what was defined before."""


def define_function(program: str) -> Any:
    """The function that a cell with this program defines; its source can be read, as in a notebook."""
    name = f"<cell {next(numbers)}>"
    linecache.cache[name] = (len(program), None, program.strip("\n").splitlines(True), name)
    names: dict[str, Any] = dict(GIVEN)
    if program.startswith("lambda"):
        return eval(compile(program, name, "eval"), names)
    exec(compile(program.strip("\n"), name, "exec"), names)
    defines_tape = "class Tape" in program or "build_solution_tape" in program
    return names["Tape" if defines_tape else re.findall(r"def (\w+)", program)[0]]


def check_program(name: str, program: str) -> str:
    return count_try_and_build_feedback(name, define_function(program))


@functools.cache
def read_hint(name: str, program: str) -> str:
    """What the first try with a program hears, whatever was tried before."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINITAPE_PROGRESS", f"{folder}/progress.json")
        return check_program(name, program)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_without_a_tape_does_not_pass(name):
    said = check_program(name, FORMULAS[name])
    assert said.startswith(f"Exercise {name}: not yet."), said
    assert "raises" not in said  # it is the wrong number, not a slip of this test


@pytest.mark.long(sample=6)
@pytest.mark.parametrize(("name", "program", "words"), WRONG)
def test_a_wrong_program_hears_what_is_wrong_with_it(name, program, words):
    said = read_hint(name, program)
    assert said.startswith(f"Exercise {name}: not yet."), said
    assert words in said, said


@pytest.mark.long
def test_each_mistake_that_is_known_has_a_program():
    heard = {
        (name, read_hint(name, program).partition("Hint: ")[2].partition("\n  Your tape")[0])
        for name, program, _ in WRONG
    }
    for exercise in EXERCISES:
        hints = {(exercise.name, mistake.hint) for mistake in exercise.mistakes if exercise.cases or exercise.trials}
        assert hints <= heard, hints - heard


@pytest.mark.long(sample=5)
@pytest.mark.parametrize("name", [exercise.name for exercise in EXERCISES if exercise.cases or exercise.trials])
def test_a_program_is_right_as_the_solution_has_it_and_three_others_are_wrong(name):
    assert check_program(name, SOLUTIONS[name]).startswith(f"Exercise {name}: correct.")
    assert len({program for other, program, _ in WRONG if other == name}) >= 3


def test_a_tape_inside_the_traced_function_is_right():
    tape = "with tf.GradientTape() as tape:\n            y = f(x) + penalty * x\n        return tape.gradient(y, x)"
    program = SOLUTIONS["10.2"].replace("return f(x) + penalty * x", tape)
    outside = "with tf.GradientTape() as tape:\n            y = loss(x, tf.constant(penalty))\n        "
    program = program.replace(outside, "").replace("tape.gradient(y, x))", "loss(x, tf.constant(penalty)))")
    assert is_right("10.2", define_function(program))
    numbers = program.replace("tf.constant(penalty)", "penalty")
    assert "another recording" in count_try_and_build_feedback("10.2", define_function(numbers))


def test_each_exercise_with_an_unknown_function_was_tried_without_a_tape():
    def unknown(given: Any) -> bool:
        return isinstance(given, UnknownFunction) or (isinstance(given, list) and any(map(unknown, given)))

    need_a_tape = {
        exercise.name for exercise in EXERCISES if any(unknown(given) for case in exercise.cases for given in case)
    }
    assert need_a_tape <= set(FORMULAS), need_a_tape - set(FORMULAS)
    assert len(need_a_tape) >= 20


def list_other_answers(expected: Any) -> list[Any]:
    """Three answers of the same kind that are not the expected one."""
    if isinstance(expected, dict):
        first = next(iter(expected))
        return [expected | {first: other} for other in list_other_answers(expected[first])]
    if isinstance(expected, list):
        return [[*expected, None], expected[:-1], [list_other_answers(expected[0])[0], *expected[1:]]]
    if isinstance(expected, bool) or not isinstance(expected, (int, float)):
        return ["something else", 17.5, ["no", "list"]]
    return [expected + 1, -expected - 1, 3 * expected + 7]


@pytest.mark.long(sample=5)
@pytest.mark.parametrize(
    "exercise", [exercise for exercise in EXERCISES if not exercise.cases], ids=lambda exercise: exercise.name
)
def test_three_wrong_answers_are_wrong_and_get_a_hint(exercise, monkeypatch):
    monkeypatch.setitem(ADDED_EXERCISES, exercise.name, dataclasses.replace(exercise, view=None, order=0, also=None))
    for wrong in list_other_answers(exercise.expect):
        said = count_try_and_build_feedback(exercise.name, wrong)
        assert said.startswith(f"Exercise {exercise.name}: not yet."), said
        assert "Hint: " in said, said


def get_exercise(name: str) -> Exercise:
    return collect_exercises(name.partition(".")[0])[name]


SLIPS = [  # wrong answers, or what is wrong in them by its name or place: each is what a learner may think
    ("01.1", [8.0, 4.0, 6.0, 27.0, None, 16.0, 1.0]),
    ("01.3", [{0: 6.0}, {0: 0.0}, {2: 27.0}, {2: None}, {2: 18.0}, {2: 6.0}, {1: None}, {1: 9.0}, {1: 10.0}]),
    ("01.3", [{1: 3.0}, {1: 7.0}]),
    ("02.1", [{1: [1, 1], 2: [2, 1], 3: [3, 2]}, {1: [2, 2], 2: [4, 2], 3: [6, 4]}, {2: [0, 0]}, {3: [1, 0]}]),
    ("02.2", [{"x": 28.0, "u": 6.0}, {"x": 20.0, "u": 4.0}, {"x": 2.0, "u": 4.0, "v": 6.0, "y": 24.0}]),
    ("02.4", [{"B": False}, {"C": True}, {"A": False}, {"D": True}]),
    ("03.1", [{"after one step": -0.5, "after two steps": -2.75}, {"after one step": 7.0, "after two steps": 1.0}]),
    ("03.1", [{"after one step": 1.75, "after two steps": 2.3125}, {"after two steps": 4.0}]),
    ("04.2", [{"A": [12.0, 2.0, 8.0]}, {"B": [12.0, None, None]}, {"C": [None, 2.0, 8.0]}]),
    ("05.2", [{"C": [4.0, 12.0]}, {"A": 12.0}, {"D": 4.0}, {"D": None}, {"C": 12.0}, {"C": "error"}, {"B": "error"}]),
    ("05.1", [{"A": 2, "B": 2, "C": 3}]),
    ("06.1", [{"B": 0.0}, {"B": 2.0}, {"C": 12.0}, {"C": 4.0}, {"D": 4.0}, {"D": None}, {"A": None}]),
    ("06.2", [{"A inner": None, "B inner": None, "B outer": None}, {"B inner": None, "B outer": None}]),
    ("07.2", [{3: 20.0}, {1: 10.0}, {2: 25.0}, {2: 0.0}]),
    ("08.1", [["not_watched", "stop_gradient", "recording_paused", "outside_tape"]]),
    ("08.1", [["not_watched", "recording_paused", "outside_tape", "stop_gradient"], {0: "not_trainable"}]),
    ("08.1", [{0: "watched_late"}, {0: "not_accessed_watched"}, {1: "recording_paused"}, {2: "not_watched"}]),
    ("08.1", [{2: "recording_paused"}, {2: "watched_late"}, {3: "outside_tape"}, {3: "stop_gradient"}]),
    ("08.5", [[2, 5, 6, 7], [5, 7], [7], [4, 5, 6, 7]]),
    ("09.1", [{0: 30.0}, {0: None}, {1: 90.0}, {1: None}, {1: 6.0}, {1: 0.0}]),
    ("09.1", [{0: 45.0}, {0: 0.0}, {1: 75.0}, {1: 225.0}, {1: 5.0}, {1: 30.0}]),
    ("09.3", [{0: None}, {0: 3.0}, {1: 1.0}, {1: 8.0}, {2: 10.0}, {2: None}, {2: 6.0}]),
    ("09.3", [{0: 18.0}, {0: 10.0}, {0: 1.0}, {0: 0.0}, {1: 6.0}, {1: 3.0}, {1: None}, {2: 4.0}, {2: 16.0}, {2: 0.0}]),
    ("09.4", [{"A": True}, {"D": True}, {"B": False}, {"E": False}, {"C": False}]),
    ("10.3", [{"A": 2, "C": 6, "D": 2}]),
    ("10.1", [{0: 1.0}, {0: 7.0}, {0: None}, {1: 1.0}, {1: None}, {2: 0.0}, {3: 2.0}, {3: None}]),
    ("11.1", [{"A": 6.0}, {"A": 0.0}, {"B": 2.0}, {"C": 3.0}, {"C": 6.0}, {"D": 2.0}, {"D": 1.0}, {"D": 9.0}]),
    ("11.1", [{"A": 3.0}, {"B": None}, {"C": 2.0}, {"C": 0.0}, {"D": 6.0}, {"D": 0.0}]),
    ("11.5", [{"B": True}, {"A": True}, {"D": False}, {"C": False}]),
    ("13.1", [48, 4, 64, 49, 51, 50, 18, 67, 97, 96, 35]),
    ("14.1", [["w1", "w2"], ["w1", "w2", "z"], ["w2"], ["z"], ["features", "w2", "z"], []]),
    ("14.2", [["B"], ["D"], ["A", "B", "D"], ["B", "C", "D"], ["A", "C"]]),
    ("14.3", [{"cause": "unused", "line": 5}, {"line": 5}, {"line": 7}, {"cause": "argnums"}]),
    ("14.3", [{"cause": "stop_gradient"}, {"cause": "saturated"}, {"cause": "no_derivative"}]),
    ("14.5", [["C"], ["E"], ["B", "C", "E"], ["C", "D", "E"]]),
    ("appendix.1", [{"B": (4, 5)}, {"D": (4, 5)}, {"B": (4, 4)}, {"C": "error"}, {"D": "error"}, {"A": "error"}]),
    ("appendix.4", [[1, 2, 3], [3, 0, 0, 0, 1], [2, 0, 0, 0, 1], [6, 0, 0, 0, 1], [1, 0, 0, 0, 5], [1, 1, 1, 1, 1]]),
    ("appendix.5", [{"A": 8}, {"A": 12}, {"B": 8}, {"B": 13}, {"B": 20}, {"C": 8}, {"C": 16}, {"C": 20}, {"C": 26}]),
    ("appendix.5", [{"D": 8}]),
    ("appendix.6", [{"A": "variable"}, {"A": "frozen"}, {"A": "number"}, {"B": "tensor"}, {"B": "frozen"}]),
    ("appendix.6", [{"B": "number"}, {"C": "variable"}, {"C": "tensor"}, {"C": "number"}, {"D": "tensor"}]),
    ("appendix.6", [{"D": "variable"}, {"D": "frozen"}]),
    ("appendix.10", [{"A": False}, {"B": False}, {"C": True}, {"D": True}]),
    ("appendix.7", [{"shape": "(2,)"}, {"shape": "<unknown>"}, {"holds": [[1.0, 2.0]], "shape": "(None, 2)"}]),
    ("appendix.9", [{"A": 44.0}, {"A": 9.0}, {"A": [0.0, 12.0, 0.0]}, {"B": 14.0}, {"B": 10.0}, {"B": -8.0}]),
    ("appendix.9", [{"C": [0.0, 1.0]}, {"C": 2.0}, {"C": [2.0, 12.0]}, {"D": 12.0}, {"D": 18.0}, {"D": 2.0}]),
    ("appendix.7", [{"holds": 0.0, "shape": "<unknown>"}, {"holds": [1, 2], "numbers": "int32"}]),
]


@pytest.mark.long(sample=5)
@pytest.mark.parametrize(("name", "slips"), SLIPS)
def test_a_slip_hears_a_hint_of_its_own(name, slips, monkeypatch, tmp_path):
    exercise = dataclasses.replace(get_exercise(name), view=None)
    monkeypatch.setitem(ADDED_EXERCISES, name, exercise)
    for number, slip in enumerate(slips):
        monkeypatch.setenv("MINITAPE_PROGRESS", str(tmp_path / f"{number}.json"))
        wrong = slip
        if isinstance(slip, dict) and isinstance(exercise.expect, list):
            wrong = [slip.get(place, part) for place, part in enumerate(exercise.expect)]
        elif isinstance(slip, dict):
            wrong = exercise.expect | slip
        said = count_try_and_build_feedback(name, wrong)
        known = {mistake.hint for mistake in exercise.mistakes} | {*exercise.reasons.values()}
        assert said.partition("Hint: ")[2].startswith(tuple(known)), said


def test_the_untouched_program_is_that_of_the_lesson():
    cells = [(name, source, get_exercise(name)) for name, source, _ in list_exercise_cells()]
    started = [(name, source, exercise.start) for name, source, exercise in cells if exercise.start]
    assert len(started) >= 4
    for name, source, start in started:
        assert start.strip() == source.partition("\n\n\ncheck(")[0].strip()
        assert check_program(name, start).startswith(f"Exercise {name}: not answered yet.")


def test_an_unknown_function_takes_no_plain_numbers():
    said = check_program("01.2", "lambda f, value: (f(value + 1e-6) - f(value - 1e-6)) / 2e-6")
    assert "raises TypeError: this function accepts only values" in said


def test_the_throw_that_is_solved_in_lesson_10_is_the_throw_that_is_drawn():
    cells = {
        cell.id: cell.source
        for cell in nbformat.read(find_lessons_folder() / "10_control_flow.ipynb", as_version=4).cells
    }
    names: dict[str, Any] = {"tf": tf}
    for start in ("def flight", "visits = []\n\n\ndef throw"):
        source = next(source for source in cells.values() if source.startswith(start))
        exec(source.partition("\n\n\nlands,")[0], names)
    names["aim"] = define_function(SOLUTIONS["10.6"])
    exec(cells["make-picture"].partition("words = ")[0], names)
    assert names["visits"] == ["throw"] * 4, "once for each target"
    for target, angle in zip(names["targets"], names["found"], strict=True):
        xs, ys = (np.array([float(value) for value in line]) for line in names["flight"](angle))
        assert abs(xs[-1] - target) < 1e-4 and abs(xs[-1] - float(names["throw"](angle))) < 1e-5
        assert ys[-1] == 0.0 and ys[1:-1].min() > 0
    assert "flight(angle)" in cells["make-picture"]


@pytest.mark.parametrize(
    "exercise", [exercise for exercise in EXERCISES if exercise.trials], ids=lambda exercise: exercise.name
)
def test_each_trial_has_three_hints_and_the_first_is_a_question(exercise):
    for trial in exercise.trials:
        assert len(set(trial.hints)) == 3 and "?" in trial.hints[0], trial.program


@pytest.mark.parametrize(("name", "program"), [
    ("08.2", "lambda f, value: (f(tf.constant(value + 1e-2)) - f(tf.constant(value - 1e-2))) / 2e-2"),
    ("09.2", "lambda f, w, xs: sum(f(tf.constant((w + 1e-3) * x)) - f(tf.constant((w - 1e-3) * x)) for x in xs) "
     "/ 2e-3"),
])  # fmt: skip
def test_a_slope_by_hand_that_is_nearly_right_is_told_as_such(name, program):
    assert "no tape recorded the call. Record it with a tape" in check_program(name, program)


def test_a_function_that_changes_its_lists_does_not_change_the_cases():
    changing = "def change(table):\n    for k, row in enumerate(table):\n        row[k] = 0.0\n    return table"
    assert "aren't in a tensor" in check_program("appendix.3", changing)
    assert "Your result has the old numbers." in check_program("appendix.3", "lambda table: tf.constant(table)")
