"""Elementwise primitives beyond the textbook table: special functions, safe divisions, activations, complex parts.

One line each: name, TensorFlow's kernel, label | forward formula | rule of x | rule of y. Forward formulas are of
arrays; rules are of primitives, so that one compilation serves arrays and recorded sweeps. ``-`` is a rule that passes
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast
from ..code import compile_text
from . import TABLE, declare
from .choice import select_in_rule
from .formula import ARRAY, reads
from .shaping import conjugate

if TYPE_CHECKING:
    from ...types import Array, Function

RULES = """
div_no_nan      DivNoNan  ÷       | zero_where(y, x / y)  | div_no_nan(g, conjugate(y)) | g * \
conjugate(div_no_nan(div_no_nan(-x, y), y))
nearest         Rint      rint    | rint(x)               | -
"""


_ARRAY = ARRAY | {"zero_where": lambda x, value: np.where(x == 0, np.zeros((), value.dtype), value)}


def _declare_line(line: str) -> None:
    head, text, *rules = (part.strip() for part in line.split("|"))
    name, kernel, label = head.split()
    forward = compile_text(f"({text}).astype(x.dtype, copy=False)", _ARRAY, "x, y=None")
    kept = set().union(*(reads(t) for t in rules if t != "-")) - {"g"}
    made = declare(name, fast.by_blocks(forward), op=kernel, label=label, keep="".join(sorted(kept)))
    made.texts = (text, *rules)


for _line in RULES.strip().splitlines():
    _declare_line(_line)
_RECORDED: dict[str, Function] = {
    **TABLE,
    "select": select_in_rule,
    "conjugate": conjugate,
}
for _made in [p for p in TABLE.values() if p.texts and not p.code and p.missing == "none"]:
    _made.rules = [None if t == "-" else compile_text(t, _RECORDED) for t in _made.texts[1:]]


# -- complex numbers -------------------------------------------------------------------------------


def _complex_abs_rule(g: Array, z: Array, x: Array) -> Array:
    up = TABLE["complex"](g, TABLE["zeros_like"](g))
    size = TABLE["complex"](z, TABLE["zeros_like"](z))
    return TABLE["div_no_nan"](up * x, size)


def _complex(x: Array, y: Array) -> Array:
    out = np.empty(
        np.broadcast_shapes(np.shape(x), np.shape(y)), np.complex64 if x.dtype == np.float32 else np.complex128
    )
    out.real, out.imag = x, y
    return out[()]


declare("complex", _complex, [lambda g, z, x, y: TABLE["real"](g), lambda g, z, x, y: TABLE["imag"](g)],
        op="Complex", label="x+iy", keep="")  # fmt: skip
declare("real", lambda x: np.real(x).copy(), [lambda g, z, x: TABLE["complex"](g, TABLE["zeros_like"](g))],
        op="Real", label="Re", keep="")  # fmt: skip
declare("imag", lambda x: np.imag(x).copy(), [lambda g, z, x: TABLE["complex"](TABLE["zeros_like"](g), g)],
        op="Imag", label="Im", keep="")  # fmt: skip
declare("complex_abs", lambda x: np.abs(x), [_complex_abs_rule], op="ComplexAbs", label="abs", keep="xz")
