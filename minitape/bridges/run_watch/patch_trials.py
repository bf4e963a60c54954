"""Judge a patch by running the patched program.

A patch is offered only if the missing gradient appears and the gradient norms of all other parameters stay the same.
"""

import ast
import math
from collections.abc import Collection, Mapping
from math import isfinite
from typing import NamedTuple

from ...common.syntax import list_nodes
from ...engine.types import NameCollection, OptionalFloat, OptionalText, TextPair, TextSequence
from ...explain.translated_sentences import fill
from ..model_page import join_parameter_names

CHANGED = 1e-3  # Another gradient counts as changed if its norm changes by more than this fraction.
MAX_NAMED_CHANGES = 3

NormsByName = Mapping[str, float]  # The norms of gradients, by parameter.


class PatchVerdict(NamedTuple):
    """The result of a trial.

    Attributes:
        is_offered: Whether the patch may be offered as the fix.
        sentence: A sentence that states the result.
    """

    is_offered: bool
    sentence: str


def apply_patch(source: str, line: int, patch: str) -> OptionalText:
    r"""Replace the statement on a line.

    Args:
        source: The text of the program.
        line: One of the statement's lines.
        patch: The corrected statement, without indentation.

    Returns:
        The patched program, or None if it would not be valid Python.

    >>> apply_patch("if a:\n    y = f(\n        x)\n", 2, "y = x")
    'if a:\n    y = x\n'
    """
    try:
        statements = list_nodes(ast.parse(source), ast.stmt)
        around = [node for node in statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
        statement = max(around, key=lambda node: node.lineno)
        last_line = statement.lineno if hasattr(statement, "body") else statement.end_lineno or statement.lineno
        lines = source.split("\n")
        first = lines[statement.lineno - 1]
        indent = first[: len(first) - len(first.lstrip())]
        new_lines = [indent + part for part in patch.split("\n")]
        patched = "\n".join([*lines[: statement.lineno - 1], *new_lines, *lines[last_line:]])
        ast.parse(patched)
    except (SyntaxError, ValueError):
        return None
    return patched


def judge_patch_for_missing_gradient(
    original_norms: NormsByName, patched_norms: NormsByName, names_without_gradient: TextSequence
) -> PatchVerdict:
    """Judge a patch that is meant to restore a missing gradient.

    Args:
        original_norms: Each parameter's gradient norm in a backward pass without the patch, keyed by name.
        patched_norms: The gradient norms in the same backward pass of the patched program, keyed by name.
        names_without_gradient: The names of the parameters whose gradient is missing.
    """
    # The norms are keyed by names such as net.0.weight, for which a program may write net[0].weight.
    program_spellings = {name.replace("[", ".").replace("]", ""): name for name in names_without_gradient}
    patched_norms = {program_spellings.get(name, name): norm for name, norm in patched_norms.items()}
    others = {
        name: norm
        for name, norm in original_norms.items()
        if name not in names_without_gradient and _is_norm_finite_and_nonzero(norm)
    }
    missing = [name for name in names_without_gradient if not isfinite(patched_norms.get(name, math.nan))]
    zero = [name for name in names_without_gradient if patched_norms.get(name) == 0]
    lost = [name for name in others if not _is_norm_finite_and_nonzero(patched_norms.get(name))]
    for names, sentence in (
        (missing, "A patch was tried, but {names} still had no finite gradient."),
        (zero, "A patch was tried, but with it, the gradient of {names} is exactly zero."),
        (lost, "A patch was tried, but it removed the gradient of {names}."),
    ):
        if names:
            return PatchVerdict(False, fill(sentence, names=join_parameter_names(names)))
    return _judge_effect_on_other_gradients(patched_norms, names_without_gradient, others)


def _judge_effect_on_other_gradients(
    patched_norms: NormsByName, names_without_gradient: TextSequence, other_norms: NormsByName
) -> PatchVerdict:
    """Judge whether a patch that restores the missing gradient also changes other gradients.

    Args:
        patched_norms: Each parameter's gradient norm with the patch.
        names_without_gradient: The parameters that had no gradient.
        other_norms: The norms of all other gradients in the original program.
    """
    gained = ", ".join(
        fill("{name} gets a gradient of norm {norm:.2g}", name=name, norm=patched_norms[name])
        for name in names_without_gradient[:2]
    )
    if len(names_without_gradient) > 2:
        gained += fill(", and {n} more get a gradient", n=len(names_without_gradient) - 2)
    changed = {name: norm for name, norm in other_norms.items() if abs(patched_norms[name] - norm) > CHANGED * norm}
    if changed:
        changes = ", ".join(
            fill("{name} from {old:.2g} to {new:.2g}", name=name, old=norm, new=patched_norms[name])
            for name, norm in list(changed.items())[:MAX_NAMED_CHANGES]
        )
        sentence = "A patch was tried: {gained}. However, it also changes other gradients: {changes}."
        return PatchVerdict(False, fill(sentence, gained=gained, changes=changes))
    if not other_norms:
        return PatchVerdict(True, fill("Tested: {gained}.", gained=gained))
    rest = fill("the other gradient is unchanged")
    if len(other_norms) > 1:
        rest = fill("the other {n} gradients are unchanged", n=len(other_norms))
    return PatchVerdict(True, fill("Tested: {gained}, and {rest}.", gained=gained, rest=rest))


def judge_patch_for_wrong_gradient(
    original_problems: Collection[TextPair],
    patched_problems: Collection[TextPair],
    cause: str,
    names_with_cause: NameCollection,
    pass_count: int,
) -> PatchVerdict:
    """Judge a patch that is meant to correct a wrong gradient.

    Args:
        original_problems: The (name, cause) pairs of the problems without the patch.
        patched_problems: The (name, cause) pairs of the problems with the patch.
        cause: The cause that should disappear.
        names_with_cause: The names of the parameters that had this cause.
        pass_count: The number of examined backward passes.
    """
    if any((name, cause) in patched_problems for name in names_with_cause):
        return PatchVerdict(False, fill("A patch was tried, but the problem remained."))
    new = [found for name, found in patched_problems if (name, found) not in original_problems]
    if new:
        return PatchVerdict(False, fill("A patch was tried, but it caused a new problem: {cause}.", cause=new[0]))
    return PatchVerdict(
        True, fill("Tested: with this patch, no problem is found in {n} backward passes.", n=pass_count)
    )


def _is_norm_finite_and_nonzero(norm: OptionalFloat) -> bool:
    """Return whether a norm belongs to an existing, finite and nonzero gradient."""
    return norm is not None and isfinite(norm) and norm > 0
