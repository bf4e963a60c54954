"""Functions of one or two operands, which take no way that they do not need: of a tensor most are nothing but a primitive."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from sys import _getframe
from typing import Any

from ..engine.table.code import define
from ..engine.tensor.functions import function_of
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor
from ..engine.typed import Same
from .operands import alike, named

_FUNCTION = """
def {name}({arguments}, name=None):{quick}
    return run({arguments})
"""
_QUICK = """
    if type({0}) is EagerTensor:
        return apply(primitive, ({0},), NONE, _getframe(1))"""
_QUICK_PAIR = """
    if type({0}) is type({1}) is EagerTensor and alike({0}, {1}):
        return apply(primitive, ({0}, {1}), NONE, _getframe(1))"""


def quick_function(name: str, arguments: str, run: Any, primitive: Any = None) -> Any:
    """The public function of this name, with these arguments: of a tensor, or of two that are alike, the ``primitive``.

    Without a primitive, and for other arguments, it is ``run``.
    """
    general, names = run if "," in arguments else _on_values(run), arguments.split(", ")
    if primitive is not None and primitive.code:
        made = function_of(primitive, name, general, signature=f"{arguments}, name=None")
    else:
        quick = "" if primitive is None else (_QUICK, _QUICK_PAIR)[len(names) - 1].format(*names)
        space = {"run": general, "primitive": primitive, "apply": apply, "EagerTensor": EagerTensor, "NONE": {}, "alike": alike,
                 "_getframe": _getframe}  # fmt: skip
        made = define(_FUNCTION.format(name=name, arguments=arguments, quick=quick), "<tf.math>", space)[name]
    made.__annotations__["return"] = "Tensor"  # what editors say of it
    return made


def _on_values(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of one operand, which may also be a ragged tensor: then it is of the values."""
    return lambda x: x._map_values(run) if hasattr(x, "_map_values") else run(x)


def quick(primitive: Any = None) -> Callable[[Same], Same]:
    """Decorates a function of one or two operands and a name, see :func:`quick_function`."""

    def decorate(function: Same) -> Same:
        *operands, _ = inspect.signature(function).parameters
        made = quick_function(function.__name__, ", ".join(operands), function, primitive)
        return named(made, function.__name__, function.__doc__ or "", function.__module__)

    return decorate
