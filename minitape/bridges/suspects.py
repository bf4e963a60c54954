"""Gradients that are there and wrong, as far as a number or an identity of the run shows it.

Each check reads the rows and the backward passes of a recording, in any framework, and finds :class:`Suspicion`: of
which rows' sources, on which line, with which numbers. What rows alone show is in ``explain/suspects``; what a
framework alone knows, such as the steps of its optimizers, its own checks add.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..explain.causes import KINDS
from ..explain.flow import Flows
from ..explain.sentences import fill
from ..explain.source import statement_at
from ..explain.suspects import OperationNames, PathChecks, Suspicion
from ..recording.rows import BackwardPass
from ..recording.sites import Site
from ..recording.values import numbers_of
from ..why.words import left_by

VANISHED, EXPLODED = 1e-5, 1e4  # of what came to the end of a repeated operation
REPEATED = 5  # so often an operation is a loop, or a deep net
EQUAL = 1e-5  # of float32 numbers that are the same but for rounding
ODD_NUMBERS = ("rounding_only", "underflow", "vanishing", "exploding")
TELLS = 8  # so many numbers are not alike by chance


Checks = Iterable[Callable[[], Iterable[Suspicion]]]


class SuspectChecks(PathChecks):
    """The checks of one recording."""

    asks = False  # whether a program names each source whose gradient it wants

    def __init__(self, recording: Any, names: OperationNames) -> None:
        self.recording, self.entries, self.names = recording, recording.entries, names
        self.sweeps: list[BackwardPass] = [sweep for sweep in recording.sweeps if sweep.adjoints]
        self.ends = [row for sweep in self.sweeps for row in sweep.target]
        # each with the last backward pass that brought an adjoint
        self.on_path: dict[int, BackwardPass] = {
            row: sweep for sweep in self.sweeps for row in sweep.adjoints if self.entries[row].kind == "operation"
        }

    @cached_property
    def found(self) -> list[Suspicion]:
        """What is suspect, the surest first."""
        checks = (self.broadcast, self.activation_twice) if self.recording.made_up else self.checks()
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

    def of(self, source: Any, rows: Iterable[int]) -> list[Suspicion]:
        """What is suspect about the gradient of a source, the surest first, one of each cause. A number that only looks
        odd is said where nothing else is: it comes of that.
        """
        own, first = set(rows), dict[str, Suspicion]()
        for found in self.found:
            behind = found.row is not None and not own.isdisjoint(found.alone or self.behind(found.row))
            if self.key(source) in found.sources or behind:
                first.setdefault(found.cause, found)
        return [found for at, found in enumerate(first.values()) if not at or found.cause not in ODD_NUMBERS]

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
        return is_alike(*(numbers_of(self.entries[row].value) for row in (one, other)))

    # -- the graph ---------------------------------------------------------------------------------

    def numbers(self, row: int) -> np.ndarray | None:
        return None if self.recording.made_up else super().numbers(row)

    def adjoint(self, row: int) -> np.ndarray | None:
        """What arrived at a row in the last backward pass that reached it."""
        sweep = self.on_path.get(row)
        return None if sweep is None else numbers_of(sweep.adjoints.get(row))

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
                    yield Suspicion(
                        "rounding_only", last.site, fields, row, alone=self._little_behind(row, most), kind="cancels"
                    )

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
            series.setdefault((id(self.on_path[row]), entry.op, entry.site, tuple(entry.shape)), []).append(row)
        found: list[tuple] = []
        for rows in series.values():
            pairs = [(row, size) for row in rows if 0 < (size := size_of(self.adjoint(row))) < math.inf]
            if len(pairs) < REPEATED:
                continue
            sizes = [size for _, size in pairs]
            smaller = [b < a for a, b in pairwise(sizes)]
            ratio, share = sizes[-1] / sizes[0], sum(smaller) / len(smaller)
            changed = (ratio < VANISHED and share >= 0.8) or (ratio > EXPLODED and share <= 0.2 and sizes[-1] > 1)
            # else they are beside one another, as what enters at each turn
            if changed and pairs[-1][0] in self.behind(pairs[0][0]):
                named = self.entries[rows[0]].op in self.names.activations
                found.append((abs(math.log(ratio)) * (1 + named), pairs))
        if found:
            _, pairs = max(found)
            (row, began), (_, ended) = pairs[0], pairs[-1]
            ratio, less = ended / began, ended < began
            fields = {"what": self.called(row), "from_": began, "to": ended, "n": len(pairs), "ratio": ratio}
            alone = self._little_behind(row, began) if less else ()
            yield Suspicion("vanishing" if less else "exploding", self.entries[row].site, fields, row, alone=alone)

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
                sources = set(self.with_gradient)
                found.append((sizes[-1], Suspicion("exploding", steps[-1].site, fields, sources=sources, kind="steps")))
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
                yield Suspicion(
                    "vanishing",
                    entry.site,
                    fields,
                    entry.row,
                    alone=self._little_behind(entry.row, came),
                    kind="saturated",
                )

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
        """The same; or a term was cut off whole, or a number left, and the target adds it."""
        yield from super().in_part()
        terms = {entry.row: entry for entry in self._terms()}
        for entry in terms.values():
            cut = [] if entry.differentiable or KINDS.get(entry.extra.why) != "cut" else self._slopes_of(entry)
            # z + (q - z).detach() has z on its path, too; and the sum may put back what was taken away before
            met = self._meets(entry.row) if cut and self.on_path.keys().isdisjoint(cut) else set()
            if met and met <= terms.keys():
                yield Suspicion("in_part", entry.site, {"what": self.called(entry.row)}, cut[0], kind="cut")
        seen = set[Site]()
        for exit in self.recording.left:
            row = self.entries[exit.row]
            if row.differentiable and row.kind == "operation" and exit.how != "__bool__" and exit.site not in seen:
                seen.add(exit.site)
                start = statement_at(exit.site)
                if start is not None and self._adds_what_left(self._flows.of(start, None, self._files), exit.before):
                    yield Suspicion("in_part", exit.site, {"what": left_by(exit.how)}, exit.row)

    def _meets(self, constant: int) -> set[int]:
        """The operations on a path that compute with a constant, or with what was computed from it alone."""
        met, waiting = set[int](), [constant]
        while waiting:
            readers = self.readers.get(waiting.pop(), ())
            met.update(row for row in readers if row in self.on_path)
            waiting += [row for row in readers if not self.entries[row].differentiable]
        return met

    @cached_property
    def _flows(self) -> Flows:
        return Flows()

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(entry.site[0] for entry in self.entries if entry.site[0])


def is_alike(*arrays: np.ndarray | None) -> bool:
    """Whether two arrays have nearly the same values, which are enough to tell.

    >>> nine = np.arange(9.0)
    >>> is_alike(nine, nine + 0.1), is_alike(nine, -nine), is_alike(nine, None)
    (True, False, False)
    """
    known = [array.ravel() for array in arrays if array is not None and array.size >= TELLS and np.ptp(array)]
    return len(known) > 1 and known[0].size == known[1].size and bool(np.corrcoef(known)[0, 1] > 0.5)


def steps_said(count: int) -> str:
    """So many steps, in words."""
    return fill("1 step") if count == 1 else fill("{n} steps", n=count)


def largest(array: np.ndarray | None) -> float:
    """The largest absolute number; 0 where there is none."""
    return float(np.abs(array).max(initial=0.0)) if array is not None else 0.0


def size_of(array: np.ndarray | None) -> float:
    """The root of the mean of squares; 0 where there is none."""
    top = largest(array)
    return top if array is None or not 0 < top < math.inf else top * float(np.sqrt(np.mean((array / top) ** 2)))
