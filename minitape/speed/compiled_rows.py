"""Compile the rows of a recording into a single Python function on arrays.

This is the fast form of :class:`minitape.functions.row_program.RowEvaluator`. The generated function has one line for
each call. If the call has a formula, the line contains it. If the function runs often, array operations are fused into
loops that numba compiles. Repeated scalar operations are fused as well. In a compiled chain of a thousand scalars, each
operation takes a few nanoseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from math import ceil, prod
from typing import Any

import numpy as np

from ..common.grouping import group_values_by_key
from ..common.threads import start_thread
from ..engine.record.row_parts import Call, Calls
from ..engine.table.accelerator import fast
from ..engine.table.generated_code import execute_definitions, replace_operands
from ..engine.table.primitives.formula import ARRAY, LIBRARY
from ..engine.types import (
    ArraysByRow,
    Function,
    NumPyType,
    OptionalFunction,
    OptionalText,
    RowByRow,
    RowList,
    RowsByRow,
    RowSequence,
    RowSet,
    Sizes,
    TextList,
)
from . import blockwise, fusion, kernels
from .fusion import TracedRowsInterface
from .loop_detection import compile_repeated_rows

SECONDS_TO_LOAD_NUMBA, SECONDS_TO_COMPILE = 0.4, 0.35
SECONDS_PER_CALL, SECONDS_PER_ELEMENT = 1e-6, 1e-9  # The estimated costs of a call without loops.

PIECE_SIZE = 4096  # The number of elements in a piece. Arrays of at least this size are dropped after their last use.
MIN_SCALAR_CALLS = 48  # A compiled loop pays off if there are at least this many scalar calls.
MAX_LOOP_CALLS = 16  # A loop over a block has at most this many calls, because more would not fit in the cache.

_ALIASES = {"identity", "stop_gradient"}
_ANY_DTYPE_PRIMITIVES = {"add", "subtract", "multiply"}  # The formulas of these primitives are valid for all dtypes.


class ProgramWriter:
    """A writer for the program that computes some calls in order.

    Calls that will be computed together are queued as a run. One of the runs handles large arrays and computes them
    block by block. If the program is fused, a second run handles scalars, and a third handles arrays in a common loop.
    A run is written when a call that cannot join it reads one of its rows.

    Attributes:
        traced_rows: The rows of the function: shapes, dtypes, constants and calls.
        calls: The calls to write, except those whose result is an alias.
        constants: The values of constant rows.
        fetch_rows: The rows that the program returns.
        feed_rows: The rows that the program receives.
        build_call_function: A factory that takes (call, whether its last output is read) and returns the function
            for that call.
        can_fuse: Whether numba may compile loops.
        block_size: The number of elements per block if the program computes blocks of larger arrays, otherwise 0.
            Actual blocks may be slightly smaller.
        aliases: Maps each row that has the same value as an earlier row to that earlier row.
        scope: The names that the program uses, with their values.
        lines: The lines of the program.
        function_count: The number of compiled functions that the program calls.
        consumers: For each row, the rows of the calls that read it, in order. -1 means that the caller fetches the row.
        unread_counts: For each row, the number of its readers that have not been written yet.
        runs: The kinds of runs that pay off in this program, in the order in which calls may join them.
        slow_kinds: The kinds of large arrays on which functions such as sin are computed. For these functions, NumPy is
            faster than compiled loops.
    """

    def __init__(
        self,
        traced_rows: TracedRowsInterface,
        calls: Calls,
        constants: ArraysByRow,
        fetch_rows: RowSequence,
        feed_rows: RowSequence,
        build_call_function: Callable,
        can_fuse: bool = False,
        block_size: int = 0,
    ):
        """Find the aliases, consumers and runs of the calls. The class docstring describes the arguments."""
        self.can_fuse = can_fuse
        self.build_call_function = build_call_function
        self.block_size = block_size
        self.traced_rows = traced_rows
        self.fetch_rows = fetch_rows
        self.feed_rows = feed_rows
        self.aliases = _find_aliases(traced_rows, calls)
        self.calls = [call for call in calls if call.row not in self.aliases]
        self.constants = constants
        self.scope: dict[str, Any] = {f"v{row}": array for row, array in constants.items()}
        # The functions in ARRAY treat small arrays specially.
        # A block is not small, so the functions from LIBRARY are used instead.
        self.scope |= ARRAY | LIBRARY if block_size else ARRAY
        self.lines: TextList = []
        self.function_count = 0
        self.consumers = self._find_consumers()
        self.unread_counts = {row: len(consumers) for row, consumers in self.consumers.items()}
        self.runs = self._create_candidate_runs()

    def _create_candidate_runs(self) -> list[_CallRun]:
        """Return one empty run for each kind that pays off here, in the order in which calls may join them."""
        # Unlike NumPy, compiled loops have no vectorized code for the functions in these calls.
        self.slow_kinds = {
            blockwise.find_blockwise_kind(self.traced_rows, c)
            for c in self.calls
            if c.primitive.name not in fusion.CHEAP_PRIMITIVES
        }
        runs = [_CallRun(self._find_blockwise_kind_in_run, self._write_blockwise_calls)]
        if (
            self.can_fuse
            and sum(find_scalar_float_type(self.traced_rows, c) is not None for c in self.calls) >= MIN_SCALAR_CALLS
        ):
            runs.append(
                _CallRun(
                    lambda run, call: find_scalar_float_type(self.traced_rows, call), self._write_repeated_scalar_calls
                )
            )
        if self.can_fuse:
            runs.append(
                _CallRun(
                    lambda run, call: fusion.find_fusable_float_type(self.traced_rows, call), self._write_fused_calls
                )
            )
        return runs

    def write_program(self) -> Callable[..., tuple]:
        """Write all calls and compile the program.

        Returns:
            A function that takes the arrays of the rows in ``feed_rows`` and returns a tuple with the arrays of the
            rows in ``fetch_rows``.
        """
        for call in self.calls:
            sources = self._list_unaliased_inputs(call)
            joined_run = next((run for run in self.runs if self._try_joining_run(run, call, sources)), None)
            for run in self.runs:
                if run is not joined_run and not run.rows.isdisjoint(sources):
                    self._write_and_clear_run(run)
            if joined_run is None:
                self._write_single_call(call)
        for run in self.runs:
            self._write_and_clear_run(run)
        names = "".join(f"{self._format_value_name(row)}, " for row in self.fetch_rows)
        arguments = ", ".join(f"v{row}" for row in self.feed_rows)
        text = f"def program({arguments}):\n{''.join(self.lines)}    return ({names})\n"
        return execute_definitions(text, "<formula function>", self.scope)["program"]

    # -- runs --------------------------------------------------------------------------------------

    def _try_joining_run(self, run: _CallRun, call: Call, sources: RowList) -> bool:
        """Add a call to a run if it is of the run's kind, and return whether it was added."""
        if self.block_size and len(run.calls) == MAX_LOOP_CALLS:
            self._write_and_clear_run(run)
        kind = run.find_kind(run, call)
        if kind != run.kind and not run.rows.isdisjoint(sources):
            self._write_and_clear_run(run)
            kind = run.find_kind(run, call)
        if kind is None or run.kind not in (None, kind):
            return False
        run.calls.append(call)
        run.rows.add(call.row)
        run.kind = kind
        return True

    def _write_and_clear_run(self, run: _CallRun) -> None:
        """Write the calls of a run together, or line by line if there are only a few, and empty the run."""
        calls = run.calls
        kind = run.kind
        run.calls, run.rows, run.kind = [], set(), None
        if calls and not run.write_calls(calls, kind):
            for call in calls:
                self._write_single_call(call)

    def _find_blockwise_kind_in_run(self, run: _CallRun, call: Call) -> tuple[Sizes, type] | None:
        """Return the shape and float type of a call on large arrays if it may join a run.

        Return None for all other calls, including sums of rows outside the run and calls that read a sum in the run.
        """
        kind = blockwise.find_blockwise_kind(self.traced_rows, call)
        if kind is None or (self.can_fuse and kind not in self.slow_kinds):
            return None
        inputs_in_run = [row for row in self._list_unaliased_inputs(call) if row in run.rows]
        if call.primitive.name in fusion.TOTAL_PRIMITIVES and not inputs_in_run:
            return None
        return kind if all(self.traced_rows.shape_dtypes[row][0] == kind[0] for row in inputs_in_run) else None

    def _write_blockwise_calls(self, calls: list[Call], kind: Any) -> bool:
        """Write calls on large arrays as one function that runs block by block.

        Returns:
            Whether the calls were written. False if there are too few calls.
        """
        if len(calls) < blockwise.MIN_CALLS:
            return False

        build_writer = partial(
            ProgramWriter,
            build_call_function=self.build_call_function,
            can_fuse=self.can_fuse,
            block_size=blockwise.BLOCK_SIZE,
        )
        self._write_run_function_call(
            calls,
            *blockwise.compile_blockwise_run(
                self.traced_rows, calls, kind, self._find_alias, self.consumers, build_writer
            ),
        )
        return True

    def _write_fused_calls(self, calls: list[Call], float_type: NumPyType) -> bool:
        """Write calls as one fused function.

        Returns:
            Whether the calls were written. False if there are too few calls, or if numba cannot compile them.
        """
        shapes = {row: shape for row, (shape, _) in self.traced_rows.shape_dtypes.items()}
        if sum(shapes[call.row] != () for call in calls) < (2 if self.block_size else fusion.MIN_CALLS):
            return False
        # In blocks, scalars are passed as arguments.
        # Loops that differ only in a scalar can then share their machine code.
        constants = {} if self.block_size else self.constants
        writer = fusion.FusedLoopWriter(self.traced_rows, calls, constants, self._find_alias, self.consumers)
        text = writer.write_source()
        arguments = writer.inputs + writer.array_outputs
        if self.block_size:
            text = text.replace(f"range({self.block_size})", f"range(v{arguments[-1]}.shape[0])")
        function = fusion.compile_fused_function(text, float_type, [shapes[r] for r in arguments])
        if function is None:
            return False
        self.scope |= {"empty": np.empty, "buffer": fast.create_uninitialized_array, float_type.__name__: float_type}
        for row in writer.array_outputs:
            allocator = "buffer" if prod(shapes[row]) >= fast.large_size else "empty"
            shape = f"v{self.feed_rows[0]}.shape" if self.block_size else repr(shapes[row])
            self.lines.append(f"    v{row} = {allocator}({shape}, {float_type.__name__})\n")
        self._write_run_function_call(calls, function, arguments, writer.outputs)
        self.lines += [f"    v{r} = {float_type.__name__}(v{r})\n" for r in writer.outputs if shapes[r] == ()]
        return True

    def _write_run_function_call(self, calls: Calls, function: Function, inputs: RowList, outputs: RowList) -> None:
        """Write the line that calls the function of a run, and drop arrays that are no longer read."""
        name = self._add_function_to_scope(function)
        arguments = ", ".join(f"v{row}" for row in inputs)
        results = "".join(f"v{row}, " for row in outputs)
        self.lines.append(f"    {results + '= ' if results else ''}{name}({arguments})\n")
        self._write_drop_of_unread_values(inputs, calls)

    def _add_function_to_scope(self, function: Function) -> str:
        """Add the function of a run to the scope under a new name and return the name."""
        name = f"k{self.function_count}"
        self.function_count += 1
        self.scope[name] = function
        return name

    def _write_repeated_scalar_calls(self, calls: list[Call], float_type: NumPyType) -> bool:
        """Write scalar calls as loops if they repeat the same operations.

        Returns:
            Whether the calls were written. False if loops would not pay off.
        """
        if len(calls) < MIN_SCALAR_CALLS:
            return False
        rows = {c.row for c in calls}
        leaves = list(dict.fromkeys(r for c in calls for r in self._list_unaliased_inputs(c) if r not in rows))
        positions = {row: position for position, row in enumerate(leaves + [c.row for c in calls])}
        block = np.zeros((len(positions), 4), np.int32)
        values = np.zeros(len(positions), float_type)
        for call in calls:
            inputs = [positions[r] for r in self._list_unaliased_inputs(call)]
            block[positions[call.row], :3] = call.primitive.code, inputs[0], inputs[-1]
        for row in leaves:
            if row in self.constants:
                values[positions[row]] = self.constants[row]
        function = compile_repeated_rows(block, len(leaves), float_type)
        if function is None:
            return False
        name = self._add_function_to_scope(function)
        self.scope[f"values_{name}"] = values
        self.lines.append(f"    w = values_{name}.copy()\n")
        self.lines += [f"    w[{positions[row]}] = v{row}\n" for row in leaves if row not in self.constants]
        self.lines.append(f"    {name}(w)\n")
        self._write_drop_of_unread_values([], calls)
        self.lines += [f"    v{c.row} = w[{positions[c.row]}]\n" for c in calls if self.unread_counts.get(c.row)]
        return True

    # -- rows --------------------------------------------------------------------------------------

    def _find_alias(self, row: int) -> int:
        """Return the row that contains a row's value: the row itself, or an earlier row with the same value."""
        return self.aliases.get(row, row)

    def _format_value_name(self, row: int) -> str:
        return f"v{self._find_alias(row)}"

    def _list_unaliased_inputs(self, call: Call) -> RowList:
        """Return the rows that a call reads, with aliases replaced by the rows that contain their values."""
        return [self._find_alias(row) for row in call.inputs]

    def _find_consumers(self) -> RowsByRow:
        """Return, for each row, the first row of each call that reads it, in order.

        -1 means that the caller fetches the row.
        """
        reads = ((row, call.row) for call in self.calls for row in self._list_unaliased_inputs(call))
        return group_values_by_key(chain(reads, ((self._find_alias(row), -1) for row in self.fetch_rows)))

    # -- single lines ------------------------------------------------------------------------------

    def _write_single_call(self, call: Call) -> None:
        arguments = [self._format_value_name(row) for row in call.inputs]
        formula = _find_call_formula(self.traced_rows, call, arguments)
        if formula is None and call.primitive.name == "slice":
            self.scope[f"s{call.row}"] = call.attrs["spec"]
            formula = f"{arguments[0]}[s{call.row}]"
        if formula is None:
            is_last_output_read = bool(self.consumers.get(call.row + call.outputs - 1))
            self.scope[f"f{call.row}"] = self.build_call_function(call, is_last_output_read)
            formula = f"f{call.row}({', '.join(arguments)})"
        names = ", ".join(f"v{call.row + i}" for i in range(call.outputs))
        comma = "," if call.has_tuple_output else ""
        self.lines.append(f"    {names}{comma} = {formula}\n")
        self._write_drop_of_unread_values(call.inputs, [call])

    def _write_drop_of_unread_values(self, rows: RowSequence, calls: Calls) -> None:
        """Write a line that drops large arrays if no later call reads them.

        Args:
            rows: The rows whose arrays may be dropped.
            calls: The calls that have just been written.
        """
        for call in calls:
            for row in self._list_unaliased_inputs(call):
                self.unread_counts[row] -= 1
        dropped_names = {
            f"v{row}"
            for row in map(self._find_alias, rows)
            if not self.unread_counts[row]
            and not (row in self.constants or row in self.feed_rows)  # These values are kept elsewhere.
            and prod(self.traced_rows.shape_dtypes[row][0]) >= PIECE_SIZE
        }
        if dropped_names:
            self.lines.append(f"    {' = '.join(sorted(dropped_names))} = None\n")


