"""Fuse runs of elementwise calls into one compiled loop.

NumPy passes over the arrays once per operation. The generated function passes over them once for all operations. This
function covers elementwise calls on arrays of the same shape, and calls that often occur between them: slices and their
adjoints, sums and means of all elements, and scalar operations. On long arrays, NumPy computes the functions for which
it has vectorized code, such as sin and exp.
"""

import re
from collections.abc import Sequence
from logging import getLogger
from math import prod
from typing import Any, Protocol

import numpy as np

from ..engine.record.row_parts import Call, Calls
from ..engine.table.generated_code import replace_operands
from ..engine.types import (
    Array,
    ArraysByRow,
    CountsByName,
    Function,
    NumPyType,
    Object,
    OptionalFloat,
    OptionalFunction,
    OptionalText,
    RowList,
    RowsByRow,
    RowSet,
    ShapeAndDtype,
    Sizes,
    TextList,
    TextPair,
    TextSequence,
)
from .compilation import compile_function
from .kernel_source import format_module_header, to_kernel_formula


class TracedRowsInterface(Protocol):
    """The part of ``minitape.functions.row_program.TracedRows`` that the program writers use.

    This class is a protocol, because the package ``functions`` imports ``speed``, and not the other way around.
    """

    @property
    def shape_dtypes(self) -> dict[int, ShapeAndDtype]:
        """The shape and dtype of each row."""

    @property
    def constants(self) -> ArraysByRow:
        """The values that are the same in every run, keyed by row."""

    @property
    def calls(self) -> dict[int, Call]:
        """The call that computes each row, keyed by row. Leaves are not included."""


MIN_CALLS = 6  # A separate loop pays off if there are at least this many array operations.
INDEX_NAMES = "ijk"
_ROW_NUMBER = re.compile(r"(?<=\b[vts])\d+")  # This matches the row number in a name.
SHORT_SIZE = 256  # For arrays up to this size, a fused loop is faster than NumPy's vectorized functions.
TOTAL_PRIMITIVES = ("reduce_sum", "reduce_mean")
CHEAP_PRIMITIVES = set(
    "add subtract multiply divide negative square maximum minimum squared_difference abs relu relu_gate "
    "reciprocal sqrt "
    "rsqrt sqrt_share tanh_share sigmoid_share mul_no_nan pow reduce_sum reduce_mean".split()
)


def find_common_float_type(traced_rows: TracedRowsInterface, call: Call) -> NumPyType | None:
    """Return the float type that a call's inputs and result all share.

    Args:
        traced_rows: The rows of the function.
        call: The call.

    Returns:
        np.float32 or np.float64, or None if there are several types or any other type.
    """
    kinds = {traced_rows.shape_dtypes[row][1].type for row in (*call.inputs, call.row)}
    return kinds.pop() if kinds in ({np.float32}, {np.float64}) else None


def find_fusable_float_type(traced_rows: TracedRowsInterface, call: Call) -> NumPyType | None:
    """Return the float type of a call if it can be part of a fused loop.

    Args:
        traced_rows: The rows of the function.
        call: The call.

    Returns:
        np.float32 or np.float64, or None if the call cannot be fused.
    """
    primitive = call.primitive
    name = primitive.name
    if call.outputs > 1 or not (primitive.code or name in ("slice", "unslice", *TOTAL_PRIMITIVES)):
        return None
    shape, *inputs = [traced_rows.shape_dtypes[row][0] for row in (call.row, *call.inputs)]
    if max(map(len, (shape, *inputs))) > len(INDEX_NAMES):
        return None
    if primitive.code:
        size = prod(shape)
        is_cheap = name in CHEAP_PRIMITIVES if name != "pow" else find_constant_exponent(traced_rows, call) in (1, 2)
        is_fusable = set(inputs) <= {(), shape} and (is_cheap or size <= SHORT_SIZE)
    elif name in TOTAL_PRIMITIVES:
        is_fusable = is_sum_or_mean_of_all_elements(call, len(inputs[0]))
    else:
        is_fusable = _has_only_forward_slices(call.attrs["spec"])
    return find_common_float_type(traced_rows, call) if is_fusable else None


