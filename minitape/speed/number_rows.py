"""The sweep over numbers that an outer tape records: rules of the table write row after row, and make no tensors in
between.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..engine.back.values import column, operations
from ..engine.recording.rows import CHUNK, LEAF, REALS, WIDTH
from ..engine.recording.state import state
from ..engine.table.code import compile_text, define, names_in, with_operands
from ..engine.table.fp import OFF, WARNINGS, restore
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE, as_calls
from ..engine.tensor.functions import real
from ..engine.tensor.tensor import EagerTensor
from .operators import ForwardFunction

if TYPE_CHECKING:
    from ..engine.table.primitives import Primitive, Rule
    from ..engine.tensor.tensor import Tensor
    from ..engine.types import Adjoint, Function, Object

MOST = CHUNK // 32  # rows of a recording: what their rules write fits into a block with them

# A line of the table. ``a`` and ``b`` are rows, or ``b`` is a Python number; ``w`` is what all such functions work
# with.
_TEXT = """
def {name}(w, {arguments}):
    values, record, put, site, untracked = w
{enter}    value = {formula}
    put(({code}, {rows}, None, site, value))
    row = len(values)
    values.append(value)
    if {constant}:
        untracked.add(row)
    return row
"""
_ENTER = "    b = number(w, b, a)\n"


def _function(p: Primitive, name: str) -> Function:
    """A line of the table as a function of rows."""
    arguments = "a, b" if len(p.texts) == 3 else "a"
    rows = ["b", "a"] if name.startswith("reflected") else ["a", arguments[-1]]
    x, y = (f"values[{row}]" for row in rows)
    calls = "(" in p.texts[0] or "z" in p.texts[0]
    formula = (
        f"forward[type({x})]({x if arguments == 'a' else f'{x}, {y}'})" if calls else with_operands(p.texts[0], [x, y])
    )
    text = _TEXT.format(
        name=name,
        arguments=arguments,
        formula=formula,
        code=p.code,
        rows=", ".join(rows),
        enter="" if name == p.name else _ENTER,
        constant=" and ".join(f"{a} in untracked" for a in arguments.split(", ")),
    )
    return define(text, "<formula row>", {"forward": ForwardFunction(p.code), "number": _number})[name]


def _enter(w: tuple[Object, ...], tensor: Tensor) -> int:
    """The row of a tensor, which may be new."""
    values, record, _, site, _ = w
    row: int = record.enter(tensor, None, site)
    if row == len(values):
        values.append(tensor._value)
    return row


def _number(w: tuple[Object, ...], number: float, like: int) -> int:
    """The row of a Python number of the kind of another row."""
    values, record, _, site, _ = w
    kind = type(values[like])
    known = record.numbers.get((number, kind)) if number else None
    return _enter(w, real(number, kind, record, site) if known is None else known)


@cache
def _compile() -> tuple[dict[int, list[Rule | None]], Function]:
    """By code: the rules of rows, ``_refuse`` for one that needs more than lines of the table. And the function that
    adds.
    """
    texts = [[as_calls(text, "w") if text != "-" else text for text in p.texts[1:]] for p in BY_CODE]
    called = {name for rules in texts for text in rules if text != "-" for name in names_in(text)}
    known = {
        name: _function(p, name)
        for p in BY_CODE
        for name in (p.name, f"{p.name}_number", f"reflected_{p.name}")
        if name in called or name == "add"
    }

    def rule(text: str) -> Rule | None:
        if text == "-":
            return None
        return compile_text(text, known, "w, g, z, x, y") if names_in(text) <= {*known, *"wgzxy"} else _refuse

    return {code: [*map(rule, rules)] for code, rules in enumerate(texts, FIRST_CODE)} | {LEAF: []}, known["add"]


def _refuse(*rows: object) -> Adjoint:
    """In the place of a rule that is not known here."""


def sweep_rows(
    record: Any, adjoints: dict[int, Adjoint], sources: set[int], reachable: bytearray | None, high: int, low: int
) -> bool:
    """Brings adjoints, which are tensors, down to ``sources``; False, and nothing is done, where a row needs more than
    these rules.
    """
    outer: Any = state.record
    site = record.fixed if record is outer else None
    cut = slice(WIDTH * low, WIDTH * high + WIDTH, WIDTH)
    if site is None or record.called or record.base or len(record) > MOST or not record.kinds <= REALS:
        return False
    rules, add = _compile()
    for op in set(record.rows[cut]):
        if _refuse in rules[op] and (
            reachable is None
            or any(
                rule is _refuse and reachable[to]
                for _, code, *ab, _ in operations(record, low, high)
                if code == op
                for to, rule in zip(ab, rules[op])  # noqa: B905
            )
        ):
            return False
    values = column(record)
    w = values, record, record.put, site, record.untracked
    before = WARNINGS[OFF]
    try:
        rows = {row: _enter(w, g) for row, g in adjoints.items()}
        for row, op, a, b, _ in operations(record, low, high):
            g = rows.get(row)
            if g is None or (reachable is not None and reachable[row] != 1):
                continue
            for to, rule in zip((a, b), rules[op]):  # noqa: B905 - slow
                if rule is not None and (reachable is None or reachable[to]):
                    share, total = rule(w, g, row, a, b), rows.get(to)
                    rows[to] = share if total is None else add(w, total, share)
            if row not in sources:
                del rows[row]
    finally:
        restore(before)
    adjoints.clear()
    for row, g in rows.items():
        adjoints[row] = made = EagerTensor()
        made._value, made._record, made._row, made._origin = values[g], record, g, None
    return True
