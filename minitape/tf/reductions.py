"""Sums, means, extremes and counts over axes; positions and orders along one."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import TYPE_CHECKING, NamedTuple

from ..engine.table.primitives import TABLE, sorting, special  # noqa: F401 - they fill the table
from ..engine.table.primitives.numerics import get_extreme_value_of_dtype
from ..engine.tensor.conversion import cast_tensor
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor, create_tensor
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from .arguments import apply_primitive, check_dtype_kind, normalize_axis, to_integer, to_integers, to_tensor

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, GraphName, Value

_DOC_TEMPLATE = """{} over the axes in ``axis`` (all of them for None). {}

    ``axis`` is an int, a list of ints or a tensor; ``keepdims`` keeps the reduced axes with size 1. The result has the
    dtype of ``input_tensor``. Raises InvalidArgumentError for an axis that is not there or twice, and for a dtype for
    which this is not defined.

    >>> import minitape as tf
    >>> print(tf.{}({}).numpy())
    {}
    """


def _define_reduction(name: str, sentence: str, example: str, kinds: str) -> Callable[..., Tensor]:
    primitive = TABLE[name]
    default_dtype = dtypes.bool if kinds == "b" else None

    def function(input_tensor: Value, axis: Value = None, keepdims: bool = False, name: GraphName = None) -> Tensor:
        x = input_tensor if type(input_tensor) is EagerTensor else to_tensor(input_tensor, default_dtype)
        if x._value.dtype.kind not in kinds:
            check_dtype_kind(function.__name__, x, kinds)
        if type(axis) is int:
            axis = (axis,)
        elif axis is not None:
            axis = to_integers(axis, "axis")
        return apply(primitive, (x,), {"axis": axis, "keepdims": bool(keepdims)}, _getframe(1))

    argument, _, result = example.partition(" -> ")
    rules = "Differentiable." if primitive.rules is not None else "Not differentiable."
    function.__doc__ = _DOC_TEMPLATE.format(sentence, rules, name, argument, result)
    function.__name__ = function.__qualname__ = name
    return function


reduce_sum = _define_reduction("reduce_sum", "The sum", "[[1, 2], [3, 4]], axis=0 -> [4 6]", "fciu")
reduce_mean = _define_reduction(
    "reduce_mean", "The mean (of ints an int)", "[[1.0, 2.0], [3.0, 4.0]], axis=1 -> [1.5 3.5]", "fciu"
)
reduce_max = _define_reduction(
    "reduce_max", "The largest element; equal ones share the gradient", "[1, 5, 3] -> 5", "fiu"
)
reduce_min = _define_reduction(
    "reduce_min", "The smallest element; equal ones share the gradient", "[1, 5, 3] -> 1", "fiu"
)
reduce_all = _define_reduction("reduce_all", "Whether all are true", "[True, False] -> False", "b")
reduce_any = _define_reduction("reduce_any", "Whether any is true", "[True, False] -> True", "b")


def reduce_variance(input_tensor: Value, axis: Value = None, keepdims: bool = False, name: GraphName = None) -> Tensor:
    """The mean squared distance from the mean over the axes in ``axis``; real for complex tensors. Differentiable.

    Raises TypeError for integers.

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
    """The standard deviation over the axes in ``axis``. Differentiable; the gradient of constants is NaN.

    Raises TypeError for integers.

    >>> import minitape as tf
    >>> print(tf.math.reduce_std([1.0, 3.0]).numpy())
    1.0
    """
    return apply_primitive("sqrt", reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input: Value,
    axis: Value = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: GraphName = None,
) -> Tensor:
    """The number of elements that are not zero (not empty, for strings) along the axes in ``axis``. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.math.count_nonzero([[0, 1, 0], [1, 1, 0]], axis=0).numpy())
    [1 2 0]
    """
    x = to_tensor(input)
    zero = to_tensor(b"" if x.dtype.kind == "s" else x.dtype.as_numpy_dtype(0))
    nonzero_flags = apply_primitive("cast", apply_primitive("not_equal", x, zero), dtype=dtypes.int64)
    return apply_primitive("cast", reduce_sum(nonzero_flags, axis, bool(keepdims)), dtype=dtypes.as_dtype(dtype))


def add_n(inputs: Value, name: GraphName = None) -> Tensor:
    """The sum of a list of tensors of one shape and dtype. Differentiable.

    Raises ValueError for an empty list, InvalidArgumentError for unlike shapes or dtypes.

    >>> import minitape as tf
    >>> print(tf.add_n([[1.0, 2.0], [3.0, 4.0]]).numpy())
    [4. 6.]
    """
    values = [to_tensor(x) for x in ([inputs] if isinstance(inputs, Tensor) and not inputs.ndim else inputs)]
    if not values:
        raise ValueError("tf.add_n takes a list with at least one tensor, got none")
    if len({(tensor.dtype.name, tensor._dims) for tensor in values}) > 1:
        type_names = ", ".join(f"{tensor.dtype.name} {tensor.shape}" for tensor in values)
        raise build_argument_error(f"tf.add_n takes tensors of one shape and dtype, got {type_names}")
    return apply_primitive("identity", values[0]) if len(values) == 1 else apply_primitive("add_n", *values)


