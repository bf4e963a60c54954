"""Declare elementwise primitives outside the table of derivatives, such as safe division."""

import numpy as np

from ...types import Array
from . import TABLE, declare
from .shaping import conjugate


def _compute_div_no_nan(x: Array, y: Array) -> Array:
    return np.where(y == 0, np.zeros((), x.dtype), x / y).astype(x.dtype, copy=False)


def _apply_denominator_rule(g: Array, z: Array, x: Array, y: Array) -> Array:
    divide = TABLE["div_no_nan"]
    return g * conjugate(divide(divide(-x, y), y))


def _apply_complex_abs_rule(g: Array, z: Array, x: Array) -> Array:
    complex_adjoint = TABLE["complex"](g, TABLE["zeros_like"](g))
    complex_size = TABLE["complex"](z, TABLE["zeros_like"](z))
    return TABLE["div_no_nan"](complex_adjoint * x, complex_size)


def _compute_complex(x: Array, y: Array) -> Array:
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    number = np.empty(shape, np.complex64 if x.dtype == np.float32 else np.complex128)
    number.real = x
    number.imag = y
    return number[()]


_div_no_nan_primitive = declare(
    "div_no_nan",
    _compute_div_no_nan,
    [lambda g, z, x, y: TABLE["div_no_nan"](g, conjugate(y)), _apply_denominator_rule],
    label="÷",
    keep="xy",
)
# Pictures show these formulas. The primitive itself runs functions instead.
_div_no_nan_primitive.texts = (
    "div_no_nan(x, y)",
    "div_no_nan(g, y)",
    "-g * div_no_nan(div_no_nan(x, y), y)",
)
declare("complex", _compute_complex, [lambda g, z, x, y: TABLE["real"](g), lambda g, z, x, y: TABLE["imag"](g)],
        label="x+iy", keep="")  # fmt: skip
declare("real", lambda x: np.real(x).copy(), [lambda g, z, x: TABLE["complex"](g, TABLE["zeros_like"](g))],
        label="Re", keep="")  # fmt: skip
declare("imag", lambda x: np.imag(x).copy(), [lambda g, z, x: TABLE["complex"](TABLE["zeros_like"](g), g)],
        label="Im", keep="")  # fmt: skip
declare("complex_abs", np.abs, [_apply_complex_abs_rule], label="abs", keep="xz")
