"""A gradient of a tape that is there, and wrong: what :mod:`suspects` finds in the rows, a number that left and came
back, and a variable that was changed by the gradient of another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..common.texts import paragraph
from ..engine.recording.evidence import Ref, ValueLeft, origin_of, read
from ..recording.bodies import outermost
from ..recording.nodes import Break, CodePlace, place_of_origin, placed
from .advice import EXITS
from .caller import in_brackets, warn_user
from .families import OPERATIONS
from .sentences import fill
from .source_names import name_of
from .suspects import PathChecks, Suspicion
from .words import Explanation

if TYPE_CHECKING:
    from ..engine.types import End
    from .inquiry import GradientInquiry

MOST = 20_000  # rows that are looked at
_PAIRS = (
    "Give each variable its own gradient: both lists in the same order, as in zip(tape.gradient(loss, "
    "variables), variables)."
)
_CHANGED = "{x} was changed by the gradient of {others}{line}."
_CHANGES = ("assign_sub", "assign_add")  # how optimizers change variables


def wrong(inquiry: GradientInquiry, source: End, name: str, cuts: list[Break]) -> Explanation | None:
    """What is wrong with a gradient that is there; ``cuts`` are the breaks of other paths of the source."""
    swapped = _swapped(inquiry, source, name)
    if swapped is not None or len(inquiry.record) > MOST:
        return swapped
    if inquiry.checks is None:  # they are the same for all sources
        inquiry.checks = TapeChecks(inquiry)
    found = inquiry.checks.of(source, cuts)
    return None if found is None else found.explanation(name, "tensorflow")


class TapeChecks(PathChecks):
    """What is suspect on the paths to the targets of a question."""

    names = OPERATIONS

    def __init__(self, inquiry: GradientInquiry) -> None:
        self.inquiry, self.recording = inquiry, inquiry.recording(False)
        self.entries = self.recording.entries
        self.ends = [self.recording.by_key[node.key] for node in inquiry.starts]
        # those of the tape, and of functions, loops and branches that it called
        nodes = ((entry.row, outermost(entry.node)) for entry in self.entries if entry.kind == "operation")
        self.on_path = {row for row, node in nodes if node.record is inquiry.record and inquiry.live[node.row]}

    def shape(self, row: int) -> tuple[int, ...]:
        node = self.entries[row].node
        return super().shape(row) if node.record is None else tuple(node.record.shape_dtype(node.row)[0])

    @cached_property
    def found(self) -> list[Suspicion]:
        """What the rows show, the surest first."""
        return [found for check in (self.broadcast, self.activation_twice, self.in_part) for found in check()]

    def of(self, source: End, cuts: list[Break]) -> Suspicion | None:
        """What is suspect about the gradient of a source."""
        rows = set(self.recording.rows_of(source))
        of_rows = (
            found for found in self.found if found.row is not None and not rows.isdisjoint(self.behind(found.row))
        )
        return next(of_rows, None) or next(self._left(cuts), None)

    def _left(self, cuts: list[Break]) -> Iterator[Suspicion]:
        """A number left on a path from the source, and the target adds what came of it."""
        for cut in cuts:
            left = cut.subject
            flow = self.inquiry.flow(left, self.inquiry.arrivals().lines) if isinstance(left, ValueLeft) else None
            if flow is not None and self._adds_what_left(flow):
                yield Suspicion("in_part", placed(cut.place), {"what": fill(EXITS.get(left.how, left.how))})


# -- after the gradient ----------------------------------------------------------------------------


def _swapped(inquiry: GradientInquiry, source: End, name: str) -> Explanation | None:
    """Where a variable was changed by the gradient of another one, although this tape gave its own as well."""
    asked = [*inquiry.tape.questions, *filter(None, [inquiry.tape.last])]
    if not any(source is one for question in asked for one in question.sources):
        return None  # workers compute gradients that are applied to a model of which they ask nothing
    changed = _changed_by_others(source)
    if changed is None:
        return None
    site = placed(changed[0])
    others = fill(" and ").join(dict.fromkeys(name_of(one, inquiry) for one in changed[1]))
    said = fill(_CHANGED, x=name, others=others, line=in_brackets(*site))
    return Explanation("swapped", said, fill(_PAIRS), *site)


def _changed_by_others(variable: End) -> tuple[CodePlace | None, list[End]] | None:
    """Where a variable was changed last, and the sources of the gradients in it; None where its own is among them, or
    none.
    """
    found: list[End] = []
    held = getattr(variable, "_state", None)
    change = None if held is None else origin_of(held)
    if change is None or change.kind not in _CHANGES or not change.inputs:
        return None
    place = place_of_origin(change)
    found = _gradients_in(change.inputs[0])
    return (place, found) if found and not any(one is variable for one in found) else None


def _gradients_in(value: Ref) -> list[End]:
    """The sources whose gradients a value was computed from, as far as they live."""
    found: list[End] = []
    waiting, seen = [value], set()
    while waiting:
        ref = waiting.pop()
        tensor = ref.tensor()
        one = read(ref.origin) if tensor is None else origin_of(tensor)
        if one is None or (one.when, id(one.detail)) in seen:  # the gradients of one call have one time
            continue
        seen.add((one.when, id(one.detail)))
        if one.kind == "gradient":
            source = None if one.detail is None else one.detail()
            found += [] if source is None else [source]
        else:
            waiting += one.inputs
    return found


def warn_of_step(variables: Sequence[End]) -> None:
    """Warns of the variables of one step of an optimizer that the gradients of others among them have changed."""
    plain = [v._gradient_leaf() if hasattr(v, "_gradient_leaf") else v for v in variables]
    for variable in plain:
        changed = _changed_by_others(variable)
        if changed is not None and all(any(one is v for v in plain) for one in changed[1]):
            others = fill(" and ").join(name_of(one, None) for one in changed[1])
            warn_user(
                paragraph(
                    fill(_CHANGED, x=name_of(variable, None), others=others, line=""),
                    fill(_PAIRS),
                )
            )
            return  # once for a step
