"""Find the path along which a gradient is lost.

A recording (of minitape's tape, PyTorch, TensorFlow or JAX) is a list of rows (`RecordedRow`) in execution order. Each
row lists edges to the rows from which it was computed. An edge that blocks the gradient is called a
*break*, and stores the cause.

A `Question` holds the rows of one source and one target. This module finds the path between them with the lowest total
break cost, and ``checks.py`` reports the break in this path that is nearest to the source.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...common.shared_results import get_or_build_shared_result
from ...engine.types import OptionalFlag, OptionalNumber, RowList, RowsByRow, RowSet, TextsByName
from ...recording.recorded_rows import (
    BackwardPass,
    Escapes,
    InputEdge,
    OptionalBackwardPass,
    RecordedRow,
    RecordedRowList,
    collect_rows_and_ancestors,
)
from ...recording.sites import NOWHERE, CallStack, Site
from ..causes import Kind, get_kind_name_or_error_kind, get_kind_or_error_kind
from .program_text import find_statement, unparse

if TYPE_CHECKING:
    from .adapter import Adapter

Result = TypeVar("Result")
TIE_COST = 0.001  # This small cost only decides between paths that would otherwise cost the same.
INDEX_BREAK_COST = 1.5
ADD_OPS = {"add", "__add__", "__radd__", "AddV2"}
find_target_word = re.compile(
    "(?<![a-z])(targets?|teacher|labels?|next|old|ema|frozen|baseline|returns?)(?![a-z])", re.I
).search


class PathStep(NamedTuple):
    """One step along a path.

    Attributes:
        row: The index of a row on the path.
        edge: The edge through which this row reads the previous row on the path.
    """

    row: int
    edge: InputEdge


StepsByRow = dict[int, PathStep | None]  # A path may end at a row, which then maps to None.


class Creation(NamedTuple):
    """When and where an object was created.

    Attributes:
        clock: The time of creation, or 0 if it is unknown.
        call_stack: The statements that were running when the object was created, outermost first.
    """

    clock: int
    call_stack: CallStack = ()


@dataclass(eq=False)
class Finding:
    """The cause of a missing or wrong gradient, and its location.

    Attributes:
        cause: One of the causes in `causes.CAUSES`.
        site: The line to blame.
        row: The row to blame, if any.
        detail: The value of the sentence's field ``what``, such as the name of an operation.
        variant: Which variant of the cause's sentences to use, or "" for the default.
        other_name: The value of the sentence's field ``other``, such as the name of another object.
        more: The other breaks in the same path and in other paths.
        is_intended: Whether the program breaks the path on purpose, or None if the cause alone determines this.
        sentence_fields: Values for additional fields of the sentence.
        is_side_break: Whether this finding is listed in another finding's `more` and blocks a different path.
        has_gradient: Whether a gradient exists even though the cause usually prevents one.
    """

    cause: str
    site: Site = NOWHERE
    row: OptionalNumber = None
    detail: str = ""
    variant: str = ""
    other_name: str = ""
    more: list[Finding] = field(default_factory=list)
    is_intended: OptionalFlag = None
    sentence_fields: TextsByName = field(default_factory=dict)
    is_side_break: bool = False
    has_gradient: bool = False


OptionalFinding = Finding | None  # None means that a check found nothing.


@dataclass(eq=False)
class Question:
    """The question of why the gradient of a target with respect to a source is missing or wrong.

    Attributes:
        adapter: The interface to the framework.
        rows: All rows of the recording, in execution order.
        source_rows: The rows that represent the source.
        target_rows: The rows that represent the target.
        escapes: The values that left the framework.
        sweep: The backward pass to explain, if one ran.
        name: The program's name for the source.
        block_clock: The time at which the tape's ``with`` block began, if the framework has tapes.
        shared_rows: The rows as they are without the changes made for this source, or None if no other question uses
            the same rows. Questions with the same shared rows and the same target also share the results of searches
            that start at the target.
    """

    adapter: Adapter
    rows: Sequence[RecordedRow]
    source_rows: RowList
    target_rows: RowList
    source: Any
    target: Any = None
    escapes: Escapes = ()
    sweep: OptionalBackwardPass = None
    name: str = ""
    block_clock: int = 0
    shared_rows: Sequence[RecordedRow] | None = None

    @cached_property
    def ancestors(self) -> RowSet:
        """The target's rows, and all rows that they were computed from."""
        return self.get_or_compute_shared_result("ancestors", lambda: self.find_rows_and_ancestors(self.target_rows))

    @cached_property
    def used_source_rows(self) -> RowList:
        """The source rows that the target was computed from."""
        return [row for row in self.source_rows if row in self.ancestors]

    @cached_property
    def descendants(self) -> RowSet:
        """The source's rows, and all rows that were computed from them."""
        return self.find_rows_and_descendants(self.source_rows)

    @cached_property
    def first_steps_of_cheapest_paths_to_target(self) -> StepsByRow:
        """The first step of each row's cheapest path to the target."""
        # A path ends at the first row of the source, so it does not use any edge that only this question changes.
        question = self if self.shared_rows is None else replace(self, rows=self.shared_rows, source_rows=[])
        return self.get_or_compute_shared_result("paths", lambda: find_cheapest_steps_to_target(question))

    @cached_property
    def cheapest_source_row(self) -> OptionalNumber:
        """The source's row whose path to the target is cheapest, or None if no path exists."""
        candidates = [row for row in self.source_rows if row in self.first_steps_of_cheapest_paths_to_target]
        if len(candidates) > 1:
            return next(row for row in self.first_steps_of_cheapest_paths_to_target if row in candidates)
        return candidates[0] if candidates else None

    @cached_property
    def path(self) -> list[PathStep]:
        """The cheapest path from the source to the target, by total break cost, or an empty list if none exists."""
        return self._follow_steps_from_source(self.first_steps_of_cheapest_paths_to_target)

    @cached_property
    def path_breaks(self) -> list[PathStep]:
        """The breaks in the path, except those that only repeat the previous break."""
        next_breaks = self.get_or_compute_shared_result(
            "breaks", lambda: map_rows_to_next_break(self.first_steps_of_cheapest_paths_to_target)
        )
        return list_distinct_breaks(self._follow_steps_from_source(next_breaks))

    def _follow_steps_from_source(self, next_steps: StepsByRow) -> list[PathStep]:
        row, path = self.cheapest_source_row, list[PathStep]()
        while row is not None and (step := next_steps[row]) is not None:
            path.append(step)
            row = step.row
        return path

    @property
    def first_target(self) -> RecordedRow:
        """The target's first row, for questions that have a target."""
        return self.rows[self.target_rows[0]]

    @property
    def source_call_stack(self) -> CallStack:
        """The statements that were running when the source was created, outermost first."""
        return self.adapter.find_creation(self.source).call_stack

    @cached_property
    def consumers(self) -> Mapping[int, RowList]:
        """The operations that read each row, in execution order."""
        return self.get_or_compute_shared_result("consumers", lambda: map_rows_to_consumers(self.rows))

    def get_or_compute_shared_result(self, name: str, build: Callable[[], Result]) -> Result:
        """Return a result that depends only on the rows and the target, not on the source.

        Args:
            name: The name of the result.
            build: Computes the result.
        """
        if self.shared_rows is None:
            return build()
        return get_or_build_shared_result((name, id(self.shared_rows), *self.target_rows), build)

    def find_rows_and_ancestors(
        self, rows: Iterable[int], open_only: bool = False, repaired_rows: Container[int] = ()
    ) -> RowSet:
        """Return the given rows and all rows that they were computed from.

        Args:
            rows: The initial rows.
            open_only: Whether to follow only edges that pass gradients.
            repaired_rows: Rows whose breaks are treated as repaired, so that gradients pass through.
        """
        return collect_rows_and_ancestors(self.rows, rows, open_only=open_only, repaired_rows=repaired_rows)

    def find_rows_and_descendants(self, rows: Iterable[int], open_only: bool = False) -> RowSet:
        """Return the given rows and all rows that were computed from them.

        Args:
            rows: The initial rows.
            open_only: Whether to follow only edges that pass gradients.
        """
        reached = set(rows)
        first_row = min(reached, default=len(self.rows))
        for row in self.rows[first_row:]:
            if any(edge.input_row in reached and not (open_only and edge.cause) for edge in row.edges):
                reached.add(row.index)
        return reached

    def is_computed_from_source(self, row: int) -> bool:
        """Return whether a row represents the source or was computed from it.

        Only the rows between the source and this row are searched.

        Args:
            row: The row.
        """
        first_row = min(self.source_rows)
        ancestors = collect_rows_and_ancestors(self.rows, [row], lambda _, edge: edge.input_row >= first_row)
        return not ancestors.isdisjoint(self.source_rows)

    @property
    def required_sweep(self) -> BackwardPass:
        """The backward pass to explain, for checks that run only after a backward pass."""
        assert self.sweep is not None
        return self.sweep

    @property
    def is_source_variable(self) -> bool:
        """Whether the program treats the source as a variable."""
        return self.adapter.is_variable(self.source)

    @property
    def is_source_unwatched_tensor(self) -> bool:
        """Whether the source is a tensor that no tape watches."""
        return not self.is_source_variable and not any(self.rows[row].tracked for row in self.source_rows)

    def list_target_leaves_besides_source(self) -> RecordedRowList:
        """Return the leaves among the target's ancestors, except the source's own leaves."""
        rows = (self.rows[row] for row in sorted(self.ancestors.difference(self.source_rows)))
        return [row for row in rows if row.kind != "operation"]

    def list_target_ancestors_reading_source(self) -> RecordedRowList:
        """Return the ancestors of the target that read the source directly, in execution order."""
        used_rows = set(self.used_source_rows)
        return [self.rows[row] for row in sorted(self.ancestors) if not used_rows.isdisjoint(self.rows[row].inputs)]


