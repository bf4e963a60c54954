"""Gradients that are there and wrong, as the rows alone show it: shapes that broadcast, an activation that is applied
twice, a part that came back as a number. One rule for a tape and for every framework; ``suspect_texts`` has the words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..recording.sites import Site
from ..recording.values import numbers_of
from .caller import in_brackets
from .causes import KINDS
from .families import OperationNames
from .sentences import fill
from .source import statement_at
from .statement import unparse
from .suspect_texts import words
from .words import Explanation

if TYPE_CHECKING:
    from ..engine.types import Array, Object
    from .flow import Flow

LOGARITHMS = ("log", "log1p", "Log", "Log1p")
# why no gradient passes what has no slope
FLAT = ("zero_derivative", "no_derivative", "nondifferentiable", "nondifferentiable_op")
DERIVED = ("create_graph", "not_recorded")  # why no gradient passes a gradient that is used further
MODERATE = 4.0  # a factor that leaves probabilities far from what logits are
IS_LOSS = re.compile("entropy|logit|loss|bce|nll|criterion|softm|sigm|logsumexp|softplus", re.I).search


class Suspicion(NamedTuple):
    """Something wrong with the gradient of all sources that a row was computed from, or of some alone."""

    cause: str
    site: Site
    fields: dict
    row: int | None = None
    sources: Collection[int] = ()  # the identities of sources
    alone: Collection[int] = ()  # rows: of sources among them, where not all that `row` was computed from
    kind: str = ""

    def explanation(self, name: str, framework: str) -> Explanation:
        """The answer for a source of this name."""
        message, fix = words(self.cause, self.kind, framework)
        fields = {"line": in_brackets(*self.site), **self.fields}
        answer = Explanation(self.cause, fill(message, **fields), fill(fix, **fields), *self.site)
        answer.name = name
        answer._rows = [] if self.row is None else [self.row]
        return answer


class PathChecks:
    """What is suspect on the paths to the targets of a recording."""

    names: OperationNames
    entries: Sequence[Object]
    on_path: Collection[int]  # the operations to which an adjoint came
    ends: Iterable[int]  # the rows of the targets

    # -- the graph ---------------------------------------------------------------------------------

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """The operations that read a row."""
        found: dict[int, list[int]] = {}
        for entry in self.entries:
            for given in entry.inputs:
                found.setdefault(given, []).append(entry.row)
        return found

    def behind(self, row: int) -> set[int]:
        """The rows that a row was computed from, along paths that gradients take."""
        found, stack = set[int](), [row]
        while stack:
            at = stack.pop()
            if at not in found:
                found.add(at)
                stack += [given for given in self.entries[at].inputs if self.entries[given].differentiable]
        return found

    def maker(self, row: int) -> int:
        """The row before those that change no number."""
        while self.entries[row].op in self.names.shapes and self.entries[row].inputs:
            row = self.entries[row].inputs[0]
        return row

    def shape(self, row: int) -> tuple[int, ...]:
        """The sizes of a row."""
        return tuple(self.entries[row].shape)

    def numbers(self, row: int) -> Array | None:
        """The elements of a row, where they are known."""
        return numbers_of(self.entries[row].value)

    def activation_of(self, row: int) -> str:
        """Which activation gave a row, also one that is written by hand; empty for another operation."""
        entry = self.entries[row]
        if not entry.op.lower().endswith(("div", "reciprocal")) or entry.kind != "operation":
            return self.names.activations.get(entry.op, "")
        first, by = (self.entries[self.maker(given)] for given in (entry.inputs[0], entry.inputs[-1]))
        exponentials = [given for given in by.inputs if self.entries[given].op.lower() == "exp"]
        if exponentials and by.op in self.names.adds:
            return "sigmoid"
        return "softmax" if first.op.lower() == "exp" and by.op in self.names.sums else ""

    def called(self, row: int) -> str:
        """What people call an operation."""
        return self.activation_of(row) or str(self.entries[row].op)

    def operations(self, names: Collection[str]) -> Iterator[Object]:
        """The operations of these names that passed a gradient on, the last ones first."""
        return (self.entries[row] for row in sorted(self.on_path, reverse=True) if self.entries[row].op in names)

    # -- shapes ------------------------------------------------------------------------------------

    def broadcast(self) -> Iterator[Suspicion]:
        """A column of N values met a row of N: N times N, of which the loss takes the mean."""
        names, found, tables = self.names, list[Suspicion](), set[Site]()
        for entry in self.operations({*names.compare, *names.losses, *names.factors, *names.adds}):
            if len(entry.inputs) < 2:
                continue
            given = [self.operand(entry, row) for row in entry.inputs[:2]]
            one, two = map(self.shape, given)
            column = given[0] if column_and_row(one, two) else given[1] if column_and_row(two, one) else None
            if column is None or not self._is_summed(entry):
                continue
            n = max(*one, *two)
            if entry.op not in names.losses and self.shape(entry.row) != (n, n):
                continue  # the program made the column itself
            if self._is_pairwise(entry, given, column):
                tables.add(entry.site)
            fields = {"what": entry.op, "one": one, "two": two, "result": (n, n), "n": n}
            found.append(Suspicion("broadcast", entry.site, fields, entry.row))
        yield from (one for one in found if one.site not in tables)  # a line that means a table once means it always

    def operand(self, entry: Object, row: int) -> int:
        """What the program gave to an operation, before the framework made its shape fit."""
        return row

    def _is_pairwise(self, entry: Object, given: Sequence[int], column: int) -> bool:
        """Whether a table is meant: of a vector with itself, or the column was made in the same line."""
        same = self.maker(given[0]) == self.maker(given[1])
        return same or (self.entries[column].op in self.names.shapes and self.entries[column].site == entry.site)

    def _is_summed(self, entry: Object) -> bool:
        """Whether the table goes, element by element, into a sum of all elements, and meets no other table there."""
        table, waiting, whole = {entry.row}, [entry], False
        while waiting:
            at = waiting.pop()
            if at.op in self.names.losses or at.op in self.names.sums:
                if at.shape:
                    return False
                whole = True
                continue
            for reader in (self.entries[row] for row in self.readers.get(at.row, ())):
                of_logits = self.names.of_logits.get(reader.op)
                if self.activation_of(reader.row) == "softmax" or (
                    of_logits == "softmax" and self.logits_of(reader) is not None
                ):
                    return False  # each row is a choice of one of the others
                alike = self.shape(reader.row) == self.shape(entry.row)
                if reader.row not in table and (reader.op in self.names.sums or alike):
                    table.add(reader.row)
                    waiting.append(reader)
        beside = {given for row in table - {entry.row} for given in self.entries[row].inputs} - table
        return whole and not any(self._is_a_table(row, self.shape(entry.row)) for row in beside)

    def _is_a_table(self, row: int, shape: tuple[int, ...]) -> bool:
        """Whether a row has a table of numbers, and not one number in all places."""
        made, values = self.maker(row), self.numbers(row)
        return self.shape(made) == shape and (values is None or bool(np.ptp(values)))

    # -- functions ---------------------------------------------------------------------------------

    def activation_twice(self) -> Iterator[Suspicion]:
        """A loss of logits was given what an activation made."""
        for entry in self.operations({*self.names.of_logits, *LOGARITHMS}):
            wanted = self.names.of_logits.get(entry.op, "")
            given = self.logits_of(entry) if wanted else None
            if given is None:
                wanted, given = self._logits_by_hand(entry) or ("", None)
            if given is None:
                continue
            made = self.unsigned(given)
            fields = {"what": self._loss_at(entry.site), "one": wanted}
            if self.activation_of(made) == wanted:
                earlier = in_brackets(*self.entries[made].site)
                yield Suspicion("activation_twice", entry.site, fields | {"other": earlier}, entry.row)
            elif wanted == "softmax" and are_probabilities(self.numbers(made)):
                yield Suspicion("activation_twice", entry.site, fields, entry.row, kind="numbers")

    def _loss_at(self, site: Site) -> str:
        """The function that the program calls in a line, and that is a loss by its name."""
        at = statement_at(site)
        calls = (unparse(n.func) for n in (at.walk() if at is not None else ()) if isinstance(n, ast.Call))
        return next((name for name in calls if len(name) <= 60 and IS_LOSS(name.rpartition(".")[2])), fill("The loss"))

    def logits_of(self, entry: Object) -> int | None:
        """The row that a loss of logits takes for them; None where the operation is no such loss."""
        row: int = entry.inputs[0]
        if not entry.op.startswith("Select"):
            return row
        # how TensorFlow's cross-entropy of a sigmoid begins: where(logits >= 0, logits, 0)
        test, given, _ = (self.entries[row] for row in entry.inputs) if len(entry.inputs) == 3 else (entry, entry, 0)
        return given.row if test.op == "GreaterEqual" and given.row in test.inputs else None

    def _logits_by_hand(self, entry: Object) -> tuple[str, int] | None:
        """What a logarithm of exponentials is given, and what it applies: log(1 + exp(z)) is a sigmoid's, and
        log(sum(exp(z))) a softmax's.
        """
        wanted, row = "sigmoid" if entry.op.lower() == "log1p" else "", entry.inputs[:1]
        while row:
            inner = self.entries[self.unsigned(row[0])]
            if inner.op.lower() == "exp":
                return (wanted, inner.inputs[0]) if wanted else None
            adds = "add" in inner.op.lower()
            if not adds and inner.op not in self.names.sums:
                return None
            wanted = "sigmoid" if adds else "softmax"
            row = [given for given in inner.inputs if self.entries[given].differentiable]
        return None

    def unsigned(self, row: int) -> int:
        """The row before those that change no number but its sign or scale, or take the largest of all or a constant
        away.
        """
        given: int | None = row
        while given is not None:
            entry = self.entries[self.maker(given)]
            other = self.entries[self.maker(entry.inputs[-1])] if entry.op.lower() == "sub" else entry
            shifts = other is not entry and ("max" in other.op.lower() or not other.differentiable)
            given = entry.inputs[0] if shifts or entry.op.lower() in ("neg", "abs") else self._scaled(entry)
        return int(entry.row)

    def _scaled(self, entry: Object) -> int | None:
        """The row that an operation multiplies with one moderate number, or adds next to nothing to."""
        whole = [row for row in entry.inputs if self.shape(row) == self.shape(entry.row)]
        alone = all(self.shape(row) in ((), (1,)) for row in entry.inputs if row not in whole)
        if entry.op not in {*self.names.factors, *self.names.adds} or len(whole) != 1 or not alone:
            return None
        before, after = self.numbers(whole[0]), self.numbers(entry.row)
        if before is None or after is None or not before.any():
            return None
        factor = float(after.flat[(at := int(np.abs(before).argmax()))] / before.flat[at])
        moderate = abs(factor) <= MODERATE and np.allclose(after, factor * before, rtol=1e-3)
        return whole[0] if moderate or np.abs(after - before).max() < 0.01 else None

    # -- parts -------------------------------------------------------------------------------------

    def in_part(self) -> Iterator[Suspicion]:
        """A number that was computed by what has no slope, or with a derivative that does not know how it was computed,
        and the target adds it.
        """
        for entry in self._terms():
            before = self._slopes_of(entry)
            why = "" if entry.differentiable or not before else getattr(entry.extra, "why", "") or "flat"
            flat = why in FLAT or (why and KINDS.get(why) != "paused" and entry.dtype in ("bool", "int32", "int64"))
            if flat or why in ("copied", *DERIVED):
                kind = "choice" if flat else "derivative" if why in DERIVED else ""
                yield Suspicion("in_part", entry.site, {"what": f"{entry.op}(...)"}, before[0], kind=kind)

    def _adds_what_left(self, flow: Flow, since: int = 0) -> bool:
        """Whether a target is a sum into which what left in a statement comes, in this row or later."""
        terms = (entry for entry in self._terms() if not self.shape(entry.row) and entry.row >= since)
        statements = (statement_at(entry.site) for entry in terms if self._adds_a_number(entry.row))
        return any(at is not None and flow.enters(at, None) for at in statements)

    def _adds_a_number(self, row: int) -> bool:
        """Whether a row adds a number of Python's to a value."""
        entry = self.entries[row]
        others = sum(map(self._is_number, entry.inputs))
        return entry.op in self.names.adds and (len(entry.inputs) == 1 or others == 1)

    def _is_number(self, row: int) -> bool:
        """Whether a row is a constant, or a multiple of one."""
        entry = self.entries[row]
        scaled = entry.op in {*self.names.factors, *self.names.shapes} and not entry.differentiable
        return entry.kind == "constant" or (scaled and all(map(self._is_number, entry.inputs)))

    def _is_zero(self, row: int) -> bool:
        """Whether a row is the constant 0."""
        numbers = self.numbers(row) if self.entries[row].kind == "constant" else None
        return numbers is not None and not numbers.any()

    def _slopes_of(self, entry: Object) -> list[int]:
        """What an operation computes with that a gradient could pass; of a derivative, what it is the derivative of."""
        given = entry.came if entry.extra.why in DERIVED and entry.came else entry.inputs
        return [row for row in given if self.entries[row].differentiable]

    def _terms(self) -> Iterator[Object]:
        """The operations of the sum that a target is, back to where no gradient passes."""
        waiting = list(self.ends)
        while waiting:
            entry = self.entries[waiting.pop()]
            yield entry
            before = self._slopes_of(entry)
            if entry.op in self.names.factors and any(map(self._is_zero, entry.inputs)):
                continue  # it adds nothing
            if entry.differentiable and entry.op in {*self.names.factors, *self.names.shapes} and not entry.shape:
                waiting += before
            elif not (before if not entry.differentiable else entry.shape or entry.op not in self.names.adds):
                waiting += entry.inputs


def column_and_row(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether these are the shapes (N, 1) and (N,) of as many numbers.

    >>> column_and_row((8, 1), (8,)), column_and_row((8, 1), (1, 8)), column_and_row((1, 1), (1,))
    (True, False, False)
    """
    return len(second) == 1 and second[0] is not None and second[0] > 1 and first == (second[0], 1)


def are_probabilities(values: Array | None) -> bool:
    """Whether all rows are numbers from 0 to 1 whose sum is 1.

    >>> are_probabilities(np.array([[0.2, 0.8], [0.5, 0.5]])), are_probabilities(np.array([[0.2, 0.9], [0.5, 0.5]]))
    (True, False)
    """
    if values is None or values.ndim < 2 or len(values) < 2 or values.shape[1] < 2:
        return False
    sums = values.sum(1)
    return bool((values >= 0).all() and (np.abs(sums - 1) < 1e-4).all())
