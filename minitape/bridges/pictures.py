"""A recording of another framework as pictures read it: its rows, its backward passes, and what they left."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import takewhile
from typing import Any

import numpy as np

from ..picture.fields import EventFields, Fields, ResultFields, SourceFields, TapeFields
from ..picture.known_rules import KnownRule, rule_of
from ..picture.reading import Reader
from ..picture.results import ASKED, SOURCES, said_by
from ..picture.rows import PictureRow
from ..picture.short import short_name
from ..picture.torn import is_zero
from ..picture.values import show_value
from ..recording.names import named_values
from ..recording.rows import AdjointShare, BackwardPass
from ..recording.values import numbers_of
from .rows import RowNumber

THUMBS = 400  # large values that a snapshot shows as pictures, too
SHORT = {  # what has room in a node
    "broadcast_in_dim": "broadcast",
    "cross_entropy": "cross-ent.",
    "SparseSoftmaxCrossEntropyWithLogits": "cross-ent.",
    "sparse_softmax_cross_entropy_with_logits": "cross-ent.",
    "SoftmaxCrossEntropyWithLogits": "cross-ent.",
    "scaled_dot_product_attention": "attention",
}


def shown(value: Any) -> Any:
    """The VALUE of a number or an array, or of an object that makes its own when it is asked (``shown()``).

    >>> shown(2.0)
    {'text': '2.0', 'data': 2.0}
    """
    return value.shown() if hasattr(value, "shown") else show_value(value)


def real_numbers(value: Any) -> np.ndarray | None:
    """The real numbers of a value; None where they are gone, or are none."""
    if value is None or hasattr(value, "array"):
        return numbers_of(value)
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None


def slim(part: Any, thumbs: Iterator[int]) -> Any:
    """A part of a snapshot, in which only the first large values have pictures: a page of many steps stays small.

    >>> slim([{"thumb": [[1.0]]}, {"thumb": [[2.0]]}], iter([THUMBS, THUMBS + 1]))
    [{'thumb': [[1.0]]}, {}]
    """
    if isinstance(part, list):
        return [slim(value, thumbs) for value in part]
    if not isinstance(part, dict):
        return part
    bare = "thumb" in part and next(thumbs) > THUMBS
    return {
        key: value if key in ("data", "thumb") else slim(value, thumbs)
        for key, value in part.items()
        if not (bare and key == "thumb")
    }


def picture_row(entry: Any) -> PictureRow:
    """The row of a snapshot."""
    value = shown(entry.value)
    operation = entry.kind == "operation"
    form: Fields = {
        "op": short_name(entry.op),
        "label": SHORT.get(entry.label, short_name(entry.label)),
        "formula": "",
        "rule": [],
        "said": [],
        "kind": entry.kind,
        "name": None if entry.name is None else short_name(entry.name),
        "version": entry.version,
        "output": entry.output,
        "call": entry.call,
        "dtype": entry.dtype,
        "shape": list(entry.shape),
        "released": value is None,
        "site": 0,
        "line": entry.site[1],
        "file": entry.site[0],
        "status": "ghost" if operation and not entry.differentiable else "recorded",
        "watched": entry.watched,
        "cut": entry.cut,
        "tapes": [0] if entry.differentiable else [],
        "by": None,
        "scope": [short_name(part) for part in entry.scope],
    }
    own: Fields | None = None if entry.tangent is None else {"tangent": shown(entry.tangent)}
    return PictureRow(entry.row, form, tuple(entry.inputs), None, value, own)


def known_rule(recording: Any, row: int) -> KnownRule | None:
    """The rule of minitape's own table for an operation, where its numbers are those of the program."""
    if row not in recording.rules:
        entry = recording.entries[row]
        inputs = [real_numbers(recording.entries[i].value) for i in entry.inputs]
        known = entry.kind == "operation" and entry.cut is None and recording.entries[entry.call].row == row
        recording.rules[row] = (
            rule_of(entry.op, inputs, real_numbers(entry.value), entry.dtype, entry.label) if known else None
        )
    return recording.rules[row]


