"""Which break is to blame: from the paths of :mod:`trace` and the text of :mod:`source` to one cause and one line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..engine.recording.evidence import ValueLeft, ValueOrigin, all_exits
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import UnreadVariable
from .bodies import INTO, outermost
from .causes import row_of
from .connection import Finding, Path, is_leaf
from .flow import Flow
from .nodes import Break, CodePlace, TapeNode, array_of
from .other_object import Objects, equal_arrays
from .partial import Arrivals, Parts
from .search import LONG
from .source import CALLED, RUN_ONCE, statement_at
from .statement import Statement, last_name, once, unparse
from .trace import COPIES, Trace

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import End, Object

__all__ = ["Finding", "GradientInquiry"]

_BEFORE_EXITS = ("stop_gradient", "nondifferentiable_op", "integer_dtype", "left_through_numpy")
# statements that are looked at for where values go, the last to leave first: a long session has many cells
ENOUGH = 20_000
OF_ONE_CALL = 20  # exits of one call that are compared, the last to leave first
_BEFORE_WATCHING = ("outside_tape", "recording_paused", "state", "left_through_numpy")


class GradientInquiry(Objects):
    """The questions about one tape and its targets."""

    wrong_rows: tuple[str, str] | None = None  # see wrong.py

    def __init__(self, tape: GradientTape, targets: list[End], sources: list[End] | None = None) -> None:
        super().__init__(tape, targets, sources)
        # sources with a bit each, and who leads where
        self._leads: tuple[dict[int, tuple[End, int]], Callable[[TapeNode], int]] | None = None

    def ask(self, source: End) -> Finding:
        """Why no gradient reaches ``source``, or that one does."""
        if self.connected(source):
            return self.in_part(source)
        path = self.trace.path(self.starts, source)
        if path is None and not source.dtype.differentiable:
            return Finding("integer_dtype", self.origin_place(source), source.dtype.name, subject=source)
        found = (
            self.on_path(source, path) if path is not None else self.through_python(source) or self.elsewhere(source)
        )
        if row_of(found.cause).blocks and found.subject is not source:
            found.beside = self.parts().of(source)
        return found

    def elsewhere(self, source: End) -> Finding:
        """Why the target was not computed from the source."""
        return (
            self.target_rebound(source)
            or self.bound_again(source)
            or self.made_again(source)
            or self.copied(source)
            or self.equal(source)
            or self.layer(source)
            or Finding("independent")
        )

    def in_part(self, source: End) -> Finding:
        """A source that gets a gradient, with the breaks of other paths; ``what`` is "cut" where no path is whole: the
        gradient is zero then.
        """
        found = Finding("connected", breaks=self.parts().of(source))
        # their gradients come in any case, though they may be zero
        bodies = any(call.primitive.name in INTO for call in self.record.calls)
        path = self.trace.path(self.starts, source) if found.breaks or bodies else None
        broken = [b for _, _, b in path or () if b is not None]
        if broken:
            found.what, known = "cut", [(b.cause, b.at) for b in found.breaks]
            found.breaks += [b for b in merge(broken) if (b.cause, b.at) not in known]
        return found

    @once
    def parts(self) -> Parts:
        """The blocked paths of sources that have open ones."""
        return Parts(self)

    def on_path(self, source: End, path: Path) -> Finding:
        """The first break on the path from  to the target."""
        met = with_flat_ones([self.in_a_pause(b) for _, _, b in path if b is not None])
        breaks = [self.called_outside(b) for b in merge(met)]
        first = self.at_source(source, path)
        if first is not None:
            if breaks and breaks[0].cause == first.cause == "integer_dtype":
                breaks = breaks[1:]
            breaks.insert(0, first)
        elif self.not_watched_either(source, path):
            breaks.insert(1, Break("not_watched", breaks[0].place, "", source))
        if not breaks or self.seed_of_gradient(breaks[0]):
            return Finding("independent", path=path if not breaks else None)
        blame = self.rebound_on(source, breaks[0]) or self.copied_on(source, path, breaks[0]) or breaks[0]
        found = Finding(blame.cause, blame.place, blame.what, breaks[1:], path, blame.subject)
        found.until = blame.until
        return found

    def seed_of_gradient(self, b: Break) -> bool:
        """Whether a break is the ones that a gradient inside a tf.function begins with: they are no part of a way."""
        if b.cause != "nondifferentiable_op" or b.what not in ("OnesLike", "ZerosLike"):
            return False
        return any(statement.calls("gradient") for statement, _ in list(self.statements(b.place))[:1])

    def called_outside(self, b: Break) -> Break:
        """An operation outside the tape with the line to move: the call, beside the with block, that returned its
        value.
        """
        if (
            b.cause != "outside_tape"
            or b.place is None
            or not isinstance(b.subject, ValueOrigin)
            or self.in_stream(b.place)
        ):
            return b
        enters = [note for note in self.tape.notes if note[0] == "enter"]
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
                break  # it ran in the block, but where the tape does not record: in what tf.data calls
            at = level
            if here.frames[0][0].co_name in RUN_ONCE:
                break
        if not at:
            return b
        whole_call = Break(b.cause, CodePlace(frames[at:]), b.what, b.subject)
        whole_call.until = b.until
        return whole_call

    def in_a_pause(self, b: Break) -> Break:
        """An operation that no tape recorded, as paused where the text says so: a gradient leaves no rows in a
        pause.
        """
        if b.cause == "recording_paused" and isinstance(b.subject, TapeNode) and b.place is not None:
            return self.called_in_pause(b, b.place, b.subject)
        if (
            b.cause != "outside_tape"
            or b.place is None
            or not isinstance(b.subject, ValueOrigin)
            or not self.in_pause(b.place)
        ):
            return b
        return Break("recording_paused", b.place, b.what, b.subject)

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

    def not_watched_either(self, source: End, path: Path) -> bool:
        """Whether a tensor whose path breaks right at its first use is not watched either: then it wants both fixed."""
        if not isinstance(source, Tensor) or not path or path[0][2] is None:
            return False
        if path[0][2].cause not in ("outside_tape", "recording_paused"):
            return False
        node = path[0][1]
        return is_leaf(node) and not self.is_on_tape(node) and not self.was_watched(self.trace.of_tensor(source))

    def copied_on(self, source: End, path: Path, first: Break) -> Break | None:
        """A variable that was created, before the block, as a copy of the source: another object was used."""
        origin = first.subject
        if first.cause != "state" or isinstance(source, Tensor) or getattr(origin, "kind", "") != "variable":
            return None
        if self.after_tape(origin):
            return None
        for child, _, broken in path:
            if broken is not None and broken.subject is origin:
                return Break("wrong_object", first.place, "", origin)
            made = child.origin
            if made is None or made.kind != "op" or made.detail.name not in COPIES:
                return None
        return None

    # -- at the source itself ----------------------------------------------------------------------

    def at_source(self, source: End, path: Path) -> Break | None:
        """The break that lies in the source: its dtype, or that the tape does not watch it when it is used."""
        if not source.dtype.differentiable:
            return Break("integer_dtype", self.origin_place(source) or self.first_use(path), source.dtype.name, source)
        if not path:
            return None
        child, node, _ = path[0]
        broken = of_call(path)
        if broken is not None and broken.cause in _BEFORE_WATCHING:
            return None
        since, begin = self.tape.watched.get(node.row), outermost(child)
        # used before the watch
        early = since is not None and begin.record is self.record and begin.row < since and not self.is_on_tape(begin)
        if self.is_on_tape(node) and not early:
            return None
        use = self.first_use(path)
        if isinstance(source, UnreadVariable):
            return Break("rebound", self.origin_place(source) or use, "of the variable", source)
        late = self.watched_too_late(source)
        if late is not None:
            return late
        if isinstance(source, Tensor):
            return self.other_watched(source) or Break("not_watched", use, "", source)
        if not self.tape._watch_accessed_variables:
            return Break("not_accessed_watched", self.in_block(self.trace.place(child) or use), "", source)
        if not source.trainable:
            return Break("not_trainable", self.creation_place(source) or use, "", source)
        return Break("not_watched", use, "", source)

    def in_block(self, use: CodePlace | None) -> CodePlace | None:
        """A use that is in the tape's block; the line where the block begins, where a function uses it that is
        called there.
        """
        begins = [CodePlace(note[3]) for note in self.tape.notes if note[0] == "enter" and note[3]]
        blocks = [s.node for place in begins for s, _ in [*self.statements(place)][:1]]
        inside = next((any(around.node in blocks for around in s.around) for s, _ in self.statements(use)), True)
        return use if inside or len(begins) != 1 else begins[0]

    def first_use(self, path: Path) -> CodePlace | None:
        """The statement that used the source first, on the path; of a tf.function the call."""
        if not path:
            return None
        return self.trace.place(outermost(path[0][0]))

    def watched_too_late(self, source: End) -> Break | None:
        """The watch call for this source that came after its use, or was lost in a pause."""
        notes = self.tape.notes
        reset = max((i for i, note in enumerate(notes) if note[0] == "reset"), default=-1)
        for what, row, subject, frames in notes[reset + 1 :]:
            if what == "watch" and subject is not None and subject() is source and frames:
                lost = self.trace.paused(row) is not None or self.in_pause(CodePlace(frames))
                return Break("recording_paused" if lost else "watched_late", CodePlace(frames), "", source)
        return None

    def in_pause(self, place: CodePlace) -> bool:
        """Whether a place is in a with block of ``stop_recording()``: of one without rows the recording cannot
        tell.
        """
        around = [s.node for statement, _ in self.statements(place) for s in statement.around]
        items = [item.context_expr for node in around if isinstance(node, ast.With) for item in node.items]
        return any(isinstance(e, ast.Call) and last_name(e.func) == "stop_recording" for e in items)

    def other_watched(self, source: End) -> Break | None:
        """A watch call with another object: a copy of the source, or an equal value."""
        for what, row, subject, frames in self.tape.notes:
            other = subject() if what == "watch" and subject is not None else None
            if what != "watch" or other is source or not frames:
                continue
            nodes = [self.trace.of_tensor(other)] if isinstance(other, Tensor) else self.watched_at(row, other)
            for node in nodes:
                if node.key in self.ancestors():
                    continue
                copy = self.trace.path([node], source) is not None
                if copy or (
                    equal_arrays(self.value(node), array_of(source))
                    and not (node.tensor is not None and self.used_at_all(node.tensor))
                ):
                    return Break("wrong_object", CodePlace(frames), "watch", node.tensor)
        return None

    def watched_at(self, row: int, other: Object) -> list[TapeNode]:
        """What ``watch`` was given when there were so many rows, its tensor being gone; nothing for a variable."""
        if other is not None:
            return []
        rows = (r for r, since in self.tape.watched.items() if row <= since <= row + 1)
        return [node for r in rows if (node := self.trace.of_row(self.record, r)).variable is None]

    # -- through NumPy and Python ------------------------------------------------------------------

    def through_python(self, source: End) -> Finding | None:
        """The exit by which the source's value left and came back as a number, if a flow in the text joins the two."""
        found: list[tuple[int, ValueLeft, Path]] = []  # those of one call, with their numbers of breaks
        for exit in self.in_time():
            if (
                (found and exit.stack != found[0][1].stack)
                or not self.depends_on(exit, source)
                or not (found or self.arrived(exit))
            ):
                continue
            path = self.trace.path([self.trace.of_ref(exit.value)], source)
            if path is not None:
                found.append((sum(broken is not None for _, _, broken in path), exit, path))
                if not found[-1][0] or len(found) == OF_ONE_CALL:
                    break
        if not found:
            return None
        _, exit, path = min(found, key=lambda one: one[0])
        return self.by_exit(source, exit, path)

    def depends_on(self, exit: ValueLeft, source: End) -> bool:
        """Whether a value that left the tape was computed from a source."""
        if self._leads is None or id(source) not in self._leads[0]:
            asked = {id(one): one for one in (*self.sources, source)}
            if len(self.record) > LONG:
                self.trace.look_for(*asked.values())
                left = [self.trace.of_ref(one.value) for one in self.in_time()]
                self.trace.keep(node.row for node in left if node.record is self.record)
            bits = {key: (one, 1 << i) for i, (key, one) in enumerate(asked.items())}
            self._leads = bits, self.trace.origins_of(asked.values())
        known, bits_of = self._leads
        return bool(bits_of(self.trace.of_ref(exit.value)) & known[id(source)][1])

    @once
    def in_time(self) -> list[ValueLeft]:
        """What left before the targets had been computed, the last first: names are used again, and that is meant."""
        return [exit for exit in reversed(self.leaving()) if not self.too_late(exit)]

    def too_late(self, exit: ValueLeft) -> bool:
        """Whether a value left after the targets had been computed."""
        if exit.record is None or exit.record() is not self.record:
            return False
        return all(node.record is self.record and node.row < exit.row for node in self.starts) and not self.picked(exit)

    def by_exit(self, source: End, exit: ValueLeft, path: Path) -> Finding:
        """The first break on the path to an exit, or the exit itself."""
        at = Break("left_through_numpy", CodePlace(exit.stack) if exit.stack else None, exit.how, exit)
        breaks = [*merge([b for _, _, b in path if b is not None]), at]
        blame = next(b for b in breaks if b.cause in _BEFORE_EXITS)
        if not source.dtype.differentiable:
            blame = Break("integer_dtype", self.origin_place(source), source.dtype.name, source)
        others = [b for b in breaks if b is not blame]
        return Finding(blame.cause, blame.place, blame.what, others, path, blame.subject)

    @once
    def leaving(self) -> list[ValueLeft]:
        """What left, on this thread and on others, oldest first."""
        return all_exits()

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
        return Arrivals(self, self.ancestors().values())

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
        return any(parent.key in self.ancestors() for parent, _ in self.trace.edges(self.trace.of_ref(exit.value)))

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

    def flows(self, exit: ValueLeft, places: frozenset[tuple[str, int]]) -> bool:
        """Whether the text lets the value that left reach one of these lines."""
        if self._followed.steps > ENOUGH:
            return False
        flow = self.flow(exit, places)
        if flow is None:
            return bool(exit.stack)
        return any(flow.reaches(s) for s in map(statement_at, places) if s is not None)

    def through_exits(self, source: End) -> list[TapeNode]:
        """What had left and may have become the source: through ``tf.Variable(v.numpy())`` and the like."""
        place, origin = self.origin_place(source), self.origin(source)
        if place is None:
            return []
        lines = frozenset(place.outer())
        earlier = [exit for exit in reversed(self.leaving()) if origin is None or exit.when < origin.when]
        left = [self.trace.of_ref(exit.value) for exit in earlier if self.flows(exit, lines)]
        return [n for node in reversed(left) for n in self.relatives(node)]

    def copied(self, source: End) -> Finding | None:
        """The source was made from something that the target was computed from: a copy, an item, a fresh reading."""
        node = self.trace.of(source)[0]
        related = self.relatives(node) or self.through_exits(source)
        if not related:
            return None
        if isinstance(source, Tensor) and not self.was_watched(node) and not self.is_copy(node):
            return None  # another result of the same computation, simply not used
        return Finding("wrong_object", self.use_or_birth(source, related[0]))

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


