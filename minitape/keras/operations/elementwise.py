"""``tf.keras.ops``: functions of one, two or three tensors, element by element.

What ``tf`` has under the same or another name is two lines of a table: ``name = path | what it computes``, and an
example with what it gives. The docstring is made of these and of what all functions of the table have in common.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import tf
from ...engine.tensor import Tensor
from ..base import as_float, rounded
from .common import alike, as_bool, as_it_is, convert, find, install, is_unsigned

NUMBERS = """
negative | ``-x``.
    [1.0, -2.0] -> array([-1.,  2.], dtype=float32)
square | ``x * x``.
    [3.0, -4.0] -> array([ 9., 16.], dtype=float32)
conj = math.conj | Complex numbers with the sign of the imaginary part turned.
    [1 + 2j] -> array([1.-2.j])
"""
FLOATS = """
rsqrt = math.rsqrt | ``1 / sqrt(x)``.
    [4.0, 0.25] -> array([0.5, 2. ], dtype=float32)
reciprocal = math.reciprocal | ``1 / x``.
    [2.0, -4.0] -> array([ 0.5 , -0.25], dtype=float32)
erf = math.erf | The error function.
    [0.0, 1.0] -> array([0.    , 0.8427], dtype=float32)
erfinv = math.erfinv | The inverse of ``erf`` on (-1, 1).
    [0.0, 0.5] -> array([0.    , 0.4769], dtype=float32)
"""
PROMOTED = """
arccos = acos | The angle between 0 and pi with this cosine; NaN beyond 1.
    [1.0, 0.0] -> array([0.    , 1.5708], dtype=float32)
arccosh = acosh | The inverse of ``cosh`` from 1 on; NaN below.
    [1.0, 2.0] -> array([0.   , 1.317], dtype=float32)
arcsin = asin | The angle between -pi / 2 and pi / 2 with this sine; NaN beyond 1.
    [0.0, 1.0] -> array([0.    , 1.5708], dtype=float32)
arcsinh = asinh | The inverse of ``sinh``.
    [0.0, 1.0] -> array([0.    , 0.8814], dtype=float32)
arctan = atan | The angle between -pi / 2 and pi / 2 with this tangent.
    [0.0, 1.0] -> array([0.    , 0.7854], dtype=float32)
arctanh = atanh | The inverse of ``tanh``; infinite at 1, NaN beyond.
    [0.0, 0.5] -> array([0.    , 0.5493], dtype=float32)
cos | The cosine of an angle in radians.
    [0, 1] -> array([1.    , 0.5403], dtype=float32)
cosh | ``(exp(x) + exp(-x)) / 2``.
    [0.0, 1.0] -> array([1.    , 1.5431], dtype=float32)
exp | e to the power ``x``.
    [0, 1] -> array([1.    , 2.7183], dtype=float32)
expm1 = math.expm1 | ``exp(x) - 1``, exact also near 0.
    [0.0, 1.0] -> array([0.    , 1.7183], dtype=float32)
log = math.log | The natural logarithm; NaN below 0.
    [1, 10] -> array([0.    , 2.3026], dtype=float32)
log1p = math.log1p | ``log(1 + x)``, exact also near 0.
    [0.0, 1.0] -> array([0.    , 0.6931], dtype=float32)
sin | The sine of an angle in radians.
    [0, 1] -> array([0.    , 0.8415], dtype=float32)
sinh | ``(exp(x) - exp(-x)) / 2``.
    [0.0, 1.0] -> array([0.    , 1.1752], dtype=float32)
sqrt | The square root; NaN below 0.
    [4, 9] -> array([2., 3.], dtype=float32)
tan | The tangent of an angle in radians.
    [0.0, 1.0] -> array([0.    , 1.5574], dtype=float32)
tanh | The hyperbolic tangent, between -1 and 1.
    [0.0, 1.0] -> array([0.    , 0.7616], dtype=float32)
"""
WHOLE = """
ceil = math.ceil | The smallest whole number not below ``x``.
    [1.2, -1.2] -> array([ 2., -1.], dtype=float32)
