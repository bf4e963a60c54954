"""The answers of lesson 02, inside the tape."""

import json
from collections.abc import Sequence
from contextlib import suppress

from ..engine.types import LIST_OR_TUPLE, FloatList, FloatSequence
from .exercise import Answer, Case, Exercise, Mistake, say_from_lesson


def _parse_rows(text: str) -> list[Case]:
    """Parse rows such as "leaf 3.0, multiply 0 0": an operation, and then a leaf's number or the inputs' rows."""
    return [(operation, *map(json.loads, numbers)) for operation, *numbers in map(str.split, text.split(","))]


LISTS: list[Case] = [  # Rows and their values. In exercise 6, a run begins at row 0, 1 and 2 of the first three.
    (_parse_rows("leaf 3.0, multiply 0 0, add 1 0"), [3.0, 9.0, 12.0]),
    (_parse_rows("leaf 2.0, leaf 5.0, add 0 1, multiply 2 0, multiply 3 2"), [2.0, 5.0, 7.0, 14.0, 98.0]),
    (_parse_rows("leaf 2.5, multiply 0 0, leaf 5.0, add 1 2"), [2.5, 6.25, 5.0, 11.25]),
    (_parse_rows("leaf 4.0, add 0 0, multiply 1 1, multiply 0 1"), [4.0, 8.0, 64.0, 32.0]),
]
LEAF_NOT_LEFT_OUT = Mistake(
    named="leaf not left out",
    error="integers or slices, not float|not enough values to unpack|tuple index",
)


def sweep(rows: Sequence[Case], values: FloatSequence, order: Sequence[int] = (), replaced: bool = False) -> FloatList:
    """Compute the adjoints of all rows of a list by hand.

    Args:
        rows: The rows.
        values: Their values.
        order: The order in which the rows are visited. If it is empty, they are visited from the last to the first.
        replaced: Whether a share replaces the sum of the earlier shares, which is wrong.

    Returns:
        The adjoints.

    >>> sweep([("leaf", 3.0), ("multiply", 0, 0)], [3.0, 9.0])
    [6.0, 1.0]
    """
    adjoints = [0.0] * len(rows)
    adjoints[-1] = 1.0
    for row in order or reversed(range(len(rows))):
        operation, *inputs = rows[row]
        for place, other in zip(inputs, reversed(inputs), strict=True) if operation != "leaf" else ():
            amount = adjoints[row] * (values[other] if operation == "multiply" else 1.0)
            adjoints[place] = amount if replaced else adjoints[place] + amount
    return adjoints


def _run_forwards(rows: Sequence[Case], values: FloatSequence, start: int) -> FloatList:
    """Compute how fast each row of a list grows with a leaf, with one sweep for each row after the leaf."""
    return [0.0] * start + [sweep(rows[:end], values)[start] for end in range(start + 1, len(rows) + 1)]


def _find_first_wrong_row(numbers: FloatList, rows: Sequence[Case], values: FloatSequence, *start: int) -> str:
    """Name the first wrong row on the way of a sweep or, from a start, of a run forwards."""
    rights = _run_forwards(rows, values, *start) if start else sweep(rows, values)
    wrong_rows = [row for row, right in enumerate(rights) if numbers[row] != right]
    row = wrong_rows[0 if start else -1]
    return say_from_lesson(
        "02",
        "wrong row of a run" if start else "wrong row of a sweep",
        row=row,
        number=numbers[row],
        right=rights[row],
    )


def _sort_inputs(inputs: Answer) -> Answer:
    """Sort the inputs of each row as the lesson writes them: a sum and a product are the same in either order."""
    if isinstance(inputs, LIST_OR_TUPLE):
        inputs = dict(enumerate(inputs, 1))
    if not isinstance(inputs, dict):
        return inputs
    return {row: _sort_pair_descending(pair) for row, pair in inputs.items()}


def _sort_pair_descending(pair: Answer) -> Answer:
    with suppress(TypeError):  # The pair may not be two numbers.
        return pair if isinstance(pair, (set, frozenset)) else sorted(pair, reverse=True)
    return pair


EXERCISES = (
    Exercise("02.1", expect={1: [0, 0], 2: [1, 0], 3: [2, 1]}, view=_sort_inputs),
    Exercise(
        "02.2",
        expect={"x": 44.0, "u": 10.0, "v": 4.0, "y": 1.0},
        program="""
x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    u = x * x
    v = u + x
    y = v * u
""",
    ),
    Exercise(
        "02.3",
        expect=lambda arrived, x, y: (arrived, -arrived),
        cases=[(1.0, 5.0, 2.0), (-2.0, 3.0, 4.0), (0.5, 0.0, 7.0)],
    ),
    Exercise("02.4", expect={"A": True, "B": True, "C": False, "D": False}),
    Exercise(
        "02.5",
        expect=sweep,
        cases=LISTS,
        order=0,
        mistakes=[LEAF_NOT_LEFT_OUT],
        of_wrong=_find_first_wrong_row,
    ),
    Exercise(
        "02.6",
        expect=_run_forwards,
        cases=[
            *((*case, start) for start, case in enumerate(LISTS[:3])),
            (_parse_rows("leaf 3.0, multiply 0 0, multiply 1 0, add 1 2"), [3.0, 9.0, 27.0, 36.0], 0),
            (*LISTS[1], 0),
        ],
        order=0,
        mistakes=[LEAF_NOT_LEFT_OUT],
        of_wrong=_find_first_wrong_row,
    ),
)
