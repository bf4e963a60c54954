"""What is wrong with a recording, for the strip above a picture: ALARMs of a snapshot, in the words of ``explain``.

A masked score of -inf or a ``stop_gradient`` are meant: they are no alarm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

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
        SourceFields,
        SweepFields,
    )

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
    shown = next((result for result in results if result.get("shown")), None)
    torn = torn_of(rows, shown, events, snapshot["sources_text"], sweep)
    alarms = [
        *_nonfinite(rows, sweep, lambda: _words(tape, shown, ends)),
        *_missing(rows, shown),
        *_assigned(rows, sweep, events),
        *_broadcast(rows),
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
    return word("row {row}, line {line}" if row["line"] else "row {row}", row=row["row"], line=row["line"])


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
        if bad and not any(_name(rows[i]["value"]) for i in row["inputs"]):
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
        row = rows[at] if isinstance(at, int) and at >= 0 else None
        name = some([source["name"] or word("a source") for source in sources], FEW)
        titles = (
            ("The gradient for {name} is None", "The gradient for {name} is None: see {place}")
            if none
            else ("The gradient for {name} is zero", "The gradient for {name} is zero: see {place}")
        )
        title = word(titles[row is not None], name=name, place=row and _place(row))
        found.append(_alarm("none" if none else "zero", title, str(sources[0]["reason"]), row))
    return found[:FEW]


def _assigned(rows: Sequence[Fields], sweep: SweepFields | None, events: Iterable[EventFields]) -> list[Alarm]:
    """A value that a gradient could have gone back through was stored in a variable."""
    arrived = {edge["input"] for step in (sweep["steps"] if sweep else ()) for edge in step["edges"]}
    found = []
    for event in events:
        value = event.get("row", -1)
        if value >= 0 and value not in arrived and event.get("to") in arrived and rows[value]["tapes"]:
            name, place = event["name"].removesuffix(":0"), _place(rows[value])
            title = word("The gradient ends where {name} is assigned: {place}", name=name, place=place)
            text = word("A variable is state: it does not know where its value came from. This row adds nothing.")
            found.append(_alarm("state", title, text, rows[value]))
    return found[:FEW]


# -- shapes ------------------------------------------------------------------------------


def _broadcast(rows: Sequence[Fields]) -> list[Alarm]:
    """A column of predictions was compared with a row of labels."""
    found = []
    for row in rows:
        if row["op"] not in _COMPARE or len(row["inputs"]) != 2:
            continue
        one, other = (tuple(rows[i]["shape"]) for i in row["inputs"])
        few, more = sorted((one, other), key=len)
        if len(few) == 1 and few[0] > 1 and more == (few[0], 1):
            text = word(
                "Each value is compared with all the others. Give both the same shape: one [:, None] or squeeze is "
                "missing."
            )
            shapes = f"{one} {row['label'].replace('-', '−')} {other} → {tuple(row['shape'])}"
            found.append(
                _alarm("broadcast", word("Broadcast {shapes}: {place}", shapes=shapes, place=_place(row)), text, row)
            )
    return found[:FEW]
