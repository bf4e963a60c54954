"""Elementwise functions of ``tf.math``: one or two tensors in, one tensor of the broadcast shape out.

``UNARY`` and ``BINARY`` are tables: name, primitive, arguments (without, x) | what it computes | example. ``=name`` marks
functions that TensorFlow generates from a kernel of that name. The functions with rules of their own follow below.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from ..engine import dtypes
from ..engine.convert import convert_to_tensor
from ..engine.invalid import invalid
from ..engine.opdefs import refused_operand
from ..engine.operands import generated, hinted, is_tensor_like, pair, pairwise, strict, tensor_of, together, unary
from ..engine.operation import apply, binary
from ..engine.primitives import TABLE, special  # noqa: F401 - special fills the table
from ..engine.state import state
from ..engine.tensor import Tensor
from .quick import quick, quick_function

# of tf.math.special only
_SPECIAL = ("bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos "
            "fresnel_sin spence").split()  # fmt: skip
UNARY = """
acos acos | inverse cosine, in radians | 1.0 -> 0.0
acosh acosh =acosh | inverse hyperbolic cosine; NaN below 1 | 1.0 -> 0.0
asin asin =asin | inverse sine, in radians | 0.0 -> 0.0
asinh asinh =asinh | inverse hyperbolic sine | 0.0 -> 0.0
atan atan =atan | inverse tangent, in radians | 0.0 -> 0.0
atanh atanh =atanh | inverse hyperbolic tangent | 0.0 -> 0.0
bessel_i0 bessel_i0 | modified Bessel function of order 0 | 0.0 -> 1.0
bessel_i0e bessel_i0e | modified Bessel function of order 0, times exp(-abs(x)) | 0.0 -> 1.0
bessel_i1 bessel_i1 | modified Bessel function of order 1 | 0.0 -> 0.0
bessel_i1e bessel_i1e | modified Bessel function of order 1, times exp(-abs(x)) | 0.0 -> 0.0
bessel_j0 bessel_j0 | Bessel function of the first kind of order 0 | 0.0 -> 1.0
bessel_j1 bessel_j1 | Bessel function of the first kind of order 1 | 0.0 -> 0.0
bessel_k0 bessel_k0 | modified Bessel function of the second kind of order 0; infinite up to 0 | 1.0 -> 0.42102444
bessel_k0e bessel_k0e | modified Bessel function of the second kind of order 0, times exp(x) | 1.0 -> 1.1444631
bessel_k1 bessel_k1 | modified Bessel function of the second kind of order 1; infinite up to 0 | 1.0 -> 0.60190725
bessel_k1e bessel_k1e | modified Bessel function of the second kind of order 1, times exp(x) | 1.0 -> 1.6361535
bessel_y0 bessel_y0 | Bessel function of the second kind of order 0; -infinity up to 0 | 1.0 -> 0.08825696
bessel_y1 bessel_y1 | Bessel function of the second kind of order 1; -infinity below 0 | 1.0 -> -0.7812128
ceil ceil | smallest integer not below x; no gradient | 1.2 -> 2.0
cos cos =cos | cosine of x in radians | 0.0 -> 1.0
cosh cosh =cosh | hyperbolic cosine | 0.0 -> 1.0
dawsn dawsn | Dawson's integral, exp(-x * x) times the integral of exp(t * t) from 0 to x | 0.0 -> 0.0
digamma digamma =digamma | derivative of lgamma | 1.0 -> -0.5772157
erf erf =erf | error function | 0.0 -> 0.0
erfc erfc =erfc | complementary error function, 1 - erf(x) | 0.0 -> 1.0
erfinv erfinv | inverse of erf on (-1, 1) | 0.0 -> 0.0
exp exp | e to the power x | 0.0 -> 1.0
expm1 expm1 =expm1 | exp(x) - 1, accurate near 0 | 0.0 -> 0.0
expint expint | exponential integral Ei; NaN below 0 | 1.0 -> 1.8951178
floor floor | largest integer not above x; no gradient | 1.8 -> 1.0
fresnel_cos fresnel_cos | integral of cos(pi * t * t / 2) from 0 to x | 0.0 -> 0.0
fresnel_sin fresnel_sin | integral of sin(pi * t * t / 2) from 0 to x | 0.0 -> 0.0
is_finite is_finite =is_finite | whether x is neither infinite nor NaN | 1.0 -> True
is_inf is_inf =is_inf | whether x is infinite | 1.0 -> False
is_nan is_nan =is_nan | whether x is NaN | 1.0 -> False
lgamma lgamma =lgamma | log of the absolute value of the Gamma function | 3.0 -> 0.6931472
log log =log | natural logarithm; the gradient at 0 is infinite | 1.0 -> 0.0
log1p log1p =log1p | log(1 + x), accurate near 0 | 0.0 -> 0.0
ndtri ndtri | inverse of the normal distribution function | 0.5 -> 0.0
negative negative =neg | -x | 2.0 -> -2.0
reciprocal reciprocal =reciprocal | 1 / x | 4.0 -> 0.25
rint nearest =rint | nearest integer, halves to the even one; no gradient | 2.5 -> 2.0
rsqrt rsqrt | 1 / sqrt(x) | 4.0 -> 0.5
sigmoid sigmoid | 1 / (1 + exp(-x)) | 0.0 -> 0.5
sin sin =sin | sine of x in radians | 0.0 -> 0.0
sinh sinh =sinh | hyperbolic sine | 0.0 -> 0.0
softplus softplus features | log(1 + exp(x)), without overflow | 0.0 -> 0.6931472
softsign softsign features =softsign | x / (1 + abs(x)); has no second derivative (LookupError) | 1.0 -> 0.5
spence spence | Spence's function, the dilogarithm of 1 - x; NaN below 0 | 1.0 -> 0.0
sqrt sqrt | square root; the gradient is 0 where the incoming one is 0 | 9.0 -> 3.0
square square =square | x * x | 3.0 -> 9.0
tan tan =tan | tangent of x in radians | 0.0 -> 0.0
tanh tanh =tanh | hyperbolic tangent | 0.0 -> 0.0
"""

BINARY = """
atan2 atan2 y,x =atan2 | angle of the point (x, y), in radians | 0.0, 1.0 -> 0.0
equal equal x,y | whether x == y (InvalidArgumentError when the shapes do not broadcast) | 1, 1 -> True
floordiv floordiv x,y | floor(x / y); no gradient; InvalidArgumentError for integers divided by 0 | 7, 2 -> 3
floormod mod x,y =floor_mod | remainder of floordiv, with the sign of y | -7, 3 -> 2
greater greater x,y =greater | whether x > y | 2, 1 -> True
greater_equal greater_equal x,y =greater_equal | whether x >= y | 2, 2 -> True
igamma igamma a,x =igamma | lower regularised incomplete Gamma function P(a, x) | 1.0, 0.0 -> 0.0
igammac igammac a,x =igammac | upper regularised incomplete Gamma function Q(a, x) | 1.0, 0.0 -> 1.0
less less x,y =less | whether x < y | 2, 1 -> False
less_equal less_equal x,y =less_equal | whether x <= y | 2, 2 -> True
maximum maximum x,y =maximum | larger one; where they are equal the gradient goes to x | 1.0, 2.0 -> 2.0
minimum minimum x,y =minimum | smaller one; where they are equal the gradient goes to x | 1.0, 2.0 -> 1.0
multiply multiply x,y | x * y | 2.0, 3.0 -> 6.0
nextafter nextafter x1,x2 =next_after | next representable number after x1 towards x2 | 1.0, 1.0 -> 1.0
not_equal not_equal x,y | whether x != y | 1, 1 -> False
polygamma polygamma a,x =polygamma | derivative of order a of digamma | 1.0, 1.0 -> 1.644934
pow pow x,y | x to the power y; InvalidArgumentError for negative integer powers of integers | 2.0, 3.0 -> 8.0
realdiv divide x,y =real_div | x / y for floats | 1.0, 2.0 -> 0.5
subtract subtract x,y | x - y | 3.0, 1.0 -> 2.0
truncatediv truncatediv x,y =truncate_div | x / y rounded towards 0; no gradient | -7, 2 -> -3
truncatemod truncatemod x,y =truncate_mod | remainder of truncatediv, with the sign of x | -7, 2 -> -1
xdivy xdivy x,y | x / y, and 0 where x is 0 | 0.0, 0.0 -> 0.0
xlog1py xlog1py x,y | x * log(1 + y), and 0 where x is 0 | 0.0, -1.0 -> 0.0
xlogy xlogy x,y =xlogy | x * log(y), and 0 where x is 0 | 0.0, 0.0 -> 0.0
zeta zeta x,q =zeta | Hurwitz zeta function | 2.0, 1.0 -> 1.644934
"""


def _documented(name: str, sentence: str, example: str, arguments: str, rules: str) -> str:
    call, _, result = example.partition(" -> ")
    several = "," in arguments
    space = "tf.math" if name not in ("realdiv", "truncatediv", "truncatemod") else "tf"
    return f"""Computes elementwise: {sentence}.

    Takes {arguments.replace(",", " and ")} of {"shapes that broadcast" if several else "any shape"} and of a dtype that TensorFlow's kernel
    takes; Python values become tensors{" of one dtype" if several else ""}. {rules}
    Raises InvalidArgumentError for other dtypes{" and for shapes that do not broadcast" if several else ""}.

    >>> import minitape as tf
    >>> print({"tf.math.special" if name in _SPECIAL else space}.{name}({call}).numpy())
    {result}
    """


def _rules_of(primitive: Any) -> str:
    if primitive.flat:
        return "Not differentiable."
    texts = [t for t in primitive.texts[1:] if t != "-"]
    return f"Differentiable: {'; '.join(texts)}." if texts else "Differentiable."


def _make_all() -> None:
    for line in (UNARY + BINARY).strip().splitlines():
        if not line:
            continue
        head, sentence, example = (part.strip() for part in line.split(" | "))
        name, primitive, *rest = head.split()
        generated = next((part[1:] for part in rest if part.startswith("=")), "")
        arguments = next((part for part in rest if not part.startswith("=")), "x")
        run = partial(pairwise if "," in arguments else unary, TABLE[primitive])
        made = quick_function(name, arguments, generated, run, None if "," in arguments else TABLE[primitive])
        made.__doc__ = _documented(name, sentence, example, arguments, _rules_of(TABLE[primitive]))
        made.__module__ = __name__
        globals()[name] = made


_make_all()
mod = globals()["floormod"]


# -- functions that prepare their arguments ---------------------------------------------------------------------------


@quick()
@strict
def abs(x: Any, name: str | None = None) -> Any:
    """The absolute value; of complex numbers the modulus, which is real.

    The result has the shape of x and its (real) dtype. Differentiable: the gradient is sign(x), 0 at 0.

    >>> import minitape as tf
    >>> print(tf.abs([-2.0, 3.0]).numpy(), tf.abs(3.0 + 4.0j).numpy())
    [2. 3.] 5.0
    """
    x = tensor_of(x)
    return apply(TABLE["complex_abs" if x.dtype.kind == "c" else "abs"], (x,), {})


@quick()
@strict
def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1, elementwise; of complex numbers x / abs(x), and 0 for 0. The gradient of real tensors is 0.

    Raises InvalidArgumentError for bools, strings and unsigned integers.

    >>> import minitape as tf
    >>> print(tf.sign([-3.0, 0.0, 2.0]).numpy())
    [-1.  0.  1.]
    """
    x = tensor_of(x)
    if x.dtype.kind != "c":
        return apply(TABLE["sign"], (x,), {})
    size = TABLE["cast"](apply(TABLE["complex_abs"], (x,), {}), dtype=x.dtype)
    return apply(TABLE["div_no_nan"], (x, size), {})


