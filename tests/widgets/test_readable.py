"""Rules as readers see them: what guards against 0 and infinity in the table of primitives reaches no reader."""

import math
import re

import numpy as np
import pytest

from minitape.engine.table.primitives import TABLE
from minitape.engine.table.primitives.elementwise import ARRAY
from minitape.picture.readable_formulas import READABLE_FORMULAS, format_readable_formula

TEXTS = sorted({text for primitive in TABLE.values() for text in primitive.texts} - {"-"})
NAMES = (
    "x y z g if else and floor ceil round trunc mod remainder maximum minimum atan2 exp expm1 log log1p sin cos tan "
    "asin acos atan sinh cosh tanh asinh acosh atanh sign sigmoid"
)
PYTHON = {
    r"√(\w+|\([^()]*\))": r"sqrt(\1)", r"\|x\|": "abs(x)", "²": "**2", "³": "**3", r"\^": "**", "×": "*", "−": "-",
    "≥": ">=", "≤": "<=", ", else": " else",
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_no_name_of_the_table_reaches_a_reader(text):
    said = format_readable_formula(text)
    assert set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", said)) <= set(NAMES.split()) and "*" not in said


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_written_has_the_value_of_the_rule(text, sign):
    given: dict[str, float] = {"x": 0.37 * sign, "y": 0.61 * sign, "z": 0.45 * sign, "g": 1.3}
    if re.search("acosh|pow|log|sqrt", text):
        given |= {name: abs(value) + (name == "x") * ("acosh" in text) for name, value in given.items()}
    written = format_readable_formula(text)
    for found, python in PYTHON.items():
        written = re.sub(found, python, written)
    functions = {name: getattr(math, name) for name in vars(math) if name in NAMES.split()} | ARRAY
    functions |= {"round": np.rint, "floor": np.floor, "mod": np.mod, "abs": abs, "div_no_nan": np.divide}
    given = {name: np.float64(value) for name, value in given.items()}
    expected = eval(text, {}, functions | given)
    assert eval(written, {}, functions | given) == pytest.approx(expected, rel=1e-6)


def test_every_line_is_one_of_the_table():
    assert {*READABLE_FORMULAS} <= {*TEXTS}


@pytest.mark.parametrize("text, written", [
    ("g * (-x / y / y)", "−g × x / y²"), ("sqrt_share(z, g)", "g / (2 × z)"), ("relu_gate(g, z)", "g if z > 0, else 0"),
    ("select(x >= y, 0, g)", "g if x < y, else 0"), ("2 * g * (x - y)", "2 × g × (x − y)"),
])  # fmt: skip
def test_rules_are_written_as_in_a_book(text, written):
    assert format_readable_formula(text) == written
