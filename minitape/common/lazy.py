"""Names of a module that are loaded when they are first used: which module holds which name is a table."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def places(homes: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Name -> (module of minitape, name there) of a table that maps modules to the names that they give.

    ``public=theirs`` is a name that the module calls otherwise; ``public=`` is the module itself.

    >>> places({"tf.printing": "print=print_ element", "math": "math="})["print"]
    ('tf.printing', 'print_')
    """
    found = {}
    for module, names in homes.items():
        for entry in names.split():
            name, renamed, theirs = entry.partition("=")
            found[name] = (module, theirs if renamed else name)
    return found


def load(module: str, name: str) -> Any:
    """The object that a module of minitape calls ``name``; the module itself if ``name`` is empty."""
    found = importlib.import_module(f"minitape.{module}".removesuffix("."))
    return getattr(found, name) if name else found


def lazy(space: dict[str, Any], homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module whose globals are ``space``, with the names of a table."""
    home = places(homes)
    space["__all__"] = sorted(home)

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {space['__name__']!r} has no attribute {name!r}", name=name)
        found = space[name] = load(*home[name])
        return found

    find.__dict__["homes"] = home  # from which the stubs for editors are written
    return find, lambda: sorted(home)
