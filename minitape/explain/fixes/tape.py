"""What fixes ask of a tape, in the words in which they ask a framework's recording."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ...engine.hooks import hooks
from ...engine.recording.block import no_tapes
from ...engine.recording.evidence import ValueLeft
from ...engine.tensor.tensor import Tensor
from ...recording.nodes import CodePlace, TapeNode
from ..caller import asking_spaces
from ..causes import SHARED
from ..replay import MOST
from ..source import source_of
from ..zero_or_nan import TapeRows, TapeValues
from .dialects import TAPE, derive_by_tape
from .edit_site import Spot
from .table import first_fix, patched

if TYPE_CHECKING:
    from ...engine.types import End
    from ..advice import Advice
    from ..inquiry import GradientInquiry
    from ..words import Explanation

_KINDS = {  # of causes with kinds those that a line can fix
    "integer_dtype": ("source", "cast", "cast through"),
    "left_through_numpy": ("", "instead", "drop", "copy", "predict"),
    "wrong_object": ("copy",),
    "nondifferentiable_op": ("step", ""),
    "state": ("variable", "changed", "expression"),
    "rebound": ("assign", "replaced assign"),
}


class OfTape:
    """The question about a tape that a fix needs. Values are computed when a fix uses them: most do not."""

    def __init__(self, inquiry: GradientInquiry, source: End, name: str, values: TapeValues | None = None) -> None:
        self._inquiry, self.source, self.name = inquiry, source, name
        self.dialect = replace(TAPE, derive=derive_by_tape(hooks.minitape))
        self.recording = self
        if values is not None:
            self._values = values

    @cached_property
    def _values(self) -> Any:
        record = self._inquiry.record
        if not 0 < len(record) <= MOST or hasattr(record, "reads"):  # it is too long, or has no values
            return SimpleNamespace(entries=[], rows=[], ends=[], behind=set(), sweep=None)
        if self._inquiry.unswept is None:  # one for all sources of a question
            self._inquiry.unswept = TapeRows(self._inquiry, {}, ())
        return TapeValues(self._inquiry.unswept, self.source, self.name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._values, name)

    def asleep(self) -> AbstractContextManager[None]:
        """While something runs that is not the program's."""
        return no_tapes()

    def _spaces(self) -> list[dict[str, object]]:
        """Where Python names of the program are."""
        return asking_spaces()

    @cached_property
    def path(self) -> str:
        """How the program reaches the source."""
        return next(
            (
                name
                for space in self._spaces()
                for name, value in list(space.items())
                if value is self.source and not name.startswith("_")
            ),
            self.name,
        )

    @cached_property
    def entered(self) -> tuple[str, int] | None:
        """Where the tape's block began last."""
        notes = [note[3] for note in self._inquiry.tape.notes if note[0] == "enter" and note[3]]
        place = CodePlace(notes[-1]) if notes else None
        return None if place is None else (place.filename, place.line)

    def recorded(self, value: Any) -> int | None:
        """The entry of a tensor or variable."""
        nodes = self._inquiry.trace.of(value) if isinstance(value, Tensor) or hasattr(value, "_tape_rows") else []
        return next((at for node in nodes if (at := self.row_of(node)) is not None), None)

    def row_of(self, node: TapeNode) -> int | None:
        """The entry of a node."""
        rows = self._values.sweep
        return None if rows is None else rows.by_key.get(node.key)


def of_break(answer: Explanation) -> None:
    """Adds the patch of a break, where one changed line fixes it."""
    advice: Advice = answer._asked
    answer._asked, cause = None, answer.cause
    statement, place = advice.statement, advice.place
    if statement is None or place is None or advice.kind not in _KINDS.get(cause, (advice.kind,)):
        return
    if isinstance(advice.subject, ValueLeft) and advice.subject.when < _block_start(advice.inquiry):
        return  # before the block: the line has to move as well
    asked = OfTape(advice.inquiry, advice.source, answer.name)
    spot = Spot(asked, answer, statement.source, statement.filename, statement, SHARED.get(cause, cause))
    spot.call, spot.instead = advice.call, advice.fields["instead"]
    if isinstance(advice.subject, TapeNode):
        spot.node = advice.subject
    patched(answer, first_fix(spot))


def of_value(answer: Explanation, said: Explanation, inquiry: GradientInquiry, source: End) -> None:
    """The same of an answer about what arrived, and is zero or not finite, as it was ``said``."""
    values, answer._rows = said._asked, said._rows
    if values is None or answer.filename is None or answer.line is None:
        return
    found = source_of(answer.filename)
    statement = None if found is None else found.at(answer.filename, answer.line)
    if found is None or statement is None:
        return
    spot = Spot(OfTape(inquiry, source, answer.name or values.name, values), answer, found, answer.filename, statement)
    patched(answer, first_fix(spot))


def _block_start(inquiry: GradientInquiry) -> int:
    """When the tape's block began."""
    return max((note[2] for note in inquiry.tape.notes if note[0] == "enter"), default=0)
