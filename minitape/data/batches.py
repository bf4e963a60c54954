"""Rows of tensors, and elements of a dataset stacked into batches."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..errors import InvalidArgumentError
from ..tensor import wrap
from .elements import is_structure, leaves, map_leaves


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
