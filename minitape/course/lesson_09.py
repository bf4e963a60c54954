"""The answers of lesson 09, state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..common.translation import say
from .exercise import Answer, Exercise
from .unknown_functions import Polynomial, UnknownFunction, run_gradient_descent

F, G = Polynomial(0, 0, 1), Polynomial(1, -2, 0, 1)
BOWL, HOLE = Polynomial(9, -6, 1), Polynomial(2, 1, 0.5)


class Distance(UnknownFunction):
    """How far heights are from points that only the check knows: the mean of the squares."""

    def __init__(self, points: Sequence[float]) -> None:
        self.points = np.array(points, np.float32)
        super().__init__(f"mean((heights - {list(points)}) ** 2)", self._compute_mean_square_error)

    def _compute_mean_square_error(self, heights: Answer) -> Answer:
        errors = heights - self.points
        return (errors[None, :] @ errors[:, None])[0, 0] / len(self.points)


X, POINTS = [-1.8, -1.0, -0.4, 0.3, 0.9, 1.7], Distance([2.9, 2.2, 1.4, 1.2, 0.1, -0.6])
FAR = 20.0  # no number of the best lines is near it
OTHER_X, OTHERS = [-2.0, -0.5, 1.0, 2.0], Distance([-5.0, -1.5, 4.5, 6.0])


def _fit_line(loss_of: Distance, x: Sequence[float]) -> list[float]:
    return [float(value) for value in np.polyfit(x, loss_of.points, 1)]


def _find_line_fit_hint(answer: Answer, loss_of: Distance, x: Sequence[float]) -> str:
    """Say what two numbers tell of the loop that found them, where they are not those of the best line."""
    w, b = numbers = np.array([float(value) for value in np.ravel(answer)])
    best_line = _fit_line(loss_of, x)
    if not max(abs(w), abs(b)) <= FAR:  # or no numbers any more
        return say(
            "These are far from the numbers of any good line. Is the loss recorded anew in each step, and does each "
            "variable subtract its own gradient? If so, take a smaller learning rate."
        )
    start_loss, own_loss, best_loss = (
        loss_of._compute_mean_square_error(w * np.array(x) + b) for w, b in ([0.0, 0.0], numbers, best_line)
    )
    if not own_loss < start_loss or 0.0 in numbers:  # one of them has not learned at all
        return ""
    return say(
        "At w = 0 and b = 0 the loss is {start}, for your line {now}, and for the best one {least}. If your "
        "loop found it, and the loss still falls in the last steps, take more of them.",
        start=f"{start_loss:.3g}",
        now=f"{own_loss:.3g}",
        least=f"{best_loss:.3g}",
    )


EXPLANATIONS = {
    "09.p1": "A variable knows what it holds, not where that came from. assign_add puts a number into the box, and no "
    "operation with a result is recorded. "
    "So the tape has no path from y to z.",
    "09.p2": "Each version of x that was used has a row of its own, with the value of its time. The first gets 2 * 3, "
    "the second gets 2, and both belong to x: they are added.",
    "09.p3": "The right side makes a new tensor, and w = ... binds the name w to it. The variable still exists, "
    "unchanged, but no line uses it any more.",
    "09.p4": "The variable is lost again: w is the value that assign_sub gave back, and no tape watches that.",
}
BELIEFS = {
    "09.p1": {
        "14.0": "14.0 is the derivative on paper, 2 * (3 + 4). It needs a path from y to z, and assign_add "
        "leaves none.",
        "8.0": "8.0 is 2 * 4, as if z were y * y. When z is computed, x holds 7.",
        "0.0": "0.0 says that there is a path, and that z does not change. The tape has no path at all.",
    },
    "09.p2": {
        "2.0": "2.0 comes back from v. u was computed from x, too, from its first version.",
        "6.0": "6.0 comes back from u, 2 * 3. v was computed from x, too, from its second version.",
        "12.0": "12.0 is 2 * 5 + 2: it takes 5 for x in u. When u was computed, x held 3.",
    },
    "09.p3": {
        "2.8": "2.8 is what the name w stands for after the step. kept still names the variable, which no "
        "line changed.",
        "-28.0": "-28.0 is the gradient of the first step. No variable holds it.",
    },
    "09.p4": {
        "1.0": "1.0 is 2 * 0.5, which is right for a variable that holds 0.5. But w names no variable any more.",
        "2.0": "2.0 is 2 * 1, with the value before the step. w is 0.5 by then, and it names no variable any more.",
    },
}
RETRY_QUESTIONS = {
    "09.p1": (
        "x is 2, y is 5; then x.assign_add(y) and z = 3 * x. What is the gradient of z with respect to y?",
        ["3.0", "0.0", "None"],
        "None",
        "assign_add puts a number into the box of x. Where it came from is not recorded.",
    ),
    "09.p2": (
        "u = 4 * x where x is 1; then x.assign(3.0); then v = x * x. What is the gradient of u + v with respect to x?",
        ["4.0", "6.0", "10.0"],
        "10.0",
        "Both versions belong to x. The first gets 4, the second 2 * 3, and they are added.",
    ),
}
EXERCISES = (
    Exercise(
        "09.1",
        expect=[30.0, None],
        slips={
            1: {
                4.0: "When z is computed, x does not hold 2 any more. What does it hold?",
                15.0: "15 is what x holds when z is computed. How fast does x * x grow there?",
                225.0: "225 is z itself, 15 * 15. How fast does it grow with x?",
                6.0: "6 is 2 * 3. x holds 3 times y when z is computed, which is 15.",
                10.0: "10 is 2 times y. x holds 3 times y when z is computed.",
                90.0: "90 is 2 * 15 * 3, with respect to y, if a tape went back through assign. Here x is asked for.",
                None: "z is computed from x: there is a path. It ends at x.",
            },
            2: {
                90.0: "90 is 30 * 3, back through the assign. A variable does not know where its value came from.",
                0.0: "The first is right. Where no path was recorded, the answer is None, not zero.",
            },
        },
        hint=(
            "Which value does x hold when z is computed, and does the tape know where that came from?",
            "1: when z is computed, x holds y * 3. 2: the path back from z ends at x.",
            "With respect to x: 2 * 15. With respect to y: no path.",
        ),
        because="x held 15, and the path back ends at x: a variable does not know how its value was computed.",
    ),
    Exercise(
        "09.2",
        expect=lambda f, a, b: 2.0 * f.derivative(a + 2.0 * b),
        cases=[(F, 3.0, 4.0), (G, 1.0, -2.0), (G, 0.5, -0.25)],
        from_tape="The number is right, and it is not what the tape gave. Let the tape record how x comes from y.",
        start="""
