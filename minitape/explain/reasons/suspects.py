"""Gradients that are there and wrong: checks of a whole recording, each for one cause, in their order.

A check reads the rows and the backward passes of a :class:`CheckedRun`, of a tape or of any framework, and yields each
:class:`Suspicion`: of which rows' sources, on which line, with which numbers. ``BEFORE`` and ``BEHIND`` are the checks
that rows alone allow; between them come those of a framework, as of the steps of its optimizers.
``suspect_texts`` has the words.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...recording.sites import Site
from ...recording.values import numbers_of
from ..caller import in_brackets
from ..causes import KINDS
from ..families import OperationNames
from ..fixes.table import offer
from ..sentences import fill
from ..suspect_texts import words
from ..words import Explanation, words_alone
from . import text
from .question import Elements, Exit, Finding, Question, RecordedRow, met_with

VANISHED, EXPLODED = 1e-5, 1e4  # of what came to the end of a repeated operation
REPEATED = 5  # so often an operation is a loop, or a deep net
EQUAL = 1e-5  # of float32 numbers that are the same but for rounding
ODD_NUMBERS = ("rounding_only", "vanishing", "exploding")
LOGARITHMS = ("log", "log1p", "Log", "Log1p")
# why no gradient passes what has no slope
FLAT = ("zero_derivative", "no_derivative", "nondifferentiable", "nondifferentiable_op")
DERIVED = ("create_graph", "not_recorded")  # why no gradient passes a gradient that is used further
IS_PART = re.compile("getitem|unbind|select|chunk|split|slice|unpack|gather|embedding", re.I).search
IS_LOSS = re.compile("entropy|logit|loss|bce|nll|criterion|softm|sigm|logsumexp|softplus", re.I).search


class Suspicion(NamedTuple):
    """Something wrong with the gradient of all sources that a row was computed from, or of some alone."""

    cause: str
    site: Site
    fields: dict
    row: int | None = None
    sources: Collection[int] = ()  # the keys of sources
    alone: Collection[int] = ()  # rows: of sources among them, where not all that `row` was computed from
    kind: str = ""

    def explanation(self, name: str, question: Question) -> Explanation:
        """The answer for a source of this name, with what fixes it."""
        message, fix = words(self.cause, self.kind, question.adapter.dialect.name)
        fields = {"line": in_brackets(*self.site), **self.fields}
        answer = Explanation(self.cause, fill(message, **fields), fill(fix, **fields), *self.site)
        answer.name = name
        answer._rows = [] if self.row is None else [self.row]
        with words_alone():
            offer(question, Finding(self.cause, self.site, self.row), answer)
        return answer


def suspicion(row: RecordedRow, cause: str, kind: str = "", alone: Iterable[int] = (), **fields: Any) -> Suspicion:
    """Something wrong at a row."""
    return Suspicion(cause, row.site, fields, row.row, alone=set(alone), kind=kind)


@dataclass(eq=False)
class CheckedRun:
    """The rows of a recording and its backward passes, with what a framework knows of sources and steps."""

    rows: Sequence[RecordedRow]
    sweeps: list  # those that brought an adjoint
    exits: Sequence[Exit]
    names: OperationNames
    left: Callable[[str], str] = str  # how a value left, in words
    made_up: bool = False  # it ran with stand-ins: its shapes say something, its numbers nothing
    recording: Any = None
    adapter: Any = None
    checks: Sequence[Check] = ()  # of the framework
    key: Callable[[Any], int] = id  # of a source
    rows_of: Callable[[Any], list[int]] = lambda source: []
    steps_of: Callable[[Any], list] = lambda source: []  # the steps that changed a source; each has a ``site``
    with_gradient: Mapping[int, Any] = field(default_factory=dict)  # the sources that got a gradient, by key
    trained: Collection[int] = ()  # the keys of all that the program trains, as far as it says so
    asks: bool = False  # whether a program names each source whose gradient it wants
    operand: Callable[[CheckedRun, RecordedRow, int], int] = lambda run, row, at: at  # of the program itself
    logits: Callable[[CheckedRun, RecordedRow], int | None] = lambda run, row: logits_of(run, row)

    @cached_property
    def on_path(self) -> dict[int, Any]:
        """The operations to which an adjoint came, each with the last sweep that brought it."""
        return {row: sweep for sweep in self.sweeps for row in sweep.adjoints if self.rows[row].kind == "operation"}

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """The operations that read a row."""
        found: dict[int, list[int]] = {}
        for row in self.rows:
            for given in row.inputs if row.kind == "operation" else ():
                found.setdefault(given, []).append(row.row)
        return found

    def behind(self, row: int) -> set[int]:
        """The rows that a row was computed from, along paths that gradients take."""
        found, stack = set[int](), [row]
        while stack:
            at = stack.pop()
            if at not in found:
                found.add(at)
                stack += [one.row for one in self.rows[at].given if self.rows[one.row].tracked and not one.why]
        return found

    def operations(self, names: Iterable[str]) -> Iterator[RecordedRow]:
        """The operations of these names that passed a gradient on, the last ones first."""
        return (self.rows[row] for row in sorted(self.on_path, reverse=True) if self.rows[row].op in names)

    def numbers(self, row: int) -> Elements:
        """The elements of a row, where they are known."""
        return None if self.made_up else self.rows[row].array

    def adjoint(self, row: int) -> Elements:
        """What arrived at a row in the last backward pass that reached it."""
        sweep = self.on_path.get(row)
        return None if sweep is None else numbers_of(sweep.adjoints.get(row))

    def sent(self, row: RecordedRow) -> Elements:
        """What an operation sent on to its first input."""
        edges = self.on_path[row.row].edges.get(row.call, ())
        return next((numbers_of(product) for at, _, product, _ in edges if at in row.inputs[:1]), None)

    def maker(self, row: int) -> RecordedRow:
        """The row before those that change no number."""
        while self.rows[row].op in self.names.shapes and self.rows[row].inputs:
            row = self.rows[row].inputs[0]
        return self.rows[row]

    def activation(self, row: RecordedRow) -> str:
        """Which activation gave a row, also one that is written by hand; empty for another operation."""
        if not row.op.lower().endswith(("div", "reciprocal")) or row.kind != "operation":
            return self.names.activations.get(row.op, "")
        first, by = self.maker(row.inputs[0]), self.maker(row.inputs[-1])
        if by.op in self.names.adds and any(self.rows[one].op.lower() == "exp" for one in by.inputs):
            return "sigmoid"
        return "softmax" if first.op.lower() == "exp" and by.op in self.names.sums else ""

    def called(self, row: RecordedRow) -> str:
        """The name that people have for an operation."""
        return self.activation(row) or row.op

    @cached_property
    def found(self) -> list[Suspicion]:
        """What is suspect, the surest first."""
        checks = BEFORE if self.made_up else (*BEFORE, *self.checks, *BEHIND)
        with np.errstate(all="ignore"):
            return [found for check in checks for found in check(self)]

    @cached_property
    def question(self) -> Question:
        """What a fix may ask about the rows."""
        return Question(self.adapter, list(self.rows), [], [], None)

    def suspects(self, source: Any) -> list[Suspicion]:
        """What is suspect about the gradient of a source, the surest first, one of each cause. A number that only looks
        odd is said where nothing else is: it comes of that.
        """
        own, key, first = {*self.rows_of(source)}, self.key(source), dict[str, Suspicion]()
        for one in self.found:
            if key in one.sources or (one.row is not None and not own.isdisjoint(one.alone or self.behind(one.row))):
                first.setdefault(one.cause, one)
        return [one for at, one in enumerate(first.values()) if not at or one.cause not in ODD_NUMBERS]


Check = Callable[[CheckedRun], Iterable[Suspicion]]


# -- shapes ----------------------------------------------------------------------------------------


def broadcast(run: CheckedRun) -> Iterator[Suspicion]:
    """A column of N values met a row of N: N times N, of which the loss takes the mean."""
    names, found, tables = run.names, list[Suspicion](), set[Site]()
    combine = {*names.compare, *names.losses, *names.factors, *names.adds}
    for row in (row for row in reversed(run.rows) if row.op in combine):
        given, column = _column_in(run, row)
        # a table of constants, such as of targets, blames what it meets on a path
        met = [] if column is None else [at for at in _summed(run, row) if at in run.on_path]
        if column is None or not met:
            continue
        shapes = [tuple(one.shape) for one in given]
        n = max(*shapes[0], *shapes[1])
        if row.op not in names.losses and tuple(row.shape) != (n, n):
            continue  # the program made the column itself
        made = given[column].op in names.shapes and given[column].site == row.site
        if made or run.maker(given[0].row) is run.maker(given[1].row):
            tables.add(row.site)  # a table is meant: of a vector with itself, or the column was made in the same line
        behind = run.behind(min(met))
        sides = [re.sub("^(.* .*)$", r"(\1)", text.unparse(side)) for side in text.operands(row.site, row.op)]
        named: Any = zip("yx" if column else "xy", sides or "xy", strict=True)
        said = dict(named, what=row.op, result=(n, n), n=n)
        found.append(suspicion(row, "broadcast", alone=behind, one=shapes[0], two=shapes[1], **said))
    yield from (one for one in found if one.site not in tables)  # a line that means a table once means it always


def column_and_row(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether these are the shapes (N, 1) and (N,) of as many numbers.

    >>> column_and_row((8, 1), (8,)), column_and_row((8, 1), (1, 8)), column_and_row((1, 1), (1,))
    (True, False, False)
    """
    return len(second) == 1 and second[0] is not None and second[0] > 1 and first == (second[0], 1)


