"""The backward sweep one step at a time, for pictures: the engine's own sweep, advanced row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import nest
from .plan import reach
from .primitives.elementwise import BY_CODE, FIRST_CODE, scalar_table
from .record import CALL, Record
from .sweep import Sweep
from .tape import _seed

MOST = 20_000  # rows: the sweep of a longer tape is not kept step by step


def sweep_steps(
    tape: Any, target: Any = None, sources: Any = None, held: dict[int, Any] | None = None
) -> dict[str, Any] | None:
    """The SWEEP of a snapshot; None without a target, where an array that a rule reads was released, or for a very
    long tape.

    ``held`` are arrays by row that the caller kept from being released.
    """
    record: Record | None = tape._record
    seeds: list[Any] | None = None
    if target is None and tape.last is not None:
        target, sources, seeds = tape.last
    if record is None or target is None or sources is None:
        return None
    targets, flat = nest.flatten(target), nest.flatten(sources)
    starts: dict[int, Any] = {}
    for t, seed in zip(targets, seeds or [None] * len(targets), strict=True):
        for row in tape._rows_of(t)[-1:]:
            if t.dtype.differentiable:
                one = _seed(t, seed, False)
                starts[row] = starts[row] + one if row in starts else one
    source_rows = [tape._rows_of(s) if s.dtype.differentiable else [] for s in flat]
    wanted = {r for rows in source_rows for r in rows}
    kept = {row: a for row, a in (held or {}).items() if row not in record.arrays}
    record.arrays.update(kept)
    try:
        return _run(tape, record, starts, wanted, source_rows)
    finally:
        for row in kept:
            record.arrays.pop(row, None)


def _run(
    tape: Any, record: Record, starts: dict[int, Any], wanted: set[int], source_rows: list[list[int]]
) -> dict[str, Any] | None:
    from .snapshots import show_value

    shown: dict[str, Any] = {"target": sorted(starts), "sources": [rows[-1] if rows else -1 for rows in source_rows]}
    marks = reach(tape, wanted) if starts and wanted else None
    if marks is not None:
        wanted = {r for r in wanted if marks[r]}
        starts = {r: s for r, s in starts.items() if marks[r]}
    if not starts or not wanted:
        return shown | {"steps": [], "gradients": [None] * len(source_rows)}
    if max(starts) - min(wanted) > MOST:
        return None
    if not _whole(record, min(wanted), max(starts), marks):
        return None
    sweep = Sweep(record, starts, wanted, marks, stepwise=True)
    unwatched = {row for row in list(record.leaves) if row not in tape.watched}
    steps = []
    with np.errstate(all="ignore"):
        try:
            for row in sweep.steps():
                edges = [edge for edge in sweep.edges if edge[0] not in unwatched]  # constants have no adjoint
                if edges:
                    steps.append(_step(record, row, sweep.adjoint(row), edges))
        except LookupError:
            return None  # an operation without a registered gradient: gradient() raises, there is no sweep to show
    gradients = []
    for rows in source_rows:
        parts = [_dense(sweep.adjoint(r)) for r in rows if sweep.adjoint(r) is not None]
        gradients.append(show_value(sum(parts[1:], parts[0])) if parts else None)
    return shown | {"steps": steps, "gradients": gradients}


def _whole(record: Record, low: int, high: int, marks: Any) -> bool:
    """False when an array that a rule on the way reads was released, so that the sweep can not be repeated."""
    for call in record.calls:
        if not (low <= call.row <= high) or (marks is not None and not marks[call.row]):
            continue
        keep = call.primitive.keep
        read = [r for i, r in enumerate(call.inputs) if keep == "all" or (i < 2 and "xy"[i] in keep)]
        if keep == "all" or "z" in keep:
            read += range(call.row, call.row + call.outputs)
        if any(r in record.meta and r not in record.arrays for r in read):
            return False
    return True


def _step(record: Record, row: int, adjoint: Any, edges: list[tuple[int, Any, Any]]) -> dict[str, Any]:
    from .snapshots import show_value

    shown = []
    local = _locals(record, row)
    nth: dict[int, int] = {}
    for source, share, total in edges:
        nth[source] = nth.get(source, -1) + 1
        found = show_value(local.get((source, nth[source])))
        shown.append(
            {"input": source, "local": found, "product": show_value(_dense(share)), "sum": show_value(_dense(total))}
        )
    return {"row": row, "adjoint": show_value(_dense(adjoint)), "edges": shown}


def _dense(value: Any) -> Any:
    return value.dense() if hasattr(value, "values") and hasattr(value, "indices") else value


def _locals(record: Record, row: int) -> dict[tuple[int, int], Any]:
    """Local derivatives of an elementwise operation: what its rules give for an incoming adjoint of one."""
    op, a, b, _ = record.cell(row)
    found: dict[tuple[int, int], Any] = {}
    seen: dict[int, int] = {}
    if op >= FIRST_CODE and row in record.meta:
        rules, out = BY_CODE[op - FIRST_CODE].rules, record.value(row)
        one = np.ones_like(out)
        inputs, arguments = [a, b][: len(rules)], (out, record.value(a), record.value(b))
    elif op >= FIRST_CODE:
        rules = scalar_table(record.real or np.float32)[op].rules
        one = (record.real or np.float32)(1)
        inputs, arguments = [a, b][: len(rules)], (record.value(row), record.value(a), record.value(b))
    elif op == CALL and record.calls[a].primitive.code and not callable(record.calls[a].primitive.rules):
        call = record.calls[a]
        values = [record.value(r) for r in call.inputs]
        out = record.value(row)
        if out is None or any(v is None or np.shape(v) != np.shape(out) for v in values):
            return {}
        rules, inputs = call.primitive.rules or (), list(call.inputs)
        one, arguments = np.ones_like(out), (out, *values)
    else:
        return {}
    for rule, source in zip(rules, inputs, strict=False):
        if rule is not None:
            seen[source] = seen.get(source, -1) + 1
            local = rule(one, *arguments)
            found[source, seen[source]] = (
                local if np.shape(local) == np.shape(one) else np.broadcast_to(local, np.shape(one))
            )
    return found
