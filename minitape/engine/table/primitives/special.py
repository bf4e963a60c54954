"""Elementwise primitives beyond the textbook table: a safe division, rounding, the parts of complex numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import TABLE, declare
from .shaping import conjugate

if TYPE_CHECKING:
    from ...types import Array


def _div_no_nan(x: Array, y: Array) -> Array:
    return np.where(y == 0, np.zeros((), x.dtype), x / y).astype(x.dtype, copy=False)


def _numerator_rule(g: Array, z: Array, x: Array, y: Array) -> Array:
    return TABLE["div_no_nan"](g, conjugate(y))


def _denominator_rule(g: Array, z: Array, x: Array, y: Array) -> Array:
    divide = TABLE["div_no_nan"]
    return g * conjugate(divide(divide(-x, y), y))


def _complex_abs_rule(g: Array, z: Array, x: Array) -> Array:
    up = TABLE["complex"](g, TABLE["zeros_like"](g))
    size = TABLE["complex"](z, TABLE["zeros_like"](z))
    return TABLE["div_no_nan"](up * x, size)


def _complex(x: Array, y: Array) -> Array:
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    out = np.empty(shape, np.complex64 if x.dtype == np.float32 else np.complex128)
    out.real, out.imag = x, y
    return out[()]


made = declare("div_no_nan", _div_no_nan, [_numerator_rule, _denominator_rule], op="DivNoNan", label="÷", keep="xy")
made.texts = ("div_no_nan(x, y)", "div_no_nan(g, y)", "-g * div_no_nan(div_no_nan(x, y), y)")  # for pictures
declare("complex", _complex, [lambda g, z, x, y: TABLE["real"](g), lambda g, z, x, y: TABLE["imag"](g)],
        op="Complex", label="x+iy", keep="")  # fmt: skip
declare("real", lambda x: np.real(x).copy(), [lambda g, z, x: TABLE["complex"](g, TABLE["zeros_like"](g))],
        op="Real", label="Re", keep="")  # fmt: skip
declare("imag", lambda x: np.imag(x).copy(), [lambda g, z, x: TABLE["complex"](TABLE["zeros_like"](g), g)],
        op="Imag", label="Im", keep="")  # fmt: skip
declare("complex_abs", lambda x: np.abs(x), [_complex_abs_rule], op="ComplexAbs", label="abs", keep="xz")
