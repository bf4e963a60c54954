"""Functions of one or two operands, with the arguments and the refusals of TensorFlow's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from sys import _getframe
from typing import Any

from ..engine.code import define
from ..engine.operands import named
from ..engine.operation import apply
from ..engine.tensor import EagerTensor
from ..engine.typed import Same

_MISSING: Any = object()


def _too_many(expected: int, extra: Any, odd: Any) -> None:
    """Raises TensorFlow's TypeError for a call with arguments that do not fit."""
    if odd:
        raise TypeError(f"Got an unexpected keyword argument '{next(iter(odd))}'")
    if extra:
        raise TypeError(f"Too many arguments were given. Expected {expected} but got {expected + len(extra)}.")
    raise TypeError("Missing required positional argument")


_DISPATCHED = """
def {name}({first}=_MISSING, {second}name=None, *extra, **odd) -> Tensor:{quick}
    if {last} is _MISSING or {first} is _MISSING or extra or odd:
        _too_many({count}, extra, odd)
    return run({arguments})
"""
_GENERATED = """
def {name}({arguments}, name=None) -> Tensor:{quick}
    return run({arguments})
"""
_QUICK = """
    if type({first}) is EagerTensor{alone}:
        return apply(primitive, ({first},), NONE, _getframe(1))"""


def quick_function(name: str, arguments: str, generated: str, run: Any, primitive: Any = None) -> Any:
    """The public function: one that TensorFlow generates, or one behind its dispatcher, whose errors differ.

    Of a tensor it is nothing but the ``primitive``, where one is given.
    """
    first, _, last = arguments.partition(",")
    text = (_GENERATED if generated else _DISPATCHED).format(
        name=generated or name, first=first, last=last or first, second=f"{last}=_MISSING, " if last else "",
        count=3 if last else 2, arguments=", ".join(filter(None, (first, last))),
        quick="" if primitive is None else _QUICK.format(first=first, alone="" if generated else " and not extra and not odd"),
    )  # fmt: skip
    space = {"run": run, "_MISSING": _MISSING, "_too_many": _too_many, "primitive": primitive, "apply": apply,
             "EagerTensor": EagerTensor, "NONE": {}, "_getframe": _getframe}  # fmt: skip
    made = define(text, "<tf.math>", space)[generated or name]
    if not generated:  # help() shows what may be given, not how it is taken
        wanted = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in filter(None, (first, last))]
        wanted.append(inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
        made.__signature__ = inspect.Signature(wanted, return_annotation="Tensor")
    return made


def quick(generated: str = "", primitive: Any = None) -> Callable[[Same], Same]:
    """Decorates a function of one or two operands and a name: it takes its arguments as TensorFlow's does.

    ``generated`` is the kernel's name where TensorFlow generates the function, ``primitive`` what it is of a tensor.
    """

    def decorate(function: Same) -> Same:
        *operands, _ = inspect.signature(function).parameters
        made = quick_function(function.__name__, ",".join(operands), generated, function, primitive)
        return named(made, function.__name__, function.__doc__, function.__module__)

    return decorate
