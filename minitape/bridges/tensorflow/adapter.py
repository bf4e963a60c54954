"""TensorFlow for a question: the rows that the bridge wrote, what its tapes did meanwhile, its variables."""

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
from ...explain.reasons.question import Elements, Given, Question, RecordedRow
from ...explain.value_texts import FUNCTIONS
from ...recording.rows import TapeSpan
from ...recording.sites import NOWHERE, Site, last_return
from ...recording.values import numbers_of
from ..rows import FrameworkAdapter, exits_of, rows_of
from .operations import handle_of, variable_of

STATES = {"begins": "records", "ends": "after", "pauses": "paused", "goes on": "records"}
TIMES = {
    "before": "computed_before_tape",
    "after": "computed_after_tape",
    "paused": "recording_paused",
    "dropped": "computed_before_tape",
}


def rows_read(recording: Any) -> list[RecordedRow]:
    """The rows of a recording, each with what the program asked about."""
    return rows_of(recording, lambda entry: partial(getattr, entry.extra, "asked"))


def read(recording: Any, target: Any, source: Any) -> Question:
    """A question about the rows of a recording: what a tape did not record breaks by its time."""
    log, end = recording.log, recording.row_of(target)
    adapter, own = TensorFlowAdapter(recording, end, source), log.tensors.rows_of(source)
    rows = [_timed(adapter, row) for row in rows_read(recording)]
    for handle, stored, site, when in log.stores:
        for row in rows[when:]:
            if stored is not None and row.kind == "variable" and id(row.thing()) == handle and row.row not in own:
                row.given.append(Given(stored, "variable_assign", site))
    for row in own:
        rows[row].given = [one._replace(why="") for one in rows[row].given]
    return Question(
        adapter, rows, own, [] if end is None else [end], source, target, exits_of(recording), adapter.sweep
    )


def _timed(adapter: TensorFlowAdapter, row: RecordedRow) -> RecordedRow:
    """A row, with what the tape was doing when it ran where that is why no gradient passes."""
    extra, (state, _) = row.extra, adapter.state(row.row)
    swept = adapter.sweep is not None and row.row in adapter.sweep.adjoints and row.row not in adapter.sweep.target
    untimely = adapter.tape is not None and not swept and row.kind == "operation" and state != "records"
    timed = (untimely or (extra.why == "not_recorded" and state != "records")) and extra.why in ("", "not_recorded")
    why, what, site = TIMES[state] if timed else extra.why, "", NOWHERE
    if why in TIMES.values():
        what, site = "gradient" if extra.at is not None else state, adapter.time(row)[1]
    return replace(row, given=[Given(one.row, why, site, what) for one in row.given], way=list(extra.way) or [row.site])


