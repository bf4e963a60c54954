"""Comparing an answer with what was expected: same kind, same shape, exactly, approximately, how far off at most."""

from __future__ import annotations

import ast
import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..common.texts import say

if TYPE_CHECKING:
    from .exercise import Answer

NUMERIC = "biufc"
MANY = 1000
KINDS: dict[Answer, str] = {  # in this order: True is a number, too, and a class is called
    type(None): "None",
    (bool, np.bool_): "True or False",
    (str, bytes): "a text",
    (set, frozenset): "a set",
    Iterator: "a generator, which has not run yet",
    (numbers.Number, np.generic, np.ndarray): "a number",
    Callable: "a function",
}
LETTERS = list("ABCDEFGH")


@dataclass(frozen=True)
class AnswerComparison:
    """How an answer compares: `problem` is set where the two cannot be compared number by number, in which `place` of
    several answers, and whether that is a `single` one.

    `off`: the largest difference. `parts` of a list or dict of several answers: how many of them are right, and how
    many there are. `quoted`: what is in quotes and should not.
    """

    right: bool
    off: float | None = None
    problem: str = ""
    parts: tuple[int, int] | None = None
    quoted: str = ""
    place: str = ""
    single: bool = False


class Box(dict[str, "Answer"]):
    """What a variable or tensor holds, under what it is: it is told as that, and shown with both.

    >>> compare(Box({"a tensor": 6.0}), Box({"a variable": 6.0}), 0.0, 0.0).problem
    'yours is a tensor, not a variable'
    """


def is_blank(answer: Answer) -> bool:
    """Whether an answer still holds the `...` that stands for "your answer here"."""
    if isinstance(answer, dict):
        answer = list(answer.values())
    return answer is ... or (isinstance(answer, (list, tuple)) and any(map(is_blank, answer)))


def compare(given: Answer, expected: Answer, rtol: float, atol: float) -> AnswerComparison:
    """Compare two answers; never raises for anything that a learner can hand in.

    A list is as good as a dictionary, in the order of its keys, and a dictionary of A, B, C as good as a list.
    """
    given = as_asked(given, expected)
    both = isinstance(expected, dict) and isinstance(given, dict)
    if both and set(given) == set(expected):
        parts = [compare(as_truth(given[key], expected[key]), expected[key], rtol, atol) for key in expected]
        return combined(parts, ["" if isinstance(expected, Box) else key for key in expected])
    if both and not isinstance(expected, Box):
        problem = say("expected the keys {keys}, got {given}", keys=_keys(expected), given=_keys(given))
        return AnswerComparison(False, problem=problem)
    if _is_numeric(expected):
        return _compare_numbers(given, expected, rtol, atol)
    if isinstance(expected, (list, tuple)):
        if not isinstance(given, (list, tuple)) or len(given) != len(expected):
            return _of_another_kind(given, expected)
        parts = [compare(a, b, rtol, atol) for a, b in zip(given, expected, strict=True)]
        return combined(parts, [*range(1, len(parts) + 1)])
    if given is expected or (type(given) is type(expected) and given == expected):
        return AnswerComparison(True)
    if isinstance(given, type) and issubclass(given, BaseException):
        given = given.__name__
    if isinstance(given, str) and isinstance(expected, str):
        same = given.strip() == expected if ":" in expected else _plain(given) == _plain(expected)  # a name is exact
        return AnswerComparison(same)
    return AnswerComparison(False) if kind(given) == kind(expected) else _of_another_kind(given, expected)


def as_asked(given: Answer, expected: Answer) -> Answer:
    """A list turned into a dictionary with the expected names, in their order, or a dictionary of A, B, C turned into a
    list; anything else unchanged.

    >>> as_asked([1, 2], {"x": 3, "u": 4}), as_asked({"A": 1, "B": 2}, [3, 4])
    ({'x': 1, 'u': 2}, [1, 2])
    """
    if type(expected) is dict and isinstance(given, (list, tuple)) and len(given) == len(expected):
        return dict(zip(expected, given, strict=True))
    if isinstance(expected, (list, tuple)) and isinstance(given, dict) and len(given) == len(expected):
        letters = LETTERS[: len(expected)]
        return [given[letter] for letter in letters] if set(given) == set(letters) else given
    return given


