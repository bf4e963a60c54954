"""A gradient of a tape that is there, and zero, NaN or infinite: the tape as entries for :mod:`values`, and the
words.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..common.texts import paragraph
from ..engine.back.endpoints import leaf_of
from ..engine.recording.rows import operation_of
from ..engine.table.primitives.elementwise import LARGE
from ..engine.values import nest
from ..recording.bodies import own_shares
from ..recording.nodes import TapeNode
from ..recording.rows import BackwardPass
from ..recording.sites import NOWHERE, Site, last_return
from ..recording.tape import TapeRow
from ..recording.values import ValueSummary, facts_of
from .caller import asking_names
from .families import CLASSES, MOVES, POINTS, ZEROS
from .fixes.tape import AskedOfTape
from .partial import MAKES
from .replay import MOST, ReplayStep, open_call, replay, starts_of, swept
from .sentences import fill
from .source_names import name_of
from .statement import last_name, once
from .value_texts import ARRIVED, FUNCTIONS, OF_TAPE, OF_TENSORFLOW, RELEASED
from .values import RowValues
from .words import Explanation, in_words

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import Array, End, Structure
    from .inquiry import GradientInquiry


class TapeRows(BackwardPass):
    """What the targets of a question were computed from, and one sweep through it."""

    def __init__(self, inquiry: GradientInquiry, starts: dict[int, Array], steps: Iterable[ReplayStep]) -> None:
        super().__init__()
        self.inquiry = inquiry
        given = dict(self._walk())
        record = inquiry.record
        nodes = sorted(
            given,
            key=lambda n: (
                n.record is record,
                n.row if n.record is record else 0,
                n.origin.when if n.origin is not None else 0,
            ),
        )
        self.by_key: dict[Hashable, int] = {node.key: i for i, node in enumerate(nodes)}
        self.entries = [
            TapeRow(inquiry, i, node, [self.by_key[one.key] for one in given[node]]) for i, node in enumerate(nodes)
        ]
        for row, adjoint in starts.items():
            self._arrive(row, adjoint)
        self.target = [at for row in starts if (at := self.row_of(row)) is not None]
        for step in steps:
            self._step(step)

    def _walk(self) -> Iterator[tuple[TapeNode, list[TapeNode]]]:
        """Everything that the targets were computed from, each with what it was computed from itself; a call of a
        function is one.
        """
        trace, record = self.inquiry.trace, self.inquiry.record
        seen, waiting = set[Hashable](), list(self.inquiry.starts)
        while waiting:
            node = waiting.pop()
            if node.key in seen:
                continue
            seen.add(node.key)
            made, inputs = operation_of(record, node.row) if node.record is record else (None, ())
            if made is not None:
                given = [trace.of_row(record, row) for row in inputs]
            else:
                given = [parent for parent, _ in trace.edges(node) if parent.caller is None]
            yield node, given
            waiting += given

    def row_of(self, row: int) -> int | None:
        """The entry of a row of the recording."""
        return self.by_key.get(self.inquiry.trace.of_row(self.inquiry.record, row).key)

    def _arrive(self, row: int, adjoint: Array) -> int | None:
        """The entry of a row, which has this adjoint now."""
        at = self.row_of(row)
        if at is not None:
            self.arrive(at, ValueSummary(adjoint))
        return at

    def _step(self, step: ReplayStep) -> None:
        call = self._arrive(step.row, step.adjoint)
        for row, share, total in step.shares:
            product, to = ValueSummary(share), self._arrive(row, total)
            if call is not None and to is not None:
                if np.size(total) >= LARGE:  # the sum goes on in its own memory
                    product.facts(), self.adjoints[to].facts()
                self.send(call, to, 0, product, self.adjoints[to])


class TapeValues(AskedOfTape, RowValues):
    """Why the gradient of one source is zero or not finite."""

    entries: list[TapeRow]
    sweep: TapeRows
    zeros, classes, moves, points = ZEROS, CLASSES, MOVES, POINTS
    texts, functions = ARRIVED | OF_TENSORFLOW | OF_TAPE, FUNCTIONS

    def __init__(self, rows: TapeRows, source: End, name: str, spoilt: str = "") -> None:
        self.inquiry, self.recording, self.sweep, self.entries = rows.inquiry, rows, rows, rows.entries
        self.source, self.name = source, name
        known = [node.key for node in self.inquiry.trace.of(source)]
        known += [self.inquiry.trace.of_row(self.inquiry.record, row).key for row in self.inquiry.tape._rows_of(source)]
        self.rows = [rows.by_key[key] for key in dict.fromkeys(known) if key in rows.by_key]
        self.ends = [rows.by_key[node.key] for node in self.inquiry.starts]
        self.behind = set(range(len(rows.entries)))
        # what is not finite
        self.spoilt = spoilt or (
            fill("The gradient of {x} is not finite.", x=name)
            if all(map(self._finite, self.ends))
            else fill("The target is not finite.")
        )

    def answer(self) -> Explanation | None:
        """The answer for a gradient that is zero or not finite; None where nothing is wrong."""
        return self._nan() or self._zero()

    @once
    def _after(self) -> set[int]:
        return super()._after()

    def of_target(self) -> Explanation | None:
        """Where the NaN or infinity of a target began; None where it has none."""
        lost = next((end for end in self.ends if not self._finite(end)), None)
        return None if lost is None else self._origin(lost)

    # -- inside of functions -----------------------------------------------------------------------

    def _inside(self, row: int) -> Iterator[TapeValues]:
        """The same question inside of a call of a function, for each of its inputs that the source leads to."""
        entry, adjoint = self.entries[row], self.sweep.adjoints.get(row)
        found = None if adjoint is None else swept(self.inquiry, entry.node.row, adjoint.given)
        if found is None:
            return
        inner, inputs, starts, steps = found
        rows, after = TapeRows(inner, starts, steps), self._after()
        for one, given in zip(inputs, entry.inputs, strict=False):
            if given in after and one.dtype.differentiable:
                yield TapeValues(rows, one, self.name, self.spoilt)

    def _origin(self, row: int, kind: str = "") -> Explanation:
        found = super()._origin(row, kind)
        entry = self.entries[found._rows[0]]
        inside = open_call(self.inquiry, entry.node.row) if entry.label == "function" else None
        if inside is None:
            return found
        inner = TapeValues(TapeRows(inside[0], {}, ()), self.source, self.name, self.spoilt)
        return inner.of_target() or found

    def _zero_of(self, row: int) -> Explanation:
        entry = self.entries[row]
        if entry.label != "function":
            return super()._zero_of(row)
        for inner in self._inside(row):
            found = inner._zero() or inner.by_user()
            if found is not None:
                return found
            if not inner.used:
                return self.say("independent", row=row)
            used = [at for at in inner.ends if (g := inner.sweep.adjoints.get(at)) is not None and not g.facts()[0]]
            if len(used) < len(inner.ends) and inner._behind(used).isdisjoint(inner.rows):
                return self.say("not_selected", row=row, kind="results")
        return self.say("zero_derivative", row=row, kind="function")

    def by_user(self) -> Explanation | None:
        """Of a zero on a way through a gradient of the user's own, which returns zeros for some input: that it does."""
        record = self.inquiry.record
        for child, parent, _ in self.inquiry.path(self.source) or ():
            if child.record is not record or self.inquiry.trace.label(child) != "custom_gradient":
                continue
            call = record.call_at(child.row)
            shares = own_shares(record, call)
            if shares is None or any(
                (
                    s is not None and np.any(s.array)
                    for s, i in zip(shares, call.inputs, strict=False)
                    if i == parent.row
                )
            ):
                continue
            returned = last_return(call.attrs["call"].grad_fn)
            return self.say(
                "custom_rule",
                returned,
                row=self.sweep.by_key.get(child.key),
                what=self.inquiry.called_at(self.inquiry.trace.place(child)) or fill("a custom gradient"),
            )
        return None

    # -- words -------------------------------------------------------------------------------------

    def say(
        self, cause: str, site: Site = NOWHERE, row: int | None = None, what: str = "", other: str = "", kind: str = ""
    ) -> Explanation:
        if row is not None and cause == "nan_backward" and self.entries[row].label == "function":
            inside = next((found for inner in self._inside(row) if (found := inner._nan()) is not None), None)
            if inside is not None:
                return inside
        answer = super().say(cause, site, row, what, other, kind)
        first = self.spoilt if cause.startswith("nan") else fill("The gradient of {x} is zero.", x=self.name)
        answer.message = paragraph(first, answer.message)
        answer._tape, answer._asked = None, self
        return answer

    def _called(self, row: int) -> str:
        """What the user knows an operation as: ``sqrt``, or ``sqrt in norm(...)``."""
        entry = self.entries[row]
        if entry.label == "function":
            return fill("the tf.function")
        written = self.inquiry.called_at(entry.place)
        return (
            entry.label
            if not written or written in (entry.label, "__call__")
            else fill("{operation} in {function}(...)", operation=entry.label, function=written)
        )

    def _leaf(self, row: int, site: Site = NOWHERE) -> Explanation:
        node = self.entries[row].node
        found = next(self.inquiry.statements(self.inquiry.trace.birth(node)), None)
        name = "" if found is None else found[0].name_at(found[1].line, found[1].column)
        made = None if found is None else found[0].expression(found[1].span)
        # an array that came in here
        if made is not None and not (isinstance(made, ast.Call) and last_name(made.func) in MAKES):
            name = _array_like(made, self.entries[row].value.given)
        known = name if node.variable is None else name_of(node.variable, self.inquiry)
        return self.say(
            "nan_input", site, row, other=known or fill("A tensor"), kind="" if node.variable is None else "trained"
        )


