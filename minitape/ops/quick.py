"""Functions of one or two operands that on rows of a recording only write a row, as operators do.

Each is made of text, so that it takes its arguments itself and asks at once whether there is a row to write.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from sys import _getframe
from typing import Any

from ..operands import named
from ..operators import row_of, write
from ..primitives import TABLE, Primitive
from ..tensor import EagerTensor
from ..typed import Same

_MISSING: Any = object()


def _too_many(expected: int, extra: Any, odd: Any) -> None:
    """Raises TensorFlow's TypeError for a call with arguments that do not fit."""
    if odd:
        raise TypeError(f"Got an unexpected keyword argument '{next(iter(odd))}'")
    if extra:
        raise TypeError(f"Too many arguments were given. Expected {expected} but got {expected + len(extra)}.")
    raise TypeError("Missing required positional argument")


_DISPATCHED = """
def {name}({first}=_MISSING, {second}name=None, *extra, **odd) -> Tensor:
    if {last} is _MISSING or {first} is _MISSING or extra or odd:
        _too_many({count}, extra, odd)
    {quick}
    return run({arguments})
"""
_GENERATED = """
def {name}({arguments}, name=None) -> Tensor:
    {quick}
    return run({arguments})
"""
# on a row of a recording a function only writes its row, as operators do
_QUICK = """lane = {first}._lane if type({first}) is EagerTensor else None
    other = None if lane is None else {other}
    if other is not None:
        made = write(lane, code, {first}._row, other, _getframe(1))
        if made is not None:
            return made"""


def quick_function(name: str, primitive: Primitive, arguments: str, generated: str, run: Any) -> Any:
    """The public function: one that TensorFlow generates, or one behind its dispatcher, whose errors differ.

    On rows of a recording it writes a row of ``primitive``; the rest is ``run``.
    """
    first, _, last = arguments.partition(",")
    other = f"row_of(lane, {last})" if last else f"{first}._row"
    text = (_GENERATED if generated else _DISPATCHED).format(
        name=generated or name, first=first, last=last or first, second=f"{last}=_MISSING, " if last else "",
        count=3 if last else 2, arguments=", ".join(filter(None, (first, last))),
        quick=_QUICK.format(first=first, other=other) if primitive.code else "",
    )  # fmt: skip
    space = {"run": run, "code": primitive.code, "write": write, "row_of": row_of, "EagerTensor": EagerTensor,
             "_getframe": _getframe, "_MISSING": _MISSING, "_too_many": _too_many}  # fmt: skip
    exec(compile(text, "<tf.math>", "exec"), space)
    made = space[generated or name]
    if not generated:  # help() shows what may be given, not how it is taken
        wanted = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in filter(None, (first, last))]
        wanted.append(inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
        made.__signature__ = inspect.Signature(wanted, return_annotation="Tensor")
    return made


def quick(name: str, generated: str = "") -> Callable[[Same], Same]:
    """Decorates a function of one or two operands that on rows of a recording is nothing but the primitive ``name``.

    ``generated`` is the kernel's name where TensorFlow generates the function.
    """

    def decorate(function: Same) -> Same:
        *operands, _ = inspect.signature(function).parameters
        made = quick_function(function.__name__, TABLE[name], ",".join(operands), generated, function)
        return named(made, function.__name__, function.__doc__, function.__module__)

    return decorate
