"""The plan of a backward sweep: which rules it applies, in which order, and where their shares go.

A plan follows from the structure of a recording alone: its columns, the shapes of its rows, and what its tape watches.
No value is in it. So the tapes of a training loop, which all look alike, share one plan, kept under just these columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from operator import attrgetter
from typing import Any

import numpy as np

from . import kernels
from .columns import CALL, LEAF, operation_of
from .primitives import TABLE
from .primitives.elementwise import BY_CODE, FIRST_CODE, STOP_CODE, compile_recorded, scalar_table
from .record import LONG, Record
from .wide import live

FOREIGN = 5  # the mark of a source whose own operation is not on the tape: nothing is handed on from there
PLANS = 64  # plans are kept for so many sizes; then all are made anew
ALIKE = 8  # so many are kept for each
OFTEN = 16  # a sweep that is run more often is written out as a program


class Unplanned(Exception):
    """A rule gave something else than an array: the sweep has to be walked."""


class Changed(Exception):
    """An exponent is another number than the one that was written into the program."""


# One share of an adjoint: (row, rule, a, b, to, last). ``rule`` computes it from the adjoint of ``row`` and the values of
# ``row``, ``a`` and ``b``; it is added to the adjoint of row ``to``; ``last`` is true for the last share of a row.
# Calls have no rule: there ``a`` is the call's number and ``to`` the positions of the inputs that want a share.
Visit = tuple[int, Any, int, int, Any, bool]


class Plan:
    """``sources`` are the rows whose adjoints are wanted, and on the tape.

    ``marks[row]`` is 1 where one of them can be reached through the row (None: everywhere), for the whole recording.
    ``visits`` is None for a recording that is too long to be kept, or whose operations are the user's. Operations that
    are asked for their gradient in any case have inputs from row ``low`` on.
    """

    __slots__ = ("sources", "marks", "visits", "low", "_written")

    def __init__(self, sources: set[int], marks: Any, visits: list[Visit] | None, low: int | None = None) -> None:
        self.sources, self.marks, self.visits, self.low = sources, marks, visits, low
        self._written: dict[Any, Any] = {}  # what a sweep starts from -> how often it was met, then what was kept of it

    def _met(self, key: Any) -> Any:
        """What was kept for this key; else a number, which is how often it was asked for."""
        found = self._written.get(key, 0)
        if type(found) is int:
            self._written[key] = found + 1
        return found

    def program(self, record: Any, seeds: dict[int, Any], alone: bool) -> Any:
        """The sweep for these targets as one function (see minitape.straight), once it is met often; else None.

        ``alone`` when no other sweep follows on this recording.
        """
        if type(record.values) is not list or record.watchers:
            return None
        waiting = _waiting(record, alone)
        key = (*seeds, record.done, *waiting)
        if waiting and not alone:  # beside Python numbers less is kept for other sweeps
            key = (*key, *filter(record.is_number, record.leaves))
        found = self._written.get(key)
        if type(found) is int or found is None:
            found = self._met_program(key, record, seeds, waiting)
        if found is None or not found.needs <= record.arrays.keys():
            return None
        if not _as_written(found, record):  # the attributes do not stay the same
            found = self._program(key, record, seeds, False, waiting)
        return found

    def _met_program(self, key: Any, record: Any, seeds: dict[int, Any], waiting: Any) -> Any:
        found = self._met(key)
        if type(found) is int:
            often = OFTEN // 8 if waiting else OFTEN  # large arrays: long work, and much of it goes by in blocks
            if found < often or len(self.visits) > LONG:
                return None
            found = self._program(key, record, seeds, True, waiting)
        return found

    def _program(self, key: Any, record: Any, seeds: dict[int, Any], bound: bool, waiting: Any) -> Any:
        from .straight import write

        found = self._written[key] = write(record, self.visits, list(seeds), self.sources, bound, *waiting)
        return found

    def unbind(self, program: Any, record: Any, seeds: dict[int, Any], alone: bool) -> None:
        """Writes a program once more, for any attributes and exponents: they do not stay the same."""
        waiting = _waiting(record, alone)
        for key in [key for key, found in self._written.items() if found is program]:
            self._program(key, record, seeds, False, waiting)

    def walk_only(self) -> None:
        """A rule gave something that no program provides for."""
        self._written = dict.fromkeys(self._written)

    def start(self, record: Any, seeds: dict[int, Any]) -> Any:
        """What the rows of a recorded sweep depend on beside the plan and the attributes of calls: the shapes of (fresh) seeds.

        None where they are not kept.
        """
        if self.visits is None or record.watchers:
            return None
        return "rows", *[(row, seed._value.shape) for row, seed in seeds.items()]

    def repeated(self, start: Any, record: Any) -> Any:
        """The rows that a recorded sweep writes (see minitape.repeated), once they were kept; else None."""
        found = self._met(start)
        return None if type(found) is int or found is None or not _as_written(found, record) else found

    def keep(self, start: Any, record: Any, count: int, rows: Callable[[], Any]) -> None:
        """Keeps the ``rows`` of a recorded sweep that is met often, together with the attributes of ``count`` calls."""
        found = self._written[start]
        if type(found) is int and found > OFTEN:
            calls = [n for n in range(count) if record.calls[n].attrs]
            attrs = [record.calls[n].attrs for n in calls]
            self._written[start] = found = rows() if all(map(is_plain, attrs)) else None
            if found is not None:
                found.bound, found.attrs = calls, attrs


def _waiting(record: Any, alone: bool) -> tuple[Any, ...]:
    """What a program depends on where large arrays are yet to be computed."""
    return (alone, live(record)) if record.wide else ()


def is_plain(value: Any) -> bool:
    """Whether attributes are such that they can be compared, and that equal ones do the same."""
    if type(value) is dict:
        return all(map(is_plain, value.values()))
    if type(value) is tuple:
        return all(map(is_plain, value))
    if type(value) is slice:
        return is_plain((value.start, value.stop, value.step))
    return value is None or type(value) in (int, bool, str)


_attrs = attrgetter("attrs")
_what = attrgetter("primitive", "inputs")


def _as_written(found: Any, record: Any) -> bool:
    """Whether calls have the attributes for which something was written: those of the calls ``bound``, ``attrs``."""
    try:
        return not found.bound or found.attrs == [*map(_attrs, map(record.calls.__getitem__, found.bound))]
    except ValueError:  # arrays among them, which are not equal or unequal as a whole
        return False


_plans: dict[Any, list[tuple[Any, Plan]]] = {}  # by how many rows there are, and which are the sources


def of_tape(tape: Any, ends: Sequence[tuple[int, ...]], recorded: bool, batched: bool = False) -> Plan:
    """The plan for the gradients of anything on a tape with respect to sources that have the rows ``ends``."""
    if recorded or tape._recording or not tape._persistent:
        return _shared(tape, ends, recorded, batched)
    asked = (len(tape._record), len(tape.spans), len(tape.watched), batched, tuple(ends))
    if tape._planned[0] != asked:
        tape._planned = asked, _shared(tape, ends, recorded, batched)
    return tape._planned[1]


def _shared(tape: Any, ends: Sequence[tuple[int, ...]], recorded: bool, batched: bool) -> Plan:
    record = tape._record
    rows = len(record.pending)
    if batched or type(record) is not Record or record.base or rows > 4 * LONG:
        return _made(tape, ends, recorded, False)
    alike = (rows, recorded, *ends)
    calls: Any = record.calls
    structure = (  # all that a plan depends on, as it is held: to compare it takes half the time of hashing it
        record.pending, record.real, tape.spans, tape._recording and tape._start, tape.watched, record.meta,
        calls and [*map(_what, calls)], record.late,
        recorded and record.cold, recorded and record.constants,
    )  # fmt: skip
    for known, found in _plans.get(alike, ()):
        if known == structure:
            return found
    found = _made(tape, ends, recorded, True)
    if found.visits is not None:
        _keep(alike, tuple(map(copy, structure)), found)
    return found


def _keep(alike: Any, structure: tuple[Any, ...], found: Plan) -> None:
    if len(_plans) >= PLANS:
        _plans.clear()
    kept = _plans.setdefault(alike, [])
    kept.append((structure, found))
    del kept[:-ALIKE]


def _made(tape: Any, ends: Sequence[tuple[int, ...]], recorded: bool, kept: bool) -> Plan:
    record = tape._record
    wanted = {row for rows in ends for row in rows if differentiable(record, row)}
    asked = wanted | (also := _asked_anyway(record))
    if not asked:
        return Plan(wanted, None, [] if kept else None)
    marks, low = reach(tape, asked), min(asked)
    sources = wanted if marks is None else {row for row in wanted if marks[row]}
    if not kept or not wanted or any(TABLE.get(c.primitive.name) is not c.primitive for c in record.calls):  # the user's
        return Plan(sources, marks, None, min(also, default=None))
    return Plan(sources, marks, [*visits(record, range(len(record) - 1, low - 1, -1), low, marks, recorded)])


def _asked_anyway(record: Any) -> set[int]:
    """The inputs of calls whose gradient does more than give shares, which TensorFlow asks whether they lead to a source or not.

    These are functions of the user, and operations without a gradient, which are refused.
    """
    asked = [c for c in record.calls if c.primitive.name == "custom_gradient" or c.primitive.missing == "unregistered"]
    return {row for call in asked for row in call.inputs if differentiable(record, row)}


# -- which rows matter ------------------------------------------------------------------------------------------------


def on_tape(tape: Any, foreign: set[int] | None = None) -> bytearray:
    """For each row, 1 when it is on this tape: watched, or written during a span from something on the tape.

    Rows that are watched although the operation that wrote them is not on the tape are put into ``foreign``.
    """
    record = tape._record
    n = len(record)
    on = bytearray(n)
    spans = [*tape.spans, (tape._start, n)] if tape._recording else tape.spans
    starts = sorted((since, row) for row, since in tape.watched.items())
    at = 0
    for first, last in spans:
        while at < len(starts) and starts[at][0] < last:  # rows from `since` on see the watched row
            since, row = starts[at]
            if since > first:
                spread(record, on, first, since)
                first = since
            _see(record, on, row, foreign)
            at += 1
        spread(record, on, first, last)
    for _, row in starts[at:]:
        _see(record, on, row, foreign)
    return on


def _see(record: Any, on: bytearray, row: int, foreign: set[int] | None) -> None:
    if not on[row]:
        on[row] = 1
        if foreign is not None and record.cell(row)[0] != LEAF:
            foreign.add(row)


def reach(tape: Any, sources: set[int]) -> Any:
    """For each row, 1 when it is on the tape and depends on one of the source rows; None when all rows may."""
    record = tape._record
    n = len(record)
    on, start, end = None, 0, n
    foreign: set[int] = set()
    if _all_within(tape, sources):
        start, end = tape.spans[0]
        if not (record.calls or record.wide_lanes) and n <= LONG and (start, end) == (0, n):
            return None  # numbers and small arrays: shares for constants cost less than to find them
    else:
        on = on_tape(tape, foreign)
    marks = bytearray(n)
    for row in sources:
        marks[row] = on is None or on[row]
    for row in foreign:
        on[row] = 0  # nothing reaches it through its own operation
    spread(record, marks, max(min(sources) + 1, start), end, on)
    for row in foreign & sources:
        marks[row] = FOREIGN
    return marks


def _all_within(tape: Any, sources: set[int]) -> bool:
    """Whether all that depends on the sources in the tape's one span is on the tape: they were watched at once."""
    if tape._recording or len(tape.spans) != 1:
        return False
    start, watched, cell = tape.spans[0][0], tape.watched, tape._record.cell
    for row in sources:
        since = watched.get(row)
        if since is None or (since > row + 1 and since > start) or cell(row)[0] != LEAF:
            return False
    return True