def _column_in(run: CheckedRun, row: RecordedRow) -> tuple[list[RecordedRow], int | None]:
    """The two inputs of an operation, and which is a column where the other is a row of as many."""
    given = [run.rows[run.operand(run, row, one)] for one in row.inputs[:2]]
    shapes = [tuple(one.shape) for one in given]
    return given, next((k for k, other in enumerate(shapes[::-1]) if column_and_row(shapes[k], other)), None)


def _summed(run: CheckedRun, row: RecordedRow) -> set[int]:
    """The rows through which the table goes, element by element, into a sum of all elements; none where it does not, or
    meets another table there.
    """
    table, waiting, whole, shape = {row.row}, [row], False, tuple(row.shape)
    while waiting:
        at = waiting.pop()
        if at.op in run.names.losses or at.op in run.names.sums:
            if at.shape:
                return set()
            whole = True
            continue
        for reader in (run.rows[one] for one in run.readers.get(at.row, ())):
            of_logits = run.names.of_logits.get(reader.op) == "softmax" and run.logits(run, reader) is not None
            if of_logits or run.activation(reader) == "softmax":
                return set()  # each row is a choice of one of the others
            if reader.row not in table and (reader.op in run.names.sums or tuple(reader.shape) == shape):
                table.add(reader.row)
                waiting.append(reader)
    beside = {one for at in table - {row.row} for one in run.rows[at].inputs} - table
    makers = ((at, run.maker(at)) for at in beside)  # a table that was made by the same mistake is not meant
    tables = (at for at, by in makers if tuple(by.shape) == shape and _column_in(run, by)[1] is None)
    meant = any((values := run.numbers(at)) is None or np.ptp(values) for at in tables)
    return table if whole and not meant else set()


