"""Functions of higher packages that the engine, ``functions`` and ``tf`` call but cannot import.

Each of them is an attribute of ``hooks``. For example, ``hooks.add_none_reasons(error)`` adds the reason for a None
gradient to an error, and ``hooks.draw(tape)`` draws a tape. ``minitape/__init__.py`` has the table of the functions. A
function is loaded when it is first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..common.lazy_names import load_name, parse_name_table

if TYPE_CHECKING:
    from .types import Function


class Hooks:
    """Functions of higher packages, as attributes that are loaded when they are first read."""

    def __init__(self) -> None:
        """Create an object without functions, to which ``register`` adds them."""
        self._home_by_name: dict[str, tuple[str, str]] = {}

    def register(self, names_by_module: Mapping[str, str]) -> None:
        """Add functions to the attributes.

        Args:
            names_by_module: The names of the functions of each module, as :func:`parse_name_table` reads them.
        """
        self._home_by_name |= parse_name_table(names_by_module)

    def __getattr__(self, name: str) -> Function:
        """Load a function and store it as an attribute.

        Raises:
            AttributeError: No function of this name was registered.
        """
        if name not in self._home_by_name:
            raise AttributeError(
                f"no package above the engine answers {name!r}: see _HOOKS in minitape/__init__.py", name=name
            )
        hook = load_name(*self._home_by_name[name])
        setattr(self, name, hook)
        return hook


hooks = Hooks()
