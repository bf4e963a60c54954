"""Define the answers of the appendix on tensors."""

import ast

import numpy as np

from ..common.syntax import list_nodes
from ..engine.types import FloatSequence
from .attempt import find_function_source
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, NamedValues, Program, say_from_lesson


def _compute_heights(xs: FloatSequence, ys: FloatSequence) -> np.ndarray:
    """Compute the heights of a mountain pass."""
    return np.array([[x * x - y * y for x in xs] for y in ys])


def _describe_variable(variable: Answer) -> NamedValues:
    """Describe a variable's value, its kind of numbers, and the shapes that it accepts."""
    if not hasattr(variable, "assign") or isinstance(variable, type):
        raise ValueError(say_from_lesson("appendix", "no variable"))
    numbers = "decimal" if variable.dtype.is_floating else variable.dtype.name
    return {"holds": variable.numpy().tolist(), "numbers": numbers, "shape": str(variable.shape)}


def _find_missing_update_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    """Say that the numbers are not in a tensor, or that a different function made the tensor."""
    if not hasattr(answer([[1.0]]), "numpy"):
        return "no tensor"
    source = find_function_source(answer)
    return "another function" if source and "tensor_scatter_nd_update" not in source else ""


def _find_loop_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    """Say that a loop computed the heights, or return "" if none did."""
    tree = ast.parse(find_function_source(answer))
    return "a loop" if list_nodes(tree, ast.For, ast.While, ast.comprehension) else ""


WRONG_UPDATES = {  # Patterns of the errors that a wrong update raises
    "outside": "is outside the shape",
    "swapped arguments": "takes integers",
    "rows only": r"and shape \[\d+, \d+\] for indices of shape \(\d+, 1\)",
    "number of numbers": r"and shape \[\d+\] for indices of shape \(\d+, 2\)",
    "places are lists": "InvalidArgumentError",
}

EXERCISES = (
    Exercise("appendix.1", expect={"A": (4, 5), "B": "error", "C": (4, 5), "D": (3, 4, 5)}),
    Exercise(
        "appendix.2",
        expect=lambda numbers: [max(number, 0.0) for number in numbers],
        cases=[([1.0, -2.0, 3.0],), ([-0.5, 0.5, -2.0],), ([4.0, 0.0],), (np.array([2.5, -1.5]),)],
        also=lambda answer, observed_runs: "" if hasattr(answer([1.0, 2.0]), "numpy") else "no tensor",
    ),
    Exercise(
        "appendix.3",
        expect=lambda table: np.where(np.eye(len(table)), 0.0, table),
        cases=[([[1.0, 2.0], [3.0, 4.0]],), ([[5.0, 1.0, 2.0], [3.0, 6.0, 4.0], [7.0, 8.0, 9.0]],)],
        also=_find_missing_update_hint,
        mistakes=[
            Mistake(named="places before the tensor", where=r"update\(.*, *(x|table) *,"),
            *(Mistake(named=name, error=pattern) for name, pattern in WRONG_UPDATES.items()),
        ],
    ),
    Exercise("appendix.4", expect=[5.0, 0.0, 0.0, 0.0, 1.0]),
    Exercise("appendix.5", expect={"A": 20, "B": 12, "C": 24, "D": 4}),
    Exercise("appendix.6", expect={"A": "tensor", "B": "variable", "C": "frozen", "D": "number"}),
    Exercise(
        "appendix.7",
        expect={"holds": [1.0, 2.0], "numbers": "decimal", "shape": "(None,)"},
        view=_describe_variable,
    ),
    Exercise(
        "appendix.8",
        expect=_compute_heights,
        cases=[([1.0, 2.0, 3.0], [0.0, 1.0]), ([0.5, 1.0, 1.5], [1.0, -2.0])],
        also=_find_loop_hint,
        mistakes=[Mistake(named="row for a column", error="shapes")],
    ),
    Exercise("appendix.9", expect={"A": 12.0, "B": -10.0, "C": [0.0, 2.0], "D": 8.0}),
    Exercise("appendix.10", expect={"A": True, "B": True, "C": False, "D": False}),
)
