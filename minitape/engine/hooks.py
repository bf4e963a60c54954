"""The questions of the engine, ``functions`` and ``tf`` to the packages above them, which they cannot import.

Each question is a name, such as ``hooks.add_none_reasons(error)``: the reason why a gradient is None, the picture of a
tape. The table of answers is in ``minitape/__init__.py``. A function is loaded when it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..common.lazy_names import load_name, parse_name_table

if TYPE_CHECKING:
    from .types import Function


class Hooks:
    """Functions of the packages above, as attributes."""

    def __init__(self) -> None:
        self._home_by_name: dict[str, tuple[str, str]] = {}

    def register(self, names_by_module: Mapping[str, str]) -> None:
        """Says which module holds which function; see :func:`parse_name_table`."""
        self._home_by_name |= parse_name_table(names_by_module)

    def __getattr__(self, name: str) -> Function:
        if name not in self._home_by_name:
            raise AttributeError(
                f"no package above the engine answers {name!r}: see _HOOKS in minitape/__init__.py", name=name
            )
        hook = load_name(*self._home_by_name[name])
        setattr(self, name, hook)
        return hook


hooks = Hooks()
