"""Adapt a JAX recording, including its function and arguments, for use by the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.types import RowCollection, RowList, TextSequence
from ...explain.fixes.dialects import JAX
from ...explain.reasons import finding_sentences
from ...explain.reasons.program_text import find_last_name_of_dotted_path, find_statement
from ...explain.reasons.question import Question
from ...explain.translated_sentences import fill
from ...recording.recorded_rows import RecordedRow
from ...recording.sites import NOWHERE, Site
from ..framework_adapter import FrameworkAdapter
from .operation_families import ZERO_MECHANISMS
from .program_origin import JaxLeaf, JaxOrigin, find_return_site_by_description
from .row_log import NORMALIZING_FUNCTIONS

if TYPE_CHECKING:
    from .recording import JaxRecording

# Programs write these operations as operators, not as calls.
OPERATOR_OPS = set("add sub mul div pow integer_pow neg dot_general rem gt ge lt le eq ne".split())
# Explanations name these functions instead of the operations inside them.
SHARE_FUNCTIONS = {"softmax", "log_softmax", "logsumexp"}


def build_question(recording: JaxRecording, target: Any, source: Any, source_rows: RowList) -> JaxQuestion:
    """Build a question about a target and a source in a recording.

    Args:
        recording: The recording of a function.
        target: The target to ask about. None and the function's result both mean the first leaf of the result.
        source: The source, as the program passed it to ``explain``.
        source_rows: The source's rows.
    """
    is_own_target = target is None or target is recording.value
    target_row = recording.find_row(recording.target_row if is_own_target else target)
    return JaxQuestion(
        adapter=JaxAdapter(recording),
        rows=recording.rows,
        source_rows=source_rows,
        target_rows=[] if target_row is None else [target_row],
        source=source,
        target=target,
        escapes=recording.escapes,
        sweep=recording.find_last_sweep_from_or_else_through(target_row),
    )


class JaxAdapter(FrameworkAdapter):
    """The adapter for JAX arrays.

    Attributes:
        recording: The recording that the question is about.
        origin: Finds the program lines that define the recorded function and its arguments.
    """

    framework = "jax"
    zero_mechanisms = ZERO_MECHANISMS
    class_loss_ops = frozenset[str]()
    cancelling_scopes = NORMALIZING_FUNCTIONS
    dialect = JAX
    unused_cause = "unused"
    escape_cause = "left_jax"

    def __init__(self, recording: JaxRecording):
        """Create the adapter for a recording."""
        self.recording = recording
        self.sweeps = recording.sweeps
        self.origin = JaxOrigin(*recording.recorded_call)

    def get_operation_name_or_comparison_text(self, question: Question, row: int) -> str:
        """Describe an operation by naming the function called on its line, as in ``sqrt in norm(...)``.

        If the function performs no other operation, return only the name of the function.
        """
        recorded_row = question.rows[row]
        name = finding_sentences.get_operation_name_or_comparison_text(question, row)
        statement = find_statement(recorded_row.site)
        calls = {find_last_name_of_dotted_path(call.func) for call in statement.calls} - {""}
        callee = calls.pop() if len(calls) == 1 and recorded_row.op not in OPERATOR_OPS else name
        function = next((scope for scope in recorded_row.scope if scope in calls | {callee}), callee)
        outer_scope: TextSequence = ()
        if function in recorded_row.scope:
            outer_scope = recorded_row.scope[: recorded_row.scope.index(function) + 1]
        same_count = sum(
            other_row.scope[: len(outer_scope)] == outer_scope and other_row.site == recorded_row.site
            for other_row in question.rows
        )
        if same_count == 1 or function in SHARE_FUNCTIONS or function in name or name in function:
            return function
        return fill("{operation} in {function}(...)", operation=name, function=function)

    def find_return_site_of_custom_rule(self, row: RecordedRow) -> Site:
        """Return the line of the return statement in the program's custom derivative rule."""
        if not row.extra.custom_rule:
            return NOWHERE
        return find_return_site_by_description(row.extra.custom_rule)

    def find_first_argument_leaf(self, rows: RowCollection) -> JaxLeaf | None:
        """Return the first argument leaf among the given rows, or None if no given row is an argument leaf.

        Args:
            rows: The rows to search.
        """
        return next((leaf for leaf in self.recording.argument_leaves if leaf.row in rows), None)

    def find_argument_creation_site(self, argument_row: int) -> Site:
        """Return the line that created an argument, or NOWHERE if the row is not an argument.

        Args:
            argument_row: The row of the argument leaf.
        """
        leaf = self.find_first_argument_leaf([argument_row])
        return NOWHERE if leaf is None else self.origin.find_leaf_creation_or_call_site(leaf)


class JaxQuestion(Question):
    """A question about a JAX recording.

    Attributes:
        adapter: The adapter for JAX.
    """

    adapter: JaxAdapter
