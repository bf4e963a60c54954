"""The functions of the table of derivatives on tensors, all made from one text: ``x * y``, ``-x``, ``tf.sin(x)``,
``tf.add(x, y)``.

What runs most often is written out: floats of one dtype that fit. Compute, make a tensor, write a row; where nothing
records, the tensor gets a note for `explain` instead. All else is left to ``general``, which asks and refuses what
TensorFlow does.
"""

from __future__ import annotations

import operator
from functools import cache, lru_cache
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np

from ..recording.evidence import origin_of_result
from ..recording.rows import FULL, REALS, WIDTH
from ..recording.state import state
from ..table.code import compile_text, define, names_in
from ..table.fp import quiet, run_number
from ..table.primitives import Primitive
from ..table.primitives.elementwise import BY_CODE, FIRST_CODE, LARGE, RECORDED, as_calls, form_of
from .tensor import EagerTensor, Tensor

if TYPE_CHECKING:
    from ..recording.record import Record
    from ..table.primitives import Rule
    from ..types import Array, Function, NumPyType, Object, Value

SIGNS: dict[str, Function] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
}

# ``x`` and ``y`` are the arrays of the operands in the order of the formula, ``a`` and ``b`` what was given. Where the
# recording knows two numbers, or small arrays, the row is written here (``_ROW``), else by ``record.write``.
_TEXT = """
def {name}({signature}):
{named}    {begin}
    kind = type({x})
    if record is not None and (site := {site}) is not None:
{known}        if {numbers}{entered} and (place := len(record.rows)) < FULL:
{number_row}            return made
        if ({arrays}){entered} and (place := len(record.rows)) < FULL:
{row}            if {constant}:
                record.untracked.add(made._row)
            return made
    record{frame} = state.record{caller}
{second}    if not ({usual}) or (record is not None and not record.eager):  # another kind of values, or a graph
        return general({arguments})
    value = {formula}
    made = EagerTensor()
    made._value, made._record = value, None
    if record is None:
        made._origin = origin_of_result(primitive, frame, {inputs})
    else:
        made._origin = None
        record.write(primitive, ({operands}), NONE, (made,), frame)
    return made
"""
_ROW = """
            value = {formula}
            record.put(({code}, {rows}, site, value))
            made = EagerTensor()
            made._value, made._record = value, record
            made._row, made._origin = record.base + place // WIDTH, None
""".lstrip("\n")
_KNOWN = """
        if type(b) is EagerTensor:
            other, {y} = b, b._value
        else:
            if type(b) is float or type(b) is int:
                other = record.numbers.get(b)
                if other is None and ({one}):
                    other = real(b, {first}.dtype.type, record, site)
            else:
                other = b._read() if hasattr(b, "_read") else None
            {y} = other._value if type(other) is EagerTensor else None
""".lstrip("\n")
_NUMBER = "kind is float32 or kind is float64"
_ARRAY = "{x}.size {bound} and {x}.dtype.char in 'fd'"
_ALIKE = (
    f"kind is ndarray is type({{other}}) and x.shape == y.shape and x.dtype is y.dtype and {_ARRAY.replace('{x}', 'x')}"
)
_BESIDE = f"kind is ndarray and type({{other}}) is {{x}}.dtype.type and {_ARRAY}"  # a number
_SMALL, _USUAL = "<= record.small", "< LARGE"
_SECOND = """
    if type(b) is EagerTensor:
        other, {y} = b, b._value
    elif type(b) is float or type(b) is int:
        other, {y} = None, b
        if record is not None:
            other = number(a, b, frame)
            if type(other) is not EagerTensor:
                return general({arguments})
            {y} = other._value
    else:
        other = b._read() if hasattr(b, "_read") else None
        if type(other) is not EagerTensor:
            return general({arguments})
        {y} = other._value
""".lstrip("\n")


