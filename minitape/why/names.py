"""The names by which a program reaches what is asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..explain.sentences import fill
from ..recording.sites import Site
from . import text
from .model import Question

DEEP, MANY = 6, 2000  # of what holds what is looked at to find a name


def called(q: Question) -> str:
    """How the program reaches the source: by a name, or through what holds it."""
    made = [at for site in reversed(_made_at(q)) if (at := text.at(site)) is not None]
    bound = made[0].binds if made and made[0].value is not None else []
    known = {name for name, value in q.adapter.names() if q.adapter.handle(value) is q.source}
    own = bound[0] if len(bound) == 1 and bound[0].isidentifier() and (not known or bound[0] in known) else ""
    return (
        own
        or path_to(q, q.source)
        or next((q.rows[row].name for row in q.own if q.rows[row].name), "")
        or fill("the source")
    )


def _made_at(q: Question) -> list[Site]:
    """Where the source was made; of a framework that does not know it nowhere."""
    return list(q.adapter.made_at(q.source)) if hasattr(q.adapter, "made_at") else []


def path_to(q: Question, wanted: Any) -> str:
    """How the program reaches an object."""
    return reach(q.adapter.names(), wanted, q.adapter.handle)


def reach(names: Iterable[tuple[str, Any]], wanted: Any, handle: Callable[[Any], Any] = lambda value: value) -> str:
    """A name of an object, or of what holds it with what leads on: ``trainer.net[0].weight``; empty where unknown."""
    level = [(name, value) for name, value in names if not name.startswith("_")]
    seen = set[int]()
    for _ in range(DEEP):
        inner: list[tuple[str, Any]] = []
        for name, value in level:
            if handle(value) is wanted:
                return name
            if id(value) not in seen:
                seen.add(id(value))
                inner += [(name + part, one) for part, one in parts_of(value)]
        level = inner[:MANY]
    return ""


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """What a list, a dictionary or an object holds."""
    if isinstance(value, dict):
        return [(f"[{key!r}]", one) for key, one in list(value.items())[:MANY]]
    if isinstance(value, (list, tuple)):
        return [(f"[{at}]", one) for at, one in enumerate(value[:MANY])]
    held = getattr(value, "__dict__", {})
    if (
        type(value).__module__.partition(".")[0] in ("builtins", "numpy", "minitape")
        or isinstance(value, type)
        or not isinstance(held, dict)
        or "__file__" in held
    ):
        return []
    parts = [
        (f"[{name}]" if name.isdigit() else f".{name}", one)
        for slot in ("_parameters", "_modules", "_buffers")
        for name, one in held.get(slot, {}).items()
    ]
    return parts + [(f".{name}", one) for name, one in held.items() if not name.startswith("_")]