@quick()
@strict
def round(x: Any, name: str | None = None) -> Any:
    """The nearest integers, halves rounded to the even one; integers come back as they are. No gradient.

    The result has the shape and dtype of ``x``.

    >>> import minitape as tf
    >>> print(tf.round([0.5, 1.5, 2.5]).numpy())
    [0. 2. 2.]
    """
    x = tensor_of(x)
    return x if x.dtype.is_integer else apply(TABLE["rint"], (x,), {})


@quick()
@strict
def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y, elementwise with broadcasting; joins strings. Differentiable (not for strings).

    Raises InvalidArgumentError when the dtypes differ or the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.add([1, 2], 3).numpy())
    [4 5]
    """
    x, y = hinted(x, y)
    if x.dtype is dtypes.string and y.dtype is not dtypes.string:
        from ..engine.operands import mismatch

        raise mismatch("Add", 1, x.dtype, y.dtype)
    return binary(TABLE["add"], x, y)


@quick()
@strict
def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, elementwise: Python's true division, which turns integers into floats.

    Differentiable. Raises TypeError when the dtypes differ.

    >>> import minitape as tf
    >>> print(tf.divide(1, 2).numpy())
    0.5
    """
    if not is_tensor_like(x):
        x = convert_to_tensor(x, y.dtype if is_tensor_like(y) else None)
    return x / y