def of_call(path: Path) -> Break | None:
    """The break of the first step; where it is inside a tf.function that of the call, for nothing in there was
    recorded.
    """
    for child, _, broken in path:
        if broken is not None or child.caller is None:
            return broken
    return None


def with_flat_ones(breaks: list[Break]) -> list[Break]:
    """The breaks of a path, and behind operations outside the tape those that would stay if they were moved inside."""
    found = []
    for b in breaks:
        found.append(b)
        made = b.subject
        if b.cause == "outside_tape" and _is_operation(made) and made.detail.flat:
            found.append(Break("nondifferentiable_op", b.place, made.detail.op or made.detail.label, made))
    return found


def _is_operation(origin: object) -> bool:
    """Whether an origin is an operation that ran outside of any tape."""
    return isinstance(origin, ValueOrigin) and origin.kind == "op"


def merge(breaks: list[Break]) -> list[Break]:
    """The breaks of a path without repetitions: a run of operations outside the tape is one break.

    An operation outside the tape that only prepares an assign or an exit of the same statement is not named either.
    """
    kept: list[Break] = []
    outside = False  # whether the run of operations outside the tape goes on
    for b in breaks:
        last = kept[-1] if kept else None
        if outside and b.cause == "outside_tape":
            next(one for one in reversed(kept) if one.cause == b.cause).until = b.place
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


Trace.inquiry = GradientInquiry
