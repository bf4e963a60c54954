"""Turn findings into the sentences that the user reads."""

import ast

import numpy as np

from ...common.syntax import select_nodes
from ...common.translation import join_sentences
from ...recording.recorded_rows import RecordedRow
from ...recording.sites import NOWHERE
from ..caller import format_place_suffix
from ..causes import CAUSES
from ..causes.cause import CauseText
from ..explanation import Explanation, format_note_that_fix_is_not_enough, turn_code_patch_errors_into_warnings
from ..fixes.answer_fixes import add_fixes_to_explanation
from ..translated_sentences import fill, format_range
from .object_names import find_access_path as find_access_path
from .program_text import find_statement
from .question import Finding, Question

ESCAPE_WORDS = {  # Descriptions of how a value leaves the framework, keyed by the method of the escape.
    "": "a NumPy function",
    "__float__": "float()",
    "__int__": "int()",
    "__array__": "a NumPy function",
    "__index__": "an index",
    "__complex__": "complex()",
    "numpy_function": "tf.numpy_function",
}
COMPARE_OPS = set("lt le gt ge Less LessEqual Greater GreaterEqual".split())
MAX_MORE = 5  # The maximum number of further breaks that an answer lists.


def describe_escape_method(method: str) -> str:
    """Describe how a value left the framework.

    Args:
        method: The method by which the value left the framework, as stored in `Escape.method`.

    >>> describe_escape_method("__array__"), describe_escape_method("item")
    ('a NumPy function', '.item()')
    """
    return fill(ESCAPE_WORDS[method]) if method in ESCAPE_WORDS else f".{method}()"


def to_explanation_with_fixes(question: Question, finding: Finding) -> Explanation:
    """Return the explanation of a finding, including fixes and explanations of the other breaks.

    Args:
        question: The question that the finding answers.
        finding: The finding.
    """
    answer = to_explanation_without_edits(question, finding)
    answer.others = [to_explanation_without_edits(question, other) for other in finding.more[:MAX_MORE]]
    with turn_code_patch_errors_into_warnings():
        add_fixes_to_explanation(question, finding, answer)
    if not answer.connected:
        answer.fix = join_sentences(answer.fix, format_note_that_fix_is_not_enough(answer))
    return answer


def get_operation_name_or_comparison_text(question: Question, row: int) -> str:
    """Return the name of an operation, or the source text of a comparison.

    Args:
        question: The question whose recording contains the row.
        row: The row of the operation.
    """
    operation = question.rows[row]
    statement = find_statement(operation.site if operation.op in COMPARE_OPS else NOWHERE)
    comparisons = [ast.unparse(node) for node in select_nodes(statement.nodes, ast.Compare)]
    if len(comparisons) == 1 and len(comparisons[0]) <= 60:
        return comparisons[0]
    return operation.op


def format_nonfinite_value_or_input_range(question: Question, finding: Finding) -> str:
    """Format the values that made an operation fail, for use in the sentence that states the cause.

    Args:
        question: The question that the finding answers.
        finding: The finding.

    Returns:
        For a nonfinite value, the value and the inputs it was computed from. For any other cause, the range of the
        input in brackets if exactly one input has known elements, or "" otherwise.
    """
    is_value = finding.cause == "nan_forward" or (finding.cause, finding.variant) == ("nan_backward", "hidden")
    if finding.row is None:
        return fill("NaN or an infinity") if is_value else ""
    row = question.rows[finding.row]
    arrays = [array for index in row.inputs if (array := question.rows[index].array) is not None]
    if is_value:
        return _format_nonfinite_and_inputs_or_placeholder(row, arrays)
    if len(arrays) != 1 or not arrays[0].size:
        return ""
    return fill(" ({place})", place=format_range(arrays[0].min(), arrays[0].max(), ".4g"))


def _format_nonfinite_and_inputs_or_placeholder(row: RecordedRow, arrays: list[np.ndarray]) -> str:
    """Return a row's first nonfinite element and the input elements that it was computed from."""
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


def find_sentences_of_finding(framework: str, finding: Finding) -> CauseText:
    """Return the sentences that describe a finding.

    Args:
        framework: The name of the framework.
        finding: The finding, with its sentence fields.
    """
    variant = finding.sentence_fields.get("kind", finding.variant)
    # If a later line hides the nonfinite value, the sentence for the forward pass also fits the backward pass.
    is_hidden = (finding.cause, variant) == ("nan_backward", "hidden")
    return CAUSES["nan_forward" if is_hidden else finding.cause].get_text_or_default_variant(framework, variant)


def to_explanation_without_edits(question: Question, finding: Finding) -> Explanation:
    """Return the explanation of one finding, without fixes that change the program's text.

    Args:
        question: The question that the finding answers.
        finding: The finding. Any sentence fields that the adapter finds in the program's text are added to the finding.
    """
    adapter = question.adapter
    finding.sentence_fields = adapter.build_sentence_fields_from_program(question, finding)
    text = find_sentences_of_finding(adapter.framework, finding)
    detail = finding.detail
    if not detail and finding.row is not None:
        detail = adapter.get_operation_name_or_comparison_text(question, finding.row)
    fields = {
        "x": question.name,
        "line": format_place_suffix(finding.site),
        "what": detail,
        "other": finding.other_name,
        "code": "",
        "instead": "",
        "used": "",
        "function": "stop_recording",
        "watched": "",
        "values": format_nonfinite_value_or_input_range(question, finding) if "{values}" in text.message else "",
        "functions": fill(text.functions, what=detail),
    }
    fields |= {name: value for name, value in finding.sentence_fields.items() if name != "kind"}
    answer = Explanation(finding.cause, fill(text.message, **fields), fill(text.fix, **fields), *finding.site)
    answer.connected |= finding.has_gradient
    answer.beside = finding.is_side_break
    answer.name = question.name
    answer._rows = [] if finding.row is None else [finding.row]
    if finding.is_intended is not None:
        answer.intended = finding.is_intended
    return answer
