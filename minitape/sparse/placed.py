"""Functions of sparse tensors in a graph that does not know their places: they are called when the graph runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import nest
from ..custom import no_tapes
from ..graphs.effects import later
from ..graphs.parts import Parts, take_apart
from ..graphs.postponed import common_shape, trying
from ..graphs.symbolic import is_symbolic
from ..shape import TensorShape
from ..state import state
from ..tensor import Tensor, wrap
from ..typed import Given, Made
from .tensor import SparseTensor


def placed(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """The same function; in a graph whose run alone knows the places, it is put off until then."""

    @functools.wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        try:
            return function(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            unknown = isinstance(error, AttributeError) or any(word in str(error) for word in ("SymbolicTensor", "NoneType"))
            if state.graph is None or not unknown:
                raise
            found = _put_off(function, [list(args), kwargs])
            if found is None:
                raise
            return found[0]

    return called


def _put_off(function: Callable[..., Any], given: Any) -> list[Any] | None:
    """[the result that a run will give], or None when the function refuses everything that is tried in its place."""
    leaves = [leaf._read() if hasattr(leaf, "_read") else leaf for leaf in nest.flatten(given)]
    inputs: list[Any] = []
    for leaf in leaves:
        inputs += _parts(leaf)

    def run(tensors: Any) -> Any:
        waiting = iter(tensors)
        made = [SparseTensor(*(next(waiting) for _ in "ivd")) if isinstance(leaf, SparseTensor)
                else next(waiting) if isinstance(leaf, Tensor) else leaf for leaf in leaves]  # fmt: skip
        args, kwargs = nest.pack_sequence_as(given, made)
        return function(*args, **kwargs)

    def call(*tensors: Any) -> list[Any]:
        return [part for leaf in nest.flatten(run(tensors)) for part in _apart(leaf)]

    results = [found for size in (2, 3) if (found := _tried(run, leaves, size)) is not None]
    if not results:
        return None
    flat = [nest.flatten(result) for result in results]
    models = flat[0]
    shapes = [common_shape(one) for one in zip(*flat, strict=False)]
    if len(results) == 1:  # one trial alone does not tell which sizes depend on what
        shapes = [TensorShape([None] * len(shape)) for shape in shapes]
    specs = [spec for model, shape in zip(models, shapes, strict=True) for spec in _specs(model, shape)]
    waiting = iter(later(call, inputs, specs))
    return [nest.pack_sequence_as(results[0], [_whole(m, s, waiting) for m, s in zip(models, shapes, strict=True)])]


def _parts(leaf: Any) -> list[Any]:
    return take_apart(leaf) if isinstance(leaf, SparseTensor) else [leaf] if isinstance(leaf, Tensor) else []


def _apart(leaf: Any) -> list[Any]:
    found = take_apart(leaf)
    return found if isinstance(found, Parts) else [found]


def _specs(model: Any, shape: TensorShape) -> list[Any]:
    """(shape, dtype) of the tensors that a result is made of; how many elements a sparse one has, only the run knows."""
    if not isinstance(model, SparseTensor):
        return [(shape, model.dtype)]
    kinds = [part.dtype for part in take_apart(model)]
    return list(zip((TensorShape([None, shape.rank]), TensorShape([None]), TensorShape([shape.rank])), kinds, strict=True))


def _whole(model: Any, shape: TensorShape, waiting: Any) -> Any:
    if not isinstance(model, SparseTensor):
        return next(waiting)
    made = SparseTensor(*(next(waiting) for _ in "ivd"))
    made.set_shape(shape)
    return made


# -- stand-ins --------------------------------------------------------------------------------------------------------


def _tried(run: Callable[[Any], Any], leaves: list[Any], size: int) -> Any:
    """What the function gives for values in the place of those that only a run knows, None where it refuses them.

    Unknown sizes, and the number of axes where it is unknown, are ``size``, and so are the values.
    """
    tensors = [part for leaf in leaves for part in _stand_ins(leaf, size)]
    try:
        with trying(), no_tapes():
            return run(tensors)
    except Exception:  # what it refuses is said when the graph runs
        return None


def _stand_ins(leaf: Any, size: int) -> list[Any]:
    if not isinstance(leaf, SparseTensor):
        return [_stand_in(leaf, leaf.shape, size)] if isinstance(leaf, Tensor) else []
    if not any(is_symbolic(part) for part in (leaf.indices, leaf.dense_shape)):
        return [leaf.indices, _stand_in(leaf.values, leaf.values.shape, size), leaf.dense_shape]
    count = leaf.values.shape[0] or size
    sizes = [max(size, count) if n is None else n for n in (leaf.shape if leaf.shape.rank is not None else [None] * size)]
    index = np.stack(np.unravel_index(np.arange(count) % max(np.prod(sizes), 1), sizes), 1)
    return [wrap(index.astype(np.int64)), _stand_in(leaf.values, [count], size), wrap(np.array(sizes, np.int64))]


def _stand_in(tensor: Any, shape: Any, size: int) -> Any:
    known = getattr(tensor, "array", None)
    if known is not None:
        return wrap(known)
    sizes = [size if n is None else n for n in (shape if TensorShape(shape).rank is not None else [None] * size)]
    return wrap(np.full(sizes, b"s" if tensor.dtype.kind == "s" else size, tensor.dtype.as_numpy_dtype))
