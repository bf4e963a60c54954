"""Convert the entries of a recording into the rows that explain reads, and share what all adapters know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..explain.caller import asking_frame
from ..explain.reasons import text, zero_nan
from ..explain.reasons.question import Escape, Finding, InputEdge, Question, RecordedRow
from ..picture.reading import spaces


class RowNumber(int):
    """The number of a row that a question is about. A plain int of the program is not one."""


def convert_entries(
    recording: Any, find_object: Callable[[Any], Callable[[], Any]], causes: Mapping[str, str] = {}
) -> list[RecordedRow]:
    """Return the rows of a recording. They are cached once the recording has ended.

    Args:
        recording: The recording of a framework's program.
        find_object: Returns, for an entry, a function that finds the object that the entry stands for.
        causes: The shared names of causes that the recorder names differently.
    """
    if recording.rows_read is not None:
        return recording.rows_read
    rows = [_to_recorded_row(entry, find_object(entry), causes) for entry in recording.entries]
    recording.rows_read = None if recording._recording else rows
    return rows


def _to_recorded_row(entry: Any, get_object: Callable[[], Any], causes: Mapping[str, str]) -> RecordedRow:
    cause = causes.get(entry.why, entry.why)
    # A result may depend on more rows than the operation's inputs, such as the values of a leaf.
    further_inputs = [row for row in entry.came if row not in entry.inputs]
    return RecordedRow(
        index=entry.row,
        op=entry.op,
        kind=entry.kind,
        edges=[InputEdge(row, cause) for row in (*entry.inputs, *further_inputs)],
        site=entry.site,
        get_object=get_object,
        call_stack=[entry.site],
        value=entry.value,
        dtype=entry.dtype,
        shape=entry.shape,
        tracked=entry.differentiable,
        position=entry.row,
        name=entry.name or "",
        scope=entry.scope,
        call_id=entry.call,
        extra=entry.extra,
    )


def list_program_names() -> list[tuple[str, Any]]:
    """Return the names of the program that asks, and what they hold."""
    return [pair for space in spaces(asking_frame()) for pair in list(space.items())]


class FrameworkAdapter:
    """What the checks need to know of a program, apart from its rows.

    The adapter of each framework adds the members that depend on the framework.
    """

    names: Callable[[], Iterable[tuple[str, Any]]] = staticmethod(list_program_names)
    """The names of the program, and what they hold."""

    def to_handle(self, value: Any) -> Any:
        """Return what an object is identified by."""
        return value

    def is_literal(self, row: RecordedRow) -> bool:
        """Return whether a row is a number in the program's text."""
        return False


def is_read_later(statement: text.Statement, names: Iterable[str]) -> bool:
    """Return whether a later statement of the same function reads one of some names."""
    wanted = set(names)
    for later in text.statements(statement.file):
        is_later = later.functions == statement.functions and later.order > statement.order
        if is_later and not wanted.isdisjoint(later.reads):
            return True
    return False


def find_dropped_result(question: Question) -> Finding | None:
    """Find the last descendant of the source, if the target was not computed from any of them."""
    results = question.descendants.difference(question.source_rows)
    if question.target_rows:
        results = {row for row in results if row < question.target_rows[0]}
    if not results:
        return None
    return zero_nan.finding_at(question, question.adapter.unused_cause, max(results), "dropped")


def read_escapes(recording: Any) -> list[Escape]:
    """Return the values that left the framework during a recording."""
    return [Escape(one.row, one.how, one.site, one.before) for one in recording.left]


def find_first_nonfinite_cause(
    question: Question, build_question: Callable[[Any, Any, Any], Question]
) -> Finding | None:
    """Find where a NaN arose. If a weight is NaN, find the earlier backward pass that made it so.

    Args:
        question: The question about the gradient.
        build_question: Builds the same question about an earlier pass, from the recording, its target and the source.
    """
    finding = zero_nan.find_nonfinite_cause(question)
    if finding is None or finding.variant != "trained":
        return finding
    recording = question.adapter.recording
    for sweep in recording.sweeps:
        if sweep is question.sweep:
            break
        if sweep.target:
            earlier = build_question(recording, RowNumber(sweep.target[-1]), question.source)
            if earlier_finding := zero_nan.find_nonfinite_cause(earlier):
                return earlier_finding
    return finding