floor | The largest whole number not above ``x``.
    [1.8, -1.2] -> array([ 1., -2.], dtype=float32)
"""
PARTS = """
real = math.real | The real part.
    [1 + 2j, 3] -> array([1., 3.])
imag = math.imag | The imaginary part, 0 for real numbers.
    [1 + 2j, 3] -> array([2., 0.])
"""
KINDS = """
isfinite = math.is_finite | Where ``x`` is a number, neither infinite nor NaN.
    [1.0, float("inf"), float("nan")] -> array([ True, False, False])
isinf = math.is_inf | Where ``x`` is infinite.
    [1.0, -float("inf"), float("nan")] -> array([False,  True, False])
isnan = math.is_nan | Where ``x`` is NaN.
    [1.0, float("inf"), float("nan")] -> array([False, False,  True])
"""
NEGATION = """
logical_not | True where ``x`` is False or 0.
    [True, False] -> array([False,  True])
"""

ARITHMETIC = """
add | ``x1 + x2``.
    [10, 20], [1, 2] -> array([11, 22], dtype=int32)
subtract | ``x1 - x2``.
    [5, 7], 2 -> array([3, 5], dtype=int32)
multiply | ``x1 * x2``.
    [1, 2], 0.5 -> array([0.5, 1. ], dtype=float32)
mod = math.floormod | What ``floor_divide`` leaves; it has the sign of ``x2``.
    [7, -7], 3 -> array([1, 2], dtype=int32)
power = pow | ``x1`` to the power ``x2``.
    [2.0, 3.0], 2 -> array([4., 9.], dtype=float32)
"""
QUOTIENTS = """
divide = truediv | ``x1 / x2``, of whole numbers too as floats.
    [1, 2], 4 -> array([0.25, 0.5 ], dtype=float32)
true_divide = truediv | ``x1 / x2``; the same as ``divide``.
    3, [2, 4] -> array([1.5 , 0.75], dtype=float32)
arctan2 = atan2 | The angle of the point ``(x2, x1)``, from -pi to pi.
    [1, -1], [1, -1] -> array([ 0.7854, -2.3562], dtype=float32)
"""
CHOICES = """
maximum | The larger one; of equal ones ``x1``.
    [1, 5], 3 -> array([3, 5], dtype=int32)
minimum | The smaller one; of equal ones ``x1``.
    [1, 5], 3 -> array([1, 3], dtype=int32)
"""
FLOORED = """
floor_divide = math.floordiv | ``x1 / x2`` rounded down.
    [7, -7], 2 -> array([ 3, -4], dtype=int32)
"""
COMPARISONS = """
equal | Where ``x1 == x2``.
    [1, 2], [1, 3] -> array([ True, False])
not_equal | Where ``x1 != x2``.
    [1, 2], [1, 3] -> array([False,  True])
greater | Where ``x1 > x2``.
    [1, 2, 3], 2 -> array([False, False,  True])
greater_equal | Where ``x1 >= x2``.
    [1, 2, 3], 2 -> array([False,  True,  True])
less | Where ``x1 < x2``.
    [1, 2, 3], 2 -> array([ True, False, False])
less_equal | Where ``x1 <= x2``.
    [1, 2, 3], 2 -> array([ True,  True, False])
"""
LOGIC = """
logical_and | Where both are True.
    [True, False], True -> array([ True, False])
logical_or | Where one or both are True.
    [True, False], [0, 0] -> array([ True, False])
logical_xor = math.logical_xor | Where just one is True.
    [True, False], True -> array([False,  True])
