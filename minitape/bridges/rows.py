"""The rows of a recording as explain reads them: what each was computed with, and why no gradient passes there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, takewhile
from typing import Any

from ..explain.caller import asking_frame
from ..explain.reasons import text, zero_nan
from ..explain.reasons.question import Exit, Found, Given, Question, RecordedRow
from ..picture.reading import spaces


class Number(int):
    """The number of a row that is asked about: an int of the program's is none."""


def rows_of(
    recording: Any, thing: Callable[[Any], Callable[[], Any]], causes: Mapping[str, str] = {}
) -> list[RecordedRow]:
    """The rows of a recording; ``thing`` gives for an entry what finds the object that it stands for, and ``causes``
    the words for what a recorder calls otherwise.
    """
    known: list[RecordedRow] | None = recording.rows_read
    if known is None:
        known = [_row_of(entry, thing(entry), causes) for entry in recording.entries]
        recording.rows_read = None if recording._recording else known
    return known


def _row_of(entry: Any, thing: Callable[[], Any], causes: Mapping[str, str]) -> RecordedRow:
    why = causes.get(entry.why, entry.why)
    given = [Given(row, why) for row in (*entry.inputs, *(one for one in entry.came if one not in entry.inputs))]
    return RecordedRow(
        entry.row,
        entry.op,
        entry.kind,
        given,
        entry.site,
        thing,
        [entry.site],
        entry.value,
        entry.dtype,
        entry.shape,
        entry.differentiable,
        number=entry.row,
        name=entry.name or "",
        scope=entry.scope,
        call=entry.call,
        extra=entry.extra,
    )


def names_here() -> list[tuple[str, Any]]:
    """The names of the program that asks, and what they hold."""
    return [pair for space in spaces(asking_frame()) for pair in list(space.items())]


class FrameworkAdapter:
    """What is known of a program in the same way in every framework."""

    names: Callable[[], Iterable[tuple[str, Any]]] = staticmethod(names_here)
    """The names of the program, and what they hold."""

    def handle(self, value: Any) -> Any:
        """What a value is known by."""
        return value

    def is_number(self, row: RecordedRow) -> bool:
        """Whether it is a number that the program wrote."""
        return False


def read_later(at: text.Statement, names: Iterable[str]) -> bool:
    """Whether a statement after one, in the same function, reads one of these names."""
    later = (s.reads for s in text.statements(at.file) if s.functions == at.functions and s.order > at.order)
    return not set(names).isdisjoint(chain(*later))


def dropped(q: Question) -> Found:
    """The last that was computed from a source, none of which the target was computed from."""
    made = [row for row in q.after.difference(q.own) if not q.ends or row < q.ends[0]]
    return zero_nan.at_row(q, q.adapter.unused, max(made), "dropped") if made else None


def exits_of(recording: Any) -> list[Exit]:
    """What left a recording."""
    return [Exit(one.row, one.how, one.site, one.before) for one in recording.left]


def first_nan(q: Question, read: Callable[[Any, Any, Any], Question]) -> Found:
    """Where NaN came up; of weights that took a step with NaN what began with it in an earlier backward pass."""
    found, recording = zero_nan.nan(q), q.adapter.recording
    earlier = takewhile(lambda sweep: sweep is not q.sweep, recording.sweeps)
    began = (zero_nan.nan(read(recording, Number(sweep.target[-1]), q.source)) for sweep in earlier if sweep.target)
    return next(filter(None, began), found) if found is not None and found.kind == "trained" else found
