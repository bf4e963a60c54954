"""The answers of lesson 10, branches, loops and traced programs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .attempt import find_function_source
from .call_log import ObservedRun
from .exercise import Exercise, Mistake, raise_error
from .unknown_functions import Polynomial, TracedNumber

if TYPE_CHECKING:
    from ..engine.types import Function

F, G = TracedNumber(0, 0, 1), TracedNumber(1, -2, 0, 1)
GROWS, TURNS = TracedNumber(1, 0, 0.5), TracedNumber(-1, 2)
HILL, STEEP, FALLS = Polynomial(0, 12, -4), Polynomial(0, 2, 0, 1), Polynomial(1, -2)
FLAT = Polynomial(0, 0, 1)  # where it is 0 it is level, so each correction halves the angle only: ten are not nine


def _compute_repeated_slope(f: Polynomial, value: float, times: int) -> float:
    """Compute the slope of `f` of `f` of ... of x: multiplied along the path."""
    slope = 1.0
    for _ in range(times):
        slope *= f.derivative(value)
        value = f._compute(value)
    return slope


def _solve_for_angle(throw: Polynomial, target: float, times: int = 10) -> float:
    """Compute the angle after so many corrections."""
    angle = 0.4
    for _ in range(times):
        angle -= (throw._compute(angle) - target) / throw.derivative(angle)
    return angle


def _compute_unpenalized_slopes(f: Polynomial, value: float) -> list[float]:
    return [f.derivative(value)] * 2


def _find_tracing_hint(answer: Function, observed_runs: list[ObservedRun]) -> str:
    """Say what is wrong with a program that gives both slopes, and not from one traced loss with the penalty in it."""
    is_outside = any(
        {"multiply", "add"} <= set(question.operations) for run in observed_runs for question in run.questions
    )
    if is_outside or any(
        sum(question.sweep_count for question in run.questions if question.is_answered) < 2 for run in observed_runs
    ):
        return (
            "The two slopes do not both come from the recording of loss alone. Let the loss take the penalty as an "
            "argument, and ask for the gradient of each loss."
        )
    loops = [node for node in ast.walk(ast.parse(find_function_source(answer))) if isinstance(node, ast.For)]
    if any(isinstance(node, (ast.FunctionDef, ast.Lambda)) for loop in loops for node in ast.walk(loop)):
        return (
            "A new function is made and traced in each iteration: that is right, and slow. Trace one loss, before the "
            "loop."
        )
    return ""


def _find_unrolled_loop_hint(answer: Function, observed_runs: list[ObservedRun]) -> str:
    """Say what is wrong with a program that was unrolled while it was traced."""
    function_counts = [question.operations.count("function") for run in observed_runs for question in run.questions]
    if len({*function_counts}) > 1:
        return "Python goes through the loop, and each iteration calls a traced function. Put the loop into it."
    if 2 in function_counts:
        return "The while_loop gives back the counter, too, and your target has both. Take y alone: k, y = ..."
    if any(len(run.calls) > 2 for run in observed_runs):
        return (
            "Python went through the loop, and the recording has a copy of f for each iteration. Use tf.while_loop: "
            "its body is in the recording once."
        )
    return ""


EXPLANATIONS = {
    "10.p1": "At -2 the condition is False, so the second branch ran, 3 - 2 * x, whose slope is -2 everywhere. Of x * "
    "x the tape knows nothing.",
    "10.p2": "The loop ran three times, to 4, 16 and 256. Going back, the tape multiplies along the path: 2 * 16, 2 * "
    "4 and 2 * 2 make 32 * 8 * 4.",
    "10.p3": "The ball flies on for a whole number of iterations. A steeper throw with the same number of iterations "
    "comes down nearer by, because it goes up "
    "instead of forwards. That is what the tape recorded.",
    "10.p4": "print is Python: it ran once, while the function was traced, and shows a tensor without a number. "
    "tf.print is an operation, so it is in the recording, and ran each time.",
    "10.p5": "While pull was traced, Python looked strength up and found 2. So 2.0 is in the recording, as if you had "
    "typed it. No call looks it up again.",
    "10.p6": "In the first run x is 3, so Python takes the first branch. The other one is recorded when a call "
    "takes it: another branch is another recording.",
    "10.p7": "The first recording is as long as the loop: one multiplication after the other. In the second the "
    "multiplication is there once, and the loop around it is an operation.",
    "10.p8": "A Python number is in the recording as it is, so each new number needs a new recording. Of a tensor "
    "only shape and dtype count, so one recording serves all three.",
    "10.p9": "At a kink there is no slope, and each rule has to say something. That of relu hands on nothing at 0. "
    "That of maximum hands all to its first input where both are equal. TensorFlow's rules are the same. It does "
    "little harm: a number in a network is almost never exactly 0.",
}
BELIEFS = {
    "10.p1": {
        "-4.0": "-4.0 is 2 * x, the slope of the first branch. At x = -2 that branch does not run.",
        "-6.0": "-6.0 is both slopes together, -4 and -2. Only one of the branches runs.",
        "None": "An if does not cut the path: the branch that ran is computed from x, and the tape recorded it.",
    },
    "10.p2": {
        "4.0": "4.0 is the slope of x * x at 2, that of the first iteration. Two more iterations follow it.",
        "256.0": "256.0 is the result, not its slope.",
        "None": "A loop does not cut the path: each x * x that ran is a row of its own.",
    },
    "10.p3": {
        "above zero": "The three throws say so, but they fly for 6, 7 and 9 steps. A gradient is about one number of "
        "steps, and does not see that it changes.",
    },
    "10.p4": {
        "3 and 3": "That is what happens without @tf.function: Python goes through both lines at every call.",
        "1 and 1": "The second call does not give back the first result. The recording runs again, and tf.print is "
        "in it.",
        "3 and 1": "It is the other way round: print is Python's, and Python runs once; tf.print is an operation.",
    },
    "10.p5": {
        "10.0": "10.0 is the slope of 5 * x * x. It would be right if each call looked strength up.",
        "None": "None means that there is no path. But x is an argument, and the recording multiplies it.",
    },
    "10.p6": {
        "lower": "x is 3, so x > 1.0 is True, and Python takes the branch that notes upper.",
        "upper and lower": "TensorFlow does visit both, because it rewrites the if. Here Python runs once, and takes "
        "one branch.",
        "neither": "The first call is a run of Python. Without it there would be nothing to record.",
    },
    "10.p7": {
        "100 and 100": "With tf.while_loop Python does not loop: it goes through the body once, and the recording "
        "repeats it.",
        "1 and 1": "range is a loop of Python's. Python goes through all of its iterations while it traces.",
        "1 and 100": "It is the other way round: range is a loop of Python's, and tf.while_loop is an operation.",
    },
    "10.p8": {
        "1": "One recording cannot serve all six calls: the first has the number 1.0 in it, as if you had typed it.",
        "2": "2 would be one recording for numbers and one for tensors. But each new Python number needs its own.",
        "6": "6 is the number of calls. The three tensors have the same shape and dtype, so they share a recording.",
    },
    "10.p9": {
        "0.0, 0.0, 0.0": "So it would be if all three had the rule of relu. maximum has a rule of its own: where both "
        "inputs are equal, the first one gets all.",
        "1.0, 1.0, 1.0": "1.0 is the slope on the right. The rule of relu takes the one on the left.",
        "0.5, 0.5, 0.5": "Half of it is what JAX's maximum hands to each of the two. TensorFlow's rules take a side.",
    },
}
RETRY_QUESTIONS = {
    "10.p2": (
        "x is 3. While x is below 50, x = x * x. What is the gradient of the result with respect to the 3?",
        ["6.0", "81.0", "108.0"],
        "108.0",
        "The loop runs twice, to 9 and 81. Along the path 2 * 9 and 2 * 3 are multiplied.",
    ),
    "10.p5": (
        "A traced function gives strength * x. At its first call strength is 3; then strength = 7. What is the "
        "gradient at the second call?",
        ["3.0", "7.0", "None"],
        "3.0",
        "The number was looked up while the function was traced. In the recording it is 3.",
    ),
}
EXERCISES = (
    Exercise(
        "10.1",
        expect=[5.0, 16.0, None, 0.0],
        slips={
            1: {2.0: "A: 2 is the slope of x * x. At x = 1 that branch does not run."},
            2: {
                2.0: "B: 2 is one iteration. The loop goes on while y is below 10.",
                4.0: "B: after two iterations y is 4, which is below 10.",
                8.0: "B: after three iterations y is 8, which is below 10.",
                32.0: "B: after four iterations y is 16, and the loop ends.",
                10.0: "B: 10 is in the condition, which only decides how often the loop runs.",
            },
            3: {
                7.0: "C: 7 is y itself. The branch that ran does not use x.",
                1.0: "C: 1 is the slope of the other branch.",
            },
            4: {
                -2.0: "D: -2 is the slope of x * x. At x = -1 tf.where takes the 0.0.",
                1.0: "D: 1 is x * x at -1. tf.where takes the 0.0, and the slope is asked for.",
            },
        },
        hint=(
            "Which lines of each program run?",
            "A: at x = 1 the condition is False. B: how many times does the loop run, from 1 to 10 or more? C: the "
            "branch that ran has no operation that uses x. D: tf.where is recorded, with both branches; at x = -1 it "
            "took the 0.0, and what it does not take gets 0.",
            "A: 5 * x ran. B: y is 2 * 2 * 2 * 2 * x. C: a constant. D: tf.where took the 0.0.",
        ),
        because="Only what ran counts: one branch, four iterations, a constant; and tf.where hands on 0 to what it "
        "did not take.",
    ),
    Exercise(
        "10.2",
        expect=lambda f, value: [f.derivative(value), f.derivative(value) + 5.0],
        cases=[(F, 3.0), (G, -2.0), (G, 1.0)],
        start="""