def _has_only_forward_slices(spec: Object) -> bool:
    """Return whether an index consists only of slices with positive steps.

    Args:
        spec: Any NumPy index.
    """
    return isinstance(spec, tuple) and all(isinstance(part, slice) and (part.step or 1) > 0 for part in spec)


def find_constant_exponent(traced_rows: TracedRowsInterface, call: Call) -> Array:
    """Return the exponent of a power if it is a constant scalar.

    Args:
        traced_rows: The rows of the function.
        call: Any call.

    Returns:
        The scalar, or None if the call is not a power or its exponent is not a constant scalar.
    """
    value: Any = traced_rows.constants.get(call.inputs[1]) if call.primitive.name == "pow" else None
    return None if np.ndim(value) else value


def is_sum_or_mean_of_all_elements(call: Call, rank: int) -> bool:
    """Return whether a call is the sum or mean of all elements of an array with at least one axis.

    Args:
        call: Any call.
        rank: The number of axes of the call's input.
    """
    axis = call.attrs.get("axis")
    return (
        call.primitive.name in TOTAL_PRIMITIVES
        and not call.attrs.get("keepdims")
        and (axis is None or len(axis) == rank)
        and rank > 0
    )


def format_sum_or_mean_result(sum_name: str, call: Call, shape: Sizes) -> str:
    """Return the expression for a sum or mean.

    Args:
        sum_name: The name of the variable that contains the sum in double precision.
        call: A call to ``reduce_sum`` or ``reduce_mean``.
        shape: The shape of the array.
    """
    return f"T({sum_name})" if call.primitive.name == "reduce_sum" else f"T({sum_name}) / T({prod(shape)})"


def find_uniform_number(value: Array) -> OptionalFloat:
    """Return the common value of all elements of an array.

    Args:
        value: An array or a number.

    Returns:
        The value as a float, or None if the elements differ or the array is empty.
    """
    flat = np.reshape(value, -1)
    return float(flat[0]) if flat.size and (flat == flat[0]).all() else None


