"""Elementwise primitives beyond the textbook table: special functions, safe divisions, complex parts.

One line each: name, TensorFlow's kernel, label | rule of x | rule of y. The rules are formulas over the primitives of
the table, so that one compilation serves arrays and recorded sweeps; ``-`` is a rule that passes nothing.
The forward functions stand in :mod:`minitape.engine.primitives.numerics` or below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast
from ..code import compile_text
from . import TABLE, declare, numerics
from .formula import ARRAY, reads
from .selecting import select

if TYPE_CHECKING:
    from ..typed import Array, Attributes, Function
    from . import Example, Primitive, Rule

RULES = """
lgamma          Lgamma    lnΓ     | g * digamma(x)
digamma         Digamma   ψ       | g * polygamma(ones_like(x), x)
polygamma       Polygamma ψn      | -                              | g * polygamma(x + 1, y)
zeta            Zeta      ζ       | -                              | g * -x * zeta(x + 1, y)
erfinv          Erfinv    erf⁻¹   | g * (0.8862269254527580 * exp(square(z)))
xlogy           Xlogy     x·lny   | g * xlogy(nonzero(x), y)       | g * xdivy(x, y)
xlog1py         Xlog1py   x·ln(1+y) | g * xlog1py(nonzero(x), y)   | g * xdivy(x, y + 1)
xdivy           Xdivy     x÷y     | g * xdivy(nonzero(x), y)       | g * xdivy(-x, y * y)
div_no_nan      DivNoNan  ÷       | div_no_nan(g, y)               | g * div_no_nan(div_no_nan(-x, y), y)
truncatediv     TruncateDiv //    | -                              | -
truncatemod     TruncateMod %     | -                              | -
softsign        Softsign  softsign | softsign_gate(g, x)
relu6           Relu6     relu6   | relu6_gate(g, z)
relu6_gate      Relu6Grad gate    | relu6_gate(g, y)               | zeros_like(y)
elu             Elu       elu     | elu_gate(g, z)
elu_gate        EluGrad   gate    | elu_gate(g, y)                 | select(y < 0, g * x, zeros_like(y))
selu            Selu      selu    | selu_gate(g, z)
selu_gate       SeluGrad  gate    | selu_gate(g, y)                | select(y < 0, g * x, zeros_like(y))
nearest         Rint      rint     | -
is_nan          IsNan     nan?    | -
is_inf          IsInf     inf?    | -
is_finite       IsFinite  finite? | -
"""

_UNREGISTERED = {"is_nan", "is_inf", "is_finite", "truncatemod"}  # TensorFlow has no gradient for these kernels
SELU_SCALE, SELU_SCALE_ALPHA = 1.0507009873554805, 1.7580993408473768


def _select(condition: Array, x: Array, y: Array) -> Array:
    from .choice import selected as select

    return select(condition, x, y)


def _nonzero(x: Array) -> Array:
    """1 where x is not 0, else 0, in the dtype of x."""
    from ..elements import dtype_of_any

    return TABLE["cast"](TABLE["not_equal"](x, 0), dtype=dtype_of_any(x))


def _zero_where(x: Array, value: Array) -> Array:
    return select(x == 0, np.zeros((), value.dtype), value)


def _truncatediv(x: Array, y: Array) -> Array:
    if x.dtype.kind not in "iu":
        return np.trunc(x / y)
    quotient = x // y  # |x| would be too large for the smallest integer
    return (quotient + ((quotient * y != x) & ((x < 0) != (y < 0)))).astype(x.dtype)


def _selu(x: Array) -> Array:
    return select(x < 0, SELU_SCALE_ALPHA * (ARRAY["exp"](fast.minimum(x, 0)) - 1), SELU_SCALE * x).astype(x.dtype, copy=False)


FORWARD: Attributes = {
    "xlogy": lambda x, y: _zero_where(x, x * np.log(y)),
    "xlog1py": lambda x, y: _zero_where(x, x * np.log1p(y)),
    "xdivy": lambda x, y: _zero_where(x, x / y),
    "div_no_nan": lambda x, y: _zero_where(y, x / y),
    "truncatediv": _truncatediv,
    "truncatemod": lambda x, y: np.fmod(x, y),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "relu6": lambda x: fast.minimum(fast.maximum(x, 0), 6).astype(x.dtype, copy=False),
    "relu6_gate": lambda g, z: g * ((z > 0) & (z < 6)),
    "elu": lambda x: select(x < 0, ARRAY["exp"](fast.minimum(x, 0)) - 1, x).astype(x.dtype, copy=False),
    "elu_gate": lambda g, z: select(z < 0, g * (z + 1), g).astype(g.dtype, copy=False),
    "selu": _selu,
    "selu_gate": lambda g, z: select(z < 0, g * (z + SELU_SCALE_ALPHA), g * SELU_SCALE).astype(g.dtype, copy=False),
}
FORWARD = {name: fast.by_blocks(function) for name, function in FORWARD.items()} | {
    "nearest": lambda x: np.rint(x),
    "is_nan": lambda x: np.isnan(x),
    "is_inf": lambda x: np.isinf(x),
    "is_finite": lambda x: np.isfinite(x),
}


def _example(name: str, arity: int) -> Function:
    """Inputs on which the function and two derivatives are defined; softsign has one derivative only."""

    def example(rng: np.random.Generator) -> Example:
        low = 1.5 if name in ("zeta", "polygamma") else 0.2
        first = np.array([1.0, 2.0, 3.0]) if name == "polygamma" else low + 0.6 * rng.random((2, 3))
        inputs = (first, 0.2 + 0.6 * rng.random(3))[:arity]
        return (inputs, {}, {"order": 1, "modes": ("rev",)}) if name == "softsign" else (inputs, {})

    return example


def _declare_rule(line: str) -> tuple[Primitive, list[str]]:
    head, *texts = (part.strip() for part in line.split("|"))
    name, kernel, label = head.split()
    kept = set().union(*(reads(t) for t in texts if t != "-")) - {"g"}
    primitive = declare(name, FORWARD.get(name) or getattr(numerics, name), [], op=kernel, label=label,
                        keep="".join(sorted(kept)), example=_example(name, len(texts)))  # fmt: skip
    primitive.texts = ("", *texts)
    primitive.missing = "unregistered" if name in _UNREGISTERED else "none"
    return primitive, texts


# TensorFlow registers no gradient for this kernel, so softsign has no second derivative
declare(
    "softsign_gate", lambda g, x: g / np.square(1 + np.abs(x)), None, op="SoftsignGrad", missing="unregistered", keep=""
)


def _analytic(rule: Rule) -> Function:
    """The rule for complex numbers too: d/dz of an analytic function passes g * conj(f'(z))."""

    def conjugated(g: Array, z: Array, *inputs: Array) -> Array:
        if getattr(inputs[0].dtype, "kind", "") == "c":
            z, inputs = TABLE["conj"](z), tuple(TABLE["conj"](i) for i in inputs)
        return rule(g, z, *inputs)

    return conjugated


_UNCONJUGATED = ("xlogy", "xlog1py", "xdivy")  # TensorFlow's rules for these leave complex numbers as they are
_declared = [_declare_rule(line) for line in RULES.strip().splitlines()]
_functions: dict[str, Function] = {**TABLE, "select": _select, "nonzero": _nonzero}
for _primitive, _texts in _declared:
    if _primitive.missing == "none":
        _rules = [None if t == "-" else compile_text(t, _functions) for t in _texts]
        _primitive.rules = _rules if _primitive.name in _UNCONJUGATED else [r and _analytic(r) for r in _rules]
    else:
        _primitive.rules = None


# -- complex numbers --------------------------------------------------------------------------------------------------


def _complex_abs_rule(g: Array, z: Array, x: Array) -> Array:
    up = TABLE["complex"](g, TABLE["zeros_like"](g))
    size = TABLE["complex"](z, TABLE["zeros_like"](z))
    return TABLE["div_no_nan"](up * x, size)


def _angle_rule(g: Array, z: Array, x: Array) -> Array:
    turned = TABLE["complex"](TABLE["imag"](x), TABLE["real"](x))
    return -TABLE["complex"](g, TABLE["zeros_like"](g)) * TABLE["reciprocal"](turned)


def _complex(x: Array, y: Array) -> Array:
    wide = np.complex64 if x.dtype == np.float32 else np.complex128
    return (x + 1j * y).astype(wide) if np.all(np.isfinite(x)) and np.all(np.isfinite(y)) else _by_parts(x, y, wide)


def _by_parts(x: Array, y: Array, wide: type) -> Array:
    out: np.ndarray = np.empty(np.broadcast_shapes(np.shape(x), np.shape(y)), wide)
    out.real, out.imag = x, y
    return out


declare("complex", _complex, [lambda g, z, x, y: TABLE["real"](g), lambda g, z, x, y: TABLE["imag"](g)],
        op="Complex", label="x+iy", keep="")  # fmt: skip
declare("real", lambda x: np.real(x).copy(), [lambda g, z, x: TABLE["complex"](g, TABLE["zeros_like"](g))],
        op="Real", label="Re", keep="")  # fmt: skip
declare("imag", lambda x: np.imag(x).copy(), [lambda g, z, x: TABLE["complex"](TABLE["zeros_like"](g), g)],
        op="Imag", label="Im", keep="")  # fmt: skip
declare("complex_abs", lambda x: np.abs(x), [_complex_abs_rule], op="ComplexAbs", label="abs", keep="xz")
declare(
    "squared_distance",
    lambda x, y: np.conj(x - y) * (x - y),
    [lambda g, z, x, y: 2 * g * (x - y), lambda g, z, x, y: -2 * g * (x - y)],
    op="SquaredDifference",
    label="|x-y|²",
    keep="xy",
    example=lambda rng: ((rng.normal(size=3), rng.normal(size=3)), {}),
)
declare("angle", lambda x: np.angle(x), [_angle_rule], op="Angle", label="arg", keep="x")