def find_cheapest_steps_to_target(question: Question) -> StepsByRow:
    """Return the first step of each ancestor's path to the target, or None for the target itself.

    Each path is the one whose breaks have the lowest total cost. Edges that pass gradients are free, and the cost of
    every other edge is given by `compute_break_cost`. The search uses Dijkstra's algorithm, starting at the target.

    Args:
        question: The question that provides the target. If the question also has a source, the search ends at the
            source.

    Returns:
        The steps. Ancestors with cheaper paths come first.
    """
    costs = dict.fromkeys(question.target_rows, 0.0)
    next_steps = dict[int, PathStep]()
    finished_steps = StepsByRow()
    heap = [(0.0, row) for row in question.target_rows]
    while heap:
        cost, row = heapq.heappop(heap)
        if row in finished_steps:
            continue
        finished_steps[row] = next_step = next_steps.get(row)
        if row in question.source_rows:
            break
        next_edge = None if next_step is None else next_step.edge
        for edge in question.rows[row].edges:
            edge_cost = compute_break_cost(question, row, edge, next_edge) if edge.cause else 0.0
            if cost + edge_cost < costs.get(edge.input_row, inf):
                costs[edge.input_row] = cost + edge_cost
                next_steps[edge.input_row] = PathStep(row, edge)
                heapq.heappush(heap, (cost + edge_cost, edge.input_row))
    return finished_steps


