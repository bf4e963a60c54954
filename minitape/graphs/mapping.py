"""``map_fn``, ``scan`` and folds: loops over the first axis of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import new_tensor
from ..engine.values import nest
from ..engine.values.errors import OutOfRangeError
from .arrays import READ, TensorArray
from .calls import rewritten
from .function import function
from .slicing import size_of
from .spec import TensorSpec
from .whiles import MAPPED, WHILE, passing, while_graph

if TYPE_CHECKING:
    from ..engine.types import Array, DTypeLike, Function, Index, Structure, Value
    from .types import Tensors


def _over(elems: Structure, scalar: Exception | None = None) -> Any:
    """The elements as tensors that have a first axis, of one size."""
    elems = nest.map_structure(convert_to_tensor, elems)
    leaves = nest.flatten(elems)
    if not leaves:
        raise ValueError(
            "elems must be a Tensor or (possibly nested) sequence of Tensors. Got "
            f"{elems}, which does not contain any Tensors."
        )
    if any(t.shape.rank == 0 for t in leaves):
        raise scalar or ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    count = leaves[0].shape[0]
    for other in leaves:
        if other.shape[0] != count and None not in (count, other.shape[0]):
            raise ValueError(f"Dimensions {count} and {other.shape[0]} are not compatible")
    return elems


def _count(elems: Structure) -> Any:
    """The number of elements, as an int32 tensor."""
    first = nest.flatten(elems)[0]
    return size_of(first) if first.shape[0] is None else new_tensor(np.int32(first.shape[0]))


def _element(elems: Structure, index: Index) -> Any:
    """Element ``index`` of each tensor of a structure."""
    if state.graph is None:
        return nest.map_structure(lambda t: TABLE["slice"](t, spec=(int(index.array),)), elems)
    return nest.map_structure(lambda t: apply(READ, (t, index), {"shape": t.shape[1:]})[0], elems)


def _written(arrays: Sequence[TensorArray], index: Index, values: Any) -> list[TensorArray]:
    """The arrays with the parts of a structure at ``index``."""
    return [array.write(index, value) for array, value in zip(arrays, nest.flatten(values), strict=True)]


def _stack(arrays: Sequence[TensorArray], like: Any) -> Any:
    """The content of arrays, in the structure of ``like``."""
    return nest.pack_sequence_as(like, [array.stack() for array in arrays])


def map_fn(
    fn: Any,
    elems: Structure,
    dtype: DTypeLike = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Applies ``fn`` to the elements along the first axis and stacks the results.

    ``elems`` may be a structure of tensors; ``fn_output_signature`` (or ``dtype``) gives the dtypes where they differ
    from those of ``elems``. Differentiable (in a graph not with ``back_prop=False``). Elements are handled one after
    the other, so ``parallel_iterations`` and ``swap_memory`` have no effect. ValueError for results of different
    shapes, InvalidArgumentError with ``infer_shape=False``. See https://www.tensorflow.org/api_docs/python/tf/map_fn.

    >>> import minitape as tf
    >>> tf.map_fn(lambda t: t * t, tf.constant([1.0, 2.0, 3.0])).numpy()
    array([1., 4., 9.], dtype=float32)
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn.__name__} is not callable.fn must be callable.")
    if state.graph is not None and state.graph.is_function():
        fn = rewritten(fn)
    elems = _over(elems)
    signature = dtype if fn_output_signature is None else fn_output_signature
    if state.graph is None:
        return _map(fn, elems, signature, infer_shape)
    with state.graph.name_scope(name or "map"):
        return passing(_map(fn, elems, signature, infer_shape), back_prop)


def _map(fn: Any, elems: Structure, signature: Any, infer_shape: bool = True, kinds: Any = WHILE) -> Any:
    """``map_fn`` as a loop; in a graph ``fn`` is called once, however many elements there are."""
    count = _count(elems)
    like = elems if signature is None else signature
    arrays = [
        TensorArray(
            getattr(kind, "dtype", kind),
            size=count,
            infer_shape=infer_shape,
            element_shape=None if signature is None else getattr(kind, "shape", None),
        )
        for kind in nest.flatten(like)
    ]

    def step(i: Index, arrays: Array) -> list:
        found = fn(_element(elems, i))
        nest.assert_same_structure(like, found)
        return [_written(arrays, i, found)]

    (arrays,) = _count_up(step, new_tensor(np.int32(0)), count, [arrays], kinds)
    return _stack(arrays, like)


def _count_up(step: Function, begin: Any, count: Any, values: Tensors, kinds: Any = WHILE) -> Any:
    """``values = step(i, *values)`` for each i from ``begin`` up to ``count``: a loop of the graph, or one of
    Python.
    """
    if state.graph is not None:
        return while_graph(lambda i, *_: i < count, lambda i, *v: (i + 1, *step(i, *v)), [begin, *values], kinds=kinds)[
            1:
        ]
    for i in range(int(begin.array), int(count.array)):
        values = step(new_tensor(np.int32(i)), *values)
    return values


def vectorized_map(fn: Any, elems: Structure, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """The same results as ``map_fn``, whatever the dtypes; ``fn`` is called once, as that of a ``tf.function``.

    minitape applies it to the elements one by one, so there is nothing to fall back from, and
    ``fallback_to_while_loop``
    and ``warn`` have no effect. See https://www.tensorflow.org/api_docs/python/tf/vectorized_map.

    >>> import minitape as tf
    >>> tf.vectorized_map(lambda t: tf.reduce_sum(t), tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy()
    array([3., 7.], dtype=float32)
    """
    if not nest.flatten(elems):
        raise ValueError("max() arg is an empty sequence")
    elems = _over(elems, IndexError("list index out of range"))
    fn = function(fn, autograph=False)
    body = fn.get_concrete_function(nest.map_structure(lambda t: TensorSpec(t.shape[1:], t.dtype), elems)).body
    signature = nest.pack_sequence_as(body.result, [TensorSpec(t.shape, t.dtype) for t in body.flat])
    found = _map(fn, elems, signature, kinds=MAPPED)
    return found if state.graph is not None else _as_one(found)


def _as_one(found: Any) -> Any:
    """Results of one operation, as TensorFlow has them: what one of them depends on has zeros as gradient of the
    others.
    """
    leaves = nest.flatten(found)
    places = [at for at, t in enumerate(leaves) if t.dtype.differentiable]
    if len(places) > 1:
        for at, tensor in zip(places, TABLE["identity_n"](*[leaves[at] for at in places]), strict=True):
            leaves[at] = tensor
    return nest.pack_sequence_as(found, leaves)


def scan(
    fn: Any,
    elems: Structure,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """``fn(accumulated, element)`` along the first axis, with all intermediate results stacked.

    Without ``initializer`` the first element starts. Gradients and errors are those of ``tf.map_fn``, and
    ``parallel_iterations`` and ``swap_memory`` have no effect either. See https://www.tensorflow.org/api_docs/python/tf/scan.

    >>> import minitape as tf
    >>> tf.scan(lambda a, x: a + x, tf.constant([1.0, 2.0, 3.0])).numpy()
    array([1., 3., 6.], dtype=float32)
    """
    return _scan_results(fn, elems, initializer, reverse, back_prop, name or "scan", infer_shape)[1]


def foldl(
    fn: Any,
    elems: Structure,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """``fn(accumulated, element)`` along the first axis, from the first element to the last.

    Without ``initializer`` it starts with the first of them. Gradients are those of ``tf.map_fn``, and
    ``parallel_iterations`` and ``swap_memory`` have no effect either. See https://www.tensorflow.org/api_docs/python/tf/foldl.

    >>> import minitape as tf
    >>> print(tf.foldl(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])).numpy())
    123
    """
    return _scan_results(fn, elems, initializer, False, back_prop, name or "foldl")[0]


def _scan_results(
    fn: Any,
    elems: Structure,
    initializer: Any,
    reverse: bool,
    back_prop: bool,
    name: str,
    infer_shape: bool = True,
) -> tuple:
    """The last of the accumulated values, and all of them stacked."""
    if not callable(fn):
        raise TypeError(f"{fn.__name__} is not callable. Please provide a callable function.")
    if not nest.flatten(elems):
        raise IndexError("list index out of range")
    elems = _over(elems, IndexError("tuple index out of range"))
    if state.graph is None:
        return _accumulate(fn, elems, initializer, reverse, infer_shape)
    with state.graph.name_scope(name):
        return passing(_accumulate(fn, elems, initializer, reverse, infer_shape), back_prop)


def _accumulate(fn: Any, elems: Structure, initializer: Any, reverse: bool, infer_shape: bool) -> tuple:
    count, one = _count(elems), new_tensor(np.int32(1))

    def place(i: Index) -> Any:
        return count - one - i if reverse else i

    if initializer is not None:
        begin, value = new_tensor(np.int32(0)), nest.map_structure(convert_to_tensor, initializer)
    elif state.graph is None and not count.array:
        raise OutOfRangeError(None, None, "Tried to read from index 0 but array size is: 0 ")
    else:
        begin, value = one, _element(elems, place(new_tensor(np.int32(0))))
    arrays = [
        TensorArray(t.dtype, size=count, infer_shape=infer_shape, element_shape=t.shape if infer_shape else None)
        for t in nest.flatten(value)
    ]
    if initializer is None:
        arrays = _written(arrays, place(begin - one), value)

    def step(i: Index, value: Value, arrays: Array) -> list:
        new = fn(value, _element(elems, place(i)))
        nest.assert_same_structure(value if initializer is None or state.graph is not None else initializer, new)
        new = nest.map_structure(convert_to_tensor, new)
        return [new, _written(arrays, place(i), new)]

    last, arrays = _count_up(step, begin, count, [value, arrays])
    return last, _stack(arrays, value)