class TensorFlowAdapter(FrameworkAdapter):
    """What else is known of tensors, variables and tapes."""

    framework, module, functions = "tensorflow", "tf", FUNCTIONS
    zeros, classes, cancels = ZEROS, CLASSES, LAYERS
    dialect = TENSORFLOW
    unused, left, rebinds = "independent", "left_through_numpy", True
    handle = staticmethod(handle_of)
    left_out = False  # Keras asked for no gradient of the source

    def __init__(self, recording: Any, end: int | None, source: Any) -> None:
        self.recording, self.log, own = recording, recording.log, handle_of(source)
        found = recording.sweeps_from(end)
        self.sweep = next(
            (s for s in found if any(tensor() is own for tensor, _ in s.gave)), found[0] if found else None
        )
        self.tape = None if self.sweep is None else self.sweep.tape
        self._spans: dict[int, list[TapeSpan]] = {}  # by the identity of a tape
        if self.sweep is None and end is not None:
            recorded = [tape for tape in self.log.tapes.known if self.state(end, tape)[0] == "records"]
            self.tape = next(iter([*recorded[::-1], *self.log.tapes.known[::-1]]), None)

    def state(self, row: int, tape: Any = None) -> tuple[str, Any]:
        """What a tape was doing when an operation ran, and since where."""
        spans, given_back = self._spans_of(tape or self.tape), self.recording.entries[row].extra.at
        passed = bisect_right(spans, row if given_back is None else given_back, key=lambda span: span.at)
        while passed and given_back == spans[passed - 1].at and spans[passed - 1].word not in ("ends", "pauses"):
            passed -= 1
        if not passed:
            return "before", next((span for span in spans if span.word == "begins"), None)
        last = next((span for span in spans[passed - 1 :: -1] if span.word in STATES), None)
        state = "before" if last is None else STATES[last.word]
        reset = next((span for span in spans[passed:] if span.word == "resets"), None) if state == "records" else None
        return (state, spans[passed - 1]) if reset is None else ("dropped", reset)

    def time(self, row: RecordedRow) -> tuple[str, Site]:
        """What the tape was doing when an operation ran, and which line made it do that, or led out of its block."""
        state, since = self.state(row.row)
        if state == "dropped":
            return state, since.way[-1]
        return state, checks.apart(row.extra.way, since.way) if since is not None and row.extra.way else row.site

    def _spans_of(self, tape: Any) -> list[TapeSpan]:
        """What a tape did until the sweep, in order."""
        if id(tape) not in self._spans:
            last = math.inf if self.sweep is None else self.sweep.at
            self._spans[id(tape)] = [span for span in self.log.tapes.spans if span.tape is tape and span.at <= last]
        return self._spans[id(tape)]

    def is_variable(self, thing: Any) -> bool:
        """Whether the program has a variable."""
        return isinstance(variable_of(thing), tf.Variable) or getattr(thing, "dtype", None) == tf.resource

    def numbers(self, thing: Any) -> Elements:
        """Its elements."""
        return numbers_of(self.log.tensors.keep(tf.convert_to_tensor(thing)))

    def birth(self, thing: Any) -> tuple[int, list[Site]]:
        """When and where a variable was made."""
        return self.log.born_at(handle_of(thing))

    def birth_of(self, row: RecordedRow) -> tuple[int, list[Site]]:
        """The same of a leaf."""
        return self.birth(row.thing()) if row.kind == "variable" else (-1, [])

    def rule(self, row: RecordedRow) -> Site:
        """Where the program's own gradient function of a call returns."""
        rule = self.log.rules.get(row.extra.op)
        return NOWHERE if rule is None else last_return(rule)

    def watched(self, row: RecordedRow) -> bool:
        """Whether a row was watched."""
        return bool(self.watchers(row.thing()))

    def watchers(self, source: Any) -> list:
        """The tapes that were told to watch the source."""
        return [tape for value, tape in self.log.tapes.watches if value() is handle_of(source)]

    def block_way(self) -> list[Site]:
        """Where the tape began, with the calls that led there."""
        return next((list(span.way) for span in self.log.tapes.spans if span.tape is self.tape and span.way), [NOWHERE])

    def block(self) -> Site:
        """The line of that."""
        return self.block_way()[-1]

    def anew(self, q: Question, row: RecordedRow, at: text.Statement, *_: int) -> bool:
        """Whether what a statement made again took the place of the source."""
        makes = any(text.last_name(call.func)[:1].isupper() for call in at.calls)
        return makes and not self.is_named(row.thing()) and not self.is_in_layer(handle_of(q.source))

    def is_named(self, thing: Any) -> bool:
        """Whether the program has a name for a variable, or for a list or dictionary that it is in."""
        return any(self.handle(part) is thing for _, value in self.names() for part in _parts(value))

    def is_in_layer(self, thing: Any) -> bool:
        """Whether a layer or module that is alive has a variable."""
        gc.collect()
        layers = sys.modules.get("keras.src.layers.layer")
        owners = living(tf.Module, *([layers.Layer] if layers else []))
        return any(handle_of(part) is thing for owner in owners for part in owner.variables)

    def is_kept(self, thing: Any) -> bool:
        """Whether a name of the program, or a layer that is alive, has a variable."""
        return self.is_named(thing) or self.is_in_layer(thing)


def _parts(value: Any) -> list:
    return tf.nest.flatten(value) if isinstance(value, (tf.Variable, list, tuple, dict)) else []
