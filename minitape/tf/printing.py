"""``tf.print``: tensors as text, on stderr unless told otherwise."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np

from ..engine.tensor.tensor import EagerTensor
from ..engine.values import nest

if TYPE_CHECKING:
    from typing import TextIO

    from ..engine.types import Array, GraphName, Object


def print_(
    *inputs: Object,
    output_stream: TextIO | None = None,
    summarize: int | None = 3,
    sep: str = " ",
    end: str = "\n",
    name: GraphName = None,
) -> None:
    """Prints values: tensors as their elements, at most ``summarize`` (-1: all) at each end of an axis; the rest as
    Python.

    ``output_stream`` is ``sys.stderr`` (default), ``sys.stdout``, or another open file of text; ``sep`` and ``end`` are
    those of Python's print. In a ``tf.function`` it prints each time the function runs. Raises ValueError for what is
    no open file.

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
        lambda value: value._read_state() if hasattr(value, "_read_state") else value, list(inputs)
    )
    only_value = values[0] if len(values) == 1 else None
    if isinstance(only_value, EagerTensor) and only_value.dtype.kind == "s" and not only_value.ndim:
        line = only_value._value[()].decode("utf-8", "replace")  # a string alone is printed as it is
    else:
        line = sep.join(value if isinstance(value, str) else _format_value(value, limit) for value in values)
    stream.write(line + end)
    stream.flush()


def _format_value(value: Object, limit: int) -> str:
    if isinstance(value, EagerTensor):
        return format_array(value._value, limit)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_format_value(value[key], limit)}" for key in sorted(value)) + "}"
    if hasattr(value, "_fields"):
        fields = (f"{name}={_format_value(element, limit)}" for name, element in zip(value._fields, value, strict=True))
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, (list, tuple)):
        elements = ", ".join(_format_value(element, limit) for element in value)
        return f"[{elements}]" if isinstance(value, list) else f"({elements},)" if len(value) == 1 else f"({elements})"
    return repr(value)


def format_array(array: Array, limit: int = 3) -> str:
    """The elements of an array, at most ``limit`` at each end of an axis, as TensorFlow prints them; -1 for all."""
    array = np.asarray(array)
    if not array.ndim:
        return format_element(array[()])
    parts = [format_array(part, limit) for part in array]
    if 0 <= 2 * limit < len(parts):
        parts[limit : len(parts) - limit] = ["..."]
    return "[" + ("\n" * (array.ndim - 1) + " ").join(parts) + "]"


def format_element(value: Array) -> str:
    """One element: numbers in the fewest digits that round-trip, bools as 1 and 0, strings in quotes."""
    if isinstance(value, bytes):
        return json.dumps(value.decode("utf-8", "replace"), ensure_ascii=False)
    if value.dtype.kind in "biu":
        return str(int(value))
    if value.dtype.kind == "c":
        return "?"  # as TensorFlow prints them
    number = float(value)
    if number != number:
        return "nan"
    short_format, long_format, parse_number = (
        ("%.15g", "%.17g", float) if value.dtype.itemsize == 8 else ("%.6g", "%.9g", np.float32)
    )
    text = short_format % number
    return text if parse_number(text) == number else long_format % number