class FusedLoopWriter:
    """A writer for the source of a fused function that performs a group of calls.

    Attributes:
        traced_rows: The rows of the function: shapes, dtypes, constants and calls.
        calls: The calls to write, in order.
        constants: The values of constant rows, which become part of the source.
        find_alias: A function that takes a row and returns the row that contains its value.
        consumers: For each row, the rows of the calls that read it. The function returns the value of a row if a call
            outside the function reads it.
        rows: The rows of the calls.
        array_outputs: The rows whose arrays the caller passes and the function fills.
        outputs: The rows whose values the function returns: scalars and slices.
        inputs: The rows whose values the function takes, in the order of its parameters.
        lines: The lines written so far.
        loop_shape: The shape of the open loop, or None if no loop is open.
        loop_body: The assignments of the open loop, as (target, expression).
        loop_rows: The rows whose elements the open loop computes.
        sum_calls: The sums and means that the open loop computes.
        rows_after_loop: The rows whose values are complete only once the open loop has ended.
    """

    def __init__(
        self,
        traced_rows: TracedRowsInterface,
        calls: Calls,
        constants: ArraysByRow,
        find_alias: Function,
        consumers: RowsByRow,
    ):
        """Find the outputs of the function.

        Args:
            traced_rows: The rows of the function: shapes, dtypes, constants and calls.
            calls: The calls to write, in order.
            constants: The values of constant rows, which become part of the source.
            find_alias: A function that takes a row and returns the row that contains its value.
            consumers: For each row, the rows of the calls that read it.
        """
        self.traced_rows = traced_rows
        self.calls = calls
        self.constants = constants
        self.find_alias = find_alias
        self.consumers = consumers
        self.rows = {call.row for call in calls}
        output_calls = [call for call in calls if self._is_read_outside(call.row, self.rows)]
        self.array_outputs = [
            call.row
            for call in output_calls
            if call.primitive.name != "slice" and traced_rows.shape_dtypes[call.row][0] != ()
        ]
        self.outputs = [call.row for call in output_calls if call.row not in self.array_outputs]
        self.lines: TextList = []
        self.inputs: RowList = []
        self.loop_shape: Sizes | None = None
        self.loop_body: list[TextPair] = []
        self.loop_rows: RowSet = set()
        self.sum_calls: list[Call] = []
        self.rows_after_loop: RowSet = set()

    def write_source(self) -> str:
        """Write all calls and return the source of the function ``fused``.

        Returns:
            The source. The function takes the values of the rows in ``inputs``, followed by an array for each row in
            ``array_outputs``. It returns a tuple with the values of the rows in ``outputs``.
        """
        for call in self.calls:
            self._write_call(call)
        self._write_and_close_loop()
        values = "".join(f"v{row}, " for row in self.outputs)
        arguments = ", ".join(f"v{row}" for row in self.inputs + self.array_outputs)
        return f"def fused({arguments}):\n{''.join(self.lines)}    return ({values})\n"

    def _is_read_outside(self, row: int, inner_rows: RowSet) -> bool:
        return any(consumer not in inner_rows for consumer in self.consumers.get(row, ()))

    # -- calls -------------------------------------------------------------------------------------

    def _write_call(self, call: Call) -> None:
        row = call.row
        name = call.primitive.name
        shape = self.traced_rows.shape_dtypes[row][0]
        sources = [*map(self.find_alias, call.inputs)]
        if not self.rows_after_loop.isdisjoint(sources):
            self._write_and_close_loop()
        if name == "slice":
            if sources[0] in self.loop_rows:
                self._write_and_close_loop()
            self.lines.append(
                f"    v{row} = {self._get_array_or_input_name(sources[0])}{_format_slices(call.attrs['spec'])}\n"
            )
        elif name == "unslice":
            self._write_unslice(call, sources[0])
        elif name in TOTAL_PRIMITIVES:
            self.loop_body.append((f"s{row}", f"s{row} + {self._format_element_in_loop(sources[0])}"))
            self.sum_calls.append(call)
            self.rows_after_loop.add(row)
        elif shape == ():
            numbers = [self._format_constant(source) or self._get_array_or_input_name(source) for source in sources]
            self.lines.append(f"    v{row} = {self._format_call_formula(call, numbers)}\n")
        else:
            elements = [self._format_element_in_loop(source, shape) for source in sources]
            self.loop_body.append((f"t{row}", self._format_call_formula(call, elements)))
            self.loop_rows.add(row)

    def _write_unslice(self, call: Call, source: int) -> None:
        """Write the adjoint of a slice: an array of zeros into which the loop over the source copies its elements."""
        shape = call.attrs["shape"]
        spec = call.attrs["spec"]
        steps = [part.indices(size) for part, size in zip(spec, shape, strict=False)]
        positions = [
            f"{start} + {step} * {index_name}" for (start, _, step), index_name in zip(steps, INDEX_NAMES, strict=False)
        ]
        element = self._format_element_in_loop(source)
        self._write_allocation(call.row, shape)
        self.lines += _write_loop_source(shape, [f"v{call.row}[{', '.join(INDEX_NAMES[: len(shape)])}] = T(0)"])
        self.loop_body.append(
            (f"v{call.row}[{', '.join([*positions, *INDEX_NAMES[len(positions) : len(shape)]])}]", element)
        )
        self.rows_after_loop.add(call.row)

    def _write_allocation(self, row: int, shape: Sizes) -> None:
        """Write the line that creates a row's array.

        For an output, the caller passes the array, because numba allocates memory slowly.
        """
        if row not in self.array_outputs:
            self.lines.append(f"    v{row} = np.empty({shape!r}, T)\n")

    def _format_call_formula(self, call: Call, operands: TextList) -> str:
        text = call.primitive.texts[0]
        text = {1: "x", 2: "x * x"}.get(find_constant_exponent(self.traced_rows, call), text)
        return replace_operands(to_kernel_formula(text), operands)

    # -- operands ----------------------------------------------------------------------------------

    def _format_constant(self, row: int) -> OptionalText:
        """Return the source of a constant whose elements are all the same finite number, or None for other rows."""
        number = find_uniform_number(self.constants[row]) if row in self.constants else None
        return None if number is None or not np.isfinite(number) else f"T({number!r})"

    def _get_array_or_input_name(self, row: int) -> str:
        """Return the name of a value that was defined before the current loop began.

        If no call in this function computes the row, it becomes an input.
        """
        if row not in self.rows and row not in self.inputs:
            self.inputs.append(row)
        return f"v{row}"

    def _format_element_in_loop(self, row: int, shape: Sizes | None = None) -> str:
        """Return the expression for an element of a row in the loop over its shape.

        If this loop is not open, write and close the open loop first, and open this one.
        """
        shape = self.traced_rows.shape_dtypes[row][0] if shape is None else shape
        if self.loop_shape is not None and self.loop_shape != shape:
            self._write_and_close_loop()
        self.loop_shape = shape
        if row in self.loop_rows:
            return f"t{row}"
        constant = self._format_constant(row)
        if constant or self.traced_rows.shape_dtypes[row][0] == ():
            return constant or self._get_array_or_input_name(row)
        return f"{self._get_array_or_input_name(row)}[{', '.join(INDEX_NAMES[: len(shape)])}]"

    # -- loops -------------------------------------------------------------------------------------

    def _write_and_close_loop(self) -> None:
        """Write the open loop and close it. Rows that other statements read are stored in arrays."""
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
            self.loop_shape, [f"{name} = {value}" for name, value in self.loop_body] + stores
        )
        self.lines += [
            f"    v{call.row} = {format_sum_or_mean_result(f's{call.row}', call, self.loop_shape)}\n"
            for call in self.sum_calls
        ]
        self.loop_shape, self.loop_body, self.loop_rows, self.sum_calls, self.rows_after_loop = (
            None,
            [],
            set(),
            [],
            set(),
        )


