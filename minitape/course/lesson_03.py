"""The answers of lesson 03, variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .compare import as_array, kind
from .exercise import Exercise, Mistake, raises
from .texts import say

if TYPE_CHECKING:
    from .exercise import Answer


def _of_variable(variable: Answer) -> dict[str, Answer]:
    """What a variable holds, of which dtype, and which shapes it takes."""
    if not hasattr(variable, "assign"):
        raise ValueError(say("it is no variable, so it cannot change. Call tf.Variable"))
    return {"holds": variable.numpy().tolist(), "dtype": variable.dtype.name, "shape": str(variable.shape)}


def _box(value: Answer) -> dict[str, Answer]:
    """Whether a variable was handed in, or a tensor, and what it holds."""
    return {"type": "variable" if hasattr(value, "assign") else kind(value), "holds": as_array(value)}


def _holding(total: Callable[[list[float]], float]) -> Callable[[list[float]], dict[str, Answer]]:
    return lambda numbers: {"type": "variable", "holds": float(total(numbers))}


def _smooth(numbers: list[float], rate: float, start: float | None = None) -> list[float]:
    """A running average after each of the numbers."""
    average = numbers[0] if start is None else start
    seen = []
    for number in numbers:
        average += rate * (number - average)
        seen.append(average)
    return seen


EXERCISES = (
    Exercise(
        "03.1",
        expect={"t": [1, 2], "z": [11, 0]},
        mistakes=[
            Mistake({"t": [11, 0], "z": [11, 0]}, "z is right. But t is a tensor: nothing ever changes a tensor."),
            Mistake(
                {"t": [1, 2], "z": [11, 22]}, "The last line also changes z: it puts 0 in place of the second number."
            ),
            Mistake({"t": [1, 2], "z": [1, 0]}, "assign_add changes the variable itself: afterwards z holds the sums."),
            Mistake({"t": [1, 2], "z": [0, 22]}, "Counting starts with 0: z[1] is the second number."),
        ],
        hint="Follow z line by line: [1, 2], then plus [10, 20], then the second number becomes 0. Does t ever change?",
        because="assign_add and assign change what the variable holds. The tensor t stays as it was made.",
    ),
    Exercise(
        "03.2",
        expect={"A": "works", "B": "ValueError", "C": "TypeError", "D": "TypeError"},
        mistakes=[
            Mistake(
                {"A": "TypeError", "B": "ValueError", "C": "TypeError", "D": "TypeError"},
                "Look at A once more: the whole numbers 3 and 4 can be stored as decimal numbers without loss.",
            ),
            Mistake(
                {"A": "works", "B": "TypeError", "C": "TypeError", "D": "TypeError"},
                "Look at B once more: the kind of number fits, the shape does not.",
            ),
            Mistake(
                {"A": "works", "B": "ValueError", "C": "works", "D": "TypeError"},
                "Look at C once more: the equals sign is not how a variable is changed.",
            ),
            Mistake(
                {"A": "works", "B": "ValueError", "C": "TypeError", "D": "works"},
                "Look at D once more: 1.5 has no place in a variable of integers. Nothing is rounded silently.",
            ),
            Mistake(
                {"A": "works", "B": "works", "C": "TypeError", "D": "TypeError"},
                "Look at B once more: v was made with two numbers and keeps that shape.",
            ),
            Mistake(
                {"A": "works", "B": "ValueError", "C": "AttributeError", "D": "TypeError"},
                "Look at C once more, and at the messages above: what is the error for z[0] = 10?",
            ),
            Mistake(
                {"A": "works", "B": "ValueError", "C": "TypeError", "D": "ValueError"},
                "Look at D once more: the shape fits, the kind of number does not.",
            ),
        ],
        hint="TypeError: the kind does not fit, or the way is wrong. ValueError: the kind fits, the shape does not.",
        because="Whole numbers fit into floats. A wrong shape is a ValueError, a wrong kind or v[0] = ... a TypeError.",
    ),
    Exercise(
        "03.3",
        expect=_holding(sum),
        cases=[([1.0, 2.0, 3.0],), ([0.5, -2.0],), ([4.0],)],
        view=_box,
        mistakes=[
            Mistake(
                lambda numbers: {"type": "a number", "holds": float(sum(numbers))},
                "The sum is right, but it is a tensor by now, and the variable still holds 0. Use total.assign_add(number).",
            ),
            Mistake(
                _holding(lambda numbers: numbers[-1]),
                "assign replaces what is in the box. Use assign_add to add to it.",
            ),
            Mistake(
                _holding(lambda numbers: 0.0),
                "total + number makes a new tensor that nobody keeps. Use total.assign_add(number).",
            ),
            Mistake(_holding(lambda numbers: -sum(numbers)), "assign_sub subtracts. You want to add."),
            Mistake(
                _holding(lambda numbers: numbers[0]),
                "The return stands inside the loop, so the function ends after one number.",
            ),
            Mistake(raises, "It raised an error. If you wrote total += number: call total.assign_add(number) instead."),
        ],
        hint="Inside a loop over the numbers, call total.assign_add(number). After the loop, return total.",
        because="assign_add changes the box, so each step starts from what the last one left.",
    ),
    Exercise(
        "03.4",
        expect={"holds": [1.0, 2.0], "dtype": "float32", "shape": "(None,)"},
        view=_of_variable,
        mistakes=[
            Mistake(
                {"holds": [1.0, 2.0], "dtype": "float32", "shape": "(2,)"},
                "This variable takes two numbers only. Say shape=[None] when you make it.",
            ),
            Mistake(
                {"holds": [1.0, 2.0], "dtype": "float32", "shape": "<unknown>"},
                "This variable takes any shape, also a table. Allow one direction: shape=[None].",
            ),
            Mistake(
                {"holds": [[1.0, 2.0]], "dtype": "float32", "shape": "(None, 2)"},
                "This variable holds a table with two columns. Use one pair of brackets.",
            ),
            Mistake(
                {"holds": 0.0, "dtype": "float32", "shape": "<unknown>"},
                "Start with the two numbers 1.0 and 2.0, and allow one direction: shape=[None].",
            ),
            Mistake(
                {"holds": [1, 2], "dtype": "int32", "shape": "(None,)"},
                "This variable holds integers, and will never take 1.5. Write 1.0 and 2.0.",
            ),
        ],
        hint="tf.Variable takes a first value and a shape. In the shape, None stands for a length that may change.",
        because="shape=[None] is one direction of any length.",
    ),
    Exercise(
        "03.5",
        expect=["d:0"],
        mistakes=[
            Mistake(["a:0", "d:0"], "a is read before the tape is on. What is left in total is a tensor."),
            Mistake(["c:0", "d:0"], "c is read and changed before the tape is on."),
            Mistake(["b:0", "d:0"], "b is read inside the block, but it is not trainable."),
            Mistake(
                ["a:0", "b:0", "c:0", "d:0"], "A variable must be trainable, and it must be read inside the block."
            ),
            Mistake(["d"], "The right variable. TensorFlow writes :0 after the name."),
        ],
        hint="For each variable ask two questions: is it trainable? Is it read while the tape is on?",
        because="Only d is trainable and read while the tape is on.",
    ),
    Exercise(
        "03.6",
        expect=_smooth,
        cases=[([1.0, 3.0, 2.0], 0.5), ([4.0, 0.0, 0.0, 8.0], 0.25), ([2.0, 2.5], 0.1)],
        mistakes=[
            Mistake(
                lambda numbers, rate: _smooth(numbers, rate)[-1:] * len(numbers),
                "All are the last state: you appended the variable itself, the box. Append what it holds, average.numpy().",
            ),
            Mistake(lambda numbers, rate: numbers, "Move a part of the way only: rate * (number - average)."),
            Mistake(
                lambda numbers, rate: numbers[:1] * len(numbers), "average never changed: call assign or assign_add."
            ),
            Mistake(
                lambda numbers, rate: _smooth(numbers, rate, start=0.0),
                "Begin with the first number, as it stands there.",
            ),
        ],
        hint="average.assign_add(rate * (number - average)), and then seen.append(average.numpy()).",
        because="The variable is one box. seen holds what lay in it at each time.",
    ),
)
