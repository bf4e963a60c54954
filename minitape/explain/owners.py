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


def variables_of(owner: Any) -> list[Any]:
    """The tf.Variables that an owner holds, its own and those of its parts."""
    held = getattr(owner, "variables", None)
    if not isinstance(held, (list, tuple)):
        held = list(getattr(owner, "__dict__", {}).values())
    plain = [v._gradient_leaf() if hasattr(v, "_gradient_leaf") else v for v in held]
    return [v for v in plain if isinstance(v, ResourceVariable)]
