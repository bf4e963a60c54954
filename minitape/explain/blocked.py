"""What did not arrive: what breaks the path, what sent nothing on, and what left to Python and came back. The same for
every framework.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..recording.values import numbers_of
from .flow import Flows
from .search import breaks_of
from .source import dropped_at, statement_at
from .statement import Statement, once, unparse
from .values import SUBTRACTS, RowValues

if TYPE_CHECKING:
    from ..recording.rows import RecordedRow, RowExit
    from ..recording.sites import Site
    from .words import Explanation


# what makes a truth, a place or a count
MAXIMA = {"reduce_max", "max", "amax", "Max"}
COMPARES = set("lt le gt ge Less LessEqual Greater GreaterEqual".split())
WHOLE_NUMBERS = ("int", "uint", "bool")
ADDS = {"add", "__add__", "__radd__", "AddV2"}
_CHOOSE = ("no_derivative", "nondifferentiable", "integer", "integer_cast", "integer_dtype")


class Cuts(RowValues):
    """Why nothing arrived at the rows of a source."""

    end: int | None  # the row of the target; None of a plain number
    exits: Sequence[RowExit]  # where values left, in the order of time
    unused = "independent"  # the cause where the target was not computed from the source

    def _break(self) -> Explanation | None:
        """What breaks the path that has the fewest breaks, and what blocks other paths."""
        steps = self._search().path(self.used) or ()
        breaks = breaks_of(steps)
        if not breaks:
            return None
        fixed = {broken.subject for _, _, broken in steps if broken is not None}
        beside = dict.fromkeys(row for row, _ in self.paths_beside(fixed))
        return self._broken_at([broken.subject for broken in breaks]).with_beside(map(self._broken, beside))

    def paths_beside(self, fixed: Container[int] = ()) -> list[tuple[int, int]]:
        """The rows that alone would break a path if these cut none, each with what of the source it is given; a row
        that only chooses breaks no path.
        """

        def cuts(row: int) -> bool:
            return row not in fixed and bool(self._cut_at(row))

        reached = self._computed_from(self.used, cuts)
        rows = [row for row in sorted(self._behind(self.ends, cut=cuts)) if cuts(row) and not self._only_chooses(row)]
        found = [(row, given) for row in rows for given in self._inputs(row) if given in reached]
        return [pair for pair in found if not self._is_on_purpose(pair[0])]  # last: it looks through all later rows

    def _only_chooses(self, row: int) -> bool:
        """Whether a row that breaks a path gives a truth, a place or a count, and no rounded value."""
        return self._cut_at(row) in _CHOOSE and self.entries[row].op not in self.zeros["zero_derivative"]

    def _is_on_purpose(self, row: int) -> bool:
        """Whether a cut leaves the gradient right: in ``z + (q - z).detach()``, which passes that of z, and of the
        largest value that a softmax subtracts from all, ``x - x.max().detach()``.
        """
        chain = [row]  # what it was made of, as long as that is one value, or a choice of one
        while len(given := self.entries[chain[-1]].inputs) == 1 or self.entries[chain[-1]].op == "select_n":
            chain.append(given[-1])
        made = self.entries[chain[1]] if len(chain) > 1 else self.entries[row]
        uses = [entry for entry in self.entries[row + 1 :] if row in entry.inputs]
        if made.op in SUBTRACTS:
            return any(entry.op in ADDS and not set(entry.inputs).isdisjoint(made.inputs) for entry in uses)
        shifts = any(self.entries[one].op in MAXIMA for one in chain)
        taken = [e for e in uses if e.op not in ADDS]  # a logarithm of the sum adds it again
        return shifts and all(e.op in SUBTRACTS and not set(e.inputs).isdisjoint(chain[1:]) for e in taken)

    def _broken_at(self, rows: list[int]) -> Explanation:
        """What breaks the path at the first of some rows, with what does at the others, each line said once."""
        answer, *others = map(self._broken, rows)
        said = {(other.cause, other.filename, other.line): other for other in others}
        answer.others = [
            other for place, other in said.items() if place != (answer.cause, answer.filename, answer.line)
        ]
        return answer

    def _broken(self, row: int) -> Explanation:
        """What breaks the path at a row."""
        return self.say(self.entries[row].why, row=row)

    def _called(self, row: int) -> str:
        """What an operation is called; a comparison as the program writes it."""
        entry = self.entries[row]
        statement = statement_at(entry.site) if entry.op in COMPARES else None
        written = [unparse(n) for n in ([] if statement is None else statement.walk()) if isinstance(n, ast.Compare)]
        if len(written) == 1 and len(written[0]) <= 60:
            return written[0]
        return entry.label if entry.op == "function" else entry.op

    def _add_further(self, found: Explanation) -> None:
        """What breaks the path a second time where it has no derivative but zeros, which only shows when the first is
        fixed.
        """
        if found.kind in ("zero", "nonfinite", "error") or not self.used or not found._rows:
            return
        said = {(found.filename, found.line), *((other.filename, other.line) for other in found.others)}
        steps = [
            row
            for row in self._way(self.used[0])[1:]
            if self.entries[row].op in self.zeros.get("zero_derivative", ()) and row not in found._rows
        ]
        for row in steps:
            if self.entries[row].site not in said or found._rows[0] not in (*steps, row):
                found.others.append(self.say("zero_derivative", row=row))
                break

    def _stopped(self) -> int | None:
        """The last operation on an open way to which an adjoint came and that sent nothing on."""
        sweep = self.sweep
        for begin in self.used if sweep is not None else ():
            way = self._way(begin)
            for row, given in zip(reversed(way), reversed(way[:-1]), strict=False):
                sent = sweep.edges.get(self.entries[row].call)
                # of a list no adjoint is known
                known = row in sweep.adjoints and self.entries[given].dtype != "variant"
                if known and (
                    sent is None or (self.entries[given].differentiable and given not in [edge[0] for edge in sent])
                ):
                    return row
        return None

    # -- not used ----------------------------------------------------------------------------------

    def _not_used(self) -> Explanation | None:
        """The target was not computed from the source: what was used instead, what was made of it in vain, or that
        nothing reads it.
        """
        return None if self.used else self._instead() or self._in_vain() or self._never_read()

    def _instead(self) -> Explanation | None:
        """What was used in its place, or why nothing of it was."""
        return None

    def _in_vain(self) -> Explanation | None:
        """The last row that was computed from the source, and that the target does not need."""
        rows = self._after() - {*self.rows}
        last = max((row for row in rows if self.end is None or row < self.end), default=None)
        return None if last is None else self.say(self.unused, self._dropped_at(last), row=last, kind="dropped")

    def _dropped_at(self, row: int) -> Site:
        """The line that drops the value of a row."""
        return dropped_at(self.entries[row].site)

    def _never_read(self) -> Explanation:
        """Nothing was computed from the source."""
        return self.say(self.unused)

    # -- through Python ----------------------------------------------------------------------------

    def _outside(self) -> Explanation | None:
        """What left, and came back as a constant; else what decided in Python what ran."""
        after = self._after() if not self.used and self.end is not None else set()
        left = (self._exits() if after else []) or [
            exit for exit in self.exits if exit.row in after and exit.how == "__bool__"
        ][:1]
        # a whole number, as a sampled action, chooses what is computed, and is no part of it
        answers = map(self._left_at, sorted(left, key=lambda e: self.entries[e.row].dtype.startswith(WHOLE_NUMBERS)))
        answer = next(answers, None)
        return None if answer is None else answer.with_beside(answers)

    def _exits(self) -> list[RowExit]:
        """Where values that were computed from the source left that came back on the path to the target."""
        after = self._after()
        return [
            exit
            for exit in (*self.exits, *self._unseen())
            if exit.row in after and exit.how != "__bool__" and self.may_return(exit)
        ]

    def _unseen(self) -> Iterable[RowExit]:
        """Exits that were not recorded, by the text."""
        return ()

    def _left_at(self, exit: RowExit) -> Explanation:
        """What is to blame where a value left."""
        return self._left_by(exit)

    def _left_by(self, exit: RowExit) -> Explanation:
        """That a value left."""
        raise NotImplementedError

    def may_return(self, exit: RowExit) -> bool:
        """Whether a value that left the tape may be used on it again: through the text, or as elements of a leaf."""
        return self.flows_back(exit) or self._is_in_a_leaf(exit)

    def flows_back(self, exit: RowExit) -> bool:
        """Whether the text lets a value that left reach what ran after it on the path to the target; where there is no
        text, it may.
        """
        start = statement_at(exit.site)
        if start is None or self.end is None:  # of a plain number as the target its name alone is left
            return start is None or not isinstance(start.node, ast.Expr)
        return any(self._points()[site] >= exit.before for site in self._entered(start))

    def _is_in_a_leaf(self, exit: RowExit) -> bool:
        taken = numbers_of(self.entries[exit.row].value)
        later = (numbers_of(leaf.value) for leaf in self._leaves() if leaf.row >= exit.before)
        return (
            taken is not None
            and taken.size > 0
            and any(leaf is not None and bool(np.isin(taken, leaf).all()) for leaf in later)
        )

    @once
    def _leaves(self) -> list[RecordedRow]:
        """The leaves that the target was computed from, but for the source."""
        return [
            self.entries[row] for row in self.behind if row not in self.rows and self.entries[row].kind != "operation"
        ]

    @once
    def _entered(self, start: Statement) -> list[Site]:
        """The places that what left in a statement reaches."""
        flow = self._followed().of(
            start, None, frozenset(site[0] for site in ((start.filename, 0), *self._points()) if site[0])
        )
        return [site for site in self._points() if (at := statement_at(site)) is not None and flow.enters(at, None)]

    @once
    def _points(self) -> dict[Site, int]:
        """Where a value of Python's may have come in on the path to the target, each with the last row that was made
        there.
        """
        return {self.entries[row].site: row for row in sorted(self.behind) if row not in self.rows}

    @once
    def _followed(self) -> Flows:
        return Flows()
