"""The answers of lesson 12, a tape of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..common.translation import say
from .exercise import Answer, Exercise, Mistake, raise_error
from .own_tape import BACKWARD_TRIALS, MORE_OPERATOR_TRIALS, OPERATOR_TRIALS, ROW_TRIALS


class _Number:
    """A number on the tape of one step: a parameter, which knows its place, or a loss, which knows its slopes."""

    def __init__(self, value: float, place: int = 0, slopes: Answer = ()):
        self.value, self.place, self.slopes = value, place, slopes

    def _refuse_operation(self, other: Answer) -> Answer:
        raise TypeError(say("this number is on the tape of its step: compute with its plain value, which now has"))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse_operation

    def __repr__(self) -> str:
        return f"a number on the tape, {self.value:g}"


class HonestTape:
    """A tape for `learn`: it gives the truth."""

    gradient_scale: ClassVar[float] = 1.0

    def __init__(self) -> None:
        self.watched_count = 0

    def watch(self, value: float) -> _Number:
        if isinstance(value, _Number):
            raise TypeError(say("watch takes a plain number; this one is on the tape of the step before"))
        self.watched_count += 1
        return _Number(value, self.watched_count - 1)

    def gradient(self, target: _Number, sources: Sequence[_Number]) -> list[float]:
        if not all(isinstance(number, _Number) for number in (target, *sources)):
            raise TypeError(say("gradient takes what is on the tape; one of these is a plain number"))
        return [self.gradient_scale * target.slopes[source.place] for source in sources]


class HalvingTape(HonestTape):
    """A tape that gives half of the truth, so that it must be asked."""

    gradient_scale = 0.5


HonestTape.__name__ = HalvingTape.__name__ = "Tape"  # as what is called is shown
_Number.__name__ = "Number"


class BowlLoss:
    """A loss of two parameters, which is least at one place."""

    def __init__(self, *lowest: float):
        self.minimum, self.__name__ = lowest, "loss_of"

    def __call__(self, parameters: Sequence[Answer]) -> Answer:
        point = np.array([parameter.value if isinstance(parameter, _Number) else parameter for parameter in parameters])
        a, b = point - self.minimum
        loss = a * a + 3.0 * b * b + a * b
        return _Number(loss, slopes=self.compute_gradient(point)) if isinstance(parameters[0], _Number) else loss

    def compute_gradient(self, point: np.ndarray) -> np.ndarray:
        a, b = point - self.minimum
        return np.array([2.0 * a + b, 6.0 * b + a])


def _train_parameters(
    Tape: type[HonestTape],  # noqa: N803, as in the learner's `learn`
    loss_of: BowlLoss,
    start: Sequence[float],
    steps: int,
    rate: float,
) -> list[float]:
    """Compute what `learn` finds."""
    parameters = np.array(start)
    for _ in range(steps):
        parameters = parameters - rate * Tape.gradient_scale * loss_of.compute_gradient(parameters)
    return [float(value) for value in parameters]


def _build_class_hints(exercise_name: str) -> tuple[str, str, str]:
    """Build the hints for what is no class."""
    return (
        "Is that the class, or an object of it?",
        "Hand in the class itself, without brackets after it.",
        f"check('{exercise_name}', Tape)",
    )


_random = np.random.default_rng(12)


def _build_random_array(*shape: int) -> np.ndarray:
    """Build an array of some numbers with two digits."""
    return _random.normal(0.0, 2.0, shape).round(1)


def _build_counting_array(*shape: int) -> np.ndarray:
    """Build an array of 1, 2, 3 and so on: a case that one can compute by hand."""
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


CASES = [(HonestTape, BowlLoss(1.0, -2.0), [0.0, 0.0], 20, 0.1), (HalvingTape, BowlLoss(-0.5, 0.5), [3.0, 1.0], 3, 0.2)]

EXPLANATIONS = {
    "12.p1": "Two rows for a and b, one for the constant 1.0, and three operations. A constant is a row, too: the "
    "rules need its value.",
    "12.p2": "A compiled loop runs no line of Python. Left are the few that call it and copy the lists into arrays, "
    "for 2,000 rows as for 2 million. That copy takes most of the time that is left, as the table below shows.",
    "12.p4": "The rule of `add` hands g to both inputs as it is, and nothing complains. But a gradient must have the "
    "shape of its source: with this one, `b - rate * gradient` would make a table of b. The rule must be mended.",
}
BELIEFS = {
    "12.p1": {
        "3": "3 counts the operations. a, b and the constant 1.0 have a row each, too.",
        "5": "5 leaves out the constant 1.0. It has a row, as every input has.",
    },
    "12.p2": {
        "as many": "The text of the loop is the same. But compiled it is machine code, and Python runs none of its "
        "lines.",
        "about a tenth": "About a tenth of the time is left, as the table below shows. Of the lines it is much less: "
        "the loop has none for Python.",
    },
    "12.p4": {
        "(16,)": "So it should be: that is the shape of b. But your rule of `add` knows no shapes.",
        "none: there is an error": "There should be one, perhaps. But your rule of `add` looks at no shape.",
    },
}
RETRY_QUESTIONS = {
    "12.p4": (
        "g, a table of 50 rows, has arrived at x - b, where b is a vector. What does b get?",
        ["the sum of its rows", "minus the sum of its rows", "minus its last row"],
        "minus the sum of its rows",
        "b was subtracted from each row. So each row hands back its part with a minus, and they are added.",
    ),
}
EXERCISES = (
    Exercise(
        "12.1",
        expect="Tape",
        trials=ROW_TRIALS,
        hint=_build_class_hints("12.1"),
        because="A list of rows, and numbers that know their row in it: that is a recording.",
    ),
    Exercise(
        "12.2",
        expect="Tape",
        trials=OPERATOR_TRIALS,
        hint=_build_class_hints("12.2"),
        because="Now a program that computes with your numbers writes its own rows.",
    ),
    Exercise(
        "12.3",
        expect="Tape",
        trials=BACKWARD_TRIALS,
        hint=_build_class_hints("12.3"),
        because="That is reverse mode, whole. A row comes after its inputs, so the loop needs no search for an order.",
    ),
    Exercise(
        "12.4",
        expect="Tape",
        trials=MORE_OPERATOR_TRIALS,
        hint=_build_class_hints("12.4"),
        because="Two lines in the table, and a method for each side of the operator that a Number can be on.",
    ),
    Exercise(
        "12.5",
        expect=lambda g, z, x: (g * (1.0 - z * z),),
        cases=[
            (1.0, 0.46211715726000975, 0.5),
            (3.0, 0.0, 0.0),
            (-2.0, -0.7615941559557649, -1.0),
            (np.array([[3.0, -2.0]]), np.array([[0.5, 0.0]]), np.array([[0.5493061443340549, 0.0]])),
        ],
        rtol=1e-10,
        changes={
            "g * (1.0 - z * z) => 1.0 - z * z": "What about g, the amount that has arrived? Multiply by it.",
            "z * z => x * x": "z is tanh(x). Which of the two belongs in 1 - tanh(x) ** 2?",
            "(1.0 - z * z) => 1.0 - z * z": (
                "That is g - z * z. In brackets, g is multiplied by all of it: g * (1.0 - z * z)."
            ),
            "z * z => z": "That is g times 1 - tanh(x). The square is missing: z * z.",
            "z * z => math.tanh(z) ** 2": (
                "That is 1 - tanh(z) ** 2. But z is tanh(x) already: no tanh of it is needed."
            ),
            "z * z => math.tanh(x) ** 2": (
                "For single numbers it is right. But a row may hold an array. You need no tanh: z is tanh(x) already."
            ),
            "1.0 - z * z => z": "That is the rule of exp. The derivative of tanh is 1 - tanh(x) ** 2.",
            " * (1.0 - z * z) => ": "That is g itself. Multiply it by the derivative of tanh.",
            "),) => ))": "The amount is right. Give it back as a tuple: (amount,), with a comma.",
        },
        hint=(
            "What is the derivative of tanh, and what has arrived?",
            "What has arrived, times the derivative; and tanh(x) is there already, as z.",
            "return (g * (1.0 - z * z),)",
        ),
        because="z holds tanh(x) already, so nothing has to be computed again.",
    ),
    Exercise(
        "12.6",
        expect=_train_parameters,
        cases=CASES,
        changes={
            "zip(now, gradients) => zip(now, gradients[::-1])": "Each number moves by the gradient of another one.",
            "zip(now, gradients) => zip(start, gradients)": (
                "Each step begins at the start again. It begins where the last one led: now."
            ),
        },
        mistakes=[
            Mistake(
                raise_error,
                "A Number cannot be changed, and your tape has no variables. Make a new list now of the new values.",
                error="attribute 'assign",
            ),
            Mistake(
                lambda Tape, *given: _train_parameters(HonestTape, *given),  # noqa: N803
                "With the second tape, your gradients are not those that it gives. Where do yours come from? (It gives "
                "half of the truth, to see that.)",
            ),
        ],
        hint=(
            "What does the tape know after the loss is computed, and where do the values go?",
            "Ask the tape for the gradients of all parameters. Each value becomes value - rate * its gradient.",
            "gradients = tape.gradient(loss, parameters), and then a new list now, by zip(now, gradients)",
        ),
        because="Record, go back, take a small step: that is gradient descent, and all of training.",
    ),
    Exercise(
        "12.7",
        expect=lambda g, z, x, b: (g, g.sum(axis=0)),
        cases=[
            (
                _build_counting_array(2, 3),
                _build_counting_array(2, 3),
                _build_counting_array(2, 3),
                _build_counting_array(3),
            ),
            (_build_random_array(5, 2), _build_random_array(5, 2), _build_random_array(5, 2), _build_random_array(2)),
        ],
        changes={
            "g.sum(axis=0) => g": (
                "The amount for b has the shape of g. A gradient has the shape of its source: b is a vector."
            ),
            "sum(axis=0) => mean(axis=0)": (
                "b gets the mean of the rows. It was added to each row, and what comes back is added, too."
            ),
            ".sum(axis=0) => .max(axis=0)": "b gets the largest number of each column. It gets the sum.",
            ".sum(axis=0) => .sum(axis=0) * b": (
                "The sum of g is the amount for b. Why times b? It is added, and not multiplied."
            ),
            "sum(axis=0) => sum(axis=0, keepdims=True)": (
                "The numbers are right, in a table of one row. A gradient has the shape of its source: b is a vector."
            ),
            "g.sum(axis=0) => b": "b gets its own values. What has arrived is g.",
            "(g, g.sum(axis=0)) => g.sum(axis=0)": "That is the amount for b. The rule gives one for x, too, first.",
            "return (g, => return (g * x,": "The amount for b is right. x is added, so it gets g as it is.",
            "axis=0 => axis=1": ("b gets one number for each row. It has one for each column: axis=0."),
            "axis=0 => ": "b gets a single number, the sum of all of g. It has one number for each column: axis=0.",
            ".sum(axis=0) => [-1]": "That is what one row hands back. b was added to all of them.",
            ".sum(axis=0) => [0]": "That is what the first row hands back. b was added to all rows.",
            "(g, g.sum(axis=0)) => (g.sum(axis=0), g)": "The two amounts are swapped: that for x comes first.",
            "(g, g.sum(axis=0)) => (0 * x + 1.0, 0 * b + len(x))": (
                "What about g, the amount that has arrived? Each number of it is handed on."
            ),
            "return (g, => return (g * b,": (
                "The amount for b is right. x is not multiplied by b: it is added, and gets g as it is."
            ),
        },
        hint=(
            "How often is each number of b used, and what happens to amounts that come by several paths?",
            "x gets g as it is. Each number of b was added to all rows, so it gets the sum of a column of g.",
            "return (g, g.sum(axis=0))",
        ),
        because="What was repeated on the way forward is added up on the way back.",
    ),
    Exercise(
        "12.8",
        expect=lambda g, z, x, w: (g @ w.T, x.T @ g),
        cases=[
            (
                _build_counting_array(2, 3),
                _build_counting_array(2, 3),
                _build_counting_array(2, 4),
                _build_counting_array(4, 3),
            ),
            (
                _build_random_array(4, 3),
                _build_random_array(4, 3),
                _build_random_array(4, 5),
                _build_random_array(5, 3),
            ),
        ],
        changes={
            "(g @ w.T, x.T @ g) => (x.T @ g, g @ w.T)": ("The two amounts are swapped: that for x comes first."),
            "(g @ w.T, x.T @ g) => (w.T, x.T)": (
                "What about g, the amount that has arrived? It is one of the two matrices in each product."
            ),
            "x.T @ g => g.T @ x": "The amount for x is right. That for w has its rows and columns swapped.",
            "g @ w.T => w @ g.T": "The amount for w is right. That for x has its rows and columns swapped.",
        },
        mistakes=[
            Mistake(
                raise_error,
                "A star multiplies number by number. Here matrices are multiplied, with @.",
                where=r"g *\* *w|w *\* *g|x *\* *g|g *\* *x|T *\* ",
                error="broadcast",
            ),
            Mistake(
                raise_error,
                "The shapes of one of your products do not fit. Which matrix must be swapped by .T, and on which side "
                "of g is it?",
                error="matmul|align",
            ),
        ],
        hint=(
            "Which product of g and w has the shape of x?",
            "For x: g @ w.T. For w, by the same look at the shapes: the swapped x comes first.",
            "return (g @ w.T, x.T @ g)",
        ),
        because="A number of x is multiplied by a whole row of w. What comes back from there is added up: g @ w.T.",
    ),
)
