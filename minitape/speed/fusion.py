"""Runs of elementwise calls fused into one compiled loop.

NumPy walks over the arrays once for each operation; the generated function walks over them once for all. It takes calls
of the textbook table on arrays of one shape, and what is commonly between them: slices and their adjoints, sums
over all elements, single numbers. Functions for which NumPy has vector code (sin, exp, ...) are left to NumPy on long
arrays.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..engine.table.generated_code import replace_operands
from .compilation import compile_function
from .kernel_source import format_module_header, to_kernel_formula

if TYPE_CHECKING:
    from ..engine.record.row_parts import Call

    class ProgramTable(Protocol):
        """What the writers of programs ask of ``minitape.functions.row_program.TraceTable``, of a package above."""

        @property
        def shape_dtypes(self) -> dict[int, tuple[tuple[int, ...], np.dtype]]: ...
        @property
        def constants(self) -> dict[int, Any]: ...
        @property
        def calls(self) -> dict[int, Call]: ...


MIN_CALLS = 6  # array operations from which on a loop of their own is worth compiling
INDEX_NAMES = "ijk"
_ROW_NUMBER = re.compile(r"(?<=\b[vts])\d+")  # the number of a row in a name
SHORT_SIZE = 256  # elements up to which a fused loop beats NumPy's vector functions
TOTAL_PRIMITIVES = ("reduce_sum", "reduce_mean")  # of all elements
CHEAP_PRIMITIVES = set(
    "add subtract multiply divide negative square maximum minimum squared_difference abs relu relu_gate "
    "reciprocal sqrt "
    "rsqrt sqrt_share tanh_share sigmoid_share mul_no_nan pow reduce_sum reduce_mean".split()
)


def find_common_float_type(table: ProgramTable, call: Call) -> Any:
    """Return the one float type of all that a call reads and returns; None where there is none."""
    kinds = {table.shape_dtypes[row][1].type for row in (*call.inputs, call.row)}
    return kinds.pop() if kinds in ({np.float32}, {np.float64}) else None


def find_fusable_float_type(table: ProgramTable, call: Call) -> Any:
    """Return the float type of a call that can be part of a fused loop; None for others."""
    primitive, name = call.primitive, call.primitive.name
    if call.outputs > 1 or not (primitive.code or name in ("slice", "unslice", *TOTAL_PRIMITIVES)):
        return None
    shape, *inputs = [table.shape_dtypes[row][0] for row in (call.row, *call.inputs)]
    if max(map(len, (shape, *inputs))) > len(INDEX_NAMES):
        return None
    if primitive.code:
        size = math.prod(shape)
        is_cheap = name in CHEAP_PRIMITIVES if name != "pow" else find_constant_exponent(table, call) in (1, 2)
        is_fusable = set(inputs) <= {(), shape} and (is_cheap or size <= SHORT_SIZE)
    elif name in TOTAL_PRIMITIVES:
        is_fusable = is_total_of_all_elements(call, len(inputs[0]))
    else:
        spec = call.attrs["spec"]
        is_fusable = isinstance(spec, tuple) and all(isinstance(part, slice) and (part.step or 1) > 0 for part in spec)
    return find_common_float_type(table, call) if is_fusable else None


def find_constant_exponent(table: ProgramTable, call: Call) -> Any:
    """Return the number to which a power raises in each run; None for other calls, and for other exponents."""
    value: Any = table.constants.get(call.inputs[1]) if call.primitive.name == "pow" else None
    return None if np.ndim(value) else value


def is_total_of_all_elements(call: Call, rank: int) -> bool:
    """Whether a call is the sum or mean of all elements of its input, which has ``rank`` axes, one at least."""
    axis = call.attrs.get("axis")
    return (
        call.primitive.name in TOTAL_PRIMITIVES
        and not call.attrs.get("keepdims")
        and (axis is None or len(axis) == rank)
        and rank > 0
    )


def format_total(sum_name: str, call: Call, shape: tuple[int, ...]) -> str:
    """Return the text of a total, given the name of the sum of the elements of this shape in double precision."""
    return f"T({sum_name})" if call.primitive.name == "reduce_sum" else f"T({sum_name}) / T({math.prod(shape)})"


def find_uniform_number(value: Any) -> float | None:
    """Return the number to which all elements of a constant are equal; None when they differ."""
    flat = np.reshape(value, -1)
    return float(flat[0]) if flat.size and (flat == flat[0]).all() else None


class FusedLoopWriter:
    """Writes the fused function of some calls; other ``consumers`` than these calls need a row's value outside."""

    def __init__(
        self,
        table: ProgramTable,
        calls: Sequence[Call],
        constants: dict[int, Any],
        find_alias: Any,
        consumers: dict[int, list[int]],
    ) -> None:
        self.table, self.calls, self.constants, self.find_alias, self.consumers = (
            table,
            calls,
            constants,
            find_alias,
            consumers,
        )
        self.rows = {call.row for call in calls}
        output_calls = [call for call in calls if self._is_read_outside(call.row, self.rows)]
        self.array_outputs = [
            call.row
            for call in output_calls
            if call.primitive.name != "slice" and table.shape_dtypes[call.row][0] != ()
        ]
        self.outputs = [call.row for call in output_calls if call.row not in self.array_outputs]
        self.lines: list[str] = []
        self.inputs: list[int] = []
        self.loop_shape: tuple[int, ...] | None = None  # of the open loop
        self.loop_body: list[tuple[str, str]] = []  # (what is set, to what)
        self.loop_rows: set[int] = set()  # rows whose elements the open loop computes
        self.sum_calls: list[Call] = []
        self.rows_after_loop: set[int] = set()  # rows that are there after the open loop

    def write_source(self) -> str:
        """Return the function's source: it takes ``inputs``, and arrays for the rows ``array_outputs``; it returns
        ``outputs``.
        """
        for call in self.calls:
            self._write_call(call)
        self._write_and_close_loop()
        values = "".join(f"v{row}, " for row in self.outputs)
        arguments = ", ".join(f"v{row}" for row in (*self.inputs, *self.array_outputs))
        return f"def fused({arguments}):\n{''.join(self.lines)}    return ({values})\n"

    def _is_read_outside(self, row: int, inner_rows: set[int]) -> bool:
        return any(consumer not in inner_rows for consumer in self.consumers.get(row, ()))

    # -- calls -------------------------------------------------------------------------------------

    def _write_call(self, call: Call) -> None:
        name, shape = call.primitive.name, self.table.shape_dtypes[call.row][0]
        sources = [self.find_alias(row) for row in call.inputs]
        if any(row in self.rows_after_loop for row in sources):
            self._write_and_close_loop()
        if name == "slice":
            if sources[0] in self.loop_rows:
                self._write_and_close_loop()
            self.lines.append(
                f"    v{call.row} = {self._name_array_or_input(sources[0])}{_format_slices(call.attrs['spec'])}\n"
            )
        elif name == "unslice":
            self._write_unslice(call, sources[0])
        elif name in TOTAL_PRIMITIVES:
            self.loop_body.append((f"s{call.row}", f"s{call.row} + {self._open_loop_and_name_element(sources[0])}"))
            self.sum_calls.append(call)
            self.rows_after_loop.add(call.row)
        elif shape == ():
            numbers = [self._format_constant(row) or self._name_array_or_input(row) for row in sources]
            self.lines.append(f"    v{call.row} = {self._format_call_formula(call, numbers)}\n")
        else:
            elements = [self._open_loop_and_name_element(row, shape) for row in sources]
            self.loop_body.append((f"t{call.row}", self._format_call_formula(call, elements)))
            self.loop_rows.add(call.row)

    def _write_unslice(self, call: Call, source: int) -> None:
        """Write zeros, into which the loop over the source puts its elements."""
        shape, spec = call.attrs["shape"], call.attrs["spec"]
        steps = [part.indices(size) for part, size in zip(spec, shape, strict=False)]
        positions = [
            f"{start} + {step} * {index_name}" for (start, _, step), index_name in zip(steps, INDEX_NAMES, strict=False)
        ]
        element = self._open_loop_and_name_element(source)
        self._write_allocation(call.row, shape)
        self.lines += _write_loop_source(shape, [f"v{call.row}[{', '.join(INDEX_NAMES[: len(shape)])}] = T(0)"])
        self.loop_body.append(
            (f"v{call.row}[{', '.join([*positions, *INDEX_NAMES[len(positions) : len(shape)]])}]", element)
        )
        self.rows_after_loop.add(call.row)

    def _write_allocation(self, row: int, shape: tuple[int, ...]) -> None:
        """Write the line that creates the array of a row, unless the caller passes it: numba allocates slowly."""
        if row not in self.array_outputs:
            self.lines.append(f"    v{row} = np.empty({shape!r}, T)\n")

    def _format_call_formula(self, call: Call, operands: list[str]) -> str:
        text = call.primitive.texts[0]
        text = {1: "x", 2: "x * x"}.get(find_constant_exponent(self.table, call), text)
        return replace_operands(to_kernel_formula(text), operands)

    # -- operands ----------------------------------------------------------------------------------

    def _format_constant(self, row: int) -> str | None:
        """Return the text of the finite number to which a constant is equal everywhere; None for other rows."""
        number = find_uniform_number(self.constants[row]) if row in self.constants else None
        return None if number is None or not np.isfinite(number) else f"T({number!r})"

    def _name_array_or_input(self, row: int) -> str:
        """Return the name of a value that exists before the open loop; a row of no call here becomes an input."""
        if row not in self.rows and row not in self.inputs:
            self.inputs.append(row)
        return f"v{row}"

    def _open_loop_and_name_element(self, row: int, shape: tuple[int, ...] | None = None) -> str:
        """Return the text of a row's element inside the loop over its shape, which is opened if it is not open yet."""
        shape = self.table.shape_dtypes[row][0] if shape is None else shape
        if self.loop_shape is not None and self.loop_shape != shape:
            self._write_and_close_loop()
        self.loop_shape = shape
        if row in self.loop_rows:
            return f"t{row}"
        constant = self._format_constant(row)
        if constant or self.table.shape_dtypes[row][0] == ():
            return constant or self._name_array_or_input(row)
        return f"{self._name_array_or_input(row)}[{', '.join(INDEX_NAMES[: len(shape)])}]"

    # -- loops -------------------------------------------------------------------------------------

    def _write_and_close_loop(self) -> None:
        """Write the open loop and close it; what other statements read of it is stored in arrays."""
        if self.loop_shape is None:
            return
        stored_rows = [
            r for r in sorted(self.loop_rows) if self._is_read_outside(r, self.loop_rows | self.rows_after_loop)
        ]
        for row in stored_rows:
            self._write_allocation(row, self.loop_shape)
        self.lines += [f"    s{call.row} = 0.0\n" for call in self.sum_calls]
        index = ", ".join(INDEX_NAMES[: len(self.loop_shape)])
        stores = [f"v{r}[{index}] = t{r}" for r in stored_rows]
        self.lines += _write_loop_source(
            self.loop_shape, [*[f"{name} = {value}" for name, value in self.loop_body], *stores]
        )
        self.lines += [
            f"    v{call.row} = {format_total(f's{call.row}', call, self.loop_shape)}\n" for call in self.sum_calls
        ]
        self.loop_shape, self.loop_body, self.loop_rows, self.sum_calls, self.rows_after_loop = (
            None,
            [],
            set(),
            [],
            set(),
        )


