"""Answers that are in no exercise's list of mistakes, as two reviews handed them in: right ones in unusual forms, wrong
ways to right numbers, and slips, each with the words that it must hear, or must not.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from test_exercise_programs import SOLUTIONS, check_program, define_function, parse_programs, solved

import minitape as tf
from minitape.course import add_exercise
from minitape.course.checker import count_try_and_build_feedback
from minitape.course.exercise import Exercise, collect_exercises
from minitape.course.part_hints import narrow_hint_to_wrong_part
from minitape.course.unknown_functions import Polynomial

DERIVATIVE, NESTED = SOLUTIONS["01.2"], SOLUTIONS["01.4"]
SECOND_WRONG = "In this case, only the second value is off."
RIGHT = [
    ("01.3", np.array([None, 6.0, 9.0], dtype=object)), ("02.1", np.array([[0, 0], [1, 0], [1, 2]])),
    ("08.5", np.array([7, 6, 5])), ("01.1", Fraction(12)), ("01.1", Decimal(12)),
    ("01.3", {"A": None, "B": 6.0, "C": 9.0}),
    ("02.1", {1: np.array([0, 0]), 2: np.array([0, 1]), 3: np.array([1, 2])}), ("02.1", [[0, 0], (0, 1), [1, 2]]),
    ("08.5", range(5, 8)), ("02.4", {"A": 1, "B": 1, "C": 0, "D": 0}),
    ("07.2", {"A": 25.0, "B": 20.0, "C": None, "D": 10.0}),
    ("08.1", dict(zip("ABCD", ["not_watched", "stop_gradient", "outside_tape", "recording_paused"], strict=True))),
    ("09.4", [False, True, True, False, True]), ("09.4", {"A": 0, "B": 1, "C": 1, "D": 0, "E": 1}),
    ("10.3", [1, 2, 3, 1]), ("14.2", "BD"),
    ("appendix.1", {"A": tf.TensorShape([4, 5]), "B": "error", "C": (4, 5), "D": tf.TensorShape([3, 4, 5])}),
]  # fmt: skip
RIGHT_PROGRAMS = [
    ("04.3", solved("04.3", "tf.Variable(value_of_a)", "tf.Variable(value_of_a, trainable=False)")),
    ("11.3", solved("11.3", "rest(limit(f(x)))", "limit(f(x))\n        y = rest(y)")),
    (
        "11.3",
        solved(
            "11.3",
            "return tf.maximum(-most, tf.minimum(upstream, most))",
            "return [tf.clip_by_value(upstream, -most, most)]",
        ),
    ),
    (
        "01.2",
        solved("01.2", "f(x)", "f(x[0])")
        .replace("tf.constant(value)", "tf.Variable([value])")
        .replace("y, x)", "y, x)[0]"),
    ),
    ("06.3", solved("06.3", "tf.stop_gradient(b)", "b.numpy()")),
    ("09.5", solved("09.5", "w.numpy(), speed", "tf.identity(w), speed")),
    ("09.5", solved("09.5", "w.numpy(), speed.numpy(), loss", "tf.Variable(w), tf.Variable(speed), float(loss)")),
]
RIGHT_PROGRAMS += parse_programs(
    """
#@ 08.6
def values_and_slopes(f, values):
    ys, slopes = [], []
    for value in values:
        x, y, slope = tf.Variable(value), 0.0, 0.0
        if value > 0.0:
            with tf.GradientTape() as tape:
                y = f(x)
            slope = tape.gradient(y, x)
        ys, slopes = [*ys, float(y)], [*slopes, float(slope)]
    return [ys, slopes]
#@ 07.3
def third_derivative(f, value):
    x = tf.Variable(value)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
        for _ in range(2):
            y = tape.gradient(y, x)
    return tape.gradient(y, x)
#@ 10.2
def two_slopes(f, value):
    @tf.function
    def loss(x, penalty):
        return f(x) + penalty * x

    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        both = tf.stack([loss(x, tf.constant(0.0)), loss(x, tf.constant(5.0))])
    return list(tape.jacobian(both, x))
