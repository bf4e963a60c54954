"""Find expressions, such as ``trainer.net[0].weight``, through which a program accesses its objects."""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import ModuleType
from typing import Any

from ..engine.record.user_frames import is_minitape_or_library_file
from ..engine.types import LIST_OR_TUPLE

NamesAndValues = Iterable[tuple[str, Any]]
PARTLESS_TYPES = (bool, int, float, str, type(None))
MAX_DEPTH = 6  # The maximum number of attributes and items in a name such as ``a.b[0].c``.
MAX_PARTS_OF_CONTAINER = 50_000  # The rest of a longer list, such as a data set, is not searched.
MAX_OBJECTS = 300_000  # A search of the whole program ends after this many objects, which takes half a second.


class AccessPaths:
    """The shortest expressions through which a program accesses its objects, such as ``trainer.net[0].weight``.

    The program's objects are searched breadth-first and only once, no matter how many of them are looked up. Each
    lookup continues the search from where the previous lookup stopped.
    """

    def __init__(
        self, named_values: NamesAndValues, to_handle_for_comparison: Callable[[Any], Any] = lambda value: value
    ):
        """Prepare the search.

        Args:
            named_values: The names to start from, each with its value.
            to_handle_for_comparison: Returns the object that represents a value in comparisons.
        """
        # The handles are stored because an id is unique only while its object exists.
        self._found: dict[int, tuple[str, Any]] = {}
        self._search = self._store_paths_and_yield_after_each(named_values, to_handle_for_comparison)

    def find_path(self, wanted_object: Any) -> str:
        """Return the shortest expression for an object, or "" if none is found.

        Args:
            wanted_object: The handle that `to_handle_for_comparison` returns for the object.
        """
        key = id(wanted_object)
        while key not in self._found:
            if not next(self._search, False):
                return ""
        return self._found[key][0]

    def _store_paths_and_yield_after_each(
        self, named_values: NamesAndValues, to_handle_for_comparison: Callable[[Any], Any]
    ) -> Iterator[bool]:
        """Store the paths of the program's objects one at a time, and yield True after each."""
        level = [(name, value) for name, value in named_values if name.isidentifier() and not name.startswith("_")]
        searched_ids = set[int]()
        remaining = MAX_OBJECTS
        for _ in range(MAX_DEPTH):
            next_level = []
            for path, value in level:
                handle = to_handle_for_comparison(value)
                self._found.setdefault(id(handle), (path, handle))
                yield True
                if not remaining or type(value) in PARTLESS_TYPES or id(value) in searched_ids:
                    continue
                searched_ids.add(id(value))
                limit = min(remaining, MAX_PARTS_OF_CONTAINER)
                parts = [(path + suffix, part) for suffix, part in list_parts_with_suffixes(value, limit)]
                next_level += parts
                remaining = max(remaining - len(parts), 0)
            level = next_level


def list_parts_with_suffixes(value: Any, limit: int = MAX_PARTS_OF_CONTAINER) -> list[tuple[str, Any]]:
    """Return the parts of a list, dictionary or object, with the suffixes that access them.

    Among library objects, modules and models are searched for parts, but optimizers are not.

    Args:
        value: The object.
        limit: The maximum number of items of a list or dictionary to return.

    Returns:
        (suffix, part) pairs, such as (".weight", w) or ("[0]", x).
    """
    if isinstance(value, dict):
        return [(f"[{key!r}]", part) for key, part in islice(list(value.items()), limit)]
    if isinstance(value, LIST_OR_TUPLE):
        return [(f"[{index}]", part) for index, part in enumerate(value[:limit])]
    attributes = getattr(value, "__dict__", {})
    if not isinstance(attributes, dict) or isinstance(value, (type, ModuleType)):
        return []
    file = getattr(sys.modules.get(str(type(value).__module__)), "__file__", None)
    has_parameters = "_parameters" in attributes or hasattr(type(value), "trainable_variables")
    if file is not None and is_minitape_or_library_file(file) and not has_parameters:
        return []
    parts = [
        (f"[{name}]" if name.isdigit() else f".{name}", part)
        for registry in ("_parameters", "_modules", "_buffers")
        for name, part in attributes.get(registry, {}).items()
    ]
    for name, part in attributes.items():
        # A private attribute such as ``_weight`` is included if the class has a property ``weight``.
        public_name = name.removeprefix("_")
        is_reachable = name == public_name or hasattr(type(value), public_name)
        if is_reachable and not public_name.startswith("_"):
            parts.append((f".{public_name}", part))
    return parts
