"""Copying the rows of one graph into another: functions that are called while another is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.recording.block import During
from ..engine.recording.state import state
from .build import Graph
from .program import needed


def inline(source: Graph, target: Graph, fetches: list[int], rows: dict[int, int], effects: Sequence[Any]) -> None:
    """Copies the rows that the fetches and effects need into another graph; ``rows`` maps old numbers to new ones."""
    calls, leaves = needed(source, fetches, list(rows), effects)
    for row in leaves:
        rows[row] = target.enter(source.leaves[row].tensor)
    for call in calls:
        if call.primitive.op == "ReadVariableOp":
            rows[call.row] = target.enter(target.read(call.attrs["variable"]))
            continue
        inputs = tuple(rows[r] for r in call.inputs)
        op = source.op_of[call.row]
        outputs = [(t.shape, t.dtype) for t in op.outputs]
        with During(state, site=source.site(call.row) or state.site):  # a copy stands where the user wrote the original
            made = target.call_row(call.primitive, inputs, _copied(source, call, rows), outputs, op.name.rsplit("/", 1)[-1])
        new = target.calls[-1]
        if call.row in source.tuples:
            target.tuples.add(new.row)
        target.op_of[new.row].gradient = op.gradient or target.op_of[new.row].gradient
        for i, tensor in enumerate(made):
            rows[call.row + i] = tensor._row


def _copied(source: Graph, call: Any, rows: dict[int, int]) -> dict[str, Any]:
    """The attributes of a copied row: a random operation has a stretch of numbers of its own."""
    attrs, special = call.attrs, getattr(call.primitive, "copied", None)
    if special is not None:
        return special(source, call, rows)
    again = getattr(attrs.get("function"), "again", None)
    return attrs if again is None else attrs | {"function": again()}