@quick()
@strict
def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, elementwise; integers are divided as floats (float32 for 8 and 16 bits, else float64).

    Differentiable. Raises TypeError when the dtypes differ.

    >>> import minitape as tf
    >>> print(tf.truediv(3, 2))
    tf.Tensor(1.5, shape=(), dtype=float64)
    """
    x, y = _quotient(*hinted(x, y))
    return binary(TABLE["divide"], x, y)


def _quotient(x: Any, y: Any, where: str = "__truediv__") -> tuple[Any, Any]:
    """The operands of a true division as floats; TypeError when their dtypes differ."""
    if x.dtype != y.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
    if x.dtype.is_integer:
        wide = dtypes.float32 if x.dtype.size <= 2 else dtypes.float64
        return TABLE["cast"](x, dtype=wide), TABLE["cast"](y, dtype=wide)
    if x.dtype.kind in "bs":
        raise TypeError(f"Invalid dtype {x.dtype!r} in {where}. Expected one of {{{_QUOTIENT_TYPES}}}.")
    return x, y


_QUOTIENT_TYPES = ", ".join(
    f"tf.{n}" for n in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "bfloat16", "float16",
                        "float32", "float64", "complex64", "complex128"))  # fmt: skip


@quick("squared_difference")
@generated("squared_difference")
def squared_difference(x: Any, y: Any, name: str | None = None) -> Any:
    """Computes elementwise (x - y) * (x - y); of complex numbers conj(x - y) * (x - y). Differentiable.

    Raises InvalidArgumentError when the dtypes differ or the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.math.squared_difference(1.0, 3.0).numpy())
    4.0
    """
    x, y = pair(x, y)
    return binary(TABLE["squared_distance" if x.dtype.kind == "c" else "squared_difference"], x, y)


@strict
def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0. Differentiable, with gradient 0 there.

    Raises TypeError when the dtypes differ.

    >>> import minitape as tf
    >>> print(tf.math.divide_no_nan([1.0, 1.0], [2.0, 0.0]).numpy())
    [0.5 0. ]
    """
    if not is_tensor_like(x) and is_tensor_like(y):
        x, y = convert_to_tensor(x, y.dtype), tensor_of(y)
    else:
        x, y = hinted(x, y)
    return binary(TABLE["div_no_nan"], *_quotient(x, y, "tf.math.divide_no_nan"))


