"""Textbook formulas, compiled for NumPy arrays, for single numbers, for recorded operations, and for kernels.

A formula is a Python expression over ``x``, ``y`` (inputs), ``z`` (output) and ``g`` (adjoint of the output). The text
is the only statement of the mathematics: each compilation only swaps the functions that it calls.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import numerics
from .blocks import filled, maximum, minimum
from .selecting import select

ARGUMENTS = "g, z, x, y=None"


def _mul_no_nan(a: Any, g: Any) -> Any:
    return select(g == 0, g, a * g)


def _floordiv(x: Any, y: Any) -> Any:
    return np.floor_divide(x, y) if np.result_type(x).kind in "iu" else np.floor(x / y)


SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
EXACT = 4096  # float32 arrays up to this size are computed in double precision, as scalar rows are


def _ones(x: Any) -> Any:
    return filled(x.shape, x.dtype, 1)


def _pow(x: Any, y: Any) -> Any:
    if type(y) is not np.ndarray and type(x) is np.ndarray and x.dtype.kind == "f" and (y == 2 or y == 1 or y == 0):
        return x * x if y == 2 else x if y == 1 else _ones(x)
    if np.result_type(x) == SINGLE and np.size(x) <= EXACT and np.size(y) <= EXACT:
        return np.power(x, y, dtype=np.float64).astype(np.float32)
    return np.power(x, y)


def _rounded(function: Any) -> Any:
    """A function of the mathematical library on arrays: float32 results are correctly rounded while that is cheap.

    NumPy's float32 loops are fast but up to 4 units of the last place off, which shows in printed text.
    """

    def careful(x: Any) -> Any:
        if x.dtype == SINGLE and x.size <= EXACT:
            return function(x.astype(DOUBLE)).astype(SINGLE)
        return function(x)

    return careful


_LIBRARY = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip

ARRAY: dict[str, Any] = {name: _rounded(function) for name, function in _LIBRARY.items()} | {
    "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "rint": np.rint, "sqrt": np.sqrt,
    "atan2": np.arctan2, "pow": _pow, "maximum": maximum, "minimum": minimum, "floordiv": _floordiv,
    "ones": _ones, "mod": np.mod, "select": select, "mul_no_nan": _mul_no_nan, "zero": np.zeros_like, "erf": numerics.erf,
    "erfc": numerics.erfc,
}  # fmt: skip


def _scalar_functions(real: type) -> dict[str, Any]:
    """The functions for single numbers: computed in double precision and rounded once to ``real``."""

    def rounded(fast: Callable[..., float], careful: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Any) -> Any:
            try:
                return real(fast(*args))
            except (ValueError, OverflowError, ZeroDivisionError):  # log(0), exp(1000): NumPy answers inf or nan
                return real(careful(*map(np.float64, args)))

        return function

    same_name = ["sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
                 "tanh", "asinh", "acosh", "atanh", "atan2", "pow", "erf", "erfc"]  # fmt: skip
    return ARRAY | {name: rounded(getattr(math, name), ARRAY[name]) for name in same_name} | {
        "abs": abs,
        "select": lambda c, a, b: real(a if c else b),
        "mul_no_nan": lambda a, g: g if g == 0 else a * g,
        "maximum": lambda a, b: real(np.maximum(a, b)), "minimum": lambda a, b: real(np.minimum(a, b)),
        "zero": lambda a: real(0),
    }  # fmt: skip


SCALAR = {np.float32: _scalar_functions(np.float32), np.float64: _scalar_functions(np.float64)}


def compile_text(text: str, functions: dict[str, Any], arguments: str = ARGUMENTS) -> Callable[..., Any]:
    """Makes the function ``(g, z, x, y)``, or of other arguments, that computes ``text`` with these functions."""
    return eval(compile(f"lambda {arguments}: {text}", f"<formula {text}>", "eval"), dict(functions))


@cache
def template(text: str, kind: str, squares: bool = False) -> str:
    """A formula with places for its variables, its functions named after the values (of a ``kind``) that they are for.

    With ``squares`` an array is raised to a number, which is asked here whether it is 2 or 1.

    >>> template("g * cos(x)", "a_")
    '{g} * a_cos({x})'
    """
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = f"{{{node.id}}}" if node.id in "gzxy" else kind + node.id
    found = ast.unparse(tree)
    if squares:
        found = found.replace("a_pow({x}, {y})", "({x} * {x} if {y} == 2 else {x} if {y} == 1 else a_pow({x}, {y}))")
        found = found.replace("a_pow({x}, {y} - 1)", "({x} if {y} == 2 else a_ones({x}) if {y} == 1 else a_pow({x}, {y} - 1))")
    return found


@cache
def lettered(text: str) -> tuple[str, dict[str, float]]:
    """A formula with names in place of the numbers that arrays are combined with, and the numbers by name.

    NumPy takes 0.3 us to make an array of a Python number; a program that is run often makes it once.

    >>> lettered("{g} * (-0.5 / {x})")
    ('{g} * (m0_5 / {x})', {'m0_5': -0.5})
    """
    letters = _Letters()
    return ast.unparse(letters.visit(ast.parse(text, mode="eval"))), letters.numbers


class _Letters(ast.NodeTransformer):
    def __init__(self) -> None:
        self.numbers: dict[str, float] = {}

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        node.left, node.right = map(self._operand, (node.left, node.right))
        return node

    def _operand(self, node: Any) -> Any:
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        constant = node.operand if negative else node
        if not isinstance(constant, ast.Constant):
            return self.visit(node)
        name = ("m" if negative else "n") + re.sub(r"\W", "_", repr(constant.value))
        self.numbers[name] = ast.literal_eval(node)
        return ast.Name(name)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """An exponent is a number, and stays one."""
        return node if ast.unparse(node.func).endswith("pow") else self.generic_visit(node)


def powers(text: str, y: float | None) -> str:
    """A formula of a power whose exponent is known: without asking for it where that is 2 or 1.

    >>> powers("pow(x, y)", 2.0), powers("g * y * pow(x, y - 1)", 2.0), powers("g * y * pow(x, y - 1)", 1.0)
    ('x * x', 'g * y * x', 'g')
    """
    if y == 2:
        return text.replace("pow(x, y - 1)", "x").replace("pow(x, y)", "x * x")
    return text.replace("g * y * pow(x, y - 1)", "g").replace("pow(x, y)", "x") if y == 1 else text


def reads(text: str) -> set[str]:
    """The variables among g, x, y, z that a formula reads.

    >>> sorted(reads("g * cos(x)"))
    ['g', 'x']
    """
    names = {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
    return names & {"g", "x", "y", "z"}
