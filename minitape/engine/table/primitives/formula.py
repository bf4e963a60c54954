"""Define the functions that formulas call, for NumPy arrays and for scalars.

A formula is an expression in ``x`` and ``y`` (inputs), ``z`` (output) and ``g`` (adjoint of the output), with ``+ - *
/`` and functions. The mathematics is stated only in this text, which is compiled for arrays, for scalars, for recorded
operations and for kernels, each time with different functions.

Attributes:
    ARRAY: The functions for NumPy arrays, keyed by name.
    SCALAR: The functions for scalars, keyed by scalar type and then by name.
"""

import math
import re
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy import float32, float64, ndarray

from ...types import Array, Function, FunctionsByName, NameSet
from ..accelerator import create_filled_array
from ..generated_code import find_names_in_expression

SINGLE = np.dtype(float32)
DOUBLE = np.dtype(float64)
MAX_EXACT_SIZE = 4096  # Like scalars, float32 arrays with up to this many elements are computed in double precision.


def _build_ones(x: Array) -> Array:
    return create_filled_array(x.shape, x.dtype, 1)


def _compute_pow(x: Array, y: Array) -> Array:
    if type(y) is not ndarray and type(x) is ndarray and x.dtype.kind == "f":
        if y == 2:
            return x * x
        if y == 1:
            return x
        if y == 0:
            return _build_ones(x)
    return _compute_correctly_rounded(np.power, x, y)


def _compute_correctly_rounded(function: Function, x: Array, y: Array) -> Array:
    """Apply a NumPy function of two operands, and round small float32 results (`_wrap_to_round_correctly`)."""
    if np.result_type(x) == SINGLE and np.size(x) <= MAX_EXACT_SIZE and np.size(y) <= MAX_EXACT_SIZE:
        return function(x, y, dtype=float64).astype(float32)
    return function(x, y)


def _compute_maximum(x: Array, y: Array) -> Array:
    """Return the elementwise maximum.

    An integer is first expanded to an array, because NumPy's loop for two arrays is three times as fast as its loop for
    an array and a scalar.
    """
    return np.maximum(x, create_filled_array(x.shape, x.dtype, y) if type(y) is int else y)


def _wrap_to_round_correctly(function: Function) -> Function:
    """Make a function round float32 results correctly, for arrays of up to ``MAX_EXACT_SIZE`` elements.

    NumPy's float32 loops are fast, but their results may be off by 4 units in the last place. Such an error is visible
    in printed output. For larger arrays, correct rounding would take too long.
    """

    def compute_rounded(x: Array) -> Array:
        if x.dtype == SINGLE and x.size <= MAX_EXACT_SIZE:
            return function(x.astype(DOUBLE)).astype(SINGLE)
        return function(x)

    return compute_rounded


NUMPY_NAMES = {  # NumPy's name for asin is arcsin.
    name: re.sub("^a", "arc", name)
    for name in "exp expm1 log log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split()
}
LIBRARY = {name: getattr(np, numpy_name) for name, numpy_name in NUMPY_NAMES.items()}

ARRAY: FunctionsByName = {name: _wrap_to_round_correctly(function) for name, function in LIBRARY.items()} | {
    "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "rint": np.rint, "sqrt": np.sqrt,
    "atan2": partial(_compute_correctly_rounded, np.arctan2), "pow": _compute_pow, "maximum": _compute_maximum,
    "minimum": np.minimum,
    "floordiv": lambda x, y: np.floor_divide(x, y) if np.result_type(x).kind in "iu" else np.floor(x / y),
    "ones": _build_ones, "mod": np.mod, "select": np.where, "mul_no_nan": lambda a, g: np.where(g == 0, g, a * g),
    "zero": np.zeros_like,
}  # fmt: skip


def _build_scalar_functions(float_type: type) -> FunctionsByName:
    """Return the functions for scalars. They compute in double precision and round once to ``float_type``."""

    def round_off(quick: Callable[..., float], array_function: Function) -> Function:
        def compute_scalar(*args: Array) -> Array:
            try:
                return float_type(quick(*args))
            except (ValueError, OverflowError, ZeroDivisionError):  # For log(0) or exp(1000), NumPy returns inf or nan.
                return float_type(array_function(*map(float64, args)))

        return compute_scalar

    return ARRAY | {
        name: round_off(getattr(math, name), ARRAY[name]) for name in (*NUMPY_NAMES, "sqrt", "atan2", "pow")
    } | {
        "abs": abs,
        "select": lambda c, a, b: float_type(a if c else b),
        "mul_no_nan": lambda a, g: g if g == 0 else a * g,
        "maximum": lambda a, b: a if a > b or a != a else float_type(b),
        "minimum": lambda a, b: a if a < b or a != a else float_type(b),
        "zero": lambda a: float_type(0),
    }  # fmt: skip


SCALAR = {float32: _build_scalar_functions(float32), float64: _build_scalar_functions(float64)}


def find_formula_variables(text: str) -> NameSet:
    """Return the variables among g, x, y and z that a formula reads.

    >>> sorted(find_formula_variables("g * cos(x)"))
    ['g', 'x']

    Args:
        text: The formula.
    """
    return find_names_in_expression(text) & {"g", "x", "y", "z"}
