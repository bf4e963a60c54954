"""Define reductions such as sums, means and extremes, and functions that sort along an axis.

The functions and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf/math).
"""

from __future__ import annotations

from sys import _getframe
from typing import NamedTuple

import numpy as np

from ..engine.table.primitives import TABLE, sorting, special  # noqa: F401 - Importing them fills the table.
from ..engine.table.primitives.numerics import get_extreme_value_of_dtype
from ..engine.tensor.conversion import cast_tensor
from ..engine.tensor.operation import run_and_record
from ..engine.tensor.tensor import EagerTensor, Tensor, wrap_array_with_origin
from ..engine.types import DTypeLike, GraphName, OptionalFlag, TensorFunction, Value
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from ..engine.values.dtypes import as_dtype
from .arguments import apply_primitive, normalize_axis, to_integer, to_integers, to_tensor, to_tensor_of_dtype_kind

_DOC_TEMPLATE = """Return {} along the given axes.

    {}

    See https://www.tensorflow.org/api_docs/python/tf/math/{}.

    Args:
        input_tensor: A tensor-like value of {}.
        axis: The axes to reduce: an int, a list of ints, a tensor, or None for all axes.
        keepdims: Whether the result keeps the reduced axes, with size 1.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the remaining shape and the same dtype.

    Raises:
        InvalidArgumentError: If an axis does not exist or is listed twice, or the dtype is not supported.

    >>> import minitape as tf
    >>> print(tf.{}({}).numpy())
    {}
    """
_DTYPE_NAMES = {"fciu": "numbers", "fiu": "real numbers", "b": "bools"}


def _define_reduction(name: str, sentence: str, example: str, kinds: str, note: str = "") -> TensorFunction:
    """Define a public reduction function that applies a primitive.

    Args:
        name: The public name, which is also the primitive's name.
        sentence: A noun phrase that describes the result in the docstring.
        example: An example as "ARGUMENTS -> PRINTED RESULT".
        kinds: The dtypes that the function accepts, in the notation of ``to_tensor_of_dtype_kind``.
        note: A sentence about special values, for the docstring.

    Returns:
        The function.
    """
    primitive = TABLE[name]
    default_dtype = dtypes.bool if kinds == "b" else None

    def function(input_tensor: Value, axis: Value = None, keepdims: bool = False, name: GraphName = None) -> Tensor:
        x = input_tensor if type(input_tensor) is EagerTensor else to_tensor(input_tensor, default_dtype)
        if x._value.dtype.kind not in kinds:
            to_tensor_of_dtype_kind(function.__name__, x, kinds)
        if type(axis) is int:
            axis = (axis,)
        elif axis is not None:
            axis = to_integers(axis, "axis")
        return run_and_record(primitive, (x,), {"axis": axis, "keepdims": bool(keepdims)}, _getframe(1))

    argument, _, result = example.partition(" -> ")
    is_differentiable = primitive.rules is not None
    rules = f"This function is {'' if is_differentiable else 'not '}differentiable."
    function.__doc__ = _DOC_TEMPLATE.format(
        sentence, f"{note} {rules}".strip(), name, _DTYPE_NAMES[kinds], name, argument, result
    )
    function.__name__ = function.__qualname__ = name
    return function


reduce_sum = _define_reduction("reduce_sum", "the sum", "[[1, 2], [3, 4]], axis=0 -> [4 6]", "fciu")
reduce_mean = _define_reduction(
    "reduce_mean",
    "the mean",
    "[[1.0, 2.0], [3.0, 4.0]], axis=1 -> [1.5 3.5]",
    "fciu",
    "The mean of integers is an integer.",
)
reduce_max = _define_reduction(
    "reduce_max", "the largest element", "[1, 5, 3] -> 5", "fiu", "Equal elements share the gradient."
)
reduce_min = _define_reduction(
    "reduce_min", "the smallest element", "[1, 5, 3] -> 1", "fiu", "Equal elements share the gradient."
)
reduce_all = _define_reduction("reduce_all", "whether all elements are true", "[True, False] -> False", "b")
reduce_any = _define_reduction("reduce_any", "whether any element is true", "[True, False] -> True", "b")


def reduce_variance(input_tensor: Value, axis: Value = None, keepdims: bool = False, name: GraphName = None) -> Tensor:
    """Return the variance along the given axes.

    The variance is the mean squared distance from the mean. This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/reduce_variance.

    Args:
        input_tensor: A tensor-like value of floats or complex numbers.
        axis: The axes to reduce: an int, a list of ints, a tensor, or None for all axes.
        keepdims: Whether the result keeps the reduced axes, with size 1.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the remaining dimensions and the same dtype, or the corresponding float dtype for complex numbers.

    Raises:
        TypeError: If ``input_tensor`` has an integer dtype.
        InvalidArgumentError: If an axis does not exist or is listed twice.

    >>> import minitape as tf
    >>> print(tf.math.reduce_variance([1.0, 3.0]).numpy())
    1.0
    """
    x = to_tensor(input_tensor)
    if x.dtype.is_integer:
        raise TypeError(f"tf.math.reduce_variance takes floats or complex numbers, not {x.dtype.name}")
    deviations = x - reduce_mean(x, axis, True)
    squares = (
        apply_primitive("real", apply_primitive("conj", deviations) * deviations)
        if x.dtype.is_complex
        else apply_primitive("square", deviations)
    )
    return reduce_mean(squares, axis, keepdims)


