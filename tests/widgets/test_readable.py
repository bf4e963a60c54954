"""Rules as readers see them: what guards against 0 and infinity in the table of primitives reaches no reader."""

import re

import numpy as np
import pytest

from minitape.engine.table.primitives.elementwise import BY_CODE
from minitape.picture.readable import readable

NAMES = (
    "x y z g if else and floor ceil round trunc mod remainder maximum minimum atan2 exp expm1 log log1p sin cos tan "
    "asin acos atan sinh cosh tanh asinh acosh atanh sign sigmoid"
)


@pytest.mark.parametrize("primitive", BY_CODE, ids=lambda primitive: primitive.name)
def test_no_name_of_the_table_reaches_a_reader(primitive):
    said = [readable(text) for text in primitive.texts if text != "-"]
    assert set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", " ".join(said))) <= set(NAMES.split()) and not any(
        "*" in text for text in said
    )


AS_IN_A_BOOK = {
    "g * (-x / y / y)": "−g × x / y²", "g * (1 / sqrt(1 - x * x))": "g / √(1 − x²)", "sqrt_share(z, g)": "g / (2 × z)",
    "relu_gate(g, z)": "g if z > 0, else 0", "select(x >= y, 0, g)": "g if x < y, else 0",
    "g * y * pow(x, y - 1)": "g × y × x^(y − 1)", "mul_no_nan(-0.5 * z * z * z, g)": "−0.5 × z³ × g",
    "2 * g * (x - y)": "2 × g × (x − y)", "x - (y - g)": "x − (y − g)", "x - y - g": "x − y − g",
}  # fmt: skip


@pytest.mark.parametrize("text", AS_IN_A_BOOK)
def test_rules_are_written_as_in_a_book(text):
    assert readable(text) == AS_IN_A_BOOK[text]


@pytest.mark.parametrize("text", [text for text in AS_IN_A_BOOK if not re.search("_gate|select", text)])
def test_what_is_written_has_the_same_value(text):
    names = {name: float(k) + 1.5 for k, name in enumerate("xyzg")} | {"sqrt": np.sqrt, "pow": np.power}
    if "1 - x * x" in text:
        names["x"] = 0.5
    given = names | {"sqrt_share": lambda z, g: 0.5 / z * g, "mul_no_nan": lambda x, y: x * y}
    written = readable(text)
    for sign, python in (("−", "-"), ("×", "*"), ("²", "**2"), ("³", "**3"), ("^", "**"), ("√", "sqrt")):
        written = written.replace(sign, python)
    assert eval(written, {}, names) == pytest.approx(eval(text, {}, given))
