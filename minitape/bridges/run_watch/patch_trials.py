"""Judge a patch by running the patched program.

A patch is offered only if the missing gradient appears and the gradient norms of all other parameters stay the same.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ...explain.translated_sentences import fill
from ..model_page import join_parameter_names

CHANGED = 1e-3  # Another gradient counts as changed if its norm changes by this fraction.
MAX_NAMED_CHANGES = 3


class PatchVerdict(NamedTuple):
    """The result of a trial.

    Attributes:
        is_offered: Whether the patch may be offered as the fix.
        sentence: A sentence that states the result.
    """

    is_offered: bool
    sentence: str


class PassFacts(NamedTuple):
    """The facts about one backward pass of a trial.

    Attributes:
        norms: Each parameter's gradient norm, by name.
        error: The error that ended the program before the pass, or "" if there was none.
    """

    norms: Mapping[str, float]
    error: str


def apply_patch(source: str, line: int, patch: str) -> str | None:
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
        statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
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


def judge_patch_for_missing_gradient(before: PassFacts, after: PassFacts, wanted: Collection[str]) -> PatchVerdict:
    """Judge a patch that is meant to restore a missing gradient.

    Args:
        before: A backward pass without the patch.
        after: The same backward pass with the patch.
        wanted: The names of the parameters with a missing gradient.
    """
    if after.error:
        return PatchVerdict(
            False, fill("A patch was tried, but the patched program raises {error}.", error=after.error)
        )
    missing = [name for name in wanted if not _is_gradient(after.norms.get(name))]
    if missing:
        names = join_parameter_names(missing)
        return PatchVerdict(False, fill("A patch was tried, but {names} still had no gradient.", names=names))
    others = {name: norm for name, norm in before.norms.items() if name not in wanted and _is_gradient(norm)}
    lost = [name for name in others if not _is_gradient(after.norms.get(name))]
    if lost:
        names = join_parameter_names(lost)
        return PatchVerdict(False, fill("A patch was tried, but it removed the gradient of {names}.", names=names))
    return _judge_effect_on_other_gradients(after, wanted, others)


def _judge_effect_on_other_gradients(
    after: PassFacts, wanted: Collection[str], others: Mapping[str, float]
) -> PatchVerdict:
    """Judge whether a patch that restores the missing gradient also changes other gradients.

    Args:
        after: The backward pass with the patch.
        wanted: The parameters that had no gradient.
        others: The norms of all other gradients in the original program.
    """
    gained = ", ".join(
        fill("{name} gets a gradient of norm {norm:.2g}", name=name, norm=after.norms[name])
        for name in list(wanted)[:2]
    )
    if len(wanted) > 2:
        gained += fill(", and {n} more get a gradient", n=len(wanted) - 2)
    changed = {name: norm for name, norm in others.items() if abs(after.norms[name] - norm) > CHANGED * norm}
    if changed:
        changes = ", ".join(
            fill("{name} from {old:.2g} to {new:.2g}", name=name, old=norm, new=after.norms[name])
            for name, norm in list(changed.items())[:MAX_NAMED_CHANGES]
        )
        sentence = "A patch was tried: {gained}. However, it also changes other gradients: {changes}."
        return PatchVerdict(False, fill(sentence, gained=gained, changes=changes))
    if not others:
        return PatchVerdict(True, fill("Tested: {gained}.", gained=gained))
    rest = fill("the other gradient is unchanged")
    if len(others) > 1:
        rest = fill("the other {n} gradients are unchanged", n=len(others))
    return PatchVerdict(True, fill("Tested: {gained}, and {rest}.", gained=gained, rest=rest))


def judge_patch_for_wrong_gradient(
    before: Collection[tuple[str, str]],
    after: Collection[tuple[str, str]],
    cause: str,
    wanted: Collection[str],
    error: str,
    passes: int,
) -> PatchVerdict:
    """Judge a patch that is meant to correct a wrong gradient.

    Args:
        before: The (name, cause) pairs of the problems without the patch.
        after: The (name, cause) pairs of the problems with the patch.
        cause: The cause that should disappear.
        wanted: The names of the parameters that had this cause.
        error: The error that ended the patched program, or "" if there was none.
        passes: The number of examined backward passes.
    """
    if error:
        return PatchVerdict(False, fill("A patch was tried, but the patched program raises {error}.", error=error))
    if any((name, cause) in after for name in wanted):
        return PatchVerdict(False, fill("A patch was tried, but the problem remained."))
    new = [found for name, found in after if (name, found) not in before]
    if new:
        return PatchVerdict(False, fill("A patch was tried, but it caused a new problem: {cause}.", cause=new[0]))
    return PatchVerdict(True, fill("Tested: with this patch, no problem is found in {n} backward passes.", n=passes))


def _is_gradient(norm: float | None) -> bool:
    return norm is not None and math.isfinite(norm) and norm > 0
