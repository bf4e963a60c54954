"""The answers of lesson 01, the first tape."""

from __future__ import annotations

from .exercise import Exercise, Mistake, raise_error
from .unknown_functions import Polynomial, run_gradient_descent

F, G = Polynomial(1, -3, 0, 1), Polynomial(0, 2, 1, 0, 1)
BOWL, DENT = Polynomial(1, -2, 1), Polynomial(2, 1, 0.5, 0, 0.1)
STEEP = Polynomial(0, 0, 11)  # a step of this rate leads up

EXPLANATIONS = {
    "01.p1": """\
If `x` grows by a small step, each of the two factors of `x * x` grows by that step, and each counts 3 times, since \
the other factor
is 3. That makes 3 + 3.

Read the printed line from left to right: the result is a tensor, its value comes first, its \
[shape](glossary.ipynb#cell-id=shape) is `()`,
which means "a single number", and its [dtype](glossary.ipynb#cell-id=dtype) is `float32`, the kind of number it is \
stored as.""",
    "01.p2": """\
`None` is Python's word for "nothing". The tape says: *I have no recorded path from `x` to `y`.* That is not the same \
as 0. Zero would
mean "`y` does not change when `x` changes", which is false here.""",
    "01.p3": """\
A tape cannot go back in time. It must watch `x` *before* the operation runs. When the multiplication ran, it did not \
watch `x` yet, so no row
was written.""",
    "01.p5": """\
A computer keeps about 16 digits of a number. 2 + 1e-16 is 2 again, so nothing grows, and the slope comes out as 0. \
At 1e-14 a digit or two
of the difference are left, and the rest is lost. So measuring has a best step, neither large nor small, and it is \
never exact. A tape has
no step.""",
    "01.p4": """\
The first derivative of `x * x` is `2 * x`, which is 10 here. That grows twice as fast as `x`, wherever `x` is: so \
the second derivative is 2
everywhere.""",
}

BELIEFS = {
    "01.p1": {
        "9.0": "9.0 is y itself, at x = 3. The gradient says how fast y grows there.",
        "3.0": "3.0 is the share of one factor of x * x. There are two.",
    },
    "01.p2": {
        "6.0": "6.0 is the slope of x * x at 3. It is true, and the tape cannot know it: it was not told to record "
        "what is computed from x.",
        "0.0": "0.0 says that y stays as it is when x changes. But y does change; the tape just did not see how.",
        "an error": "A tape that has no path to x is no error. It gives an answer of its own for that, and the program "
        "goes on.",
    },
    "01.p3": {
        "6.0": "6.0 would need the row of x * x. The tape is on while it is computed, but that is not enough for a "
        "constant.",
        "0.0": "0.0 would need a path whose slope is zero. Here there is no path at all.",
    },
    "01.p5": {
        "4.0": "4.0 would come out if a computer kept all digits. It keeps about 16 of them.",
        "4.0000000000000001": "With all digits, that is what would come out: 4 and one step. A computer keeps about 16 "
        "of them, and this has 17.",
        "an error": "The step is not 0, so it can be divided by. What is 0 is the difference that it divides.",
    },
    "01.p4": {
        "10.0 and 0.0": "0.0 would be the second derivative of a straight line. x * x is curved: its slope is another "
        "at each x.",
        "10.0 and 10.0": "The second 10.0 is the slope again. The second derivative says how fast the slope grows.",
        "25.0 and 10.0": "25.0 is y itself. Your two are y and the first derivative, each one place too late.",
    },
}

RETRY_QUESTIONS = {
    "01.p1": (
        "y = x * x at x = 5. What is the gradient of y with respect to x?",
        ["5.0", "10.0", "25.0"],
        "10.0",
        "Each of the two factors gets the other one: 5 + 5.",
    ),
    "01.p2": (
        "x = tf.constant(2.0), and y = x * x * x on a tape that was told to watch nothing. What is the gradient?",
        ["12.0", "0.0", "None", "an error"],
        "None",
        "x is a constant, and no tape watches it: there is no recorded path, and that is None.",
    ),
    "01.p3": (
        "x is a constant. u = x * x comes first, then tape.watch(x), then y = u * u. What is the gradient for x?",
        ["0.0", "None", "4.0"],
        "None",
        "When u was computed, x was not watched yet. What comes after it does not lead back to x.",
    ),
    "01.p4": (
        "y = x * x * x at x = 2. What are the first and the second derivative?",
        ["12.0 and 12.0", "12.0 and 6.0", "8.0 and 12.0"],
        "12.0 and 12.0",
        "The first is 3 * x * x, which is 12, and the second 6 * x, which is 12 here, too.",
    ),
}

