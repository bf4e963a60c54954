"""How a snapshot travels to the browser: columns instead of rows, compressed.

A column is ``{"c": value}`` where all rows agree, ``{"d": distinct, "i": indices}`` where few values repeat, else
``{"v": list}``. widgets/frontend/src/schema.ts unpacks it.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

DICTIONARY = frozenset(
    "op label formula rule kind name dtype shape line file watched cut tapes by scope status".split()
)  # the fields in which few values repeat


def encode(snapshot: dict[str, Any]) -> bytes:
    """The snapshot as zlib-compressed JSON of columns.

    >>> decode(encode({"version": 1, "first": 0, "rows": [{"row": 0, "op": "leaf"}]}))["rows"]
    [{'op': 'leaf', 'row': 0}]
    """
    rows = snapshot["rows"]
    packed = {key: value for key, value in snapshot.items() if key != "rows"}
    packed["count"] = len(rows)
    packed["columns"] = columns(rows)
    return zlib.compress(json.dumps(packed, separators=(",", ":"), allow_nan=False).encode(), 1)


def decode(data: bytes) -> dict[str, Any]:
    """The snapshot in ``encode``'s bytes again; for tests and tools."""
    packed = json.loads(zlib.decompress(data))
    count, table = packed.pop("count"), packed.pop("columns")
    rows: list[dict[str, Any]] = [{} for _ in range(count)]
    for name, column in sorted(table.items()):
        for i, row in enumerate(rows):
            row[name] = (
                column["c"] if "c" in column else column["v"][i] if "v" in column else column["d"][column["i"][i]]
            )
    for i, row in enumerate(rows):
        row["row"] = packed["first"] + i
    return packed | {"rows": rows}


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of the rows as packed columns; the row numbers follow from the first."""
    if not rows:
        return {}
    return {name: _column(name, [row.get(name) for row in rows]) for name in rows[0] if name != "row"}


def _column(name: str, values: list[Any]) -> dict[str, Any]:
    first = values[0]
    if all(v is first or v == first for v in values):
        return {"c": first}
    if name not in DICTIONARY:
        return {"v": values}
    known: dict[Any, int] = {}
    distinct: list[Any] = []
    indices = []
    for value in values:
        key = tuple(value) if isinstance(value, list) else value
        index = known.get(key)
        if index is None:
            index = known[key] = len(distinct)
            distinct.append(value)
        indices.append(index)
    return {"d": distinct, "i": indices}
