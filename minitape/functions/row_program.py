"""Compute the rows of a first run for other arrays.

A :class:`RowProgram` looks up the operations that it needs in the :class:`TracedRows`, and passes them to a
:class:`RowEvaluator`, which computes them. The plain form applies one primitive after another. ``speed/`` compiles the
same rows into a single function.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from ..engine.record.array_spec import ArraySpec, get_array_spec
from ..engine.record.kept_arrays import convert_array_to_spec
from ..engine.record.record import Record
from ..engine.record.row_parts import LEAF, Call, Calls, build_elementwise_call
from ..engine.table.accelerator import fast
from ..engine.table.float_warnings import OFF, WARNINGS, restore_fp_errors
from ..engine.tensor.operation import OPERAND_CHECKS
from ..engine.tensor.tensor import EagerTensor, wrap_array
from ..engine.types import Array, ArraysByRow, FactsById
from ..recording.sites import describe_line_of_row
from .first_run import FirstRun, InaccessibleTensorError, OutOfScopeValue

# After this many runs, a program decides for the first time whether fusing its operations pays off. The first run, in
# which Python runs the function, is not counted.
FUSE_AFTER_RUNS = 63


class TracedRows:
    """The rows of a first run, without the values that differ between calls.

    Attributes:
        first_run: The first run.
        record: The rows of this run.
        calls: The operation that computed each row, as a ``Call`` object, keyed by row.
        shape_dtypes: The shape and dtype of each row, keyed by row.
        constants: The values that are the same in every call, keyed by row.
    """

    def __init__(self, first_run: FirstRun):
        """Create an empty table. `read_and_release_new_rows` fills it.

        Args:
            first_run: The first run.
        """
        self.first_run = first_run
        self.record = first_run.record
        self.calls: dict[int, Call] = {}
        self.shape_dtypes: FactsById = {}
        self.constants: ArraysByRow = {}

    def read_and_release_new_rows(self) -> None:
        """Read the rows that were written since the last call to this method, and release their arrays.

        The table keeps the values that are the same in every call. For all other arrays, the ``Record`` keeps only the
        shape and dtype. Scalars remain in the ``Record``, because they take little memory.
        """
        record = self.record
        first_row = len(self.shape_dtypes)
        codes, first_inputs, second_inputs, calls, _, values = record.read_columns(first_row)
        for row, (code, a, b, call, value) in enumerate(
            zip(codes, first_inputs, second_inputs, calls, values, strict=True), first_row
        ):
            self.shape_dtypes[row] = value.shape, value.dtype
            if code != LEAF:
                self.calls[row] = call or build_elementwise_call(row, code, a, b)
            # A constant whose array the `Record` did not keep is computed in every call.
            if not self.first_run.is_varying(row) and type(value) is not ArraySpec:
                self.constants[row] = value
            elif value.ndim:
                record.store_value(row, convert_array_to_spec(value))

    def list_effects_and_guards_from(self, first_row: int = 0) -> list:
        """List the operations that run in every call of the function: effects and guards.

        Args:
            first_row: The row at which the list begins.

        Returns:
            The ``Call`` objects of the operations, in row order.
        """
        return [call for row, call in self.calls.items() if row == call.row >= first_row and call.primitive.stateful]

    def find_needed_operations_and_constants(
        self, fetch_rows: Sequence, feed_rows: Sequence, effects: Calls = ()
    ) -> tuple[list[Call], ArraysByRow]:
        """Find the operations and constants that are needed to compute the fetched rows.

        Args:
            fetch_rows: The rows to compute.
            feed_rows: The rows whose values are provided. The search ends there.
            effects: Operations that are needed even if no fetched row depends on them.

        Returns:
            The needed operations, as ``Call`` objects in row order, and the needed constants, keyed by row.
        """
        visited_rows = set(feed_rows)
        stack = [*fetch_rows, *(call.row for call in effects)]
        calls: dict[int, Call] = {}
        constants: ArraysByRow = {}
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


@fast.replace_by_fast_form
class RowEvaluator:
    """The plain form of the computation in a row program. It applies the needed primitives one after another.

    ``speed/`` replaces this class with :class:`minitape.speed.compiled_rows.CompiledRowEvaluator`.

    Attributes:
        steps: For each needed operation, a pair of its ``Call`` and its function on arrays.
        constants: The needed constants, keyed by row.
        fetch_rows: The rows to compute.
        feed_rows: The rows whose arrays are provided.
    """

    def __init__(
        self,
        traced_rows: TracedRows,
        calls: Calls,
        constants: ArraysByRow,
        fetch_rows: Sequence,
        feed_rows: Sequence,
        build_call_function: Callable,
    ):
        """Build the array function of each operation.

        Args:
            traced_rows: The rows of the first run.
            calls: The needed operations in row order.
            constants: The needed constants, keyed by row.
            fetch_rows: The rows to compute.
            feed_rows: The rows whose arrays are provided.
            build_call_function: A function that returns the array function of an operation (see `build_call_function`
                in this module).
        """
        read_rows = {*fetch_rows, *(row for call in calls for row in call.inputs)}
        self.steps = [(call, build_call_function(call, call.row + call.outputs - 1 in read_rows)) for call in calls]
        self.constants = constants
        self.fetch_rows = fetch_rows
        self.feed_rows = feed_rows

    def compute_fetches(self, *arrays: Array) -> tuple:
        """Compute the fetched rows.

        Args:
            *arrays: The arrays of the fed rows.

        Returns:
            The arrays of the fetched rows.
        """
        values = self.constants | dict(zip(self.feed_rows, arrays, strict=True))
        for call, run in self.steps:
            results = run(*[values[row] for row in call.inputs])
            values.update(enumerate(results, call.row) if call.has_tuple_output else ((call.row, results),))
        return tuple([values[row] for row in self.fetch_rows])

    def fuse_loops_if_faster(self, run_count: int) -> int:
        """Fuse the program into compiled loops if this pays off after the given number of runs.

        Args:
            run_count: The number of times the program has run.

        Returns:
            The number of runs after which to call this method again. The result is 0 if the decision is final. The
            plain form always returns 0, because it cannot be fused.
        """
        return 0


@dataclass(eq=False)
class RowProgram:
    """A function that computes the arrays of some rows from the arrays of other rows.

    The evaluator is built when the program first runs.

    Attributes:
        traced_rows: The rows of the first run.
        fetch_rows: The rows to compute.
        feed_rows: The rows whose arrays are provided.
        effects: Operations that run even if no fetched row depends on them.
        run_count: The number of runs so far, counted only while `next_fuse` is not 0.
        next_fuse: The run count at which to try fusing next, or 0 if the decision is final.
    """

    traced_rows: TracedRows
    fetch_rows: Sequence
    feed_rows: Sequence
    effects: Calls = ()
    run_count: int = 0
    next_fuse: int = field(default_factory=lambda: FUSE_AFTER_RUNS)  # Tests change this number.

    @cached_property
    def evaluator(self) -> RowEvaluator:
        """The object that computes the fetched rows, built when the program first runs."""
        self.traced_rows.read_and_release_new_rows()
        calls, constants = self.traced_rows.find_needed_operations_and_constants(
            self.fetch_rows, self.feed_rows, self.effects
        )
        return RowEvaluator(
            self.traced_rows,
            calls,
            constants,
            self.fetch_rows,
            self.feed_rows,
            partial(build_call_function, self.traced_rows.record),
        )

    def count_run_and_get_function(self) -> Callable:
        """Count a run, fuse the program if it runs often, and return the function that computes the fetched rows.

        Returns:
            A function that takes the array of each fed row as an argument, and returns a tuple of the fetched arrays.
        """
        if self.next_fuse:
            self.run_count += 1
            if self.run_count >= self.next_fuse:
                self.next_fuse = self.evaluator.fuse_loops_if_faster(self.run_count)
        return self.evaluator.compute_fetches

    def compute_fetches(self, arrays: Sequence) -> tuple:
        """Compute the fetched rows without NumPy's floating-point warnings.

        Args:
            arrays: The arrays of the fed rows.

        Returns:
            The arrays of the fetched rows.

        Raises:
            GuardError: If a guard fails for these arrays.
        """
        compute = self.count_run_and_get_function()
        warning_state = WARNINGS[OFF]
        try:
            return compute(*arrays)
        finally:
            restore_fp_errors(warning_state)


def build_call_function(record: Record, call: Call, is_last_output_read: bool = True) -> Callable:
    """Return the array function that computes an operation.

    Eager operations check their operands. If such a check depends on the values of the operands, the returned function
    repeats the check.

    Args:
        record: The rows of the first run, which provide the line for error messages.
        call: An operation of the first run.
        is_last_output_read: Whether another operation or a fetch reads the last output. A row that calls Python only
            saves something for the gradient if this is true (:class:`.effect_rows.PythonRow`).

    Returns:
        A function that takes the arrays of the inputs and returns the result, or a tuple of results.
    """
    primitive: Any = call.primitive
    if is_last_output_read and getattr(primitive, "has_saved", False):
        return primitive.compute_with_saved
    forward = partial(primitive.forward, **call.attrs) if call.attrs else primitive.forward
    check = OPERAND_CHECKS.get(primitive.op)
    if check is None or len(call.inputs) != 2:
        return forward

    def check_operands_and_run(x: Array, y: Array) -> Array:
        try:
            check(primitive, wrap_array(x), wrap_array(y), **call.attrs)
        except Exception as error:
            from ..common.translation import say

            place = describe_line_of_row(record, call.row)
            error.add_note(say("The error was raised in a traced function: {place}", "explain", place=place))
            raise
        return forward(x, y)

    operands = EagerTensor(), EagerTensor()
    for tensor, row in zip(operands, call.inputs, strict=True):
        tensor._value = OutOfScopeValue(primitive.name, get_array_spec(*record.get_shape_and_dtype(row)))
    try:
        check(primitive, *operands, **call.attrs)
    except InaccessibleTensorError:
        # The check reads values, so every call repeats it.
        return check_operands_and_run
    # The check reads only shapes and dtypes, which passed the check in the first run.
    return forward
