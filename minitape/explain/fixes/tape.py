"""What fixes ask of a tape, in the words in which they ask a framework's recording."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...engine.recording.evidence import ValueLeft
from ...recording.nodes import TapeNode
from ..caller import asking_spaces
from ..causes import SHARED
from ..source import statement_at
from .dialects import TAPE
from .operations import words
from .site import Spot
from .table import first_fix, patched

if TYPE_CHECKING:
    from ...recording.tape import TapeRecording
    from ..advice import Advice
    from ..inquiry import GradientInquiry
    from ..words import Explanation
    from ..zero_or_nan import TapeRows

_KINDS = {  # of causes with kinds those that a line can fix
    "integer_dtype": ("source", "cast"),
    "left_through_numpy": ("", "copy"),
    "wrong_object": ("copy",),
    "nondifferentiable_op": ("step", ""),
    "state": ("variable", "changed", "expression"),
    "rebound": ("assign", "replaced assign"),
}


class AskedOfTape:
    """A question about a tape, of which fixes ask more."""

    inquiry: GradientInquiry
    recording: TapeRecording | TapeRows
    source: Any
    name: str

    dialect = TAPE

    def _spaces(self) -> list[dict]:
        """Where Python names of the program are."""
        return asking_spaces()

    @cached_property
    def path(self) -> str:
        """How the program reaches the source."""
        names = ((name, value) for space in self._spaces() for name, value in list(space.items()))
        return next((name for name, value in names if value is self.source and not name.startswith("_")), self.name)

    def row_of(self, node: TapeNode) -> int | None:
        """The entry of a node."""
        return self.recording.by_key.get(node.key)


def of_break(answer: Explanation, asked: AskedOfTape) -> None:
    """Adds the patch of a break, where one changed line fixes it."""
    advice: Advice = answer._asked
    answer._asked, cause = None, answer.cause
    statement, place = advice.statement, advice.place
    if statement is None or place is None:
        return
    trace, record, subject = asked.inquiry.trace, asked.inquiry.record, advice.subject
    blamed = [subject] if isinstance(subject, TapeNode) else [trace.of_row(record, row) for row in answer._rows]
    row = asked.row_of(blamed[0]) if blamed else None
    entry = None if row is None else asked.recording.entries[row]
    spot = Spot(asked, SHARED.get(cause, cause), statement, entry, advice.call, advice.fields["instead"])
    answer.fix = words(spot) or answer.fix
    begin = max((note[2] for note in asked.inquiry.begins), default=0)
    early = isinstance(subject, ValueLeft) and subject.when < begin  # then the line has to move as well
    if not early and advice.kind in _KINDS.get(cause, (advice.kind,)):
        patched(answer, first_fix(spot))


def of_value(answer: Explanation, said: Explanation) -> None:
    """The same of an answer about what arrived, and is zero or not finite, as it was ``said``."""
    values, answer._rows = said._asked, said._rows
    statement = statement_at((answer.filename, answer.line))
    if values is not None and statement is not None:
        entry = values.entries[answer._rows[0]] if answer._rows else None
        spot = Spot(values, answer.cause, statement, entry)
        answer.fix = words(spot) or answer.fix
        patched(answer, first_fix(spot))