def two_slopes(f, value):
    penalty = 0.0

    @tf.function
    def loss(x):
        return f(x) + penalty * x

    x = tf.Variable(value)
    found = []
    for penalty in (0.0, 5.0):
        with tf.GradientTape() as tape:
            y = loss(x)
        found.append(tape.gradient(y, x))
    return found
""",
        mistakes=[
            Mistake(
                _compute_unpenalized_slopes,
                "A variable is read each time, but the recording reads the one that it met while it was traced. Make "
                "one variable before the loop, and assign to it.",
                where=r"for penalty in .*Variable|(?s:for .*\n +\w+ = tf\.Variable\((?!value))",
            ),
            Mistake(
                _compute_unpenalized_slopes,
                "The recording holds the tensor that had the name penalty while it was traced. Hand it in as an "
                "argument of loss.",
                where=r"(?s)def loss\(\w+\):.*tf\.(constant|convert_to_tensor|cast)\(",
            ),
            Mistake(
                _compute_unpenalized_slopes,
                "loss can take a penalty now, and no call hands one in: loss(x, tf.constant(penalty)).",
                where=r"def loss\(\w+, *\w+ *=",
            ),
            Mistake(
                _compute_unpenalized_slopes,
                "The variable gets its new number after the loss was computed. Assign to it before loss is called.",
                where=r"(?s)= *loss\(.*\.assign\(",
            ),
            Mistake(
                _compute_unpenalized_slopes,
                "loss was traced with penalty = 0, and that is in its recording for good. How does a new number get "
                "in?",
                where=r"(?s)\A(?!.*penalty *= *tf\.Variable).*(def loss\(\w+\)|lambda \w+:).*\+ *penalty *\*",
            ),
            Mistake(
                raise_error,
                "f refuses to run outside of a traced function. Keep @tf.function, and hand the penalty in as an "
                "argument of loss.",
                error="traced one",
            ),
        ],
        changes={
            "+ penalty * x => + 0.0 * x": (
                "Both slopes are that of f alone: the penalty is the same each time, or it is not multiplied by x."
            ),
        },
        also=_find_tracing_hint,
        from_tape="The slope of the penalty was added by hand, and the loss does not have it. Let the loss take the "
        "penalty as an argument.",
        hint=(
            "What should each call of loss depend on, and of what is the gradient asked?",
            "What Python looks up while it traces is in the recording for good. Let each number come in at its call.",
            "def loss(x, penalty): and then y = loss(x, tf.constant(penalty))",
        ),
        because="In the solution an argument comes in at each call. A Python name is looked up once, while the "
        "function is traced.",
    ),
    Exercise(
        "10.3",
        expect={"A": 1, "B": 2, "C": 3, "D": 1},
        slips={
            "A": {2: "A: 2 is once for each call. At the second call only the recording runs: no Python, no print."},
            "B": {
                1: "B: 1 is once for each trace. tf.print is in the recording, which runs at each call.",
                0: "B: tf.print is in the recording, and the recording runs.",
            },
            "C": {
                6: "C: 6 is three times for each call. At the second call no Python runs.",
                1: "C: 1 would be a body that Python runs once. range is Python's own loop.",
            },
            "D": {
                0: "D: Python runs the body once, so that it can be recorded.",
                2: "D: 2 is once for each call. At the second call no Python runs.",
                3: "D: 3 is once for each iteration. The iterations are those of the recording, without Python.",
                6: "D: 6 is once for each iteration of each call. The iterations are those of the recording.",
            },
        },
        hint=(
            "Who prints each letter: Python, while tracing, or the recording, each time?",
            "A: print is Python's, and runs while f is traced. B: tf.print is in the recording, which runs at each "
            "call. C: range is Python's loop, and runs while f is traced. D: tf.while_loop is an operation; Python "
            "goes through its body once.",
            "A and D: Python, once. C: Python, three times. B: the recording, at each of two calls.",
        ),
        because="print and range are Python's, and ran once, while f was traced. tf.print and tf.while_loop are in the "
        "recording.",
    ),
    Exercise(
        "10.4",
        expect=_compute_repeated_slope,
        cases=[(F, 1.5, 3), (G, 0.5, 3), (GROWS, 1.0, 4), (TURNS, -2.0, 1)],
        mistakes=[
            Mistake(raise_error, "times is a tensor. Use tf.while_loop.", where=r"(?m)^ *for .*(in times\b|\.numpy\()"),
        ],
        also=_find_unrolled_loop_hint,
        changes={
            "k + 1 => k": (
                "The loop never ends by itself, and check stopped it. Does the counter grow in each iteration, and "
                "does the condition ask for it?"
            ),
            "k + 1 => k + 2": "The counter grows by 2 each time, so f is applied too few times.",
            "k, y = tf => tf": (
                "The slope is 1, as that of x itself. Does the loop run, and which line gives its result the name y?"
            ),
        },
        hint=(
            "times is another number in another call. Is the loop an operation, and what does its body take and give?",
            "Use tf.while_loop with two variables, a counter and y, and apply f to y each time.",
            "tf.while_loop(lambda k, y: k < times, lambda k, y: (k + 1, f(y)), [0, y]) gives back both variables.",
        ),
        because="The loop is in the recording, and the backward sweep goes through each of its iterations.",
    ),
    Exercise(
        "10.5",
        expect={"A": 1, "B": 2, "C": 3, "D": 2},
        slips={
            "A": {
                2: "A: 2 is one for each value. Of a tensor, only shape and dtype count.",
                3: "A: 3 is one for each call. Of a tensor, only shape and dtype count.",
            },
            "B": {
                1: "B: 1 would be right for tensors. The value of a Python number is part of the recording.",
                3: "B: 3 is one for each call. At the last one there is a recording of 1.0 already.",
            },
            "C": {
                1: "C: the shapes (2,) and (1,) need a recording each.",
                2: "C: 2 is the number of shapes. Integers need a recording of their own.",
            },
            "D": {
                1: "D: 1 is that of the five tensors. 5 is a Python number.",
                5: "D: the five tensors have one shape and one dtype.",
                6: "D: 6 is one for each call. The five tensors have one shape and one dtype.",
            },
        },
        hint=(
            "For each call: is there a recording already for this kind of input?",
            "A: of a tensor only shape and dtype count, not its value. B: a Python number is part of the recording; "
            "how many different ones are there? C: compare the shapes, and then the dtypes. D: the five are tensors "
            "of one kind, and the last line hands in a Python number.",
            "A: one kind. B: 1.0 and 2.0. C: two shapes, and another dtype. D: one kind of tensor, and a Python "
            "number.",
        ),
        because="Shape and dtype of a tensor, and the value of a Python number, decide whether there is a recording "
        "already.",
    ),
    Exercise(
        "10.6",
        expect=_solve_for_angle,
        cases=[(HILL, 7.0), (STEEP, 3.0), (FALLS, -3.0), (FLAT, 0.0)],
        hint=(
            "By how much does the miss grow if the angle grows by 1? So how far must the angle go back?",
            "Ask the tape for the gradient of miss with respect to angle, and subtract miss divided by it from the "
            "angle.",
            "angle = angle - miss / tape.gradient(miss, angle)",
        ),
        because="Each time the tape says how the miss grows with the angle; ten corrections are more than enough.",
        rtol=1e-4,
    ),
)
