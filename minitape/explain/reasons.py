"""Which break is to blame: from the paths of :mod:`trace` and the text of :mod:`source` to one cause and one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..evidence import Exit, Origin, birth_of, exits
from ..primitives.elementwise import BY_CODE, FIRST_CODE
from ..record import CALL, LEAF
from ..tensor import EagerTensor
from ..variable import UnreadVariable
from .owners import owner_of, variables_of
from .source import Flow, Statement, source_of
from .trace import COPIES, Break, Node, Place, Trace, is_state

Path = list[tuple[Node, Node, Break | None]]


class Finding:
    """What was found for one source: a cause with its place, or connected; ``breaks`` are all of them in order."""

    __slots__ = ("cause", "place", "what", "breaks", "subject", "path")

    def __init__(self, cause: str, place: Place | None = None, what: str = "", breaks: Any = (), subject: Any = None,
                 path: Path | None = None) -> None:  # fmt: skip
        self.cause, self.place, self.what, self.breaks = cause, place, what, list(breaks)
        self.subject, self.path = subject, path


class Inquiry:
    """The questions about one tape and its targets."""

    def __init__(self, tape: Any, targets: list[Any]) -> None:
        self.tape, self.targets = tape, targets
        self.trace = Trace(tape)
        self.record = tape._record
        self.starts = [node for t in targets for node in self.trace.of(t)[:1]]
        self._live: bytearray | None = None
        self._ancestors: dict[Any, Node] | None = None
        self._on: bytearray | None = None

    # -- connected ----------------------------------------------------------------------------------------------------

    def on(self) -> bytearray:
        """For each row whether it is on the tape."""
        if self._on is None:
            self._on = self.tape.on_tape() if self.record is not None else bytearray()
        return self._on

    def connected(self, source: Any) -> bool:
        """Whether an adjoint reaches the source; the same answer as a sweep gives, from the rules alone."""
        seen = self.seen(source)
        if seen is not None:
            return seen
        if not source.dtype.differentiable:
            return False
        if any(t is source for t in self.targets):
            return True
        if self.record is None:
            return False
        on, live = self.on(), self.live()
        return any(on[row] and live[row] for row in self.tape._rows_of(source))

    def seen(self, source: Any) -> bool | None:
        """What `gradient` itself answered to the very same question, if that was its last one."""
        last, nones = self.tape.last, self.tape.nones
        if last is None or nones is None or len(last[0]) != len(self.targets):
            return None
        if any(a is not b for a, b in zip(last[0], self.targets, strict=True)):
            return None
        return next((not none for s, none in zip(last[1], nones, strict=True) if s is source), None)

    def live(self) -> bytearray:
        """For each row whether the adjoint of a target arrives there."""
        if self._live is not None:
            return self._live
        record, on = self.record, self.on()
        live = self._live = bytearray(len(record))
        high = -1
        for target in self.targets:
            rows = self.tape._rows_of(target)[-1:]
            for row in rows if target.dtype.differentiable else ():
                live[row] = 1
                high = max(high, row)
        calls, meta = record.calls, record.meta
        for row in range(high, -1, -1):
            if not live[row] or not on[row]:
                continue
            op, a, b, _ = record.cell(row)
            if op >= FIRST_CODE:
                texts = BY_CODE[op - FIRST_CODE].texts
                if texts[1] != "-":
                    live[a] = 1
                if len(texts) > 2 and texts[2] != "-":
                    live[b] = 1
            elif op == CALL:
                call = calls[a]
                passes = self.trace.passes(record, call)
                for i, parent in enumerate(call.inputs):
                    kind = meta.get(parent)
                    if passes[i] and (kind is None or kind[1].kind in "fcV"):
                        live[parent] = 1
        return live

    def watched(self, node: Node) -> bool:
        """Whether a row of the tape's recording is on the tape."""
        return node.record is not None and node.record is self.record and bool(self.on()[node.row])

    # -- the cause ----------------------------------------------------------------------------------------------------

    def ask(self, source: Any) -> Finding:
        """Why no gradient reaches ``source``."""
        if self.connected(source):
            return Finding("connected")
        path = self.trace.path(self.starts, source)
        if path is None and not source.dtype.differentiable:
            return Finding("integer_dtype", self.born(source), source.dtype.name, subject=source)
        if path is not None:
            return self.on_path(source, path)
        return self.through_python(source) or self.elsewhere(source)

    def on_path(self, source: Any, path: Path) -> Finding:
        """The first break on the way from the source to the target."""
        breaks = merge([b for _, _, b in path if b is not None])
        first = self.at_source(source, path)
        if first is not None and not any(b.cause == first.cause and first.cause == "integer_dtype" for b in breaks[:1]):
            breaks.insert(0, first)
        elif first is not None:
            breaks[0] = first
        if not breaks:
            return Finding("independent", path=path)
        blame = self.rebound_on(source, breaks[0]) or breaks[0]
        return Finding(blame.cause, blame.place, blame.what, breaks[1:], blame.subject, path)

    # -- at the source itself -----------------------------------------------------------------------------------------

    def at_source(self, source: Any, path: Path) -> Break | None:
        """The break that lies in the source: its dtype, or that the tape does not watch it when it is used."""
        if not source.dtype.differentiable:
            return Break("integer_dtype", self.born(source) or self.first_use(path), source.dtype.name, source)
        if not path:
            return None
        child, node, broken = path[0]
        if broken is not None and broken.cause in ("outside_tape", "recording_paused", "state", "left_through_numpy"):
            return self.late_watch(source, broken) if broken.cause == "outside_tape" else None
        if self.watched(node) and not self.used_before(source, node, child):
            return None
        use = self.first_use(path)
        if isinstance(source, UnreadVariable):
            return Break("rebound", self.born(source) or use, "assign", source)
        if type(source) is not EagerTensor:
            if not self.tape._watch_accessed_variables:
                return self.watched_too_late(source) or Break("not_accessed_watched", use, "", source)
            if not source.trainable:
                return self.watched_too_late(source) or Break("not_trainable", self.made(source) or use, "", source)
            return Break("not_watched", use, "", source)
        return self.watched_too_late(source) or self.other_watched(source, use) or Break("not_watched", use, "", source)

    def used_before(self, source: Any, node: Node, child: Node) -> bool:
        """Whether the use on the path came before the watch."""
        since = self.tape.watched.get(node.row)
        return since is not None and child.record is self.record and child.row < since and not self.watched(child)

    def late_watch(self, source: Any, broken: Break) -> Break | None:
        return None

    def watched_too_late(self, source: Any) -> Break | None:
        """The watch call for this source that came after its use, or was lost in a pause."""
        for what, row, subject, frames in self.tape.notes:
            if what == "watch" and subject is not None and subject() is source and frames:
                cause = "recording_paused" if self.record is not None and self.trace.paused(row) else "watched_late"
                return Break(cause, Place(frames), "", source)
        return None

    def other_watched(self, source: Any, use: Place | None) -> Break | None:
        """A watch call that was given another object: a copy of the source, or an equal value."""
        if self.record is None:
            return None
        for what, _, subject, frames in self.tape.notes:
            other = subject() if what == "watch" and subject is not None else None
            if type(other) is not EagerTensor or other is source or not frames:
                continue
            node = self.trace.of_tensor(other)
            if node.key in self.ancestors():
                continue
            if self.derived(other, source) or (same_value(other, source) and not self.used(other)):
                return Break("wrong_object", Place(frames), "watch", other)
        return None

    def derived(self, value: Any, source: Any) -> bool:
        """Whether a tensor was made from the source."""
        return self.trace.path([self.trace.of_tensor(value)], source) is not None

    def used(self, tensor: Any) -> bool:
        """Whether any operation of the tape's recording read this tensor."""
        row = None if self.record is None else self.record.find(tensor)
        return row is not None and any(row in inputs for _, inputs in operations(self.record, row + 1))

    def first_use(self, path: Path) -> Place | None:
        """The statement that used the source first, on the path; of a tf.function the call."""
        if not path:
            return None
        child = path[0][0]
        return self.trace.place(child if child.caller is None else child.caller[0])

    def made(self, source: Any) -> Place | None:
        """Where a variable was created."""
        origin = getattr(source, "_born", None) or source._state._made
        return Place(origin.stack) if origin is not None and origin.stack else None

    def born(self, source: Any) -> Place | None:
        """Where a tensor or a variable was made."""
        if isinstance(source, UnreadVariable):
            origin = source._state._made
            return Place(origin.stack) if origin is not None and origin.stack else None
        if type(source) is not EagerTensor:
            return self.made(source)
        node = self.trace.of_tensor(source)
        if node.record is not None and node.record.cell(node.row)[0] != LEAF:
            return self.trace.place(node)
        return self.trace.birth(node) or (self.trace.place(node) if node.record is not None else None)

    # -- rebound ------------------------------------------------------------------------------------------------------

    def rebound_on(self, source: Any, first: Break) -> Break | None:
        """A name that was bound anew: to a tensor computed from the variable (or the watched tensor) that it held."""
        if first.cause == "not_watched" and type(source) is EagerTensor:
            statement = self.rebinding(source)
            if statement is not None:
                return Break("rebound", statement[1], statement[0].binds()[0], source)
        if first.cause == "outside_tape" and isinstance(first.subject, Origin) and first.subject.kind == "op":
            found = next(self.statements(first.place), None)
            if found is not None and found[0].reads_itself() and not self.after_tape(first.subject):
                if type(source) is not EagerTensor or self.was_variable(found[0]):
                    return Break("rebound", found[1], found[0].binds()[0], source)
        return None

    def after_tape(self, origin: Origin) -> bool:
        """Whether something was made after this tape had begun to record."""
        return any(what == "enter" and when < origin.when for what, _, when, _ in self.tape.notes)

    def rebinding(self, value: Any) -> tuple[Statement, Place] | None:
        """The statement that bound a name to ``value`` although the name held a variable or a watched tensor before."""
        node = self.trace.of_tensor(value)
        place = self.born(value)
        roots = None
        for statement, where in self.statements(place):
            if not statement.binds():
                continue
            if self.was_variable(statement):
                return statement, where
            if statement.reads_itself() or not all(t.isidentifier() for t in statement.binds()):
                if roots is None:
                    roots = [n for n in self.trace.ancestors([node]).values() if n is not node]
                if any(holds_state(n) or self.was_watched(n) for n in roots):
                    return statement, where
            if any(self.was_bound_to_watched(statement, t) for t in statement.binds()):
                return statement, where
            return None
        return None

    def was_variable(self, statement: Statement) -> bool:
        """Whether another statement binds the same name to a new ``tf.Variable``."""
        for text in statement.binds():
            for other in statement.source.bound_by(text, statement):
                if other is not statement and other.calls("Variable") and other.line < statement.line:
                    return not statement.calls("Variable")
        return False

    def was_watched(self, node: Node) -> bool:
        return node.record is not None and node.record is self.record and node.row in self.tape.watched

    def was_bound_to_watched(self, statement: Statement, text: str) -> bool:
        """Whether a tensor that the tape watches was bound to the same name by an earlier statement."""
        if self.record is None:
            return False
        for row in self.tape.watched:
            leaf = self.record.leaves.get(row)
            if leaf is None or leaf.tensor is None:
                continue
            for earlier, _ in self.statements(self.born(leaf.tensor)):
                if earlier is not statement and earlier in statement.source.bound_by(text, statement):
                    return True
        return False

    def statements(self, place: Place | None) -> Iterator[tuple[Statement, Place]]:
        """The statement at a place and those that called it, innermost first, with their places."""
        if place is None:
            return
        for i in range(len(place.frames)):
            here = Place(place.frames[i:])
            source = source_of(here.filename)
            statement = None if source is None else source.at(here.line, here.column)
            if statement is not None:
                yield statement, here

    # -- through NumPy and Python -------------------------------------------------------------------------------------

    def through_python(self, source: Any) -> Finding | None:
        """The exit by which the source's value left and came back as a number, if a flow in the text joins the two."""
        places = None
        for exit in sorted(exits().list, key=lambda e: e.when):
            start = self.trace.of_ref(exit.value)
            path = self.trace.path([start], source)
            if path is None:
                continue
            if places is None:
                places = self.places()
            if self.flows(exit, places):
                breaks = merge([b for _, _, b in path if b is not None])
                at = Break("left_through_numpy", Place(exit.stack) if exit.stack else None, exit.how, exit)
                first = [b for b in breaks if b.cause in ("stop_gradient", "nondifferentiable_op", "integer_dtype")]
                blame = first[0] if first and exit.how != "bool" else at
                if not source.dtype.differentiable:
                    blame = Break("integer_dtype", self.born(source), source.dtype.name, source)
                return Finding(blame.cause, blame.place, blame.what, [b for b in [*breaks, at] if b is not blame],
                               blame.subject, path)  # fmt: skip
        return None

    def places(self) -> set[tuple[str, int]]:
        """The lines of everything that the targets were computed from."""
        found = set()
        for node in self.ancestors().values():
            place = self.trace.place(node)
            if place is not None:
                found.update(place.outer())
            birth = self.trace.birth(node)
            if birth is not None:
                found.update(birth.outer())
        return found

    def flows(self, exit: Exit, places: set[tuple[str, int]]) -> bool:
        """Whether the text lets the value that left reach one of these lines."""
        for code, offset in exit.stack[:1]:
            where = Place(((code, offset),))
            source = source_of(where.filename)
            start = None if source is None else source.at(where.line, where.column)
            if start is None:
                return True  # no text: that it left before is all that can be said
            flow = Flow(start)
            for filename, line in places:
                if filename == where.filename:
                    statement = source.at(line)  # type: ignore[union-attr]
                    if statement is not None and flow.reaches(statement):
                        return True
        return False

    # -- no path at all -----------------------------------------------------------------------------------------------

    def ancestors(self) -> dict[Any, Node]:
        """Everything that the targets were computed from."""
        if self._ancestors is None:
            self._ancestors = self.trace.ancestors(self.starts)
        return self._ancestors

    def elsewhere(self, source: Any) -> Finding:
        """The target was not computed from the source: was another object used in its place?"""
        return (
            self.target_rebound(source) or self.bound_anew(source) or self.copied(source) or self.equal(source)
            or self.layer(source) or Finding("independent", subject=source)
        )  # fmt: skip

    def bound_anew(self, source: Any) -> Finding | None:
        """The source's name was bound anew after the target had been computed from its former value."""
        place = self.born(source)
        for statement, where in self.statements(place):
            binds = statement.binds()
            if not binds:
                continue
            node = self.trace.of(source)[0]
            former = [n for n in self.ancestors().values() if n is not node]
            if isinstance(source, UnreadVariable) or statement.reads_itself():
                related = self.trace.ancestors([node])
                if any(n.key in self.ancestors() or self.shares(n, former) for n in related.values() if n is not node):
                    return Finding("rebound", where, binds[0], subject=source)
            for text in binds:
                others = [s for s in statement.source.bound_by(text, statement) if s is not statement]
                lines = {(s.source.filename, n) for s in others for n in range(s.line, (s.node.end_lineno or s.line) + 1)}
                for n in former:
                    birth = self.trace.birth(n) if n.variable is None else self.made(n.variable)
                    if birth is not None and lines.intersection(birth.outer()) and self.is_leaf(n):
                        return Finding("rebound", where, text, subject=source)
            return None
        return None

    def is_leaf(self, node: Node) -> bool:
        return node.record is None or node.record.cell(node.row)[0] == LEAF

    def shares(self, node: Node, others: list[Node]) -> bool:
        return node.variable is not None and any(n.variable is node.variable for n in others)

    def copied(self, source: Any) -> Finding | None:
        """The source was made from something that the target was computed from: a copy, an item, a fresh reading."""
        node = self.trace.of(source)[0]
        mine = self.trace.ancestors([node])
        ancestors = self.ancestors()
        variables = {id(n.variable) for n in ancestors.values() if n.variable is not None}
        related = [
            n for n in mine.values()
            if n is not node and (n.key in ancestors or (n.variable is not None and id(n.variable) in variables))
        ]  # fmt: skip
        if not related:
            related = [n for n in self.exited_from(source) if n.key in ancestors or id(n.variable) in variables]
        if not related:
            return None
        if self.watched(node) and node.record is not None and not self.copy_like(node) and node.row not in self.tape.watched:
            return None  # another result of the same computation, simply not used
        return Finding("wrong_object", self.use_or_birth(source, related[0]), "", subject=source)

    def exited_from(self, source: Any) -> list[Node]:
        """What left just before and may have become the source: through `tf.Variable(v.numpy())` and the like."""
        place = self.born(source)
        found: list[Node] = []
        if place is None:
            return found
        for exit in exits().list:
            if exit.stack and self.flows(exit, set(place.outer())):
                found += self.trace.ancestors([self.trace.of_ref(exit.value)]).values()
        return found

    def copy_like(self, node: Node) -> bool:
        """Whether a row is a copy or an item of its input."""
        return node.record is not None and self.trace.label(node) in COPIES

    def use_or_birth(self, source: Any, other: Node) -> Place | None:
        """Where the mix-up happened: where the other object was used, when the source existed by then, else its birth."""
        birth = self.born(source)
        node = self.trace.of(source)[0]
        if type(source) is EagerTensor and node.record is not None and node.record is self.record and self.was_watched(node):
            since = self.tape.watched[node.row]
            for row, inputs in operations(self.record, since):
                if other.record is self.record and other.row in inputs and (self.record_key(row) in self.ancestors()):
                    return self.trace.place(self.trace.of_row(self.record, row))
        return birth

    def record_key(self, row: int) -> Any:
        return (id(self.record), row)

    def equal(self, source: Any) -> Finding | None:
        """A value equal to something that the target was computed from, made anew and never used by anything."""
        if self.used_at_all(source):
            return None
        origin = source._made if type(source) is EagerTensor else source._state._made
        if origin is None:
            return None
        for node in self.ancestors().values():
            if node.tensor is not None and node.tensor is not source and self.is_leaf(node) and same_value(node.tensor, source):
                other = node.origin
                if other is None or (type(source) is not EagerTensor) != (node.variable is not None):
                    continue
                if type(source) is not EagerTensor and not self.after_tape(origin):
                    continue
                if origin.when > other.when:
                    return Finding("wrong_object", Place(origin.stack) if origin.stack else None, subject=source)
                if self.was_watched(self.trace.of(source)[0]):
                    return Finding("wrong_object", Place(other.stack) if other.stack else None, subject=source)
        return None

    def used_at_all(self, source: Any) -> bool:
        if type(source) is EagerTensor:
            return self.used(source)
        return bool(source._tape_rows(self.tape))

    def target_rebound(self, source: Any) -> Finding | None:
        """The target's name was bound to a constant after something had been computed under it."""
        for target in self.targets:
            if type(target) is not EagerTensor or self.record is None:
                continue
            node = self.trace.of_tensor(target)
            if node.origin is None or node.origin.inputs or node.origin.kind not in ("constant", "made"):
                continue
            for statement, where in self.statements(self.trace.birth(node)):
                for text in statement.binds():
                    for other in statement.source.bound_by(text, statement):
                        if other is statement or other.line > statement.line or not self.depends(other, source):
                            continue
                        return Finding("rebound", where, text, subject=target)
        return None

    def depends(self, statement: Statement, source: Any) -> bool:
        """Whether a row written by ``statement`` was computed from the source."""
        last = statement.node.end_lineno or statement.line
        for row, _ in operations(self.record, 0):
            place = self.record.place(row)
            if place and place[0] == statement.source.filename and statement.line <= place[1] <= last:
                if self.trace.path([self.trace.of_row(self.record, row)], source) is not None:
                    return True
        return False

    def layer(self, source: Any) -> Finding | None:
        """A variable of a layer or module that was never called on the way to the target."""
        if type(source) is EagerTensor or source._tape_rows(self.tape):
            return None
        owner = owner_of(source)
        if owner is None:
            return None
        used = {id(n.variable) for n in self.ancestors().values() if n.variable is not None}
        if any(id(v) in used or v._tape_rows(self.tape) for v in variables_of(owner)):
            return None  # it was called; it just does not use this variable for the target
        name = getattr(owner, "name", None)
        what = f"{name} ({type(owner).__name__})" if isinstance(name, str) else type(owner).__name__
        return Finding("unused_layer", self.construction(owner, source), what, subject=source)

    def construction(self, owner: Any, variable: Any) -> Place | None:
        """The statement that made a layer: noted by layers and modules themselves, else around the constructor."""
        frames = birth_of(owner)
        if not frames and variable._born is not None:
            frames = variable._born.stack
            while len(frames) > 1 and frames[0][0].co_name == "__init__":
                frames = frames[1:]
                if type(owner).__init__.__code__ is not frames[0][0]:
                    break
        return Place(frames) if frames else None


