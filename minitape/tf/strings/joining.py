"""Strings joined, element by element and along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.tensor.tensor import Tensor
from ...engine.values.errors import OutOfRangeError
from ...engine.values.invalid import invalid, shown
from ...ops.convert import convert_to_tensor
from ...ops.operands import deferred
from .values import strings_of, texts


def _glue(separator: Any) -> bytes:
    separator = "" if separator is None else separator
    if not isinstance(separator, (str, bytes)):
        raise TypeError(f"Expected string for argument 'separator' not {separator!r}.")
    return separator.encode() if isinstance(separator, str) else separator


@deferred
def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Tensors of strings joined element by element; scalars go with each element.

    InvalidArgumentError when shapes differ, TypeError unless ``inputs`` is a list and ``separator`` a string.

    >>> import minitape as tf
    >>> tf.strings.join([["a", "b"], "!"], separator=" ").numpy().tolist()
    [b'a !', b'b !']
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    glue = _glue(separator)
    arrays = [strings_of(i, "StringJoin") for i in inputs]
    shape: tuple[int, ...] = next((a.shape for a in arrays if a.ndim), ())
    for a in arrays:
        if a.ndim and a.shape != shape:
            raise invalid(f"Input shapes do not match: {shown(shape)} vs. {shown(a.shape)}", "StringJoin")
    full = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
    return texts([glue.join(parts) for parts in zip(*full, strict=True)], shape)


@deferred
def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None) -> Tensor:
    """The strings along the axes (all by default) joined, in the order of the axes.

    With ``keepdims`` the axes stay, with size 1. OutOfRangeError for an axis that is not there, InvalidArgumentError
    for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1, separator="+").numpy().tolist()
    [b'a+b', b'c+d']
    """
    glue, array = _glue(separator), strings_of(inputs, "ReduceJoin")
    rank = array.ndim
    axes = list(range(rank))[::-1]
    if axis is not None:
        axes = np.atleast_1d(np.asarray(convert_to_tensor(axis).array)).tolist()
    for a in axes:
        if not -rank <= a < rank:
            what = f"Invalid reduction dimension {a} for input with {rank} dimension(s) [Op:ReduceJoin] name: "
            raise OutOfRangeError(None, None, what)
    axes = [a % rank for a in axes]
    kept = [i for i in range(rank) if i not in axes]
    moved = array.transpose((*kept, *axes[::-1])).reshape((*[array.shape[i] for i in kept], -1))
    shape = [1 if i in axes else n for i, n in enumerate(array.shape)] if keepdims else [array.shape[i] for i in kept]
    return texts([glue.join(row) for row in moved.reshape((-1, moved.shape[-1]))], tuple(shape))
