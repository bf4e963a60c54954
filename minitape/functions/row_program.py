"""Rows of a trace computed for other arrays, primitive by primitive; ``speed/`` makes one program of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

from ..engine.record.array_spec import ArraySpec, get_array_spec
from ..engine.record.record import Record
from ..engine.record.row_parts import LEAF, Call, build_elementwise_call
from ..engine.table.accelerator import fast
from ..engine.table.float_warnings import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.operation import OPERAND_CHECKS
from ..engine.tensor.tensor import EagerTensor, from_array
from ..recording.sites import describe_line_of_row
from .first_run import FirstRun, InaccessibleTensorError, OutOfScopeValue

FUSE_AFTER_RUNS = 63  # runs, after the first one in Python, after which a program is fused when numba is loaded already
LOAD_NUMBA_AFTER_RUNS = 512  # ... and when it must be loaded for it


class TraceTable:
    """The rows of a trace without the values that another call has: what is computed of what, shapes, constants."""

    def __init__(self, trace: FirstRun) -> None:
        self.trace, self.record = trace, trace.record
        self.calls: dict[int, Call] = {}  # by each of its rows
        self.shape_dtypes: dict[int, tuple] = {}
        self.constants: dict[int, Any] = {}  # the values of rows that depend on no feed

    def read_and_release_new_rows(self) -> None:
        """Read the rows that the trace wrote since the last time, and release their values in its record."""
        record, first_row = self.record, len(self.shape_dtypes)
        ops, first_inputs, second_inputs, calls, _, values = record.read_columns(first_row)
        for row, (op, a, b, call, value) in enumerate(
            zip(ops, first_inputs, second_inputs, calls, values, strict=True), first_row
        ):
            self.shape_dtypes[row] = value.shape, value.dtype
            if op != LEAF:
                self.calls[row] = call or build_elementwise_call(row, op, a, b)
            if not self.trace.is_varying(row) and type(value) is not ArraySpec:  # else it is computed again
                self.constants[row] = value
            elif value.ndim:
                record.store_value(row, get_array_spec(value.shape, value.dtype))

    def list_effects_from(self, first_row: int = 0) -> list:
        """Return the calls from a row on that run in any case: for an effect, or as guards."""
        return [call for row, call in self.calls.items() if row == call.row >= first_row and call.primitive.stateful]

    def find_needed_calls_and_constants(
        self, fetches: Sequence, feeds: Sequence, effects: Sequence[Call] = ()
    ) -> tuple[list[Call], dict[int, Any]]:
        """Return the calls, in order, on which rows and effects depend, down to the fed rows; and the constants."""
        visited_rows, stack = set(feeds), [*fetches, *(call.row for call in effects)]
        calls: dict[int, Call] = {}
        constants: dict[int, Any] = {}
        while stack:
            row = stack.pop()
            if row in visited_rows:
                continue
            visited_rows.add(row)
            if row in self.constants:
                constants[row] = self.constants[row]
                continue
            call = self.calls[row]
            if call.row not in calls:
                calls[call.row] = call
                stack += call.inputs
        return [calls[row] for row in sorted(calls)], constants


def has_tuple_output(call: Call) -> bool:
    """Whether the primitive of a call returns a tuple of results."""
    return call.outputs > 1 or getattr(call.primitive, "has_tuple_output", False)


@fast.replace_rows
class Rows:
    """The needed rows, applied one after the other: ``compute_fetches`` takes the arrays of the fed rows and gives
    those of the fetched ones. ``speed/`` compiles them, see :class:`minitape.speed.compiled_rows.CompiledRows`.
    """

    may_warn = True  # whether NumPy's warnings can come of it

    def __init__(
        self,
        table: TraceTable,
        calls: Sequence[Call],
        constants: dict[int, Any],
        fetches: Sequence,
        feeds: Sequence,
        build_call_function: Callable,
    ) -> None:
        read_rows = {*fetches, *(row for call in calls for row in call.inputs)}
        self.steps = [
            (call, build_call_function(call, call.row + call.outputs - 1 in read_rows), has_tuple_output(call))
            for call in calls
        ]
        self.constants, self.fetches, self.feeds = constants, fetches, feeds

    def compute_fetches(self, *arrays: Any) -> tuple:
        values = self.constants | dict(zip(self.feeds, arrays, strict=True))
        for call, run, has_several in self.steps:
            results = run(*[values[row] for row in call.inputs])
            values.update(enumerate(results, call.row) if has_several else ((call.row, results),))
        return tuple([values[row] for row in self.fetches])

    def fuse_loops_if_worthwhile(self, run_count: int) -> bool:
        """Fuse the program if that pays after so many runs; return whether more runs change nothing."""
        return True


class RowProgram:
    """The values of some rows for arrays of others: ``compute_fetches(arrays of the fed rows) -> arrays of the fetched
    rows``.
    """

    def __init__(self, table: TraceTable, fetches: Sequence, feeds: Sequence, effects: Sequence[Call] = ()) -> None:
        self.run_count, self.next_fuse = 0, FUSE_AFTER_RUNS
        self.table, self.fetches, self.feeds, self.effects = table, fetches, feeds, effects

    @cached_property
    def rows(self) -> Rows:
        """The object that computes the fetched rows, built when the program first runs."""
        self.table.read_and_release_new_rows()
        calls, constants = self.table.find_needed_calls_and_constants(self.fetches, self.feeds, self.effects)
        return Rows(
            self.table, calls, constants, self.fetches, self.feeds, partial(build_call_function, self.table.record)
        )

    def count_run_and_get_function(self) -> Callable:
        """Count a run, fuse what runs often, and return the function that computes the fetched rows."""
        if self.next_fuse:
            self.run_count += 1
            if self.run_count == self.next_fuse:
                self.next_fuse = 0 if self.rows.fuse_loops_if_worthwhile(self.run_count) else LOAD_NUMBA_AFTER_RUNS
        return self.rows.compute_fetches

    def compute_fetches(self, arrays: Sequence) -> tuple:
        """Return the arrays of the fetched rows for arrays of the fed rows."""
        rows = self.rows
        if self.next_fuse:
            self.count_run_and_get_function()
        if not rows.may_warn:  # compiled as a whole
            return rows.compute_fetches(*arrays)
        warning_state = WARNINGS[OFF]
        try:
            return rows.compute_fetches(*arrays)
        finally:
            restore_fp_errors(warning_state)


def build_call_function(record: Record, call: Call, with_notes: bool = True) -> Callable:
    """Return the function on arrays that one call runs, with the checks that the eager function makes of values.

    ``with_notes``: its last output is read, see :class:`.effect_rows.PythonRow`.
    """
    primitive: Any = call.primitive
    if with_notes and getattr(primitive, "has_notes", False):
        return primitive.compute_with_notes
    forward = partial(primitive.forward, **call.attrs) if call.attrs else primitive.forward
    check = OPERAND_CHECKS.get(primitive.op)
    if check is None or len(call.inputs) != 2:
        return forward

    def check_operands_and_run(x: Any, y: Any) -> Any:
        try:
            check(primitive, from_array(x), from_array(y), **call.attrs)
        except Exception as error:
            error.add_note(f"This is from a traced function: {describe_line_of_row(record, call.row)}")
            raise
        return forward(x, y)

    operands = EagerTensor(), EagerTensor()
    for tensor, row in zip(operands, call.inputs, strict=True):
        tensor._value = OutOfScopeValue(primitive.name, get_array_spec(*record.get_shape_and_dtype(row)))
    try:
        check(primitive, *operands, **call.attrs)
    except InaccessibleTensorError:  # it looks at values
        return check_operands_and_run
    return forward  # the first run has settled it