EXERCISES = (
    Exercise(
        "01.1",
        expect=12.0,
        slips={
            8.0: "8 is y itself, and also 4 + 4: two of the three factors. How fast does y grow while x grows?",
            4.0: "4 is x * x, and also 2 * x, the derivative of x * x. Here there are three factors.",
            6.0: "6 is 3 * x. In the derivative of x * x * x, x still appears twice: 3 * x * x.",
            2.0: "2 is x itself. How fast does y grow when x does?",
            3.0: "3 is the number of factors. Each of them gets the product of the other two, and x is 2 here.",
            24.0: "24 is 3 times y. When one factor grows, y grows by the product of the other two.",
            0.0: "0 would say that y stays as it is when x grows.",
            27.0: "In this program x is 2. Does your cell use the x of the program above, which is 3?",
            None: "x is watched before it is used, so there is a path from x to y. The answer is a number.",
        },
        hint=(
            "If one of the three factors grows a little, how fast does the product grow?",
            "Each factor gets what arrived, times the other two. There are three factors, and what meets at x is "
            "added.",
            "Each factor gets 2 * 2, and there are three of them: 3 * 2 * 2.",
        ),
        because="Each of the three factors gets 2 * 2, and what meets at x is added. At school: 3 * x * x, and x is 2.",
    ),
    Exercise(
        "01.2",
        expect=lambda f, value: f.derivative(value),
        cases=[(F, 2.0), (F, 0.5), (G, 0.5)],
        hint=(
            "What must a tape be told of a constant, and when?",
            "The tape must know, before y is computed, that x matters. Which method of a tape says that?",
            "In place of the ...: tape.watch(x).",
        ),
        because="The tape watched x before the first operation, so it has a path from x to y, whatever f does.",
    ),
    Exercise(
        "01.3",
        expect=[None, 6.0, 9.0],
        program={
            "1": "x = tf.Variable(3.0); y = x + 1.0; z = x * x",
            "2": "x = tf.Variable(3.0)\nwith tf.GradientTape(persistent=True) as tape: y = x * x + 1.0",
            "3": "x = tf.constant(3.0); u = x * x; y = u * x",
        },
        slips={
            1: {
                6.0: "Look at A once more: is the tape still on when z is computed?",
                0.0: "A: no path is None, not zero. Zero would be a statement about z.",
            },
            3: {
                27.0: "C: 27 is y itself, and also the slope with the path through u. When was u computed?",
                None: "Look at C once more: the watch is too late for u, but not for y.",
                18.0: "C: 18 would be the path through u alone. u is the one that was not recorded.",
                6.0: "C: the last line computes u * x. How fast does that grow with x, when u is a fixed number?",
            },
            2: {
                None: "Look at B once more: x is a variable. Does a variable have to be watched by hand?",
                9.0: "9 in B is x * x itself. Its derivative at 3 is 2 * 3.",
                10.0: "10 in B is y itself. How fast does it grow with x?",
            },
        },
        hint=(
            "For each operation: was the tape on, and did it watch x by then?",
            "A: the multiplication comes after the block. B: a variable is watched when it is used. C: u is computed "
            "before the watch.",
            "A has no path. B is 2 * x. In C only u * x is recorded, with u as a fixed number: the answer is u.",
        ),
        because="A was computed after the block, B has a watched variable, and in C only the last multiplication is "
        "on the tape.",
    ),
    Exercise(
        "01.4",
        expect=lambda f, value: f.derivative(value, order=2),
        cases=[(F, 1.0), (F, -2.0), (G, -0.5)],
        order=2,
        mistakes=[
            Mistake(
                raise_error,
                "You asked one tape twice, and it answers once. The second question goes to a tape around the first "
                "one.",
                where=r"with .*GradientTape",
                error="non-persistent",
            ),
        ],
        hint=(
            "The first gradient is a computation, too. Who could record it?",
            "Two tapes, one inside the other, and both watch x. Take the first gradient while the outer tape is on.",
            "After the inner block, inside the outer one: first = inner.gradient(y, x). After both: return "
            "outer.gradient(first, x).",
        ),
        because="The sweep of the first gradient was recorded, too. So a tape can go back through it, whatever f is.",
    ),
    Exercise(
        "01.5",
        expect=lambda f, start, steps, rate=0.1: run_gradient_descent(f, start, steps, rate),
        cases=[(BOWL, 3.0, 1), (BOWL, -2.0, 5), (DENT, -0.5, 6), (STEEP, 1.0, 2)],
        hint=(
            "In which direction is downhill, when the slope is positive? And when it is negative?",
            "Ask the tape for the slope of y at x. The new x is the old one, minus the learning rate 0.1 times the "
            "slope.",
            "After the block: x = x - 0.1 * tape.gradient(y, x).",
        ),
        because="This is gradient descent with a learning rate of 0.1. It is how networks learn, too.",
    ),
)
