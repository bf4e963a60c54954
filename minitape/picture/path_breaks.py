"""Find the breaks at which gradients in a snapshot end, from the lines that ``explain`` blames."""

import re
from collections.abc import Iterable

from ..engine.types import OptionalNumber, RowList, TextsByName
from .snapshot_types import (
    EventFields,
    OptionalValue,
    PathBreakFields,
    ResultFields,
    RowFieldsSequence,
    SourceFields,
    SweepFields,
)
from .value_display import compute_largest_magnitude

Edge = tuple[int, int]  # The rows of an input and of the operation that reads it.
MAX_BREAKS = 8
ESCAPE_PATTERN = re.compile(
    r"\.\s*(?:numpy|item|tolist|detach|data)\b(?:\(\))?|\b(?:float|int|bool|np\.array|np\.asarray)\b(?=\()"
)


def is_zero(value: OptionalValue) -> bool:
    """Return whether all elements of a value are zero.

    Args:
        value: The value in snapshot form, or None, which does not count as zero.

    >>> is_zero({"text": "[0. 0.]", "data": [0.0, 0.0]}), is_zero({"text": "nan", "data": "nan"})
    (True, False)
    """
    return value is not None and compute_largest_magnitude(value) == 0


def list_path_breaks_and_set_blame(
    rows: RowFieldsSequence,
    shown_result: ResultFields | None,
    events: Iterable[EventFields],
    source_texts: TextsByName,
    sweep: SweepFields | None,
) -> list[PathBreakFields]:
    """Return the breaks of the displayed gradient call, and add the rows to blame to its sources.

    The break of an escaped value leads from its row to the constant that brought the value back.

    Args:
        rows: All rows of the snapshot, in order.
        shown_result: The result whose sweep is shown, or None if there are no breaks. The row of a break is added to a
            source without a row to blame.
        events: The events of the snapshot.
        source_texts: The texts of the files and cells, by name.
        sweep: The sweep, which is searched for shares that became zero.

    Returns:
        At most MAX_BREAKS different breaks.
    """
    path_breaks: list[PathBreakFields] = []
    if shown_result is None:
        return path_breaks
    escapes = [event for event in events if event["kind"] == "numpy" and event.get("row", -1) in range(len(rows))]
    zeroed_edges: dict[OptionalNumber, list[Edge]] = {}
    for source in shown_result["sources"]:
        blamed_line = source.get("why")
        is_none = source["none"]
        if blamed_line is None or (line := blamed_line["line"]) is None:
            continue
        edge: Edge | None
        escaped_rows = [event["row"] for event in escapes if is_none and event.get("line") == line]
        if escaped_rows:
            targets = [target["row"] for target in shown_result["target"]]
            returned_row = _find_row_of_returned_value(rows, targets, escaped_rows[-1], line)
            kind = "left"
            edge = (escaped_rows[-1], returned_row)
        else:
            line_rows = [row for row in rows if (row["file"], row["line"]) == (blamed_line["file"], line)]
            if is_none:
                kind = "cut"
                edge = _find_cut_edge(line_rows, source)
            else:
                kind = "zero"
                edge = _find_zeroed_edge(line_rows, source, sweep, zeroed_edges)
        if edge is None:
            continue
        start, end = edge
        text = (
            _find_escape_expression(source_texts.get(blamed_line["file"] or "", ""), line)
            if escaped_rows
            else rows[end]["label"]
        )
        path_break: PathBreakFields = {
            "kind": kind,
            "from": start,
            "to": end,
            "line": line,
            "text": text,
        }
        if source["blame"] is None:
            source["blame"] = start if escaped_rows else end
        if path_break not in path_breaks:
            path_breaks.append(path_break)
    return path_breaks[:MAX_BREAKS]


def _find_escape_expression(source_text: str, line: int) -> str:
    """Return the expression on a line through which the value escaped, such as `numpy()`."""
    match = next(map(ESCAPE_PATTERN.search, source_text.split("\n")[line - 1 :]), None)
    if match is None:
        return "Python"
    name = match[0].lstrip(".").removesuffix("()")
    return name if match[0] == ".data" else f"{name}()"


def _find_row_of_returned_value(rows: RowFieldsSequence, targets: RowList, escaped_row: int, line: int) -> int:
    """Find the constant or number literal that brought an escaped value back.

    Returns:
        The row of the only candidate, or -1 without a unique candidate. Candidates are ancestors of the targets:
        constants created on the same line, or else numbers with the same value, or else any constants.
    """
    ancestors = {*targets}
    for row in range(max(targets, default=-1), escaped_row, -1):
        if row in ancestors:
            ancestors.update(rows[row]["inputs"])
    later_constants = [row for row in rows[escaped_row + 1 :] if row["row"] in ancestors and row["kind"] == "constant"]
    created_rows = [row for row in later_constants if not row.get("literal")]
    equal_literals = [
        row for row in later_constants if row.get("literal") and row["value"] == rows[escaped_row]["value"]
    ]
    for candidates in ([row for row in created_rows if row["line"] == line], equal_literals, created_rows):
        if len(candidates) == 1:
            return candidates[0]["row"]
    return -1


def _find_cut_edge(line_rows: RowFieldsSequence, source: SourceFields) -> Edge | None:
    """Find an edge on the blamed line that passes no gradient, preferably into the row that `explain` blames."""
    cut_rows = [
        row
        for row in line_rows
        if row["kind"] == "operation" and row["inputs"] and (row["cut"] or row["row"] == source["blame"])
    ]
    blamed_row = min(cut_rows, key=lambda row: row["row"] != source["blame"], default=None)
    return None if blamed_row is None else (blamed_row["inputs"][0], blamed_row["row"])


def _find_zeroed_edge(
    line_rows: RowFieldsSequence,
    source: SourceFields,
    sweep: SweepFields | None,
    zeroed_edges: dict[OptionalNumber, list[Edge]],
) -> Edge | None:
    """Find an edge on the blamed line whose share is zero although its row's adjoint is nonzero.

    The edges of a line are kept in ``zeroed_edges``, by its first row, because thousands of sources may blame it.
    """
    rows_by_number = {row["row"]: row for row in line_rows}
    first_row = next(iter(rows_by_number), None)
    if first_row not in zeroed_edges:
        zeroed_edges[first_row] = [
            (edge["input"], step["row"])
            for step in (sweep["steps"] if sweep else ())
            if step["row"] in rows_by_number and not is_zero(step["adjoint"])
            for edge in step["edges"]
            if is_zero(edge["product"])
        ]
    named_edges = [
        edge
        for edge in zeroed_edges[first_row]
        if edge[1] == source["blame"] or rows_by_number[edge[1]]["op"] in str(source["reason"])
    ]
    return min(named_edges or zeroed_edges[first_row], key=lambda edge: edge[0] != source["at"], default=None)
