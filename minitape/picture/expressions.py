"""Write the operation of a row with the names of its inputs: `x × sin(x)`, `(p − 1)²`, `∂y/∂a`."""

import re
from collections import Counter
from collections.abc import Iterable

from ..engine.types import TextList
from .picture_texts import translate
from .snapshot_types import RowFields
from .truncation import measure_width, shorten_name
from .value_display import format_magnitude, shorten_number_text

MAX_NAMED_INPUTS = 4  # For an operation with at least this many inputs, only the label is written.
INFIX_SIGNS = {sign: f" {sign} " for sign in "×+÷/><≥≤@"}
INFIX_SIGNS |= {"-": " − ", "−": " − ", "xʸ": "^", "@ᵀ": " @ ", "ᵀ@": "ᵀ @ ", "ᵀ@ᵀ": "ᵀ @ "}
INFIX_SIGNS |= {">=": " ≥ ", "<=": " ≤ ", "==": " = ", "!=": " ≠ "}
MAX_NESTED_LETTERS = 14  # Longer expressions are not written inside other expressions.
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
MAX_NAME_LETTERS = 60
LAYER_OPERATION = "layer"  # The operation of a row that stands for all rows of a layer.
# In a label such as "log(1+x)" or "(x-y)²", these letters stand for the inputs.
_OPERAND = re.compile(r"(?<![a-z])[xy](?![a-zʸ])")
_match_number_operand = re.compile(r"[\d.e−]+ . x|x( . |\^)[\d.e−]+|x²").fullmatch


def format_row_title(row: RowFields) -> str:
    """Return the title of a row in a picture, such as "h = tanh", "w v1" for a variable's state, or "const".

    Args:
        row: The fields of the row.
    """
    if row["kind"] == "operation":
        label = re.sub(
            r"\d+\.\d{5,}(e[-+]?\d+)?", lambda match: shorten_number_text(match[0]), row["label"] or row["op"]
        )
        return f"{row['name']} = {label}" if row["name"] else label
    name = row["name"] or (translate("const") if row["kind"] == "constant" else row["label"])
    if row["kind"] == "variable":
        name = name.removesuffix(":0")
    return f"{name} v{row['version']}" if row["version"] else name