@strict
def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0. Differentiable, with gradient 0 there.

    >>> import minitape as tf
    >>> print(tf.math.reciprocal_no_nan([2.0, 0.0]).numpy())
    [0.5 0. ]
    """
    x = tensor_of(x)
    return binary(TABLE["div_no_nan"], convert_to_tensor(1, x.dtype), x)


@strict
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0 even if x is infinite or NaN. Differentiable.

    Raises ValueError when the dtypes differ.

    >>> import minitape as tf
    >>> print(tf.math.multiply_no_nan(float("nan"), 0.0).numpy())
    0.0
    """
    x = tensor_of(x)
    y = convert_to_tensor(y, x.dtype, name="y")
    return binary(TABLE["mul_no_nan"], x, y)


@strict
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A tensor times a number; IndexedSlices stay sparse. Differentiable.

    Raises ValueError when ``scalar`` has axes, AttributeError when x is no tensor.

    >>> import minitape as tf
    >>> print(tf.math.scalar_mul(2, tf.constant([1.0, 2.0])).numpy())
    [2. 4.]
    """
    scalar = tensor_of(scalar, x.dtype)
    if scalar.shape.rank != 0:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    from ..engine.slices import IndexedSlices

    if isinstance(x, IndexedSlices):
        return IndexedSlices(pairwise(TABLE["multiply"], scalar, x.values), x.indices, x.dense_shape)
    return pairwise(TABLE["multiply"], scalar, x)


@strict
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), computed as -softplus(-x) without overflow. Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.log_sigmoid(0.0).numpy())
    -0.6931472
    """
    x = tensor_of(x)
    return -apply(TABLE["softplus"], (-x,), {})


