"""Gradients that are there and wrong, as far as a number or an identity of the run shows it.

Each check reads the rows and the backward passes of a recording, in any framework, and finds :class:`Suspicion`: of
which rows' sources, on which line, with which numbers. What a framework alone knows, such as the steps of its
optimizers, its own checks add. ``suspect_texts`` has the words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..explain.caller import in_brackets
from ..explain.sentences import fill
from ..explain.source import statement_at
from ..explain.words import Explanation
from ..explain.wrong import column_and_row
from ..recording.rows import BackwardPass
from ..recording.sites import Site
from ..recording.values import numbers_of
from .inquiry import left_by
from .suspect_texts import words

VANISHED, EXPLODED = 1e-5, 1e4  # of what came to the end of a repeated operation
REPEATED = 5  # so often an operation is a loop, or a deep net
LOGARITHMS = ("log", "log1p", "Log", "Log1p")
EQUAL = 1e-5  # of float32 numbers that are the same but for rounding
FLAT = ("zero_derivative", "no_derivative", "nondifferentiable")  # why no gradient passes what has no slope
TELLS = 8  # so many numbers are not alike by chance


class OperationNames(NamedTuple):
    """What a framework calls the operations that the checks look for."""

    compare: Collection[str]  # of two values, element by element
    losses: Collection[str]  # of which the result is one number
    sums: Collection[str]  # of all elements
    shapes: Collection[str]  # change no number
    adds: Collection[str]
    factors: Collection[str]
    of_logits: dict[str, str]  # losses, and what they apply themselves
    activations: dict[str, str]  # operations, and what people call them
    normalize: Collection[str]  # whose results have a sum or a mean that does not depend on the input
    saturate: Collection[str]


class Suspicion(NamedTuple):
    """Something wrong with the gradient of all sources that a row was computed from, or of some alone."""

    cause: str
    site: Site
    fields: dict
    row: int | None = None
    sources: Collection[int] = ()  # the identities of sources
    alone: Collection[int] = ()  # rows: of sources among them, where not all that `row` was computed from
    kind: str = ""

    def explanation(self, name: str, framework: str) -> Explanation:
        """The answer for a source of this name."""
        message, fix = words(self.cause, self.kind, framework)
        fields = {"line": in_brackets(*self.site), **self.fields}
        answer = Explanation(self.cause, fill(message, **fields), fill(fix, **fields), *self.site)
        answer.name = name
        answer._rows = [] if self.row is None else [self.row]
        return answer


Checks = Iterable[Callable[[], Iterable[Suspicion]]]


class SuspectChecks:
    """The checks of one recording."""

    names: OperationNames

    def __init__(self, recording: Any, names: OperationNames) -> None:
        self.recording, self.entries, self.names = recording, recording.entries, names
        self.sweeps: list[BackwardPass] = [sweep for sweep in recording.sweeps if sweep.adjoints]

    @cached_property
    def found(self) -> list[Suspicion]:
        """What is suspect, the surest first."""
        of_shapes = self.broadcast, self.activation_twice
        checks = of_shapes if self.recording.made_up else self.checks()
        return [found for check in checks for found in check()]

    def checks(self) -> Checks:
        """The checks in their order: of several that find something in one source, the first says it."""
        return (
            self.broadcast,
            self.activation_twice,
            *self.of_framework(),
            self.diverges,
            self.in_part,
            self.rounding_only,
            self.cancels,
            self.underflow,
            self.along_depth,
            self.saturated,
        )

    def of(self, source: Any, rows: Iterable[int]) -> Suspicion | None:
        """What is suspect about the gradient of a source."""
        own = set(rows)
        return next(
            (
                found
                for found in self.found
                if self.key(source) in found.sources
                or (found.row is not None and not own.isdisjoint(found.alone or self.behind(found.row)))
            ),
            None,
        )

    # -- what a framework says ---------------------------------------------------------------------

    def of_framework(self) -> Checks:
        """Its own checks."""
        return ()

    def key(self, source: Any) -> int:
        """What a source is known by."""
        return id(source)

    @cached_property
    def with_gradient(self) -> dict:
        """The sources that got a gradient, by key."""
        return {}

    def steps_of(self, source: Any) -> list:
        """The steps of optimizers that changed a source; each has a ``site``."""
        return []

    @cached_property
    def trained_keys(self) -> set[int]:
        """The keys of all that the program trains, as far as it says so; empty where it does not."""
        return set()

    def copies(self, sources: list) -> set:
        """The keys of those sources that have nearly the values of one that gets a gradient; (key, source) each."""
        leaves = {
            row
            for sweep in self.sweeps
            for row, adjoint in sweep.adjoints.items()
            if sources and self.entries[row].kind != "operation" and not adjoint.facts()[0]
        }
        return {
            key
            for key, source in sources
            if any(self.are_alike(one, row) for one in self.recording.rows_of(source) for row in leaves)
        }

    def are_alike(self, one: int, other: int) -> bool:
        """Whether two leaves have nearly the same values, which are enough to tell."""
        pair = [numbers_of(self.entries[row].value) for row in (one, other)]
        known = [array.ravel() for array in pair if array is not None and array.size >= TELLS and np.ptp(array)]
        return len(known) > 1 and known[0].size == known[1].size and bool(np.corrcoef(known)[0, 1] > 0.5)

    def inquiry(self, target: int, source: Any) -> Any:
        """A question about one source, whose reasoning is of use here."""
        raise NotImplementedError

    # -- the graph ---------------------------------------------------------------------------------

    @cached_property
    def on_path(self) -> dict[int, BackwardPass]:
        """The operations to which an adjoint came, each with the last backward pass that brought it."""
        return {row: sweep for sweep in self.sweeps for row in sweep.adjoints if self.entries[row].kind == "operation"}

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """The operations that read a row."""
        found: dict[int, list[int]] = {}
        for entry in self.entries:
            for given in entry.inputs:
                found.setdefault(given, []).append(entry.row)
        return found

    def behind(self, row: int) -> set[int]:
        """The rows that a row was computed from, along paths that gradients take."""
        found, stack = set[int](), [row]
        while stack:
            at = stack.pop()
            if at not in found:
                found.add(at)
                stack += [given for given in self.entries[at].inputs if self.entries[given].differentiable]
        return found

    def maker(self, row: int) -> int:
        """The row before those that change no number."""
        while self.entries[row].op in self.names.shapes and self.entries[row].inputs:
            row = self.entries[row].inputs[0]
        return row

    def activation_of(self, row: int) -> str:
        """Which activation gave a row, also one that is written by hand; empty for another operation."""
        entry = self.entries[row]
        if not entry.op.lower().endswith(("div", "reciprocal")) or entry.kind != "operation":
            return self.names.activations.get(entry.op, "")
        first, by = (self.entries[self.maker(given)] for given in (entry.inputs[0], entry.inputs[-1]))
        exponentials = [given for given in by.inputs if self.entries[given].op.lower() == "exp"]
        if exponentials and by.op in self.names.adds:
            return "sigmoid"
        return "softmax" if first.op.lower() == "exp" and by.op in self.names.sums else ""

    def called(self, row: int) -> str:
        """What people call an operation."""
        return self.activation_of(row) or str(self.entries[row].op)

    def adjoint(self, row: int) -> np.ndarray | None:
        """What arrived at a row in the last backward pass that reached it."""
        sweep = self.on_path.get(row)
        return None if sweep is None else numbers_of(sweep.adjoints.get(row))

    def operations(self, names: Collection[str]) -> Iterator:
        """The operations of these names that passed a gradient on, the last ones first."""
        return (self.entries[row] for row in sorted(self.on_path, reverse=True) if self.entries[row].op in names)

    # -- shapes and functions ----------------------------------------------------------------------

    def broadcast(self) -> Iterator[Suspicion]:
        """A column of N values met a row of N: N times N, of which the loss takes the mean."""
        for entry in self.operations({*self.names.compare, *self.names.losses, *self.names.factors}):
            if len(entry.inputs) < 2:
                continue
            given = [self.operand(entry, row) for row in entry.inputs[:2]]
            one, two = (tuple(self.entries[row].shape) for row in given)
            column = given[0] if column_and_row(one, two) else given[1] if column_and_row(two, one) else None
            if column is None or self._is_pairwise(entry, given, column) or not self._is_summed(entry):
                continue
            n = max(*one, *two)
            if entry.op not in self.names.losses and tuple(entry.shape) != (n, n):
                continue  # the program made the column itself
            fields = {"what": entry.op, "one": one, "two": two, "result": (n, n), "n": n}
            yield Suspicion("broadcast", entry.site, fields, entry.row)

    def operand(self, entry: Any, row: int) -> int:
        """What the program gave to an operation, before the framework made its shape fit."""
        return row

    def _is_pairwise(self, entry: Any, given: Sequence[int], column: int) -> bool:
        """Whether a table is meant: of a vector with itself, or the column was made in the same line."""
        same = self.maker(given[0]) == self.maker(given[1])
        return same or (self.entries[column].op in self.names.shapes and self.entries[column].site == entry.site)

    def _is_summed(self, entry: Any) -> bool:
        """Whether the table goes into a sum of all elements, element by element."""
        waiting = [entry]
        while waiting:
            at = waiting.pop()
            if at.op in self.names.losses or at.op in self.names.sums:
                return not at.shape
            waiting += [
                reader
                for row in self.readers.get(at.row, ())
                if (reader := self.entries[row]).op in self.names.sums or tuple(reader.shape) == tuple(at.shape)
            ]
        return False

    def activation_twice(self) -> Iterator[Suspicion]:
        """A loss of logits was given what an activation made."""
        for entry in self.operations({*self.names.of_logits, *LOGARITHMS}):
            given = self.logits_of(entry) if entry.op in self.names.of_logits else None
            by_hand = self._logits_by_hand(entry) if given is None else None
            if given is not None:
                wanted = self.names.of_logits[entry.op]
            elif by_hand is not None:
                wanted, given = by_hand
            else:
                continue
            made = self.unsigned(given)
            fields = {"what": self.called(entry.row), "one": wanted}
            if self.activation_of(made) == wanted:
                earlier = in_brackets(*self.entries[made].site)
                yield Suspicion("activation_twice", entry.site, fields | {"other": earlier}, entry.row)
            elif (
                wanted == "softmax"
                and not self.recording.made_up
                and are_probabilities(numbers_of(self.entries[made].value))
            ):
                yield Suspicion("activation_twice", entry.site, fields, entry.row, kind="numbers")

    def logits_of(self, entry: Any) -> int | None:
        """The row that a loss of logits takes for them; None where the operation is no such loss."""
        row: int = entry.inputs[0]
        return row

    def _logits_by_hand(self, entry: Any) -> tuple[str, int] | None:
        """What a logarithm of exponentials is given, and what it applies: log(1 + exp(z)) is a sigmoid's, and
        log(sum(exp(z))) a softmax's.
        """
        wanted, row = "sigmoid" if entry.op.lower() == "log1p" else "", entry.inputs[:1]
        while row:
            inner = self.entries[self.unsigned(row[0])]
            if inner.op.lower() == "exp":
                return (wanted, inner.inputs[0]) if wanted else None
            adds = "add" in inner.op.lower()
            if not adds and inner.op not in self.names.sums:
                return None
            wanted = "sigmoid" if adds else "softmax"
            row = [given for given in inner.inputs if self.entries[given].differentiable]
        return None

    def unsigned(self, row: int) -> int:
        """The row before those that change no number but its sign, or take the largest of all or a constant away."""
        while True:
            entry = self.entries[self.maker(row)]
            other = self.entries[self.maker(entry.inputs[-1])] if entry.op.lower() == "sub" else entry
            shifts = other is not entry and ("max" in other.op.lower() or not other.differentiable)
            if not shifts and entry.op.lower() not in ("neg", "abs"):
                return int(entry.row)
            row = entry.inputs[0]

    # -- numbers -----------------------------------------------------------------------------------

    def rounding_only(self) -> Iterator[Suspicion]:
        """The same adjoint came to all that a softmax or a normalization gave, and cancels but for rounding."""
        for entry in self.operations(self.names.normalize):
            came, sent = self.adjoint(entry.row), self._sent(entry)
            if came is None or sent is None or sent.shape != came.shape:
                continue
            least, most = largest(sent), largest(came)
            along = (axis for axis, size in enumerate(came.shape) if size > 1)
            uneven = (largest(came - came.mean(axis, keepdims=True)) for axis in along)
            if 0 < most < math.inf and 0 < least <= EQUAL * most and min(uneven, default=most) <= EQUAL * most:
                fields = {"what": self.called(entry.row), "from_": most, "to": least / most}
                yield Suspicion("rounding_only", entry.site, fields, entry.row)

    def cancels(self) -> Iterator[Suspicion]:
        """What came back to a value on several paths cancels but for rounding, as in a normalization by hand."""
        for sweep in {sweep.site: sweep for sweep in self.sweeps}.values():
            met: dict[int, list] = {}
            for call, edges in sweep.edges.items():
                for row, _, product, _ in edges:
                    met.setdefault(row, []).append((call, product))
            for row, parts in met.items():
                came, entry = numbers_of(sweep.adjoints.get(row)), self.entries[row]
                if came is None or came.size < 2 or entry.kind != "operation" or not parts[1:]:
                    continue
                most, left = max(largest(numbers_of(part)) for _, part in parts), largest(came)
                if 0 < left <= EQUAL / 10 * most < math.inf:
                    last = self.entries[max(call for call, _ in parts)]
                    fields = {"what": self.called(last.row), "from_": most, "to": left / most}
                    alone = self._little_behind(row, most)
                    yield Suspicion("rounding_only", last.site, fields, row, alone=alone, kind="cancels")

    def _sent(self, entry: Any) -> np.ndarray | None:
        """What an operation sent on to its first differentiable input."""
        edges = self.on_path[entry.row].edges.get(entry.call, ())
        return next((numbers_of(product) for row, _, product, _ in edges if row in entry.inputs[:1]), None)

    def underflow(self) -> Iterator[Suspicion]:
        """An adjoint of half precision is smaller than its normal numbers, and parts of it are 0."""
        limit = float(np.finfo(np.float16).smallest_normal)
        half = [row for row in sorted(self.on_path, reverse=True) if self.entries[row].dtype == "float16"]
        small = [
            (row, came)
            for row in half
            if (came := self.adjoint(row)) is not None and largest(came) < limit and came.size
        ]
        began = next((row for row, came in small if largest(came)), None)  # what reads it sent the first of them
        for row, came in small:
            before = max((largest(self.adjoint(reader)) for reader in self.readers.get(row, ())), default=0.0)
            lost = float((came == 0).mean())
            if 0 < before < limit and (lost >= 0.05 or largest(came) < limit / 16) and began is not None:
                by = max(self.readers.get(began, [began]), key=lambda reader: largest(self.adjoint(reader)))
                fields = {"what": self.called(by), "one": "float16", "to": before, "share": lost}
                yield Suspicion("underflow", self.entries[by].site, fields, row)
                return

    def along_depth(self) -> Iterator[Suspicion]:
        """An operation that repeats, in a loop or a deep net, made the adjoint smaller or larger each time."""
        series: dict[Any, list[int]] = {}
        for row in sorted(self.on_path, reverse=True):
            entry = self.entries[row]
            sweep = self.on_path[row]
            series.setdefault((id(sweep), entry.op, entry.site, tuple(entry.shape)), []).append(row)
        found: list[tuple] = []
        for rows in series.values():
            pairs = [(row, size) for row in rows if 0 < (size := size_of(self.adjoint(row))) < math.inf]
            if len(pairs) < REPEATED:
                continue
            sizes = [size for _, size in pairs]
            smaller = [b < a for a, b in pairwise(sizes)]
            ratio, share = sizes[-1] / sizes[0], sum(smaller) / len(smaller)
            if (ratio < VANISHED and share >= 0.8) or (ratio > EXPLODED and share <= 0.2 and sizes[-1] > 1):
                named = self.entries[rows[0]].op in self.names.activations
                found.append((abs(math.log(ratio)) * (1 + named), ratio < 1, pairs))
        if found:
            _, less, pairs = max(found, key=lambda one: one[0])
            first, last = pairs[0], pairs[-1]
            entry = self.entries[first[0]]
            ratio = last[1] / first[1]
            fields = {"what": self.called(entry.row), "from_": first[1], "to": last[1], "n": len(pairs), "ratio": ratio}
            if not less:
                yield Suspicion("exploding", entry.site, fields, first[0])
                return
            yield Suspicion("vanishing", entry.site, fields, first[0], alone=self._little_behind(*first))

    def diverges(self) -> Iterator[Suspicion]:
        """From step to step the gradient and the weight grow."""
        found: list[tuple] = []
        for source in self.with_gradient.values():
            steps, rows = self.steps_of(source), self.recording.rows_of(source)
            arrived = [numbers_of(s.adjoints.get(row)) for s in self.sweeps for row in rows if row in s.adjoints]
            sizes = [float(np.linalg.norm(array)) for array in arrived if array is not None]
            values = (numbers_of(self.entries[row].value) for row in rows if self.entries[row].kind != "operation")
            weights = [weight for weight in values if weight is not None]
            if len(sizes) < 3 or len(steps) < 2 or len(weights) < 2 or not sizes[0]:
                continue
            grows = all(after > 1.5 * before for before, after in pairwise(sizes))
            length = float(np.linalg.norm(weights[-2]))
            ratio = float(np.linalg.norm(weights[-1] - weights[-2])) / length if length else 0.0
            if grows and ratio > 0.5 and sizes[-1] > 20 * sizes[0]:
                fields = {"from_": sizes[0], "to": sizes[-1], "n": len(sizes), "ratio": ratio}
                one = Suspicion("exploding", steps[-1].site, fields, sources=set(self.with_gradient), kind="steps")
                found.append((sizes[-1], one))
        if found:
            yield max(found, key=lambda one: one[0])[1]

    def saturated(self) -> Iterator[Suspicion]:
        """An activation passed almost nothing of what came."""
        for entry in self.operations(self.names.saturate):
            arrived = self.adjoint(entry.row)
            came, sent = size_of(arrived), size_of(self._sent(entry))
            if (
                0 < sent < VANISHED * came < math.inf
                and sent < VANISHED * self._least_before(entry.row)
                and self._is_flat(entry, arrived)
            ):
                fields = {"what": self.called(entry.row), "from_": came, "to": sent, "ratio": sent / came}
                alone = self._little_behind(entry.row, came)
                yield Suspicion("vanishing", entry.site, fields, entry.row, alone=alone, kind="saturated")

    def _least_before(self, row: int) -> float:
        """The least adjoint on the way to a row: behind a logarithm it is large where a probability is small."""
        after = [row]
        for at in after:
            after += [reader for reader in self.readers.get(at, ()) if reader in self.on_path and reader not in after]
        return min(size_of(self.adjoint(at)) for at in after)

    def _is_flat(self, entry: Any, came: np.ndarray | None) -> bool:
        """Whether an activation has hardly a slope where an adjoint came; else what came cancels there."""
        value = numbers_of(entry.value)
        if value is None or came is None or value.shape != came.shape:
            return True
        slope = 1 - value * value if self.called(entry.row) == "tanh" else value * (1 - value)
        return size_of(came * slope) < 10 * VANISHED * size_of(came)

    def _little_behind(self, row: int, size: float) -> set[int]:
        """The rows that a row was computed from and to which almost nothing came of an adjoint of this size; at least
        the row. What enters at each turn, as of a solver, gets its gradient from the other turns.
        """
        behind, arrived = self.behind(row), self.on_path[row].adjoints.items()
        return {row} | {at for at, one in arrived if at in behind and size_of(numbers_of(one)) < VANISHED * size}

    # -- parts -------------------------------------------------------------------------------------

    def in_part(self) -> Iterator[Suspicion]:
        """A number left, or was computed by what has no slope, and the target adds it."""
        seen = set[Site]()
        for entry, row in self._constant_terms():
            why = getattr(entry.extra, "why", "")
            kind = "choice" if why in FLAT or entry.dtype in ("bool", "int32", "int64") else ""
            if kind or why == "copied":
                yield Suspicion("in_part", entry.site, {"what": f"{entry.op}(...)"}, row, kind=kind)
        for exit in self.recording.left:
            row = self.entries[exit.row]
            if row.differentiable and row.kind == "operation" and exit.how != "__bool__" and exit.site not in seen:
                seen.add(exit.site)
                if self._adds_what_left(exit):
                    yield Suspicion("in_part", exit.site, {"what": left_by(exit.how)}, exit.row)

    def _adds_what_left(self, exit: Any) -> bool:
        behind = self.behind(exit.row)
        source = next((s for s in self.with_gradient.values() if behind.intersection(self.recording.rows_of(s))), None)
        sweep = next((s for s in reversed(self.sweeps) if s.target and s.target[-1] > exit.row), None)
        start = statement_at(exit.site)
        if source is None or sweep is None or start is None:
            return False
        inquiry = self.inquiry(sweep.target[-1], source)
        entered = inquiry._entered(start) if inquiry.flows_back(exit) else []
        return any(
            row >= exit.before and self.entries[row].site in entered and self._adds_a_number(row)
            for row in inquiry.behind
        )

    def _adds_a_number(self, row: int) -> bool:
        """Whether a row adds a number of Python's to a value."""
        entry = self.entries[row]
        others = sum(map(self._is_number, entry.inputs))
        return entry.op in self.names.adds and (len(entry.inputs) == 1 or others == 1)

    def _is_number(self, row: int) -> bool:
        """Whether a row is a constant, or a multiple of one."""
        entry = self.entries[row]
        scaled = entry.op in {*self.names.factors, *self.names.shapes} and not entry.differentiable
        return entry.kind == "constant" or (scaled and all(map(self._is_number, entry.inputs)))

    def _constant_terms(self) -> Iterator[tuple[Any, int]]:
        """The operations that hand a number on to a sum which is a target, and no gradient back, with a row that each
        of them computes with.
        """
        waiting = [row for sweep in self.sweeps for row in sweep.target]
        while waiting:
            entry = self.entries[waiting.pop()]
            before = [row for row in entry.inputs if self.entries[row].differentiable]
            if not entry.differentiable and before:
                yield entry, before[0]
            elif not entry.differentiable or (entry.op in self.names.adds and not entry.shape):
                waiting += entry.inputs
            elif entry.op in {*self.names.factors, *self.names.shapes} and not entry.shape:
                waiting += before


def steps_said(count: int) -> str:
    """So many steps, in words."""
    return fill("1 step") if count == 1 else fill("{n} steps", n=count)


def are_probabilities(values: np.ndarray | None) -> bool:
    """Whether all rows are numbers from 0 to 1 whose sum is 1.

    >>> are_probabilities(np.array([[0.2, 0.8], [0.5, 0.5]])), are_probabilities(np.array([[0.2, 0.9], [0.5, 0.5]]))
    (True, False)
    """
    if values is None or values.ndim < 2 or len(values) < 2 or values.shape[1] < 2:
        return False
    sums = values.sum(1)
    return bool((values >= 0).all() and (np.abs(sums - 1) < 1e-4).all())


def largest(array: np.ndarray | None) -> float:
    """The largest absolute number; 0 where there is none."""
    return float(np.abs(array).max(initial=0.0)) if array is not None else 0.0


def size_of(array: np.ndarray | None) -> float:
    """The root of the mean of squares; 0 where there is none."""
    top = largest(array)
    return top if array is None or not 0 < top < math.inf else top * float(np.sqrt(np.mean((array / top) ** 2)))
