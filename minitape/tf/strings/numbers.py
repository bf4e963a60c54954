"""Numbers from text and text from numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.tensor import wrap

PARSED = [dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64]
_FLOAT = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)\Z", re.ASCII | re.IGNORECASE)
_HEX = re.compile(r"([+-]?)0[xX]([0-9a-fA-F]+)\Z")


def parse(array: Any, dtype: Any) -> Any:
    """A tensor of the numbers that strings spell."""
    if dtype not in PARSED:
        raise invalid(
            f"Value for attr 'out_type' of {dtype.kernel_name} is not in the list of allowed values: float, double, int32, "
            "int64, uint32, uint64\n\t; NodeDef: {{node StringToNumber}}; Op<name=StringToNumber; "
            "signature=string_tensor:string -> output:out_type; attr=out_type:type,default=DT_FLOAT,"
            "allowed=[DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64, DT_UINT32, DT_UINT64]>",
            "StringToNumber",
        )
    found = [_one(s.decode("utf-8", "replace"), dtype) for s in array.reshape(-1)]
    return wrap(np.array(found, dtype.as_numpy_dtype).reshape(array.shape))


def _one(text: str, dtype: Any) -> Any:
    stripped = text.strip()
    try:
        if dtype.is_floating:
            if _FLOAT.match(stripped):
                return float(stripped)
            found = _HEX.match(stripped)
            if found:
                return float(int(found[1] + found[2], 16))
        elif re.fullmatch(r"[+-]?\d+", stripped, re.ASCII):
            value = int(stripped)
            if dtype.min <= value <= dtype.max:
                return value
    except (ValueError, OverflowError):
        pass
    raise invalid(f"StringToNumberOp could not correctly convert string: {text}", "StringToNumber")


def spell(tensor: Any, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> Any:
    """A tensor of strings with the numbers as printf writes them."""
    _check_spelling(tensor.dtype, precision, scientific, shortest, fill)
    kind, array = tensor.dtype.kind, np.asarray(tensor.array)
    if kind == "s":
        padded = (t.ljust(width) if fill == "-" else t.rjust(width) for t in array.reshape(-1)) if width > 0 else None
        return tensor if padded is None else wrap(np.fromiter(padded, object, array.size).reshape(array.shape))
    spec = "%" + fill + (str(width) if width > -1 else "") + (f".{precision}" if precision > -1 else "")
    spec += "d" if kind in "iu" else "e" if scientific else "g" if shortest else "f"

    def one(value: Any) -> str:
        if kind == "b":
            return "true" if value else "false"
        return f"({spec % value.real},{spec % value.imag})" if kind == "c" else spec % value

    out = np.empty(array.size, object)
    out[:] = [one(value).encode() for value in array.reshape(-1).tolist()]
    return wrap(out.reshape(array.shape))


def _check_spelling(dtype: Any, precision: int, scientific: bool, shortest: bool, fill: str) -> None:
    op = "AsString"
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation", op)
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters", op)
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise invalid(f'Fill argument not supported: "{fill}"', op)
    if dtype.kind not in "fc":
        if scientific or shortest:
            raise invalid(f"scientific and shortest format not supported for datatype {dtype.name}", op)
        if precision > -1:
            raise invalid(f"precision not supported for datatype {dtype.name}", op)


def summary(tensor: Any, count: int) -> str:
    """A tensor as ``tf.strings.format`` and ``tf.print`` show it: ``count`` elements at each end of an axis.

    >>> import minitape as tf
    >>> summary(tf.range(10), 3)
    '[0 1 2 ... 7 8 9]'
    """
    return _nested(np.asarray(tensor.array), count, 0, tensor.dtype.kind)


def _nested(array: Any, count: int, depth: int, kind: str) -> str:
    if not np.ndim(array):
        return _element(array[()] if isinstance(array, np.ndarray) else array, kind)
    n = len(array)
    shown = list(range(n)) if count < 0 or n <= 2 * count else [*range(count), None, *range(n - count, n)]
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    parts = ["..." if i is None else _nested(array[i], count, depth + 1, kind) for i in shown]
    return "[" + between.join(parts) + "]"


def _element(value: Any, kind: str) -> str:
    if kind == "b":
        return str(int(value))
    if kind == "s":
        return '"' + (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)) + '"'
    if kind == "c":
        return f"({_element(value.real, 'f')},{_element(value.imag, 'f')})"
    if kind == "f":
        number = float(value)
        if number != number or number in (float("inf"), float("-inf")):
            return str(number)
        return _shortest(value)
    return str(value)


def _shortest(value: Any) -> str:
    """The shortest text that gives the same float back, in the manner of C's %g."""
    for digits in range(1, 18):
        text = f"{float(value):.{digits}g}"
        if type(value)(text) == value:
            return text
    return f"{float(value):.17g}"
