"""Which layer or module a variable belongs to: the nearest callable object that holds it."""

from __future__ import annotations

import gc
import types
from typing import TYPE_CHECKING

from ..engine.tensor.variable import ResourceVariable

if TYPE_CHECKING:
    from ..engine.typed import End, Object

_PASSED = (dict, list, tuple, set)
_NEVER = (types.FrameType, types.FunctionType, types.MethodType, types.ModuleType, types.CellType, type)

MANY = 30  # objects whose referrers are asked for at once


class Owners:
    """The layers, modules and other callable objects that hold variables as attributes; all are looked for at once."""

    def __init__(self, asked: list[End]) -> None:
        self._asked = asked
        self._owner: dict[int, Object] = {}  # identity of a variable -> its owner, None when it has none
        self._keras: set[int] = set()  # the variables that stand behind one of Keras

    def of(self, variable: End) -> Object:
        """The nearest callable object that holds a variable; None when there is none."""
        self._look(variable)
        return self._owner.get(id(variable))

    def in_layer(self, variable: End) -> bool:
        """Whether a variable is behind one of Keras, which ``tape.watch`` refuses: its ``value`` wants to be watched."""
        self._look(variable)
        return id(variable) in self._keras

    def _look(self, variable: End) -> None:
        """Goes from the variables to what refers to them, and on, level by level."""
        if id(variable) in self._owner:
            return
        level: list[Object] = [v for v in (variable, *self._asked) if isinstance(v, ResourceVariable)]
        leads = {id(v): {id(v)} for v in level}  # identity of an object -> the variables that it leads to
        self._owner.update(dict.fromkeys([id(variable), *leads]))
        seen = {*leads, id(level), id(self._asked)}
        for _ in range(5):
            found: list[Object] = []
            seen.add(id(found))
            for referrer in _referrers(level):
                if id(referrer) in seen or isinstance(referrer, _NEVER):
                    continue
                seen.add(id(referrer))
                kind = _kind(referrer)
                if kind != "other":
                    held = set().union(*(leads.get(id(r), ()) for r in gc.get_referents(referrer)))
                    self._hold(referrer, kind, held)
                    if kind == "passed":
                        leads[id(referrer)] = held
                        found.append(referrer)
            if not found:
                return
            level = found
            seen.add(id(level))

    def _hold(self, referrer: Object, kind: str, held: set[int]) -> None:
        if type(referrer).__module__ == "minitape.keras.variable":
            self._keras |= held
        for one in held if kind == "owner" else ():
            if self._owner[one] is None:
                self._owner[one] = referrer


def _referrers(level: list[Object]) -> list[Object]:
    """The objects that refer to one of these; of many ones in a single walk, where gc compares each with each."""
    if len(level) <= MANY:
        return gc.get_referrers(*level)
    wanted = {id(one) for one in level}
    return [
        one for one in gc.get_objects()
        if type(one) not in _NEVER and not wanted.isdisjoint(map(id, gc.get_referents(one)))
    ]  # fmt: skip


def _kind(referrer: Object) -> str:
    """Whether an object owns what it refers to, passes it on to what refers to itself, or says nothing."""
    kind = type(referrer)
    if kind in _PASSED or isinstance(referrer, (dict, list)):
        space = isinstance(referrer, dict) and "__builtins__" in referrer
        return "other" if space or len(referrer) >= 10_000 else "passed"
    if kind.__module__.startswith("minitape.") and not kind.__module__.startswith("minitape.keras"):
        return "other"
    if kind.__module__.startswith("minitape.keras") and "__call__" not in dir(kind):
        return "passed"
    called = any(isinstance(vars(c).get("__call__"), types.FunctionType) for c in kind.__mro__)
    return "owner" if called else "other"


def reached(variable: ResourceVariable, names: dict[str, Object]) -> tuple[str, str]:
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


def _plain(value: Object) -> Object:
    return value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value


def variables_of(owner: Object) -> list[ResourceVariable]:
    """The tf.Variables that an owner holds, its own and those of its parts."""
    held = getattr(owner, "variables", None)
    if not isinstance(held, (list, tuple)):
        held = list(getattr(owner, "__dict__", {}).values())
    return [v for v in map(_plain, held) if isinstance(v, ResourceVariable)]
