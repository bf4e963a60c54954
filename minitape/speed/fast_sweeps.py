"""Run fast backward sweeps over scalars, over arrays and calls, and over long tapes.

Each sweep computes the same adjoints as :class:`minitape.engine.backward.sweep.Sweep`. That class still handles calls
with several outputs, or with one rule for all inputs.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from ..engine.backward.row_marks import ENDS_HERE
from ..engine.backward.row_values import (
    Cells,
    TensorValues,
    add_share_to_adjoint,
    fit_share_to_input,
    get_values_by_row,
    iter_operations_backward,
)
from ..engine.backward.sweep import Sweep
from ..engine.record.row_parts import CALL, FLOAT_TYPES, WIDTH, Call
from ..engine.table.float_warnings import OFF, WARNINGS, restore_fp_errors
from ..engine.table.generated_code import compile_expression, execute_definitions
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE, LARGE, LARGE_FORMS, to_recorded_formula
from ..engine.table.primitives.formula import ARRAY, SCALAR
from ..engine.table.primitives.reduce import unbroadcast
from ..engine.tensor.rule_functions import build_recorded_functions
from ..engine.tensor.tensor import EagerTensor
from .kernels import find_kernel_and_pack_rows
from .long_sweep import LongSweep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..engine.record.record import Record
    from ..engine.table.primitives import Primitive
    from ..engine.types import Adjoint, AdjointsByRow, Function, Object, RowSet
    from .packed_rows import PackedRecord

MIN_NUMBER_ROWS, MIN_MIXED_ROWS = 24, 512  # A compiled loop may pay off for recordings with at least this many rows.


def build_fast_form(plain: Function) -> Function:
    """Return the fast form of :func:`minitape.engine.backward.sweep.run_sweep`.

    Args:
        plain: The plain form, which is not used.

    Returns:
        The function :func:`run_fast_sweep_and_get_lookup`.
    """
    return run_fast_sweep_and_get_lookup


def run_fast_sweep_and_get_lookup(
    record: PackedRecord,
    adjoints: AdjointsByRow,
    sources: RowSet,
    reachable: bytearray | None,
    is_recorded: bool,
) -> Function:
    """Run a backward sweep and return the function that looks up the adjoint of a row.

    The loop in this function handles tapes that contain only scalars, and computes the shares of all inputs of an
    operation at once. For long tapes, recorded sweeps, arrays and calls, this function selects a different sweep.

    Args:
        record: The recording to sweep over.
        adjoints: The seeds, keyed by target row. The sweep changes this dictionary.
        sources: The source rows, whose adjoints are kept.
        reachable: For each row, whether a source is reachable through the row, or None if all rows matter.
        is_recorded: Whether an outer tape records the sweep. The adjoints are then tensors.

    Returns:
        A function that takes a row and returns its adjoint, or None if the row has no adjoint.
    """
    last_row = max(adjoints)
    first_row = min(sources)
    rows = record.rows
    find_adjoint = adjoints.get
    only_numbers = record.kinds <= FLOAT_TYPES
    if not is_recorded and last_row - first_row >= (MIN_NUMBER_ROWS if only_numbers else MIN_MIXED_ROWS):
        kernel = find_kernel_and_pack_rows(record, last_row - first_row + 1)
        if kernel is not None:
            compiled_sweep = LongSweep(kernel, record, adjoints, sources, reachable)
            compiled_sweep.run_to_end()
            return compiled_sweep.get_adjoint
    if is_recorded or reachable or record.base or not only_numbers:
        _sweep_mixed_rows(record, adjoints, sources, reachable, is_recorded, last_row, first_row)
        return find_adjoint
    warning_state = WARNINGS[OFF]
    try:
        for offset in range(WIDTH * last_row, WIDTH * first_row - 1, -WIDTH):
            op = rows[offset]
            if not op or (g := find_adjoint(row := offset // WIDTH)) is None:
                continue
            input_row = rows[offset + 1]
            b = rows[offset + 2]
            z = rows[offset + 5]
            for share in SHARES[type(z)][op](g, z, rows[WIDTH * input_row + 5], rows[WIDTH * b + 5]):
                if share is not None:
                    total = find_adjoint(input_row)
                    adjoints[input_row] = share if total is None else total + share
                input_row = b
            if row not in sources:
                del adjoints[row]
    finally:
        restore_fp_errors(warning_state)
    return find_adjoint


def _sweep_mixed_rows(
    record: Record,
    adjoints: AdjointsByRow,
    sources: RowSet,
    reachable: bytearray | None,
    is_recorded: bool,
    last_row: int,
    first_row: int,
) -> None:
    """Sweep over scalars, arrays and calls, even while an outer tape is recording.

    A recorded sweep creates a tensor for a value only if a rule reads its elements. Otherwise, rules receive the array
    or spec from the recording.

    Args:
        record: The recording to sweep over.
        adjoints: The adjoints, keyed by row: the seeds at the start, and the adjoints of the sources at the end.
        sources: The source rows, whose adjoints are kept.
        reachable: For each row, whether a source is reachable through the row, or None if all rows matter.
        is_recorded: Whether an outer tape records the sweep.
        last_row: The row at which the sweep begins.
        first_row: The row at which the sweep ends.
    """
    matters = b"\1" * (last_row + 1) if reachable is None else reachable
    find_adjoint = adjoints.get
    plain_sweep = None
    ends_early = ENDS_HERE in matters
    values: Any = get_values_by_row(record)
    read_held = values.__getitem__
    read_value = TensorValues(record, values).__getitem__ if is_recorded else read_held
    warning_state = WARNINGS[OFF]
    try:
        for row, op, a, b, call in _iter_cells_backward(record, first_row, last_row):
            g: Any = find_adjoint(row)
            if (g is None and (op > CALL or call.outputs == 1)) or (ends_early and matters[row] == ENDS_HERE):
                continue
            if op > CALL:
                # The adjoint is dropped before the step, because the last share may reuse its memory.
                if row not in sources:
                    del adjoints[row]
                if is_recorded:
                    primitive = BY_CODE[op - FIRST_CODE]
                    z = read_value(row) if primitive.keeps_output else None
                    read_input = read_value if primitive.kept_inputs else read_held
                    STEPS[EagerTensor, op, matters[a], matters[b]](g, z, read_input(a), read_input(b), a, b, adjoints)
                else:
                    z = values[row]
                    value_type: type | None = type(z)
                    if value_type not in SCALAR:
                        value_type = ndarray if g.size < LARGE else None
                    STEPS[value_type, op, matters[a], matters[b]](g, z, values[a], values[b], a, b, adjoints)
                continue
            if call.outputs == 1 and not (primitive := call.primitive).code and type(primitive.rules) is tuple:
                add_call_shares_to_adjoints(call, g, matters, read_value, read_held, adjoints)
            else:
                if plain_sweep is None:
                    plain_sweep = Sweep(record, adjoints, sources, reachable, is_recorded=is_recorded)
                    plain_sweep.adjoints = adjoints
                # The first of several outputs is visited last, so all adjoints have arrived by then.
                if call.row != row or not plain_sweep.send_shares_to_inputs(call):
                    continue
                for output_row in range(row, row + call.outputs):
                    if output_row not in sources:
                        adjoints.pop(output_row, None)
                continue
            if row not in sources:
                del adjoints[row]
    finally:
        restore_fp_errors(warning_state)


def _iter_cells_backward(record: Record, first_row: int, last_row: int) -> Iterable[Cells]:
    """Iterate like :func:`iter_operations_backward`, but slice whole columns if the recording is not packed."""
    if record.base:
        return iter_operations_backward(record, first_row, last_row)
    cells = record.rows[WIDTH * first_row : WIDTH * (last_row + 1)]
    ops = cells[-6::-6]
    return compress(
        zip(range(last_row, first_row - 1, -1), ops, cells[-5::-6], cells[-4::-6], cells[-3::-6], strict=True), ops
    )


def add_call_shares_to_adjoints(
    call: Call,
    g: Adjoint,
    matters: bytes | bytearray,
    read_value: Function,
    read_held: Function,
    adjoints: AdjointsByRow,
) -> None:
    """Add the shares of a call with one output to the adjoints of its inputs.

    Args:
        call: A call whose primitive has one rule for each input.
        g: The adjoint of the output.
        matters: For each row, whether its adjoint is needed.
        read_value: A function that returns the value of a row, which is a tensor in a recorded sweep.
        read_held: A function that returns the array or spec of a row in the recording.
        adjoints: The adjoints, keyed by row. This function changes them.
    """
    primitive: Object = call.primitive
    rows = call.inputs
    z = read_value(call.row) if primitive.keeps_output else read_held(call.row)
    inputs = [*map(read_held if primitive.kept_inputs == () else read_value, rows)]
    for input_row, input_value, rule in zip(rows, inputs, primitive.rules):  # noqa: B905 - slow
        if rule is None or not matters[input_row]:
            continue
        share = rule(g, z, *inputs, **call.attrs)
        share_type = type(share)
        if share_type is ndarray or share_type in SCALAR:
            if share.shape != input_value.shape or share.dtype is not input_value.dtype:
                share = fit_share_to_input(share, input_value)
        elif share_type is EagerTensor:
            if share._value.shape != (shape := read_held(input_row).shape):
                share = unbroadcast(share, shape)
        elif share is None:
            continue
        else:
            share = fit_share_to_input(share, input_value)
        total = adjoints.get(input_row)
        adjoints[input_row] = share if total is None else add_share_to_adjoint(total, share)


def _write_share_lines(
    primitive: Primitive, rule: str, x: str, row: str, value_type: type[object] | None, may_overwrite: bool
) -> str:
    """Return the lines of a step function that compute one share and add it to the adjoint of its row.

    Args:
        primitive: The elementwise operation.
        rule: The formula for the share.
        x: The name of the input's value, "x" or "y".
        row: The name of the input's row, "a" or "b".
        value_type: The kind of value, as in the keys of :class:`_StepFunctions`.
        may_overwrite: Whether the share may reuse the memory of ``g``.
    """
    mismatches = []
    if value_type not in SCALAR and primitive.is_binary:
        mismatches.append(f"share.shape != {x}.shape")
    if "(" in rule or "." in rule:
        mismatches.append(f"share.dtype is not {x}.dtype")
    share_expression = rule
    if value_type is None and rule != "g":  # Large arrays are computed block by block.
        reuse = ", over=g" if may_overwrite else ""
        share_expression = f"rule_{x}(g, z, x, y{reuse})"
    return _STEP.format(rule=share_expression, unlike=" or ".join(mismatches) or False, x=x, row=row)


class _StepFunctions(dict["Object", "Function"]):
    """A dictionary with the step function for each line of the table. A function is generated when it is first used.

    Each key is (kind of value, code, mark of row ``a``, mark of row ``b``). The kind is a NumPy scalar type,
    ``ndarray``, ``EagerTensor`` for a recorded sweep, or None for large arrays. A mark of 0 means that the input does
    not matter. Each value is a function ``step(g, z, x, y, a, b, adjoints)``. The function adds the shares of the
    adjoint ``g`` to the adjoints of rows ``a`` and ``b``. In a recorded sweep, ``x`` and ``y`` are tensors if a rule
    reads them.
    """

    def __missing__(self, key: tuple[Object, int, int, int]) -> Function:
        """Generate and store the step function for a key."""
        value_type, code, *inputs_matter = key
        primitive = BY_CODE[code - FIRST_CODE]
        is_recorded = value_type is EagerTensor
        text = "def step(g, z, x, y, a, b, adjoints):\n    pass\n"
        # The last rule that reads g may overwrite it.
        last_row = "b" if inputs_matter[1] and primitive.is_binary else "a"
        for rule, x, row, matters in zip(primitive.texts[1:], "xy", "ab", inputs_matter, strict=False):
            if rule == "-" or not matters:
                continue
            if is_recorded:
                text += _RECORDED.format(
                    rule=to_recorded_formula(rule), like=x, x=f"{x}._value" if primitive.kept_inputs else x, row=row
                )
            else:
                text += _write_share_lines(primitive, rule, x, row, value_type, may_overwrite=row == last_row)
        functions = build_recorded_functions() if is_recorded else SCALAR.get(value_type, ARRAY)
        rules = dict(zip(("rule_x", "rule_y"), LARGE_FORMS[code].rules, strict=False))
        namespace = (
            functions
            | rules
            | {
                "kind": value_type,
                "fit_share_to_input": fit_share_to_input,
                "unbroadcast": unbroadcast,
                "add_share_to_adjoint": add_share_to_adjoint,
            }
        )
        self[key] = step = execute_definitions(text, "<formula step>", namespace)["step"]
        return step


_STEP = """
    share, total = {rule}, adjoints.get({row})
    if {unlike}:
        share = fit_share_to_input(share, {x})
    if total is None:
        adjoints[{row}] = share
    elif type(total) is kind:
        adjoints[{row}] = total + share
    else:
        adjoints[{row}] = add_share_to_adjoint(total, share)
""".lstrip("\n")
_RECORDED = """
    share, total = {rule}, adjoints.get({row})
    if type(share) is not kind:
        share = fit_share_to_input(share, {like})
    elif share._value.shape != {x}.shape:
        share = unbroadcast(share, {x}.shape)
    if total is not None:
        share = add(total, share) if type(total) is kind else add_share_to_adjoint(total, share)
    adjoints[{row}] = share
""".lstrip("\n")
STEPS = _StepFunctions()


class _ShareFunctions(dict["Object", "list[Any]"]):
    """The functions that compute all shares of a scalar operation, keyed by scalar type and then by code.

    Each function takes g, z, x and y, and returns a tuple with the share of each input, or None for an input without a
    rule. The functions for a type are compiled on first use.
    """

    def __missing__(self, number_type: Object) -> list[Any]:
        """Compile and store the functions for a scalar type."""
        texts = [", ".join("None" if t == "-" else t for t in primitive.texts[1:]) for primitive in BY_CODE]
        self[number_type] = functions = [
            *[None] * FIRST_CODE,
            *(compile_expression(f"({text},)", SCALAR[number_type]) for text in texts),
        ]
        return functions


SHARES = _ShareFunctions()
