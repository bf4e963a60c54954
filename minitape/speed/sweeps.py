"""The sweeps that most gradients need, written out: of numbers, of arrays and calls, and of long tapes.

Each does what :class:`minitape.engine.back.sweep.Sweep` does, which says what is computed; calls whose outputs share a
rule are handed to it.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from ..engine.back.marks import ENDS_HERE
from ..engine.back.row_values import TensorValues, add_adjoints, match_input, operations, values_of_rows
from ..engine.back.sweep import Sweep
from ..engine.recording.rows import CALL, REALS, WIDTH
from ..engine.table.code import compile_text, define
from ..engine.table.fp import OFF, WARNINGS, restore_fp_errors
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE, LARGE, LARGE_FORMS, as_calls
from ..engine.table.primitives.formula import ARRAY, SCALAR
from ..engine.table.primitives.reduce import unbroadcast
from ..engine.tensor.functions import recorded_functions
from ..engine.tensor.tensor import EagerTensor
from .long import long_sweep
from .number_rows import sweep_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..engine.back.row_values import Cells
    from ..engine.recording.record import Record
    from ..engine.recording.rows import Call
    from ..engine.types import Adjoint, Function, Object

FEW, WIDE = 24, 512  # rows from which on a compiled loop may pay: of numbers, of numbers among arrays


def run_sweep(plain: Function) -> Function:
    """The fast form of :func:`minitape.engine.back.sweep.run_sweep`."""
    return number_sweep


def number_sweep(
    record: Record, adjoints: dict[int, Adjoint], sources: set[int], reachable: bytearray | None, recorded: bool
) -> Function:
    """The sweep over a tape of numbers: what an operation hands on to its inputs is computed at once. Long tapes, the
    rows that an outer tape records, arrays and calls have sweeps of their own.
    """
    high, low, rows, arrived = max(adjoints), min(sources), record.rows, adjoints.get
    numbers = record.kinds <= REALS
    if not recorded and high - low >= (FEW if numbers else WIDE):
        long = long_sweep(record, adjoints, sources, reachable)
        if long is not None:
            long.run()
            return long.adjoint
    if recorded and numbers and sweep_rows(record, adjoints, sources, reachable, high, low):
        return arrived
    if recorded or reachable or record.base or not numbers:
        _array_sweep(record, adjoints, sources, reachable, recorded, high, low)
        return arrived
    before = WARNINGS[OFF]
    try:
        for at in range(WIDTH * high, WIDTH * low - 1, -WIDTH):
            op = rows[at]
            if not op or (g := arrived(row := at // WIDTH)) is None:
                continue
            to, b, z = rows[at + 1], rows[at + 2], rows[at + 5]
            for share in SHARES[type(z)][op](g, z, rows[WIDTH * to + 5], rows[WIDTH * b + 5]):
                if share is not None:
                    total = arrived(to)
                    adjoints[to] = share if total is None else total + share
                to = b
            if row not in sources:
                del adjoints[row]
    finally:
        restore_fp_errors(before)
    return arrived


def _array_sweep(
    record: Record,
    adjoints: dict[int, Adjoint],
    sources: set[int],
    reachable: bytearray | None,
    recorded: bool,
    high: int,
    low: int,
) -> None:
    """The sweep over numbers, arrays and calls, and over the rows that an outer tape records.

    It reads what the recording holds where a rule reads no elements: a recorded sweep makes no tensor of it then.
    """
    matters = b"\1" * (high + 1) if reachable is None else reachable
    arrived, general = adjoints.get, None
    foreign = ENDS_HERE in matters
    values: Any = values_of_rows(record)
    held = values.__getitem__
    value_of = TensorValues(record, values).__getitem__ if recorded else held
    before = WARNINGS[OFF]
    try:
        for row, op, a, b, call in _cells(record, low, high):
            g: Any = arrived(row)
            if (g is None and (op > CALL or call.outputs == 1)) or (foreign and matters[row] == ENDS_HERE):
                continue
            if op > CALL:
                if row not in sources:  # before the step, whose last share may take the place of g
                    del adjoints[row]
                if recorded:
                    primitive = BY_CODE[op - FIRST_CODE]
                    z, read = (
                        value_of(row) if primitive.keeps_output else None,
                        value_of if primitive.kept_inputs else held,
                    )
                    STEPS[EagerTensor, op, matters[a], matters[b]](g, z, read(a), read(b), a, b, adjoints)
                else:
                    z = values[row]
                    kind = type(z) if type(z) in SCALAR else ndarray if g.size < LARGE else None
                    STEPS[kind, op, matters[a], matters[b]](g, z, values[a], values[b], a, b, adjoints)
                continue
            if call.outputs == 1 and not (primitive := call.primitive).code and type(primitive.rules) is tuple:
                hand_on(call, g, matters, value_of, held, adjoints)
            else:
                if general is None:
                    general = Sweep(record, adjoints, sources, reachable, recorded=recorded)
                    general.adjoints = adjoints
                if call.row != row or not general.hand_on(call):  # of several outputs, the first is met last
                    continue
                for each in range(row, row + call.outputs):
                    if each not in sources:
                        adjoints.pop(each, None)
                continue
            if row not in sources:
                del adjoints[row]
    finally:
        restore_fp_errors(before)


def _cells(record: Record, low: int, high: int) -> Iterable[Cells]:
    """The rows of :func:`minitape.engine.back.row_values.operations`, off the list of cells at once."""
    if record.base:
        return operations(record, low, high)
    cells = record.rows[WIDTH * low : WIDTH * (high + 1)]
    ops = cells[-6::-6]  # of the last row first
    return compress(zip(range(high, low - 1, -1), ops, cells[-5::-6], cells[-4::-6], cells[-3::-6], strict=True), ops)


def hand_on(
    call: Call,
    g: Adjoint,
    matters: bytes | bytearray,
    value_of: Function,
    held: Function,
    adjoints: dict[int, Adjoint],
) -> None:
    """Hands on the adjoint of a call with one output and a rule for each input."""
    primitive: Object = call.primitive
    rows = call.inputs
    z = value_of(call.row) if primitive.keeps_output else held(call.row)
    inputs = [*map(held if primitive.kept_inputs == () else value_of, rows)]
    for to, like, rule in zip(rows, inputs, primitive.rules):  # noqa: B905 - slow
        if rule is None or not matters[to]:
            continue
        share = rule(g, z, *inputs, **call.attrs)
        kind = type(share)
        if kind is ndarray or kind in SCALAR:
            if share.shape != like.shape or share.dtype is not like.dtype:
                share = match_input(share, like)
        elif kind is EagerTensor:
            if share._value.shape != (shape := held(to).shape):
                share = unbroadcast(share, shape)
        elif share is None:
            continue
        else:
            share = match_input(share, like)
        total = adjoints.get(to)
        adjoints[to] = share if total is None else add_adjoints(total, share)


class _Steps(dict["Object", "Function"]):
    """By the kind of value (None: large arrays; tensors: recorded), code, and whether the inputs matter: the step back
    over a row of the table.

    It adds what the row hands on to the adjoints of its inputs, the rows ``a`` and ``b``. Recorded, ``x`` and ``y`` are
    tensors where a rule reads them.
    """

    def __missing__(self, key: tuple[type[object] | None, int, int, int]) -> Function:
        kind, code, *wanted = key
        p, recorded = BY_CODE[code - FIRST_CODE], kind is EagerTensor
        text = "def step(g, z, x, y, a, b, adjoints):\n    pass\n"
        last = "b" if wanted[1] and len(p.texts) == 3 else "a"  # no rule needs g after this one
        for rule, x, row, matters in zip(p.texts[1:], "xy", "ab", wanted, strict=False):
            if rule == "-" or not matters:
                continue
            if recorded:
                text += _RECORDED.format(rule=as_calls(rule), like=x, x=f"{x}._value" if p.kept_inputs else x, row=row)
            else:
                unlike = [f"share.shape != {x}.shape"] * (kind not in SCALAR and len(p.texts) == 3) + [
                    f"share.dtype is not {x}.dtype"
                ] * ("(" in rule or "." in rule)
                text += _STEP.format(
                    rule=rule if kind or rule == "g" else f"rule_{x}(g, z, x, y{', over=g' * (row == last)})",
                    unlike=" or ".join(unlike) or False,
                    x=x,
                    row=row,
                )
        functions = recorded_functions() if recorded else ARRAY if kind is None else SCALAR.get(kind, ARRAY)
        rules = dict(zip(("rule_x", "rule_y"), LARGE_FORMS[code].rules, strict=False))  # of large arrays
        space = (
            functions
            | rules
            | {"kind": kind, "match_input": match_input, "unbroadcast": unbroadcast, "add_adjoints": add_adjoints}
        )
        self[key] = step = define(text, "<formula step>", space)["step"]
        return step


_STEP = """
    share, total = {rule}, adjoints.get({row})
    if {unlike}:
        share = match_input(share, {x})
    if total is None:
        adjoints[{row}] = share
    elif type(total) is kind:
        adjoints[{row}] = total + share
    else:
        adjoints[{row}] = add_adjoints(total, share)
""".lstrip("\n")
_RECORDED = """
    share, total = {rule}, adjoints.get({row})
    if type(share) is not kind:
        share = match_input(share, {like})
    elif share._value.shape != {x}.shape:
        share = unbroadcast(share, {x}.shape)
    if total is not None:
        share = add(total, share) if type(total) is kind else add_adjoints(total, share)
    adjoints[{row}] = share
""".lstrip("\n")
STEPS = _Steps()


class _Shares(dict["Object", "list[Any]"]):
    """By the kind of a number and by code: what gives the shares of all inputs at once, None for one that gets
    nothing.
    """

    def __missing__(self, kind: Object) -> list[Any]:
        texts = [", ".join("None" if t == "-" else t for t in p.texts[1:]) for p in BY_CODE]
        self[kind] = found = [*[None] * FIRST_CODE, *(compile_text(f"({text},)", SCALAR[kind]) for text in texts)]
        return found


SHARES = _Shares()
