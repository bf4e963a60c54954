"""The answers of lesson 04, freezing."""

from ..engine.types import FloatList
from .answer_comparison import append_colon_zero_to_names
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake
from .unknown_functions import UnknownFunction, compile_unknown_function

F = compile_unknown_function("a * a * b", "[2 * a * b, a * a]")
G = compile_unknown_function("a * b + b * b * b", "[b, a + 3 * b * b]")
BOWL = compile_unknown_function("(a * b - 1) ** 2", "[2 * b * (a * b - 1), 2 * a * (a * b - 1)]")
TILTED = compile_unknown_function("a * b * b + b", "[b * b, 2 * a * b + 1]")


def _find_hint_if_a_was_watched(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that `f` got no variable, or that the tape watched `a`, or return "" if neither is true."""
    for run in observed_runs:
        names = (run.asked_names or [{}])[0]
        # A tensor that was computed from a trainable `a` is as good as `a`, if the tape watches `b` alone.
        reads_variable = (
            getattr(names.get("a"), "trainable", False) and len(run.asked_tapes[0].watched_variables()) == 1
        )
        if not all(call.trainable_inputs[0] is not None or reads_variable for call in run.calls):
            return "a replaced"
        if any(call.tape_counts[0] for call in run.calls):
            return "a watched"
    return ""


def _run_fine_tuning(loss_of: UnknownFunction, a: float, b: float, steps: int, rate: float = 0.1) -> FloatList:
    """Take steps of gradient descent with `b` alone.

    Args:
        loss_of: The loss.
        a: The trunk.
        b: The head at the start.
        steps: The number of steps.
        rate: The learning rate.

    Returns:
        The trunk, and the head at the end.
    """
    for _ in range(steps):
        b -= rate * loss_of.compute_derivatives(a, b)[1]
    return [a, b]


def _find_trunk_hint_key(value: Answer, loss_of: UnknownFunction, a: float, b: float, steps: int) -> str:
    """Find out whether the trunk moved, or whether each step used the first gradient.

    Args:
        value: What the learner's function returned.
        loss_of: The loss.
        a: The trunk at the start.
        b: The head at the start.
        steps: The number of steps.

    Returns:
        The name of a sentence, or "".
    """
    trunk, head = (float(part) for part in value)
    if abs(trunk - a) > 1e-6 and abs(head - a) > 1e-6:  # Otherwise, the two numbers may only be swapped.
        return "trunk moved"
    if steps > 1 and abs(head - (b - 0.1 * steps * loss_of.compute_derivatives(a, b)[1])) < 1e-5:
        return "first gradient each time"
    return ""


def _find_fine_tuning_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Find out whether no variable was changed, or whether a tape recorded a path to `a`.

    Args:
        answer: The learner's function.
        observed_runs: What the tapes saw in each case.

    Returns:
        The name of a sentence, or "" if the tapes watched `b` alone and the variable learned.
    """
    if not all(run.assign_count for run in observed_runs):
        return "head never moved"
    if any(call.tape_counts[0] for run in observed_runs for call in run.calls):
        return "trunk watched"
    return ""


EXERCISES = (
    Exercise("04.1", expect=["a:0", "d:0"], view=append_colon_zero_to_names),
    Exercise(
        "04.2",
        expect={"A": [12.0, None, None], "B": [12.0, 2.0, 8.0], "C": [None, 2.0, None]},
        program="""
v, k, c = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(4.0)
with tf.GradientTape(persistent=True) as tape:
    h = k * c
    y = v * h
""",
    ),
    Exercise(
        "04.3",
        expect=lambda f, a, b: [None, f.compute_derivatives(a, b)[1]],
        cases=[(F, 2.0, 5.0), (G, -3.0, 1.0), (G, 0.5, 4.0)],
        mistakes=[
            Mistake(
                lambda f, a, b: [None, None],
                named="read too early",
                where=r"start = .*\bb\b[^#]*watch\(b\)[^#]*f\(a, start\)",
            ),
            Mistake(
                lambda f, a, b: [*f.compute_derivatives(a, b)],
                named="a in watch",
                where=r"= *False[^#]*watch\([^)]*\ba\b",
            ),
        ],
        also=_find_hint_if_a_was_watched,
        start="""
def only_b(f, value_of_a, value_of_b):
    a = tf.Variable(value_of_a)
    b = tf.Variable(value_of_b)
    start = b + 0.0
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = f(a, start)
        tape.watch(b)
    return tape.gradient(y, [a, b])
""",
    ),
    Exercise(
        "04.4",
        expect=_run_fine_tuning,
        cases=[(BOWL, 2.0, 1.0, 1), (BOWL, 1.0, -2.0, 3), (TILTED, 0.5, 1.0, 4)],
        also=_find_fine_tuning_hint,
        of_wrong=_find_trunk_hint_key,
    ),
)
