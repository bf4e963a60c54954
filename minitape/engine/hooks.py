"""Provide functions of higher packages, which the engine, ``functions`` and ``tf`` call but cannot import.

Each function is an attribute of ``hooks``. For example, ``hooks.add_notes_why_gradients_are_none(error)`` adds the
reason for a None gradient to an error, and ``hooks.draw(tape)`` draws a tape. A table in ``minitape/__init__.py`` lists
these functions. Each function is loaded when it is first used.
"""

from collections.abc import Mapping
from typing import cast

from ..common.lazy_names import load_minitape_object, parse_name_table
from .types import Function, TextPair


class Hooks:
    """The functions of higher packages, as attributes that are loaded on first use."""

    def __init__(self) -> None:
        """Create an empty object. ``register`` adds the functions."""
        self._home_by_name: dict[str, TextPair] = {}

    def register(self, names_by_module: Mapping[str, str]) -> None:
        """Add functions to the attributes.

        Args:
            names_by_module: For each module, one string with its function names, in the form that
                :func:`parse_name_table` reads.
        """
        self._home_by_name |= parse_name_table(names_by_module)

    def __getattr__(self, name: str) -> Function:
        """Load a function and store it as an attribute.

        Raises:
            AttributeError: If no function with this name is registered.
        """
        if name not in self._home_by_name:
            raise AttributeError(
                f"no package provides the hook {name!r}; see _HOOKS in minitape/__init__.py", name=name
            )
        hook = cast("Function", load_minitape_object(*self._home_by_name[name]))
        setattr(self, name, hook)
        return hook


hooks = Hooks()
