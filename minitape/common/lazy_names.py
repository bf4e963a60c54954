"""Load the names of a module when they are first used. A table lists where each name is defined."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def parse_name_table(names_by_module: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return where each public name of a table is defined.

    Args:
        names_by_module: Maps modules, by their path below ``minitape``, to names separated by spaces. ``public=other``
            is a name that the module defines as ``other``. ``public=`` is the module itself.

    Returns:
        A dictionary from each public name to its module and its name there, which is "" for the module itself.

    >>> parse_name_table({"tf.printing": "print=print_ element", "math": "math="})["print"]
    ('tf.printing', 'print_')
    """
    home_by_name = {}
    for module, names in names_by_module.items():
        for entry in names.split():
            name, has_other_name, name_there = entry.partition("=")
            home_by_name[name] = (module, name_there if has_other_name else name)
    return home_by_name


def load_name(module: str, name: str) -> Any:
    """Load an object of minitape.

    Args:
        module: The module's path below ``minitape``, such as "tf.printing"; a path that begins with
            ``minitape_widgets`` is complete.
        name: The name of the object in the module. If it is empty, the module itself is loaded.

    Returns:
        The object or the module.
    """
    module_path = module if module.startswith("minitape_widgets") else f"minitape.{module}".removesuffix(".")
    loaded_module = importlib.import_module(module_path)
    return getattr(loaded_module, name) if name else loaded_module


def build_lazy_getattr_and_dir(
    module_globals: dict[str, Any], names_by_module: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Build the functions ``__getattr__`` and ``__dir__`` of a module whose names are loaded on first use.

    Also set the ``__all__`` of the module.

    Args:
        module_globals: The ``globals()`` of the module.
        names_by_module: The table of names, as :func:`parse_name_table` reads it.

    Returns:
        ``__getattr__`` and ``__dir__``.
    """
    home_by_name = parse_name_table(names_by_module)
    module_globals["__all__"] = sorted(home_by_name)

    def load_on_first_use(name: str) -> Any:
        if name not in home_by_name:
            raise AttributeError(f"module {module_globals['__name__']!r} has no attribute {name!r}", name=name)
        loaded = module_globals[name] = load_name(*home_by_name[name])
        return loaded

    # The script that writes the stubs for editors reads the names from this attribute.
    load_on_first_use.__dict__["homes"] = home_by_name
    return load_on_first_use, lambda: sorted(home_by_name)
