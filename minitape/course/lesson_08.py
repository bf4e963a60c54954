"""The answers of lesson 08, when the gradient is None."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..common.texts import say
from .compare import Described, in_order
from .exercise import Exercise, Mistake, gives_none, raises
from .unknown import Polynomial

if TYPE_CHECKING:
    from .exercise import Answer

F, G = Polynomial(0, 0, 1), Polynomial(1, -2, 0, 1)


def _of_whole(found: Answer) -> Callable[..., Answer]:
    """What is right for numbers with fractions, and gives this for whole ones."""
    return lambda f, value: found if isinstance(value, int) else f.derivative(value)


def _slopes(f: Polynomial, values: list[float]) -> np.ndarray:
    return np.array([f.derivative(value) for value in values])


def _answer(why: Answer) -> Described:
    """What an explanation names: the cause, and the line of the program. Of a list with one explanation, that one."""
    if isinstance(why, (list, tuple)) and len(why) == 1:
        [why] = why
    if not hasattr(why, "cause"):
        raise ValueError(say("hand in the answer of tape.explain itself"))
    return _named(str(why.cause), (why.code or "").strip())


def _named(cause: str, code: str) -> Described:
    """A cause, and the line of the program."""
    return Described("an explanation", f"{cause}: {code}" if code else cause, cause=cause, code=code)


EXPLAINED = {
    "08.p1": "The watch comes after the line in which x was used. What ran before it was not recorded.",
    "08.p2": "A variable made with trainable=False is not watched automatically. For a list of sources, explain gives "
    "a list of answers; the first is connected.",
    "08.p3": "This tape does not watch variables by itself, and no line calls watch(w). It does watch x.",
    "08.p4": "The line of loss is outside the block, so the tape did not see it.",
    "08.p5": "The cast to float is fine. But before it there is an integer, and there the path ends.",
    "08.p6": "A comparison answers yes or no. If x changes a little, the answer stays the same, until it jumps. There "
    "is nothing to follow downhill.",
    "08.p7": "A tape can follow a value only from one tf operation to the next. np.mean gives a plain number, and "
    "that comes back as a new constant, without any memory. "
    ".numpy() and float() do the same.",
    "08.p8": "After the first step, w is the name of a tensor: w = ... binds the name anew. The variable is still "
    "there, and no line uses it.",
    "08.p9": "Each time you write x[0], a new tensor is made. y was not computed from this one: it was computed "
    "from x.",
    "08.p10": "A slip of the pen: first was called twice, and second never.",
    "08.p11": "One path is whole, the last multiplication, and it gives the factor, 3 * 3 + 16. The path through "
    "float() is cut, and its 2 * 9 are missing.",
}
EXERCISES = (
    Exercise(
        "08.1",
        expect=["not_watched", "stop_gradient", "outside_tape", "recording_paused"],
        mistakes=[
            Mistake(
                ["not_watched", "stop_gradient", "recording_paused", "outside_tape"],
                "C and D are swapped: where is the block over, and where is recording switched off for a while?",
            ),
            Mistake(
                ["not_watched", "recording_paused", "outside_tape", "stop_gradient"],
                "B and D are swapped: stop_recording belongs to a tape, stop_gradient to a value.",
            ),
        ],
        slips={
            1: {
                "not_trainable": "In A, x is a constant, not a variable. Only variables are trainable or not.",
                "watched_late": "In A the tape never watches x.",
            }
        },
        hint=(
            "In each program: who is watched, and is every line on the tape?",
            "Take the words from the first two groups of the table, each at most once. A: x is a constant. B: which "
            "function is between w and y? C: where is the line of z? D: what was said to the tape just before?",
            "A: a constant. B: a cut in the value. C: a line after the block. D: a tape that was paused.",
        ),
        because="x was not watched; the value was cut off; a line was outside the block; the tape was paused.",
    ),
    Exercise(
        "08.2",
        expect=lambda f, value: f.derivative(value),
        cases=[(F, 3), (G, 0), (G, 10), (G, 2.75)],
        start="""
def slope(f, value):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x)
""",
        mistakes=[
            Mistake(
                _of_whole(None),
                "x = tf.cast(x, ...) gives the name x to a tensor, which no tape watches. Make the variable itself a "
                "float.",
                where=r"\bx = tf\.cast\(x\b",
            ),
            Mistake(
                _of_whole(None),
                "tf.cast makes another tensor, and x stays what it was. Make the variable itself a float.",
                where=r"cast\((tf\.Variable|x)",
            ),
            Mistake(
                _of_whole(None),
                "Watching does not help: an integer has no derivative, watched or not.",
                where=r"watch\(",
            ),
            Mistake(_of_whole(0.0), "A zero is not right either: y changes when x changes. Which dtype has x?"),
        ],
        hint=(
            "Which dtype does x get if value is 3?",
            "Make the variable itself a float, whatever value is.",
            "x = tf.Variable(value, dtype=tf.float32)",
        ),
        because="With a dtype that has fractions, x can change a little.",
    ),
    Exercise(
        "08.3",
        expect=lambda f, values: _slopes(f, values) / len(values),
        cases=[(F, [1.0, 3.0, 5.0]), (G, [2.0, -2.0]), (G, [0.5])],
        start="""
