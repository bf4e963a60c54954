"""What a row computes, written with the names of what it reads: `x × sin(x)`, `(p − 1)²`, `∂y/∂a`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .marks import rounded, size_of
from .short import short_name, wide
from .words import word

if TYPE_CHECKING:
    from .fields import Fields

FEW_INPUTS = 4  # of a function, which are named
SIGNS = {sign: f" {sign} " for sign in "×+÷/><≥≤@"}  # between two inputs
SIGNS |= {"-": " − ", "−": " − ", "xʸ": "^", "@ᵀ": " @ ", "ᵀ@": "ᵀ @ ", "ᵀ@ᵀ": "ᵀ @ "}
NESTED = 14  # letters of an expression that is part of another one
POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LONGEST = 60  # letters of a name
_WITH_A_NUMBER = re.compile(r"[\d.e−]+ . x|x( . |\^)[\d.e−]+|x²").fullmatch


def title_of(row: Fields) -> str:
    """The name that a row goes by."""
    if row["kind"] == "operation":
        label = re.sub(r"\d+\.\d{5,}(e[-+]?\d+)?", lambda found: rounded(found[0]), row["label"] or row["op"])
        return f"{row['name']} = {label}" if row["name"] else label
    name = row["name"] or (word("const") if row["kind"] == "constant" else row["label"])
    if row["kind"] == "variable":
        name = name.removesuffix(":0")
    return f"{name} v{row['version']}" if row["version"] else name


class Expressions:
    """The texts of the rows of a recording."""

    def __init__(self, rows: Iterable[Fields]) -> None:
        self.rows = {row["row"]: row for row in rows}
        self.readers = Counter(number for row in self.rows.values() for number in row["inputs"])

    def of(self, row: Fields) -> list[str]:
        """What an operation does to its inputs, in forms from long to short: `(p − 1)²`, `x × ⑦`, `×`."""
        depths = (2, 1, 0) if len(row["inputs"]) < FEW_INPUTS else ()
        return [*dict.fromkeys([*(self._written(row, depth)[0] for depth in depths), title_of({**row, "name": None})])]

    def called(self, number: int, otherwise: str = "") -> str:
        """What the target of a gradient is called: by its name, or by its expression where that is short."""
        row = self.rows.get(number)
        if row is not None and row["name"]:
            return short_name(row["name"], LONGEST)
        text = self.of(row)[0] if row is not None and row["kind"] == "operation" else ""
        return f"({text})" if 0 < wide(text) <= NESTED else otherwise or word("row {row}", row=number)

    def _written(self, row: Fields, depth: int) -> tuple[str, int]:
        """The text of a row's operation, and how tightly it holds: 0 a sum, 1 a product, 2 a power, 3 a name."""
        label = title_of({**row, "name": None})
        parts = [self._operand(number, depth) for number in row["inputs"]]
        if label in SIGNS and len(parts) == 2:
            tight = 0 if label in "+-−><≥≤" else 2 if label == "xʸ" else 1
            power = parts[1][0].removesuffix(".0")
            left = _inside(*parts[0], tight + (tight == 2))
            if label == "xʸ" and power.isdigit():
                return left + power.translate(POWERS), 2
            right = _inside(*parts[1], tight + (label not in "+×"))
            return left + SIGNS[label] + right + "ᵀ" * label.endswith("@ᵀ"), tight
        if len(parts) == 1 and label in ("x²", "neg"):
            return (f"{_inside(*parts[0], 3)}²", 2) if label == "x²" else (f"−{_inside(*parts[0], 2)}", 1)
        said = (row.get("said") or [""])[0]
        if len(parts) == 1 and _WITH_A_NUMBER(said):  # of another framework, which did not record it
            return said.replace("x", _inside(*parts[0], 2)).replace("^2", "²").replace("^3", "³"), 0
        label = "pow" if label == "xʸ" else label
        return (f"{label}({', '.join(text for text, _ in parts)})", 3) if parts else (label, 3)

    def _operand(self, number: int, depth: int) -> tuple[str, int]:
        """An input: its name, a number of the program, its own expression, or the number of its row in a circle."""
        if (one := self.rows.get(number)) is None:
            return circled(number), 3
        if one.get("literal"):
            return size_of(one["value"] or {}, 6), 3
        name = one["name"] or ""
        if name.startswith("∂"):
            return (name, 2) if depth and len(name) <= NESTED else (circled(number), 3)
        if name := name.rpartition("/")[2].removesuffix(":0"):
            return short_name(name, 9), 3
        once = self.readers[number] == 1 and 0 < len(one["inputs"]) < FEW_INPUTS
        if one["kind"] == "operation" and depth and once:
            text, tight = self._written(one, depth - 1)
            if wide(text) <= NESTED:
                return text, tight
        return circled(number), 3


def circled(number: int) -> str:
    """The number of a row, which is no number of the program: in a circle.

    >>> circled(7), circled(53)  # few typefaces have more circles than ten
    ('⑦', '⟨53⟩')
    """
    return chr(0x245F + number) if 0 < number <= 10 else f"⟨{number}⟩"


def _inside(text: str, tight: int, around: int) -> str:
    """An expression with the brackets that it needs where something holds that tightly."""
    return text if tight >= around and not (tight < 3 and around == 3) else f"({text})"
