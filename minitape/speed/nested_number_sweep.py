"""Sweep over scalars while an outer tape records.

The rules write one row after another to the shared recording, without creating tensors for them. During the sweep, an
adjoint is represented by the number of the row that contains its value.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..engine.record.row_parts import CHUNK, WIDTH
from ..engine.record.thread_state import state
from ..engine.table.float_warnings import OFF, WARNINGS, restore_fp_errors
from ..engine.table.generated_code import compile_expression, find_names
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE, to_recorded_formula
from ..engine.tensor.numbers import build_number_tensor
from ..engine.tensor.rule_functions import PYTHON_OPERATORS, compile_recorded_rules
from ..engine.tensor.tensor import EagerTensor
from .operators import ForwardFunctions

if TYPE_CHECKING:
    from ..engine.record.record import Record
    from ..engine.table.primitives import Primitive
    from ..engine.types import Function

# The functions that rules call, keyed by name.
# Each function takes (record, *input rows), writes a row, and returns its number.
ROW_WRITERS: dict[str, Any] = {}


def try_recorded_sweep_of_numbers(
    record: Record, adjoint_tensors: dict, sources: set[int], reachable: bytearray | None, last_row: int, first_row: int
) -> bool:
    """Sweep over a tape of scalars, recording the sweep if this form supports recording.

    Args:
        record: The recording to sweep over.
        adjoint_tensors: The seeds as tensors, keyed by target row. The sweep replaces them with the adjoints of the
            sources.
        sources: The source rows, whose adjoints are kept.
        reachable: For each row, whether a source is reachable through the row, or None if all rows matter.
        last_row: The row at which the sweep begins.
        first_row: The row at which the sweep ends.

    Returns:
        Whether the sweep was run. If not, nothing has changed. The recording must be open in this thread, must not
        contain calls, and must not be the recording of a first run. In addition, the recording must not be packed
        during the sweep.
    """
    open_record = state.record
    if open_record is not record or record.fixed_offset is None or record.has_calls or record.first_run is not None:
        return False
    if record.base or record.next > CHUNK // 32:  # The recording might be packed before the sweep ends.
        return False
    rows = record.rows
    matters = reachable or b"\1" * (last_row + 1)
    adjoints = {row: record.find_or_add_row(g, None, record.fixed_offset) for row, g in adjoint_tensors.items()}
    find_adjoint = adjoints.get
    warning_state = WARNINGS[OFF]
    try:
        for offset in range(WIDTH * last_row, WIDTH * first_row - 1, -WIDTH):
            row = offset // WIDTH
            op = rows[offset]
            if not op or (g := find_adjoint(row)) is None or matters[row] != 1:
                continue
            a = rows[offset + 1]
            b = rows[offset + 2]
            for i, rule in _list_share_writers(op, matters[a] > 0, matters[b] > 0):
                input_row = b if i else a
                share, total = rule(record, g, row, a, b), find_adjoint(input_row)
                adjoints[input_row] = share if total is None else ROW_WRITERS["add"](record, total, share)
            if row not in sources:
                del adjoints[row]
    finally:
        restore_fp_errors(warning_state)
    adjoint_tensors.clear()
    adjoint_tensors |= {row: _build_row_tensor(record, g) for row, g in adjoints.items()}
    return True


@cache
def _list_share_writers(code: int, *inputs_matter: bool) -> list[tuple[int, Any]]:
    """Return the functions that write the shares of an operation.

    Args:
        code: The code of the operation.
        inputs_matter: For each input, whether its share is needed.

    Returns:
        A pair for each input that matters and has a rule. Its first element is 0 for input ``a`` and 1 for ``b``. The
        second element is a function of (record, rows of g, z, x, y). The function writes the rows that compute the
        share, and returns the last row.
    """
    if not ROW_WRITERS:
        for primitive in BY_CODE:
            ROW_WRITERS[primitive.name] = line = _build_row_writer(primitive)
            ROW_WRITERS[f"{primitive.name}_number"] = lambda record, a, n, f=line: f(
                record, a, _find_or_add_number_row(record, n, a)
            )
            ROW_WRITERS[f"reflected_{primitive.name}"] = lambda record, a, n, f=line: f(
                record, _find_or_add_number_row(record, n, a), a
            )
    rules: list[tuple[int, Any]] = []
    for i, text in enumerate(BY_CODE[code - FIRST_CODE].texts[1:]):
        if inputs_matter[i] and text != "-":
            call_text = to_recorded_formula(text, "w")
            rule = compile_recorded_rules(code)[i]
            if find_names(call_text) <= {*ROW_WRITERS, *"wgzxy"}:
                rule = compile_expression(call_text, ROW_WRITERS, "w, g, z, x, y")
            else:  # The rule calls functions that are not in the table, so it runs on tensors.
                rule = lambda w, *rows, f=rule: w.find_or_add_row(f(*[_build_row_tensor(w, row) for row in rows]))  # noqa: E731
            rules.append((i, rule))
    return rules


def _build_row_writer(primitive: Primitive) -> Function:
    """Build the function (record, *input rows) that computes an operation, writes its row and returns its number."""
    code = primitive.code
    sign = PYTHON_OPERATORS.get(primitive.name)
    forward = ForwardFunctions(primitive.code)

    def write_unary(record: Record, a: int) -> int:
        rows = record.rows
        row = record.next
        x = rows[WIDTH * a + 5]
        rows += code, a, a, None, record.fixed_offset, sign(x) if sign else forward[type(x)](x)
        record.next = record.untracked_end = row + 1
        if a in record.untracked:
            record.untracked.add(row)
        return row

    def write_binary(record: Record, a: int, b: int) -> int:
        rows = record.rows
        untracked = record.untracked
        x = rows[WIDTH * a + 5]
        y = rows[WIDTH * b + 5]
        row = record.next
        rows += code, a, b, None, record.fixed_offset, sign(x, y) if sign else forward[type(x)](x, y)
        record.next = record.untracked_end = row + 1
        if a in untracked and b in untracked:
            untracked.add(row)
        return row

    return write_binary if primitive.is_binary else write_unary


def _find_or_add_number_row(record: Record, number: float, like_row: int) -> int:
    """Return the row for a Python number, writing it if necessary.

    The number is converted to the type of the value in ``like_row``.
    """
    number_type = type(record.rows[WIDTH * like_row + 5])
    tensor = record.numbers.get((number, number_type)) if number else None
    if tensor is None:
        offset: Any = record.fixed_offset
        tensor = build_number_tensor(number, number_type, record, offset)
    return tensor._row if tensor._record is record else record.find_or_add_row(tensor, None, record.fixed_offset)


def _build_row_tensor(record: Record, row: int) -> EagerTensor:
    tensor = EagerTensor()
    tensor._value = record.get_value_or_spec(row)
    tensor._record = record
    tensor._row = row
    tensor._origin = None
    return tensor