# -- positions and orders --------------------------------------------------------------------------


def _define_arg_extreme(name: str, extreme: str, example_result: int) -> Callable[..., Tensor]:
    def function(
        input: Value, axis: Value = None, output_type: DTypeLike = dtypes.int64, name: GraphName = None
    ) -> Tensor:
        x = check_dtype_kind(function.__name__, to_tensor(input), "fciub")
        axis_index = 0 if axis is None else to_integer(axis, "axis")
        return apply_primitive(function.__name__, x, axis=axis_index, dtype=dtypes.as_dtype(output_type))

    function.__doc__ = f"""The position of the {extreme} element along ``axis`` (the first axis for None); the first of
    equal ones.

    The result has ``output_type`` (int64 or int32). NaN is passed over. Not differentiable. Raises InvalidArgumentError
    for an axis that is not there or empty.

    >>> import minitape as tf
    >>> print(tf.{name}([3.0, 9.0, 1.0]).numpy())
    {example_result}
    """
    function.__name__ = function.__qualname__ = name
    return function


argmax = _define_arg_extreme("argmax", "largest", 1)
argmin = _define_arg_extreme("argmin", "smallest", 2)


class TopKV2(NamedTuple):
    """The largest elements and their positions."""

    values: Tensor
    indices: Tensor


def top_k(
    input: Value, k: Value = 1, sorted: bool = True, index_type: DTypeLike = dtypes.int32, name: GraphName = None
) -> TopKV2:
    """The k largest elements along the last axis and their positions (int32): a pair ``values, indices``.

    Equal elements come in the order of their positions. They are in order whatever ``sorted`` says. ``values`` is
    differentiable. Raises InvalidArgumentError when
    there are fewer than k elements.

    >>> import minitape as tf
    >>> values, indices = tf.math.top_k([1.0, 5.0, 3.0], k=2)
    >>> print(values.numpy(), indices.numpy())
    [5. 3.] [1 2]
    """
    x, element_count = check_dtype_kind("math.top_k", to_tensor(input), "fiu"), to_integer(k, "k")
    values, indices = apply_primitive("top_k", x, k=element_count)
    return TopKV2(values, cast_tensor(indices, dtypes.as_dtype(index_type)))


def _sort_with_positions(values: Value, axis: Value, direction: str) -> TopKV2:
    """Return the elements in order along an axis, and their positions."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be 'ASCENDING' or 'DESCENDING', got {direction!r}")
    x = to_tensor(values)
    axis_index, last_axis = normalize_axis(axis, x.ndim), x.ndim - 1
    perm = [*range(x.ndim)]
    perm[axis_index], perm[last_axis] = last_axis, axis_index

    def swap_axes(tensor: Tensor) -> Tensor:
        return tensor if axis_index == last_axis else apply_primitive("transpose", tensor, perm=tuple(perm))

    x = swap_axes(x)
    if direction == "DESCENDING":
        sorted_values, positions = top_k(x, x.shape[-1])
    elif x.dtype.is_floating:
        sorted_values, positions = top_k(-x, x.shape[-1])
        sorted_values = -sorted_values
    else:  # the largest of the others: no number that is there has one that is too large
        upper_bound = create_tensor(
            x.dtype.as_numpy_dtype(get_extreme_value_of_dtype(x._value.dtype, 1) if x.dtype.kind == "u" else -1)
        )
        sorted_values, positions = top_k(upper_bound - x, x.shape[-1])
        sorted_values = upper_bound - sorted_values
    return TopKV2(swap_axes(sorted_values), swap_axes(positions))


def sort(values: Value, axis: Value = -1, direction: str = "ASCENDING", name: GraphName = None) -> Tensor:
    """The elements in order along an axis; ``direction`` is "ASCENDING" or "DESCENDING". Differentiable.

    Same shape and dtype. Raises ValueError for another direction, InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> print(tf.sort([3, 1, 2]).numpy())
    [1 2 3]
    """
    return _sort_with_positions(values, axis, direction).values


def argsort(
    values: Value, axis: Value = -1, direction: str = "ASCENDING", stable: bool = False, name: GraphName = None
) -> Tensor:
    """The positions (int32) that put the elements in order along an axis. Not differentiable.

    Equal elements keep their order, with ``stable`` or without.

    >>> import minitape as tf
    >>> print(tf.argsort([30, 10, 20]).numpy())
    [1 2 0]
    """
    return _sort_with_positions(values, axis, direction).indices
