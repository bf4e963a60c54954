"""How a layer or a metric finds its parts: it looks through its attributes, and lists, tuples, sets and dictionaries in them."""

from __future__ import annotations

import itertools
from typing import Any

LOCKED = (
    "You cannot add new elements of state (variables or sub-layers) to a layer that is already built. All state must "
    "be created in the `__init__()` method or in the `build()` method."
)
CONTAINERS = list, tuple, set, dict
now = itertools.count().__next__  # parts and assignments are numbered in their order


class Tracking:
    """An object with parts: variables, layers, metrics and generators of seeds, each marked by ``_tracked_as`` of its class.

    What is assigned to an attribute is noted. A part stays noted when the attribute gets another one, as in Keras; of a list,
    tuple, set or dictionary counts what it holds when the parts are asked for, each from when it was ``_made_at``.
    """

    _locked = False  # whether a new part is an error

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, CONTAINERS) or hasattr(type(value), "_tracked_as"):
            self._note(name, value)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        value = self.__dict__.get(name)
        object.__delattr__(self, name)
        noted = self.__dict__.get("_noted", {})
        for key in [key for key, (_, known) in noted.items() if known is value]:
            del noted[key]
        self.__dict__["_found"] = None

    def _note(self, name: str, value: Any) -> None:
        """Notes a part, or something that may hold parts; ValueError for a new part once the layer is built."""
        noted = self.__dict__.setdefault("_noted", {})
        if any(known is value for _, known in noted.values()):
            return
        if self._locked:
            known_parts = set(map(id, self._all_parts()))
            if any(id(part) not in known_parts for part in parts_in(value)):
                raise ValueError(LOCKED)
        # another container takes the place of the first
        noted[name if isinstance(value, CONTAINERS) else object()] = now(), value
        self.__dict__["_found"] = None

    def _all_parts(self) -> list[Any]:
        """The parts of every kind, each once, in the order in which they came."""
        known = self.__dict__.get("_found")
        if known is not None:
            return known
        noted = self.__dict__.get("_noted", {}).values()
        found = [
            (at if part is value else max(at, getattr(part, "_made_at", 0)), part)
            for at, value in noted
            for part in parts_in(value)
        ]
        found.sort(key=lambda pair: pair[0])
        known = list({id(part): part for _, part in found}.values())
        inside = [inner for _, value in noted for inner in (value if isinstance(value, tuple) else [value])]
        if not any(isinstance(inner, CONTAINERS) for inner in inside):  # else it may hold another part later
            self.__dict__["_found"] = known
        return known

    def _parts(self, kind: str) -> list[Any]:
        """The parts of a kind: "variables", "layers", "metrics" or "seeds"."""
        return [part for part in self._all_parts() if part._tracked_as == kind]


def parts_in(value: Any) -> list[Any]:
    """The parts in a structure, in order; the value itself where it is one."""
    if isinstance(value, CONTAINERS):
        return [part for inner in (value.values() if isinstance(value, dict) else value) for part in parts_in(inner)]
    return [value] if hasattr(type(value), "_tracked_as") else []
