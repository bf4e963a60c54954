"""Adapt a JAX recording to the checks: its rows, and what is known of the function and its arguments."""

from __future__ import annotations

from typing import Any

from ...explain.fixes.dialects import JAX
from ...explain.reasons import text, words
from ...explain.reasons.question import Question, RecordedRow
from ...explain.sentences import fill
from ...recording.sites import NOWHERE, Site
from ..rows import FrameworkAdapter, convert_entries, read_escapes
from .origin import JaxOrigin, returned
from .rows import SHARES
from .words import FUNCTIONS, ZEROS

# written without a call
OPERATOR_OPS = set("add sub mul div pow integer_pow neg dot_general rem gt ge lt le eq ne".split())
SHARE_FUNCTIONS = {"softmax", "log_softmax", "logsumexp"}  # functions of shares, whose steps no question is about


def read_rows(recording: Any) -> list[RecordedRow]:
    """Return the rows of a recording. The arrays that they stand for are gone."""
    return convert_entries(recording, lambda entry: lambda: None)


def build_question(recording: Any, target: Any, source: Any, source_rows: list[int]) -> Question:
    """Return a question about a recording.

    Args:
        recording: The recording of a function.
        target: The target; None or the result of the function stand for the function's own target.
        source: The source, as the program gave it.
        source_rows: The rows of the source.
    """
    is_own_target = target is None or target is recording.value
    target_row = recording.row_of(recording.target if is_own_target else target)
    return Question(
        adapter=JaxAdapter(recording),
        rows=read_rows(recording),
        source_rows=source_rows,
        target_rows=[] if target_row is None else [target_row],
        source=source,
        target=target,
        escapes=read_escapes(recording),
        sweep=recording.sweep_from(target_row),
    )


class JaxAdapter(FrameworkAdapter):
    """What the checks need to know of JAX's arrays."""

    framework, module, functions = "jax", "jnp", FUNCTIONS
    zero_mechanisms, class_loss_ops, cancelling_scopes = ZEROS, frozenset[str](), SHARES
    dialect = JAX
    unused_cause, escape_cause, rebinds = "unused", "left_jax", False

    def __init__(self, recording: Any) -> None:
        self.recording, self.origin = recording, JaxOrigin(*recording.asked)

    def is_variable(self, thing: Any) -> bool:
        """Return False, because JAX has no variables."""
        return False

    def describe_operation(self, question: Question, row: int) -> str:
        """Return an operation by the function that its line calls, as ``sqrt in norm(...)``.

        Returns only the name of the function if that does nothing else.
        """
        one, name = question.rows[row], words.describe_operation(question, row)
        calls = {text.last_name(call.func) for call in text.at(one.site).calls} - {""}
        alone = calls.pop() if len(calls) == 1 and one.op not in OPERATOR_OPS else name
        written = next((scope for scope in one.scope if scope in calls | {alone}), alone)
        around = one.scope[: one.scope.index(written) + 1] if written in one.scope else ()
        same = sum(other.scope[: len(around)] == around and other.site == one.site for other in question.rows)
        if same == 1 or written in SHARE_FUNCTIONS or written in name or name in written:
            return written
        return fill("{operation} in {function}(...)", operation=name, function=written)

    def find_custom_rule(self, row: RecordedRow) -> Site:
        """Return the line on which the program's own derivative rule returns."""
        return returned(row.extra.custom) if row.extra.custom else NOWHERE

    def find_argument_site(self, row: int) -> Site:
        """Return the line that created an argument."""
        leaf = next((leaf for leaf in self.recording.given if leaf.row == row), None)
        return NOWHERE if leaf is None else self.origin.leaf_line(leaf)
