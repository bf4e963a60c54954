"""Sums, means, extremes and counts over axes; positions and orders along one."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import TYPE_CHECKING, NamedTuple

from ..engine.table.primitives import TABLE, sorting, special  # noqa: F401 - they fill the table
from ..engine.table.primitives.numerics import lowest
from ..engine.tensor.convert import cast_tensor
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from .arguments import axis_in, call, check_kind, integer, integers, tensor_of

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, Name, Value

_DOC = """{} over the axes in ``axis`` (all of them for None). {}

    ``axis`` is an int, a list of ints or a tensor; ``keepdims`` keeps the reduced axes with size 1. The result has the
    dtype of ``input_tensor``. Raises InvalidArgumentError for an axis that is not there or twice, and for a dtype for
    which this is not defined.

    >>> import minitape as tf
    >>> print(tf.{}({}).numpy())
    {}
    """


def _reduction(name: str, sentence: str, example: str, kinds: str) -> Callable[..., Tensor]:
    primitive = TABLE[name]
    like = dtypes.bool if kinds == "b" else None

    def function(input_tensor: Value, axis: Value = None, keepdims: bool = False, name: Name = None) -> Tensor:
        x = input_tensor if type(input_tensor) is EagerTensor else tensor_of(input_tensor, like)
        if x._value.dtype.kind not in kinds:
            check_kind(function.__name__, x, kinds)
        if type(axis) is int:
            axis = (axis,)
        elif axis is not None:
            axis = integers(axis, "axis")
        return apply(primitive, (x,), {"axis": axis, "keepdims": bool(keepdims)}, _getframe(1))

    argument, _, result = example.partition(" -> ")
    rules = "Differentiable." if primitive.rules is not None else "Not differentiable."
    function.__doc__ = _DOC.format(sentence, rules, name, argument, result)
    function.__name__ = function.__qualname__ = name
    return function


reduce_sum = _reduction("reduce_sum", "The sum", "[[1, 2], [3, 4]], axis=0 -> [4 6]", "fciu")
reduce_mean = _reduction(
    "reduce_mean", "The mean (of ints an int)", "[[1.0, 2.0], [3.0, 4.0]], axis=1 -> [1.5 3.5]", "fciu"
)
reduce_max = _reduction("reduce_max", "The largest element; equal ones share the gradient", "[1, 5, 3] -> 5", "fiu")
reduce_min = _reduction("reduce_min", "The smallest element; equal ones share the gradient", "[1, 5, 3] -> 1", "fiu")
reduce_all = _reduction("reduce_all", "Whether all are true", "[True, False] -> False", "b")
reduce_any = _reduction("reduce_any", "Whether any is true", "[True, False] -> True", "b")


def reduce_variance(input_tensor: Value, axis: Value = None, keepdims: bool = False, name: Name = None) -> Tensor:
    """The mean squared distance from the mean over the axes in ``axis``; real for complex tensors. Differentiable.

    Raises TypeError for integers.

    >>> import minitape as tf
    >>> print(tf.math.reduce_variance([1.0, 3.0]).numpy())
    1.0
    """
    x = tensor_of(input_tensor)
    if x.dtype.is_integer:
        raise TypeError(f"tf.math.reduce_variance takes floats or complex numbers, not {x.dtype.name}")
    away = x - reduce_mean(x, axis, True)
    squares = call("real", call("conj", away) * away) if x.dtype.is_complex else call("square", away)
    return reduce_mean(squares, axis, keepdims)


def reduce_std(input_tensor: Value, axis: Value = None, keepdims: bool = False, name: Name = None) -> Tensor:
    """The standard deviation over the axes in ``axis``. Differentiable; the gradient of constants is NaN.

    Raises TypeError for integers.

    >>> import minitape as tf
    >>> print(tf.math.reduce_std([1.0, 3.0]).numpy())
    1.0
    """
    return call("sqrt", reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input: Value,
    axis: Value = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: Name = None,
) -> Tensor:
    """The number of elements that are not zero (not empty, for strings) along the axes in ``axis``. Not differentiable.

    >>> import minitape as tf
    >>> print(tf.math.count_nonzero([[0, 1, 0], [1, 1, 0]], axis=0).numpy())
    [1 2 0]
    """
    x = tensor_of(input)
    zero = tensor_of(b"" if x.dtype.kind == "s" else x.dtype.as_numpy_dtype(0))
    found = call("cast", call("not_equal", x, zero), dtype=dtypes.int64)
    return call("cast", reduce_sum(found, axis, bool(keepdims)), dtype=dtypes.as_dtype(dtype))


def add_n(inputs: Value, name: Name = None) -> Tensor:
    """The sum of a list of tensors of one shape and dtype. Differentiable.

    Raises ValueError for an empty list, InvalidArgumentError for unlike shapes or dtypes.

    >>> import minitape as tf
    >>> print(tf.add_n([[1.0, 2.0], [3.0, 4.0]]).numpy())
    [4. 6.]
    """
    values = [tensor_of(x) for x in ([inputs] if isinstance(inputs, Tensor) and not inputs.ndim else inputs)]
    if not values:
        raise ValueError("tf.add_n takes a list with at least one tensor, got none")
    if len({(t.dtype.name, t._dims) for t in values}) > 1:
        kinds = ", ".join(f"{t.dtype.name} {t.shape}" for t in values)
        raise invalid(f"tf.add_n takes tensors of one shape and dtype, got {kinds}")
    return call("identity", values[0]) if len(values) == 1 else call("add_n", *values)


# -- positions and orders --------------------------------------------------------------------------


def _position(name: str, extreme: str, result: int) -> Callable[..., Tensor]:
    def function(input: Value, axis: Value = None, output_type: DTypeLike = dtypes.int64, name: Name = None) -> Tensor:
        x = check_kind(function.__name__, tensor_of(input), "fciub")
        place = 0 if axis is None else integer(axis, "axis")
        return call(function.__name__, x, axis=place, dtype=dtypes.as_dtype(output_type))

    function.__doc__ = f"""The position of the {extreme} element along ``axis`` (the first axis for None); the first of
    equal ones.

    The result has ``output_type`` (int64 or int32). NaN is passed over. Not differentiable. Raises InvalidArgumentError
    for an axis that is not there or empty.

    >>> import minitape as tf
    >>> print(tf.{name}([3.0, 9.0, 1.0]).numpy())
    {result}
    """
    function.__name__ = function.__qualname__ = name
    return function


argmax = _position("argmax", "largest", 1)
argmin = _position("argmin", "smallest", 2)


class TopKV2(NamedTuple):
    """The largest elements and their positions."""

    values: Tensor
    indices: Tensor


def top_k(
    input: Value, k: Value = 1, sorted: bool = True, index_type: DTypeLike = dtypes.int32, name: Name = None
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
    x, count = check_kind("math.top_k", tensor_of(input), "fiu"), integer(k, "k")
    values, indices = call("top_k", x, k=count)
    return TopKV2(values, cast_tensor(indices, dtypes.as_dtype(index_type)))


def _sort(values: Value, axis: Value, direction: str) -> TopKV2:
    """The elements in order along an axis, and their positions."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be 'ASCENDING' or 'DESCENDING', got {direction!r}")
    x = tensor_of(values)
    place, last = axis_in(axis, x.ndim), x.ndim - 1
    perm = [*range(x.ndim)]
    perm[place], perm[last] = last, place

    def swap(t: Tensor) -> Tensor:
        return t if place == last else call("transpose", t, perm=tuple(perm))

    x = swap(x)
    if direction == "DESCENDING":
        found, positions = top_k(x, x.shape[-1])
    elif x.dtype.is_floating:
        found, positions = top_k(-x, x.shape[-1])
        found = -found
    else:  # the largest of the others: no number that is there has one that is too large
        most = new_tensor(x.dtype.as_numpy_dtype(lowest(x._value.dtype, 1) if x.dtype.kind == "u" else -1))
        found, positions = top_k(most - x, x.shape[-1])
        found = most - found
    return TopKV2(swap(found), swap(positions))


def sort(values: Value, axis: Value = -1, direction: str = "ASCENDING", name: Name = None) -> Tensor:
    """The elements in order along an axis; ``direction`` is "ASCENDING" or "DESCENDING". Differentiable.

    Same shape and dtype. Raises ValueError for another direction, InvalidArgumentError for an axis that is not there.

    >>> import minitape as tf
    >>> print(tf.sort([3, 1, 2]).numpy())
    [1 2 3]
    """
    return _sort(values, axis, direction).values


def argsort(
    values: Value, axis: Value = -1, direction: str = "ASCENDING", stable: bool = False, name: Name = None
) -> Tensor:
    """The positions (int32) that put the elements in order along an axis. Not differentiable.

    Equal elements keep their order, with ``stable`` or without.

    >>> import minitape as tf
    >>> print(tf.argsort([30, 10, 20]).numpy())
    [1 2 0]
    """
    return _sort(values, axis, direction).indices