def spread(record: Any, marks: bytearray, low: int, high: int, gate: bytearray | None = None) -> None:
    """Marks each row in [low, high) that has a marked input (and passes the gate)."""
    if high - low > LONG and record.real is not None and (run := kernels.kernel(record.real, "spread")) is not None:
        _spread_long(run, record, marks, low, high, gate)
        return
    calls, cell = record.calls, record.cell
    for row in range(low, high):
        if gate is None or gate[row]:
            op, a, b, _ = cell(row)
            if op >= FIRST_CODE:
                if (marks[a] or marks[b]) and op != STOP_CODE:
                    marks[row] = 1
            elif op == CALL and _any_marked(record, marks, calls[a]):
                marks[row] = 1


def _spread_long(run: Any, record: Any, marks: bytearray, low: int, high: int, gate: bytearray | None) -> None:
    record.pack()
    view = np.frombuffer(marks, np.uint8)
    through = np.ones(len(marks), np.uint8) if gate is None else np.frombuffer(gate, np.uint8)
    for first, block in record.blocks:
        row, last = max(first, low), min(first + len(block), high)
        while row < last:
            row = run(block, first, row, last, view, through)
            if row < last:  # a call: the kernel hands it over
                if through[row] and _any_marked(record, marks, record.calls[record.cell(row)[1]]):
                    marks[row] = 1
                row += 1