"""

YES, BOTH, NO = "Differentiable.", "Differentiable in both.", "Not differentiable: the gradient is None."
WHOLE_TOO = "floats (whole numbers become floats first)"
OF_ONE = (
    # table, what it is given, of what, what it gives, gradient
    (NUMBERS, convert, "numbers", "its dtype", YES),
    (FLOATS, convert, "floats", "its dtype", YES),
    (PROMOTED, as_float, WHOLE_TOO, "its dtype", YES),
    (WHOLE, as_float, WHOLE_TOO, "its dtype", NO),
    (PARTS, convert, "numbers", "the float type of its parts", YES),
    (KINDS, as_float, WHOLE_TOO, "dtype bool", "Not differentiable: a gradient through it raises LookupError."),
    (NEGATION, as_bool, "bools or numbers", "dtype bool", NO),
)
OF_TWO = (
    # table, what it is given, what it gives, gradient
    (ARITHMETIC, as_it_is, "that dtype", BOTH),
    (QUOTIENTS, as_float, "that dtype; whole numbers become floats first", BOTH),
    (CHOICES, as_it_is, "that dtype", "Differentiable in the one that is taken."),
    (FLOORED, as_it_is, "that dtype", NO),
    (COMPARISONS, as_it_is, "dtype bool", NO),
    (LOGIC, as_bool, "dtype bool; what is not 0 counts as True", NO),
)
ONE = """``x`` is a tensor of any shape, or what can become one, of {0}.
    The result has the shape of ``x`` and {1}. {2}
    Raises ValueError for what cannot become a tensor."""
TWO = """``x1`` and ``x2`` are tensors, or what can become one. Of two dtypes the one that holds both is taken; a Python
    number takes that of the tensor beside it. The result has the broadcast shape and {0}.
    {1} Raises InvalidArgumentError for shapes that do not broadcast."""


def _of_one(path: str, take: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(x: Any) -> Tensor:
        return find(path)(take(x))

    return function


def _of_two(path: str, take: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(x1: Any, x2: Any) -> Tensor:
        first, second = alike(x1, x2)
        return find(path)(take(first), take(second))

    return function


for _table, _take, *_facts in OF_ONE:
    install(globals(), _table, functools.partial(_of_one, take=_take), ONE.format(*_facts))
for _table, _take, *_facts in OF_TWO:
    install(globals(), _table, functools.partial(_of_two, take=_take), TWO.format(*_facts))


# -- functions with arguments of their own ----------------------------------------------------------------------------


def abs(x: Any) -> Tensor:
    """The distance from 0.

    ``x`` is a tensor of numbers of any shape, or what can become one; the result has its shape and dtype (of complex
    numbers it has floats). Differentiable; at 0 the gradient is 0. Raises ValueError for what cannot become a tensor.

    >>> import minitape as tf
    >>> tf.keras.ops.abs([-1.5, 2.0]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    x = convert(x)
    return x if is_unsigned(x) else tf.abs(x)


def absolute(x: Any) -> Tensor:
    """The distance from 0; the same as ``abs``.

    Takes, gives and raises what ``abs`` does. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.ops.absolute([-3, 2]).numpy()
    array([3, 2], dtype=int32)
    """
    return abs(x)


def sign(x: Any) -> Tensor:
    """-1, 0 or 1 as ``x`` is below, at or above 0.

    ``x`` is a tensor of numbers of any shape, or what can become one; the result has its shape and dtype. The gradient
    is 0. Raises InvalidArgumentError for bools.

    >>> import minitape as tf
    >>> tf.keras.ops.sign([-2.5, 0.0, 7.0]).numpy()
    array([-1.,  0.,  1.], dtype=float32)
    """
    x = convert(x)
    return tf.where(x == 0, x, tf.ones_like(x)) if x.dtype.is_unsigned else tf.sign(x)


def round(x: Any, decimals: int = 0) -> Tensor:
    """The nearest number with so many decimals, halves to the even one.

    ``x`` is a tensor of numbers of any shape; the result has its shape and dtype. Negative ``decimals`` round to tens,
    hundreds, ... Not differentiable: the gradient is None.

    >>> import minitape as tf
    >>> tf.keras.ops.round([0.5, 1.5, 2.6]).numpy()
    array([0., 2., 3.], dtype=float32)
    >>> tf.keras.ops.round(tf.constant([1.27, 3.14]), decimals=1).numpy()
    array([1.3, 3.1], dtype=float32)
    """
    return rounded(x, decimals)


def stop_gradient(variable: Any) -> Tensor:
    """The same value, through which no gradient flows.

    ``variable`` is a tensor of any shape and dtype. The gradient is None.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.keras.ops.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(3.0)
    """
    return tf.stop_gradient(convert(variable))


def clip(x: Any, x_min: Any, x_max: Any) -> Tensor:
    """``x`` within the bounds ``x_min`` and ``x_max``.

    ``x`` is a tensor of numbers, the bounds are numbers or tensors that broadcast to its shape; the result has its
    shape and dtype (bools become int32). Differentiable; the gradient is 0 where a bound was taken.
    Raises InvalidArgumentError for bounds that do not broadcast.

    >>> import minitape as tf
    >>> tf.keras.ops.clip(tf.constant([-1.0, 0.5, 3.0]), 0, 1).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    x = convert(x)
    return tf.clip_by_value(convert(x, "int32") if x.dtype.name == "bool" else x, x_min, x_max)


def logaddexp(x1: Any, x2: Any) -> Tensor:
    """``log(exp(x1) + exp(x2))``, without overflow.

    ``x1`` and ``x2`` are tensors of numbers whose shapes broadcast; whole numbers become floats. Differentiable in
    both. Raises InvalidArgumentError for shapes that do not broadcast.

    >>> import minitape as tf
    >>> tf.keras.ops.logaddexp([0.0, 1000.0], [0.0, 1000.0]).numpy()
    array([6.9314718e-01, 1.0006932e+03], dtype=float32)
    """
    x1, x2 = (as_float(x) for x in alike(x1, x2))
    between = x1 - x2  # NaN for two equal infinities
    return tf.where(tf.math.is_nan(between), x1 + x2, tf.maximum(x1, x2) + tf.math.log1p(tf.exp(-tf.abs(between))))


def nan_to_num(x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """``x`` with other numbers for NaN and the infinities.

    ``x`` is a tensor of numbers of any shape; the result has its shape and dtype. The infinities become ``posinf`` and
    ``neginf``, without them the largest and the smallest number of the dtype. Differentiable; the gradient is 0 where
    a number was put in.

    >>> import minitape as tf
    >>> tf.keras.ops.nan_to_num([float("nan"), float("inf"), 2.0], posinf=9.0).numpy()
    array([0., 9., 2.], dtype=float32)
    """
    x = convert(x)
    if not x.dtype.is_floating:
        return x
    for there, number in (
        (tf.math.is_nan(x), nan),
        (tf.equal(x, np.inf), x.dtype.max if posinf is None else posinf),
        (tf.equal(x, -np.inf), x.dtype.min if neginf is None else neginf),
    ):
        x = tf.where(there, convert(number, x.dtype.name), x)
    return x


def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    """``x1`` where the condition holds, else ``x2``; without them the places where it holds.

    ``condition`` is a tensor of bools (or numbers: what is not 0 holds), ``x1`` and ``x2`` have shapes that broadcast
    with it, and take the dtype that holds both. Places are a list of int32 vectors, one for each axis. Differentiable
    in ``x1`` and ``x2``, each where it was taken. Raises ValueError when only one of them is given and
    InvalidArgumentError for shapes that do not broadcast.

    >>> import minitape as tf
    >>> tf.keras.ops.where([True, False], [1, 2], 0.5).numpy()
    array([1. , 0.5], dtype=float32)
    >>> tf.keras.ops.where([[0, 1], [1, 1]])[1].numpy()
    array([1, 0, 1], dtype=int32)
    """
    if (x1 is None) != (x2 is None):
        raise ValueError("`x1` and `x2` either both should be `None` or both should have non-None value.")
    condition = as_bool(condition)
    if x1 is None:
        return tf.unstack(convert(tf.where(condition), "int32"), axis=1)
    x1, x2 = alike(x1, x2)
    return tf.where(condition, x1, x2)