def results_of(recording: Any, target: Any, sources: Any, namespaces: Iterable[dict]) -> list[ResultFields]:
    """What the backward pass that is shown left at its sources: the last one, or that of ``target``."""
    sweep = recording.sweep_of(target)
    if sweep is None:
        return []
    names = RecordingReader(recording, namespaces).names()
    steps = RecordingSteps(recording, sweep, sources if target is not None else None)
    arrived = dict(zip(steps.head["sources"], steps.gradients(), strict=True))
    if not sweep.sources and sources is None:
        arrived = {**dict.fromkeys(_not_arrived(recording, sweep)), **arrived}
    result: ResultFields = {
        "target": [{"name": _name(recording, row, names), "row": row} for row in sorted(sweep.target)],
        "sources": [_arrived(recording, row, arrived[row], names) for row in sorted(arrived)[:SOURCES]],
        "more": max(0, len(arrived) - SOURCES),
        "known": True,
        "shown": True,
        "call": sweep.asked or "backward",
    }
    _explain_results(recording, result, sweep)
    return [result]


def sources_by_row(recording: Any) -> dict[int, tuple[str, Any]]:
    """What the block trained by each of its rows: its name, and the object. Where two have one name, as the weights of
    two layers, it is the longer one that the program has for it; of an element of a tree, as `params['w']`, the last
    part where that is of no other: `w`.
    """
    if recording.names_of_sources is None or recording._recording:
        sources = [(row, name, one) for name, one in recording.trained().items() for row in recording.rows_of(one)]
        named = {row: recording.entries[row].name for row, _, _ in sources}
        owners = Counter(name for name, _ in {(named[row], id(one)) for row, _, one in sources})
        called = {row: named[row] if named[row] and owners[named[row]] == 1 else name for row, name, _ in sources}
        last = {name: re.findall(r"\w+", name)[-1] for name in called.values() if "[" in name}
        alone = {name for name, part in last.items() if not part.isdigit() and [*last.values()].count(part) == 1}
        recording.names_of_sources = {
            row: (last[name] if (name := called[row]) in alone else name, one) for row, _, one in sources
        }
    found: dict[int, tuple[str, Any]] = recording.names_of_sources
    return found


def _not_arrived(recording: Any, sweep: BackwardPass) -> Iterator[int]:
    """The last rows of what the block trained and no adjoint of this sweep arrived at."""
    rows: dict[int, list[int]] = {}
    for row, (_, one) in sources_by_row(recording).items():
        rows.setdefault(id(one), []).append(row)
    return (max(own) for own in rows.values() if not any(row in sweep.adjoints for row in own))


def _explain_results(recording: Any, result: ResultFields, sweep: BackwardPass) -> None:
    """Says why gradients are None or zero, in the words of ``explain``; of many only of the first ones."""
    bare = [one for one in result["sources"] if one["gradient"] is None or is_zero(one["gradient"])]
    for one in bare[:ASKED] if sweep.target else ():
        source = sources_by_row(recording).get(one["at"], ("", RowNumber(one["at"])))[1]
        with suppress(Exception):  # the picture goes on without words
            one["reason"], one["why"] = said_by(recording.why(recording.target_number(sweep), source))


def _name(recording: Any, row: int, names: Mapping[int, str]) -> str | None:
    known = sources_by_row(recording).get(row, ("",))[0]
    known = known or recording.result_names().get(row, "")
    name = known or recording.entries[row].name or names.get(row) if 0 <= row < len(recording.entries) else None
    return None if name is None else short_name(name)


def _arrived(recording: Any, row: int, gradient: Any, names: Mapping[int, str]) -> SourceFields:
    return {
        "name": _name(recording, row, names),
        "rows": [row] if row >= 0 else [],
        "parts": [],
        "gradient": gradient,
        "at": row,
        "reason": None,
        "why": None,
        "blame": None,
        "now": None,
        "assigned": 0,
    }


