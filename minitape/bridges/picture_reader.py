"""Read the rows, backward passes and gradients that a picture of another framework's recording shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import starmap, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..common.grouping import group_values_by_key
from ..engine.types import LIST_OR_TUPLE
from ..explain.reasons.object_names import share_searches_between_questions
from ..picture.gradient_results import MAX_EXPLAINED, MAX_SOURCES, find_reason_and_blamed_line
from ..picture.known_rules import KnownRule, find_known_rule
from ..picture.path_breaks import is_zero
from ..picture.picture_rows import PictureRow, PictureRows
from ..picture.reader_base import Reader, merge_parts_and_return_merged
from ..picture.shown_values import leave_out_texts_if_long, to_value_fields
from ..picture.snapshot_types import (
    EdgeFields,
    EventFields,
    OptionalRow,
    OptionalValue,
    ResultFields,
    RowFields,
    RowFieldsList,
    SourceFields,
    StepFields,
    SweepFields,
    TapeFields,
)
from ..picture.source_names import MAX_ASSIGNMENTS, number_rows_with_same_name
from ..picture.stepper import SweepSteps
from ..picture.truncation import shorten_name
from ..recording.expression_names import map_file_line_and_operation_to_result_name
from ..recording.recorded_rows import AdjointShare, BackwardPass, OptionalArray
from ..recording.value_summary import ValueSummary, to_float_array
from ..recording.variable_names import iter_public_names_and_values, use_namespaces_for_names
from .framework_adapter import RowNumber

if TYPE_CHECKING:
    from ..engine.types import NamesByRow, Namespaces, OptionalNumber, OptionalText, TextList
    from .checkup import FrameworkRecording
    from .recording import RecordedRow, Recording

MAX_THUMBNAILS = 400
# A node has little room for text, so these operations have short labels.
SHORT_LABELS = {
    "broadcast_in_dim": "broadcast",
    "cross_entropy": "cross-ent.",
    "SparseSoftmaxCrossEntropyWithLogits": "cross-ent.",
    "sparse_softmax_cross_entropy_with_logits": "cross-ent.",
    "SoftmaxCrossEntropyWithLogits": "cross-ent.",
    "scaled_dot_product_attention": "attention",
}


def to_shown_value_fields(value: Any) -> Any:
    """Return the ``ValueFields`` of a number or array, or of an object with a ``shown()`` method. None stays None.

    >>> to_shown_value_fields(2.0)
    {'text': '2.0', 'data': 2.0}
    """
    return value.shown() if hasattr(value, "shown") else to_value_fields(value)


def to_float64_array_if_real(value: Any) -> OptionalArray:
    """Return the elements of a value as float64.

    Args:
        value: A number, an array, a ``ValueSummary`` or None.

    Returns:
        The array, in the shape of the value, or None if the elements are no longer available or are not real numbers.
    """
    if value is None or isinstance(value, ValueSummary):
        return to_float_array(value)
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None


def drop_excess_thumbnails(snapshot_part: Any, thumbnail_counter: Iterator[int]) -> Any:
    """Return a copy of part of a snapshot with only the first thumbnails, to limit the size of long pages.

    Args:
        snapshot_part: The part, as a list, a dictionary or a plain value.
        thumbnail_counter: Yields the number of the next thumbnail. Only the first ``MAX_THUMBNAILS`` thumbnails are
            kept.

    >>> drop_excess_thumbnails([{"thumb": [[1.0]]}, {"thumb": [[2.0]]}], iter([MAX_THUMBNAILS, MAX_THUMBNAILS + 1]))
    [{'thumb': [[1.0]]}, {}]
    """
    if isinstance(snapshot_part, list):
        return [drop_excess_thumbnails(value, thumbnail_counter) for value in snapshot_part]
    if not isinstance(snapshot_part, dict):
        return snapshot_part
    kept = {
        key: value if key in ("data", "thumb") else drop_excess_thumbnails(value, thumbnail_counter)
        for key, value in snapshot_part.items()
    }
    if "thumb" in kept and next(thumbnail_counter) > MAX_THUMBNAILS:
        del kept["thumb"]
    return kept


def build_picture_row(recorded_row: RecordedRow) -> PictureRow:
    """Return the picture's row for a recorded row."""
    value = to_shown_value_fields(recorded_row.value)
    fields: RowFields = {
        "op": shorten_name(recorded_row.op),
        "label": SHORT_LABELS.get(recorded_row.label, shorten_name(recorded_row.label)),
        "formula": "",
        "rule": [],
        "said": [],
        "kind": recorded_row.kind,
        "name": None if recorded_row.name is None else shorten_name(recorded_row.name),
        "version": recorded_row.version,
        "output": recorded_row.output,
        "call": recorded_row.call_id,
        "dtype": recorded_row.dtype,
        "shape": list(recorded_row.shape),
        "released": value is None,
        "site": recorded_row.offset,
        "line": recorded_row.site[1],
        "file": recorded_row.site[0],
        "status": "ghost" if recorded_row.kind == "operation" and not recorded_row.tracked else "recorded",
        "watched": recorded_row.watched,
        "cut": recorded_row.cut,
        "tapes": [0] if recorded_row.tracked else [],
        "by": None,
        "scope": [shorten_name(part) for part in recorded_row.scope],
    }
    own_fields: OptionalRow = (
        None if recorded_row.tangent is None else {"tangent": to_shown_value_fields(recorded_row.tangent)}
    )
    return PictureRow(recorded_row.index, fields, tuple(recorded_row.inputs_if_operation), None, value, own_fields)