_OF_ONE = {
    "known": "",
    "second": "",
    "entered": "",
    "inputs": "a",
    "operands": "a,",
    "rows": "a._row, a._row",
    "constant": "a._row in record.untracked",
    "numbers": f"({_NUMBER})",
    "arrays": _ARRAY.format(x="x", bound=_SMALL),
    "usual": f"{_NUMBER} or {_ARRAY.format(x='x', bound=_USUAL)}",
}


def _of_two(first: str, second: str, reflected: bool) -> dict[str, str]:
    """What differs where there are two operands: the arrays of ``a`` and of the other one have these names."""

    def has(condition: str, bound: str) -> str:
        return condition.format(x=first, other=second, bound=bound)

    small = (has(_ALIKE, _SMALL), has(_BESIDE, _SMALL), f"{second} is not None and fits(x, y, record.small + 1)")
    usual = (
        f"({_NUMBER}) and (other is None or type({second}) is kind)",
        has(_ALIKE, _USUAL),
        f"({has(_ARRAY, _USUAL)} if other is None else fits(x, y, LARGE))",
    )
    return {
        "known": _KNOWN.format(y=second, first=first, one=f"{_NUMBER} or {has(_ARRAY, _SMALL)}"),
        "second": _SECOND.format(y=second, arguments="a, b"),
        "entered": " and (other._record is record or record.takes(other, site))",
        "inputs": "a, other",
        "operands": "other, a" if reflected else "a, other",
        "rows": "other._row, a._row" if reflected else "a._row, other._row",
        "constant": "a._row in record.untracked and other._row in record.untracked",
        "numbers": f"({_NUMBER}) and type({second}) is kind",
        "arrays": " or ".join(small),
        "usual": " or ".join(usual),
    }


def function_of(
    primitive: Primitive,
    name: str,
    general: Function,
    reflected: bool = False,
    signature: str = "",
    reads: bool = False,
    inside: bool = False,
) -> Function:
    """A function of one tensor or two that is a line of the table of derivatives; ``reflected`` with the operands
    exchanged.

    ``general`` is asked about all that is not plain. A ``signature`` names the operands and what may follow them. One
    that ``reads`` is an operator of variables, whose first operand is the variable's state. One ``inside`` a rule has
    the site of the sweep that is recorded.
    """
    formula, binary = primitive.texts[0], len(primitive.texts) == 3
    arguments = "a, b" if binary else "a"
    operands = signature.split(", ")[: 1 + binary] if signature else []
    named = ""  # an operator's first operand is a tensor
    if operands or reads:
        first = "a = a._read()" if reads else "" if signature == arguments else f"{arguments} = {', '.join(operands)}"
        named = f"    {first}\n    if type(a) is not EagerTensor:\n        return general({arguments})\n"
    compute, kind = SIGNS.get(primitive.name), "ndarray if type(y) is ndarray else type(x)" if binary else "kind"
    # more than Python's operators: it differs by the kind of value
    function = f"forward[{kind}]" if compute is None else "compute"
    formula = f"quiet().run({function}, x{', y' if binary else ''})"
    first, second = ("y", "x") if reflected else ("x", "y")
    texts = {
        "name": name,
        "arguments": arguments,
        "signature": signature or arguments,
        "named": named,
        "code": primitive.code,
        "formula": formula,
        "x": first,
    }
    if inside:
        texts |= {
            "begin": f"record, {first} = a._record, a._value",
            "site": "record.fixed if record is state.record else None",
            "frame": ", frame",
            "caller": ", _getframe(1)",
        }
    else:
        texts |= {
            "begin": f"record, frame, {first} = a._record, _getframe(1), a._value",
            "frame": "",
            "caller": "",
            "site": "frame.f_lasti if frame is record.frame else record.follow(frame)",
        }
    texts |= _of_two(first, second, reflected) if binary else _OF_ONE
    texts["row"] = row = _ROW.format(**texts)
    texts["number_row"] = row if compute is None else row.replace("quiet().run(", "run_number(")
    space: dict[str, Object] = {
        "general": general,
        "primitive": primitive,
        "forward": ForwardFunction(primitive.code),
        "compute": compute,
        "NONE": {},
        "number": number,
        "real": real,
        "fits": fits,
        "quiet": quiet,
        "run_number": run_number,
        "state": state,
        "_getframe": _getframe,
        "origin_of_result": origin_of_result,
        "EagerTensor": EagerTensor,
        "FULL": FULL,
        "WIDTH": WIDTH,
        "LARGE": LARGE,
        "float32": np.float32,
        "float64": np.float64,
        "ndarray": np.ndarray,
    }
    return define(_TEXT.format(**texts), "<formula function>", space)[name]


