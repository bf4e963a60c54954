"""Elementwise primitives beyond the textbook table: special functions, safe divisions, activations, complex parts.

One line each: name, TensorFlow's kernel, label | forward formula | rule of x | rule of y. Forward formulas are of
arrays; rules are of primitives, so that one compilation serves arrays and recorded sweeps. ``-`` is a rule that passes
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.dtypes import dtype_of_any
from ..accelerator import fast
from ..code import compile_text
from . import TABLE, declare, numerics
from .choice import select_in_rule
from .formula import ARRAY, reads
from .selecting import select
from .shaping import conjugate

if TYPE_CHECKING:
    from ...types import Array, Function

RULES = """
lgamma          Lgamma    lnΓ     | lgamma(x)             | g * digamma(x)
digamma         Digamma   ψ       | digamma(x)            | g * polygamma(ones_like(x), x)
polygamma       Polygamma ψn      | polygamma(x, y)       | -                              | g * polygamma(x + 1, y)
zeta            Zeta      ζ       | zeta(x, y)            | -                              | g * -x * zeta(x + 1, y)
erfinv          Erfinv    erf⁻¹   | erfinv(x)             | g * (0.8862269254527580 * exp(square(z)))
xlogy           Xlogy     x·lny   | zero_where(x, x * log(y))   | g * xlogy(nonzero(x), y)   | g * xdivy(x, y)
xlog1py         Xlog1py   x·ln(1+y) | zero_where(x, x * log1p(y)) | g * xlog1py(nonzero(x), y) | g * xdivy(x, y + 1)
xdivy           Xdivy     x÷y     | zero_where(x, x / y)  | g * xdivy(nonzero(x), y)       | g * xdivy(-x, y * y)
div_no_nan      DivNoNan  ÷       | zero_where(y, x / y)  | div_no_nan(g, conjugate(y)) | g * \
conjugate(div_no_nan(div_no_nan(-x, y), y))
truncatediv     TruncateDiv //    | truncatediv(x, y)     | -                              | -
truncatemod     TruncateMod %     | fmod(x, y)            | -                              | -
softsign        Softsign  softsign | x / (1 + abs(x))     | softsign_gate(g, x)
softsign_gate   SoftsignGrad gate | x / square(1 + abs(y)) | -                             | -
relu6           Relu6     relu6   | minimum(maximum(x, 0), 6) | relu6_gate(g, z)
relu6_gate      Relu6Grad gate    | x * ((y > 0) & (y < 6)) | relu6_gate(g, y)             | zeros_like(y)
elu             Elu       elu     | select(x < 0, exp(minimum(x, 0)) - 1, x) | elu_gate(g, z)
elu_gate        EluGrad   gate    | select(y < 0, x * (y + 1), x) | elu_gate(g, y)         | select(y < 0, g * x, \
zeros_like(y))
selu            Selu      selu    | select(x < 0, ALPHA * (exp(minimum(x, 0)) - 1), SCALE * x) | selu_gate(g, z)
selu_gate       SeluGrad  gate    | select(y < 0, x * (y + ALPHA), x * SCALE) | selu_gate(g, y) | select(y < 0, g * \
x, zeros_like(y))
nearest         Rint      rint    | rint(x)               | -
is_nan          IsNan     nan?    | is_nan(x)             | -
is_inf          IsInf     inf?    | is_inf(x)             | -
is_finite       IsFinite  finite? | is_finite(x)          | -
"""

# TensorFlow has no gradient for these kernels, so softsign has no second derivative
_UNREGISTERED = {"is_nan", "is_inf", "is_finite", "truncatemod", "softsign_gate"}


def _truncatediv(x: Array, y: Array) -> Array:
    if x.dtype.kind not in "iu":
        return np.trunc(x / y)
    quotient = x // y  # |x| would be too large for the smallest integer
    return (quotient + ((quotient * y != x) & ((x < 0) != (y < 0)))).astype(x.dtype)


_ARRAY = ARRAY | {name: getattr(numerics, name) for name in ("lgamma", "digamma", "polygamma", "zeta", "erfinv")} | {
    "zero_where": lambda x, value: select(x == 0, np.zeros((), value.dtype), value),
    "truncatediv": _truncatediv, "fmod": np.fmod, "square": np.square,
    "is_nan": np.isnan, "is_inf": np.isinf, "is_finite": np.isfinite,
    "SCALE": 1.0507009873554805, "ALPHA": 1.7580993408473768,  # of selu
}  # fmt: skip


def _declare_line(line: str) -> None:
    head, text, *rules = (part.strip() for part in line.split("|"))
    name, kernel, label = head.split()
    whole = name.startswith("is_") or hasattr(numerics, name)  # bools, and what computes piece by piece itself
    forward = compile_text(text if whole else f"({text}).astype(x.dtype, copy=False)", _ARRAY, "x, y=None")
    kept = set().union(*(reads(t) for t in rules if t != "-")) - {"g"}
    made = declare(name, forward if whole else fast.by_blocks(forward), op=kernel, label=label,
                   keep="".join(sorted(kept)), missing="unregistered" if name in _UNREGISTERED else "none")  # fmt: skip
    made.texts = (text, *rules)


for _line in RULES.strip().splitlines():
    _declare_line(_line)
_RECORDED: dict[str, Function] = {
    **TABLE,
    "select": select_in_rule,
    "conjugate": conjugate,
    "nonzero": lambda x: TABLE["cast"](TABLE["not_equal"](x, 0), dtype=dtype_of_any(x)),
}
for _made in [p for p in TABLE.values() if p.texts and not p.code and p.missing == "none"]:
    _made.rules = [None if t == "-" else compile_text(t, _RECORDED) for t in _made.texts[1:]]


# -- complex numbers -------------------------------------------------------------------------------


def _complex_abs_rule(g: Array, z: Array, x: Array) -> Array:
    up = TABLE["complex"](g, TABLE["zeros_like"](g))
    size = TABLE["complex"](z, TABLE["zeros_like"](z))
    return TABLE["div_no_nan"](up * x, size)


def _angle_rule(g: Array, z: Array, x: Array) -> Array:
    turned = TABLE["complex"](TABLE["imag"](x), TABLE["real"](x))
    return -TABLE["complex"](g, TABLE["zeros_like"](g)) * TABLE["reciprocal"](turned)


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
declare("angle", lambda x: np.angle(x), [_angle_rule], op="Angle", label="arg", keep="x")
