"""What datasets do with their elements: walk through structures, stack rows into batches, draw at random."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import dtypes
from ..convert import convert_to_tensor
from ..custom import no_tapes
from ..errors import InvalidArgumentError
from ..evidence import decided
from ..random import philox
from ..record import state
from ..tensor import EagerTensor, Tensor, wrap

# -- structures -------------------------------------------------------------------------------------------------------


def is_structure(value: Any) -> bool:
    """True for a tuple or a dictionary; lists are tensors."""
    return isinstance(value, (tuple, Mapping))


def map_leaves(function: Callable[..., Any], value: Any) -> Any:
    """A function of the leaves; tuples and dictionaries are structures, lists are tensors."""
    if isinstance(value, Mapping):
        return type(value)((k, map_leaves(function, v)) for k, v in value.items())  # type: ignore[call-arg]
    if isinstance(value, tuple):
        items = [map_leaves(function, v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return function(value)


def is_dataset(value: Any) -> bool:
    """True for a dataset."""
    return hasattr(value, "element_spec") and hasattr(value, "cardinality")


def leaves(value: Any) -> list[Any]:
    """The leaves of a structure."""
    found: list[Any] = []
    map_leaves(found.append, value)
    return found


def source(value: Any) -> Any:
    """A leaf that is given to a dataset, as a tensor."""
    if isinstance(value, Tensor) or hasattr(value, "_composite") or is_dataset(value) or value is None:
        return value
    return convert_to_tensor(value)


def handed(value: Any) -> Any:
    """A leaf that a dataset is made of: a tensor of its own, which no tape connects with the one that was given."""
    tensor = source(value)
    return decided(wrap(tensor.array), (tensor,), "tf.data") if type(tensor) is EagerTensor else tensor


def apart(step: Callable[[], Any]) -> Any:
    """Runs a step of an input pipeline, which tapes do not see, as it runs beside the program in TensorFlow."""
    if state.record is None or state.graph is not None:
        return step()
    with no_tapes():
        return step()


def call(function: Callable[..., Any], element: Any) -> Any:
    """``function`` of an element: a tuple becomes several arguments."""
    return function(*element) if type(element) is tuple else function(element)


def typed(item: Any, kinds: Any) -> Any:
    """What a generator yields, as tensors of these types."""
    if isinstance(kinds, (tuple, list)):
        return tuple(typed(i, k) for i, k in zip(item, kinds, strict=True))
    if isinstance(kinds, Mapping):
        return {k: typed(item[k], kind) for k, kind in kinds.items()}
    if hasattr(item, "_composite"):
        return item
    array = np.asarray(item)
    return convert_to_tensor(
        array.astype(dtypes.as_dtype(kinds).as_numpy_dtype) if array.dtype.kind in "fiub" else item, kinds
    )


# -- rows and batches -------------------------------------------------------------------------------------------------


def rows_of(t: Any) -> int:
    """The number of rows."""
    return int(t.shape[0])


def row(t: Any, i: int) -> Any:
    """One row of a tensor, ragged or sparse tensor."""
    if type(t).__name__ != "SparseTensor":
        return t[i]
    from ..sparse import reshape, slice

    sizes = t.sizes()
    one = slice(t, [i] + [0] * (len(sizes) - 1), [1, *sizes[1:]])
    return reshape(one, sizes[1:])


def groups(dataset: Any, size: int, drop: bool) -> Iterator[list[Any]]:
    """Lists of up to ``size`` elements."""
    source = iter(dataset)
    while True:
        group = list(itertools.islice(source, size))
        if not group or (drop and len(group) < size):
            return
        yield group


def merged(group: list[Any], function: Callable[[list[Any]], Any]) -> Any:
    """Elements of one structure as one element: ``function`` joins what stands at each leaf."""
    columns = zip(*[leaves(e) for e in group], strict=True)
    made = iter([function(list(c)) for c in columns])
    return map_leaves(lambda _: next(made), group[0])


def stacked(group: list[Any]) -> Any:
    """Elements of one shape as a batch."""
    return merged(group, stack_rows)


def stack_rows(items: list[Any]) -> Any:
    """Tensors of one shape as the rows of a tensor."""
    import minitape as tf

    if type(items[0]).__name__ == "SparseTensor":
        return tf.sparse.concat(0, [tf.sparse.expand_dims(i, 0) for i in items])
    if type(items[0]).__name__ == "RaggedTensor":
        return tf.ragged.stack(items)
    shapes = [tuple(i.shape) for i in items]
    if any(s != shapes[0] for s in shapes):
        at = next(i for i, s in enumerate(shapes) if s != shapes[0])
        show = [",".join(map(str, s)) for s in (shapes[0], shapes[at])]
        raise InvalidArgumentError(
            None,
            None,
            "Cannot add tensor to the batch: number of elements does not match. Shapes are: "
            f"[tensor]: [{show[1]}], [batch]: [{show[0]}] [Op:IteratorGetNext] name: ",
        )
    return tf.stack(items)


def ragged_rows(group: list[Any]) -> Any:
    """Elements of different lengths as rows of ragged tensors."""
    import minitape as tf

    return merged(group, lambda items: tf.ragged.stack(items) if len(items[0].shape) else tf.stack(items))


def padded(group: list[Any], shapes: Any, values: Any) -> Any:
    """Elements of different lengths as a batch, filled up at their ends."""
    wanted = (
        None if shapes is None else leaves(shapes if is_structure(shapes) and is_structure(group[0]) else (shapes,))
    )
    columns = list(zip(*[leaves(e) for e in group], strict=True))
    if values is None or (is_structure(group[0]) and is_structure(values)):
        fill = None if values is None else leaves(values)
    else:
        fill = [values] * len(columns)  # one for all
    made = []
    for c, items in enumerate(columns):
        sizes = np.max([t.shape.as_list() for t in items], axis=0).astype(int).tolist() if items[0].ndim else []
        if wanted is not None:
            given = list(
                np.atleast_1d(np.asarray(wanted[c], object))
                if not hasattr(wanted[c], "as_list")
                else wanted[c].as_list()
            )
            sizes = [n if g in (None, -1) else int(g) for n, g in zip(sizes, given, strict=True)]
        kind = items[0].dtype
        default = (
            (b"" if kind.kind == "s" else 0)
            if fill is None or fill[c] is None
            else convert_to_tensor(fill[c], kind).array
        )
        out = np.full((len(items), *sizes), default, kind.as_numpy_dtype)
        for i, t in enumerate(items):
            out[(i, *[slice(0, n) for n in t.shape])] = t.array
        made.append(wrap(out))
    left = iter(made)
    return map_leaves(lambda _: next(left), group[0])


def drawn(source: Iterator[Any], size: int, words: Iterator[int]) -> Iterator[Any]:
    """Elements drawn from a buffer that is filled up before each draw, in the order of TensorFlow."""
    buffer: dict[int, Any] = {}
    start = end = 0
    open_end = True
    while True:
        while open_end and end - start < size:
            following = next(source, _END)
            if following is _END:
                open_end = False
            else:
                buffer[end] = following
                end += 1
        if start == end:
            return
        i = start + next(words) % (end - start)
        chosen = buffer[i]
        buffer[i] = buffer[start]
        del buffer[start]
        start += 1
        yield chosen


_END = object()


def words(seeds: tuple[int, int]) -> Iterator[int]:
    """The random 32 bits of two seeds, one after the other."""
    for first in itertools.count(step=16):
        yield from philox.blocks(seeds[0], (seeds[1] << 64) + first, 16).reshape(-1).tolist()


def seed_pair(seed: Any) -> tuple[int, int]:
    """The global seed and the operation's own, as TensorFlow completes them."""
    from ..random.seeds import pair_of

    return pair_of(None if seed is None else int(seed))


# -- types ------------------------------------------------------------------------------------------------------------


def tensor_spec(shape: Any, dtype: Any) -> Any:
    """The type of a tensor."""
    import minitape as tf

    return tf.TensorSpec(shape, dtype)


def spec_of(value: Any, skip: int = 0) -> Any:
    """The type of a leaf, without its first ``skip`` axes."""
    if hasattr(value, "_composite"):
        spec = value._type_spec
        if skip and hasattr(spec, "ragged_rank"):
            shape = spec.shape[skip:]
            return type(spec)(shape, spec.dtype, spec.ragged_rank - 1)
        return type(spec)(spec.shape[skip:], spec.dtype) if skip else spec
    if is_dataset(value):
        return f"DatasetSpec({value.element_spec}, TensorShape([]))"
    return tensor_spec(tuple(value.shape)[skip:], value.dtype)


def with_rows(spec: Any, size: int | None) -> Any:
    """The type of a batch of ``size`` such leaves."""
    shape = [size, *spec.shape]
    if hasattr(spec, "ragged_rank"):
        return type(spec)(shape, spec.dtype, spec.ragged_rank + 1)
    return type(spec)(shape, spec.dtype)