#@ 07.7
def hessian_row(f, point, direction):
    x = tf.Variable(point)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(x)
        along = tf.reduce_sum(inner.gradient(y, x) * tf.constant(direction))
    return outer.jacobian(along, x)
#@ 13.9
def classify(learn, seen, labels, birds):
    low, high = seen.min(axis=0), seen.max(axis=0)
    for table in (seen, birds):
        table -= (low + high) / 2
        table /= (high - low) / 4
    return [score > 0 for score in learn(seen, labels)(birds)]
"""
)
WRONG = [
    ("02.1", {1: [1, 1], 2: [2, 1], 3: [3, 2]}, "Counting starts at 0"),
    ("02.1", {1: ["x", "x"], 2: [1, 0], 3: [2, 1]}, "1, item 1: The answer must be a number."),
    ("10.3", {"A": 2, "B": 2, "C": 3, "D": 1}, "A: 2 would be one print for each call."),
    ("10.1", [5.0, 16.0, 7.0, 0.0], "Hint: C: 7 is y itself."),
    ("02.2", {"x": 28.0, "u": 6.0, "v": 4.0, "y": 2.0}, "u is used twice"),  # two slips: one of them is listed
    ("05.2", {"A": "no error", "B": 12.0, "C": 16.0, "D": "error"}, "not yet"),
    ("05.2", {"A": "error", "B": 13.0, "C": 16.0, "D": 4.0}, "D: the first call used the tape up"),
    ("03.5", ["SOFT:0"], "not yet"),
    ("04.1", ["A:0", "d:0"], "not yet"),
    ("03.5", {"a": 1}, "expected: the names of variables, in a list"),
    ("06.1", {"A": 3.0, "B": 0.0, "C": 8.0, "D": 2.0}, "B: 0 would mean that y"),
    ("01.1", -12.0, "The size is right, but the sign is wrong."),
    ("11.5", {"A": True, "B": True, "C": False, "D": False}, "one of the two factors leaves through NumPy"),
]
WRONG_PROGRAMS = [
    ("appendix.3", "def zero(t):\n    return np.array(t) * (1 - np.eye(len(t)))", "they aren't in a tensor"),
    ("08.6", solved("08.6", "x, 1.0", "x, 1e30"), "f isn't finite at some number that it sees"),
    ("10.6", solved("10.6", "/ tape.gradient(miss, angle)", "/ abs(tape.gradient(miss, angle))"), "∂miss/∂angle) = 2"),
    ("02.5", SOLUTIONS["02.5"].replace("arrived =", 'if operation == "leaf": break\n        arrived ='), "not yet"),
    ("06.5",
     solved("06.5", "factor * x + tf.stop_gradient(x - factor * x)", "x + 0.0").replace("[y, ", "[y, factor * "),
     "the last one isn't what the tape gave for x"),
    ("08.2", solved("08.2", "value, dtype=tf.float32", "float(int(value))"), "your tape has x = 2.0, but the solution"),
    ("08.2", solved("08.2", "value, dtype=tf.float32", "float(round(value))"), "not yet"),
    ("08.2", solved("08.2", "tape.gradient(y, x)", "int(tape.gradient(y, x))"),
     "The right result is in tape.gradient(y, x)"),
    ("11.3", solved("11.3", "rest(limit(f(x)))", "limit(rest(f(x)))"), "limits only the 1 with which the sweep begins"),
    ("11.3", solved("11.3", "rest(limit(f(x)))", "rest(f(limit(x)))"), "on its way from rest to f"),
    ("11.6", solved("11.6", "tf.where(tf.abs(x) < 1.0, upstream, 0.0)", "upstream if abs(x) < 1.0 else 0.0 * upstream"),
     "in a network, x holds many numbers"),
    ("11.6", solved("11.6", "tf.abs(x) < 1.0", "tf.abs(x - 0.5) < 1.5"), "not yet"),
    ("01.4", NESTED.replace("return outer.gradient(first, x)", "return first**2"), "a power of the first derivative"),
    ("05.3", solved("05.3", "z = g(x)", "z = g(x + 1.0)"), SECOND_WRONG),
    ("05.4", solved("05.4", "return variables", "return starts"), "These are the values from the start."),
    ("01.2", DERIVATIVE.replace("gradient(y, x)", "gradient(y, value)"), "such as a plain number"),
    ("01.2", DERIVATIVE.replace("        y = f(x)", "    y = f(x)"), "ran after the tape's with block had ended"),
    ("01.2", DERIVATIVE.replace("        tape.watch(x)\n", ""), "x is a tensor that the tape does not watch"),
    ("01.2", DERIVATIVE.replace("y, x)", "y)"), "A call is missing the argument sources."),
    ("01.2", DERIVATIVE.replace("f(x)", "f(x + 1.0)"), "at the line y = f(x + 1.0): next, your"),
    ("01.2", DERIVATIVE.replace("return tape.gradient(y, x)", "return tape"), (
        "your answer is an object of type GradientTape"
    )),
    ("01.2", "def f(f, value):\n    raise ValueError('it was expected to be a number')", "raises ValueError: it was"),
    ("01.2", "def f(f, value):\n    return [[1], [2, 3]]", "gives [[1], [2, 3]]"),
    ("01.4", NESTED.replace("first = ", "first = 2.0 * "), "2 times what it should be"),
    ("01.5", solved("01.5", "range(steps)", "range(steps + 1)"), "one step too many"),
    ("01.5", solved("01.5", "range(steps)", "range(steps - 1)"), "one step too few"),
    ("01.5", SOLUTIONS["01.5"].replace("0.1 *", "0.2 *"), "the result at a rate of 0.2."),
    ("01.5", SOLUTIONS["01.5"].replace("gradient(y, x)", "gradient(y)"),
     "A call is missing the argument sources."),
    ("03.2", solved("03.2", "return w", "return w.numpy()"), "it's a plain number"),
    ("06.3", SOLUTIONS["06.3"].replace("tf.stop_gradient", "stop_gradient"), "The name belongs to tf"),
    ("06.3", SOLUTIONS["06.3"].replace("tf.stop_gradient", "tape.stop_gradient"), "This name belongs to tf"),
    ("05.5", SOLUTIONS["05.5"].replace("        loss = loss_of(x)", "    loss = loss_of(x)"), "with block"),
    ("05.3", SOLUTIONS["05.3"].replace("persistent=True", "Persistent=True"), "no argument named 'Persistent'"),
    ("07.1", solved("07.1", "inner.gradient(y, x)", "inner.gradient(y, x).numpy()"), "gradient of f(x) alone"),
    ("07.4", SOLUTIONS["07.4"].replace("/ bend(x)", "/ tf.abs(bend(x))"), "Divide by the second derivative as it is,"),
    ("07.4", SOLUTIONS["07.4"].replace("/ bend(x)", "/ tf.maximum(bend(x), 0.1)"), "not yet"),
    ("11.3", SOLUTIONS["11.3"].replace("return tf.maximum", "tf.maximum"), "returns None for the input"),
    ("11.6", SOLUTIONS["11.6"].replace("return tf.where", "tf.where"), "returns None for the input"),
    ("10.2", SOLUTIONS["10.2"].replace("penalty * x", "penalti * x"), "does not know the name 'penalti'"),
    ("09.5", SOLUTIONS["09.5"].replace("return best", "return best_loss"), "That's the smallest loss itself."),
    ("12.6", SOLUTIONS["12.6"].replace("return True", "return received"), "True or False"),
]  # fmt: skip
WRONG_PROGRAMS += parse_programs(
    """
