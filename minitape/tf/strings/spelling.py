"""Numbers read from strings and written as strings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...engine.recording.evidence import decided
from ...engine.tensor.tensor import Tensor, wrap
from ...engine.values import dtypes
from ...engine.values.invalid import invalid
from ...ops.convert import convert_to_tensor
from ...ops.opdefs import accept_attr
from ...ops.operands import deferred
from .values import is_later, strings_of, texts, when_run

_FLOAT = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)\Z", re.ASCII | re.IGNORECASE)


@deferred
def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The numbers that the strings spell, in the shape of ``input``.

    ``out_type`` is float32, float64, int32, int64, uint32 or uint64. InvalidArgumentError for another type and for a
    string that spells no such number.

    >>> import minitape as tf
    >>> tf.strings.to_number(["1.5", "2"]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    kind = dtypes.as_dtype(out_type)
    accept_attr("StringToNumber", "out_type", kind)
    if is_later(input):  # stand-ins may spell no number
        return when_run(lambda t: to_number(t, kind), [input], input.shape, kind)
    array = strings_of(input, "StringToNumber")
    found = np.array([_number(s.decode("utf-8", "replace"), kind) for s in array.reshape(-1)], kind.as_numpy_dtype)
    return decided(wrap(found.reshape(array.shape)), (input,), "StringToNumber")


def _number(text: str, dtype: Any) -> Any:
    stripped = text.strip()
    if dtype.is_floating and _FLOAT.match(stripped):
        return float(stripped)
    if dtype.is_integer and re.fullmatch(r"[+-]?\d+", stripped, re.ASCII):
        value = int(stripped)
        if dtype.min <= value <= dtype.max:
            return value
    raise invalid(f"StringToNumberOp could not correctly convert string: {text}", "StringToNumber")


@deferred
def as_string(input: Any, precision: int = -1, scientific: bool = False, *, name: str | None = None) -> Tensor:
    """Numbers as text, as C's printf writes them, in the shape of ``input``.

    ``precision`` digits stand after the point of floats. InvalidArgumentError for a ``precision`` of whole numbers, and
    for ``scientific`` ones. Strings stay.

    >>> import minitape as tf
    >>> tf.strings.as_string([1.5, 2.0]).numpy().tolist()
    [b'1.500000', b'2.000000']
    """
    tensor = convert_to_tensor(input)
    kind, array = tensor.dtype.kind, np.asarray(tensor.array)
    if (scientific or precision > -1) and kind not in "fc":
        what = "scientific and shortest format" if scientific else "precision"
        raise invalid(f"{what} not supported for datatype {tensor.dtype.name}", "AsString")
    spec = "%" + (f".{precision}" if precision > -1 else "") + ("d" if kind in "iu" else "e" if scientific else "f")

    def one(value: Any) -> bytes:
        if kind == "s":
            return bytes(value)
        if kind == "b":
            return b"true" if value else b"false"
        return (f"({spec % value.real},{spec % value.imag})" if kind == "c" else spec % value).encode()

    return decided(texts([one(value) for value in array.reshape(-1).tolist()], array.shape), (tensor,), "AsString")
