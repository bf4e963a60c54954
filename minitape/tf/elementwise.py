"""Define elementwise functions of one tensor, or of two tensors whose shapes broadcast.

The functions and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf/math). Most functions
are declared below on one line each: name, description, example and dtypes. ``engine/table/primitives`` defines how
their values and derivatives are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe

import numpy as np

from ..engine.table.accelerator import fast
from ..engine.table.primitives import TABLE, Primitive, special  # noqa: F401 - Importing special fills the table.
from ..engine.table.primitives.formula import find_formula_variables
from ..engine.tensor.checked_operators import promote_quotient_operands
from ..engine.tensor.conversion import cast_tensor, convert_to_tensor
from ..engine.tensor.operation import run_and_record, run_checked_binary
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.types import DTypeLike, Function, GraphName, TensorFunction, Tensors, TextList, Value
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from .arguments import (
    apply_primitive,
    convert_to_one_dtype,
    convert_with_dtype_hint,
    is_tensor_like,
    to_tensor,
    to_tensor_of_dtype_kind,
)

FLOAT_KINDS = "f"
REAL_KINDS = "fiu"
NUMBER_KINDS = "fciu"
ALL_KINDS = "fciubs"
_DOC_TEMPLATE = """Return {sentence}, elementwise{broadcast}.

    {rules}

    See https://www.tensorflow.org/api_docs/python/tf/math/{name}.

    Args:
        x: A tensor-like value of {dtypes}, with any shape.{second_argument}
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A {result}.

    Raises:
        InvalidArgumentError: {errors}

    >>> import minitape as tf
    >>> print(tf.math.{name}({argument}).numpy())
    {printed}
    """
_TIES = "If x and y are equal, the gradient goes to x."
_DTYPE_NAMES = {
    FLOAT_KINDS: "floats",
    "fc": "floats or complex numbers",
    REAL_KINDS: "real numbers",
    "fci": "floats, complex numbers or signed integers",
    NUMBER_KINDS: "numbers",
    NUMBER_KINDS + "s": "numbers or strings",
    ALL_KINDS: "any dtype",
}


def _describe_derivatives(primitive: Primitive) -> TextList:
    """Return the docstring lines that state whether a primitive is differentiable and list its derivative formulas."""
    if primitive.is_nondifferentiable:
        return ["This function is not differentiable."]
    formulas = [text for text in primitive.texts[1:] if text != "-"]
    if not formulas:
        return ["This function is differentiable."]
    subject = "The gradient is" if len(formulas) == 1 else "The gradients of x and y are"
    literals = " and ".join(f"``{text}``" for text in formulas)
    legend = "g is the gradient of the result"
    if any("z" in find_formula_variables(text) for text in formulas):
        legend += ", and z is the result"
    return [f"This function is differentiable. {subject} {literals},", f"where {legend}."]


def _set_name_and_docstring(
    function: Function,
    primitive: Primitive,
    name: str,
    sentence: str,
    note: str,
    example: str,
    kinds: str,
    is_binary: bool,
) -> Function:
    """Set the name and the docstring of a public function and return the function.

    If the primitive is a formula, an equivalent fast function is returned instead.

    Args:
        function: The function to name and document.
        primitive: The primitive that the function applies. The docstring lists its derivative formulas.
        name: The public name.
        sentence: A noun phrase that describes the result, such as "The sine of x in radians".
        note: A sentence about special values, or "".
        example: An example as "ARGUMENTS -> PRINTED RESULT".
        kinds: The dtypes that the function accepts, in the notation of ``to_tensor_of_dtype_kind``.
        is_binary: Whether the function takes both x and y rather than x alone.

    Returns:
        The named function, or its fast equivalent.
    """
    if primitive.code:
        function = fast.get_fast_operation_function(
            function, primitive, name, signature="x, y, name=None" if is_binary else "x, name=None"
        )
    argument, _, printed = example.partition(" -> ")
    rules = [note, *_describe_derivatives(primitive)] if note else _describe_derivatives(primitive)
    result = "tensor with the shape and dtype of x"
    if is_binary:
        is_comparison = sentence.startswith("Whether")
        result = (
            "bool tensor with the broadcast shape"
            if is_comparison
            else "tensor with the broadcast shape and the same dtype"
        )
    errors = "If the dtype is not supported"
    function.__doc__ = _DOC_TEMPLATE.format(
        sentence=sentence.replace("The ", "the ", 1).replace("Whether ", "whether ", 1),
        broadcast=" for shapes that broadcast" if is_binary else "",
        rules="\n    ".join(rules),
        dtypes=_DTYPE_NAMES[kinds],
        second_argument="\n        y: A tensor-like value with the same dtype." if is_binary else "",
        result=result,
        errors=f"{errors}, the dtypes differ, or the shapes do not broadcast." if is_binary else f"{errors}.",
        name=name,
        argument=argument,
        printed=printed,
    )
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    return function


def _define_unary(name: str, sentence: str, example: str, kinds: str = "fc", note: str = "") -> TensorFunction:
    """Define a public elementwise function of one tensor.

    Args:
        name: The public name, which is also the primitive's name.
        sentence: A noun phrase that describes the result in the docstring.
        example: An example as "ARGUMENT -> PRINTED RESULT".
        kinds: The dtypes that the function accepts, in the notation of ``to_tensor_of_dtype_kind``.
        note: A sentence about special values, for the docstring.

    Returns:
        The function.
    """
    primitive = TABLE[name]
    full_name = f"math.{name}"

    def function(x: Value, name: GraphName = None) -> Tensor:
        x = to_tensor_of_dtype_kind(full_name, x, kinds)
        return run_and_record(primitive, (x,), {}, _getframe(1))

    return _set_name_and_docstring(function, primitive, name, sentence, note, example, kinds, False)


def _define_binary(
    name: str,
    sentence: str,
    example: str,
    kinds: str = NUMBER_KINDS,
    primitive_name: str = "",
    convert: Callable[[Value, Value], Tensors] = convert_to_one_dtype,
    note: str = "",
) -> TensorFunction:
    """Define a public elementwise function of two tensors whose shapes broadcast.

    Args:
        name: The public name.
        sentence: A noun phrase that describes the result in the docstring.
        example: An example as "ARGUMENTS -> PRINTED RESULT".
        kinds: The dtypes that the function accepts, in the notation of ``to_tensor_of_dtype_kind``.
        primitive_name: The name of the primitive if it differs from the public name.
        convert: The function that converts two values to tensors.
        note: A sentence about special values, for the docstring.

    Returns:
        The function.
    """
    primitive = TABLE[primitive_name or name]
    full_name = f"math.{name}"

    def function(x: Value, y: Value, name: GraphName = None) -> Tensor:
        if type(x) is not EagerTensor or type(y) is not EagerTensor:
            x, y = convert(x, y)
        return run_checked_binary(primitive, to_tensor_of_dtype_kind(full_name, x, kinds), y)

    return _set_name_and_docstring(function, primitive, name, sentence, note, example, kinds, True)


acos = _define_unary("acos", "The inverse cosine, in radians", "1.0 -> 0.0")
acosh = _define_unary("acosh", "The inverse hyperbolic cosine", "1.0 -> 0.0", note="The result is NaN for x below 1.")
asin = _define_unary("asin", "The inverse sine, in radians", "0.0 -> 0.0")
asinh = _define_unary("asinh", "The inverse hyperbolic sine", "0.0 -> 0.0")
atan = _define_unary("atan", "The inverse tangent, in radians", "0.0 -> 0.0")
atanh = _define_unary("atanh", "The inverse hyperbolic tangent", "0.0 -> 0.0")
ceil = _define_unary("ceil", "The smallest integer not below x", "1.2 -> 2.0", FLOAT_KINDS)
cos = _define_unary("cos", "The cosine of x in radians", "0.0 -> 1.0")
cosh = _define_unary("cosh", "The hyperbolic cosine", "0.0 -> 1.0")
exp = _define_unary("exp", "e to the power x", "0.0 -> 1.0")
expm1 = _define_unary("expm1", "exp(x) - 1, accurate near 0", "0.0 -> 0.0")
floor = _define_unary("floor", "The largest integer not above x", "1.8 -> 1.0", FLOAT_KINDS)
log = _define_unary("log", "The natural logarithm", "1.0 -> 0.0", note="The gradient at 0 is infinite.")
log1p = _define_unary("log1p", "log(1 + x), accurate near 0", "0.0 -> 0.0")
negative = _define_unary("negative", "-x", "2.0 -> -2.0", "fci")
reciprocal = _define_unary("reciprocal", "1 / x", "4.0 -> 0.25")
rint = _define_unary(
    "rint", "The nearest integer", "2.5 -> 2.0", FLOAT_KINDS, note="Halves are rounded to the even integer."
)
rsqrt = _define_unary("rsqrt", "1 / sqrt(x)", "4.0 -> 0.5")
sigmoid = _define_unary("sigmoid", "1 / (1 + exp(-x))", "0.0 -> 0.5")
sin = _define_unary("sin", "The sine of x in radians", "0.0 -> 0.0")
sinh = _define_unary("sinh", "The hyperbolic sine", "0.0 -> 0.0")
sqrt = _define_unary(
    "sqrt", "The square root", "9.0 -> 3.0", note="The gradient is 0 wherever the gradient of the result is 0."
)
square = _define_unary("square", "x * x", "3.0 -> 9.0", NUMBER_KINDS)
tan = _define_unary("tan", "The tangent of x in radians", "0.0 -> 0.0")
tanh = _define_unary("tanh", "The hyperbolic tangent", "0.0 -> 0.0")

add = _define_binary(
    "add",
    "x + y",
    "[1, 2], 3 -> [4 5]",
    NUMBER_KINDS + "s",
    convert=convert_with_dtype_hint,
    note="Strings are joined.",
)
equal = _define_binary("equal", "Whether x == y", "1, 1 -> True", ALL_KINDS)
floordiv = _define_binary(
    "floordiv", "floor(x / y)", "7, 2 -> 3", REAL_KINDS, note="Integers must not be divided by 0."
)
floormod = _define_binary("floormod", "The remainder of floordiv, with the sign of y", "-7, 3 -> 2", REAL_KINDS, "mod")
greater = _define_binary("greater", "Whether x > y", "2, 1 -> True", REAL_KINDS)
greater_equal = _define_binary("greater_equal", "Whether x >= y", "2, 2 -> True", REAL_KINDS)
less = _define_binary("less", "Whether x < y", "2, 1 -> False", REAL_KINDS)
less_equal = _define_binary("less_equal", "Whether x <= y", "2, 2 -> True", REAL_KINDS)
maximum = _define_binary("maximum", "The larger of x and y", "1.0, 2.0 -> 2.0", REAL_KINDS, note=_TIES)
minimum = _define_binary("minimum", "The smaller of x and y", "1.0, 2.0 -> 1.0", REAL_KINDS, note=_TIES)
multiply = _define_binary("multiply", "x * y", "2.0, 3.0 -> 6.0")
not_equal = _define_binary("not_equal", "Whether x != y", "1, 1 -> False", ALL_KINDS)
pow = _define_binary("pow", "x to the power y", "2.0, 3.0 -> 8.0", note="For integers, y must not be negative.")
subtract = _define_binary("subtract", "x - y", "3.0, 1.0 -> 2.0")


# -- functions that first convert their arguments --------------------------------------------------


def atan2(y: Value, x: Value, name: GraphName = None) -> Tensor:
    """Return the angle of the point (x, y) in radians, elementwise.

    This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/math/atan2.

    Args:
        y: The y coordinates, a tensor-like value of floats.
        x: The x coordinates, with the same dtype. The shapes of x and y must broadcast.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of angles from -pi to pi, with the broadcast shape.

    Raises:
        InvalidArgumentError: If the arguments are not floats, their dtypes differ, or their shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.math.atan2(1.0, 0.0).numpy())
    1.5707964
    """
    y, x = convert_to_one_dtype(y, x)
    return run_checked_binary(TABLE["atan2"], to_tensor_of_dtype_kind("math.atan2", y, FLOAT_KINDS), x)


def softplus(features: Value, name: GraphName = None) -> Tensor:
    """Return log(1 + exp(x)), elementwise, without overflow.

    This function is differentiable. The gradient is ``g * sigmoid(x)``, where g is the gradient of the result.

    See https://www.tensorflow.org/api_docs/python/tf/math/softplus.

    Args:
        features: The values x, a tensor-like value of floats of any shape.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: If the dtype is not a float dtype.

    >>> import minitape as tf
    >>> print(tf.math.softplus(0.0).numpy())
    0.6931472
    """
    return apply_primitive("softplus", to_tensor_of_dtype_kind("math.softplus", features, FLOAT_KINDS))


def abs(x: Value, name: GraphName = None) -> Tensor:
    """Return the absolute value, elementwise.

    The absolute value of a complex number is its modulus. This function is differentiable. Its derivative is sign(x),
    which is 0 at 0.

    See https://www.tensorflow.org/api_docs/python/tf/math/abs.

    Args:
        x: A tensor-like value of floats, signed integers or complex numbers.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype. If x is complex, the result has the corresponding float dtype.

    Raises:
        InvalidArgumentError: If x has a bool, string or unsigned integer dtype.

    >>> import minitape as tf
    >>> print(tf.abs([-2.0, 3.0]).numpy(), tf.abs(3.0 + 4.0j).numpy())
    [2. 3.] 5.0
    """
    x = to_tensor_of_dtype_kind("abs", x, "fic")
    return apply_primitive("complex_abs" if x.dtype.is_complex else "abs", x)


def sign(x: Value, name: GraphName = None) -> Tensor:
    """Return -1, 0 or 1 for negative, zero and positive elements.

    For complex numbers, return ``x / abs(x)``, or 0 if x is 0. The gradient with respect to a real tensor is 0.

    See https://www.tensorflow.org/api_docs/python/tf/math/sign.

    Args:
        x: A tensor-like value of floats, signed integers or complex numbers.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: If x has a bool, string or unsigned integer dtype.

    >>> import minitape as tf
    >>> print(tf.sign([-3.0, 0.0, 2.0]).numpy())
    [-1.  0.  1.]
    """
    x = to_tensor_of_dtype_kind("sign", x, "fic")
    if not x.dtype.is_complex:
        return apply_primitive("sign", x)
    return apply_primitive("div_no_nan", x, apply_primitive("cast", apply_primitive("complex_abs", x), dtype=x.dtype))


def round(x: Value, name: GraphName = None) -> Tensor:
    """Return the nearest integer, elementwise.

    Halves are rounded to the nearest even integer. Integers are returned unchanged. This function is not
    differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/round.

    Args:
        x: A tensor-like value of floats or integers.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: If x has any other dtype.

    >>> import minitape as tf
    >>> print(tf.round([0.5, 1.5, 2.5]).numpy())
    [0. 2. 2.]
    """
    x = to_tensor_of_dtype_kind("round", x, REAL_KINDS)
    return x if x.dtype.is_integer else apply_primitive("rint", x)


def divide(x: Value, y: Value, name: GraphName = None) -> Tensor:
    """Return x / y, elementwise for shapes that broadcast.

    As with Python's ``/``, dividing integers returns floats. This function is differentiable with respect to both
    arguments.

    See https://www.tensorflow.org/api_docs/python/tf/math/divide.

    Args:
        x: The dividend, a tensor-like value of numbers.
        y: The divisor, with the same dtype.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the broadcast shape. The quotient of 8-bit or 16-bit integers is float32, and the quotient of larger
        integers is float64.

    Raises:
        TypeError: If the dtypes differ.
        InvalidArgumentError: If the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.divide(1, 2).numpy())
    0.5
    """
    if not is_tensor_like(x):
        x = convert_to_tensor(x, y.dtype if is_tensor_like(y) else None)
    quotient: Tensor = x / y
    return quotient


def divide_no_nan(x: Value, y: Value, name: GraphName = None) -> Tensor:
    """Return x / y, elementwise, and 0 wherever y is 0.

    This function is differentiable with respect to both arguments. The gradient is 0 wherever y is 0.

    See https://www.tensorflow.org/api_docs/python/tf/math/divide_no_nan.

    Args:
        x: The dividend, a tensor-like value of numbers.
        y: The divisor, with the same dtype. The shapes of x and y must broadcast.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the broadcast shape. The quotient of 8-bit or 16-bit integers is float32, and the quotient of larger
        integers is float64.

    Raises:
        TypeError: If the dtypes differ or are not numeric.
        InvalidArgumentError: If the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.math.divide_no_nan([1.0, 1.0], [2.0, 0.0]).numpy())
    [0.5 0. ]
    """
    x, y = convert_to_one_dtype(x, y) if is_tensor_like(y) else convert_with_dtype_hint(x, y)
    return run_checked_binary(TABLE["div_no_nan"], *promote_quotient_operands(x, y, "tf.math.divide_no_nan"))


def logical_and(x: Value, y: Value, name: GraphName = None) -> Tensor:
    """Return the logical AND of two bool tensors, elementwise for shapes that broadcast.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/logical_and.

    Args:
        x: A tensor-like value of bools.
        y: A tensor-like value of bools.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        InvalidArgumentError: If a tensor has a different dtype, or the shapes do not broadcast.

    >>> import minitape as tf
    >>> print(tf.logical_and([True, False], True).numpy())
    [ True False]
    """
    x, y = (to_tensor_of_dtype_kind("logical_and", to_tensor(operand, dtypes.bool), "b") for operand in (x, y))
    return run_checked_binary(TABLE["logical_and"], x, y)


def logical_not(x: Value, name: GraphName = None) -> Tensor:
    """Return the logical NOT of a bool tensor, elementwise.

    This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/logical_not.

    Args:
        x: A tensor-like value of bools.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A bool tensor of the same shape.

    Raises:
        InvalidArgumentError: If x is a tensor of any other dtype.

    >>> import minitape as tf
    >>> print(tf.logical_not([True, False]).numpy())
    [False  True]
    """
    return apply_primitive("logical_not", to_tensor_of_dtype_kind("logical_not", to_tensor(x, dtypes.bool), "b"))


def clip_by_value(t: Value, clip_value_min: Value, clip_value_max: Value, name: GraphName = None) -> Tensor:
    """Limit all elements to a range.

    The result is ``maximum(minimum(t, clip_value_max), clip_value_min)``. This function is differentiable. Its
    derivative is 1 inside the range and at both ends, and 0 elsewhere.

    See https://www.tensorflow.org/api_docs/python/tf/clip_by_value.

    Args:
        t: A tensor-like value of real numbers.
        clip_value_min: The lower limit, which has the dtype of ``t`` and broadcasts to its shape.
        clip_value_max: The upper limit, which has the dtype of ``t`` and broadcasts to its shape.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the same shape and dtype as ``t``.

    Raises:
        ValueError: If the limits do not broadcast to the shape of ``t``.
        InvalidArgumentError: If the shapes do not broadcast, or the dtypes differ.

    >>> import minitape as tf
    >>> print(tf.clip_by_value([-2.0, 0.5, 3.0], -1.0, 1.0).numpy())
    [-1.   0.5  1. ]
    """
    t = to_tensor(t)
    clipped = maximum(minimum(t, clip_value_max), clip_value_min)
    if clipped.shape != t.shape:
        raise ValueError(
            f"The limits of tf.clip_by_value must broadcast to the shape {t.shape}, but they broadcast to "
            f"{clipped.shape}"
        )
    return clipped


def where(condition: Value, x: Value = None, y: Value = None, name: GraphName = None) -> Tensor:
    """Choose elements based on a condition, or return the positions where a condition is true.

    If ``x`` and ``y`` are given, the result has the elements of ``x`` where the condition is true and the elements of
    ``y`` elsewhere. In this form, the function is differentiable with respect to ``x`` and ``y``. Otherwise, it returns
    the positions of the true (or nonzero) elements.

    See https://www.tensorflow.org/api_docs/python/tf/where.

    Args:
        condition: A tensor-like value of bools. Without ``x`` and ``y``, the condition may have any dtype but must have
            at least one axis.
        x: The elements to use where the condition is true. The shapes of all three arguments must broadcast.
        y: The elements to use where the condition is false, with the dtype of ``x``.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        If ``x`` and ``y`` are given, a tensor of the broadcast shape with the dtype of ``x``. Otherwise, an int64
        tensor of shape (n, rank of the condition), with one row for each of the n true elements.

    Raises:
        TypeError: If ``x`` and ``y`` are given and the condition contains Python numbers or strings.
        ValueError: If only one of ``x`` and ``y`` is given, or if both are given and the condition is not a bool
            tensor.
        InvalidArgumentError: If the shapes do not broadcast, the dtypes of ``x`` and ``y`` differ, or the condition is
            a scalar and ``x`` and ``y`` are missing.

    >>> import minitape as tf
    >>> tf.where([True, False], [1, 2], [10, 20]).numpy()
    array([ 1, 20], dtype=int32)
    >>> tf.where([0, 3, 4]).numpy().tolist()
    [[1], [2]]
    """
    if (x is None) != (y is None):
        raise ValueError("tf.where takes both x and y, or neither")
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
        raise build_argument_error(
            f"x and y of tf.where must have the same dtype, got {x.dtype.name} and {y.dtype.name}"
        )
    shapes = {t.dims for t in (condition, x, y)}
    try:
        if len(shapes) > 1:
            np.broadcast_shapes(*shapes)
    except ValueError:
        raise build_argument_error(
            f"tf.where takes shapes that broadcast, got {condition.shape} for the condition, {x.shape} for x and "
            f"{y.shape} for y"
        ) from None
    return apply_primitive("select", condition, x, y)


# -- other dtypes ----------------------------------------------------------------------------------


def cast(x: Value, dtype: DTypeLike, name: GraphName = None) -> Tensor:
    """Convert a tensor to a given dtype.

    Conversion to an integer dtype truncates, and conversion from a complex to a real dtype drops the imaginary part.
    This function is differentiable between float and complex dtypes.

    See https://www.tensorflow.org/api_docs/python/tf/cast.

    Args:
        x: A tensor-like value.
        dtype: The dtype of the result.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and the given dtype. If ``x`` already has the dtype, ``x`` itself is returned.

    Raises:
        UnimplementedError: If exactly one of the two dtypes is string.

    >>> import minitape as tf
    >>> tf.cast([1.8, -1.8], tf.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype)
    if is_tensor_like(x) and x.dtype == dtype:
        return x  # Like TensorFlow, return a variable itself rather than its value.
    return cast_tensor(to_tensor(x), dtype)


