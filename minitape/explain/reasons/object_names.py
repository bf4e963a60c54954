"""Find the expression with which a program refers to the object that a question is about."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...common.shared_results import get_or_build_shared_result, shared_results
from ...engine.record.interrupt_safe import TemporaryAttributes
from ...engine.types import NameSet
from ...recording.access_paths import AccessPaths
from ...recording.sites import Site
from ..caller import find_asking_or_innermost_user_frame
from ..translated_sentences import fill
from .program_text import collect_own_names_and_attributes_of_nodes, find_statement, list_statements, unparse

if TYPE_CHECKING:
    from .adapter import Adapter
    from .question import Question

CONTAINER_TYPES = (dict, list, tuple)


def get_source_name_or_placeholder(question: Question) -> str:
    """Return the program's name for the source of a question.

    The first choice is the name assigned by the statement that created the source, if this name still refers to the
    source. The next choices are an access path such as ``net.layers[0]``, the name of a row, and the words "the
    source".

    Args:
        question: The question about the source.
    """
    to_handle_for_comparison = question.adapter.to_handle_for_comparison
    source = to_handle_for_comparison(question.source)
    creation = question.adapter.find_creation(question.source)
    bound_name = next(
        (name for site in reversed(creation.call_stack) if (name := find_name_bound_at_site(site))),
        "",
    )
    values = [
        value
        for name, value in question.adapter.list_program_variable_names_and_values()
        if name == bound_name.partition("[")[0]
    ]
    still_holds_source = bound_name.isidentifier() and all(
        to_handle_for_comparison(value) is source for value in values
    )
    is_item_of_unknown = "[" in bound_name and not values
    if bound_name and (still_holds_source or is_item_of_unknown):
        return bound_name
    if access_path := find_access_path(question, source):
        return access_path
    if bound_name.endswith("]"):
        return bound_name
    row_names = (question.rows[row].name for row in question.source_rows)
    return next(filter(None, row_names), "") or fill("the source")


def find_name_bound_at_site(site: Site) -> str:
    """Return the name that a statement assigns to the object created at a site.

    If the site stores the exact position, the name that receives the value at that position is returned, such as ``b``
    for ``f(2.0)`` in ``a, b = f(1.0), f(2.0)``.

    Args:
        site: The site at which the object was created.

    Returns:
        A name or an expression such as "layers[0]", or "" if the statement assigns the object to no name.
    """
    statement = find_statement(site)
    value = statement.value
    place = getattr(site, "place", None)
    if value is None or not statement.bound_names:
        return ""
    name = statement.bound_names[0]
    if place is None:
        return name

    def contains_place(part: ast.expr) -> bool:
        start = (part.lineno, part.col_offset)
        end = (part.end_lineno or 0, part.end_col_offset or 0)
        return start <= (place.line, place.column) < end

    if not contains_place(value):  # The object belongs to another statement on the line.
        return ""
    if isinstance(value, ast.Call):
        # The object may be an argument of the call, like ``x[0]`` in ``why = tape.explain(y, x[0])``.
        arguments = (part for part in value.args if isinstance(part, ast.Subscript) and contains_place(part))
        return next(map(unparse, arguments), name)
    if isinstance(value, ast.Dict):
        keys = [
            unparse(key) for key, part in zip(value.keys, value.values, strict=True) if key and contains_place(part)
        ]
        return f"{name}[{keys[0]}]" if keys else name
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    index = next((index for index, part in enumerate(parts) if contains_place(part)), None)
    if index is None:
        return name
    is_unpacked = len(statement.bound_names) == len(parts) > 1
    return statement.bound_names[index] if is_unpacked else f"{name}[{index}]"


def find_access_path(question: Question, wanted_object: Any) -> str:
    """Return an expression through which the program accesses an object.

    Attributes of objects are tried first, then items of lists, and finally loop variables. A loop variable, such as
    ``p`` in ``for p in net.parameters()``, refers to the object only by chance.

    Args:
        question: The question, which gives access to the program's names.
        wanted_object: The handle that `Adapter.to_handle_for_comparison` returns for the object.

    Returns:
        The expression, or "" if no expression is found.
    """
    adapter = question.adapter
    all_access_paths = get_or_build_shared_result(
        (type(adapter), find_asking_or_innermost_user_frame()),
        lambda: _list_paths_from_objects_containers_and_loops(adapter),
    )
    return find_first_access_path(all_access_paths, wanted_object)


def _list_paths_from_objects_containers_and_loops(adapter: Adapter) -> list[AccessPaths]:
    """Return the access paths that begin at objects, containers and loop variables, in that order."""
    names = list(adapter.list_program_variable_names_and_values())
    loop_names = _find_loop_variable_names()
    stable_names = [(name, value) for name, value in names if name not in loop_names]
    containers = [(name, value) for name, value in stable_names if isinstance(value, CONTAINER_TYPES)]
    objects = [(name, value) for name, value in stable_names if not isinstance(value, CONTAINER_TYPES)]
    loop_variables = [(name, value) for name, value in names if name in loop_names]
    return [AccessPaths(start, adapter.to_handle_for_comparison) for start in (objects, containers, loop_variables)]


def _find_loop_variable_names() -> NameSet:
    """Return the names of all loop and comprehension variables in the program that requested the explanation."""
    frame = find_asking_or_innermost_user_frame()
    statements = list_statements(None if frame is None else frame.f_code.co_filename)
    loops = (node for statement in statements for node in statement.nodes)
    targets = [loop.target for loop in loops if isinstance(loop, (ast.For, ast.comprehension))]
    return collect_own_names_and_attributes_of_nodes(node for target in targets for node in ast.walk(target))


def share_searches_between_questions() -> TemporaryAttributes:
    """Return a context manager within which all questions share the results of searching the program and the recording.

    The ``with`` block must not run any of the program's code, because the shared results would not reflect later
    changes.
    """
    return TemporaryAttributes(shared_results, by_key=shared_results.by_key or {})


def find_first_access_path(all_access_paths: Iterable[AccessPaths], wanted_object: Any) -> str:
    """Return the first expression found for an object among the given access paths, or "" if none is found.

    Args:
        all_access_paths: The access paths, preferred ones first.
        wanted_object: The object to find.
    """
    return next(filter(None, (access_paths.find_path(wanted_object) for access_paths in all_access_paths)), "")
