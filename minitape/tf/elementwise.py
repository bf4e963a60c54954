"""Elementwise functions: one or two tensors in, one tensor of the broadcast shape out.

Most are one line of a table: the primitive, what it computes, an example, which dtypes it takes. What a primitive
computes, and its derivative: ``engine/table/primitives``.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import TYPE_CHECKING

import numpy as np

from ..engine.table.accelerator import fast
from ..engine.table.primitives import TABLE, Primitive, special  # noqa: F401 - special fills the table
from ..engine.tensor.checked_operators import promote_quotient_operands
from ..engine.tensor.conversion import cast_tensor, convert_to_tensor
from ..engine.tensor.operation import apply, run_binary
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from .arguments import (
    apply_primitive,
    check_dtype_kind,
    convert_to_one_dtype,
    convert_with_dtype_hint,
    is_tensor_like,
    to_tensor,
)

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, Function, GraphName, Value

FLOATS, REALS, NUMBERS, ANY = "f", "fiu", "fciu", "fciubs"
_DOC_TEMPLATE = """{sentence}, elementwise{broadcast}. {rules}

    Raises InvalidArgumentError for a dtype for which this is not defined{shapes}.

    >>> import minitape as tf
    >>> print(tf.math.{name}({argument}).numpy())
    {result}
    """


def _name_and_document(
    function: Function, primitive: Primitive, name: str, sentence: str, example: str, is_binary: bool
) -> Function:
    """Return the function with a name and a documentation; in its fast form where the primitive is a formula."""
    if primitive.code:
        function = fast.register_function(
            function, primitive, name, signature="x, y, name=None" if is_binary else "x, name=None"
        )
    argument, _, result = example.partition(" -> ")
    derivatives = "; ".join(text for text in primitive.texts[1:] if text != "-")
    function.__doc__ = _DOC_TEMPLATE.format(
        sentence=sentence,
        broadcast=" for shapes that broadcast" if is_binary else "",
        rules="Not differentiable." if primitive.is_flat else f"Differentiable: {derivatives or 'see the table'}.",
        shapes=", and for shapes that do not broadcast" if is_binary else "",
        name=name,
        argument=argument,
        result=result,
    )
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    return function


def _define_unary(
    name: str, sentence: str, example: str, kinds: str = "fc", primitive_name: str = ""
) -> Callable[..., Tensor]:
    primitive, full_name = TABLE[primitive_name or name], f"math.{name}"

    def function(x: Value, name: GraphName = None) -> Tensor:
        x = to_tensor(x)
        if x._value.dtype.kind not in kinds:
            check_dtype_kind(full_name, x, kinds)
        return apply(primitive, (x,), {}, _getframe(1))

    return _name_and_document(function, primitive, name, sentence, example, False)


def _define_binary(
    name: str,
    sentence: str,
    example: str,
    kinds: str = NUMBERS,
    primitive_name: str = "",
    convert: Callable[[Value, Value], list[Tensor]] = convert_to_one_dtype,
) -> Callable[..., Tensor]:
    primitive, full_name = TABLE[primitive_name or name], f"math.{name}"

    def function(x: Value, y: Value, name: GraphName = None) -> Tensor:
        if type(x) is not EagerTensor or type(y) is not EagerTensor:
            x, y = convert(x, y)
        if x._value.dtype.kind not in kinds:
            check_dtype_kind(full_name, x, kinds)
        return run_binary(primitive, x, y)

    return _name_and_document(function, primitive, name, sentence, example, True)


acos = _define_unary("acos", "The inverse cosine, in radians", "1.0 -> 0.0")
acosh = _define_unary("acosh", "The inverse hyperbolic cosine; NaN below 1", "1.0 -> 0.0")
asin = _define_unary("asin", "The inverse sine, in radians", "0.0 -> 0.0")
asinh = _define_unary("asinh", "The inverse hyperbolic sine", "0.0 -> 0.0")
atan = _define_unary("atan", "The inverse tangent, in radians", "0.0 -> 0.0")
atanh = _define_unary("atanh", "The inverse hyperbolic tangent", "0.0 -> 0.0")
ceil = _define_unary("ceil", "The smallest integer not below x", "1.2 -> 2.0", FLOATS)
cos = _define_unary("cos", "The cosine of x in radians", "0.0 -> 1.0")
cosh = _define_unary("cosh", "The hyperbolic cosine", "0.0 -> 1.0")
exp = _define_unary("exp", "e to the power x", "0.0 -> 1.0")
expm1 = _define_unary("expm1", "exp(x) - 1, accurate near 0", "0.0 -> 0.0")
floor = _define_unary("floor", "The largest integer not above x", "1.8 -> 1.0", FLOATS)
log = _define_unary("log", "The natural logarithm; the gradient at 0 is infinite", "1.0 -> 0.0")
log1p = _define_unary("log1p", "log(1 + x), accurate near 0", "0.0 -> 0.0")
negative = _define_unary("negative", "-x", "2.0 -> -2.0", NUMBERS)
reciprocal = _define_unary("reciprocal", "1 / x", "4.0 -> 0.25")
rint = _define_unary("rint", "The nearest integer, halves to the even one", "2.5 -> 2.0", FLOATS)
rsqrt = _define_unary("rsqrt", "1 / sqrt(x)", "4.0 -> 0.5")
sigmoid = _define_unary("sigmoid", "1 / (1 + exp(-x))", "0.0 -> 0.5")
sin = _define_unary("sin", "The sine of x in radians", "0.0 -> 0.0")
sinh = _define_unary("sinh", "The hyperbolic sine", "0.0 -> 0.0")
sqrt = _define_unary("sqrt", "The square root; the gradient is 0 where the incoming one is 0", "9.0 -> 3.0")
square = _define_unary("square", "x * x", "3.0 -> 9.0", NUMBERS)
tan = _define_unary("tan", "The tangent of x in radians", "0.0 -> 0.0")
tanh = _define_unary("tanh", "The hyperbolic tangent", "0.0 -> 0.0")

add = _define_binary(
    "add", "x + y; joins strings", "[1, 2], 3 -> [4 5]", NUMBERS + "s", convert=convert_with_dtype_hint
)
equal = _define_binary("equal", "Whether x == y", "1, 1 -> True", ANY)
floordiv = _define_binary("floordiv", "floor(x / y); integers must not be divided by 0", "7, 2 -> 3", REALS)
floormod = _define_binary("floormod", "The remainder of floordiv, with the sign of y", "-7, 3 -> 2", REALS, "mod")
greater = _define_binary("greater", "Whether x > y", "2, 1 -> True", REALS)
greater_equal = _define_binary("greater_equal", "Whether x >= y", "2, 2 -> True", REALS)
less = _define_binary("less", "Whether x < y", "2, 1 -> False", REALS)
less_equal = _define_binary("less_equal", "Whether x <= y", "2, 2 -> True", REALS)
maximum = _define_binary("maximum", "The larger one; where equal the gradient goes to x", "1.0, 2.0 -> 2.0", REALS)
minimum = _define_binary("minimum", "The smaller one; where equal the gradient goes to x", "1.0, 2.0 -> 1.0", REALS)
multiply = _define_binary("multiply", "x * y", "2.0, 3.0 -> 6.0")
not_equal = _define_binary("not_equal", "Whether x != y", "1, 1 -> False", ANY)
pow = _define_binary("pow", "x to the power y; of integers y must not be negative", "2.0, 3.0 -> 8.0")
subtract = _define_binary("subtract", "x - y", "3.0, 1.0 -> 2.0")


# -- functions that prepare their arguments --------------------------------------------------------


def atan2(y: Value, x: Value, name: GraphName = None) -> Tensor:
    """The angle of the point (x, y) in radians, elementwise for shapes that broadcast. Differentiable; floats only.

    >>> import minitape as tf
    >>> print(tf.math.atan2(1.0, 0.0).numpy())
    1.5707964
    """
    y, x = convert_to_one_dtype(y, x)
    return run_binary(TABLE["atan2"], check_dtype_kind("math.atan2", y, FLOATS), x)


def softplus(features: Value, name: GraphName = None) -> Tensor:
    """log(1 + exp(x)), elementwise and without overflow. Differentiable: g * sigmoid(x). Floats only.

    >>> import minitape as tf
    >>> print(tf.math.softplus(0.0).numpy())
    0.6931472
    """
    return apply_primitive("softplus", check_dtype_kind("math.softplus", to_tensor(features), FLOATS))


def abs(x: Value, name: GraphName = None) -> Tensor:
    """The absolute value, elementwise; of complex numbers the modulus, which is real.

    Differentiable: the gradient is sign(x), 0 at 0. Raises InvalidArgumentError for bools, strings, unsigned integers.

    >>> import minitape as tf
    >>> print(tf.abs([-2.0, 3.0]).numpy(), tf.abs(3.0 + 4.0j).numpy())
    [2. 3.] 5.0
    """
    x = check_dtype_kind("abs", to_tensor(x), "fic")
    return apply_primitive("complex_abs" if x.dtype.is_complex else "abs", x)


def sign(x: Value, name: GraphName = None) -> Tensor:
    """-1, 0 or 1, elementwise; of complex numbers x / abs(x), and 0 for 0. The gradient of real tensors is 0.

    Raises InvalidArgumentError for bools, strings and unsigned integers.

    >>> import minitape as tf
    >>> print(tf.sign([-3.0, 0.0, 2.0]).numpy())
    [-1.  0.  1.]
    """
    x = check_dtype_kind("sign", to_tensor(x), "fic")
    if not x.dtype.is_complex:
        return apply_primitive("sign", x)
    return apply_primitive("div_no_nan", x, apply_primitive("cast", apply_primitive("complex_abs", x), dtype=x.dtype))


def round(x: Value, name: GraphName = None) -> Tensor:
    """The nearest integers, halves rounded to the even one; integers come back as they are. No gradient passes.

    >>> import minitape as tf
    >>> print(tf.round([0.5, 1.5, 2.5]).numpy())
    [0. 2. 2.]
    """
    x = check_dtype_kind("round", to_tensor(x), REALS)
    return x if x.dtype.is_integer else apply_primitive("rint", x)


def divide(x: Value, y: Value, name: GraphName = None) -> Tensor:
    """x / y, elementwise: Python's true division, which turns integers into floats.

    Differentiable. Raises TypeError when the dtypes differ.

    >>> import minitape as tf
    >>> print(tf.divide(1, 2).numpy())
    0.5
    """
    if not is_tensor_like(x):
        x = convert_to_tensor(x, y.dtype if is_tensor_like(y) else None)
    quotient: Tensor = x / y
    return quotient


def divide_no_nan(x: Value, y: Value, name: GraphName = None) -> Tensor:
    """x / y, elementwise, and 0 where y is 0. Differentiable, with gradient 0 there.

    Raises TypeError when the dtypes differ.

    >>> import minitape as tf
    >>> print(tf.math.divide_no_nan([1.0, 1.0], [2.0, 0.0]).numpy())
    [0.5 0. ]
    """
    x, y = convert_to_one_dtype(x, y) if is_tensor_like(y) else convert_with_dtype_hint(x, y)
    return run_binary(TABLE["div_no_nan"], *promote_quotient_operands(x, y, "tf.math.divide_no_nan"))


def logical_and(x: Value, y: Value, name: GraphName = None) -> Tensor:
    """x and y, elementwise for bools, with broadcasting. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.logical_and([True, False], True).numpy())
    [ True False]
    """
    x, y = (check_dtype_kind("logical_and", to_tensor(operand, dtypes.bool), "b") for operand in (x, y))
    return run_binary(TABLE["logical_and"], x, y)


def logical_not(x: Value, name: GraphName = None) -> Tensor:
    """not x, elementwise for bools. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.logical_not([True, False]).numpy())
    [False  True]
    """
    return apply_primitive("logical_not", check_dtype_kind("logical_not", to_tensor(x, dtypes.bool), "b"))


def clip_by_value(t: Value, clip_value_min: Value, clip_value_max: Value, name: GraphName = None) -> Tensor:
    """The elements, limited to a range: min(t, clip_value_max), then max with clip_value_min.

    The limits broadcast to the shape of t (InvalidArgumentError if t would have to grow). Differentiable: 1 inside the
    range and at its ends, 0 outside.

    >>> import minitape as tf
    >>> print(tf.clip_by_value([-2.0, 0.5, 3.0], -1.0, 1.0).numpy())
    [-1.   0.5  1. ]
    """
    t = to_tensor(t)
    clipped = maximum(minimum(t, clip_value_max), clip_value_min)
    if clipped.shape != t.shape:
        raise ValueError(
            f"The limits of tf.clip_by_value must broadcast to the shape {t.shape}; they make {clipped.shape}"
        )
    return clipped


def where(condition: Value, x: Value = None, y: Value = None, name: GraphName = None) -> Tensor:
    """With ``x`` and ``y``: elements of ``x`` where the condition holds, else of ``y``; all three broadcast.

    Differentiable in ``x`` and ``y``. Alone: the int64 places of the true (or non-zero) elements, one row for each.
    Raises ValueError when only one of x and y is given, InvalidArgumentError for shapes that do not broadcast.

    >>> import minitape as tf
    >>> tf.where([True, False], [1, 2], [10, 20]).numpy()
    array([ 1, 20], dtype=int32)
    >>> tf.where([0, 3, 4]).numpy().tolist()
    [[1], [2]]
    """
    if (x is None) != (y is None):
        raise ValueError("tf.where takes both x and y, or none of them")
    if x is None:
        condition = to_tensor(condition)
        if not condition.ndim:
            raise build_argument_error(
                "tf.where without x and y takes a condition with at least one axis, got a scalar"
            )
        return apply_primitive("where", condition)
    condition = convert_to_tensor(condition, dtypes.bool)
    x, y = convert_to_one_dtype(x, y)
    if x.dtype is not y.dtype:
        raise build_argument_error(f"x and y of tf.where must have one dtype, got {x.dtype.name} and {y.dtype.name}")
    shapes = {t._dims for t in (condition, x, y)}
    try:
        if len(shapes) > 1:
            np.broadcast_shapes(*shapes)
    except ValueError:
        raise build_argument_error(
            f"tf.where takes shapes that broadcast, got {condition.shape} for the condition, {x.shape} and {y.shape}"
        ) from None
    return apply_primitive("select", condition, x, y)


# -- other dtypes ----------------------------------------------------------------------------------


def cast(x: Value, dtype: DTypeLike, name: GraphName = None) -> Tensor:
    """The values in another dtype: floats are truncated to integers, complex numbers lose their imaginary part.

    Differentiable between float and complex dtypes. Raises UnimplementedError for strings.

    >>> import minitape as tf
    >>> tf.cast([1.8, -1.8], tf.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if is_tensor_like(x) and x.dtype == dtype:
        return x  # also a variable, as in TensorFlow
    return cast_tensor(to_tensor(x), dtype)


def real(input: Value, name: GraphName = None) -> Tensor:
    """The real part, elementwise; real tensors come back as they are. Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.real(1.0 + 2.0j).numpy())
    1.0
    """
    x = to_tensor(input)
    if x.dtype.kind in "bs":
        raise TypeError(f"tf.math.real takes numbers, not {x.dtype.name}")
    return apply_primitive("real", x) if x.dtype.is_complex else x


def conj(x: Value, name: GraphName = None) -> Tensor:
    """The complex conjugate, elementwise; real tensors come back as they are. Differentiable.

    >>> import minitape as tf
    >>> print(tf.math.conj(1.0 + 2.0j).numpy())
    (1-2j)
    """
    x = to_tensor(x)
    if x.dtype.kind in "bs":
        raise TypeError(f"tf.math.conj takes numbers, not {x.dtype.name}")
    return apply_primitive("conj", x) if x.dtype.is_complex else x
