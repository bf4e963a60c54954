"""The answers of lesson 04, choosing what is watched."""

from __future__ import annotations

from .answer_comparison import append_colon_zero_to_names
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, complete_exercises
from .unknown_functions import UnknownFunction

F = UnknownFunction("a * a * b", lambda a, b: a * a * b, lambda a, b: [2 * a * b, a * a])
G = UnknownFunction("a * b + b * b * b", lambda a, b: a * b + b * b * b, lambda a, b: [b, a + 3 * b * b])


def _find_hint_if_a_was_watched(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that the tape did not leave `a` alone, so that its None is one that was typed in; "" where it did."""
    if not all(call.trainable_inputs[0] for run in observed_runs for call in run.calls):
        return "a replaced or frozen"
    if any(call.tape_counts[0] for run in observed_runs for call in run.calls):
        return "a watched"
    return ""


EXERCISES = complete_exercises(
    "04",
    (
        Exercise("04.1", expect=append_colon_zero_to_names(["a:0", "d:0"]), view=append_colon_zero_to_names),
        Exercise(
            "04.2",
            expect={"A": [12.0, None, None], "B": [12.0, 8.0, None], "C": [None, None, 6.0]},
            program="""
v, k, c = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(4.0)
with tf.GradientTape(persistent=True) as tape:
    y = v * k * c
""",
        ),
        Exercise(
            "04.3",
            expect=lambda f, a, b: [None, f.compute_derivatives(a, b)[1]],
            cases=[(F, 2.0, 5.0), (G, -3.0, 1.0), (G, 0.5, 4.0)],
            also=_find_hint_if_a_was_watched,
        ),
    ),
)