class ForwardFunction(dict[type, "Function"]):
    """The forward functions of a line of the table, for numbers and arrays that fit, by the type of value."""

    def __init__(self, code: int) -> None:
        self.code = code

    def __missing__(self, kind: type) -> Function:
        self[kind] = found = form_of(self.code, np.empty(0) if kind is np.ndarray else kind()).forward
        return found


def fits(x: Array, y: Array, bound: float) -> bool:
    """Whether two operands are floats of one dtype, smaller than ``bound``, and broadcast in the usual way."""
    if x.dtype is not y.dtype or x.dtype.char not in "fd" or x.size >= bound or y.size >= bound:
        return False
    m, n = x.shape, y.shape
    return m == n or not m or not n or m[len(m) - len(n) :] == n


@cache
def recorded_functions() -> dict[str, Function]:
    """What the table's rules call in a sweep that is recorded, see
    :func:`minitape.engine.table.primitives.elementwise.as_calls`.
    """
    called = {name for p in BY_CODE for text in p.texts[1:] if text != "-" for name in names_in(as_calls(text))}
    functions = dict(RECORDED)
    for p in BY_CODE:
        general, signature = SIGNS.get(p.name, p), "a, b" if len(p.texts) == 3 else "a"
        if p.name == "add" or not called.isdisjoint((p.name, f"{p.name}_number")):  # shares are added
            functions[p.name] = functions[f"{p.name}_number"] = function_of(
                p, "rule", general, signature=signature, inside=True
            )
        if (name := f"reflected_{p.name}") in called:
            functions[name] = function_of(
                p, "rule", lambda a, b, sign=general: sign(b, a), True, signature, inside=True
            )
    return functions


@cache
def recorded_rules(code: int) -> list[Rule | None]:
    """The rules of a line of the table for a sweep that is recorded."""
    return [
        None if text == "-" else compile_text(as_calls(text), recorded_functions())
        for text in BY_CODE[code - FIRST_CODE].texts[1:]
    ]


def number(x: Tensor, y: float, frame: FrameType | None = None, site: int | None = None) -> Value:
    """A Python number as an operand of a float tensor, at the ``site`` or in the ``frame`` of a statement; a recording
    meets the same number as the same tensor.
    """
    record, kind = state.record, x._value.dtype.type if type(x) is EagerTensor else None
    if kind not in REALS:
        if not x.dtype.differentiable:
            return y
        kind = x.dtype._numpy
    if site is None and record is not None:
        if y != 0 and (found := record.numbers.get((y, kind))) is not None:
            return found
        site = record.current_site(frame)
    return real(y, kind, record, site)


def real(number: float, kind: NumPyType, record: Record | None, site: int | None) -> EagerTensor:
    """A Python number as a tensor of a kind of floats, which becomes a leaf of a recording at a site."""
    try:
        value = _convert(number, kind) if number != 0 else kind(number)  # 0.0 and -0.0 are one key
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    made = EagerTensor()
    made._value, made._record, made._origin = value, None, None
    if record is not None and site is not None:
        record.enter_number(made, number, site)
    return made


@lru_cache(1024, typed=True)
def _convert(y: float, kind: NumPyType) -> Array:
    return quiet().run(kind, y)