class RecordingSteps:
    """A sweep that was recorded, as a picture takes it: all steps are there at once."""

    def __init__(self, recording: Any, sweep: BackwardPass, sources: Any = None) -> None:
        self._recording, self._sweep, self.rest = recording, sweep, 0
        wanted = sources if isinstance(sources, (list, tuple)) else [] if sources is None else [sources]
        found = [recording.row_of(s) for s in wanted]
        self._sources = [-1 if row is None else row for row in found] if wanted else recording.sources(sweep)
        self.high = max(sweep.adjoints, default=-1)

    @property
    def head(self) -> dict:
        """The SWEEP but for its steps and gradients."""
        return {"target": sorted(self._sweep.target), "sources": self._sources, "rest": 0}

    def take(self, most: int | None = None) -> list[dict]:
        """Its steps, in the order in which the framework went."""
        return [self._step(call, edges) for call, edges in self._sweep.edges.items()]

    def _step(self, call: int, edges: list[AdjointShare]) -> dict:
        rule, arrived = known_rule(self._recording, call), real_numbers(self._sweep.adjoints.get(call))
        parts = [
            {
                "input": row,
                "port": port,
                **(rule.share(port, arrived, real_numbers(product)) if rule else {"local": None}),
                "product": shown(product),
                "sum": shown(total),
            }
            for row, port, product, total in edges
        ]
        step = {"row": call, "adjoint": self._adjoint(call), "edges": parts}
        entries = self._recording.entries
        others = [*takewhile(lambda row: entries[row].call == call, range(call + 1, len(entries)))]
        return step | {"others": [{"row": row, "adjoint": self._adjoint(row)} for row in others]} if others else step

    def _adjoint(self, row: int) -> Any:
        """What arrived; zeros for a result of several to which nothing came."""
        adjoint = self._sweep.adjoints.get(row)
        return show_value(np.zeros(self._recording.entries[row].shape)[()]) if adjoint is None else shown(adjoint)

    def gradients(self) -> list:
        """What arrived at the sources."""
        found = [self._sweep.adjoints.get(row) for row in self._sources]
        return [None if adjoint is None else shown(adjoint) for adjoint in found]

    def whole(self) -> dict:
        """The SWEEP."""
        return self.head | {"steps": self.take(), "gradients": self.gradients()}


class RecordingReader(Reader):
    """Reads a recording that is complete."""

    tape: Any  # a Recording
    record: Any  # the same, or None

    def read(self, limit: int | None = None) -> list[PictureRow]:
        if not self._start():
            return []
        first = self.count
        last = len(self.record) if limit is None else min(len(self.record), first + limit)
        self.count = last
        return [self._row_at(row) for row in range(first, last)]

    def read_ends(self, most: int) -> list[PictureRow]:
        if not self._start() or len(self.record) <= most:
            return self.read()
        ends = [*range(most // 2), *range(len(self.record) - most // 2, len(self.record))]
        return [self._row_at(row) for row in ends]

    def lines_of(self, file: str) -> list[str]:
        return self.tape.lines_of(file)

    def insides(self, target: Any = None, sources: Any = None, row: int | None = None) -> list:
        return self.tape.insides(target, row)

    def _row_at(self, row: int) -> PictureRow:
        entry = self.tape.entries[row]
        if entry.site[0]:
            self.files[entry.site[0]] = None
        found, rule = picture_row(entry), known_rule(self.tape, row)
        if entry.name and row in sources_by_row(self.tape):
            found.form["name"] = short_name(sources_by_row(self.tape)[row][0])
        elif not entry.name and row in self.tape.result_names():
            found.form["name"] = short_name(self.tape.result_names()[row])
        if rule is not None:
            found.form |= rule.fields
        return found

    def changes(self) -> list[Fields]:
        return []

    def recompute(self, asked: bool = False) -> None:
        """What was recorded is kept."""

    def names(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for name, value in named_values(self.namespaces if self.record is not None else ()):
            row = None if isinstance(value, (int, bool)) else self.tape.row_of(value)
            if row is not None:
                found.setdefault(row, name)
        return found

    def _events(self) -> list[EventFields]:
        return list(self.tape.events)

    def _tape(self, number: int, tape: Any) -> TapeFields:
        state = "recording" if tape._recording else "closed"
        return {
            "id": number,
            "name": self._tape_name(tape, number),
            "persistent": False,
            "state": state,
            "spans": [list(span) for span in tape.spans],
            "bytes": 0,
        }