def reduce_std(input_tensor: Value, axis: Value = None, keepdims: bool = False, name: GraphName = None) -> Tensor:
    """Return the standard deviation along the given axes.

    This function is differentiable. The gradient is NaN if all elements are equal.

    See https://www.tensorflow.org/api_docs/python/tf/math/reduce_std.

    Args:
        input_tensor: A tensor-like value of floats or complex numbers.
        axis: The axes to reduce: an int, a list of ints, a tensor, or None for all axes.
        keepdims: Whether the result keeps the reduced axes, with size 1.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the remaining dimensions and the same dtype, or the corresponding float dtype for complex numbers.

    Raises:
        TypeError: If ``input_tensor`` has an integer dtype.
        InvalidArgumentError: If an axis does not exist or is listed twice.

    >>> import minitape as tf
    >>> print(tf.math.reduce_std([1.0, 3.0]).numpy())
    1.0
    """
    return apply_primitive("sqrt", reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input: Value,
    axis: Value = None,
    keepdims: OptionalFlag = None,
    dtype: DTypeLike = dtypes.int64,
    name: GraphName = None,
) -> Tensor:
    """Count the nonzero elements along the given axes.

    For strings, nonempty elements are counted. This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/count_nonzero.

    Args:
        input: A tensor-like value of any dtype.
        axis: The axes to reduce: an int, a list of ints, a tensor, or None for all axes.
        keepdims: Whether the result keeps the reduced axes, with size 1.
        dtype: The dtype of the result.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with the remaining dimensions.

    Raises:
        InvalidArgumentError: If an axis does not exist or is listed twice.

    >>> import minitape as tf
    >>> print(tf.math.count_nonzero([[0, 1, 0], [1, 1, 0]], axis=0).numpy())
    [1 2 0]
    """
    x = to_tensor(input)
    zero = to_tensor(b"" if x.dtype.kind == "s" else x.dtype.as_numpy_dtype(0))
    nonzero_flags = apply_primitive("cast", apply_primitive("not_equal", x, zero), dtype=dtypes.int64)
    return apply_primitive("cast", reduce_sum(nonzero_flags, axis, bool(keepdims)), dtype=as_dtype(dtype))


def add_n(inputs: Value, name: GraphName = None) -> Tensor:
    """Return the sum of a list of tensors.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/add_n.

    Args:
        inputs: A list of tensor-like values that share a shape and a dtype.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor with that shape and dtype.

    Raises:
        ValueError: If the list is empty.
        InvalidArgumentError: If the shapes or dtypes differ, or the tensors contain bools or strings.

    >>> import minitape as tf
    >>> print(tf.add_n([[1.0, 2.0], [3.0, 4.0]]).numpy())
    [4. 6.]
    """
    values = [to_tensor(x) for x in ([inputs] if isinstance(inputs, Tensor) and not inputs.ndim else inputs)]
    if not values:
        raise ValueError("tf.add_n takes a list with at least one tensor, got none")
    if len({(tensor.dtype.name, tensor.dims) for tensor in values}) > 1:
        type_names = ", ".join(f"{tensor.dtype.name} {tensor.shape}" for tensor in values)
        raise build_argument_error(f"tf.add_n takes tensors of the same shape and dtype, got {type_names}")
    if len(values) == 1:
        return apply_primitive("identity", values[0])
    to_tensor_of_dtype_kind("add_n", values[0], "fciu")
    return apply_primitive("add_n", *values)


# -- positions and orders --------------------------------------------------------------------------


def _define_arg_extreme(name: str, extreme: str, example_result: int) -> TensorFunction:
    """Define ``argmax`` or ``argmin``.

    Args:
        name: The public name, which is also the primitive's name.
        extreme: The word for the docstring, "largest" or "smallest".
        example_result: The result of the docstring's example, whose input is [3.0, 9.0, 1.0].

    Returns:
        The function.
    """

    def function(
        input: Value, axis: Value = None, output_type: DTypeLike = dtypes.int64, name: GraphName = None
    ) -> Tensor:
        x = to_tensor_of_dtype_kind(function.__name__, input, "fiub")
        axis_index = 0 if axis is None else to_integer(axis, "axis")
        return apply_primitive(function.__name__, x, axis=axis_index, dtype=as_dtype(output_type))

    function.__doc__ = f"""Return the position of the {extreme} element along an axis.

    The first position is returned if several elements are equal. NaN is ignored. This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/math/{name}.

    Args:
        input: A tensor-like value of real numbers or bools with at least one axis.
        axis: The axis to reduce. None means the first axis.
        output_type: The dtype of the result, int64 or int32.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of positions with the remaining shape.

    Raises:
        InvalidArgumentError: If the axis does not exist or is empty.

    >>> import minitape as tf
    >>> print(tf.{name}([3.0, 9.0, 1.0]).numpy())
    {example_result}
    """
    function.__name__ = function.__qualname__ = name
    return function


