"""The answers of lesson 10, state."""

from __future__ import annotations

from .exercise import Exercise, Mistake

EXERCISES = (
    Exercise(
        "10.1",
        expect=[30.0, None],
        mistakes=[
            Mistake([4.0, None], "When z is computed, x does not hold 2 any more. What does it hold?"),
            Mistake(
                [30.0, 90.0], "You went back through the assign. A variable does not know where its value came from."
            ),
            Mistake([30.0, 0.0], "The first is right. Where no path was recorded, the answer is None, not zero."),
            Mistake([None, 90.0], "z is computed from x: there is a path. It ends at x."),
        ],
        hint="z = x * x was computed after the assign. Which value had x then, and from where can a sweep go on?",
        because="x held 15, and the way back ends at x: a variable does not know how its value was computed.",
    ),
    Exercise(
        "10.2",
        expect=lambda a, b: 2.0 * (a + b),
        cases=[(3.0, 4.0), (1.0, -2.0), (0.5, 0.25)],
        blank=None,
        mistakes=[
            Mistake(lambda a, b: (a + b) ** 2, "You gave back z. Give back its gradient with respect to y."),
            Mistake(lambda a, b: 2.0 * b, "That is the derivative of y * y. The sum of x and y is squared."),
            Mistake(
                lambda a, b: 2.0 * a, "That is the derivative of x * x with the old x. The sum of x and y is squared."
            ),
            Mistake(
                lambda a, b: 0.0, "A zero says that z does not depend on y. It does: compute x + y inside the block."
            ),
        ],
        hint="Do not assign. Compute x + y as a tensor with a name of its own, and square that.",
        because="x + y is an operation with two inputs, so a path leads from y to z.",
    ),
    Exercise(
        "10.3",
        expect=10.0,
        mistakes=[
            Mistake(16.0, "You took x = 4 for both. When u was computed, x held 1."),
            Mistake(8.0, "That is what comes back from v. u was computed from x as well."),
            Mistake(2.0, "That is what comes back from u. v was computed from x as well."),
            Mistake(4.0, "You took x = 1 for both. When v was computed, x held 4."),
        ],
        hint="Two versions of x were used. Each gives twice the value that it had; add the two.",
        because="Version 0 gives 2 * 1, version 1 gives 2 * 4, and both belong to x.",
    ),
    Exercise(
        "10.4",
        expect={"A": False, "B": True, "C": True, "D": False, "E": True},
        mistakes=[
            Mistake(
                {"A": True, "B": True, "C": True, "D": False, "E": True},
                "Look at A once more: what is w after it, a variable or a tensor?",
            ),
            Mistake(
                {"A": False, "B": True, "C": True, "D": True, "E": True},
                "Look at D once more: the name w is bound to what assign_sub gives back.",
            ),
            Mistake(
                {"A": False, "B": False, "C": True, "D": False, "E": True},
                "Look at B once more: the new value is computed first, and then stored in the same variable.",
            ),
            Mistake(
                {"A": False, "B": True, "C": True, "D": False, "E": False},
                "Look at E once more: it is a new variable, but a variable.",
            ),
            Mistake(
                {"A": False, "B": True, "C": False, "D": False, "E": True},
                "Look at C once more: it changes the variable, and binds no name.",
            ),
        ],
        hint="Ask for each line: is the name w still bound to a variable afterwards?",
        because="A and D bind w to what no tape watches. B and C change the variable, E makes a new one.",
    ),
    Exercise(
        "10.5",
        expect=lambda steps: 3.0 * (1.0 - 0.5**steps),
        cases=[(1,), (2,), (5,)],
        mistakes=[
            Mistake(
                lambda steps: 3.0 * (1.0 - 1.5**steps), "w goes away from 3: subtract the gradient, do not add it."
            ),
            Mistake(
                lambda steps: 3.0 * (1.0 - (-1.0) ** steps), "w jumps over 3 and back: multiply the gradient by 0.25."
            ),
            Mistake(lambda steps: 1.5, "That is w after one step. Does your loop go on from the changed w?"),
            Mistake(lambda steps: 0.0, "w is still 0: a new value was computed but not stored with assign_sub."),
        ],
        hint="After the block: w.assign_sub(0.25 * tape.gradient(loss, w)). At the end give back w.",
        because="Each step halves the distance to 3.",
    ),
)
