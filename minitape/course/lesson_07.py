"""The answers of lesson 07, several tapes and tapes inside tapes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from .call_log import ObservedRuns
from .exercise import Answer, Exercise
from .unknown_functions import Polynomial, UnknownFunction, run_newton_steps

F, G = Polynomial(0, 1, 0, -2, 0, 1), Polynomial(1, 0, 3, 1, 1)
BENT = UnknownFunction("x[0] * x[1] * x[1]", lambda x: x[0] * x[1] * x[1])
STEEP = UnknownFunction("x[0] ** 3 + x[0] * x[1]", lambda x: x[0] ** 3 + x[0] * x[1])
Pair = Sequence[float]


def _compute_hessian(f: UnknownFunction, point: Pair, direction: Pair) -> np.ndarray:
    x, y = point
    return np.array([[0.0, 2 * y], [2 * y, 2 * x]] if f is BENT else [[6 * x, 1.0], [1.0, 0.0]])


def _compute_hessian_product(f: UnknownFunction, point: Pair, direction: Pair) -> np.ndarray:
    return _compute_hessian(f, point, direction) @ np.array(direction)


EXPLANATIONS = {
    "07.p1": """\
Both `x` and `y` are variables, and a tape [watches](glossary.ipynb#cell-id=watch) a variable automatically when it \
is used. So *both* tapes
watched *both* variables. The two calls of `watch` changed nothing, and all four answers are numbers.""",
    "07.p3": """\
When the inner sweep ran, no tape recorded it. For the outer tape, `first` is a number that came from nowhere.""",
    "07.p4": """\
The rule of `2.0 * x` passes on 2 times what arrived. It never looks at `x`. So on the outer tape there is no
[path](glossary.ipynb#cell-id=path) from `x` to `first`, and no path means `None`. Here `None` and 0 mean the same \
for you.""",
    "07.p5": """\
Newton's method looks for a place where the *slope is 0*. That is so at a lowest point, a *minimum*, and just as well \
at a highest point, a *maximum*.
On the side of the hill the curve bends down, so the second derivative is negative, and dividing by it turns the step \
around: uphill.""",
    "07.p6": """\
One for the gradient, and one for the gradient of the number `along`, whatever the number of entries. The whole \
Hessian has a million entries, and would have
needed a thousand sweeps more: one for each row of the table.""",
}

BELIEFS = {
    "07.p1": {
        "two: each tape knows its own variable": "So the names say, and the calls of watch. But a tape watches "
        "every variable that is read, without being told to.",
        "none: the tapes are in each other's way": "Tapes do not know of each other. Each one writes rows of its own.",
    },
    "07.p3": {
        "18.0": "18 is 6 * x, the true second derivative. To find it, the outer tape must be on while the inner "
        "gradient is computed.",
        "0.0": "0.0 would say that the slope does not change. It does; the outer tape was off when the slope was "
        "computed.",
    },
    "07.p4": {
        "2.0": "2.0 is the first derivative. The question is how fast that one grows.",
        "0.0": "As mathematics that is true. But the tape has no path from x to the first derivative, and then it"
        " says None.",
    },
    "07.p5": {
        "in the valley on the right": "Going down the slope leads there. But Newton's method does not ask what is"
        " lower. It looks for a slope of 0.",
        "far outside of the picture": "It would land there if the curve were almost straight at 0.3, as then the "
        "second derivative is almost 0. It bends clearly there.",
    },
    "07.p6": {
        "1000": "1000 sweeps fill the whole table, one for each row. Only a product with one direction is wanted.",
        "1000000": "A million is the number of entries in the table. The table is never written here.",
    },
}
RETRY_QUESTIONS = {
    "07.p4": (
        "y = 5 * x. What is the second derivative?",
        ["5.0", "0.0", "None"],
        "None",
        "The rule of 5 * x never looks at x. So no path leads from x to the first derivative, and that is None.",
    ),
    "07.p6": (
        "A function of 50 numbers. How many backward sweeps does one Hessian-vector product need?",
        ["2", "50", "2500"],
        "2",
        "One for the gradient, and one for its product with the vector, whatever the number of entries.",
    ),
}


def _find_full_hessian_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that the product was found with the whole Hessian, in more than two sweeps; "" where it was not."""
    if any(sum(question.sweep_count for question in run.questions) > 2 for run in observed_runs):
        return (
            "That is right, and took more than two sweeps, as the whole Hessian does. Which single number has the "
            "product as its gradient?"
        )
    return ""


def _compute_squared_slope_derivative(f: Polynomial, value: float) -> float:
    """Compute the derivative of the square of the slope."""
    return 2.0 * f.derivative(value) * f.derivative(value, order=2)


def _run_damped_newton(f: Polynomial, start: float, steps: int, halvings: int = 10) -> float:
    """Return where damped steps of Newton's method lead, which divide by the absolute value of the second derivative. A
    step that leads up is left out.
    """
    for _ in range(steps):
        move = f.derivative(start) / abs(f.derivative(start, order=2))
        for _ in range(halvings):
            if f._compute(start - move) > f._compute(start):
                move /= 2
        if f._compute(start - move) <= f._compute(start):
            start -= move
    return start


HILLS = Polynomial(0, 0, -0.5, 0, 0.25)
BOWL = Polynomial(9, -6, 1)  # the first step from -3 or 9 is six long
STRAIGHT = Polynomial(0, 1, 2**-13, 0, 1)  # near 0, where 3.25 leads, ten halvings of a step are too few
TEN = Polynomial(0, 1, 2**-10, 0, 1)  # at 0, ten halvings are just enough

EXERCISES = (
    Exercise(
        "07.1",
        expect=[25.0, 20.0, None, 10.0],
        program="""
u, v = tf.Variable(2.0), tf.Variable(5.0)
with tf.GradientTape(persistent=True) as first:
    p = u * v
    q = p * v
""",
        slips={
            1: {
                5.0: "A: 5 is v, the slope of p = u * v for u. On the way to q, v multiplies once more.",
                10.0: "A: 10 is p, and q is p * v. How fast does q grow with u?",
            },
            4: {
                20.0: "Look at D once more: for second, p is a number that came in from outside.",
                5.0: "D: 5 is v itself. In q = p * v it gets the other factor.",
            },
            2: {10.0: "Look at B once more: first saw both uses of v, in p and in q."},
            3: {
                25.0: "second was not on when p was computed. What can it know of u?",
                0.0: "Where a tape recorded no path, the answer is None, not zero.",
            },
        },
        hint=(
            "What did each tape see of the path to q?",
            "A: first was on for both multiplications, of u * v * v. B: v is in both of them. C: second was not on "
            "when p was computed. D: for second, p is a number that came from outside.",
            "first saw q = u * v * v. second saw only q = p * v, with p = 10.",
        ),
        because="first recorded all of u * v * v. second recorded p * v only, and p was for it the number 10.",
    ),
    Exercise(
        "07.2",
        order=2,
        expect=lambda f, value: f.derivative(value) + _compute_squared_slope_derivative(f, value),
        cases=[(F, 0.5), (F, 2.0), (G, -1.0)],
        changes={
            "y + slope * slope => y": (
                "That is the gradient of f(x) alone. For the rest, a tape must have recorded how the slope comes from "
                "x. Is one on when the slope is asked for, and is the slope cut nowhere?"
            ),
            "y + slope * slope => slope * slope": (
                "That is the gradient of slope * slope alone. f(x) is in the loss, too."
            ),
            "slope * slope => slope": (
                "That is the gradient of y + slope. The slope should be in the loss times itself."
            ),
            "outer.gradient(loss, x) => loss": ("That is the loss. Give back its gradient with respect to x."),
        },
        hint=(
            "Which two terms does the loss have, and which tape must have recorded each of them?",
            "Two tapes, one in the other. The inner gradient and the loss are computed while the outer tape is on.",
            "After the inner block, inside the outer one: slope = inner.gradient(y, x), and loss = y + slope * slope. "
            "After both: return outer.gradient(loss, x).",
        ),
        because="The inner sweep is on the outer tape. So a loss may have a gradient in it, as any other number.",
    ),
    Exercise(
        "07.3",
        order=3,
        expect=lambda f, value: f.derivative(value, order=3),
        cases=[(F, 1.0), (F, 2.0), (G, -0.5)],
        hint=(
            "What does derivative give back, and what can be done with that?",
            "derivative takes a function and gives one back. So it can be called on its own result.",
            "return derivative(derivative(derivative(f)))(x)",
        ),
        because="Each derivative is taken while a tape records its sweep, for the next one.",
    ),
    Exercise(
        "07.4",
        order=2,
        expect=lambda f, value: run_newton_steps(f, value),
        cases=[(F, 2.0), (G, 1.0), (G, -2.0), (F, 0.5)],  # the last bends downwards
        changes={
            "bend(x) => abs(bend(x))": ("Divide by the second derivative as it is, also where it is negative."),
            " / bend(x) => ": ("That is x minus the whole slope. Divide the slope by the second derivative."),
            "x - slope => x + slope": ("The sign is wrong: go against the slope, so subtract."),
            "bend(x) => slope(slope(x))": (
                "derivative(f)(derivative(f)(x)) is the slope at another place. How fast the slope changes is the "
                "derivative of the function derivative(f)."
            ),
            "slope(x) / bend(x) => f(x) / slope(x)": (
                "That step looks for a zero of the function. Here we look for a zero of its slope."
            ),
            "x - slope => slope": ("That is how far to go. Subtract it from x."),
            "slope(x) / bend(x) => bend(x) / slope(x)": (
                "The fraction is upside down: the slope is above, the second derivative below."
            ),
            "x - slope(x) / bend(x) => (x - slope(x)) / bend(x)": (
                "That is (x - slope) / second derivative. Only the slope is divided: mind the brackets."
            ),
            "/ bend => * bend": (
                "That is x minus slope times second derivative. Where the slope changes fast, a step should be short: "
                "divide."
            ),
            "slope(x) / bend(x) => 0.1 * slope(x)": (
                "That is a step of gradient descent. Newton's method has no learning rate: it divides by the second "
                "derivative."
            ),
            "return x => x = x - slope(x) / bend(x)\n    return x": (
                "That is two steps. Write a single one, without a loop."
            ),
        },
        hint=(
            "What divides the slope?",
            "Make slope = derivative(f) and bend = derivative(slope), and use both at x.",
            "return x - slope(x) / bend(x)",
        ),
        because="The second derivative says how fast the slope shrinks, so slope / second derivative is how far.",
    ),
    Exercise(
        "07.5",
        order=2,
        also=_find_full_hessian_hint,
        expect=lambda f, point, direction: _compute_hessian_product(f, point, direction) @ np.array(direction),
        cases=[(BENT, [1.0, 2.0], [1.0, 1.0]), (STEEP, [1.0, 2.0], [1.0, -1.0]), (STEEP, [-1.0, 0.5], [2.0, -3.0])],
        slips={
            _compute_hessian: ("That is the whole Hessian. Only one number of it is wanted."),
        },
        changes={
            "tf.reduce_sum(product * direction) => derivative(f)(x)": (
                "That is the gradient. The direction has not been used yet."
            ),
            "tf.reduce_sum(product * direction) => product": (
                "That is the Hessian times the direction. Multiply by the direction once more, and add up."
            ),
            "hessian_vector_product(f, x, direction) => derivative(f)(x)": (
                "That is the slope in the direction. How does it change along the direction?"
            ),
            "tf.reduce_sum(product * direction) => product * direction": ("Two numbers are left. Add them up."),
            "product * direction => product": (
                "That is the sum of the Hessian times the direction. The direction belongs in it twice: in the number "
                "that is differentiated, and in the sum at the end."
            ),
        },
        hint=(
            "Which of the two products do you have already, and what does it give?",
            "hessian_vector_product gives the Hessian times the direction, in two sweeps. What is left is a product of "
            "two lists, and a sum.",
            "return tf.reduce_sum(hessian_vector_product(f, x, direction) * direction)",
        ),
        because="Two sweeps, and no table: the second derivative of f along the direction.",
    ),
    Exercise(
        "07.6",
        order=2,
        expect=_run_damped_newton,
        cases=[
            (HILLS, 0.1, 2),
            (STRAIGHT, 0.0, 1),
            (STRAIGHT, 3.25, 6),
            (TEN, 0.0, 1),
            (HILLS, 0.55, 1),
            (HILLS, -0.3, 12),
            (BOWL, -3.0, 1),
            (BOWL, 9.0, 1),
        ],
        start="""
def lowest(f, start, steps):
    x = tf.constant(start)
    slope = derivative(f)
    bend = derivative(slope)
    for _ in range(steps):
        move = slope(x) / tf.abs(bend(x))
        for _ in range(10):
            if f(x - move) > f(x):
                move = move / 2.0
        x = x - move
    return x
""",
        rtol=1e-4,
        slips={
            partial(_run_damped_newton, halvings=100): (
                "That is the result of more than ten halvings. Here ten are all: after them x stays where it is."
            ),
            partial(_run_damped_newton, halvings=9): "That is the result of fewer than ten halvings. Ten are allowed.",
            partial(_run_damped_newton, halvings=0): (
                "Here x stays where a step that was halved leads down. Halve as before, up to ten times, and ask then "
                "only whether the height grows."
            ),
        },
        hint=(
            "What do you know of f(x - move) and f(x) after the ten halvings?",
            "Only where the height does not grow may x get its new place. Ask for that in the last line of the loop.",
            "if f(x - move) <= f(x): and in it, x = x - move",
        ),
        because="Now no step leads up, from any start. From 0.7227 nothing moves at all; from 0.73 it does.",
    ),
)
