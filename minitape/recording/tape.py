"""A tape as a recording: the rules that say whether an adjoint arrives, and the rows, with what breaks on their edges.

It is made when it is asked. Rows are in the order of time, as far as it is known: those of the table know their
number, what ran outside of it a clock.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..engine.back.marks import differentiable
from ..engine.back.reach import on_tape
from ..engine.recording import evidence
from ..engine.recording.array_spec import ArraySpec
from ..engine.recording.evidence import ValueLeft, exits
from ..engine.recording.rows import CALL, CHUNK
from ..engine.recording.state import state
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.tensor.tensor import Tensor
from .nodes import CodePlace, TapeNode, operations
from .origins import ValueOrigin, read
from .trace import Trace

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import Array, End

# of each scalar operation whether its first and its second input get something
_PASSES = [(False, False)] * FIRST_CODE + [(p.texts[1] != "-", len(p.texts) > 2 and p.texts[2] != "-") for p in BY_CODE]


def handle_of(value: Any) -> Any:
    """The variable that is behind one of Keras; any other value itself."""
    value = value._gradient_end() if hasattr(value, "_gradient_end") else value
    return getattr(value, "_base", value)


class TapeRules:
    """The rules that say what is on a tape, and which rows the adjoints of its targets reach, without a sweep."""

    def __init__(self, tape: GradientTape, targets: list[End], sources: list[End] | None = None) -> None:
        self.tape, self.targets, self.sources = tape, targets, sources or []
        self.trace = Trace(tape)
        self.record = self.trace.record
        self.starts = [node for t in targets for node in self.trace.of(t)[:1]]
        self.trace.ends = {node.key for node in self.starts}

    @cached_property
    def on(self) -> bytearray:
        """For each row whether it is on the tape."""
        return on_tape(self.tape) if len(self.record) else bytearray()

    def connected(self, source: End) -> bool:
        """Whether an adjoint reaches the source: the answer is that of ``gradient``."""
        seen = self._last_answer(source)
        if seen is not None:
            return seen
        return source.dtype.differentiable and (
            any(t is source for t in self.targets)
            or any(self.on[row] and self.live[row] for row in self.tape._rows_of(source))
        )

    def _last_answer(self, source: End) -> bool | None:
        """Whether the last call of ``gradient`` returned a gradient for the source; None if it was about others."""
        last = self.tape.last
        if last is None or len(last.targets) != len(self.targets):
            return None
        if any(a is not b for a, b in zip(last.targets, self.targets, strict=True)):
            return None
        return next((not none for s, none in zip(last.sources, last.nones, strict=True) if s is source), None)

    @cached_property
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
        record = self.record
        ops, left, right, calls, _, _ = record.columns(first, end)
        for row in range(end - 1, first - 1, -1):
            if not (live[row] and self.on[row]):
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
        return node.record is self.record and bool(self.on[node.row])

    def was_watched(self, node: TapeNode) -> bool:
        """Whether ``watch`` (or the reading of a variable) put a row on the tape."""
        return node.record is self.record and node.row in self.tape.watched

    def value(self, node: TapeNode) -> Array:
        """The array of a value, None when it is gone."""
        if node.tensor is not None:
            value = getattr(node.tensor, "_value", None)
            return None if isinstance(value, ArraySpec) else value  # of a function whose first run is over
        return None if node.record is None or node.caller is not None else node.record.value(node.row)

    def origin(self, source: End) -> ValueOrigin | None:
        """The origin of a tensor or variable, as far as it is known."""
        return read(source._origin if isinstance(source, Tensor) else getattr(source, "_born", None))

    @property
    def begins(self) -> list:
        """The notes of where the tape began to record."""
        return [note for note in self.tape.notes if note[0] == "enter"]

    def last_use(self, source: End) -> CodePlace | None:
        """The last statement before the target that computed something from a tensor or variable under this tape."""
        own = self.tape._rows_of(source)
        end = next((node.row for node in self.starts if node.record is self.record), len(self.record))
        made = set(own)
        for row, inputs in operations(self.record, min(own, default=end)):
            if row < end and not made.isdisjoint(inputs):
                made.add(row)
        last = max(made.difference(own), default=None)
        return None if last is None else self.trace.of_row(self.record, last).place()

    @cached_property
    def leaving(self) -> list[ValueLeft]:
        """The values that left, on this thread and on others, oldest first."""
        found = [*exits().notes]
        for other in [*evidence.THREADS]:
            if other is not state.memory.exits:
                with suppress(RuntimeError):  # that thread continues meanwhile
                    found += other.notes
        return sorted(found, key=lambda exit: exit.when)


def name_given(variable: Any) -> str:
    """The name that a variable was given; empty without one."""
    name = getattr(variable, "name", None) or ""
    return "" if "ariable" in name else name.removesuffix(":0")