# -- functions -------------------------------------------------------------------------------------


def activation_twice(run: CheckedRun) -> Iterator[Suspicion]:
    """A loss of logits was given what an activation made."""
    for row in run.operations({*run.names.of_logits, *LOGARITHMS}):
        wanted = run.names.of_logits.get(row.op, "")
        given = run.logits(run, row) if wanted else None
        if given is None:
            wanted, given = _logits_by_hand(run, row)
        if given is None:
            continue
        made, what = _unsigned(run, given), _loss_at(row.site)
        if run.activation(made) == wanted:
            yield suspicion(row, "activation_twice", what=what, one=wanted, other=in_brackets(*made.site))


def _loss_at(site: Site) -> str:
    """The function that the program calls in a line, and that is a loss by its name."""
    calls = [ast.unparse(call.func) for call in text.at(site).calls]
    return next((name for name in calls if len(name) <= 60 and IS_LOSS(name.rpartition(".")[2])), fill("The loss"))


def logits_of(run: CheckedRun, row: RecordedRow) -> int | None:
    """The row that a loss of logits takes for them; None where the operation is no such loss."""
    if not row.op.startswith("Select"):
        return row.inputs[0]
    # how TensorFlow's cross-entropy of a sigmoid begins: where(logits >= 0, logits, 0)
    test, given = (run.rows[one] for one in row.inputs[:2]) if len(row.inputs) == 3 else (row, row)
    return given.row if test.op == "GreaterEqual" and given.row in test.inputs else None


