"""Findings as what the user reads."""

from __future__ import annotations

import ast

import numpy as np

from ...common.texts import paragraph
from ...recording.sites import NOWHERE
from ..caller import in_brackets
from ..fixes.table import offer
from ..sentences import between, fill
from ..texts import TEXT, Texts
from ..value_texts import ARRIVED, FUNCTIONS, OF_TAPE, OF_TENSORFLOW
from ..words import Explanation, not_all, words_alone
from . import text
from .names import path_to as path_to
from .question import Finding, Question

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
COMPARES = set("lt le gt ge Less LessEqual Greater GreaterEqual".split())
MOST = 5  # further breaks in an answer


def left_by(how: str) -> str:
    """How a value left, in words.

    >>> left_by("__array__"), left_by("item")
    ('a NumPy function', '.item()')
    """
    return fill(LEFT_BY[how]) if how in LEFT_BY else f".{how}()"


def explanation(q: Question, found: Finding, texts: Texts = TEXT) -> Explanation:
    """An answer, with those of further breaks."""
    answer = in_words(q, found, texts)
    answer.others = [in_words(q, other, texts) for other in found.others[:MOST]]
    with words_alone():
        offer(q, found, answer)
    if not answer.connected:
        answer.fix = paragraph(answer.fix, not_all(answer))
    return answer


def operation(q: Question, row: int) -> str:
    """What an operation is called; a comparison as the program writes it."""
    at = text.at(q.rows[row].site if q.rows[row].op in COMPARES else NOWHERE)
    written = [ast.unparse(n) for n in at.nodes if isinstance(n, ast.Compare)]
    return written[0] if len(written) == 1 and len(written[0]) <= 60 else q.rows[row].op


def values(q: Question, found: Finding) -> str:
    """The numbers at which an operation goes wrong, as the sentence of a cause has them."""
    row = None if found.row is None else q.rows[found.row]
    arrays = [] if row is None else [a for one in row.inputs if (a := q.rows[one].array) is not None]
    if found.cause == "nan_forward" or (found.cause, found.kind) == ("nan_backward", "hidden"):
        result = None if row is None else row.array
        if result is None or np.isfinite(result).all():
            return fill("NaN or an infinity")
        lost = np.argmin(np.isfinite(result))
        given = [np.broadcast_to(a, result.shape).flat[lost] for a in arrays if a.shape in (result.shape, ())]
        value = f"{result.flat[lost]:.4g}".replace("nan", "NaN")
        said = fill(" and ").join(f"{number:.4g}" for number in given)
        return fill("{value} at {given}", value=value, given=said) if said and len(given) == len(arrays) else value
    if len(arrays) != 1 or not arrays[0].size:
        return ""
    return fill(" ({place})", place=between(arrays[0].min(), arrays[0].max(), ".4g"))


def in_words(q: Question, found: Finding, texts: Texts) -> Explanation:
    """The sentences of a cause."""
    if hasattr(q.adapter, "details"):
        found.fields = q.adapter.details(q, found)
    key = f"{found.cause} {found.fields.get('kind', found.kind)}".strip()
    key = key.replace("nan_backward hidden", "nan_forward hidden")  # a value that is not finite, and masked later
    message, fix = texts.get(key) or texts[found.cause]
    row = None if found.row is None else q.rows[found.row]
    what = found.what or ("" if row is None else getattr(q.adapter, "called", operation)(q, row.row))
    function = getattr(q.adapter, "functions", FUNCTIONS).get(key, "")
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
        "values": values(q, found) if "{values}" in message else "",
        "functions": fill(function, what=what),
    }
    fields |= {name: value for name, value in found.fields.items() if name != "kind"}
    answer = Explanation(found.cause, fill(message, **fields), fill(fix, **fields), *found.site)
    answer.beside = found.beside
    answer.name, answer._rows = q.name, [] if found.row is None else [found.row]
    if found.intended is not None:
        answer.intended = found.intended
    return answer
