"""The names by which a program reaches what is asked about."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from ...engine.recording.frames import own_file
from ...recording.sites import Site
from ..caller import asking_frame
from ..sentences import fill
from . import text
from .question import Question

PLAIN = (bool, int, float, str, type(None))  # hold nothing
DEEP, MANY = 6, 2000  # of what holds what is looked at to find a name


def called(q: Question) -> str:
    """How the program reaches the source: by a name, or through what holds it."""
    own = next((name for site in reversed(_made_at(q)) if (name := bound_at(site))), "")
    others = [value for name, value in q.adapter.names() if name == own.partition("[")[0]]
    mine = own.isidentifier() and all(q.adapter.handle(value) is q.adapter.handle(q.source) for value in others)
    item = "[" in own and not others
    return (
        (own if mine or item else "")
        or path_to(q, q.adapter.handle(q.source))
        or own * (own[-1:] == "]")
        or next((q.rows[row].name for row in q.own if q.rows[row].name), "")
        or fill("the source")
    )


def bound_at(site: Site) -> str:
    """The name that a statement gives what is made at a place: ``b`` for 2.0 in ``a, b = f(1.0), f(2.0)``."""
    at = text.at(site)
    place = getattr(site, "place", None)
    if at.value is None or not at.binds:
        return ""
    name = at.binds[0]
    value = at.value
    if place is None:
        return name

    def is_here(part: ast.expr) -> bool:
        return (
            (part.lineno, part.col_offset)
            <= (place.line, place.column)
            < (part.end_lineno or 0, part.end_col_offset or 0)
        )

    if not is_here(value):  # another statement of the line
        return ""
    if isinstance(value, ast.Call):  # made on the way into the call: ``x[0]`` in ``why = tape.explain(y, x[0])``
        return next(
            (text.unparse(part) for part in value.args if isinstance(part, ast.Subscript) and is_here(part)), name
        )
    if isinstance(value, ast.Dict):
        keys = [text.unparse(key) for key, part in zip(value.keys, value.values, strict=True) if key and is_here(part)]
        return f"{name}[{keys[0]}]" if keys else name
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    k = next((k for k, part in enumerate(parts) if is_here(part)), None)
    if k is None:
        return name
    return at.binds[k] if len(at.binds) == len(parts) > 1 else f"{name}[{k}]"


def _made_at(q: Question) -> list[Site]:
    """Where the source was made; of a framework that does not know it nowhere."""
    return list(q.adapter.made_at(q.source)) if hasattr(q.adapter, "made_at") else []


def path_to(q: Question, wanted: Any) -> str:
    """How the program reaches an object: by a name, by what has it as a part, or by a list of such; last by a name that
    a loop binds, which holds it by chance, as ``p`` of ``for p in net.parameters()``.
    """
    names, frame = list(q.adapter.names()), asking_frame()
    nodes = [n for s in text.statements(None if frame is None else frame.f_code.co_filename) for n in s.nodes]
    targets = [n.target for n in nodes if isinstance(n, (ast.For, ast.comprehension))]
    loops = text.names_in(n for target in targets for n in ast.walk(target))
    sure = [pair for pair in names if pair[0] not in loops]
    lists = [pair for pair in sure if isinstance(pair[1], (dict, list, tuple))]
    known = {id(value) for _, value in lists}
    parts = [pair for pair in sure if id(pair[1]) not in known]
    found = (reach(level, wanted, q.adapter.handle) for level in (parts, lists, names))
    return next(filter(None, found), "")


def reach(names: Iterable[tuple[str, Any]], wanted: Any, handle: Callable[[Any], Any] = lambda value: value) -> str:
    """A name of an object, or of what holds it with what leads on: ``trainer.net[0].weight``; empty where unknown."""
    level = [(name, value) for name, value in names if name.isidentifier() and not name.startswith("_")]
    seen = set[int]()
    for _ in range(DEEP):
        inner: list[tuple[str, Any]] = []
        for name, value in level:
            if handle(value) is wanted:
                return name
            if id(value) not in seen:
                seen.add(id(value))
                parts = parts_of(value)
                inner += [(name + part, one) for part, one in parts if type(one) not in PLAIN or one is wanted]
        level = inner[:MANY]
    return ""


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """What a list, a dictionary or an object holds."""
    if isinstance(value, dict):
        return [(f"[{key!r}]", one) for key, one in list(value.items())[:MANY]]
    if isinstance(value, (list, tuple)):
        return [(f"[{at}]", one) for at, one in enumerate(value[:MANY])]
    held, module = getattr(value, "__dict__", {}), str(type(value).__module__)
    file = getattr(sys.modules.get(module), "__file__", None)  # of a library's object only its parameters count
    known = "_parameters" in held or hasattr(type(value), "trainable_variables")  # no optimizer
    library = file is not None and own_file(file) and not known
    if library or isinstance(value, (type, ModuleType)) or not isinstance(held, dict):
        return []
    parts = [
        (f"[{name}]" if name.isdigit() else f".{name}", one)
        for slot in ("_parameters", "_modules", "_buffers")
        for name, one in held.get(slot, {}).items()
    ]
    for name, one in held.items():
        public = name.removeprefix("_")  # that of a property, where it has one
        if not public.startswith("_") and (name == public or hasattr(type(value), public)):
            parts.append((f".{public}", one))
    return parts
