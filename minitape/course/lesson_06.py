"""The answers of lesson 06, stopping gradients."""

from __future__ import annotations

from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake
from .unknown_functions import Polynomial, UnknownFunction

SQUARE = UnknownFunction("(a - b) ** 2", lambda a, b: (a - b) ** 2, lambda a, b: [2 * (a - b), -2 * (a - b)])
OTHER = UnknownFunction("a * b + a * a", lambda a, b: a * b + a * a, lambda a, b: [b + 2 * a, a])
REST = Polynomial(0, 1, 0, 2)

EXPLANATIONS = {
    "06.p1": """\
The three rows of `zz` ran, but they are on no tape. So there is no recorded path from `x` or `y` to `zz`: `None`, \
not zero.
For the tape, `zz` is now like a number that came from outside.""",
    "06.p2": """\
Two [paths](glossary.ipynb#cell-id=path) lead from `x` to `k`: one through `zz`, and one straight to the last \
multiplication. The first was not
recorded. Along the second, `k` is "25 times `x`". Without `stop_recording` it would be 25 + 18 = 43.""",
    "06.p3": """\
The gradient for `x` is the value of `y`, stopped or not. To `y` nothing is passed on, and that was its only path. \
This is often the better way:
you need not have the tape at hand, and the meaning is clear.""",
    "06.p4": """\
The value is 9, as without the stop. Of the two amounts, 3 and 3, only one arrives.""",
    "06.p5": """\
In the picture, the row of `s` lies in the frame of the outer tape only. The inner tape knows only `u = 9 * x`. The \
outer one knows all of `x * x * x`, with the derivative 3 × 3 × 3 = 27.""",
    "06.p6": """\
The values are the same, and the gradients are not. If the sum passes, the first share falls when the *other* numbers \
grow, which is the truth. If
it is stopped, each share depends only on its own number, and the gradient does not see this. The others get 0, not \
`None`: there is a path, and
what arrives on it is zero.""",
}

BELIEFS = {
    "06.p1": {
        "6.0 and 8.0": "These are the derivatives of zz, but the tape cannot find them: it was paused when zz was"
        " computed.",
        "0.0 and 0.0": "0.0 would need a path whose slope is zero. What was not recorded is no path at all.",
        "an error": "A path that is missing is no error. The answer is None, and the program goes on.",
    },
    "06.p2": {
        "43.0": "43 is 25 + 18, and counts the path through zz, too. That one was not recorded.",
        "18.0": "18 is what comes through zz, and just that path was not recorded. The other one is left.",
        "None": "None would need both paths to be gone. The last product reads x itself, and it was recorded.",
    },
    "06.p3": {
        "4.0 and 3.0": "3.0 would have to pass through the stop. It lets no gradient through.",
        "4.0 and 0.0": "0.0 would need a path whose slope is zero. y has no path left, and that is None.",
        "None and None": "Only y is stopped. x is multiplied by its value, 4, and gets that.",
    },
    "06.p4": {
        "6.0": "6.0 counts both factors. The gradient of one of them is stopped.",
        "0.0": "0.0 would say that no factor matters. One of them still passes its gradient on.",
        "None": "None would need both factors to be stopped. Only one is.",
    },
    "06.p5": {
        "9.0 and 9.0": "Only the inner tape pauses. The outer one records s, and finds the path through it.",
        "27.0 and 27.0": "27 counts the path through s. The inner tape was paused for it: there, s is the number 9.",
        "None and 27.0": "The inner tape was on again for u = s * x. So it has a path, the one of the last factor.",
    },
    "06.p6": {
        "positive, negative, negative": "So it is when the sum passes: then the others make the sum larger, and "
        "the share smaller. Stopped, this is not seen.",
        "positive, None, None": "The three numbers lie in one variable, and it has a path. So each of them gets a"
        " number, and two of the numbers are zero.",
        "0, 0, 0": "The first number is still there above the line. If it grows, its share grows.",
    },
}

RETRY_QUESTIONS = {
    "06.p2": (
        "s = x * x * x inside stop_recording, then k = s * x outside. What is the gradient of k for x = 2?",
        ["32.0", "8.0", "24.0", "None"],
        "8.0",
        "Only the last factor was recorded, and s is the number 8 for the tape.",
    ),
    "06.p4": (
        "z = x * x * tf.stop_gradient(x) at x = 2. What is the gradient for x?",
        ["12.0", "8.0", "4.0"],
        "8.0",
        "Two of the three factors pass, and each gets 2 * 2.",
    ),
}


