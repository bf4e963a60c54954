"""Define the parts that the frameworks' adapters and checks share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..explain.caller import find_asking_frame
from ..explain.reasons import program_text, zero_nan
from ..explain.reasons.adapter import Adapter
from ..explain.reasons.question import Finding, Question
from ..picture.reader_base import collect_namespaces
from ..recording.variable_names import list_collected_namespaces

if TYPE_CHECKING:
    from .recording import Recording


class RowNumber(int):
    """The number of the row that a question is about.

    This type distinguishes row numbers from the program's own ints.
    """


def list_named_program_objects() -> list[tuple[str, Any]]:
    """Return a (name, object) pair for each variable of the program that called ``explain``."""
    namespaces = list_collected_namespaces()
    if namespaces is None:
        namespaces = collect_namespaces(find_asking_frame())
    return [pair for namespace in namespaces for pair in list(namespace.items())]


class FrameworkAdapter(Adapter):
    """The part of the adapter that all frameworks share.

    The adapter of each framework adds its own members.
    """

    list_names_and_values: Callable[[], Iterable[tuple[str, Any]]] = staticmethod(list_named_program_objects)
    """Returns a (name, object) pair for each name in the program."""


def is_any_name_read_later(statement: program_text.Statement, names: Iterable[str]) -> bool:
    """Return whether a later statement in the same function reads one of the names.

    Args:
        statement: The statement after which the search begins.
        names: The names to look for.
    """
    name_set = set(names)
    for later_statement in program_text.list_statements(statement.file):
        is_later = (
            later_statement.enclosing_functions == statement.enclosing_functions
            and later_statement.order > statement.order
        )
        if is_later and not name_set.isdisjoint(later_statement.read_names):
            return True
    return False


def find_first_nonfinite_cause(
    question: Any,  # Any, because each bridge has its own types of question and recording.
    build_question: Callable[[Any, RowNumber, Any], Question],
) -> Finding | None:
    """Find where a NaN arose. If a weight was already NaN, search the earlier backward pass that made it NaN.

    Args:
        question: The question about the gradient of the last backward pass.
        build_question: Builds a question from a recording, a target and a source.
    """
    finding = zero_nan.find_cause_of_nonfinite(question)
    if finding is None or finding.variant != "trained":
        return finding
    recording: Recording = question.adapter.recording
    for sweep in recording.sweeps:
        if sweep is question.sweep:
            break
        if sweep.target:
            earlier_question = build_question(recording, RowNumber(sweep.target[-1]), question.source)
            earlier_finding = zero_nan.find_cause_of_nonfinite(earlier_question)
            if earlier_finding is not None:
                return earlier_finding
    return finding
