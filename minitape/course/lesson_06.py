"""The answers of lesson 06, stopping gradients."""

from .call_log import ObservedRuns
from .exercise import Answer, Exercise
from .unknown_functions import Polynomial, compile_unknown_function

SQUARE = compile_unknown_function("(a - b) ** 2", "[2 * (a - b), -2 * (a - b)]")
OTHER = compile_unknown_function("a * b + a * a", "[b + 2 * a, a]")
REST = Polynomial(0, 1, 0, 2)


def _find_hint_if_b_was_watched(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that `b` is not trainable, or that a tape can go back to `b`, or return "" if neither is true."""
    if any(not getattr(names.get("b"), "trainable", True) for run in observed_runs for names in run.asked_names):
        return "b not trainable"
    if any(call.tape_counts[1] for run in observed_runs for call in run.calls):
        return "path to b"
    return ""


def _find_extra_computation_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Find out whether x was assigned, whether the tape recorded operations after `rest`, or was not asked about x.

    Args:
        answer: The learner's function.
        observed_runs: What the tapes saw in each case.

    Returns:
        The name of a sentence, or "" if none of these is true.
    """
    if any(run.assign_count for run in observed_runs):
        return "x changed"
    if any(len(question.operations) > run.calls[-1].row_count for run in observed_runs for question in run.questions):
        return "computed after rest"
    run = observed_runs[0]
    requests = (tape.last_request for tape in run.asked_tapes if tape.last_request)
    if any(hasattr(names.get("x"), "assign") for names in run.asked_names) and not any(
        hasattr(source, "assign") for request in requests for source in request.sources
    ):
        return "not asked about x"
    return ""


def _find_note_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Find out whether a tape recorded the note, the note ran outside, or the loss is more than the result of `f`.

    Args:
        answer: The learner's function.
        observed_runs: What the tapes saw in each case.

    Returns:
        The name of a sentence, or "" if neither is true.
    """
    for run in observed_runs:
        if all(any(call.tape_counts) for call in run.calls):
            return "note recorded"
        if any(call.row_count < 0 for call in run.calls):
            return "note outside"
        requests = (tape.last_request for tape in run.asked_tapes if tape.last_request)
        if any(float(target) not in map(float, run.call_results) for request in requests for target in request.targets):
            return "more than f"
    return ""


FACTORS = [(REST, 2.0, -1.0), (REST, -0.5, 0.1), (Polynomial(1, 3, 1), 1.5, 3.0), (REST, 2.0, 0.0)]


EXERCISES = (
    Exercise("06.1", expect={"A": 3.0, "B": None, "C": 8.0, "D": 1.0}),
    Exercise(
        "06.2",
        expect={"A inner": 4.0, "A outer": 12.0, "B inner": 4.0, "B outer": 4.0},
        program="x = tf.Variable(2.0)\nwith tf.GradientTape(persistent=True) as tape: s = x * x; u = s * x",
    ),
    Exercise(
        "06.3",
        expect=lambda f, a, b: [f.compute_derivatives(a, b)[0], None],
        also=_find_hint_if_b_was_watched,
        tries_before_tape=2,
        cases=[(SQUARE, 3.0, 1.0), (OTHER, 0.5, 2.0), (OTHER, -1.0, 0.5)],
        start="""
def gradients(distance, value_of_a, value_of_b):
    a = tf.Variable(value_of_a)
    b = tf.Variable(value_of_b)
    with tf.GradientTape() as tape:
        loss = distance(a, b)
    return tape.gradient(loss, [a, b])
""",
    ),
    Exercise(
        "06.4",
        expect=lambda rest, value: [float(round(value)), rest.derivative(float(round(value)))],
        cases=[(REST, 2.64), (REST, -1.2), (Polynomial(1, 3, 1), 0.4), (REST, 2.5)],
        start="""
def value_and_gradient(rest, value):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = tf.round(x)
        z = rest(y)
    return [y, tape.gradient(z, x)]
""",
        also=_find_extra_computation_hint,
        tries_before_tape=3,
    ),
    Exercise(
        "06.5",
        expect=lambda rest, value, factor: [value, factor * rest.derivative(value)],
        cases=FACTORS,
        start="""
def with_factor(rest, value, factor):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = factor * x
        z = rest(y)
    return [y, tape.gradient(z, x)]
""",
        also=_find_extra_computation_hint,
        tries_before_tape=3,
    ),
    Exercise(
        "06.6",
        expect=lambda f, note, a, b: [note._compute(a, b), *f.compute_derivatives(a, b)],
        cases=[(SQUARE, OTHER, 3.0, 1.0), (OTHER, SQUARE, 0.5, 2.0)],
        also=_find_note_hint,
    ),
)