@dataclass(eq=False)
class _CallRun:
    """Calls of the same kind that are waiting to be written together.

    Attributes:
        find_kind: A function of (run, call) that returns the kind of a call, such as its float type, or None if the
            call cannot join.
        write_calls: A function of (calls, kind) that writes calls together, or returns False if that would not pay off.
        calls: The waiting calls.
        rows: The rows of these calls.
        kind: The kind of these calls, or None if the run is empty.
    """

    find_kind: Callable[[_CallRun, Call], Any]
    write_calls: Callable[[list[Call], Any], bool]
    calls: list[Call] = field(default_factory=list)
    rows: RowSet = field(default_factory=set)
    kind: Any = None


def find_scalar_float_type(traced_rows: TracedRowsInterface, call: Call) -> NumPyType | None:
    """Return the float type of an elementwise call on scalars, or None for any other call.

    Args:
        traced_rows: The rows of the first run.
        call: The call.
    """
    is_scalar = call.primitive.code and all(traced_rows.shape_dtypes[row][0] == () for row in (*call.inputs, call.row))
    return fusion.find_common_float_type(traced_rows, call) if is_scalar and call.outputs == 1 else None


def _find_aliases(traced_rows: TracedRowsInterface, calls: Calls) -> RowByRow:
    """Map each row that has the same value as an earlier row to that earlier row.

    Such rows are identities, first powers and repeated slices.
    """
    aliases: RowByRow = {}
    slices: dict[tuple[int, str], int] = {}  # The keys are (source, slice), and the values are the rows of the slices.
    for call in calls:
        source = aliases.get(call.inputs[0], call.inputs[0]) if call.inputs else -1
        if call.primitive.name == "slice":
            first_row = slices.setdefault((source, repr(call.attrs["spec"])), call.row)
        else:
            is_alias = call.primitive.name in _ALIASES or fusion.find_constant_exponent(traced_rows, call) == 1
            first_row = source if is_alias and traced_rows.shape_dtypes[call.row][1].kind != "O" else call.row
        if first_row != call.row:
            aliases[call.row] = first_row
    return aliases


