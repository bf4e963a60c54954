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

    from ..engine.types import Array, Name, Object


def print_(
    *inputs: Object,
    output_stream: TextIO | None = None,
    summarize: int | None = 3,
    sep: str = " ",
    end: str = "\n",
    name: Name = None,
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
    values = nest.map_structure(lambda v: v._read() if hasattr(v, "_read") else v, list(inputs))
    alone = values[0] if len(values) == 1 else None
    if isinstance(alone, EagerTensor) and alone.dtype.kind == "s" and not alone.ndim:
        line = alone._value[()].decode("utf-8", "replace")  # a string alone is printed as it is
    else:
        line = sep.join(v if isinstance(v, str) else _text(v, limit) for v in values)
    stream.write(line + end)
    stream.flush()


def _text(value: Object, limit: int) -> str:
    if isinstance(value, EagerTensor):
        return tensor_text(value._value, limit)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_text(value[k], limit)}" for k in sorted(value)) + "}"
    if hasattr(value, "_fields"):
        parts = (f"{name}={_text(v, limit)}" for name, v in zip(value._fields, value, strict=True))
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_text(v, limit) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def tensor_text(array: Array, limit: int = 3) -> str:
    """The elements of an array, at most ``limit`` at each end of an axis, as TensorFlow prints them; -1 for all."""
    array = np.asarray(array)
    if not array.ndim:
        return element(array[()])
    parts = [tensor_text(part, limit) for part in array]
    if 0 <= 2 * limit < len(parts):
        parts[limit : len(parts) - limit] = ["..."]
    return "[" + ("\n" * (array.ndim - 1) + " ").join(parts) + "]"


def element(value: Array) -> str:
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
    short, long, back = ("%.15g", "%.17g", float) if value.dtype.itemsize == 8 else ("%.6g", "%.9g", np.float32)
    text = short % number
    return text if back(text) == number else long % number
