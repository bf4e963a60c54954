"""Define the parts that the frameworks' adapters and checks share."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from ..explain.caller import find_asking_or_innermost_user_frame
from ..explain.reasons.adapter import Adapter
from ..explain.reasons.program_text import Statement, list_statements
from ..picture.reader_base import collect_namespaces
from ..recording.access_paths import NamesAndValues
from ..recording.variable_names import list_collected_namespaces

# A custom derivative whose name or docstring matches this pattern differs from the function on purpose.
find_surrogate_word = re.compile(r"STE(?![a-z])|(?i:straight|surrogate|revers|guided|approx|quanti|binar|spik)").search


class RowNumber(int):
    """The number of the row that a question is about.

    This type distinguishes row numbers from integers that the program uses.
    """


def list_all_named_program_objects() -> list[tuple[str, Any]]:
    """Return a (name, object) pair for each variable of the program that called ``explain``."""
    namespaces = list_collected_namespaces()
    if namespaces is None:
        namespaces = collect_namespaces(find_asking_or_innermost_user_frame())
    return [pair for namespace in namespaces for pair in list(namespace.items())]


class FrameworkAdapter(Adapter):
    """The part of the adapter that all frameworks share.

    Each framework's adapter adds its own members.
    """

    list_program_variable_names_and_values: Callable[[], NamesAndValues] = staticmethod(list_all_named_program_objects)
    """Returns a (name, object) pair for each name in the program."""


def is_any_name_read_later(statement: Statement, names: Iterable[str]) -> bool:
    """Return whether a later statement in the same function reads one of the names.

    Args:
        statement: The statement after which the search begins.
        names: The names to look for.
    """
    name_set = set(names)
    for later_statement in list_statements(statement.file):
        is_later = (
            later_statement.enclosing_functions == statement.enclosing_functions
            and later_statement.order > statement.order
        )
        if is_later and not name_set.isdisjoint(later_statement.read_names):
            return True
    return False
