"""Find training steps in JAX programs that add the gradient to the parameters, which increases the loss."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.tree_util import tree_leaves

from ...common.syntax import list_nodes
from ...engine.types import FloatList, OptionalFloat, OptionalNumber
from ...explain.explanation import OptionalExplanation, explain_cause
from ...explain.reasons.program_text import (
    Statement,
    find_last_name_of_dotted_path,
    find_root_name,
    find_statement,
    list_statements,
)
from ...recording.sites import Site, read_source_lines
from .program_origin import JaxOrigin

if TYPE_CHECKING:
    from .recording import JaxRecording

MIN_STEPS = 3
# Only functions whose names contain one of these words are assumed to be losses to minimize. Adding the gradient of a
# score or a reward may be correct.
find_loss_name = re.compile(r"loss|cost|error|mse|nll|cross_entropy", re.I).search
find_parameter_name = re.compile(r"(w|weights?|params?|theta|model|coef\w*)\b").match
# A program that mentions one of these words may follow the gradient uphill on purpose.
find_intent = re.compile(
    r"ascen[dt]|maximi|advers|attack|minimax|min_max|unlearn|forget|dream|\bdual|lagrang|multiplier|perturb|critic"
    r"|discrimin|generator|saliency|revers|langevin|\bsam\b|sharpness|policy|reward|climb",
    re.I,
).search


def compute_fraction_of_elements_moved_uphill(old: Any, new: Any, gradient: Any) -> OptionalFloat:
    """Return the fraction of a parameter's changed elements that moved in the direction of the gradient.

    Args:
        old: The values before a step.
        new: The values after the step.
        gradient: The gradient at the old values.

    Returns:
        The fraction, or None if the shapes differ or no element with a nonzero gradient moved.

    >>> after, gradient = np.array([0.1, 0.1, -0.1, 0.0]), np.array([1.0, -1.0, -1.0, 1.0])
    >>> compute_fraction_of_elements_moved_uphill(np.zeros(4), after, gradient)
    0.6666666666666666
    """
    if np.shape(old) != np.shape(new):
        return None
    directions = np.sign(np.real(new - old)) * np.sign(np.real(gradient))
    moved = directions[directions != 0]
    return float(np.mean(moved > 0)) if moved.size else None


def explain_ascent(recordings: list[JaxRecording]) -> OptionalExplanation:
    """Explain that the training steps of a program increase its loss because they add the gradient.

    Some programs add a gradient on purpose. Therefore, this mistake is reported only if the program computes the
    gradient of a single function and calls this function a loss. In addition, every step must have moved all parameters
    uphill, and the text of the step must show that a minus sign is missing.

    Args:
        recordings: The last recording of each function.

    Returns:
        The explanation, or None if the program does not add the gradient or may add it on purpose.
    """
    recording = recordings[0] if len(recordings) == 1 else None
    fractions = [] if recording is None else list(recording.fractions_moved_uphill.values())
    if recording is None or not fractions or not all(map(_has_moved_uphill_in_each_step, fractions)):
        return None
    origin = JaxOrigin(*recording.recorded_call)
    call = find_statement(origin.call_site)
    name = next(filter(find_loss_name, (getattr(origin.function, "__name__", ""), *call.bound_names)), "")
    # A network's input may be moved uphill on purpose. Scores are often negative, but most losses are not.
    is_trained = len(fractions) > 1 or find_parameter_name(recording.rows[recording.differentiated_rows[0]].name or "")
    is_positive = np.all(np.asarray(tree_leaves(recording.value)[0]) > 0)
    if not name or not is_trained or not is_positive or find_intent("".join(read_source_lines(call.file))):
        return None
    variant = "chain" if recording.updates else ""
    line = _find_chain_without_minus(call.file) if variant else _find_line_adding_gradient(recording, origin, call)
    fields = {"n": min(map(len, fractions)), "what": name}
    return explain_cause("jax", "wrong_sign", (call.file, line), variant, fields) if line else None


def _has_moved_uphill_in_each_step(fractions: FloatList) -> bool:
    """Return whether a parameter moved along its gradient in each of several steps."""
    return len(fractions) >= MIN_STEPS and fractions[0] > 0.95 and min(fractions) > 0.5


def _find_chain_without_minus(file: str) -> OptionalNumber:
    """Return the last line of an optimizer chain that never changes the sign, or None if no such chain is found."""
    for statement in list_statements(file):
        names = {find_last_name_of_dotted_path(call.func): call.lineno for call in reversed(statement.calls)}
        lines = [line for name, line in names.items() if re.match("scale(_by_.*)?$", name)]
        if lines:
            return None if "scale_by_learning_rate" in names or _has_minus(statement) else max(lines)
    return None


def _find_line_adding_gradient(recording: JaxRecording, origin: JaxOrigin, call: Statement) -> OptionalNumber:
    """Return the line that adds the gradient to the parameters, or None if no line is found."""
    expressions = origin.list_argument_expressions(recording.list_differentiated_leaves()[0])
    parameter_names = {find_root_name(expression) for expression, _ in expressions}
    gradient_names = recording.collect_gradient_names()
    for statement in list_statements(call.file):
        is_step = statement is call or gradient_names & statement.read_names
        if (
            is_step
            and list_nodes(statement.node, ast.Add)
            and statement.enclosing_functions == call.enclosing_functions
            and parameter_names & statement.read_names
            and not _has_minus(statement)
        ):
            return statement.line
    return None


def _has_minus(statement: Statement) -> bool:
    """Return whether a statement subtracts or negates a value."""
    return bool(list_nodes(statement.node, ast.Sub, ast.USub))


def find_optax_masked_adding_raw_gradients(recording: JaxRecording) -> Site | None:
    """Return the line of the only ``optax.masked`` call if gradients excluded by its mask are added to parameters.

    Args:
        recording: The last recording of a function.
    """
    fractions = recording.fractions_moved_uphill.values()
    is_added = any(len(steps) >= MIN_STEPS and min(steps) > 0.99 for steps in fractions)
    has_descent = any(steps and max(steps) < 0.5 for steps in fractions)
    file = recording.recorded_call.site[0]
    statements = [statement for statement in list_statements(file) if statement.find_call("masked")]
    calls = [call for item in statements for call in item.calls if find_last_name_of_dotted_path(call.func) == "masked"]
    is_found = is_added and has_descent and recording.updates and len(calls) == 1
    return (file, calls[0].lineno) if is_found and not _has_minus(statements[0]) else None