def _write_loop_source(shape: Sizes, statements: TextSequence) -> TextList:
    """Return the lines of nested loops over all elements of an array with the given shape."""
    heads = [f"{'    ' * depth}for {INDEX_NAMES[depth - 1]} in range({size}):\n" for depth, size in enumerate(shape, 1)]
    return heads + [f"{'    ' * (len(shape) + 1)}{statement}\n" for statement in statements]


def _format_slices(spec: tuple[slice, ...]) -> str:
    def format_bound(value: Array) -> str:
        return "" if value is None else str(int(value))

    parts = [
        f"{format_bound(part.start)}:{format_bound(part.stop)}" + ("" if part.step is None else f":{int(part.step)}")
        for part in spec
    ]
    return f"[{', '.join(parts)}]"


def compile_fused_function(text: str, float_type: NumPyType, shapes: Sequence[Sizes]) -> OptionalFunction:
    """Compile the function ``fused`` of a source to machine code.

    Args:
        text: The source of the function.
        float_type: The type ``T`` of its scalars, np.float32 or np.float64.
        shapes: The shapes of its arguments, () for scalars. The function is called once with zeros of these shapes.

    Returns:
        The compiled function, or None if numba cannot compile it.
    """
    # Rows are renumbered starting from 0.
    # Identical loops over different rows then share their source and machine code.
    numbers_by_name: CountsByName = {}
    text = _ROW_NUMBER.sub(lambda row: str(numbers_by_name.setdefault(row[0], len(numbers_by_name))), text)
    name = np.dtype(float_type).name
    trial_arguments = [np.zeros(shape, float_type) if shape else float_type(0) for shape in shapes]
    try:
        return compile_function(f"{format_module_header(name)}\n{text}", f"fused_{name}", "fused", trial_arguments)
    except Exception as error:  # Numba may raise any error. In that case, NumPy continues to compute the calls.
        getLogger(__name__).debug("not fused: %s", error)
        return None