def find_known_rule_of_row(recording: Recording, row: int) -> KnownRule | None:
    """Return minitape's own rule for an operation, if the rule reproduces the recorded result.

    Args:
        recording: The recording, in which the rule is cached.
        row: The number of the row.

    Returns:
        The rule, or None if the table does not contain the operation. The result is also None for leaves, for rows that
        break the gradient, and for every result of a call except the first.
    """
    if row not in recording.known_rules:
        recorded_row, rule = recording.rows[row], None
        if recorded_row.kind == "operation" and recorded_row.cut is None and recorded_row.call_id == row:
            inputs = [to_float64_array_if_real(recording.rows[i].value) for i in recorded_row.inputs]
            result = to_float64_array_if_real(recorded_row.value)
            rule = find_known_rule(recorded_row.op, inputs, result, recorded_row.dtype, recorded_row.label)
        recording.known_rules[row] = rule
    return recording.known_rules[row]


def list_shown_sweep_result_if_any(
    recording: Recording, target: Any, sources: Any, namespaces: Iterable[dict]
) -> list[ResultFields]:
    """Return the RESULT of the backward pass that a picture shows.

    Args:
        recording: The recording.
        target: The target of the backward pass, or None for the most recent backward pass.
        sources: The sources to show, or None for every source that the backward pass reached or that was trained in the
            block.
        namespaces: The dictionaries in which to look up Python names for rows.

    Returns:
        A list with one RESULT, or an empty list if no such backward pass ran.
    """
    sweep = recording.find_last_sweep(target)
    if sweep is None:
        return []
    names = RecordingReader(recording, namespaces).map_rows_to_python_names()
    steps = RecordingSteps(recording, sweep, sources if target is not None else None)
    gradients = dict(zip(steps.header["sources"], steps.list_source_gradients(), strict=True))
    if not sweep.sources and sources is None:
        gradients = dict.fromkeys(_iter_unreached_source_rows(recording, sweep)) | gradients
    result: ResultFields = {
        "target": [{"name": _find_display_name(recording, row, names), "row": row} for row in sorted(sweep.target)],
        "sources": [
            _build_source_fields_without_reason(recording, row, gradients[row], names)
            for row in sorted(gradients)[:MAX_SOURCES]
        ],
        "more": max(0, len(gradients) - MAX_SOURCES),
        "known": True,
        "shown": True,
        "call": sweep.function_name or "backward",
    }
    with use_namespaces_for_names(namespaces):
        _add_reasons_for_none_or_zero_gradients(recording, result, sweep)
    return [result]


class NamedSource(NamedTuple):
    """A source that was trained in the block.

    Attributes:
        name: The displayed name.
        source: The framework's object, such as a parameter.
    """

    name: str
    source: Any


