"""Is a source connected? The rules alone say so, without a sweep: the answer is that of ``gradient``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from ..engine.back.reach import differentiable, on_tape
from ..engine.recording.rows import CALL, CHUNK, LEAF, operation_of
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from .flow import Flow, Flows
from .nodes import Break, CodePlace, TapeNode
from .owners import Owners
from .source import read_again
from .statement import once
from .trace import Trace

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.recording.record import Record
    from ..engine.types import Array, End
    from .nodes import Subject
    from .zero_or_nan import TapeRows

# of each scalar operation whether its first and its second input get something
_PASSES = [(False, False)] * FIRST_CODE + [(p.texts[1] != "-", len(p.texts) > 2 and p.texts[2] != "-") for p in BY_CODE]

Path = list[tuple[TapeNode, TapeNode, Break | None]]


class Finding(Break):
    """What was found for one source: a cause with its place, or connected; ``breaks`` are the others, in order."""

    __slots__ = ("breaks", "path", "beside")

    def __init__(
        self,
        cause: str,
        place: CodePlace | None = None,
        what: str = "",
        breaks: Iterable[Break] = (),
        path: Path | None = None,
        subject: Subject = None,
    ) -> None:
        super().__init__(cause, place, what, subject)
        self.breaks, self.path = list(breaks), path
        self.beside: list[Break] = []  # what cuts other ways


class Connection:
    """What is on a tape, and which rows the adjoints of its targets reach."""

    # where things are in the user's lists and dictionaries, see words.py
    keys: dict[str, dict[int, tuple[object, object]]]
    depth = 0  # how many calls of functions it is inside of, see again.py
    paths: dict[tuple[int, str], str] | None = None  # how the user's names lead to attributes, see words.py

    def __init__(self, tape: GradientTape, targets: list[End], sources: list[End] | None = None) -> None:
        read_again()
        self.owners = Owners()
        self.tape, self.targets, self.sources = tape, targets, sources or []
        self.trace = Trace(tape)
        self.record = self.trace.record
        self.starts = [node for t in targets for node in self.trace.of(t)[:1]]
        self.trace.ends = {node.key for node in self.starts}
        self._flows: dict[Hashable, Flow | None] = {}  # by exit where the value goes
        self._followed = Flows()
        self.keys = {}
        self.sums: dict[int, Array] | Literal[False] | None = None  # what arrives at the sources, see arrived.py
        self.rows: TapeRows | None = None
        self.unswept: TapeRows | None = None  # the same for fixes, where nothing was swept

    @once
    def on(self) -> bytearray:
        """For each row whether it is on the tape."""
        return on_tape(self.tape) if len(self.record) else bytearray()

    def connected(self, source: End) -> bool:
        """Whether an adjoint reaches the source."""
        seen = self._last_answer(source)
        if seen is not None:
            return seen
        if not source.dtype.differentiable:
            return False
        if any(t is source for t in self.targets):
            return True
        on, live = self.on(), self.live()
        return any(on[row] and live[row] for row in self.tape._rows_of(source))

    def _last_answer(self, source: End) -> bool | None:
        """Whether the last call of ``gradient`` returned a gradient for the source; None if it was about others."""
        last = self.tape.last
        if last is None or len(last.targets) != len(self.targets):
            return None
        if any(a is not b for a, b in zip(last.targets, self.targets, strict=True)):
            return None
        return next((not none for s, none in zip(last.sources, last.nones, strict=True) if s is source), None)

    @once
    def live(self) -> bytearray:
        """For each row whether the adjoint of a target arrives there."""
        live = bytearray(len(self.record))
        rows = [r for t in self.targets if t.dtype.differentiable for r in self.tape._rows_of(t)[-1:]]
        for row in rows:
            live[row] = 1
        for end in range(max(rows, default=-1) + 1, 0, -CHUNK):
            self._pass_on(max(0, end - CHUNK), end, live)
        return live

    def _pass_on(self, first: int, end: int, live: bytearray) -> None:
        """Hands on what arrives at the rows in [first, end), from the last one on."""
        record, on = self.record, self.on()
        ops, left, right, calls, _, _ = record.columns(first, end)
        for row in range(end - 1, first - 1, -1):
            if not (live[row] and on[row]):
                continue
            op, a = ops[row - first], left[row - first]
            if op >= FIRST_CODE:
                through = _PASSES[op]
                if through[0]:
                    live[a] = 1
                if through[1]:
                    live[right[row - first]] = 1
            elif op == CALL:
                call = calls[row - first]
                for parent, passes in zip(call.inputs, self.trace.passes(record, call), strict=True):
                    if passes and differentiable(record, parent):
                        live[parent] = 1

    def is_on_tape(self, node: TapeNode) -> bool:
        """Whether a node is a row that is on the tape."""
        return node.record is self.record and bool(self.on()[node.row])

    def was_watched(self, node: TapeNode) -> bool:
        """Whether ``watch`` (or the reading of a variable) put a row on the tape."""
        return node.record is self.record and node.row in self.tape.watched

    @once
    def ancestors(self) -> dict[Hashable, TapeNode]:
        """Everything that the targets were computed from."""
        return self.trace.ancestors(self.starts)


def is_leaf(node: TapeNode) -> bool:
    """Whether a node is no result of a recorded operation."""
    return node.record is None or node.record.cell(node.row)[0] == LEAF


def operations(record: Record, start: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(row, input rows) of each operation from a row on."""
    for row in range(start, len(record)):
        primitive, inputs = operation_of(record, row)
        if primitive is not None:
            yield row, inputs
