"""What arrived, and is zero, NaN or infinite: which operation made it so."""

from __future__ import annotations

import re

import numpy as np

from ..explain.families import LAYERS, MOVES, POINTS
from ..recording.sites import text_of
from ..recording.values import numbers_of
from .model import Finding, Question

SUBTRACTS = {"sub", "Sub", "subtract", "__sub__"}


def stopped(q: Question) -> int | None:
    """The last operation on the way to which an adjoint came, and that sent nothing on."""
    rows = [row for row, _ in q.way]
    for row, before in zip(reversed(rows), [*reversed(rows[:-1]), *q.used[:1]], strict=False):
        sent = q.sweep.edges.get(q.rows[row].call)
        if row in q.sweep.adjoints and (sent is None or before not in [edge[0] for edge in sent]):
            return row
    return None


def finite(q: Question, row: int) -> bool:
    """Whether a row holds finite numbers alone, as far as it is known."""
    value = q.rows[row].value
    return value is None or value.facts()[1]


def nan(q: Question) -> Finding | None:
    """Where a NaN or infinity came up: in the data, in a value, in a derivative."""
    came = [q.sweep.adjoints[row] for row in q.used if row in q.sweep.adjoints] if q.sweep is not None else []
    lost = next((end for end in q.ends if not finite(q, end)), None)
    if not came or (lost is None and all(one.facts()[1] for one in came)):
        return None
    if lost is not None:
        return origin(q, lost)
    for call, edges in q.sweep.edges.items():
        given, toward = q.sweep.adjoints.get(call), [edge for edge in edges if edge[0] in q.after]
        if (given is None or given.facts()[1]) and not all(edge[2].facts()[1] for edge in toward):
            return Finding("nan_backward", q.rows[call].site, call) if finite(q, call) else origin(q, call, "hidden")
    bad = [row for row in q.behind if not finite(q, row)]
    return origin(q, min(bad), "hidden") if bad else Finding("nan_backward", q.rows[q.used[-1]].site, q.used[-1])


def origin(q: Question, row: int, kind: str = "") -> Finding:
    """The first row of those that handed a NaN or infinity on to this one."""
    seen, stack = set[int](), [row]
    while stack:
        at = stack.pop()
        if at not in seen:
            seen.add(at)
            stack += [one for one in q.rows[at].inputs if not finite(q, one)]
    first = q.rows[min(seen)]
    cause = "nan_backward" if kind else "nan_forward"
    if first.kind == "operation" and first.op not in q.adapter.zeros["not_selected"]:
        return Finding(cause, first.site, first.row, kind=kind and "")
    numbers = first.array
    reader = min((at for at in seen if first.row in q.rows[at].inputs), default=first.row)
    if numbers is not None and not np.isnan(numbers).any() and (first.kind in ("constant", "operation")):
        # an infinity that is put in on purpose: a mask, which leaves something over, or hides everything
        lost = [at for at in sorted(seen) if (array := q.rows[at].array) is not None and np.isnan(array).any()]
        masked = q.rows[reader].array
        hidden = masked is not None and not np.isfinite(masked).any()
        put = not first.shape or q.rows[reader].op in q.adapter.zeros["not_selected"]
        if put or first.kind == "operation":
            at = reader if hidden else next(iter(lost), reader)
            return Finding(cause, q.rows[at].site, at)
    return Finding("nan_input", first.site, first.row, other=first.name or "A tensor", kind="trained" * first.tracked)


def zero(q: Question) -> Finding | None:
    """The operation that made zeros of what came to it."""
    sweep = q.sweep
    came = [sweep.adjoints[row] for row in q.used if row in sweep.adjoints] if sweep is not None else []
    if not came or not all(one.facts()[0] for one in came):
        return None
    seeds = [sweep.adjoints[row] for row in sweep.target if row in sweep.adjoints]
    if seeds and all(seed.facts()[0] for seed in seeds):
        return Finding("zero_seed", sweep.site, q.ends[0])
    empty = next((row for row, _ in q.way if 0 in q.rows[row].shape), None)
    if empty is not None:
        return Finding("not_selected", q.rows[empty].site, empty, kind="empty")
    last, alive = (q.used[0], q.used[0], False), set[int]()
    for call, edges in sweep.edges.items():
        adjoint, toward = (
            sweep.adjoints.get(call),
            [edge for edge in edges if edge[0] in q.after and q.rows[edge[0]].tracked],
        )
        if adjoint is None or not toward:
            continue
        if adjoint.facts()[0]:
            if call in alive:
                return Finding("hook", q.rows[call].site, call)
        elif all(edge[2].facts()[0] for edge in toward):
            last = (call, call, False)
        else:
            for row, _, product, total in toward:
                (alive.discard if total.facts()[0] else alive.add)(row)
                if total.facts()[0] and not product.facts()[0]:
                    last = (call, row, True)
    first = next(row for row in q.used if row in sweep.adjoints)
    if first in alive:
        return Finding("hook", q.rows[first].site, first)
    return cancelled(q, last[0], last[1]) if last[2] else zero_of(q, last[0])


