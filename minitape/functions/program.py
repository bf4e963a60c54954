"""Rows of a trace computed for other arrays, primitive by primitive; ``speed/`` makes one program of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

from ..engine.recording.array_spec import ArraySpec, array_spec
from ..engine.recording.record import Record
from ..engine.recording.rows import LEAF, Call, call_of
from ..engine.table.accelerator import fast
from ..engine.table.fp import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.operation import CHECKS
from ..engine.tensor.tensor import EagerTensor, from_array
from ..recording.sites import line_of
from .trace import FirstRun, InaccessibleTensorError, Leaked

OFTEN = 63  # runs, after the first one in Python, after which a program is fused when numba is loaded already
ONCE_MORE = 512  # ... and when it must be loaded for it


class Table:
    """The rows of a trace without the values that another call has: what is computed of what, shapes, constants."""

    def __init__(self, trace: FirstRun) -> None:
        self.trace, self.record = trace, trace.record
        self.calls: dict[int, Call] = {}  # by each row that it gives
        self.shape_dtypes: dict[int, tuple] = {}
        self.folded: dict[int, Any] = {}  # the values of rows that hang on nothing given

    def grow(self) -> None:
        """Takes the rows that the trace has more by now, and lets go of their values."""
        record, first = self.record, len(self.shape_dtypes)
        ops, left, right, calls, _, values = record.columns(first)
        for row, (op, a, b, call, value) in enumerate(zip(ops, left, right, calls, values, strict=True), first):
            self.shape_dtypes[row] = value.shape, value.dtype
            if op != LEAF:
                self.calls[row] = call or call_of(row, op, a, b)
            if not self.trace.varies(row) and type(value) is not ArraySpec:  # else it is computed anew
                self.folded[row] = value
            elif value.ndim:
                record.store(row, array_spec(value.shape, value.dtype))

    def effects(self, first: int = 0) -> list[Call]:
        """The calls from a row on that run in any case."""
        return [call for row, call in self.calls.items() if row == call.row >= first and call.primitive.stateful]

    def calls_for(self, fetches: Sequence, feeds: Sequence, effects: Sequence = ()) -> tuple:
        """The calls, in order, on which rows and effects depend, down to the fed rows; and the constants."""
        seen, stack = set(feeds), [*fetches, *(call.row for call in effects)]
        calls: dict[int, Call] = {}
        constants: dict[int, Any] = {}
        while stack:
            row = stack.pop()
            if row in seen:
                continue
            seen.add(row)
            if row in self.folded:
                constants[row] = self.folded[row]
                continue
            call = self.calls[row]
            if call.row not in calls:
                calls[call.row] = call
                stack += call.inputs
        return [calls[row] for row in sorted(calls)], constants


def gives_tuple(call: Call) -> bool:
    """Whether a primitive gives a tuple of results."""
    return call.outputs > 1 or getattr(call.primitive, "gives_tuple", False)


@fast.rows
class Rows:
    """The needed rows, applied one after the other: ``function`` takes the arrays of the fed rows and gives those of
    the fetched ones. ``speed/`` compiles them, see :class:`minitape.speed.programs.CompiledRows`.
    """

    warns = True  # whether NumPy's warnings can come of it

    def __init__(
        self, table: Table, calls: Sequence, constants: dict, fetches: Sequence, feeds: Sequence, runner: Callable
    ) -> None:
        read = {*fetches, *(row for call in calls for row in call.inputs)}
        self.steps = [(call, runner(call, call.row + call.outputs - 1 in read), gives_tuple(call)) for call in calls]
        self.constants, self.fetches, self.feeds = constants, fetches, feeds

    def function(self, *arrays: Any) -> tuple:
        values = self.constants | dict(zip(self.feeds, arrays, strict=True))
        for call, run, several in self.steps:
            found = run(*[values[row] for row in call.inputs])
            values.update(enumerate(found, call.row) if several else ((call.row, found),))
        return tuple([values[row] for row in self.fetches])

    def fuse(self, runs: int) -> bool:
        """After so many runs; whether there is nothing to do after more."""
        return True


class Program:
    """The values of some rows for arrays of others: ``run(arrays of the fed rows) -> arrays of the fetched rows``."""

    def __init__(self, table: Table, fetches: Sequence, feeds: Sequence, effects: Sequence = ()) -> None:
        self.runs, self.next = 0, OFTEN
        self.table, self.fetches, self.feeds, self.effects = table, fetches, feeds, effects

    @cached_property
    def rows(self) -> Rows:
        """The function that computes them, made when it first runs."""
        self.table.grow()
        calls, constants = self.table.calls_for(self.fetches, self.feeds, self.effects)
        return Rows(self.table, calls, constants, self.fetches, self.feeds, partial(runner, self.table.record))

    def ready(self) -> Callable:
        """The function that computes the fetched rows, for a row of another program; what runs often is fused."""
        if self.next:
            self.runs += 1
            if self.runs == self.next:
                self.next = 0 if self.rows.fuse(self.runs) else ONCE_MORE
        return self.rows.function

    def run(self, arrays: Sequence) -> tuple:
        """Computes the fetched rows."""
        rows = self.rows
        if self.next:
            self.ready()
        if not rows.warns:  # compiled as a whole
            return rows.function(*arrays)
        before = WARNINGS[OFF]
        try:
            return rows.function(*arrays)
        finally:
            restore_fp_errors(before)


def runner(record: Record, call: Call, notes: bool = True) -> Callable:
    """The function on arrays that one call runs, with the checks that the eager function makes of values; ``notes``:
    its last output is read, see :class:`.rows.Row`.
    """
    primitive: Any = call.primitive
    if notes and getattr(primitive, "notes", False):
        return primitive.noted
    forward = partial(primitive.forward, **call.attrs) if call.attrs else primitive.forward
    check = CHECKS.get(primitive.op)
    if check is None or len(call.inputs) != 2:
        return forward

    def checked(x: Any, y: Any) -> Any:
        try:
            check(primitive, from_array(x), from_array(y), **call.attrs)
        except Exception as error:
            error.add_note(f"This is from a traced function: {line_of(record, call.row)}")
            raise
        return forward(x, y)

    unknown = EagerTensor(), EagerTensor()
    for tensor, row in zip(unknown, call.inputs, strict=True):
        tensor._value = Leaked(primitive.name, array_spec(*record.shape_dtype(row)))
    try:
        check(primitive, *unknown, **call.attrs)
    except InaccessibleTensorError:  # it looks at values
        return checked
    return forward  # the first run has settled it