def _array_like(made: ast.AST, value: Array) -> str:
    """Which of the names in an expression holds an array of these values, for the code that asks."""
    space = asking_names()
    for name in (n.id for n in ast.walk(made) if isinstance(n, ast.Name)):
        held = space.get(name)
        if (
            isinstance(held, np.ndarray)
            and held.shape == np.shape(value)
            and np.array_equal(held, value, equal_nan=held.dtype.kind == "f")
        ):
            return name
    return ""


# -- the answers -----------------------------------------------------------------------------------


def arrived(inquiry: GradientInquiry, source: End, name: str) -> Explanation | None:
    """What is wrong with the value of a gradient that is there; None where nothing is, or it is unknown."""
    if hasattr(inquiry.record, "reads"):
        return None  # a graph has no values
    if inquiry.sums is None:
        inquiry.sums = _sums(inquiry)
    if inquiry.sums is False:
        return _promised(inquiry, source, name)
    sums = [inquiry.sums[row] for row in inquiry.tape._rows_of(source) if row in inquiry.sums]
    facts = [facts_of(np.asarray(one)) for one in sums]
    arrives = all(finite for _, finite in facts) and not all(zero for zero, _ in facts)
    if not facts or (arrives and all(facts_of(inquiry.value(node))[1] for node in inquiry.starts)):
        return None
    if inquiry.rows is None:
        inquiry.rows = TapeRows(inquiry, starts_of(inquiry), replay(inquiry, _connected(inquiry)) or ())
    return TapeValues(inquiry.rows, source, name).answer()


