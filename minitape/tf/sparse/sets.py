"""Rows along the last axis as sets of values (``tf.sets``), and how far rows are from each other. Nothing has a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.evidence import decided
from ...engine.invalid import invalid, shown
from ...engine.operands import strict
from ...engine.tensor import Tensor, wrap
from .primitives import checked, sparse
from .tensor import SparseTensor, SparseTensorValue, sparse_input

_DTYPES = (dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8, dtypes.string, dtypes.int64, dtypes.uint16)
_SUPPORTED = f"frozenset({{{', '.join(map(repr, _DTYPES))}}})"


def _tensor(value: Any) -> Any:
    return sparse_input(value) if isinstance(value, (SparseTensor, SparseTensorValue)) else convert_to_tensor(value)


def _rows(value: Any, op: str, validate: bool) -> tuple[dict[tuple[int, ...], list[Any]], tuple[int, ...]]:
    """The values of each row that has any, by its place, and the sizes of all axes but the last."""
    if not isinstance(value, SparseTensor):
        array = np.asarray(value.array)
        return {place: list(array[place]) for place in np.ndindex(array.shape[:-1])}, array.shape[:-1]
    if validate:
        checked(value, op)
    elif (value.indices.array >= np.array(value.sizes())).any():
        raise invalid("Index out of range", op)
    found: dict[tuple[int, ...], list[Any]] = {}
    for place, one in zip(value.indices.array[:, :-1].tolist(), value.values.array, strict=True):
        found.setdefault(tuple(place), []).append(one)
    return found, value.sizes()[:-1]


@strict
def size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different values each row of a SparseTensor holds: int32, without the last axis.

    The values are integers or strings (else TypeError). InvalidArgumentError for places out of order or outside, unless
    ``validate_indices`` is False, and for fewer than two axes.

    >>> import minitape as tf
    >>> print(tf.sets.size(tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [5, 5, 1], [3, 3])).numpy())
    [1 0 1]
    """
    a = _tensor(a)
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a!s}.")
    if a.dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype `{a.dtype}` not in supported dtypes: `{_SUPPORTED}`.")
    if len(a.sizes()) < 2:
        raise invalid(f"Invalid rank {len(a.sizes())}.", "SetSize")
    rows, sizes = _rows(a, "SetSize", validate_indices)
    out = np.zeros(sizes, np.int32)
    for place, values in rows.items():
        out[place] = len(set(values))
    return wrap(out)


@strict
def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The values that both rows hold, for each pair of rows of ``a`` and ``b``: a SparseTensor, sorted along the last axis.

    Each is a tensor or a SparseTensor of integers or strings, of one dtype (else TypeError); all their axes but the last
    agree. InvalidArgumentError where they do not, and for sparse places out of order or outside unless ``validate_indices``
    is False.

    >>> import minitape as tf
    >>> tf.sets.intersection(tf.constant([[1, 2, 3]]), tf.constant([[3, 2, 2]])).values.numpy()
    array([2, 3], dtype=int32)
    """
    return _combined(a, b, validate_indices, lambda x, y: x & y)


@strict
def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The values that either row holds, for each pair of rows; see ``tf.sets.intersection`` for the arguments.

    >>> import minitape as tf
    >>> tf.sets.union(tf.constant([[1, 2]]), tf.constant([[3, 2]])).values.numpy()
    array([1, 2, 3], dtype=int32)
    """
    return _combined(a, b, validate_indices, lambda x, y: x | y)


