"""Findings as what the user reads."""

from __future__ import annotations

from typing import Any

from ..common.texts import paragraph
from ..explain.caller import in_brackets
from ..explain.sentences import fill
from ..explain.texts import TEXT
from ..explain.value_texts import ARRIVED, FUNCTIONS, OF_TAPE, OF_TENSORFLOW
from ..explain.words import Explanation, not_all
from . import fixes, text
from .model import Finding, Question

VALUES = OF_TAPE | ARRIVED | OF_TENSORFLOW | TEXT

LEFT_BY = {
    "": "a NumPy function",
    "__float__": "float()",
    "__int__": "int()",
    "__array__": "a NumPy function",
    "__index__": "an index",
    "__complex__": "complex()",
    "numpy_function": "tf.numpy_function",
}  # how values leave, in words
MOST = 5  # further breaks in an answer
DEEP, MANY = 6, 2000  # of what holds what is looked at to find a name


def left_by(how: str) -> str:
    """How a value left, in words.

    >>> left_by("__array__"), left_by("item")
    ('a NumPy function', '.item()')
    """
    return fill(LEFT_BY[how]) if how in LEFT_BY else f".{how}()"


def called(q: Question) -> str:
    """How the program reaches the source: by a name, or through what holds it."""
    made = [
        at
        for site in reversed(getattr(q.adapter, "made_at", lambda thing: [])(q.source))
        if (at := text.at(site)) is not None
    ]
    bound = made[0].binds if made and made[0].value is not None else []
    known = {name for name, value in q.adapter.names() if q.adapter.handle(value) is q.source}
    own = bound[0] if len(bound) == 1 and bound[0].isidentifier() and (not known or bound[0] in known) else ""
    return (
        own
        or path_to(q, q.source)
        or next((q.rows[row].name for row in q.own if q.rows[row].name), "")
        or fill("the source")
    )


def path_to(q: Question, wanted: Any) -> str:
    """A name of an object, or of what holds it with what leads on: ``trainer.net[0].weight``; empty where unknown."""
    level = [(name, value) for name, value in q.adapter.names() if not name.startswith("_")]
    seen = set[int]()
    for _ in range(DEEP):
        inner: list[tuple[str, Any]] = []
        for name, value in level:
            if q.adapter.handle(value) is wanted:
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
        type(value).__module__ in ("builtins", "numpy")
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


def explanation(q: Question, found: Finding, texts: dict[str, tuple[str, str]] = TEXT) -> Explanation:
    """An answer, with those of further breaks."""
    answer = in_words(q, found, texts)
    answer.others = [in_words(q, other, texts) for other in found.others[:MOST]]
    if not answer.connected:
        answer.fix = paragraph(answer.fix, not_all(answer))
    fixes.offer(q, found, answer)
    return answer


def in_words(q: Question, found: Finding, texts: dict[str, tuple[str, str]]) -> Explanation:
    """The sentences of a cause."""
    message, fix = texts.get(f"{found.cause} {found.kind}".strip()) or texts[found.cause]
    row = None if found.row is None else q.rows[found.row]
    what = found.what or ("" if row is None else row.op)
    function = getattr(q.adapter, "functions", FUNCTIONS).get(f"{found.cause} {found.kind}".strip(), "")
    fields = {
        "x": q.name,
        "line": in_brackets(*found.site),
        "what": what,
        "other": found.other,
        "code": "",
        "instead": "",
    }
    fields |= {
        "used": "",
        "function": "stop_recording",
        "watched": "",
        "values": "",
        "functions": fill(function, what=what),
    }
    answer = Explanation(found.cause, fill(message, **fields), fill(fix, **fields), *found.site)
    answer.beside = found.beside
    answer.name, answer._rows = q.name, [] if found.row is None else [found.row]
    if found.intended is not None:
        answer.intended = found.intended
    return answer
