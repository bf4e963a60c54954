"""How a snapshot travels to the browser, compressed. widgets/frontend/src/schema.ts unpacks it.

What rows have in common travels once, as a *form*; a row is the number of its form, its inputs and its value. Values
are packed as :mod:`minitape.picture.values` has it, and the steps of a sweep are columns.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from minitape.picture.reading import PictureRow
from minitape.picture.values import unpack_value

if TYPE_CHECKING:
    from minitape.picture.fields import Fields


def encode(part: dict[str, Any]) -> bytes:
    """A snapshot whose "rows" are :class:`PictureRow` and whose steps hold packed values, as zlib-compressed JSON."""
    packed = {key: value for key, value in part.items() if key != "rows"}
    packed["packed"] = pack_rows(part["rows"])
    if part.get("sweep"):
        packed["sweep"] = part["sweep"] | {"steps": pack_steps(part["sweep"]["steps"])}
    return compress(packed)


def compress(packed: dict[str, Any]) -> bytes:
    """JSON, compressed; that of a page of steps (:mod:`minitape_widgets.sweeps`), too."""
    return zlib.compress(json.dumps(packed, separators=(",", ":"), allow_nan=False).encode(), 1)


def decode(data: bytes) -> dict[str, Any]:
    """The snapshot in ``encode``'s bytes, with its rows and steps in full; for tests and tools."""
    packed = json.loads(zlib.decompress(data))
    rows = packed.pop("packed")
    own = dict(rows["own"])
    columns = zip(rows["form"], rows["a"], rows["b"], rows["value"], strict=True)
    packed["rows"] = [
        PictureRow(packed["first"] + i, rows["forms"][form], a, b, value, own.get(i)).full()
        for i, (form, a, b, value) in enumerate(columns)
    ]
    if packed.get("sweep"):
        packed["sweep"]["steps"] = unpack_steps(packed["sweep"]["steps"])
        packed["sweep"]["gradients"] = [unpack_value(g) for g in packed["sweep"]["gradients"]]
    return packed


def pack_rows(rows: list[PictureRow]) -> dict[str, Any]:
    """The columns of the rows; their numbers follow from the first."""
    known: dict[int, int] = {}
    forms: list[Fields] = []
    numbers = []
    for row in rows:
        key = id(row.form)
        number = known.get(key)
        if number is None:
            number = known[key] = len(forms)
            forms.append(row.form)
        numbers.append(number)
    own = [(i, row.own) for i, row in enumerate(rows) if row.own]
    return {
        "forms": forms,
        "form": numbers,
        "a": [row.a for row in rows],
        "b": [row.b for row in rows],
        "value": [row.value for row in rows],
        "own": own,
    }


EDGE = ("input", "port", "local", "product", "sum")


def pack_steps(steps: list[Any]) -> dict[str, Any]:
    """The columns of the steps, and of their edges one after the other."""
    edges = [edge for step in steps for edge in step["edges"]]
    return {
        "row": [step["row"] for step in steps],
        "adjoint": [step["adjoint"] for step in steps],
        "others": [(i, step["others"]) for i, step in enumerate(steps) if "others" in step],
        "edges": [len(step["edges"]) for step in steps],
        "differs": [k for k, edge in enumerate(edges) if "differs" in edge],
        **{name: [edge[name] for edge in edges] for name in EDGE},
    }


def unpack_steps(packed: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of the columns, as the snapshot documents them."""
    columns = enumerate(zip(*(packed[name] for name in EDGE), strict=True))
    others = dict(packed["others"])
    steps = []
    for i, (row, adjoint, count) in enumerate(zip(packed["row"], packed["adjoint"], packed["edges"], strict=True)):
        step = {"row": row, "adjoint": unpack_value(adjoint)}
        edges = []
        for k, column in (next(columns) for _ in range(count)):
            edge = dict(zip(EDGE, column, strict=True))
            edges.append(edge | {name: unpack_value(edge[name]) for name in EDGE[2:]})
            if k in packed["differs"]:
                edges[-1]["differs"] = True
        if i in others:
            step["others"] = [other | {"adjoint": unpack_value(other["adjoint"])} for other in others[i]]
        steps.append(step | {"edges": edges})
    return steps
