"""The answers of the appendix, tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .exercise import Exercise, Mistake, raises


def _refused(numbers: list[float]) -> list[float]:
    """What a learner's function does that hands in places of the wrong form."""
    raise ValueError(f"bad places for {numbers}")


def _pass(xs: Sequence[float], ys: Sequence[float]) -> np.ndarray:
    """The heights of a mountain pass."""
    return np.array([[x * x - y * y for x in xs] for y in ys])


EXERCISES = (
    Exercise(
        "appendix.1",
        expect={"A": (4, 5), "B": "error", "C": (4, 5), "D": (3, 4, 5)},
        mistakes=[
            Mistake(
                {"A": (4, 5), "B": (4, 5), "C": (4, 5), "D": (3, 4, 5)},
                "B: put the last axes in line. Under the 5 stands a 4, and these do not fit.",
            ),
            Mistake(
                {"A": (4, 5), "B": "error", "C": "error", "D": (3, 4, 5)},
                "C: a length of 1 is repeated. Here this happens on both sides.",
            ),
            Mistake(
                {"A": (4, 5), "B": "error", "C": (4, 5), "D": "error"},
                "D: in line from the right, 5 meets 1, 4 meets 4, and 3 meets nothing. All three fit.",
            ),
            Mistake(
                {"A": "error", "B": "error", "C": (4, 5), "D": (3, 4, 5)},
                "A: a missing axis is no problem. From the right, 5 meets 5.",
            ),
            Mistake(
                {"A": (4, 5), "B": "error", "C": (4, 5), "D": (4, 5)},
                "D: the second shape has no third axis. It is repeated there, so the 3 stays.",
            ),
            Mistake(
                {"A": (4, 5), "B": (4, 4), "C": (4, 5), "D": (3, 4, 5)},
                "B: a length never shrinks. 5 and 4 are neither equal nor 1, so they do not fit.",
            ),
        ],
        hint="Write the shapes below each other, the last axes in line. Equal fits; a 1 or a gap is repeated.",
        because="From the right, each pair of lengths is equal or has a 1 or a gap; only in B a 5 meets a 4.",
    ),
    Exercise(
        "appendix.2",
        expect=lambda numbers: [max(number, 0.0) for number in numbers],
        cases=[([1.0, -2.0, 3.0],), ([-0.5, 1.5, -2.0],), ([4.0, 0.0],)],
        mistakes=[
            Mistake(
                lambda numbers: [abs(number) for number in numbers],
                "abs changes the sign. Put 0 in place of a negative.",
            ),
            Mistake(
                lambda numbers: [min(number, 0.0) for number in numbers],
                "The mask is the wrong way round: turn > into <.",
            ),
            Mistake(
                lambda numbers: [float(number > 0) for number in numbers],
                "That is the mask itself. Multiply x by it.",
            ),
            Mistake(
                lambda numbers: [number for number in numbers if number > 0],
                "You dropped the negative numbers. Keep their places, with a 0 there.",
            ),
            Mistake(
                lambda numbers: [number > 0 for number in numbers],
                "That is the mask, as True and False. Cast it to the dtype of x, and multiply x by it.",
            ),
            Mistake(lambda numbers: numbers, "Nothing is replaced. Have you returned x itself?"),
        ],
        hint="A mask that is 1 where x > 0, cast to the dtype of x, times x.",
        because="Times 1 keeps a number, times 0 replaces it by 0.",
    ),
    Exercise(
        "appendix.3",
        expect=lambda numbers: [0.0, *numbers[1:-1], 0.0],
        cases=[([1.0, 2.0, 3.0],), ([5.0, 6.0],), ([1.0, -1.0, 2.0, -2.0],)],
        mistakes=[
            Mistake(
                lambda numbers: numbers,
                "This is still the old tensor. Return what tf.tensor_scatter_nd_update returns.",
            ),
            Mistake(lambda numbers: [0.0, *numbers[1:]], "The first is replaced, the last is not. Give two places."),
            Mistake(
                lambda numbers: [*numbers[:-1], 0.0], "The last is replaced, the first is not: it has the place [0]."
            ),
            Mistake(lambda numbers: np.array(numbers[1:-1]), "You cut the ends off. Keep their places, with a 0 there."),
            Mistake(_refused, "It raised an error. Each place is a list of its own, and the last is len(numbers) - 1."),
        ],
        hint="The places are [[0], [len(numbers) - 1]], the updates [0.0, 0.0]. Return the new tensor.",
        because="Two places were replaced, in a new tensor.",
    ),
    Exercise(
        "appendix.4",
        expect=[50, 10, 10],
        mistakes=[
            Mistake([40, 10, 10], "Places are counted from 0, so place 4 is the fifth number."),
            Mistake([4, 0, 0], "These are the places. What stands there?"),
            Mistake([50, 10], "A place that is named twice is picked twice."),
            Mistake([10, 10, 50], "The numbers come in the order in which the places are named."),
        ],
        hint="Take the places one after the other: 4, then 0, then 0 once more. Counting starts with 0.",
        because="The numbers at places 4, 0 and again 0, in this order.",
    ),
    Exercise(
        "appendix.5",
        expect={"A": "dense", "B": "string", "C": "sparse", "D": "ragged"},
        mistakes=[
            Mistake(
                {"A": "dense", "B": "ragged", "C": "sparse", "D": "ragged"},
                "B: names differ in length, but each text is one element.",
            ),
            Mistake(
                {"A": "dense", "B": "string", "C": "dense", "D": "ragged"},
                "C: of 100,000 places only 50 are not 0. Do you want to store the zeros?",
            ),
            Mistake(
                {"A": "dense", "B": "string", "C": "sparse", "D": "sparse"},
                "D: nothing here is 0. What differs is how many ages each person has.",
            ),
            Mistake(
                {"A": "sparse", "B": "string", "C": "sparse", "D": "ragged"},
                "A: nearly every point of a photo has some brightness.",
            ),
            Mistake(
                {"A": "dense", "B": "string", "C": "string", "D": "ragged"},
                "C: not the words are stored, but a 1 or a 0 for each word.",
            ),
            Mistake(
                {"A": "dense", "B": "string", "C": "ragged", "D": "ragged"},
                "C: every letter has an entry for each of the 100,000 words. What are nearly all of them?",
            ),
            Mistake(
                {"A": "dense", "B": "string", "C": "sparse", "D": "dense"},
                "D: a rectangle would need as many children for everybody.",
            ),
        ],
        hint="Text: string. Rows of different lengths: ragged. Mostly zeros: sparse. Otherwise: dense.",
        because="A photo is a full rectangle, names are text, C is nearly all zeros, D has rows of different lengths.",
    ),
    Exercise(
        "appendix.6",
        expect=_pass,
        cases=[([1.0, 2.0, 3.0], [0.0, 1.0]), ([0.5, 1.0, 1.5], [1.0, -2.0]), ([0.0, -1.0], [2.0, 0.0, 0.5])],
        mistakes=[
            Mistake(lambda xs, ys: _pass(xs, ys).T, "Rows and columns are swapped: y belongs to the rows."),
            Mistake(lambda xs, ys: -_pass(xs, ys), "The sign: the ground rises with x, and falls with y."),
            Mistake(raises, "If the shapes did not fit: make a column of y, y[:, tf.newaxis], before you subtract."),
            Mistake(lambda xs, ys: _pass(xs, [0.0] * len(ys)), "y is missing: subtract y * y."),
        ],
        hint="x * x has the shape (columns,). What must be the shape of y * y, so that the two broadcast to a table?",
        because="(columns,) and (rows, 1) broadcast to (rows, columns).",
    ),
)