class Expressions:
    """The expressions of the rows of a recording.

    Attributes:
        rows_by_number: The rows, by number.
        consumer_counts: The number of uses of each row as an input, by row number.
    """

    def __init__(self, rows: Iterable[RowFields]):
        """Index the rows by number, and count their consumers."""
        self.rows_by_number = {row["row"]: row for row in rows}
        self.consumer_counts = Counter(number for row in self.rows_by_number.values() for number in row["inputs"])

    def list_texts_longest_first(self, row: RowFields) -> TextList:
        """Return expressions for an operation in several lengths, the longest first: `(p − 1)²`, `x × #7`, `×`.

        Args:
            row: The fields of the operation's row.
        """
        is_written_out = len(row["inputs"]) < MAX_NAMED_INPUTS and row["op"] != LAYER_OPERATION
        depths = (2, 1, 0) if is_written_out else ()
        texts = [self._format_operation_with_precedence(row, depth)[0] for depth in depths]
        label = format_row_title({**row, "name": None})
        return [*dict.fromkeys([*texts, INFIX_SIGNS.get(label, label).strip()])]

    def list_name_and_texts(self, row: RowFields) -> tuple[str, TextList]:
        """Return the name in a row's node and the expressions beside it, the longest first.

        Args:
            row: The fields of the row.
        """
        if row["kind"] == "operation":
            return row["name"] or "", self.list_texts_longest_first(row)
        return format_row_title(row), [""]

    def format_target_name(self, row_number: int, fallback: str = "") -> str:
        """Return a text for the target of a gradient.

        Args:
            row_number: The target's row.
            fallback: The text for a row that has no name and no short expression, or "" for the text "row N".

        Returns:
            The row's name, its expression if it is short, or the fallback. An expression is in parentheses, unless it
            is a call such as sin(x).
        """
        if (row := self.rows_by_number.get(row_number)) is not None:
            if row["name"]:
                return shorten_name(row["name"], MAX_NAME_LETTERS)
            text = self.list_texts_longest_first(row)[0]
            if row["kind"] == "operation" and 0 < measure_width(text) <= MAX_NESTED_LETTERS:
                return text if re.fullmatch(r"\w+\([^()]*\)", text) else f"({text})"
        return fallback or translate("row {row}", row=row_number)

    def _format_operation_with_precedence(self, row: RowFields, depth: int) -> tuple[str, int]:
        """Return the text of a row's operation and its precedence: 0 for a sum, 1 product, 2 power, 3 name.

        Args:
            row: An operation.
            depth: The number of input levels that are written as expressions. At 0, inputs are written only as names
                and numbers.
        """
        label = format_row_title({**row, "name": None})
        parts = [self._format_operand_with_precedence(input_row, depth) for input_row in row["inputs"]]
        count = len(parts)
        if label in INFIX_SIGNS and count == 2:
            precedence = 0 if label[0] in "+-−><≥≤=!" else 1 + (label == "xʸ")
            exponent = parts[1][0].removesuffix(".0")
            left_text = _add_needed_brackets(*parts[0], precedence + (precedence == 2))
            if label == "xʸ" and exponent.isdecimal():
                return left_text + exponent.translate(SUPERSCRIPTS), 2
            right_text = _add_needed_brackets(*parts[1], precedence + (label not in "+×"))
            right_mark = "ᵀ" if label.endswith("@ᵀ") else ""
            return left_text + INFIX_SIGNS[label] + right_text + right_mark, precedence
        is_index = label.startswith("[") and count == 1
        operands = [_add_needed_brackets(*part, 2 + (is_index or label == "x²")) for part in parts]
        if is_index:
            return operands[0] + label, 3
        formula = (row.get("said") or [""])[0]
        if count == 1 and _match_number_operand(formula):  # Other frameworks do not record a number as an input.
            return formula.replace("x", operands[0]).replace("^2", "²").replace("^3", "³"), 0
        template = "−x" if label == "neg" else label.replace("-", "−")
        if len(_OPERAND.findall(template)) == count:
            return _OPERAND.sub(lambda match: operands["xy".index(match[0])], template), 1 + template.endswith("²")
        label = "pow" if label == "xʸ" else label
        # The inputs of a traced function are not in the order of its arguments, because a variable comes last.
        if not parts or (row["op"] == "function" and count > 1):
            return label, 3
        return f"{label}({', '.join(text for text, _ in parts)})", 3

    def _format_operand_with_precedence(self, row_number: int, depth: int) -> tuple[str, int]:
        """Return the text of an input and its precedence.

        The text is a name, the number of an unnamed constant, a short expression, or a reference to the row.
        """
        reference = format_row_reference(row_number), 3
        if (row := self.rows_by_number.get(row_number)) is None:
            return reference
        name = row["name"] or ""
        if name.startswith("∂"):
            if depth and len(name) <= MAX_NESTED_LETTERS:
                return name, 2
            return reference
        if name:
            return shorten_name(_take_last_part(name, reference[0]), 9), 3
        if row["kind"] == "constant" and row["value"] and not row["shape"]:
            return format_magnitude(row["value"], 6), 3
        is_used_once = self.consumer_counts[row_number] == 1 and 0 < len(row["inputs"]) < MAX_NAMED_INPUTS
        if row["kind"] == "operation" and depth and is_used_once:
            text, precedence = self._format_operation_with_precedence(row, depth - 1)
            if measure_width(text) <= MAX_NESTED_LETTERS:
                return text, precedence
        return reference


def _take_last_part(name: str, reference: str) -> str:
    """Return the last part of a name, or the reference to its row if all parts are numbers.

    A module that is named by a number, such as the 2 of "0.mlp.2", keeps the part before it.
    """
    name = name.replace("/", ".").removesuffix(":0")
    stem = name.rstrip("0123456789.")
    return name[stem.rfind(".") + 1 :] if stem else reference


def format_row_reference(row_number: int) -> str:
    """Return a reference to a row, which its sign distinguishes from the numbers in the program.

    Args:
        row_number: The row number.

    >>> format_row_reference(7), format_row_reference(53)
    ('#7', '#53')
    """
    return f"#{row_number}"


def _add_needed_brackets(text: str, precedence: int, outer_precedence: int) -> str:
    """Return an expression, in parentheses if it binds less tightly than the surrounding operation."""
    return text if precedence >= outer_precedence else f"({text})"