def _connected(inquiry: GradientInquiry) -> list[End]:
    return [source for source in inquiry.sources if inquiry.connected(source)]


def _sums(inquiry: GradientInquiry) -> dict[int, Array] | Literal[False]:
    """What arrives at the rows of all sources; False where the sweep cannot be run again."""
    sources = _connected(inquiry)
    steps = replay(inquiry, sources)
    rows = {row for source in sources for row in inquiry.tape._rows_of(source)}
    return False if steps is None else {row: total for step in steps for row, _, total in step.shares if row in rows}


def _promised(inquiry: GradientInquiry, source: End, name: str) -> Explanation | None:
    """A gradient that arrives in any case, as that of tf.py_function does, though the path is broken inside."""
    broken = next((b for _, _, b in inquiry.path(source) or () if b is not None), None)
    if broken is not None:
        answer = in_words(broken, name, source, inquiry)
        answer.message = paragraph(fill("The gradient of {x} is zero.", x=name), answer.message)
        return answer
    values = None if len(inquiry.record) > MOST else TapeValues(TapeRows(inquiry, {}, ()), source, name)
    return None if values is None else values.of_target() or values.by_user()


def explain_nonfinite(tape: GradientTape, target: Structure, sources: Structure) -> Explanation:
    """See ``GradientTape.explain_nonfinite``."""
    from .inquiry import GradientInquiry

    try:
        asked = [leaf_of(s) for s in nest.flatten(sources)]
        inquiry = GradientInquiry(tape, [leaf_of(t) for t in nest.flatten(target)], asked)
        named = [(source, name_of(source, inquiry)) for source in asked]
        answers = [arrived(inquiry, *one) for one in named if inquiry.connected(one[0])]
        found = next((answer for answer in answers if answer is not None and answer.kind == "nonfinite"), None)
        found = found or TapeValues(TapeRows(inquiry, {}, ()), *named[0]).of_target()
        if found is not None:
            lost = any(not facts_of(inquiry.value(node))[1] for node in inquiry.starts)
            found.cause = "nonfinite_value" if lost else "nonfinite_gradient"
            return found
    except Exception as error:
        return Explanation(
            "nonfinite_released",
            fill("The sweep cannot be run again: {error}", error=f"{type(error).__name__}: {error}"),
            "",
        )
    if not inquiry.sums:
        return Explanation(
            "nonfinite_released", fill(RELEASED), fill("Use a persistent tape, or ask before `gradient`.")
        )
    return Explanation("finite", fill("Every adjoint of this sweep is finite."), "")
