"""Declare the interface through which the checks access a framework, apart from its recorded rows."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from ...engine.types import NameCollection, OptionalFunction, TextsByName
from ...recording.access_paths import NamesAndValues
from ...recording.recorded_rows import BackwardPass, OptionalArray, RecordedRow
from ...recording.sites import NOWHERE, CallStack, Site, find_last_return_site
from ..fixes.dialects import Dialect
from . import finding_sentences
from .program_text import Statement
from .question import Creation, Finding, Question


class Adapter:
    """The interface through which the checks access a framework's objects and operations.

    Members without a default raise NotImplementedError, because a framework defines only the members that its checks
    use.

    Attributes:
        framework: The name of the framework, one of `causes.cause.FRAMEWORKS`.
        dialect: How programs write the framework functions that fixes use.
        zero_mechanisms: The operations that can make an adjoint zero, grouped by cause.
        class_loss_ops: The classification losses, such as cross-entropy.
        cancelling_scopes: The names of layers, such as normalization layers, in which shares may cancel each other.
        unused_cause: The cause that is reported if the target does not depend on the source.
        escape_cause: The cause that is reported if a value left the framework.
        sweeps: The backward passes of the recording, oldest first. The list is empty for a tape, which does not record
            its passes.
    """

    framework: str
    dialect: Dialect
    zero_mechanisms: Mapping[str, AbstractSet[str]]
    class_loss_ops: NameCollection
    cancelling_scopes: NameCollection
    unused_cause: str
    escape_cause: str
    sweeps: Sequence[BackwardPass] = ()

    def list_program_variable_names_and_values(self) -> NamesAndValues:
        """Return the names and values of the variables in the program that requested the explanation."""
        raise NotImplementedError

    def to_handle_for_comparison(self, value: Any) -> Any:
        """Return the object that represents a value in comparisons, such as the variable behind a wrapper.

        Args:
            value: The object. By default, the object represents itself.
        """
        return value

    def is_variable(self, obj: Any) -> bool:
        """Return whether the program treats an object as a variable.

        Args:
            obj: The object.
        """
        raise NotImplementedError

    def find_array(self, obj: Any) -> OptionalArray:
        """Return the elements of a tensor or variable.

        Args:
            obj: The tensor or variable.
        """
        raise NotImplementedError

    def find_creation(self, obj: Any) -> Creation:
        """Return when and where a tensor or variable was created.

        Args:
            obj: The tensor or variable.
        """
        raise NotImplementedError

    def find_leaf_creation(self, row: RecordedRow) -> Creation:
        """Return when and where a leaf was created.

        Args:
            row: The row of the leaf.
        """
        raise NotImplementedError

    def is_from_number_literal(self, row: RecordedRow) -> bool:
        """Return whether a row holds a number that the program wrote as a literal.

        By default, return False, because most frameworks do not record where a number came from.

        Args:
            row: The row.
        """
        return False

    def was_watched_by_program(self, row: RecordedRow) -> bool:
        """Return whether the program told a tape to watch a row.

        Args:
            row: The row.
        """
        raise NotImplementedError

    def find_block_begin_call_stack(self) -> CallStack:
        """Return the statements that were running when the tape's ``with`` block began, outermost first."""
        raise NotImplementedError

    def find_block_site(self) -> Site:
        """Return the line on which the tape's ``with`` block began."""
        return self.find_block_begin_call_stack()[-1]

    def was_source_replaced_when_statement_reran(
        self, question: Question, leaf: RecordedRow, statement: Statement, source_clock: int, leaf_clock: int
    ) -> bool:
        """Return whether a statement ran again and created a leaf that took the place of the source.

        Args:
            question: The question about the source.
            leaf: The leaf that the statement created before or after the source.
            statement: The statement that created both.
            source_clock: When the source was created.
            leaf_clock: When the leaf was created.
        """
        raise NotImplementedError

    def find_custom_rule(self, row: RecordedRow) -> OptionalFunction:
        """Return the program's custom derivative rule for an operation, or None if the program has no such rule.

        Args:
            row: The row of the operation.
        """
        raise NotImplementedError

    def find_return_site_of_custom_rule(self, row: RecordedRow) -> Site:
        """Return the line of the last return statement in the program's custom derivative rule for an operation.

        Args:
            row: The row of the operation.

        Returns:
            The site, or `NOWHERE` if the program has no rule for the operation.
        """
        rule = self.find_custom_rule(row)
        return NOWHERE if rule is None else find_last_return_site(rule)

    def build_sentence_fields_from_program(self, question: Question, finding: Finding) -> TextsByName:
        """Return those fields of a finding's sentence that depend on the program's text.

        Args:
            question: The question that the finding answers.
            finding: The finding.

        Returns:
            The values of the fields, keyed by name. The field "kind" selects one of the cause's sentences.
        """
        return finding.sentence_fields

    def get_operation_name_or_comparison_text(self, question: Question, row: int) -> str:
        """Return the program's name for an operation.

        Args:
            question: The question whose recording contains the row.
            row: The row of the operation.
        """
        return finding_sentences.get_operation_name_or_comparison_text(question, row)