def map_rows_to_next_break(cheapest_steps: StepsByRow) -> StepsByRow:
    """Return the first break in each row's path to the target, so that a long path is searched only once.

    Args:
        cheapest_steps: The first step of the cheapest path from each row. Rows nearer to the target come first.
    """
    next_breaks: StepsByRow = {}
    for row, step in cheapest_steps.items():
        next_breaks[row] = step if step is None or step.edge.cause else next_breaks[step.row]
    return next_breaks


def compute_break_cost(question: Question, row: int, edge: InputEdge, next_edge: InputEdge | None) -> float:
    """Return the cost of a break. The most likely culprit has the lowest cost.

    The base cost depends on the cause's kind (`causes.KINDS`). Three rules modify it:

    * A break that repeats the cause of the next break is almost free, so that a chain of such breaks counts only once.
    * If the target is not tracked, each break at an integer row has the same cost (`INDEX_BREAK_COST`).
    * Among paths of equal cost, a break before the tape's block or on a line that detaches a training target costs
      more. A break that removes a whole term of a sum costs less.

    Args:
        question: The question about the path.
        row: The row that reads its input through `edge`.
        edge: The break.
        next_edge: The next edge toward the target, or None at the target.
    """
    kind = get_kind_or_error_kind(edge.cause)
    if next_edge is not None and _has_same_reason_as_next(kind, edge, next_edge):
        return TIE_COST
    reader = question.rows[row]
    target_is_tracked = any(question.rows[target].tracked for target in question.target_rows)
    if reader.dtype.startswith("int") and not target_is_tracked:
        return INDEX_BREAK_COST
    tie_breaks = 0
    if 0 < reader.clock < question.block_clock:
        tie_breaks += 1
    if is_training_target_detached(reader.site):
        tie_breaks += 1
    if get_kind_name_or_error_kind(edge.cause) == "cut" and does_cut_remove_scalar_term(question, row):
        tie_breaks -= 1
    return kind.path_cost + TIE_COST * tie_breaks


