"""``tf.strings``: the two functions of bytes that the appendix shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor


def length(input: Any) -> Tensor:
    """The number of bytes.

    >>> import minitape as tf
    >>> tf.strings.length(["a", "abc"]).numpy()
    array([1, 3], dtype=int32)
    """
    texts = convert_to_tensor(input).array
    return new_tensor(np.array([len(text) for text in texts.flat], np.int32).reshape(texts.shape))


def substr(input: Any, pos: int, len: int) -> Tensor:
    """``len`` bytes from place ``pos`` on.

    >>> import minitape as tf
    >>> tf.strings.substr("tape", 1, 2).numpy()
    b'ap'
    """
    texts = convert_to_tensor(input).array
    return convert_to_tensor(np.array([text[pos : pos + len] for text in texts.flat], object).reshape(texts.shape))