def _any_marked(record: Record, marks: bytearray, call: Any) -> bool:
    """True when an input of the call is marked and of a dtype through which gradients flow."""
    if call.primitive.code == STOP_CODE:
        return False
    return any(marks[row] and differentiable(record, row) for row in call.inputs)


def differentiable(record: Any, row: int) -> bool:
    """True for a row of a dtype through which gradients flow."""
    meta = record.meta.get(row)
    return meta is None or meta[1].kind in "fcV"  # V is bfloat16's


# -- which comes first ------------------------------------------------------------------------------------------------


def breadth_first(record: Any, targets: Iterable[int]) -> list[int]:
    """The rows behind the targets in TensorFlow's order: each after all that read it, first come, first served.

    Our own sweep goes by row numbers; this order shows only where slices are put behind each other. Of a call it is the
    first row.
    """
    inputs: dict[int, list[int]] = {}
    readers: dict[int, int] = {}
    heads = [_first_row(record, t) for t in targets][::-1]
    stack = list(heads)
    while stack:
        row = stack.pop()
        if row not in inputs:
            inputs[row] = found = [_first_row(record, i) for i in operation_of(record, row)[1]]
            for i in found:
                readers[i] = readers.get(i, 0) + 1
            stack += found
    queue = [h for h in heads if not readers.get(h)]
    for row in queue:
        for i in inputs[row]:
            readers[i] -= 1
            if not readers[i]:
                queue.append(i)
    return queue


