"""Write the table of operations for the browser, which recomputes pictures without Python.

    python -m tests.widgets.make_browser_table            writes widgets/frontend/evaluator/table.json and names.json

The browser derives values, shares and nested gradients from these texts, so a derivative is declared only once, in
:mod:`minitape.engine.table.primitives`. Operations on whole arrays have no formula, because the browser has its own
code for them. The names of minitape's modules are written as well, because a message distinguishes a name that needs
Python from one that does not exist.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NotRequired, TypedDict

import minitape as tf
from minitape.engine.table.primitives import TABLE, Primitive, activation, choice, linear, reduce, shaping  # noqa: F401 - They fill the table.
from minitape.engine.table.primitives.elementwise import BY_CODE, to_recorded_formula
from minitape.picture.picture_rows import ARRAY_OPERATIONS, build_primitive_fields
from minitape.picture.readable_formulas import list_array_operation_formulas

FILE = Path(__file__).parents[2] / "widgets" / "frontend" / "evaluator" / "table.json"
NAMES_FILE = FILE.with_name("names.json")


class BrowserOperation(TypedDict):
    """An operation in the browser's table.

    Attributes:
        label: The operation's label in pictures.
        formula: The formula of the value, or an empty string for an operation on whole arrays.
        rule: The derivative rule of each input.
        said: The formula and the rules in textbook notation.
        recorded: Each rule, written with recorded operations.
        cut: Why no gradient passes, or None if a gradient passes.
        transposed: For ``matmul``, the texts of ``said`` for a transposed first input ("a"), second input ("b") or
            both.
    """

    label: str
    formula: str
    rule: list[str]
    said: list[str]
    recorded: list[str]
    cut: str | None
    transposed: NotRequired[dict[str, list[str]]]


def build_browser_table() -> dict[str, BrowserOperation]:
    """Return the operations by name: first those with formulas, in table order, then those on whole arrays.

    >>> build_browser_table()["sin"]["recorded"]
    ['multiply(g, cos(x))']
    >>> build_browser_table()["matmul"]["transposed"]["b"]
    ['x @ yᵀ', 'g @ y', 'gᵀ @ x']
    """
    table = {primitive.name: _describe_operation(primitive) for primitive in BY_CODE}
    for name in sorted(ARRAY_OPERATIONS):
        table[name] = _describe_operation(TABLE[name])
        table[name]["said"] = list_array_operation_formulas(name, {}, 0)
    table["matmul"]["transposed"] = {
        letters: list_array_operation_formulas("matmul", {f"transpose_{letter}": True for letter in letters}, 2)
        for letters in ("a", "b", "ab")
    }
    return table


def _describe_operation(primitive: Primitive) -> BrowserOperation:
    fields = build_primitive_fields(primitive)
    return {
        "label": fields["label"],
        "formula": fields["formula"],
        "rule": fields["rule"],
        "said": fields["said"],
        "recorded": ["" if text == "-" else to_recorded_formula(text) for text in primitive.texts[1:]],
        "cut": fields["cut"],
    }


def format_browser_table() -> str:
    """Return the text of the file, with one operation per line."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(operation, ensure_ascii=False)}"
        for name, operation in build_browser_table().items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def format_public_names() -> str:
    """Return the text of the file with the public names of each module that a program in the browser can use."""
    modules = {"tf": tf, "tf.math": tf.math, "tf.nn": tf.nn}
    names = {path: " ".join(name for name in dir(module) if name[0] != "_") for path, module in modules.items()}
    return json.dumps(names, indent=2) + "\n"


if __name__ == "__main__":
    NAMES_FILE.write_text(format_public_names(), encoding="utf-8")
    FILE.write_text(format_browser_table(), encoding="utf-8")
