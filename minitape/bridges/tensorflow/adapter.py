"""Adapt a TensorFlow recording to the checks: its rows, its variables, and what its tapes did meanwhile."""

from __future__ import annotations

import gc
import math
import sys
from bisect import bisect_right
from dataclasses import replace
from functools import partial
from typing import Any

import tensorflow as tf

from ...explain.families import CLASSES, LAYERS, ZEROS
from ...explain.fixes.dialects import TENSORFLOW
from ...explain.owners import living
from ...explain.reasons import checks, text
from ...explain.reasons.question import Creation, InputEdge, OptionalArray, Question, RecordedRow
from ...explain.value_texts import FUNCTIONS
from ...recording.rows import TapeSpan
from ...recording.sites import NOWHERE, Site, last_return
from ...recording.values import numbers_of
from ..rows import FrameworkAdapter, convert_entries, read_escapes
from .operations import handle_of, variable_of

STATE_AFTER_EVENT = {"begins": "records", "ends": "after", "pauses": "paused", "goes on": "records"}
CAUSE_BY_STATE = {
    "before": "computed_before_tape",
    "after": "computed_after_tape",
    "paused": "recording_paused",
    "dropped": "computed_before_tape",
}


def read_rows(recording: Any) -> list[RecordedRow]:
    """Return the rows of a recording."""
    return convert_entries(recording, lambda entry: partial(getattr, entry.extra, "asked"))


def build_question(recording: Any, target: Any, source: Any) -> Question:
    """Return a question about a recording. What a tape did not record breaks by the time at which it ran."""
    log, target_row = recording.log, recording.row_of(target)
    adapter = TensorFlowAdapter(recording, target_row, source)
    source_rows = log.tensors.rows_of(source)
    rows = [_add_tape_state(adapter, row) for row in read_rows(recording)]
    for handle, stored_row, site, first_row in log.stores:
        if stored_row is None:
            continue
        for row in rows[first_row:]:
            is_same_variable = row.kind == "variable" and id(row.get_object()) == handle
            if is_same_variable and row.index not in source_rows:
                row.edges.append(InputEdge(stored_row, "variable_assign", site))
    for index in source_rows:
        rows[index].edges = [edge._replace(cause="") for edge in rows[index].edges]
    return Question(
        adapter=adapter,
        rows=rows,
        source_rows=source_rows,
        target_rows=[] if target_row is None else [target_row],
        source=source,
        target=target,
        escapes=read_escapes(recording),
        sweep=adapter.sweep,
    )


def _add_tape_state(adapter: TensorFlowAdapter, row: RecordedRow) -> RecordedRow:
    """Return a row whose edges say what the tape was doing, if that is why no gradient passes."""
    extra, (state, _) = row.extra, adapter.find_tape_state(row.index)
    sweep = adapter.sweep
    was_swept = sweep is not None and row.index in sweep.adjoints and row.index not in sweep.target
    is_unswept_operation = adapter.tape is not None and row.kind == "operation" and not was_swept
    is_explained_by_state = extra.why == "not_recorded" or (extra.why == "" and is_unswept_operation)
    cause, detail, site = extra.why, "", NOWHERE
    if is_explained_by_state and state != "records":
        cause = CAUSE_BY_STATE[state]
    if cause in CAUSE_BY_STATE.values():
        detail = state if extra.at is None else "gradient"
        site = adapter.find_state_change(row)[1]
    edges = [InputEdge(edge.input_row, cause, site, detail) for edge in row.edges]
    return replace(row, edges=edges, call_stack=list(extra.way) or [row.site])


