"""Python numbers as operands, and the functions that the rules of the table call while an outer tape records."""

from __future__ import annotations

import operator
from functools import cache, lru_cache
from types import FrameType
from typing import TYPE_CHECKING

from ..recording.rows import REALS, number_leaf
from ..recording.state import state
from ..table.accelerator import fast
from ..table.code import compile_text, names_in
from ..table.fp import ignore_fp_errors
from ..table.primitives.elementwise import BY_CODE, FIRST_CODE, RECORDED, as_calls
from .tensor import EagerTensor, Tensor

if TYPE_CHECKING:
    from ..recording.record import Record
    from ..table.primitives import Rule
    from ..types import Array, Function, Value

SIGNS: dict[str, Function] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
}


@cache
def recorded_functions() -> dict[str, Function]:
    """The functions that the table's rules call in a sweep that is recorded, see
    :func:`minitape.engine.table.primitives.elementwise.as_calls`.
    """
    called = {name for p in BY_CODE for text in p.texts[1:] if text != "-" for name in names_in(as_calls(text))}
    functions = dict(RECORDED)
    for p in BY_CODE:
        general, signature = SIGNS.get(p.name, p), "a, b" if len(p.texts) == 3 else "a"
        if p.name == "add" or not called.isdisjoint((p.name, f"{p.name}_number")):  # shares are added
            functions[p.name] = functions[f"{p.name}_number"] = fast.function(
                general, p, "rule", signature=signature, inside=True
            )
        if (name := f"reflected_{p.name}") in called:
            functions[name] = fast.function(
                _swap_operands(general), p, "rule", reflected=True, signature=signature, inside=True
            )
    return functions


def _swap_operands(function: Function) -> Function:
    return lambda a, b: function(b, a)


@cache
def recorded_rules(code: int) -> list[Rule | None]:
    """The rules of a line of the table for a sweep that is recorded."""
    return [
        None if text == "-" else compile_text(as_calls(text), recorded_functions())
        for text in BY_CODE[code - FIRST_CODE].texts[1:]
    ]


def number_operand(x: Tensor, y: float, frame: FrameType | None = None) -> Value:
    """The tensor of a Python number that is the other operand of a float tensor, in the ``frame`` of a statement; the
    number itself beside a tensor of another dtype.
    """
    record, kind = state.record, x._value.dtype.type if type(x) is EagerTensor else None
    if kind not in REALS:
        if not x.dtype.differentiable:
            return y
        kind = x.dtype._numpy
    if record is None:
        return number_tensor(y, kind)
    if y != 0 and (found := record.numbers.get((y, kind))) is not None:
        return found
    return number_tensor(y, kind, record, record.current_site(frame))


def number_tensor(number: float, kind: type, record: Record | None = None, site: int = 0) -> EagerTensor:
    """A tensor of a Python number, of a kind of floats. It becomes a leaf of the recording, which gives the same tensor
    for the same number from then on.
    """
    try:
        value = _convert(number, kind) if number != 0 else kind(number)  # 0.0 and -0.0 are one key
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    made = EagerTensor()
    made._value, made._record, made._origin = value, None, None
    if record is not None:
        made._record, made._row = record, record.append_leaf(number_leaf(number), site, value)
        if number == number and number != 0:  # 0.0 and -0.0 are one key, nan is none
            record.numbers[number, type(value)] = made
            record.numbers.setdefault(number, made)
    return made


@lru_cache(1024, typed=True)
def _convert(y: float, kind: type) -> Array:
    return ignore_fp_errors().run(kind, y)
