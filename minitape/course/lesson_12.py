"""The answers of lesson 12, in which learners build a tape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .exercise import Answer, Exercise, Mistake, complete_exercises, raise_error, say_from_lesson
from .own_tape import BACKWARD_TRIALS, MORE_OPERATOR_TRIALS, OPERATOR_TRIALS, ROW_TRIALS


@dataclass(eq=False, repr=False)
class _Number:
    """A number on the tape of one step: a parameter with its position, or a loss with its slopes."""

    value: float
    place: int = 0
    slopes: Answer = ()

    def _refuse_operation(self, other: Answer) -> Answer:
        raise TypeError(say_from_lesson("12", "number of this step"))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse_operation

    def __repr__(self) -> str:
        return f"a number on the tape, {self.value:g}"


class HonestTape:
    """A tape for `learn` that returns the true gradient."""

    gradient_scale: ClassVar[float] = 1.0

    def __init__(self) -> None:
        """Begin without any numbers."""
        self.watched_count = 0

    def watch(self, value: float) -> _Number:
        """Return the number for a parameter.

        Args:
            value: A plain number.

        Raises:
            TypeError: If the value is on a tape.
        """
        if isinstance(value, _Number):
            raise TypeError(say_from_lesson("12", "watched twice"))
        self.watched_count += 1
        return _Number(value, self.watched_count - 1)

    def gradient(self, target: _Number, sources: Sequence[_Number]) -> list[float]:
        """Return the slopes of a loss.

        Args:
            target: The loss.
            sources: The parameters.

        Raises:
            TypeError: If one of them is a plain number.
        """
        if not all(isinstance(number, _Number) for number in (target, *sources)):
            raise TypeError(say_from_lesson("12", "plain number in gradient"))
        return [self.gradient_scale * target.slopes[source.place] for source in sources]


class HalvingTape(HonestTape):
    """A tape that returns half of the true gradient, so that a learner's function must really ask it."""

    gradient_scale = 0.5


HonestTape.__name__ = HalvingTape.__name__ = "Tape"  # Hints show these names to the learner.
_Number.__name__ = "Number"


class BowlLoss:
    """A loss of two parameters with a single minimum."""

    def __init__(self, *lowest: float):
        """Store the place of the minimum.

        Args:
            *lowest: The two parameters at the minimum.
        """
        self.minimum = lowest
        self.__name__ = "loss_of"

    def __call__(self, parameters: Sequence[Answer]) -> Answer:
        """Return the loss, as a number on the tape if the parameters are.

        Args:
            parameters: The two parameters.
        """
        point = np.array([parameter.value if isinstance(parameter, _Number) else parameter for parameter in parameters])
        a, b = point - self.minimum
        loss = a * a + 3.0 * b * b + a * b
        return _Number(loss, slopes=self.compute_gradient(point)) if isinstance(parameters[0], _Number) else loss

    def compute_gradient(self, point: np.ndarray) -> np.ndarray:
        """Return the gradient at a point.

        Args:
            point: The two parameters.
        """
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


_random = np.random.default_rng(12)


def _build_random_array(*shape: int) -> np.ndarray:
    """Build an array of some numbers with two digits."""
    return _random.normal(0.0, 2.0, shape).round(1)


def _build_counting_array(*shape: int) -> np.ndarray:
    """Build an array of 1, 2, 3 and so on, as a case that a person can compute by hand."""
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


CASES = [(HonestTape, BowlLoss(1.0, -2.0), [0.0, 0.0], 20, 0.1), (HalvingTape, BowlLoss(-0.5, 0.5), [3.0, 1.0], 3, 0.2)]


EXERCISES = complete_exercises(
    "12",
    (
        Exercise("12.1", expect="Tape", trials=ROW_TRIALS),
        Exercise("12.2", expect="Tape", trials=OPERATOR_TRIALS),
        Exercise("12.3", expect="Tape", trials=BACKWARD_TRIALS),
        Exercise("12.4", expect="Tape", trials=MORE_OPERATOR_TRIALS),
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
        ),
        Exercise(
            "12.6",
            expect=_train_parameters,
            cases=CASES,
            mistakes=[
                Mistake(raise_error, named="Number changed in place", error="attribute 'assign"),
                Mistake(lambda _, *given: _train_parameters(HonestTape, *given), named="gradients not from the tape"),
            ],
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
                (
                    _build_random_array(5, 2),
                    _build_random_array(5, 2),
                    _build_random_array(5, 2),
                    _build_random_array(2),
                ),
            ],
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
            mistakes=[
                Mistake(
                    raise_error,
                    named="star for a matrix product",
                    where=r"g *\* *w|w *\* *g|x *\* *g|g *\* *x|T *\* ",
                    error="broadcast",
                ),
                Mistake(raise_error, named="shapes of a product", error="matmul|align"),
            ],
        ),
    ),
)