def _logits_by_hand(run: CheckedRun, row: RecordedRow) -> tuple[str, int | None]:
    """The activation that a logarithm of exponentials applies, and what it is given: log(1 + exp(z)) is a sigmoid's,
    and log(sum(exp(z))) a softmax's.
    """
    wanted, given = "sigmoid" if row.op.lower() == "log1p" else "", row.inputs[:1]
    while given:
        inner = _unsigned(run, given[0])
        if inner.op.lower() == "exp":
            return wanted, inner.inputs[0] if wanted else None
        adds = "add" in inner.op.lower()
        if not adds and inner.op not in run.names.sums:
            break
        wanted = "sigmoid" if adds else "softmax"
        given = [one for one in inner.inputs if run.rows[one].tracked]
    return "", None


def _unsigned(run: CheckedRun, given: int) -> RecordedRow:
    """The row before those that change no number but its sign, or take the largest of all or a constant away."""
    while True:
        row = run.maker(given)
        other = run.maker(row.inputs[-1]) if row.op.lower() == "sub" else row
        shifts = other is not row and ("max" in other.op.lower() or not other.tracked)
        if not shifts and row.op.lower() not in ("neg", "abs"):
            return row
        given = row.inputs[0]


# -- parts -----------------------------------------------------------------------------------------


def in_part(run: CheckedRun) -> Iterator[Suspicion]:
    """A term of the target is a number that was computed by what has no slope, was cut off whole, or left."""
    terms = {row.row: row for row in _terms(run)}
    for row in (row for row in terms.values() if not row.tracked):
        why = next((one.why for one in row.given if one.why), "flat")
        computed = (row.kind == "operation") != (why == "not_recorded") or why == "create_graph"
        cut = [one for one in row.inputs if run.rows[one].tracked] if computed else []
        why = why if cut else ""
        flat = why in FLAT or (why and KINDS.get(why) != "paused" and row.dtype in ("bool", "int32", "int64"))
        if flat or why in ("copied", *DERIVED):
            kind = "choice" if flat else "derivative" if why in DERIVED else ""
            yield Suspicion("in_part", row.site, {"what": f"{row.op}(...)"}, cut[0], kind=kind)
        # z + (q - z).detach() has z on its path, too; and the sum may put back what was taken away before
        elif KINDS.get(why) == "cut" and run.on_path.keys().isdisjoint(cut):
            met = met_with(run.rows, row.row) & run.on_path.keys()
            if met and met <= terms.keys():
                yield Suspicion("in_part", row.site, {"what": run.called(row)}, cut[0], kind="cut")
    if run.exits:
        yield from _left_and_added(run, [row for row in terms.values() if not row.shape and _adds_a_number(run, row)])


def _left_and_added(run: CheckedRun, adds: list[RecordedRow]) -> Iterator[Suspicion]:
    """A number left, and the target adds what came of it."""
    seen, files = set[Site](), {row.site[0] for row in run.rows if row.site[0]}
    for exit in run.exits if adds else ():
        row, start = run.rows[exit.row], text.at(exit.site)
        known = row.kind == "operation" or (run.recording is None and row.kind == "variable")
        passes = row.tracked and known and exit.how not in ("__bool__", "bool")
        if passes and exit.site not in seen and start:
            seen.add(exit.site)
            later = [at for row in adds if row.after(exit) and (at := text.at(row.site))]
            if later and not text.flow(start, files).isdisjoint(later):
                yield Suspicion("in_part", exit.site, {"what": run.left(exit.how)}, exit.row)


