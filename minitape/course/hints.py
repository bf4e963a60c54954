"""Find hints for any exercise by comparing a wrong answer with the right one."""

import ast
from collections.abc import Sequence
from itertools import combinations, starmap

import numpy as np
from numpy import ndarray

from ..common.syntax import list_nodes
from ..common.translation import say
from ..engine.types import LIST_OR_TUPLE, TextList
from .answer_comparison import (
    MAX_PARTS,
    LabeledValue,
    compare_answers,
    convert_zero_one_to_bool,
    describe_kind,
    to_numpy_value,
)
from .answer_text import format_answer
from .exercise import Answer, NamedValues, Program

EXACT_TOLERANCE = 1e-4
NEAR_TOLERANCE = 0.01
MIN_FACTOR = 1e-3
MAX_SHOWN_LENGTH = 24
MIN_ROUNDED_DIGITS = 2


def describe_common_error(results: Sequence[Answer], expected: Sequence[Answer]) -> str:
    """Describe all results of a function in one sentence, or return "" if they have nothing in common.

    >>> describe_common_error([-6.0, -12.0], [6.0, 12.0])
    'The sign is wrong in each case.'
    >>> describe_common_error([7.0, 7.0], [6.0, 12.0])
    'Your function returns the same answer whatever we pass in. Which input should the answer depend on?'
    >>> describe_common_error([3.0, 6.0], [6.0, 12.0]), describe_common_error([6.0, 1.0], [6.0, 12.0])
    ('In each case, your result is 0.5 times what it should be.', '')
    >>> describe_common_error([1.001, 2.002], [1.0, 2.0]), describe_common_error([1.00005, 2.0], [1.0, 2.0])  # nearly
    ('', '')
    """
    results = [*map(unwrap_labeled_value, results)]
    expected = [*map(unwrap_labeled_value, expected)]
    numbers = flatten_if_all_numbers(results)
    expected_numbers = flatten_if_all_numbers(expected)
    if numbers is None or expected_numbers is None or numbers.shape != expected_numbers.shape:
        return ""
    if (
        len(results) > 1
        and all(np.array_equal(result, results[0]) for result in results)
        and not np.allclose(expected_numbers, expected_numbers[0])
    ):
        return say(
            "Your function returns the same answer whatever we pass in. Which input should the answer depend on?"
        )
    factor = numbers @ expected_numbers / (expected_numbers @ expected_numbers) if expected_numbers.any() else 0.0
    if (
        np.allclose(numbers, factor * expected_numbers, EXACT_TOLERANCE, EXACT_TOLERANCE)
        and len(expected_numbers) > 1
        and abs(factor) > MIN_FACTOR
        and f"{factor:.3g}" != "1"
    ):
        if round(factor, 3) == -1:
            return say("The sign is wrong in each case.")
        return say("In each case, your result is {factor} times what it should be.", factor=f"{factor:.3g}")
    return ""


def unwrap_labeled_value(result: Answer) -> Answer:
    """Return the value that is compared, such as the value inside a variable. Other results are returned unchanged."""
    return next(iter(result.values())) if isinstance(result, LabeledValue) else to_numpy_value(result)