def map_rows_to_trained_sources(recording: Recording) -> dict[int, NamedSource]:
    """Return the sources that were trained in the block, keyed by each of their rows.

    If two sources have the same short name, such as the weights of two layers, both keep the program's longer name. The
    name of a tree element, such as ``params['w']``, is shortened to its last part, ``w``, if no other element has the
    same last part.

    Args:
        recording: The recording, in which the result is cached once the recording is complete.
    """
    if recording.sources_by_row is None or recording.is_recording:
        sources = [
            (row, name, source)
            for name, source in recording.collect_sources_meant_to_be_trained().items()
            for row in recording.list_rows(source)
        ]
        recorded_names = {row: recording.rows[row].name for row, _, _ in sources}
        owner_counts = Counter(name for name, _ in {(recorded_names[row], id(source)) for row, _, source in sources})
        unshared_names = {row: name for row, name in recorded_names.items() if name and owner_counts[name] == 1}
        display_names = {row: unshared_names.get(row, name) for row, name, _ in sources}
        last_parts = {name: re.findall(r"\w+", name)[-1] for name in display_names.values() if "[" in name}
        part_counts = Counter(last_parts.values())
        short_names = {name: part for name, part in last_parts.items() if not part.isdigit() and part_counts[part] == 1}
        recording.sources_by_row = {
            row: NamedSource(short_names.get(display_names[row], display_names[row]), source)
            for row, _, source in sources
        }
    return recording.sources_by_row


def _iter_unreached_source_rows(recording: Recording, sweep: BackwardPass) -> Iterator[int]:
    """Yield the last row of each source that was trained in the block but not reached by the sweep."""
    rows = group_values_by_key((id(source), row) for row, (_, source) in map_rows_to_trained_sources(recording).items())
    return (max(source_rows) for source_rows in rows.values() if sweep.adjoints.keys().isdisjoint(source_rows))


def _add_reasons_for_none_or_zero_gradients(recording: Recording, result: ResultFields, sweep: BackwardPass) -> None:
    """Add to a RESULT the reasons why gradients are None or zero, for at most ``MAX_EXPLAINED`` sources."""
    unexplained = [
        source_fields
        for source_fields in result["sources"]
        if source_fields["gradient"] is None or is_zero(source_fields["gradient"])
    ]
    with share_searches_between_questions():
        for source_fields in unexplained[:MAX_EXPLAINED] if sweep.target else ():
            named_source = map_rows_to_trained_sources(recording).get(source_fields["at"])
            source = RowNumber(source_fields["at"]) if named_source is None else named_source.source
            with suppress(Exception):  # A picture without reasons is better than no picture at all.
                framework_recording = cast("FrameworkRecording", recording)
                target = framework_recording.find_target_row_unless_found_from_source(sweep)
                source_fields["reason"], source_fields["why"] = find_reason_and_blamed_line(
                    framework_recording.explain_source(target, source)
                )


def _find_display_name(recording: Recording, row: int, names_by_row: NamesByRow) -> OptionalText:
    """Return the short name of a row for a picture, or None if the row has no name."""
    if not 0 <= row < len(recording.rows):
        return None
    source = map_rows_to_trained_sources(recording).get(row)
    program_name = (source and source.name) or recording.map_unnamed_result_rows_to_names().get(row)
    name = program_name or recording.rows[row].name or names_by_row.get(row)
    return None if name is None else shorten_name(name)


def _build_source_fields_without_reason(
    recording: Recording, row: int, gradient: Any, names_by_row: NamesByRow
) -> SourceFields:
    updated_value = _find_value_after_optimizer_step(recording, row)
    return {
        "name": _find_display_name(recording, row, names_by_row),
        "rows": [row] if row >= 0 else [],
        "parts": [],
        "gradient": gradient,
        "none": gradient is None,
        "at": row,
        "reason": None,
        "why": None,
        "blame": None,
        "now": updated_value,
        "assigned": int(updated_value is not None),
    }


def _find_value_after_optimizer_step(recording: Recording, row: int) -> OptionalValue:
    """Return the value that an optimizer step in the block gave to a row's source, or None if no step changed it."""
    named_source = map_rows_to_trained_sources(recording).get(row)
    if named_source is None or recording.is_recording:
        return None
    with suppress(Exception):  # A picture without the update is better than no picture at all.
        framework_recording = cast("FrameworkRecording", recording)
        before, after = framework_recording.read_weights_around_last_step(named_source.source)
        used = to_float64_array_if_real(recording.rows[row].value)
        if before is None or after is None or used is None:
            return None
        # A step does not change a parameter that has no gradient.
        if np.array_equal(before, used) and not np.array_equal(before, after):
            dtype = np.float64 if recording.rows[row].dtype == "float64" else np.float32
            return to_value_fields(after.astype(dtype))
    return None


