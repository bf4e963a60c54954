"""Formulas and rules of the table of primitives as a book writes them: `x²`, `√x`, `g / (2 × √x)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache

SIGNS: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "−", ast.Gt: ">", ast.GtE: "≥", ast.Lt: "<", ast.LtE: "≤"}
OPPOSITE: dict[type[ast.cmpop], ast.cmpop] = {ast.GtE: ast.Lt(), ast.LtE: ast.Gt()}
POWERS = {1: "", 2: "²", 3: "³"}
# What an operation that guards against 0 or infinity means; of complex numbers the picture itself says the conjugate.
MEANINGS = """
mul_no_nan x * y
sqrt_share y / (2 * x)
relu_gate select(y > 0, x, 0)
zero 0
div_no_nan x / y
floordiv floor(x / y)
rint round(x)
"""
MEANT = dict(line.split(None, 1) for line in MEANINGS.strip().splitlines())
WHOLE = {  # of operations on whole arrays
    "reduce_sum": ["sum(x)", "g"],
    "reduce_mean": ["mean(x)", "g / size(x)"],
    "bias_add": ["x + y", "g", "g"],
    "reshape": ["reshape(x)", "reshape(g)"],
    "transpose": ["xᵀ", "gᵀ"],
    "softmax": ["softmax(x)", "z × (g − Σ g × z)"],
    "log_softmax": ["log_softmax(x)", "g − exp(z) × Σ g"],
    "reduce_max": ["max(x)", "g × (x = z) / count(x = z)"],
    "reduce_min": ["min(x)", "g × (x = z) / count(x = z)"],
}


def of_arrays(name: str, attrs: Mapping[str, object], rank: int) -> list[str]:
    """Formula and rules of an operation on whole arrays whose result has that many axes; [] where no line says them.

    >>> of_arrays("matmul", {"transpose_b": True}, 2)
    ['x @ yᵀ', 'g @ y', 'gᵀ @ x']
    """
    if name == "matmul":
        left, right = attrs.get("transpose_a"), attrs.get("transpose_b")
        x, y = "xᵀ" if left else "x", "yᵀ" if right else "y"
        back = f"{y} @ gᵀ" if left else f"g @ {'y' if right else 'yᵀ'}"
        return [f"{x} @ {y}", back, f"gᵀ @ {x}" if right else f"{'x' if left else 'xᵀ'} @ g"]
    axes = attrs.get("perm", (1, 0)) != (1, 0) or (name == "bias_add" and attrs.get("axis", -1) != -1)
    return [] if axes or (name.startswith("reduce_") and rank) else WHOLE.get(name, [])  # it depends on the axes


@cache
def readable(text: str) -> str:
    """A formula or rule of a primitive for readers.

    >>> [readable(text) for text in ("x * x", "g * (1 - z * z)", "sqrt_share(z, g)", "relu_gate(g, z)", "-x")]
    ['x²', 'g × (1 − z²)', 'g / (2 × z)', 'g if z > 0, else 0', '−x']
    """
    return _written(ast.parse(text, mode="eval").body, 0) if text else ""


def _written(part: ast.expr, around: int) -> str:
    """The text of a part inside of an operation that holds its parts so tightly."""
    if isinstance(part, ast.Name):
        return part.id
    if isinstance(part, ast.Constant):
        return str(part.value)
    if isinstance(part, ast.UnaryOp):
        return _product(part, around) if isinstance(part.operand, ast.BinOp) else f"−{_written(part.operand, 3)}"
    if isinstance(part, ast.Compare):
        return f"{_written(part.left, 1)} {SIGNS[type(part.ops[0])]} {_written(part.comparators[0], 1)}"
    if isinstance(part, ast.Call):
        return _called(part, around)
    assert isinstance(part, ast.BinOp)
    if isinstance(part.op, (ast.Mult, ast.Div)):
        return _product(part, around)
    minus = isinstance(part.op, ast.Sub)
    return _inside(f"{_written(part.left, 1)} {SIGNS[type(part.op)]} {_written(part.right, 1 + minus)}", 1, around)


def _product(part: ast.expr, around: int) -> str:
    """A product with one minus, powers and one fraction."""
    negative, above, below = _factors(part)
    text = _powers([one for one in above if ast.unparse(one) != "1"]) or "1"
    if below:
        divisor = _powers(below)
        text = f"{text} / {f'({divisor})' if ' × ' in divisor else divisor}"
    return _inside("−" * negative + text, 2, around)


def _factors(part: ast.expr) -> tuple[bool, list[ast.expr], list[ast.expr]]:
    """Whether a product is negative, what it multiplies and what it divides by."""
    if isinstance(part, ast.UnaryOp):
        negative, above, below = _factors(part.operand)
        return not negative, above, below
    if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Mult, ast.Div)):
        (one, above, below), (other, up, down) = _factors(part.left), _factors(part.right)
        if isinstance(part.op, ast.Div):
            up, down = down, up
        return one != other, above + up, below + down
    return False, [part], []


def _powers(factors: list[ast.expr]) -> str:
    """Factors with those that are alike as powers."""
    texts: dict[str, int] = {}
    for factor in factors:
        text = _written(factor, 2 if len(factors) == 1 or not isinstance(factor, ast.BinOp) else 3)
        texts[text] = texts.get(text, 0) + 1
    return " × ".join(f"{text}{POWERS.get(n, '')}" for text, n in texts.items())


def _inside(text: str, tight: int, around: int) -> str:
    return f"({text})" if tight < around else text


def _called(part: ast.Call, around: int) -> str:
    assert isinstance(part.func, ast.Name)
    name, given = part.func.id, part.args
    if name in MEANT:
        texts = dict(zip("xy", map(ast.unparse, given), strict=False))
        meant = re.sub(r"\b[xy]\b", lambda found: f"({texts[found[0]]})", MEANT[name])
        return _written(ast.parse(meant, mode="eval").body, around)
    if name == "pow":
        return f"{_written(given[0], 4)}^{_written(given[1], 4)}"
    if name == "select":
        test, one, other = given
        if ast.unparse(one) == "0" and isinstance(test, ast.Compare):
            test, one, other = ast.Compare(test.left, [OPPOSITE[type(test.ops[0])]], test.comparators), other, one
        if ast.unparse(other) == "1":  # it keeps a logarithm from 0
            return _written(one, around)
        return _inside(f"{_written(one, 1)} if {_written(test, 0)}, else {_written(other, 1)}", 0, around)
    if name == "sqrt":
        return f"√{_written(given[0], 4)}"
    if name == "abs":
        return f"|{_written(given[0], 0)}|"
    return f"{name}({', '.join(_written(one, 0) for one in given)})"