#@ 07.7 | not an array of 3 numbers
def hessian_row(f, point, direction):
    x = tf.Variable(point)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = f(x)
        g = inner.gradient(y, x)
        first, second = g[0], g[1]
    rows = tf.stack([outer.gradient(first, x), outer.gradient(second, x)])
    return tf.linalg.matvec(rows, tf.constant(direction))
#@ 10.2 | not yet
def two_slopes(f, value):
    @tf.function
    def loss(x):
        return f(x)

    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = loss(x)
    g = tape.gradient(y, x)
    return [g, g + 5.0]
#@ 10.2 | loss itself should add penalty * x
def two_slopes(f, value):
    @tf.function
    def loss(x):
        return f(x)

    x = tf.Variable(value)
    found = []
    for penalty in (0.0, 5.0):
        with tf.GradientTape() as tape:
            y = loss(x) + penalty * x
        found.append(tape.gradient(y, x))
    return found
#@ 10.4 | The loop belongs inside the traced function
def slope_of_repeated(f, value, times):
    x = tf.Variable(value)
    g = tf.function(f)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(times):
            y = g(y)
    return tape.gradient(y, x)
#@ 11.3 | no tape met limit's rule
def slope(f, rest, value, most):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        z = f(x)
    with tf.GradientTape() as other:
        other.watch(z)
        y = rest(z)
    upstream = tf.clip_by_value(other.gradient(y, z), -most, most)
    return tape.gradient(z, x, output_gradients=upstream)
