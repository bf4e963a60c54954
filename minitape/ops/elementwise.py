"""Elementwise functions of ``tf.math``: one or two tensors in, one tensor of the broadcast shape out.

``UNARY`` and ``BINARY`` are tables: name, primitive, arguments (without, x) | what it computes | example. The functions
with rules of their own follow below.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE, special  # noqa: F401 - special fills the table
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import CHECKS, apply, binary
from ..engine.tensor.operators import float_quotient
from ..engine.tensor.tensor import Tensor
from ..engine.values import dtypes
from .operands import (
    call,
    is_tensor_like,
    pairwise,
    quick,
    quick_function,
    tensor_of,
    unary,
    with_dtype_hint,
)

UNARY = """
acos acos | inverse cosine, in radians | 1.0 -> 0.0
acosh acosh | inverse hyperbolic cosine; NaN below 1 | 1.0 -> 0.0
asin asin | inverse sine, in radians | 0.0 -> 0.0
asinh asinh | inverse hyperbolic sine | 0.0 -> 0.0
atan atan | inverse tangent, in radians | 0.0 -> 0.0
atanh atanh | inverse hyperbolic tangent | 0.0 -> 0.0
ceil ceil | smallest integer not below x; no gradient | 1.2 -> 2.0
cos cos | cosine of x in radians | 0.0 -> 1.0
cosh cosh | hyperbolic cosine | 0.0 -> 1.0
exp exp | e to the power x | 0.0 -> 1.0
expm1 expm1 | exp(x) - 1, accurate near 0 | 0.0 -> 0.0
floor floor | largest integer not above x; no gradient | 1.8 -> 1.0
log log | natural logarithm; the gradient at 0 is infinite | 1.0 -> 0.0
log1p log1p | log(1 + x), accurate near 0 | 0.0 -> 0.0
negative negative | -x | 2.0 -> -2.0
reciprocal reciprocal | 1 / x | 4.0 -> 0.25
rint nearest | nearest integer, halves to the even one; no gradient | 2.5 -> 2.0
rsqrt rsqrt | 1 / sqrt(x) | 4.0 -> 0.5
sigmoid sigmoid | 1 / (1 + exp(-x)) | 0.0 -> 0.5
sin sin | sine of x in radians | 0.0 -> 0.0
sinh sinh | hyperbolic sine | 0.0 -> 0.0
softplus softplus features | log(1 + exp(x)), without overflow | 0.0 -> 0.6931472
sqrt sqrt | square root; the gradient is 0 where the incoming one is 0 | 9.0 -> 3.0
square square | x * x | 3.0 -> 9.0
tan tan | tangent of x in radians | 0.0 -> 0.0
tanh tanh | hyperbolic tangent | 0.0 -> 0.0
"""

BINARY = """
atan2 atan2 y,x | angle of the point (x, y), in radians | 0.0, 1.0 -> 0.0
equal equal x,y | whether x == y (InvalidArgumentError when the shapes do not broadcast) | 1, 1 -> True
floordiv floordiv x,y | floor(x / y); no gradient; InvalidArgumentError for integers divided by 0 | 7, 2 -> 3
floormod mod x,y | remainder of floordiv, with the sign of y | -7, 3 -> 2
greater greater x,y | whether x > y | 2, 1 -> True
greater_equal greater_equal x,y | whether x >= y | 2, 2 -> True
less less x,y | whether x < y | 2, 1 -> False
less_equal less_equal x,y | whether x <= y | 2, 2 -> True
maximum maximum x,y | larger one; where they are equal the gradient goes to x | 1.0, 2.0 -> 2.0
minimum minimum x,y | smaller one; where they are equal the gradient goes to x | 1.0, 2.0 -> 1.0
multiply multiply x,y | x * y | 2.0, 3.0 -> 6.0
not_equal not_equal x,y | whether x != y | 1, 1 -> False
pow pow x,y | x to the power y; InvalidArgumentError for negative integer powers of integers | 2.0, 3.0 -> 8.0
realdiv divide x,y | x / y for floats | 1.0, 2.0 -> 0.5
subtract subtract x,y | x - y | 3.0, 1.0 -> 2.0
"""


def _documented(name: str, sentence: str, example: str, arguments: str, rules: str) -> str:
    call, _, result = example.partition(" -> ")
    several = "," in arguments
    space = "tf.math" if name not in ("realdiv", "truncatediv", "truncatemod") else "tf"
    return f"""Computes elementwise: {sentence}.

    Takes {arguments.replace(",", " and")} of {"shapes that broadcast" if several else "any shape"} and of a dtype \
