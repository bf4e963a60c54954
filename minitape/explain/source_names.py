"""What the user calls a source: a name, an attribute, or an item of what a name holds."""

from __future__ import annotations

import ast
from contextlib import suppress
from types import FrameType, ModuleType
from typing import TYPE_CHECKING

from ..engine.tensor.tensor import Tensor
from .caller import asking_frame, asking_names, asking_spaces
from .sentences import fill
from .statement import last_name

if TYPE_CHECKING:
    from ..engine.types import End, Object
    from ..recording.nodes import CodePlace
    from .inquiry import GradientInquiry
    from .statement import Statement

_PLACES = (ModuleType, type)
_MANY = 1000  # objects whose attributes are looked through at once
_MAKES = ("Variable", "add_weight", "get_variable", "deepcopy", "copy")  # what makes a variable in the user's text


def name_of(source: End, inquiry: GradientInquiry | None) -> str:
    """What the user calls a source: the name that its creating statement binds, or the variable's own."""
    frame = asking_frame()
    with suppress(Exception):  # no text: then it goes by what holds it
        for statement, place in () if inquiry is None else inquiry.statements(inquiry.origin_place(source, used=False)):
            name = statement.name_at(place.line, place.column)
            if name and (isinstance(source, Tensor) or _makes_variable(statement, place)):
                return _as_reached(name, source, frame, inquiry)
    for space in asking_spaces():
        for text, value in list(space.items()):
            if value is source and not text.startswith("_"):
                return text
    name = getattr(source, "name", "")
    if isinstance(name, str) and "/" in name and frame is not None:
        with suppress(Exception):
            name = in_a_layer(source, asking_names()) or name
    return name.split(":")[0] if isinstance(name, str) and name and "Variable" not in name else fill("the source")


def _makes_variable(statement: Statement, place: CodePlace) -> bool:
    """Whether the name that a statement binds is that of the variable: of several values the one at this place makes
    it.
    """
    made = statement.expression(place.span)
    if isinstance(statement.value(), ast.Tuple) and isinstance(made, ast.Call):
        return last_name(made.func) in _MAKES
    return statement.calls(*_MAKES)


def _as_reached(name: str, source: End, frame: FrameType | None, inquiry: GradientInquiry | None) -> str:
    """What the code that asks calls a source: ``cell.h`` for ``self.h``, ``weights["b"]`` for one of ``weights``."""
    if frame is None:
        return name
    names = {**frame.f_globals, **frame.f_locals}
    items = names.get(name)
    if isinstance(items, (dict, list, tuple)):
        keys = {} if inquiry is None else inquiry.keys
        if name not in keys:
            keys[name] = _keys(items)
        found = keys[name].get(id(source))
        return name if found is None else f"{name}[{found[0]!r}]"
    attribute = name.removeprefix("self.")
    if attribute == name or not attribute.isidentifier() or "self" in frame.f_locals:
        return name
    if inquiry is None:
        return name
    if inquiry.paths is None:
        inquiry.paths = _paths(names)
    return str(inquiry.paths.get((id(source), attribute), name))


def in_a_layer(source: End, names: dict[str, Object]) -> str:
    """How these names lead to a variable of a layer or model: ``model.layers[0].kernel``."""
    for text, thing in list(names.items()):
        if text.startswith("_") or isinstance(thing, _PLACES) or not hasattr(thing, "trainable_variables"):
            continue
        for before, part in (
            ("", thing),
            *((f".layers[{at}]", layer) for at, layer in enumerate(getattr(thing, "layers", ()))),
        ):
            for attribute, value in list(vars(part).items()):
                leaf = value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value
                if leaf is source:
                    return f"{text}{before}.{attribute.lstrip('_')}"
    return ""


def _paths(names: dict[str, Object]) -> dict[tuple[int, str], str]:
    """How these names lead to the attributes of objects, ``agent.net.w``: by the identity of a value and its
    attribute.
    """
    found: dict[tuple[int, str], str] = {}
    level = [(text, thing) for text, thing in names.items() if not text.startswith("_")]
    seen: set[int] = set()
    for _ in range(3):
        inner = []
        for text, thing in level[:_MANY]:
            space = {} if isinstance(thing, _PLACES) else getattr(thing, "__dict__", {})
            if id(space) in seen:
                continue
            seen.add(id(space))
            for attribute, value in list(space.items()):
                leaf = value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value
                found.setdefault((id(leaf), attribute), f"{text}.{attribute}")
                if not attribute.startswith("_"):
                    inner.append((f"{text}.{attribute}", value))
        level = inner
    return found


def _keys(items: dict[Object, Object] | list[Object] | tuple[Object, ...]) -> dict[int, tuple[object, object]]:
    """Maps the id of each object to its first key, and the object itself, which must stay alive."""
    found: dict[int, tuple[object, object]] = {}
    for key, value in items.items() if isinstance(items, dict) else enumerate(items):
        leaf = value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value
        found.setdefault(id(value), (key, value))
        found.setdefault(id(leaf), (key, leaf))
    return found
