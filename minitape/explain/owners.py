"""Which layer or module a variable belongs to: the nearest callable object that holds it.

Objects are asked by their class. Python's collector would find who refers to a variable, but it looks into every object
of every library for that, and with TensorFlow loaded the process can crash.
"""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..engine.recording.frames import own_file
from ..engine.tensor.variable import ResourceVariable

if TYPE_CHECKING:
    from ..engine.types import End, Object

_KERAS = "minitape.tf.keras"
_DEEP = 4  # lists in lists which are looked into
_MANY = 10_000  # what a container has at most that is looked into


def living(*kinds: type) -> Iterator[Object]:
    """The living objects of some classes. It reads their type: some objects warn when their ``__class__`` is read."""
    objects = gc.get_objects()
    own = {kind for kind in set(map(type, objects)) if issubclass(kind, kinds)}  # once for each class, not each object
    return (one for one in objects if type(one) in own)


class Owners:
    """The layers, modules and other callable objects that hold variables as attributes; all are looked for at once."""

    def __init__(self) -> None:
        self._found: dict[int, Object] | None = None  # by the identity of a variable

    def of(self, variable: End) -> Object:
        """The callable object that holds a variable; None when there is none."""
        return self._look().get(id(variable))

    def _look(self) -> dict[int, Object]:
        """Goes through all objects that live, once."""
        if self._found is None:
            self._found, owns = {}, dict[type, bool]()
            for one in gc.get_objects():
                kind = type(one)
                if kind not in owns:
                    owns[kind] = _owns(kind)
                if owns[kind]:
                    held = [*getattr(one, "__dict__", {}).values()]
                    self._found |= {id(part): one for part in _parts(held) if isinstance(part, ResourceVariable)}
        return self._found


def _parts(held: Object, deep: int = 0) -> Iterator[Object]:
    """What is in a value, or in lists and dictionaries of such."""
    if not isinstance(held, (list, tuple, set, dict)):
        yield _plain(held)
    elif len(held) < _MANY and deep < _DEEP:
        for part in held.values() if isinstance(held, dict) else held:
            yield from _parts(part, deep + 1)


def _owns(kind: type) -> bool:
    """Whether objects of a class own what they hold: they are called, and are the user's, or Keras's."""
    called = any(isinstance(vars(c).get("__call__"), types.FunctionType) for c in kind.__mro__)
    module = kind.__module__ if isinstance(kind.__module__, str) else ""
    file = getattr(sys.modules.get(module), "__file__", None)
    return called and not issubclass(kind, type) and (module.startswith(_KERAS) or not own_file(file or ""))


def _plain(value: Object) -> Object:
    return value._gradient_end() if hasattr(value, "_gradient_end") else value


def variables_of(owner: Object) -> list[ResourceVariable]:
    """The tf.Variables that an owner holds, its own and those of its parts."""
    held = getattr(owner, "variables", None)
    if not isinstance(held, (list, tuple)):
        held = list(getattr(owner, "__dict__", {}).values())
    return [v for v in map(_plain, held) if isinstance(v, ResourceVariable)]
