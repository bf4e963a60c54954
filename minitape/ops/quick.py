"""Functions of one or two operands, which take no way that they do not need: of a tensor most are nothing but a primitive."""

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

_FUNCTION = """
def {name}({arguments}, name=None):{quick}
    return run({arguments})
"""
_QUICK = """
    if type({arguments}) is EagerTensor:
        return apply(primitive, ({arguments},), NONE, _getframe(1))"""


def quick_function(name: str, arguments: str, run: Any, primitive: Any = None) -> Any:
    """The public function of this name, with these arguments: of a tensor the ``primitive``, where one is given."""
    quick = "" if primitive is None else _QUICK.format(arguments=arguments)
    space = {"run": run if "," in arguments else _on_values(run), "primitive": primitive, "apply": apply,
             "EagerTensor": EagerTensor, "NONE": {}, "_getframe": _getframe}  # fmt: skip
    made = define(_FUNCTION.format(name=name, arguments=arguments, quick=quick), "<tf.math>", space)[name]
    made.__annotations__["return"] = "Tensor"  # what editors say of it
    return made


def _on_values(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of one operand, which may also be a ragged tensor: then it is of the values."""
    return lambda x: x._map_values(run) if hasattr(x, "_map_values") else run(x)


def quick(primitive: Any = None) -> Callable[[Same], Same]:
    """Decorates a function of one operand and a name, see :func:`quick_function`."""

    def decorate(function: Same) -> Same:
        operand, _ = inspect.signature(function).parameters
        made = quick_function(function.__name__, operand, function, primitive)
        return named(made, function.__name__, function.__doc__ or "", function.__module__)

    return decorate