def _terms(run: CheckedRun) -> Iterator[RecordedRow]:
    """The operations of the sum that a target is, back to where no gradient passes."""
    waiting = [row for sweep in run.sweeps for row in sweep.target]
    while waiting:
        row = run.rows[waiting.pop()]
        yield row
        before = [one for one in row.inputs if run.rows[one].tracked]
        if row.op in run.names.factors and any(_is_zero(run, one) for one in row.inputs):
            continue  # it adds nothing
        if row.tracked and row.op in {*run.names.factors, *run.names.shapes} and not row.shape:
            waiting += before
        elif not (before if not row.tracked else row.shape or row.op not in run.names.adds):
            waiting += row.inputs


def _is_zero(run: CheckedRun, row: int) -> bool:
    """Whether a row is the constant 0."""
    numbers = run.numbers(row) if run.rows[row].kind == "constant" else None
    return numbers is not None and not numbers.any()


def _adds_a_number(run: CheckedRun, row: RecordedRow) -> bool:
    """Whether a row adds a number of Python's to a value."""
    return row.op in run.names.adds and sum(_is_number(run, one) for one in row.inputs) == (len(row.inputs) > 1)


def _is_number(run: CheckedRun, at: int) -> bool:
    """Whether a row is a constant, or a multiple of one."""
    row = run.rows[at]
    scaled = row.op in {*run.names.factors, *run.names.shapes} and not row.tracked
    return row.kind == "constant" or (scaled and all(_is_number(run, one) for one in row.inputs))


# -- numbers ---------------------------------------------------------------------------------------


def rounding_only(run: CheckedRun) -> Iterator[Suspicion]:
    """The same adjoint came to all that a softmax or a normalization gave, and cancels but for rounding."""
    for row in run.operations(run.names.normalize):
        came, sent = run.adjoint(row.row), run.sent(row)
        if came is None or sent is None or sent.shape != came.shape:
            continue
        least, most = largest(sent), largest(came)
        along = (axis for axis, size in enumerate(came.shape) if size > 1)
        uneven = (largest(came - came.mean(axis, keepdims=True)) for axis in along)
        if 0 < most < math.inf and 0 < least <= EQUAL * most and min(uneven, default=most) <= EQUAL * most:
            yield suspicion(row, "rounding_only", what=run.called(row), from_=most, to=least / most)


