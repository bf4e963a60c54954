"""``tf.print``: tensors as text, on stderr unless told otherwise."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from ..engine.tensor.tensor import EagerTensor
from ..engine.values import nest


def print_(*inputs: Any, **kwargs: Any) -> Any:
    """Prints values: tensors as their elements, at most ``summarize`` (3) at each end of an axis; the rest as Python.

    ``output_stream`` is ``sys.stderr`` (default), ``sys.stdout``, or "file://PATH" to append to a file; ``sep`` and
    ``end`` are those of Python's print. In a ``tf.function`` it prints each time the function runs.
    Raises ValueError for another stream or an unknown keyword.

    >>> import minitape as tf
    >>> import sys
    >>> tf.print("x =", tf.range(10), output_stream=sys.stdout)
    x = [0 1 2 ... 7 8 9]
    """
    stream = kwargs.pop("output_stream", None)
    kwargs.pop("name", None)
    summarize, sep, end = kwargs.pop("summarize", 3), kwargs.pop("sep", " "), kwargs.pop("end", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    write = _writer(sys.stderr if stream is None else stream)
    for name, kind, value in (("summarize", int, summarize), ("end", str, end)):
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"Expected {'int' if kind is int else 'string'} for argument '{name}' not {value!r}.")
    limit = -1 if summarize is None or summarize < 0 else summarize
    end = "\n" if end is None else end
    inputs = tuple(_dense(v) for v in inputs)
    write(_line(inputs, sep, limit) + end)


def _writer(stream: Any) -> Any:
    if stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__) or hasattr(stream, "write"):

        def write(text: str) -> None:
            stream.write(text)
            stream.flush()

        return write
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, sys.stderr, "
        "tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of 'file://<filepath>'."
    )


def _dense(value: Any) -> Any:
    """Variables and IndexedSlices as tensors, also inside of structures; other composites as their text."""
    return nest.map_structure(_leaf, value) if nest.is_nested(value) else _leaf(value)


def _leaf(value: Any) -> Any:
    if hasattr(value, "_read"):
        return value._read()
    return value


def _line(values: Any, sep: str, limit: int) -> str:
    if len(values) == 1 and isinstance(values[0], EagerTensor) and values[0].dtype.kind == "s" and not values[0].ndim:
        return values[0].array[()].decode("utf-8", "replace")  # a string alone is printed as it is
    return sep.join(v if isinstance(v, str) else _structure(v, limit) for v in values)


def _structure(value: Any, limit: int) -> str:
    if isinstance(value, EagerTensor):
        return tensor_text(value.array, limit)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_structure(value[k], limit)}" for k in sorted(value)) + "}"
    if hasattr(value, "_fields"):
        pairs = zip(value._fields, value, strict=True)
        return f"{type(value).__name__}({', '.join(f'{k}={_structure(v, limit)}' for k, v in pairs)})"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_structure(v, limit) for v in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def tensor_text(array: Any, limit: int = 3) -> str:
    """The elements of an array as TensorFlow's StringFormat writes them; -1 for all of them."""
    array = np.asarray(array)
    if not array.ndim:
        return element(array[()])
    parts = [tensor_text(part, limit) for part in array]
    if 0 <= 2 * limit < len(parts):
        parts[limit:-limit] = ["..."]
    return "[" + ("\n" * (array.ndim - 1) + " ").join(parts) + "]"


def element(value: Any) -> str:
    """One element: numbers in the fewest digits that round-trip, bools as 1 and 0, strings in quotes."""
    if isinstance(value, bytes):
        return json.dumps(value.decode("utf-8", "replace"), ensure_ascii=False)
    kind = value.dtype.kind
    if kind in "biu":
        return str(int(value))
    if kind == "c":
        return "?"
    return _float(float(value), value.dtype.itemsize)


def _float(number: float, size: int) -> str:
    if number != number:
        return "nan"
    short, long, back = ("%.15g", "%.17g", float) if size == 8 else ("%.6g", "%.9g", np.float32)
    text = short % number
    return text if back(text) == number else long % number
