"""Find the expression with which a program refers to the object that a question is about."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...engine.record.user_frames import is_minitape_or_library_file
from ...recording.sites import Site
from ..caller import find_asking_frame
from ..translated_sentences import fill
from . import program_text

if TYPE_CHECKING:
    from .question import Question

PARTLESS_TYPES = (bool, int, float, str, type(None))
MAX_DEPTH = 6  # Maximum number of attributes and items in a name such as ``a.b[0].c``.
MAX_PARTS = 2000  # Maximum number of parts searched in one object, and of objects searched at one depth.


def find_source_name(question: Question) -> str:
    """Return the program's name for the source of a question.

    The first choice is the name assigned by the statement that created the source, if this name still refers to the
    source. The next choices are an access path such as ``net.layers[0]``, the name of a row, and the words "the
    source".

    Args:
        question: The question about the source.
    """
    to_handle = question.adapter.to_handle
    source = to_handle(question.source)
    bound_name = next(
        (name for site in reversed(_find_source_creation_sites(question)) if (name := find_name_bound_at_site(site))),
        "",
    )
    values = [value for name, value in question.adapter.list_names_and_values() if name == bound_name.partition("[")[0]]
    still_holds_source = bound_name.isidentifier() and all(to_handle(value) is source for value in values)
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

    If the site stores the exact position, the name for that position is chosen: ``b`` for 2.0 in ``a, b = f(1.0),
    f(2.0)``.

    Args:
        site: The site at which the object was created.

    Returns:
        A name or an expression such as "layers[0]", or "" if the statement assigns the object to no name.
    """
    statement = program_text.find_statement(site)
    value = statement.value
    place = getattr(site, "place", None)
    if value is None or not statement.bound_names:
        return ""
    name = statement.bound_names[0]
    if place is None:
        return name

    def contains_place(part: ast.expr) -> bool:
        start, end = (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)
        return start <= (place.line, place.column) < end

    if not contains_place(value):  # The object belongs to another statement on the line.
        return ""
    if isinstance(value, ast.Call):
        # The object may be an argument of the call, like ``x[0]`` in ``why = tape.explain(y, x[0])``.
        arguments = (part for part in value.args if isinstance(part, ast.Subscript) and contains_place(part))
        return next((program_text.unparse(argument) for argument in arguments), name)
    if isinstance(value, ast.Dict):
        keys = [
            program_text.unparse(key)
            for key, part in zip(value.keys, value.values, strict=True)
            if key and contains_place(part)
        ]
        return f"{name}[{keys[0]}]" if keys else name
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    index = next((index for index, part in enumerate(parts) if contains_place(part)), None)
    if index is None:
        return name
    is_unpacked = len(statement.bound_names) == len(parts) > 1
    return statement.bound_names[index] if is_unpacked else f"{name}[{index}]"


def _find_source_creation_sites(question: Question) -> Sequence[Site]:
    """Return the statements that created the source, or an empty list if the framework does not record that."""
    return question.adapter.find_creation_sites(question.source)


def find_access_path(question: Question, wanted_object: Any) -> str:
    """Return an expression through which the program accesses an object.

    Attributes of objects are tried first, then items of lists, and finally loop variables. A loop variable, such as
    ``p`` in ``for p in net.parameters()``, refers to the object only by chance.

    Args:
        question: The question, which gives access to the program's names.
        wanted_object: The object, as `Adapter.to_handle` returns it.

    Returns:
        The expression, or "" if no expression is found.
    """
    names = list(question.adapter.list_names_and_values())
    loop_names = _find_loop_variable_names()
    stable_names = [(name, value) for name, value in names if name not in loop_names]
    containers = [(name, value) for name, value in stable_names if isinstance(value, (dict, list, tuple))]
    container_ids = {id(value) for _, value in containers}
    objects = [(name, value) for name, value in stable_names if id(value) not in container_ids]
    for candidates in (objects, containers, names):
        if access_path := search_access_path(candidates, wanted_object, question.adapter.to_handle):
            return access_path
    return ""


def _find_loop_variable_names() -> set[str]:
    """Return the names of the loop variables of loops and comprehensions in the asking program."""
    frame = find_asking_frame()
    statements = program_text.list_statements(None if frame is None else frame.f_code.co_filename)
    loops = (node for statement in statements for node in statement.nodes)
    targets = [loop.target for loop in loops if isinstance(loop, (ast.For, ast.comprehension))]
    return program_text.collect_names_and_attributes(node for target in targets for node in ast.walk(target))


def search_access_path(
    named_values: Iterable[tuple[str, Any]], wanted_object: Any, to_handle: Callable[[Any], Any] = lambda value: value
) -> str:
    """Search breadth-first through objects and their parts for an object.

    Args:
        named_values: The names to start from, and their values.
        wanted_object: The object to find, as `to_handle` returns it.
        to_handle: Returns the object to compare in place of a value.

    Returns:
        The shortest expression, such as ``trainer.net[0].weight``, or "" if the object is not found.
    """
    level = [(name, value) for name, value in named_values if name.isidentifier() and not name.startswith("_")]
    seen = set[int]()
    for _ in range(MAX_DEPTH):
        next_level: list[tuple[str, Any]] = []
        for name, value in level:
            if to_handle(value) is wanted_object:
                return name
            if id(value) in seen:
                continue
            seen.add(id(value))
            for suffix, part in list_parts_with_suffixes(value):
                if type(part) not in PARTLESS_TYPES or part is wanted_object:
                    next_level.append((name + suffix, part))
        level = next_level[:MAX_PARTS]
    return ""


def list_parts_with_suffixes(value: Any) -> list[tuple[str, Any]]:
    """Return the parts of a list, dictionary or object, with the suffixes that access them.

    Among library objects, modules and models are searched for parts, but optimizers are not.

    Args:
        value: The object.

    Returns:
        (suffix, part) pairs, such as (".weight", w) or ("[0]", x).
    """
    if isinstance(value, dict):
        return [(f"[{key!r}]", part) for key, part in list(value.items())[:MAX_PARTS]]
    if isinstance(value, (list, tuple)):
        return [(f"[{index}]", part) for index, part in enumerate(value[:MAX_PARTS])]
    attributes = getattr(value, "__dict__", {})
    if not isinstance(attributes, dict) or isinstance(value, (type, ModuleType)):
        return []
    file = getattr(sys.modules.get(str(type(value).__module__)), "__file__", None)
    has_parameters = "_parameters" in attributes or hasattr(type(value), "trainable_variables")
    if file is not None and is_minitape_or_library_file(file) and not has_parameters:
        return []
    parts = [
        (f"[{name}]" if name.isdigit() else f".{name}", part)
        for registry in ("_parameters", "_modules", "_buffers")
        for name, part in attributes.get(registry, {}).items()
    ]
    for name, part in attributes.items():
        # A private attribute such as ``_weight`` counts if the class has a property ``weight``.
        public_name = name.removeprefix("_")
        is_reachable = name == public_name or hasattr(type(value), public_name)
        if is_reachable and not public_name.startswith("_"):
            parts.append((f".{public_name}", part))
    return parts
