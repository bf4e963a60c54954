"""Which layer or module a variable belongs to: the nearest callable object that holds it."""

from __future__ import annotations

import gc
import types
from typing import Any

from ..variable import ResourceVariable

_PASSED = (dict, list, tuple, set)
_NEVER = (types.FrameType, types.FunctionType, types.MethodType, types.ModuleType, types.CellType, type)


def owner_of(variable: Any) -> Any:
    """The layer, module or other callable object that holds a variable as an attribute; None when there is none."""
    level: list[Any] = [variable]
    seen = {id(variable), id(level)}
    for _ in range(5):
        found: list[Any] = []
        seen.add(id(found))
        for referrer in gc.get_referrers(*level):
            if id(referrer) in seen or isinstance(referrer, _NEVER):
                continue
            seen.add(id(referrer))
            kind = type(referrer)
            if kind in _PASSED or isinstance(referrer, (dict, list)):
                if not (isinstance(referrer, dict) and "__builtins__" in referrer) and len(referrer) < 10_000:
                    found.append(referrer)
            elif kind.__module__.startswith("minitape.") and "__call__" not in dir(kind):
                if kind.__module__.startswith("minitape.keras"):
                    found.append(referrer)
            elif any(isinstance(vars(c).get("__call__"), types.FunctionType) for c in kind.__mro__):
                return referrer
        if not found:
            return None
        level = found
    return None


def in_layers(variable: Any) -> bool:
    """Whether a variable is behind one of Keras, which ``tape.watch`` refuses: its ``value`` wants to be watched."""
    return any(type(r).__module__ == "minitape.keras.variable" for r in gc.get_referrers(variable)) or any(
        type(r).__module__ == "minitape.keras.variable"
        for fields in gc.get_referrers(variable) if type(fields) is dict for r in gc.get_referrers(fields)
    )  # fmt: skip


def reached(variable: Any, names: dict[str, Any]) -> tuple[str, str]:
    """How code with some names reaches a variable of a layer: the name of the layer or model, and of the attribute.

    The second is empty where it is no attribute; both are where no name leads to it.
    """
    found = ""
    for name, thing in names.items():
        if name.startswith("_") or isinstance(thing, type) or not hasattr(type(thing), "trainable_variables"):
            continue
        for attribute, value in vars(thing).items():
            if not attribute.startswith("_") and _plain(value) is variable:
                return name, f"{name}.{attribute}"
        if not found and any(v is variable for v in variables_of(thing)):
            found = name
    return found, ""


def _plain(value: Any) -> Any:
    return value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value


def variables_of(owner: Any) -> list[Any]:
    """The tf.Variables that an owner holds, its own and those of its parts."""
    held = getattr(owner, "variables", None)
    if not isinstance(held, (list, tuple)):
        held = list(getattr(owner, "__dict__", {}).values())
    return [v for v in map(_plain, held) if isinstance(v, ResourceVariable)]
