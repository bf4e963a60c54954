"""Names of a module that are loaded when they are first used: which module holds which name is a table."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def parse_name_table(names_by_module: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return name -> (module of minitape, name there) of a table that maps modules to the names that they give.

    ``public=theirs`` is a name that the module calls otherwise; ``public=`` is the module itself.

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
        name: What the module calls the object. The module itself is returned if it is empty.
    """
    module_path = module if module.startswith("minitape_widgets") else f"minitape.{module}".removesuffix(".")
    loaded_module = importlib.import_module(module_path)
    return getattr(loaded_module, name) if name else loaded_module


def build_lazy_getattr_and_dir(
    module_globals: dict[str, Any], names_by_module: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Build ``__getattr__`` and ``__dir__`` of a module whose globals are ``module_globals``, with the names of a
    table; set its ``__all__``.
    """
    home_by_name = parse_name_table(names_by_module)
    module_globals["__all__"] = sorted(home_by_name)

    def load_on_first_use(name: str) -> Any:
        if name not in home_by_name:
            raise AttributeError(f"module {module_globals['__name__']!r} has no attribute {name!r}", name=name)
        loaded = module_globals[name] = load_name(*home_by_name[name])
        return loaded

    load_on_first_use.__dict__["homes"] = home_by_name  # from which the stubs for editors are written
    return load_on_first_use, lambda: sorted(home_by_name)
