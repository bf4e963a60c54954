"""``tf.print`` and its number formatting.

The function and its output follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf/print).
"""

from __future__ import annotations

import json
import sys
from typing import TextIO

import numpy as np

from ..engine.tensor.tensor import EagerTensor
from ..engine.types import LIST_OR_TUPLE, Array, GraphName, Object, OptionalNumber
from ..engine.values import nest
from .arguments import to_tensor


def print_(
    *inputs: Object,
    output_stream: TextIO | None = None,
    summarize: OptionalNumber = 3,
    sep: str = " ",
    end: str = "\n",
    name: GraphName = None,
) -> None:
    """Print values, with each tensor shown as just its elements.

    Inside a ``tf.function``, the values are printed on every call.

    See https://www.tensorflow.org/api_docs/python/tf/print.

    Args:
        *inputs: The values to print: tensors of any shape and dtype, nested lists, tuples and dictionaries of tensors,
            or any Python objects.
        output_stream: ``sys.stderr`` (the default), ``sys.stdout`` or another open text file.
        summarize: The number of elements to print at each end of an axis. -1 or None prints all elements.
        sep: The text between values, as in Python's ``print``.
        end: The text after the last value, as in Python's ``print``.
        name: The name of the operation in a TensorFlow 1 graph. Without a graph, the name has no effect.

    Raises:
        ValueError: If ``output_stream`` is not an open file.

    >>> import minitape as tf
    >>> import sys
    >>> tf.print("x =", tf.range(10), output_stream=sys.stdout)
    x = [0 1 2 ... 7 8 9]
    """
    stream = sys.stderr if output_stream is None else output_stream
    if not hasattr(stream, "write"):
        raise ValueError(f"output_stream must be sys.stderr, sys.stdout or another open file, got {stream!r}")
    limit = -1 if summarize is None else summarize
    values = nest.map_structure(
        lambda value: to_tensor(value) if hasattr(value, "_read_and_watch") else value, list(inputs)
    )
    only_value = values[0] if len(values) == 1 else None
    if isinstance(only_value, EagerTensor) and only_value.dtype.kind == "s" and not only_value.ndim:
        # A scalar string is printed without quotes.
        line = only_value._value[()].decode("utf-8", "replace")
    else:
        line = sep.join(value if isinstance(value, str) else _format_value(value, limit) for value in values)
    stream.write(line + end)
    stream.flush()


def _format_value(value: Object, limit: int) -> str:
    """Format a nonstring value or a container of values.

    Args:
        value: A tensor, a container, or any other object.
        limit: The number of elements to show at each end of an axis.

    Returns:
        The text that ``tf.print`` shows.
    """
    if isinstance(value, EagerTensor):
        return format_array(value._value, limit)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_format_value(value[key], limit)}" for key in sorted(value)) + "}"
    if hasattr(value, "_fields"):
        fields = (f"{name}={_format_value(element, limit)}" for name, element in zip(value._fields, value, strict=True))
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, LIST_OR_TUPLE):
        elements = ", ".join(_format_value(element, limit) for element in value)
        if isinstance(value, list):
            return f"[{elements}]"
        return f"({elements},)" if len(value) == 1 else f"({elements})"
    return repr(value)


def format_array(array: Array, limit: int = 3) -> str:
    """Format an array in TensorFlow's way.

    Args:
        array: An array of numbers, bools or bytes, of any shape.
        limit: The number of elements to print at each end of an axis. -1 prints all elements.

    Returns:
        The elements in nested brackets, such as "[0 1 2 ... 7 8 9]".
    """
    array = np.asarray(array)
    if not array.ndim:
        return format_element(array[()])
    parts = [format_array(part, limit) for part in array]
    if 0 <= 2 * limit < len(parts):
        parts[limit : len(parts) - limit] = ["..."]
    return "[" + ("\n" * (array.ndim - 1) + " ").join(parts) + "]"


def format_element(value: Array) -> str:
    """Format one element of an array.

    Args:
        value: A NumPy scalar or bytes.

    Returns:
        The text: for a number, the fewest digits that round-trip; for a bool, 1 or 0; for bytes, a string in quotes.
    """
    if isinstance(value, bytes):
        return json.dumps(value.decode("utf-8", "replace"), ensure_ascii=False)
    if value.dtype.kind in "biu":
        return str(int(value))
    if value.dtype.kind == "c":
        return "?"  # TensorFlow prints complex numbers in this form.
    number = float(value)
    if number != number:
        return "nan"
    short_format, long_format, parse_number = (
        ("%.15g", "%.17g", float) if value.dtype.itemsize == 8 else ("%.6g", "%.9g", np.float32)
    )
    text = short_format % number
    return text if parse_number(text) == number else long_format % number