def _first_row(record: Any, row: int) -> int:
    op, number, _, _ = record.cell(row)
    return record.calls[number].row if op == CALL else row


# -- what is done at them ---------------------------------------------------------------------------------------------


def visits(
    record: Any, rows: Iterable[int], low: int, marks: Any, recorded: bool, batched: bool = False
) -> Iterator[Visit]:
    """What a sweep does at these rows when ``low`` is the lowest row that may want a share."""
    for row in rows:
        if marks is not None and marks[row] != 1:
            continue
        op, a, b, _ = record.cell(row)
        if op >= FIRST_CODE:
            rules = _rules(record, row, op, recorded, batched)
            shares = [(rule, to) for rule, to in zip(rules, (a, b), strict=False) if marks is None or marks[to]]
            for number, (rule, to) in enumerate(shares):
                yield row, rule or _nothing, a, b, to, number == len(shares) - 1
        elif op == CALL and row == record.calls[a].row:
            wanted = tuple(i for i, r in enumerate(record.calls[a].inputs) if r >= low and (marks is None or marks[r]))
            yield row, None, a, 0, wanted, True


def _rules(record: Any, row: int, op: int, recorded: bool, batched: bool) -> Any:
    if recorded:
        return recorded_rules(op)
    primitive = BY_CODE[op - FIRST_CODE]
    if batched:
        return [None if r is None else in_batches(r) for r in primitive.rules]
    return primitive.plain[1] if row in record.meta else scalar_table(record.real)[op].rules


def _nothing(g: Any, z: Any, x: Any, y: Any) -> None:
    """The rule of an input that no gradient reaches."""


def in_batches(rule: Any) -> Any:
    """An elementwise rule for a batch of adjoints: it broadcasts over their leading axis by itself."""

    def batched(g: Any, *values: Any) -> Any:
        share = rule(g.data, *values)
        if np.ndim(share) < g.data.ndim:  # the rule does not read g: the same for all
            share = np.broadcast_to(share, (g.data.shape[0], *np.shape(share)))
        return type(g)(share)

    return batched


_recorded_ready: list[bool] = []


def recorded_rules(code: int) -> Any:
    """The rules of a scalar row for a sweep that is recorded."""
    if not _recorded_ready:
        compile_recorded()
        _recorded_ready.append(True)
    return BY_CODE[code - FIRST_CODE]._table_rules
