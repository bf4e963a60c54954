"""Where a gradient ends, for pictures to draw: TORNs of a snapshot, at the lines that ``explain`` blames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .marks import magnitude

if TYPE_CHECKING:
    from .fields import BlamedLine, EventFields, Fields, ResultFields, Shown, SourceFields, SweepFields, Torn

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
    shown: ResultFields | None,
    events: Iterable[EventFields],
    texts: dict[str, str],
    sweep: SweepFields | None,
) -> list[Torn]:
    """The TORNs of the call that is shown; each source that has one also gets the row to blame.

    A value that left the framework is torn from the constant as which it came back: the one of the exit's line, else
    the only one; -1 where that does not tell which.
    """
    found: list[Torn] = []
    if shown is None:
        return found
    left = [event for event in events if event["kind"] == "numpy" and event.get("row", -1) in range(len(rows))]
    for source in shown["sources"]:
        why, none = source.get("why"), source["gradient"] is None
        if why is None or why["line"] is None:
            continue
        edge: tuple[int, int] | None
        if exits := [event["row"] for event in left if none and event.get("line") == why["line"]]:
            targets = [end["row"] for end in shown["target"]]
            kind, edge = "left", (exits[-1], _came_back(rows, targets, exits[-1], why["line"]))
        else:
            there = [row for row in rows if (row["file"], row["line"]) == (why["file"], why["line"])]
            kind, edge = ("cut", _cut_at(there, source)) if none else ("zero", _zeroed_at(there, source, sweep))
        if edge is None:
            continue
        text = _exit(texts, why) if exits else rows[edge[1]]["label"]
        torn: Torn = {"kind": kind, "from": edge[0], "to": edge[1], "line": why["line"], "text": text}
        if source["blame"] is None:
            source["blame"] = edge[not exits]
        if torn not in found:
            found.append(torn)
    return found[:MOST]


def _exit(texts: dict[str, str], why: BlamedLine) -> str:
    """What took the value, as the line says it."""
    lines = texts.get(why["file"] or "", "").split("\n")
    found = next(map(_LEAVES.search, lines[(why["line"] or 0) - 1 :]), None)
    return "Python" if found is None else found[0].lstrip(".").removesuffix("()") + "()" * (found[0] != ".data")


def _came_back(rows: Sequence[Fields], targets: list[int], start: int, number: int) -> int:
    """The row of the constant, or of the same number, as which a value that left came back; -1 where none or several
    may be it.
    """
    above = {*targets}
    for row in range(max(targets, default=-1), start, -1):
        if row in above:
            above.update(rows[row]["inputs"])
    later = [rows[at] for at in sorted(above) if at > start and rows[at]["kind"] == "constant"]
    made = [row for row in later if not row.get("literal")]
    same = [row for row in later if row.get("literal") and row["value"] == rows[start]["value"]]
    for likely in ([row for row in made if row["line"] == number], same, made):
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
    best = min(cut, key=lambda row: row["row"] != source["blame"], default=None)
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
    return min(named or found, key=lambda edge: edge[0] != source["at"], default=None)