#@ 12.5 | not yet
def rule_of_tanh(g, z, x):
    return (g * (math.tanh(x + 1e-3) - math.tanh(x - 1e-3)) / 2e-3,)
"""
)
IF_ELIF = (
    "if name == 'add':\n                shares = (g, g)\n            else:\n                shares = (g * y, g * x)"
)


STEP = "x = x - 0.1 * tape.gradient(y, x)"
TWO_SLOPES = collect_exercises("10")["10.2"].start
EACH = "for penalty in (0.0, 5.0):\n"
TOLD = [
    ("05.3", SOLUTIONS["05.3"].replace("[tape", "{0: tape").replace(", tape", ", 1: tape").replace("x)]", "x)}"),
     "your answer is a dictionary with the keys"),
    ("01.5", solved("01.5", "return x", "return y"), "The right result is in x,"),
    ("04.3", solved("04.3", "tape.watch(b)", "tape.watch([a, b])"), "because you watch it by hand"),
    ("04.3", solved("04.3", "tape.gradient(y, [a, b])", "[None, tape.gradient(y, a)]"), "the tape did not watch a"),
    ("09.2", solved("09.2", "total = 0.0", "total = tf.Variable(0.0)").replace("total = total +", "total +="),
     "and assign_add would cut the path to w"),
    ("11.2", solved("11.2", "** 0.5", "** 1 / 2"), "divided by half of x * x + y * y"),
    ("11.3", solved("11.3", "(x), grad", "(x), grad(1.0)"), "Return the function grad itself"),
    ("11.6", solved("11.6", "upstream, 0.0", "upstream"), "tf.where needs a third value"),
    ("02.5", solved("02.5", "reversed(range(len(rows)))", "reversed(rows)"), "brackets is not an integer"),
    ("07.7", solved("07.7", "tf.reduce_sum(gradient * v)", "gradient @ v"), "@ multiplies matrices"),
    ("08.3", solved("08.3", "tape.gradient(y, x)", "tf.reduce_mean(tape.gradient(y, x))"), (
        "The right result is in tape.gradient(y, x)"
    )),
    ("10.6", solved("10.6", "angle - miss", "-miss"), "if you leave out angle."),
    ("07.1", solved("07.1", "slope * slope", "slope + slope"), "the gradient of y + 2 * slope"),
    ("06.3", solved("06.3", "tape.gradient(loss, [a, b])", "None"), "You compute 'loss' but never use it."),
    ("04.4", solved("04.4", "return [a, b]", "return b"), "returns only one part of the result. Return all 2 parts."),
    ("08.6", solved("08.6", "[y, tape.gradient(y, x)]", "tape.gradient(y, x)"), "returns only one part"),
    ("02.6", solved("02.6", "return speeds", "return speeds[-1]"), "your answer is a number, not a list of length 3"),
    ("01.2", solved("01.2", "tape.gradient(y, x)", "tape.gradient(y, x) * x"), "largest difference: 9.0"),
    ("07.1", solved("07.1", "y + slope", "y - slope"), "the gradient of y - slope * slope"),
    ("11.6", solved("11.6", "upstream, 0.0", "upstream, 1.0"), "sign(x) sends 1.0"),
    ("05.4", solved("05.4", "rate * ", "0.1 * "), "You never use 'rate'."),
    ("09.5", solved("09.5", "return best", "return tape.gradient(loss, w)"), "not yet"),
    ("11.3", solved("11.3", "tf.maximum(-most, tf.minimum(upstream, most))", "(upstream, most)"), "for each input"),
    ("01.5", solved("01.5", "return x", "return [x]"), ", not a number"),
    ("01.2", solved("01.2", "return tape", "return print(tape").replace("(y, x)", "(y, x))"), "print only shows"),
    ("01.2", solved("01.2", "tape.watch(x)", "tape.watch(f)"), "can be watched, but this is neither"),
    ("01.2", solved("01.2", "tape.gradient", "tape.grad"), "Did you mean 'gradient'?"),
    ("01.2", solved("01.2", "tape.gradient(y, x)", "tape.gradient"), "the method gradient"),
    ("01.2", solved("01.2", "return tape", "return y, tape"), "your answer is a tuple of length 2, not a number"),
    ("01.2", solved("01.2", "tape.gradient(y, x)", "tape.gradient(y, x),"), ", not a number"),
    ("01.2", solved("01.2", "tape.gradient(y, x)", "tf.log(tape.gradient(y, x))"), "tf.math.log(...)"),
    ("01.2", solved("01.2", "tape.gradient(y, x)", "tape.gradient(y, x).log()"), "tf.math.log(...)"),
    ("01.2", solved("01.2", "tape.gradient(y, x)", "tf.max(tape.gradient(y, x))"), "Did you mean 'reduce_max'?"),
    ("01.2", solved("01.2", "tape.gradient(y, x)", "tape.gradient(y, [x]).numpy()"), "is a list of length 1"),
    ("01.2", solved("01.2", "tape.gradient(y, x)", "float(tape.gradient(y, x)).numpy()"), "dot is a number"),
    ("01.4", solved("01.4", "inner.gradient(y, x)", "tf.Variable(inner.gradient(y, x))"), "created a new variable"),
    ("01.5", solved("01.5", STEP, "x = start - 0.1 * tape.gradient(y, x)"), "at the line tape.watch(x): your tape"),
    ("01.5", solved("01.5", STEP, "x = x - 0.1 * y"), "but you never called tape.gradient"),
    ("01.5", solved("01.5", STEP, "x = 0.1 * tape.gradient(y, x)"), "if x becomes 0.1 times the slope alone"),
    ("01.5", solved("01.5", STEP, "x = -0.1 * tape.gradient(y, x)"), "if you leave out x."),
    ("01.5", solved("01.5", "0.1 * tape.gradient(y, x)", "0.1 * tf.sign(tape.gradient(y, x))"), "only the sign of"),
    ("01.5", solved("01.5", STEP, "x = x - 0,1 * tape.gradient(y, x)"), "your answer is a tuple of length 2"),
    ("01.2", solved("01.2", "return tape", "return x"), "gradient is a tape method. Write tape.gradient(...)."),
    ("01.4", solved("01.4", "return outer", "return first, outer"), "The right result is in outer.gradient(first, x)"),
    ("06.3", solved("06.3", "stop_gradient(b)", "stop_gradient(a)"), "both inputs of distance have the value of a"),
    ("10.2", solved("10.2", "return f(x)", "global value; return f(x)").replace("penalty * x", "value"),
     "'value' is a name inside your function"),
    ("10.4", solved("10.4", "k + 1", "k"), "as after a loop that doesn't end by itself"),
    ("10.4", solved("10.4", "f(y)", "f(x)"), "This is the slope of f(x), whatever times is."),
    ("10.4", solved("10.4", "k, y = tf.while_loop", "tf.while_loop"), (
        "The slope is 1, the slope of x itself."
    )),
    ("03.6", solved("03.6", "append(average.numpy())", "append(number)"), "These are the numbers themselves."),
    ("07.5", solved("07.5", "f(x - move) <= f(x)", "move < 1"), "3.25, 6) gives 3.25"),
    ("10.6", solved("10.6", "return found", "return throw(found)"), "The right result is in found,"),
    ("13.9", solved("13.9", "mean(axis=0)", "mean"), "A function is used as if it were a number or a list"),
    ("03.2", solved("03.2", "range(steps)", "range(tf.constant(2.0))"), "counted in whole numbers"),
    ("05.3", solved("05.3", "persistent=True", "persistent=true"), "Did you mean 'True'?"),
    ("08.3", solved("08.3", "tf.reduce_mean(results)", "results.mean()"), "tf.reduce_mean(...)"),
    ("08.3", solved("08.3", "tf.reduce_mean(results)", "tf.math.is_nan(results)"),
     "minitape has only the TensorFlow names"),
    ("10.4", solved("10.4", "tf.while_loop(", "tf.while_lop("), "Did you mean 'while_loop'?"),
    ("01.5", solved("01.5", STEP, "x - 0.1 * tape.gradient(y, x)"), "is lost."),
    ("06.3", solved("06.3", "distance(a, tf.stop_gradient(b))", "(a - tf.stop_gradient(b)) ** 3"), "use 'distance'"),
    ("09.6", solved("09.6", "seen_a.assign_add", "seen_a.assign"), "replaces the old value of seen_a with a"),
    ("05.3", solved("05.3", "gradient(z, x)", "gradient(y, x) + 0.0 * z"), SECOND_WRONG),
    ("07.4", solved("07.4", "x - slope(x) / bend(x)", "f(x) - slope(x) / bend(x)"), "A step starts at x."),
    ("12.7", solved("12.7", "(axis=0)", "(axis=0) ** 2"), SECOND_WRONG),
    ("12.8", solved("12.8", "(g @ w.T, x.T @ g)", "(-g @ w.T, -x.T @ g)"), "The sign is wrong in each case."),
    ("appendix.2", solved("appendix.2", "x > 0, x.dtype", "x < 0, x.dtype"), "the other way round"),
    ("11.2", solved("11.2", "y * y", "x * y"), "use x instead of y"),
    ("04.3", solved("04.3", "f(a, b)", "b"), "You never use 'f'."),
    ("10.2", solved("10.2", "constant(penalty)", "constant(2.0 * penalty)"), SECOND_WRONG),
    ("10.2", TWO_SLOPES.replace("loss(x):", "loss(x, penalty=0.0):"), "no call passes one"),
    ("10.2", TWO_SLOPES.replace(EACH, EACH + "        penalty = tf.Variable(penalty)\n"), "the variable that existed"),
    ("10.2", TWO_SLOPES.replace(EACH, EACH + "        penalty = tf.constant(penalty)\n"),
     "this 0 stays in the recording"),
]  # fmt: skip
COLLECTED = [
    ("02.4", {"A": "yes", "B": "yes", "C": "no", "D": "no"}, "A: The answer must be True or False."),
    ("03.5", ["soft:0", "stiff:0", "best:0"], "stiff is read before the tape is on."),
    ("02.1", {1: [0, 0], 2: [1, None], 3: [2, 1]}, "2, item 2: The answer must be a number."),
    ("08.1", ["not_watched", "stop_gradient", "state", "recording_paused"], "Only one part is wrong: item 3."),
    ("08.5", [5], "There's a second use of w, in line 6. Does"),
    ("08.5", ["5", "6", "7"], "remove the quotes around 5"),
    ("08.5", np.array([5, 6, 8]), "8 does not belong in the list."),
    ("14.1", ["hidden", "w1"], "The only path from z to hidden goes through features"),
]


@pytest.mark.long(sample=3)
@pytest.mark.parametrize(("name", "program", "words"), TOLD)
def test_a_slip_that_no_list_has_is_told(name, program, words):
    assert words in (said := check_program(name, program)), said


@pytest.mark.parametrize(("name", "given", "words"), COLLECTED)
def test_what_is_wrong_in_a_collection_is_told_and_not_how_much_belongs_in_it(name, given, words):
    said = count_try_and_build_feedback(name, given)
    assert words in said and "expected a list of" not in said, said


def test_a_hint_that_praises_a_part_is_not_given_where_that_part_is_wrong():
    assert "word is right" not in count_try_and_build_feedback("14.3", {"cause": "no_derivative", "line": 7})
    assert "right numbers" not in check_program("03.6", solved("03.6", "average.numpy()", "str(average.numpy())"))


def test_many_steps_that_have_arrived_are_not_those_of_another_rate():
    assert "learning rate" not in check_program("03.2", solved("03.2", "range(steps)", "range(100)"))


def test_no_step_is_taken_where_none_is_asked_for():
    first_then_ask = """
