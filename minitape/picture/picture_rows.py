"""The rows that a reader reads (:mod:`minitape.picture.reader`), and what they have in common."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from operator import attrgetter
from types import CodeType
from typing import TYPE_CHECKING, Literal, NamedTuple

from .readable_formulas import format_readable_formula
from .shown_values import unpack_value

if TYPE_CHECKING:
    from ..engine.table.primitives import Primitive
    from ..engine.types import Returned
    from .snapshot_types import PackedValue, RowFields


class PictureRow:
    """One row as it was read. ``form`` is what it has in common with other rows of its kind and place.

    ``first_input`` and ``second_input`` are the rows of its inputs (``second_input`` is -1 where there is one), or
    ``first_input`` is a tuple of them and ``second_input`` None: a long tape has hundreds of thousands of rows, and a
    tuple for each would keep the garbage collector busy.
    """

    __slots__ = ("row", "form", "first_input", "second_input", "value", "own_fields")

    def __init__(
        self,
        row: int,
        form: RowFields,
        first_input: int | Sequence[int],
        second_input: int | None,
        value: PackedValue,
        own_fields: RowFields | None = None,
    ) -> None:
        self.row, self.form, self.first_input, self.second_input, self.value, self.own_fields = (
            row,
            form,
            first_input,
            second_input,
            value,
            own_fields,
        )

    @property
    def inputs(self) -> list[int]:
        """The rows of its inputs."""
        if not isinstance(self.first_input, int):
            return list(self.first_input)
        return (
            [self.first_input]
            if self.second_input is None or self.second_input < 0
            else [self.first_input, self.second_input]
        )

    def to_row_fields(self) -> RowFields:
        """Return the ROW of a snapshot."""
        shared_fields: RowFields = {"row": self.row, "call": self.row, **self.form}
        return {**shared_fields, "inputs": self.inputs, "value": unpack_value(self.value), **(self.own_fields or {})}

    def get_field(self, field: Literal["name", "kind"]) -> str | None:
        """Return one field of the row."""
        return self.own_fields[field] if self.own_fields is not None and field in self.own_fields else self.form[field]

    def update_fields(self, part: RowFields) -> None:
        """Give fields other values."""
        self.own_fields = {**(self.own_fields or {}), **part}


class RowContext(NamedTuple):
    """What holds for a stretch of rows, up to (not including) ``end``."""

    end: int
    place: tuple[CodeType, int | None] | None
    writer: int | None
    scope: tuple[str, ...]
    recording_tapes: int  # bits of the tapes that record
    is_paused: bool  # after one did
    forms: dict[Hashable, RowFields]


get_row_number = attrgetter("row")
LABELS = {"negative": "neg", "pow": "xʸ", "identity": "copy"}  # apart from those of a subtraction and an exclusive or


def build_formula_fields(texts: Sequence[str], operand_names: Mapping[str, str] | None = None) -> RowFields:
    """Return the fields with the formula and the rules of an operation, for a browser and for a person.

    They may have other names of x and y, or numbers in their place.
    """

    def substitute_operands(text: str, number_format: str) -> str:
        def find_operand(match: re.Match[str]) -> str:
            operand = (operand_names or {}).get(match[0], match[0])
            return operand if operand.isalpha() else number_format.format(operand)

        return re.sub(r"(?<![a-z])[xy](?![a-z])", find_operand, text)

    formula, *rule = [substitute_operands(text, "({})") if text != "-" else "" for text in texts] or [""]
    readable_texts = [
        substitute_operands(format_readable_formula(text), "{}").replace("-", "−") if text != "-" else ""
        for text in texts
    ]
    return {"formula": formula, "rule": rule, "said": readable_texts}


def build_primitive_fields(primitive: Primitive) -> RowFields:
    """Return what a row of this primitive says about it."""
    cut = None
    if primitive.name == "stop_gradient":
        cut = "stop_gradient"
    elif primitive.rules is None:
        cut = "no_gradient_registered" if primitive.missing == "unregistered" else "nondifferentiable"
    elif primitive.is_flat:
        cut = "nondifferentiable"
    return {
        "op": primitive.name,
        "label": LABELS.get(primitive.name, primitive.label),
        "kind": "operation",
        "name": None,
        "version": 0,
        "cut": cut,
        **build_formula_fields(primitive.texts),
    }


def get_start_row(mark: tuple[int, *tuple[object, ...]]) -> int:
    """Return the row from which on a mark holds."""
    return mark[0]


def find_subject_at_row(
    marks: Sequence[tuple[int, Returned, *tuple[object, ...]]], row: int, default: Returned
) -> Returned:
    """Return the subject of the last of these marks that is not after ``row``."""
    index = bisect_right(marks, row, key=get_start_row)
    return marks[index - 1][1] if index else default