def slopes(f, values):
    x = tf.Variable(values)
    with tf.GradientTape() as tape:
        results = f(x)
        y = tf.constant(np.mean(results.numpy()))
    return tape.gradient(y, x)
""",
        mistakes=[
            Mistake(
                gives_none,
                "The function is the right one, but .numpy() still takes the value out of the tape's world.",
                where=r"tf\.reduce_mean\(.*\.numpy\(",
            ),
            Mistake(
                raises,
                "np.mean gives a plain number, and a tape cannot go back from that. Use tf.reduce_mean.",
                where=r"np\.mean",
            ),
            Mistake(
                gives_none,
                "np.mean gives a plain number, whatever you hand in. Use tf.reduce_mean.",
                where=r"np\.mean",
            ),
            Mistake(gives_none, "tf.constant of a tensor that you took out knows nothing of x.", where=r"tf\.constant"),
            Mistake(
                _slopes,
                "That is the derivative of the sum. The mean divides by how many.",
            ),
            Mistake(
                lambda f, values: np.full(len(values), f.derivative(np.mean(values)) / len(values)),
                "f of the mean is not the mean of f(x): first f for each value, and then the mean.",
            ),
            Mistake(
                lambda f, values: np.mean([f._compute(value) for value in values]),
                "You gave back y. Give back its derivatives.",
            ),
            Mistake(
                lambda f, values: np.ones(len(values)) / len(values),
                "That is how the mean changes with its results. You asked about results: ask about x.",
                where=r"gradient\(\s*\w+, *\[?results\b",
            ),
            Mistake(
                lambda f, values: np.ones(len(values)) / len(values),
                "That is the derivative of the mean of x, not of the mean of f(x).",
            ),
        ],
        hint=(
            "Which line does a tape not understand?",
            "One line leaves for NumPy and comes back as a constant. There is a tf function for it.",
            "y = tf.reduce_mean(results)",
        ),
        because="The tape recorded the whole path. In the mean, each result counts one part in len(values).",
    ),
    Exercise(
        "08.4",
        expect=[None, 0.0, None, 0.0],
        hint=(
            "For each: is y computed from x, and what does the operation hand on?",
            "A broken path or no path is None, and a path that multiplies by zero gives 0.0. A: floor has steps, and "
            "hands on nothing. B: a product hands on what arrived times the other factor. C: is y computed from x? D: "
            "relu is recorded, and of a negative number its slope is 0.",
            "A: floor hands on nothing. B: 0.0 times what arrives. C: no path. D: relu of -3.",
        ),
        because="None where nothing is handed on from y to x; zero where something is, and multiplied by zero.",
    ),
    Exercise(
        "08.5",
        expect=[5, 6, 7],
        view=in_order,
        mistakes=[
            Mistake([2, 5, 6, 7], "n is an integer, but the path from w does not go through n."),
            Mistake([5, 7], "There is a second use of w, in line 6. Does that path reach y?"),
            Mistake([7], "If line 7 were fixed, would the gradient be a number then?"),
            Mistake(
                [4, 5, 6, 7],
                "In line 4, w is multiplied by a float. That is recorded; the cast is on the other factor.",
            ),
        ],
        hint=(
            "Which paths lead from w to y?",
            "There are two: by a and b, and by the w in line 6. Follow each from line to line.",
            "A cast to an integer, a number without memory, a cut.",
        ),
        because="A cast to an integer, an exit to NumPy, and a cut. Each alone would break its path.",
    ),
    Exercise(
        "08.6",
        expect=_named("integer_dtype", "rounds = tf.cast(10.0 * bonus, tf.int32)"),
        view=_answer,
        asks="what tape.explain gives",
        mistakes=[
            Mistake(
                _named("integer_dtype", "steps = tf.cast(rounds, tf.float32)"),
                "That line goes back to floats. Which line left them? Hand in what tape.explain(loss, w) gives.",
            ),
            Mistake(
                _named("connected", ""),
                "You asked about something that is connected. Ask about loss and w: tape.explain(loss, w).",
            ),
            Mistake(
                _named("independent", ""),
                "You asked about another variable. Run the cell above once more, and ask about loss and w.",
            ),
        ],
        hint=("Whom can you ask?", "tape.explain takes the target and the source.", "why = tape.explain(loss, w)"),
        because="One line of fifteen turns the numbers into integers, and explain found it.",
    ),
)