def learn(loss_of, start, steps):
    w = tf.Variable(start)
    while True:
        with tf.GradientTape() as tape:
            loss = loss_of(w)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        steps -= 1
        if steps <= 0:
            return w
"""
    assert "With 0 steps, the result should be what w began with" in check_program("03.2", first_then_ask)


@pytest.mark.long
def test_a_step_that_leads_far_and_down_is_taken():
    assert "not yet" in check_program("07.5", solved("07.5", "if f(x - move) <= f(x):", "if abs(move) < 1.0:"))


@pytest.mark.parametrize(("name", "given"), RIGHT)
def test_a_right_answer_in_another_form_is_right(name, given):
    assert f"Exercise {name}: correct." in count_try_and_build_feedback(name, given)


@pytest.mark.long(sample=3)
@pytest.mark.parametrize(("name", "program"), RIGHT_PROGRAMS)
def test_a_right_program_of_another_kind_is_right(name, program):
    assert f"Exercise {name}: correct." in check_program(name, program)


@pytest.mark.parametrize(("name", "given", "words"), WRONG)
def test_a_wrong_answer_hears_what_it_did(name, given, words):
    said = count_try_and_build_feedback(name, given)
    assert "not yet" in said and words in said, said


@pytest.mark.long(sample=3)
@pytest.mark.parametrize(("name", "program", "words"), WRONG_PROGRAMS)
def test_a_wrong_program_hears_what_it_did(name, program, words):
    said = check_program(name, program)
    assert "not yet" in said and words in said, said
    assert "could not be compared" not in said and "is 1 times" not in said and "are 1 times" not in said


def test_a_program_that_asks_a_tape_for_each_number_is_not_compared_with_one_that_asks_once():
    one_by_one = """
