"""The answers of lesson 12, in which learners build a tape."""

import numpy as np
from numpy import ndarray

from .exercise import Case, Exercise, Mistake, Program
from .own_tape import BACKWARD_TRIALS, MORE_OPERATOR_TRIALS, OPERATOR_TRIALS, ROW_TRIALS

RULES_TO_MEASURE = """
x, y    | x * y     | (g * y, g * x)              | (2.0, 3.0)       | right
x, y    | x - y     | (g, g)                      | (2.0, 3.0)       | wrong
x       | x**3      | (3 * x**2,)                 | (2.0,)           | wrong
x, y    | x / y     | (g / y, -g * z / y)         | (3.0, 2.0)       | right
x, y    | x**2 * y  | (g * x, g * x**2)           | (3.0, 2.0)       | wrong
x, y    | x + y     | (g,)                        | (1.0, 4.0)       | wrong
x, y, w | x * y - w | (g * y, g * x, -g)          | (0.5, -2.0, 3.0) | right
x, y    | x * y     | (g * y, 1.01 * g * x)       | (-2.0, 3.0)      | wrong
x       | x**3      | (g * 3 * z / x,)            | (-2.0,)          | right
x, y    | x * y     | (g * y, g * x)              | (0.0, 3.0)       | right
x, y    | x * y     | (2 * g * y, 2 * g * x)      | (2.0, 3.0)       | wrong
x, y    | x * y     | (g * y / 2, g * x / 2)      | (2.0, 3.0)       | wrong
x, y    | x * y     | (-g * y, -g * x)            | (2.0, 3.0)       | wrong
x, y    | x * y     | (0 * g, 0 * g)              | (2.0, 3.0)       | wrong
x, y    | x * y     | (g * z, g * z)              | (2.0, 3.0)       | wrong
x, y    | x * y     | (g * x, g * y)              | (2.0, 3.0)       | wrong
x, y    | x * y     | (y / g, x / g)              | (2.0, 3.0)       | wrong
x, y    | x * y     | (g * (x + y), g * (x + y))  | (2.0, 3.0)       | wrong
x, y    | x * y     | (y, x)                      | (2.0, 3.0)       | wrong
x, y, w | x * y * w | (g * y * w, g * x, g * x * y) | (2.0, 3.0, 4.0) | wrong
x, y    | x + 2 * y | (g, g)                      | (2.0, 3.0)       | wrong
x       | x * x     | (g * 2 * x, g)              | (3.0,)           | wrong
x       | x**3      | (g * 3 * x * x,)            | (2.0,)           | right
"""
"""Inputs and formula of an operation, a rule, where to measure it, and whether the rule is right."""


def _build_function(arguments: str, formula: str) -> Program:
    """Build the function of a formula, which hints show as its name."""
    function: Program = eval(f"lambda {arguments}: {formula}")
    function.__name__ = formula
    return function


ROWS_OF_RULES = [[part.strip() for part in line.split("|")] for line in RULES_TO_MEASURE.strip().splitlines()]
RIGHT_RULES = [(rule, eval(inputs)) for *_, rule, inputs, verdict in ROWS_OF_RULES if verdict == "right"]

MISFIT_PRODUCTS = {  # Products whose shapes do not fit, with the patterns of their texts
    "g @ w": r"\bg *@ *w\b(?!\.)",
    "x @ g": r"\bx *@ *g\b(?!\.)",
    "w.T @ g": r"\bw(\.T)? *@ *g\b(?!\.)",
    "g @ x.T": r"\bg *@ *x\b",
    "g transposed": r"\bx(\.T)? *@ *g\.T|\bw\.T *@ *g\.T|\bg\.T *@ *(w|x\.T)",
    "shapes of a product": "",
}

_random = np.random.default_rng(12)


def _build_random_array(*shape: int) -> ndarray:
    """Build an array of some numbers with two digits."""
    return _random.normal(0.0, 2.0, shape).round(1)


def _build_counting_array(*shape: int) -> ndarray:
    """Build an array of 1, 2, 3 and so on, as a case that a person can compute by hand."""
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


def _build_array_cases(counting: str, random: str) -> list[Case]:
    """Build two cases, one that a person can compute by hand and one of random numbers, from their arrays' shapes.

    Each shape is a word with a digit for each axis, such as "23" for two rows and three columns.
    """
    return [
        tuple(build_array(*map(int, shape)) for shape in shapes.split())
        for build_array, shapes in ((_build_counting_array, counting), (_build_random_array, random))
    ]


EXERCISES = (
    Exercise("12.1", expect="Tape", trials=ROW_TRIALS),
    Exercise("12.2", expect="Tape", trials=OPERATOR_TRIALS),
    Exercise("12.3", expect="Tape", trials=BACKWARD_TRIALS),
    Exercise("12.4", expect="Tape", trials=MORE_OPERATOR_TRIALS),
    Exercise(
        "12.5",
        expect=lambda g, z, x: (g * (1.0 - z * z),),
        cases=[
            (1.0, 0.46211715726000975, 0.5),
            (3.0, 0.0, 0.0),
            (-2.0, -0.7615941559557649, -1.0),
            (np.array([[3.0, -2.0]]), np.array([[0.5, 0.0]]), np.array([[0.5493061443340549, 0.0]])),
        ],
        rtol=1e-10,
    ),
    Exercise(
        "12.6",
        expect=lambda forward, rule, inputs: (rule.__name__, inputs) in RIGHT_RULES,
        cases=[
            (_build_function(names, formula), _build_function(f"g, z, {names}", rule), eval(inputs))
            for names, formula, rule, inputs, _ in ROWS_OF_RULES
        ],
        order=0,
        mistakes=[Mistake(named="rule without the value", where=r"rule\([\w.]+, *\*", error="missing 1 required")],
    ),
    Exercise(
        "12.7",
        expect=lambda g, z, x, b: (g, g.sum(axis=0)),
        cases=_build_array_cases(counting="23 23 23 3", random="52 52 52 2"),
    ),
    Exercise(
        "12.8",
        expect=lambda g, z, x, w: (g @ w.T, x.T @ g),
        cases=_build_array_cases(counting="23 23 24 43", random="43 43 45 53"),
        mistakes=[
            Mistake(
                named="star for a matrix product",
                where=r"g *\* *w|w *\* *g|x *\* *g|g *\* *x|T *\* ",
                error="broadcast",
            ),
            *(Mistake(named=name, where=pattern, error="matmul|align") for name, pattern in MISFIT_PRODUCTS.items()),
        ],
    ),
)
