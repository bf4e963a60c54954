"""The questions of the engine, ``functions`` and ``tf`` to the packages above them, which they cannot import.

Each question is a name, such as ``hooks.why_none(error)``: the reason why a gradient is None, the picture of a tape.
The table of answers is in ``minitape/__init__.py``. A function is loaded when it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..common.lazy import load, places

if TYPE_CHECKING:
    from .types import Function


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