@strict
def erfcinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of erfc on (0, 2). Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.erfcinv(1.0).numpy())
    -0.0
    """
    return -apply(TABLE["ndtri"], (0.5 * tensor_of(x),), {}) * 0.5**0.5


@generated("betainc")
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function of three tensors of one shape (or scalars). Differentiable in x.

    InvalidArgumentError for tensors of several shapes.

    >>> import minitape as tf
    >>> print(tf.math.betainc(1.0, 2.0, 0.5).numpy())
    0.75
    """
    tensors = dict(zip("abx", together(a, b, x), strict=True))
    known = [(name, t.shape) for name, t in tensors.items() if t.shape.is_fully_defined() and t.shape.rank]
    for (one, first), (other, second) in itertools.combinations(known, 2):
        if first != second:
            sizes = " vs. ".join(str(shape.as_list()).replace(" ", "") for shape in (first, second))
            raise invalid(f"Shapes of {one} and {other} are inconsistent: {sizes}", "Betainc")
    return apply(TABLE["betainc"], tuple(tensors.values()), {})


@strict
def lbeta(x: Any, name: str | None = None) -> Tensor:
    """log |Beta(x)| along the last axis. Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.lbeta([1.0, 2.0]).numpy())
    -0.6931472
    """
    x = tensor_of(x)
    lgamma, total = TABLE["lgamma"], TABLE["reduce_sum"]
    return total(lgamma(x), axis=(-1,), keepdims=False) - lgamma(total(x, axis=(-1,), keepdims=False))


@strict
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients, highest power first, by Horner's scheme. Differentiable in both.

    Raises ValueError unless ``coeffs`` is a list.

    >>> import minitape as tf
    >>> print(tf.math.polyval([1.0, 0.0, 2.0], 3.0).numpy())
    11.0
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = tensor_of(x)
    if not coeffs:
        return TABLE["zeros_like"](x)
    values = [tensor_of(c) for c in coeffs]
    total = values[0]
    for c in values[1:]:
        total = c + total * x
    return total


# -- logic ------------------------------------------------------------------------------------------------------------


def _truths(op: str, *values: Any) -> list[Any]:
    """The operands as tensors. Where one is not at once a bool, TensorFlow asks each in turn, tensors too."""
    if state.graph is not None:
        for name, v in zip("xy", values, strict=False):
            if is_tensor_like(v) and v.dtype.kind != "b":
                raise TypeError(f"Input '{name}' of '{op}' Op has type {v.dtype.name} that does not match expected type "
                                "of bool.")  # fmt: skip
        try:
            return [convert_to_tensor(v, dtypes.bool) for v in values]
        except (TypeError, ValueError) as error:
            if len(values) < 2:
                raise
            raise refused_operand(op, values[0], values[1], error) from None
    try:
        if not any(v.dtype != bool if isinstance(v, np.generic) else type(v) is list and not v for v in values):
            return [tensor_of(v, dtypes.bool) for v in values]
    except (TypeError, ValueError):
        if any(isinstance(v, (int, float, complex)) for v in values):
            raise
    return [convert_to_tensor(v, dtypes.bool) for v in values]


@generated("logical_and")
def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x and y, elementwise for bools, with broadcasting; other dtypes raise. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.logical_and([True, False], True).numpy())
    [ True False]
    """
    return binary(TABLE["logical_and"], *_truths("LogicalAnd", x, y))


@generated("logical_or")
def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x or y, elementwise for bools, with broadcasting; other dtypes raise. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.logical_or([True, False], False).numpy())
    [ True False]
    """
    return binary(TABLE["logical_or"], *_truths("LogicalOr", x, y))


@generated("logical_not")
def logical_not(x: Any, name: str | None = None) -> Tensor:
    """not x, elementwise for bools; not differentiable.

    >>> import minitape as tf
    >>> print(tf.logical_not([True, False]).numpy())
    [False  True]
    """
    return apply(TABLE["logical_not"], tuple(_truths("LogicalNot", x)), {})


@strict
def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """Whether exactly one of x and y is true, elementwise for bools; not differentiable.

    >>> import minitape as tf
    >>> print(tf.math.logical_xor([True, False], True).numpy())
    [False  True]
    """
    x, y = _truths("LogicalOr", x, y)
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)))