def _write_loop_source(shape: tuple[int, ...], statements: Sequence[str]) -> list[str]:
    """Write the lines of a loop over all elements of a shape."""
    heads = [f"{'    ' * depth}for {INDEX_NAMES[depth - 1]} in range({size}):\n" for depth, size in enumerate(shape, 1)]
    return [*heads, *[f"{'    ' * (len(shape) + 1)}{statement}\n" for statement in statements]]


def _format_slices(spec: tuple[slice, ...]) -> str:
    def format_bound(value: Any) -> str:
        return "" if value is None else str(int(value))

    parts = [
        f"{format_bound(part.start)}:{format_bound(part.stop)}" + ("" if part.step is None else f":{int(part.step)}")
        for part in spec
    ]
    return f"[{', '.join(parts)}]"


def compile_fused_function(text: str, float_type: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
    """Return the function ``fused`` of a text as machine code, tried once on zeros of these shapes; None when numba
    refuses it.
    """
    numbers_by_name: dict[str, int] = {}  # the same text for the same work in another place
    text = _ROW_NUMBER.sub(lambda row: str(numbers_by_name.setdefault(row[0], len(numbers_by_name))), text)
    name, trial_arguments = (
        np.dtype(float_type).name,
        [np.zeros(shape, float_type) if shape else float_type(0) for shape in shapes],
    )
    try:
        return compile_function(f"{format_module_header(name)}\n{text}", f"fused_{name}", "fused", trial_arguments)
    except Exception as error:  # numba has many ways to refuse; NumPy then computes as before
        logging.getLogger(__name__).debug("not fused: %s", error)
        return None
