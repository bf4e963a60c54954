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

from ..engine.record.user_frames import is_minitape_or_library_file
from ..engine.tensor.variable import ResourceVariable

if TYPE_CHECKING:
    from ..engine.types import Object, TargetOrSource

_KERAS_MODULE = "minitape.tf.keras"
_MAX_DEPTH = 4  # lists in lists which are looked into
_MAX_ITEMS = 10_000  # what a container has at most that is looked into


def iter_living_instances(*classes: type) -> Iterator[Object]:
    """The living objects of some classes. It reads their type: some objects warn when their ``__class__`` is read."""
    objects = gc.get_objects()
    matching_classes = {
        cls for cls in set(map(type, objects)) if issubclass(cls, classes)
    }  # once for each class, not each object
    return (obj for obj in objects if type(obj) in matching_classes)


class LayerOwners:
    """The layers, modules and other callable objects that hold variables as attributes; all are looked for at once."""

    def __init__(self) -> None:
        self._owner_by_variable: dict[int, Object] | None = None  # by the identity of a variable

    def find_owner(self, variable: TargetOrSource) -> Object:
        """The callable object that holds a variable; None when there is none."""
        return self._map_variables_to_owners().get(id(variable))

    def _map_variables_to_owners(self) -> dict[int, Object]:
        """Return the owner of each variable, by the variable's identity; all objects that live are looked at once."""
        if self._owner_by_variable is None:
            self._owner_by_variable, can_own = {}, dict[type, bool]()
            for obj in gc.get_objects():
                cls = type(obj)
                if cls not in can_own:
                    can_own[cls] = _is_owner_class(cls)
                if can_own[cls]:
                    values = [*getattr(obj, "__dict__", {}).values()]
                    self._owner_by_variable |= {
                        id(part): obj for part in _iter_nested_values(values) if isinstance(part, ResourceVariable)
                    }
        return self._owner_by_variable


def _iter_nested_values(value: Object, depth: int = 0) -> Iterator[Object]:
    """Yield a value, or the values in nested lists and dictionaries; of a Keras variable the one that is behind it."""
    if not isinstance(value, (list, tuple, set, dict)):
        yield _unwrap_keras_variable(value)
    elif len(value) < _MAX_ITEMS and depth < _MAX_DEPTH:
        for part in value.values() if isinstance(value, dict) else value:
            yield from _iter_nested_values(part, depth + 1)


def _is_owner_class(cls: type) -> bool:
    """Whether objects of a class own what they hold: they are called, and are the user's, or Keras's."""
    is_callable = any(isinstance(vars(base).get("__call__"), types.FunctionType) for base in cls.__mro__)
    module = cls.__module__ if isinstance(cls.__module__, str) else ""
    file = getattr(sys.modules.get(module), "__file__", None)
    return (
        is_callable
        and not issubclass(cls, type)
        and (module.startswith(_KERAS_MODULE) or not is_minitape_or_library_file(file or ""))
    )


def _unwrap_keras_variable(value: Object) -> Object:
    return value._gradient_end() if hasattr(value, "_gradient_end") else value


def list_variables_of_owner(owner: Object) -> list[ResourceVariable]:
    """The tf.Variables that an owner holds, its own and those of its parts."""
    values = getattr(owner, "variables", None)
    if not isinstance(values, (list, tuple)):
        values = list(getattr(owner, "__dict__", {}).values())
    return [value for value in map(_unwrap_keras_variable, values) if isinstance(value, ResourceVariable)]
