"""What a row computes, written with the names of what it reads: `x × sin(x)`, `(p − 1)²`, `∂y/∂a`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .picture_texts import translate
from .truncation import measure_width, shorten_name
from .value_display import format_magnitude, round_number_text

if TYPE_CHECKING:
    from .snapshot_types import RowFields

MAX_NAMED_INPUTS = 4  # of a function, which are named
INFIX_SIGNS = {sign: f" {sign} " for sign in "×+÷/><≥≤@"}  # between two inputs
INFIX_SIGNS |= {"-": " − ", "−": " − ", "xʸ": "^", "@ᵀ": " @ ", "ᵀ@": "ᵀ @ ", "ᵀ@ᵀ": "ᵀ @ "}
MAX_NESTED_LETTERS = 14  # letters of an expression that is part of another one
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MAX_NAME_LETTERS = 60  # letters of a name
_match_number_operand = re.compile(r"[\d.e−]+ . x|x( . |\^)[\d.e−]+|x²").fullmatch


def format_row_title(row: RowFields) -> str:
    """Return the name that a row goes by."""
    if row["kind"] == "operation":
        label = re.sub(r"\d+\.\d{5,}(e[-+]?\d+)?", lambda match: round_number_text(match[0]), row["label"] or row["op"])
        return f"{row['name']} = {label}" if row["name"] else label
    name = row["name"] or (translate("const") if row["kind"] == "constant" else row["label"])
    if row["kind"] == "variable":
        name = name.removesuffix(":0")
    return f"{name} v{row['version']}" if row["version"] else name


class Expressions:
    """The texts of the rows of a recording."""

    def __init__(self, rows: Iterable[RowFields]) -> None:
        self.rows_by_number = {row["row"]: row for row in rows}
        self.consumer_counts = Counter(number for row in self.rows_by_number.values() for number in row["inputs"])

    def list_texts_longest_first(self, row: RowFields) -> list[str]:
        """Return what an operation does to its inputs, in forms from long to short: `(p − 1)²`, `x × ⑦`, `×`."""
        depths = (2, 1, 0) if len(row["inputs"]) < MAX_NAMED_INPUTS else ()
        return [
            *dict.fromkeys(
                [
                    *(self._format_operation_with_precedence(row, depth)[0] for depth in depths),
                    format_row_title({**row, "name": None}),
                ]
            )
        ]

    def format_target_name(self, row_number: int, fallback: str = "") -> str:
        """Return what the target of a gradient is called: by its name, or by its expression where that is short."""
        row = self.rows_by_number.get(row_number)
        if row is not None and row["name"]:
            return shorten_name(row["name"], MAX_NAME_LETTERS)
        text = self.list_texts_longest_first(row)[0] if row is not None and row["kind"] == "operation" else ""
        return (
            f"({text})"
            if 0 < measure_width(text) <= MAX_NESTED_LETTERS
            else fallback or translate("row {row}", row=row_number)
        )

    def _format_operation_with_precedence(self, row: RowFields, depth: int) -> tuple[str, int]:
        """Return the text of a row's operation, and how tightly it binds: 0 a sum, 1 a product, 2 a power, 3 a name."""
        label = format_row_title({**row, "name": None})
        parts = [self._format_operand_with_precedence(input_row, depth) for input_row in row["inputs"]]
        if label in INFIX_SIGNS and len(parts) == 2:
            precedence = 0 if label in "+-−><≥≤" else 2 if label == "xʸ" else 1
            exponent = parts[1][0].removesuffix(".0")
            left_text = _add_needed_brackets(*parts[0], precedence + (precedence == 2))
            if label == "xʸ" and exponent.isdigit():
                return left_text + exponent.translate(SUPERSCRIPTS), 2
            right_text = _add_needed_brackets(*parts[1], precedence + (label not in "+×"))
            return left_text + INFIX_SIGNS[label] + right_text + "ᵀ" * label.endswith("@ᵀ"), precedence
        if len(parts) == 1 and label in ("x²", "neg"):
            return (
                (f"{_add_needed_brackets(*parts[0], 3)}²", 2)
                if label == "x²"
                else (f"−{_add_needed_brackets(*parts[0], 2)}", 1)
            )
        formula = (row.get("said") or [""])[0]
        if len(parts) == 1 and _match_number_operand(formula):  # of another framework, which did not record it
            return formula.replace("x", _add_needed_brackets(*parts[0], 2)).replace("^2", "²").replace("^3", "³"), 0
        label = "pow" if label == "xʸ" else label
        return (f"{label}({', '.join(text for text, _ in parts)})", 3) if parts else (label, 3)

    def _format_operand_with_precedence(self, row_number: int, depth: int) -> tuple[str, int]:
        """Return an input: its name, a number of the program, its expression, or the circled number of its row."""
        if (row := self.rows_by_number.get(row_number)) is None:
            return format_circled_row_number(row_number), 3
        if row.get("literal"):
            return format_magnitude(row["value"] or {}, 6), 3
        name = row["name"] or ""
        if name.startswith("∂"):
            return (
                (name, 2) if depth and len(name) <= MAX_NESTED_LETTERS else (format_circled_row_number(row_number), 3)
            )
        if name := name.rpartition("/")[2].removesuffix(":0"):
            return shorten_name(name, 9), 3
        is_used_once = self.consumer_counts[row_number] == 1 and 0 < len(row["inputs"]) < MAX_NAMED_INPUTS
        if row["kind"] == "operation" and depth and is_used_once:
            text, precedence = self._format_operation_with_precedence(row, depth - 1)
            if measure_width(text) <= MAX_NESTED_LETTERS:
                return text, precedence
        return format_circled_row_number(row_number), 3


def format_circled_row_number(row_number: int) -> str:
    """Return the number of a row, which is no number of the program: in a circle.

    >>> format_circled_row_number(7), format_circled_row_number(53)  # few typefaces have more circles than ten
    ('⑦', '⟨53⟩')
    """
    return chr(0x245F + row_number) if 0 < row_number <= 10 else f"⟨{row_number}⟩"


def _add_needed_brackets(text: str, precedence: int, outer_precedence: int) -> str:
    """Return an expression with the brackets that it needs inside of an operation that binds this tightly."""
    return text if precedence >= outer_precedence and not (precedence < 3 and outer_precedence == 3) else f"({text})"