def slopes(f, values):
    found = []
    for value in values:
        x = tf.Variable(value)
        with tf.GradientTape() as tape:
            y = f(x)
        found.append(tape.gradient(y, x) * 0.123)
    return found
"""
    assert "your tape" not in check_program("08.3", one_by_one)


@pytest.mark.parametrize("value", ["relu", None, {"a": 1.0}, [[1.0], [2.0, 3.0]]])
def test_what_is_handed_in_may_be_no_number(value):
    cases = [(Polynomial(0, 1, 2), value), (Polynomial(0, 1, 3), value)]
    add_exercise(Exercise("own.1", expect=lambda f, value: 1.0, cases=cases, hint="Which one?"))
    assert "could not be compared" not in check_program("own.1", "def five(f, value):\n    return f(tf.constant(5.0))")


def test_what_is_handed_out_is_a_copy():
    exercise = collect_exercises("13")["13.9"]
    before = [array.copy() for _, *arrays in exercise.cases for array in arrays]
    check_program("13.9", dict(RIGHT_PROGRAMS)["13.9"])
    assert all(
        np.array_equal(one, other)
        for one, other in zip(before, [o for _, *c in exercise.cases for o in c], strict=True)
    )


def test_a_hint_that_did_not_help_is_followed_by_the_next_one():
    exercise = collect_exercises("01")["01.1"]
    first, second, third = (count_try_and_build_feedback("01.1", 8.0) for _ in range(3))
    assert first.endswith(exercise.mistakes[0].hint)
    assert second.endswith(f"Hint: {exercise.hint[1]}")
    assert third.endswith(f"Hint: {exercise.hint[2]}")


def test_a_mistyped_argument_is_no_try():
    program = SOLUTIONS["05.3"].replace("persistent=True", "Persistent=True")
    assert all("try" not in check_program("05.3", program).partition("Hint")[0].replace("tries", "") for _ in range(4))
    exercise = collect_exercises("05")["05.3"]
    assert check_program("05.3", solved("05.3", "f(x)", "f(x) ** 3")).count(exercise.hint[2]) == 0


def test_a_sweep_that_never_asks_the_table_of_rules_is_told():
    tape = define_function(SOLUTIONS["12.3"])
    assert "correct" in count_try_and_build_feedback("12.3", tape)
    known = SOLUTIONS["12.3"].replace(
        "_, rule = RULES[name]",
        "rule = {'add': lambda g, z, x, y: (g, g)}.get(name, lambda g, z, x, y: (g * y, g * x))",
    )
    assert known != SOLUTIONS["12.3"], SOLUTIONS["12.3"]
    said = check_program("12.3", known)
    assert "not yet" in said and "RULES['cube']" in said, said


def test_a_program_that_was_begun_is_not_said_to_give_what_it_gave_at_the_start():
    start = collect_exercises("08")["08.2"].start
    said = check_program("08.2", start.replace("y = f(x)", "y = ..."))
    assert "not answered yet" in said and "Replace the ..." in said and "still returns" not in said
    assert "still returns" in check_program("08.2", start)


def test_a_tape_that_is_half_written_costs_no_try():
    half = define_function(solved("12.3", "adjoints[target.row] = 1.0", "..."))
    assert "not answered yet" in count_try_and_build_feedback("12.3", half)
    swapped = define_function(solved("12.3", "(g * y, g * x)", "(g * x, g * y)"))
    assert "the two are swapped" in count_try_and_build_feedback("12.3", swapped), "the first try"


def test_a_pointer_is_said_once_and_is_about_the_part_that_is_wrong():
    wrong = ["not_watched", "stop_gradient", "state", "rebound"]
    said = [count_try_and_build_feedback("08.1", wrong) for _ in range(3)]
    assert [each.count("where is the line that computes z?") for each in said] == [1, 0, 0]
    assert "A: x is a constant" not in "".join(said)


def test_a_hint_with_fewer_pieces_than_the_answer_has_parts_is_left_whole():
    exercise = Exercise("own.1", expect=[1.0, 2.0, 3.0])
    hint = "Look. A: the first. B: the second."
    assert narrow_hint_to_wrong_part(hint, exercise, [0.0, 2.0, 3.0]) == hint
    assert narrow_hint_to_wrong_part(f"{hint} C: the third.", exercise, [1.0, 0.0, 3.0]) == "Look. B: the second."


def test_a_share_that_went_to_the_wrong_row_is_not_said_to_have_left_the_sum():
    said = check_program("12.3", solved("12.3", "zip(inputs, shares)", "enumerate(shares)"))
    assert "but only the 5.0 is in the answer. The 3.0 should come to the row of the sum first" in said, said


def test_gradients_that_are_sums_of_arrays_are_told_by_their_shape():
    wrong = SOLUTIONS["12.4"].replace("(g * y, g * x)", "(np.sum(g * y), np.sum(g * x))")
    assert "single numbers, the sums of the right arrays" in check_program("14.10", wrong)


def test_a_tensor_that_is_written_to_hears_of_no_position():
    loop = "    for i in range(len(numbers)):\n        if x[i] < 0:\n            x[i] = 0\n    return x"
    said = check_program("appendix.2", f"def without_negatives(numbers):\n    x = tf.constant(numbers)\n{loop}\n")
    assert "cannot be changed in place" in said and "whole number" not in said, said