def holds_state(node: Node) -> bool:
    """Whether a node is the state of a variable, also of one that is gone."""
    return node.variable is not None or is_state(node.origin)


def operations(record: Any, start: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(row, input rows) of each operation from a row on."""
    for row in range(start, len(record)):
        op, a, b, _ = record.cell(row)
        if op >= FIRST_CODE:
            yield row, (a, b)
        elif op == CALL and a < len(record.calls):
            yield row, record.calls[a].inputs


def merge(breaks: list[Break]) -> list[Break]:
    """The breaks of a path without repetitions: a run of operations outside the tape is one break.

    An operation outside the tape that only prepares an assign or an exit of the same statement is not named either.
    """
    kept: list[Break] = []
    for b in breaks:
        if kept and kept[-1].cause == b.cause and b.cause in ("outside_tape", "recording_paused", "integer_dtype"):
            continue
        last = kept[-1] if kept else None
        if last is not None and last.cause == "outside_tape" and b.cause in ("state", "left_through_numpy"):
            if last.place and b.place and (last.place.filename, last.place.line) == (b.place.filename, b.place.line):
                kept[-1] = b
                continue
        kept.append(b)
    return kept


def same_value(a: Any, b: Any) -> bool:
    """Whether two tensors or variables hold the same small value."""
    x, y = (v.array if type(v) is EagerTensor else v._state.array for v in (a, b))
    return x.shape == y.shape and x.dtype == y.dtype and x.size <= 4096 and bool(np.all(x == y))
