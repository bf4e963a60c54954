"""What the functions of ``tf.keras.ops`` share: how they take what they are given, and symbolic tensors."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from ... import tf
from ...engine import nest
from ...engine.code import define
from ..base import convert, is_keras_tensor, result_type

CONCRETE = ("minitape.keras.operations.making", "minitape.keras.operations.control")  # they see to symbols themselves


def find(path: str) -> Any:
    """The function of ``tf`` at this path, such as ``math.log``."""
    return functools.reduce(getattr, path.split("."), tf)


def as_it_is(x: Any) -> Any:
    """``x``, which is a tensor already."""
    return x


def is_unsigned(x: Any) -> bool:
    """True for a tensor of bools or of unsigned integers."""
    return x.dtype.name == "bool" or x.dtype.is_unsigned


def as_bool(x: Any) -> Any:
    """``x`` as a tensor of bools; True where it is not 0."""
    return convert(x, "bool")


def as_summands(x: Any) -> Any:
    """``x`` as a tensor in which sums do not overflow at once: bools and small integers have 32 bits."""
    x = convert(x)
    wide = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
    return convert(x, wide.get(x.dtype.name))


def alike(*values: Any) -> list[Any]:
    """Tensors of one type that holds them all; a Python number takes the type of the tensors beside it."""
    values = tuple(v if type(v) in (int, float) else convert(v) for v in values)
    types = [type(v) if type(v) in (int, float) else v.dtype.name for v in values]
    dtype = result_type(*types)
    return [v if kind == dtype else convert(v, dtype) for v, kind in zip(values, types, strict=True)]


def flat(x: Any, axis: Any) -> tuple[Any, Any]:
    """``x`` and ``axis``; without an axis all elements along one, and that one."""
    return (tf.reshape(x, [-1]), 0) if axis is None else (x, axis)


def axis_of(axis: int, count: int) -> int:
    """An axis of so many, counted from the first; ValueError for one that is not there."""
    if not -count <= axis < count:
        raise ValueError(f"axis {axis} is out of bounds for an array with dimension {count}.")
    return axis % count


def written(head: str, take: str, formula: str, space: dict[str, Any]) -> Any:
    """The function ``head`` of the module whose names ``space`` holds: it begins with ``take`` and returns the formula."""
    text = f"def {head}:\n    {take}\n    return {formula}"
    return define(text, "<tf.keras.ops>", space)[head.partition("(")[0]]


def document(function: Any, summary: str, facts: str, example: str, result: str) -> None:
    """Writes the docstring of a made function; what its example below ``tf.keras`` gives is rounded if it is floats."""
    rounded = ".round(4)" if "float32" in result or "complex64" in result else ""
    function.__doc__ = f"""{summary}

    {facts}

    >>> import minitape as tf
    >>> tf.keras.{example}.numpy(){rounded}
    {result}
    """


def install(space: dict[str, Any], table: str, make: Callable[[str], Any], common: str) -> None:
    """Puts the functions of a table into ``space``, with ``common`` in the docstring of each; ``tf.keras.ops`` has them.

    Two lines of a table are one function: ``name = path | what it computes`` and ``arguments -> what that gives``. Its
    code is what ``make(path)`` returns; without a path ``tf`` has it under the same name.
    """
    for name, path, summary, given, result in re.findall(r"(\w+)(?: = (\S+))? \| (.*)\n    (.*) -> (.*)", table):
        space[name] = function = make(path or name)
        function.__module__, function.__name__, function.__qualname__ = space["__name__"], name, name
        document(function, summary, common, f"ops.{name}({given})", result)


@functools.cache
def symbolic(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as ``tf.keras.ops`` has it: on symbolic tensors it is noted instead of called."""
    if function.__module__ in CONCRETE:
        return function

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        if not any(is_keras_tensor(leaf) for leaf in nest.flatten((args, kwargs))):
            return function(*args, **kwargs)
        from ..configs import applied

        return applied(function.__name__, args, kwargs, function.__name__)

    either.__module__ = "minitape.keras.ops"
    return either