@strict
def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The values of ``a`` that the row of ``b`` lacks, or those of ``b`` that ``a`` lacks unless ``aminusb``.

    See ``tf.sets.intersection`` for the other arguments.

    >>> import minitape as tf
    >>> tf.sets.difference(tf.constant([[1, 2, 3]]), tf.constant([[3]])).values.numpy()
    array([1, 2], dtype=int32)
    """
    return _combined(a, b, validate_indices, (lambda x, y: x - y) if aminusb else (lambda x, y: y - x))


def _combined(a: Any, b: Any, validate: bool, combine: Callable[[set[Any], set[Any]], set[Any]]) -> SparseTensor:
    a, b = _tensor(a), _tensor(b)
    if a.dtype not in _DTYPES:
        raise TypeError(f"'a' has invalid dtype `{a.dtype}` not in supported dtypes: `{_SUPPORTED}`.")
    if a.dtype != b.dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    kinds = sorted("Sparse" if isinstance(value, SparseTensor) else "Dense" for value in (a, b))
    op = f"{kinds[0]}To{kinds[1]}SetOperation"
    for value in (a, b):
        if len(value.shape) < 2:
            raise invalid(f"Shape {shown(value.shape)} has rank {len(value.shape)} < 2", op)
    (first, sizes), (second, others) = _rows(a, op, validate), _rows(b, op, validate)
    if sizes != others:
        raise invalid(f"Mismatched shapes {shown(sizes)} vs {shown(others)}", op)
    places, values, widest = [], [], 0
    for row in sorted({*first, *second}):
        found = sorted(combine(set(first.get(row, ())), set(second.get(row, ()))))
        places += [(*row, i) for i in range(len(found))]
        values += found
        widest = max(widest, len(found))
    index = np.array(places, np.int64).reshape(-1, len(sizes) + 1)
    return sparse(index, wrap(np.array(values, a.dtype.as_numpy_dtype)), (*sizes, widest))


# -- distances --------------------------------------------------------------------------------------------------------


@strict
def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """How many values must be inserted, removed or replaced to make each row of ``hypothesis`` that of ``truth``.

    Both are SparseTensors (else TypeError) of one dtype; the result is float32 without the last axis, divided by the length
    of the truth with ``normalize``. InvalidArgumentError for unlike ranks or dtypes and for fewer than two axes.

    >>> import minitape as tf
    >>> hypothesis, truth = tf.sparse.from_dense([["a", "b"]]), tf.sparse.from_dense([["a", "x", "b"]])
    >>> print(tf.edit_distance(hypothesis, truth, normalize=False).numpy())
    [1.]
    """
    for word, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{word} must be a SparseTensor.")
    hypothesis, truth = sparse_input(hypothesis), sparse_input(truth)
    if hypothesis.dtype != truth.dtype:
        raise invalid(
            f"cannot compute EditDistance as input #4(zero-based) was expected to be a {hypothesis.dtype.kernel_name} tensor "
            f"but is a {truth.dtype.kernel_name} tensor", "EditDistance", name
        )  # fmt: skip
    ours, wanted = hypothesis.sizes(), truth.sizes()
    if len(wanted) < 2 and len(ours) == len(wanted):
        raise invalid(f"Input SparseTensors must have rank at least 2, but truth_shape rank is: {len(wanted)}", "EditDistance", name)
    if len(ours) != len(wanted):
        raise invalid("Expected truth and hypothesis to have matching ranks, but their shapes are: "
                      f"[{len(wanted)}] and [{len(ours)}]", "EditDistance", name)  # fmt: skip
    out = np.zeros([max(pair) for pair in zip(ours[:-1], wanted[:-1], strict=True)], np.float32)
    first, second = (_rows(value, "EditDistance", validate=False)[0] for value in (hypothesis, truth))
    for place in {*first, *second}:
        target = second.get(place, [])
        steps = _steps(first.get(place, []), target)
        out[place] = steps if not normalize else steps / len(target) if target else np.inf if steps else 0
    parts = [part for value in (hypothesis, truth) for part in (value.values, value.indices)]
    return decided(wrap(out), parts, "EditDistance")


def _steps(made: list[Any], wanted: list[Any]) -> int:
    """The smallest number of insertions, removals and replacements that turns one list into another."""
    row = list(range(len(wanted) + 1))
    for i, one in enumerate(made, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(wanted, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]
