"""Why a gradient of a tape is None: what breaks the path, what the tape watches, what left, what was used instead.
One question for minitape's tapes and for TensorFlow's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ..recording.protocol import RecordedRun, TapeLog, TapeSpan
from ..recording.rows import BackwardPass, RowExit
from ..recording.sites import NOWHERE, Site
from ..recording.values import numbers_of
from .blocked import Cuts
from .sentences import fill
from .source import RUN_ONCE, statement_at
from .statement import Statement, last_name, once, unparse
from .words import Explanation

if TYPE_CHECKING:
    from ..engine.types import Object

CUTS = (
    "stop_gradient",
    "integer_dtype",
    "nondifferentiable",
    "no_gradient_registered",
    "not_recorded",
)  # before a value leaves

_STATES = {"begins": "records", "ends": "after", "pauses": "paused", "goes on": "records"}


def apart(way: Sequence[Site], other: Sequence[Site]) -> Site:
    """The statement at which two paths through calls part. It also gives what a call keeps in an attribute or an item.

    >>> apart([("a.py", 3), ("a.py", 9)], [("a.py", 4)])
    ('a.py', 3)
    """
    where = next((k for k, (one, two) in enumerate(zip(way, other, strict=False)) if one != two), len(way) - 1)
    later = ((site, at.targets()) for site in way[:where:-1] if (at := statement_at(site)) is not None)
    keeps = (
        site for site, targets in later if any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)
    )
    return next(keeps, way[where] if way else NOWHERE)


def _said(word: str, statement: Statement) -> list[int]:
    """The line on which a statement has ``word=...`` in a call, or assigns ``.word``, and not True."""
    given: dict[str | None, ast.expr | None] = {
        node.arg: node.value for node in statement.walk() if isinstance(node, ast.keyword)
    }
    given |= {at.attr: statement.value() for at in statement.targets() if isinstance(at, ast.Attribute)}
    value = given.get(word)
    return [] if value is None or unparse(value) == "True" else [value.lineno]


_KEEPS = ("append", "add", "insert", "extend", "setdefault", "setattr")  # methods that keep what they are given


def binds_own(statement: Statement) -> bool:
    """Whether a statement binds a name, or an attribute of its own object, that its function does not merely return."""
    within, binds = statement.function, statement.binds()
    returns = [n.value for n in ast.walk(within) if isinstance(n, ast.Return) and n.value] if within is not None else []
    own = bool(binds) and all(text.removeprefix("self.").isidentifier() for text in binds)
    return own and {unparse(value) for value in returns}.isdisjoint(binds)


def _runs_in(statement: Statement, functions: Sequence[str]) -> bool:
    """Whether a statement is one of a function of these names."""
    return statement.function is not None and statement.function.name in functions


def _is_kept(statement: Statement) -> bool:
    """Whether the function goes on to keep what a statement binds: in a list, as an item, as an attribute."""
    for s in statement.source.statements:
        if s.function is statement.function and s is not statement:
            given = [a for n in s.walk() if isinstance(n, ast.Call) and last_name(n.func) in _KEEPS for a in n.args]
            given += [part for target, part in s.pairs() if part is not None and not isinstance(target, ast.Name)]
            if not {unparse(part) for part in given}.isdisjoint(statement.binds()):
                return True
    return False


class Why(Cuts):
    """One question about what a tape recorded."""

    recording: RecordedRun
    log: TapeLog
    entries: Sequence[Object]
    source: Object
    name: str
    path_to: Callable[[Object], str]  # how the program reaches an object

    makes: tuple[str, ...] = ("operation",)  # what a source is that was made of what the target was made of

    if TYPE_CHECKING:

        @property
        def path(self) -> str: ...  # how the program reaches the source

    # -- what differs between the two --------------------------------------------------------------

    def handle(self, value: Object) -> Object:
        """What a variable is known by; any other value itself."""
        raise NotImplementedError

    def is_variable(self, value: Object) -> bool:
        """Whether the program has a variable."""
        raise NotImplementedError

    def is_tensor(self, value: Object) -> bool:
        """Whether it has a tensor."""
        raise NotImplementedError

    def known_name(self, value: Object) -> str:
        """The name that a variable was given."""
        raise NotImplementedError

    def parts(self, value: Object) -> Iterable[Object]:
        """What a list or a dictionary holds; a value itself."""
        raise NotImplementedError

    def names(self) -> Iterable[tuple[str, Object]]:
        """The names of the program, and what they hold."""
        raise NotImplementedError

    def numbers_now(self) -> np.ndarray | None:
        """The elements of the source."""
        raise NotImplementedError

    def born_at(self, handle: Object) -> tuple[int, Sequence[Site]]:
        """When a variable or a tensor was made, and where, with the calls that led there."""
        raise NotImplementedError

    def _is_in_a_layer(self, variable: Object) -> bool:
        """Whether a layer or a module that is alive has a variable."""
        raise NotImplementedError

    def toward(self, row: int) -> Why:
        """The same question with another target."""
        raise NotImplementedError

    @property
    def sweep(self) -> BackwardPass | None:
        """The last backward pass from the target that was asked for the source; else the last one from it."""
        found = [sweep for sweep in reversed(self.recording.sweeps) if self.end in sweep.target]
        own = self.handle(self.source)
        return next(
            (sweep for sweep in found if any(tensor() is own for tensor, _ in sweep.gave)), found[0] if found else None
        )

    @property
    def tape(self) -> Object:
        """The tape that was asked; where none was, the one that recorded the target, or the last one."""
        sweep = self.sweep
        if sweep is not None or self.end is None:
            return None if sweep is None else sweep.tape
        recorded = [tape for tape in self.log.tapes if self._state(self.end, tape)[0] == "records"]
        return next(iter([*recorded[::-1], *self.log.tapes[::-1]]), None)

    def _state(self, row: int, tape: Object) -> tuple[str, TapeSpan | None]:
        """What a tape was doing when an operation ran, and since where."""
        given_back = self.entries[row].extra.at  # while no tape recorded: one that begins at this row began after it
        when, sweep = row if given_back is None else given_back, self.sweep
        state, since = "before", None
        for span in self.log.spans:
            if span.tape is not tape or (sweep is not None and span.at > sweep.at):
                continue
            if span.at < when or (span.at == when and (given_back is None or span.word in ("ends", "pauses"))):
                state, since = _STATES.get(span.word, state), span
            elif since is None and span.word == "begins":
                since = span
            elif span.word == "resets" and state == "records":
                return "dropped", span
        return state, since

    def _cut_at(self, row: int) -> str:
        return "" if row in self.rows else self._why_cut(row)

    @once
    def _why_cut(self, row: int) -> str:
        """Why no gradient passes a row: its tape, or its kind."""
        return "computed_before_tape" if self._is_untimely(row) else self.entries[row].extra.why

    def _reached(self) -> set[int]:
        """The rows that an open way leads to from the source."""
        return self._computed_from(self.rows, lambda row: bool(self._why_cut(row)))

    def _is_untimely(self, row: int) -> bool:
        """Whether an operation ran while the tape that was asked did not record, though another tape may have."""
        sweep, tape = self.sweep, self.tape
        arrived = sweep is not None and row in sweep.adjoints and row not in sweep.target
        return (
            tape is not None
            and not arrived
            and self.entries[row].kind == "operation"
            and self._state(row, tape)[0] != "records"
        )

    def _time(self, row: int) -> Explanation | None:
        """What the tape was doing when an operation ran; nothing to say where it recorded."""
        state, since = self._state(row, self.tape)
        if state == "records":
            return None
        if state == "dropped" and since is not None:
            return self.say("computed_before_tape", since.way[-1], kind="reset")
        # a row of another tape, whose gradient was used: the way to that gradient is known
        used = [self.entries[at].extra.came for at in self.behind if self.entries[at].extra.at is not None]
        ways = [self.entries[row].extra.way]
        ways += [s.way for s in self.recording.sweeps if s.target in used and row in s.adjoints]
        way = next(filter(None, ways), None)
        site = NOWHERE if since is None or way is None else apart(way, since.way)
        if state == "paused":
            return self.say("recording_paused", site, row=row)
        at = statement_at(site if site is not NOWHERE else self.entries[row].site)
        made = (
            state == "before"
            and at is not None
            and at.function is not None
            and at.function.name in ("__init__", "build")
        )
        kind = "made" if made else "other" if self.entries[row].differentiable else ""
        return self.say(f"computed_{state}_tape", site, row=row, kind=kind)

    def _own(self) -> Explanation | None:
        """The tape that was asked does not watch the source."""
        if self._arrived() or not self.used or self.tape is None:
            return self._read_of()
        late = next((row for row in self.used if self.entries[row].extra.late), None)
        if late is not None and not all(self.entries[row].differentiable for row in self._way(late)[1:]):
            if self._state(self._first_use(), self.tape)[0] == "before":
                return self._time(self._first_use())
            return self.watched_late(late)
        if any(map(self._is_watched, self.used)):
            return None
        leaf = next((row for row in self.used if self.entries[row].kind != "operation"), None)
        variable = leaf is not None and self.entries[leaf].kind == "variable"
        if variable and not getattr(self.source, "trainable", True):
            return self.say("not_trainable", site=self._made_with("trainable"), row=leaf)
        if variable and all(self.entries[row].extra.why not in ("", "not_recorded") for row in self._first_uses()):
            return None  # no gradient passes the first operation in any case
        if leaf is not None and (variable or self._watchers()) and (when := self._time(self._first_use())) is not None:
            return when
        if self._watchers():  # another tape watches it
            return self.say("not_watched", self._block_start()[-1], kind="other")
        if leaf is None:  # the result of an operation, which a tape does not watch by itself
            made = self.entries[self.used[0]].extra.way
            if self._state(self.used[0], self.tape)[0] == "before" and self._rebound() is None:
                return self._unwatched(self.used[0])
            return self._rebound() or self._made_unwatched(made)
        if not variable:
            return self._unwatched(leaf)
        if self.tape is None or self.tape._watch_accessed_variables:
            # the value that was read counts
            return self._time(leaf) or self.say("recording_paused", site=self._use(), row=leaf)
        return self.say("not_accessed_watched", site=self._not_accessed_at(), row=leaf)

    def _not_accessed_at(self) -> Site:
        """The line of a tape that watches no variable by itself."""
        return self._block_start()[-1]

    def _made_unwatched(self, made: Sequence[Site]) -> Explanation:
        """The result of an operation is not watched by itself."""
        site = apart(made, self._block_start()) if made else NOWHERE
        return self.say("not_watched", site, row=self.used[0], kind="made")

    def watched_late(self, row: int) -> Explanation:
        """The watch came after the use."""
        return self.say("watched_late", site=self._use(), row=row)

    def _block_start(self) -> Sequence[Site]:
        """The line on which the block of the tape began, after the calls that led to it."""
        return next((span.way for span in self.log.spans if span.tape is self.tape), [NOWHERE])

    def _unwatched(self, leaf: int) -> Explanation:
        """No tape watches a leaf: the line that uses it in the block, or the block, where a function uses it that is
        called there; of an attribute of an object the line that uses it.
        """
        way, use, block = (
            self.entries[self._first_use()].extra.way,
            statement_at(self._use()),
            statement_at(self._block_start()[-1]),
        )
        if use is None or block is None or block in use.around or "." in self.path:
            return self.say("not_watched", self._use(), row=leaf)
        return self.say(
            "not_watched",
            apart(way, self._block_start()) if way else self._block_start()[-1],
            row=leaf,
            kind="" if way else "block",
        )

    def _made_with(self, word: str) -> Site:
        """Where the program says ``word=...`` as it makes the source, or says so in one place; else the first use."""
        _, way = self.born_at(self.handle(self.source))
        said = [(site[0], line) for site in reversed(way) if (at := statement_at(site)) for line in _said(word, at)]
        use = statement_at(self._use())
        if not said and use is not None:
            said = [(s.filename, line) for s in use.source.statements for line in _said(word, s)]
        return said[0] if said and (way or len(said) == 1) else self._use()

    def _bound(self) -> Site | None:
        """The one line of the text that makes what has the source's name."""
        use, names = statement_at(self._use()), {self.name, self.path}
        made = (
            [s for s in use.source.statements if s.calls("Variable", "constant", "add_weight")]
            if use is not None
            else []
        )
        found = [(s.filename, s.line) for s in made if not names.isdisjoint(s.binds())]
        for s in made:
            if isinstance(items := s.value(), ast.Dict):
                found += [
                    (s.filename, item.lineno)
                    for key, item in zip(items.keys, items.values, strict=True)
                    if key is not None and f"{s.binds()[0]}[{unparse(key)}]" in names
                ]
        return found[0] if len(found) == 1 else None

    def _is_watched(self, row: int) -> bool:
        """Whether the tape watched a row of the source."""
        entry, tape = self.entries[row], self.tape
        if not entry.differentiable or tape is None:
            return entry.differentiable
        if any(watcher is tape for watcher in self._watchers()):
            return True
        if entry.kind == "operation":
            return not self._is_untimely(row)
        return entry.kind == "variable" and tape._watch_accessed_variables and getattr(self.source, "trainable", True)

    def _watchers(self) -> list[Object]:
        """The tapes that were told to watch the source."""
        return [tape for value, tape in self.log.watches if value() is self.handle(self.source)]

    def _first_uses(self) -> list[int]:
        used = set(self.used)
        return [row for row in sorted(self.behind) if not used.isdisjoint(self._inputs(row))]

    def _first_use(self) -> int:
        """The first use that the tape recorded; where it recorded none, the first."""
        uses = self._first_uses() or self.used
        return next((row for row in uses if self._state(row, self.tape)[0] == "records"), uses[0])

    def _use(self) -> Site:
        """The first line that used the source on the path to the target; of a derivative the line that computed the
        value.
        """
        if not self._first_uses():
            return NOWHERE
        site = self.entries[self._first_use()].site
        if any(site == sweep.site for sweep in self.recording.sweeps):
            return next(entry.site for entry in self.entries if set(self.used).intersection(entry.inputs))
        return site

    def _read_of(self) -> Explanation | None:
        """The source is the result of one reading of a variable: the program read the variable itself."""
        sweep = self.sweep
        if (
            sweep is None
            or not self.used
            or self.is_variable(self.source)
            or self.entries[self.used[0]].kind != "variable"
        ):
            return None
        if any(given for tensor, given in sweep.gave if tensor() is self.source) or not any(
            tensor() is self.source for tensor, _ in sweep.gave
        ):
            return None
        return self.say(
            "wrong_object",
            sweep.site,
            row=self.used[0],
            kind="read",
            other=self._name_of(self.entries[self.used[0]], fill("the variable")),
        )

    # -- a name that was bound anew ----------------------------------------------------------------

    def _rebound(self) -> Explanation | None:
        """The source is no variable any more: a name that held one, or a tensor that is watched, was bound to what was
        computed from it, as in ``w = w - rate * gradient``.
        """
        row = self.rows[0] if self.rows else None
        way = [] if row is None else self.entries[row].extra.way or [self.entries[row].site]
        found = next(
            ((at, site) for site in reversed(way) if (at := statement_at(site)) is not None and at.binds()), None
        )
        if row is None or found is None:
            return None
        statement, site = found
        again = statement.reads_itself() or not all(text.isidentifier() for text in statement.binds())
        if (
            self._was_variable(statement)
            or (again and self._from_state(row, statement))
            or self._was_watched(statement)
        ):
            return self.say("rebound", self.at(site, statement.line), row=row, what=statement.binds()[0])
        return None

    def at(self, site: Site, line: int) -> Site:
        """A place with the first line of its statement."""
        return site[0], line

    def _was_variable(self, statement: Statement) -> bool:
        """Whether an earlier statement bound the same name to a new variable.

        One in another cell is a program of its own, unless the statement reads what the name held.
        """
        again = statement.reads_itself()
        return not statement.calls("Variable") and any(
            other.calls("Variable")
            and other.order < statement.order
            and (again or other.filename == statement.filename)
            for text in statement.binds()
            for other in statement.source.bound_by(text, statement)
        )

    def _from_state(self, row: int, statement: Statement, depth: int = 0) -> bool:
        """Whether a row was computed, by this statement alone, from a variable or a watched tensor."""
        for given in self._inputs(row):
            entry = self.entries[given]
            if entry.kind in ("variable", "source"):
                if not self._named_otherwise(entry, statement):
                    return True
            elif (
                depth < 200
                and any(statement.covers(*site) for site in entry.extra.way or [entry.site])
                and self._from_state(given, statement, depth + 1)
            ):
                return True
        return False

    def _named_otherwise(self, entry: Object, statement: Statement) -> bool:
        """Whether the statement reads a variable under a name of its own: in ``h = h + v`` it is not h that was one."""
        way = self.born_at(entry.extra.asked)[1] if entry.kind == "variable" else [entry.site]
        binds = {text for site in way if (at := statement_at(site)) is not None for text in at.binds()}
        around = {unparse(n) for target in statement.targets() for n in ast.walk(target) if n is not target}
        read = {
            unparse(n)
            for n in statement.walk()
            if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Load)
        }
        return bool(binds & (read - around)) and not binds.intersection(statement.binds())

    def _was_watched(self, statement: Statement) -> bool:
        """Whether another statement bound the name to a tensor that a tape watches."""
        watched = (one for value, _ in self.log.watches if self.is_tensor(one := value()))
        born = [site for one in watched for site in self.born_at(one)[1]]
        bound = [s for text in statement.binds() for s in statement.source.bound_by(text, statement)]
        return any(s.covers(*site) for s in bound if s is not statement for site in born)

    def _relatives(self) -> set[int]:
        """What the source was made from that the target was computed from as well."""
        mine = self._behind(self.rows) - {*self.rows}
        tensor = self.is_tensor(self.source)
        return {
            row
            for row in mine & self.behind
            if self.entries[row].kind == "variable" or (tensor and self.entries[row].differentiable)
        }

    def _name_of(self, entry: Object, otherwise: str) -> str:
        """What the program calls what a row stands for."""
        return self.path_to(entry.extra.asked) or entry.name or otherwise

    def _break(self) -> Explanation | None:
        """The break of the recorded paths; before it, a value that left on an unbroken path, or was stored in a
        variable, and came back.
        """
        found = self._cut()
        if found is None:
            return None
        reached = self._reached()
        exit = next((exit for exit in self._exits() if exit.row in reached), None)
        answer = self._through_state(reached) if exit is None else self._left_by(exit)
        if answer is None:
            return found
        answer.others = [found, *found.others]
        return answer

    def _cut(self) -> Explanation | None:
        """The first break of the recorded way that has the fewest."""
        return super()._break()

    def _broken_at(self, rows: list[int]) -> Explanation:
        # a gradient that was given back, first
        return super()._broken_at(sorted(rows, key=lambda row: self.entries[row].extra.at is None))

    def _not_known(self, row: int) -> Explanation:
        """A tape was there when an operation ran, and did not hear of it, or did not know its input, which was read
        before.
        """
        given = self._inputs(row)
        if any(self.entries[at].kind == "operation" and self.entries[at].differentiable for at in given):
            return self.say("recording_paused", row=row)
        early = next((at for at in given if at in self.used), row)
        other = early != row and self.entries[early].kind != "variable"
        return self.say("not_watched", row=row) if other else self.say("computed_before_tape", row=early)

    def _after(self) -> set[int]:
        """The rows that were computed from the source; where nothing else leads on, through what was stored in
        variables.
        """
        found = super()._after()
        if self.used:
            return found
        for handle, stored, _, at in self.log.stores:  # in the order of time
            states = [
                e.row
                for e in self.entries[at:]
                if stored in found and e.kind == "variable" and id(e.extra.asked) == handle
            ]
            found |= self._computed_from(states)
        return found

    def _outside(self) -> Explanation | None:
        """The value left TensorFlow, or went through a variable."""
        if self.used or self.end is None:
            return None
        after = self._after()
        return self._through_state(after) or super()._outside()

    def _through_state(self, rows: set[int]) -> Explanation | None:
        """One of these rows was stored in a variable, and that was read on the path to the target."""
        for handle, stored, site, _ in self.log.stores:
            if stored in rows and self._read_again(handle):
                before = self._plain(stored) in self.rows or self._state(stored, self.tape)[0] == "before"
                if (
                    before
                    and handle in self.log.variables
                    and self.born_at(self.log.variables[handle].handle)[1][-1:] == [site]
                ):
                    return self.say("wrong_object", site, kind="copied")
                made = statement_at(site)
                kind = "metric" if made is not None and made.calls("update_state") else ""
                return self.say("variable_assign", site, stored, kind=kind)
        return None

    def _exits(self) -> list[RowExit]:
        """Those first that an open way leads to, and that the text shows to come back."""
        reached, found = self._reached(), super()._exits()
        found.reverse()  # the last one is nearest to the target
        return sorted(found, key=lambda exit: (exit.row not in reached, not self.flows_back(exit), not exit.how))

    def _left_at(self, exit: RowExit) -> Explanation:
        return (
            (None if exit.how == "__bool__" else self._copied_from(exit))
            or self._cut_before(exit)
            or self._left_by(exit)
        )

    def _plain(self, row: int) -> int:
        """The row whose value another one only hands on."""
        while self.entries[row].op == "Identity":
            row = self.entries[row].inputs[0]
        return row

    def _cut_before(self, exit: RowExit) -> Explanation | None:
        """What breaks the path before the value leaves; a comparison belongs to the choice that is made by it."""
        found = self.toward(exit.row)._cut() if exit.row not in self.rows else None
        if found is None or found.cause not in CUTS or self.entries[found._rows[0]].dtype == "bool":
            return None
        return found

    def _copied_from(self, exit: RowExit) -> Explanation | None:
        """The values were put into another variable before any tape began, and that one was used."""
        inside = any(span.word == "begins" and span.at < exit.before for span in self.log.spans)
        copies = [handle for handle, _, site, _ in self.log.stores if site == exit.site and self._read_again(handle)]
        return None if inside or not copies else self.say("wrong_object", exit.site, kind="copied")

    def _read_again(self, handle: int) -> bool:
        """Whether the target was computed from a variable's state."""
        return any(
            self.entries[row].kind == "variable" and id(self.entries[row].extra.asked) == handle for row in self.behind
        )

    def _same_values(self, row: int) -> bool:
        """Whether the source has, or began with, the values of a row of the program's own: one is a copy of the
        other.
        """
        asked, own = self.entries[row].extra.asked, self.handle(self.source)
        mine = [numbers_of(self.entries[state].value) for state in self.rows] or [self.numbers_now()]
        theirs = [numbers_of(self.entries[state].value) for state in self.states(row)]
        return own is not asked and any(
            a is not None and b is not None and np.array_equal(a.ravel(), b.ravel()) and self._tells(row, a)
            for a in theirs
            for b in mine
        )

    def states(self, row: int) -> Sequence[int]:
        """The rows of what a row stands for."""
        return self.log.rows_of(self.entries[row].extra.asked)

    def _tells(self, row: int, values: np.ndarray) -> bool:
        """Whether equal values say that one is a copy of the other."""
        return values.size > 1 and bool(np.ptp(values) > 0)

    def _is_named(self, handle: Object) -> bool:
        """Whether the program has a name for a variable, or for a list or dictionary that it is in."""
        return any(self.handle(part) is handle for _, value in self.names() for part in self.parts(value))

    def _bound_again(self) -> Explanation | None:
        """The name of the source, or the statement that made it, made what the target was computed from as well."""
        when, way = self.born_at(self.handle(self.source))
        for site in reversed(way):
            statement = statement_at(site)
            names = [] if statement is None else self.names_at(statement, site)
            if statement is None or not names:
                continue
            if statement.reads_itself() and self._relatives():
                return self.anew(self.at(site, statement.line), names[0])
            for name in names:
                for text in dict.fromkeys((name, name.partition("[")[0])):
                    for other in statement.source.bound_by(text, statement):
                        for row, births in self._made_in(other) if other is not statement else ():
                            at = next(one for one in births if other.covers(*one))
                            if row not in self.rows and (text == name or name in self.names_at(other, at)):
                                later = self._birth_of(row)[0] > when
                                found = self.at(at, other.line) if later else self.at(site, statement.line)
                                return self.anew(found, name, row)
            if not _runs_in(statement, RUN_ONCE[:2]):
                return None  # else the object that it belongs to may have been made anew
        return None

    def _made_in(self, statement: Statement) -> list[tuple[int, Sequence[Site]]]:
        """What was made in a statement, or by a call there, and led to the target, with where."""
        lines = range(statement.line, statement.last + 1)
        return [leaf for line in lines for leaf in self._made_on().get((statement.filename, line), ())]

    @once
    def _made_on(self) -> dict[Site, list[tuple[int, Sequence[Site]]]]:
        """By line what was made there, or by a call there, and led to the target."""
        found: dict[Site, list[tuple[int, Sequence[Site]]]] = {}
        for row in sorted(self.behind):
            if self.entries[row].kind != "operation":
                for way in self._births(row):
                    for site in way:
                        found.setdefault(site, []).append((row, way))
        return found

    def _made_once_more(self) -> Explanation | None:
        """The statement that made the source made another one, which was used: in a loop, or in a function that the
        block called.
        """
        when, way = self.born_at(self.handle(self.source))
        for row, _ in self._made_on().get(way[-1], ()) if way else ():
            other, later = self._birth_of(row)
            kind = self.entries[row].kind == "variable"
            if row in self.rows or other == when or kind == self.is_tensor(self.source):
                continue
            around = ((at, site) for site in reversed(later if other > when else way) if (at := statement_at(site)))
            bound = (one for one in around if binds_own(one[0]) and not _runs_in(one[0], RUN_ONCE))
            statement, site = next(bound, (None, NOWHERE))
            if statement is None or not isinstance(statement.value(), ast.Call) or _is_kept(statement):
                continue
            if self._is_anew(row, when, other):
                return self.anew(self.at(site, statement.line), statement.binds()[0], row, made=True)
        return None

    def _is_anew(self, row: int, when: int, other: int) -> bool:
        """Whether what was made once more took the place of the source."""
        raise NotImplementedError

    def anew(self, site: Site, name: str, row: int | None = None, made: bool = False) -> Explanation:
        """That a name was bound again, or that what it held was made once more."""
        raise NotImplementedError

    def names_at(self, statement: Statement, site: Site) -> list[str]:
        """What a statement binds at a place."""
        return statement.binds()

    def _births(self, row: int) -> Sequence[Sequence[Site]]:
        """The ways to where a leaf was made."""
        return [self._birth_of(row)[1]]

    def _birth_of(self, row: int) -> tuple[int, Sequence[Site]]:
        """When and where a leaf was made."""
        return self.born_at(self.entries[row].extra.asked)

    def _made_of_it(self) -> Explanation | None:
        """The source was computed from what the target was computed from, and was then not used."""
        entry = self.entries[self.rows[0]] if self.rows else None
        named = self._relatives() if entry is not None and entry.kind in self.makes else set()
        if entry is None or not named:
            return None
        again = any(self.entries[row].op == entry.op and self._same_values(row) for row in self.behind)
        other = self._name_of(self.entries[max(named)], fill("what it was made of"))
        return self.say(
            "wrong_object", self._made_at(named), self.rows[0], other=other, kind="again" if again else "made"
        )

    def _made_at(self, named: set[int]) -> Site:
        """Where the source was computed."""
        way = self.entries[self.rows[0]].extra.way
        return apart(way, self.sweep.way) if way and self.sweep is not None else NOWHERE

    def _replaced_variable(self) -> Explanation | None:
        """Explains a source that another variable replaced: one with equal values, or one created again."""
        # such as a slice that is made where it is asked for
        unknown = self.is_tensor(self.source) and not self.rows
        leaves = ("variable", "source", "constant") if self.is_tensor(self.source) else ("variable", "source")
        variables = [row for row in sorted(self.behind) if unknown or self.entries[row].kind in leaves]
        equal = next((row for row in variables if self._same_values(row)), None)
        if equal is not None and not unknown and self.entries[equal].kind == "constant":
            return self.say("wrong_object", self._mixed_up(equal, self._used_at(equal)), row=equal, kind="equal")
        if equal is not None and unknown and not any(self._same_values(exit.row) for exit in self.recording.left):
            return self.say("wrong_object", self.sweep.site if self.sweep else NOWHERE, row=equal, kind="equal")
        own, path = self.handle(self.source), self.known_name(self.source)
        twin = (
            next(
                (
                    row
                    for row in variables
                    if "/" in path
                    and self.entries[row].name == path
                    and self.entries[row].shape == tuple(self.source.shape)
                    and self.entries[row].extra.asked is not own
                ),
                None,
            )
            if not self.rows
            else None
        )
        if equal is None and twin is not None:  # a copy of its model has the same names
            return self.say("wrong_object", self._copied_at(self.entries[twin].extra.asked), row=twin, kind="cloned")
        if equal is None and self.is_tensor(self.source):
            return None
        if equal is None and self.rows:
            return None
        # it was not made anew; what was used may have lost its layer
        kept = equal is None and self._is_in_a_layer(self.source)
        last = path.rpartition("/")[2]
        row = (
            equal
            if equal is not None
            else next(
                (
                    row
                    for row in variables
                    if self.entries[row].shape == tuple(self.source.shape)
                    and (self.entries[row].name or "").rpartition("/")[2] == last
                    and not (self._is_in_a_layer if kept else self._is_named)(self.entries[row].extra.asked)
                ),
                None,
            )
        )
        if row is None:
            return None
        other = self._name_of(self.entries[row], fill("a variable"))
        if self.is_tensor(self.source):
            left = next((exit.site for exit in self.recording.left if self._same_values(exit.row)), NOWHERE)
            left = self._mixed_up(row, left)
            return self.say("wrong_object", left, row=row, other=other, kind="made")
        (_, before), (_, later) = sorted(map(self.born_at, (own, self.entries[row].extra.asked)), key=itemgetter(0))
        if kept and (at := statement_at(later[-1]) if later else None) is not None:  # the line that made its layer
            bound = [s for s in at.source.bound_by(self.path.partition(".")[0], at) if s.order <= at.order]
            later = [self.at(later[-1], bound[-1].line)] if bound else later
        parts = [site for site in later if site not in before]  # of one function that makes both, its call
        return self.say("wrong_object", (parts or later or [self._used_at(row)])[-1], row=row, other=other)

    def _mixed_up(self, row: int, otherwise: Site) -> Site:
        """Where an equal value took the place of the source, if that is known better."""
        return otherwise

    def _used_at(self, row: int) -> Site:
        """The first line on the path to the target that used a row while the tape recorded."""
        uses = [at for at in sorted(self.behind) if row in self._inputs(at)]
        return self.entries[next((at for at in uses if not self._is_untimely(at)), row)].site

    def _copied_at(self, handle: Object) -> Site:
        """The line that made a copy of a model: where its variable was made, or the one call that copies."""
        _, way = self.born_at(handle)
        source = statement_at(self.sweep.site) if self.sweep is not None else None
        copies = (
            [s for s in source.source.statements if s.calls("clone_model", "deepcopy", "from_config", "load_model")]
            if source is not None
            else []
        )
        made = next((site for site in reversed(way) if any(s.covers(*site) for s in copies)), None)
        return made or (way[-1] if way else (copies[0].filename, copies[0].line) if len(copies) == 1 else NOWHERE)

    def _instead(self) -> Explanation | None:
        return self._bound_again() or self._made_once_more() or self._made_of_it() or self._replaced_variable()
