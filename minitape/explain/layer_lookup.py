"""Find the layer or module of a variable: the nearest callable object that holds the variable.

The search selects objects by their class. ``gc.get_referrers`` could find the owner of a variable directly, but it
visits the objects of all libraries and can crash the process if TensorFlow is loaded.
"""

import sys
from collections.abc import Iterator
from gc import get_objects
from types import FunctionType

from ..engine.record.user_frames import is_minitape_or_library_file
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import LIST_OR_TUPLE, Object, TargetOrSource

_KERAS_MODULE = "minitape.tf.keras"
_MAX_DEPTH = 4  # The maximum depth to which nested containers are searched.
_MAX_ITEMS = 10_000  # Containers with more items than this are not searched.


def iter_living_instances(*classes: type) -> Iterator[Object]:
    """Return an iterator over the live instances of some classes and their subclasses.

    Objects are tested with ``type`` instead of ``isinstance``, because some objects issue a warning when their
    ``__class__`` is read.

    Args:
        *classes: The classes.
    """
    objects = get_objects()
    # Each class is tested only once, however many objects it has.
    matching_classes = {cls for cls in set(map(type, objects)) if issubclass(cls, classes)}
    return (obj for obj in objects if type(obj) in matching_classes)


class LayerOwners:
    """Maps variables to the layers, modules and other callable objects that hold them as attributes.

    All live objects are searched once, on the first lookup.
    """

    def __init__(self) -> None:
        """Create the map without searching any objects yet."""
        self._owner_by_variable: dict[int, Object] | None = None  # The keys are identities of variables.

    def find_owner(self, variable: TargetOrSource) -> Object:
        """Return the callable object that holds a variable, or None if no object does.

        Args:
            variable: The variable.
        """
        return self._map_variables_to_owners().get(id(variable))

    def _map_variables_to_owners(self) -> dict[int, Object]:
        """Return the owner of each variable, keyed by the variable's identity. All live objects are searched once."""
        if self._owner_by_variable is None:
            self._owner_by_variable, can_own = {}, dict[type, bool]()
            for obj in get_objects():
                cls = type(obj)
                if cls not in can_own:
                    can_own[cls] = _is_callable_user_or_keras_class(cls)
                if can_own[cls]:
                    values = [*getattr(obj, "__dict__", {}).values()]
                    self._owner_by_variable |= {
                        id(part): obj
                        for part in _iter_values_in_nested_containers(values)
                        if isinstance(part, ResourceVariable)
                    }
        return self._owner_by_variable


def _iter_values_in_nested_containers(value: Object, depth: int = 0) -> Iterator[Object]:
    """Yield a value, or the values in nested lists and dictionaries. Keras variables are unwrapped."""
    if not isinstance(value, (list, tuple, set, dict)):
        yield _unwrap_keras_variable(value)
    elif len(value) < _MAX_ITEMS and depth < _MAX_DEPTH:
        for part in value.values() if isinstance(value, dict) else value:
            yield from _iter_values_in_nested_containers(part, depth + 1)


def _is_callable_user_or_keras_class(cls: type) -> bool:
    """Return whether a class is callable and defined by the user or Keras, so that its instances count as owners."""
    is_callable = any(isinstance(vars(base).get("__call__"), FunctionType) for base in cls.__mro__)
    module = cls.__module__ if isinstance(cls.__module__, str) else ""
    file = getattr(sys.modules.get(module), "__file__", None)
    return (
        is_callable
        and not issubclass(cls, type)
        and (module.startswith(_KERAS_MODULE) or not is_minitape_or_library_file(file or ""))
    )


def _unwrap_keras_variable(value: Object) -> Object:
    return value._get_gradient_carrier() if hasattr(value, "_get_gradient_carrier") else value


def list_variables_of_owner_or_its_attributes(owner: Object) -> list[ResourceVariable]:
    """Return the tf.Variables that an owner holds, directly or through its attributes.

    Args:
        owner: A layer, a module or another object. If the owner has no ``variables`` list, only its attributes are
            read.
    """
    values = getattr(owner, "variables", None)
    if not isinstance(values, LIST_OR_TUPLE):
        values = list(getattr(owner, "__dict__", {}).values())
    return [value for value in map(_unwrap_keras_variable, values) if isinstance(value, ResourceVariable)]