class RecordingSteps(SweepSteps):
    """The steps of a recorded sweep, all of which are immediately available to a picture.

    Attributes:
        remaining_rows: Always 0, because no step is left to compute.
        last_row: The last row that the sweep reached, or -1 if it reached none.
    """

    def __init__(self, recording: Recording, sweep: BackwardPass, sources: Any = None):
        """Prepare one sweep's steps.

        Args:
            recording: The recording that contains the sweep.
            sweep: The backward pass to show.
            sources: One source or a list of sources to show, or None for the sources of the sweep itself.
        """
        self._recording = recording
        self._sweep = sweep
        self.remaining_rows = 0
        wanted_sources = sources if isinstance(sources, LIST_OR_TUPLE) else [sources]
        if sources is None or not wanted_sources:
            self._source_rows = recording.list_source_or_reached_leaf_rows_of_sweep(sweep)
        else:
            found_rows = [recording.find_row(wanted_source) for wanted_source in wanted_sources]
            self._source_rows = [-1 if row is None else row for row in found_rows]
        self.last_row = max(sweep.adjoints, default=-1)

    @property
    def header(self) -> SweepFields:
        """The ``SweepFields`` without the steps and the gradients."""
        return {"target": sorted(self._sweep.target), "sources": self._source_rows, "rest": 0}

    def take_steps(self, limit: OptionalNumber = None) -> list[StepFields]:
        """Return all steps, in the order in which the framework ran them. ``limit`` is ignored."""
        with leave_out_texts_if_long(len(self._recording)):
            return list(starmap(self._build_step, self._sweep.edges.items()))

    def _build_step(self, call_row: int, edges: list[AdjointShare]) -> StepFields:
        """Return the ``StepFields`` of a call, with the shares that the call sent along its edges."""
        rule = find_known_rule_of_row(self._recording, call_row)
        adjoint = to_float64_array_if_real(self._sweep.adjoints.get(call_row))
        edge_fields: list[EdgeFields] = [
            {
                "input": row,
                "port": port,
                **(
                    rule.compare_with_framework_share(port, adjoint, to_float64_array_if_real(product))
                    if rule
                    else EdgeFields(local=None)
                ),
                "product": to_shown_value_fields(product),
                "sum": to_shown_value_fields(total),
            }
            for row, port, product, total in edges
        ]
        step: StepFields = {
            "row": call_row,
            "adjoint": self._build_adjoint_fields_or_zeros(call_row),
            "edges": edge_fields,
        }
        rows = self._recording.rows
        other_rows = [*takewhile(lambda row: rows[row].call_id == call_row, range(call_row + 1, len(rows)))]
        if other_rows:
            step["others"] = [{"row": row, "adjoint": self._build_adjoint_fields_or_zeros(row)} for row in other_rows]
        return step

    def _build_adjoint_fields_or_zeros(self, row: int) -> Any:
        """Return the ``ValueFields`` of a row's adjoint, or of zeros if no adjoint arrived, as for an unused result."""
        adjoint = self._sweep.adjoints.get(row)
        return to_shown_value_fields(np.zeros(self._recording.rows[row].shape)[()] if adjoint is None else adjoint)

    def list_source_gradients(self) -> list:
        """Return the ``ValueFields`` of each source's adjoint, or None for a source that no adjoint reached."""
        return [to_shown_value_fields(self._sweep.adjoints.get(row)) for row in self._source_rows]


