"""How a snapshot travels to the browser, compressed. widgets/frontend/src/schema.ts unpacks it.

What rows have in common travels once, as a *form*; a row is the number of its form, its inputs and its value. Values
are packed as :mod:`minitape.picture.shown_values` has it, and the steps of a sweep are columns.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from minitape.picture.reader import PictureRow
from minitape.picture.shown_values import unpack_value

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import RowFields


def encode_snapshot(part: dict[str, Any]) -> bytes:
    """Compress a snapshot whose "rows" are :class:`PictureRow` and whose steps hold packed values, as JSON."""
    packed = {key: value for key, value in part.items() if key != "rows"}
    packed["packed"] = pack_rows(part["rows"])
    if part.get("sweep"):
        packed["sweep"] = part["sweep"] | {"steps": pack_steps(part["sweep"]["steps"])}
    return compress_json(packed)


def compress_json(packed: dict[str, Any]) -> bytes:
    """Return compressed JSON; also of a page of steps (:mod:`minitape_widgets.view_sweep`)."""
    return zlib.compress(json.dumps(packed, separators=(",", ":"), allow_nan=False).encode(), 1)


def decode_snapshot(data: bytes) -> dict[str, Any]:
    """Return the snapshot in ``encode_snapshot``'s bytes, with its rows and steps in full; for tests and tools."""
    packed = json.loads(zlib.decompress(data))
    rows = packed.pop("packed")
    own_fields = dict(rows["own"])
    columns = zip(rows["form"], rows["a"], rows["b"], rows["value"], strict=True)
    packed["rows"] = [
        PictureRow(
            packed["first"] + index, rows["forms"][form], first_input, second_input, value, own_fields.get(index)
        ).to_row_fields()
        for index, (form, first_input, second_input, value) in enumerate(columns)
    ]
    if packed.get("sweep"):
        packed["sweep"]["steps"] = unpack_steps(packed["sweep"]["steps"])
        packed["sweep"]["gradients"] = [unpack_value(gradient) for gradient in packed["sweep"]["gradients"]]
    return packed


def pack_rows(rows: list[PictureRow]) -> dict[str, Any]:
    """Return the columns of the rows; their numbers follow from the first."""
    form_numbers: dict[int, int] = {}
    forms: list[RowFields] = []
    row_forms = []
    for row in rows:
        key = id(row.form)
        number = form_numbers.get(key)
        if number is None:
            number = form_numbers[key] = len(forms)
            forms.append(row.form)
        row_forms.append(number)
    own_fields = [(index, row.own_fields) for index, row in enumerate(rows) if row.own_fields]
    return {
        "forms": forms,
        "form": row_forms,
        "a": [row.first_input for row in rows],
        "b": [row.second_input for row in rows],
        "value": [row.value for row in rows],
        "own": own_fields,
    }


EDGE_FIELDS = ("input", "port", "local", "product", "sum")


def pack_steps(steps: list[Any]) -> dict[str, Any]:
    """Return the columns of the steps, and of their edges one after the other."""
    edges = [edge for step in steps for edge in step["edges"]]
    return {
        "row": [step["row"] for step in steps],
        "adjoint": [step["adjoint"] for step in steps],
        "others": [(index, step["others"]) for index, step in enumerate(steps) if "others" in step],
        "edges": [len(step["edges"]) for step in steps],
        "differs": [edge_number for edge_number, edge in enumerate(edges) if "differs" in edge],
        **{name: [edge[name] for edge in edges] for name in EDGE_FIELDS},
    }


def unpack_steps(packed: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of the columns, as the snapshot documents them."""
    columns = enumerate(zip(*(packed[name] for name in EDGE_FIELDS), strict=True))
    other_outputs = dict(packed["others"])
    steps = []
    for index, (row, adjoint, count) in enumerate(zip(packed["row"], packed["adjoint"], packed["edges"], strict=True)):
        step = {"row": row, "adjoint": unpack_value(adjoint)}
        edges = []
        for edge_number, column in (next(columns) for _ in range(count)):
            edge = dict(zip(EDGE_FIELDS, column, strict=True))
            edges.append(edge | {name: unpack_value(edge[name]) for name in EDGE_FIELDS[2:]})
            if edge_number in packed["differs"]:
                edges[-1]["differs"] = True
        if index in other_outputs:
            step["others"] = [other | {"adjoint": unpack_value(other["adjoint"])} for other in other_outputs[index]]
        steps.append(step | {"edges": edges})
    return steps
