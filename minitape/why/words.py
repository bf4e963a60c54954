"""Findings as what the user reads."""

from __future__ import annotations

from ..common.texts import paragraph
from ..explain.caller import in_brackets
from ..explain.fixes.table import offer
from ..explain.sentences import fill
from ..explain.texts import TEXT
from ..explain.value_texts import ARRIVED, FUNCTIONS, OF_TAPE, OF_TENSORFLOW
from ..explain.words import Explanation, not_all
from .model import Finding, Question
from .names import path_to as path_to

VALUES = OF_TAPE | ARRIVED | OF_TENSORFLOW | TEXT

LEFT_BY = {
    "__float__": "float()",
    "__int__": "int()",
    "__array__": "a NumPy function",
    "__index__": "an index",
    "__complex__": "complex()",
}
MOST = 5  # further breaks in an answer


def explanation(q: Question, found: Finding, texts: dict[str, tuple[str, str]] = TEXT) -> Explanation:
    """An answer, with those of further breaks."""
    answer = in_words(q, found, texts)
    answer.others = [in_words(q, other, texts) for other in found.others[:MOST]]
    if not answer.connected:
        answer.fix = paragraph(answer.fix, not_all(answer))
    offer(q, found, answer)
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
