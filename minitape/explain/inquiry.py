"""What is asked of a tape beside its rows: where values go that left to Python, which lines ran around a block, what
blocks other paths.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Literal

from ..engine.recording.evidence import ValueLeft, ValueOrigin
from ..recording.chains import LONG
from ..recording.nodes import Break, CodePlace, TapeNode
from ..recording.tape import TapeRecording
from .flow import Flow, Flows
from .names import Names
from .partial import Arrivals, Parts
from .search import Search
from .source import CALLED, RUN_ONCE, read_again, statement_at
from .statement import Statement, last_name, once, unparse

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import Array, End
    from .wrong import TapeChecks
    from .zero_or_nan import TapeRows

Path = list[tuple[TapeNode, TapeNode, Break | None]]
# statements that are looked at for where values go, the last to leave first: a long session has many cells
ENOUGH = 20_000


class GradientInquiry(Names):
    """The questions about one tape and its targets."""

    checks: TapeChecks | None = None  # see wrong.py
    depth = 0  # how many calls of functions it is inside of, see replay.py
    paths: dict[tuple[int, str], str] | None = None  # how the user's names lead to attributes, see source_names.py

    def __init__(self, tape: GradientTape, targets: list[End], sources: list[End] | None = None) -> None:
        read_again()
        super().__init__(tape, targets, sources)
        # where things are in the user's lists and dictionaries, see source_names.py
        self.keys: dict[str, dict[int, tuple[object, object]]] = {}
        self._flows: dict[Hashable, Flow | None] = {}  # by exit where the value goes
        self._followed = Flows()
        self.sums: dict[int, Array] | Literal[False] | None = None  # what arrives at the sources, see zero_or_nan.py
        self.rows: TapeRows | None = None
        self._searches: dict[Hashable, Search[TapeNode]] = {}  # by the nodes that they began from

    @once
    def recording(self, left: bool) -> TapeRecording:
        """The tape as a recording, with or without what left."""
        if len(self.record) > LONG:
            self.trace.look_for(*self.sources)
            ends = [self.trace.of_ref(one.value) for one in self.in_time()]
            self.trace.keep(node.row for node in ends if node.record is self.record)
        return TapeRecording(self, self.in_time()[::-1] if left else [])

    @once
    def parts(self) -> Parts:
        """The blocked paths of sources that have open ones."""
        return Parts(self)

    def path(self, value: End, targets: list[TapeNode] | None = None) -> Path | None:
        """The edges (made value, what from, break) from ``value`` to a target with the fewest breaks; None: no path."""
        self.trace.look_for(value)
        return self._search(self.starts if targets is None else targets).path(self.trace.names(value))

    def path_of(self, node: TapeNode) -> Path | None:
        """The same from a node that was met on a walk."""
        return self._search(self.starts).path_of(node)

    def _search(self, targets: list[TapeNode]) -> Search[TapeNode]:
        key = (frozenset(self.trace.wanted), *(node.key for node in targets))
        return self._searches.get(key) or self._searches.setdefault(
            key, Search(targets, self.trace.edges, names=self.trace.stands_for)
        )

    def called_outside(self, b: Break) -> Break:
        """An operation outside the tape with the line to move: the call, beside the with block, that returned its
        value.
        """
        if b.cause != "outside_tape" or b.place is None or not isinstance(b.subject, ValueOrigin):
            return b
        enters = self.begins
        beside = {code for note in enters for code, _ in note[3]}
        blocks = [
            s.node for note in enters if note[2] < b.subject.when for s, _ in [*self.statements(CodePlace(note[3]))][:1]
        ]
        frames = b.place.frames
        # of what calls objects, the call
        ends = [i for i, (code, _) in enumerate(frames) if code.co_name not in CALLED]
        known = frames[-1][0].co_name in ("<module>", *RUN_ONCE)  # else the call is further out than what was noted
        whole = len(frames) - 1 if known else min(ends, default=0)
        last = next((i for i, (code, _) in enumerate(frames) if code in beside), whole)
        at = 0
        for statement, here in self.statements(b.place) if last else ():
            level = len(frames) - len(here.frames)
            if level > last or (level and (_drops(statement, here) or isinstance(statement.node, ast.ClassDef))):
                break
            if level and any(around.node in blocks for around in statement.around):
                break  # it ran in the block, but where the tape does not record: in another thread
            at = level
            if here.frames[0][0].co_name in RUN_ONCE:
                break
        if not at:
            return b
        whole_call = Break(b.cause, CodePlace(frames[at:]), b.what, b.subject)
        whole_call.until = b.until
        return whole_call

    def called_in_pause(self, b: Break, place: CodePlace, node: TapeNode) -> Break:
        """A paused operation of a helper with the line of the block that called it: rows know the innermost frame
        alone.
        """
        event = self.trace.paused(node.row)
        site = None if event is None else event.site
        block = None if site is None else next((s for s, _ in self.statements(CodePlace((site,)))), None)
        if site is None or block is None or not isinstance(block.node, ast.With):
            return b
        if place.filename == block.filename and block.line <= place.line <= block.last:
            return b  # it is there itself
        calls = [n for n in ast.walk(block.node) if isinstance(n, ast.Call) and block.line < n.lineno]
        named = [n for n in calls if last_name(n.func) == place.frames[0][0].co_name] or calls
        lines = {n.lineno for n in named}
        at = CodePlace((site,)).at(lines.pop()) if len(lines) == 1 else CodePlace((site,))
        return Break(b.cause, at, b.what, b.subject)

    def watched_too_late(self, source: End) -> Break | None:
        """The watch call for this source that came after its use, or was lost in a pause."""
        notes = self.tape.notes
        reset = max((i for i, note in enumerate(notes) if note[0] == "reset"), default=-1)
        for what, row, subject, frames in notes[reset + 1 :]:
            if what == "watch" and subject is not None and subject() is source and frames:
                lost = self.trace.paused(row) is not None or self.in_pause(CodePlace(frames))
                return Break("recording_paused" if lost else "watched_late", CodePlace(frames), "", source)
        return None

    def in_pause(self, place: CodePlace) -> str:
        """The function, ``stop_recording`` or ``init_scope``, in whose with block a place is, by the text: of one
        without rows the recording cannot tell. Empty outside of one.
        """
        around = [s.node for statement, _ in self.statements(place) for s in statement.around]
        items = [item.context_expr for node in around if isinstance(node, ast.With) for item in node.items]
        names = (last_name(e.func) for e in items if isinstance(e, ast.Call))
        return next((name for name in names if name in ("stop_recording", "init_scope")), "")

    @once
    def in_time(self) -> list[ValueLeft]:
        """What left before the targets had been computed, the last first: names are used again, and that is meant."""
        return [exit for exit in reversed(self.leaving) if not self.too_late(exit)]

    def too_late(self, exit: ValueLeft) -> bool:
        """Whether a value left after the targets had been computed."""
        if exit.record is None or exit.record() is not self.record:
            return False
        return all(node.record is self.record and node.row < exit.row for node in self.starts) and not self.picked(exit)

    def arrived(self, exit: ValueLeft) -> bool:
        """Whether the text lets the value that left reach a point where one came in, or decide what ran."""
        if self._followed.steps > ENOUGH:
            return False
        flow = self.flow(exit, self.arrivals().lines)
        if flow is None:
            return bool(exit.stack)  # no text: that it left before is all that can be said
        return self._enters(flow) or self.decided(flow, exit.how in ("bool", "index")) or self.picked(exit)

    @once
    def arrivals(self) -> Arrivals:
        """Where values may have come in on the path to the targets."""
        return Arrivals(self, self.ancestors.values())

    @once
    def _enters(self, flow: Flow) -> bool:
        return any(flow.enters(*point) for point in self.arrivals().points)

    def picked(self, exit: ValueLeft) -> bool:
        """Whether ``max``, ``min`` or ``sorted`` of Python's compared a value with one that the target was computed
        from, and took that.
        """
        statement = next((s for s, _ in self.statements(CodePlace(exit.stack))), None) if exit.stack else None
        if (
            exit.how != "bool"
            or statement is None
            or not any(
                isinstance(n, ast.Call) and unparse(n.func) in ("max", "min", "sorted") for n in statement.walk()
            )
        ):
            return False
        return any(parent.key in self.ancestors for parent, _ in self.trace.edges(self.trace.of_ref(exit.value)))

    @once
    def decided(self, flow: Flow, chose: bool) -> bool:
        """Whether the text lets a value decide what ran; with ``chose`` also in the statement by which it left."""
        ran = map(statement_at, self.arrivals().lines)  # a conditional expression, max, tf.cond
        return any(flow.decides(s) or flow.chooses(s) or (chose and s is flow.start) for s in ran if s is not None)

    def only_decides(self, exit: ValueLeft) -> bool:
        """Whether a value that left came back nowhere, and decided no more than what ran."""
        flow = self.flow(exit, self.arrivals().lines) if self.arrived(exit) else None
        return flow is not None and not self._enters(flow)

    def may_return(self, exit: ValueLeft, arrivals: Arrivals) -> bool:
        """Whether the source text carries a value that left the tape to one of these points, except as an index or
        a mask.
        """
        flow = self.flow(exit, self.arrivals().lines) if self.arrived(exit) else None
        choosing = {part for _, part in self.arrivals().points} - {part for _, part in arrivals.values}
        return flow is not None and any(flow.carries(*point, choosing) for point in arrivals.values)

    def flow(self, exit: ValueLeft, places: Iterable[tuple[str, int]]) -> Flow | None:
        """Where the value goes that left, in the files of these lines; None where it left in no text."""
        key = exit.when, frozenset(name for name, _ in places)
        if key not in self._flows:
            found = next(self.statements(CodePlace(exit.stack)), None) if exit.stack else None
            known = None if found is None or found[1].frames != exit.stack else found
            self._flows[key] = (
                None
                if known is None
                else self._followed.of(
                    known[0], known[0].expression(known[1].span), key[1] | {name for name, _ in known[1].outer()}
                )
            )
        return self._flows[key]


def _is_operation(origin: object) -> bool:
    """Whether an origin is an operation that ran outside of any tape."""
    return isinstance(origin, ValueOrigin) and origin.kind == "op"


def with_flat_ones(breaks: list[Break]) -> list[Break]:
    """The breaks of a path, and behind operations outside the tape those that would stay if they were moved inside."""
    found = []
    for b in breaks:
        found.append(b)
        made = b.subject
        if b.cause == "outside_tape" and _is_operation(made) and made.detail.flat:
            found.append(Break("nondifferentiable_op", b.place, made.detail.op or made.detail.label, made))
    return found


def merge(breaks: list[Break]) -> list[Break]:
    """The breaks of a path without repetitions: a run of operations outside the tape is one break.

    An operation outside the tape that only prepares an assign or an exit of the same statement is not named either.
    """
    kept: list[Break] = []
    outside = False  # whether the run of operations outside the tape goes on
    for b in breaks:
        last = kept[-1] if kept else None
        if outside and b.cause == "outside_tape":
            at = next(k for k in reversed(range(len(kept))) if kept[k].cause == b.cause)
            if b.what == "gradient" and isinstance(kept[at].subject, TapeNode):
                kept[at] = b  # of rows of another tape: the gradient that was taken of them there
            kept[at].until = b.place
            continue
        outside = b.cause == "outside_tape" or (
            outside and b.cause == "nondifferentiable_op" and _is_operation(b.subject)
        )
        if last is not None and last.cause == b.cause in ("recording_paused", "integer_dtype"):
            continue
        if last is not None and last.cause == "nondifferentiable_op" and b.cause == "integer_dtype":
            continue  # its result is one
        if b.at is not None and any((b.cause, b.what, b.at) == (other.cause, other.what, other.at) for other in kept):
            continue  # a line of a loop
        prepared = (
            last is not None and b.cause in ("state", "left_through_numpy") and b.at is not None and last.at == b.at
        )
        if prepared and last is not None and last.cause == "outside_tape":
            kept.pop()
        kept.append(b)
    return kept


def _drops(statement: Statement, here: CodePlace) -> bool:
    """Whether a statement does not keep what a call in it returned, as ``items.append(f(x))`` does."""
    node, call = statement.node, statement.expression(here.span)
    if not isinstance(node, ast.Expr):
        return False
    outer = node.value
    given = (
        isinstance(call, ast.Call)
        and isinstance(outer, ast.Call)
        and call is not outer
        and isinstance(outer.func, ast.Attribute)
    )
    return not given