def gradient_for_y(f, a, b):
    x = tf.Variable(a)
    y = tf.Variable(b)
    with tf.GradientTape() as tape:
        x.assign_add(2.0 * y)
        z = f(x)
    return tape.gradient(z, y)
""",
        changes={
            "(z, y) => (z, x)": (
                "That is the gradient with respect to x, or to the sum. With respect to y: how does the sum grow "
                "with y?"
            ),
            "x + 2.0 * y => 2.0 * y": "That is the slope of f(2 * y). Call f with the sum x + 2 * y.",
            "x + 2.0 * y => x + y": "That is the slope of f(x + y). Call f with the sum x + 2 * y.",
            "tape.gradient(z, y) => 0.0": (
                "A zero says that z does not depend on y. It does: compute x + 2 * y inside the block."
            ),
        },
        hint=(
            "Which operations lead from y to z, and does the tape have each of them?",
            "Do not assign. Compute x + 2 * y as a tensor with a name of its own, and hand that to f.",
            "total = x + 2.0 * y, and then z = f(total)",
        ),
        because="The sum is an operation with two inputs, so a path leads from y to z.",
    ),
    Exercise(
        "09.3",
        expect=10.0,
        slips={
            16.0: "16 is (2 * 1) * (2 * 4), and 2 * 4 twice. Each version gives its own amount; they are added.",
            8.0: "8 is what comes back from v. u was computed from x as well.",
            2.0: "2 is what comes back from u. v was computed from x as well.",
            17.0: "17 is y itself, 1 + 16. How fast does it grow with x?",
            5.0: "5 is 1 + 4, the values of x, and half of 2 + 8. Each version gives twice its value: add both.",
            0.0: "0 would say that y does not depend on x. Both u and v were computed from x.",
            32.0: "32 is 2 * 16. The slope of x * x is twice x, not twice x * x.",
            4.0: "4 is what x holds in the end, and 2 * 1 twice. Each version gives twice its own value.",
        },
        hint=(
            "How many versions of x were used, and what becomes of their amounts?",
            "Each gives twice the value that it had. Two amounts arrive at x.",
            "2 * 1 + 2 * 4",
        ),
        because="Version 0 gives 2 * 1, version 1 gives 2 * 4, and both belong to x.",
    ),
    Exercise(
        "09.4",
        expect={"A": False, "B": True, "C": True, "D": False, "E": True},
        slips={
            "A": {True: "Look at A once more: what is w after it, a variable or a tensor?"},
            "D": {True: "Look at D once more: the name w is bound to what assign_sub gives back."},
            "B": {False: "Look at B once more: the new value is computed first, and then stored in the same variable."},
            "E": {False: "Look at E once more: it is a new variable, but a variable."},
            "C": {False: "Look at C once more: it changes the variable, and binds no name."},
        },
        hint=(
            "What is w after each line: a variable, or a value?",
            "A tape watches variables. = moves the name w, and assign changes what a variable holds.",
            "After A and D, w is a tensor. After E it is another variable.",
        ),
        because="A and D bind w to what no tape watches. B and C change the variable, E makes a new one.",
    ),
    Exercise(
        "09.5",
        expect=lambda loss_of, steps, rate=0.25: run_gradient_descent(loss_of, 0.0, steps, rate),
        cases=[(BOWL, 1), (BOWL, 2), (HOLE, 5)],
        changes={
            "w.assign_sub(0.25 => w = w.assign_sub(0.25": (
                "w = ... gives the name w to another value, which no tape watches. Leave out w =, and change the "
                "variable: it has a method that subtracts."
            ),
            "w.assign_sub(0.25 * tape.gradient(loss, w)) => pass": (
                "That is 0, what w holds at first. Which line changes what it holds?"
            ),
        },
        hint=(
            "What does each step do with the gradient, and what does the function give back?",
            "After the block, subtract the learning rate times the gradient from what w holds.",
            "w.assign_sub(0.25 * tape.gradient(loss, w)), and at the end return w",
        ),
        because="Each step goes down the slope of the loss, whatever the loss is.",
    ),
    Exercise(
        "09.6",
        expect=_fit_line,
        cases=[(POINTS, X), (OTHERS, OTHER_X)],
        rtol=0.01,
        of_wrong=_find_line_fit_hint,
        changes={
            "range(500) => range(0)": "Both numbers are 0. Are w and b changed in each step?",
            "b.assign_sub(0.1 * db) => pass": (
                "Your line goes through the origin: b is 0. Ask for the gradients of both, and change both."
            ),
        },
        hint=(
            "What does loss_of get, which two numbers does your loop change, and does the loss fall with each step?",
            "The loop of this lesson, with the loss loss_of(w * x + b). Try 500 steps with the learning rate 0.1.",
            "dw, db = tape.gradient(loss, [w, b]), and then w.assign_sub(0.1 * dw) and b.assign_sub(0.1 * db)",
        ),
        because="No formula was needed for the best line. The same loop fits what has no formula.",
    ),
)
