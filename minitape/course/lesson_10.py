"""The answers of lesson 10, branches, loops and traced programs."""

import re

from ..engine.types import Function
from .attempt import find_function_source
from .call_log import ObservedRuns
from .exercise import Exercise, Mistake
from .unknown_functions import Polynomial, TracedNumber

F = TracedNumber(0, 0, 1)
G = TracedNumber(1, -2, 0, 1)
GROWS = TracedNumber(1, 0, 0.5)
TURNS = TracedNumber(-1, 2)
HILL = Polynomial(0, 12, -4)
STEEP = Polynomial(0, 2, 0, 1)
FALLS = Polynomial(1, -2)
# FLAT is level at its zero, so each correction only halves the angle. Nine and ten corrections then differ.
FLAT = Polynomial(0, 0, 1)
REWRITTEN_LOOP = r"(?m)^ *(while |for .* in tf\.range\()"
"""A loop that TensorFlow rewrites and records once, so it is as right as `tf.while_loop`."""
TRACED_IN_LOOP = r"(?m)^( *)for .*(\n(\1 .*)?)*(def |lambda|tf\.function)"
"""A function that is created in each iteration of a loop."""
UNPACKED_COUNTER = r", *\w+ *= *tf\.while_loop"


def _compute_repeated_slope(f: Polynomial, value: float, times: int) -> float:
    """Compute the slope of `f(f(...f(x)))` by multiplying the slopes along the path."""
    slope = 1.0
    for _ in range(times):
        slope *= f.derivative(value)
        value = f._compute(value)
    return slope


def _solve_for_angle(throw: Polynomial, target: float, times: int = 10) -> float:
    """Compute the angle after the given number of corrections."""
    angle = 0.4
    for _ in range(times):
        angle -= (throw._compute(angle) - target) / throw.derivative(angle)
    return angle


def _find_repeated_run_hint(answer: Function, observed_runs: ObservedRuns) -> str:
    """Say that Python ran the unknown function several times, or return "" if one trace served all corrections."""
    return "run each time" if any(len(run.calls) > 1 for run in observed_runs) else ""


def _find_tracing_hint(answer: Function, observed_runs: ObservedRuns) -> str:
    """Say what is wrong with a program that returns both slopes, but not from one traced loss with the penalty."""
    for run in observed_runs:
        # A tape inside the traced function has no row for that function. Its only question is part of each call.
        penalties = [question for question in run.questions if {"multiply", "add"} <= set(question.operations)]
        if any("function" in question.operations for question in penalties) or run.sweep_count + len(penalties) < 2:
            return "penalty outside the loss"
    if not _find_repeated_run_hint(answer, observed_runs):
        return ""
    return "traced in the loop" if re.search(TRACED_IN_LOOP, find_function_source(answer)) else "traced for each number"


def _find_unrolled_loop_hint(answer: Function, observed_runs: ObservedRuns) -> str:
    """Say what is wrong with a program that was unrolled while it was traced."""
    source = find_function_source(answer)
    if re.search(REWRITTEN_LOOP, source):
        return ""
    function_counts = [
        sum(question.operations.count("function") for question in run.questions) for run in observed_runs
    ]
    if len({*function_counts}) > 1:
        return "Python loops over traces"
    if 2 in function_counts and not re.search(UNPACKED_COUNTER, source):
        return "counter in the target"
    return "unrolled loop" if any(len(run.calls) > 2 for run in observed_runs) else ""


EXERCISES = (
    Exercise("10.1", expect=[5.0, 16.0, None, 0.0]),
    Exercise(
        "10.2",
        expect=lambda f, value: [f.derivative(value), f.derivative(value) + 5.0],
        cases=[(F, 3.0), (G, -2.0)],
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
        also=_find_tracing_hint,
        mistakes=[
            *(
                Mistake(lambda f, value: [f.derivative(value)] * 2, named=name, where=where)
                for name, where in {
                    # The first group is the name that x is multiplied by.
                    "variable made in the loop": (
                        r"(?s)def loss\(\w+\).*?\+ *(\w+) *\*.*for ([^\n]*\n +)?\b\1 (in [^\n]*|= tf\.)Variable"
                    ),
                    "variable hidden by the loop": (r"(?s)\bpenalty *= *tf\.Variable.*for penalty in (?!.*\.assign\()"),
                    # The lines of loss end at the first line that is indented like its def.
                    "argument not used": r"(?s)def loss\(\w+, *(\w+)\):\n(?:(?!\b\1\b).)*?\n    \w",
                    "tensor kept in the recording": (
                        r"(?s)def loss\(\w+\):\n(?:(?!\n    \w).)*tf\.(constant|convert_to_tensor|cast)\(penalty"
                    ),
                    "penalty not passed": r"(?s)\A(?!.*(?<!def )\bloss\([^()\n]*,).*def loss\(\w+, *\w+ *=",
                    "assigned too late": (
                        r"(?s)\b(\w+) *= *tf\.Variable\((?!value)(?:(?!\b\1\.assign\().)*= *loss\(.*\b\1\.assign\("
                    ),
                    "penalty kept in the recording": (
                        r"(?s)\A(?!.*penalty *= *tf\.Variable)"
                        r".*(def loss\(\w+\):|lambda \w+:)(?:(?!\n    \w).)*\+ *penalty *\*"
                    ),
                }.items()
            ),
            Mistake(named="f called outside a trace", error="only inside a traced|放在跟踪过的函数里"),
            Mistake(named="number asked while tracing", error="Python asked for"),
        ],
    ),
    Exercise("10.3", expect={"A": 1, "B": 2, "C": 3, "D": 1}),
    Exercise(
        "10.4",
        expect=_compute_repeated_slope,
        cases=[(F, 1.5, 3), (G, 0.5, 3), (GROWS, 1.0, 4), (TURNS, -2.0, 1)],
        also=_find_unrolled_loop_hint,
        mistakes=[
            Mistake(
                named="tensor in range",
                where=r"(?m)^ *for .*(in (range\((int\()?)?times\b|\.numpy\()",
                error="Python asked for|iterate over|as an integer",
            ),
            Mistake(named="two kinds of numbers", error="was expected to be a"),
            Mistake(named="body as condition", where=r"while_loop", error="truth value"),
        ],
    ),
    Exercise("10.5", expect={"A": 1, "B": 2, "C": 3, "D": 2}),
    Exercise(
        "10.6",
        expect=_solve_for_angle,
        cases=[(HILL, 7.0), (STEEP, 3.0), (FALLS, -3.0), (FLAT, 0.0)],
        also=_find_repeated_run_hint,
        rtol=1e-4,
    ),
)
