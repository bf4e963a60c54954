"""What the engine and the functions of ``tf`` ask of the packages above them, which they cannot import.

Each question is a name, such as ``hooks.why_none(error)``: the reason why a gradient is None, the picture of a tape. The table of answers is in ``minitape/__init__.py``. A function is loaded when it is
first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Function, Object


def places(homes: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Name -> (module of minitape, name there) of a table that maps modules to the names that they give.

    ``public=theirs`` is a name that the module calls otherwise; ``public=`` is the module itself.

    >>> places({"indexing": "strided_slice slice=slice_", "math.special": "special="})["slice"]
    ('indexing', 'slice_')
    """
    found = {}
    for module, names in homes.items():
        for entry in names.split():
            name, renamed, theirs = entry.partition("=")
            found[name] = (module, theirs if renamed else name)
    return found


def load(module: str, name: str) -> Object:
    """The object that a module of minitape calls ``name``; the module itself if ``name`` is empty."""
    found = importlib.import_module(f"minitape.{module}".removesuffix("."))
    return getattr(found, name) if name else found


class Hooks:
    """Functions of the packages above, as attributes."""

    def __init__(self) -> None:
        self._homes: dict[str, tuple[str, str]] = {}

    def register(self, homes: Mapping[str, str]) -> None:
        """Says which module holds which function; see :func:`places`."""
        self._homes |= places(homes)

    def __getattr__(self, name: str) -> Function:
        if name not in self._homes:
            raise AttributeError(
                f"no package above the engine answers {name!r}: see _HOOKS in minitape/__init__.py", name=name
            )
        found = load(*self._homes[name])
        setattr(self, name, found)
        return found


hooks = Hooks()
