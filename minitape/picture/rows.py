"""The rows that a reader reads (:mod:`minitape.picture.reading`), and what they have in common."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from operator import attrgetter
from types import CodeType
from typing import TYPE_CHECKING, Literal, NamedTuple

from .readable import readable
from .values import unpack_value

if TYPE_CHECKING:
    from ..engine.table.primitives import Primitive
    from ..engine.types import Made
    from .fields import Fields, Packed


class PictureRow:
    """One row as it was read. ``form`` is what it has in common with other rows of its kind and place.

    ``a`` and ``b`` are the rows of its inputs (``b`` is -1 where there is one), or ``a`` is a tuple of them and ``b``
    None: a long tape has hundreds of thousands of rows, and a tuple for each would keep the garbage collector busy.
    """

    __slots__ = ("row", "form", "a", "b", "value", "own")

    def __init__(
        self, row: int, form: Fields, a: int | Sequence[int], b: int | None, value: Packed, own: Fields | None = None
    ) -> None:
        self.row, self.form, self.a, self.b, self.value, self.own = row, form, a, b, value, own

    @property
    def inputs(self) -> list[int]:
        """The rows of its inputs."""
        if not isinstance(self.a, int):
            return list(self.a)
        return [self.a] if self.b is None or self.b < 0 else [self.a, self.b]

    def full(self) -> Fields:
        """The ROW of a snapshot."""
        common: Fields = {"row": self.row, "call": self.row, **self.form}
        return {**common, "inputs": self.inputs, "value": unpack_value(self.value), **(self.own or {})}

    def get(self, field: Literal["name", "kind"]) -> str | None:
        """One field."""
        return self.own[field] if self.own is not None and field in self.own else self.form[field]

    def change(self, part: Fields) -> None:
        """Gives fields other values."""
        self.own = {**(self.own or {}), **part}


class Around(NamedTuple):
    """What holds for a stretch of rows, up to (not including) ``end``."""

    end: int
    place: tuple[CodeType, int | None] | None
    by: int | None
    scope: tuple[str, ...]
    within: int  # bits of the tapes that record
    outside: bool  # after one did
    forms: dict[Hashable, Fields]


number_of = attrgetter("row")
LABELS = {"negative": "neg", "pow": "xʸ", "identity": "copy"}  # apart from those of a subtraction and an exclusive or


def said_of(texts: Sequence[str], names: Mapping[str, str] | None = None) -> Fields:
    """What the formula and the rules of an operation say, for a browser and for a reader; with other names of x and y,
    or numbers in their place.
    """

    def named(text: str, form: str) -> str:
        def name(found: re.Match[str]) -> str:
            one = (names or {}).get(found[0], found[0])
            return one if one.isalpha() else form.format(one)

        return re.sub(r"(?<![a-z])[xy](?![a-z])", name, text)

    formula, *rule = [named(text, "({})") if text != "-" else "" for text in texts] or [""]
    said = [named(readable(text), "{}").replace("-", "−") if text != "-" else "" for text in texts]
    return {"formula": formula, "rule": rule, "said": said}


def fields_of(primitive: Primitive) -> Fields:
    """What a row of this primitive says about it."""
    cut = None
    if primitive.name == "stop_gradient":
        cut = "stop_gradient"
    elif primitive.rules is None:
        cut = "no_gradient_registered" if primitive.missing == "unregistered" else "nondifferentiable"
    elif primitive.flat:
        cut = "nondifferentiable"
    return {
        "op": primitive.name,
        "label": LABELS.get(primitive.name, primitive.label),
        "kind": "operation",
        "name": None,
        "version": 0,
        "cut": cut,
        **said_of(primitive.texts),
    }


def first_of(mark: tuple[int, *tuple[object, ...]]) -> int:
    """The row from which on a mark holds."""
    return mark[0]


def last_of(marks: Sequence[tuple[int, Made, *tuple[object, ...]]], row: int, default: Made) -> Made:
    """The subject of the last of these marks that is not behind ``row``."""
    at = bisect_right(marks, row, key=first_of)
    return marks[at - 1][1] if at else default
