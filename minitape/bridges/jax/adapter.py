"""JAX for a question: the rows that the bridge wrote, and what is known of a function and its arguments."""

from __future__ import annotations

from typing import Any

from ...explain.fixes.dialects import JAX
from ...explain.reasons import text, words
from ...explain.reasons.question import Question, RecordedRow
from ...explain.sentences import fill
from ...recording.sites import NOWHERE, Site
from ..rows import FrameworkAdapter, exits_of, rows_of
from .origin import JaxOrigin, returned
from .rows import SHARES
from .words import FUNCTIONS, ZEROS

# written without a call
SIGNS = set("add sub mul div pow integer_pow neg dot_general rem gt ge lt le eq ne".split())
WHOLE = {"softmax", "log_softmax", "logsumexp"}  # functions of shares, whose steps no question is about


def rows_read(recording: Any) -> list[RecordedRow]:
    """The rows of a recording, whose arrays are gone."""
    return rows_of(recording, lambda entry: lambda: None)


def read(recording: Any, target: Any, source: Any, own: list[int]) -> Question:
    """A question about the rows of a recording."""
    end = recording.row_of(recording.target if target is None or target is recording.value else target)
    return Question(
        JaxAdapter(recording),
        rows_read(recording),
        own,
        [] if end is None else [end],
        source,
        target,
        exits_of(recording),
        recording.sweep_from(end),
    )


class JaxAdapter(FrameworkAdapter):
    """What else is known of arrays."""

    framework, module, functions = "jax", "jnp", FUNCTIONS
    zeros, classes, cancels = ZEROS, frozenset[str](), SHARES
    dialect = JAX
    unused, left, rebinds = "unused", "left_jax", False

    def __init__(self, recording: Any) -> None:
        self.recording, self.origin = recording, JaxOrigin(*recording.asked)

    def is_variable(self, thing: Any) -> bool:
        """Whether it is a variable: JAX has none."""
        return False

    def called(self, q: Question, row: int) -> str:
        """An operation by the name of the function that the line calls, where that does nothing else: ``sqrt in
        norm(...)``.
        """
        one, name = q.rows[row], words.operation(q, row)
        calls = {text.last_name(call.func) for call in text.at(one.site).calls} - {""}
        alone = calls.pop() if len(calls) == 1 and one.op not in SIGNS else name
        written = next((scope for scope in one.scope if scope in calls | {alone}), alone)
        around = one.scope[: one.scope.index(written) + 1] if written in one.scope else ()
        same = sum(other.scope[: len(around)] == around and other.site == one.site for other in q.rows)
        if same == 1 or written in WHOLE or written in name or name in written:
            return written
        return fill("{operation} in {function}(...)", operation=name, function=written)

    def rule(self, row: RecordedRow) -> Site:
        """The line on which a rule of the program's own returns."""
        return returned(row.extra.custom) if row.extra.custom else NOWHERE

    def made(self, row: int) -> Site:
        """The line that made an argument."""
        leaf = next((leaf for leaf in self.recording.given if leaf.row == row), None)
        return NOWHERE if leaf is None else self.origin.leaf_line(leaf)