def cancelled(q: Question, call: int, row: int) -> Finding:
    """Contributions to a row that cancel."""
    made = q.forward([row])
    for at in sorted(made & q.behind):
        if q.rows[at].op in SUBTRACTS and len({*q.rows[at].inputs}) > 1 and made.issuperset(q.rows[at].inputs[:2]):
            return Finding("zero_cancels", q.rows[at].site, at, kind="difference")
    if q.rows[call].op in q.adapter.zeros["zero_cancels"] - SUBTRACTS:
        return Finding("zero_cancels", q.rows[call].site, call)
    scopes = [q.rows[one].scope for one, edges in q.sweep.edges.items() for edge in edges if edge[0] == row]
    for name in scopes[0] if scopes else ():
        if re.sub(r"_\d+$", "", name) in LAYERS and all(name in scope for scope in scopes):
            return Finding("zero_cancels", q.rows[call].site, call, name)
    senders = [one for one, edges in q.sweep.edges.items() for edge in edges if edge[0] == row]
    return Finding("zero_sum", q.rows[call].site, call, kind="elements" if len(senders) == 1 else "")


def family(q: Question, row: int) -> str:
    """In which way an operation makes zeros; empty where it is known for none."""
    return next((cause for cause, ops in q.adapter.zeros.items() if q.rows[row].op in ops), "")


def zero_of(q: Question, row: int) -> Finding:
    """In which way an operation made zeros of what came to it."""
    cause, one = family(q, row), q.rows[row]
    value, came = one.array, numbers_of(q.sweep.adjoints.get(row))
    if one.op in POINTS:
        of = q.rows[one.inputs[-1]].site if POINTS[one.op] == "second" else one.site
        return Finding("zero_derivative", of, row, kind=POINTS[one.op])
    if one.op in ("max", "min", "Maximum", "Minimum"):
        said, floor = (
            re.search(r"\bclip\w*", " ".join([*one.scope, text_of(one.site)])),
            [q.rows[at] for at in one.inputs if q.rows[at].kind == "constant"],
        )
        near = [
            q.rows[at]
            for at in (*one.inputs, *range(row + 1, len(q.rows)))
            if at in one.inputs or row in q.rows[at].inputs
        ]
        limit = any(
            other.op in ("Maximum", "Minimum", "max", "min")
            and other.op != one.op
            and any(q.rows[at].kind == "constant" for at in other.inputs)
            for other in near
        )
        if said or (limit and floor):
            return Finding("saturated", one.site, row, said[0] if said else "clip")
        if any(other.value is not None and other.value.facts()[0] for other in floor):
            return Finding("dead_relu", one.site, row)
    if one.op in getattr(q.adapter, "classes", ()):
        logits = q.rows[one.inputs[0]].shape
        alone = bool(logits) and logits[1 if len(logits) > 1 else 0] == 1
        return Finding("zero_cancels" if alone else "saturated", one.site, row, kind="one" * alone)
    if (
        cause == "dead_relu"
        and value is not None
        and came is not None
        and value.shape == came.shape
        and value[came != 0].any()
    ):
        cause = "saturated"  # at its other limit
    if cause == "zero_cancels" and value is not None and (value == 1).any():
        return Finding("saturated", one.site, row) if (value == 0).any() else Finding(cause, one.site, row, kind="one")
    if cause == "zero_factor":
        others = [q.rows[given].array for given in one.inputs if given not in q.after]
        if others and came is not None and all(other is not None and np.all(other != 0) for other in others):
            small = any(
                0 < np.abs(came).max() * np.abs(other).max() < 1e-37 or np.abs(came).max() * np.abs(other).max() == 0
                for other in others
                if other.size
            )
            return (
                Finding("zero_factor", one.site, row, kind="underflow")
                if small
                else Finding("zero_sum", one.site, row, kind="elements")
            )
        before = zero_before(q, row)
        if before is not None:
            return before
        rows = [at for at, _ in q.way]
        row = next(
            (
                at
                for at in rows
                if family(q, at) == cause and q.rows[at].value is not None and q.rows[at].value.facts()[0]
            ),
            row,
        )
    if cause:
        return Finding(cause, q.rows[row].site, row)
    later = next((at for at, _ in q.way if at > row and family(q, at) in ("not_selected", "zero_factor")), None)
    if later is not None:
        return Finding(family(q, later), q.rows[later].site, later)
    if one.op in MOVES:
        return Finding("not_selected", one.site, row, kind="part")
    zeros = any(q.rows[given].value is not None and q.rows[given].value.facts()[0] for given in one.inputs)
    return zero_before(q, row) or Finding("zero_factor" if zeros else "saturated", one.site, row)


def zero_before(q: Question, row: int) -> Finding | None:
    """Where a factor itself was computed from the source, and is zero: what made zeros of it."""
    first = row
    while zeros := [
        one
        for one in q.rows[first].inputs
        if one in q.after and q.rows[one].value is not None and q.rows[one].value.facts()[0]
    ]:
        first = zeros[0]
    return (
        Finding(family(q, first), q.rows[first].site, first)
        if first != row and family(q, first) not in ("", "zero_cancels")
        else None
    )