def along_depth(run: CheckedRun) -> Iterator[Suspicion]:
    """An operation that repeats, in a loop or a deep net, made the adjoint smaller or larger each time."""
    series: dict[Any, list[tuple[int, float]]] = {}
    for at in sorted(run.on_path, reverse=True):
        row, size = run.rows[at], size_of(run.adjoint(at))
        if 0 < size < math.inf:
            series.setdefault((id(run.on_path[at]), row.op, row.site, tuple(row.shape)), []).append((at, size))
    found: list[tuple] = []
    for pairs in series.values():
        if len(pairs) < REPEATED:
            continue
        behind = run.behind(pairs[0][0])  # what is beside enters at each turn, or is of another loop
        pairs = [pair for pair in pairs if pair[0] in behind]
        (first, began), (_, ended) = pairs[0], pairs[-1]
        if len(pairs) < REPEATED:
            continue
        some = pairs[:: len(pairs) // REPEATED]  # from turn to turn it may go up and down
        smaller = [b < a for (_, a), (_, b) in pairwise(some)]
        ratio, share = ended / began, sum(smaller) / len(smaller)
        if (ratio < VANISHED and share >= 0.8) or (ratio > EXPLODED and share <= 0.2 and ended > 1):
            named = run.rows[first].op in run.names.activations
            found.append((abs(math.log(ratio)) * (1 + named), pairs))
    for _, pairs in [max(found)] if found else []:
        (at, began), (before, _), *_, (_, ended) = pairs
        row, ratio = run.rows[at], ended / began
        lost = ratio > 1 or (ratio < VANISHED**2 and _takes_a_part(run, at, before))
        cause, alone = "vanishing" if ratio < 1 else "exploding", () if lost else little_behind(run, at, began)
        fields = {"what": run.called(row), "from_": began, "to": ended, "n": len(pairs), "ratio": ratio}
        yield suspicion(row, cause, alone=alone, **fields)


def _takes_a_part(run: CheckedRun, turn: int, before: int) -> bool:
    """Whether a turn of a loop takes a part of a sequence that the turn before did not."""
    given = (one for row in run.rows[before + 1 : turn + 1] for one in (row.row, *row.inputs))
    return any(IS_PART(run.rows[one].op) and run.readers[one][0] > before for one in given)


def saturated(run: CheckedRun) -> Iterator[Suspicion]:
    """An activation passed almost nothing of what came."""
    for row in run.operations(run.names.saturate):
        arrived = run.adjoint(row.row)
        came, sent = size_of(arrived), size_of(run.sent(row))
        little = 0 < sent < VANISHED * came < math.inf and sent < VANISHED * _least_before(run, row.row)
        if little and _is_flat(run, row, arrived):
            alone = little_behind(run, row.row, came)
            fields = {"what": run.called(row), "from_": came, "to": sent, "ratio": sent / came}
            yield suspicion(row, "vanishing", "saturated", alone, **fields)


def _least_before(run: CheckedRun, row: int) -> float:
    """The least adjoint on the way to a row: behind a logarithm it is large where a probability is small."""
    after = {row: None}
    waiting = [row]
    while waiting:
        readers = [one for one in run.readers.get(waiting.pop(), ()) if one in run.on_path and one not in after]
        after |= dict.fromkeys(readers)
        waiting += readers
    return min(size_of(run.adjoint(at)) for at in after)


def _is_flat(run: CheckedRun, row: RecordedRow, came: Elements) -> bool:
    """Whether an activation has hardly a slope where an adjoint came; else what came cancels there."""
    value = run.numbers(row.row)
    if value is None or came is None or value.shape != came.shape:
        return True
    slope = 1 - value * value if run.called(row) == "tanh" else value * (1 - value)
    return size_of(came * slope) < 10 * VANISHED * size_of(came)


def little_behind(run: CheckedRun, row: int, size: float) -> set[int]:
    """The rows that a row was computed from and to which almost nothing came of an adjoint of this size; at least the
    row. What enters at each turn, as of a solver, gets its gradient from the other turns.
    """
    behind, arrived = run.behind(row), run.on_path[row].adjoints.items()
    return {row} | {at for at, one in arrived if at in behind and size_of(numbers_of(one)) < VANISHED * size}


def diverges(run: CheckedRun) -> Iterator[Suspicion]:
    """From step to step the gradient and the weight grow."""
    for source in run.with_gradient.values():
        steps, rows = run.steps_of(source), run.rows_of(source)
        arrived = (numbers_of(s.adjoints.get(row)) for s in run.sweeps for row in rows if row in s.adjoints)
        sizes = [float(np.linalg.norm(array)) for array in arrived if array is not None]
        values = (run.numbers(row) for row in rows if run.rows[row].kind != "operation")
        weights: list[Any] = [0.0, 0.0, *(weight for weight in values if weight is not None)]
        before, after = weights[-2:]
        grows = min(len(sizes) - 1, len(steps)) > 1 and all(b > 1.5 * a for a, b in pairwise(sizes))
        length = float(np.linalg.norm(before))
        ratio = float(np.linalg.norm(after - before)) / length if length else 0.0
        if grows and ratio > 0.5 and sizes[-1] > 20 * sizes[0] > 0:
            fields = {"from_": sizes[0], "to": sizes[-1], "n": len(sizes), "ratio": ratio}
            yield Suspicion("exploding", steps[-1].site, fields, sources=set(run.with_gradient), kind="steps")
            return


BEFORE: tuple[Check, ...] = (broadcast, activation_twice)
BEHIND: tuple[Check, ...] = (diverges, in_part, rounding_only, along_depth, saturated)


def steps_said(count: int) -> str:
    """So many steps, in words."""
    return fill("1 step") if count == 1 else fill("{n} steps", n=count)


def largest(array: Elements) -> float:
    """The largest absolute number; 0 where there is none."""
    return float(np.abs(array).max(initial=0.0)) if array is not None else 0.0


def size_of(array: Elements) -> float:
    """The root of the mean of squares; 0 where there is none."""
    top = largest(array)
    return top if array is None or not 0 < top < math.inf else top * float(np.sqrt(np.mean((array / top) ** 2)))