def _find_hint_if_b_was_watched(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that a tape can go back to `b`, so that its None was typed in; "" where none can."""
    if any(call.trainable_inputs[1] is False for run in observed_runs for call in run.calls):
        return (
            "b is a variable that cannot learn any more, anywhere. Only in this loss should it rest: which function "
            "lets its value through, and no gradient?"
        )
    if any(call.tape_counts[1] for run in observed_runs for call in run.calls):
        return (
            "The tape still has a path to b, so the None is not what it says. Which function lets the value "
            "through, and no gradient?"
        )
    return ""


def _find_extra_computation_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that x was changed, or that more was computed of what `rest` gave before the tape was asked; "" where not."""
    if any(run.assign_count for run in observed_runs):
        return "The numbers are right, and x holds another number now. Compute y, and leave x as it is."
    if any(len(question.operations) > run.calls[-1].row_count for run in observed_runs for question in run.questions):
        return "The numbers are right, but more is computed after rest. It is y that should do it."
    return ""


FACTORS = [(REST, 2.0, -1.0), (REST, -0.5, 0.1), (Polynomial(1, 3, 1), 1.5, 3.0), (REST, 2.0, 0.0)]


EXERCISES = (
    Exercise(
        "06.1",
        expect={"A": 3.0, "B": None, "C": 8.0, "D": 1.0},
        slips={
            "B": {
                0.0: "B: no path is left from y. The answer is None, not zero.",
                2.0: "B: y reaches the product only through the stop.",
            },
            "C": {
                12.0: "C: only two of the three factors let a gradient pass.",
                4.0: "C: two factors pass, and each gets 2 * 2. Add them.",
            },
            "D": {
                4.0: "D: the path through x * y is stopped. Which x is left?",
                None: "D: one path is stopped, but the last x is not.",
            },
            "A": {None: "A: y is stopped, x is not.", 6.0: "A: 6 is x * y itself. How fast does it grow with x?"},
        },
        hint=(
            "Which paths lead from the variable to the result? Which of them go through a stop?",
            "Cross out the paths through a stop, and add the others. A: by what is x multiplied? B: is a path left? "
            "If not, the answer is None. C: two of the three factors are left. D: only the last x is left.",
            "A: one path is left, and gives y. B: the only path is stopped. C: two of three factors pass. D: only the "
            "last x is left.",
        ),
        because="Only the paths without a stop count: one in A, none in B, two in C, one in D.",
    ),
    Exercise(
        "06.2",
        expect={"A inner": 4.0, "A outer": 12.0, "B inner": 4.0, "B outer": 4.0},
        program="x = tf.Variable(2.0)\nwith tf.GradientTape(persistent=True) as tape: s = x * x; u = s * x",
        mistakes=[
            Mistake(
                {"A inner": None, "B inner": None, "B outer": None},
                "The path through s is gone, but the last multiplication also uses x itself.",
            ),
            Mistake(
                {"B inner": None, "B outer": None},
                "B: the path through s is gone, but the last multiplication also uses x itself.",
            ),
        ],
        slips={
            "A outer": {
                8.0: "A outer: 8 is u itself, and also the path through s alone. In u = s * x, x itself gets 4, too."
            }
        },
        hint=(
            "For each tape: does it see x * x? And may a gradient go through it?",
            "A inner: this tape paused while x * x ran, so to it s is the number 4. A outer: only the inner tape "
            "pauses, and this one records x * x as well. B inner: s is stopped, but u = s * x also uses x itself. B "
            "outer: a stop is a row that every tape records, and no tape lets a gradient through it.",
            "A tape that cannot go through s knows u = 4 * x. One that can knows u = x * x * x, with the derivative "
            "3 * 2 * 2.",
        ),
        because="stop_recording is for one tape, stop_gradient for all.",
    ),
    Exercise(
        "06.3",
        expect=lambda f, a, b: [f.compute_derivatives(a, b)[0], None],
        also=_find_hint_if_b_was_watched,
        cases=[(SQUARE, 3.0, 1.0), (OTHER, 0.5, 2.0), (OTHER, -1.0, 0.5)],
        changes={
            "tf.stop_gradient(b) => a": "distance gets a twice, and b is in no part of the loss.",
            "tf.stop_gradient(b) => tf.stop_gradient(a)": "distance gets a twice, once stopped. Where is b?",
            "distance(a, tf.stop_gradient(b)) => 2 * distance(a, tf.stop_gradient(b))": (
                "a gets twice what it should. How often is distance in your loss?"
            ),
            "tf.stop_gradient(b) => b": ("b is still told to move: on one of its paths there is no stop."),
            "a, tf.stop_gradient(b) => tf.stop_gradient(a), b": (
                "a gets None, and b a number. The one that should not move is b."
            ),
            "distance(a, tf.stop_gradient(b)) => tf.stop_gradient(distance(a, b))": (
                "Now neither of them moves. Does distance get the variable a itself, and is b alone stopped?"
            ),
            "distance(a, tf.stop_gradient(b)) => (a - tf.stop_gradient(b)) ** 2": (
                "That is right for (a - b) ** 2 only. Call distance, which may be another function, with a and the "
                "stopped b."
            ),
        },
        hint=(
            "Which of the two should not move?",
            "The loss is distance of a and b, with no path to the one that should not move.",
            "loss = distance(a, tf.stop_gradient(b))",
        ),
        because="The value of b takes part, but no path leads back to it.",
    ),
    Exercise(
        "06.4",
        expect=lambda rest, value: [float(round(value)), rest.derivative(float(round(value)))],
        cases=[(REST, 2.64), (REST, -1.2), (Polynomial(1, 3, 1), 0.4), (REST, 2.5)],
        changes={
            "x + tf.stop_gradient(tf.round(x) - x) => tf.round(x)": (
                "The value is right, and no gradient passes: neither tf.round nor a stop lets one through. On which "
                "other path could it come?"
            ),
            "tf.stop_gradient(tf.round(x) - x) => tf.round(x) - x": (
                "The value is right, and the gradient is 0. Is x multiplied by 0, or there with a plus and with a "
                "minus, whose gradients cancel?"
            ),
            "x + tf.stop_gradient(tf.round(x) - x) => x": (
                "A gradient comes through, but the value is x itself, not rounded."
            ),
            "tf.round(x) - x => tf.round(x)": (
                "The value is x plus the rounded one. Add to x what is missing: round(x) - x."
            ),
            "x + tf.stop_gradient(tf.round(x) - x) => tf.round(x) + tf.stop_gradient(x - tf.round(x))": (
                "The value is that of x, and no gradient passes. It should be the other way round."
            ),
            "x + tf.stop => tf.stop": ("The value is round(x) - x. Add that to x, unstopped."),
        },
        hint=(
            "Which number must be added to x to get tf.round(x)?",
            "Add that number to x, stopped, so that the gradient of x stays 1.",
            "y = x + tf.stop_gradient(tf.round(x) - x)",
        ),
        because="x + (round(x) - x) has the value round(x), and only the first x lets the gradient pass.",
        also=_find_extra_computation_hint,
    ),
    Exercise(
        "06.5",
        expect=lambda rest, value, factor: [value, factor * rest.derivative(value)],
        cases=FACTORS,
        from_tape="The numbers are right, and the last is not what the tape gave. Let y itself hold the factor back.",
        changes={
            " + tf.stop_gradient(x - factor * x) => ": (
                "The gradient has the factor, but the value has it, too. Add what is missing to x, stopped."
            ),
            "factor * x + tf.stop_gradient(x - factor * x) => x": (
                "The value is right, and the whole gradient passes. Only factor times as much should."
            ),
            "factor * x + tf.stop_gradient(x - factor * x) => tf.stop_gradient(factor * x) + x - factor * x": (
                "The value is right, and the gradient has 1 - factor. Let factor * x pass, and stop what is added."
            ),
            "factor * x + tf.stop_gradient(x - factor * x) => tf.stop_gradient(x)": (
                "The value is right, and no gradient passes. Which part should not be stopped?"
            ),
            "(x - factor * x) => (x)": ("The value is factor * x + x. Add only what is missing from factor * x to x."),
        },
        hint=(
            "Which expression has the gradient factor? And what is missing from its value?",
            "factor * x passes on factor times what arrives. To its value add the rest of x, stopped.",
            "y = factor * x + tf.stop_gradient(x - factor * x)",
        ),
        because="factor * x + (x - factor * x) has the value x, and only its first part lets the gradient pass.",
        also=_find_extra_computation_hint,
    ),
)