argmax = _define_arg_extreme("argmax", "largest", 1)
argmin = _define_arg_extreme("argmin", "smallest", 2)


class TopKV2(NamedTuple):
    """The result of ``top_k``: the largest elements and their positions.

    Attributes:
        values: The elements, a tensor with shape (..., k).
        indices: The positions of the elements along the last axis, an integer tensor with the same shape.
    """

    values: Tensor
    indices: Tensor


def top_k(
    input: Value, k: Value = 1, sorted: bool = True, index_type: DTypeLike = dtypes.int32, name: GraphName = None
) -> TopKV2:
    """Find the k largest elements along the last axis and their positions.

    Equal elements are ordered by position. Gradients flow from ``values`` to ``input``.

    See https://www.tensorflow.org/api_docs/python/tf/math/top_k.

    Args:
        input: A tensor-like value of real numbers with at least one axis.
        k: The number of elements.
        sorted: Ignored. The elements are always sorted.
        index_type: The dtype of the positions, int32 or int64.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A named tuple ``(values, indices)`` of tensors with shape (..., k), with the largest elements first.

    Raises:
        InvalidArgumentError: If there are fewer than k elements.

    >>> import minitape as tf
    >>> values, indices = tf.math.top_k([1.0, 5.0, 3.0], k=2)
    >>> print(values.numpy(), indices.numpy())
    [5. 3.] [1 2]
    """
    x = to_tensor_of_dtype_kind("math.top_k", input, "fiu")
    element_count = to_integer(k, "k")
    values, indices = apply_primitive("top_k", x, k=element_count)
    return TopKV2(values, cast_tensor(indices, as_dtype(index_type)))


def _sort_with_positions(values: Value, axis: Value, direction: str) -> TopKV2:
    """Sort the elements along an axis and return the sorted elements and their positions.

    Args:
        values: A tensor-like value of real numbers.
        axis: The axis.
        direction: "ASCENDING" or "DESCENDING".

    Returns:
        The sorted elements and their positions, both with the shape of ``values``.

    Raises:
        ValueError: If ``direction`` is neither "ASCENDING" nor "DESCENDING".
    """
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be 'ASCENDING' or 'DESCENDING', got {direction!r}")
    x = to_tensor(values)
    axis_index = normalize_axis(axis, x.ndim)
    last_axis = x.ndim - 1
    perm = [*range(x.ndim)]
    perm[axis_index] = last_axis
    perm[last_axis] = axis_index

    def swap_axes(tensor: Tensor) -> Tensor:
        return tensor if axis_index == last_axis else apply_primitive("transpose", tensor, perm=tuple(perm))

    x = swap_axes(x)
    count = x.shape[-1]
    if direction == "DESCENDING":
        sorted_values, positions = top_k(x, count)
    elif x.dtype.is_floating:
        sorted_values, positions = top_k(-x, count)
        sorted_values = -sorted_values
    else:  # Subtracting from this bound reverses the order. Unlike -x, this difference never overflows.
        dtype = np.dtype(x.dtype.as_numpy_dtype)
        upper_bound = wrap_array_with_origin(
            dtype.type(get_extreme_value_of_dtype(dtype, 1) if dtype.kind == "u" else -1)
        )
        sorted_values, positions = top_k(upper_bound - x, count)
        sorted_values = upper_bound - sorted_values
    return TopKV2(swap_axes(sorted_values), swap_axes(positions))


def sort(values: Value, axis: Value = -1, direction: str = "ASCENDING", name: GraphName = None) -> Tensor:
    """Sort the elements along an axis.

    This function is differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/sort.

    Args:
        values: A tensor-like value of real numbers.
        axis: The axis.
        direction: "ASCENDING" or "DESCENDING".
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: If ``direction`` is neither "ASCENDING" nor "DESCENDING".
        InvalidArgumentError: If the axis does not exist.

    >>> import minitape as tf
    >>> print(tf.sort([3, 1, 2]).numpy())
    [1 2 3]
    """
    return _sort_with_positions(values, axis, direction).values


def argsort(
    values: Value, axis: Value = -1, direction: str = "ASCENDING", stable: bool = False, name: GraphName = None
) -> Tensor:
    """Return the positions that would sort the elements along an axis.

    Equal elements keep their order. This function is not differentiable.

    See https://www.tensorflow.org/api_docs/python/tf/argsort.

    Args:
        values: A tensor-like value of real numbers.
        axis: The axis.
        direction: "ASCENDING" or "DESCENDING".
        stable: Ignored. The order is always stable.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        An int32 tensor of the same shape.

    Raises:
        ValueError: If ``direction`` is neither "ASCENDING" nor "DESCENDING".
        InvalidArgumentError: If the axis does not exist.

    >>> import minitape as tf
    >>> print(tf.argsort([30, 10, 20]).numpy())
    [1 2 0]
    """
    return _sort_with_positions(values, axis, direction).indices