class RecordingReader(Reader):
    """Reads the rows of a complete recording.

    Attributes:
        recording: The recording. Once the recording is complete, the attribute `record` refers to it as well.
    """

    def __init__(self, recording: Recording, namespaces: Namespaces = ()):
        """Prepare to read a recording, without reading any rows yet."""
        super().__init__(namespaces)
        self.recording = recording

    def _begin_reading_if_recording_is_complete(self) -> bool:
        """Begin reading if the recording is complete, and return whether reading has begun now or earlier."""
        if self.recording.record is not None and self.record is None:
            self.begin_recording(self.recording)
        return self.record is not None

    def read_new_rows(self, limit: OptionalNumber = None) -> PictureRows:
        """Return at most ``limit`` of the rows that have not been read yet."""
        if not self._begin_reading_if_recording_is_complete():
            return []
        first = self.row_count
        self.row_count = len(self.recording) if limit is None else min(len(self.recording), first + limit)
        with leave_out_texts_if_long(len(self.recording)):
            return [self._build_picture_row_with_name_and_known_rule(row) for row in range(first, self.row_count)]

    def read_first_and_last_rows(self, limit: int) -> PictureRows:
        """Return the first and last rows, ``limit`` in total, or all rows if there are at most ``limit``."""
        if not self._begin_reading_if_recording_is_complete() or len(self.recording) <= limit:
            return self.read_new_rows()
        ends = [*range(limit // 2), *range(len(self.recording) - limit // 2, len(self.recording))]
        return [self._build_picture_row_with_name_and_known_rule(row) for row in ends]

    def read_source_lines(self, file: str) -> TextList:
        """Return the lines of a source file."""
        return self.recording.read_source_lines(file)

    def list_function_insides(self, target: Any = None, sources: Any = None, row: OptionalNumber = None) -> list:
        """Return the ``InsideFields`` of each call that the bridge can open.

        The sources do not matter, because a bridge stores each backward pass as a whole.
        """
        return self.recording.build_inside_fields_of_calls(target, row)

    def _build_picture_row_with_name_and_known_rule(self, row: int) -> PictureRow:
        """Return the picture's row, with its best name and, if minitape knows the operation, the operation's rule."""
        recorded_row = self.recording.rows[row]
        if recorded_row.site[0]:
            self.files[recorded_row.site[0]] = None
        shown_row = build_picture_row(recorded_row)
        rule = find_known_rule_of_row(self.recording, row)
        name = self._find_trained_or_result_name(recorded_row)
        if name is not None:
            shown_row.form["name"] = shorten_name(name)
        if rule is not None:
            shown_row.form |= rule.fields
        return shown_row

    def _find_trained_or_result_name(self, recorded_row: RecordedRow) -> OptionalText:
        """Return the name of a trained source or the name found for an unnamed result, or None if neither exists."""
        if not recorded_row.name:
            return self.recording.map_unnamed_result_rows_to_names().get(recorded_row.index)
        trained_source = map_rows_to_trained_sources(self.recording).get(recorded_row.index)
        return trained_source and trained_source.name

    def map_rows_to_python_names(self) -> NamesByRow:
        """Return the names of the program's variables that hold tensors of the recording, keyed by row."""
        names_by_row: NamesByRow = {}
        for name, value in iter_public_names_and_values(self.namespaces if self.record is not None else ()):
            row = None if isinstance(value, (int, bool)) else self.recording.find_row(value)
            if row is not None:
                names_by_row.setdefault(row, name)
        return names_by_row

    def update_rows_after_recording(self, rows: PictureRows) -> RowFieldsList:
        """Name the results that the source code assigns to variables, such as locals of a function that has returned.

        Results with the same name, such as those from different iterations of a loop, are numbered.

        Args:
            rows: All rows of the recording, in order.

        Returns:
            The changed fields, as partial rows.
        """
        names = map_file_line_and_operation_to_result_name(self.files)
        rows_by_name = group_values_by_key(
            (row.name or names.get((*row.site, row.op.lower())) or names.get((*row.site, row.label)), row.index)
            for row in self.recording.rows
            if row.kind == "operation"
        )
        for row in rows:
            same_name_rows = rows_by_name.get(self.recording.rows[row.row].name or "", [])
            if 1 < len(same_name_rows) <= MAX_ASSIGNMENTS and row.row in same_name_rows:
                row.update_fields({"name": None})  # The numbered names below replace the recorded name.
        taken_names = {None, *(row.get_field("name") for row in rows)}
        parts: RowFieldsList = [
            {"row": row, "name": shorten_name(numbered_name)}
            for name, named_rows in rows_by_name.items()
            if name is not None
            for row, numbered_name in number_rows_with_same_name(name, named_rows, taken_names).items()
        ]
        return merge_parts_and_return_merged(rows, parts)

    def list_event_fields(self) -> list[EventFields]:
        """Return the ``EventFields`` of each assignment and escape."""
        return cast("list[EventFields]", list(self.recording.events))

    def list_tape_fields(self) -> list[TapeFields]:
        """Return the ``TapeFields`` of the tape that represents the recording in the picture."""
        is_recording = self.recording.is_recording
        return [
            {
                "id": 0,
                "name": self.find_name_of_tape(self.recording, "tape"),
                "persistent": False,
                "state": "recording" if is_recording else "closed",
                "spans": [] if is_recording else [[0, len(self.recording)]],
                "bytes": 0,
            }
        ]