def describe_rearrangement(answer: Answer, expected: Answer) -> str:
    """Say that the right parts are in reverse order, or in a different wrong order.

    Args:
        answer: The answer.
        expected: The expected answer.

    Returns:
        The sentence, or "" if two parts are alike or if a different sign says the same.

    >>> describe_rearrangement([4.0, None], [None, 4.0]), describe_rearrangement([2.0, -2.0], [-2.0, 2.0])
    ('Here, the results are right, but they are in reverse order.', '')
    >>> describe_rearrangement([3.0, None, 4.0], [None, 4.0, 3.0])
    'Here, the results are right, but they are in the wrong order.'
    """
    answer, expected_parts = (
        part.tolist() if isinstance(part, ndarray) else part for part in map(unwrap_labeled_value, (answer, expected))
    )
    if any(not isinstance(part, LIST_OR_TUPLE) or len(part) < 2 for part in (answer, expected_parts)):
        return ""
    if len(answer) != len(expected_parts) or is_same_within_tolerance(answer, expected_parts):
        return ""
    if any(starmap(is_same_within_tolerance, combinations(expected_parts, 2))):
        return ""
    if not is_same_within_tolerance(answer[::-1], expected_parts):
        is_permutation = all(
            any(is_same_within_tolerance(part, other_part) for other_part in answer) for part in expected_parts
        )
        return say("Here, the results are right, but they are in the wrong order.") if is_permutation else ""
    numbers = flatten_if_all_numbers([answer, expected_parts])
    is_reversed = numbers is None or numbers.reshape(2, -1).sum(axis=0).any()
    return say("Here, the results are right, but they are in reverse order.") if is_reversed else ""


def describe_wrong_places(answer: Answer, expected: Answer, is_same: Program) -> str:
    """Say which places of a partly right list are wrong, or return "" if it has no numbers or is all wrong."""
    parts_by_place, expected_parts = (
        {str(number): part for number, part in enumerate(collection, 1)}
        if isinstance(collection, LIST_OR_TUPLE)
        else map_places_to_parts(collection)
        for collection in map(unwrap_labeled_value, (answer, expected))
    )
    wrong_places = list_wrong_places(parts_by_place, expected_parts, is_same)
    if (
        not 0 < len(wrong_places) < len(expected_parts)
        or set(parts_by_place) != set(expected_parts)
        or any("," in place for place in expected_parts)
    ):
        return ""
    place = wrong_places[0]
    ordinals = [say("first"), say("second"), say("third"), say("fourth"), say("fifth"), say("sixth"), say("seventh")]
    name = dict(zip("1234567", ordinals, strict=True)).get(place, place)
    if len(wrong_places) > 1:
        return say(
            "{right} of {of} values are right. Look at the {place} value first.",
            right=len(expected_parts) - len(wrong_places),
            of=len(expected_parts),
            place=name,
        )
    given, wanted = (format_answer(parts[place]) for parts in (parts_by_place, expected_parts))
    if max(len(given), len(wanted)) > MAX_SHOWN_LENGTH:
        return ""  # The exercise's question says more than the place of a long value.
    return say(
        "In this case, only the {place} value is off. It's {given}, but it should be {wanted}.",
        place=name,
        given=given,
        wanted=wanted,
    )


def describe_wrong_value(answer: Answer, expected: Answer) -> str:
    """Describe a wrong value, or the first of its parts that a sentence fits.

    Args:
        answer: The answer.
        expected: The expected answer.

    Returns:
        One sentence, or "" if there is nothing to say.

    >>> describe_wrong_value(-12.0, 12.0), describe_wrong_value({"A": 3.0, "B": 0.0}, {"A": 3.0, "B": None})
    ('The size is right, but the sign is wrong.', 'B: None and 0 are not the same. Which of the two is right here?')
    >>> describe_wrong_value({"A": "dens", "B": "ragged"}, {"A": "dense", "B": "ragged"})
    'Only one part is wrong: A.'
    """
    parts_by_place = map_places_to_parts(answer)
    expected_parts = map_places_to_parts(expected)
    if not parts_by_place or set(parts_by_place) != set(expected_parts):
        return ""
    parts_by_place = {
        place: convert_zero_one_to_bool(part, expected_parts[place]) for place, part in parts_by_place.items()
    }
    wrong_places = list_wrong_places(parts_by_place, expected_parts, is_same_within_tolerance)
    if (
        len(wrong_places) > 1
        and not any("," in place for place in wrong_places)
        and (hint := describe_rearrangement([*parts_by_place.values()], [*expected_parts.values()]))
    ):
        return hint
    for place in wrong_places:
        part, expected_part = parts_by_place[place], expected_parts[place]
        needs_number = place and isinstance(part, str) and describe_kind(expected_part) == describe_kind(0)
        # A row number is a name, so none is too large.
        is_row_number = isinstance(expected_part, int) and ("," in place or place == "line")
        if (
            hint := say("The answer must be a number.")
            if needs_number
            else _describe_mistake_in_part(part, expected_part, is_row_number)
        ):
            return add_place(place, hint)
    if len(wrong_places) != 1 or len(expected_parts) == 1 or isinstance(expected_part, bool):
        return ""
    return say("Only one part is wrong: {place}.", place=_describe_place(place.partition(",")[0]))