def _has_same_reason_as_next(kind: Kind, edge: InputEdge, next_edge: InputEdge) -> bool:
    """Return whether a break has the same reason as the next break toward the target."""
    if (edge.cause, next_edge.cause) == ("computed_before_tape", "not_recorded"):
        return True
    return edge.cause == next_edge.cause and not kind.repeats_cost


def map_rows_to_consumers(rows: Iterable[RecordedRow]) -> dict[int, RowList]:
    """Return the operations that read each row, in execution order.

    Args:
        rows: All rows of the recording.
    """
    consumers: RowsByRow = {}
    for row in rows:
        for input_row in row.inputs:
            consumers.setdefault(input_row, []).append(row.index)
    return consumers


def find_nearest_tracked_consumers(rows: Sequence[RecordedRow], consumers: Mapping[int, RowList], row: int) -> RowSet:
    """Return the first tracked rows that use a row, directly or through untracked rows.

    Args:
        rows: All rows of the recording.
        consumers: The result of `map_rows_to_consumers`.
        row: The row.
    """
    reached, waiting = RowSet(), [row]
    while waiting:
        new_consumers = {*consumers.get(waiting.pop(), ())} - reached
        reached |= new_consumers
        waiting += [consumer for consumer in new_consumers if not rows[consumer].tracked]
    return {consumer for consumer in reached if rows[consumer].tracked}


def does_cut_remove_scalar_term(question: Question, cut_row: int) -> bool:
    """Return whether a cut removes a whole scalar term from a sum.

    Such a cut is rarely intended, because ``loss + penalty.detach()`` trains as if there were no penalty.
    """
    consumers = (
        question.rows[consumer]
        for consumer in find_nearest_tracked_consumers(question.rows, question.consumers, cut_row)
    )
    return all(consumer.op in ADD_OPS and not consumer.shape for consumer in consumers)


def is_training_target_detached(site: Site) -> bool:
    """Return whether a line detaches a value whose name contains a word like "target" or "label".

    Args:
        site: The site of the line.
    """
    statement = find_statement(site)
    cut_call = statement.find_call("stop_gradient", "detach")
    if cut_call is None:
        return False
    detached = unparse(cut_call.args[0] if cut_call.args else cut_call.func)
    if " - " in detached:  # A difference is usually the error of a prediction, whatever its operands are called.
        return False
    return any(map(find_target_word, (*statement.bound_names, detached)))


def is_same_as_or_due_to_previous_break(previous: InputEdge, edge: InputEdge) -> bool:
    """Return whether a break only repeats the break before it on the path from the source.

    A break counts as a repeat of an earlier break in three cases:

    * Both breaks have the same cause, and the later break is not at the result of a gradient call.
    * The break is at an integer that was computed by the operation at the previous break.
    * The operation was not recorded because its input was computed before the tape began.
    """
    if previous.cause == edge.cause:
        return edge.detail != "gradient"
    return (previous.cause, edge.cause) in (
        ("nondifferentiable", "integer_dtype"),
        ("computed_before_tape", "not_recorded"),
    )


def list_distinct_breaks(path: Iterable[PathStep]) -> list[PathStep]:
    """Return the breaks in a path, except those that only repeat the previous break.

    Args:
        path: The steps of the path, from the source to the target. Steps without a break may be left out.
    """
    breaks = []
    previous = PathStep(-1, InputEdge(-1))
    for step in path:
        is_next = step.edge.input_row == previous.row
        if step.edge.cause and not (is_next and is_same_as_or_due_to_previous_break(previous.edge, step.edge)):
            breaks.append(step)
        previous = step
    return breaks
