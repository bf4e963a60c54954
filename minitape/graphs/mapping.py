"""``map_fn``, ``scan`` and folds: loops over the first axis of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import dtypes, nest
from ..engine.above import above
from ..engine.convert import convert_to_tensor
from ..engine.errors import OutOfRangeError
from ..engine.invalid import invalid
from ..engine.operands import spelled, worded
from ..engine.operation import apply
from ..engine.primitives import TABLE
from ..engine.state import state
from ..engine.tensor import Tensor, wrap
from .arrays import READ, TensorArray
from .spec import TensorSpec
from .symbolic import is_symbolic
from .whiles import MAPPED, WHILE, passing, spec_of, while_graph, while_loop

SIDE_BY_SIDE = 256  # calls of a vectorized_map that stand beside each other in a graph: None is None then, where a loop has zeros


def elements(value: Any, index: int) -> Any:
    """Element ``index`` of each tensor of a structure."""
    return nest.map_structure(lambda t: TABLE["slice"](t, spec=(index,)), value)


def _count(elems: Any) -> Any:
    return nest.flatten(elems)[0].shape[0]


def _over(elems: Any, scalar: Exception | None = None) -> tuple[Any, int]:
    elems = nest.map_structure(convert_to_tensor, elems)
    if not nest.flatten(elems):
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors. Got "
                         f"{elems}, which does not contain any Tensors.")  # fmt: skip
    if any(t.shape.rank == 0 for t in nest.flatten(elems)):
        raise scalar or ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    count = _count(elems)
    for other in nest.flatten(elems):
        if other.shape[0] != count and None not in (count, other.shape[0]):
            raise ValueError(f"Dimensions {count} and {other.shape[0]} are not compatible")
    return elems, count


def _stacked(results: list[Any], infer_shape: bool = True, like: Any = None) -> Any:
    """The results along a new first axis; ``like`` has a tensor, dtype or type for each of their parts."""
    if not results:
        raise ValueError("The first axis is empty: nothing to apply the function to.")
    columns = list(zip(*map(nest.flatten, results), strict=True))
    kinds = [None] * len(columns) if like is None else nest.flatten(like)
    stacked = [_column(list(parts), infer_shape, kind) for parts, kind in zip(columns, kinds, strict=True)]
    return nest.pack_sequence_as(results[0], stacked)


def _column(parts: list[Any], infer_shape: bool, kind: Any) -> Any:
    if hasattr(kind, "_stacked"):  # of sparse tensors
        return kind._stacked(parts)
    if hasattr(kind, "ragged_rank"):
        return above.stack_ragged(parts)
    if kind is None or state.graph is not None:
        tensors = [convert_to_tensor(p) for p in parts]
        _check_shapes([t.shape for t in tensors], infer_shape)
        return TABLE["stack"](*tensors, axis=0)
    array = TensorArray(kind.dtype if hasattr(kind, "dtype") else kind, size=len(parts), infer_shape=infer_shape)
    for i, part in enumerate(parts):
        array = array.write(i, part)
    return array.stack()


def _check_shapes(shapes: list[Any], infer_shape: bool) -> None:
    """Results can be stacked when their shapes agree; with ``infer_shape`` TensorFlow says so at the first other one."""
    at = next((i for i, shape in enumerate(shapes) if not shape.is_compatible_with(shapes[0])), None)
    if at is None:
        return
    if infer_shape:
        raise ValueError(f"Incompatible shape for value ({shapes[at]}), expected ({shapes[0]})")
    sizes = [str(shape.as_list()).replace(" ", "") for shape in (shapes[0], shapes[at])]
    raise invalid(
        f"Shapes of all inputs must match: values[0].shape = {sizes[0]} != values[{at}].shape = {sizes[1]}", "Pack"
    )


@spelled("map_fn_v2")
def map_fn(fn: Any, elems: Any, dtype: Any = None, parallel_iterations: int | None = None, back_prop: bool = True,
           swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
           fn_output_signature: Any = None) -> Any:  # fmt: skip
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
    fn = within_function(fn)
    elems, count = _over(elems)
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if state.graph is not None and _all_dense(elems if signature is None else signature):
        with state.graph.name_scope(name or "map"):
            return passing(_map_in_graph(fn, elems, signature, infer_shape), back_prop)
    if count == 0:
        specs = elems if signature is None else signature
        return nest.map_structure(lambda s: _empty(s), specs)
    results = [fn(elements(elems, i)) for i in range(count)]
    like = elems if signature is None else signature
    nest.assert_same_structure(like, results[0])
    return passing(_stacked(results, infer_shape, like), back_prop)


def within_function(function: Any) -> Any:
    """A function that is called while a ``tf.function`` is traced: what it does to symbolic tensors becomes part of it."""
    if state.graph is None or not state.graph.is_function():
        return function
    from .calls import rewritten

    return rewritten(function)


def _empty(spec: Any) -> Any:
    shape = tuple(spec.shape)[1:] if isinstance(spec, Tensor) and state.graph is not None else ()
    dtype = spec.dtype if hasattr(spec, "dtype") else dtypes.as_dtype(spec)
    return wrap(np.zeros((0, *shape), dtype.as_numpy_dtype))


def _all_dense(kinds: Any) -> bool:
    return not any(type(kind).__name__ in ("RaggedTensorSpec", "SparseTensorSpec") for kind in nest.flatten(kinds))


def _map_in_graph(fn: Any, elems: Any, signature: Any, infer_shape: bool = True, kinds: Any = WHILE) -> Any:
    """``map_fn`` as a loop of the graph: ``fn`` is called once, however many elements there are."""
    from .later import size_of

    count = size_of(nest.flatten(elems)[0])
    like = elems if signature is None else signature
    flat = nest.flatten(like)
    shapes = [None if signature is None else getattr(s, "shape", None) for s in flat]
    arrays = [
        TensorArray(getattr(s, "dtype", s), size=count, infer_shape=infer_shape, element_shape=shape)
        for s, shape in zip(flat, shapes, strict=True)
    ]

    def step(i: Any, tas: Any) -> Any:
        found = fn(_read(elems, i))
        nest.assert_same_structure(like, found)
        return i + 1, [ta.write(i, r) for ta, r in zip(tas, nest.flatten(found), strict=True)]

    _, arrays = while_graph(lambda i, tas: i < count, step, [wrap(np.int32(0)), arrays], kinds=kinds)
    return nest.pack_sequence_as(like, [_stack(ta, _count(elems)) for ta in arrays])


def _read(elems: Any, index: Any) -> Any:
    """Element ``index`` of each tensor of a structure, in a graph."""
    return nest.map_structure(lambda t: apply(READ, (t, index), {})[0], elems)


def _stack(array: Any, count: int | None) -> Any:
    """The elements of an array that holds ``count``, where that is known."""
    found = array.stack()
    if is_symbolic(found) and found.shape.rank is not None:
        found.set_shape([count, *found.shape[1:]])
    return found


def vectorized_map(fn: Any, elems: Any, fallback_to_while_loop: bool = True, warn: bool = True) -> Any:
    """The same results as ``map_fn``, whatever the dtypes; ``fn`` is called once, as that of a ``tf.function``.

    minitape applies it to the elements one by one, so there is nothing to fall back from, and ``fallback_to_while_loop`` and ``warn`` have no effect. See https://www.tensorflow.org/api_docs/python/tf/vectorized_map.

    >>> import minitape as tf
    >>> tf.vectorized_map(lambda t: tf.reduce_sum(t), tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy()
    array([3., 7.], dtype=float32)
    """
    if not nest.flatten(elems):
        raise ValueError("max() arg is an empty sequence")
    elems, count = _over(elems, IndexError("list index out of range"))
    from .function import function

    fn = function(fn, autograph=False)

    def mapped(elems: Any) -> Any:
        first = nest.map_structure(convert_to_tensor, fn(_read(elems, wrap(np.int32(0)))))  # its row is not run
        return _map_in_graph(fn, elems, nest.map_structure(lambda t: TensorSpec(t.shape, t.dtype), first), kinds=MAPPED)

    if state.graph is not None:
        if not count or count > SIDE_BY_SIDE:
            return mapped(elems)
        return _as_one(_stacked([fn(_read(elems, wrap(np.int32(i)))) for i in range(count)]))
    if count == 0:
        return function(mapped, autograph=False)(elems)
    concrete = fn.get_concrete_function(elements(elems, 0))  # by itself: it may be another function in each call
    return _as_one(_stacked([concrete.call_flat(nest.flatten(elements(elems, i))) for i in range(count)]))


def _as_one(found: Any) -> Any:
    """Results of one operation, as TensorFlow has them: what one of them depends on has zeros as gradient of the others."""
    leaves = nest.flatten(found)
    places = [at for at, t in enumerate(leaves) if t.dtype.differentiable]
    if len(places) > 1:
        for at, tensor in zip(places, TABLE["identity_n"](*[leaves[at] for at in places]), strict=True):
            leaves[at] = tensor
    return nest.pack_sequence_as(found, leaves)


@worded
def scan(
    fn: Any,
    elems: Any,
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
    if state.graph is not None:
        with state.graph.name_scope(name or "scan"):
            return passing(_loop(fn, elems, initializer, reverse)[1], back_prop)
    results, start = _accumulate(fn, elems, initializer, reverse)
    if not results:
        return nest.map_structure(_empty_like, start)
    return passing(_stacked(results[::-1] if reverse else results, infer_shape, start), back_prop)


def _empty_like(tensor: Any) -> Any:
    return wrap(np.zeros((0, *tensor.shape), tensor.dtype.as_numpy_dtype))


@worded
def foldl(fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
          swap_memory: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """``fn(accumulated, element)`` along the first axis, from the first element to the last.

    Without ``initializer`` it starts with the first of them. Gradients are those of ``tf.map_fn``, and
    ``parallel_iterations`` and ``swap_memory`` have no effect either. See https://www.tensorflow.org/api_docs/python/tf/foldl.

    >>> import minitape as tf
    >>> print(tf.foldl(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])).numpy())
    123
    """
    return passing(_folded(fn, elems, initializer, False, name or "foldl"), back_prop)


@worded
def foldr(fn: Any, elems: Any, initializer: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
          swap_memory: bool = False, name: str | None = None) -> Tensor:  # fmt: skip
    """``fn(accumulated, element)`` along the first axis, from the last element to the first.

    Without ``initializer`` it starts with the first of them. Gradients are those of ``tf.map_fn``, and
    ``parallel_iterations`` and ``swap_memory`` have no effect either. See https://www.tensorflow.org/api_docs/python/tf/foldr.

    >>> import minitape as tf
    >>> print(tf.foldr(lambda a, x: a * 10 + x, tf.constant([1, 2, 3])).numpy())
    321
    """
    return passing(_folded(fn, elems, initializer, True, name or "foldr"), back_prop)


def _folded(fn: Any, elems: Any, initializer: Any, reverse: bool, name: str) -> Any:
    if state.graph is not None:
        with state.graph.name_scope(name):
            return _loop(fn, elems, initializer, reverse)[0]
    return _accumulate(fn, elems, initializer, reverse, True)[0][-1]


def _loop(fn: Any, elems: Any, initializer: Any, reverse: bool) -> tuple[Any, Any]:
    """The last of the accumulated values and all of them stacked: a loop of the graph."""
    from .later import size_of

    elems = nest.map_structure(convert_to_tensor, elems)
    count, one = size_of(nest.flatten(elems)[0]), wrap(np.int32(1))

    def place(i: Any) -> Any:
        return count - one - i if reverse else i

    if initializer is None:
        begin, value = one, _read(elems, place(wrap(np.int32(0))))
    else:
        begin, value = wrap(np.int32(0)), nest.map_structure(convert_to_tensor, initializer)
    arrays = [TensorArray(t.dtype, size=count, element_shape=t.shape) for t in nest.flatten(value)]
    if initializer is None:
        arrays = [a.write(place(begin - one), t) for a, t in zip(arrays, nest.flatten(value), strict=True)]

    def step(i: Any, value: Any, arrays: Any) -> Any:
        new = fn(value, _read(elems, place(i)))
        nest.assert_same_structure(value, new)
        new = nest.map_structure(convert_to_tensor, new)
        return i + 1, new, [a.write(place(i), t) for a, t in zip(arrays, nest.flatten(new), strict=True)]

    _, value, arrays = while_loop(lambda i, *_: i < count, step, (begin, value, arrays))
    return value, nest.pack_sequence_as(value, [_stack(a, _count(elems)) for a in arrays])


def _accumulate(fn: Any, elems: Any, initializer: Any, reverse: bool, folding: bool = False) -> tuple[list[Any], Any]:
    """The accumulated values and the first of them; when ``folding`` they begin with it."""
    if not callable(fn):
        raise TypeError(f"{fn.__name__} is not callable. Please provide a callable function.")
    if not nest.flatten(elems):
        raise IndexError("list index out of range")
    elems, count = _over(elems, IndexError("tuple index out of range"))
    order = list(range(count))[:: -1 if reverse else 1]
    results: list[Any] = []
    if initializer is None:
        if not order:
            raise OutOfRangeError(None, None, "Tried to read from index 0 but array size is: 0 ")
        value = elements(elems, order[0])
        results.append(value)
        order = order[1:]
    else:
        value = nest.map_structure(convert_to_tensor, initializer)
        if folding:
            results.append(value)
    start, counter = value, wrap(np.int32(1))
    loop = nest.map_structure(spec_of, [counter, [counter, value]])  # a fold is a loop over these
    for i in order:
        value = fn(value, elements(elems, i))
        if folding:
            nest.assert_same_structure(loop, [1, [counter + 1, value]])
        else:
            nest.assert_same_structure(elems if initializer is None else initializer, value)
        results.append(value)
    return results, start
