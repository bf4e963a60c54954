"""What a question is about: the rows of any recording, and the ways through them."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...recording.sites import NOWHERE, Site
from ...recording.values import ValueSummary, numbers_of
from ..causes import KINDS, row_of
from . import text

# what a break costs that goes on with the one before, or is before the block; of what gives a place
AGAIN, OF_PLACE = 0.001, 1.5
ADDS = {"add", "__add__", "__radd__", "AddV2"}
TARGETS = re.compile("(?<![a-z])(targets?|teacher|labels?|next|old|ema|frozen|baseline|returns?)(?![a-z])", re.I).search


Elements = np.ndarray | None  # of an array, where they are kept


class Given(NamedTuple):
    """What a row was computed with, and why no gradient passes there; nothing where one does."""

    row: int
    why: str = ""
    site: Site = NOWHERE  # where, if not in the row's own line
    what: str = ""


class Exit(NamedTuple):
    """A value left the framework, when there were so many rows, and at which time."""

    row: int
    how: str
    site: Site
    number: int
    when: int = 0


@dataclass(eq=False)
class RecordedRow:
    """A leaf, or a result of an operation."""

    row: int
    op: str
    kind: str  # operation, variable, source or constant
    given: list[Given]
    site: Site
    thing: Callable[[], Any] = lambda: None  # what it stands for, while that lives
    way: Sequence[Site] = ()  # the statements that ran when it was made, the outermost first
    value: ValueSummary | None = None
    dtype: str = ""
    shape: Sequence[int] = ()
    tracked: bool = True  # a gradient can go on from it
    number: int = -1  # in the recording
    when: int = 0  # by the clock, of what ran outside of it
    name: str = ""
    scope: Sequence[str] = ()
    call: int = -1
    extra: Any = None

    @property
    def inputs(self) -> list[int]:
        """What it was computed with."""
        return [one.row for one in self.given]

    @property
    def array(self) -> Elements:
        """Its elements, where they are kept."""
        return numbers_of(self.value)

    def after(self, exit: Exit) -> bool:
        """Whether it was made after a value left."""
        return self.number >= exit.number if self.number >= 0 else not self.when or self.when > exit.when


@dataclass(eq=False)
class Finding:
    """A cause, and where."""

    cause: str
    site: Site = NOWHERE
    row: int | None = None
    what: str = ""
    kind: str = ""
    other: str = ""
    others: list[Finding] = field(default_factory=list)
    intended: bool | None = None
    fields: dict[str, str] = field(default_factory=dict)  # of its sentence, as far as they are known
    beside: bool = False  # of one of ``others`` that it blocks another way


Found = Finding | None  # what a check gives


@dataclass(eq=False)
class Question:
    """Why ``source`` has no gradient of a target, or what is wrong with it."""

    adapter: Any
    rows: list[RecordedRow]
    own: list[int]  # those of the source
    ends: list[int]  # those of the target
    source: Any
    target: Any = None
    exits: Sequence[Exit] = ()
    sweep: Any = None
    name: str = ""
    since: int = 0  # when the block began, by the clock

    @cached_property
    def behind(self) -> set[int]:
        """What the target was computed from."""
        return self.back(self.ends)

    @cached_property
    def used(self) -> list[int]:
        """The rows of the source that it was computed from."""
        return [row for row in self.own if row in self.behind]

    @cached_property
    def after(self) -> set[int]:
        """What was computed from the source."""
        return self.forward(self.own)

    @cached_property
    def way(self) -> list[tuple[int, Given]]:
        """The way from the source to the target with the fewest breaks: rows, each with what it was given."""
        return way_to(self, set(self.own))

    def back(self, rows: Iterable[int], open_only: bool = False, mended: Container[int] = ()) -> set[int]:
        """These rows, and what they were computed from; on open ways, as if some rows were ``mended``."""
        seen, stack = set[int](), list(rows)
        while stack:
            row = stack.pop()
            if row not in seen:
                seen.add(row)
                closed = open_only and row not in mended
                stack += [one.row for one in self.rows[row].given if not (closed and one.why)]
        return seen

    def forward(self, rows: Iterable[int], open_only: bool = False) -> set[int]:
        """These rows, and what was computed from them."""
        found = set(rows)
        for row in self.rows[min(found, default=len(self.rows)) :]:
            if any(one.row in found and not (open_only and one.why) for one in row.given):
                found.add(row.row)
        return found

    @property
    def is_unwatched(self) -> bool:
        """Whether the source is a tensor that no tape watches."""
        return not self.adapter.is_variable(self.source) and not any(self.rows[row].tracked for row in self.own)

    def leaves(self) -> list[RecordedRow]:
        """The leaves that the target was computed from, but for the source."""
        rows = (self.rows[row] for row in sorted(self.behind.difference(self.own)))
        return [row for row in rows if row.kind != "operation"]

    def first_uses(self) -> list[RecordedRow]:
        """The operations on the way to the target that took the source."""
        return [self.rows[row] for row in sorted(self.behind) if not set(self.used).isdisjoint(self.rows[row].inputs)]


def way_to(q: Question, wanted: set[int]) -> list[tuple[int, Given]]:
    """The way from some rows to the target with the fewest breaks."""
    heap = [(0.0, end) for end in q.ends]
    best, before, done = dict.fromkeys(q.ends, 0.0), dict[int, tuple[int, Given]](), set[int]()
    while heap:
        cost, row = heapq.heappop(heap)
        if row in done:
            continue
        done.add(row)
        if row in wanted:
            steps = []
            while row in before:
                steps.append(before[row])
                row = before[row][0]
            return steps
        for one in q.rows[row].given:
            total = cost + (weight(q, row, one, before[row][1] if row in before else None) if one.why else 0.0)
            if total < best.get(one.row, 1e9):
                best[one.row], before[one.row] = total, (row, one)
                heapq.heappush(heap, (total, one.row))
    return []


def weight(q: Question, row: int, one: Given, later: Given | None) -> float:
    """What a break costs: a chain of the same kind counts once, a place more than a number, what was made before the
    block a little more than what is in it.
    """
    kind = row_of(one.why)
    made_before = AGAIN * ((0 < q.rows[row].when < q.since) + is_target(q.rows[row].site))
    whole = AGAIN * (KINDS.get(one.why) == "cut" and loses_a_term(q, row))
    early = later is not None and (one.why, later.why) == ("computed_before_tape", "not_recorded")
    if early or (later is not None and one.why == later.why and kind.weight != 0.5):
        return AGAIN
    chooses = q.rows[row].dtype.startswith("int") and not any(q.rows[end].tracked for end in q.ends)
    return OF_PLACE if chooses else kind.weight + made_before - whole


def met_with(rows: Sequence[RecordedRow], row: int) -> set[int]:
    """The rows with a gradient that were computed with a row, or with what was computed from it alone."""
    alone, met = {row}, set[int]()
    for later in rows[row + 1 :]:
        if not alone.isdisjoint(later.inputs):
            (met if later.tracked else alone).add(later.row)
    return met


def loses_a_term(q: Question, row: int) -> bool:
    """Whether a cut leaves a whole term of a sum without a gradient, which nobody means."""
    return all(not q.rows[at].shape and q.rows[at].op in ADDS for at in met_with(q.rows, row))


def is_target(site: Site) -> bool:
    """Whether a line cuts off what it calls a target, or by another word for what is learnt from."""
    at = text.at(site)
    cut = at.call_of("stop_gradient", "detach")
    given = text.unparse([*cut.args, cut.func][0]) if cut is not None else " - "
    return " - " not in given and any(map(TARGETS, (*at.binds, given)))


def continues(before: Given, after: Given) -> bool:
    """Whether a break has the reason of the one before it, nearer to the source: only the first is said. Both have the
    same cause, the second is about whole numbers, or nobody recorded it because its input was computed too early.
    """
    if before.why == after.why:
        return after.what != "gradient"
    return (before.why, after.why) in (("nondifferentiable", "integer_dtype"), ("computed_before_tape", "not_recorded"))


def breaks(steps: Iterable[tuple[int, Given]]) -> list[tuple[int, Given]]:
    """The breaks of a way, of each run of the same cause the first."""
    found: list[tuple[int, Given]] = []
    before = Given(-1)
    for row, one in steps:
        if one.why and not continues(before, one):
            found.append((row, one))
        before = one
    return found
