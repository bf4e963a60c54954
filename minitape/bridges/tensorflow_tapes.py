"""What the tape that was asked for a gradient knows: the operations of its block, and the sources that it watches."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from ..explain.flow import Flow
from ..explain.sentences import fill
from ..explain.source import Source, statement_at
from ..explain.statement import Def, Statement, last_name, once, unparse
from ..explain.words import Explanation
from ..recording.rows import BackwardPass
from ..recording.sites import NOWHERE, Site
from .inquiry import Inquiry
from .tensorflow_ops import handle_of, variable_of
from .tensorflow_value import Span

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
    """The lines on which a statement has ``word=...`` in a call, or assigns ``.word``."""
    said = [node.value.lineno for node in statement.walk() if isinstance(node, ast.keyword) and node.arg == word]
    return said + [
        statement.line for target in statement.targets() if isinstance(target, ast.Attribute) and target.attr == word
    ]


class TapeInquiry(Inquiry):
    """The part of a question that is about tapes."""

    log: Any

    @property
    def sweep(self) -> BackwardPass | None:
        """The last backward pass from the target that was asked for the source; else the last one from it."""
        found = [sweep for sweep in reversed(self.recording.sweeps) if self.end in sweep.target]
        own = handle_of(self.source)
        return next(
            (sweep for sweep in found if any(tensor() is own for tensor, _ in sweep.gave)), found[0] if found else None
        )

    @property
    def tape(self) -> Any:
        """The tape that was asked; where none was, the one that recorded the target, or the last one."""
        sweep = self.sweep
        if sweep is not None or self.end is None:
            return None if sweep is None else sweep.tape
        recorded = [tape for tape in self.log.tapes if self._state(self.end, tape)[0] == "records"]
        return next(iter([*recorded[::-1], *self.log.tapes[::-1]]), None)

    # -- when --------------------------------------------------------------------------------------

    def _state(self, row: int, tape: Any) -> tuple[str, Span | None]:
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
        site = (
            apart(self.entries[row].extra.way, since.way)
            if since is not None and self.entries[row].extra.way
            else NOWHERE
        )
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

    # -- what it watches ---------------------------------------------------------------------------

    def _own(self) -> Explanation | None:
        """The tape that was asked does not watch the source."""
        if self._arrived() or not self.used or not self.log.tapes:
            return self._read_of()
        late = next((row for row in self.used if self.entries[row].extra.late), None)
        if late is not None and not all(self.entries[row].differentiable for row in self._way(late)[1:]):
            if self._state(self._first_use(), self.tape)[0] == "before":
                return self._time(self._first_use())
            return self.say("watched_late", site=self._use(), row=late)
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
            return self._rebound() or self.say(
                "not_watched", apart(made, self._block_start()) if made else NOWHERE, row=self.used[0], kind="made"
            )
        if not variable:
            return self._unwatched(leaf)
        if self.tape is None or self.tape._watch_accessed_variables:
            # the value that was read counts
            return self._time(leaf) or self.say("recording_paused", site=self._use(), row=leaf)
        return self.say("not_accessed_watched", site=self._block_start()[-1], row=leaf)

    def _block_start(self) -> Sequence[Site]:
        """The line on which the block of the tape began, after the calls that led to it."""
        return next((span.way for span in self.log.spans if span.tape is self.tape), [NOWHERE])

    def _unwatched(self, leaf: int) -> Explanation:
        """No tape watches a leaf: the line that uses it in the block, or the block, where a function uses it that is
        called there.
        """
        way, use, block = (
            self.entries[self._first_use()].extra.way,
            statement_at(self._use()),
            statement_at(self._block_start()[-1]),
        )
        if use is None or block is None or block in use.around:
            return self.say("not_watched", self._use(), row=leaf)
        return self.say(
            "not_watched",
            apart(way, self._block_start()) if way else self._block_start()[-1],
            row=leaf,
            kind="" if way else "block",
        )

    def _made_with(self, word: str) -> Site:
        """Where the program says ``word=...`` as it makes the source, or says so in one place; else the first use."""
        _, way = self.log.born_at(handle_of(self.source))
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

    def _watchers(self) -> list[Any]:
        """The tapes that were told to watch the source."""
        return [tape for value, tape in self.log.watches if value() is handle_of(self.source)]

    def _first_uses(self) -> list[int]:
        return [row for row in sorted(self.behind) if set(self.used).intersection(self._inputs(row))]

    def _first_use(self) -> int:
        return next(iter(self._first_uses()), self.used[0])

    def _use(self) -> Site:
        """The first line that used the source on the path to the target; of a derivative the line that computed the
        value.
        """
        uses = self._first_uses()
        if not uses:
            return NOWHERE
        site = self.entries[uses[0]].site
        if any(site == sweep.site for sweep in self.recording.sweeps):
            return next(entry.site for entry in self.entries if set(self.used).intersection(entry.inputs))
        return site

    def _read_of(self) -> Explanation | None:
        """The source is the result of one reading of a variable: the program read the variable itself."""
        sweep = self.sweep
        if (
            sweep is None
            or not self.used
            or isinstance(variable_of(self.source), tf.Variable)
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

    def _rebound(self) -> Explanation | None:
        """The source is no variable any more: its name was bound to what was computed from one, as in ``w = w - rate *
        gradient``.
        """
        row = self.rows[0]
        statement = statement_at(self.entries[row].site)
        if statement is None or not statement.reads_itself():
            return None
        variable = any(self.entries[given].kind == "variable" for given in self._behind([row], made=False))
        return self.say("rebound", row=row) if variable else None

    def _name_of(self, entry: Any, otherwise: str) -> str:
        """What the program calls what a row stands for."""
        return self.path_to(entry.extra.asked) or entry.name or otherwise


# -- NumPy, which reads the memory of a tensor unnoticed -----------------------------


def numpy_call(site: Site) -> Site | None:
    """The line on which a function of NumPy's, or of a package that works on its arrays, is given what a line
    computed.
    """
    start = statement_at(site)
    if start is None:
        return None
    source = start.source
    modules = source.aliases("numpy", "scipy", "sklearn", "math")
    flow, predicted = (
        Flow(start, None, [source]),
        dict(predictions(source, start.function)) if start.calls("fit", "train_on_batch") else {},
    )
    for statement in source.statements:
        for call in (node for node in statement.walk() if isinstance(node, ast.Call)):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            foreign = unparse(call.func).partition(".")[0] in modules or last_name(call.func) == "img_to_array"
            if foreign and any(
                flow.enters(statement, part) or unparse(part) == predicted.get(statement.function) for part in given
            ):
                return statement.filename, call.lineno
    return None


def predictions(source: Source, near: Def | None = None) -> Iterator[tuple[Def | None, str]]:
    """The functions that Keras is given as a loss, ``near`` by if some are there, and what they call a prediction:
    their last parameter without a default.
    """
    compiles = [s for s in source.statements if s.calls("compile")]
    for call in (
        node
        for s in [s for s in compiles if s.function is near] or compiles
        for node in s.walk()
        if isinstance(node, ast.Call)
    ):
        for loss in (*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "loss")):
            name = last_name(getattr(loss, "func", loss))
            found = (
                f
                for f in (*source.functions.get(name, ()), *source.functions.get("call", ()))
                if source.methods.get(id(f), name) == name
            )
            yield from (
                (f, f.args.args[-1 - len(f.args.defaults)].arg)
                for f in found
                if len(f.args.args) > len(f.args.defaults)
            )
