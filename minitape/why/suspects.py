"""Gradients that are there and wrong: checks of a whole recording, each for one cause, in their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..explain.caller import in_brackets
from ..explain.causes import KINDS
from ..explain.suspects import OperationNames, Suspicion
from ..recording.values import numbers_of
from . import text
from .model import Row

VANISHED, EXPLODED, EQUAL, REPEATED = 1e-5, 1e4, 1e-5, 5
FLAT = ("zero_derivative", "no_derivative", "nondifferentiable", "nondifferentiable_op")
DERIVED = ("create_graph", "not_recorded")


@dataclass(eq=False)
class Run:
    """All that a recording has, asked about at once."""

    rows: list[Row]
    sweeps: list
    exits: list
    names: OperationNames
    adapter: Any

    @cached_property
    def on_path(self) -> dict[int, Any]:
        """The operations to which an adjoint came, each with the last sweep that brought it."""
        return {row: sweep for sweep in self.sweeps for row in sweep.adjoints if self.rows[row].kind == "operation"}

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """The operations that read a row."""
        found: dict[int, list[int]] = {}
        for row in self.rows:
            for given in row.inputs if row.kind == "operation" else ():
                found.setdefault(given, []).append(row.row)
        return found

    def behind(self, row: int) -> set[int]:
        """The rows that a row was computed from, along ways that gradients take."""
        found, stack = set[int](), [row]
        while stack:
            at = stack.pop()
            if at not in found:
                found.add(at)
                stack += [one for one in self.rows[at].inputs if self.rows[one].tracked]
        return found

    def operations(self, *names: Iterable[str]) -> Iterator[Row]:
        """The operations of these names on the way of a gradient, the last first."""
        known = set().union(*names)
        return (self.rows[row] for row in sorted(self.on_path, reverse=True) if self.rows[row].op in known)

    def adjoint(self, row: int) -> np.ndarray | None:
        """What arrived at a row."""
        sweep = self.on_path.get(row)
        return None if sweep is None else numbers_of(sweep.adjoints.get(row))

    def sent(self, row: Row) -> np.ndarray | None:
        """What an operation sent on to its first input."""
        edges = self.on_path[row.row].edges.get(row.call, ())
        return next((numbers_of(product) for at, _, product, _ in edges if at in row.inputs[:1]), None)

    def maker(self, row: int) -> Row:
        """The row before those that change no number."""
        while self.rows[row].op in self.names.shapes and self.rows[row].inputs:
            row = self.rows[row].inputs[0]
        return self.rows[row]

    def activation(self, row: Row) -> str:
        """Which activation gave a row, also one that is written by hand."""
        if not row.op.lower().endswith(("div", "reciprocal")) or row.kind != "operation":
            return self.names.activations.get(row.op, "")
        first, by = (self.maker(given) for given in (row.inputs[0], row.inputs[-1]))
        if by.op in self.names.adds and any(self.rows[one].op.lower() == "exp" for one in by.inputs):
            return "sigmoid"
        return "softmax" if first.op.lower() == "exp" and by.op in self.names.sums else ""


def suspicion(row: Row, cause: str, kind: str = "", alone: Iterable[int] = (), **fields: Any) -> Suspicion:
    """Something wrong at a row."""
    return Suspicion(cause, row.site, fields, row.row, alone=set(alone), kind=kind)


# -- shapes and functions --------------------------------------------------------------------------


def broadcast(run: Run) -> Iterator[Suspicion]:
    """A column of N values met a row of N."""
    names, found, meant = run.names, [], set()
    for row in run.operations(names.compare, names.losses, names.factors, names.adds):
        shapes = [tuple(run.rows[one].shape) for one in row.inputs[:2]]
        column = next(
            (
                k
                for k, (a, b) in enumerate(zip(shapes, shapes[::-1], strict=True))
                if len(b) == 1 and (b[0] or 0) > 1 and a == (b[0], 1)
            ),
            None,
        )
        if len(shapes) < 2 or column is None or not _summed(run, row):
            continue
        n = max(*shapes[0], *shapes[1])
        if row.op not in names.losses and tuple(row.shape) != (n, n):
            continue
        given = run.rows[row.inputs[column]]
        if run.maker(row.inputs[0]) is run.maker(row.inputs[1]) or (
            given.op in names.shapes and given.site == row.site
        ):
            meant.add(row.site)  # a table of pairs
        found.append(suspicion(row, "broadcast", what=row.op, one=shapes[0], two=shapes[1], result=(n, n), n=n))
    yield from (one for one in found if one.site not in meant)


def _summed(run: Run, row: Row) -> bool:
    """Whether the table goes into one number, and meets no other table."""
    table, waiting, whole = {row.row}, [row], False
    while waiting:
        at = waiting.pop()
        if at.op in run.names.losses or at.op in run.names.sums:
            if at.shape:
                return False
            whole = True
            continue
        for reader in (run.rows[one] for one in run.readers.get(at.row, ())):
            if run.activation(reader) == "softmax" or run.names.of_logits.get(reader.op) == "softmax":
                return False
            if reader.row not in table and (reader.op in run.names.sums or tuple(reader.shape) == tuple(row.shape)):
                table.add(reader.row)
                waiting.append(reader)
    beside = {one for at in table - {row.row} for one in run.rows[at].inputs} - table
    tables = (at for at in beside if tuple(run.maker(at).shape) == tuple(row.shape))
    return whole and not any((values := run.rows[at].array) is None or np.ptp(values) for at in tables)


def activation_twice(run: Run) -> Iterator[Suspicion]:
    """A loss of logits was given what an activation made."""
    for row in run.operations(run.names.of_logits, ("log", "log1p", "Log", "Log1p")):
        wanted, given = run.names.of_logits.get(row.op, ""), row.inputs[0]
        if row.op.startswith("Select"):
            test = run.rows[row.inputs[0]]
            given = row.inputs[1]
            wanted = wanted if test.op == "GreaterEqual" and given in test.inputs else ""
        if not wanted:
            wanted, given = _by_hand(run, row)
        made = _unsigned(run, given) if wanted else row
        sums = made.array
        if wanted and run.activation(made) == wanted:
            yield suspicion(row, "activation_twice", what=_called(row), one=wanted, other=in_brackets(*made.site))
        elif (
            wanted == "softmax"
            and sums is not None
            and sums.ndim > 1
            and min(sums.shape[:2]) > 1
            and (sums >= 0).all()
            and (abs(sums.sum(1) - 1) < 1e-4).all()
        ):
            yield suspicion(row, "activation_twice", "numbers", what=_called(row), one=wanted)


def _called(row: Row) -> str:
    at = text.at(row.site)
    names = [text.last_name(call.func) for call in at.calls] if at is not None else []
    return next(
        (
            name
            for name in names
            if any(part in name.lower() for part in ("entropy", "logit", "loss", "bce", "nll", "criterion"))
        ),
        row.op,
    )


def _by_hand(run: Run, row: Row) -> tuple[str, int]:
    """log(1 + exp(z)) is a sigmoid's, log(sum(exp(z))) a softmax's."""
    wanted, given = "sigmoid" if row.op.lower() == "log1p" else "", row.inputs[:1]
    while given:
        inner = _unsigned(run, given[0])
        if inner.op.lower() == "exp":
            return wanted, inner.inputs[0]
        adds = "add" in inner.op.lower()
        if not adds and inner.op not in run.names.sums:
            break
        wanted = "sigmoid" if adds else "softmax"
        given = [one for one in inner.inputs if run.rows[one].tracked]
    return "", row.row


def _unsigned(run: Run, at: int) -> Row:
    """The row before those that change no number but sign or scale, or take a constant or the largest away."""
    while True:
        row = run.maker(at)
        whole = [one for one in row.inputs if tuple(run.rows[one].shape) == tuple(row.shape)]
        shifts = row.op.lower() == "sub" and (
            "max" in run.maker(row.inputs[-1]).op.lower() or not run.rows[row.inputs[-1]].tracked
        )
        if shifts or row.op.lower() in ("neg", "abs"):
            at = row.inputs[0]
        elif (
            row.op in {*run.names.factors, *run.names.adds}
            and len(whole) == 1
            and all(math.prod(run.rows[one].shape) == 1 for one in row.inputs if one not in whole)
        ):
            before, after = run.rows[whole[0]].array, row.array
            if before is None or after is None or not before.any():
                return row
            factor = float(after.flat[(k := int(abs(before).argmax()))] / before.flat[k])
            if (
                not (abs(factor) <= 4 and np.allclose(after, factor * before, rtol=1e-3))
                and abs(after - before).max() >= 0.01
            ):
                return row
            at = whole[0]
        else:
            return row


# -- parts -----------------------------------------------------------------------------------------


def in_part(run: Run) -> Iterator[Suspicion]:
    """A term of the target is a number that was computed by what has no slope, was cut off, or left."""
    terms = {row.row: row for row in _terms(run)}
    for row in terms.values():
        why = next((one.why for one in row.given if one.why), "") if not row.tracked else ""
        cut = [one.row for one in row.given if run.rows[one.row].tracked] if why else []
        flat = why in FLAT or (KINDS.get(why) != "paused" and row.dtype in ("bool", "int32", "int64"))
        if cut and (flat or why in ("copied", *DERIVED)):
            yield Suspicion(
                "in_part",
                row.site,
                {"what": f"{row.op}(...)"},
                cut[0],
                kind="choice" if flat else "derivative" if why in DERIVED else "",
            )
        elif cut and KINDS.get(why) == "cut" and run.on_path.keys().isdisjoint(cut):
            met, waiting = set[int](), [row.row]
            while waiting:
                readers = run.readers.get(waiting.pop(), ())
                met.update(at for at in readers if at in run.on_path)
                waiting += [at for at in readers if not run.rows[at].tracked]
            if met and met <= terms.keys():
                yield Suspicion("in_part", row.site, {"what": row.op}, cut[0], kind="cut")
    seen = set()
    for exit in run.exits:
        row, start = run.rows[exit.row], text.at(exit.site)
        if (
            row.tracked
            and row.kind == "operation"
            and exit.how not in ("__bool__", "bool")
            and exit.site not in seen
            and start is not None
        ):
            seen.add(exit.site)
            adds = [
                at
                for at in terms.values()
                if not at.shape
                and at.after(exit)
                and at.op in run.names.adds
                and sum(_number(run, one) for one in at.inputs) == (len(at.inputs) > 1)
            ]
            if adds and any(text.at(at.site) in (reached := text.flow(start, [])) for at in adds):
                yield Suspicion("in_part", exit.site, {"what": run.adapter.out(exit.how)}, exit.row)


def _terms(run: Run) -> Iterator[Row]:
    """The operations of the sum that a target is."""
    waiting = [row for sweep in run.sweeps for row in sweep.target]
    while waiting:
        row = run.rows[waiting.pop()]
        yield row
        open_ = [one for one in row.inputs if run.rows[one].tracked]
        if row.tracked and row.op in {*run.names.factors, *run.names.shapes} and not row.shape:
            waiting += open_
        elif not (open_ if not row.tracked else row.shape or row.op not in run.names.adds):
            waiting += row.inputs


def _number(run: Run, at: int) -> bool:
    row = run.rows[at]
    scaled = row.op in {*run.names.factors, *run.names.shapes} and not row.tracked
    return row.kind == "constant" or (scaled and all(_number(run, one) for one in row.inputs))


# -- numbers ---------------------------------------------------------------------------------------


def rounding_only(run: Run) -> Iterator[Suspicion]:
    """The same adjoint came to all that a softmax or a normalization gave; or what comes back on several ways cancels."""
    for row in run.operations(run.names.normalize):
        came, sent = run.adjoint(row.row), run.sent(row)
        if came is not None and sent is not None and sent.shape == came.shape:
            least, most = largest(sent), largest(came)
            uneven = [
                largest(came - came.mean(axis, keepdims=True)) for axis, size in enumerate(came.shape) if size > 1
            ]
            if 0 < most < math.inf and 0 < least <= EQUAL * most and min(uneven, default=most) <= EQUAL * most:
                yield suspicion(row, "rounding_only", what=run.activation(row) or row.op, from_=most, to=least / most)
    for sweep in {sweep.site: sweep for sweep in run.sweeps}.values():
        met: dict[int, list] = {}
        for call, edges in sweep.edges.items():
            for at, _, product, _ in edges:
                met.setdefault(at, []).append((call, product))
        for at, parts in met.items():
            came = numbers_of(sweep.adjoints.get(at))
            if came is not None and came.size > 1 and run.rows[at].kind == "operation" and parts[1:]:
                most, left = max(largest(numbers_of(part)) for _, part in parts), largest(came)
                if 0 < left <= EQUAL / 10 * most < math.inf:
                    last = run.rows[max(call for call, _ in parts)]
                    fields = {"what": last.op, "from_": most, "to": left / most}
                    yield Suspicion(
                        "rounding_only", last.site, fields, at, alone=little_behind(run, at, most), kind="cancels"
                    )


def underflow(run: Run) -> Iterator[Suspicion]:
    """An adjoint of half precision is smaller than its normal numbers."""
    limit, first = float(np.finfo(np.float16).smallest_normal), None
    for at in sorted(run.on_path, reverse=True):
        came = run.adjoint(at) if run.rows[at].dtype == "float16" else None
        if came is None or not came.size or largest(came) >= limit:
            continue
        first = at if first is None and largest(came) else first
        before = max((largest(run.adjoint(reader)) for reader in run.readers.get(at, ())), default=0.0)
        lost = float((came == 0).mean())
        if 0 < before < limit and (lost >= 0.05 or largest(came) < limit / 16) and first is not None:
            by = run.rows[max(run.readers.get(first, [first]), key=lambda reader: largest(run.adjoint(reader)))]
            yield Suspicion("underflow", by.site, {"what": by.op, "one": "float16", "to": before, "share": lost}, at)
            return


def along_depth(run: Run) -> Iterator[Suspicion]:
    """An operation that repeats made the adjoint smaller or larger each time; or a single activation is flat."""
    series: dict[Any, list[tuple[int, float]]] = {}
    for at in sorted(run.on_path, reverse=True):
        row, size = run.rows[at], size_of(run.adjoint(at))
        if 0 < size < math.inf:
            series.setdefault((id(run.on_path[at]), row.op, row.site, tuple(row.shape)), []).append((at, size))
    found = []
    for pairs in series.values():
        smaller = [b < a for (_, a), (_, b) in pairwise(pairs)]
        ratio, share = pairs[-1][1] / pairs[0][1], sum(smaller) / max(len(smaller), 1)
        changed = (ratio < VANISHED and share >= 0.8) or (ratio > EXPLODED and share <= 0.2 and pairs[-1][1] > 1)
        if len(pairs) >= REPEATED and changed and pairs[-1][0] in run.behind(pairs[0][0]):
            found.append((abs(math.log(ratio)) * (1 + (run.rows[pairs[0][0]].op in run.names.activations)), pairs))
    for _, pairs in [max(found)] if found else []:
        row, ratio = run.rows[pairs[0][0]], pairs[-1][1] / pairs[0][1]
        alone = little_behind(run, row.row, pairs[0][1]) if ratio < 1 else ()
        yield suspicion(
            row,
            "vanishing" if ratio < 1 else "exploding",
            alone=alone,
            what=run.activation(row) or row.op,
            from_=pairs[0][1],
            to=pairs[-1][1],
            n=len(pairs),
            ratio=ratio,
        )
    for row in run.operations(run.names.saturate):
        arrived, value = run.adjoint(row.row), row.array
        came, sent = size_of(arrived), size_of(run.sent(row))
        if not 0 < sent < VANISHED * came < math.inf or arrived is None:
            continue
        after = [row.row]
        for at in after:
            after += [reader for reader in run.readers.get(at, ()) if reader in run.on_path and reader not in after]
        slope = (
            None
            if value is None or value.shape != arrived.shape
            else 1 - value * value
            if row.op.lower() == "tanh"
            else value * (1 - value)
        )
        if sent < VANISHED * min(size_of(run.adjoint(at)) for at in after) and (
            slope is None or size_of(arrived * slope) < 10 * VANISHED * came
        ):
            yield suspicion(
                row,
                "vanishing",
                "saturated",
                little_behind(run, row.row, came),
                what=run.activation(row) or row.op,
                from_=came,
                to=sent,
                ratio=sent / came,
            )


def little_behind(run: Run, row: int, size: float) -> set[int]:
    """The rows behind one to which almost nothing came of an adjoint of this size."""
    behind = run.behind(row)
    return {row} | {
        at
        for at, one in run.on_path[row].adjoints.items()
        if at in behind and size_of(numbers_of(one)) < VANISHED * size
    }


def diverges(run: Run) -> Iterator[Suspicion]:
    """From step to step the gradient and the weight grow."""
    found = []
    for source in run.adapter.with_gradient(run).values():
        steps, rows = run.adapter.steps_of(source), run.adapter.rows_of(source)
        arrived = [array for s in run.sweeps for row in rows if (array := numbers_of(s.adjoints.get(row))) is not None]
        sizes = [float(np.linalg.norm(array)) for array in arrived]
        weights = [
            array for row in rows if run.rows[row].kind != "operation" and (array := run.rows[row].array) is not None
        ]
        if len(sizes) > 2 and len(steps) > 1 and len(weights) > 1 and sizes[0]:
            length = float(np.linalg.norm(weights[-2]))
            ratio = float(np.linalg.norm(weights[-1] - weights[-2])) / length if length else 0.0
            if (
                all(after > 1.5 * before for before, after in pairwise(sizes))
                and ratio > 0.5
                and sizes[-1] > 20 * sizes[0]
            ):
                found.append(
                    (
                        sizes[-1],
                        Suspicion(
                            "exploding",
                            steps[-1].site,
                            {"from_": sizes[0], "to": sizes[-1], "n": len(sizes), "ratio": ratio},
                            sources=set(run.adapter.with_gradient(run)),
                            kind="steps",
                        ),
                    )
                )
    yield from [max(found, key=lambda one: one[0])[1]] if found else []


def largest(array: np.ndarray | None) -> float:
    """The largest absolute number; 0 where there is none."""
    return float(np.abs(array).max(initial=0.0)) if array is not None else 0.0


def size_of(array: np.ndarray | None) -> float:
    """The root of the mean of squares; 0 where there is none."""
    top = largest(array)
    return top if array is None or not 0 < top < math.inf else top * float(np.sqrt(np.mean((array / top) ** 2)))


def alike(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Whether two arrays have nearly the same values, which are enough to tell."""
    known = [array.ravel() for array in (one, other) if array is not None and array.size > 7 and np.ptp(array)]
    return len(known) > 1 and known[0].size == known[1].size and bool(np.corrcoef(known)[0, 1] > 0.5)


BEFORE = (broadcast, activation_twice)
BEHIND = (diverges, in_part, rounding_only, underflow, along_depth)
Check = Callable[[Run], Iterable[Suspicion]]


def all_of(run: Run, own: Iterable[Check] = ()) -> list[Suspicion]:
    """What is suspect, the surest first; ``own`` are the checks of a framework."""
    with np.errstate(all="ignore"):
        return [found for check in (*BEFORE, *own, *BEHIND) for found in check(run)]
