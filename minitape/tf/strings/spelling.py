"""Numbers read from strings and written as strings."""

from __future__ import annotations

from typing import Any

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.evidence import decided
from ...engine.operands import deferred, strict
from ...engine.tensor import Tensor
from . import numbers
from .values import is_later, strings_of, texts, when_run


@strict
def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The numbers that the strings spell, in the shape of ``input``.

    ``out_type`` is float32, float64, int32, int64, uint32 or uint64. InvalidArgumentError for another type and for a
    string that spells no such number.

    >>> import minitape as tf
    >>> tf.strings.to_number(["1.5", "2"]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    kind = dtypes.as_dtype(out_type)
    if is_later(input):  # stand-ins may spell no number
        return when_run(lambda t: to_number(t, kind), [input], input.shape, kind)
    return decided(numbers.parse(strings_of(input, "StringToNumber"), kind), (input,), "StringToNumber")


@deferred
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers as text, as C's printf writes them, in the shape of ``input``.

    ``precision`` digits stand after the point of floats; ``width`` characters at least, filled up with ``fill`` (a
    space by default). Strings get their ``width``, too. InvalidArgumentError for a ``fill`` of several characters, for a
    ``precision`` of whole numbers, and for ``scientific`` together with ``shortest``.

    >>> import minitape as tf
    >>> tf.strings.as_string([1.5, 2.0]).numpy().tolist()
    [b'1.500000', b'2.000000']
    """
    tensor = convert_to_tensor(input)
    return decided(numbers.spell(tensor, precision, scientific, shortest, width, fill), (tensor,), "AsString")


@strict
def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Tensor:
    """The template with tensors in place of the placeholders; long axes show ``summarize`` elements at each end.

    ValueError when the numbers of placeholders and tensors differ.

    >>> import minitape as tf
    >>> tf.strings.format("x is {}", tf.constant([1, 2])).numpy()
    b'x is [1 2]'
    """
    if isinstance(inputs, (Tensor, str, bytes)) or hasattr(inputs, "_read"):
        inputs = [inputs]
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"object of type {type(inputs).__name__!r} has no len()")
    tensors = [convert_to_tensor(i) for i in inputs]
    holes = template.count(placeholder)
    if holes != len(inputs):
        raise ValueError(
            f"The template expects {holes} tensors, but the inputs only has {len(inputs)}. Please ensure the "
            "number of placeholders in template matches inputs length."
        )
    for tensor in tensors:
        template = template.replace(placeholder, numbers.summary(tensor, summarize), 1)
    return texts([template.encode()], ())
