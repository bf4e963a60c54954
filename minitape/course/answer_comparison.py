"""Compare an answer with the expected one by kind, shape and value, and measure the largest difference."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ..common.translation import say
from ..engine.types import LIST_OR_TUPLE

if TYPE_CHECKING:
    from ..engine.types import NumberPair, OptionalFloat, Sizes
    from .exercise import Answer, Answers

NUMERIC_KINDS = "biufc"
MAX_PARTS = 1000
KIND_NAMES: dict[Answer, str] = {  # The order matters: True is also a number, and a class can also be called.
    type(None): "None",
    (bool, np.bool_): "True or False",
    (str, bytes): "a string",
    (set, frozenset): "a set",
    Iterator: "a generator that has not run yet",
    (Number, np.generic, ndarray): "a number",
    Callable: "a function",
}
LETTERS = list("ABCDEFGH")


@dataclass(frozen=True)
class AnswerComparison:
    """The outcome of comparing two answers.

    Attributes:
        is_right: Whether they agree.
        max_difference: The largest difference between two numbers.
        problem: Why the two answers cannot be compared number by number, or "" if they can.
        place: The part of several answers that the problem is in.
        is_single: Whether that part is a single answer.
        part_counts: For several answers, the number of right answers and the number of all answers.
        quotes_hint: A hint about what is in quotes but should not be.
    """

    is_right: bool
    max_difference: OptionalFloat = None
    problem: str = ""
    part_counts: NumberPair | None = None
    quotes_hint: str = ""
    place: str = ""
    is_single: bool = False


class LabeledValue(dict[str, "Answer"]):
    """The contents of a variable or tensor, labeled with its kind. Feedback names the kind, and shows both.

    >>> compare_answers(LabeledValue({"a tensor": 6.0}), LabeledValue({"a variable": 6.0}), 0.0, 0.0).problem
    'your answer is a tensor, not a variable'
    """


def has_blank_part(answer: Answer) -> bool:
    """Return whether an answer still contains the `...` that stands for "your answer here"."""
    if isinstance(answer, dict):
        answer = list(answer.values())
    return answer is ... or (isinstance(answer, LIST_OR_TUPLE) and any(map(has_blank_part, answer)))


def compare_answers(answer: Answer, expected: Answer, rtol: float, atol: float) -> AnswerComparison:
    """Compare two answers. This function never raises an error, whatever a learner hands in.

    A list in the order of the keys is accepted in place of a dictionary, and a dictionary with the keys A, B, C in
    place of a list.
    """
    answer = arrange_as_expected(answer, expected)
    are_dicts = isinstance(expected, dict) and isinstance(answer, dict)
    if are_dicts and set(answer) == set(expected):
        parts = [
            compare_answers(convert_zero_one_to_bool(answer[key], expected[key]), expected[key], rtol, atol)
            for key in expected
        ]
        return combine_comparisons(parts, ["" if isinstance(expected, LabeledValue) else key for key in expected])
    if are_dicts and not isinstance(expected, LabeledValue):
        problem = say(
            "expected the keys {keys}, but got {given}", keys=_format_keys(expected), given=_format_keys(answer)
        )
        return AnswerComparison(False, problem=problem)
    if _is_numeric(expected):
        return _compare_numbers(answer, expected, rtol, atol)
    if isinstance(expected, LIST_OR_TUPLE):
        if not isinstance(answer, LIST_OR_TUPLE) or len(answer) != len(expected):
            return _build_mismatch_comparison(answer, expected)
        parts = [
            compare_answers(part, expected_part, rtol, atol)
            for part, expected_part in zip(answer, expected, strict=True)
        ]
        return combine_comparisons(parts, [*range(1, len(parts) + 1)])
    if answer is expected or (type(answer) is type(expected) and answer == expected):
        return AnswerComparison(True)
    if isinstance(answer, type) and issubclass(answer, BaseException):
        answer = answer.__name__
    if isinstance(answer, str) and isinstance(expected, str):
        is_tensor_name = ":" in expected  # Such a name must match exactly.
        is_same_text = (
            answer.strip() == expected if is_tensor_name else _normalize_text(answer) == _normalize_text(expected)
        )
        return AnswerComparison(is_same_text)
    return (
        AnswerComparison(False)
        if describe_kind(answer) == describe_kind(expected)
        else _build_mismatch_comparison(answer, expected)
    )


def arrange_as_expected(answer: Answer, expected: Answer) -> Answer:
    """Arrange a list or a dictionary in the same way as the expected answer.

    Args:
        answer: The answer.
        expected: The expected answer.

    Returns:
        For a list, a dictionary with the expected names. For a dictionary with the keys A, B, C, a list. Anything else
        is returned unchanged.

    >>> arrange_as_expected([1, 2], {"x": 3, "u": 4}), arrange_as_expected({"A": 1, "B": 2}, [3, 4])
    ({'x': 1, 'u': 2}, [1, 2])
    """
    if type(expected) is dict and isinstance(answer, LIST_OR_TUPLE) and len(answer) == len(expected):
        return dict(zip(expected, answer, strict=True))
    if isinstance(expected, LIST_OR_TUPLE) and isinstance(answer, dict) and len(answer) == len(expected):
        letters = LETTERS[: len(expected)]
        return [answer[letter] for letter in letters] if set(answer) == set(letters) else answer
    return answer


def convert_zero_one_to_bool(answer: Answer, expected: Answer) -> Answer:
    """Convert a 0 or 1 into a bool if the expected answer is True or False.

    Args:
        answer: One of several answers.
        expected: The expected answer.

    Returns:
        The bool. Any other answer is returned unchanged.
    """
    return bool(answer) if type(answer) is int and answer in (0, 1) and isinstance(expected, bool) else answer


def _compare_numbers(answer: Answer, expected: Answer, rtol: float, atol: float) -> AnswerComparison:
    if (_count_parts(answer) > MAX_PARTS and _count_parts(answer) != _count_parts(expected)) or not _is_numeric(answer):
        return _build_mismatch_comparison(answer, expected)  # Comparing many parts one by one would take too long.
    values = np.asarray(to_numpy_value(answer))
    expected_values = np.asarray(to_numpy_value(expected))
    if values.shape != expected_values.shape or (values.dtype.kind == "b") != (expected_values.dtype.kind == "b"):
        return _build_mismatch_comparison(answer, expected)
    is_integer = expected_values.dtype.kind in "biu"  # A count must be exact, even if it is large.
    is_close = np.isclose(
        values.astype(np.complex128),
        expected_values.astype(np.complex128),
        0.0 if is_integer else rtol,
        atol,
        equal_nan=True,
    )
    with np.errstate(invalid="ignore"):
        max_difference = float(
            np.abs(
                np.where(is_close & ~np.isfinite(expected_values), 0.0, values - expected_values.astype(np.complex128))
            ).max(initial=0.0)
        )
    part_counts = (
        (int(is_close.sum()), is_close.size) if isinstance(expected, LIST_OR_TUPLE) and is_close.ndim == 1 else None
    )
    return AnswerComparison(
        bool(is_close.all()),
        None if is_integer and values.dtype.kind in "biu" else max_difference,
        part_counts=part_counts,
    )


def combine_comparisons(comparisons: list[AnswerComparison], places: Answers) -> AnswerComparison:
    """Combine the comparisons of several parts.

    Args:
        comparisons: The comparison of each part.
        places: The key or number of each part.

    Returns:
        A comparison that is right if all of them are right, with the first problem and the largest difference.
    """
    problems = (
        (str(place), comparison) for place, comparison in zip(places, comparisons, strict=True) if comparison.problem
    )
    place, first_problem = next(problems, ("", AnswerComparison(True)))
    return AnswerComparison(
        all(comparison.is_right for comparison in comparisons),
        max(
            (comparison.max_difference for comparison in comparisons if comparison.max_difference is not None),
            default=None,
        ),
        first_problem.problem,
        (sum(comparison.is_right for comparison in comparisons), len(comparisons)),
        next((comparison.quotes_hint for comparison in comparisons if comparison.quotes_hint), ""),
        join_places(place, first_problem.place),
        first_problem.is_single,
    )


def join_places(outer_place: str, place: str) -> str:
    """Return the words for a place within an outer place of several answers."""
    return ", ".join(filter(None, (outer_place, place)))


def sort_distinct_parts(answer: Answer) -> Answer:
    """Sort the parts of an answer in which the order does not matter.

    Args:
        answer: A list, tuple, set or array, or a text of letters.

    Returns:
        A sorted list that contains each part once. Any other answer is returned unchanged.

    >>> [sort_distinct_parts(answer) for answer in ({7, 5}, [7, 5, 7], "BD", "7, 5")]
    [[5, 7], [5, 7], ['B', 'D'], '7, 5']
    """
    if isinstance(answer, str) and set(answer) <= set(LETTERS):
        answer = list(answer)
    answer = to_numpy_value(answer)
    if not isinstance(answer, (list, tuple, set, range, ndarray)):
        return answer
    parts = []
    for part in map(to_numpy_value, answer):
        value = part.item() if isinstance(part, (np.generic, ndarray)) and part.shape == () else part
        parts += [] if value in parts else [value]
    return sorted(parts, key=lambda part: (str(type(part)), part))


def append_colon_zero_to_names(names: Answer) -> Answer:
    """Write variable names as TensorFlow does, with :0 at the end.

    >>> append_colon_zero_to_names(["a", "d:0"])
    ['a:0', 'd:0']
    """
    if not isinstance(names, LIST_OR_TUPLE):
        return names
    return [f"{name.strip()}:0" if isinstance(name, str) and ":" not in name else name for name in names]


def to_numpy_value(value: Answer) -> Answer:
    """Convert a tensor or variable into its NumPy value, a shape into a tuple, and a fraction into a number.

    Args:
        value: Any value.

    Returns:
        The converted value. Anything else is returned unchanged.
    """
    if isinstance(value, (Fraction, Decimal)):
        return float(value)
    as_list = getattr(value, "as_list", None)
    if callable(as_list) and getattr(value, "rank", None) is not None:  # The value is a shape.
        return tuple(as_list())
    numpy_method = getattr(value, "numpy", None)
    return numpy_method() if callable(numpy_method) and not isinstance(value, type) else value


def _normalize_text(text: str) -> str:
    """Write a text in lower case, without the characters between its words: `Stop_Gradient` becomes `stopgradient`."""
    return "".join(text.replace("_", " ").replace("-", " ").casefold().split())


def _is_numeric(value: Answer) -> bool:
    value = to_numpy_value(value)
    if isinstance(value, (Number, ndarray, np.generic)):
        return np.asarray(value).dtype.kind in NUMERIC_KINDS or np.can_cast(np.asarray(value).dtype, np.float64)
    if isinstance(value, LIST_OR_TUPLE) and value:
        return all(_is_numeric(part) for part in value) and len({compute_shape(part) for part in value}) == 1
    return False


def compute_shape(value: Answer) -> Sizes:
    """Return the shape of an array. For nested lists, the first part at each level determines the shape."""
    if isinstance(value, LIST_OR_TUPLE):
        return (len(value), *(compute_shape(value[0]) if value else ()))
    return np.shape(to_numpy_value(value))


def describe_kind(value: Answer) -> str:
    """Describe what an answer is: "a number", "None", "a list of 3", "a dictionary with the keys 'A', 'B'".

    >>> describe_kind(np.ones(3)), describe_kind(np.ones((2, 3)))
    ('an array of 3 numbers', 'an array of 2 by 3 numbers')
    """
    value = to_numpy_value(value)
    if isinstance(value, LabeledValue):
        return next(iter(value))
    if isinstance(value, dict):
        return (
            say("a dictionary with the keys {keys}", keys=_format_keys(value)) if value else say("an empty dictionary")
        )
    if isinstance(value, LIST_OR_TUPLE):
        template = say("a list of length {count}") if isinstance(value, list) else say("a tuple of length {count}")
        return template.format(count=len(value))
    if isinstance(value, ndarray) and value.shape:
        sizes = say(" by ").join(map(str, value.shape))
        if value.dtype.kind == "b":
            return say("an array of {sizes} True and False values", sizes=sizes)
        if value.shape == (1,):
            return say("an array of one number")
        return say("an array of {sizes} numbers", sizes=sizes)
    if isinstance(value, type):
        return say("the class {name}", name=value.__name__)
    kind_name = next((say(KIND_NAMES[types]) for types in KIND_NAMES if isinstance(value, types)), "")
    return kind_name or say("an object of type {type}", type=type(value).__name__)


def _build_mismatch_comparison(answer: Answer, expected: Answer) -> AnswerComparison:
    """Build the comparison for an answer of an unexpected kind, or for its first part of an unexpected kind."""
    answer = to_numpy_value(answer)
    expected = to_numpy_value(expected)
    are_arrays = isinstance(answer, ndarray) and isinstance(expected, (ndarray, tuple))
    if _count_parts(answer) == _count_parts(expected) > 0 and not are_arrays:
        for place, (part, expected_part) in enumerate(zip(answer, expected, strict=True), 1):
            if describe_kind(part) != describe_kind(expected_part):
                mismatch = _build_mismatch_comparison(part, expected_part)
                return replace(mismatch, place=join_places(str(place), mismatch.place))
    if isinstance(answer, str) and describe_kind(parse_literal_or_keep_text(answer)) == describe_kind(expected):
        return AnswerComparison(False, quotes_hint=say("remove the quotes around {text}", text=answer))
    kinds = {"kind": describe_kind(expected), "given": describe_kind(answer)}
    if kinds["kind"] == kinds["given"] and not isinstance(answer, ndarray):
        return AnswerComparison(False, problem=say("the number is too large to compare"))
    return AnswerComparison(
        False, problem=say("your answer is {given}, not {kind}", **kinds), is_single=not _count_parts(expected)
    )


def parse_literal_or_keep_text(text: str) -> Answer:
    """Return the value of a text that is Python code, such as None or a list. Return any other text unchanged."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _count_parts(value: Answer) -> int:
    is_sequence = isinstance(value, LIST_OR_TUPLE) or (isinstance(value, ndarray) and value.ndim > 0)
    return len(value) if is_sequence else 0


def _format_keys(answers: dict[Answer, Answer]) -> str:
    return say(", ").join(repr(key) if isinstance(key, (str, int)) else describe_kind(key) for key in answers)[
        :200
    ] or say("none")