def describe_rounding(answer: Answer, expected: Answer) -> str:
    """Say that an answer is rounded correctly but has too few digits.

    >>> describe_rounding([2.386, -1.0], [2.3862944, -1.0]), describe_rounding([2.3, -1.0], [2.3862944, -1.0])
    ('You rounded correctly. Now give more digits.', '')

    Args:
        answer: The answer.
        expected: The expected answer.

    Returns:
        The sentence, or "" if a part is wrong in a different way.
    """
    parts = map_places_to_parts(answer)
    expected_parts = map_places_to_parts(expected)
    if parts.keys() != expected_parts.keys():
        return ""
    for place, part in parts.items():
        if not isinstance(part, (int, float)) or not isinstance(expected_parts[place], (int, float)):
            return ""
        digits = len(f"{float(part)!r}".partition(".")[2])
        if digits < MIN_ROUNDED_DIGITS and float(part) != float(expected_parts[place]):
            return ""
        if round(float(expected_parts[place]), digits) != float(part):
            return ""
    return say("You rounded correctly. Now give more digits.")


def add_place(place: str, told: str) -> str:
    """Put a place in front of what is said about it. An answer without parts has no place.

    >>> add_place("2", "wrong"), add_place("A, 2", "wrong"), add_place("", "wrong")
    ('item 2: wrong', 'A, item 2: wrong', 'wrong')

    Args:
        place: The place, a key or a position counted from 1, or "".
        told: What is said about it.

    Returns:
        The sentence.
    """
    return say("{place}: {told}", place=_describe_place(place), told=told) if place else told


def _describe_place(place: str) -> str:
    """Return a place as a sentence shows it. A position is called an item, and a key of several words is quoted."""
    outer_place, _, number = place.rpartition(", ")
    if number.isdigit() and outer_place:
        return say("{place}, item {number}", place=outer_place, number=number)
    if number.isdigit():
        return say("item {number}", number=number)
    return repr(place) if " " in place and "," not in place else place


def describe_extra_or_missing_element(answer: Answer, expected: Answer) -> str:
    """Say what does not belong in a list whose order does not matter, or that something is missing from it.

    >>> describe_extra_or_missing_element([2, 5, 7], [5, 6, 7]), describe_extra_or_missing_element(["w2"], ["w2", "z"])
    ('2 does not belong in the list.', 'Something is missing from the list.')
    """
    if not isinstance(answer, LIST_OR_TUPLE):
        return say("The answer is a list, so write it in square brackets.")
    extra_parts = [
        candidate
        for candidate in answer
        if not any(is_same_within_tolerance(candidate, expected_part) for expected_part in expected)
    ]
    if extra_parts and describe_kind(extra_parts[0]) != describe_kind(expected[0]):
        return say("Should the list contain words (each in quotes) or numbers?")
    if extra_parts:
        part = extra_parts[0].removesuffix(":0") if isinstance(extra_parts[0], str) else extra_parts[0]
        return say("{part} does not belong in the list.", part=repr(part))
    return say("Something is missing from the list.") if len(answer) < len(expected) else ""