def real(input: Value, name: GraphName = None) -> Tensor:
    """Return the real part of each element.

    Real tensors are returned unchanged. This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/real.

    Args:
        input: A tensor-like value of numbers.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape. If the input is complex, the result has the corresponding float dtype.

    Raises:
        TypeError: If the input has a bool or string dtype.

    >>> import minitape as tf
    >>> print(tf.math.real(1.0 + 2.0j).numpy())
    1.0
    """
    return _apply_to_complex_numbers("real", input)


def conj(x: Value, name: GraphName = None) -> Tensor:
    """Return the complex conjugate of each element.

    Real tensors are returned unchanged. This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/conj.

    Args:
        x: A tensor-like value of numbers.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: If the input has a bool or string dtype.

    >>> import minitape as tf
    >>> print(tf.math.conj(1.0 + 2.0j).numpy())
    (1-2j)
    """
    return _apply_to_complex_numbers("conj", x)


def _apply_to_complex_numbers(name: str, value: Value) -> Tensor:
    """Apply the primitive of ``tf.math.real`` or ``tf.math.conj`` to complex numbers. Return real numbers unchanged."""
    x = to_tensor(value)
    if x.dtype.kind in "bs":
        raise TypeError(f"tf.math.{name} takes numbers, not {x.dtype.name}")
    return apply_primitive(name, x) if x.dtype.is_complex else x
