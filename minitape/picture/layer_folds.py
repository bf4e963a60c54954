"""Fold the rows of each layer into one row, so that a picture of a large model stays small.

A layer is a stretch of operations with the same scope. It includes its weights and other leaves that nothing else
reads. It also includes operations without a tape between its first and last recorded one, which make a mask, for
example. Operations of a module around other layers stay in its frame, without its name. Three kinds of rows are never
folded: sources whose gradient is None, rows behind an edge that no gradient passes, and rows that ``explain`` blames.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby

from ..common.grouping import group_values_by_key
from ..engine.types import RowIterable, RowsByRow, TextsByName
from .expressions import LAYER_OPERATION, format_row_title
from .figure import collect_final_adjoints
from .picture_texts import translate
from .snapshot_types import EdgeFields, RowFields, Snapshot, StepFields, SweepFields

MAX_ROWS = 30  # With more layers, a picture shows a model's blocks.
BLOCK_DEPTH = 2  # The levels of a scope down to a block: the model, and the block itself.
MAX_LISTED_OPERATIONS = 3  # A layer with more operations shows only its number of rows.
Port = tuple[int, int, int]  # (row, port, input row), for an edge into a layer from outside.


def fold_layers(snapshot: Snapshot, kind_by_path: TextsByName | None = None) -> Snapshot:
    """Return a snapshot in which each layer is one row, with the number and the value of its last row.

    If more than ``MAX_ROWS`` rows would remain, the layers of a block are one row, such as "blocks.0".

    Args:
        snapshot: The snapshot, which stays unchanged.
        kind_by_path: What each layer is, such as "Linear", by its path below the model, such as "encoder.0".
    """
    rows = snapshot["rows"]
    depth = max((len(row["scope"]) for row in rows), default=0)
    members = find_layer_members(snapshot, depth)
    while depth > BLOCK_DEPTH:
        hidden_rows = sum(len(layer_rows) - 1 for layer_rows in members.values())
        if len(rows) - hidden_rows <= MAX_ROWS:
            break
        depth -= 1
        members = find_layer_members(snapshot, depth)
    if not members:
        return snapshot
    layer_by_row = {row: layer for layer, layer_rows in members.items() for row in layer_rows}
    rows_by_number = {row["row"]: row for row in rows}
    ports: dict[int, list[Port]] = {layer: [] for layer in members}
    for row in rows:
        if (layer := layer_by_row.get(row["row"])) is not None:
            ports[layer] += [
                (row["row"], port, input_row)
                for port, input_row in enumerate(row["inputs"])
                if layer_by_row.get(input_row) != layer
            ]
    containers = {tuple(row["scope"][:length]) for row in rows for length in range(min(depth, len(row["scope"])))}
    folded_rows = []
    for row in rows:
        number = row["row"]
        if number in members:
            folded_rows.append(
                _build_layer_row(row, depth, members[number], ports[number], rows_by_number, kind_by_path or {})
            )
            if tuple(row["scope"]) in containers:
                folded_rows[-1] |= {"scope": row["scope"], "name": None}
        elif number not in layer_by_row:
            folded_rows.append(row.copy())
    for row in folded_rows:
        row["inputs"] = [layer_by_row.get(input_row, input_row) for input_row in row["inputs"]]
    hidden_count = len(rows) - len(folded_rows)
    folded: Snapshot = {**snapshot, "rows": folded_rows, "total": snapshot.get("total", len(rows)) - hidden_count}
    if snapshot["sweep"]:
        folded["sweep"] = _fold_sweep(snapshot["sweep"], layer_by_row, ports)
    return folded


def find_layer_members(snapshot: Snapshot, depth: int) -> RowsByRow:
    """Return the rows of each layer that has at least two, by the layer's last row.

    Args:
        snapshot: The snapshot.
        depth: The number of scope names that distinguish layers. Layers that differ only in later names count as one.
    """
    rows = snapshot["rows"]
    none_rows = {
        source["at"]
        for result in snapshot["results"]
        if result.get("shown")
        for source in result["sources"]
        if source.get("none")
    }
    visible_rows = {*none_rows, *snapshot.get("broken", ())}
    consumers = group_values_by_key((input_row, row["row"]) for row in rows for input_row in row["inputs"])
    operations = [row for row in rows if row["kind"] == "operation"]

    def find_fold_key(row: RowFields) -> tuple[object, ...]:
        must_stay = row["cut"] or row["row"] in visible_rows or row["by"] is not None or not row["scope"]
        tapes = row["tapes"] if len(snapshot["tapes"]) > 1 else ()
        return (row["row"],) if must_stay else (None, *row["scope"][:depth], *tapes)

    members = {}
    for key, stretch in groupby(operations, find_fold_key):
        if key[0] is not None:
            continue
        layer_operations = [*stretch]
        recorded = [index for index, row in enumerate(layer_operations) if row["status"] != "ghost"]
        first, end = (recorded[0], recorded[-1] + 1) if recorded else (0, 0)
        for part in (layer_operations[:first], layer_operations[first:end], layer_operations[end:]):
            numbers = [row["row"] for row in part]
            inside = {*numbers}
            leaves = [
                row["row"]
                for row in rows
                if row["kind"] != "operation"
                and row["row"] not in visible_rows
                and inside.issuperset(consumers.get(row["row"], [-1]))  # A leaf that nothing reads is in no layer.
                and (
                    row["kind"] == "variable"
                    or row.get("literal")
                    # A constant without a name that appears within a layer is its own.
                    or (row["kind"] == "constant" and not row["name"] and row["row"] > numbers[0])
                )
            ]
            if len(numbers) + len(leaves) > 1:
                members[numbers[-1]] = sorted(leaves + numbers)
    return members


def _build_layer_row(
    last_row: RowFields,
    depth: int,
    members: RowIterable,
    ports: Iterable[Port],
    rows_by_number: Mapping[int, RowFields],
    kind_by_path: TextsByName,
) -> RowFields:
    """Return the row of a layer: its name is its path or its weights' prefix, and its label lists its operations."""
    *outer_scope, _ = scope = last_row["scope"][:depth]
    path = ".".join(scope[1:])
    member_rows = [rows_by_number[number] for number in members]
    operations = [row for row in member_rows if row["kind"] == "operation"]
    weights = [row["name"] or "" for row in member_rows if row["kind"] == "variable"]
    owners = {name.removeprefix("self.").rpartition(".")[0] for name in weights}
    if not path and len(owners) == 1:  # A layer outside a model has no path, but its weights may have its name.
        (path,) = owners
    if path in kind_by_path:
        label = kind_by_path[path]
    elif len(operations) <= MAX_LISTED_OPERATIONS:
        label = ", ".join(format_row_title({**row, "name": None}) for row in operations)
    else:
        label = translate("{n} rows", n=len(member_rows))
    return {
        **last_row,
        "op": LAYER_OPERATION,
        "label": label,
        "formula": "",
        "rule": [],
        "said": [],
        "name": translate("layer {name}", name=path) if path.isdigit() else path or scope[0],
        "inputs": [input_row for _, _, input_row in ports],
        "scope": outer_scope,
    }


def _fold_sweep(sweep: SweepFields, layer_by_row: Mapping[int, int], ports: Mapping[int, list[Port]]) -> SweepFields:
    """Return the sweep with one step for each layer, which sends the shares that leave the layer."""
    adjoints = collect_final_adjoints(sweep["steps"])
    port_numbers = {
        (row, port): number for layer_ports in ports.values() for number, (row, port, _) in enumerate(layer_ports)
    }
    steps: dict[int, StepFields] = {}
    for step in sweep["steps"]:
        layer = layer_by_row.get(step["row"], step["row"])
        edges: list[EdgeFields] = []
        for edge in step["edges"]:
            input_layer = layer_by_row.get(edge["input"], edge["input"])
            if layer in ports and input_layer == layer:
                continue
            port = port_numbers.get((step["row"], edge["port"]), edge["port"])
            total = adjoints.get(input_layer, edge["sum"])
            edges.append({**edge, "input": input_layer, "port": port, "sum": total})
        if layer in steps:
            steps[layer]["edges"] += edges
        else:
            steps[layer] = {**step, "row": layer, "adjoint": adjoints.get(layer, step["adjoint"]), "edges": edges}
    return {**sweep, "steps": [*steps.values()]}
