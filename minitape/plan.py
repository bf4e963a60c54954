"""The plan of a backward sweep: which rules it applies, in which order, and where their shares go.

A plan follows from the structure of a recording alone: its columns, the shapes of its rows, and what its tape watches.
No value is in it. So the tapes of a training loop, which all look alike, share one plan, kept under just these columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .primitives import _BATCH, TABLE
from .primitives.elementwise import BY_CODE, FIRST_CODE, compile_recorded, scalar_table
from .record import CALL, LONG, Record

FOREIGN = 5  # the mark of a source whose own operation is not on the tape: nothing is handed on from there
PLANS = 64  # so many plans are kept; then all are made anew


# One share of an adjoint: (row, rule, a, b, to, last). ``rule`` computes it from the adjoint of ``row`` and the values of
# ``row``, ``a`` and ``b``; it is added to the adjoint of row ``to``; ``last`` is true for the last share of a row.
# Calls have no rule: there ``a`` is the call's number and ``to`` the positions of the inputs that want a share.
Visit = tuple[int, Any, int, int, Any, bool]


class Plan(NamedTuple):
    """``marks[row]`` is 1 where a source can be reached through the row (None: everywhere), for the whole recording."""

    marks: Any
    visits: list[Visit] | None  # None for a recording that is too long to be worth it, or whose operations are the user's


_plans: dict[Any, Plan] = {}


def of_tape(tape: Any, sources: set[int], recorded: bool) -> Plan:
    """The plan for the gradients of anything on a tape with respect to the ``sources``."""
    key = _key(tape, sources, recorded)
    if key is None:
        return Plan(tape.reach(sources), None)
    found = _plans.get(key)
    if found is None:
        record, marks = tape._record, tape.reach(sources)
        low = min(sources)
        found = Plan(marks, visits(record, range(len(record) - 1, low - 1, -1), low, marks, recorded))
        if len(_plans) >= PLANS:
            _plans.clear()
        _plans[key] = found
    return found


def _key(tape: Any, sources: set[int], recorded: bool) -> Any:
    """All that a plan depends on; None where it is not kept."""
    record = tape._record
    if type(record) is not Record or record.base or len(record.pending) > 4 * LONG or _BATCH:
        return None
    calls = []
    for call in record.calls:
        if TABLE.get(call.primitive.name) is not call.primitive:
            return None  # the user's own
        calls.append(call.primitive)
        calls.append(call.inputs)
    return (
        tuple(record.pending), tuple(record.meta), tuple(map(id, record.meta.values())), tuple(calls), record.real,
        tuple(tape.spans), tape._recording and tape._start, tuple(tape.watched.items()), tuple(sources), recorded,
    )  # fmt: skip


def visits(
    record: Any, rows: Iterable[int], low: int, marks: Any, recorded: bool, batched: bool = False
) -> list[Visit]:
    """What a sweep does at these rows when ``low`` is the lowest row that may want a share."""
    found: list[Visit] = []
    for row in rows:
        if marks is not None and marks[row] != 1:
            continue
        op, a, b, _ = record.cell(row)
        if op >= FIRST_CODE:
            rules = _rules(record, row, op, recorded, batched)
            shares = [(rule, to) for rule, to in zip(rules, (a, b), strict=False) if marks is None or marks[to]]
            for number, (rule, to) in enumerate(shares):
                found.append((row, rule or _nothing, a, b, to, number == len(shares) - 1))
        elif op == CALL and row == record.calls[a].row:
            wanted = tuple(i for i, r in enumerate(record.calls[a].inputs) if r >= low and (marks is None or marks[r]))
            found.append((row, None, a, 0, wanted, True))
    return found


def _rules(record: Any, row: int, op: int, recorded: bool, batched: bool) -> Any:
    if recorded:
        return recorded_rules(op)
    primitive = BY_CODE[op - FIRST_CODE]
    if batched:
        return [None if r is None else in_batches(r) for r in primitive.rules]
    return primitive.plain[1] if row in record.meta else scalar_table(record.real)[op].rules


def _nothing(g: Any, z: Any, x: Any, y: Any) -> None:
    """The rule of an input that no gradient reaches."""


def in_batches(rule: Any) -> Any:
    """An elementwise rule for a batch of adjoints: it broadcasts over their leading axis by itself."""

    def batched(g: Any, *values: Any) -> Any:
        share = rule(g.data, *values)
        if np.ndim(share) < g.data.ndim:  # the rule does not read g: the same for all
            share = np.broadcast_to(share, (g.data.shape[0], *np.shape(share)))
        return type(g)(share)

    return batched


_recorded_ready: list[bool] = []


def recorded_rules(code: int) -> Any:
    """The rules of a scalar row for a sweep that is recorded."""
    if not _recorded_ready:
        compile_recorded()
        _recorded_ready.append(True)
    return BY_CODE[code - FIRST_CODE]._table_rules
