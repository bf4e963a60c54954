"""What is wrong with a recording, for the strip above a picture: ALARMs of a snapshot, in the words of ``explain``.

A masked score of -inf, a ``stop_gradient`` or a small gradient of a mean are meant: they are no alarm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import hypot, isfinite, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..common.texts import paragraph
from .short import some
from .torn import torn_of
from .words import word

if TYPE_CHECKING:
    from ..engine.types import Object
    from .fields import (
        Alarm,
        EventFields,
        Fields,
        ResultFields,
        Shown,
        Snapshot,
        SnapshotStep,
        SourceFields,
        SweepFields,
    )

VANISHED = 1e-6  # of what left the target
SEVERAL = 2  # steps that make a gradient smaller: one alone is a factor
ROUNDING = 64  # times the precision of a number: a sum that is smaller than this share of its terms is their rounding
_EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
FEW = 4  # of one kind
_COMPARE = ("subtract", "squared_difference", "sub", "Sub", "SquaredDifference")


def wrong_with(tape: Object, snapshot: Snapshot, ends: tuple[Object, Object] | None = None) -> Snapshot:
    """The ALARMs of a snapshot, the gravest first, and its TORNs; ``ends`` are target and sources of its sweep, where
    the tape was not asked.

    >>> import minitape as tf
    >>> x = tf.Variable([0.0, 4.0], name="x")
    >>> with tf.GradientTape() as tape:
    ...     y = tf.reduce_sum(tf.sqrt(x * x))
    >>> _ = tape.gradient(y, x)
    >>> [alarm["title"] for alarm in tf.snapshot(tape)["alarms"]]
    ['The gradient is infinite from row 2, line 2']
    """
    rows, sweep, results, events = snapshot["rows"], snapshot["sweep"], snapshot["results"], snapshot["events"]
    torn = torn_of(rows, results, events, snapshot["sources_text"], sweep)
    shown = next((result for result in results if result.get("shown")), None)
    alarms = [
        *_nonfinite(rows, sweep, lambda: _words(tape, shown, ends)),
        *_missing(rows, shown),
        *_assigned(tape, rows, sweep, events),
        *_broadcast(rows),
        *_vanished(rows, sweep),
    ]
    return {"alarms": alarms, "torn": torn}


def _alarm(kind: str, title: str, text: str, row: Fields | None, back: bool = False) -> Alarm:
    return {
        "kind": kind,
        "title": title,
        "text": text,
        "row": -1 if row is None else row["row"],
        "line": None if row is None else row["line"],
        "back": back,
    }


def _place(row: Fields) -> str:
    known = {"row": row["row"], "line": row["line"]}
    return word("row {row}, line {line}", **known) if row["line"] else word("row {row}", **known)


# -- NaN and infinity ------------------------------------------------------------------------------


def _nonfinite(rows: Sequence[Fields], sweep: SweepFields | None, words: Callable[[], str]) -> list[Alarm]:
    if sweep is not None and not any(
        _name(rows[target]["value"]) for target in sweep["target"] if 0 <= target < len(rows)
    ):
        for step in sweep["steps"]:
            bad = next((name for edge in step["edges"] if (name := _name(edge["product"]))), "")
            if bad:  # what comes in is finite still: it is the first
                row = rows[step["row"]]
                title = word("The gradient is {value} from {place}", value=bad, place=_place(row))
                return [_alarm("gradient", title, words(), row, True)]
        return []
    for row in rows:
        bad = _name(row["value"]) if row["kind"] == "operation" else ""
        if bad and not any(_name(rows[i]["value"]) for i in row["inputs"] if i < len(rows)):
            title = word("The value is {value} from {place}", value=bad, place=_place(row))
            return [_alarm("value", title, words(), row)]
    return []


def _name(value: Shown | None) -> str:
    """ "NaN" or "infinite" where a value holds one."""
    if value is None:
        return ""
    stats = value.get("stats")
    text = value.get("text", "") if stats is None else "nan" if stats["nans"] else f"{stats['min']} {stats['max']}"
    if "inf" in str(value.get("thumb")):
        text += " inf"
    return "NaN" if re.search(r"\bnan\b", text) else word("infinite") if re.search(r"\binf\b", text) else ""


def _words(tape: Object, shown: ResultFields | None, ends: tuple[Object, Object] | None) -> str:
    """What ``explain`` says of it."""
    with suppress(Exception):  # the picture goes on without words
        if hasattr(tape, "watch"):
            said = tape.explain(*(ends or tape.last[:2]))
        elif shown:
            said = tape.explain(shown["target"][0]["row"], shown["sources"][0]["rows"][-1])
        answers = said if isinstance(said, list) else [said]
        return next(paragraph(one.message, one.fix) for one in answers if one.kind == "nonfinite")
    return ""


# -- gradients that are None, or end ---------------------------------------------------------------


def _missing(rows: Sequence[Fields], shown: ResultFields | None) -> list[Alarm]:
    """Of each reason for which gradients are None or zero one: with the names of all that have it."""
    alike: dict[tuple[object, ...], list[SourceFields]] = {}
    for source in [] if shown is None or not shown["known"] else shown["sources"]:
        if source["reason"]:
            said = re.sub(rf"(?<![\w.]){re.escape(str(source['name']))}(?!\w)", "", source["reason"])
            alike.setdefault((source["gradient"] is None, source["blame"], said), []).append(source)
    found = []
    for (none, at, _), sources in alike.items():
        row = rows[at] if isinstance(at, int) and 0 <= at < len(rows) else None
        name = some([source["name"] or word("a source") for source in sources], FEW)
        titles = (
            ("The gradient for {name} is None", "The gradient for {name} is None: see {place}")
            if none
            else ("The gradient for {name} is zero", "The gradient for {name} is zero: see {place}")
        )
        title = word(titles[0], name=name) if row is None else word(titles[1], name=name, place=_place(row))
        found.append(_alarm("none" if none else "zero", title, str(sources[0]["reason"]), row))
    return found[:FEW]


def _assigned(
    tape: Object, rows: Sequence[Fields], sweep: SweepFields | None, events: Iterable[EventFields]
) -> list[Alarm]:
    """A value that a gradient could have gone back through was stored in a variable."""
    arrived = {edge["input"] for step in (sweep["steps"] if sweep else ()) for edge in step["edges"]}
    found = []
    for event in events:
        if event["kind"] != "assign" or event.get("to") not in arrived:
            continue
        value = event.get("row", -1)
        row = rows[value] if 0 <= value < len(rows) else None
        if row is not None and row["kind"] == "operation" and row["tapes"] and value not in arrived:
            name = str(event.get("name", word("a variable"))).removesuffix(":0")
            line = word(" (line {line})", line=event["line"]) if event.get("line") else ""
            text = word(
                "{name} was assigned{line}: a variable is state, it does not know where its value came from. What "
                "this row computed adds "
                "nothing to the gradient.",
                name=name,
                line=line,
            )
            found.append(
                _alarm(
                    "state",
                    word("The gradient ends where {name} is assigned: {place}", name=name, place=_place(row)),
                    text,
                    row,
                )
            )
    return found[:FEW]


# -- shapes and sizes ------------------------------------------------------------------------------


def _broadcast(rows: Sequence[Fields]) -> list[Alarm]:
    """A column of predictions was compared with a row of labels."""
    found = []
    for row in rows:
        if row["op"] not in _COMPARE or len(row["inputs"]) != 2 or max(row["inputs"]) >= len(rows):
            continue
        one, other = (tuple(rows[i]["shape"]) for i in row["inputs"])
        if _column_and_row(one, other) or _column_and_row(other, one):
            text = word(
                "Each value is compared with all the others. Give both the same shape: one [:, None] or squeeze is "
                "missing."
            )
            shapes = f"{one} {row['label'].replace('-', '−')} {other} → {tuple(row['shape'])}"
            found.append(
                _alarm("broadcast", word("Broadcast {shapes}: {place}", shapes=shapes, place=_place(row)), text, row)
            )
    return found[:FEW]


def _column_and_row(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return len(other) == 1 and other[0] > 1 and one == (other[0], 1)


def _vanished(rows: Sequence[Fields], sweep: SweepFields | None) -> list[Alarm]:
    """All that arrives at a source went over steps that made it smaller, by more than a million times in all."""
    steps = sweep["steps"] if sweep else []
    if not steps or sweep is None or sweep["rest"]:
        return []
    start = _size(steps[0]["adjoint"], rows[steps[0]["row"]])
    ends = {
        row: _size(gradient, rows[row])
        for row, gradient in zip(sweep["sources"], sweep["gradients"], strict=False)
        if 0 <= row < len(rows)
    }
    least, came = VANISHED * start, _heaviest(rows, steps)
    for source in sorted((row for row, size in ends.items() if 0 < size < least), key=ends.__getitem__):
        path = [came[source]] if source in came else []
        while path and path[-1].row in came:
            path.append(came[path[-1].row])
        if any(edge.cancels for edge in path) or sum(edge.size < edge.adjoint for edge in path) < SEVERAL:
            continue
        text = word(
            "What arrives at {name} is {share} times what left the target. From here on it is less than a millionth.",
            name=(rows[source]["name"] or word("row {row}", row=source)).removesuffix(":0"),
            share=f"{ends[source] / start:.1e}",
        )
        row = rows[next(edge.row for edge in reversed(path) if edge.size < least)]
        return [_alarm("vanished", word("The gradient vanishes at {place}", place=_place(row)), text, row, True)]
    return []


class _Heavy(NamedTuple):
    """The largest product that arrived at a row: from which row, how large that row's adjoint was, and whether its
    terms cancel.
    """

    row: int
    size: float
    adjoint: float
    cancels: bool


def _heaviest(rows: Sequence[Fields], steps: Sequence[SnapshotStep]) -> dict[int, _Heavy]:
    """By row the largest product that arrived there: all paths to a source shrink where the largest one does."""
    found: dict[int, _Heavy] = {}
    for step in steps:
        row = rows[step["row"]]
        adjoint = _size(step["adjoint"], row)
        for edge in step["edges"]:
            there = rows[edge["input"]]
            size = _size(edge["product"], there)
            summed = prod(there["shape"]) < prod(row["shape"])
            cancels = summed and size <= ROUNDING * _EPSILON.get(there["dtype"], 0.0) * adjoint
            if edge["input"] not in found or size > found[edge["input"]].size:
                found[edge["input"]] = _Heavy(step["row"], size, adjoint, cancels)
    return found


def _size(value: Shown | None, row: Fields) -> float:
    """About the sum of the magnitudes: a mean over many elements leaves it as it is."""
    if value is None:
        return 0.0
    with suppress(TypeError, ValueError):
        stats = value.get("stats")
        if stats is not None:
            size = prod(row["shape"]) * hypot(float(str(stats["mean"])), float(str(stats["std"])))
        else:
            size = float(np.abs(np.array(value.get("data"), float)).sum())
        return size if isfinite(size) else 0.0
    return 0.0
