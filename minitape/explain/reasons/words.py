"""Turn findings into the sentences that the user reads."""

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
from .names import find_access_path as find_access_path
from .question import Finding, Question, RecordedRow

VALUES = OF_TAPE | ARRIVED | OF_TENSORFLOW | TEXT

ESCAPE_WORDS = {
    "": "a NumPy function",
    "__float__": "float()",
    "__int__": "int()",
    "__array__": "a NumPy function",
    "__index__": "an index",
    "__complex__": "complex()",
    "numpy_function": "tf.numpy_function",
}  # how values leave, in words
COMPARE_OPS = set("lt le gt ge Less LessEqual Greater GreaterEqual".split())
MAX_MORE = 5  # further breaks in an answer


def describe_escape(how: str) -> str:
    """Return, in words, how a value left.

    >>> describe_escape("__array__"), describe_escape("item")
    ('a NumPy function', '.item()')
    """
    return fill(ESCAPE_WORDS[how]) if how in ESCAPE_WORDS else f".{how}()"


def to_explanation(question: Question, found: Finding, texts: Texts = TEXT) -> Explanation:
    """Return the answer for a finding, with those for the further breaks and with the fixes.

    Args:
        question: The question that the finding answers.
        found: The finding.
        texts: The sentences of the framework.
    """
    answer = to_sentences(question, found, texts)
    answer.others = [to_sentences(question, other, texts) for other in found.more[:MAX_MORE]]
    with words_alone():
        offer(question, found, answer)
    if not answer.connected:
        answer.fix = paragraph(answer.fix, not_all(answer))
    return answer


def describe_operation(question: Question, row: int) -> str:
    """Return the name of an operation; a comparison is returned as the program writes it."""
    at = text.at(question.rows[row].site if question.rows[row].op in COMPARE_OPS else NOWHERE)
    written = [ast.unparse(n) for n in at.nodes if isinstance(n, ast.Compare)]
    return written[0] if len(written) == 1 and len(written[0]) <= 60 else question.rows[row].op


def describe_values(question: Question, finding: Finding) -> str:
    """Return the numbers at which an operation goes wrong, as the sentence of the cause shows them."""
    is_value = finding.cause == "nan_forward" or (finding.cause, finding.variant) == ("nan_backward", "hidden")
    if finding.row is None:
        return fill("NaN or an infinity") if is_value else ""
    row = question.rows[finding.row]
    arrays = [array for index in row.inputs if (array := question.rows[index].array) is not None]
    if is_value:
        return _describe_nonfinite_element(row, arrays)
    if len(arrays) != 1 or not arrays[0].size:
        return ""
    return fill(" ({place})", place=between(arrays[0].min(), arrays[0].max(), ".4g"))


def _describe_nonfinite_element(row: RecordedRow, arrays: list[np.ndarray]) -> str:
    """Return the first element of a row that is not finite, with the inputs that led to it."""
    if row.array is None or np.isfinite(row.array).all():
        return fill("NaN or an infinity")
    index = np.argmin(np.isfinite(row.array))
    value = f"{row.array.flat[index]:.4g}".replace("nan", "NaN")
    elements = [
        np.broadcast_to(array, row.array.shape).flat[index] for array in arrays if array.shape in (row.array.shape, ())
    ]
    inputs = fill(" and ").join(f"{element:.4g}" for element in elements)
    if not inputs or len(elements) != len(arrays):
        return value
    return fill("{value} at {given}", value=value, given=inputs)


def to_sentences(question: Question, finding: Finding, texts: Texts) -> Explanation:
    """Return the answer for one finding, without fixes that change the program's text.

    Args:
        question: The question that the finding answers.
        finding: The finding. Its sentence fields are set, if the adapter finds them in the program's text.
        texts: The sentences of the framework.
    """
    adapter = question.adapter
    if hasattr(adapter, "find_sentence_fields"):
        finding.sentence_fields = adapter.find_sentence_fields(question, finding)
    key = f"{finding.cause} {finding.sentence_fields.get('kind', finding.variant)}".strip()
    # A value that is not finite and is hidden later reads like one that is not.
    key = key.replace("nan_backward hidden", "nan_forward hidden")
    message, fix = texts.get(key) or texts[finding.cause]
    what = finding.detail
    if not what and finding.row is not None:
        what = getattr(adapter, "describe_operation", describe_operation)(question, finding.row)
    functions = getattr(adapter, "functions", FUNCTIONS).get(key, "")
    fields = {
        "x": question.name,
        "line": in_brackets(*finding.site),
        "what": what,
        "other": finding.other_name,
        "code": "",
        "instead": "",
        "used": "",
        "function": "stop_recording",
        "watched": "",
        "values": describe_values(question, finding) if "{values}" in message else "",
        "functions": fill(functions, what=what),
    }
    fields |= {name: value for name, value in finding.sentence_fields.items() if name != "kind"}
    answer = Explanation(finding.cause, fill(message, **fields), fill(fix, **fields), *finding.site)
    answer.beside = finding.is_side_break
    answer.name = question.name
    answer._rows = [] if finding.row is None else [finding.row]
    if finding.is_intended is not None:
        answer.intended = finding.is_intended
    return answer