def as_truth(given: Answer, expected: Answer) -> Answer:
    """A 0 or 1 among several answers, where the answer is True or False."""
    return bool(given) if type(given) is int and given in (0, 1) and isinstance(expected, bool) else given


def _compare_numbers(given: Answer, expected: Answer, rtol: float, atol: float) -> AnswerComparison:
    if (_length(given) > MANY and _length(given) != _length(expected)) or not _is_numeric(given):
        return _of_another_kind(given, expected)  # without a look at each of many
    a, b = np.asarray(as_array(given)), np.asarray(as_array(expected))
    if a.shape != b.shape or (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        return _of_another_kind(given, expected)
    counted = b.dtype.kind in "biu"  # of 20,000,000 things one more is wrong
    near = np.isclose(a.astype(np.complex128), b.astype(np.complex128), 0.0 if counted else rtol, atol, equal_nan=True)
    with np.errstate(invalid="ignore"):
        off = float(np.abs(np.where(near & ~np.isfinite(b), 0.0, a - b.astype(np.complex128))).max(initial=0.0))
    parts = (int(near.sum()), near.size) if isinstance(expected, (list, tuple)) and near.ndim == 1 else None
    return AnswerComparison(bool(near.all()), None if counted and a.dtype.kind in "biu" else off, parts=parts)


def combined(parts: list[AnswerComparison], places: list[Answer]) -> AnswerComparison:
    """Combines comparisons: right if all are, with how many are, the first problem in its place of `places`, and the
    largest difference.
    """
    problems = ((str(place), part) for place, part in zip(places, parts, strict=True) if part.problem)
    place, found = next(problems, ("", AnswerComparison(True)))
    return AnswerComparison(
        all(part.right for part in parts),
        max((part.off for part in parts if part.off is not None), default=None),
        found.problem,
        (sum(part.right for part in parts), len(parts)),
        next((part.quoted for part in parts if part.quoted), ""),
        within(place, found.place),
        found.single,
    )


def within(outer: str, place: str) -> str:
    """A place in one of several answers."""
    return ", ".join(filter(None, (outer, place)))


def in_order(answer: Answer) -> Answer:
    """A list, tuple, set or array as a sorted list, each part once, where any order is right; letters in one text, too.

    >>> in_order({7, 5}), in_order([7, 5, 7]), in_order("BD"), in_order("7, 5")
    ([5, 7], [5, 7], ['B', 'D'], '7, 5')
    """
    if isinstance(answer, str) and set(answer) <= set(LETTERS):
        answer = list(answer)
    answer = as_array(answer)
    if not isinstance(answer, (list, tuple, set, range, np.ndarray)):
        return answer
    parts: list[Answer] = []
    for part in map(as_array, answer):
        plain = part.item() if isinstance(part, (np.generic, np.ndarray)) and part.shape == () else part
        parts += [] if plain in parts else [plain]
    return sorted(parts, key=lambda part: (str(type(part)), part))


def with_zero(names: Answer) -> Answer:
    """Names of variables as TensorFlow writes them, with :0 at the end.

    >>> with_zero(["a", "d:0"])
    ['a:0', 'd:0']
    """
    if not isinstance(names, (list, tuple)):
        return names
    return [f"{name.strip()}:0" if isinstance(name, str) and ":" not in name else name for name in names]


def as_array(value: Answer) -> Answer:
    """A tensor or variable as the NumPy value it holds, a shape as a tuple, a fraction as a number; anything else as it
    is.
    """
    if isinstance(value, (Fraction, Decimal)):
        return float(value)
    as_list = getattr(value, "as_list", None)
    if callable(as_list) and getattr(value, "rank", None) is not None:  # a shape
        return tuple(as_list())
    numpy = getattr(value, "numpy", None)
    return numpy() if callable(numpy) and not isinstance(value, type) else value


def _plain(text: str) -> str:
    """A text in small letters, without what is between its words: `Stop_Gradient` as `stopgradient`."""
    return "".join(text.replace("_", " ").replace("-", " ").casefold().split())


def _is_numeric(value: Answer) -> bool:
    value = as_array(value)
    if isinstance(value, (numbers.Number, np.ndarray, np.generic)):
        return np.asarray(value).dtype.kind in NUMERIC or np.can_cast(np.asarray(value).dtype, np.float64)
    if isinstance(value, (list, tuple)) and value:
        return all(_is_numeric(part) for part in value) and len({shape_of(part) for part in value}) == 1
    return False


def shape_of(value: Answer) -> tuple[int, ...]:
    """The shape of an array, or of lists within lists as that of the first parts."""
    if isinstance(value, (list, tuple)):
        return (len(value), *(shape_of(value[0]) if value else ()))
    return np.shape(as_array(value))


def kind(value: Answer) -> str:
    """What an answer is, in words: "a number", "None", "a list of 3", "a dictionary with the keys 'A', 'B'"."""
    value = as_array(value)
    if isinstance(value, Box):
        return next(iter(value))
    if isinstance(value, dict):
        return say("a dictionary with the keys {keys}", keys=_keys(value)) if value else say("an empty dictionary")
    if isinstance(value, (list, tuple)):
        words = say("a list of {count}") if isinstance(value, list) else say("a tuple of {count}")
        return words.format(count=len(value))
    if isinstance(value, np.ndarray) and value.shape:
        return say("an array of True and False") if value.dtype.kind == "b" else _block(value.shape)
    if isinstance(value, type):
        return say("the class {name}", name=value.__name__)
    named = next((say(KINDS[types]) for types in KINDS if isinstance(value, types)), "")
    return named or say("an object of type {type}", type=type(value).__name__)


def _block(shape: tuple[int, ...]) -> str:
    """An array in words.

    >>> _block((3,)), _block((2, 3))
    ('an array of 3 numbers', 'an array of 2 by 3 numbers')
    """
    if shape == (1,):
        return say("an array of one number")
    return say("an array of {sizes} numbers", sizes=say(" by ").join(map(str, shape)))


def _of_another_kind(given: Answer, expected: Answer) -> AnswerComparison:
    """An answer of another kind than expected, or the first of its parts that is."""
    given, expected = as_array(given), as_array(expected)
    arrays = isinstance(given, np.ndarray) and isinstance(expected, (np.ndarray, tuple))
    if _length(given) == _length(expected) > 0 and not arrays:
        for number, (part, other) in enumerate(zip(given, expected, strict=True), 1):
            if kind(part) != kind(other):
                found = _of_another_kind(part, other)
                return replace(found, place=within(str(number), found.place))
    if isinstance(given, str) and kind(as_written(given)) == kind(expected):
        return AnswerComparison(False, quoted=say("{text} is in quotes: leave them out", text=given))
    wanted = {"kind": kind(expected), "given": kind(given)}
    if wanted["kind"] == wanted["given"] and not isinstance(given, np.ndarray):
        return AnswerComparison(False, problem=say("expected a number, got one that is too large"))
    return AnswerComparison(False, problem=say("yours is {given}, not {kind}", **wanted), single=not _length(expected))


def as_written(text: str) -> Answer:
    """The value of a text that is Python's code, such as None or a list; of any other, the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _length(value: Answer) -> int:
    several = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return len(value) if several else 0


def _keys(answers: dict[Answer, Answer]) -> str:
    return say(", ").join(repr(key) if isinstance(key, (str, int)) else kind(key) for key in answers)[:200] or say(
        "none"
    )