# -- code of a single call -------------------------------------------------------------------------


def _find_call_formula(traced_rows: TracedRowsInterface, call: Call, arguments: TextList) -> OptionalText:
    """Return the formula of a call with its arguments, or None if the primitive has no formula for these dtypes."""
    primitive = call.primitive
    kinds = {traced_rows.shape_dtypes[row][1].kind for row in call.inputs}
    if not primitive.code or call.attrs or (kinds != {"f"} and primitive.name not in _ANY_DTYPE_PRIMITIVES):
        return None
    text = "x * x" if fusion.find_constant_exponent(traced_rows, call) == 2 else primitive.texts[0]
    return _build_formula_template(text).format(*arguments)


@cache
def _build_formula_template(text: str) -> str:
    """Convert a formula to a template for ``str.format``, with placeholders for the operands."""
    return replace_operands(text, ["{0}", "{1}"])


class CompiledRowEvaluator:
    """A single compiled function that computes the rows needed for a call to a traced function.

    :class:`minitape.functions.row_program.RowEvaluator` is the plain form.

    Attributes:
        traced_rows: The rows of the function: shapes, dtypes, constants and calls.
        calls: The calls that compute the needed rows, in order.
        build_writer: A function that builds the ``ProgramWriter`` for these rows.
        compute_fetches: The compiled function, which takes the arrays of the feeds and returns the arrays of the
            fetches.
    """

    def __init__(
        self,
        traced_rows: TracedRowsInterface,
        calls: Calls,
        constants: ArraysByRow,
        fetch_rows: RowSequence,
        feed_rows: RowSequence,
        build_call_function: Callable,
    ):
        """Compile the rows without loops.

        Args:
            traced_rows: The rows of the function.
            calls: The calls that compute the needed rows, in order.
            constants: The values of constant rows.
            fetch_rows: The rows whose values are returned.
            feed_rows: The rows whose values are passed in.
            build_call_function: A function that builds the function of a call from (call, whether its last output is
                read).
        """
        self.traced_rows = traced_rows
        self.calls = calls
        self.build_writer = partial(
            ProgramWriter, traced_rows, calls, constants, fetch_rows, feed_rows, build_call_function
        )
        self._compilation: _Compilation | None = None
        self.compute_fetches = self.build_writer(False).write_program()

    def fuse_loops_if_faster(self, run_count: int) -> int:
        """Compile loops with numba in the background if doing so is expected to pay off after the given number of runs.

        If a program has already run for as long as compiling takes, it will probably run for that long again. At worst,
        compiling therefore doubles the time that the program has spent so far. In the meantime, calls use the program
        without loops.

        Args:
            run_count: The number of times the rows have been computed.

        Returns:
            The number of runs after which to call this method again, or 0 if the decision is final.
        """
        if self._compilation is not None:
            return self._use_loops_when_compiled(run_count)
        sizes = [
            prod(self.traced_rows.shape_dtypes[call.row][0])
            for call in self.calls
            if fusion.find_fusable_float_type(self.traced_rows, call)
        ]
        if not kernels.can_compile_kernels() or len(sizes) < fusion.MIN_CALLS:
            return 0
        needed_runs = ceil(estimate_compile_seconds() / estimate_run_seconds(sizes))
        if run_count < needed_runs:
            return min(needed_runs, 2 * run_count)  # The estimate decreases once another program has loaded numba.
        self._compilation = _Compilation(partial(self.build_writer, True))
        return self._use_loops_when_compiled(run_count)

    def _use_loops_when_compiled(self, run_count: int) -> int:
        """Replace the program once its loops are compiled and return the result of `fuse_loops_if_faster`."""
        compilation = self._compilation
        if compilation is None or compilation.is_running:
            return run_count + 1
        if compilation.program is not None:
            self.compute_fetches = compilation.program
        self._compilation = None
        return 0