def map_places_to_parts(answer: Answer, outer_place: str = "") -> NamedValues:
    """Map each place in an answer, a key or a position counted from 1, to the part at that place.

    >>> map_places_to_parts({"A": [1.0, None], "B": 2}), map_places_to_parts(3.0)
    ({'A, 1': 1.0, 'A, 2': None, 'B': 2}, {'': 3.0})
    """
    answer = to_numpy_value(answer)
    answer = answer.tolist() if isinstance(answer, ndarray) and answer.size <= MAX_PARTS else answer
    if isinstance(answer, LIST_OR_TUPLE) and len(answer) <= MAX_PARTS:
        answer = dict(enumerate(answer, 1))
    if not isinstance(answer, dict) or len(answer) > MAX_PARTS:
        return {outer_place: answer}
    parts: NamedValues = {}
    for key, part in answer.items():
        parts |= map_places_to_parts(part, f"{outer_place}, {key}" if outer_place else str(key))
    return parts


def list_wrong_places(parts: NamedValues, expected_parts: NamedValues, is_same: Program) -> TextList:
    """List the places of the expected parts at which an answer has a wrong part or none."""
    return [place for place in expected_parts if place not in parts or not is_same(parts[place], expected_parts[place])]


def is_same_within_tolerance(answer: Answer, expected: Answer) -> bool:
    """Return whether two answers are the same, apart from rounding."""
    return compare_answers(answer, expected, EXACT_TOLERANCE, EXACT_TOLERANCE).is_right


def _describe_mistake_in_part(answer: Answer, expected: Answer, is_row_number: bool) -> str:
    """Describe a single wrong part."""
    if answer is None or expected is None:
        number = expected if answer is None else answer
        if isinstance(number, (bool, str)) or describe_kind(number) != describe_kind(0):
            return ""
        if answer is None and isinstance(expected, int):
            return say("The answer must be a number.")
        if not float(number):
            return say("None and 0 are not the same. Which of the two is right here?")
        if answer is None:
            return say(
                "None means that the source is not watched or that no path leads to the target. Is one of these true "
                "here?"
            )
        if np.isnan(float(answer)):
            return ""
        return say("A number means that the source is watched and that a path leads to the target. Are both true here?")
    if isinstance(expected, (str, bool)) or isinstance(answer, (str, bool)):
        needs_bool = isinstance(expected, bool) and not isinstance(answer, (bool, np.bool_))
        return say("The answer must be True or False.") if needs_bool else ""
    if (
        is_row_number
        or describe_kind(answer) != describe_kind(0)
        or describe_kind(expected) != describe_kind(0)
        or isinstance(answer, complex)
    ):
        return ""
    return _describe_wrong_number(float(answer), float(expected), isinstance(expected, int))


def _describe_wrong_number(number: float, expected: float, is_integer: bool) -> str:
    if not np.isfinite(number):
        return ""
    if expected and np.isclose(number, -expected, EXACT_TOLERANCE):
        return say("The size is right, but the sign is wrong.")
    if not is_integer and np.isclose(number, expected, NEAR_TOLERANCE):
        return say("Your number is very close. Did you measure or round it? The exercise asks for the exact number.")
    if number * expected < 0:
        return say("The sign is wrong.")
    return say("The number is too large.") if number > expected else say("The number is too small.")


def has_unconditional_loop_return(source: str) -> bool:
    r"""Return whether a loop ends in its first iteration, by a return without a condition and without a `continue`.

    Args:
        source: The program.

    >>> has_unconditional_loop_return("def f(n):\n    for k in range(n):\n        n = n * k\n        return n")
    True
    """
    loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.For, ast.While))]
    return any(
        isinstance(statement, ast.Return) and not any(list_nodes(loop, ast.Continue))
        for loop in loops
        for statement in loop.body
    )


def flatten_if_all_numbers(results: Sequence[Answer]) -> ndarray | None:
    """Collect all numbers from some results in one flat array, or return None if there is anything else."""
    try:
        parts = [part for result in results for part in (result if isinstance(result, LIST_OR_TUPLE) else [result])]
        if any(np.asarray(part).dtype.kind == "U" for part in parts):  # A number in quotes does not count as a number.
            return None
        flat = np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in parts])
    except (TypeError, ValueError):
        return None
    return flat if np.isfinite(flat).all() else None
