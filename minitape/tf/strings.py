"""``tf.strings``: the two functions of bytes that the appendix shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.invalid import invalid
from .arguments import integer

if TYPE_CHECKING:
    from ..engine.types import Name, Value


def length(input: Value, name: Name = None) -> Tensor:
    """The number of bytes of each text, int32 in the shape of ``input``.

    >>> import minitape as tf
    >>> tf.strings.length(["a", "abc"]).numpy()
    array([1, 3], dtype=int32)
    """
    texts = np.asarray(convert_to_tensor(input, dtypes.string).array)
    return new_tensor(np.array([*map(len, texts.flat)], np.int32).reshape(texts.shape))


def substr(input: Value, pos: Value, len: Value, name: Name = None) -> Tensor:
    """``len`` bytes of each text from place ``pos`` on.

    A negative ``pos`` counts from the end, a negative ``len`` takes the rest. Raises InvalidArgumentError for a ``pos``
    outside of a text.

    >>> import minitape as tf
    >>> tf.strings.substr("tape", 1, 2).numpy()
    b'ap'
    """
    texts = np.asarray(convert_to_tensor(input, dtypes.string).array)
    start, count = integer(pos, "pos"), integer(len, "len")
    made = np.empty(texts.shape, object)
    for place, text in np.ndenumerate(texts):
        first = start + text.__len__() if start < 0 else start
        if not 0 <= first <= text.__len__():
            raise invalid(f"pos {start} is not in the text {text!r}")
        made[place] = text[first : first + count if count >= 0 else None]
    return new_tensor(made)