class TensorFlowAdapter(FrameworkAdapter):
    """What the checks need to know of TensorFlow's tensors, variables and tapes."""

    framework, module, functions = "tensorflow", "tf", FUNCTIONS
    zero_mechanisms, class_loss_ops, cancelling_scopes = ZEROS, CLASSES, LAYERS
    dialect = TENSORFLOW
    unused_cause, escape_cause, rebinds = "independent", "left_through_numpy", True
    to_handle = staticmethod(handle_of)
    is_left_out_by_keras = False  # Keras asked for no gradient of the source

    def __init__(self, recording: Any, end: int | None, source: Any) -> None:
        self.recording, self.log, own = recording, recording.log, handle_of(source)
        found = recording.sweeps_from(end)
        self.sweep = next(
            (s for s in found if any(tensor() is own for tensor, _ in s.gave)), found[0] if found else None
        )
        self.tape = None if self.sweep is None else self.sweep.tape
        self._spans: dict[int, list[TapeSpan]] = {}  # by the identity of a tape
        if self.sweep is None and end is not None:
            recorded = [tape for tape in self.log.tapes.known if self.find_tape_state(end, tape)[0] == "records"]
            self.tape = next(iter([*recorded[::-1], *self.log.tapes.known[::-1]]), None)

    def find_tape_state(self, row: int, tape: Any = None) -> tuple[str, Any]:
        """Return what a tape was doing when an operation ran, and the event that began it."""
        spans, given_back = self._spans_of(tape or self.tape), self.recording.entries[row].extra.at
        passed = bisect_right(spans, row if given_back is None else given_back, key=lambda span: span.at)
        while passed and given_back == spans[passed - 1].at and spans[passed - 1].word not in ("ends", "pauses"):
            passed -= 1
        if not passed:
            return "before", next((span for span in spans if span.word == "begins"), None)
        last = next((span for span in spans[passed - 1 :: -1] if span.word in STATE_AFTER_EVENT), None)
        state = "before" if last is None else STATE_AFTER_EVENT[last.word]
        reset = next((span for span in spans[passed:] if span.word == "resets"), None) if state == "records" else None
        return (state, spans[passed - 1]) if reset is None else ("dropped", reset)

    def find_state_change(self, row: RecordedRow) -> tuple[str, Site]:
        """Return what the tape was doing when an operation ran, and the line to blame for it.

        That is the line which made the tape do so, or by which the program left the tape's block.
        """
        state, since = self.find_tape_state(row.index)
        if state == "dropped":
            return state, since.way[-1]
        return state, checks.find_divergence(
            row.extra.way, since.way
        ) if since is not None and row.extra.way else row.site

    def _spans_of(self, tape: Any) -> list[TapeSpan]:
        """Return what a tape did until the sweep, in order."""
        if id(tape) not in self._spans:
            last = math.inf if self.sweep is None else self.sweep.at
            self._spans[id(tape)] = [span for span in self.log.tapes.spans if span.tape is tape and span.at <= last]
        return self._spans[id(tape)]

    def is_variable(self, thing: Any) -> bool:
        """Return whether an object is a variable for the program."""
        return isinstance(variable_of(thing), tf.Variable) or getattr(thing, "dtype", None) == tf.resource

    def array_of(self, thing: Any) -> OptionalArray:
        """Return the elements of a tensor or variable."""
        return numbers_of(self.log.tensors.keep(tf.convert_to_tensor(thing)))

    def find_creation(self, thing: Any) -> Creation:
        """Return when and where a variable was created."""
        return Creation(*self.log.born_at(handle_of(thing)))

    def find_leaf_creation(self, row: RecordedRow) -> Creation:
        """Return when and where a leaf was created. Only variables are known."""
        return self.find_creation(row.get_object()) if row.kind == "variable" else Creation(-1)

    def find_custom_rule(self, row: RecordedRow) -> Site:
        """Return the line on which the program's own gradient function of a call returns."""
        rule = self.log.rules.get(row.extra.op)
        return NOWHERE if rule is None else last_return(rule)

    def is_watched(self, row: RecordedRow) -> bool:
        """Return whether the program told a tape to watch a row."""
        return bool(self.find_watchers(row.get_object()))

    def find_watchers(self, source: Any) -> list:
        """Return the tapes that the program told to watch the source."""
        return [tape for value, tape in self.log.tapes.watches if value() is handle_of(source)]

    def find_block_stack(self) -> list[Site]:
        """Return the statements that ran when the tape began, the outermost first."""
        return next((list(span.way) for span in self.log.tapes.spans if span.tape is self.tape and span.way), [NOWHERE])

    def find_block(self) -> Site:
        """Return the line on which the tape began."""
        return self.find_block_stack()[-1]

    def was_made_again(self, question: Question, row: RecordedRow, at: text.Statement, *_: int) -> bool:
        """Return whether the object that a statement created again took the place of the source."""
        makes = any(text.last_name(call.func)[:1].isupper() for call in at.calls)
        return makes and not self.is_named(row.get_object()) and not self.is_in_layer(handle_of(question.source))

    def is_named(self, thing: Any) -> bool:
        """Return whether the program has a name for a variable, or for a container that it is in."""
        return any(self.to_handle(part) is thing for _, value in self.names() for part in _parts(value))

    def is_in_layer(self, thing: Any) -> bool:
        """Return whether a living layer or module has a variable."""
        gc.collect()
        layers = sys.modules.get("keras.src.layers.layer")
        owners = living(tf.Module, *([layers.Layer] if layers else []))
        return any(handle_of(part) is thing for owner in owners for part in owner.variables)

    def is_kept(self, thing: Any) -> bool:
        """Return whether a name of the program or a living layer has a variable."""
        return self.is_named(thing) or self.is_in_layer(thing)


def _parts(value: Any) -> list:
    return tf.nest.flatten(value) if isinstance(value, (tf.Variable, list, tuple, dict)) else []
