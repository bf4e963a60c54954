"""What a wrong answer says of itself: told from it and from the right one alone, so it holds for every exercise."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..common.texts import say
from .compare import MANY, Box, as_array, as_truth, compare, kind
from .exercise import Answer, Named, Program

EXACT = 1e-4
NEARLY = 0.01
SAME_RATE = 1e-3


def in_common(given: Sequence[Answer], expected: Sequence[Answer]) -> str:
    """One sentence on all results of a function, in its cases; "" where they have nothing in common.

    >>> in_common([-6.0, -12.0], [6.0, 12.0])
    'The sign is wrong, in each case.'
    >>> in_common([7.0, 7.0], [6.0, 12.0])
    'It is the same in each case. What should it depend on?'
    >>> in_common([3.0, 6.0], [6.0, 12.0]), in_common([6.0, 1.0], [6.0, 12.0])
    ('It is 0.5 times what it should be, in each case.', '')
    >>> in_common([1.001, 2.002], [1.0, 2.0]), in_common([1.00005, 2.0], [1.0, 2.0])  # nearly right
    ('', '')
    """
    given, expected = [*map(content_of, given)], [*map(content_of, expected)]
    a, b = all_numbers(given), all_numbers(expected)
    if a is None or b is None or a.shape != b.shape:
        return ""
    if len(given) > 1 and all(np.array_equal(one, given[0]) for one in given) and not np.allclose(b, b[0]):
        return say("It is the same in each case. What should it depend on?")
    factor = a @ b / (b @ b) if b.any() else 0.0
    if np.allclose(a, factor * b, EXACT, EXACT) and len(b) > 1 and abs(factor) > SAME_RATE and f"{factor:.3g}" != "1":
        if round(factor, 3) == -1:
            return say("The sign is wrong, in each case.")
        return say("It is {factor} times what it should be, in each case.", factor=f"{factor:.3g}")
    return ""


def content_of(result: Answer) -> Answer:
    """The one part that a result is compared by, such as what a variable holds; any other result as it is."""
    return next(iter(result.values())) if isinstance(result, Box) else as_array(result)


def rearranged(given: Answer, expected: Answer) -> str:
    """That the right parts come in the reverse order, or none in its place; "" where two of them are alike, or another
    sign says the same.

    >>> rearranged([4.0, None], [None, 4.0]), rearranged([2.0, -2.0], [-2.0, 2.0])
    ('The right results, in the reverse order.', '')
    >>> rearranged([3.0, None, 4.0], [None, 4.0, 3.0])
    'The right results, in another order.'
    """
    given, right = (one.tolist() if isinstance(one, np.ndarray) else one for one in map(content_of, (given, expected)))
    if any(not isinstance(one, (list, tuple)) or len(one) < 2 for one in (given, right)):
        return ""
    if len(given) != len(right) or _same(given, right):
        return ""
    if any(_same(one, other) for one, other in combinations(right, 2)):
        return ""
    if not _same(given[::-1], right):
        found = all(any(_same(one, other) for other in given) for one in right)
        return say("The right results, in another order.") if found else ""
    numbers = all_numbers([given, right])
    turned = numbers is None or numbers.reshape(2, -1).sum(axis=0).any()
    return say("The right results, in the reverse order.") if turned else ""


def of_one_part(given: Answer, expected: Answer, same: Program) -> str:
    """Which places of a list are wrong that is right in others; "" where it is no list of numbers, or all wrong."""
    places, wanted = (
        {str(k): part for k, part in enumerate(one, 1)} if isinstance(one, (list, tuple)) else parts_of(one)
        for one in map(content_of, (given, expected))
    )
    wrong = [place for place in wanted if place not in places or not same(places[place], wanted[place])]
    if not 0 < len(wrong) < len(wanted) or set(places) != set(wanted) or any("," in place for place in wanted):
        return ""
    return say("Wrong in this case: place {places}, counted from 1. The rest is right.", places=", ".join(wrong))


def of_value(given: Answer, expected: Answer) -> str:
    """One sentence on a wrong value, or on the first of its parts of which there is something to say; "" where there
    is nothing.

    >>> of_value(-12.0, 12.0), of_value({"A": 3.0, "B": 0.0}, {"A": 3.0, "B": None})
    ('The size is right, and the sign is not.', 'B: None and 0 are not the same. Which of the two is it here?')
    >>> of_value({"A": "dens", "B": "ragged"}, {"A": "dense", "B": "ragged"})
    'Only one part is not right: A.'
    """
    places, wanted = parts_of(given), parts_of(expected)
    if not places or not wanted or set(places) != set(wanted):
        return ""
    places = {place: as_truth(part, wanted[place]) for place, part in places.items()}
    wrong = {place: (places[place], wanted[place]) for place in wanted if not _same(places[place], wanted[place])}
    if (
        len(wrong) > 1
        and not any("," in place for place in wrong)
        and (told := rearranged([*places.values()], [*wanted.values()]))
    ):
        return told
    for place, pair in wrong.items():
        text = place and isinstance(pair[0], str) and kind(pair[1]) == kind(0)
        row = isinstance(pair[1], int) and ("," in place or place == "line")  # a name, and none is too large
        if told := say("A number is asked for.") if text else _of_one(*pair, row):
            return say("{place}: {told}", place=named(place), told=told) if place else told
    only = len(wrong) == 1 < len(wanted) and not isinstance(wanted[next(iter(wrong))], bool)
    return say("Only one part is not right: {place}.", place=named(next(iter(wrong)))) if only else ""


def named(place: str) -> str:
    """A place as it is said: a key of several words in quotes."""
    return repr(place) if " " in place and "," not in place else place


def of_collection(given: Answer, expected: Answer) -> str:
    """What is too much in a list in which the order does not matter, or that something is missing.

    >>> of_collection([2, 5, 7], [5, 6, 7]), of_collection(["w2"], ["w2", "z"])
    ('2 does not belong in the list.', 'Something is missing in the list.')
    """
    if not isinstance(given, (list, tuple)):
        return say("The answer is a list: write it in square brackets.")
    added = [one for one in given if not any(_same(one, right) for right in expected)]
    if added and kind(added[0]) != kind(expected[0]):
        return say("Is it words that are asked for, each in quotes, or numbers?")
    if added:
        part = added[0].removesuffix(":0") if isinstance(added[0], str) else added[0]
        return say("{part} does not belong in the list.", part=repr(part))
    return say("Something is missing in the list.") if len(given) < len(expected) else ""


def parts_of(answer: Answer, place: str = "") -> Named:
    """The single parts of an answer by their places, which are keys or counted from 1.

    >>> parts_of({"A": [1.0, None], "B": 2}), parts_of(3.0)
    ({'A, 1': 1.0, 'A, 2': None, 'B': 2}, {'': 3.0})
    """
    answer = as_array(answer)
    answer = answer.tolist() if isinstance(answer, np.ndarray) and answer.size <= MANY else answer
    if isinstance(answer, (list, tuple)) and len(answer) <= MANY:
        answer = dict(enumerate(answer, 1))
    if not isinstance(answer, dict) or len(answer) > MANY:
        return {place: answer}
    found: Named = {}
    for key, part in answer.items():
        found |= parts_of(part, f"{place}, {key}" if place else str(key))
    return found


def _same(one: Answer, other: Answer) -> bool:
    return compare(one, other, EXACT, EXACT).right


def _of_one(given: Answer, expected: Answer, row: bool) -> str:
    """What to say of a single wrong part."""
    if given is None or expected is None:
        number = expected if given is None else given
        if isinstance(number, (bool, str)) or kind(number) != kind(0):
            return ""
        if given is None and isinstance(expected, int):
            return say("A number is asked for.")
        if not float(number):
            return say("None and 0 are not the same. Which of the two is it here?")
        if given is None:
            return say("None says: not watched, or no path. Is it one of the two?")
        if np.isnan(float(given)):
            return ""
        return say("A number says: watched, and a path to the target. Is it both?")
    if isinstance(expected, (str, bool)) or isinstance(given, (str, bool)):
        asked = isinstance(expected, bool) and not isinstance(given, (bool, np.bool_))
        return say("The answer is True or False.") if asked else ""
    if row or kind(given) != kind(0) or kind(expected) != kind(0) or isinstance(given, complex):
        return ""
    return _of_number(float(given), float(expected), isinstance(expected, int))


def _of_number(given: float, expected: float, counted: bool) -> str:
    if np.isnan(given) or np.isinf(given):
        return ""
    if expected and np.isclose(given, -expected, EXACT):
        return say("The size is right, and the sign is not.")
    if not counted and np.isclose(given, expected, NEARLY):
        return say("That is nearly the number. Was it measured, or rounded? The exact one is asked for.")
    if given * expected < 0:
        return say("The sign is not right.")
    return say("That is too large.") if given > expected else say("That is too small.")


def returns_in_loop(source: str) -> bool:
    """Whether a loop ends in its first iteration, by a return that no condition is before, and no `continue`.

    >>> returns_in_loop("def f(n):\\n    for k in range(n):\\n        n = n * k\\n        return n")
    True
    """
    loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.For, ast.While))]
    return any(
        isinstance(line, ast.Return) and not any(isinstance(node, ast.Continue) for node in ast.walk(loop))
        for loop in loops
        for line in loop.body
    )


def all_numbers(results: Sequence[Answer]) -> np.ndarray | None:
    """All numbers of some results in a row; None where there is anything else."""
    try:
        parts = [part for result in results for part in (result if isinstance(result, (list, tuple)) else [result])]
        if any(np.asarray(part).dtype.kind == "U" for part in parts):  # texts of numbers are no numbers
            return None
        flat = np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in parts])
    except (TypeError, ValueError):
        return None
    return flat if np.isfinite(flat).all() else None
