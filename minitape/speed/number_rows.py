"""The way back over numbers that an outer tape records: rules of the table write row after row of the one recording,
and make no tensors in between. The adjoint of a row is the number of another one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..engine.recording.rows import CHUNK, WIDTH
from ..engine.recording.state import state
from ..engine.table.code import compile_text, names_in
from ..engine.table.fp import OFF, WARNINGS, restore_fp_errors
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE, as_calls
from ..engine.tensor.functions import SIGNS, number_tensor, recorded_rules
from ..engine.tensor.tensor import EagerTensor
from .operators import ForwardFunction

LINES: dict[str, Any] = {}  # what rules call: functions of a recording and rows of it that write a row


def sweep_rows(record: Any, starts: dict, sources: set[int], reachable: Any, high: int, low: int) -> bool:
    """Brings adjoints, which are tensors, down to ``sources``; False, and nothing is done, where rows are no numbers of
    the table.
    """
    outer: Any = state.record
    if outer is not record or record.fixed_site is None or record.has_calls or record.trace is not None:
        return False
    if record.base or record.next > CHUNK // 32:  # it might be packed before the end
        return False
    rows, matters = record.rows, reachable or b"\1" * (high + 1)
    adjoints = {row: record.row_or_new_leaf(g, None, record.fixed_site) for row, g in starts.items()}
    arrived = adjoints.get
    before = WARNINGS[OFF]
    try:
        for at in range(WIDTH * high, WIDTH * low - 1, -WIDTH):
            row, op = at // WIDTH, rows[at]
            if not op or (g := arrived(row)) is None or matters[row] != 1:
                continue
            a, b = rows[at + 1], rows[at + 2]
            for i, rule in _rules(op, matters[a] > 0, matters[b] > 0):
                to = b if i else a
                share, total = rule(record, g, row, a, b), arrived(to)
                adjoints[to] = share if total is None else LINES["add"](record, total, share)
            if row not in sources:
                del adjoints[row]
    finally:
        restore_fp_errors(before)
    starts.clear()
    starts |= {row: _tensor(record, g) for row, g in adjoints.items()}
    return True


@cache
def _rules(code: int, *matter: bool) -> list[tuple[int, Any]]:
    """(0 for a or 1 for b, what writes its share) of the inputs of a line of the table that matter."""
    if not LINES:
        for p in BY_CODE:
            LINES[p.name] = line = _line(p)
            LINES[f"{p.name}_number"] = lambda record, a, n, f=line: f(record, a, _number(record, n, a))
            LINES[f"reflected_{p.name}"] = lambda record, a, n, f=line: f(record, _number(record, n, a), a)
    found: list[tuple[int, Any]] = []
    for i, text in enumerate(BY_CODE[code - FIRST_CODE].texts[1:]):
        if matter[i] and text != "-":
            called, rule = as_calls(text, "w"), recorded_rules(code)[i]
            if names_in(called) <= {*LINES, *"wgzxy"}:
                rule = compile_text(called, LINES, "w, g, z, x, y")
            else:  # more than lines of the table
                rule = lambda w, *rows, f=rule: w.row_or_new_leaf(f(*[_tensor(w, row) for row in rows]))  # noqa: E731
            found.append((i, rule))
    return found


def _line(p: Any) -> Any:
    """The function that computes a line of the table of the values of rows, and writes the row of the result."""
    code, sign, forward = p.code, SIGNS.get(p.name), ForwardFunction(p.code)

    def of_one(record: Any, a: int) -> int:
        rows, row = record.rows, record.next
        x = rows[WIDTH * a + 5]
        rows += code, a, a, None, record.fixed_site, sign(x) if sign else forward[type(x)](x)
        record.next = record.untracked_end = row + 1
        if a in record.untracked:
            record.untracked.add(row)
        return row

    def of_two(record: Any, a: int, b: int) -> int:
        rows, untracked = record.rows, record.untracked
        x, y, row = rows[WIDTH * a + 5], rows[WIDTH * b + 5], record.next
        rows += code, a, b, None, record.fixed_site, sign(x, y) if sign else forward[type(x)](x, y)
        record.next = record.untracked_end = row + 1
        if a in untracked and b in untracked:
            untracked.add(row)
        return row

    return of_two if len(p.texts) == 3 else of_one


def _number(record: Any, number: float, like: int) -> Any:
    """The row of a Python number of the kind of another row."""
    kind = type(record.rows[WIDTH * like + 5])
    tensor = record.numbers.get((number, kind)) if number else None
    if tensor is None:
        tensor = number_tensor(number, kind, record, record.fixed_site)
    return tensor._row if tensor._record is record else record.row_or_new_leaf(tensor, None, record.fixed_site)


def _tensor(record: Any, row: int) -> EagerTensor:
    made = EagerTensor()
    made._value, made._record, made._row, made._origin = record.value_or_spec(row), record, row, None
    return made
