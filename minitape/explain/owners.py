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
_DEEP = 4  # lists in lists, and parts that are no layers, which are looked into
_MANY = 10_000  # what a container has at most that is looked into


def living(*kinds: type) -> Iterator[Object]:
    """The living objects of some classes. It reads their type: some objects warn when their ``__class__`` is read."""
    objects = gc.get_objects()
    own = {kind for kind in set(map(type, objects)) if issubclass(kind, kinds)}  # once for each class, not each object
    return (one for one in objects if type(one) in own)


class Owners:
    """The layers, modules and other callable objects that hold variables as attributes; all are looked for at once."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[int, Object]] | None = None  # identity of a variable -> how deep in what it lies
        self._keras: set[int] = set()  # the variables that a Keras variable wraps

    def of(self, variable: End) -> Object:
        """The nearest callable object that holds a variable; None when there is none."""
        return self._look().get(id(variable), (0, None))[1]

    def in_layer(self, variable: End) -> bool:
        """Whether a variable is behind one of Keras, which ``tape.watch`` refuses: its ``value`` wants to be
        watched.
        """
        self._look()
        return id(variable) in self._keras

    def _look(self) -> dict[int, tuple[int, Object]]:
        """Goes through all objects that live, once."""
        if self._found is None:
            self._found, owns = {}, dict[type, bool]()
            for one in gc.get_objects():
                kind = type(one)
                if kind not in owns:
                    owns[kind] = _owns(kind)
                if owns[kind]:
                    for depth, variable in self._parts(one, owns):
                        if depth < self._found.get(id(variable), (_DEEP + 1,))[0]:
                            self._found[id(variable)] = depth, one
                elif kind.__module__ == _KERAS and hasattr(kind, "_gradient_leaf"):
                    self._keras.add(id(one._gradient_leaf()))
        return self._found

    def _parts(self, owner: Object, owns: dict[type, bool]) -> Iterator[tuple[int, ResourceVariable]]:
        """The variables in an owner, but for those of the owners in it, and how deep they lie."""
        level, seen = [*_attributes_of(owner)], set[int]()
        for depth in range(_DEEP):
            inner: list[Object] = []
            for part in level:
                leaf = _plain(part)
                if isinstance(leaf, ResourceVariable):
                    yield depth, leaf
                elif id(part) not in seen and not owns.get(type(part), False):
                    seen.add(id(part))
                    inner += _contents_of(part)
            level = inner


def _owns(kind: type) -> bool:
    """Whether objects of a class own what they hold: they are called, and are the user's, or Keras's."""
    called = any(isinstance(vars(c).get("__call__"), types.FunctionType) for c in kind.__mro__)
    module = kind.__module__ if isinstance(kind.__module__, str) else ""
    file = getattr(sys.modules.get(module), "__file__", None)
    return called and not issubclass(kind, type) and (module.startswith(_KERAS) or not own_file(file or ""))


def _attributes_of(one: Object) -> list[Object]:
    """The values of all attributes of an object, also of its slots."""
    slots = [
        name
        for c in type(one).__mro__
        for name in vars(c).get("__slots__", ())
        if isinstance(vars(c).get(name), types.MemberDescriptorType)
    ]
    return [*getattr(one, "__dict__", {}).values(), *(getattr(one, name, None) for name in slots)]


def _contents_of(part: Object) -> list[Object]:
    """The parts of a container, or of a Keras object that is not called itself, such as an optimizer."""
    if isinstance(part, (list, tuple, set, dict)):
        return [*(part.values() if isinstance(part, dict) else part)] if len(part) < _MANY else []
    return _attributes_of(part) if type(part).__module__.startswith(_KERAS) and not isinstance(part, type) else []


def _plain(value: Object) -> Object:
    return value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value


def variables_of(owner: Object) -> list[ResourceVariable]:
    """The tf.Variables that an owner holds, its own and those of its parts."""
    held = getattr(owner, "variables", None)
    if not isinstance(held, (list, tuple)):
        held = list(getattr(owner, "__dict__", {}).values())
    return [v for v in map(_plain, held) if isinstance(v, ResourceVariable)]