def estimate_compile_seconds() -> float:
    """Estimate how long it takes to compile a program's loops, including the import of numba if necessary."""
    return SECONDS_TO_COMPILE + (0 if "numba" in sys.modules else SECONDS_TO_LOAD_NUMBA)


def estimate_run_seconds(sizes: Sequence[int]) -> float:
    """Estimate how long a run of calls takes without loops.

    Unlike a measurement, an estimate based on the sizes is the same in every run of a program.

    Args:
        sizes: The number of elements in each call's result.
    """
    return len(sizes) * SECONDS_PER_CALL + sum(sizes) * SECONDS_PER_ELEMENT


class _Compilation:
    """The compilation of a program's loops in a separate thread.

    Attributes:
        program: The compiled program, or None if it has not been compiled yet or if compilation failed.
        is_running: Whether the thread is still running.
    """

    def __init__(self, build_writer: Callable[[], ProgramWriter]):
        """Start the compilation.

        Args:
            build_writer: A function that builds the writer of the program.
        """
        self._build_writer = build_writer
        self.program: OptionalFunction = None
        self.is_running = True
        if start_thread(self._compile_program, "minitape-fuses", daemon=False) is None:
            self.is_running = False

    def _compile_program(self) -> None:
        try:
            self.program = self._build_writer().write_program()
        except RuntimeError:  # In the meantime, another thread has added rows to the table, so nothing is replaced.
            pass
        finally:
            self.is_running = False


def build_fast_form(plain: type) -> type[CompiledRowEvaluator]:
    """Return the fast form of :class:`minitape.functions.row_program.RowEvaluator`.

    Args:
        plain: The plain form, which is not used.

    Returns:
        The class :class:`CompiledRowEvaluator`.
    """
    return CompiledRowEvaluator
