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
    from ..engine.types import Value


def length(input: Value, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes of each text, or of characters with ``unit="UTF8_CHAR"``: int32 in the shape of ``input``.

    >>> import minitape as tf
    >>> tf.strings.length(["a", "abc"]).numpy()
    array([1, 3], dtype=int32)
    """
    _check_unit(unit)
    texts = convert_to_tensor(input, dtypes.string).array
    counts = [len(text if unit == "BYTE" else text.decode()) for text in np.ravel(texts)]
    return new_tensor(np.array(counts, np.int32).reshape(np.shape(texts)))


def substr(input: Value, pos: Value, len: Value, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """``len`` bytes of each text from place ``pos`` on, or characters with ``unit="UTF8_CHAR"``.

    A negative ``pos`` counts from the end, a negative ``len`` takes the rest. Raises InvalidArgumentError for a ``pos``
    outside of a text.

    >>> import minitape as tf
    >>> tf.strings.substr("tape", 1, 2).numpy()
    b'ap'
    """
    _check_unit(unit)
    texts = convert_to_tensor(input, dtypes.string).array
    start, count = integer(pos, "pos"), integer(len, "len")

    def cut(text: bytes) -> bytes:
        letters = text if unit == "BYTE" else text.decode()
        size = letters.__len__()
        if not -size <= start <= size:
            raise invalid(f"pos {start} is not in the text {text!r}")
        first = start % size if start < 0 else start
        part = letters[first : first + count if count >= 0 else None]
        return part if isinstance(part, bytes) else part.encode()

    made = np.empty(np.shape(texts), object)
    made.reshape(-1)[:] = [cut(text) for text in np.ravel(texts)]
    return new_tensor(made)


def _check_unit(unit: str) -> None:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"unit must be 'BYTE' or 'UTF8_CHAR', got {unit!r}")
