"""The two functions of ``tf.strings`` that the appendix uses.

The functions and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf/strings).
"""

from __future__ import annotations

import numpy as np

from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import Tensor, wrap_array_with_origin
from ..engine.types import GraphName, Value
from ..engine.values import dtypes
from ..engine.values.argument_errors import build_argument_error
from .arguments import to_integer


def length(input: Value, name: GraphName = None) -> Tensor:
    """Return the number of bytes in each string.

    See https://www.tensorflow.org/api_docs/python/tf/strings/length.

    Args:
        input: A tensor-like value that contains strings.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        An int32 tensor with the shape of ``input``.

    Raises:
        TypeError: If ``input`` does not contain strings.

    >>> import minitape as tf
    >>> tf.strings.length(["a", "abc"]).numpy()
    array([1, 3], dtype=int32)
    """
    texts = np.asarray(convert_to_tensor(input, dtypes.string).array)
    return wrap_array_with_origin(np.array([*map(len, texts.flat)], np.int32).reshape(texts.shape))


def substr(input: Value, pos: Value, len: Value, name: GraphName = None) -> Tensor:
    """Return a substring of each string, with positions counted in bytes.

    See https://www.tensorflow.org/api_docs/python/tf/strings/substr.

    Args:
        input: A tensor-like value that contains strings.
        pos: The position of the first byte. Negative positions count from the end.
        len: The number of bytes. A negative number selects the rest of the string.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Returns:
        A string tensor with the shape of ``input``.

    Raises:
        InvalidArgumentError: If ``pos`` lies outside a string.

    >>> import minitape as tf
    >>> tf.strings.substr("tape", 1, 2).numpy()
    b'ap'
    """
    texts = np.asarray(convert_to_tensor(input, dtypes.string).array)
    start = to_integer(pos, "pos")
    count = to_integer(len, "len")
    parts = np.empty(texts.shape, object)
    for text_index, text in np.ndenumerate(texts):
        first_byte = start + text.__len__() if start < 0 else start
        if not 0 <= first_byte <= text.__len__():
            raise build_argument_error(f"pos {start} is outside the string {text!r}")
        parts[text_index] = text[first_byte : first_byte + count if count >= 0 else None]
    return wrap_array_with_origin(parts)
