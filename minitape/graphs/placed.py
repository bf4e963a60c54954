"""Functions that take or give ragged or sparse tensors of which only a run of the graph knows the rows or places.

They are called when the graph runs. What they will give is found out by calling them on stand-ins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import nest
from ..engine.custom import no_tapes
from ..engine.shape import TensorShape
from ..engine.tensor import Tensor, wrap
from ..ops.parts import Parts, take_apart
from .effects import later
from .infer import trying
from .postponed import common_shape
from .symbolic import is_symbolic


def put_off(function: Callable[..., Any], args: Any, kwargs: Any) -> list[Any] | None:
    """[the result that a run will give], or None when the function refuses everything that is tried in its place."""
    given = [list(args), kwargs]
    leaves = [leaf._read() if hasattr(leaf, "_read") else leaf for leaf in nest.flatten(given)]
    taken = [take_apart(leaf) for leaf in leaves]
    inputs = [part for leaf in taken for part in _parts(leaf)]
    if not any(map(is_symbolic, inputs)):
        return None

    def run(tensors: Any) -> Any:
        waiting = iter(tensors)
        made = [leaf.make(*[next(waiting) for _ in leaf]) if isinstance(leaf, Parts)
                else next(waiting) if isinstance(leaf, Tensor) else leaf for leaf in taken]  # fmt: skip
        args, kwargs = nest.pack_sequence_as(given, made)
        return function(*args, **kwargs)

    def call(*tensors: Any) -> list[Any]:
        return nest.flatten(run(tensors), expand_composites=True)

    open_rank = any(part.shape.rank is None for part in inputs)
    for rank in (None, 0, 1) if open_rank else (None,):
        results = [found for size in (2, 3) if (found := _tried(run, leaves, size, rank)) is not None]
        if results:
            break
    else:
        return None
    flat = [nest.flatten(result) for result in results]
    models = flat[0]
    if any(len(one) != len(models) for one in flat) or not all(isinstance(m, Tensor) or _whole(m) for m in models):
        return None
    specs = [spec for alike in zip(*flat, strict=True) for spec in _specs(alike, open_rank)]
    waiting = iter(later(call, inputs, specs))
    return [nest.pack_sequence_as(results[0], [_made(alike, waiting) for alike in zip(*flat, strict=True)])]


def _parts(leaf: Any) -> list[Any]:
    return leaf if isinstance(leaf, Parts) else [leaf] if isinstance(leaf, Tensor) else []


def _whole(value: Any) -> bool:
    """True for ragged and sparse tensors."""
    return not isinstance(value, type) and hasattr(value, "_composite") and hasattr(value, "_components")


def _specs(alike: tuple[Any, ...], open_rank: bool) -> list[Any]:
    """(shape, dtype) of the tensors that a result is made of, from what it was in several trials.

    With an ``open_rank`` they do not tell how many axes values have.
    """
    model, shape = alike[0], _common(alike)
    if not _whole(model):
        return [(TensorShape(None) if open_rank else shape, model.dtype)]
    kinds = [part.dtype for part in model._components()]
    if _is_ragged(model):
        inner = TensorShape(None) if open_rank else _common([each.flat_values for each in alike])[1:]
        splits = [TensorShape([shape[0] and shape[0] + 1]), *[TensorShape([None])] * (len(kinds) - 2)]
        return list(zip((TensorShape([None]).concatenate(inner), *splits), kinds, strict=True))
    return list(zip((TensorShape([None, shape.rank]), TensorShape([None]), TensorShape([shape.rank])), kinds, strict=True))


def _common(alike: Sequence[Any]) -> TensorShape:
    """The shape that results of several trials have in common; one alone does not tell which sizes depend on what."""
    shape = common_shape(alike)
    return shape if len(alike) > 1 else TensorShape([None] * shape.rank)


def _made(alike: tuple[Any, ...], waiting: Any) -> Any:
    model = alike[0]
    if not _whole(model):
        return next(waiting)
    for other in alike[1:] if _is_ragged(model) else ():
        model = model._without_lengths(other)
    made = model._rebuilt([next(waiting) for _ in model._components()])
    if not _is_ragged(model):
        made.set_shape(_common(alike))
    return made


def _is_ragged(value: Any) -> bool:
    return type(value).__name__ == "RaggedTensor"


# -- stand-ins --------------------------------------------------------------------------------------------------------


def _tried(run: Callable[[Any], Any], leaves: list[Any], size: int, rank: int | None) -> Any:
    """What the function gives for values in the place of those that only a run knows, None where it refuses them.

    Unknown sizes are ``size``, and so are the values, and the number of axes where it is unknown and ``rank`` is None.
    """
    tensors = [part for leaf in leaves for part in _stand_ins(leaf, size, size if rank is None else rank)]
    try:
        with trying(), no_tapes():
            return run(tensors)
    except Exception:  # what it refuses is said when the graph runs
        return None


def _stand_ins(leaf: Any, size: int, rank: int) -> list[Any]:
    if not _whole(leaf):
        return [_stand_in(part, part.shape if part.shape.rank is not None else [None] * rank, size) for part in _parts(take_apart(leaf))]
    if _is_ragged(leaf):
        return _ragged_stand_ins(leaf, size)
    if not any(is_symbolic(part) for part in (leaf.indices, leaf.dense_shape)):
        return [leaf.indices, _stand_in(leaf.values, leaf.values.shape, size), leaf.dense_shape]
    count = leaf.values.shape[0] or size
    sizes = [max(size, count) if n is None else n for n in (leaf.shape if leaf.shape.rank is not None else [None] * size)]
    index = np.stack(np.unravel_index(np.arange(count) % max(np.prod(sizes), 1), sizes), 1)
    return [wrap(index.astype(np.int64)), _stand_in(leaf.values, [count], size), wrap(np.array(sizes, np.int64))]


def _ragged_stand_ins(leaf: Any, size: int) -> list[Any]:
    """Values, and where rows are not known, splits: each row has ``size`` values, or as many as go into it."""
    parts = take_apart(leaf)
    if len(parts) == 1:
        return [_stand_in(parts[0], parts[0].shape, size)]
    flat, *splits = parts
    levels, count = [], None
    for at, cuts in enumerate(splits):
        rows = cuts.shape[0] - 1 if cuts.shape.rank and cuts.shape[0] else size if count is None else count
        inner = (splits[at + 1] if at + 1 < len(splits) else flat).shape
        known = inner[0] if inner.rank else None
        count = rows * size if known is None else known - (at + 1 < len(splits))
        levels.append(wrap((np.arange(rows + 1) * count // max(rows, 1)).astype(cuts.dtype.as_numpy_dtype)))
    return [_stand_in(flat, [count, *(flat.shape[1:] if flat.shape.rank else ())], size), *levels]


def _stand_in(tensor: Any, shape: Any, size: int) -> Any:
    known = getattr(tensor, "array", None)
    if known is not None:
        return wrap(known)
    sizes = [size if n is None else n for n in shape]
    value = b"s" if tensor.dtype.kind == "s" else size == 2 if tensor.dtype.kind == "b" else size
    return wrap(np.full(sizes, value, tensor.dtype.as_numpy_dtype))
