"""Where a gradient ends, for pictures to draw: TORNs of a snapshot, at the lines that ``explain`` blames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .marks import magnitude

if TYPE_CHECKING:
    from .fields import EventFields, Fields, ResultFields, Shown, SourceFields, SweepFields, Torn

MOST = 8
_LEAVES = re.compile(
    r"\.\s*(?:numpy|item|tolist|detach|data)\b(?:\(\))?|\b(?:float|int|bool|np\.array|np\.asarray)\b(?=\()"
)


def is_zero(value: Shown | None) -> bool:
    """Whether all elements of a value are zero.

    >>> is_zero({"text": "[0. 0.]", "data": [0.0, 0.0]}), is_zero({"text": "nan", "data": "nan"})
    (True, False)
    """
    return value is not None and magnitude(value) == 0


def torn_of(
    rows: Sequence[Fields],
    results: Sequence[ResultFields],
    events: Iterable[EventFields],
    texts: dict[str, str],
    sweep: SweepFields | None,
) -> list[Torn]:
    """The TORNs of the call that is shown; each source that has one also gets the row to blame.

    A value that left the framework is torn from the constant as which it came back: the one of the exit's line, else
    the only one; -1 where that does not tell which.
    """
    found: list[Torn] = []
    shown = next((result for result in results if result.get("shown")), None)
    left = [event for event in events if event["kind"] == "numpy" and event.get("row", -1) in range(len(rows))]
    for source in [] if shown is None else shown["sources"]:
        why = source.get("why")
        if why is None or why["line"] is None:
            continue
        line = _line(texts, why["file"], why["line"])
        exits = [event for event in left if event.get("line") == why["line"]]
        if exits and source["gradient"] is None:
            start = exits[-1]["row"]
            back = _came_back(rows, [end["row"] for end in shown["target"]] if shown else [], start, why["line"])
            torn: Torn = {
                "kind": "left",
                "from": start,
                "to": back,
                "line": why["line"],
                "text": _text(line) or "Python",
            }
        else:
            there = [row for row in rows if (row["file"], row["line"]) == (why["file"], why["line"])]
            edge = _cut_at(there, source) if source["gradient"] is None else _zeroed_at(there, source, sweep)
            if edge is None:
                continue
            start, end = edge
            kind = "cut" if source["gradient"] is None else "zero"
            torn = {"kind": kind, "from": start, "to": end, "line": why["line"], "text": rows[end]["label"]}
        if source["blame"] is None:
            source["blame"] = torn["from"] if torn["kind"] == "left" else torn["to"]
        if torn not in found:
            found.append(torn)
    return found[:MOST]


def _line(texts: dict[str, str], file: str | None, line: int) -> str:
    lines = texts.get(file or "", "").split("\n")
    return lines[line - 1] if line <= len(lines) else ""


def _text(line: str) -> str:
    found = _LEAVES.search(line)
    return "" if found is None else found[0].lstrip(".").removesuffix("()") + "()" * (found[0] != ".data")


def _came_back(rows: Sequence[Fields], targets: list[int], start: int, number: int) -> int:
    """The row of the constant as which a value that left came back, -1 where none or several may be it."""
    above: set[int] = set()
    for row in range(max(targets, default=-1), start, -1):
        if row in above or row in targets:
            above.update(rows[row]["inputs"])
    later = [rows[at] for at in sorted(above) if at > start]
    constants = [row for row in later if row["kind"] == "constant" and not row.get("literal")]
    for likely in ([row for row in constants if row["line"] == number], constants):
        if len(likely) == 1:
            return likely[0]["row"]
    return -1


def _cut_at(there: Sequence[Fields], source: SourceFields) -> tuple[int, int] | None:
    """The edge into the row, of those of the blamed line, that no gradient passes: the one that `explain` named."""
    cut = [
        row
        for row in there
        if row["kind"] == "operation" and row["inputs"] and (row["cut"] or row["row"] == source["blame"])
    ]
    best = next((row for row in cut if row["row"] == source["blame"]), cut[0] if cut else None)
    return None if best is None else (best["inputs"][0], best["row"])


def _zeroed_at(there: Sequence[Fields], source: SourceFields, sweep: SweepFields | None) -> tuple[int, int] | None:
    """The edge out of a row of the blamed line that carried zeros where something else had arrived."""
    known = {row["row"]: row for row in there}
    found = [
        (edge["input"], step["row"])
        for step in (sweep["steps"] if sweep else ())
        if step["row"] in known and not is_zero(step["adjoint"])
        for edge in step["edges"]
        if is_zero(edge["product"])
    ]
    named = [edge for edge in found if edge[1] == source["blame"] or known[edge[1]]["op"] in str(source["reason"])]
    return next(iter([edge for edge in named if edge[0] == source["at"]] or named or found), None)