that TensorFlow's kernel
    takes; Python values become tensors{" of one dtype" if several else ""}. {rules}
    Raises InvalidArgumentError for other dtypes{" and for shapes that do not broadcast" if several else ""}.

    >>> import minitape as tf
    >>> print({space}.{name}({call}).numpy())
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
        name, kernel, *rest = head.split()
        primitive = TABLE[kernel]
        arguments = rest[0].replace(",", ", ") if rest else "x"
        several = "," in arguments
        run = partial(pairwise if several else unary, primitive)
        quickly = primitive.code or primitive.op not in CHECKS
        made = quick_function(name, arguments, run, primitive if quickly else None)
        made.__doc__ = _documented(name, sentence, example, arguments, _rules_of(primitive))
        made.__module__ = __name__
        globals()[name] = made


_make_all()
mod = globals()["floormod"]


# -- functions that prepare their arguments --------------------------------------------------------


@quick()
def abs(x: Any, name: str | None = None) -> Any:
    """The absolute value; of complex numbers the modulus, which is real.

    The result has the shape of x and its (real) dtype. Differentiable: the gradient is sign(x), 0 at 0.

    >>> import minitape as tf
    >>> print(tf.abs([-2.0, 3.0]).numpy(), tf.abs(3.0 + 4.0j).numpy())
    [2. 3.] 5.0
    """
    x = tensor_of(x)
    return call("complex_abs" if x.dtype.kind == "c" else "abs", x)


@quick()
def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1, elementwise; of complex numbers x / abs(x), and 0 for 0. The gradient of real tensors is 0.

    Raises InvalidArgumentError for bools, strings and unsigned integers.

    >>> import minitape as tf
    >>> print(tf.sign([-3.0, 0.0, 2.0]).numpy())
    [-1.  0.  1.]
    """
    x = tensor_of(x)
    if x.dtype.kind != "c":
        return call("sign", x)
    size = call("cast", call("complex_abs", x), dtype=x.dtype)
    return call("div_no_nan", x, size)


@quick()
def round(x: Any, name: str | None = None) -> Any:
    """The nearest integers, halves rounded to the even one; integers come back as they are. No gradient.

    The result has the shape and dtype of ``x``.

    >>> import minitape as tf
    >>> print(tf.round([0.5, 1.5, 2.5]).numpy())
    [0. 2. 2.]
    """
    x = tensor_of(x)
    return x if x.dtype.is_integer else call("rint", x)


@quick(TABLE["add"])
def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y, elementwise with broadcasting; joins strings. Differentiable (not for strings).

    Raises InvalidArgumentError when the dtypes differ or the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.add([1, 2], 3).numpy())
    [4 5]
    """
    x, y = with_dtype_hint(x, y)
    return binary(TABLE["add"], x, y)


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
        x, y = with_dtype_hint(x, y)
    return binary(TABLE["div_no_nan"], *float_quotient(x, y, "tf.math.divide_no_nan"))


# -- logic -----------------------------------------------------------------------------------------


def _truths(*values: Any) -> list:
    """The operands as tensors. Where one is not at once a bool, TensorFlow asks each in turn, tensors too."""
    if state.graph is not None:
        return [tensor_of(v, dtypes.bool) for v in values]
    try:
        if not any(v.dtype != bool if isinstance(v, np.generic) else type(v) is list and not v for v in values):
            return [tensor_of(v, dtypes.bool) for v in values]
    except (TypeError, ValueError):
        if any(isinstance(v, (int, float, complex)) for v in values):
            raise
    return [convert_to_tensor(v, dtypes.bool) for v in values]


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x and y, elementwise for bools, with broadcasting; other dtypes raise. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.logical_and([True, False], True).numpy())
    [ True False]
    """
    return binary(TABLE["logical_and"], *_truths(x, y))


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """not x, elementwise for bools; not differentiable.

    >>> import minitape as tf
    >>> print(tf.logical_not([True, False]).numpy())
    [False  True]
    """
    return apply(TABLE["logical_not"], tuple(_truths(x)), {})
