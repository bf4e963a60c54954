"""The answers of lesson 04, choosing what is watched."""

from __future__ import annotations

from .answer_comparison import append_colon_zero_to_names
from .call_log import ObservedRuns
from .exercise import Answer, Exercise
from .unknown_functions import UnknownFunction

F = UnknownFunction("a * a * b", lambda a, b: a * a * b, lambda a, b: [2 * a * b, a * a])
G = UnknownFunction("a * b + b * b * b", lambda a, b: a * b + b * b * b, lambda a, b: [b, a + 3 * b * b])

EXPLANATIONS = {
    "04.p1": """\
A result is watched if one of its inputs is: **watching spreads**, from `x` to `q`, and from `q` to `s`. Nothing \
watched is in `p` and `r`: in the picture they are dotted. The sweep uses their values, and nothing is passed on to \
them.""",
    "04.p2": """\
`y` is not trainable, so the tape does not watch it automatically, and there is no gradient for it: `None`, not zero. \
The gradient for `x` is
the value of `y`, as before. In the picture, `x` and `y` are rows of the tape, because the multiplication needs both \
numbers. But `y` is grey
inside: in the backward sweep, nothing is passed on to it.""",
}

BELIEFS = {
    "04.p1": {
        "one: q": "s is computed from q, and q from x. So s changes with x, too.",
        "all four": "p and r do not change with x, and nothing else is watched. A sweep has nothing to do there.",
    },
    "04.p2": {
        "4.0 and 3.0": "3.0 is right for a y that is trainable. This one is not, and so it is not watched.",
        "4.0 and 0.0": "0.0 would say that z does not change with y. It does; the tape only did not look.",
        "None and None": "x is trainable and is read, so the tape watches it, whatever y is.",
    },
}

RETRY_QUESTIONS = {
    "04.p2": (
        "z = a * b at a = 2, b = 7, where a is not trainable. What are the gradients for a and for b?",
        ["7.0 and 2.0", "None and 2.0", "0.0 and 2.0", "None and None"],
        "None and 2.0",
        "a is not watched, so it gets None. b gets the value of a, watched or not.",
    ),
}


def _find_hint_if_a_was_watched(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that the tape did not leave `a` alone, so that its None is one that was typed in; "" where it did."""
    if not all(call.trainable_inputs[0] for run in observed_runs for call in run.calls):
        return (
            "f should get the variable a itself, and a should stay trainable. Which setting keeps the tape from "
            "watching a?"
        )
    if any(call.tape_counts[0] for run in observed_runs for call in run.calls):
        return (
            "Your tape watched a as well, so the None is not what it says. Which setting keeps it from watching "
            "every variable?"
        )
    return ""


EXERCISES = (
    Exercise(
        "04.1",
        expect=append_colon_zero_to_names(["a:0", "d:0"]),
        view=append_colon_zero_to_names,
        asks="the names of variables, in a list",
        slips={
            ("d:0", "a:0"): ("The right two. They are listed in the order in which they were made."),
        },
        reasons={
            "b:0": "b is read, but it is not trainable, and no line calls watch(b).",
            "c:0": "c is read after the block, when the tape is off.",
            "d:0": "d is watched by hand. Then it does not matter whether it is trainable.",
            "a:0": "Watching by hand does not switch the automatic watching off: a is trainable and read.",
        },
        hint=(
            "For each of the four: who tells the tape to watch it?",
            "Is it watched by hand? If not: is it trainable, and is it read inside the block?",
            "a is trainable and read. b is not trainable. c is read after the block. d is watched by hand.",
        ),
        because="a is trainable and read inside the block, d is watched by hand.",
    ),
    Exercise(
        "04.2",
        expect={"A": [12.0, None, None], "B": [12.0, 8.0, None], "C": [None, None, 6.0]},
        program="""
v, k, c = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(4.0)
with tf.GradientTape(persistent=True) as tape:
    y = v * k * c
""",
        slips={
            "A": {(12.0, 8.0, None): "A: k is not trainable, and the tape does not watch it there."},
            "B": {(12.0, None, None): "B: tape.watch works for a variable that is not trainable, too."},
            "C": {(12.0, None, 6.0): "C: this tape watches nothing automatically, not even v."},
        },
        hint=(
            "Who is watched in each of the programs?",
            "A: only v is trainable, so only v is watched. B: k is watched by hand, too. C: nothing is watched but c. "
            "What is watched gets the product of the other two.",
            "Where they are watched, v gets 3 * 4, k gets 2 * 4, and c gets 2 * 3. What is not watched gets None.",
        ),
        because="A watches v, B watches v and k, C watches c only.",
    ),
    Exercise(
        "04.3",
        expect=lambda f, a, b: [None, f.compute_derivatives(a, b)[1]],
        cases=[(F, 2.0, 5.0), (G, -3.0, 1.0), (G, 0.5, 4.0)],
        also=_find_hint_if_a_was_watched,
        changes={
            "watch_accessed_variables=False => ": (
                "a gets a number, so it is watched, too. Which setting keeps a tape from watching what it reads, and "
                "which line watches by hand?"
            ),
            "watch(b) => watch(a)": ("a gets a number, and b None. It should be the other way round."),
            "[a, b] => b": ("Ask for both gradients, in a list: [a, b]."),
            '[a, b] => [a, b], unconnected_gradients="zero"': ("What is not watched gives None. A zero hides that."),
        },
        hint=(
            "How can a tape be kept from watching every trainable variable that it reads?",
            "Two things: the tape must watch nothing automatically, and then it must be told to watch b.",
            "with tf.GradientTape(watch_accessed_variables=False) as tape: and as the first line of the block "
            "tape.watch(b).",
        ),
        because="Only b is watched, so only its path is recorded.",
    ),
)
