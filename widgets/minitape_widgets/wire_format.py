"""Encode snapshots in the compressed format that widgets/frontend/src/schema.ts decodes.

Fields that rows share are sent once, as a *form*. A row is the number of its form, its inputs and its value. Values are
packed by :mod:`minitape.picture.shown_values`, and the steps of a sweep are stored as columns.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from minitape.picture.picture_rows import PictureRow
from minitape.picture.shown_values import unpack_value

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import RowFields


def encode_snapshot(part: dict[str, Any]) -> bytes:
    """Return a snapshot as compressed JSON.

    Args:
        part: A snapshot, or a change to one. Its "rows" are :class:`PictureRow` objects, and the steps of its sweep
            contain packed values.
    """
    packed = {key: value for key, value in part.items() if key != "rows"}
    packed["packed"] = pack_rows(part["rows"])
    if part.get("sweep"):
        packed["sweep"] = part["sweep"] | {"steps": pack_steps(part["sweep"]["steps"])}
    return compress_json(packed)


def compress_json(packed: dict[str, Any]) -> bytes:
    """Return an object as compressed JSON, for snapshots and pages of steps (:mod:`minitape_widgets.view_sweep`).

    Args:
        packed: An object that JSON can represent, without NaN and infinity.
    """
    return zlib.compress(json.dumps(packed, separators=(",", ":"), allow_nan=False).encode(), 1)


def decode_snapshot(data: bytes) -> dict[str, Any]:
    """Decode the result of ``encode_snapshot``, for tests and tools.

    Args:
        data: The compressed JSON.

    Returns:
        The snapshot with complete rows and steps, as ``snapshot_types`` documents it.
    """
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
    """Return rows as columns. The numbers of the rows are left out, because they follow from the first number.

    Args:
        rows: Consecutive rows.

    Returns:
        The column "form" holds indices into "forms". The columns "a" and "b" hold the inputs, and "value" the packed
        values. "own" lists (index, fields) for the rows with ``own_fields``.
    """
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
    """Return the steps of a sweep as columns, with the edges of all steps in one sequence of columns.

    Args:
        steps: The steps, with packed values.
    """
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
    """Return the steps of a sweep from the columns of ``pack_steps``, with unpacked values.

    Args:
        packed: The result of ``pack_steps``, or its copy from JSON.
    """
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
